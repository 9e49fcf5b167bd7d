"""The tool `sun_position`: what the sun does at a place, and where on Earth it could stand as it does."""

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from geosleuth.answer.coordinates import make_point
from geosleuth.geo import (
    EARTH_RADIUS_KM,
    FloatArray,
    LatLon,
    SunDay,
    equal_altitude_circle,
    places_under_sun,
    shadow_of_elevation,
    subsolar_points,
    sun_day,
    sun_positions,
    zenith_distance_deg,
)
from geosleuth.names import country_name, require_country_code
from geosleuth.photo import Photo
from geosleuth.support.errors import BadInput

from .argument_types import Length
from .calls import Case, Output
from .declare import PointData, tool
from .places import find
from .sun_sight import (
    Band,
    MeasuredSun,
    Window,
    build_sight,
    clock,
    compass,
    draw_band,
    encode_moment,
    find_band,
    format_moment,
    format_time,
    make_zone,
    offset_name,
    read_clock,
    together,
    windows_by_clock,
    zone_near,
)
from .viewer import Viewer, describe_point, format_point, one_line, percent, point_data

_LONGEST_SHADOW = 60.0

_COUNTRIES_SHOWN = 12
_OF_TOWNS = "of the people who live in towns within the band"
_RING_STEP_DEG = 2.0
_LONGEST = timedelta(hours=24)
_Pair = Annotated[list[str], Length(2)]
_Position = Annotated[list[float], Length(2)]

Sighting = tuple[tuple[Window, ...], MeasuredSun]
"""When the sun was seen, and how it stood."""


def sun_here(
    name: str, place: LatLon, window: Window, sight: MeasuredSun | None, here: tzinfo, note: str = ""
) -> Output:
    """The sun at a place, at the ends of a window; with a sight, whether and when it stands so there.

    Args:
        name: the place's name, or nothing.
        place: where it is.
        window: the time asked about.
        sight: how the sun is said to stand.
        here: the clock of the place.
        note: what else the reader should know.
    """
    moments = list(dict.fromkeys((window.start, window.end)))
    day = sun_day(place, window.start.astimezone(here).date())
    where = f"{name} ({format_point(place)})" if name else format_point(place)
    lines = [f"{number}. {_moment_text(moment, place, here)}" for number, moment in enumerate(moments, 1)]
    lines.append(f"{len(lines) + 1}. {_day_text(day, here)}")
    data: dict[str, Any] = {
        "name": name or None,
        **point_data(place),
        "clock": str(here),
        "moments": [_moment_data(moment, place) for moment in moments],
        "day": {
            "kind": day.kind,
            "sunrise": encode_moment(day.sunrise),
            "noon": encode_moment(day.noon),
            "sunset": encode_moment(day.sunset),
            "noon_elevation_deg": round(day.noon_elevation_deg, 2),
        },
    }
    if sight is not None:
        fits, stretches = _fit(place, window, sight, day)
        lines.append(f"{len(lines) + 1}. {_fit_text(fits=fits, stretches=stretches, sight=sight, here=here)}")
        data["fit"] = {
            "fits": fits,
            "sun_elevation_deg": sight.elevation_deg,
            "sun_azimuth_deg": sight.azimuth_deg,
            "that_day": [[encode_moment(begin), encode_moment(end)] for begin, end in stretches],
        }
    ending = f"Level ground and a level horizon are assumed. {note}".rstrip()
    return Output("\n".join([f"The sun at {where}:", *lines, ending]), data, sources=("sun formula",))


def _moment_text(moment: datetime, place: LatLon, here: tzinfo) -> str:
    sun = sun_positions(moment, place.lat, place.lon)
    azimuth, elevation = float(sun.azimuth_deg), float(sun.apparent_elevation_deg)
    clocks = " = ".join(dict.fromkeys((format_moment(moment), format_moment(moment, here))))
    stands = f"{clocks}: the sun is in the {compass(azimuth)}, azimuth {azimuth:.1f}°, elevation {elevation:.1f}°"
    if elevation <= 0:
        return f"{stands}: below the horizon, no shadows."
    ratio = shadow_of_elevation(elevation)
    long = f"{ratio:.2f} times the height" if ratio <= _LONGEST_SHADOW else "too long to measure"
    back = (azimuth + 180) % 360
    return f"{stands}; shadows are {long} and point {compass(back)} ({back:.1f}°)."


