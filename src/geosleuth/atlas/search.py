"""Find names read from a photo: folded keys, an index of letter triples in SQLite, and ranking that forgives.

Three keys, from strict to forgiving: ``exact_key`` folds case, accents and punctuation; ``compact_key`` also drops
spaces and makes one letter of those that text reading confuses (0/o, 1/i/l, rn/m); ``latin_key`` spells other scripts
in Latin letters, so that a name meets its transliteration.

``gram`` holds, per letter triple, the names that contain it, as compressed numbers. Looking a name up adds the triples'
weights per name in one array operation, which is faster than SQLite's own full-text index for misspelled names
(docs/decisions) and needs no tokenizer. The file is written once and then only read. That serves the base atlas;
regions and gazetteers, which have no bounds, read only parts of such lists.
"""

import re
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, pairwise
from typing import Any, Literal

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from geosleuth.names import fold

from .keyed_rows import rows_with

_NameRow = tuple[int, int, str, int, str]  # id, owner, text, role, exact key
MAX_QUERY_CHARS = 200
"""Names are shorter; of a longer query the beginning is looked at."""

_CONFUSED = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "|": "l", "q": "g"})
_CONFUSED_BYTES = bytes(ord(_CONFUSED.get(code, chr(code))) for code in range(128)) + bytes(range(128, 256))
_PAIRS = re.compile("rn|vv|cl")
_PAIR_LETTERS = {"rn": "m", "vv": "w", "cl": "d"}
_ONE, _TWO = np.uint64(21), np.uint64(42)  # bits to shift a code point by
_CODE_POINT = np.uint64((1 << 21) - 1)


def exact_key(text: str) -> str:
    """Case, accents and punctuation folded, words kept apart."""
    return fold(text[:MAX_QUERY_CHARS])


def compact_key(text: str) -> str:
    """No spaces, confusable letters made one."""
    return squeeze(exact_key(text))


@lru_cache(maxsize=1 << 15)
def squeeze(key: str) -> str:
    """The compact form of an exact key."""
    return _PAIRS.sub(lambda match: _PAIR_LETTERS[match[0]], key.replace(" ", "")).translate(_CONFUSED)


def latin_key(text: str) -> str | None:
    """The name spelled in Latin letters, or None where it already is."""
    text = text[:MAX_QUERY_CHARS]
    if text.isascii() or max(text) < "\u0370":
        return None
    return fold(anyascii(text)) or None


def triples(compact: str) -> list[str]:
    """The distinct letter triples of a compact key, its beginning and end marked."""
    padded = f"^{compact}$"
    return sorted({padded[at : at + 3] for at in range(len(padded) - 2)})


