"""Write and search the name index of a region: exact, prefix and fuzzy search among millions of names.

The index has each distinct spelling (exact key) once, with the names that are spelled so and the owners of each. An
owner is a feature. Spellings are sorted by length class, then alphabetically, and numbered from 1.

A fuzzy search has two steps, as in `geosleuth.atlas.search`:

1. Candidate generation: the letter triples of the query have posting lists of spellings. The list of a common triple is
   split by length class. The shortest lists are read first, those of about the query's length before others, until
   enough is read; the lists of a small region are all read. Spellings that share the most triple weight are candidates.
2. Re-ranking: the candidates are compared with the query letter by letter.

Several regions are searched together, as if they had one index.
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

from geosleuth.atlas.keyed_rows import select_rows
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
from .pbf import Ints, compute_starts

# Tables of the index.
#
# - ``spelling.names`` has a line for each name of a spelling: the digit of its role, the text (empty if it is the key
#   in title case), a tab and the owners, comma-separated, each as the difference from the one before.
# - ``spelling_step`` has every 16th key of each length class, for binary search.
# - ``gram`` has the posting lists. ``id`` is the triple's number times the number of slots, plus the slot: 0 for a list
#   that is not split, else 1 + length class. A list is packed as by `geometry.pack_steps`.
# - ``name_column`` has an array for each column: the triples' codes ("gram"), the lengths of their lists ("count"), the
#   first spelling of each class ("first"), the number of triples of each spelling ("size"), the owners of all spellings
#   ("owner") and how many of them each spelling has ("owners").
TABLES: Final = """
CREATE TABLE spelling (id INTEGER PRIMARY KEY, key TEXT NOT NULL, names TEXT NOT NULL);
CREATE TABLE spelling_step (length INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL,
                            PRIMARY KEY (length, key)) WITHOUT ROWID;
CREATE TABLE gram (id INTEGER PRIMARY KEY, spellings BLOB NOT NULL);
CREATE TABLE name_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL)
"""

_LENGTHS: Final = (4, 6, 8, 10, 12, 15, 18, 22, 28)  # upper bounds of the length classes; the last has none
_CLASSES: Final = len(_LENGTHS) + 1
_SLOTS: Final = _CLASSES + 1  # lists of a triple: one that is not split, and one for each length class
_TOGETHER: Final = 1_500  # a list no longer than this is not split by length class
_STEP: Final = 16
_CHUNK: Final = 12_000_000  # entries of posting lists that are sorted in memory at once
_MAX_READ: Final = 60_000  # entries of posting lists
_MAX_READ_IF_EXACT: Final = 10_000  # if the query itself is a spelling, others matter less
_CANDIDATES: Final = 60  # per criterion, see `best_of_both`
_SHARE_OF_UNREAD: Final = 0.3  # the share of the weight of unread lists that is credited to each spelling
# Cost factors of posting lists of spellings that are 0, 1, 2… length classes longer or shorter than the query.
_CLASS_FACTORS: Final = (1.0, 1.5, 3.0, 5.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0)

_MAX_TRIPLES: Final = 60  # of a query: a longer one is told apart by its beginning
_MIN_SIMILARITY: Final = 0.5  # what is less alike is another name
_MIN_WEIGHT_SHARE: Final = 0.2  # of the lists that were read: what shares less is not compared
_MAX_OWNERS: Final = 1_000  # of one spelling; thousands of shops of a chain would only fill the results
_ALL_OWNERS: Final = 1 << 40
# Score factor of a match on an attribute.
ATTRIBUTE_FACTOR: Final = 0.97

FloatArray = NDArray[np.float32]
Keep = Callable[[Ints], NDArray[np.bool_]]
"""A filter: returns for each owner whether it is wanted."""

Codes = NDArray[np.uint64]
"""Letter triples as numbers."""

SpellingRow = tuple[int, str, str]  # id, key, names: a row of the table ``spelling``
_NONE: Final = np.empty(0, dtype=np.int64)
_LAST_CHARACTER: Final = "\U0010ffff"
_PREFIX_QUERY: Final = """
WITH class(number, first, after) AS (VALUES {classes})
SELECT spelling.key, spelling.names FROM class CROSS JOIN spelling
ON spelling.id >= coalesce(
    (SELECT id FROM spelling_step WHERE length = number AND key <= :prefix ORDER BY key DESC LIMIT 1), first)
