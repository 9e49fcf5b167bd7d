"""Consistency of a conclusion with its reasoning: a judge derives a place from the text without the conclusion.

A judge that derives a place from a reasoning must not find the place named there. Removed are: the country, the
region and every part of the precise place, by each of their names; the same with an ending ("Londoners") or inside a
longer word ("visitlondon.com") for regions and precise places; letters set apart ("G e r m a n y"); flags. What stays:
languages and peoples ("German", which is a clue to more than one country), calling codes, and the ends of web
addresses.

Names are found in any language and spelling that `geosleuth.names` knows. How much is withheld is a choice
(`Withhold`): GeoAgent withholds only the conclusion of the level in question, and passes the earlier ones on.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal, Protocol

import numpy as np

from geosleuth.answer import Address, Level
from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.lab.score.levels import NO_NAME_ANSWERS, RULES, AnswerNames, TruthNames, match_levels
from geosleuth.names import PlaceNames, country_code, fold, same_city, same_country, same_region
from geosleuth.names.country_names import cities_by_country
from geosleuth.names.folding import compact, fold_once

# Replaces a removed conclusion.
GAP = "…"

Withhold = Literal["conclusion", "names", "all names"]
"""What a judge is not shown of a level.

"conclusion": its conclusion; the reasoning is shown as written, and earlier conclusions are passed on (GeoAgent).
"names": also every name of the level's own and of finer conclusions in its text; earlier ones are passed on.
"all names": every name of every conclusion in every text; nothing is passed on.
"""

# Longer texts are truncated first: replies of models have no bound.
MAX_TEXT_CHARS = 20_000

_WORD = re.compile(r"[^\W_]+")
_SET_APART = re.compile(r"(?<![^\W_])(?:[^\W\d_][\s.·*_\-]{1,2}){2,}[^\W\d_](?![^\W_])")
_FLAG = re.compile(r"[\U0001F1E6-\U0001F1FF]{2}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uac00-\ud7af]{2,}")
_SUFFIX = re.compile(r"-[a-z]{1,3}$")  # "Gangnam-gu"
_MAX_WORDS = 5
_MAX_SIGNS = 10
_WITHIN_NAME = re.compile(r"[\s.'’&\-–]{1,3}")
_MIN_INNER_CHARS = 4
_MIN_STEM_CHARS = 3
_CODE_CHARS = 3

_NOTHING = AnswerNames()


class Unnamer:
    """Removes one reply's conclusions from texts.

    Args:
        conclusions: the names to remove; the precise place may be an address.
        keep_evidence: remove only the last part of the precise place. Of "Café Sol, Calle Mayor 3, Soria" only the town
            goes; the café and the street stay: they are evidence.
    """

    def __init__(self, conclusions: AnswerNames, *, keep_evidence: bool = False) -> None:
        self._country = _get_proper_name(conclusions.country)
        self._code = country_code(self._country) if self._country else None
        self._regions = tuple(_generate_part_variants(conclusions.region))
        self._places = tuple(_generate_part_variants(conclusions.precise, last=keep_evidence))
        self._inner = _inner_pattern((*self._regions, *self._places))
        self._known: dict[str, bool] = {}

    def __call__(self, text: str) -> str:
        """Return the text without them."""
        plain = "".join(sign for sign in text[:MAX_TEXT_CHARS] if unicodedata.category(sign) != "Cf")
        text = _FLAG.sub(self._gap_for_flag, plain)
        text = _SET_APART.sub(self._gap_for_letters, text)
        text = "".join(self._spans(text))
        return self._inner.sub(GAP, text) if self._inner else text

    def _spans(self, text: str) -> Iterator[str]:
        """Yield the text in pieces, with a gap for each name; the longest name at a position wins."""
        words = list(_WORD.finditer(text))
        done, at = 0, 0
        while at < len(words):
            found = self._match_name(text, words, at)
            if found is None:
                yield text[done : words[at].start()]
                yield _UNSPACED.sub(self._gap_in_run, words[at].group())
                done, at = words[at].end(), at + 1
                continue
            yield text[done : words[at].start()]
            yield GAP
            done, at = words[found].end(), found + 1
        yield text[done:]

    def _match_name(self, text: str, words: list[re.Match[str]], at: int) -> int | None:
        """Return the index of the last word of the longest name that begins at a word; None if none does."""
        last = at
        while last + 1 < min(at + _MAX_WORDS, len(words)):
            between = text[words[last].end() : words[last + 1].start()]
            if "\n" in between or not _WITHIN_NAME.fullmatch(between):
                break
            last += 1
        for end in range(last, at - 1, -1):
            if self._is_name(text[words[at].start() : words[end].end()]):
                return end
        return None

    def _gap_for_flag(self, found: re.Match[str]) -> str:
        letters = "".join(chr(ord(sign) - 0x1F1E6 + ord("A")) for sign in found.group())
        return GAP if self._code is not None and country_code(letters) == self._code else found.group()

    def _gap_for_letters(self, found: re.Match[str]) -> str:
        joined = "".join(_WORD.findall(found.group()))
        return GAP if self._is_name(joined.title()) else found.group()

    def _gap_in_run(self, found: re.Match[str]) -> str:
        """Replace names in a run of characters without spaces between its words."""
        run = found.group()
        pieces: list[str] = []
        at = 0
        while at < len(run):
            longest = next(
                (size for size in range(min(_MAX_SIGNS, len(run) - at), 1, -1) if self._is_name(run[at : at + size])),
                0,
            )
            pieces.append(GAP if longest else run[at])
            at += longest or 1
        return "".join(pieces)

    def _is_name(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._means_conclusion(name)
        return known

    def _means_conclusion(self, name: str) -> bool:
        key = compact(name)
        word = key if _WORD.fullmatch(name) else ""
        if any(same_city(place, name, self._code) or _with_ending(word, place) for place in self._places):
            return True
        if name.isascii() and not name.isupper() and len(name) <= _CODE_CHARS:
            # "de", "is" and "In" are also codes of countries and states.
            return key in {compact(whole) for whole in (self._country or "", *self._regions)}
        if self._country is not None and same_country(self._country, name):
            return True
        return any(same_region(region, name, self._code) or _with_ending(word, region) for region in self._regions)


def _with_ending(key: str, name: str) -> bool:
    stem = compact(name)
    return len(stem) >= _MIN_STEM_CHARS and key.startswith(stem) and len(key) - len(stem) <= _CODE_CHARS


def _inner_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Match names inside longer words: "visitlondon.com"."""
    forms = {form for name in names for form in (name, fold(name), compact(name)) if len(form) >= _MIN_INNER_CHARS}
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if longest_first else None


