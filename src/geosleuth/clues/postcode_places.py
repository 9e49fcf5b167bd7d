"""What the atlas knows of a postcode: the towns whose addresses have it, as spots of the clue that it is already."""

from collections import Counter
from dataclasses import replace
from typing import Any

from .found import Found, read_places, read_results
from .heartlands import country_at
from .model import Clue, Spot
from .postcodes import PostcodeSeen
from .reliability import RELIABILITY

HELD = 0.9
"""How many of the places with such a code lie in towns that the atlas knows with it, in a country that it knows."""

_LEAST_RADIUS_KM = 3.0
_MOST_SPOTS = 12


def with_towns(clue: Clue, code: PostcodeSeen, data: Any) -> Clue:
    """The clue of a postcode with the towns that a search by address found for it; as it was where there are none.

    A bare number that an address has is a postcode far more often than one that none has.
    """
    found = [(place, _country(place)) for place in read_places(read_results(data)) if place.clue_kind == "postcode"]
    shared = Counter(country for _, country in found)
    spots = tuple(
        Spot(
            place.name,
            place.point,
            max(place.radius_km, _LEAST_RADIUS_KM),
            HELD * min(1.0, place.score) * code.countries[country] / shared[country],
            country,
            place.place_id,
        )
        for place, country in found[:_MOST_SPOTS]
        if country and code.countries.get(country, 0.0) > 0
    )
    if not spots:
        return clue
    sure = found[0][0].match == "exact"
    row = RELIABILITY["postcode.in_address"]
    return replace(
        clue,
        spots=spots,
        says=f"{_said(spots, sure=sure)}; {clue.says}",
        reliability=max(clue.reliability, row.value) if sure else clue.reliability,
        caution=row.misled_by if sure else clue.caution,
        sources=tuple(dict.fromkeys((*clue.sources, *(place.source for place, _ in found if place.source)))),
    )


def _said(spots: tuple[Spot, ...], *, sure: bool) -> str:
    there = f"{spots[0].name}{' and elsewhere' if len(spots) > 1 else ''}"
    return f"as in addresses of {there}" if sure else f"no address has it, and those of {there} begin alike"


def _country(place: Found) -> str | None:
    return place.country or country_at(place.point)
