"""Position points on a Mercator map picture."""

import math

from geosleuth.geo import Box, LatLon

_FARTHEST_LAT = 85.05112877980659


class MercatorPlane:
    """The Mercator plane of one picture of a box, unrolled to both sides of its middle; x to the right, y down."""

    def __init__(self, box: Box, width: float, height: float) -> None:
        """Describe a picture of ``box``, so many units wide and high."""
        self._width, self._height = width, height
        self._middle = box.centre.lon
        self._per_degree = width / (box.width_deg or 360.0)
        self._top = mercator(box.north)
        self._per_unit = height / ((self._top - mercator(box.south)) or 1.0)

    def project(self, point: LatLon) -> tuple[float, float] | None:
        """Return the position of a point on the picture; None if it lies outside."""
        x, y = self.place(point.lat, point.lon)
        return (x, y) if 0 <= x <= self._width and 0 <= y <= self._height else None

    def place(self, lat: float, lon: float) -> tuple[float, float]:
        """Return the position of degrees on the plane, on the picture or outside."""
        turn = (lon - self._middle + 540) % 360 - 180
        return self._width / 2 + turn * self._per_degree, (self._top - mercator(lat)) * self._per_unit


def mercator(lat: float) -> float:
    """Return the northing of a latitude in radians of the equator; clipped to the edge of its square."""
    bounded = math.radians(min(max(lat, -_FARTHEST_LAT), _FARTHEST_LAT))
    return math.asinh(math.tan(bounded))
