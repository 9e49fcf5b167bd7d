"""Population centres of countries, which represent a country on a map when nothing finer is known.

Counted over GeoNames' cities of 15,000 people and more. The point is the largest city, a place where people are, unlike
a centre of gravity that may lie in a desert or at sea. The radius around it holds `HELD_SHARE` of the people of those
cities. Where the cities hold less than that share of the country's people, it is unknown where the rest live, and the
radius is at least that of a round country of the same area.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.facts import all_countries
from geosleuth.geo import Extent, FloatArray, LatLon, great_circle_km

from .areas import farthest_km, grid
from .country_prior import TOWN_PEOPLE_PER_KM2
from .town_tables import town_tables

HELD_SHARE = 0.95
MIN_RADIUS_KM = 1.0
_MIN_SHARE = 1e-3
_SMALL_AREA_KM, _STEPS = 10.0, 5
_SNAP_KM = 5.0


@dataclass(frozen=True, slots=True)
class Heartland:
    """The largest city of a country and the radius around it within which most of its city people live.

    ``is_area`` is whether it is all of an area without a town instead: its middle, and how far it reaches.
    """

    point: LatLon
    radius_km: float
    is_area: bool = False


@lru_cache(maxsize=4096)
def heartland(code: str, within: Extent | None = None) -> Heartland | None:
    """Return the centre of a country, or of the part of it inside an extent.

    Where an extent holds none of the country's towns, that is the extent itself; None where the country is not there,
    and for the few countries without a town.
    """
    cities = town_tables().by_country.get(code)
    if cities is None:
        return None
    lats, lons, people = cities
    if within is not None:
        inside = within.holds(lats, lons)
        lats, lons, people = lats[inside], lons[inside], people[inside]
    if not people.sum():
        return None if within is None else _bare(code, within)
    largest = int(np.argmax(people))
    away = great_circle_km(lats[largest], lons[largest], lats, lons)
    order = np.argsort(away, kind="stable")
    held = np.cumsum(people[order])
    reach = float(away[order][np.searchsorted(held, HELD_SHARE * held[-1])])
    own = _own_radius_km(code, float(people[largest]))
    rest = _round_radius_km(code) if within is None and held[-1] < HELD_SHARE * all_countries()[code].population else 0
    point, radius_km = LatLon(float(lats[largest]), float(lons[largest])), max(reach, own, rest, MIN_RADIUS_KM)
    return Heartland(point, radius_km if within is None else min(radius_km, farthest_km(within, point)))


def _bare(code: str, within: Extent) -> Heartland | None:
    """Return the centre of the part of a country inside an extent without any of its towns."""
    if not shares_within(within).get(code):
        return None
    radius_km = min(farthest_km(within, within.centre), max(2 * _round_radius_km(code), MIN_RADIUS_KM))
    return Heartland(within.centre, radius_km, is_area=True)


@lru_cache(maxsize=64)
def shares_within(within: Extent) -> dict[str, float]:
    """Return the share of each country's city people inside an extent, without countries that it does not touch.

    The country at the middle of the extent keeps a thousandth, even where the extent holds no town; in a small extent
    every country does that has a part in it.
    """
    shares = {}
    for code, (lats, lons, people) in town_tables().by_country.items():
        total = people.sum()
        held = people[within.holds(lats, lons)].sum()
        if held:
            shares[code] = float(held / total)
    centre = within.centre
    touched = {find_country(centre)}
    if farthest_km(within, centre) <= _SMALL_AREA_KM and (points := grid(within, _STEPS)):
        touched.update(
            find_countries(np.array([point.lat for point in points]), np.array([point.lon for point in points]))
        )
    for code in sorted(filter(None, touched)):
        shares[code] = max(shares.get(code, 0.0), _MIN_SHARE)
    return shares


def list_town_positions(codes: Iterable[str] | None, within: Extent | None) -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes of the towns of countries, or of all, inside an extent.

    Its middle if it has none.
    """
    known = town_tables().by_country
    rows = [known[code] for code in (known if codes is None else codes) if code in known]
    lats = np.concatenate([row[0] for row in rows]) if rows else np.empty(0)
    lons = np.concatenate([row[1] for row in rows]) if rows else np.empty(0)
    if within is None:
        return lats, lons
    inside = within.holds(lats, lons)
    if inside.any():
        return lats[inside], lons[inside]
    return np.array([within.centre.lat]), np.array([within.centre.lon])


def find_countries(lats: FloatArray, lons: FloatArray) -> list[str | None]:
    """Return the country of each point by polygon, None in the open sea. The first call reads the borders."""
    from geosleuth.atlas.borders import Borders

    borders = Borders.load()
    codes: npt.NDArray[np.str_] = borders.countries(lats, lons)
    found: list[str | None] = []
    for code, lat, lon in zip(codes.tolist(), lats.tolist(), lons.tolist(), strict=True):
        near = None if code else borders.reverse(lat, lon, snap_km=_SNAP_KM)
        found.append(code or (near.region.country if near else None))
    return found


def find_country(point: LatLon) -> str | None:
    """Do `find_countries` for a single point."""
    return find_countries(np.array([point.lat]), np.array([point.lon]))[0]


def _own_radius_km(code: str, people: float) -> float:
    """Return the radius of the largest city, limited by that of its country."""
    return min(sqrt(people / (TOWN_PEOPLE_PER_KM2 * pi)), 2 * _round_radius_km(code))


def _round_radius_km(code: str) -> float:
    return sqrt((all_countries()[code].area_km2 or 1.0) / pi)
