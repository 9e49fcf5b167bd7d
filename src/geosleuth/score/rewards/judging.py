"""Does a reasoning lead to its own conclusion? Somebody who never sees the conclusion is asked where it leads.

The conclusions of all levels are taken out of every level's text first, in any language and spelling that
`geosleuth.names` knows; see `conclusions`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Protocol

import numpy as np

from geosleuth.answer import Address, Level
from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.names import PlaceNames, country_code, fold
from geosleuth.names.folding import fold_once
from geosleuth.names.geonames import cities_by_country
from geosleuth.score.levels import RULES, AnswerNames, TruthNames, match_levels

from .conclusions import Unnamer


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a judge is shown: the clues and the reasoning of each level, conclusions taken out."""

    country: str = ""
    region: str = ""
    precise: str = ""

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Letters and digits per level: spaces and dots are no reasoning."""
        country, region, precise = (sum(map(str.isalnum, text)) for text in (self.country, self.region, self.precise))
        return country, region, precise


class Judge(Protocol):
    """Whoever derives places from reasonings: a model, a rule, a person. Texts in, names out, as many as came in."""

    def derive(self, reasonings: Sequence[Reasoning]) -> Sequence[AnswerNames]:
        """What each reasoning leads to, by itself; a level that it does not lead to is None."""
        ...


def conclusions_of(address: Address) -> AnswerNames:
    """What an address says in the end."""
    return AnswerNames(address.country.conclusion, address.region.conclusion, address.precise.conclusion)


def without_conclusions(address: Address, *, keep_evidence: bool = False) -> Reasoning:
    """The way of an address to its conclusions, and no conclusion in it.

    ``keep_evidence`` leaves the finer parts of the precise place standing, a shop's name and its street: a judge with a
    map can find the town from them, and one that can't gains nothing.
    """
    unname = Unnamer(conclusions_of(address), keep_evidence=keep_evidence)
    return Reasoning(*(unname(_way(level)) for level in (address.country, address.region, address.precise)))


def agreements(
    conclusions: Sequence[AnswerNames], derived: Sequence[AnswerNames], names: PlaceNames = RULES
) -> BoolArray:
    """Per level, whether what was derived is what was concluded, in whatever language and spelling, shape (n, 3).

    A level that either leaves out does not agree. Each level is looked at by itself. The precise place agrees where
    any part of the concluded address that is not its own region or country is named.

    Raises:
        ValueError: the two have different lengths.
    """
    rows = [_agree(own, other, names) for own, other in zip(conclusions, derived, strict=True)]
    return np.array(rows, dtype=np.bool_).reshape(-1, 3)


def judged(
    addresses: Sequence[Address],
    judge: Judge,
    against: Sequence[AnswerNames] | None = None,
    names: PlaceNames = RULES,
    *,
    keep_evidence: bool = False,
) -> tuple[BoolArray, FloatArray]:
    """What `consistency` needs: per level, whether the judge came to the same place, and how long the way was.

    Args:
        addresses: the replies' own.
        judge: who derives.
        against: what a derived place must be; None for the reply's own conclusion.
        names: who compares.
        keep_evidence: see `without_conclusions`.

    Raises:
        ValueError: the judge gave back another number of places than it got reasonings.
    """
    reasonings = [without_conclusions(address, keep_evidence=keep_evidence) for address in addresses]
    derived = list(judge.derive(reasonings))
    if len(derived) != len(reasonings):
        raise ValueError(f"the judge derived {len(derived)} places from {len(reasonings)} reasonings")
    own = [conclusions_of(address) for address in addresses] if against is None else against
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
    """The parts of an address without those that only repeat its region or country; the finest always stays."""
    first, *others = [part.strip() for part in address.split(",")]
    return [first, *(part for part in others if not _is_coarse(part, own, names))]


def _is_coarse(part: str, own: AnswerNames, names: PlaceNames) -> bool:
    in_country = own.country is not None and names.same_country(part, own.country)
    if not in_country and (own.region is None or not names.same_region(part, own.region, own.country)):
        return False
    # Monaco and Kyoto are a country and a region, and cities all the same.
    code = country_code(own.country) if own.country else None
    return fold(part) not in _city_names(code)


@cache
def _city_names(country: str | None) -> frozenset[str]:
    found = cities_by_country()
    cities = found.get(country, ()) if country else chain.from_iterable(found.values())
    return frozenset(fold_once(city.names[0]) for city in cities)
