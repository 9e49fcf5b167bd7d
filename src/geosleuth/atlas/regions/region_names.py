"""Find a name among millions, misread or not, without looking at all of them.

Each distinct spelling is there once, with those who bear it, in the order of its length and then of the alphabet.
Letter triples (`geosleuth.atlas.search`) point to spellings. The lists of common triples are kept apart by the length
of the spelling. A question reads the shortest lists first, those of about its own length before others, until it has
read enough to choose from; the lists of a small region are all read.
"""

import sqlite3
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, compress, groupby, pairwise
from math import inf
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.keyed_rows import rows_with
from geosleuth.atlas.search import (
    ATTRIBUTE,
    MAIN,
    OTHER,
    NameHit,
    best_of_both,
    exact_key,
    latin_key,
    similarities,
    squeeze,
    sum_weights,
    text_triples,
    triple_codes,
    triples,
)

from .geometry import are_packed, step_widths, unpack_all
from .name_runs import NameRow
from .pbf import Ints, starts_of

TABLES: Final = """
CREATE TABLE spelling (id INTEGER PRIMARY KEY, key TEXT NOT NULL, names TEXT NOT NULL);
CREATE TABLE spelling_step (length INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL,
                            PRIMARY KEY (length, key)) WITHOUT ROWID;
CREATE TABLE gram (id INTEGER PRIMARY KEY, spellings BLOB NOT NULL);
CREATE TABLE name_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL)
"""
"""``names`` has a line for each role and text of a spelling: the role's digit, the text (nothing where it is the key in
title case), a tab and the bearers' numbers, each as the step from the one before. ``spelling_step`` has every 16th key.
``gram.id`` counts triples and, in each, the lengths (0 for all of them together); lists are steps, of the number of
bytes that the first byte says."""

_LENGTHS: Final = (4, 6, 8, 10, 12, 15, 18, 22, 28)
_CLASSES: Final = len(_LENGTHS) + 1
_SLOTS: Final = _CLASSES + 1
_TOGETHER: Final = 1_500  # a list no longer than this is not cut by length
_STEP: Final = 16
_CHUNK: Final = 12_000_000
_MOST_READ: Final = 60_000
_READ_BESIDE: Final = 10_000
_CANDIDATES: Final = 60
_SHARE_OF_UNREAD: Final = 0.3  # of the weight of lists that were not read, so much is credited to each spelling
_LATER: Final = (1.0, 1.5, 3.0, 5.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0)
"""A list of spellings so many classes longer or shorter is read as if it were so much longer itself."""

_MOST_TRIPLES: Final = 60
_LEAST_SIMILARITY: Final = 0.5
_LEAST_SHARE: Final = 0.2
_MOST_EXACT: Final = 1_000
_MOST_BORNE: Final = 1 << 40
OF_ATTRIBUTE: Final = 0.97

FloatArray = NDArray[np.float32]
Keep = Callable[[Ints], NDArray[np.bool_]]
"""Which of these owners are wanted."""

Codes = NDArray[np.uint64]
"""Letter triples as numbers."""

SpellingRow = tuple[int, str, str]  # number, key, names
_NONE: Final = np.empty(0, dtype=np.int64)
_LAST: Final = "\U0010ffff"
_BEGINNING: Final = """
WITH class(number, first, after) AS (VALUES {classes})
SELECT spelling.key, spelling.names FROM class CROSS JOIN spelling
ON spelling.id >= coalesce(
    (SELECT id FROM spelling_step WHERE length = number AND key <= :prefix ORDER BY key DESC LIMIT 1), first)
AND spelling.id < coalesce(
    (SELECT id FROM spelling_step WHERE length = number AND key > :last ORDER BY key LIMIT 1), after)
WHERE number >= :least AND spelling.key >= :prefix AND spelling.key < :last
ORDER BY spelling.id LIMIT :most
"""  # only our own numbers are put in
_CALLED: Final = f"""
SELECT spelling.id, spelling.key, spelling.names FROM
(SELECT id FROM spelling_step WHERE length = ? AND key <= ? ORDER BY key DESC LIMIT 1) AS step
CROSS JOIN spelling ON spelling.id BETWEEN step.id AND step.id + {_STEP} WHERE spelling.key = ?
"""  # noqa: S608


