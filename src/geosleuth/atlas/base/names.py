"""The names of an open base atlas: blocks of sorted, folded names, read one block at a time."""

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.search import NameIndex

from .tables import places_of, roles_of

BLOCK = 32
_LAST = "\U0010ffff"


def owners_called(conn: sqlite3.Connection, key: str) -> dict[int, int]:
    """The places of that folded name, by number in ascending order, each with the name's role."""
    found = conn.execute(
        "SELECT keys, owners FROM alias WHERE first <= ? ORDER BY first DESC LIMIT 1", (key,)
    ).fetchone()
    if found is None:
        return {}
    keys, owners = found[0].split("\n"), np.frombuffer(found[1], dtype="<u4")
    part = owners[bisect_left(keys, key) : bisect_right(keys, key)]
    return dict(zip(places_of(part).tolist(), roles_of(part).tolist(), strict=True))


def keys_beginning(
    conn: sqlite3.Connection, beginning: str
) -> tuple[list[str], NDArray[np.uint32], NDArray[np.uint32]]:
    """All folded names that begin so, sorted, with their places and roles."""
    last = beginning + _LAST
    blocks = conn.execute(
        "SELECT keys, owners FROM alias WHERE first < ? AND first >= "
        "(SELECT COALESCE(MAX(first), '') FROM alias WHERE first <= ?) ORDER BY first",
        (last, beginning),
    ).fetchall()
    keys = [key for block, _ in blocks for key in block.split("\n")]
    owners = np.frombuffer(b"".join(packed for _, packed in blocks), dtype="<u4")
    part = slice(bisect_left(keys, beginning), bisect_left(keys, last))
    return keys[part], places_of(owners[part]), roles_of(owners[part])


class BaseNames(NameIndex):
    """The index of names worth finding when misspelled."""

    def _names(self, ids: Sequence[int]) -> Iterator[tuple[int, int, str, int, str]]:
        for start, group in groupby(ids, lambda number: (number - 1) // BLOCK * BLOCK + 1):
            block, packed = self._conn.execute("SELECT keys, owners FROM fuzzy WHERE id = ?", (start,)).fetchone()
            keys, owners = block.split("\n"), np.frombuffer(packed, dtype="<u4")
            for number in group:
                at = number - start
                key, owner = keys[at], owners[at]
                yield number, int(places_of(owner)), key, int(roles_of(owner)), key
