"""Read rows by their keys, in statements of few lengths: SQLite keeps those, and need not compile each one anew."""

import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain, repeat
from typing import Any, Final

MOST_AT_ONCE: Final = 24_576
"""SQLite takes 32,766 parameters."""


def rows_with(conn: sqlite3.Connection, query: str, keys: Sequence[int] | Sequence[str]) -> list[Any]:
    """Return the rows whose column has one of the keys.

    Args:
        conn: where to read.
        query: ``SELECT … WHERE column``, up to the column; text of our own, never a user's.
        keys: any number of them.
    """
    if len(keys) <= MOST_AT_ONCE:
        return _rows(conn, query, keys) if keys else []
    parts = (keys[begin : begin + MOST_AT_ONCE] for begin in range(0, len(keys), MOST_AT_ONCE))
    return list(chain.from_iterable(_rows(conn, query, part) for part in parts))


def _rows(conn: sqlite3.Connection, query: str, keys: Sequence[int] | Sequence[str]) -> list[Any]:
    size, marks = _marks(len(keys))
    # A key that is there twice finds its row once.
    return conn.execute(f"{query} IN ({marks})", [*keys, *repeat(keys[-1], size - len(keys))]).fetchall()


@cache
def _marks(count: int) -> tuple[int, str]:
    """Return the next larger of 1, 2, 3, 4, 6, 8, 12, 16, … and as many marks."""
    power = 1 << (count - 1).bit_length()
    size = power * 3 // 4 if power > 2 and power * 3 // 4 >= count else power
    return size, ",".join("?" * size)