AND spelling.id < coalesce(
    (SELECT id FROM spelling_step WHERE length = number AND key > :last ORDER BY key LIMIT 1), after)
WHERE number >= :least AND spelling.key >= :prefix AND spelling.key < :last
ORDER BY spelling.id LIMIT :most
"""  # the only values inserted are our own numbers
_KEY_QUERY: Final = f"""
SELECT spelling.id, spelling.key, spelling.names FROM
(SELECT id FROM spelling_step WHERE length = ? AND key <= ? ORDER BY key DESC LIMIT 1) AS step
CROSS JOIN spelling ON spelling.id BETWEEN step.id AND step.id + {_STEP} WHERE spelling.key = ?
"""  # noqa: S608

Reading = Callable[[int], AbstractContextManager[None]]
"""Returns a context for reading the index at this position; it names the region in errors of damaged data."""


def get_length_class(key: str) -> int:
    """Return the length class of a key."""
    return bisect_left(_LENGTHS, len(key) - key.count(" ") + 1)


def make_keys(text: str) -> list[tuple[str, bool]]:
    """Return the keys that a name is indexed by, and for each whether it is the transliteration to Latin letters."""
    key = exact_key(text)
    if not key:
        return []
    latin = latin_key(text)
    return [(key, False), (latin, True)] if latin and latin != key else [(key, False)]


@dataclass(frozen=True, slots=True)
class Spellings:
    """Consecutive spellings, and their triples."""

    lengths: list[int]  # length class of each
    rows: list[tuple[str, str]]  # key and names of each, as in the table ``spelling``
    owner_counts: list[int]  # number of owners of each
    owners: NDArray[np.uint32]  # those of all, one spelling after another
    codes: NDArray[np.uint64]  # triples, ascending; see `text_triples`
    holders: Ints  # for each triple the index of a spelling that contains it


def build_spellings(rows: Iterable[NameRow]) -> Spellings:
    """Return the spellings of names, which must be sorted by class and key."""
    found = list(_spellings(groupby(rows, key=itemgetter(0, 1))))
    codes, holders = text_triples("".join(f"{key}\n" for _, key, _, _ in found))
    return Spellings(
        [length for length, *_ in found],
        [(key, names) for _, key, names, _ in found],
        [len(owners) for *_, owners in found],
        np.fromiter((owner for *_, owners in found for owner in owners), dtype=np.uint32),
        codes,
        holders,
    )


def write_names(conn: sqlite3.Connection, parts: Iterable[Spellings]) -> int:
    """Write the index of all spellings, sorted by class and key; return the number of names, counted once per owner."""
    owner_counts: list[int] = []
    owners: list[NDArray[np.uint32]] = []
    firsts = np.zeros(_CLASSES + 1, dtype=np.int64)
    sizes: list[NDArray[np.uint8]] = []
    spelling_count = 0
    with TemporaryFile() as scratch:
        runs: list[tuple[int, int]] = []
        for part in parts:
            conn.executemany(
                "INSERT INTO spelling VALUES (?, ?, ?)",
                ((number, key, names) for number, (key, names) in enumerate(part.rows, start=spelling_count + 1)),
            )
            _write_steps(conn, part, spelling_count)
            firsts[1:] += np.bincount(np.array(part.lengths, dtype=np.int64), minlength=_CLASSES)
            owner_counts.extend(part.owner_counts)
            owners.append(part.owners)
            sizes.append(np.minimum(np.bincount(part.holders, minlength=len(part.rows)), 255).astype(np.uint8))
            scratch.write(part.codes.tobytes())
            scratch.write((part.holders + spelling_count + 1).astype("<u4").tobytes())
            runs.append((scratch.tell() - 12 * len(part.codes), len(part.codes)))
            spelling_count += len(part.rows)
        firsts = np.cumsum(firsts) + 1  # id of the first spelling of each class
        scratch.flush()
        codes, counts = _write_grams(conn, scratch, runs, firsts)
    columns: dict[str, NDArray[Any]] = {
        "gram": codes, "count": counts, "first": firsts.astype("<u4"), "size": _join_arrays(sizes, np.uint8),
        "owner": _join_arrays(owners, np.uint32), "owners": np.array(owner_counts, dtype=np.uint32),
    }  # fmt: skip
    conn.executemany(
        "INSERT INTO name_column VALUES (?, ?)",
        ((name, zlib.compress(column.tobytes(), 1)) for name, column in columns.items()),
    )
    return int(sum(owner_counts))


def _join_arrays(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts])


def _spellings(
    groups: Iterable[tuple[Any, Iterable[NameRow]]],
) -> Iterator[tuple[int, str, str, list[int]]]:
    """Yield class, key, names (as in the table) and owners of each spelling."""
    for (length, key), rows in groups:
        _, _, owner, role, text = next(iter(rows))
        entries = [(role, text, owner)]
        entries.extend((role, text, owner) for _, _, owner, role, text in rows)
        if len(entries) == 1:
            yield length, key, f"{role}{'' if text == key.title() else text}\t{owner}", [owner]
            continue
        lines = []
        for (role, text), same in groupby(sorted(set(entries)), key=itemgetter(0, 1)):
            numbers = [number for _, _, number in same]
            steps = [numbers[0], *(after - before for before, after in pairwise(numbers))]
            lines.append(f"{role}{'' if text == key.title() else text}\t{','.join(map(str, steps))}")
        yield length, key, "\n".join(lines), sorted({number for _, _, number in entries})


def _write_steps(conn: sqlite3.Connection, part: Spellings, before: int) -> None:
    """Write every 16th key, and the first of each class; ``before`` is the number of spellings in earlier parts."""
    steps, last = [], -1
    for at, (length, (key, _)) in enumerate(zip(part.lengths, part.rows, strict=True)):
        if at % _STEP == 0 or length != last:
            steps.append((length, key, before + at + 1))
        last = length
    conn.executemany("INSERT INTO spelling_step VALUES (?, ?, ?)", steps)


def _write_grams(
    conn: sqlite3.Connection, scratch: IO[bytes], runs: Sequence[tuple[int, int]], firsts: Ints
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Write the posting lists of all triples; return the triples, ascending, and the lengths of their lists.

    Args:
        conn: the database.
        scratch: a file of runs, each with triples, ascending, then the id of a spelling for each.
        runs: offset and number of triples of each run.
        firsts: id of the first spelling of each class.
    """
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
    while begin < len(distinct):  # takes as many triples at once as fit into memory
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
    """Yield id and packed bytes of each list, and fill in the lengths; a list is as wide as its largest step."""
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
    """Searches the name index of one open region; ``shared`` is a cache for all connections to it."""

    def __init__(self, conn: sqlite3.Connection, shared: dict[str, Any]) -> None:
        """Use a database; nothing is read until the first search."""
        self._conn = conn
        self._shared = shared
        self._last_found: tuple[str, SpellingRow | None] | None = None
        self._last_triples: tuple[Codes, Ints, NDArray[np.bool_]] | None = None

    def _column(self, name: str, kind: str) -> NDArray[Any]:
        known = self._shared.get(f"names {name}")
        if not isinstance(known, np.ndarray):
            (packed,) = self._conn.execute('SELECT bytes FROM name_column WHERE "column" = ?', (name,)).fetchone()
            known = self._shared[f"names {name}"] = np.frombuffer(zlib.decompress(packed), dtype=kind)
        return known

    def _owners(self) -> tuple[NDArray[np.uint32], Ints]:
        """Return the owners of all spellings, one spelling after another, and where those of each start."""
        known = self._shared.get("names starts")
        if not isinstance(known, np.ndarray):
            known = self._shared["names starts"] = compute_starts(self._column("owners", "<u4")).astype(np.uint32)
            self._shared.pop("names owners", None)
        return self._column("owner", "<u4"), known

    def exact(self, query: str, keep: Keep | None = None) -> list[NameHit]:
        """Return the names that equal the query apart from case, accents and punctuation, of owners that are wanted."""
        key = exact_key(query)
        row = self.find_spelling(key) if key else None
        hits = [
            NameHit(owner, text, role, 1.0, "exact" if role == MAIN else "alias")
            for role, text, owners in (_decode_names(key, row[2], _MAX_OWNERS, keep) if row else ())
            for owner in owners
        ]
        if keep is not None and hits:
            hits = list(compress(hits, keep(np.array([hit.owner for hit in hits], dtype=np.int64)).tolist()))
        return hits[:_MAX_OWNERS]

    def find_spelling(self, key: str) -> SpellingRow | None:
        """Return the row of the spelling with this key; None if there is none."""
        if self._last_found is None or self._last_found[0] != key:  # a search may need it more than once
            row = self._conn.execute(_KEY_QUERY, (get_length_class(key), key, key)).fetchone()
            self._last_found = key, None if row is None else _check_rows([row])[0]
        return self._last_found[1]

    def with_prefix(self, prefix: str, most: int) -> Iterator[tuple[str, str]]:
        """Yield key and names of spellings that start with a prefix, by length class, then alphabetically."""
        query = self._shared.get("names beginning")
        if not isinstance(query, str):
            firsts = self.first_of_class.tolist()
            classes = ",".join(f"({number},{one},{other})" for number, (one, other) in enumerate(pairwise(firsts)))
            query = self._shared["names beginning"] = _PREFIX_QUERY.format(classes=classes)
        asked = {
            "least": get_length_class(prefix),
            "prefix": prefix,
            "last": f"{prefix}{_LAST_CHARACTER}",
            "most": most,
        }
        yield from self._conn.execute(query, asked)

    def prefix(self, text: str, limit: int = 100) -> list[NameHit]:
        """Return names that start with a prefix, shorter ones first."""
        key = exact_key(text)
        if not key:
            return []
        hits = [
            NameHit(owner, name, role, len(key) / len(full), "exact" if role == MAIN else "alias")
            for full, names in self.with_prefix(key, 4 * limit)
            for role, name, owners in _decode_names(full, names, limit)
            if role <= OTHER
            for owner in owners
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def search(self, query: str, *, limit: int = 20, keep: Keep | None = None) -> list[NameHit]:
        """Return names similar to the query, best first, one hit per owner; see `search_names`."""
        return [hit for _, hit in search_names([self], query, limit=limit, keeps=[keep])]

    def spellings(self, numbers: Sequence[int]) -> list[SpellingRow]:
        """Return the rows of the spellings with these ids."""
        return _check_rows(select_rows(self._conn, "SELECT id, key, names FROM spelling WHERE id", numbers))

    def all_names(self) -> Iterator[tuple[int, str, int]]:
        """Yield owner, text and role of every name."""
        for key, names in self._conn.execute("SELECT key, names FROM spelling"):
            for role, text, owners in _decode_names(key, names, _ALL_OWNERS):
                yield from ((owner, text, role) for owner in owners)

    @property
    def first_of_class(self) -> NDArray[np.uint32]:
        """Id of the first spelling of each length class, then one more than the last id."""
        return self._column("first", "<u4")

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """Number of triples of each spelling, at most 255."""
        return self._column("size", "u1")

    def _find(self, codes: Codes) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the numbers of triples in the index, and which are present; remembered, as a search asks twice."""
        if self._last_triples is None or self._last_triples[0] is not codes:
            grams = self._column("gram", "<u8")
            if len(grams):
                numbers = np.minimum(grams.searchsorted(codes), len(grams) - 1)
                self._last_triples = codes, numbers, grams[numbers] == codes
            else:
                self._last_triples = codes, np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=bool)
        return self._last_triples[1:]

    def list_lengths(self, codes: Codes) -> tuple[Ints, NDArray[np.uint32]]:
        """Return for each triple the id of its first list, and the length of each of its lists, 0 if missing."""
        numbers, present = self._find(codes)
        counts = self._column("count", "<u4").reshape(-1, _SLOTS)
        lengths = counts[numbers] if len(counts) else np.zeros((len(codes), _SLOTS), dtype="<u4")
        lengths[~present] = 0
        return numbers * _SLOTS, lengths

    def has_all(self, codes: Codes) -> bool:
        """Return whether each triple is in some spelling; if not, no spelling has all of them."""
        return bool(self._find(codes)[1].all())

    def read_lists(self, ids: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return the ids and packed contents of posting lists."""
        return select_rows(self._conn, "SELECT id, spellings FROM gram WHERE id", ids)

    def any_kept(self, numbers: Ints, keep: Keep) -> NDArray[np.bool_]:
        """Return for each spelling whether any of its owners is wanted."""
        owners, starts = self._owners()
        begins = starts[numbers - 1].astype(np.int64)
        counts = starts[numbers] - begins
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - counts), counts)
        fits = np.concatenate([[0], np.cumsum(keep(owners[places].astype(np.int64)))])
        return np.asarray(fits[ends] > fits[ends - counts])


