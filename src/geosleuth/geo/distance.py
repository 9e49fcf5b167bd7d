"""Distances, bearings and destinations on the sphere or the WGS-84 ellipsoid, and GeoScore.

`distance_km` takes two points. `distances_km`, `great_circle_km` and `geodesic_km` take latitudes and longitudes in
degrees as numbers or arrays, which are broadcast; four plain numbers give a plain float. NaN or infinite coordinates
give NaN. Latitudes beyond the poles are not checked: `LatLon` does that.

`bearing_deg` and `destination` take points. `bearings_deg` and `destinations` take numbers or arrays in degrees and
kilometres, which are broadcast, and return arrays. NaN gives NaN.
"""

import math
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args, overload

import numpy as np

from .point import FloatArray, LatLon, normalize_lon

if TYPE_CHECKING:
    from pyproj import Geod

# Radius of the sphere for all great-circle distances, as used in the literature.
EARTH_RADIUS_KM = 6371.0

DistanceMethod = Literal["great-circle", "geodesic"]
"""Sphere of radius `EARTH_RADIUS_KM`, or WGS-84 ellipsoid."""

Degrees: TypeAlias = float | FloatArray

_CHUNK = 16384  # pairs at a time, so that the scratch space stays in the CPU's cache
_HALF_RADIAN = math.pi / 360  # converts degrees to half the angle in radians
_NEARLY_ANTIPODAL = 0.99  # haversine above which the direct formula starts to lose digits
_FEW = 2000
_HALFWAY = 0.5  # haversine of a quarter of the globe's circumference

# Points at most this far apart count as the same spot: coordinates from people and maps may be that far off.
SAME_SPOT_KM = 0.05
# Score of an exact answer.
GEOSCORE_MAX = 5000.0
# Decay constant; with the scale below, every 1805 km divide the score by e.
GEOSCORE_DECAY = 10.0
# The scale d_max for the whole world (GeoAgent, section 5.1, equation 10).
GEOSCORE_SCALE_KM = 18050.0


@overload
def great_circle_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float: ...  # type: ignore[overload-overlap]  # all plain: plain
@overload
def great_circle_km(lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees) -> FloatArray: ...
def great_circle_km(lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees) -> float | FloatArray:
    """Return distances on the sphere of radius `EARTH_RADIUS_KM`.

    Uses the haversine formula, with a complementary one for nearly antipodal points, so precision does not depend on
    the distance. Compared with fifty-digit arithmetic on 12,000 random pairs of each kind, the largest error was 26
    nanometres anywhere, 4 nanometres within a degree of the antipode, and 5e-16 of the distance between neighbours (or
    4 nanometres across the antimeridian, where longitudes have no finer digits).
    """
    if type(lat1) is type(lon1) is type(lat2) is type(lon2) is float and math.isfinite(lat1 + lon1 + lat2 + lon2):
        share = _haversine(lat1, lon1, lat2, lon2)
        if share <= _NEARLY_ANTIPODAL:
            return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(share))
    lats1, lons1, lats2, lons2 = (np.asarray(part, dtype=np.float64) for part in (lat1, lon1, lat2, lon2))
    shape = np.broadcast(lats1, lons1, lats2, lons2).shape
    out = np.empty(shape or 1)
    few = out.size <= _CHUNK  # then a single number need not become an array, which is faster
    parts = [
        part.reshape(out.shape)
        if part.size == out.size
        else part
        if few and part.size == 1
        else np.broadcast_to(part, out.shape)
        for part in (lats1, lons1, lats2, lons2)
    ]
    with np.errstate(invalid="ignore"):  # infinite coordinates become NaN without a warning
        _fill_in_chunks(parts, out, np.empty(4 * min(out.size, _CHUNK)))
    return out if shape else float(out[0])


@overload
def geodesic_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float: ...  # type: ignore[overload-overlap]  # all plain: plain
@overload
def geodesic_km(lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees) -> FloatArray: ...
def geodesic_km(lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees) -> float | FloatArray:
    """Return distances on the WGS-84 ellipsoid (Karney's method from pyproj, accurate to nanometres)."""
    parts = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (lat1, lon1, lat2, lon2)))
    lats1, lons1, lats2, lons2 = (part.reshape(-1) for part in parts)
    _, _, metres = wgs84().inv(lons1, lats1, lons2, lats2)
    lengths: FloatArray = (np.asarray(metres) / 1000.0).reshape(parts[0].shape)
    return lengths if lengths.ndim else float(lengths)


