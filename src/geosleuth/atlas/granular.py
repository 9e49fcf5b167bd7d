"""Findings no finer than allowed: places of coarse levels, and outlines of countries.

Nothing is asked over a network, whichever atlas the answer came from: the point that is to be withheld would have to be
told to a stranger first.
"""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import ceil, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import PIN_KM
from geosleuth.answer.formats.context import Polygons, rings_of
from geosleuth.answer.granularity import Admitted, Granularity, round_up
from geosleuth.geo import Box, Disc, LatLon, destinations, distances_km
from geosleuth.names import country_code, country_name, fold, whole_country

from .base import BasePlaces, ensure_base, open_base
from .borders import Borders, Region
from .facts import all_countries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapely import Geometry, MultiPolygon, Polygon

    from .offline import OfflineAtlas
    from .protocol import Hit, Place

# Hamlets are told as roughly as villages.
LEAST_CITY_KM = 2.0
# A point this near a country may well be meant to lie in it: borders run through streets.
_BORDER_KM = 10.0
# What the lightly drawn outlines may be off.
_OUTLINE_KM = 3.0
_SETTLEMENTS = 80
_STREET_KM = 1.0


class OfflineGazetteer:
    """Meets `geosleuth.answer.granularity.Gazetteer` from the borders and the base atlas.

    A settlement is the largest one that reaches the point, so that a quarter is told as its city. A country that the
    answer names counts where the point lies in it or by its border; otherwise the point decides.

    Args:
        atlas: added regions, which know streets by name; without it no street is named.
    """

    def __init__(self, atlas: "OfflineAtlas | None" = None) -> None:
        """Nothing is opened until the first question."""
        self._atlas = atlas
        self._lock = threading.Lock()

    async def place_of(
        self, level: Granularity, point: LatLon | None, address: Address, radius_km: float | None
    ) -> Admitted | None:
        """The place of that level that an answer speaks of; None where none is known."""
        place = await asyncio.to_thread(self._place_of, level, point, address, radius_km)
        if level != "street" or place is None or place.address.precise.conclusion is None or point is None:
            return place
        street = await self._street(point, address)
        if street is None:
            return place
        names = place.address
        told = Address.of(names.country.conclusion, names.region.conclusion, f"{street}, {names.precise.conclusion}")
        return Admitted(place.centre, place.radius_km, told)

    def _place_of(
        self, level: Granularity, point: LatLon | None, address: Address, radius_km: float | None
    ) -> Admitted | None:
        with self._lock:
            country = self._country(point, address)
            named = None
            if point is None:
                named = self._named(address, country)
                point = named.point if named is not None else None
                country = country or (named.country if named is not None else None)
            if country is None:
                return None
            if level == "country" or point is None:
                return _of_country(country)
            spoken = self._speaks_of(address, country)
            if level == "region":
                return self._region(point, country, spoken, radius_km)
            return self._city(point, country, spoken, radius_km)

    def _country(self, point: LatLon | None, address: Address) -> str | None:
        named = _country_named(address)
        if point is None:
            return named
        here = self._borders.at(point)
        if here is None or (named is not None and named in _countries_around(self._borders, point)):
            return named
        return here.country

    def _region(self, point: LatLon, country: str, spoken: str | None, radius_km: float | None) -> Admitted | None:
        region = _nearest_region(self._borders, point, country)
        found = None if region is None else _region_circle(country, region.code)
        if region is None or found is None:
            return _of_country(country)
        named = spoken != "country" if spoken else radius_km is None or radius_km <= found.radius_km
        return _told(found, country, region.name if named else None)

    def _city(self, point: LatLon, country: str, spoken: str | None, radius_km: float | None) -> Admitted | None:
        hits = self._places.around(point, country=country, limit=_SETTLEMENTS)
        if not hits:
            return _of_country(country)
        hit = _largest_around(hits)
        reach_km = max(LEAST_CITY_KM, ceil(10 * _reach_km(hit.place)) / 10)
        found = Disc(hit.place.point, reach_km if _away_km(hit) <= reach_km else round_up(_away_km(hit)))
        if spoken is None:
            spoken = "city" if radius_km is None or radius_km <= found.radius_km else "country"
        return _told(
            found,
            country,
            hit.place.region if spoken in ("region", "city") else None,
            hit.place.name if spoken == "city" else None,
        )

    def _speaks_of(self, address: Address, country: str) -> str | None:
        """The finest level that the answer names: "country", "region" or "city" and what is finer; None: no names."""
        parts = [part for part in _parts(address.precise.conclusion) if country_code(part) != country]
        if parts:
            hits = self._places.geocode(parts[0], limit=1, country=country, guesses=0)
            return "region" if hits and hits[0].place.kind == "region" else "city"
        if address.precise.conclusion and address.country.conclusion:
            return "city"  # Monaco in Monaco
        if _parts(address.region.conclusion):
            return "region"
        return "country" if address.precise.conclusion or address.country.conclusion else None

    def _named(self, address: Address, country: str | None) -> "Place | None":
        """The place that a part of the address is the very name of: a city if there is one, the coarsest part first."""
        parts = [*_parts(address.region.conclusion), *_parts(address.precise.conclusion)]
        found = []
        for part in parts[::-1]:
            if country_code(part) is not None and country_code(part) == country and len(parts) > 1:
                continue
            hits = self._places.geocode(part, limit=1, country=country, guesses=0)
            found += [hit.place for hit in hits if hit.match != "fuzzy"]
        for kind in ("city", "region"):
            for place in found:
                if place.kind == kind:
                    return place
        return None

    async def _street(self, point: LatLon, address: Address) -> str | None:
        """The street that the answer names, as the added regions call it; never with a house number."""
        if self._atlas is None:
            return None
        from .regions.addresses import split_address
        from .regions.feature_kinds import is_street

        near = Disc(point, _STREET_KM)
        for part in _parts(address.precise.conclusion):
            for name in [street for _, street, _ in split_address(part)] or [part]:
                for hit in await self._atlas.geocode(name, limit=5, within=near):
                    if is_street(hit.place.kind) and fold(hit.place.name) == fold(name):
                        return hit.place.name
        return None

    @cached_property
    def _places(self) -> BasePlaces:
        return BasePlaces(open_base(ensure_base()))

    @cached_property
    def _borders(self) -> Borders:
        return Borders.load()