def _moment_data(moment: datetime, place: LatLon) -> dict[str, Any]:
    sun = sun_positions(moment, place.lat, place.lon)
    azimuth, elevation = float(sun.azimuth_deg), float(sun.apparent_elevation_deg)
    up = elevation > 0
    return {
        "time": encode_moment(moment),
        "azimuth_deg": round(azimuth, 3),
        "elevation_deg": round(elevation, 3),
        "elevation_without_air_deg": round(float(sun.elevation_deg), 3),
        "shadow_ratio": round(shadow_of_elevation(elevation), 4) if up else None,
        "shadow_direction_deg": round((azimuth + 180) % 360, 3) if up else None,
    }


def _day_text(day: SunDay, here: tzinfo) -> str:
    date = day.noon.astimezone(here).date()

    def local(moment: datetime) -> str:
        return format_time(moment, here, date)

    noon = f"noon {local(day.noon)} at {day.noon_elevation_deg:.1f}°"
    if day.kind == "polar day":
        course = f"Polar day: the sun does not set; {noon}"
    elif day.kind == "polar night":
        course = f"Polar night: the sun does not rise; {noon}"
    else:
        rise = f"Sunrise {local(day.sunrise)}" if day.sunrise else "No sunrise: the sun was up before"
        down = f"sunset {local(day.sunset)}" if day.sunset else "no sunset: the sun stays up"
        course = f"{rise}, {noon}, {down}"
    return f"{course}; {date} by the local clock ({offset_name(day.noon, here)})."


def _fit(
    place: LatLon, window: Window, sight: MeasuredSun, day: SunDay
) -> tuple[bool, list[tuple[datetime, datetime]]]:
    """Return whether the sun stands so at some time of the window, and when it does around that day's noon."""
    minutes = np.arange(-720, 721)
    noon = Window(day.noon, day.noon).times(1.0)[0]
    good = _stands_so(noon + minutes.astype("timedelta64[m]"), place, sight)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]])))
    stretches = [
        (day.noon + timedelta(minutes=int(minutes[begin])), day.noon + timedelta(minutes=int(minutes[end - 1])))
        for begin, end in edges.reshape(-1, 2)
    ]
    return bool(_stands_so(window.times(0.25), place, sight).any()), stretches


def _stands_so(times: npt.NDArray[np.datetime64], place: LatLon, sight: MeasuredSun) -> npt.NDArray[np.bool_]:
    sun, bounds = sun_positions(times, place.lat, place.lon), sight.bounds
    good = (sun.apparent_elevation_deg >= bounds.low_deg) & (sun.apparent_elevation_deg <= bounds.high_deg)
    if bounds.azimuth_deg is not None:
        off = np.abs((sun.azimuth_deg - bounds.azimuth_deg + 180) % 360 - 180)
        good &= off <= bounds.azimuth_tolerance_deg
    return np.asarray(good, dtype=np.bool_)


def _fit_text(*, fits: bool, stretches: list[tuple[datetime, datetime]], sight: MeasuredSun, here: tzinfo) -> str:
    verdict = "fits the place and time" if fits else "does not fit the place and time"
    if not stretches:
        return f"A sun that stands {sight.words} {verdict}: it never does there that day."
    date = stretches[0][0].astimezone(here).date()
    times = " and ".join(
        f"{format_time(begin, here, date)} to {format_time(end, here, date)}" for begin, end in stretches
    )
    return f"A sun that stands {sight.words} {verdict}: it does on {date} from {times} by the local clock."


