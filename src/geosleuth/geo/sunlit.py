"""Where on Earth the sun stands so: the question of `sun` turned round.

At any moment all places that see the sun at one height lie on a circle around the place that has it in its zenith
(navigators call it a circle of equal altitude). A direction as well leaves at most two of them.
Heights here are those at which light arrives, refraction included, as shadows and sextants measure them.
"""

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from .direction import destinations
from .distance import EARTH_RADIUS_KM
from .point import FloatArray, LatLon, normalize_lon
from .sun import PARALLAX_DEG, Times, refraction_deg, seen_from, subsolar_points


@dataclass(frozen=True, slots=True)
class SunSight:
    """How the sun is seen to stand, give or take.

    Attributes:
        low_deg: least height above the horizon, 0 to 90.
        high_deg: greatest height.
        azimuth_deg: compass bearing of the sun; None where it is not known.
        azimuth_tolerance_deg: how far off the bearing may be to either side.

    Raises:
        ValueError: heights outside 0 to 90 or in the wrong order, a negative tolerance.
    """

    low_deg: float
    high_deg: float
    azimuth_deg: float | None = None
    azimuth_tolerance_deg: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.low_deg <= self.high_deg <= 90:
            raise ValueError(f"heights must lie between 0 and 90, the lower first, not {self.low_deg}, {self.high_deg}")
        if not self.azimuth_tolerance_deg >= 0:
            raise ValueError(f"a tolerance can't be negative: {self.azimuth_tolerance_deg}")


def elevation_of_shadow(ratio: float) -> float:
    """Height of the sun in degrees over level ground where shadows are ``ratio`` times as long as things are high."""
    return math.degrees(math.atan2(1.0, ratio))


def shadow_of_elevation(elevation_deg: float) -> float:
    """The inverse of `elevation_of_shadow`; infinite where the sun is not above the horizon."""
    return math.inf if elevation_deg <= 0 else 1 / math.tan(math.radians(elevation_deg))


def zenith_distance_deg(apparent_elevation_deg: float) -> float:
    """Degrees of the Earth's surface between the subsolar point and the places that see the sun so high (0 to 90)."""
    airless = apparent_elevation_deg
    for _ in range(12):
        airless = apparent_elevation_deg - float(refraction_deg(np.asarray(airless)))
    return 90 - airless - PARALLAX_DEG * math.cos(math.radians(airless))


def equal_altitude_circle(
    moment: datetime, apparent_elevation_deg: float, *, step_deg: float = 2.0
) -> tuple[FloatArray, FloatArray]:
    """The places that see the sun so high at that moment: latitudes and longitudes once round, ending at the first.

    Raises:
        ValueError: a time without a zone.
    """
    lat, lon = subsolar_points(moment)
    bearings = np.linspace(0, 360, max(8, round(360 / step_deg)) + 1)
    radius_km = EARTH_RADIUS_KM * math.radians(zenith_distance_deg(apparent_elevation_deg))
    return destinations(float(lat), float(lon), bearings, radius_km)


def places_under_sun(moment: datetime, apparent_elevation_deg: float, azimuth_deg: float) -> list[LatLon]:
    """The places, two at most, that see the sun at this height and compass bearing at that moment.

    From the spherical triangle of pole, place and subsolar point, of which two sides and the angle at the place are
    known. None where the sun can't stand so anywhere that day.

    Raises:
        ValueError: a time without a zone.
    """
    subsolar_lat, subsolar_lon = (float(value) for value in subsolar_points(moment))
    height = math.radians(90 - zenith_distance_deg(apparent_elevation_deg))
    bearing, declination = math.radians(azimuth_deg), math.radians(subsolar_lat)
    # sin(declination) = sin(lat) sin(height) + cos(lat) cos(height) cos(bearing), a shifted cosine of the latitude
    up, across = math.sin(height), math.cos(height) * math.cos(bearing)
    size, shift = math.hypot(up, across), math.atan2(up, across)
    if abs(math.sin(declination)) > size:
        return []
    turn = math.acos(math.sin(declination) / size)
    found = []
    for root in dict.fromkeys((shift - turn, shift + turn)):
        lat = math.remainder(root, math.tau)
        if abs(lat) > math.pi / 2:
            continue
        east = -math.sin(bearing) * math.cos(height)
        south = math.sin(height) * math.cos(lat) - math.cos(height) * math.cos(bearing) * math.sin(lat)
        hour_deg = math.degrees(math.atan2(east, south))
        found.append(LatLon(math.degrees(lat), float(normalize_lon(subsolar_lon + hour_deg))))
    return found


def sun_seen_mask(times: Times, lats: FloatArray, lons: FloatArray, sight: SunSight) -> npt.NDArray[np.bool_]:
    """Which cells of a grid see the sun so at any of the times.

    Args:
        times: the moments; take them so close that the sun does not leap over the sight's width between two.
        lats: latitudes of the grid's rows.
        lons: longitudes of its columns.
        sight: how the sun is seen.

    Returns:
        A row for each latitude, a column for each longitude.

    Raises:
        ValueError: a time without a zone.
    """
    far, near = zenith_distance_deg(sight.low_deg), zenith_distance_deg(sight.high_deg)
    low, high = (np.float32(math.cos(math.radians(distance))) for distance in (far, near))
    if sight.high_deg == 90:
        high = np.float32(2)
    sin_lat, cos_lat = np.sin(np.radians(lats)).astype(np.float32), np.cos(np.radians(lats)).astype(np.float32)
    seen = np.zeros((len(lats), len(lons)), dtype=np.bool_)
    subsolar = (np.atleast_1d(part) for part in subsolar_points(times))
    for subsolar_lat, subsolar_lon in zip(*subsolar, strict=True):
        declination = math.radians(subsolar_lat)
        hour = np.cos(np.radians(lons - subsolar_lon)).astype(np.float32)
        # The sine of the height is a product of a row's and a column's numbers, plus the row's: no trigonometry a cell.
        sine = np.multiply.outer(cos_lat * np.float32(math.cos(declination)), hour)
        sine += (sin_lat * np.float32(math.sin(declination)))[:, None]
        now = (sine >= low) & (sine <= high)
        if sight.azimuth_deg is not None:
            rows, columns = np.nonzero(now)
            azimuths = seen_from(subsolar_lat, subsolar_lon, lats[rows], lons[columns]).azimuth_deg
            off = np.abs((azimuths - sight.azimuth_deg + 180) % 360 - 180)
            now[rows, columns] = off <= sight.azimuth_tolerance_deg
        seen |= now
    return seen
