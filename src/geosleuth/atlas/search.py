"""Fuzzy search for place names that may be misspelled or misread: normalized keys, a trigram index and re-ranking.

Keys, from strict to lenient:

- ``exact_key`` folds case, accents and punctuation;
- ``squeeze`` drops its spaces and merges letters that text recognition confuses (0/o, 1/i/l, rn/m);
- ``latin_key`` transliterates other scripts to Latin letters.

A search has two steps:

1. Candidate generation: `NameIndex` reads the posting lists of the query's letter triples (SQLite table ``gram``), adds
   up their weights (inverse document frequency) per name, and keeps the names with the highest sums.
2. Re-ranking: `similarities` compares the candidates with the query by edit distance and by words.

`NameIndex` serves the base atlas. Regions and gazetteers, which may be far larger, have indexes of their own that read
only parts of the lists; they share the keys and the re-ranking. docs/decisions/0008 says why SQLite's full-text index
is not used.
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

from .keyed_rows import select_rows

_NameRow = tuple[int, int, str, int, str]  # id, owner, text, role, exact key
# Longer queries are truncated: names are shorter than this.
MAX_QUERY_CHARS = 200

_CONFUSED = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "|": "l", "q": "g"})
_CONFUSED_BYTES = bytes(ord(_CONFUSED.get(code, chr(code))) for code in range(128)) + bytes(range(128, 256))
_PAIRS = re.compile("rn|vv|cl")
_PAIR_LETTERS = {"rn": "m", "vv": "w", "cl": "d"}
_SHIFT_1, _SHIFT_2 = np.uint64(21), np.uint64(42)  # a code point takes 21 bits
_CODE_POINT = np.uint64((1 << 21) - 1)

_LONG_NAME, _SURE_LENGTH, _LONG_READING = 14, 6, 8
_MAX_OF_A_NAME = 0.6
_FIRST_CJK = 0x2E80
# Roles of a name: the main name of its owner, another name of it, or a text in its address, operator or similar.
MAIN, OTHER, ATTRIBUTE = 0, 1, 2
_CANDIDATES = 100  # per criterion, see `best_of_both`
_MAX_READ_BYTES = 40_000
_TRIPLES_PER_SLIP = 4  # triples that change if two letters swap places; as many if the query is a part of a longer name
_MAX_SIZE_RATIO, _SIZE_SLACK = 1.8, 6
_MIN_SIMILARITY = 0.5
_MIN_WEIGHT_SHARE = 0.2
_SHARED_TRIPLE = 1024.0  # or a multiple, for very long queries; see `NameIndex._candidates`
_LIST_FORMAT = b"\0"  # the first byte of each list; no zlib stream starts with it
_CONTINUED = 0x80  # the bit of a byte that is followed by another one of the same number
_SHIFTS = (7, 14, 21, 28)
# Thread-local storage for ``sums``, the array in which a search adds up weights; all zero between searches.
_thread = threading.local()


def exact_key(text: str) -> str:
    """Return a text with case, accents and punctuation folded; words stay separate."""
    return fold(text[:MAX_QUERY_CHARS])


@lru_cache(maxsize=1 << 15)
def squeeze(key: str) -> str:
    """Return the compact key of an exact key."""
    return _PAIRS.sub(lambda match: _PAIR_LETTERS[match[0]], key.replace(" ", "")).translate(_CONFUSED)


def latin_key(text: str) -> str | None:
    """Return a name transliterated to Latin letters; None if it is in Latin letters already."""
    text = text[:MAX_QUERY_CHARS]
    if text.isascii() or max(text) < "\u0370":
        return None
    return fold(anyascii(text)) or None


def triples(compact: str) -> list[str]:
    """Return the distinct letter triples of a compact key, whose start and end are marked by ^ and $."""
    padded = f"^{compact}$"
    return sorted({padded[at : at + 3] for at in range(len(padded) - 2)})


def text_triples(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct triples of many exact keys, given as lines of text; far faster than `triples` for each.

    Returns:
        Codes of triples, ascending, and the line number (from 0) of a key that contains it; one entry per triple and
        key, the keys of one triple ascending.
    """
    if not text:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    # Python replaces and translates bytes several times as fast as text.
    compact = text.encode("utf-8", "surrogatepass").replace(b" ", b"")
    for pair, letter in _PAIR_LETTERS.items():
        # The order does not matter: pairs share no letter with each other, or with what they are replaced by.
        compact = compact.replace(pair.encode(), letter.encode())
    compact = b"^%b$" % compact.translate(_CONFUSED_BYTES)[:-1].replace(b"\n", b"$^")
    letters = np.frombuffer(compact.decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass"), dtype="<u4")
    at_end = letters == ord("$")
    inside = ~(at_end[:-2] | at_end[1:-1])
    places = np.cumsum(at_end, dtype=np.uint32)[:-2][inside]
    # Renumber the letters with as few bits as possible, to sort triple and key as one number: a third of the time.
    present = np.zeros(int(letters.max()) + 1, dtype=bool)
    present[letters] = True
    alphabet = np.flatnonzero(present).astype(np.uint64)
    bits, key_bits = len(alphabet).bit_length(), np.uint64(text.count("\n").bit_length())
    if 3 * bits + int(key_bits) > 64:
        return _text_triples_in_halves(text)
    coded = (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[letters].astype(np.uint64)
    shift_1, shift_2 = np.uint64(bits), np.uint64(2 * bits)
    pairs = ((coded[:-2] << shift_2 | coded[1:-1] << shift_1 | coded[2:]) << key_bits)[inside] | places
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)]]
    found, mask = pairs >> key_bits, np.uint64((1 << bits) - 1)
    codes = (
        alphabet[found >> shift_2] << _SHIFT_2 | alphabet[found >> shift_1 & mask] << _SHIFT_1 | alphabet[found & mask]
    )
    return codes, (pairs & np.uint64((1 << int(key_bits)) - 1)).astype(np.int64)