async def sun_anywhere(
    case: Case, sightings: Sequence[Sighting], country: str | None, *, draw: bool = True
) -> tuple[Output, Band]:
    """Everywhere that the sun is seen so in any window of each sighting; with ``draw`` on a map as well."""
    bands = [
        await asyncio.to_thread(find_band, windows, sight.bounds, country, sight.step_deg)
        for windows, sight in sightings
    ]
    band = bands[0] if len(bands) == 1 else await asyncio.to_thread(together, bands)
    every = [window for windows, _ in sightings for window in windows]
    windows, sight = sightings[0]
    exact = [(moment, point) for moment in _moments(windows) for point in _points(moment, sight)]
    exact = exact if len(sightings) == 1 else []
    names = await asyncio.gather(*(_name(case, point) for _, point in exact))
    points = [point for _, point in exact]
    picture = await asyncio.to_thread(draw_band, band, every, points, country) if draw else None
    output = Output(
        text=_format_sun(sightings, country, band, exact, names, drawn=picture is not None),
        data=_data(windows, sight, country, band, exact, names),
        images=(Photo(picture),) if picture else (),
        sources=("sun formula", "borders, GeoNames"),
    )
    return output, band


def _moments(windows: Sequence[Window]) -> list[datetime]:
    return list(dict.fromkeys(moment for window in windows for moment in (window.start, window.end)))


def _points(moment: datetime, sight: MeasuredSun) -> list[LatLon]:
    """Return the one or two places where height and direction both fit exactly."""
    if sight.elevation_deg is None or sight.azimuth_deg is None:
        return []
    return places_under_sun(moment, sight.elevation_deg, sight.azimuth_deg)


async def _name(case: Case, point: LatLon) -> str:
    return one_line((await case.atlas.reverse(point)).address) or "open sea"


def _format_sun(
    sightings: Sequence[Sighting],
    country: str | None,
    band: Band,
    exact: Sequence[tuple[datetime, LatLon]],
    names: Sequence[str],
    *,
    drawn: bool,
) -> str:
    within = f", in {country_name(country)} alone" if country else ""
    stands = "; and ".join(f"{sight.words} at {_when(windows)}" for windows, sight in sightings)
    lines = [f"Where the sun stands {stands}{within}:"]
    windows, sight = sightings[0]
    if len(sightings) == 1 and sight.elevation_deg is not None and not country:
        lines.append(_ring_text(windows[0], sight))
    for number, ((moment, point), name) in enumerate(zip(exact, names, strict=True), 1):
        lines.append(
            f"Exactly so at {format_moment(moment)}, point {number}: {point.lat:.2f}, {point.lon:.2f} ({name})."
        )
    people = sum(share.people for share in band.countries)
    for number, share in enumerate(band.countries[:_COUNTRIES_SHOWN], 1):
        live = f"{_format_share(share.people / people)} {_OF_TOWNS}" if share.people else "no larger town"
        lines.append(f"{number}. {share.name}: {live}; {_format_share(share.of_its_land)} of the country's land.")
    more = len(band.countries) - _COUNTRIES_SHOWN
    if more > 0:
        lines.append(f"... and {more} more countries.")
    if not band.countries and country:
        lines.append(f"Nowhere in {country_name(country)}.")
    elif not band.countries:
        several = "these shadows are not of one place, or a time is wrong"
        alone = "check the time, or widen the tolerance"
        lines.append(f"No land at all: {several if len(sightings) > 1 else alone}.")
    if drawn:
        crosses = ", a cross is an exact point" if exact else ""
        lines.append(f"The picture shows it in orange; a red dot has the sun in the zenith{crosses}.")
    lines.append("A lead, not a fix: slopes, a tilted camera and a clock that is off all move the band.")
    return "\n".join(lines)


def _when(windows: Sequence[Window]) -> str:
    if len(windows) == 1:
        return " to ".join(dict.fromkeys((format_moment(windows[0].start), format_moment(windows[0].end))))
    clocks = [clock(min(window.zones)) for window in windows if window.zones]
    offsets = [offset_name(window.start, zone) for window, zone in zip(windows, clocks, strict=True)]
    ends = dict.fromkeys((windows[0].start, windows[0].end))
    local = " to ".join(f"{moment.astimezone(clocks[0]):%Y-%m-%d %H:%M}" for moment in ends)
    return f"{local} by the local clocks ({', '.join(offsets)})"


def _format_share(share: float) -> str:
    return percent(share) if share >= 0.01 else "under 1 %"