@overload
def distances_km(  # type: ignore[overload-overlap]  # four plain numbers give a plain float
    lat1: float, lon1: float, lat2: float, lon2: float, method: DistanceMethod = "great-circle"
) -> float: ...
@overload
def distances_km(
    lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees, method: DistanceMethod = "great-circle"
) -> FloatArray: ...
def distances_km(
    lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees, method: DistanceMethod = "great-circle"
) -> float | FloatArray:
    """Return distances between places given as numbers or arrays, by either method."""
    if check_method(method) == "geodesic":
        return geodesic_km(lat1, lon1, lat2, lon2)
    return great_circle_km(lat1, lon1, lat2, lon2)


def distances_from_km(point: LatLon, lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Return great-circle distances from one point to others; faster than `great_circle_km` for few of them, nearby."""
    if 0 < len(lats) <= _FEW:
        gap = np.abs(lons - point.lon)
        across = np.sin(np.minimum(gap, 360.0 - gap) * _HALF_RADIAN) ** 2
        across *= math.cos(math.radians(point.lat)) * np.cos(lats * (2 * _HALF_RADIAN))
        share = np.sin((lats - point.lat) * _HALF_RADIAN) ** 2 + across
        if share.max() < _HALFWAY:
            km: FloatArray = np.arcsin(np.sqrt(share)) * (2 * EARTH_RADIUS_KM)
            return km
    return great_circle_km(np.array([point.lat]), np.array([point.lon]), lats, lons)


def distance_km(a: LatLon, b: LatLon, method: DistanceMethod = "great-circle") -> float:
    """Return the distance between two points."""
    return distances_km(a.lat, a.lon, b.lat, b.lon, method)


def check_method(method: str) -> DistanceMethod:
    """Return the method if it is valid.

    Raises:
        ValueError: it is not; the message lists the valid ones.
    """
    for known in get_args(DistanceMethod):
        if method == known:
            return cast("DistanceMethod", known)
    raise ValueError(f"distance method must be one of {', '.join(get_args(DistanceMethod))}, not {method!r}")


@cache
def wgs84() -> "Geod":
    """Return the WGS-84 ellipsoid, built once; importing pyproj is delayed until it is needed."""
    from pyproj import Geod

    return Geod(ellps="WGS84")


def _fill_in_chunks(parts: list[FloatArray], out: FloatArray, scratch: FloatArray) -> None:
    if out.size <= _CHUNK:
        lat1, lon1, lat2, lon2 = parts
        _haversine_km(lat1, lon1, lat2, lon2, out, scratch[: 4 * out.size].reshape(4, *out.shape))
        return
    axis = int(np.argmax(out.shape))
    step = max(1, _CHUNK * out.shape[axis] // out.size)
    for begin in range(0, out.shape[axis], step):
        cut = (slice(None),) * axis + (slice(begin, begin + step),)
        _fill_in_chunks([part[cut] for part in parts], out[cut], scratch)


def _haversine(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Return the haversine of one pair.

    NumPy takes a hundred times as long for a single pair, and a search query compares about a hundred.
    """
    gap = abs(lon2 - lon1)
    cosines = math.sin((90.0 - abs(lat1)) * 2 * _HALF_RADIAN) * math.sin((90.0 - abs(lat2)) * 2 * _HALF_RADIAN)
    across = math.sin(min(gap, 360.0 - gap) * _HALF_RADIAN)
    return math.sin((lat2 - lat1) * _HALF_RADIAN) ** 2 + across**2 * cosines


def _haversine_km(
    lat1: FloatArray, lon1: FloatArray, lat2: FloatArray, lon2: FloatArray, out: FloatArray, scratch: FloatArray
) -> None:
    """Fill `out` with distances; inputs have its shape or hold one number, `scratch` has room for four such arrays."""
    half_dlat, half_dlon, cosines, spare = scratch
    np.subtract(lat2, lat1, out=half_dlat)
    half_dlat *= _HALF_RADIAN
    _longitude_gap(lon1, lon2, half_dlon, spare)
    half_dlon *= _HALF_RADIAN
    _cosine(lat1, cosines)
    _cosine(lat2, spare)
    cosines *= spare

    np.sin(half_dlon, out=spare)
    spare *= spare
    spare *= cosines
    np.sin(half_dlat, out=out)
    out *= out
    out += spare
    np.minimum(out, 1.0, out=out)
    far = out > _NEARLY_ANTIPODAL
    np.sqrt(out, out=out)
    np.arcsin(out, out=out)
    out *= 2 * EARTH_RADIUS_KM
    if far.any():
        # One minus the haversine, without the subtraction: the haversine from one place to the antipode of the other.
        lat1, lon1, lat2, lon2 = (np.broadcast_to(part, out.shape) for part in (lat1, lon1, lat2, lon2))
        half_lat_sum = (lat1[far] + lat2[far]) * _HALF_RADIAN
        half_lon_rest = (180.0 - _longitude_gap(lon1[far], lon2[far])) * _HALF_RADIAN
        missing = np.sin(half_lat_sum) ** 2 + cosines[far] * np.sin(half_lon_rest) ** 2
        out[far] = EARTH_RADIUS_KM * (np.pi - 2 * np.arcsin(np.sqrt(missing)))


def _longitude_gap(
    lon1: FloatArray, lon2: FloatArray, out: FloatArray | None = None, spare: FloatArray | None = None
) -> FloatArray:
    """Return the degrees between two meridians, the short way round."""
    gap = np.subtract(lon2, lon1, out=out)
    np.abs(gap, out=gap)
    return np.minimum(gap, np.subtract(360.0, gap, out=spare), out=gap)


def _cosine(lat: FloatArray, out: FloatArray) -> None:
    # The sine of the distance to the pole: precise where the cosine is small, and cheaper than a cosine.
    np.abs(lat, out=out)
    np.subtract(90.0, out, out=out)
    out *= 2 * _HALF_RADIAN
    np.sin(out, out=out)


def bearing_deg(start: LatLon, end: LatLon, method: DistanceMethod = "great-circle") -> float:
    """Return the initial compass bearing of the shortest path from `start` to `end`; see `bearings_deg`."""
    return float(bearings_deg(start.lat, start.lon, end.lat, end.lon, method))


def destination(
    start: LatLon, bearing_deg: float, distance_km: float, method: DistanceMethod = "great-circle"
) -> LatLon:
    """Return the point that lies `distance_km` from `start` at the initial bearing `bearing_deg`."""
    lat, lon = destinations(start.lat, start.lon, bearing_deg, distance_km, method)
    return LatLon(float(lat), float(lon))


def bearings_deg(
    lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees, method: DistanceMethod = "great-circle"
) -> FloatArray:
    """Return initial compass bearings from the first places to the second, in [0, 360): 0 is north, 90 is east.

    At a pole the bearing counts from the meridian of the given longitude. It is 0 from a place to itself (also from a
    pole to the same pole at another longitude), and arbitrary between exact antipodes, where all courses are equally
    short.
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
        # cos(start) sin(end) - sin(start) cos(end) cos(dlon), rearranged to keep precision between near places
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
    """Return the latitudes and longitudes reached along each bearing after each distance; longitudes in [-180, 180].

    A negative distance leads backwards; one longer than half the circumference comes back on the other side.
    """
    parts = _broadcast(lat, lon, bearing_deg, distance_km)
    if check_method(method) == "geodesic":
        flat = [part.reshape(-1) for part in parts]
        lons, lats, _ = wgs84().fwd(flat[1], flat[0], flat[2], flat[3] * 1000.0)
        missing = np.isnan(flat).any(axis=0)  # the solver returns arbitrary numbers for NaN longitudes
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


@overload
def geoscore(distance_km: float) -> float: ...
@overload
def geoscore(distance_km: FloatArray) -> FloatArray: ...
def geoscore(distance_km: float | FloatArray) -> float | FloatArray:
    """Return 5000 exp(-10 d / 18050) for one distance or an array of them; NaN stays NaN.

    An answer without a point has no distance. The caller decides, and documents, whether it scores 0 or is left out.

    Raises:
        ValueError: a distance is negative; its score would exceed 5000.
    """
    distances = np.asarray(distance_km, dtype=np.float64)
    if np.any(distances < 0):
        raise ValueError(f"a distance can't be negative: {np.nanmin(distances):g} km")
    scores: FloatArray = GEOSCORE_MAX * np.exp(-GEOSCORE_DECAY / GEOSCORE_SCALE_KM * distances)
    return scores if distances.ndim else float(scores)