def _check_rows(rows: list[Any]) -> list[SpellingRow]:
    """Return rows of the table ``spelling`` if their columns are texts; a damaged file may contain anything."""
    if not all(type(key) is type(names) is str for _, key, names in rows):
        raise TypeError("a spelling is not text")
    return rows


@dataclass(slots=True)  # not frozen: a search makes a hundred, and frozen ones take three times as long
class Spelling:
    """A spelling that was found."""

    index: int  # position of its index among those searched
    key: str
    names: str  # as in the table ``spelling``
    similarity: float  # similarity to the query, from 0 to 1

    def decode(self, reading: Reading, most: int, keep: Keep | None) -> list[tuple[int, str, list[int]]]:
        """Return role, text and first owners of each name; see `_decode_names`."""
        try:
            return _decode_names(self.key, self.names, most, keep)
        except ValueError:
            with reading(self.index):
                raise

    def owners(self, reading: Reading) -> list[tuple[int, Ints]]:
        """Return the role and all owners of each name."""
        with reading(self.index):
            return decode_owners(self.names)


def decode_owners(names: str) -> list[tuple[int, Ints]]:
    """Return the role and all owners of each name in a row's ``names``."""
    lines = [line.rpartition("\t") for line in names.split("\n")]
    return [(int(role_text[0]), _decode_steps(steps)) for role_text, _, steps in lines]