def text_triples(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The distinct triples of many exact keys at once, each key ended by a line break.

    Returns:
        Triples as numbers in ascending order, and for each the place of its key in the text, ascending too. It is what
        `triples` finds in each key's compact form, far faster.
    """
    if not text:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    # As bytes, which Python replaces and translates several times as fast as text.
    compact = text.encode("utf-8", "surrogatepass").replace(b" ", b"")
    for pair, letter in _PAIR_LETTERS.items():
        # No pair holds a letter of another pair, or one that a pair becomes.
        compact = compact.replace(pair.encode(), letter.encode())
    compact = b"^%b$" % compact.translate(_CONFUSED_BYTES)[:-1].replace(b"\n", b"$^")
    letters = np.frombuffer(compact.decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass"), dtype="<u4")
    last = letters == ord("$")
    inside = ~(last[:-2] | last[1:-1])
    places = np.cumsum(last, dtype=np.uint32)[:-2][inside]
    # As few bits as will do, so that triple and key make one number: sorting those takes a third of the time.
    present = np.zeros(int(letters.max()) + 1, dtype=bool)
    present[letters] = True
    alphabet = np.flatnonzero(present).astype(np.uint64)
    bits, key_bits = len(alphabet).bit_length(), np.uint64(text.count("\n").bit_length())
    if 3 * bits + int(key_bits) > 64:
        return _halved(text)
    few = (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[letters].astype(np.uint64)
    one, two = np.uint64(bits), np.uint64(2 * bits)
    pairs = ((few[:-2] << two | few[1:-1] << one | few[2:]) << key_bits)[inside] | places
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)]]
    found, mask = pairs >> key_bits, np.uint64((1 << bits) - 1)
    codes = alphabet[found >> two] << _TWO | alphabet[found >> one & mask] << _ONE | alphabet[found & mask]
    return codes, (pairs & np.uint64((1 << int(key_bits)) - 1)).astype(np.int64)


def _halved(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The triples of more names in more letters than one number can tell apart: of one half, then of the other."""
    cut = text.index("\n", len(text) // 2) + 1 if "\n" in text[len(text) // 2 : -1] else text.index("\n") + 1
    (codes, places), (more_codes, more_places) = text_triples(text[:cut]), text_triples(text[cut:])
    codes = np.concatenate([codes, more_codes])
    order = np.argsort(codes, kind="stable")
    return codes[order], np.concatenate([places, more_places + text.count("\n", 0, cut)])[order]


def triple_codes(spelled: Sequence[str]) -> NDArray[np.uint64]:
    """The numbers that `text_triples` gives for these triples."""
    letters = np.frombuffer("".join(spelled).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    return letters[::3] << _TWO | letters[1::3] << _ONE | letters[2::3]


def spell_triples(codes: NDArray[np.uint64]) -> list[str]:
    """The three letters of each number that `text_triples` gave."""
    each = np.stack([codes >> _TWO & _CODE_POINT, codes >> _ONE & _CODE_POINT, codes & _CODE_POINT], axis=1)
    text = each.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def similarity(query: str, name: str) -> float:
    """Likeness of two exact keys in [0, 1]; 1 only where they are equal but for spaces.

    The best of four views: letter by letter; word by word in any order; the query as a part of a longer name (words
    left out, ends cut); the name as a part of a longer query.
    """
    if not query or not name:
        return 0.0
    tight_query, tight_name = squeeze(query), squeeze(name)
    letters = OSA.normalized_similarity(tight_query, tight_name)
    if letters == 1.0:
        return 1.0 if query.replace(" ", "") == name.replace(" ", "") else 0.985
    best = letters
    if " " in query or " " in name:
        best = max(best, 0.97 * fuzz.token_sort_ratio(query, name) / 100)
    shorter, longer = sorted((len(tight_query), len(tight_name)))
    if shorter >= 4 and shorter < 0.8 * longer:
        # A part says less the smaller its share of the whole is; with nearly all letters there, letters decide.
        share = shorter / longer
        part = fuzz.partial_ratio(tight_query, tight_name) / 100
        words = fuzz.token_set_ratio(query, name) / 100 if " " in query or " " in name else 0.0
        # A part of one single word is a weaker sign than words left out.
        whole_words = " " in query or " " in name
        best = max(best, max(part**2, words**2) * (0.6 + 0.35 * share) * (1.0 if whole_words else 0.8))
    return min(best, 0.98)


def similarities(query: str, names: Sequence[str]) -> NDArray[np.float64]:
    """`similarity` of one exact key to many, several times as fast."""
    if not query or not names:
        return np.zeros(len(names))
    tight_query, tight = squeeze(query), [squeeze(name) for name in names]
    alike = _each(OSA.normalized_similarity, tight_query, tight)
    same = np.flatnonzero(alike == 1.0).tolist()
    spaced = np.array([" " in name for name in names]) | (" " in query)
    alike = np.where(spaced, np.maximum(alike, 0.97 * _each(fuzz.token_sort_ratio, query, names) / 100), alike)
    lengths = np.array([len(name) for name in tight])
    shorter, longer = np.minimum(lengths, len(tight_query)), np.maximum(lengths, len(tight_query))
    # A part says less the smaller its share of the whole is; a part of one single word is a weaker sign.
    some = np.flatnonzero((shorter >= 4) & (shorter < 0.8 * longer))
    if len(some):
        part = _each(fuzz.partial_ratio, tight_query, [tight[at] for at in some.tolist()]) / 100
        words = _each(fuzz.token_set_ratio, query, [names[at] for at in some.tolist()]) / 100
        words[~spaced[some]] = 0.0
        share = 0.6 + 0.35 * shorter[some] / longer[some]
        held = np.maximum(part, words) ** 2 * share * np.where(spaced[some], 1.0, 0.8)
        alike[some] = np.maximum(alike[some], held)
    alike = np.minimum(alike, 0.98)
    for at in same:
        alike[at] = 1.0 if query.replace(" ", "") == names[at].replace(" ", "") else 0.985
    alike[lengths == 0] = 0.0
    return alike


def _each(scorer: Any, query: str, names: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray(process.cdist([query], names, scorer=scorer, dtype=np.float64)[0])


def is_same_name(query: str, name: str) -> bool:
    """Whether a text is plainly a name, misspelled, misread or in another script; false for a different name.

    Signs of Chinese and Japanese have many readings, and a reading many signs: their spelling in Latin letters must be
    the very name, and a long one.
    """
    key, known = exact_key(query), exact_key(name)
    if not key or not known:
        return False
    if _is_slip(key, known):
        return True
    spelled, written = latin_key(query) or key, latin_key(name) or known
    if (spelled, written) == (key, known):
        return False
    if any(ord(character) >= _FIRST_CJK for character in key + known):
        return len(squeeze(spelled)) >= _LONG_READING and squeeze(spelled) == squeeze(written)
    return _is_slip(spelled, written)


def is_short_for(key: str, name: str) -> bool:
    """Whether words of an exact key, two or more, are most of a longer name: Heathrow Airport."""
    return " " in key and len(key) >= _MOST_OF_A_NAME * len(name) and f" {key} " in f" {name} "


def _is_slip(key: str, name: str) -> bool:
    """Whether two exact keys differ by slips alone, in each word as much as in the whole."""
    tight, tight_name = squeeze(key), squeeze(name)
    slips = OSA.distance(tight, tight_name)
    if slips == 0:
        return True
    length = min(len(tight), len(tight_name))
    if slips > _slips(length) or (length < _LONG_NAME and abs(len(tight) - len(tight_name)) > 1):
        return False
    if tight[0] != tight_name[0] and (slips > 1 or length <= _SURE_LENGTH):
        return False
    words, name_words = key.split(), name.split()
    if len(words) != len(name_words):
        return slips == 1
    return all(
        OSA.distance(squeeze(one), squeeze(other)) <= _slips(min(len(one), len(other)))
        for one, other in zip(words, name_words, strict=True)
    )


def _that_may_be_meant(key: str, rows: Sequence[_NameRow]) -> list[_NameRow]:
    """Return the rows for whose key `is_same_name` or `is_short_for` may hold; all are in the query's own script."""
    if not rows:
        return []
    tight, names = squeeze(key), [name for *_, name in rows]
    most = _slips(len(tight))
    slips = process.cdist([tight], [squeeze(name) for name in names], scorer=OSA.distance, score_cutoff=most)[0]
    meant = slips <= most
    if " " in key:
        meant |= [is_short_for(key, name) for name in names]
    return list(compress(rows, meant.tolist()))


def _slips(length: int) -> int:
    """How many letters of a word or name may be wrong before it is another one."""
    return (length >= 5) + (length >= 9) + (length >= _LONG_NAME)


_LONG_NAME, _SURE_LENGTH, _LONG_READING = 14, 6, 8
_MOST_OF_A_NAME = 0.6
_FIRST_CJK = 0x2E80

MAIN, OTHER, ATTRIBUTE = 0, 1, 2
_CANDIDATES = 100
_MOST_READ = 40_000
_LOST_TO_A_SLIP = 4  # triples, where two letters change places; as many where the query is a part of a longer name
_MOST_TIMES, _MORE_OR_LESS = 1.8, 6
_LEAST_SIMILARITY = 0.5
_LEAST_SHARE = 0.2
_ONE_SHARED = 1024.0
_PACKED = b"\0"  # no zlib stream begins so
_MORE = 0x80
_SEVENS = (7, 14, 21, 28)


@dataclass(slots=True)  # not frozen, since a question makes a hundred, and those take three times as long
class NameHit:
    """A name found: whose it is, its text, its role (0 main name, 1 other name, 2 attribute) and how well it fits."""

    owner: int
    text: str
    role: int
    score: float
    match: Literal["exact", "alias", "fuzzy"]


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


def _unpack(packed: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ids of all lists, one list after the other, and how many each has."""
    data = np.frombuffer(b"".join([one[1:] for one in packed]), dtype=np.uint8)
    more = data >= _MORE
    parts = (data & (_MORE - 1)).astype(np.int64)
    later = more[:-1].nonzero()[0] + 1  # bytes that follow another one of their number
    while len(later):
        parts[later] <<= _SEVENS[0]
        later = later[more[later]] + 1
    sums, ends = np.cumsum(parts), (~more).nonzero()[0]
    bytes_until = np.cumsum([len(one) - 1 for one in packed])
    counts = np.diff(np.searchsorted(ends, bytes_until), prepend=0)
    before = np.concatenate([[0], sums[bytes_until[:-1] - 1]])
    return sums[ends] - np.repeat(before, counts), counts


def summed(
    count: int, numbers: NDArray[np.int64], weights: NDArray[np.floating[Any]], least: float
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Numbers below a count of which the weights come to the least at all, ascending, and what they come to."""
    sums: NDArray[np.float32] | None = getattr(_room, "sums", None)
    if sums is None or len(sums) < count:
        sums = _room.sums = np.zeros(count, dtype=np.float32)
    np.add.at(sums, numbers, weights.astype(np.float32, copy=False))
    # Most names share one common triple with any query; only those that share a fair part of it are looked at.
    fair = (sums.take(numbers) >= least - 1e-4).nonzero()[0]
    some = distinct(numbers[fair].astype(np.uint32)).astype(np.int64)  # half as long to sort
    found = sums[some]
    sums[numbers] = 0
    return some, found


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers in ascending order, each once; `np.unique` takes five times as long for millions."""
    numbers = np.sort(numbers)
    return np.asarray(numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])[: len(numbers)]])


_room = threading.local()
"""Where a thread adds up; zero between questions."""


class NameIndex:
    """Reads the index of one open database; keep one per connection.

    Those who use it say where the names themselves are.
    """

    def __init__(self, conn: sqlite3.Connection, shared: dict[str, Any]) -> None:
        """Nothing is read until the first question; ``shared`` is what all connections have in memory together."""
        self._conn = conn
        self._shared = shared

    @property
    def owners(self) -> NDArray[np.uint32]:
        """Owner of each name; index 0 belongs to no name, as ids begin at 1."""
        return self._column("owner", np.uint32)

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """Number of triples of each name."""
        return self._column("size", np.uint8)

    def _column(self, name: str, dtype: type[Any]) -> NDArray[Any]:
        known = self._shared.get(name)
        if not isinstance(known, np.ndarray):
            (packed,) = self._conn.execute('SELECT bytes FROM name_column WHERE "column" = ?', (name,)).fetchone()
            read = np.frombuffer(zlib.decompress(packed), dtype=dtype)
            known = self._shared[name] = np.concatenate([np.zeros(1, dtype=dtype), read])
        return known

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        among: NDArray[np.int64] | None = None,
        boost: NDArray[np.float64] | None = None,
    ) -> list[NameHit]:
        """Names like the query that it may mean, best first, one hit per owner; see `is_same_name`, `is_short_for`.

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
        if spelled is None:
            ids = self._candidates(squeeze(key), among, boost, key)
        else:
            ids = self._candidates(squeeze(key), among, boost)
            if spelled != key:
                ids = np.union1d(ids, self._candidates(squeeze(spelled), among, boost))
        best: dict[int, tuple[float, float, NameHit]] = {}
        for name_id, hit in self._ranked(ids, key, spelled):
            rank = (-hit.score, 0.0 if boost is None else -float(boost[name_id]), hit)
            if hit.owner not in best or rank[0] < best[hit.owner][0]:
                best[hit.owner] = rank
        ranked = sorted(best.values(), key=lambda item: (*item[:2], item[2].role, len(item[2].text), item[2].owner))
        return [hit for *_, hit in ranked[:limit]]

    def _candidates(
        self,
        compact: str,
        among: NDArray[np.int64] | None,
        boost: NDArray[np.float64] | None,
        only_slips_of: str | None = None,
    ) -> NDArray[np.int64]:
        """Ids of the names that share most triples with the query, rare triples counting more.

        Where an exact key is given, names that can be neither a misspelling of it nor a longer name with its words are
        left out, as far as triples tell: then few names are left to compare.
        """
        wanted = triples(compact)
        rows = rows_with(self._conn, "SELECT names FROM gram WHERE gram", wanted)
        slips = _slips(len(compact))
        lost = _LOST_TO_A_SLIP * max(1, slips) if only_slips_of is not None else len(wanted)
        if not rows or len(wanted) - len(rows) > lost:  # what no name has, is lost to all of them
            return np.empty(0, dtype=np.int64)
        total = len(self.sizes)
        # The rarest triples tell most: common ones are read only as far as there is room.
        lists = sorted((packed for (packed,) in rows), key=len)
        long = np.cumsum([len(packed) for packed in lists])
        found, counts = _unpack(lists[: max(1, int(long.searchsorted(_MOST_READ, side="right")))])
        weights = np.log(1 + total / counts)
        # Each triple counts as more than all weights come to, so that one sum says how many are shared, and which.
        fewest = max(0, len(counts) - (lost - (len(wanted) - len(rows))))
        least = max(_LEAST_SHARE * float(weights.sum()) + _ONE_SHARED, _ONE_SHARED * fewest)
        ids, sums = summed(total, found, np.repeat((weights + _ONE_SHARED).astype(np.float32), counts), least)
        shared, sums = np.divmod(sums, _ONE_SHARED)
        some = sums >= _LEAST_SHARE * float(weights.sum()) - 1e-2
        sizes = self.sizes[ids].astype(np.float32)
        # A name with far more or far fewer triples is neither a misspelling of the query nor short for it.
        some &= (sizes <= _MOST_TIMES * len(wanted) + _MORE_OR_LESS) & (sizes >= len(wanted) / 2 - _MORE_OR_LESS)
        if only_slips_of is not None:
            if " " in only_slips_of:
                some &= sizes <= len(only_slips_of) / _MOST_OF_A_NAME
            else:  # a misspelling has few triples of its own, beside those that were not looked for
                some &= (sizes <= len(compact) + slips) & (sizes <= shared + (len(rows) - len(counts)) + lost)
        if among is not None:
            some &= np.isin(self.owners[ids], among)
        ids, sums, sizes = ids[some], sums[some], sizes[some]
        worth = sums if boost is None else sums * boost[ids]
        mean = float(weights.mean())
        # Two views: alike as a whole, and holding the whole query; long names must not drown short ones or vice versa.
        alike = worth / (mean * (sizes + len(wanted)))
        holding = worth / (mean * (0.15 * sizes + len(wanted)))
        return ids[best_of_both(alike, holding, _CANDIDATES)]

    def _names(self, ids: Sequence[int]) -> Iterable[_NameRow]:
        """Return some names, in the order of their ids."""
        raise NotImplementedError

    def _ranked(self, ids: NDArray[np.int64], key: str, spelled: str | None) -> Iterable[tuple[int, NameHit]]:
        rows = list(self._names(ids.tolist()))
        if spelled is None:
            rows = _that_may_be_meant(key, rows)
        names = [name for *_, name in rows]
        scores = similarities(key, names)
        if spelled:
            scores = np.maximum(scores, 0.95 * similarities(spelled, names))
        for alike, (name_id, owner, text, role, _) in zip(scores.tolist(), rows, strict=True):
            if alike < _LEAST_SIMILARITY:
                continue
            kind: Literal["exact", "alias", "fuzzy"] = "fuzzy"
            if alike == 1.0:
                kind = "exact" if role == MAIN else "alias"
            yield name_id, NameHit(owner, text, role, alike * (1.0 if role <= OTHER else 0.97), kind)


def best_of_both(one: NDArray[np.floating[Any]], other: NDArray[np.floating[Any]], count: int) -> NDArray[np.intp]:
    """Places, ascending, of so many of the best by one score, and as many by another."""
    if len(one) <= count:
        return np.arange(len(one))
    best = np.zeros(len(one), dtype=bool)
    for scores in (one, other):
        best[np.argpartition(scores, -count)[-count:]] = True
    return best.nonzero()[0]
