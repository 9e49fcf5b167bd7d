"""Which questions the distances on a sign raise: towns that are known, and the unit, or both where it may be either."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from geosleuth.names import fold

from .distances import DistanceUnit, TownDistance

LEAST_TOWNS = 2
MOST_TOWNS = 5
OTHER_UNIT = 0.03
"""Where countries that measure in the other unit are less likely than that, it is not tried."""

_SPELLED = 0.7


def is_known(match: str, score: float) -> bool:
    """Whether the atlas knows a town by a name, if in another spelling; what is worse is another name."""
    return match != "fuzzy" or score >= _SPELLED


@dataclass(frozen=True, slots=True)
class RangeQuestion:
    """Towns of one sign and how far they are."""

    towns: tuple[str, ...]
    distances: tuple[float, ...]
    unit: DistanceUnit


def range_questions(
    towns: Sequence[TownDistance], countries: Mapping[str, float], unknown: Collection[str] = ()
) -> Iterator[RangeQuestion]:
    """The distances of a sign, where at least two towns have one.

    A sign without a unit is asked about in kilometres and in miles, unless the text speaks for countries of one.

    Args:
        towns: what the signs of a scene say.
        countries: how likely each country is.
        unknown: folded names that the atlas does not know; they are left out.
    """
    images = Counter(one.where.image for one in towns)
    if not images:
        return
    image = images.most_common(1)[0][0]
    rows = {fold(one.town): one for one in towns if one.where.image == image and fold(one.town) not in unknown}
    chosen = list(rows.values())[:MOST_TOWNS]
    if len(chosen) < LEAST_TOWNS:
        return
    stated = Counter(one.unit for one in chosen if one.unit)
    for unit in (stated.most_common(1)[0][0],) if stated else _usual_units(countries):
        yield RangeQuestion(tuple(one.town for one in chosen), tuple(one.distance for one in chosen), unit)


def _usual_units(countries: Mapping[str, float]) -> tuple[DistanceUnit, ...]:
    """What distances are in where the photo may be, the likelier first; one where the other hardly occurs."""
    from geosleuth.atlas.facts import all_countries

    known = all_countries()
    in_miles = sum(share for code, share in countries.items() if code in known and known[code].distance_unit == "mi")
    if in_miles < OTHER_UNIT:
        return ("km",)
    if in_miles > 1 - OTHER_UNIT:
        return ("mi",)
    return ("mi", "km") if in_miles > 0.5 else ("km", "mi")