def _text_triples_in_halves(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Do `text_triples` for each half of a text that has too many letters and keys for 64 bits."""
    cut = text.index("\n", len(text) // 2) + 1 if "\n" in text[len(text) // 2 : -1] else text.index("\n") + 1
    (codes, places), (more_codes, more_places) = text_triples(text[:cut]), text_triples(text[cut:])
    codes = np.concatenate([codes, more_codes])
    order = np.argsort(codes, kind="stable")
    return codes[order], np.concatenate([places, more_places + text.count("\n", 0, cut)])[order]


def triple_codes(spelled: Sequence[str]) -> NDArray[np.uint64]:
    """Return the codes of triples, as in `text_triples`."""
    letters = np.frombuffer("".join(spelled).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    return letters[::3] << _SHIFT_2 | letters[1::3] << _SHIFT_1 | letters[2::3]


def spell_triples(codes: NDArray[np.uint64]) -> list[str]:
    """Return the letters of each triple code."""
    each = np.stack([codes >> _SHIFT_2 & _CODE_POINT, codes >> _SHIFT_1 & _CODE_POINT, codes & _CODE_POINT], axis=1)
    text = each.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def similarity(query: str, name: str) -> float:
    """Return the similarity of two exact keys from 0 to 1; it is 1 only if they are equal apart from spaces.

    It is the best of four: edit distance of the whole; edit distance of the sorted words; the query as a part of a
    longer name (words left out, ends cut off); the name as a part of a longer query.
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
        # A match of a part counts less the smaller the part; if nearly all letters are there, edit distance decides.
        share = shorter / longer
        part = fuzz.partial_ratio(tight_query, tight_name) / 100
        words = fuzz.token_set_ratio(query, name) / 100 if " " in query or " " in name else 0.0
        # A part of a single word is weaker evidence than a name with words left out.
        whole_words = " " in query or " " in name
        best = max(best, max(part**2, words**2) * (0.6 + 0.35 * share) * (1.0 if whole_words else 0.8))
    return min(best, 0.98)


def similarities(query: str, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the `similarity` of one exact key to each of many, several times as fast."""
    if not query or not names:
        return np.zeros(len(names))
    tight_query, tight = squeeze(query), [squeeze(name) for name in names]
    scores = _each(OSA.normalized_similarity, tight_query, tight)
    same = np.flatnonzero(scores == 1.0).tolist()
    spaced = np.array([" " in name for name in names]) | (" " in query)
    scores = np.where(spaced, np.maximum(scores, 0.97 * _each(fuzz.token_sort_ratio, query, names) / 100), scores)
    lengths = np.array([len(name) for name in tight])
    shorter, longer = np.minimum(lengths, len(tight_query)), np.maximum(lengths, len(tight_query))
    # See `similarity` for why parts and single words count less.
    parts = np.flatnonzero((shorter >= 4) & (shorter < 0.8 * longer))
    if len(parts):
        part = _each(fuzz.partial_ratio, tight_query, [tight[at] for at in parts.tolist()]) / 100
        words = _each(fuzz.token_set_ratio, query, [names[at] for at in parts.tolist()]) / 100
        words[~spaced[parts]] = 0.0
        share = 0.6 + 0.35 * shorter[parts] / longer[parts]
        containment = np.maximum(part, words) ** 2 * share * np.where(spaced[parts], 1.0, 0.8)
        scores[parts] = np.maximum(scores[parts], containment)
    scores = np.minimum(scores, 0.98)
    for at in same:
        scores[at] = 1.0 if query.replace(" ", "") == names[at].replace(" ", "") else 0.985
    scores[lengths == 0] = 0.0
    return scores


def _each(scorer: Any, query: str, names: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray(process.cdist([query], names, scorer=scorer, dtype=np.float64)[0])


def is_same_name(query: str, name: str) -> bool:
    """Return whether a text is a name, maybe misspelled, misread or in another script, and not a different name.

    For Chinese and Japanese the transliterations must be equal and long, since a character has many readings, and many
    characters share a reading.
    """
    key, name_key = exact_key(query), exact_key(name)
    if not key or not name_key:
        return False
    if _is_slip(key, name_key):
        return True
    key_latin, name_latin = latin_key(query) or key, latin_key(name) or name_key
    if (key_latin, name_latin) == (key, name_key):
        return False
    if any(ord(character) >= _FIRST_CJK for character in key + name_key):
        return len(squeeze(key_latin)) >= _LONG_READING and squeeze(key_latin) == squeeze(name_latin)
    return _is_slip(key_latin, name_latin)


def is_abbreviation(key: str, name: str) -> bool:
    """Return whether an exact key is a run of at least two words that make up most of a longer name.

    Example: "heathrow airport" for "london heathrow airport".
    """
    return " " in key and len(key) >= _MAX_OF_A_NAME * len(name) and f" {key} " in f" {name} "


def _is_slip(key: str, name: str) -> bool:
    """Return whether two exact keys differ only by a few letters, as a whole and in each word."""
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


def _possible_matches(key: str, rows: Sequence[_NameRow]) -> list[_NameRow]:
    """Return the names for which `is_same_name` or `is_abbreviation` may be true; all must be in the query's script."""
    if not rows:
        return []
    tight, names = squeeze(key), [name for *_, name in rows]
    limit = _slips(len(tight))
    slips = process.cdist([tight], [squeeze(name) for name in names], scorer=OSA.distance, score_cutoff=limit)[0]
    possible = slips <= limit
    if " " in key:
        possible |= [is_abbreviation(key, name) for name in names]
    return list(compress(rows, possible.tolist()))


def _slips(length: int) -> int:
    """Return how many letters of a word or name may be wrong: its largest allowed edit distance."""
    return (length >= 5) + (length >= 9) + (length >= _LONG_NAME)


@dataclass(slots=True)  # not frozen: a search makes a hundred, and frozen ones take three times as long
class NameHit:
    """A name that was found.

    Attributes:
        owner: id of the place or feature that has the name.
        text: the name.
        role: `MAIN`, `OTHER` or `ATTRIBUTE`.
        score: similarity to the query, from 0 to 1.
        match: exact or alias if the keys are equal, else fuzzy.
    """

    owner: int
    text: str
    role: int
    score: float
    match: Literal["exact", "alias", "fuzzy"]


def write_grams(conn: sqlite3.Connection, batches: Iterable[tuple[NDArray[np.uint32], str]]) -> None:
    """Write the trigram index of names whose ids are 1, 2, 3 and so on.

    Args:
        conn: a database with the tables ``gram`` and ``name_column``.
        batches: the owners of consecutive names, and the names' exact keys as lines of text.
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
        for gram, packed in zip(spelled, _pack_lists(ids, starts, known), strict=True):
            grams[gram] = grams[gram] + packed if gram in grams else _LIST_FORMAT + packed
        latest.update(zip(spelled, lasts.tolist(), strict=True))
        before += len(owners)
    conn.executemany("INSERT INTO gram VALUES (?, ?)", sorted(grams.items()))
    columns = {"owner": np.concatenate(all_owners).tobytes(), "size": np.concatenate(sizes).tobytes()}
    conn.executemany(
        "INSERT INTO name_column VALUES (?, ?)",
        ((name, zlib.compress(data, 1)) for name, data in columns.items()),
    )


def _pack_lists(ids: NDArray[np.int64], starts: NDArray[np.int64], known: NDArray[np.int64]) -> list[bytes]:
    """Return posting lists as bytes: the gaps between ascending ids, as variable-length numbers of seven bits a byte.

    Args:
        ids: the lists, one after another.
        starts: where each list starts.
        known: for each list the id before its first one, from an earlier batch, or 0.
    """
    if not len(ids):
        return []
    gaps = np.diff(ids, prepend=0)
    gaps[starts] = ids[starts] - known
    lengths = np.ones(len(gaps), dtype=np.int64)
    longest = int(gaps.max())
    shifts = [bits for bits in _SHIFTS if longest >> bits]
    for bits in shifts:
        lengths += gaps >= (1 << bits)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    packed = np.zeros(int(ends[-1]), dtype=np.uint8)
    packed[begins] = (gaps & (_CONTINUED - 1)) | np.where(lengths > 1, _CONTINUED, 0)
    for place, bits in enumerate(shifts, 1):
        some = np.flatnonzero(lengths > place)
        more = np.where(lengths[some] > place + 1, _CONTINUED, 0)
        packed[begins[some] + place] = (gaps[some] >> bits) & (_CONTINUED - 1) | more
    whole, cuts = packed.tobytes(), [*begins[starts].tolist(), len(packed)]
    return [whole[begin:end] for begin, end in pairwise(cuts)]


def _unpack_lists(packed: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of posting lists, one list after another, and the length of each list."""
    data = np.frombuffer(b"".join([item[1:] for item in packed]), dtype=np.uint8)
    more = data >= _CONTINUED
    parts = (data & (_CONTINUED - 1)).astype(np.int64)
    later = more[:-1].nonzero()[0] + 1  # bytes that continue a number
    while len(later):
        parts[later] <<= _SHIFTS[0]
        later = later[more[later]] + 1
    sums, ends = np.cumsum(parts), (~more).nonzero()[0]
    bytes_until = np.cumsum([len(item) - 1 for item in packed])
    counts = np.diff(np.searchsorted(ends, bytes_until), prepend=0)
    before = np.concatenate([[0], sums[bytes_until[:-1] - 1]])
    return sums[ends] - np.repeat(before, counts), counts


def sum_weights(
    count: int, numbers: NDArray[np.int64], weights: NDArray[np.floating[Any]], least: float
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Add up weights by number; return the numbers whose sum reaches a minimum, ascending, and these sums.

    Args:
        count: all numbers are smaller than this.
        numbers: one for each weight, with repetitions.
        weights: what to add up.
        least: the minimum.
    """
    sums: NDArray[np.float32] | None = getattr(_thread, "sums", None)
    if sums is None or len(sums) < count:
        sums = _thread.sums = np.zeros(count, dtype=np.float32)
    np.add.at(sums, numbers, weights.astype(np.float32, copy=False))
    # Most names share a common triple with any query: drop those that share little before sorting.
    enough = (sums.take(numbers) >= least - 1e-4).nonzero()[0]
    some = distinct(numbers[enough].astype(np.uint32)).astype(np.int64)  # 32 bits sort twice as fast
    found = sums[some]
    sums[numbers] = 0
    return some, found


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers, ascending; for millions `np.unique` takes five times as long."""
    numbers = np.sort(numbers)
    return np.asarray(numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])[: len(numbers)]])