def all_owners(names: str) -> list[int]:
    """Return the owners of all names in a row's ``names``, in any role."""
    if "\n" not in names and "," not in names:  # nearly always
        return [int(names.rpartition("\t")[2])]
    return [owner for _, owners in decode_owners(names) for owner in owners.tolist()]


def _decode_steps(steps: str) -> Ints:
    """Return owners from the differences between them."""
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
    """Return names similar to the query, best first, one hit per owner, each with the position of its index.

    Args:
        indexes: one for each region.
        query: any text; only its beginning counts.
        limit: the maximum number of owners.
        keeps: for each index a filter of owners, None for all.
        reading: see `Reading`.
    """
    keeps = keeps or [None] * len(indexes)
    best: dict[tuple[int, int], NameHit] = {}
    # Without filters, no more owners of a name are decoded (a chain may have thousands) than can be returned.
    unfiltered = all(keep is None for keep in keeps)
    most, enough = (limit, limit) if unfiltered else (_MAX_OWNERS, inf)
    least = _MIN_SIMILARITY
    for spelling in search_spellings(indexes, query, keeps=keeps, reading=reading):
        if spelling.similarity < least:
            break
        for role, text, owners in spelling.decode(reading, most, keeps[spelling.index]):
            kind: Literal["exact", "alias", "fuzzy"] = "fuzzy"
            if spelling.similarity == 1.0:
                kind = "exact" if role == MAIN else "alias"
            score = spelling.similarity * (1.0 if role < ATTRIBUTE else ATTRIBUTE_FACTOR)
            for owner in owners:
                known = best.get((spelling.index, owner))
                if known is None or score > known.score:
                    best[spelling.index, owner] = NameHit(owner, text, role, score, kind)
        if len(best) >= enough:  # less similar ones can't be among the best
            least = max(least, ATTRIBUTE_FACTOR * spelling.similarity)
    return _select_best([(number, hit) for (number, _), hit in best.items()], limit, keeps)


