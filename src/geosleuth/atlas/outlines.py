"""The outline of a country that is the whole finding, simplified for maps and files."""

from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt
from typing import TYPE_CHECKING, Any

from geosleuth.answer import Answer
from geosleuth.answer.formats.context import Polygons, rings_of
from geosleuth.geo import Box, LatLon
from geosleuth.names import country_code, country_name

from .facts import all_countries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapely import Geometry, Polygon

MOST_CORNERS = 400
"""More make files and pages larger, and look the same on a map of the country."""

_LEAST_SHARE = 0.5
_LEAST_CORNERS = 40
_MOST_PARTS = 40
_FINEST_DEG = 0.005
_GRID_DEG = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class CountryOutline:
    """A country's land in few corners.

    Attributes:
        code: ISO 3166-1 alpha-2.
        name: the country's name.
        polygons: each an outer ring and its holes, of (longitude, latitude); none crosses the antimeridian.
        box: the narrowest box around them.
        middle: a point inside the largest of them, for a letter on a map.
    """

    code: str
    name: str
    polygons: Polygons
    box: Box
    middle: LatLon


def found_country(answer: Answer) -> str | None:
    """Return the code of the country that an answer comes to; None where it says more, or less.

    The country is all that is named, and the radius is about as large: an answer within a small area that names no more
    than its country is a circle.
    """
    address, radius_km = answer.address, answer.radius_km
    if answer.point is None or radius_km is None or address.region.conclusion or address.precise.conclusion:
        return None
    code = country_code(address.country.conclusion or "")
    facts = all_countries().get(code) if code else None
    if facts is None or not facts.area_km2:
        return None
    return code if radius_km >= _LEAST_SHARE * sqrt(facts.area_km2 / pi) else None


@lru_cache(maxsize=64)
def country_outline(code: str) -> CountryOutline | None:
    """Return a country's outline; None for the few that are too small to be drawn."""
    import shapely

    from .borders import Borders

    borders = Borders.load()
    land: Geometry = borders.country_outline(code).geometry
    if shapely.get_num_coordinates(land) < _LEAST_CORNERS:
        land = borders.country_outline(code, detail="full").geometry
    parts = _simplified(sorted(_polygons(land), key=lambda part: -part.area)[:_MOST_PARTS])
    if not parts:
        return None
    spans = [(part.bounds[0], part.bounds[2]) for part in parts]
    _, south, _, north = shapely.union_all(parts).bounds
    west, east = _narrowest(spans)
    middle = max(parts, key=lambda part: part.area).representative_point()
    polygons = [rings_of(part) for part in parts]
    return CountryOutline(code, country_name(code), polygons, Box(south, west, north, east), LatLon(middle.y, middle.x))


def _simplified(parts: "list[Polygon]") -> "list[Polygon]":
    """The parts with fewer corners; no two of them overlap."""
    import shapely

    tolerance = _FINEST_DEG
    while True:
        fewer = [part.simplify(tolerance) for part in parts]
        joined = shapely.set_precision(shapely.union_all([shapely.make_valid(part) for part in fewer]), _GRID_DEG)
        if shapely.get_num_coordinates(joined) <= MOST_CORNERS or tolerance > 1:
            return list(_polygons(joined))
        tolerance *= 1.5


def _polygons(shape: Any) -> "Iterable[Polygon]":
    if shape.geom_type == "Polygon":
        return [] if shape.is_empty or not shape.area else [shape]
    return [part for one in getattr(shape, "geoms", ()) for part in _polygons(one)]


def _narrowest(spans: list[tuple[float, float]]) -> tuple[float, float]:
    """The western and the eastern edge of all spans together, with the widest gap between them left out."""
    first, *others = sorted(spans)
    west, reach = first
    gaps = []
    for begin, end in others:
        gaps.append((begin - reach, begin, reach))
        reach = max(reach, end)
    return max([(west + 360 - reach, west, reach), *gaps])[1:]
