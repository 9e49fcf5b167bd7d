"""Places that the atlas's tools found, read back from the JSON that they answer with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, hypot, isfinite, pi, radians, sqrt
from typing import Any, Literal

from geosleuth.atlas.facts import all_countries
from geosleuth.geo import LatLon, is_valid

from .clue import ClueKind
from .country_prior import TOWN_PEOPLE_PER_KM2
from .heartlands import find_country

Sort = Literal["country", "region", "town", "street", "feature"]
"""What a place is on the ground: the coarser ones hold others, streets are lines, features are found at a point."""

MAX_RESULTS = 50
KM_A_DEGREE = 111.2

_MIN_RADIUS_KM = 0.1
_TOWN_REACH = 1.3  # the atlas's disc is a town's dense part; its signs stand a little farther out
_MIN_TOWN_KM = 1.5
_REGIONS_A_COUNTRY = 16
_COUNTY_PEOPLE = 20_000.0  # a name that it shares with its town is the town's first
_LANDMARK_KM = {"airport": 2.5, "port": 2.0, "station": 0.3, "peak": 2.0, "volcano": 5.0, "nature": 5.0}
_OTHER_LANDMARK_KM = 0.5

# People and radius of a settlement of OpenStreetMap by its kind, where it says no more itself.
_SETTLEMENTS: Mapping[str, tuple[float, float]] = {
    "city": (200_000, 6.0), "town": (20_000, 2.5), "borough": (50_000, 3.0), "suburb": (10_000, 1.5),
    "quarter": (5_000, 1.0), "village": (1_500, 1.0), "island": (1_000, 3.0), "neighbourhood": (1_500, 0.7),
    "hamlet": (150, 0.5), "isolated_dwelling": (10, 0.3), "locality": (50, 0.5), "islet": (10, 0.5),
    "square": (500, 0.15), "state": (2_000_000, 100.0), "region": (1_000_000, 60.0), "county": (200_000, 25.0),
    "municipality": (20_000, 6.0), "district": (50_000, 8.0), "province": (800_000, 50.0),
}  # fmt: skip
_STOPS = frozenset({"bus_stop", "platform", "tram_stop", "station", "halt", "stop_position", "subway_entrance",
    "bus_station", "ferry_terminal", "stop_area"})  # fmt: skip
_BESIDE_THE_ROAD = frozenset({"traffic_signals", "milestone", "speed_camera", "elevator", "crossing", "services",
    "rest_area"})  # fmt: skip
_SIGHTSEEING = frozenset({"attraction", "museum", "viewpoint", "artwork", "gallery", "zoo", "theme_park", "aquarium"})

_OF_KEYS: Mapping[str, ClueKind] = {
    "railway": "station", "public_transport": "station", "aeroway": "airport", "aerialway": "station",
    "historic": "landmark", "natural": "landmark", "waterway": "landmark", "leisure": "landmark",
    "man_made": "landmark",
}  # fmt: skip
_OF_OPENSTREETMAP: Mapping[str, Sort] = {
    "square": "feature", "country": "country", "state": "region", "province": "region", "region": "region",
}  # fmt: skip
_OF_THE_WORLD: Mapping[str, tuple[Sort, ClueKind]] = {
    "country": ("country", "place"),
    "region": ("region", "place"),
    "county": ("region", "place"),
    "city": ("town", "place"),
    "street": ("street", "street"),
    "crossing": ("feature", "street"),
    "address": ("feature", "street"),
    "airport": ("feature", "airport"),
    "station": ("feature", "station"),
    "postcode": ("feature", "postcode"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One place of an answer. ``added`` is whether it comes from a region that the user added to the atlas."""

    name: str
    matched: str
    match: str
    score: float
    sort: Sort
    clue_kind: ClueKind
    point: LatLon
    radius_km: float
    people: float
    country: str | None
    place_id: str | None
    address: str | None
    source: str | None
    added: bool


def read_results(data: Any) -> list[Mapping[str, Any]]:
    """The rows of an answer; none where it has no such list."""
    rows = data.get("results") if isinstance(data, Mapping) else None
    return [row for row in rows[:MAX_RESULTS] if isinstance(row, Mapping)] if isinstance(rows, list) else []


