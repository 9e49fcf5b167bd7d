"""An index of names inside a SQLite file.

``name`` holds every name with its owner and role; ``gram`` holds, per letter triple, the names that contain it, as
compressed numbers. Looking a name up adds the triples' weights per name in one array operation, which is faster than
SQLite's own full-text index for misspelled names (docs/decisions) and needs no tokenizer. The file is written once and
then only read.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .keys import exact_key, latin_key, spell_triples, squeeze, text_triples, triples
from .similarity import similarity

MAIN, OTHER, ATTRIBUTE = 0, 1, 2
_CANDIDATES = 100
_LEAST_SIMILARITY = 0.5
_LEAST_SHARE = 0.2
_BATCH = 200_000
_PACKED = b"\0"  # no zlib stream begins so
_MORE = 0x80
_SEVENS = (7, 14, 21, 28)


@dataclass(frozen=True, slots=True)
class NameHit:
    """A name found: whose it is, its text, its role (0 main name, 1 other name, 2 attribute) and how well it fits."""

    owner: int
    text: str
    role: int
    score: float
    match: Literal["exact", "alias", "fuzzy"]


def create_tables(conn: sqlite3.Connection) -> None:
    """Make the tables of the index in an open, writable database."""
    conn.executescript(
        """
        CREATE TABLE name (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, role INTEGER NOT NULL,
                           text TEXT NOT NULL, key TEXT NOT NULL);
        CREATE TABLE gram (gram TEXT PRIMARY KEY, names BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE name_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
        """
    )


def add_names(conn: sqlite3.Connection, rows: Iterable[tuple[int, str, int]]) -> None:
    """Add names as (owner, text, role). A name in another script is also added as spelled in Latin letters."""
    conn.executemany("INSERT INTO name (owner, role, text, key) VALUES (?, ?, ?, ?)", _with_keys(rows))


def _with_keys(rows: Iterable[tuple[int, str, int]]) -> Iterable[tuple[int, int, str, str]]:
    for owner, text, role in rows:
        key = exact_key(text)
        if not key:
            continue
        yield owner, role, text, key
        spelled = latin_key(text)
        if spelled and spelled != key:
            yield owner, max(role, OTHER), text, spelled


def finish(conn: sqlite3.Connection) -> None:
    """Build the triples of all names added so far; call once, last."""
    conn.execute("CREATE INDEX name_key ON name (key)")
    conn.execute("CREATE INDEX name_owner ON name (owner)")
    write_grams(conn, _batches(conn.execute("SELECT owner, key FROM name ORDER BY id")))


def _batches(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[NDArray[np.uint32], str]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        owners, keys = zip(*batch, strict=True)
        yield np.asarray(owners, dtype=np.uint32), "".join(f"{key}\n" for key in keys)


def write_grams(conn: sqlite3.Connection, batches: Iterable[tuple[NDArray[np.uint32], str]]) -> None:
    """Write the triples of names in the order of their ids, which begin at 1.

    Each batch is the names' owners and their exact keys as text, a line for each.
    """
    grams: dict[str, bytes] = {}
    latest: dict[str, int] = {}
    all_owners, sizes = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.uint8)]
    before = 0
    for owners, text in batches:
        codes, holders = text_triples(text)
        sizes.append(np.minimum(np.bincount(holders, minlength=len(owners)), 255).astype(np.uint8))
        all_owners.append(owners)
        starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])[: len(codes)])
        ids = holders + (before + 1)
        spelled = spell_triples(codes[starts])
        lasts = ids[np.append(starts[1:], len(ids))[: len(starts)] - 1]
        known = np.asarray([latest.get(gram, 0) for gram in spelled], dtype=np.int64)
        for gram, packed in zip(spelled, _pack(ids, starts, known), strict=True):
            grams[gram] = grams[gram] + packed if gram in grams else _PACKED + packed
        latest.update(zip(spelled, lasts.tolist(), strict=True))
        before += len(owners)
    conn.executemany("INSERT INTO gram VALUES (?, ?)", sorted(grams.items()))
    columns = {"owner": np.concatenate(all_owners).tobytes(), "size": np.concatenate(sizes).tobytes()}
    conn.executemany(
        "INSERT INTO name_column VALUES (?, ?)",
        ((name, zlib.compress(data, 1)) for name, data in columns.items()),
    )


def _pack(ids: NDArray[np.int64], starts: NDArray[np.int64], known: NDArray[np.int64]) -> list[bytes]:
    """Lists of ascending ids, each from its start: the gaps between them, from a known id on, seven bits to a byte."""
    if not len(ids):
        return []
    gaps = np.diff(ids, prepend=0)
    gaps[starts] = ids[starts] - known
    lengths = np.ones(len(gaps), dtype=np.int64)
    longest = int(gaps.max())
    sevens = [bits for bits in _SEVENS if longest >> bits]
    for bits in sevens:
        lengths += gaps >= (1 << bits)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    packed = np.zeros(int(ends[-1]), dtype=np.uint8)
    packed[begins] = (gaps & (_MORE - 1)) | np.where(lengths > 1, _MORE, 0)
    for place, bits in enumerate(sevens, 1):
        some = np.flatnonzero(lengths > place)
        more = np.where(lengths[some] > place + 1, _MORE, 0)
        packed[begins[some] + place] = (gaps[some] >> bits) & (_MORE - 1) | more
    whole, cuts = packed.tobytes(), [*begins[starts].tolist(), len(packed)]
    return [whole[begin:end] for begin, end in pairwise(cuts)]


def _unpack(packed: bytes) -> NDArray[np.int64]:
    if packed[:1] != _PACKED:  # regions imported by earlier versions
        return np.cumsum(np.frombuffer(zlib.decompress(packed), dtype="<u4"), dtype=np.int64)
    data = np.frombuffer(packed, dtype=np.uint8, offset=1)
    ends = np.flatnonzero(data < _MORE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    gaps = (data[starts] & (_MORE - 1)).astype(np.int64)
    for place, bits in enumerate(_SEVENS, 1):
        some = np.flatnonzero(ends - starts >= place)
        if not len(some):
            break
        gaps[some] |= (data[starts[some] + place] & (_MORE - 1)).astype(np.int64) << bits
    return np.cumsum(gaps)


class NameIndex:
    """Reads the index of one open database; keep one per connection, since it keeps two columns in memory."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Nothing is read until the first question."""
        self._conn = conn

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """Owner of each name; index 0 belongs to no name, as ids begin at 1."""
        return np.concatenate([[0], self._column("owner", np.uint32)]).astype(np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.float32]:
        """Number of triples of each name."""
        return np.concatenate([[0], self._column("size", np.uint8)]).astype(np.float32)

    def _column(self, name: str, dtype: type[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
        (packed,) = self._conn.execute('SELECT bytes FROM name_column WHERE "column" = ?', (name,)).fetchone()
        return np.frombuffer(zlib.decompress(packed), dtype=dtype)

    def exact(self, query: str) -> list[NameHit]:
        """Names equal to the query but for case, accents and punctuation."""
        key = exact_key(query)
        if not key:
            return []
        rows = self._conn.execute("SELECT owner, text, role FROM name WHERE key = ? LIMIT 1000", (key,))
        return [NameHit(owner, text, role, 1.0, "exact" if role == MAIN else "alias") for owner, text, role in rows]

    def prefix(self, text: str, limit: int = 100) -> list[NameHit]:
        """Names that begin so, shortest first."""
        key = exact_key(text)
        if not key:
            return []
        rows = self._conn.execute(
            "SELECT owner, text, role, key FROM name WHERE key >= ? AND key < ? AND role <= ? "
            "ORDER BY length(key) LIMIT ?",
            (key, key + "\U0010ffff", OTHER, limit),
        )
        return [
            NameHit(owner, name, role, len(key) / len(full), "exact" if role == MAIN else "alias")
            for owner, name, role, full in rows
        ]

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        among: NDArray[np.int64] | None = None,
        boost: NDArray[np.float64] | None = None,
    ) -> list[NameHit]:
        """Names like the query, best first, one hit per owner.

        Args:
            query: any text; only its beginning counts.
            limit: how many owners.
            among: owners to look at, ascending; None for all.
            boost: a factor per name id for choosing candidates and breaking ties: how well known its owner is.
        """
        key = exact_key(query)
        if not key:
            return []
        spelled = latin_key(query)
        ids = self._candidates(squeeze(key), among, boost)
        if spelled and spelled != key:
            ids = np.union1d(ids, self._candidates(squeeze(spelled), among, boost))
        best: dict[int, tuple[float, float, NameHit]] = {}
        for name_id, hit in self._ranked(ids, key, spelled):
            rank = (-hit.score, 0.0 if boost is None else -float(boost[name_id]), hit)
            if hit.owner not in best or rank[0] < best[hit.owner][0]:
                best[hit.owner] = rank
        ranked = sorted(best.values(), key=lambda item: (*item[:2], item[2].role, len(item[2].text), item[2].owner))
        return [hit for *_, hit in ranked[:limit]]

    def _candidates(
        self, compact: str, among: NDArray[np.int64] | None, boost: NDArray[np.float64] | None
    ) -> NDArray[np.int64]:
        """Ids of the names that share most triples with the query, rare triples counting more."""
        wanted = triples(compact)
        marks = ",".join("?" * len(wanted))
        rows = self._conn.execute(f"SELECT names FROM gram WHERE gram IN ({marks})", wanted).fetchall()  # noqa: S608
        if not rows:
            return np.empty(0, dtype=np.int64)
        lists = [_unpack(packed) for (packed,) in rows]
        total = len(self.sizes)
        weights = [log(1 + total / len(found)) for found in lists]
        sums = np.bincount(
            np.concatenate(lists),
            weights=np.concatenate([np.full(len(found), weight) for found, weight in zip(lists, weights, strict=True)]),
            minlength=total,
        )
        # Most names share one common triple with any query; only those that share a fair part of it are looked at.
        ids = np.flatnonzero(sums >= _LEAST_SHARE * sum(weights))
        if among is not None:
            ids = ids[np.isin(self.owners[ids], among)]
        shared = sums[ids] if boost is None else sums[ids] * boost[ids]
        mean = sum(weights) / len(weights)
        # Two views: alike as a whole, and holding the whole query; long names must not drown short ones or vice versa.
        alike = shared / (mean * (self.sizes[ids] + len(wanted)))
        holding = shared / (mean * (0.15 * self.sizes[ids] + len(wanted)))
        return np.union1d(ids[_best(alike)], ids[_best(holding)])

    def _names(self, ids: Sequence[int]) -> Iterable[tuple[int, int, str, int, str]]:
        """Id, owner, text, role and exact key of some names, in the order of their ids."""
        marks = ",".join("?" * len(ids))
        return self._conn.execute(
            f"SELECT id, owner, text, role, key FROM name WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
            ids,
        )

    def _ranked(self, ids: NDArray[np.int64], key: str, spelled: str | None) -> Iterable[tuple[int, NameHit]]:
        for name_id, owner, text, role, name in self._names(ids.tolist()):
            alike = similarity(key, name)
            if spelled:
                alike = max(alike, 0.95 * similarity(spelled, name))
            if alike < _LEAST_SIMILARITY:
                continue
            kind: Literal["exact", "alias", "fuzzy"] = "fuzzy"
            if alike == 1.0:
                kind = "exact" if role == MAIN else "alias"
            yield name_id, NameHit(owner, text, role, alike * (1.0 if role <= OTHER else 0.97), kind)


def _best(scores: NDArray[np.float64], count: int = _CANDIDATES) -> NDArray[np.intp]:
    return np.arange(len(scores)) if len(scores) <= count else np.argpartition(scores, -count)[-count:]