def search_spellings(
    indexes: Sequence[RegionNames],
    query: str,
    *,
    keeps: Sequence[Keep | None],
    reading: Reading,
) -> list[Spelling]:
    """Return spellings similar to the query, the most similar first.

    All indexes are searched as if they were one; the limit on what is read applies to all together.
    """
    key = exact_key(query)
    if not key or not indexes:
        return []
    rows: list[tuple[int, SpellingRow]] = []
    codes = _encode_triples(squeeze(key))
    for number, index in enumerate(indexes):
        with reading(number):
            row = index.find_spelling(key) if index.has_all(codes) else None
        if row is not None:
            rows.append((number, row))
    latin = latin_key(query)
    keys = [key] if latin is None or latin == key else [key, latin]
    known = {number: row[0] for number, row in rows}
    most = _MAX_READ_IF_EXACT if rows else _MAX_READ
    return _rank_spellings(rows + _spellings_like(indexes, keys, keeps, most, known, reading), keys)


@lru_cache(maxsize=64)
def _encode_triples(compact: str) -> Codes:
    """Return the triples of a compact key; the same array each time, which `RegionNames._find` relies on."""
    return triple_codes(triples(compact)[:_MAX_TRIPLES])


def _spellings_like(
    indexes: Sequence[RegionNames],
    keys: Sequence[str],
    keeps: Sequence[Keep | None],
    most: int,
    known: Mapping[int, int],
    reading: Reading,
) -> list[tuple[int, SpellingRow]]:
    """Return the candidates that are not known yet, each with the position of its index.

    Args:
        indexes: one for each region.
        keys: exact keys of the query.
        keeps: for each index a filter of owners.
        most: how many entries of posting lists to read.
        known: for indexes that have the query itself, the id of that spelling.
        reading: see `Reading`.
    """
    found: list[tuple[int, SpellingRow]] = []
    chosen = [_find_candidate_spellings(indexes, squeeze(key), keeps, most, reading) for key in keys]
    for number, index in enumerate(indexes):
        numbers = chosen[0][number] if len(chosen) == 1 else np.union1d(*(item[number] for item in chosen))
        if wanted := [item for item in numbers.tolist() if item != known.get(number)]:
            with reading(number):
                found.extend((number, row) for row in index.spellings(wanted))
    return found


