"""What the sun does at a place: its position, shadows, the course of the day, and whether a shadow fits."""

from datetime import datetime, timedelta, tzinfo
from typing import Any

import numpy as np
import numpy.typing as npt

from geosleuth.geo import LatLon, SunDay, shadow_of_elevation, sun_day, sun_positions

from .clocks import offset_name, shown, shown_time, written
from .model import Output
from .sun_land import Window
from .sun_sight import Sight, compass
from .wording import at, point_data

_LONGEST_SHADOW = 60.0


def sun_here(name: str, place: LatLon, window: Window, sight: Sight | None, here: tzinfo, note: str = "") -> Output:
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
    where = f"{name} ({at(place)})" if name else at(place)
    lines = [f"{number}. {_moment_text(moment, place, here)}" for number, moment in enumerate(moments, 1)]
    lines.append(f"{len(lines) + 1}. {_day_text(day, here)}")
    data: dict[str, Any] = {
        "name": name or None,
        **point_data(place),
        "clock": str(here),
        "moments": [_moment_data(moment, place) for moment in moments],
        "day": {
            "kind": day.kind,
            "sunrise": written(day.sunrise),
            "noon": written(day.noon),
            "sunset": written(day.sunset),
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
            "that_day": [[written(begin), written(end)] for begin, end in stretches],
        }
    ending = f"Level ground and a level horizon are assumed. {note}".rstrip()
    return Output("\n".join([f"The sun at {where}:", *lines, ending]), data, sources=("sun formula",))


def _moment_text(moment: datetime, place: LatLon, here: tzinfo) -> str:
    sun = sun_positions(moment, place.lat, place.lon)
    azimuth, elevation = float(sun.azimuth_deg), float(sun.apparent_elevation_deg)
    clocks = " = ".join(dict.fromkeys((shown(moment), shown(moment, here))))
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
        "time": written(moment),
        "azimuth_deg": round(azimuth, 3),
        "elevation_deg": round(elevation, 3),
        "elevation_without_air_deg": round(float(sun.elevation_deg), 3),
        "shadow_ratio": round(shadow_of_elevation(elevation), 4) if up else None,
        "shadow_direction_deg": round((azimuth + 180) % 360, 3) if up else None,
    }


def _day_text(day: SunDay, here: tzinfo) -> str:
    date = day.noon.astimezone(here).date()

    def local(moment: datetime) -> str:
        return shown_time(moment, here, date)

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


def _fit(place: LatLon, window: Window, sight: Sight, day: SunDay) -> tuple[bool, list[tuple[datetime, datetime]]]:
    """Whether the sun stands so at some time of the window, and when it does around that day's noon."""
    minutes = np.arange(-720, 721)
    noon = Window(day.noon, day.noon).times(1.0)[0]
    good = _stands_so(noon + minutes.astype("timedelta64[m]"), place, sight)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]])))
    stretches = [
        (day.noon + timedelta(minutes=int(minutes[begin])), day.noon + timedelta(minutes=int(minutes[end - 1])))
        for begin, end in edges.reshape(-1, 2)
    ]
    return bool(_stands_so(window.times(0.25), place, sight).any()), stretches


def _stands_so(times: npt.NDArray[np.datetime64], place: LatLon, sight: Sight) -> npt.NDArray[np.bool_]:
    sun, bounds = sun_positions(times, place.lat, place.lon), sight.bounds
    good = (sun.apparent_elevation_deg >= bounds.low_deg) & (sun.apparent_elevation_deg <= bounds.high_deg)
    if bounds.azimuth_deg is not None:
        off = np.abs((sun.azimuth_deg - bounds.azimuth_deg + 180) % 360 - 180)
        good &= off <= bounds.azimuth_tolerance_deg
    return np.asarray(good, dtype=np.bool_)


def _fit_text(*, fits: bool, stretches: list[tuple[datetime, datetime]], sight: Sight, here: tzinfo) -> str:
    verdict = "fits the place and time" if fits else "does not fit the place and time"
    if not stretches:
        return f"A sun that stands {sight.words} {verdict}: it never does there that day."
    date = stretches[0][0].astimezone(here).date()
    times = " and ".join(
        f"{shown_time(begin, here, date)} to {shown_time(end, here, date)}" for begin, end in stretches
    )
    return f"A sun that stands {sight.words} {verdict}: it does on {date} from {times} by the local clock."
