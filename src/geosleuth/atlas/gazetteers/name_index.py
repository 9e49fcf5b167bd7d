"""Find one name among tens of millions, misread or not, in a few milliseconds.

The index of regions (`geosleuth.atlas.search`) weighs every name at each question, which is too slow here. This one has
three differences. Letter triples point to distinct spellings instead of names, so that the thousand places called Santa
Cruz count once. Their lists are kept apart by the length of the spelling, and a question reads those of nearly its own
length, the nearest first. And of a common triple nothing is read once rarer ones have given enough to choose from.

What it gives up: a part of a name ("Kosciuszko" for "Mount Kosciuszko National Park") is found only where the rest are
words that say what a thing is ("lake", "mount").
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log
from typing import Final, Literal

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray

from geosleuth.atlas.keyed_rows import rows_with
from geosleuth.atlas.search import (
    MAIN,
    MAX_QUERY_CHARS,
    NameHit,
    exact_key,
    latin_key,
    similarity,
    spell_triples,
    squeeze,
    text_triples,
    triples,
)
from geosleuth.names.folding import fold_once

TABLES: Final = """
CREATE TABLE name (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, role INTEGER NOT NULL, fame INTEGER NOT NULL,
                   text TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE spelling (length INTEGER NOT NULL, first INTEGER NOT NULL, names BLOB NOT NULL,
                       PRIMARY KEY (length, first)) WITHOUT ROWID;
CREATE TABLE gram (gram TEXT NOT NULL, length INTEGER NOT NULL, part INTEGER NOT NULL, count INTEGER NOT NULL,
                   spellings BLOB NOT NULL, PRIMARY KEY (gram, length, part)) WITHOUT ROWID
"""
"""Spellings of each length are numbered from 0. ``spelling`` has for each the first name that is spelled so, ``gram``
those that hold a triple. Lists are little-endian 32-bit numbers."""

_BATCH: Final = 200_000
_MAX_LENGTH: Final = 40
_LATER: Final = (1.0, 1.3, 2.0)
"""A list of spellings that are so many letters longer or shorter is read as if it were so much longer itself."""

_LOOKED_AT: Final = (36, 24, 12)
"""How many spellings are compared that are so many letters longer or shorter."""

_SLACK: Final = len(_LATER) - 1
_ID_BITS: Final = 20  # a batch has fewer spellings than 2 ** 20
_LENGTH_BITS: Final = 6
_HELD_BYTES: Final = 400_000_000
_LIST_BYTES: Final = 300  # of a list and its key, besides what it holds: most lists are short
_MOST_READ: Final = 60_000
_MOST_TRIPLES: Final = 60
_LEAST_SIMILARITY: Final = 0.72
_LEAST_SPELLED: Final = 0.85
_LEAST_TELLING: Final = 0.78
_SURE: Final = 0.88
_LATIN_SHARE: Final = 0.95
_GENERIC_SHARE: Final = 0.96
_LEAST_ALONE: Final = 5

_GENERIC: Final = frozenset(
    {"lake", "lakes", "lac", "lago", "laguna", "loch", "mount", "mountain", "mountains", "mt", "mts", "mont", "monte",
     "range", "river", "rio", "riviere", "fluss", "see", "sea", "bay", "bahia", "baie", "gulf", "island", "islands",
     "isle", "ile", "isla", "ilha", "cape", "cap", "cabo", "park", "national", "state", "nature", "reserve", "desert",
     "peninsula", "strait", "falls", "waterfall", "glacier", "valley", "volcano", "peak", "hill", "hills", "creek",
     "reservoir", "dam", "the", "of", "de", "du", "del"}
)  # fmt: skip
"""Words that say what a thing is; a name may have them or not."""


def keys_of(text: str) -> tuple[str, ...]:
    """What a name is found by: its folded form, and that spelled in Latin letters where it is in another script."""
    text = text[:MAX_QUERY_CHARS]
    if text.isascii() and text.replace(" ", "").isalnum():  # most names, and most of the time
        return (" ".join(text.lower().split()),)
    key = fold_once(text)
    if all(ord(character) < 0x370 for character in text):
        return (key,) if key else ()
    spelled = fold_once(anyascii(text))
    return tuple(dict.fromkeys(one for one in (key, spelled) if one))


_BESIDE_A_NAME: Final = frozenset(
    {"lake", "l", "lac", "lago", "loch", "mount", "mt", "monte", "river", "reservoir", "peak", "volcano"}
)


def without_kind(key: str) -> str | None:
    """What is left of a folded name without the word that says what it is; None where that is too little."""
    first, _, rest = key.partition(" ")
    if first in _BESIDE_A_NAME:
        left = rest
    else:
        start, _, last = key.rpartition(" ")
        left = start if last in _BESIDE_A_NAME else ""
    return left if len(left) >= _LEAST_ALONE else None


def finish(conn: sqlite3.Connection) -> None:
    """Index all names added so far; call once, last. Memory stays bounded however many there are."""
    conn.execute("CREATE INDEX name_key ON name (key, fame DESC)")
    held: dict[tuple[str, int], bytearray] = {}
    part = held_bytes = 0
    taken = np.zeros(_MAX_LENGTH + 1, dtype=np.int64)
    for batch in _batches(conn.execute("SELECT key, min(id) FROM name GROUP BY key")):
        lengths = np.fromiter((_length(key) for key, _ in batch), dtype=np.int64, count=len(batch))
        numbers = _numbered(conn, batch, lengths, taken)
        for where, found in _lists("".join(f"{key}\n" for key, _ in batch), lengths, numbers):
            known = held.get(where)
            if known is None:
                held[where] = bytearray(found)
                held_bytes += _LIST_BYTES
            else:
                known.extend(found)
            held_bytes += len(found)
        if held_bytes > _HELD_BYTES:
            _write(conn, held, part)
            held, held_bytes, part = {}, 0, part + 1
    _write(conn, held, part)


def _batches(rows: Iterable[tuple[str, int]]) -> Iterator[Sequence[tuple[str, int]]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _numbered(
    conn: sqlite3.Connection, batch: Sequence[tuple[str, int]], lengths: NDArray[np.int64], taken: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The number of each spelling among those of its length, which are written with the names they stand for."""
    names = np.fromiter((number for _, number in batch), dtype="<u4", count=len(batch))
    numbers = np.empty(len(batch), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == length)
        first = int(taken[length])
        numbers[chosen] = np.arange(first, first + len(chosen))
        conn.execute("INSERT INTO spelling VALUES (?, ?, ?)", (length, first, names[chosen].tobytes()))
        taken[length] += len(chosen)
    return numbers


def _lists(
    keys: str, lengths: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Iterator[tuple[tuple[str, int], bytes]]:
    """For each triple and length, the numbers of the spellings that have them."""
    codes, holders = text_triples(keys)
    distinct, ranks = np.unique(codes, return_inverse=True)
    spelled = spell_triples(distinct)
    packed = (
        ranks.astype(np.uint64) << np.uint64(_ID_BITS + _LENGTH_BITS)
        | lengths[holders].astype(np.uint64) << np.uint64(_ID_BITS)
        | holders.astype(np.uint64)
    )
    packed.sort()
    lists = numbers[(packed & np.uint64((1 << _ID_BITS) - 1)).astype(np.int64)].astype("<u4").tobytes()
    groups = packed >> np.uint64(_ID_BITS)
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)])
    cuts = [*(4 * starts).tolist(), len(lists)]
    for at, group in enumerate(groups[starts].tolist()):
        where = (spelled[group >> _LENGTH_BITS], group & ((1 << _LENGTH_BITS) - 1))
        yield where, lists[cuts[at] : cuts[at + 1]]


