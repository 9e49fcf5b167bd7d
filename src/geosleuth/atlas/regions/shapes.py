"""Which layer of a map an object belongs to, and how important it is there."""

from collections.abc import Mapping
from typing import Final

from .schema import ROAD_RANKS, Layer

_GREEN: Final = {
    "leisure": frozenset({"park", "garden", "golf_course", "pitch", "nature_reserve", "playground",
    "recreation_ground", "common", "dog_park"}),
    "landuse": frozenset(
        {"forest", "grass", "meadow", "recreation_ground", "village_green", "cemetery", "orchard", "vineyard",
         "allotments",
         "greenfield", "flowerbed"}
    ),
    "natural": frozenset({"wood", "scrub", "grassland", "heath", "wetland", "fell"}),
}  # fmt: skip
_WATER: Final = {
    "natural": frozenset({"water", "bay"}),
    "waterway": frozenset({"riverbank", "dock", "boatyard"}),
    "landuse": frozenset({"reservoir", "basin"}),
    "leisure": frozenset({"swimming_pool", "marina"}),
    "amenity": frozenset({"fountain"}),
}
_LANDUSE: Final = {
    "landuse": None,
    "natural": frozenset({"sand", "beach", "bare_rock", "scree", "glacier", "shingle"}),
    "amenity": frozenset({"parking", "school", "university", "hospital", "college"}),
    "place": frozenset({"square"}),
    "man_made": frozenset({"pier", "breakwater", "bridge"}),
    "aeroway": frozenset({"aerodrome", "apron", "runway", "taxiway"}),
    "highway": frozenset({"pedestrian", "footway", "service", "platform"}),
    "military": None,
}
_WATERWAYS: Final = {"river": 1, "canal": 2, "stream": 3, "drain": 4, "ditch": 4, "tidal_channel": 3}
_RAILS: Final = {
    "rail": 1, "narrow_gauge": 1, "preserved": 1, "light_rail": 2, "tram": 2, "subway": 2, "funicular": 2, "monorail":
    2,
}  # fmt: skip
_PLACES: Final = {
    "country": 1, "state": 1, "city": 1, "town": 2, "island": 3, "village": 3, "suburb": 3, "borough": 3, "quarter": 4,
    "hamlet": 5, "neighbourhood": 5, "islet": 6, "square": 6, "isolated_dwelling": 7, "farm": 7, "locality": 7,
}  # fmt: skip


def area_layer(tags: Mapping[str, str]) -> tuple[Layer, int, str | None] | None:
    """Layer, rank and name of an area; None where a map does not show it."""
    name = tags.get("name")
    building = tags.get("building")
    if building and building != "no":
        return "building", 1, name
    if _any(tags, _WATER):
        # A bay is the sea itself, drawn from the coast; its outline is somebody's guess.
        return None if tags.get("natural") == "bay" else ("water", 1, name)
    if _any(tags, _GREEN):
        return "green", 1, name
    for key, values in _LANDUSE.items():
        value = tags.get(key)
        if value and (values is None or value in values):
            return "landuse", 1, value
    return None


def line_layer(tags: Mapping[str, str]) -> tuple[Layer, int, str | None] | None:
    """Layer, rank and name of a line; None where a map does not show it."""
    if tags.get("natural") == "coastline":
        return "coast", 1, tags.get("name")
    name = tags.get("name") or tags.get("ref")
    road = ROAD_RANKS.get(tags.get("highway", ""))
    if road is not None:
        return "road", road, name
    rail = _RAILS.get(tags.get("railway", ""))
    if rail is not None:
        return "rail", 3 if "service" in tags else rail, name
    waterway = _WATERWAYS.get(tags.get("waterway", ""))
    if waterway is not None and tags.get("tunnel") in (None, "no"):
        return "water", waterway, name
    runway = tags.get("aeroway") if tags.get("aeroway") in ("runway", "taxiway") else None
    return ("landuse", 2, runway) if runway else None


def point_layer(tags: Mapping[str, str]) -> tuple[Layer, int, str | None] | None:
    """A place, station or peak to label; None for everything else."""
    name = tags.get("name")
    if not name:
        return None
    rank = _PLACES.get(tags.get("place", ""))
    if rank is None and (tags.get("railway") in ("station", "halt") or tags.get("natural") == "peak"):
        rank = 8
    return ("place", rank, name) if rank is not None else None


def _any(tags: Mapping[str, str], table: Mapping[str, frozenset[str]]) -> bool:
    return any(tags.get(key) in values for key, values in table.items())