def read_places(rows: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return the rows that are places on Earth, in their order."""
    return [place for place in map(read_place, rows) if place is not None]


def read_place(row: Mapping[str, Any]) -> Found | None:
    """One row as a place; None where it has no position or no name, and for routes, which are nowhere in particular."""
    point, name, kind = read_point(row), _read_text(row.get("name")), _read_text(row.get("kind")) or ""
    if point is None or not name or kind.startswith("route="):
        return None
    sort, clue_kind = classify_kind(kind)
    place_id = _read_text(row.get("id"))
    country = _read_text(row.get("country"))
    if country is None and sort in ("country", "region"):
        country = find_country(point)
    half_km = _half_diagonal_km(row.get("extent"), point)
    people, radius_km = _size(kind, sort, half_km, country)
    return Found(
        name=name,
        matched=_read_text(row.get("matched")) or name,
        match=_read_text(row.get("match")) or "fuzzy",
        score=_read_number(row.get("score")) or 0.0,
        sort=sort,
        clue_kind=clue_kind,
        point=point,
        radius_km=radius_km,
        people=people,
        country=country,
        place_id=place_id,
        address=_read_text(row.get("address")),
        source=_read_text(row.get("source")),
        added=is_added(place_id),
    )


def is_added(place_id: str | None) -> bool:
    """Return whether a place is from a region that the user added."""
    return place_id is not None and place_id.startswith(("osm:", "overture:"))


def read_point(row: Mapping[str, Any]) -> LatLon | None:
    """Return a row's position."""
    lat, lon = row.get("lat"), row.get("lon")
    return LatLon(float(lat), float(lon)) if is_valid(lat, lon) else None  # type: ignore[arg-type]  # valid ones are numbers


def classify_kind(kind: str) -> tuple[Sort, ClueKind]:
    """Return a place's sort by its atlas kind ("city", "amenity=cafe"), and the kind of clue its name is."""
    key, has_value, value = kind.partition("=")
    if not has_value:
        return _OF_THE_WORLD.get(kind, ("feature", "landmark"))
    if value in _STOPS:
        return "feature", "station"
    if key == "highway" and value not in _BESIDE_THE_ROAD:
        return "street", "street"
    if key in ("place", "boundary"):
        return _OF_OPENSTREETMAP.get(value, "town"), "place"
    sightseeing = key == "tourism" and value in _SIGHTSEEING
    return "feature", "landmark" if sightseeing else _OF_KEYS.get(key, "business")


def _size(kind: str, sort: Sort, half_km: float, country: str | None) -> tuple[float, float]:
    """Return population and radius of a place."""
    key, _, value = kind.partition("=")
    if sort == "country":
        known = all_countries().get(country or "")
        return (float(known.population), sqrt((known.area_km2 or 1.0) / pi)) if known else (0.0, 500.0)
    if sort == "region":
        if kind == "county":
            people, radius_km = _COUNTY_PEOPLE, max(half_km, _MIN_TOWN_KM)
        else:
            known = all_countries().get(country or "")
            area_km2 = (known.area_km2 or 1.0) if known else 500_000.0
            people, radius_km = _town_people(half_km), 1.3 * sqrt(area_km2 / (_REGIONS_A_COUNTRY * pi))
        return people, radius_km
    if kind == "city":
        return _town_people(half_km), max(_TOWN_REACH * half_km, _MIN_TOWN_KM)
    if key in ("place", "boundary"):
        people, radius_km = _SETTLEMENTS.get(value, (5_000, 2.0))
        return people, max(half_km, radius_km if half_km < 0.05 else _MIN_RADIUS_KM)
    if not value:
        usual = _LANDMARK_KM.get(kind, _MIN_RADIUS_KM if kind in _OF_THE_WORLD else _OTHER_LANDMARK_KM)
        return 0.0, max(half_km, usual)
    return 0.0, max(half_km, _MIN_RADIUS_KM)


def _town_people(radius_km: float) -> float:
    """Return the population that gives this radius in the atlas."""
    return TOWN_PEOPLE_PER_KM2 * pi * radius_km**2


def _half_diagonal_km(extent: Any, point: LatLon) -> float:
    if not isinstance(extent, Mapping):
        return 0.0
    radius_km = _read_number(extent.get("radius_km"))
    if radius_km is not None:
        return max(0.0, radius_km)
    south, west, north, east = (_read_number(extent.get(edge)) for edge in ("south", "west", "north", "east"))
    if south is None or west is None or north is None or east is None:
        return 0.0
    wide = (east - west) % 360 * cos(radians(point.lat))
    return KM_A_DEGREE * hypot(max(0.0, north - south), wide) / 2


def _read_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _read_number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) else None
