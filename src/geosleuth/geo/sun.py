"""The sun's position at any place and time, sunrise, noon and sunset, and the places that see it at a given position.

The sun's longitude follows from the mean anomaly and the equation of the centre, nutation from its four largest terms;
these, sidereal time and horizontal coordinates are from J. Meeus, Astronomical Algorithms, 2nd edition, chapters 12,
13, 22, 25 and 40, and refraction is Sæmundsson's formula, chapter 16. Between 1950 and 2050 directions are accurate to
about 0.005 degrees; the sun is half a degree wide.

At any moment, all places that see the sun at the same elevation lie on a circle around the subsolar point (in
navigation, a circle of equal altitude). If the azimuth is known too, at most two of them remain. Elevations of sights
are apparent ones, with refraction, as shadows and sextants measure them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .distance import EARTH_RADIUS_KM, Degrees, destinations
from .point import FloatArray, LatLon, normalize_lon

Times: TypeAlias = datetime | Sequence[datetime] | npt.NDArray[np.datetime64]
"""Times with a time zone, or datetime64 values in UTC."""

DayKind = Literal["ordinary", "polar day", "polar night"]

# Elevation of the sun's centre when its upper edge touches a level horizon: 34' of refraction, 16' of radius.
RISE_ELEVATION_DEG = -0.8333

_J2000 = np.datetime64("2000-01-01T12:00:00", "us")
_DAY = np.timedelta64(86_400_000_000, "us")
# Terrestrial Time less UTC was 29 s in 1950 and is about 70 s today. Using one value for all years moves the sun by
# less than 0.0005 degrees.
_DELTA_T_DAYS = 60 / 86400
# Horizontal parallax: how much lower the sun stands at the horizon for an observer than for the Earth's centre.
PARALLAX_DEG = 8.794 / 3600
_SAMPLES_A_DAY = 721
_EARLIEST, _LATEST = datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SunPositions:
    """Directions to the sun's centre, as arrays of one shape.

    Attributes:
        azimuth_deg: compass bearing, 0 north, 90 east, in [0, 360).
        elevation_deg: above the level horizon, without refraction.
        apparent_elevation_deg: with refraction at 1010 hPa and 10 °C, as shadows show it. Equal to `elevation_deg`
            once the whole disc is below the horizon.
    """

    azimuth_deg: FloatArray
    elevation_deg: FloatArray
    apparent_elevation_deg: FloatArray


@dataclass(frozen=True, slots=True)
class SunDay:
    """Sunrise, noon and sunset around one local noon, in UTC.

    ``sunrise`` is None if the sun does not rise in the half day before noon, ``sunset`` if it does not set in the half
    day after it; ``kind`` says whether it stays up or down all day.
    """

    noon: datetime
    sunrise: datetime | None
    sunset: datetime | None
    noon_elevation_deg: float
    kind: DayKind


def sun_positions(times: Times, lat: Degrees, lon: Degrees) -> SunPositions:
    """Return the sun's position for each place and time; times, latitudes and longitudes are broadcast.

    Raises:
        ValueError: a time without a zone.
    """
    declination, subsolar_lon = _subsolar(days_since_j2000(times))
    return compute_positions(declination, subsolar_lon, np.asarray(lat, np.float64), np.asarray(lon, np.float64))


def subsolar_points(times: Times) -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes of the subsolar point, where the sun is in the zenith.

    Raises:
        ValueError: a time without a zone.
    """
    return _subsolar(days_since_j2000(times))


def compute_positions(
    subsolar_lat: FloatArray, subsolar_lon: FloatArray, lat: FloatArray, lon: FloatArray
) -> SunPositions:
    """Return the sun's position for places, given the subsolar point; all in degrees, broadcast."""
    height, hour = np.radians(subsolar_lat), np.radians(lon - subsolar_lon)
    sin_lat, cos_lat = np.sin(np.radians(lat)), np.cos(np.radians(lat))
    east = -np.cos(height) * np.sin(hour)
    north = np.sin(height) * cos_lat - np.cos(height) * np.cos(hour) * sin_lat
    up = np.sin(height) * sin_lat + np.cos(height) * np.cos(hour) * cos_lat
    azimuth = np.degrees(np.arctan2(east, north)) % 360
    airless = np.degrees(np.arctan2(up, np.hypot(east, north)))
    elevation = np.asarray(airless - PARALLAX_DEG * np.cos(np.radians(airless)))
    return SunPositions(np.where(azimuth >= 360, 0.0, azimuth), elevation, elevation + refraction_deg(elevation))


def refraction_deg(elevation_deg: FloatArray) -> FloatArray:
    """Return the refraction at each true elevation; 0 once the whole disc is below the horizon."""
    seen = elevation_deg >= RISE_ELEVATION_DEG
    angle = np.where(seen, elevation_deg, 45.0)
    lift = 1.02 / 60 / np.tan(np.radians(angle + 10.3 / (angle + 5.11)))
    return np.where(seen, np.maximum(lift, 0.0), 0.0)