def _find_candidate_spellings(
    indexes: Sequence[RegionNames], compact: str, keeps: Sequence[Keep | None], most: int, reading: Reading
) -> list[Ints]:
    """Return for each index the ids of the spellings that share the most triples with a query, weighted by rarity.

    Spellings of all indexes are numbered consecutively meanwhile: ``offsets`` has how many come before each index.
    """
    wanted = _encode_triples(compact)
    lists: list[tuple[Ints, NDArray[np.uint32]]] = []
    sizes: list[NDArray[np.uint8]] = []
    for number, index in enumerate(indexes):
        with reading(number):
            lists.append(index.list_lengths(wanted))
            sizes.append(index.sizes)
    firsts, lengths = (np.concatenate(column) for column in zip(*lists, strict=True))
    rows, slots = lengths.nonzero()
    if not len(rows):
        return [_NONE] * len(indexes)
    region_of, places = np.divmod(rows, len(wanted))
    ids, entries = firsts[rows] + slots, lengths[rows, slots].astype(np.int64)
    offsets = compute_starts(np.array([len(some) for some in sizes]))
    totals = np.bincount(places, weights=entries, minlength=len(wanted))
    present = totals > 0
    weights = np.log1p(int(offsets[-1]) / np.where(present, totals, 1.0)).astype(np.float32)
    chosen = _worth_reading(slots, entries, len(compact), most)
    unread = _unread(indexes, region_of, slots, weights[places], chosen)
    numbers, places, counts = _read_postings(
        indexes, offsets, (region_of[chosen], ids[chosen], places[chosen]), reading
    )
    read = np.zeros(len(wanted), dtype=bool)
    read[places] = True
    least = _MIN_WEIGHT_SHARE * float(weights[read].sum())
    numbers, shared = sum_weights(int(offsets[-1]) + 1, numbers, np.repeat(weights[places], counts), least)
    size = np.empty(len(numbers), dtype=np.float32)
    kept = np.ones(len(numbers), dtype=bool)
    cuts = numbers.searchsorted(offsets + 1)
    for number, index in enumerate(indexes):
        part = slice(int(cuts[number]), int(cuts[number + 1]))
        own = numbers[part] - offsets[number]
        size[part] = sizes[number][own - 1]
        classes = index.first_of_class.searchsorted(own, side="right") - 1
        shared[part] += _SHARE_OF_UNREAD * unread[number, classes]
        keep = keeps[number]
        if keep is not None and len(own):
            with reading(number):
                kept[part] = index.any_kept(own, keep)
    if not kept.all():
        numbers, shared, size = numbers[kept], shared[kept], size[kept]
    # Two criteria, so that neither long nor short names crowd out the others: similar as a whole (Dice coefficient),
    # and containing most of the query.
    dice = shared / (size + len(wanted))
    coverage = shared / (0.15 * size + len(wanted))
    numbers = numbers[best_of_both(dice, coverage, _CANDIDATES)]
    cuts = numbers.searchsorted(offsets + 1)
    return [numbers[cuts[at] : cuts[at + 1]] - offsets[at] for at in range(len(indexes))]


