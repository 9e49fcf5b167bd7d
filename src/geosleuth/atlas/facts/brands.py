"""Find brands, chains and networks by the names on signs, and the countries that have them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from geosleuth.atlas.folders import load_packaged_arrays
from geosleuth.atlas.sorted_rows import SortedRows
from geosleuth.names import fold

from .countries import Evidence, all_countries, compute_shares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SIGN_CHARS = 200
MAX_BRAND_WORDS = 6
# Minimum length of names matched fuzzily: in shorter names one wrong letter usually makes another name.
MIN_FUZZY_CHARS = 5

# Minimum length of names that may differ in look-alike characters only, if too short for ``MIN_FUZZY_CHARS``.
MIN_LOOK_ALIKE_CHARS = 3

# Names up to this length may have one error, longer ones two.
MAX_CHARS_WITH_ONE_ERROR = 8

_SHAPES = str.maketrans("01i58", "ollsb")

HitKind = Literal["exact", "within", "fuzzy"]

TABLE = "brands.bin.gz"
_OTHER_NAME_SCORE = 0.9


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand, chain or network.

    ``kinds`` are OpenStreetMap's (``shop=supermarket``), the commonest first. ``countries`` are ISO codes, None for
    worldwide brands. ``except_countries`` are exceptions of a worldwide brand: some lack it, others have an entry of
    their own for it (another owner, another script), so an exception does not rule a country out.
    """

    name: str
    kinds: tuple[str, ...]
    wikidata: str | None
    countries: frozenset[str] | None
    except_countries: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """The commonest of its kinds."""
        return self.kinds[0]


@dataclass(frozen=True, slots=True)
class BrandHit:
    """A brand found in a text.

    ``how`` is ``exact`` (the whole text), ``within`` (some of its words) or ``fuzzy`` (misspelled). ``score`` is the
    quality of the match from 0 to 1; alternative names score lower than the one on signs.
    """

    brand: Brand
    matched: str
    how: HitKind
    score: float

    @property
    def countries(self) -> frozenset[str] | None:
        """The countries that have the brand; None if it is worldwide or nearly so."""
        return self.brand.countries

    @property
    def except_countries(self) -> frozenset[str]:
        """The exceptions of a worldwide brand."""
        return self.brand.except_countries


class BrandRow(NamedTuple):
    """A row of the table; ``countries`` are those that have the brand or, if ``worldwide``, its exceptions."""

    name: str
    kinds: str
    wikidata: str
    countries: str
    worldwide: int
    is_brand: int


class _Index:
    """The table of brands; only what a query needs is read, as decoding it all would take most of a command's time.

    `scripts/build_brands.py` makes the table. Names are folded and without blanks. A name maps to numbers: twice the
    number of a row, plus one if the name is not the one on signs.
    """

    def __init__(self, parts: Sequence["NDArray[Any]"]) -> None:
        by_name, names, self.letters, self.lengths, self._brands, self._starts = parts
        self._by_name = SortedRows(by_name.tobytes())
        self._names = names

    def __len__(self) -> int:
        return len(self._starts) - 1

    @cached_property
    def names(self) -> list[str]:
        """All names, sorted by length."""
        return self._names.tobytes().decode().split("\n")

    def numbers(self, name: str) -> list[int]:
        """Return the numbers that a name maps to."""
        return [int(number) for number in (self._by_name.get(name) or "").split()]

    @lru_cache(maxsize=4096)  # noqa: B019  (there is one index, for good)
    def row(self, number: int) -> BrandRow:
        import msgspec

        written = self._brands[self._starts[number] : self._starts[number + 1]].tobytes()
        return msgspec.json.decode(written, type=BrandRow)

    def brand(self, number: int) -> Brand:
        row = self.row(number)
        listed = frozenset(row.countries.split())
        countries, exceptions = (None, listed) if row.worldwide else (listed, frozenset[str]())
        return Brand(row.name, tuple(row.kinds.split(" ")), row.wikidata or None, countries, exceptions)


def brand(text: str, limit: int = 10) -> list[BrandHit]:
    """Return the brands that the text on a sign names, best first, ignoring case, accents and blanks.

    If no name equals the whole text, runs of its words and similar names match: with one wrong letter in names of five
    to eight, two in longer ones, and in shorter ones only digits and letters that look alike. Of equal scores, brands
    come before operators, and the most widespread first.
    """
    return list(_find(text[:MAX_SIGN_CHARS]))[: max(0, limit)]


def by_brand(text: str) -> Evidence:
    """Return the countries of the brands that match a text best, weighted by population.

    Empty if one of them is worldwide, even with exceptions, as such a brand says next to nothing about the country.
    """
    hits = _find(text[:MAX_SIGN_CHARS])
    best = [hit for hit in hits if hit.score == hits[0].score]
    clue = best[0].matched if best else " ".join(text[:MAX_SIGN_CHARS].split())
    if not best:
        return Evidence("brand", clue, {}, "no brand of the table is called so")
    note = ", ".join(dict.fromkeys(f"{hit.brand.name} ({hit.brand.kind})" for hit in best[:4]))
    if any(hit.countries is None for hit in best):
        return Evidence("brand", clue, {}, f"{note}: found all over the world")
    known = all_countries()
    people = {code: max(known[code].population, 1) for hit in best for code in hit.countries or () if code in known}
    return Evidence("brand", clue, compute_shares(people), note, "people of each country")