def sun_day(place: LatLon, day: date) -> SunDay:
    """Return sunrise, noon and sunset of a calendar day in the place's solar time.

    Noon is the one nearest to 12:00 local mean time; sunrise and sunset are sought half a day to either side. Accurate
    to about a minute for a level horizon, and to some minutes near the poles, where the sun grazes the horizon.

    Raises:
        ValueError: the day is one of the first or last two of the calendar.
    """
    guess = datetime.combine(day, time(12), UTC) - timedelta(hours=place.lon / 15)
    if not _EARLIEST <= guess <= _LATEST:
        raise ValueError(f"the day must lie well within the calendar, not {day}")
    noon = guess
    for _ in range(3):
        _, subsolar_lon = subsolar_points(noon)
        noon -= timedelta(hours=float(normalize_lon(np.asarray(place.lon - subsolar_lon))) / 15)
    minutes = np.linspace(-720, 720, _SAMPLES_A_DAY)
    times = _utc64(noon) + np.round(minutes * 60e6).astype("timedelta64[us]")
    above = sun_positions(times, place.lat, place.lon).elevation_deg - RISE_ELEVATION_DEG
    middle = _SAMPLES_A_DAY // 2
    rises = np.flatnonzero((above[:middle] < 0) & (above[1 : middle + 1] >= 0))
    sets = np.flatnonzero((above[middle:-1] >= 0) & (above[middle + 1 :] < 0)) + middle
    kind: DayKind = "polar day" if (above >= 0).all() else "polar night" if (above < 0).all() else "ordinary"

    def moment(index: int) -> datetime:
        share = above[index] / (above[index] - above[index + 1])
        return noon + timedelta(minutes=float(minutes[index] + share * (minutes[index + 1] - minutes[index])))

    return SunDay(
        noon=noon,
        sunrise=moment(int(rises[-1])) if rises.size else None,
        sunset=moment(int(sets[0])) if sets.size else None,
        noon_elevation_deg=float(above[middle] + RISE_ELEVATION_DEG),
        kind=kind,
    )


def days_since_j2000(times: Times) -> FloatArray:
    """Return days, with fractions, since 1 January 2000, 12:00 UTC.

    Raises:
        ValueError: a time without a zone.
    """
    if isinstance(times, np.ndarray) and np.issubdtype(times.dtype, np.datetime64):
        moments = times.astype("datetime64[us]")
    elif isinstance(times, datetime):
        moments = np.asarray(_utc64(times))
    else:
        moments = np.array([_utc64(moment) for moment in times], dtype="datetime64[us]")
    return np.asarray((moments - _J2000) / _DAY, dtype=np.float64)


def _utc64(moment: datetime) -> np.datetime64:
    if moment.tzinfo is None:
        raise ValueError(f"the time {moment} has no time zone; give one, such as +00:00")
    return np.datetime64(moment.astimezone(UTC).replace(tzinfo=None), "us")