def _unread(
    indexes: Sequence[RegionNames], region_of: Ints, slots: Ints, weights: FloatArray, read: Ints
) -> NDArray[np.float32]:
    """Return the sum of the weights of triples whose lists are not read, for each index and length class."""
    unread = weights.copy()
    unread[read] = 0.0
    places = region_of * _SLOTS + slots
    sums = np.bincount(places, weights=unread, minlength=len(indexes) * _SLOTS).reshape(-1, _SLOTS)
    return (sums[:, 1:] + sums[:, :1]).astype(np.float32)


def _worth_reading(slots: Ints, long: Ints, letters: int, most: int) -> Ints:
    """Return which lists to read: the shortest first, those of about the query's length before others, up to a sum.

    Args:
        slots: for each list 0 if it is not split, else 1 + its length class.
        long: the length of each.
        letters: the length of the query.
        most: the limit on the sum of lengths.
    """
    apart = np.abs(slots - 1 - bisect_left(_LENGTHS, letters + 1))
    factors = np.where(slots == 0, 1.0, np.array(_CLASS_FACTORS)[np.minimum(apart, len(_CLASS_FACTORS) - 1)])
    order = np.argsort(long * factors, kind="stable")
    return order[: max(1, int(np.cumsum(long[order]).searchsorted(most)))]


