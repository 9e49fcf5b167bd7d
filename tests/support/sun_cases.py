"""Shadows of made-up photos by pvlib, measured as people measure them, and what the bands and times say of them."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import asin, degrees, radians, tan

import numpy as np
import numpy.typing as npt

from geosleuth.geo import LatLon
from geosleuth.tools.sun import build_windows, describe_sun
from geosleuth.tools.sun_sight import CELLS_PER_DEGREE, MeasuredSun, build_sight, find_band

ANGLE_OFF_DEG, LENGTH_OFF = 3.0, 0.05
"""How far off a bearing and a length are read, at most."""

LOWEST_DEG, HIGHEST_DEG = 8.0, 80.0
"""Below, shadows are too long to be measured; above, too short."""

_TOLERANCES = 2.0, 10.0
"""Of heights and directions, as ``geosleuth sun`` has them."""


@dataclass(frozen=True)
class SunCase:
    """A place, a time, and what somebody reads off the photo."""

    place: LatLon
    moment: datetime
    ratio: float
    direction_deg: float

    @property
    def sight(self) -> MeasuredSun:
        """What it says about the sun."""
        found = build_sight(self.ratio, None, self.direction_deg, None, *_TOLERANCES)
        assert found is not None
        return found


def by_pvlib(moments: npt.NDArray[np.float64], place: LatLon) -> tuple[npt.NDArray[np.float64], ...]:
    """Azimuth and apparent elevation at Unix times."""
    from pvlib import spa

    found = spa.solar_position_numpy(moments, place.lat, place.lon, 0, 1010.0, 10.0, 67.0, 0.5667, 1)
    return np.asarray(found[4]), np.asarray(found[2])


def sun_cases(count: int, seed: int = 1) -> list[SunCase]:
    """So many cases all over the Earth and the year, with the sun well up."""
    rng = np.random.default_rng(seed)
    found: list[SunCase] = []
    while len(found) < count:
        place = LatLon(degrees(asin(rng.uniform(-0.94, 0.94))), rng.uniform(-180, 180))
        moment = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=int(rng.integers(0, 6 * 365 * 86_400)))
        azimuth, elevation = (float(one[0]) for one in by_pvlib(np.array([moment.timestamp()]), place))
        if not LOWEST_DEG < elevation < HIGHEST_DEG:
            continue
        ratio = (1 + rng.uniform(-LENGTH_OFF, LENGTH_OFF)) / tan(radians(elevation))
        direction = (azimuth + 180 + rng.uniform(-ANGLE_OFF_DEG, ANGLE_OFF_DEG)) % 360
        found.append(SunCase(place, moment, ratio, direction))
    return found


def band_holds(case: SunCase) -> bool:
    """Whether the band holds the true place."""
    sight = case.sight
    band = find_band(build_windows(case.moment, case.moment, None), sight.bounds, None, sight.step_deg)
    row, column = int((90 - case.place.lat) * CELLS_PER_DEGREE), int((case.place.lon + 180) * CELLS_PER_DEGREE)
    return bool(band.seen[row, column])


def times_off_minutes(case: SunCase) -> float:
    """How far the ends of the times that fit the place are from those that pvlib finds, at most; infinite if others."""
    data = asyncio.run(describe_sun("", case.place, (case.moment, case.moment), case.sight)).data
    stretches = [[datetime.fromisoformat(one).timestamp() for one in pair] for pair in data["fit"]["that_day"]]
    bounds, seconds = case.sight.bounds, 10
    noon = datetime.fromisoformat(data["day"]["noon"]).timestamp()
    moments = noon + np.arange(-43_200, 43_201, seconds, dtype=np.float64)
    azimuth, elevation = by_pvlib(moments, case.place)
    good = (elevation >= bounds.low_deg) & (elevation <= bounds.high_deg)
    assert bounds.azimuth_deg is not None
    good &= np.abs((azimuth - bounds.azimuth_deg + 180) % 360 - 180) <= bounds.azimuth_tolerance_deg
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]]))).reshape(-1, 2)
    # What lasts a minute or two, one of them may miss: ours looks once a minute.
    theirs = [(moments[begin], moments[end - 1]) for begin, end in edges if (end - begin) * seconds > 120]
    ours = [(begin, end) for begin, end in stretches if end - begin > 60]
    if not data["fit"]["fits"] or len(ours) != len(theirs):
        return float("inf")
    ends = [pair for one, two in zip(ours, theirs, strict=True) for pair in zip(one, two, strict=True)]
    return max((abs(a - b) / 60 for a, b in ends), default=0.0)