def _told(found: Disc, country: str, region: str | None = None, city: str | None = None) -> Admitted:
    whole = country_name(country)
    return Admitted(found.centre, found.radius_km, Address.of(whole, None if region == whole else region, city))


def _of_country(country: str) -> Admitted | None:
    found = _country_circle(country)
    return None if found is None else _told(found, country)


def _parts(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (piece.strip() for piece in (text or "")[:400].split(",")) if part)


def _country_named(address: Address) -> str | None:
    """The country that the address names, at its own level or as the last part of another."""
    for text in (address.country.conclusion, address.region.conclusion, address.precise.conclusion):
        whole, *_ = (*_parts(text)[::-1], "")
        for words in (text or "", whole):
            if words and (code := country_code(words)) is not None:
                return code
    return None


def _reach_km(place: "Place") -> float:
    return place.extent.radius_km if isinstance(place.extent, Disc) else 0.0


def _away_km(hit: "Hit") -> float:
    return hit.distance_km or 0.0


def _largest_around(hits: Sequence["Hit"]) -> "Hit":
    """The largest settlement that reaches the point with its own size, or with twice that; else the nearest."""
    for times in (1.0, 2.0):
        reaching = [hit for hit in hits if _away_km(hit) <= times * _reach_km(hit.place)]
        if reaching:
            return max(reaching, key=lambda hit: (_reach_km(hit.place), -_away_km(hit), hit.place.id))
    return min(hits, key=_away_km)


def _countries_around(borders: Borders, point: LatLon) -> set[str]:
    lats, lons = _ring(point)
    return set(borders.countries(lats, lons).tolist())


def _nearest_region(borders: Borders, point: LatLon, country: str) -> Region | None:
    here = borders.at(point)
    if here is not None and here.country == country:
        return here
    lats, lons = _ring(point)
    found = (borders.regions[label] for label in borders.lookup(lats, lons).tolist())
    return next((region for region in found if region.country == country), None)


def _ring(point: LatLon) -> tuple[list[float], list[float]]:
    """The point and some around it, the nearer first."""
    distances = np.repeat([1.0, _BORDER_KM / 4, _BORDER_KM / 2, _BORDER_KM], 16)
    bearings = np.tile(np.arange(0.0, 360.0, 22.5), 4)
    lats, lons = destinations(point.lat, point.lon, bearings, distances)
    return [point.lat, *lats.tolist()], [point.lon, *lons.tolist()]


@cache
def _country_circle(country: str) -> Disc | None:
    borders = Borders.load()
    if country not in {region.country for region in borders.regions}:
        return None
    land = borders.country_outline(country).geometry
    return _circle_around([borders.country_outline(country, detail="full").geometry if land.is_empty else land])


@cache
def _region_circle(country: str, code: str) -> Disc | None:
    shapes = region_outline(country, code)
    return _circle_around(shapes) if shapes else _country_circle(country)


def region_outline(country: str, code: str) -> "list[MultiPolygon]":
    """The land of a first-level region by its country's code and its own, such as "DE-BY"; empty where unknown."""
    borders = Borders.load()
    wanted = {i for i, region in enumerate(borders.regions) if (region.country, region.code) == (country, code)}
    if not wanted:
        return []
    land = borders.country_outline(country, detail="full").geometry
    shapes = {}
    for part in land.geoms:
        west, south, east, north = part.bounds
        for shape in borders.shapes_in(Box(south, west, north, east), level="region"):
            if wanted.issuperset(shape.ids):
                shapes[shape.ids] = shape.geometry
    return list(shapes.values())


def _circle_around(shapes: Sequence["MultiPolygon"]) -> Disc | None:
    """A place well inside the largest piece, and a circle around it that holds all pieces."""
    import shapely

    pieces = [piece for shape in shapes for piece in shape.geoms]
    if not pieces:
        return None
    inside = max(pieces, key=lambda piece: piece.area).representative_point()
    centre = LatLon(round(inside.y, 4), round(inside.x, 4))
    corners = shapely.get_coordinates(pieces)
    far_km = float(np.max(distances_km(centre.lat, centre.lon, corners[:, 1], corners[:, 0])))
    return Disc(centre, float(np.ceil(far_km + _OUTLINE_KM)))


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


def wide_country(name: str) -> str | None:
    """The code of the country that a name means, where it is larger than a city."""
    code = whole_country(name)
    facts = all_countries().get(code) if code else None
    return code if facts is not None and sqrt((facts.area_km2 or 0.0) / pi) > PIN_KM else None


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