def _read_postings(
    indexes: Sequence[RegionNames], offsets: Ints, lists: tuple[Ints, Ints, Ints], reading: Reading
) -> tuple[Ints, Ints, Ints]:
    """Read posting lists.

    Args:
        indexes: one for each region.
        offsets: how many spellings come before each index.
        lists: for each list the position of its index, its id, and the position of its triple in the query.
        reading: see `Reading`.

    Returns:
        Spellings, numbered across all indexes, list after list; for each list the position of its triple, and its
        length.
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
                raise ValueError("a posting list is invalid")
        packed += read
        triple_of += [places_of[where] for where, _ in rows]
        index_of += [number] * len(rows)
    indexes_of = np.array(index_of, dtype=np.int64)
    numbers, runs, counts = unpack_all(packed, offsets[indexes_of] if len(indexes) > 1 else None)
    indexes_of = indexes_of[runs]
    lasts = numbers[np.cumsum(counts) - 1]  # the largest of each list
    wrong = indexes_of[lasts > offsets[indexes_of + 1]]
    if len(wrong):
        with reading(int(wrong[0])):
            raise LookupError("a posting list refers to a spelling that does not exist")
    return numbers, np.array(triple_of, dtype=np.int64)[runs], counts


def _rank_spellings(rows: Sequence[tuple[int, SpellingRow]], keys: Sequence[str]) -> list[Spelling]:
    """Return the spellings that are similar enough, the most similar first.

    Args:
        rows: candidates, each with the position of its index.
        keys: the exact key of the query, and that of its transliteration if it has one.
    """
    names = [row[1] for _, row in rows]
    scores = similarities(keys[0], names)
    for other in keys[1:]:
        scores = np.maximum(scores, 0.95 * similarities(other, names))
    order = np.argsort(-scores, kind="stable")
    order = order[: int((scores >= _MIN_SIMILARITY).sum())]
    return [
        Spelling(rows[at][0], rows[at][1][1], rows[at][1][2], similarity)
        for at, similarity in zip(order.tolist(), scores[order].tolist(), strict=True)
    ]


def _select_best(
    found: Sequence[tuple[int, NameHit]], limit: int, keeps: Sequence[Keep | None]
) -> list[tuple[int, NameHit]]:
    """Return the best hits of owners that are wanted."""
    wanted = list(found)
    for number, keep in enumerate(keeps):
        if keep is not None and (owners := [hit.owner for of, hit in found if of == number]):
            kept = dict(zip(owners, keep(np.array(owners, dtype=np.int64)).tolist(), strict=True))
            wanted = [(of, hit) for of, hit in wanted if of != number or kept[hit.owner]]
    return sorted(wanted, key=lambda item: (-item[1].score, item[1].role, len(item[1].text), item[0], item[1].owner))[
        :limit
    ]


def _decode_names(key: str, names: str, most: int, keep: Keep | None = None) -> list[tuple[int, str, list[int]]]:
    """Return role, text and first owners of each name of a spelling.

    Args:
        key: the spelling's key.
        names: its names, as in the table.
        most: how many owners of each name to return.
        keep: which owners are wanted; applied only to names with more than ``most``.
    """
    found = []
    for line in names.split("\n"):
        role_text, _, steps = line.rpartition("\t")
        if keep is not None and steps.count(",") >= most:
            every = _decode_steps(steps)
            owners = every[keep(every)][:most].tolist()
        elif "," in steps:
            owners = list(accumulate(map(int, steps.split(",", most)[:most])))
        else:  # nearly always
            owners = [int(steps)]
        found.append((int(role_text[0]), role_text[1:] or key.title(), owners))
    return found


__all__ = [
    "ATTRIBUTE_FACTOR",
    "TABLES",
    "Keep",
    "Reading",
    "RegionNames",
    "Spelling",
    "Spellings",
    "build_spellings",
    "decode_owners",
    "get_length_class",
    "make_keys",
    "search_names",
    "search_spellings",
    "write_names",
]
