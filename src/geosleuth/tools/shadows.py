"""One or several shadows: the band on Earth where all of them can be, or whether and when they fit a place."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from geosleuth.geo import LatLon
from geosleuth.names import require_country_code
from geosleuth.support.errors import BadInput

from .calls import Case, Output
from .sun import build_windows, clock_times, describe_sun, sun_anywhere
from .sun_sight import MeasuredSun, build_outline, build_sight
from .viewer import point_data

MAX_SHADOWS = 12


class ShadowsFound(TypedDict):
    """Result of shadows: a band on Earth, or how they fit a place."""

    kind: Literal["band", "times"]
    lat: float | None
    lon: float | None
    fits: bool | None
    shadows: list[dict[str, Any]]
    area: dict[str, Any] | None
    countries: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Shadow:
    """A shadow, or the sun itself, and when it was seen: a time, or from a time to another.

    ``ratio`` is the length of the shadow divided by the height of what casts it; ``elevation_deg`` the height of the
    sun instead. ``direction_deg`` is the bearing that the shadow points to; ``azimuth_deg`` that of the sun instead.
    """

    time: str
    time_end: str = ""
    ratio: float | None = None
    elevation_deg: float | None = None
    direction_deg: float | None = None
    azimuth_deg: float | None = None


@dataclass(frozen=True, slots=True)
class ShadowQuestion:
    """Shadows of one place, and the place where it is known; how far off heights and directions may be."""

    shadows: Sequence[Shadow]
    place: LatLon | None = None
    name: str = ""
    country: str = ""
    tolerance_deg: float = 2.0
    direction_tolerance_deg: float = 10.0
    picture: bool = True


async def read_shadows(case: Case, question: ShadowQuestion) -> Output:
    """Return where shadows can be, or with a place whether and when they fit it, as text and data.

    The data's ``kind`` is "band", with an ``area`` in GeoJSON, or "times".

    Raises:
        BadInput: values that can't be, times without a zone, or too many shadows.
    """
    if not 1 <= len(question.shadows) <= MAX_SHADOWS:
        raise BadInput(f"give one to {MAX_SHADOWS} shadows")
    sights = [_sight(shadow, question) for shadow in question.shadows]
    if question.place is not None:
        return await _times(question, question.place, sights)
    known = [sight for sight in sights if sight is not None]
    if len(known) < len(sights):
        raise BadInput("say how the sun stands: the length of a shadow, the sun's height, or a direction")
    return await _band(case, question, known)


def _sight(shadow: Shadow, question: ShadowQuestion) -> MeasuredSun | None:
    return build_sight(
        shadow.ratio, shadow.elevation_deg, shadow.direction_deg, shadow.azimuth_deg,
        question.tolerance_deg, question.direction_tolerance_deg,
    )  # fmt: skip


async def _times(question: ShadowQuestion, place: LatLon, sights: Sequence[MeasuredSun | None]) -> Output:
    found = [
        await describe_sun(question.name, place, clock_times(shadow.time, shadow.time_end), sight)
        for shadow, sight in zip(question.shadows, sights, strict=True)
    ]
    fits = [item.data["fit"]["fits"] for item in found if "fit" in item.data]
    data = {
        "kind": "times",
        **point_data(place),
        "fits": all(fits) if fits else None,
        "shadows": [item.data for item in found],
        "area": None,
        "countries": [],
    }
    return Output("\n".join(item.text for item in found), data, sources=found[0].sources)


async def _band(case: Case, question: ShadowQuestion, sights: Sequence[MeasuredSun]) -> Output:
    code = require_country_code(question.country) if question.country.strip() else None
    sightings = [
        (await asyncio.to_thread(build_windows, *clock_times(shadow.time, shadow.time_end), code), sight)
        for shadow, sight in zip(question.shadows, sights, strict=True)
    ]
    found, band = await sun_anywhere(case, sightings, code, draw=question.picture)
    data = {
        "kind": "band",
        "lat": None,
        "lon": None,
        "fits": None,
        "shadows": [],
        "area": await asyncio.to_thread(build_outline, band.seen),
        "countries": found.data["countries"],
    }
    return Output(found.text, data, found.images, found.sources)
