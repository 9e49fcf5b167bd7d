"""An area that the place is known to lie in: how far it reaches, and what of a place with a radius lies inside it."""

from math import cos, radians

from geosleuth.geo import Box, Disc, Extent, LatLon, distance_km
from geosleuth.geo.extent import Outline

_HALF_WAY_ROUND_KM = 20_015.0
_JUST_INSIDE = 0.999
_KM_PER_DEGREE = 111.2


def farthest_km(area: Extent, point: LatLon) -> float:
    """Return the distance from a point to the farthest place of an area; at most half the Earth's circumference."""
    if isinstance(area, Disc):
        return min(_HALF_WAY_ROUND_KM, distance_km(area.centre, point) + area.radius_km)
    if area.width_deg > 180:
        return _HALF_WAY_ROUND_KM
    corners = (LatLon(lat, lon) for lat in (area.south, area.north) for lon in (area.west, area.east))
    return max(distance_km(corner, point) for corner in corners)


def brought_into(area: Extent, point: LatLon, radius_km: float) -> LatLon | None:
    """The point that stands for a place inside an area: its own, or where the area and the place around it meet.

    A town is more than the point on its map: an area that a user draws around one of its streets lies in the town,
    though the town's point lies outside. None where no part of the place is in the area.
    """
    if area.contains(point):
        return point
    nearest = _nearest(area, point)
    # A point that lies between an area's edges and not in the area lies in a gap of it, which the user has ruled out.
    if nearest == point or distance_km(nearest, point) > radius_km:
        return None
    chosen = area.centre if distance_km(area.centre, point) <= radius_km else nearest
    return chosen if area.contains(chosen) else None


def outside_km(area: Extent, point: LatLon) -> float:
    """Return how far a point lies outside an area, 0 inside; along the ground of small areas, roughly for wide ones."""
    if not isinstance(area, Outline):
        return Disc(point, 0.0).distance_km(area)
    import shapely

    squeeze = [max(cos(radians(point.lat)), 1e-3), 1.0]
    # Its longitudes may go on beyond 180 degrees.
    ways = ([point.lon + turn, point.lat] for turn in (-360.0, 0.0, 360.0))
    shapes = (shapely.transform(area.shape, lambda at, way=way: (at - way) * squeeze) for way in ways)
    return float(min(shapely.distance(shape, shapely.Point(0.0, 0.0)) for shape in shapes)) * _KM_PER_DEGREE


def grid(area: Extent, steps: int) -> list[LatLon]:
    """Points all over an area, rows and columns of them."""
    shares = [(2 * step + 1) / steps - 1 for step in range(steps)]
    north, east = _half_sides_deg(area)
    centre = area.centre
    points = (
        LatLon(min(max(centre.lat + up * north, -90.0), 90.0), _wrap_longitude(centre.lon + right * east))
        for up in shares
        for right in shares
    )
    return [point for point in points if area.contains(point)]


def _half_sides_deg(area: Extent) -> tuple[float, float]:
    if isinstance(area, Box):
        return (area.north - area.south) / 2, area.width_deg / 2
    north = area.radius_km / 111.2
    return north, min(180.0, north / max(cos(radians(area.centre.lat)), 1e-3))


def _nearest(area: Extent, point: LatLon) -> LatLon:
    if isinstance(area, Box):
        lat = min(max(point.lat, area.south), area.north)
        if area.spans_lon(point.lon):
            return LatLon(lat, point.lon)
        return LatLon(lat, min((area.west, area.east), key=lambda lon: abs(_wrap_longitude(lon - point.lon))))
    centre = area.centre
    share = _JUST_INSIDE * area.radius_km / max(distance_km(centre, point), 1e-9)
    across = _wrap_longitude(point.lon - centre.lon)
    return LatLon(centre.lat + share * (point.lat - centre.lat), _wrap_longitude(centre.lon + share * across))


def _wrap_longitude(lon: float) -> float:
    return (lon + 180.0) % 360.0 - 180.0