def _ring_text(window: Window, sight: MeasuredSun) -> str:
    lat, lon = (float(part) for part in subsolar_points(window.start))
    bounds = sight.bounds
    near, far = (_km(zenith_distance_deg(height)) for height in (bounds.high_deg, bounds.low_deg))
    what = "The ring" if sight.azimuth_deg is None else "On the ring"
    moves = ", moving west by 15° an hour" if window.end > window.start else ""
    zenith = f"{lat:.1f}, {lon:.1f}, where the sun is in the zenith"
    return f"{what} between {near:.0f} and {far:.0f} km around {zenith}{moves}."


def _km(degrees: float) -> float:
    return EARTH_RADIUS_KM * math.radians(max(0.0, degrees))


def _data(
    windows: Sequence[Window],
    sight: MeasuredSun,
    country: str | None,
    band: Band,
    exact: Sequence[tuple[datetime, LatLon]],
    names: Sequence[str],
) -> dict[str, Any]:
    people = sum(share.people for share in band.countries)
    land_km2 = sum(share.land_km2 for share in band.countries)
    return {
        "sun_elevation_deg": sight.elevation_deg,
        "sun_azimuth_deg": sight.azimuth_deg,
        "tolerance_deg": sight.tolerance_deg,
        "direction_tolerance_deg": sight.azimuth_tolerance_deg,
        "country": country,
        "windows": [[encode_moment(window.start), encode_moment(window.end)] for window in windows],
        "rings": [
            _ring_data(moment, sight.elevation_deg, sight)
            for moment in _moments(windows)
            if sight.elevation_deg is not None and len(windows) == 1
        ],
        "points": [
            {
                "time": encode_moment(moment),
                **point_data(LatLon(round(point.lat, 3), round(point.lon, 3))),
                "place": name,
            }
            for (moment, point), name in zip(exact, names, strict=True)
        ],
        "land_km2": round(land_km2),
        "countries": [
            {
                "code": share.code,
                "name": share.name,
                "townspeople": round(share.people),
                "people_share": round(share.people / people, 4) if people else 0.0,
                "land_share": round(share.land_km2 / land_km2, 4) if land_km2 else 0.0,
                "of_its_land": round(share.of_its_land, 4),
            }
            for share in band.countries
        ],
    }


def _ring_data(moment: datetime, elevation_deg: float, sight: MeasuredSun) -> dict[str, Any]:
    """Return the lines of equal height at a moment, in (lon, lat): the height itself and the edges of the band."""
    lat, lon = (float(part) for part in subsolar_points(moment))
    bounds = sight.bounds
    return {
        "time": encode_moment(moment),
        "subsolar": {"lat": round(lat, 3), "lon": round(lon, 3)},
        "radius_km": round(_km(zenith_distance_deg(elevation_deg)), 1),
        "centre_line": _build_circle(moment, elevation_deg),
        "inner_edge": _build_circle(moment, bounds.high_deg),
        "outer_edge": _build_circle(moment, bounds.low_deg),
    }


def _build_circle(moment: datetime, elevation_deg: float) -> dict[str, Any]:
    lats, lons = equal_altitude_circle(moment, elevation_deg, step_deg=_RING_STEP_DEG)
    return {"type": "MultiLineString", "coordinates": _cut_at_antimeridian(lats, lons)}