@lru_cache(maxsize=4096)
def _find(text: str) -> tuple[BrandHit, ...]:
    words = fold(text).split()
    whole = "".join(words)
    if not whole:
        return ()
    hits = _hits(whole, " ".join(text.split()), "exact", 1.0) or [*_fuzzy(whole), *_look_alikes(whole), *_within(words)]
    best: dict[int, tuple[int, BrandHit]] = {}
    for number, hit in hits:
        if number not in best or best[number][1].score < hit.score:
            best[number] = (number, hit)
    return tuple(hit for _, hit in sorted(best.values(), key=_rank))


def _hits(key: str, matched: str, how: HitKind, score: float) -> list[tuple[int, BrandHit]]:
    index = _index()
    found = []
    for entry in index.numbers(key):
        number, is_other_name = divmod(entry, 2)
        worth = score * _OTHER_NAME_SCORE if is_other_name else score
        found.append((number, BrandHit(index.brand(number), matched, how, worth)))
    return found


def _within(words: list[str]) -> list[tuple[int, BrandHit]]:
    """Match runs of words, the longest first; each word is used for one name only."""
    hits: list[tuple[int, BrandHit]] = []
    used: set[int] = set()
    total = sum(map(len, words))
    for count in range(min(MAX_BRAND_WORDS, len(words) - 1), 0, -1):
        for start in range(len(words) - count + 1):
            span = range(start, start + count)
            key = "".join(words[start : start + count])
            if used.isdisjoint(span) and len(key) > 2 and not key.isdigit():
                matched = " ".join(words[start : start + count])
                found = _hits(key, matched, "within", 0.5 + 0.45 * len(key) / total)
                used.update(span if found else ())
                hits += found
    return hits


def _fuzzy(whole: str) -> list[tuple[int, BrandHit]]:
    import numpy as np
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    if len(whole) < MIN_FUZZY_CHARS:
        return []
    index = _index()
    errors = 1 if len(whole) <= MAX_CHARS_WITH_ONE_ERROR else 2
    low, high = (int(at) for at in np.searchsorted(index.lengths, [len(whole) - errors, len(whole) + errors + 1]))
    # An error changes at most two members of the letter set, which rules most names out before they are compared.
    differing = np.bitwise_count(index.letters[low:high] ^ letter_sets([whole]))
    names = [index.names[low + offset] for offset in np.flatnonzero(differing <= 2 * errors)]
    near = extract(whole, names, scorer=OSA.distance, processor=None, score_cutoff=errors, limit=None)
    hits: list[tuple[int, BrandHit]] = []
    for name, wrong, _ in near:
        hits += _hits(name, name, "fuzzy", 0.95 * (1 - wrong / max(len(whole), len(name))))
    return hits


def _look_alikes(whole: str) -> list[tuple[int, BrandHit]]:
    """Match short names that differ from the text only in digits and letters of the same shape, such as "OXX0"."""
    if not MIN_LOOK_ALIKE_CHARS <= len(whole) < MIN_FUZZY_CHARS or whole.isdigit():
        return []
    hits: list[tuple[int, BrandHit]] = []
    for name in _short_names_by_shape().get(whole.translate(_SHAPES), ()):
        wrong = sum(one != other for one, other in zip(whole, name, strict=True))
        hits += _hits(name, name, "fuzzy", 0.95 * (1 - wrong / len(name)))
    return hits


@cache
def _short_names_by_shape() -> dict[str, list[str]]:
    import numpy as np

    index = _index()
    shapes: dict[str, list[str]] = defaultdict(list)
    low, high = (int(at) for at in np.searchsorted(index.lengths, [MIN_LOOK_ALIKE_CHARS, MIN_FUZZY_CHARS]))
    for name in index.names[low:high]:
        if not name.isdigit():
            shapes[name.translate(_SHAPES)].append(name)
    return dict(shapes)


def letter_sets(names: Sequence[str]) -> "NDArray[np.uint32]":
    """Return for each name which of 32 classes its characters fall into, as bits; no name may be empty."""
    import numpy as np

    characters = np.frombuffer("".join(names).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    starts = np.cumsum([0, *map(len, names[:-1])])
    return np.bitwise_or.reduceat(np.uint32(1) << (characters % np.uint32(32)), starts)


def _rank(found: tuple[int, BrandHit]) -> tuple[float, int, int, str]:
    number, hit = found
    spread = len(all_countries()) - len(hit.except_countries) if hit.countries is None else len(hit.countries)
    return (-hit.score, -_index().row(number).is_brand, -spread, hit.brand.name)


@cache
def _index() -> _Index:
    return _Index(load_packaged_arrays("geosleuth.atlas.facts", TABLE))
