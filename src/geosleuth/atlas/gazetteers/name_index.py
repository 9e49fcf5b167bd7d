"""Find a name among tens of millions in a few milliseconds, even if it is misspelled.

The index of regions (`geosleuth.atlas.search`) scores every name for each query, which is too slow here. This one
differs in three ways. Letter triples point to distinct spellings instead of names, so that the thousand places called
Santa Cruz count once. The lists of spellings are split by length, and a query reads those of nearly its own length, the
closest first. And lists of common triples are skipped once rarer ones have given enough candidates.

The price: a part of a name ("Kosciuszko" for "Mount Kosciuszko National Park") is found only if the other words are
generic ("lake", "mount").
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

from geosleuth.atlas.keyed_rows import select_rows
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

# Spellings of each length are numbered from 0. ``spelling`` lists the first name of each spelling, ``gram`` the
# spellings that contain a triple. Lists are little-endian 32-bit numbers.
TABLES: Final = """
CREATE TABLE name (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, role INTEGER NOT NULL, fame INTEGER NOT NULL,
                   text TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE spelling (length INTEGER NOT NULL, first INTEGER NOT NULL, names BLOB NOT NULL,
                       PRIMARY KEY (length, first)) WITHOUT ROWID;
CREATE TABLE gram (gram TEXT NOT NULL, length INTEGER NOT NULL, part INTEGER NOT NULL, count INTEGER NOT NULL,
                   spellings BLOB NOT NULL, PRIMARY KEY (gram, length, part)) WITHOUT ROWID
"""

_BATCH: Final = 200_000
_MAX_LENGTH: Final = 40
# Cost factors of posting lists by difference in length from the query: costly lists are read last.
_LENGTH_PENALTIES: Final = (1.0, 1.3, 2.0)

# Maximum spellings compared, by difference in length from the query.
_MAX_COMPARED: Final = (36, 24, 12)

_MAX_LENGTH_DIFFERENCE: Final = len(_LENGTH_PENALTIES) - 1
_ID_BITS: Final = 20  # a batch has fewer than 2 ** 20 spellings
_LENGTH_BITS: Final = 6
_HELD_BYTES: Final = 400_000_000
_LIST_BYTES: Final = 300  # of a list and its key, besides the content: most lists are short
_MAX_READ: Final = 60_000
_MAX_TRIPLES: Final = 60
_MIN_SIMILARITY: Final = 0.72
_MIN_TRANSLITERATED_SIMILARITY: Final = 0.85
_MIN_DISTINCTIVE_SIMILARITY: Final = 0.78
_SURE_SIMILARITY: Final = 0.88
_LATIN_SHARE: Final = 0.95
_GENERIC_SHARE: Final = 0.96
_MIN_CHARS_WITHOUT_KIND: Final = 5

# Generic words that may be present in or missing from a name.
_GENERIC: Final = frozenset(
    {"lake", "lakes", "lac", "lago", "laguna", "loch", "mount", "mountain", "mountains", "mt", "mts", "mont", "monte",
     "range", "river", "rio", "riviere", "fluss", "see", "sea", "bay", "bahia", "baie", "gulf", "island", "islands",
     "isle", "ile", "isla", "ilha", "cape", "cap", "cabo", "park", "national", "state", "nature", "reserve", "desert",
     "peninsula", "strait", "falls", "waterfall", "glacier", "valley", "volcano", "peak", "hill", "hills", "creek",
     "reservoir", "dam", "the", "of", "de", "du", "del"}
)  # fmt: skip

_KIND_WORDS: Final = frozenset(
    {"lake", "l", "lac", "lago", "loch", "mount", "mt", "monte", "river", "reservoir", "peak", "volcano"}
)


def make_keys(text: str) -> tuple[str, ...]:
    """Return the keys of a name: its folded form and, for other scripts, its folded transliteration to Latin."""
    text = text[:MAX_QUERY_CHARS]
    if text.isascii() and text.replace(" ", "").isalnum():  # a shortcut for most names
        return (" ".join(text.lower().split()),)
    key = fold_once(text)
    if all(ord(character) < 0x370 for character in text):
        return (key,) if key else ()
    spelled = fold_once(anyascii(text))
    return tuple(dict.fromkeys(name_key for name_key in (key, spelled) if name_key))


def without_kind(key: str) -> str | None:
    """Return a folded name without a generic first or last word; None if it has none, or if too little is left."""
    first, _, rest = key.partition(" ")
    if first in _KIND_WORDS:
        left = rest
    else:
        start, _, last = key.rpartition(" ")
        left = start if last in _KIND_WORDS else ""
    return left if len(left) >= _MIN_CHARS_WITHOUT_KIND else None


def finish(conn: sqlite3.Connection) -> None:
    """Index all names of the file, in bounded memory; call once, after the last name was added."""
    conn.execute("CREATE INDEX name_key ON name (key, fame DESC)")
    held: dict[tuple[str, int], bytearray] = {}
    part = held_bytes = 0
    counts = np.zeros(_MAX_LENGTH + 1, dtype=np.int64)
    for batch in _batches(conn.execute("SELECT key, min(id) FROM name GROUP BY key")):
        lengths = np.fromiter((_length(key) for key, _ in batch), dtype=np.int64, count=len(batch))
        numbers = _number_spellings(conn, batch, lengths, counts)
        for where, found in _triple_lists("".join(f"{key}\n" for key, _ in batch), lengths, numbers):
            spellings = held.get(where)
            if spellings is None:
                held[where] = bytearray(found)
                held_bytes += _LIST_BYTES
            else:
                spellings.extend(found)
            held_bytes += len(found)
        if held_bytes > _HELD_BYTES:
            _write_grams(conn, held, part)
            held, held_bytes, part = {}, 0, part + 1
    _write_grams(conn, held, part)


def _batches(rows: Iterable[tuple[str, int]]) -> Iterator[Sequence[tuple[str, int]]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _number_spellings(
    conn: sqlite3.Connection, batch: Sequence[tuple[str, int]], lengths: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number the spellings of each length, write the names they stand for, and return the numbers.

    ``counts`` is how many spellings of each length have been numbered before; it is updated.
    """
    names = np.fromiter((number for _, number in batch), dtype="<u4", count=len(batch))
    numbers = np.empty(len(batch), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == length)
        first = int(counts[length])
        numbers[chosen] = np.arange(first, first + len(chosen))
        conn.execute("INSERT INTO spelling VALUES (?, ?, ?)", (length, first, names[chosen].tobytes()))
        counts[length] += len(chosen)
    return numbers


def _triple_lists(
    keys: str, lengths: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Iterator[tuple[tuple[str, int], bytes]]:
    """Yield for each triple and length the numbers of the spellings that have both."""
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
    """Return the number of letters without blanks, up to the longest that is told apart."""
    return min(_MAX_LENGTH, len(key) - key.count(" "))


def _write_grams(conn: sqlite3.Connection, held: dict[tuple[str, int], bytearray], part: int) -> None:
    conn.executemany(
        "INSERT INTO gram VALUES (?, ?, ?, ?, ?)",
        ((gram, length, part, len(found) // 4, bytes(found)) for (gram, length), found in sorted(held.items())),
    )


class GazetteerNames:
    """Looks names up in the index of one open database."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Use an open database; the spellings of each length are read when first needed and stay in memory."""
        self._conn = conn
        self._spellings: dict[int, NDArray[np.uint32]] = {}
        self._sum_buffers: dict[int, NDArray[np.uint8]] = {}

    def exact(self, query: str, limit: int) -> list[NameHit]:
        """Return names that equal the query or its transliteration, ignoring case, accents and punctuation.

        The best known come first.
        """
        key = exact_key(query)
        hits = self._names_with_key(key, 1.0, limit) if key else []
        spelled = latin_key(query)
        if not hits and spelled and spelled != key:
            hits = self._names_with_key(spelled, _LATIN_SHARE, limit)
        return hits

    def search(self, query: str, limit: int) -> list[NameHit]:
        """Return exact matches, else names that differ only in generic words, else names of similar spelling."""
        if hits := self.exact(query, limit):
            return hits
        key = exact_key(query)
        distinctive = _distinctive_words(key)
        if (
            distinctive != key
            and len(distinctive) >= 4
            and (hits := self._names_with_key(distinctive, _GENERIC_SHARE, limit))
        ):
            return hits
        best: dict[int, NameHit] = {}
        for score, found in self._similar_keys(key, latin_key(query)):
            for hit in self._names_with_key(found, score, limit):
                # A transliterated name is similar to many words by chance, so it needs a higher score.
                if hit.owner not in best and (score >= _MIN_TRANSLITERATED_SIMILARITY or exact_key(hit.text) == found):
                    best[hit.owner] = hit
            if len(best) >= limit:
                break
        return list(best.values())[:limit]

    def prefix(self, text: str, limit: int) -> list[NameHit]:
        """Return names that begin with a text: the best known of the first few thousand in alphabetical order."""
        key = exact_key(text)
        if not key:
            return []
        rows = self._conn.execute(
            "SELECT owner, text, role, key FROM (SELECT owner, text, role, key, fame FROM name WHERE key >= ? AND "
            "key < ? LIMIT 4000) ORDER BY fame DESC LIMIT ?",
            (key, key + "\U0010ffff", limit),
        )
        return [NameHit(owner, name, role, len(key) / len(full), _match(role)) for owner, name, role, full in rows]

    def _names_with_key(self, key: str, score: float, limit: int) -> list[NameHit]:
        rows = self._conn.execute(
            "SELECT owner, text, role FROM name WHERE key = ? ORDER BY fame DESC LIMIT ?", (key, limit)
        )
        sure = score >= _LATIN_SHARE
        return [NameHit(owner, text, role, score, _match(role) if sure else "fuzzy") for owner, text, role in rows]

    def _similar_keys(self, key: str, spelled: str | None) -> list[tuple[float, str]]:
        """Return keys that are spelled like the query, each preceded by its similarity, the most similar first."""
        found: dict[str, float] = {}
        for query, share in ((key, 1.0), (spelled, _LATIN_SHARE)):
            if not query or (share < 1.0 and query == key):
                continue
            for name in self._keys(self._find_candidate_names(query)):
                score = share * min(similarity(query, name), _LATIN_SHARE - 0.001)
                if (
                    score >= _MIN_SIMILARITY
                    and (score >= _SURE_SIMILARITY or _distinctive_words_match(query, name))
                    and score > found.get(name, 0.0)
                ):
                    found[name] = score
        return sorted(((score, name) for name, score in found.items()), key=lambda hit: (-hit[0], hit[1]))

    def _find_candidate_names(self, key: str) -> list[int]:
        """Return names whose spellings are about as long as the key and share most triples with it, rare ones first."""
        wanted = triples(squeeze(key))[:_MAX_TRIPLES]
        length = _length(key)
        within = range(max(1, length - _MAX_LENGTH_DIFFERENCE), min(_MAX_LENGTH, length + _MAX_LENGTH_DIFFERENCE) + 1)
        marks = ",".join("?" * len(wanted))
        rows = self._conn.execute(
            f"SELECT gram, length, sum(count) FROM gram WHERE gram IN ({marks}) AND length BETWEEN ? AND ? "  # noqa: S608
            "GROUP BY gram, length",
            (*wanted, within[0], within[-1]),
        ).fetchall()
        counts: Counter[str] = Counter()
        for gram, _, count in rows:
            counts[gram] += count
        total = sum(len(self._names_of_length(other_length)) for other_length in within)
        # Small enough for the sum of all weights to fit into a byte.
        max_weight = 255 // len(wanted)
        lists: dict[int, list[tuple[np.uint8, NDArray[np.uint32]]]] = {}
        read = 0
        for gram, other_length, count in sorted(rows, key=lambda row: row[2] * _LENGTH_PENALTIES[abs(row[1] - length)]):
            if read and read + count > _MAX_READ:
                break
            read += count
            weight = np.uint8(max(1, round(max_weight * log(1 + total / counts[gram]) / log(1 + total))))
            for (found,) in self._conn.execute(
                "SELECT spellings FROM gram WHERE gram = ? AND length = ?", (gram, other_length)
            ):
                lists.setdefault(other_length, []).append((weight, np.frombuffer(found, dtype="<u4")))
        return [
            name
            for other_length, weighted in lists.items()
            for name in self._best(other_length, weighted, _MAX_COMPARED[abs(other_length - length)])
        ]

    def _best(self, length: int, lists: Sequence[tuple[np.uint8, NDArray[np.uint32]]], most: int) -> list[int]:
        """Return the first names of the ``most`` spellings of a length with the largest sums of weights.

        Only spellings in the lists are touched, so the time does not depend on the number of all spellings.
        """
        sums = self._sum_buffer(length)
        for weight, numbers in lists:
            sums[numbers] += weight  # each number stands once in a list
        numbers = np.concatenate([numbers for _, numbers in lists])
        found = sums[numbers]
        sums[numbers] = 0
        many = min(len(found), most * len(lists))
        largest = np.argpartition(found, len(found) - many)[len(found) - many :]
        distinct, at = np.unique(numbers[largest], return_index=True)
        order = np.argsort(-found[largest[at]].astype(np.int16), kind="stable")[:most]
        chosen: list[int] = self._names_of_length(length)[distinct[order]].tolist()
        return chosen

    def _sum_buffer(self, length: int) -> NDArray[np.uint8]:
        """Return a zero for each spelling of a length, in a buffer that is reused."""
        buffer = self._sum_buffers.get(length)
        if buffer is None:
            buffer = self._sum_buffers[length] = np.zeros(len(self._names_of_length(length)), dtype=np.uint8)
        return buffer

    def _names_of_length(self, length: int) -> NDArray[np.uint32]:
        """Return the first name of each spelling of a length."""
        first_names = self._spellings.get(length)
        if first_names is None:
            rows = self._conn.execute("SELECT names FROM spelling WHERE length = ? ORDER BY first", (length,))
            first_names = self._spellings[length] = np.frombuffer(b"".join(names for (names,) in rows), dtype="<u4")
        return first_names

    def _keys(self, ids: Sequence[int]) -> Iterator[str]:
        for (key,) in select_rows(self._conn, "SELECT key FROM name WHERE id", ids):
            yield key


def _distinctive_words(key: str) -> str:
    return " ".join(word for word in key.split() if word not in _GENERIC)


def _distinctive_words_match(query: str, name: str) -> bool:
    """Return whether two keys are similar in more than generic words: Ballston Lake is not Lake Balaton."""
    item, other = _distinctive_words(query), _distinctive_words(name)
    return (
        (item, other) == (query, name) or not (item and other) or similarity(item, other) >= _MIN_DISTINCTIVE_SIMILARITY
    )


def _match(role: int) -> Literal["exact", "alias"]:
    return "exact" if role == MAIN else "alias"
