"""The ground that a telephone number's area code covers: its towns, and the country around them.

The numbering plan names an area by one town or by several ("Guelmim/Tan Tan"). Towns are found among GeoNames' cities
of 15,000 people and more; an area whose name is no such town, or is that of several in its country, is nowhere.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import pi, sqrt

from geosleuth.geo import LatLon, distance_km
from geosleuth.names import fold
from geosleuth.names.country_names import City, cities_by_country
from geosleuth.names.folding import fold_once

from .model import Spot
from .prior import TOWN_PEOPLE_PER_KM2

IN_TOWN, AROUND = 0.4, 0.35
"""How many of the numbers seen somewhere are of that town, and of the rest of its area; others come from farther."""

LEAST_AREA_KM = 25.0
MOST_AREA_KM = 150.0
"""An area that is larger says no more than its country does."""

_AREA_REACH = 3.1  # so much wider than its town, an area is a place of its own among candidates
_LEAST_TOWN_KM = 1.5
_LARGE_TOWN_KM = 12.0
_EDGE = 1.15
_CLEARLY_LARGER = 5.0
_STATES_ALONE = frozenset({"US", "CA"})  # the plan writes "New York, NY", and "New York" for the state


def area_spots(areas: Mapping[str, str], countries: Mapping[str, float]) -> tuple[Spot, ...]:
    """The ground of a number that is valid in several countries: each country's area, with the country's share."""
    return tuple(spot for code, share in countries.items() for spot in _spots(code, areas.get(code, ""), share))


def _spots(code: str, area: str, share: float) -> Iterator[Spot]:
    towns = _towns_of(code, area)
    if not towns:
        return
    if len(towns) == 1 and _radius_km(towns[0]) > _LARGE_TOWN_KM:
        # Of a large city's numbers nearly all are in it or at its edge.
        [city] = towns
        reach_km = max(LEAST_AREA_KM, _EDGE * _radius_km(city))
        yield Spot(city.names[0], LatLon(city.lat, city.lon), reach_km, (IN_TOWN + AROUND) * share, code)
        return
    people = sum(town.population for town in towns)
    lat = sum(town.lat for town in towns) / len(towns)
    lon = sum(town.lon for town in towns) / len(towns)
    middle = LatLon(lat, lon)
    widest = max(map(_radius_km, towns))
    apart = max(distance_km(middle, LatLon(town.lat, town.lon)) for town in towns)
    reach_km = apart + max(LEAST_AREA_KM, _AREA_REACH * widest)
    if reach_km > MOST_AREA_KM:
        return
    for town in towns:
        weight = IN_TOWN * share * town.population / people
        yield Spot(town.names[0], LatLon(town.lat, town.lon), _radius_km(town), weight, code)
    yield Spot(f"the area of {' and '.join(town.names[0] for town in towns)}", middle, reach_km, AROUND * share, code)


def _towns_of(code: str, area: str) -> list[City]:
    if code in _STATES_ALONE and "," not in area:
        return []
    # "Kyoto, Kyoto" and "São Paulo - SP" have a province behind the town.
    names = re.split(r"\s*/\s*", re.split(r",|\s-\s", area)[0])
    found = [town for name in names if name and (town := _town(code, fold(name))) is not None]
    return list({town.geoname_id: town for town in found}.values())


def _town(code: str, key: str) -> City | None:
    alike = _by_name(code).get(key, ())
    if not alike:
        return None
    largest = alike[0]
    second = alike[1].population if len(alike) > 1 else 0
    return largest if largest.population >= _CLEARLY_LARGER * second else None


@cache
def _by_name(code: str) -> Mapping[str, tuple[City, ...]]:
    """The cities of a country by each of their names, the largest first; main names go before others."""
    cities = sorted(cities_by_country().get(code, ()), key=lambda city: (-city.population, city.geoname_id))
    named: dict[str, list[City]] = {}
    for city in cities:
        named.setdefault(fold_once(city.names[0]), []).append(city)
    others: dict[str, list[City]] = {}
    for city in cities:
        for key in {fold_once(name) for name in city.names[1:]} - {""}:
            others.setdefault(key, []).append(city)
    return {key: tuple(found) for key, found in {**others, **named}.items()}


def _radius_km(town: City) -> float:
    return max(_LEAST_TOWN_KM, 1.3 * sqrt(max(town.population, 1) / (TOWN_PEOPLE_PER_KM2 * pi)))
