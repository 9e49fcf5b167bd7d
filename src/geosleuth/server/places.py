"""Places by their names, and names of points, from the offline atlas; runs in a process of the service."""

from collections.abc import Iterable, Mapping
from typing import Any

from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.atlas.protocol import Hit
from geosleuth.geo import LatLon
from geosleuth.names import country_name, fold
from geosleuth.pipeline.area import parse_point
from geosleuth.support.errors import BadInput

_MOST = 8
_SAME = 3  # decimals of a degree: some 100 m


async def find_places(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a query may mean: names, or a point as text; with ``lat`` and ``lon`` what that point is called."""
    atlas = OfflineAtlas()
    query = str(asked.get("query") or "").strip()
    if asked.get("lat") is not None and asked.get("lon") is not None:
        return {"places": [await _name_point(atlas, LatLon(asked["lat"], asked["lon"]))]}
    if not query:
        return {"places": []}
    try:
        return {"places": [await _name_point(atlas, parse_point(query))]}
    except BadInput:
        hits = await atlas.geocode(query, limit=2 * _MOST)
        return {"places": _once(_build_place(hit) for hit in hits)[:_MOST]}


def _once(places: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return places, each once: a city is also the region of its name, at the same point."""
    kept: dict[tuple[str, float, float], dict[str, Any]] = {}
    for place in places:
        kept.setdefault((fold(place["words"]), round(place["lat"], _SAME), round(place["lon"], _SAME)), place)
    return list(kept.values())


async def _name_point(atlas: Atlas, point: LatLon) -> dict[str, Any]:
    found = await atlas.reverse(point)
    settlement = found.places[0].place.name if found.places else None
    near = settlement if found.address.startswith(f"{settlement}, ") or found.address == settlement else None
    return {
        "lat": point.lat,
        "lon": point.lon,
        "words": found.address,
        "country": found.country_name,
        "region": found.region,
        "precise": near,
    }


def _build_place(hit: Hit) -> dict[str, Any]:
    place, coarse = hit.place, hit.level in ("country", "region")
    country = country_name(place.country) if place.country else None
    finest = place.name if coarse or hit.level == "town" else place.address or place.name
    region = place.name if hit.level == "region" else place.region
    parts = [part for name in (place.address or place.name, region, country) if name for part in name.split(", ")]
    return {
        "lat": place.point.lat,
        "lon": place.point.lon,
        "words": ", ".join(dict.fromkeys(parts)),
        "country": country,
        "region": region,
        "precise": None if coarse else finest,
        "kind": place.kind.rpartition("=")[2].replace("_", " ") or None,
    }
