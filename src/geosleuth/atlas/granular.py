"""Coarse places, for answers that must not be more precise than allowed.

- `OfflineGazetteer` finds the country, region, city or street that an answer refers to, with a circle around it.
- `country_outline` returns a country's land in few corners, for maps and files of answers that are a whole country.

No network is used, whichever atlas the answer came from: a request would reveal the very point that is to be withheld.
"""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import ceil, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import PIN_KM
from geosleuth.answer.formats.context import Polygons, list_rings
from geosleuth.answer.granularity import Admitted, Granularity, round_up
from geosleuth.geo import Box, Disc, LatLon, destinations, distances_km
from geosleuth.geo.extent import list_polygons, narrowest_span
from geosleuth.names import country_code, country_name, fold, whole_country

from .base import BasePlaces, ensure_base, open_base
from .borders import BorderRegion, Borders
from .facts import all_countries

if TYPE_CHECKING:
    from shapely import Geometry, MultiPolygon, Polygon

    from .offline import OfflineAtlas
    from .protocol import Hit, Place

# Minimum radius of a settlement, so that a hamlet is no more precise than a village.
MIN_CITY_KM = 2.0

# A point this near a country may be meant to be in it: borders run through streets.
_BORDER_KM = 10.0
# The error of simplified outlines.
_OUTLINE_KM = 3.0
_MAX_SETTLEMENTS = 80
_STREET_KM = 1.0

# Maximum corners of a country's outline: more are not visible on a map of the country, but make files larger.
MAX_CORNERS = 400
_MIN_RADIUS_SHARE = 0.5  # of the country's mean radius
_MIN_CORNERS = 40
_MAX_PARTS = 40
_FINEST_DEG = 0.005
_GRID_DEG = 0.001


class OfflineGazetteer:
    """Implements `geosleuth.answer.granularity.Gazetteer` with the borders and the base atlas.

    The city of a point is the largest settlement that extends to it, so that a quarter becomes its city. The country is
    the one that the answer names, if the point is in it or near its border; otherwise the one at the point.

    Args:
        atlas: added regions, to look streets up by name; without it no street is named.
    """

    def __init__(self, atlas: "OfflineAtlas | None" = None) -> None:
        """Use an atlas; nothing is opened until the first search."""
        self._atlas = atlas
        self._lock = threading.Lock()

    async def find_place(
        self, level: Granularity, point: LatLon | None, address: Address, radius_km: float | None
    ) -> Admitted | None:
        """Return the place of a level that an answer refers to; None if none is known.

        Args:
            level: how precise the place may be.
            point: the answer's point, if it has one.
            address: the names in the answer.
            radius_km: the answer's radius; if it is large and the answer has no names, the place gets no finer ones.
        """
        place = await asyncio.to_thread(self._find_place, level, point, address, radius_km)
        if level != "street" or place is None or place.address.precise.conclusion is None or point is None:
            return place
        street = await self._street(point, address)
        if street is None:
            return place
        names = place.address
        with_street = Address.create(
            names.country.conclusion, names.region.conclusion, f"{street}, {names.precise.conclusion}"
        )
        return Admitted(place.centre, place.radius_km, with_street)

    def _find_place(
        self, level: Granularity, point: LatLon | None, address: Address, radius_km: float | None
    ) -> Admitted | None:
        with self._lock:
            country = self._find_country(point, address)
            place = None
            if point is None:
                place = self._place_named(address, country)
                point = place.point if place is not None else None
                country = country or (place.country if place is not None else None)
            if country is None:
                return None
            if level == "country" or point is None:
                return _of_country(country)
            named_level = self._finest_named_level(address, country)
            if level == "region":
                return self._region(point, country, named_level, radius_km)
            return self._city(point, country, named_level, radius_km)

    def _find_country(self, point: LatLon | None, address: Address) -> str | None:
        named = _country_named(address)
        if point is None:
            return named
        here = self._borders.find_region(point)
        if here is None or (named is not None and named in _countries_around(self._borders, point)):
            return named
        return here.country

    def _region(self, point: LatLon, country: str, named_level: str | None, radius_km: float | None) -> Admitted | None:
        region = _nearest_region(self._borders, point, country)
        found = None if region is None else _region_circle(country, region.code)
        if region is None or found is None:
            return _of_country(country)
        names_region = named_level != "country" if named_level else radius_km is None or radius_km <= found.radius_km
        return _build_admitted(found, country, region.name if names_region else None)

    def _city(self, point: LatLon, country: str, named_level: str | None, radius_km: float | None) -> Admitted | None:
        hits = self._base_places.around(point, country=country, limit=_MAX_SETTLEMENTS)
        if not hits:
            return _of_country(country)
        hit = _largest_around(hits)
        reach_km = max(MIN_CITY_KM, ceil(10 * _reach_km(hit.place)) / 10)
        found = Disc(hit.place.point, reach_km if _away_km(hit) <= reach_km else round_up(_away_km(hit)))
        if named_level is None:
            named_level = "city" if radius_km is None or radius_km <= found.radius_km else "country"
        return _build_admitted(
            found,
            country,
            hit.place.region if named_level in ("region", "city") else None,
            hit.place.name if named_level == "city" else None,
        )

    def _finest_named_level(self, address: Address, country: str) -> str | None:
        """Return the finest level that the answer names: country, region, or city (also for finer); None if none."""
        parts = [part for part in _split_parts(address.precise.conclusion) if country_code(part) != country]
        if parts:
            hits = self._base_places.geocode(parts[0], limit=1, country=country, guesses=0)
            return "region" if hits and hits[0].place.kind == "region" else "city"
        if address.precise.conclusion and address.country.conclusion:
            return "city"  # such as Monaco in Monaco
        if _split_parts(address.region.conclusion):
            return "region"
        return "country" if address.precise.conclusion or address.country.conclusion else None

    def _place_named(self, address: Address, country: str | None) -> "Place | None":
        """Return the place that a part of the address names exactly: a city or else a region; coarse parts first."""
        parts = [*_split_parts(address.region.conclusion), *_split_parts(address.precise.conclusion)]
        found = []
        for part in parts[::-1]:
            if country_code(part) is not None and country_code(part) == country and len(parts) > 1:
                continue
            hits = self._base_places.geocode(part, limit=1, country=country, guesses=0)
            found += [hit.place for hit in hits if hit.match != "fuzzy"]
        for kind in ("city", "region"):
            for place in found:
                if place.kind == kind:
                    return place
        return None

    async def _street(self, point: LatLon, address: Address) -> str | None:
        """Return the street that the answer names, as spelled in the added regions; never with a house number."""
        if self._atlas is None:
            return None
        from .regions.addresses import split_address
        from .regions.feature_kinds import is_street

        near = Disc(point, _STREET_KM)
        for part in _split_parts(address.precise.conclusion):
            for name in [street for _, street, _ in split_address(part)] or [part]:
                for hit in await self._atlas.geocode(name, limit=5, within=near):
                    if is_street(hit.place.kind) and fold(hit.place.name) == fold(name):
                        return hit.place.name
        return None

    @cached_property
    def _base_places(self) -> BasePlaces:
        return BasePlaces(open_base(ensure_base()))

    @cached_property
    def _borders(self) -> Borders:
        return Borders.load()


