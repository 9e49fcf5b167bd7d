"""Convert between WGS-84 and GCJ-02, the shifted coordinates of maps of mainland China.

The official shift is not published. This is the approximation in common use: a polynomial and some sine waves around
35 N 105 E, converted from metres to degrees on the Krasovsky ellipsoid. It is reported to be within a few metres of
the official shift. A round trip is exact to a millimetre, because the inverse is found by iteration.
"""

import json
import math
from functools import cache
from importlib.resources import files
from typing import Literal

from .extent import Box
from .point import LatLon

Datum = Literal["wgs84", "gcj02"]
"""The datum that coordinates refer to."""

Ring = tuple[tuple[float, float], ...]
_BOUNDS = Box(17.0, 73.0, 54.0, 136.0)

_SEMI_MAJOR_M = 6378245.0
_ECCENTRICITY_SQUARED = 0.00669342162296594323
_ORIGIN = LatLon(35.0, 105.0)
_WAVES_BOTH = ((20.0, 6.0), (20.0, 2.0))
_WAVES_NORTH = ((20.0, 1.0), (40.0, 1 / 3), (160.0, 1 / 12), (320.0, 1 / 30))
_WAVES_EAST = ((20.0, 1.0), (40.0, 1 / 3), (150.0, 1 / 12), (300.0, 1 / 30))
_ITERATIONS = 12


def in_mainland_china(point: LatLon) -> bool:
    """Return whether a point lies in mainland China or its coastal waters; the outline is accurate to about 10 km.

    Hong Kong, Macau (both outlined more precisely) and Taiwan are excluded.
    """
    if not _BOUNDS.contains(point):
        return False
    outer, *holes = _outline()
    return _encloses(outer, point) and not any(_encloses(hole, point) for hole in holes)


@cache
def _outline() -> tuple[Ring, ...]:
    table = files("geosleuth.geo").joinpath("data/mainland_china.json")
    rings = json.loads(table.read_text(encoding="utf-8"))
    return tuple(tuple((lat, lon) for lat, lon in ring) for ring in rings)


def _encloses(ring: Ring, point: LatLon) -> bool:
    """Return whether the ring contains the point: whether a ray to the east crosses it an odd number of times."""
    odd = False
    before_lat, before_lon = ring[-1]
    for lat, lon in ring:
        if (lat > point.lat) != (before_lat > point.lat):
            crossing_lon = lon + (point.lat - lat) / (before_lat - lat) * (before_lon - lon)
            odd ^= point.lon < crossing_lon
        before_lat, before_lon = lat, lon
    return odd


def to_gcj02(point: LatLon) -> LatLon:
    """Convert a point from WGS-84 to GCJ-02; outside mainland China they are the same."""
    if not in_mainland_china(point):
        return point
    north_deg, east_deg = _shift(point.lat, point.lon)
    return LatLon(point.lat + north_deg, point.lon + east_deg)


def from_gcj02(shifted: LatLon) -> LatLon:
    """Convert a point from GCJ-02 to WGS-84; outside mainland China they are the same."""
    if not in_mainland_china(shifted):
        return shifted
    lat, lon = shifted.lat, shifted.lon
    for _ in range(_ITERATIONS):
        # The shift hardly changes over its own length, so each iteration reduces the error about a thousandfold.
        north_deg, east_deg = _shift(lat, lon)
        lat, lon = shifted.lat - north_deg, shifted.lon - east_deg
    return LatLon(lat, lon)


def _shift(lat: float, lon: float) -> tuple[float, float]:
    """Return by how many degrees GCJ-02 moves a place north and east."""
    x, y = lon - _ORIGIN.lon, lat - _ORIGIN.lat
    root = 0.1 * math.sqrt(abs(x))
    north_m = -100.0 + 2.0 * x + 3.0 * y + 0.2 * y * y + 0.1 * x * y + 2 * root
    north_m += 2 / 3 * (_waves(_WAVES_BOTH, x) + _waves(_WAVES_NORTH, y))
    east_m = 300.0 + x + 2.0 * y + 0.1 * x * x + 0.1 * x * y + root
    east_m += 2 / 3 * (_waves(_WAVES_BOTH, x) + _waves(_WAVES_EAST, x))

    lat_rad = math.radians(lat)
    squared = 1 - _ECCENTRICITY_SQUARED * math.sin(lat_rad) ** 2
    meridian_m = _SEMI_MAJOR_M * (1 - _ECCENTRICITY_SQUARED) / squared**1.5
    parallel_m = _SEMI_MAJOR_M / math.sqrt(squared) * math.cos(lat_rad)
    return math.degrees(north_m / meridian_m), math.degrees(east_m / parallel_m)


def _waves(waves: tuple[tuple[float, float], ...], degrees: float) -> float:
    """Return the sum of sine waves, given as (amplitude in metres, half-waves per degree)."""
    return sum(amplitude * math.sin(math.pi * frequency * degrees) for amplitude, frequency in waves)
