"""Where on Earth the sun could stand so: the band, the places where a direction is known too, the countries."""

import asyncio
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from geosleuth.geo import (
    EARTH_RADIUS_KM,
    FloatArray,
    LatLon,
    equal_altitude_circle,
    places_under_sun,
    subsolar_points,
    zenith_distance_deg,
)
from geosleuth.names import country_name
from geosleuth.photo import Photo

from .clocks import clock, offset_name, shown, written
from .model import Case, Output
from .sun_land import Band, Window, draw_band, find_band
from .sun_sight import Sight
from .wording import one_line, percent, point_data

_COUNTRIES_SHOWN = 12
_RING_STEP_DEG = 2.0


async def sun_anywhere(case: Case, windows: Sequence[Window], sight: Sight, country: str | None) -> Output:
    """Everywhere that the sun is seen so in any of the windows."""
    band = await asyncio.to_thread(find_band, windows, sight.bounds, country, sight.step_deg)
    exact = [(moment, point) for moment in _moments(windows) for point in _points(moment, sight)]
    names = await asyncio.gather(*(_name(case, point) for _, point in exact))
    picture = await asyncio.to_thread(draw_band, band, windows, [point for _, point in exact], country)
    return Output(
        text=_text(windows, sight, country, band, exact, names),
        data=_data(windows, sight, country, band, exact, names),
        images=(Photo(picture),) if picture else (),
        sources=("sun formula", "borders, GeoNames"),
    )


def _moments(windows: Sequence[Window]) -> list[datetime]:
    return list(dict.fromkeys(moment for window in windows for moment in (window.start, window.end)))


def _points(moment: datetime, sight: Sight) -> list[LatLon]:
    """The one or two places where height and direction both fit exactly."""
    if sight.elevation_deg is None or sight.azimuth_deg is None:
        return []
    return places_under_sun(moment, sight.elevation_deg, sight.azimuth_deg)


async def _name(case: Case, point: LatLon) -> str:
    return one_line((await case.atlas.reverse(point)).address) or "open sea"


def _text(
    windows: Sequence[Window],
    sight: Sight,
    country: str | None,
    band: Band,
    exact: Sequence[tuple[datetime, LatLon]],
    names: Sequence[str],
) -> str:
    within = f", in {country_name(country)} alone" if country else ""
    when = _when(windows)
    lines = [f"Where the sun stands {sight.words} at {when}{within}:"]
    if sight.elevation_deg is not None and not country:
        lines.append(_ring_text(windows[0], sight))
    for number, ((moment, point), name) in enumerate(zip(exact, names, strict=True), 1):
        lines.append(f"Exactly so at {shown(moment)}, point {number}: {point.lat:.2f}, {point.lon:.2f} ({name}).")
    people = sum(share.people for share in band.countries)
    for number, share in enumerate(band.countries[:_COUNTRIES_SHOWN], 1):
        live = f"{_part(share.people / people)} of the townspeople there" if share.people else "no larger town"
        lines.append(f"{number}. {share.name}: {live}; {_part(share.of_its_land)} of the country's land.")
    more = len(band.countries) - _COUNTRIES_SHOWN
    if more > 0:
        lines.append(f"... and {more} more countries.")
    if not band.countries:
        lines.append(
            f"Nowhere in {country_name(country)}."
            if country
            else "No land at all: check the time, or widen the tolerance."
        )
    if band.seen.any():
        lines.append("The picture shows it in orange; a red dot has the sun in the zenith, a cross is an exact point.")
    lines.append("A lead, not a fix: slopes, a tilted camera and a clock that is off all move the band.")
    return "\n".join(lines)


def _when(windows: Sequence[Window]) -> str:
    if len(windows) == 1:
        return " to ".join(dict.fromkeys((shown(windows[0].start), shown(windows[0].end))))
    clocks = [clock(min(window.zones)) for window in windows if window.zones]
    offsets = [offset_name(window.start, zone) for window, zone in zip(windows, clocks, strict=True)]
    ends = dict.fromkeys((windows[0].start, windows[0].end))
    local = " to ".join(f"{moment.astimezone(clocks[0]):%Y-%m-%d %H:%M}" for moment in ends)
    return f"{local} by the local clocks ({', '.join(offsets)})"


def _part(share: float) -> str:
    return percent(share) if share >= 0.01 else "under 1 %"


def _ring_text(window: Window, sight: Sight) -> str:
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
    sight: Sight,
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
        "windows": [[written(window.start), written(window.end)] for window in windows],
        "rings": [
            _ring_data(moment, sight.elevation_deg, sight)
            for moment in _moments(windows)
            if sight.elevation_deg is not None and len(windows) == 1
        ],
        "points": [
            {"time": written(moment), **point_data(LatLon(round(point.lat, 3), round(point.lon, 3))), "place": name}
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


def _ring_data(moment: datetime, elevation_deg: float, sight: Sight) -> dict[str, Any]:
    """The lines of equal height at a moment: the height itself, and the edges of the band, in (lon, lat)."""
    lat, lon = (float(part) for part in subsolar_points(moment))
    bounds = sight.bounds
    return {
        "time": written(moment),
        "subsolar": {"lat": round(lat, 3), "lon": round(lon, 3)},
        "radius_km": round(_km(zenith_distance_deg(elevation_deg)), 1),
        "centre_line": _lines(moment, elevation_deg),
        "inner_edge": _lines(moment, bounds.high_deg),
        "outer_edge": _lines(moment, bounds.low_deg),
    }


def _lines(moment: datetime, elevation_deg: float) -> dict[str, Any]:
    lats, lons = equal_altitude_circle(moment, elevation_deg, step_deg=_RING_STEP_DEG)
    return {"type": "MultiLineString", "coordinates": _cut_at_antimeridian(lats, lons)}


def _cut_at_antimeridian(lats: FloatArray, lons: FloatArray) -> list[list[list[float]]]:
    """A line in pieces that don't leap across the map."""
    breaks = np.flatnonzero(np.abs(np.diff(lons)) > 180) + 1
    pairs = np.round(np.column_stack([lons, lats]), 2)
    return [piece.tolist() for piece in np.split(pairs, breaks) if len(piece) > 1]