def class_of(key: str) -> int:
    """The class of length that a key is in."""
    return bisect_left(_LENGTHS, len(key) - key.count(" ") + 1)


def keys_of(text: str) -> list[tuple[str, bool]]:
    """What a name is found by, and whether that is its spelling in Latin letters."""
    key = exact_key(text)
    if not key:
        return []
    spelled = latin_key(text)
    return [(key, False), (spelled, True)] if spelled and spelled != key else [(key, False)]


@dataclass(frozen=True, slots=True)
class Spellings:
    """Distinct spellings that follow each other: their classes, keys, bearers and letter triples."""

    lengths: list[int]
    rows: list[tuple[str, str]]  # key, what ``names`` says
    owner_counts: list[int]
    owners: NDArray[np.uint32]
    codes: NDArray[np.uint64]
    holders: Ints  # which of the spellings has the triple


def spellings_of(rows: Iterable[NameRow]) -> Spellings:
    """The spellings of all names of some keys, which come in the order of their class and key."""
    found = list(_spellings(groupby(rows, key=itemgetter(0, 1))))
    codes, holders = text_triples("".join(f"{key}\n" for _, key, _, _ in found))
    return Spellings(
        [length for length, *_ in found],
        [(key, names) for _, key, names, _ in found],
        [len(borne) for *_, borne in found],
        np.fromiter((one for *_, borne in found for one in borne), dtype=np.uint32),
        codes,
        holders,
    )


def write_names(conn: sqlite3.Connection, parts: Iterable[Spellings]) -> int:
    """Write all names, which come in the order of their class and key; return how many there are."""
    owner_counts: list[int] = []
    owners: list[NDArray[np.uint32]] = []
    firsts = np.zeros(_CLASSES + 1, dtype=np.int64)
    sizes: list[NDArray[np.uint8]] = []
    spelled = 0
    with TemporaryFile() as scratch:
        runs: list[tuple[int, int]] = []
        for part in parts:
            conn.executemany(
                "INSERT INTO spelling VALUES (?, ?, ?)",
                ((number, key, names) for number, (key, names) in enumerate(part.rows, start=spelled + 1)),
            )
            _write_steps(conn, part, spelled)
            firsts[1:] += np.bincount(np.array(part.lengths, dtype=np.int64), minlength=_CLASSES)
            owner_counts.extend(part.owner_counts)
            owners.append(part.owners)
            sizes.append(np.minimum(np.bincount(part.holders, minlength=len(part.rows)), 255).astype(np.uint8))
            scratch.write(part.codes.tobytes())
            scratch.write((part.holders + spelled + 1).astype("<u4").tobytes())
            runs.append((scratch.tell() - 12 * len(part.codes), len(part.codes)))
            spelled += len(part.rows)
        firsts = np.cumsum(firsts) + 1  # the number of the first spelling of each class
        scratch.flush()
        codes, counts = _write_grams(conn, scratch, runs, firsts)
    columns: dict[str, NDArray[Any]] = {
        "gram": codes, "count": counts, "first": firsts.astype("<u4"), "size": _joined(sizes, np.uint8),
        "owner": _joined(owners, np.uint32), "owners": np.array(owner_counts, dtype=np.uint32),
    }  # fmt: skip
    conn.executemany(
        "INSERT INTO name_column VALUES (?, ?)",
        ((name, zlib.compress(column.tobytes(), 1)) for name, column in columns.items()),
    )
    return int(sum(owner_counts))


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts])