def _get_proper_name(name: str | None) -> str | None:
    return None if name is None or fold(name) in NO_NAME_ANSWERS else name


def _generate_part_variants(name: str | None, *, last: bool = False) -> Iterator[str]:
    """Yield an address's parts: as written, without numbers, and without the type suffix."""
    given = _get_proper_name(name)
    parts = [part for part in re.split(r"[,;|\n，、；]", given) if part.strip()] if given else []
    for part in parts[-1:] if last else parts:
        wordy = " ".join(word for word in part.split() if not any(map(str.isdigit, word)))
        forms = (part.strip(), wordy, _SUFFIX.sub("", wordy))
        yield from dict.fromkeys(form for form in forms if sum(map(str.isalpha, form)) > 1)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The clues and the reasoning of each level, without conclusions, as a judge sees them.

    ``given`` are the earlier conclusions that are passed on: the country with the region's text, country and region
    with the precise place's. ``names_conclusion`` says that a text may name what it concludes.
    """

    country: str = ""
    region: str = ""
    precise: str = ""
    given: AnswerNames = _NOTHING
    names_conclusion: bool = False

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Return the number of letters and digits per level: spaces and dots are not reasoning."""
        country, region, precise = (sum(map(str.isalnum, text)) for text in (self.country, self.region, self.precise))
        return country, region, precise


class Judge(Protocol):
    """Derives places from reasonings: a model, a rule or a person. It returns one place per reasoning."""

    def derive(self, reasonings: Sequence[Reasoning]) -> Sequence[AnswerNames]:
        """Return the place that each reasoning leads to; a level that it does not lead to is None."""
        ...


def collect_conclusions(address: Address) -> AnswerNames:
    """Return the conclusions of an address."""
    return AnswerNames(address.country.conclusion, address.region.conclusion, address.precise.conclusion)


