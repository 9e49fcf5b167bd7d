"""From what a service found to places and hits: kinds in our words, and how well a name fits what was asked."""

from collections.abc import Iterable

from geosleuth.atlas.model import Hit, MatchKind, Place
from geosleuth.atlas.search import exact_key, similarity
from geosleuth.geo import Disc, Extent, LatLon, distance_km

from .shape import Object, inner, text

_SETTLEMENTS = frozenset(
    {"city", "town", "village", "hamlet", "municipality", "city_district", "borough", "suburb", "locality"}
)
_REGIONS = frozenset({"state", "region", "province", "county", "state_district", "district", "prefecture"})
_OWN_WORDS = {
    "country": "country",
    "house": "address",
    "houses": "address",
    **dict.fromkeys(_REGIONS, "region"),
    **dict.fromkeys(_SETTLEMENTS, "city"),
}
_NO_STREETS = frozenset(
    {
        *("bus_stop", "traffic_signals", "milestone", "speed_camera", "elevator", "crossing", "services"),
        *("rest_area", "platform", "street_lamp", "stop", "give_way", "emergency_access_point"),
    }
)


def osm_kind(key: str | None, value: str | None, level: str | None = None) -> str:
    """What an OpenStreetMap object is, in our words where we have one; ``level`` is the service's word for its size."""
    if key in ("place", "boundary"):
        known = _OWN_WORDS.get(level or "") or _OWN_WORDS.get(value or "")
        if known:
            return known
    if key == "highway" and value not in _NO_STREETS:
        return "street"
    if key == "aeroway" and value == "aerodrome":
        return "airport"
    return f"{key or 'place'}={value or 'yes'}"


def named_level(parts: Object, levels: Iterable[str]) -> str | None:
    """The first of several address levels that is named."""
    return next((name for name in (text(parts, level) for level in levels) if name), None)


def settlement(parts: Object) -> str | None:
    """The settlement in an address by levels, as Nominatim and OpenCage write it."""
    return named_level(parts, ("city", "town", "village", "municipality", "hamlet", "suburb", "county"))


def region(parts: Object) -> str | None:
    """The first-level region in an address by levels."""
    return named_level(parts, ("state", "province", "region", "state_district"))


def hit(
    place: Place, query: str, *, names: Iterable[str] = (), near: LatLon | None = None, is_address: bool = False
) -> Hit:
    """A hit whose score tells how alike the query and the best fitting name are.

    Services rank by scales of their own, which can't be compared; their order is kept and the score is ours. A query
    of several parts ("Monaco-Ville, Monaco") is compared with the address too.
    """
    asked, first_part = exact_key(query), exact_key(query.partition(",")[0])
    best: tuple[float, str, MatchKind] = (0.0, place.name, "fuzzy")
    for position, name in enumerate((place.name, *names)):
        whole = exact_key(name)
        score = max(similarity(asked, whole), similarity(first_part, whole))
        kind: MatchKind = "fuzzy" if score < 1 else ("exact" if position == 0 else "alias")
        if score > best[0]:
            best = (score, name, kind)
    if place.address and (is_address or "," in query) and best[2] == "fuzzy":
        score = similarity(asked, exact_key(place.address))
        if score > best[0]:
            best = (score, place.address, "fuzzy")
    distance = None if near is None else distance_km(near, place.point)
    return Hit(place, round(best[0], 4), best[2], best[1], distance)


def near_hit(place: Place, point: LatLon, reach_km: float) -> Hit:
    """A hit found by position alone: the nearer, the better."""
    away_km = distance_km(point, place.point)
    score = max(0.0, 1 - away_km / reach_km) if reach_km > 0 else 0.0
    return Hit(place, round(score, 4), "near", place.name, away_km)


def spot(point: LatLon) -> Extent:
    """The extent of something of which only the position is known."""
    return Disc(point, 0.0)


def nested_text(value: Object, *path: str) -> str | None:
    """A text some levels down."""
    return text(inner(value, *path[:-1]), path[-1])