def _build_admitted(circle: Disc, country: str, region: str | None = None, city: str | None = None) -> Admitted:
    """Return a place by its circle and names; a region with the country's name is left out."""
    name = country_name(country)
    return Admitted(circle.centre, circle.radius_km, Address.create(name, None if region == name else region, city))


def _of_country(country: str) -> Admitted | None:
    found = _country_circle(country)
    return None if found is None else _build_admitted(found, country)


def _split_parts(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (piece.strip() for piece in (text or "")[:400].split(",")) if part)


def _country_named(address: Address) -> str | None:
    """Return the code of the country that an address names, at its own level or as the last part of another."""
    for text in (address.country.conclusion, address.region.conclusion, address.precise.conclusion):
        whole, *_ = (*_split_parts(text)[::-1], "")
        for words in (text or "", whole):
            if words and (code := country_code(words)) is not None:
                return code
    return None


def _reach_km(place: "Place") -> float:
    return place.extent.radius_km if isinstance(place.extent, Disc) else 0.0


def _away_km(hit: "Hit") -> float:
    return hit.distance_km or 0.0


def _largest_around(hits: Sequence["Hit"]) -> "Hit":
    """Return the largest settlement whose radius, or else twice its radius, reaches the point; else the nearest."""
    for times in (1.0, 2.0):
        reaching = [hit for hit in hits if _away_km(hit) <= times * _reach_km(hit.place)]
        if reaching:
            return max(reaching, key=lambda hit: (_reach_km(hit.place), -_away_km(hit), hit.place.id))
    return min(hits, key=_away_km)


def _countries_around(borders: Borders, point: LatLon) -> set[str]:
    lats, lons = _ring(point)
    return set(borders.countries(lats, lons).tolist())


def _nearest_region(borders: Borders, point: LatLon, country: str) -> BorderRegion | None:
    here = borders.find_region(point)
    if here is not None and here.country == country:
        return here
    lats, lons = _ring(point)
    found = (borders.regions[label] for label in borders.lookup(lats, lons).tolist())
    return next((region for region in found if region.country == country), None)


def _ring(point: LatLon) -> tuple[list[float], list[float]]:
    """Return latitudes and longitudes of a point and of some around it, the nearer first."""
    distances = np.repeat([1.0, _BORDER_KM / 4, _BORDER_KM / 2, _BORDER_KM], 16)
    bearings = np.tile(np.arange(0.0, 360.0, 22.5), 4)
    lats, lons = destinations(point.lat, point.lon, bearings, distances)
    return [point.lat, *lats.tolist()], [point.lon, *lons.tolist()]