def _subsolar(days: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sun's declination, which is the subsolar latitude, and the subsolar longitude."""
    century = (days + _DELTA_T_DAYS) / 36525
    mean_lon = 280.46646 + century * (36000.76983 + century * 0.0003032)
    anomaly = np.radians(357.52911 + century * (35999.05029 - century * 0.0001537))
    centre = (
        (1.914602 - century * (0.004817 + century * 0.000014)) * np.sin(anomaly)
        + (0.019993 - century * 0.000101) * np.sin(2 * anomaly)
        + 0.000289 * np.sin(3 * anomaly)
    )
    eccentricity = 0.016708634 - century * (0.000042037 + century * 0.0000001267)
    distance_au = 1.000001018 * (1 - eccentricity**2) / (1 + eccentricity * np.cos(anomaly + np.radians(centre)))
    nutation_lon, nutation_tilt = _nutation_deg(century, np.radians(mean_lon))
    aberration = -20.4898 / 3600 / distance_au
    longitude = np.radians(mean_lon + centre + _perturbations_deg(century) + nutation_lon + aberration)
    mean_tilt = 23.4392911 - century * (0.0130041667 + century * (1.639e-7 - century * 5.0361e-7))
    tilt = np.radians(mean_tilt + nutation_tilt)

    declination = np.degrees(np.arcsin(np.sin(tilt) * np.sin(longitude)))
    right_ascension = np.degrees(np.arctan2(np.cos(tilt) * np.sin(longitude), np.cos(longitude)))
    clock_century = days / 36525
    sidereal = 280.46061837 + 360.98564736629 * days + 0.000387933 * clock_century**2 + nutation_lon * np.cos(tilt)
    return np.asarray(declination), np.asarray(normalize_lon(np.asarray(right_ascension - sidereal)))


def _perturbations_deg(century: FloatArray) -> FloatArray:
    """Return what Venus, Jupiter and the Moon add to the sun's longitude: the five largest terms, with epoch 1900.

    From J. Meeus, Astronomical Formulae for Calculators, chapter 18; the last term has a very long period.
    """
    since_1900 = century + 1
    venus = np.radians(153.23 + 22518.7541 * since_1900)
    venus_twice = np.radians(216.57 + 45037.5082 * since_1900)
    jupiter = np.radians(312.69 + 32964.3577 * since_1900)
    moon = np.radians(350.74 + 445267.1142 * since_1900)
    slow = np.radians(231.19 + 20.20 * since_1900)
    perturbations: FloatArray = (
        0.00134 * np.cos(venus)
        + 0.00154 * np.cos(venus_twice)
        + 0.00200 * np.cos(jupiter)
        + 0.00179 * np.sin(moon)
        + 0.00178 * np.sin(slow)
    )
    return perturbations


def _nutation_deg(century: FloatArray, sun_lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nutation in longitude and in obliquity, to half an arc second."""
    node = np.radians(125.04452 - 1934.136261 * century)
    moon_lon = np.radians(218.3165 + 481267.8813 * century)
    lon = -17.20 * np.sin(node) - 1.32 * np.sin(2 * sun_lon) - 0.23 * np.sin(2 * moon_lon) + 0.21 * np.sin(2 * node)
    tilt = 9.20 * np.cos(node) + 0.57 * np.cos(2 * sun_lon) + 0.10 * np.cos(2 * moon_lon) - 0.09 * np.cos(2 * node)
    return lon / 3600, tilt / 3600


@dataclass(frozen=True, slots=True)
class SunSight:
    """An observed position of the sun, with its uncertainty.

    Attributes:
        low_deg: lowest apparent elevation, 0 to 90.
        high_deg: highest apparent elevation.
        azimuth_deg: compass bearing of the sun; None if unknown.
        azimuth_tolerance_deg: how far off the bearing may be to either side.

    Raises:
        ValueError: elevations outside 0 to 90 or in the wrong order, or a negative tolerance.
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
    """Return the elevation in degrees for shadows on level ground ``ratio`` times as long as objects are high."""
    return math.degrees(math.atan2(1.0, ratio))


def shadow_of_elevation(elevation_deg: float) -> float:
    """Return the ratio of shadow length to height: the inverse of `elevation_of_shadow`; infinite at or below 0."""
    return math.inf if elevation_deg <= 0 else 1 / math.tan(math.radians(elevation_deg))


def zenith_distance_deg(apparent_elevation_deg: float) -> float:
    """Return the angular distance from the subsolar point of places that see the sun at this elevation (0 to 90)."""
    airless = apparent_elevation_deg
    for _ in range(12):
        airless = apparent_elevation_deg - float(refraction_deg(np.asarray(airless)))
    return 90 - airless - PARALLAX_DEG * math.cos(math.radians(airless))


def equal_altitude_circle(
    moment: datetime, apparent_elevation_deg: float, *, step_deg: float = 2.0
) -> tuple[FloatArray, FloatArray]:
    """Return the places that see the sun at this elevation, as latitudes and longitudes of a closed circle.

    Raises:
        ValueError: a time without a zone.
    """
    lat, lon = subsolar_points(moment)
    bearings = np.linspace(0, 360, max(8, round(360 / step_deg)) + 1)
    radius_km = EARTH_RADIUS_KM * math.radians(zenith_distance_deg(apparent_elevation_deg))
    return destinations(float(lat), float(lon), bearings, radius_km)


def places_under_sun(moment: datetime, apparent_elevation_deg: float, azimuth_deg: float) -> list[LatLon]:
    """Return the places, at most two, that see the sun at this elevation and azimuth.

    Solves the spherical triangle of pole, place and subsolar point, of which two sides and the angle at the place are
    known. The list is empty if no place can see the sun there on that day.

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
    """Return which cells of a grid see the sun within the sight's bounds at any of the times.

    Args:
        times: of the sight; so dense that the sun can't cross the sight's bounds between two of them.
        lats: latitudes of the grid's rows.
        lons: longitudes of its columns.
        sight: the observed position.

    Returns:
        A mask with a row for each latitude and a column for each longitude.

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
        # The sine of the elevation is a row factor times a column factor, plus a row term: no trigonometry per cell.
        sine = np.multiply.outer(cos_lat * np.float32(math.cos(declination)), hour)
        sine += (sin_lat * np.float32(math.sin(declination)))[:, None]
        now = (sine >= low) & (sine <= high)
        if sight.azimuth_deg is not None:
            rows, columns = np.nonzero(now)
            azimuths = compute_positions(subsolar_lat, subsolar_lon, lats[rows], lons[columns]).azimuth_deg
            off = np.abs((azimuths - sight.azimuth_deg + 180) % 360 - 180)
            now[rows, columns] = off <= sight.azimuth_tolerance_deg
        seen |= now
    return seen
