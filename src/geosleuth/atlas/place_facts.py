"""Facts about the land at a point: terrain, climate, vegetation, coast, settlements, languages and daylight."""

import datetime as dt
import shlex
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from math import cos, radians
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from geosleuth.geo import Box, FloatArray, LatLon, distance_km, distances_km, sun_day
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput

from .facts import country_facts, find_climate
from .facts.altitude import find_terrain

if TYPE_CHECKING:
    from .base import BasePlaces
    from .borders import Borders
    from .facts import CountryFacts
    from .gazetteers import Gazetteers
    from .protocol import Hit

# Natural Earth's file of oceans, seas, gulfs, bays and straits.
SEAS_FILE: Final = "ne_10m_geography_marine_polys.geojson"

_EXAMPLE_COUNTRY: Final = "norway"
_TOWN_POPULATIONS: Final = (0, 20_000, 300_000)  # the nearest town of at least each size is named
_FAR_TOWN_KM: Final = 250.0  # a city farther away says nothing about the land here
_SEARCH_RADIUS_KM: Final = {"range": 300, "peak": 60, "lake": 100, "river": 60, "island": 5, "park": 60, "sea": 200}
_MAX_LANGUAGES: Final = 4
_SNAP_KM: Final = 5.0
_COAST_MARGIN_KM: Final = 100.0
_ALPINE_BELOW_LAT: Final = 58.0
# Natural vegetation by Köppen class; the other D classes have boreal forest, the other C classes temperate forest.
_ZONES: Final = {
    "Af": "tropical rainforest", "Am": "monsoon forest", "As": "tropical savanna", "Aw": "tropical savanna",
    "BWh": "hot desert", "BWk": "cold desert", "BSh": "thorn scrub and dry grassland", "BSk": "steppe",
    "Csa": "Mediterranean scrub and woodland", "Csb": "Mediterranean woodland and conifers",
    "Cfa": "broadleaf forest of hot summers", "Cfb": "temperate broadleaf forest", "Cfc": "subpolar grassland",
    "Cwa": "subtropical monsoon forest", "Cwb": "highland forest and grassland", "Dfa": "mixed and deciduous forest",
    "Dfb": "mixed forest", "Dwa": "mixed and deciduous forest", "Dwb": "mixed forest", "ET": "tundra", "EF": "ice",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """Facts about a point; a field is None or empty if nothing is known.

    ``features`` and ``towns`` are texts for people, nearest first. ``missing`` says which data would add more, and how
    to get them.
    """

    point: LatLon
    country: str | None
    altitude_m: int | None
    terrain: str | None
    climate: str | None
    vegetation: str | None
    coast_km: float
    features: tuple[str, ...]
    towns: tuple[str, ...]
    driving_side: str | None
    languages: tuple[str, ...]
    daylight: tuple[str, ...]
    missing: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all facts as plain JSON values."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {name: list(value) for name, value in facts.items() if isinstance(value, tuple)}
        return {**facts, **lists, "point": asdict(self.point)}


def gather_facts(
    point: LatLon, day: dt.date | None, *, base: "BasePlaces", borders: "Borders", gazetteers: "Gazetteers"
) -> PlaceFacts:
    """Collect the facts about a point from the packaged tables and the added gazetteers."""
    region = borders.find_region(point, snap_km=_SNAP_KM)
    code = None if region is None else region.country
    country = None if code is None else country_facts(code)
    terrain, climate = find_terrain(point), find_climate(point)
    added = bool(gazetteers.store.names())
    return PlaceFacts(
        point=point,
        country=None
        if code is None
        else ", ".join(filter(None, (region.name if region else None, country_name(code)))),
        altitude_m=None if terrain is None else terrain.altitude_m,
        terrain=None
        if terrain is None
        else f"{terrain.roughness} on average: cells of 9 km around have {terrain.lowest_m} to {terrain.highest_m} m; "
        "single hills do not show",
        climate=None if climate is None else f"{climate.code}: {climate.description}",
        vegetation=None if climate is None else _vegetation(climate.code, point),
        coast_km=round(coast_km(point, borders), 1),
        features=_features(point, gazetteers),
        towns=_describe_towns(point, base),
        driving_side=None if country is None else country.driving_side,
        languages=() if country is None else _languages(country),
        daylight=_daylight(point, day),
        missing=None if added else no_gazetteer(code),
    )


def no_gazetteer(code: str | None = None) -> str:
    """Return a text that says what is unknown without a gazetteer, and the commands to get one.

    Args:
        code: the country for the command; without one, it shows an example.
    """
    name = _EXAMPLE_COUNTRY if code is None else country_name(code).lower()
    of = "those of a country, such as Norway" if code is None else f"those of {country_name(code)}"
    return (
        "no gazetteer is installed, so countries and settlements are known, but no seas, lakes, rivers or ranges. "
        f"Fetch {of} with: geosleuth atlas get {shlex.quote(name)} --geonames. For seas, download "
        f"geojson/{SEAS_FILE} from github.com/nvkelso/natural-earth-vector and run: geosleuth atlas add {SEAS_FILE}"
    )


def read_day(text: str) -> dt.date | None:
    """Parse a date written as YYYY-MM-DD; None for an empty text.

    Raises:
        BadInput: the text is not a date.
    """
    if not text.strip():
        return None
    try:
        return dt.date.fromisoformat(text.strip()[:10])
    except ValueError:
        raise BadInput(f"{text[:40]!r} is not a date; write it as 2026-06-21") from None


def coast_km(point: LatLon, borders: "Borders") -> float:
    """Return the distance to the nearest coast in kilometres, from land or from the sea."""
    starts, ends = _coast(borders)
    away_km = distances_km(point.lat, point.lon, starts[:, 1], starts[:, 0])
    near = np.flatnonzero(away_km <= away_km.min() + _COAST_MARGIN_KM)
    # Project the nearby segments to a local plane, scaling longitudes; the closest ones are the least distorted.
    scale = np.array([max(cos(radians(point.lat)), 1e-6), 1.0])
    here = np.array([point.lon, point.lat])
    begin, step = (starts[near] - here) * scale, (ends[near] - starts[near]) * scale
    length = np.maximum((step**2).sum(axis=1), 1e-18)
    share = np.clip(-(begin * step).sum(axis=1) / length, 0.0, 1.0)
    closest = begin + step * share[:, None]
    x, y = closest[int((closest**2).sum(axis=1).argmin())] / scale + here
    return min(float(away_km.min()), distance_km(point, LatLon(min(90.0, max(-90.0, y)), (x + 180) % 360 - 180)))


@lru_cache(maxsize=1)
def _coast(borders: "Borders") -> tuple[FloatArray, FloatArray]:
    """Return both ends (longitude, latitude) of every segment of the world's coastlines."""
    import shapely

    (land,) = borders.find_shapes(Box(-90, -180, 90, 180), level="land")
    rings = shapely.get_rings(shapely.get_parts(land.geometry))
    corners, ring = shapely.get_coordinates(rings, return_index=True)
    # Land is cut at the antimeridian; those edges are not coasts.
    cut = (np.abs(corners[:-1, 0]) >= 179.99) & (np.abs(corners[1:, 0]) >= 179.99)
    segments = np.flatnonzero((ring[1:] == ring[:-1]) & ~cut)
    return corners[segments], corners[segments + 1]


def _languages(country: "CountryFacts") -> tuple[str, ...]:
    named = dict.fromkeys(language.name for language in country.languages if language.name != language.code)
    return tuple(named)[:_MAX_LANGUAGES]


def _vegetation(code: str, point: LatLon) -> str:
    if code == "ET" and abs(point.lat) < _ALPINE_BELOW_LAT:
        return "alpine meadow and bare rock"
    return _ZONES.get(code) or ("boreal conifer forest" if code[0] == "D" else "temperate forest")


def _features(point: LatLon, gazetteers: "Gazetteers") -> tuple[str, ...]:
    found: dict[str, Hit] = {}
    for kind, radius_km in _SEARCH_RADIUS_KM.items():
        for hit in gazetteers.nearby(point, 1000 * radius_km, category=kind, limit=1):
            found.setdefault(hit.place.id, hit)
    return tuple(_feature(hit) for hit in sorted(found.values(), key=lambda hit: hit.distance_km or 0.0))


def _feature(hit: "Hit") -> str:
    elevation_m = hit.place.details.get("elevation")
    kind = f"{hit.place.kind}, {elevation_m} m" if elevation_m else hit.place.kind
    return f"{hit.place.name} ({kind}), {_away(hit.distance_km or 0.0)}"


def _away(away_km: float) -> str:
    return "here" if away_km < 0.5 else f"{away_km:.0f} km"


def _describe_towns(point: LatLon, base: "BasePlaces") -> tuple[str, ...]:
    hits = [hit for least in _TOWN_POPULATIONS if (hit := base.nearest_city(point, least)) is not None]
    return tuple(
        f"{hit.place.name}{_people(hit)}, {_away(hit.distance_km or 0.0)}"
        for at, hit in enumerate({hit.place.id: hit for hit in hits}.values())
        if not at or (hit.distance_km or 0.0) <= _FAR_TOWN_KM
    )


def _people(hit: "Hit") -> str:
    people = int(hit.place.details.get("population", "0"))
    return f" ({people:,} people)" if people else ""


def _daylight(point: LatLon, day: dt.date | None) -> tuple[str, ...]:
    days = [day] if day else [dt.date(2026, 6, 21), dt.date(2026, 12, 21)]
    return tuple(
        f"{item:%Y-%m-%d} {_hours(point, item)}" if day else f"{item:%d %B} {_hours(point, item)}" for item in days
    )


def _hours(point: LatLon, day: dt.date) -> str:
    sun = sun_day(point, day)
    high = f"the noon sun {sun.noon_elevation_deg:.0f}° high"
    if sun.sunrise and sun.sunset:
        return f"{(sun.sunset - sun.sunrise).total_seconds() / 3600:.1f} h, {high}"
    return f"{sun.kind}, {high}"
