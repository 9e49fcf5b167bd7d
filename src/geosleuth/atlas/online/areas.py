"""Areas as services want them, and the web Mercator projection that map pictures are drawn in."""

import math
from collections.abc import Iterable

from geosleuth.atlas.model import Hit
from geosleuth.errors import BadInput
from geosleuth.geo import Box, Disc, Extent, LatLon

MAX_MERCATOR_LAT = 85.05112877980659
TILE_PX = 256


def bounding_box(extent: Extent) -> Box:
    """The smallest box around an extent; `west` greater than `east` where it crosses the antimeridian."""
    if isinstance(extent, Box):
        return extent
    centre, radius_km = extent.centre, extent.radius_km
    reach_deg = math.degrees(radius_km / 6371.0)
    south, north = max(-90.0, centre.lat - reach_deg), min(90.0, centre.lat + reach_deg)
    if south == -90.0 or north == 90.0:
        return Box(south, -180.0, north, 180.0)
    half_deg = math.degrees(math.asin(min(1.0, math.sin(math.radians(reach_deg)) / math.cos(math.radians(centre.lat)))))
    return Box(south, _turned(centre.lon - half_deg), north, _turned(centre.lon + half_deg))


def plain_boxes(extent: Extent) -> list[Box]:
    """One box, or the two halves of one that crosses the antimeridian."""
    whole = bounding_box(extent)
    if whole.west <= whole.east:
        return [whole]
    return [
        Box(whole.south, whole.west, whole.north, 180.0),
        Box(whole.south, -180.0, whole.north, whole.east),
    ]


def around(point: LatLon, radius_km: float) -> Box:
    """The box around a point."""
    return bounding_box(Disc(point, radius_km))


def inside(hits: Iterable[Hit], within: Extent | None) -> list[Hit]:
    """Those hits whose point lies in the extent; services take it as a hint, or only know boxes."""
    return [hit for hit in hits if within is None or within.contains(hit.place.point)]


def check_radius(radius_m: float, longest_m: float, who: str) -> float:
    """The radius, if it is one the service takes."""
    if not 0 < radius_m <= longest_m:
        raise BadInput(f"{who} searches within 1 m to {longest_m:,.0f} m, not {radius_m:g} m")
    return radius_m


def to_pixels(point: LatLon, zoom: float) -> tuple[float, float]:
    """Where a point lies on the square map of the whole world at a zoom, in pixels from its north-west corner."""
    world_px = TILE_PX * 2.0**zoom
    lat = math.radians(max(-MAX_MERCATOR_LAT, min(MAX_MERCATOR_LAT, point.lat)))
    return (point.lon + 180) / 360 * world_px, (1 - math.asinh(math.tan(lat)) / math.pi) / 2 * world_px


def to_point(x_px: float, y_px: float, zoom: float) -> LatLon:
    """The point at a pixel of the world map; columns repeat, rows end at the map's edge."""
    world_px = TILE_PX * 2.0**zoom
    lat = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * max(0.0, min(world_px, y_px)) / world_px))))
    return LatLon(lat, _turned(x_px / world_px * 360 - 180))


def picture_box(centre: LatLon, zoom: float, size: tuple[int, int]) -> Box:
    """The ground that a map picture shows."""
    x, y = to_pixels(centre, zoom)
    width, height = size
    low, high = to_point(x - width / 2, y + height / 2, zoom), to_point(x + width / 2, y - height / 2, zoom)
    if width >= TILE_PX * 2.0**zoom:
        return Box(low.lat, -180.0, high.lat, 180.0)
    return Box(low.lat, low.lon, high.lat, high.lon)


def check_picture(zoom: float, size: tuple[int, int], longest_px: int, who: str) -> None:
    """Refuse zooms and sizes that make no picture.

    Raises:
        BadInput: says what the service takes.
    """
    if not 0 <= zoom <= 24:
        raise BadInput(f"zoom must lie between 0 and 24, not {zoom:g}")
    if not all(16 <= side <= longest_px for side in size):
        raise BadInput(f"{who} draws pictures of 16 to {longest_px} pixels a side")


def _turned(lon: float) -> float:
    return (lon + 180) % 360 - 180 if not -180 <= lon <= 180 else lon