def _cut_at_antimeridian(lats: FloatArray, lons: FloatArray) -> list[list[list[float]]]:
    """Split a line into pieces that don't cross the antimeridian."""
    breaks = np.flatnonzero(np.abs(np.diff(lons)) > 180) + 1
    pairs = np.round(np.column_stack([lons, lats]), 2)
    return [piece.tolist() for piece in np.split(pairs, breaks) if len(piece) > 1]


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
    viewer=Viewer(lambda given: f"works out where the sun stands{describe_point(given)}", icon="sun"),
    needs=("atlas",),
    aliases=("sun", "shadow_finder"),
    renames={
        "lat": "latitude",
        "lon": "longitude",
        "datetime": "time",
        "elevation": "sun_elevation",
        "azimuth": "sun_azimuth",
    },
    untold=(
        "time_end",
        "latitude",
        "longitude",
        "sun_elevation",
        "sun_azimuth",
        "utc_offset",
        "tolerance_deg",
        "direction_tolerance_deg",
    ),
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
    """Tell where the sun stands at a place and time; or, without a place, where on Earth shadows could be like that.

    Args:
        time: such as 2024-06-21T14:30Z; without Z or an offset, the local clock.
        time_end: the end of a time range that begins at time, at most a day later.
        place: a name or "lat,lon".
        latitude: latitude of the place, instead of its name.
        longitude: longitude of the place.
        shadow_ratio: length of a shadow divided by the height of what casts it.
        sun_elevation: height of the sun above the horizon in degrees, instead of a shadow's length.
        shadow_direction: bearing that shadows point to, 90 is east.
        sun_azimuth: compass bearing of the sun, instead of the shadow's.
        country: only there; its clock is used.
        utc_offset: hours ahead of UTC of the clock that the time was read from.
        tolerance_deg: how far off the sun's height may be, in degrees.
        direction_tolerance_deg: how far off the direction may be, in degrees.
    """
    sight = build_sight(
        shadow_ratio, sun_elevation, shadow_direction, sun_azimuth, tolerance_deg, direction_tolerance_deg
    )
    code = require_country_code(country) if country.strip() else None
    start, end = clock_times(time, time_end)
    if utc_offset is not None:
        start, end = (_subtract_offset(moment, utc_offset) for moment in (start, end))
    if place.strip() or latitude is not None or longitude is not None:
        name, point = await _resolve_place(case, place, latitude, longitude)
        return await describe_sun(name, point, (start, end), sight)
    if sight is None:
        raise BadInput(
            "say where (place, or latitude and longitude) to learn how the sun stands there, "
            "or how it stands (shadow_ratio, sun_elevation, shadow_direction) to learn where that may be"
        )
    windows = await asyncio.to_thread(build_windows, start, end, code)
    return (await sun_anywhere(case, [(windows, sight)], code))[0]


def clock_times(time: str, time_end: str) -> tuple[datetime, datetime]:
    """The times from and to which something was seen; the same one where no end is given."""
    start = read_clock(time, "time")
    return start, read_clock(time_end, "time_end") if time_end.strip() else start


async def describe_sun(name: str, point: LatLon, ends: tuple[datetime, datetime], sight: MeasuredSun | None) -> Output:
    """Return the sun at a place over a period; times without a zone are local to the place."""
    zone = await asyncio.to_thread(zone_near, point)
    local = any(moment.tzinfo is None for moment in ends)
    here = _clock(zone, needed=local)
    start, end = (moment if moment.tzinfo else moment.replace(tzinfo=here) for moment in ends)
    taken = f"The time was taken as the local clock, {zone}." if local else ""
    return await asyncio.to_thread(sun_here, name, point, Window(*_ends(start, end)), sight, here, taken)


async def _resolve_place(case: Case, place: str, latitude: float | None, longitude: float | None) -> tuple[str, LatLon]:
    if latitude is not None and longitude is not None:
        return one_line(place, 80), make_point(latitude, longitude)
    if not place.strip():
        raise BadInput("latitude and longitude are needed together")
    found = await find(case, place, "place")
    return found.name, found.point


def _subtract_offset(moment: datetime, utc_offset: float) -> datetime:
    """Convert local time to UTC, given the clock's offset in hours."""
    zone = make_zone(utc_offset)
    if moment.tzinfo is not None and moment.utcoffset() != zone.utcoffset(None):
        raise BadInput("the time names another offset from UTC than utc_offset; leave one of them out")
    return moment.replace(tzinfo=zone)


def _clock(zone: str, *, needed: bool) -> tzinfo:
    """Return the clock of a place; UTC if the system lacks time zones and the answer does not depend on them."""
    try:
        return clock(zone)
    except BadInput:
        if needed:
            raise
        return UTC


def build_windows(start: datetime, end: datetime, country: str | None) -> tuple[Window, ...]:
    """Return the time asked about; one window for each clock of the country if only the country fixes the time."""
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