def _spellings(
    groups: Iterable[tuple[Any, Iterable[NameRow]]],
) -> Iterator[tuple[int, str, str, list[int]]]:
    """Class, key, what ``names`` says, and owners of each spelling."""
    for (length, key), rows in groups:
        _, _, owner, role, text = next(iter(rows))
        borne = [(role, text, owner)]
        borne.extend((role, text, owner) for _, _, owner, role, text in rows)
        if len(borne) == 1:
            yield length, key, f"{role}{'' if text == key.title() else text}\t{owner}", [owner]
            continue
        lines = []
        for (role, text), same in groupby(sorted(set(borne)), key=itemgetter(0, 1)):
            numbers = [number for _, _, number in same]
            steps = [numbers[0], *(after - before for before, after in pairwise(numbers))]
            lines.append(f"{role}{'' if text == key.title() else text}\t{','.join(map(str, steps))}")
        yield length, key, "\n".join(lines), sorted({number for _, _, number in borne})


def _write_steps(conn: sqlite3.Connection, part: Spellings, before: int) -> None:
    steps, last = [], -1
    for at, (length, (key, _)) in enumerate(zip(part.lengths, part.rows, strict=True)):
        if at % _STEP == 0 or length != last:
            steps.append((length, key, before + at + 1))
        last = length
    conn.executemany("INSERT INTO spelling_step VALUES (?, ?, ?)", steps)


