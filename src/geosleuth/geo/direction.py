"""Which way one place lies from another, and where a course leads.

`bearing_deg` and `destination` take points; `bearings_deg` and `destinations` take numbers or arrays in degrees and
kilometres, which broadcast, and return arrays. NaN gives NaN.
"""

import numpy as np

from .distance import EARTH_RADIUS_KM, Degrees, DistanceMethod, check_method, wgs84
from .point import FloatArray, LatLon, normalize_lon


def bearing_deg(start: LatLon, end: LatLon, method: DistanceMethod = "great-circle") -> float:
    """Compass bearing of the shortest path from `start` to `end`, as it leaves `start`; see `bearings_deg`."""
    return float(bearings_deg(start.lat, start.lon, end.lat, end.lon, method))


def destination(
    start: LatLon, bearing_deg: float, distance_km: float, method: DistanceMethod = "great-circle"
) -> LatLon:
    """The point that lies `distance_km` from `start` along the course that leaves it at `bearing_deg`."""
    lat, lon = destinations(start.lat, start.lon, bearing_deg, distance_km, method)
    return LatLon(float(lat), float(lon))


def bearings_deg(
    lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees, method: DistanceMethod = "great-circle"
) -> FloatArray:
    """Initial compass bearings from the first places to the second, in [0, 360): 0 is north, 90 is east.

    At a pole the bearing counts from the meridian of the given longitude. Between a place and itself it is 0, a pole
    under two longitudes included, and between exact opposites, where every course is as short, it is an arbitrary one.
    """
    parts = _broadcast(lat1, lon1, lat2, lon2)
    turn = normalize_lon(parts[3] - parts[1])
    same = (parts[0] == parts[2]) & ((turn == 0) | (np.abs(parts[0]) == 90))
    if check_method(method) == "geodesic":
        flat = [part.reshape(-1) for part in parts]
        azimuths, _, _ = wgs84().inv(flat[1], flat[0], flat[3], flat[2])
        azimuth = np.asarray(azimuths).reshape(parts[0].shape)
    else:
        dlat, dlon = np.radians(parts[2] - parts[0]), np.radians(turn)
        start, end = np.radians(parts[0]), np.radians(parts[2])
        eastward = np.sin(dlon) * np.cos(end)
        # cos(start) sin(end) - sin(start) cos(end) cos(dlon), arranged so that near places lose no digits
        northward = np.sin(dlat) + 2 * np.sin(start) * np.cos(end) * np.sin(dlon / 2) ** 2
        azimuth = np.degrees(np.arctan2(eastward, northward))
    azimuth = np.where(same, 0.0, azimuth)
    turned = np.where(azimuth < 0, azimuth + 360, azimuth)
    return np.where(turned >= 360, 0.0, turned)


def destinations(
    lat: Degrees,
    lon: Degrees,
    bearing_deg: Degrees,
    distance_km: Degrees,
    method: DistanceMethod = "great-circle",
) -> tuple[FloatArray, FloatArray]:
    """Latitudes and longitudes reached by following each course for its distance; longitudes in [-180, 180].

    A negative distance leads backwards; one longer than half the way round comes back on the other side.
    """
    parts = _broadcast(lat, lon, bearing_deg, distance_km)
    if check_method(method) == "geodesic":
        flat = [part.reshape(-1) for part in parts]
        lons, lats, _ = wgs84().fwd(flat[1], flat[0], flat[2], flat[3] * 1000.0)
        missing = np.isnan(flat).any(axis=0)  # the solver reads a missing longitude as some number
        shape = parts[0].shape
        return np.where(missing, np.nan, lats).reshape(shape), np.where(missing, np.nan, lons).reshape(shape)
    start, course, angle = np.radians(parts[0]), np.radians(parts[2]), parts[3] / EARTH_RADIUS_KM
    along, across = np.sin(angle) * np.cos(course), np.sin(angle) * np.sin(course)
    up = np.sin(start) * np.cos(angle) + np.cos(start) * along
    out = np.cos(start) * np.cos(angle) - np.sin(start) * along
    reached_lat = np.degrees(np.arctan2(up, np.hypot(out, across)))
    reached_lon = np.degrees(np.arctan2(across, out)) + parts[1]
    return np.asarray(reached_lat), np.asarray(normalize_lon(reached_lon))


def _broadcast(*parts: Degrees) -> list[FloatArray]:
    # Infinite values become NaN here, before a sine can warn about them.
    arrays = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in parts))
    return [np.where(np.isfinite(array), array, np.nan) for array in arrays]
