"""The light of a scene: a moment of the day there, where the sun stands then, the season and the weather."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np

from geosleuth.geo import LatLon, sun_positions
from geosleuth.world.model import Sky

Weather = Literal["clear", "cloudy", "overcast", "rain", "snow", "fog"]
Season = Literal["spring", "summer", "autumn", "winter", "wet", "dry"]

_FIRST_DAY = datetime(2012, 1, 1, tzinfo=UTC)
_DAYS = 12 * 365
_TRIES = 12
_LEAST_ELEVATION_DEG = 6.0
"""Lower, and streets lie in the shade; pictures are taken by day."""
_TROPICS_DEG, _COLD_DEG = 23.5, 46.0

_MIXES: Mapping[str, Mapping[Weather, float]] = {
    "dry": {"clear": 0.80, "cloudy": 0.16, "overcast": 0.04},
    "fair": {"clear": 0.52, "cloudy": 0.30, "overcast": 0.13, "rain": 0.05},
    "mixed": {"clear": 0.30, "cloudy": 0.34, "overcast": 0.22, "rain": 0.12, "fog": 0.02},
    "grey": {"clear": 0.22, "cloudy": 0.26, "overcast": 0.32, "rain": 0.15, "fog": 0.05},
    "cold": {"clear": 0.22, "cloudy": 0.25, "overcast": 0.30, "rain": 0.10, "snow": 0.08, "fog": 0.05},
    "wet": {"clear": 0.20, "cloudy": 0.36, "overcast": 0.20, "rain": 0.24},
    "snowy": {"clear": 0.34, "cloudy": 0.22, "overcast": 0.24, "snow": 0.16, "fog": 0.04},
}
"""How often each weather is met, in round numbers that were set by hand: they make scenes varied, no statistics."""


def sky_at(point: LatLon, climate: str, chance: random.Random) -> Sky:
    """A moment by day, with what the sky is like then."""
    moments = [_moment(point, chance) for _ in range(_TRIES)]
    seen = sun_positions(moments, point.lat, point.lon)
    elevations = np.round(seen.apparent_elevation_deg, 6)
    high = np.flatnonzero(elevations >= _LEAST_ELEVATION_DEG)
    one = int(high[0]) if high.size else int(elevations.argmax())
    at = moments[one]
    season = season_of(point.lat, climate, at)
    mix = _MIXES[_mix_of(point.lat, climate, season)]
    (weather,) = chance.choices(list(mix), list(mix.values()))
    azimuth = round(round(float(seen.azimuth_deg[one]), 6), 2) % 360
    return Sky(at, azimuth, round(float(elevations[one]), 2), weather, season)


def season_of(lat: float, climate: str, at: datetime) -> Season:
    """The season there: wet and dry ones in the tropics, the four elsewhere, by hemisphere."""
    month = at.month if lat >= 0 else (at.month + 5) % 12 + 1
    is_tropical = abs(lat) < _TROPICS_DEG
    if climate[:1] == "B" and is_tropical:
        return "dry"
    if climate[:1] == "A" or (climate[:1] == "C" and is_tropical):
        if climate[1:2] == "f":
            return "wet"
        is_summer = 5 <= month <= 10
        return "wet" if is_summer == (climate[1:2] != "s") else "dry"
    quarters: tuple[Season, ...] = ("winter", "spring", "summer", "autumn")
    return quarters[month % 12 // 3]


def is_snowed_in(sky: Sky, climate: str) -> bool:
    """Whether snow lies on the ground."""
    return sky.weather == "snow" or (sky.season == "winter" and climate[:2] in ("Df", "Dw", "Ds", "ET", "EF"))


def _moment(point: LatLon, chance: random.Random) -> datetime:
    """Some day, some time between early morning and evening by the sun's own clock, to the minute."""
    day, minute = chance.randrange(_DAYS), chance.randrange(6 * 60, 19 * 60)
    return _FIRST_DAY + timedelta(days=day, minutes=minute - round(point.lon * 4))


def _mix_of(lat: float, climate: str, season: Season) -> str:
    group = climate[:1]
    if group == "B":
        return "dry"
    if season in ("wet", "dry"):
        return "wet" if season == "wet" else "fair"
    if climate[1:2] == "s":
        return "mixed" if season == "winter" else "fair"
    if climate[1:2] == "w" and season == "winter":
        return "fair" if group == "C" else "snowy"
    if season == "winter":
        return "snowy" if group in ("D", "E") else "cold" if abs(lat) >= _COLD_DEG else "grey"
    return "fair" if season == "summer" else "mixed"