def _write_grams(
    conn: sqlite3.Connection, scratch: IO[bytes], runs: Sequence[tuple[int, int]], firsts: Ints
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Write the lists of all triples; return the triples in order and how long each of their lists is."""
    if not runs or not sum(count for _, count in runs):
        return np.empty(0, dtype="<u8"), np.empty((0, _SLOTS), dtype="<u4")
    mapped = np.memmap(scratch, dtype=np.uint8, mode="r")
    parts = [
        (mapped[at : at + 8 * count].view("<u8"), mapped[at + 8 * count : at + 12 * count].view("<u4"))
        for at, count in runs
    ]
    distinct = np.unique(np.concatenate([np.unique(codes) for codes, _ in parts]))
    totals = np.zeros(len(distinct), dtype=np.int64)
    for codes, _ in parts:
        found, counts = np.unique(codes, return_counts=True)
        totals[np.searchsorted(distinct, found)] += counts
    lengths = np.zeros((len(distinct), _SLOTS), dtype="<u4")
    begin = 0
    while begin < len(distinct):  # as many triples at a time as fit into memory
        end = max(begin + 1, begin + int(np.searchsorted(np.cumsum(totals[begin:]), _CHUNK, side="right")))
        low = distinct[begin]
        high = distinct[end] if end < len(distinct) else np.uint64(2**64 - 1)
        codes_of, ids_of = [], []
        for codes, ids in parts:
            some = slice(int(np.searchsorted(codes, low)), int(np.searchsorted(codes, high)))
            codes_of.append(np.searchsorted(distinct, codes[some]))
            ids_of.append(ids[some])
        places, numbers = np.concatenate(codes_of), np.concatenate(ids_of).astype(np.int64)
        order = np.argsort(places, kind="stable")
        places, numbers = places[order], numbers[order]
        slots = np.searchsorted(firsts, numbers, side="right")
        slots[totals[places] <= _TOGETHER] = 0
        conn.executemany("INSERT INTO gram VALUES (?, ?)", _lists(places * _SLOTS + slots, numbers, lengths))
        begin = end
    return distinct, lengths


def _lists(wheres: Ints, numbers: Ints, lengths: NDArray[np.uint32]) -> Iterator[tuple[int, bytes]]:
    """The lists as steps, each in as few bytes as its widest step takes."""
    starts = np.flatnonzero(np.concatenate([[True], wheres[1:] != wheres[:-1]]))
    counts = np.diff(np.append(starts, len(wheres)))
    lengths.reshape(-1)[wheres[starts]] = counts
    steps = np.diff(numbers, prepend=0)
    steps[starts] = numbers[starts]
    widest = np.maximum.reduceat(steps, starts)
    wide = {width: steps.astype(f"<u{width}").tobytes() for width in (1, 2, 4)}
    widths = step_widths(widest)
    for where, start, count, width in zip(
        wheres[starts].tolist(), starts.tolist(), counts.tolist(), widths.tolist(), strict=True
    ):
        yield where, bytes((width,)) + wide[width][start * width : (start + count) * width]


class RegionNames:
    """Reads the index of one open region; ``shared`` is what all connections to it have in memory together."""

    def __init__(self, conn: sqlite3.Connection, shared: dict[str, Any]) -> None:
        """Nothing is read until the first question."""
        self._conn = conn
        self._shared = shared
        self._called: tuple[str, SpellingRow | None] | None = None
        self._looked_for: tuple[Codes, Ints, NDArray[np.bool_]] | None = None

    def _column(self, name: str, kind: str) -> NDArray[Any]:
        known = self._shared.get(f"names {name}")
        if not isinstance(known, np.ndarray):
            (packed,) = self._conn.execute('SELECT bytes FROM name_column WHERE "column" = ?', (name,)).fetchone()
            known = self._shared[f"names {name}"] = np.frombuffer(zlib.decompress(packed), dtype=kind)
        return known

    def _owners(self) -> tuple[NDArray[np.uint32], Ints]:
        """The owners of all spellings, and where those of each begin."""
        known = self._shared.get("names starts")
        if not isinstance(known, np.ndarray):
            known = self._shared["names starts"] = starts_of(self._column("owners", "<u4")).astype(np.uint32)
            self._shared.pop("names owners", None)
        return self._column("owner", "<u4"), known

    def exact(self, query: str, keep: Keep | None = None) -> list[NameHit]:
        """Names equal to the query but for case, accents and punctuation, of those owners that are wanted."""
        key = exact_key(query)
        row = self.row_called(key) if key else None
        hits = [
            NameHit(owner, text, role, 1.0, "exact" if role == MAIN else "alias")
            for role, text, owners in (_borne(key, row[2], _MOST_EXACT, keep) if row else ())
            for owner in owners
        ]
        if keep is not None and hits:
            hits = list(compress(hits, keep(np.array([hit.owner for hit in hits], dtype=np.int64)).tolist()))
        return hits[:_MOST_EXACT]

    def row_called(self, key: str) -> SpellingRow | None:
        """Number, key and bearers of the spelling that is a key; None where there is none."""
        if self._called is None or self._called[0] != key:  # a question may ask for it more than once
            row = self._conn.execute(_CALLED, (class_of(key), key, key)).fetchone()
            self._called = key, None if row is None else _texts([row])[0]
        return self._called[1]

    def beginning(self, prefix: str, most: int) -> Iterator[tuple[str, str]]:
        """Keys that begin so with their bearers: the shorter classes first, in each by the alphabet."""
        query = self._shared.get("names beginning")
        if not isinstance(query, str):
            firsts = self.first_of_class.tolist()
            classes = ",".join(f"({number},{one},{other})" for number, (one, other) in enumerate(pairwise(firsts)))
            query = self._shared["names beginning"] = _BEGINNING.format(classes=classes)
        asked = {"least": class_of(prefix), "prefix": prefix, "last": f"{prefix}{_LAST}", "most": most}
        yield from self._conn.execute(query, asked)

    def prefix(self, text: str, limit: int = 100) -> list[NameHit]:
        """Names that begin so, shorter ones first."""
        key = exact_key(text)
        if not key:
            return []
        hits = [
            NameHit(owner, name, role, len(key) / len(full), "exact" if role == MAIN else "alias")
            for full, names in self.beginning(key, 4 * limit)
            for role, name, owners in _borne(full, names, limit)
            if role <= OTHER
            for owner in owners
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def search(self, query: str, *, limit: int = 20, keep: Keep | None = None) -> list[NameHit]:
        """Names like the query, best first, one hit per owner; see `search_names`."""
        return [hit for _, hit in search_names([self], query, limit=limit, keeps=[keep])]

    def spellings(self, numbers: Sequence[int]) -> list[SpellingRow]:
        """Numbers, keys and bearers of some spellings."""
        return _texts(rows_with(self._conn, "SELECT id, key, names FROM spelling WHERE id", numbers))

    def all_names(self) -> Iterator[tuple[int, str, int]]:
        """Owner, text and role of every name."""
        for key, names in self._conn.execute("SELECT key, names FROM spelling"):
            for role, text, owners in _borne(key, names, _MOST_BORNE):
                yield from ((owner, text, role) for owner in owners)

    @property
    def first_of_class(self) -> NDArray[np.uint32]:
        """The number of the first spelling of each class of length, and one more than the last has."""
        return self._column("first", "<u4")

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """How many triples each spelling has."""
        return self._column("size", "u1")

    def _find(self, codes: Codes) -> tuple[Ints, NDArray[np.bool_]]:
        """Where triples stand in the index, and which of them do; a question asks for the same ones more than once."""
        if self._looked_for is None or self._looked_for[0] is not codes:
            grams = self._column("gram", "<u8")
            if len(grams):
                at = np.minimum(grams.searchsorted(codes), len(grams) - 1)
                self._looked_for = codes, at, grams[at] == codes
            else:
                self._looked_for = codes, np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=bool)
        return self._looked_for[1:]

    def lists_of(self, codes: Codes) -> tuple[Ints, NDArray[np.uint32]]:
        """For each of some triples the id of the first of its lists, and how long these are, 0 for one that is not."""
        at, there = self._find(codes)
        counts = self._column("count", "<u4").reshape(-1, _SLOTS)
        long = counts[at] if len(counts) else np.zeros((len(codes), _SLOTS), dtype="<u4")
        long[~there] = 0
        return at * _SLOTS, long

    def has_all(self, codes: Codes) -> bool:
        """Whether each of some triples is in a spelling: where one is not, no name is spelled so."""
        return bool(self._find(codes)[1].all())

    def read_lists(self, ids: Sequence[int]) -> list[tuple[int, bytes]]:
        """Ids and packed spellings of some lists."""
        return rows_with(self._conn, "SELECT id, spellings FROM gram WHERE id", ids)

    def kept(self, numbers: Ints, keep: Keep) -> NDArray[np.bool_]:
        """Which spellings have an owner that is wanted."""
        owners, starts = self._owners()
        begins = starts[numbers - 1].astype(np.int64)
        counts = starts[numbers] - begins
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - counts), counts)
        fits = np.concatenate([[0], np.cumsum(keep(owners[places].astype(np.int64)))])
        return np.asarray(fits[ends] > fits[ends - counts])


def _texts(rows: list[Any]) -> list[SpellingRow]:
    """Rows of the table ``spelling``, which in a damaged file may hold anything."""
    if not all(type(key) is type(names) is str for _, key, names in rows):
        raise TypeError("a spelling that is no text")
    return rows


Reading = Callable[[int], AbstractContextManager[None]]
"""Around what is read of the index of a number: says whose it is where it can't be read."""


@dataclass(slots=True)  # not frozen, since a question makes a hundred, and those take three times as long
class Spelling:
    """A spelling that was found: the number of its index, its key, its bearers as the table has them, how alike."""

    index: int
    key: str
    names: str
    alike: float

    def bearers(self, reading: Reading, most: int, keep: Keep | None) -> list[tuple[int, str, list[int]]]:
        """Role, text and the first owners of each name that is spelled so; where there are more, of those wanted."""
        try:
            return _borne(self.key, self.names, most, keep)
        except ValueError:
            with reading(self.index):
                raise

    def owners(self, reading: Reading) -> list[tuple[int, Ints]]:
        """Role and all owners of each name that is spelled so."""
        with reading(self.index):
            return owners_of(self.names)


def owners_of(names: str) -> list[tuple[int, Ints]]:
    """Role and owners for each line of what the table says of a spelling."""
    lines = [line.rpartition("\t") for line in names.split("\n")]
    return [(int(told[0]), _summed_steps(steps)) for told, _, steps in lines]


def all_owners(names: str) -> list[int]:
    """All owners of a spelling, whatever its role for them."""
    if "\n" not in names and "," not in names:  # nearly always
        return [int(names.rpartition("\t")[2])]
    return [owner for _, owners in owners_of(names) for owner in owners.tolist()]


def _summed_steps(steps: str) -> Ints:
    if "," not in steps:  # nearly always
        return np.array([int(steps)])
    return np.cumsum(np.fromstring(steps, dtype=np.int64, sep=","))


def search_names(
    indexes: Sequence[RegionNames],
    query: str,
    *,
    limit: int,
    keeps: Sequence[Keep | None] | None = None,
    reading: Reading = lambda _: nullcontext(),
) -> list[tuple[int, NameHit]]:
    """Names like the query, best first, one hit per owner, each with the number of its index.

    Args:
        indexes: one for each region.
        query: any text; only its beginning counts.
        limit: how many owners.
        keeps: for each index which owners are wanted, None for all.
        reading: see `Reading`.
    """
    keeps = keeps or [None] * len(indexes)
    best: dict[tuple[int, int], NameHit] = {}
    # Of a chain with very many branches, as many are looked at as can be answered.
    few = all(keep is None for keep in keeps)
    most, enough = (limit, limit) if few else (_MOST_EXACT, inf)
    least = _LEAST_SIMILARITY
    for one in search_spellings(indexes, query, keeps=keeps, reading=reading):
        if one.alike < least:
            break
        for role, text, owners in one.bearers(reading, most, keeps[one.index]):
            kind: Literal["exact", "alias", "fuzzy"] = "fuzzy"
            if one.alike == 1.0:
                kind = "exact" if role == MAIN else "alias"
            score = one.alike * (1.0 if role < ATTRIBUTE else OF_ATTRIBUTE)
            for owner in owners:
                known = best.get((one.index, owner))
                if known is None or score > known.score:
                    best[one.index, owner] = NameHit(owner, text, role, score, kind)
        if len(best) >= enough:  # no other is among the best
            least = max(least, OF_ATTRIBUTE * one.alike)
    return _sorted([(number, hit) for (number, _), hit in best.items()], limit, keeps)


def search_spellings(
    indexes: Sequence[RegionNames],
    query: str,
    *,
    keeps: Sequence[Keep | None],
    reading: Reading,
) -> list[Spelling]:
    """Spellings like the query, the most alike first.

    All indexes are asked as if they were one, and read no more together than one of them would be.
    """
    key = exact_key(query)
    if not key or not indexes:
        return []
    rows: list[tuple[int, SpellingRow]] = []
    codes = _codes_of(squeeze(key))
    for number, index in enumerate(indexes):
        with reading(number):
            row = index.row_called(key) if index.has_all(codes) else None
        if row is not None:
            rows.append((number, row))
    spelled = latin_key(query)
    keys = [key] if spelled is None or spelled == key else [key, spelled]
    known = {number: row[0] for number, row in rows}
    # Beside the very name others are of little use, and less is read for them.
    most = _READ_BESIDE if rows else _MOST_READ
    return _ranked(rows + _spellings_like(indexes, keys, keeps, most, known, reading), keys)


@lru_cache(maxsize=64)
def _codes_of(compact: str) -> Codes:
    """The triples of a query, the same array for the same query."""
    return triple_codes(triples(compact)[:_MOST_TRIPLES])


def _spellings_like(
    indexes: Sequence[RegionNames],
    keys: Sequence[str],
    keeps: Sequence[Keep | None],
    most: int,
    known: Mapping[int, int],
    reading: Reading,
) -> list[tuple[int, SpellingRow]]:
    """Spellings that share most triples with a query, each with the number of its index; but for those known."""
    found: list[tuple[int, SpellingRow]] = []
    chosen = [_candidates(indexes, squeeze(one), keeps, most, reading) for one in keys]
    for number, index in enumerate(indexes):
        numbers = chosen[0][number] if len(chosen) == 1 else np.union1d(*(one[number] for one in chosen))
        if wanted := [one for one in numbers.tolist() if one != known.get(number)]:
            with reading(number):
                found.extend((number, row) for row in index.spellings(wanted))
    return found


def _candidates(
    indexes: Sequence[RegionNames], compact: str, keeps: Sequence[Keep | None], most: int, reading: Reading
) -> list[Ints]:
    """Of each index the numbers of the spellings that share most triples with a query, rare triples counting more."""
    wanted = _codes_of(compact)
    lists: list[tuple[Ints, NDArray[np.uint32]]] = []
    sizes: list[NDArray[np.uint8]] = []
    for number, index in enumerate(indexes):
        with reading(number):
            lists.append(index.lists_of(wanted))
            sizes.append(index.sizes)
    firsts, lengths = (np.concatenate(column) for column in zip(*lists, strict=True))
    rows, slots = lengths.nonzero()
    if not len(rows):
        return [_NONE] * len(indexes)
    region_of, places = np.divmod(rows, len(wanted))
    ids, long = firsts[rows] + slots, lengths[rows, slots].astype(np.int64)
    ends = starts_of(np.array([len(some) for some in sizes]))
    totals = np.bincount(places, weights=long, minlength=len(wanted))
    there = totals > 0
    weights = np.log1p(int(ends[-1]) / np.where(there, totals, 1.0)).astype(np.float32)
    some = _worth_reading(slots, long, len(compact), most)
    unread = _unread(indexes, region_of, slots, weights[places], some)
    numbers, places, counts = _read(indexes, ends, (region_of[some], ids[some], places[some]), reading)
    read = np.zeros(len(wanted), dtype=bool)
    read[places] = True
    least = _LEAST_SHARE * float(weights[read].sum())
    numbers, shared = sum_weights(int(ends[-1]) + 1, numbers, np.repeat(weights[places], counts), least)
    size = np.empty(len(numbers), dtype=np.float32)
    kept = np.ones(len(numbers), dtype=bool)
    cuts = numbers.searchsorted(ends + 1)
    for number, index in enumerate(indexes):
        part = slice(int(cuts[number]), int(cuts[number + 1]))
        mine = numbers[part] - ends[number]
        size[part] = sizes[number][mine - 1]
        classes = index.first_of_class.searchsorted(mine, side="right") - 1
        shared[part] += _SHARE_OF_UNREAD * unread[number, classes]
        keep = keeps[number]
        if keep is not None and len(mine):
            with reading(number):
                kept[part] = index.kept(mine, keep)
    if not kept.all():
        numbers, shared, size = numbers[kept], shared[kept], size[kept]
    # Two views: alike as a whole, and holding the whole query; long names must not drown short ones or vice versa.
    alike = shared / (size + len(wanted))
    holding = shared / (0.15 * size + len(wanted))
    numbers = numbers[best_of_both(alike, holding, _CANDIDATES)]
    cuts = numbers.searchsorted(ends + 1)
    return [numbers[cuts[at] : cuts[at + 1]] - ends[at] for at in range(len(indexes))]


def _unread(
    indexes: Sequence[RegionNames], region_of: Ints, slots: Ints, weights: FloatArray, read: Ints
) -> NDArray[np.float32]:
    """Return the weight of the triples whose lists are not read, for each index and class of length."""
    left = weights.copy()
    left[read] = 0.0
    places = region_of * _SLOTS + slots
    sums = np.bincount(places, weights=left, minlength=len(indexes) * _SLOTS).reshape(-1, _SLOTS)
    return (sums[:, 1:] + sums[:, :1]).astype(np.float32)


def _worth_reading(slots: Ints, long: Ints, letters: int, most: int) -> Ints:
    """Which lists are read: the shortest first, those of about the query's own length before others, up to a sum."""
    apart = np.abs(slots - 1 - bisect_left(_LENGTHS, letters + 1))
    factors = np.where(slots == 0, 1.0, np.array(_LATER)[np.minimum(apart, len(_LATER) - 1)])
    order = np.argsort(long * factors, kind="stable")
    return order[: max(1, int(np.cumsum(long[order]).searchsorted(most)))]


def _read(
    indexes: Sequence[RegionNames], ends: Ints, lists: tuple[Ints, Ints, Ints], reading: Reading
) -> tuple[Ints, Ints, Ints]:
    """Numbers of the spellings in some lists, list after list; for each list the place of its triple, and its length.

    ``ends`` is how many spellings all indexes before each have; numbers are counted from the first of them on.
    """
    order = lists[0].argsort(kind="stable")
    region_of, ids, places = (column[order] for column in lists)
    cuts = region_of.searchsorted(np.arange(len(indexes) + 1)).tolist()
    list_of, place_of = ids.tolist(), places.tolist()
    packed: list[bytes] = []
    triple_of: list[int] = []
    index_of: list[int] = []
    for number, (index, begin, end) in enumerate(zip(indexes, cuts[:-1], cuts[1:], strict=True)):
        if begin == end:
            continue
        places_of = dict(zip(list_of[begin:end], place_of[begin:end], strict=True))
        with reading(number):
            rows = index.read_lists(list(places_of))
            read = [spellings for _, spellings in rows]
            if not are_packed(read):
                raise ValueError("a list that is none")
        packed += read
        triple_of += [places_of[where] for where, _ in rows]
        index_of += [number] * len(rows)
    owners = np.array(index_of, dtype=np.int64)
    numbers, runs, counts = unpack_all(packed, ends[owners] if len(indexes) > 1 else None)
    owners = owners[runs]
    lasts = numbers[np.cumsum(counts) - 1]  # the largest of each list
    wrong = owners[lasts > ends[owners + 1]]
    if len(wrong):
        with reading(int(wrong[0])):
            raise LookupError("a spelling that is none")
    return numbers, np.array(triple_of, dtype=np.int64)[runs], counts


def _ranked(rows: Sequence[tuple[int, SpellingRow]], keys: Sequence[str]) -> list[Spelling]:
    """Some spellings, the most alike first; ``keys`` are the query, and its spelling in Latin letters if it has one."""
    names = [row[1] for _, row in rows]
    scores = similarities(keys[0], names)
    for other in keys[1:]:
        scores = np.maximum(scores, 0.95 * similarities(other, names))
    order = np.argsort(-scores, kind="stable")
    order = order[: int((scores >= _LEAST_SIMILARITY).sum())]
    return [
        Spelling(rows[at][0], rows[at][1][1], rows[at][1][2], alike)
        for at, alike in zip(order.tolist(), scores[order].tolist(), strict=True)
    ]


def _sorted(
    found: Sequence[tuple[int, NameHit]], limit: int, keeps: Sequence[Keep | None]
) -> list[tuple[int, NameHit]]:
    """The best that are wanted."""
    wanted = list(found)
    for number, keep in enumerate(keeps):
        if keep is not None and (mine := [hit.owner for of, hit in found if of == number]):
            kept = dict(zip(mine, keep(np.array(mine, dtype=np.int64)).tolist(), strict=True))
            wanted = [(of, hit) for of, hit in wanted if of != number or kept[hit.owner]]
    return sorted(wanted, key=lambda one: (-one[1].score, one[1].role, len(one[1].text), one[0], one[1].owner))[:limit]


def _borne(key: str, names: str, most: int, keep: Keep | None = None) -> list[tuple[int, str, list[int]]]:
    """Role, text and the first owners for each line; where there are more, of those that are wanted."""
    found = []
    for line in names.split("\n"):
        told, _, steps = line.rpartition("\t")
        if keep is not None and steps.count(",") >= most:
            every = _summed_steps(steps)
            owners = every[keep(every)][:most].tolist()
        elif "," in steps:
            owners = list(accumulate(map(int, steps.split(",", most)[:most])))
        else:  # nearly always
            owners = [int(steps)]
        found.append((int(told[0]), told[1:] or key.title(), owners))
    return found


__all__ = [
    "OF_ATTRIBUTE",
    "TABLES",
    "Keep",
    "Reading",
    "RegionNames",
    "Spelling",
    "Spellings",
    "class_of",
    "keys_of",
    "owners_of",
    "search_names",
    "search_spellings",
    "spellings_of",
    "write_names",
]
