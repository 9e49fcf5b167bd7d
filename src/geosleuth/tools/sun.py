"""The tool `sun_position`: what the sun does at a place, and where on Earth it could stand as it does."""

import asyncio
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, NotRequired, TypedDict

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.names import required_country_code

from .clocks import clock, fixed_zone, read_clock, zone_near
from .declare import tool
from .kinds import Length
from .model import Case, Output
from .results import PointData
from .sun_anywhere import sun_anywhere
from .sun_here import sun_here
from .sun_land import Window, windows_by_clock
from .sun_sight import sight_of
from .viewer import Viewer, point_of
from .whereabouts import find, point_at
from .wording import one_line

_LONGEST = timedelta(hours=24)


_Pair = Annotated[list[str], Length(2)]
_Position = Annotated[list[float], Length(2)]


class _Moment(TypedDict):
    time: str
    azimuth_deg: float
    elevation_deg: float
    elevation_without_air_deg: float
    shadow_ratio: float | None
    shadow_direction_deg: float | None


class _Day(TypedDict):
    kind: str
    sunrise: str | None
    noon: str
    sunset: str | None
    noon_elevation_deg: float


class _Fit(TypedDict):
    fits: bool
    sun_elevation_deg: float | None
    sun_azimuth_deg: float | None
    that_day: list[_Pair]


class _SunHere(PointData):
    name: str | None
    clock: str
    moments: list[_Moment]
    day: _Day
    fit: NotRequired[_Fit]


class _Lines(TypedDict):
    type: str
    coordinates: list[list[_Position]]


class _Ring(TypedDict):
    time: str
    subsolar: PointData
    radius_km: float
    centre_line: _Lines
    inner_edge: _Lines
    outer_edge: _Lines


class _PointAt(PointData):
    time: str
    place: str


class _CountryShare(TypedDict):
    code: str
    name: str
    townspeople: float
    people_share: float
    land_share: float
    of_its_land: float


class _SunAnywhere(TypedDict):
    sun_elevation_deg: float | None
    sun_azimuth_deg: float | None
    tolerance_deg: float
    direction_tolerance_deg: float
    country: str | None
    windows: list[_Pair]
    rings: list[_Ring]
    points: list[_PointAt]
    land_km2: float
    countries: list[_CountryShare]