def _length(key: str) -> int:
    return min(_MAX_LENGTH, len(key) - key.count(" "))


def _write(conn: sqlite3.Connection, held: dict[tuple[str, int], bytearray], part: int) -> None:
    conn.executemany(
        "INSERT INTO gram VALUES (?, ?, ?, ?, ?)",
        ((gram, length, part, len(found) // 4, bytes(found)) for (gram, length), found in sorted(held.items())),
    )


class GazetteerNames:
    """Reads the index of one open database."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Nothing is read until the first question; the names of each length that was asked for stay in memory."""
        self._conn = conn
        self._spellings: dict[int, NDArray[np.uint32]] = {}
        self._memory: dict[int, NDArray[np.uint8]] = {}

    def exact(self, query: str, limit: int) -> list[NameHit]:
        """Names equal to the query or its Latin spelling but for case, accents and punctuation; best known first."""
        key = exact_key(query)
        hits = self._called(key, 1.0, limit) if key else []
        spelled = latin_key(query)
        if not hits and spelled and spelled != key:
            hits = self._called(spelled, _LATIN_SHARE, limit)
        return hits

    def search(self, query: str, limit: int) -> list[NameHit]:
        """Exact names; without any, those that differ by a word that says what it is; else those spelled alike."""
        if hits := self.exact(query, limit):
            return hits
        key = exact_key(query)
        telling = _telling(key)
        if telling != key and len(telling) >= 4 and (hits := self._called(telling, _GENERIC_SHARE, limit)):
            return hits
        best: dict[int, NameHit] = {}
        for score, found in self._alike(key, latin_key(query)):
            for hit in self._called(found, score, limit):
                # A name in another script has many spellings in Latin letters, and ours is like many a word.
                if hit.owner not in best and (score >= _LEAST_SPELLED or exact_key(hit.text) == found):
                    best[hit.owner] = hit
            if len(best) >= limit:
                break
        return list(best.values())[:limit]

    def prefix(self, text: str, limit: int) -> list[NameHit]:
        """Names that begin so, the best known of the first few thousand in order."""
        key = exact_key(text)
        if not key:
            return []
        rows = self._conn.execute(
            "SELECT owner, text, role, key FROM (SELECT owner, text, role, key, fame FROM name WHERE key >= ? AND "
            "key < ? LIMIT 4000) ORDER BY fame DESC LIMIT ?",
            (key, key + "\U0010ffff", limit),
        )
        return [NameHit(owner, name, role, len(key) / len(full), _match(role)) for owner, name, role, full in rows]

    def _called(self, key: str, score: float, limit: int) -> list[NameHit]:
        rows = self._conn.execute(
            "SELECT owner, text, role FROM name WHERE key = ? ORDER BY fame DESC LIMIT ?", (key, limit)
        )
        sure = score >= _LATIN_SHARE
        return [NameHit(owner, text, role, score, _match(role) if sure else "fuzzy") for owner, text, role in rows]

    def _alike(self, key: str, spelled: str | None) -> list[tuple[float, str]]:
        """Spellings like the query, best first, each with its likeness."""
        found: dict[str, float] = {}
        for asked, share in ((key, 1.0), (spelled, _LATIN_SHARE)):
            if not asked or (share < 1.0 and asked == key):
                continue
            for name in self._keys(self._candidates(asked)):
                alike = share * min(similarity(asked, name), _LATIN_SHARE - 0.001)
                if (
                    alike >= _LEAST_SIMILARITY
                    and (alike >= _SURE or _tell_alike(asked, name))
                    and alike > found.get(name, 0.0)
                ):
                    found[name] = alike
        return sorted(((alike, name) for name, alike in found.items()), key=lambda one: (-one[0], one[1]))

    def _candidates(self, key: str) -> list[int]:
        """First names of the spellings of about that length that share most triples with it; rare ones count more."""
        wanted = triples(squeeze(key))[:_MOST_TRIPLES]
        length = _length(key)
        within = range(max(1, length - _SLACK), min(_MAX_LENGTH, length + _SLACK) + 1)
        marks = ",".join("?" * len(wanted))
        rows = self._conn.execute(
            f"SELECT gram, length, sum(count) FROM gram WHERE gram IN ({marks}) AND length BETWEEN ? AND ? "  # noqa: S608
            "GROUP BY gram, length",
            (*wanted, within[0], within[-1]),
        ).fetchall()
        counts: Counter[str] = Counter()
        for gram, _, count in rows:
            counts[gram] += count
        total = sum(len(self._of_length(one)) for one in within)
        # Weights of a byte: the sum of all of them fits into one, too.
        most = 255 // len(wanted)
        lists: dict[int, list[tuple[np.uint8, NDArray[np.uint32]]]] = {}
        read = 0
        for gram, one, count in sorted(rows, key=lambda row: row[2] * _LATER[abs(row[1] - length)]):
            if read and read + count > _MOST_READ:
                break
            read += count
            weight = np.uint8(max(1, round(most * log(1 + total / counts[gram]) / log(1 + total))))
            for (found,) in self._conn.execute("SELECT spellings FROM gram WHERE gram = ? AND length = ?", (gram, one)):
                lists.setdefault(one, []).append((weight, np.frombuffer(found, dtype="<u4")))
        return [name for one, some in lists.items() for name in self._best(one, some, _LOOKED_AT[abs(one - length)])]

    def _best(self, length: int, lists: Sequence[tuple[np.uint8, NDArray[np.uint32]]], most: int) -> list[int]:
        """The first names of the spellings of a length that have the largest sums of weights.

        Only what the lists name is touched, so that the time depends on them and not on how many spellings there are.
        """
        sums = self._sums(length)
        for weight, numbers in lists:
            sums[numbers] += weight  # each number stands once in a list
        numbers = np.concatenate([numbers for _, numbers in lists])
        found = sums[numbers]
        sums[numbers] = 0
        many = min(len(found), most * len(lists))
        largest = np.argpartition(found, len(found) - many)[len(found) - many :]
        distinct, at = np.unique(numbers[largest], return_index=True)
        order = np.argsort(-found[largest[at]].astype(np.int16), kind="stable")[:most]
        chosen: list[int] = self._of_length(length)[distinct[order]].tolist()
        return chosen

    def _sums(self, length: int) -> NDArray[np.uint8]:
        """A zero for each spelling of a length, in memory that is used again."""
        known = self._memory.get(length)
        if known is None:
            known = self._memory[length] = np.zeros(len(self._of_length(length)), dtype=np.uint8)
        return known

    def _of_length(self, length: int) -> NDArray[np.uint32]:
        """The first name of each spelling of a length."""
        known = self._spellings.get(length)
        if known is None:
            rows = self._conn.execute("SELECT names FROM spelling WHERE length = ? ORDER BY first", (length,))
            known = self._spellings[length] = np.frombuffer(b"".join(names for (names,) in rows), dtype="<u4")
        return known

    def _keys(self, ids: Sequence[int]) -> Iterator[str]:
        for (key,) in rows_with(self._conn, "SELECT key FROM name WHERE id", ids):
            yield key


def _telling(key: str) -> str:
    return " ".join(word for word in key.split() if word not in _GENERIC)


def _tell_alike(asked: str, name: str) -> bool:
    """Whether two keys are alike in more than the words that say what a thing is: Ballston Lake is not Lake Balaton."""
    one, other = _telling(asked), _telling(name)
    return (one, other) == (asked, name) or not (one and other) or similarity(one, other) >= _LEAST_TELLING


def _match(role: int) -> Literal["exact", "alias"]:
    return "exact" if role == MAIN else "alias"