def without_conclusions(
    address: Address, *, keep_evidence: bool = False, withhold: Withhold = "all names"
) -> Reasoning:
    """Return the reasoning of an address without its conclusions.

    ``keep_evidence`` keeps the finer parts of the precise place, a shop's name and its street: a judge with a map can
    find the town from them, and one without gains nothing.
    """
    country, region, precise = (_way(level)[:MAX_TEXT_CHARS] for level in
                                (address.country, address.region, address.precise))  # fmt: skip
    own = collect_conclusions(address)
    given = AnswerNames(_get_proper_name(own.country), _get_proper_name(own.region))
    if withhold == "conclusion":
        return Reasoning(country, region, precise, given, names_conclusion=True)
    all_names = Unnamer(own, keep_evidence=keep_evidence)
    if withhold == "all names":
        return Reasoning(all_names(country), all_names(region), all_names(precise))
    finer = Unnamer(AnswerNames(None, own.region, own.precise), keep_evidence=keep_evidence)
    finest = Unnamer(AnswerNames(None, None, own.precise), keep_evidence=keep_evidence)
    return Reasoning(all_names(country), finer(region), finest(precise), given)


def reasoning_characters(addresses: Sequence[Address]) -> FloatArray:
    """Return the number of characters of each level's reasoning as written, without clues, shape (n, 3)."""
    rows = [
        [len(level.reasoning or "") for level in (address.country, address.region, address.precise)]
        for address in addresses
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def agreements(
    conclusions: Sequence[AnswerNames], derived: Sequence[AnswerNames], names: PlaceNames = RULES
) -> BoolArray:
    """Return per level whether the derived name is the concluded one, in any language and spelling, shape (n, 3).

    A level that either leaves out does not agree. Each level is compared separately. The precise place agrees where
    any part of the concluded address other than its own region or country is named.

    Raises:
        ValueError: the two have different lengths.
    """
    rows = [_agree(own, other, names) for own, other in zip(conclusions, derived, strict=True)]
    return np.array(rows, dtype=np.bool_).reshape(-1, 3)


def judge_consistency(
    addresses: Sequence[Address],
    judge: Judge,
    against: Sequence[AnswerNames] | None = None,
    names: PlaceNames = RULES,
    *,
    keep_evidence: bool = False,
    withhold: Withhold = "all names",
) -> tuple[BoolArray, FloatArray]:
    """Return what `consistency` needs: per level, whether the judge derived the same place, and the reasoning's length.

    Args:
        addresses: the replies' addresses.
        judge: derives the places.
        against: the expected places; None for the reply's own conclusions.
        names: compares names.
        keep_evidence: see `without_conclusions`.
        withhold: what the judge is not shown.

    Raises:
        ValueError: the judge returned another number of places than reasonings.
    """
    reasonings = [without_conclusions(address, keep_evidence=keep_evidence, withhold=withhold) for address in addresses]
    derived = list(judge.derive(reasonings))
    if len(derived) != len(reasonings):
        raise ValueError(f"the judge derived {len(derived)} places from {len(reasonings)} reasonings")
    own = [collect_conclusions(address) for address in addresses] if against is None else against
    lengths = np.array([reasoning.lengths for reasoning in reasonings], dtype=np.float64).reshape(-1, 3)
    return agreements(own, derived, names), lengths


def _way(level: Level) -> str:
    return "\n".join(text for text in (*level.clues, level.reasoning or "") if text)


def _agree(own: AnswerNames, other: AnswerNames, names: PlaceNames) -> tuple[bool, bool, bool]:
    context = own.country
    country = match_levels(TruthNames(country=own.country), AnswerNames(other.country), names).country
    region = match_levels(TruthNames(region=own.region), AnswerNames(context, other.region), names).region
    return bool(country), bool(region), _same_precise(own, other, names)


def _same_precise(own: AnswerNames, other: AnswerNames, names: PlaceNames) -> bool:
    if not own.precise or not other.precise:
        return False
    said = AnswerNames(own.country, None, ", ".join(_finer(own.precise, own, names)))
    return any(
        bool(match_levels(TruthNames(city=part), said, names).city) for part in _finer(other.precise, own, names)
    )


def _finer(address: str, own: AnswerNames, names: PlaceNames) -> list[str]:
    """Return the address parts that do not repeat its region or country; the finest always stays."""
    first, *others = [part.strip() for part in address.split(",")]
    return [first, *(part for part in others if not _is_coarse(part, own, names))]


def _is_coarse(part: str, own: AnswerNames, names: PlaceNames) -> bool:
    in_country = own.country is not None and names.same_country(part, own.country)
    if not in_country and (own.region is None or not names.same_region(part, own.region, own.country)):
        return False
    # Monaco and Kyoto are a country and a region, and also cities.
    code = country_code(own.country) if own.country else None
    return fold(part) not in _city_names(code)


@cache
def _city_names(country: str | None) -> frozenset[str]:
    found = cities_by_country()
    cities = found.get(country, ()) if country else chain.from_iterable(found.values())
    return frozenset(fold_once(city.names[0]) for city in cities)