@tool(
    "sun_position",
    use="work out from a shadow and a time where on Earth the sun could stand so",
    result=_SunHere | _SunAnywhere,
    viewer=Viewer(lambda given: f"works out where the sun stands{point_of(given)}", icon="sun"),
    needs=("atlas",),
    aliases=("sun", "shadow_finder"),
    renames={
        "lat": "latitude",
        "lon": "longitude",
        "datetime": "time",
        "elevation": "sun_elevation",
        "azimuth": "sun_azimuth",
    },
)
async def sun_position(
    case: Case,
    time: str,
    time_end: str = "",
    place: str = "",
    latitude: float | None = None,
    longitude: float | None = None,
    shadow_ratio: float | None = None,
    sun_elevation: float | None = None,
    shadow_direction: float | None = None,
    sun_azimuth: float | None = None,
    country: str = "",
    utc_offset: float | None = None,
    tolerance_deg: float = 2.0,
    direction_tolerance_deg: float = 10.0,
) -> Output:
    """Tell where the sun stands at a place and time, or where on Earth it could stand as shadows in a photo show.

    With a place (or latitude and longitude): the sun's direction and height, shadows, sunrise, noon and sunset; with a
    shadow as well, whether that fits the place. Without a place: everywhere that a shadow could be so long, or point
    so, at that time, as a band on the map with its countries. A lead, not a fix.

    Args:
        time: date and clock time, such as 2024-06-21T14:30Z (Z for UTC) or 2024-06-21T14:30+02:00; without either it
            is the local clock of the place, or of the country given.
        time_end: the end of a time range that begins at time, at most a day later.
        place: the place's name, or 'lat,lon'.
        latitude: latitude of the place, instead of its name.
        longitude: longitude of the place.
        shadow_ratio: length of a shadow on level ground divided by the height of what casts it.
        sun_elevation: height of the sun above the horizon in degrees, instead of a shadow's length.
        shadow_direction: compass bearing that shadows point to, in degrees: 0 north, 90 east.
        sun_azimuth: compass bearing of the sun, instead of the shadow's.
        country: look only in this country; its clock is used for a time without a zone.
        utc_offset: hours ahead of UTC of the clock that the time was read from.
        tolerance_deg: how far off the sun's height may be, in degrees.
        direction_tolerance_deg: how far off the direction may be, in degrees.
    """
    sight = sight_of(shadow_ratio, sun_elevation, shadow_direction, sun_azimuth, tolerance_deg, direction_tolerance_deg)
    code = required_country_code(country) if country.strip() else None
    start = read_clock(time, "time")
    end = read_clock(time_end, "time_end") if time_end.strip() else start
    if utc_offset is not None:
        start, end = (_in(moment, utc_offset) for moment in (start, end))
    if place.strip() or latitude is not None or longitude is not None:
        name, point = await _place(case, place, latitude, longitude)
        zone = await asyncio.to_thread(zone_near, point)
        local = start.tzinfo is None or end.tzinfo is None
        here = _clock(zone, needed=local)
        start, end = (moment if moment.tzinfo else moment.replace(tzinfo=here) for moment in (start, end))
        taken = f"The time was taken as the local clock, {zone}." if local else ""
        return await asyncio.to_thread(sun_here, name, point, Window(*_ends(start, end)), sight, here, taken)
    if sight is None:
        raise BadInput(
            "say where (place, or latitude and longitude) to learn how the sun stands there, "
            "or how it stands (shadow_ratio, sun_elevation, shadow_direction) to learn where that may be"
        )
    windows = await asyncio.to_thread(_windows, start, end, code)
    return await sun_anywhere(case, windows, sight, code)


async def _place(case: Case, place: str, latitude: float | None, longitude: float | None) -> tuple[str, LatLon]:
    if latitude is not None and longitude is not None:
        return one_line(place, 80), point_at(latitude, longitude)
    if not place.strip():
        raise BadInput("latitude and longitude are needed together")
    found = await find(case, place, "place")
    return found.name, found.point


def _in(moment: datetime, utc_offset: float) -> datetime:
    """The moment that a clock so many hours ahead of UTC shows so."""
    zone = fixed_zone(utc_offset)
    if moment.tzinfo is not None and moment.utcoffset() != zone.utcoffset(None):
        raise BadInput("the time names another offset from UTC than utc_offset; leave one of them out")
    return moment.replace(tzinfo=zone)


def _clock(zone: str, *, needed: bool) -> tzinfo:
    """The clock of a place; UTC where the system knows no zones and the answer does not hang on it."""
    try:
        return clock(zone)
    except BadInput:
        if needed:
            raise
        return UTC


def _windows(start: datetime, end: datetime, country: str | None) -> tuple[Window, ...]:
    """The time asked about; where only a country's clocks can say which it is, one window for each of them."""
    if start.tzinfo and end.tzinfo:
        return (Window(*_ends(start, end)),)
    if start.tzinfo or end.tzinfo:
        raise BadInput("time and time_end must both name their zone, or neither")
    if country is None:
        raise BadInput(
            "a clock time without a zone can't be used to find a place: the sun moves by 15 degrees of longitude in an "
            "hour, and clocks follow it. Add Z if the time is UTC, its offset (+02:00), or the country"
        )
    return tuple(
        Window(*_ends(window.start, window.end), window.zones) for window in windows_by_clock(start, end, country)
    )


def _ends(start: datetime, end: datetime) -> tuple[datetime, datetime]:
    if end < start:
        raise BadInput("time_end lies before time; give the earlier one first")
    if end - start > _LONGEST:
        raise BadInput("the time range is longer than a day, in which the sun stands everywhere; narrow it down")
    return start, end
