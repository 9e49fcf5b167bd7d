"""Extents of places: the outline of a country or region, the area of a settlement, the box of a feature."""

from dataclasses import replace
from functools import lru_cache
from math import cos, radians

from geosleuth.geo import Box, Disc, Extent, FloatArray, LatLon, distances_km
from geosleuth.support.errors import BadInput

from .protocol import Place

# The disc of a settlement holds its dense part; what people call by its name reaches about twice as far.
_SETTLEMENT_REACH = 2.0
# A region may consist of several polygons; all of them reach to within so many degrees of its main town.
_REGION_DEG = 8.0
_REMEMBERED = 512


def get_extent(place: Place) -> Extent | None:
    """Return the ground of a place, None for a bare point. The first country takes a second: borders are read."""
    outline = _outline(place)
    if outline is not None:
        (west, south), (east, north) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
        return Box(south, west, north, east)
    if isinstance(place.extent, Disc):
        return Disc(place.extent.centre, _reach(place) * place.extent.radius_km)
    return None if _is_point(place.extent) else place.extent


def get_radius_km(place: Place) -> float | None:
    """Return how far a place extends from its point, None for a bare point. As slow as `get_extent` at first."""
    outline, extent = _outline(place), place.extent
    if outline is not None:
        far = distances_km(place.point.lat, place.point.lon, outline[:, 1], outline[:, 0])
        return float(far.max())
    if isinstance(extent, Disc):
        return _reach(place) * extent.radius_km or None
    corners = [(lat, lon) for lat in (extent.south, extent.north) for lon in (extent.west, extent.east)]
    return max(distances_km(place.point.lat, place.point.lon, lat, lon) for lat, lon in corners) or None


def at_its_middle(place: Place) -> Place:
    """Return a country or region with a point in the middle of its largest polygon, in place of its main town."""
    middle = _middle(place.id, place.point)
    return place if middle is None else replace(place, point=middle)


def _reach(place: Place) -> float:
    """Return how far a place reaches beyond its disc; only settlements do."""
    return _SETTLEMENT_REACH if place.kind == "city" else 1.0


def _is_point(extent: Box) -> bool:
    return extent.south == extent.north and extent.width_deg == 0


def _outline(place: Place) -> FloatArray | None:
    """Return the border of a country or region as longitudes and latitudes; the base atlas does not know its size."""
    import shapely

    corners: FloatArray = shapely.get_coordinates(_shapes(place.id, place.point))
    return corners if len(corners) else None


@lru_cache(maxsize=_REMEMBERED)
def _middle(place_id: str, point: LatLon) -> LatLon | None:
    """Return a point inside the largest polygon: its centroid, or in a bent one the point farthest from its border."""
    import shapely

    # A degree of longitude is shorter than one of latitude.
    width = max(0.1, cos(radians(point.lat)))
    polygons = shapely.transform(shapely.get_parts(_shapes(place_id, point)), lambda xy: xy * (width, 1.0))
    if not len(polygons):
        return None
    largest = max(polygons, key=shapely.area)
    middle = shapely.centroid(largest)
    if not shapely.contains(largest, middle):
        middle = shapely.get_point(shapely.maximum_inscribed_circle(largest), 0)
    return LatLon(shapely.get_y(middle), shapely.get_x(middle) / width)


@lru_cache(maxsize=_REMEMBERED)
def _shapes(place_id: str, point: LatLon) -> tuple[object, ...]:
    owner, _, code = place_id.partition(":")
    if owner == "country":
        return tuple(_get_country_shapes(code))
    return tuple(_region(point, code)) if owner == "admin1" else ()


def _get_country_shapes(code: str) -> list[object]:
    from geosleuth.atlas.borders import Borders

    borders = Borders.load()
    try:
        light = borders.country_outline(code).geometry
        # The smallest countries have no corner left in the light outlines.
        return [borders.country_outline(code, detail="full").geometry] if light.is_empty else [light]
    except BadInput:  # a territory that has a code and no polygon
        return []


def _region(point: LatLon, code: str) -> list[object]:
    from geosleuth.atlas.borders import Borders

    borders, lat, lon = Borders.load(), point.lat, point.lon
    near = Box(
        max(-90.0, lat - _REGION_DEG),
        max(-180.0, lon - _REGION_DEG),
        min(90.0, lat + _REGION_DEG),
        min(180.0, lon + _REGION_DEG),
    )
    return [
        shape.geometry
        for shape in borders.find_shapes(near, level="region")
        if any(borders.regions[number].geonames == code for number in shape.ids)
    ]