@cache
def _country_circle(country: str) -> Disc | None:
    """Return a circle around a country; None if its borders are unknown."""
    borders = Borders.load()
    if country not in {region.country for region in borders.regions}:
        return None
    land = borders.country_outline(country).geometry
    return _circle_around([borders.country_outline(country, detail="full").geometry if land.is_empty else land])


@cache
def _region_circle(country: str, code: str) -> Disc | None:
    """Return a circle around a region, or else around its country."""
    shapes = region_outline(country, code)
    return _circle_around(shapes) if shapes else _country_circle(country)


def region_outline(country: str, code: str) -> "list[MultiPolygon]":
    """Return the land of a first-level region by its country's code and its own, such as "DE-BY"; empty if unknown."""
    borders = Borders.load()
    wanted = {i for i, region in enumerate(borders.regions) if (region.country, region.code) == (country, code)}
    if not wanted:
        return []
    land = borders.country_outline(country, detail="full").geometry
    shapes = {}
    for part in land.geoms:
        west, south, east, north = part.bounds
        for shape in borders.find_shapes(Box(south, west, north, east), level="region"):
            if wanted.issuperset(shape.ids):
                shapes[shape.ids] = shape.geometry
    return list(shapes.values())


def _circle_around(shapes: Sequence["MultiPolygon"]) -> Disc | None:
    """Return a circle that contains all pieces of some shapes, centred inside the largest piece."""
    import shapely

    pieces = [piece for shape in shapes for piece in shape.geoms]
    if not pieces:
        return None
    inside = max(pieces, key=lambda piece: piece.area).representative_point()
    centre = LatLon(round(inside.y, 4), round(inside.x, 4))
    corners = shapely.get_coordinates(pieces)
    far_km = float(np.max(distances_km(centre.lat, centre.lon, corners[:, 1], corners[:, 0])))
    return Disc(centre, float(np.ceil(far_km + _OUTLINE_KM)))


@dataclass(frozen=True, slots=True, eq=False)
class CountryOutline:
    """A country's land, simplified to few corners.

    Attributes:
        code: ISO 3166-1 alpha-2.
        name: the country's name.
        polygons: each an outer ring and its holes, as (longitude, latitude); none crosses the antimeridian.
        box: the narrowest box around them.
        middle: a point inside the largest one, for a marker on a map.
    """

    code: str
    name: str
    polygons: Polygons
    box: Box
    middle: LatLon


def wide_country(name: str) -> str | None:
    """Return the code of the country that a name means; None if it is none, or no larger than a city."""
    code = whole_country(name)
    facts = all_countries().get(code) if code else None
    return code if facts is not None and sqrt((facts.area_km2 or 0.0) / pi) > PIN_KM else None


def get_answer_country(answer: Answer) -> str | None:
    """Return the code of the country that an answer consists of; None if the answer is more or less precise.

    The answer must name nothing but the country, and its radius must be about as large: an answer with a smaller radius
    that names only a country is a circle within it.
    """
    address, radius_km = answer.address, answer.radius_km
    if answer.point is None or radius_km is None or address.region.conclusion or address.precise.conclusion:
        return None
    code = country_code(address.country.conclusion or "")
    facts = all_countries().get(code) if code else None
    if facts is None or not facts.area_km2:
        return None
    return code if radius_km >= _MIN_RADIUS_SHARE * sqrt(facts.area_km2 / pi) else None


@lru_cache(maxsize=64)
def country_outline(code: str) -> CountryOutline | None:
    """Return a country's outline; None for the few that are too small to draw."""
    import shapely

    from .borders import Borders

    borders = Borders.load()
    land: Geometry = borders.country_outline(code).geometry
    if shapely.get_num_coordinates(land) < _MIN_CORNERS:
        land = borders.country_outline(code, detail="full").geometry
    parts = _simplify_polygons(sorted(list_polygons(land), key=lambda part: -part.area)[:_MAX_PARTS])
    if not parts:
        return None
    spans = [(part.bounds[0], part.bounds[2]) for part in parts]
    _, south, _, north = shapely.union_all(parts).bounds
    west, east = narrowest_span(spans)
    middle = max(parts, key=lambda part: part.area).representative_point()
    polygons = [list_rings(part) for part in parts]
    return CountryOutline(code, country_name(code), polygons, Box(south, west, north, east), LatLon(middle.y, middle.x))


def _simplify_polygons(parts: "list[Polygon]") -> "list[Polygon]":
    """Return polygons with few corners that do not overlap."""
    import shapely

    tolerance = _FINEST_DEG
    while True:
        simpler = [part.simplify(tolerance) for part in parts]
        joined = shapely.set_precision(shapely.union_all([shapely.make_valid(part) for part in simpler]), _GRID_DEG)
        if shapely.get_num_coordinates(joined) <= MAX_CORNERS or tolerance > 1:
            return list(list_polygons(joined))
        tolerance *= 1.5