class NameIndex:
    """Searches the trigram index in one open database; make one per connection.

    Subclasses implement `_names`, which reads the names themselves.
    """

    def __init__(self, conn: sqlite3.Connection, shared: dict[str, Any]) -> None:
        """Use a database; nothing is read until the first search. ``shared`` is a cache for all connections to it."""
        self._conn = conn
        self._shared = shared

    @property
    def owners(self) -> NDArray[np.uint32]:
        """Owner of each name by its id; the entry at 0 is unused, since ids start at 1."""
        return self._column("owner", np.uint32)

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """Number of triples of each name by its id, at most 255."""
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
        """Return the names that a query may mean, best first, one hit per owner; see `is_same_name`, `is_abbreviation`.

        Args:
            query: any text; only its beginning counts.
            limit: the maximum number of owners.
            among: the only owners to consider, ascending; None for all.
            boost: how well known the owner of each name is: a factor to choose candidates by and to break ties.
        """
        key = exact_key(query)
        if not key:
            return []
        latin = latin_key(query)
        if latin is None:
            ids = self._find_candidates(squeeze(key), among, boost, key)
        else:
            ids = self._find_candidates(squeeze(key), among, boost)
            if latin != key:
                ids = np.union1d(ids, self._find_candidates(squeeze(latin), among, boost))
        best: dict[int, tuple[float, float, NameHit]] = {}
        for name_id, hit in self._rank_names(ids, key, latin):
            rank = (-hit.score, 0.0 if boost is None else -float(boost[name_id]), hit)
            if hit.owner not in best or rank[0] < best[hit.owner][0]:
                best[hit.owner] = rank
        ranked = sorted(best.values(), key=lambda item: (*item[:2], item[2].role, len(item[2].text), item[2].owner))
        return [hit for *_, hit in ranked[:limit]]

    def _find_candidates(
        self,
        compact: str,
        among: NDArray[np.int64] | None,
        boost: NDArray[np.float64] | None,
        matching: str | None = None,
    ) -> NDArray[np.int64]:
        """Return the ids of the names that share the most triples with the query, weighted by rarity.

        If ``matching``, an exact key, is given, names whose triples rule out a match are left out: those that are
        neither a misspelling of it nor a longer name with its words. Then few names are left to compare.
        """
        wanted = triples(compact)
        rows = select_rows(self._conn, "SELECT names FROM gram WHERE gram", wanted)
        slips = _slips(len(compact))
        max_lost = _TRIPLES_PER_SLIP * max(1, slips) if matching is not None else len(wanted)
        if not rows or len(wanted) - len(rows) > max_lost:  # each triple that no name has counts as changed
            return np.empty(0, dtype=np.int64)
        total = len(self.sizes)
        # Rare triples are the most selective: read the shortest lists, up to a limit.
        shortest_first = sorted((packed for (packed,) in rows), key=len)
        bytes_until = np.cumsum([len(packed) for packed in shortest_first])
        ids_read, counts = _unpack_lists(
            shortest_first[: max(1, int(bytes_until.searchsorted(_MAX_READ_BYTES, side="right")))]
        )
        weights = np.log(1 + total / counts)
        # Add a constant to each weight that exceeds their sum: then one sum holds both the number of shared triples
        # (quotient) and the sum of their weights (remainder).
        all_weights = float(weights.sum())
        constant = _SHARED_TRIPLE * (1 + all_weights // _SHARED_TRIPLE)
        fewest = max(0, len(counts) - (max_lost - (len(wanted) - len(rows))))
        least = max(_MIN_WEIGHT_SHARE * all_weights + constant, constant * fewest)
        ids, sums = sum_weights(total, ids_read, np.repeat((weights + constant).astype(np.float32), counts), least)
        shared, sums = np.divmod(sums, constant)
        kept = sums >= _MIN_WEIGHT_SHARE * all_weights - 1e-2
        sizes = self.sizes[ids].astype(np.float32)
        # A name with far more or far fewer triples is neither a misspelling of the query nor contains its words.
        kept &= (sizes <= _MAX_SIZE_RATIO * len(wanted) + _SIZE_SLACK) & (sizes >= len(wanted) / 2 - _SIZE_SLACK)
        if matching is not None:
            if " " in matching:
                kept &= sizes <= len(matching) / _MAX_OF_A_NAME
            else:  # a misspelling has few triples that the query lacks, apart from lists that were not read
                kept &= (sizes <= len(compact) + slips) & (sizes <= shared + (len(rows) - len(counts)) + max_lost)
        if among is not None:
            kept &= np.isin(self.owners[ids], among)
        ids, sums, sizes = ids[kept], sums[kept], sizes[kept]
        boosted = sums if boost is None else sums * boost[ids]
        mean = float(weights.mean())
        # Two criteria, so that neither long nor short names crowd out the others: similar as a whole (Dice
        # coefficient), and containing most of the query.
        dice = boosted / (mean * (sizes + len(wanted)))
        coverage = boosted / (mean * (0.15 * sizes + len(wanted)))
        return ids[best_of_both(dice, coverage, _CANDIDATES)]

    def _read_names(self, ids: Sequence[int]) -> Iterable[_NameRow]:
        """Return the names with these ids, sorted by id."""
        raise NotImplementedError

    def _rank_names(self, ids: NDArray[np.int64], key: str, latin: str | None) -> Iterable[tuple[int, NameHit]]:
        """Yield id and hit of each candidate that is similar enough to the exact or the transliterated key."""
        rows = list(self._read_names(ids.tolist()))
        if latin is None:
            rows = _possible_matches(key, rows)
        names = [name for *_, name in rows]
        scores = similarities(key, names)
        if latin:
            scores = np.maximum(scores, 0.95 * similarities(latin, names))
        for score, (name_id, owner, text, role, _) in zip(scores.tolist(), rows, strict=True):
            if score < _MIN_SIMILARITY:
                continue
            kind: Literal["exact", "alias", "fuzzy"] = "fuzzy"
            if score == 1.0:
                kind = "exact" if role == MAIN else "alias"
            yield name_id, NameHit(owner, text, role, score * (1.0 if role <= OTHER else 0.97), kind)


def best_of_both(array: NDArray[np.floating[Any]], other: NDArray[np.floating[Any]], count: int) -> NDArray[np.intp]:
    """Return the positions, ascending, of the best by one score and of the best by another, ``count`` each."""
    if len(array) <= count:
        return np.arange(len(array))
    best = np.zeros(len(array), dtype=bool)
    for scores in (array, other):
        best[np.argpartition(scores, -count)[-count:]] = True
    return best.nonzero()[0]
