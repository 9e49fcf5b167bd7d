"""One or several shadows: the band on Earth where all of them can be, or whether and when they fit a place."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from geosleuth.geo import LatLon
from geosleuth.names import country_name, required_country_code
from geosleuth.photo import Photo
from geosleuth.support.errors import BadInput

from .calls import Case, Output
from .sun import IN_THE_PICTURE, sun_anywhere, sun_at, windows_of
from .sun_sight import (
    OF_TOWNS,
    Band,
    MeasuredSun,
    Window,
    draw_band,
    find_band,
    outline_of,
    read_clock,
    sight_of,
    together,
)
from .viewer import percent, point_data

MOST_SHADOWS = 12
_COUNTRIES_SHOWN = 12


class ShadowsFound(TypedDict):
    """What shadows tell: a band on Earth, or how they fit a place."""

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
    if not 1 <= len(question.shadows) <= MOST_SHADOWS:
        raise BadInput(f"give one to {MOST_SHADOWS} shadows")
    sights = [_sight(one, question) for one in question.shadows]
    if question.place is not None:
        return await _times(question, question.place, sights)
    known = [one for one in sights if one is not None]
    if len(known) < len(sights):
        raise BadInput("say how the sun stands: the length of a shadow, the sun's height, or a direction")
    return await _band(case, question, known)


def _sight(shadow: Shadow, question: ShadowQuestion) -> MeasuredSun | None:
    return sight_of(
        shadow.ratio, shadow.elevation_deg, shadow.direction_deg, shadow.azimuth_deg,
        question.tolerance_deg, question.direction_tolerance_deg,
    )  # fmt: skip


async def _times(question: ShadowQuestion, place: LatLon, sights: Sequence[MeasuredSun | None]) -> Output:
    found = []
    for shadow, sight in zip(question.shadows, sights, strict=True):
        start = read_clock(shadow.time, "time")
        end = read_clock(shadow.time_end, "time_end") if shadow.time_end.strip() else start
        found.append(await sun_at(question.name, place, (start, end), sight))
    fits = [one.data["fit"]["fits"] for one in found if "fit" in one.data]
    data = {
        "kind": "times",
        **point_data(place),
        "fits": all(fits) if fits else None,
        "shadows": [one.data for one in found],
        "area": None,
        "countries": [],
    }
    return Output("\n".join(one.text for one in found), data, sources=found[0].sources)


async def _band(case: Case, question: ShadowQuestion, sights: Sequence[MeasuredSun]) -> Output:
    code = required_country_code(question.country) if question.country.strip() else None
    bands: list[Band] = []
    words: list[str] = []
    windows: list[Window] = []
    for shadow, sight in zip(question.shadows, sights, strict=True):
        start = read_clock(shadow.time, "time")
        end = read_clock(shadow.time_end, "time_end") if shadow.time_end.strip() else start
        own = await asyncio.to_thread(windows_of, start, end, code)
        if len(sights) == 1:
            one = await sun_anywhere(case, own, sight, code, draw=question.picture)
            band = await asyncio.to_thread(find_band, own, sight.bounds, code, sight.step_deg)
            area = await asyncio.to_thread(outline_of, band.seen)
            return Output(one.text, _data(band, area), one.images, one.sources)
        bands.append(await asyncio.to_thread(find_band, own, sight.bounds, code, sight.step_deg))
        words.append(f"{sight.words} at {shadow.time}{f' to {shadow.time_end}' if shadow.time_end.strip() else ''}")
        windows += own
    band = await asyncio.to_thread(together, bands)
    area = await asyncio.to_thread(outline_of, band.seen)
    picture = await asyncio.to_thread(draw_band, band, windows, [], code) if question.picture else None
    within = f", in {country_name(code)} alone" if code else ""
    lines = [f"Where the sun stands {'; and '.join(words)}{within}:", *_countries(band)]
    if picture is not None:
        lines.append(f"{IN_THE_PICTURE}.")
    lines.append("A lead, not a fix: slopes, a tilted camera and a clock that is off all move the band.")
    images = (Photo(picture),) if picture else ()
    return Output("\n".join(lines), _data(band, area), images, ("sun formula", "borders, GeoNames"))


def _countries(band: Band) -> list[str]:
    if not band.countries:
        return ["No land at all: these shadows are not of one place, or a time is wrong."]
    people = sum(share.people for share in band.countries)
    lines = [
        f"{number}. {share.name}: "
        + (f"{percent(share.people / people)} {OF_TOWNS}" if share.people else "no larger town")
        for number, share in enumerate(band.countries[:_COUNTRIES_SHOWN], 1)
    ]
    more = len(band.countries) - _COUNTRIES_SHOWN
    return [*lines, f"... and {more} more countries."] if more > 0 else lines


def _data(band: Band, area: dict[str, Any] | None) -> dict[str, Any]:
    people = sum(share.people for share in band.countries)
    return {
        "kind": "band",
        "lat": None,
        "lon": None,
        "fits": None,
        "shadows": [],
        "area": area,
        "countries": [
            {
                "code": share.code,
                "name": share.name,
                "people_share": round(share.people / people, 4) if people else 0.0,
                "of_its_land": round(share.of_its_land, 4),
            }
            for share in band.countries
        ],
    }
