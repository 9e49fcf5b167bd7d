"""Classify OpenStreetMap features by their tags.

- `classify_feature`: the tag that says what a feature is, such as "amenity=cafe".
- `estimate_rank`: how well known it probably is.
- `area_layer`, `line_layer`, `point_layer`: the map layer that draws it.
- `category_kinds`, `matching_kinds`: the kinds that a word such as "pharmacy" means.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from geosleuth.names.folding import fold

from .region_file import ROAD_RANKS, Layer

# Kind of a feature that is only a house number on a street.
ADDRESS: Final = "address"

# As a category, every road and path; the key ``highway`` also covers bus stops, signals and so on.
STREET: Final = "street"

# Keys that give the kind of a feature, most specific first.
_KEYS: Final = (
    "amenity", "shop", "tourism", "historic", "leisure", "healthcare", "office", "craft", "club", "aeroway",
    "aerialway",
    "railway", "public_transport", "place", "natural", "man_made", "military", "emergency", "waterway", "power",
    "highway",
    "landuse", "boundary", "route", "bridge", "building", "water", "advertising", "attraction", "junction", "barrier",
    "entrance", "area:highway", "type",
)  # fmt: skip
_KEY_ORDER: Final = {key: at for at, key in enumerate(_KEYS)}
MAIN_KEYS: Final = frozenset(_KEYS)

# Keys and values that are indexed even without a name; None means every value.
_INDEXED_WITHOUT_NAME: Final[dict[str, frozenset[str] | None]] = {
    "amenity": None,
    "shop": None,
    "tourism": None,
    "historic": None,
    "leisure": None,
    "healthcare": None,
    "office": None,
    "craft": None,
    "club": None,
    "aeroway": frozenset({"aerodrome", "helipad", "terminal", "gate"}),
    "aerialway": frozenset({"station"}),
    "railway": frozenset({"station", "halt", "tram_stop", "subway_entrance", "level_crossing"}),
    "public_transport": frozenset({"station", "platform", "stop_position"}),
    "natural": frozenset({"peak", "spring", "cave_entrance", "beach", "volcano", "saddle", "arch", "geyser",
    "hot_spring"}),
    "man_made": frozenset(
        {"tower", "lighthouse", "water_tower", "windmill", "chimney", "mast", "obelisk", "pier", "crane", "cross",
         "communications_tower", "silo", "gasometer", "observatory", "beacon", "flagpole", "campanile",
         "monitoring_station",
         "survey_point", "works", "street_cabinet", "surveillance", "water_well", "watermill", "bridge"}
    ),
    "power": frozenset({"plant", "substation", "tower", "generator"}),
    "highway": frozenset({"bus_stop", "traffic_signals", "milestone", "speed_camera", "elevator", "crossing"}),
    "waterway": frozenset({"waterfall", "lock_gate", "weir", "dam"}),
    "emergency": None,
    "advertising": None,
    "attraction": None,
}  # fmt: skip

_AREA_KEYS: Final = frozenset(
    {"building", "landuse", "leisure", "amenity", "shop", "tourism", "historic", "office", "craft", "healthcare",
     "water",
     "place", "aeroway", "military", "public_transport", "boundary", "building:part", "club", "emergency",
     "area:highway"}
)  # fmt: skip
_CLOSED_LINES: Final = {
    "natural": frozenset({"coastline", "cliff", "tree_row", "ridge", "arete", "valley", "earth_bank"}),
    "leisure": frozenset({"track", "slipway"}),
    "historic": frozenset({"citywalls"}),
}
_AREA_VALUES: Final = {
    "waterway": frozenset({"riverbank", "dock", "boatyard", "dam"}),
    "railway": frozenset({"station", "platform", "turntable", "yard"}),
    "man_made": frozenset(
        {"pier", "bridge", "works", "tower", "water_tower", "lighthouse", "wastewater_plant", "breakwater",
         "storage_tank",
         "silo", "reservoir_covered", "windmill", "observatory", "chimney"}
    ),
    "power": frozenset({"plant", "substation", "generator"}),
    "highway": frozenset({"services", "rest_area", "platform"}),
}  # fmt: skip

_RANKS: Final = {
    "place=country": 1.0, "place=state": 0.97, "place=region": 0.9, "place=city": 0.95, "place=town": 0.85,
    "place=island": 0.8, "place=village": 0.7, "place=suburb": 0.7, "place=borough": 0.7, "place=quarter": 0.6,
    "place=hamlet": 0.55, "place=neighbourhood": 0.55, "place=square": 0.5, "place=islet": 0.45, "place=locality": 0.4,
    "aeroway=aerodrome": 0.7, "railway=station": 0.65, "railway=halt": 0.5, "amenity=university": 0.55,
    "amenity=hospital": 0.55, "tourism=museum": 0.55, "tourism=attraction": 0.5, "historic=castle": 0.55,
    "natural=peak": 0.45, "man_made=lighthouse": 0.5, "boundary=administrative": 0.65, "waterway=river": 0.5,
    "amenity=bench": 0.05, "amenity=waste_basket": 0.03, "amenity=parking_space": 0.03, "highway=crossing": 0.05,
    "amenity=bicycle_parking": 0.08, "amenity=parking": 0.12, "emergency=fire_hydrant": 0.04, "power=tower": 0.05,
    "public_transport=stop_position": 0.15, "public_transport=platform": 0.2, "highway=bus_stop": 0.22,
    "address": 0.02,
}  # fmt: skip
_KEY_RANKS: Final = {
    "highway": 0.35, "tourism": 0.35, "amenity": 0.3, "shop": 0.3, "historic": 0.35, "leisure": 0.3, "natural": 0.3,
    "place": 0.4, "boundary": 0.4, "building": 0.2, "route": 0.15, "landuse": 0.2, "railway": 0.3, "waterway": 0.3,
}  # fmt: skip
_HIGHWAY_RANKS: Final = {"motorway": 0.5, "trunk": 0.48, "primary": 0.46, "secondary": 0.43, "tertiary": 0.4}

# Words that are not an OpenStreetMap key or value, or that mean several kinds.
_SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "address": (ADDRESS,),
    "airport": ("aeroway=aerodrome",),
    "atm": ("amenity=atm",),
    "attraction": ("tourism=attraction", "attraction"),
    "bakery": ("shop=bakery",),
    "bar": ("amenity=bar", "amenity=pub"),
    "barber": ("shop=hairdresser",),
    "beach": ("natural=beach", "leisure=beach_resort"),
    "bicycle shop": ("shop=bicycle",),
    "bike shop": ("shop=bicycle",),
    "book shop": ("shop=books",),
    "bookshop": ("shop=books",),
    "bookstore": ("shop=books",),
    "bus station": ("amenity=bus_station",),
    "bus stop": ("highway=bus_stop", "public_transport=platform", "public_transport=stop_position"),
    "butcher": ("shop=butcher",),
    "car park": ("amenity=parking",),
    "castle": ("historic=castle",),
    "chapel": ("building=chapel", "amenity=place_of_worship"),
    "chemist": ("amenity=pharmacy", "shop=chemist"),
    "church": (
        "amenity=place_of_worship",
        "building=church",
        "building=chapel",
        "building=cathedral",
        "historic=church",
    ),
    "coffee shop": ("amenity=cafe", "shop=coffee"),
    "convenience store": ("shop=convenience",),
    "drugstore": ("amenity=pharmacy", "shop=chemist"),
    "doctor": ("amenity=doctors", "healthcare=doctor"),
    "eatery": ("amenity=restaurant", "amenity=fast_food", "amenity=cafe"),
    "filling station": ("amenity=fuel",),
    "fire station": ("amenity=fire_station",),
    "florist": ("shop=florist",),
    "fuel station": ("amenity=fuel",),
    "gas station": ("amenity=fuel",),
    "grocery": ("shop=supermarket", "shop=convenience", "shop=greengrocer", "shop=grocery"),
    "gym": ("leisure=fitness_centre", "leisure=sports_centre"),
    "hairdresser": ("shop=hairdresser",),
    "hotel": ("tourism=hotel",),
    "hostel": ("tourism=hostel",),
    "mall": ("shop=mall",),
    "market": ("amenity=marketplace",),
    "memorial": ("historic=memorial", "historic=monument"),
    "monument": ("historic=monument", "historic=memorial"),
    "mosque": ("amenity=place_of_worship", "building=mosque"),
    "mountain": ("natural=peak",),
    "off licence": ("shop=alcohol",),
    "park": ("leisure=park", "leisure=garden"),
    "parking": ("amenity=parking",),
    "peak": ("natural=peak",),
    "petrol station": ("amenity=fuel",),
    "place of worship": ("amenity=place_of_worship",),
    "platform": ("public_transport=platform", "railway=platform"),
    "playground": ("leisure=playground",),
    "post box": ("amenity=post_box",),
    "post office": ("amenity=post_office",),
    "railway station": ("railway=station", "railway=halt"),
    "river": ("waterway=river",),
    "road": (STREET,),
    "shopping centre": ("shop=mall",),
    "station": ("railway=station", "railway=halt", "public_transport=station", "amenity=bus_station"),
    "street": (STREET,),
    "subway": ("railway=station", "railway=subway_entrance"),
    "synagogue": ("amenity=place_of_worship", "building=synagogue"),
    "temple": ("amenity=place_of_worship", "building=temple"),
    "toilet": ("amenity=toilets",),
    "town hall": ("amenity=townhall",),
    "traffic light": ("highway=traffic_signals",),
    "train station": ("railway=station", "railway=halt"),
    "tram stop": ("railway=tram_stop",),
    "transit stop": ("highway=bus_stop", "railway=tram_stop", "public_transport", "railway=station", "railway=halt"),
    "viewpoint": ("tourism=viewpoint",),
}

_PLURALS: Final = (("ies", "y"), ("es", ""), ("s", ""))
_NOT_A_CATEGORY: Final = frozenset({"", "yes", "no", "type"})

_BESIDE_STREETS: Final = frozenset(
    {"bus_stop", "traffic_signals", "milestone", "speed_camera", "elevator", "crossing", "services", "rest_area"}
)

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


def classify_feature(tags: Mapping[str, str], *, named: bool) -> str | None:
    """Return the kind of a feature ("key=value"); None if it is not worth searching for."""
    found = [key for key in tags if key in _KEY_ORDER]
    if len(found) > 1:
        found.sort(key=_KEY_ORDER.__getitem__)
    for key in found:
        value = tags[key]
        if not value or value == "no":
            continue
        if not named:
            values = _INDEXED_WITHOUT_NAME.get(key, frozenset())
            if values is not None and value not in values:
                continue
        return f"{key}={value.split(';')[0].strip() or value}"
    return None


def is_area(tags: Mapping[str, str]) -> bool:
    """Return whether a closed way is an area, not a line that ends where it starts."""
    area = tags.get("area")
    if area == "no":
        return False
    if area == "yes":
        return True
    for key, value in tags.items():
        if key in _CLOSED_LINES:
            if value not in _CLOSED_LINES[key]:
                return True
        elif key in _AREA_KEYS or value in _AREA_VALUES.get(key, ()):
            return value != "no"
    return False


def estimate_rank(kind: str, tags: Mapping[str, str]) -> float:
    """Estimate from 0 to 1 how well known a feature is; it decides between features of the same name."""
    key, _, value = kind.partition("=")
    rank = _RANKS.get(kind)
    if rank is None:
        rank = _HIGHWAY_RANKS.get(value, _KEY_RANKS["highway"]) if key == "highway" else _KEY_RANKS.get(key, 0.2)
    if "wikidata" in tags or "wikipedia" in tags:
        rank += 0.2
    return min(1.0, rank)


def is_street(kind: str) -> bool:
    """Return whether a kind is a road or path, not something beside it."""
    key, _, value = kind.partition("=")
    return key == "highway" and value not in _BESIDE_STREETS


def matching_kinds(category: str, present: Iterable[str]) -> list[str]:
    """Return the kinds in ``present`` that a category means; see `category_kinds` for how it may be written."""
    patterns = category_kinds(category)
    if patterns and all(pattern[0] == "=" for pattern in patterns):  # most texts: names, not categories
        return [kind for kind in present if kind.endswith(patterns)]
    return [
        kind
        for kind in present
        if any(
            kind == pattern
            or kind.startswith(f"{pattern}=")
            or (pattern[0] == "=" and kind.endswith(pattern))
            or (pattern == STREET and is_street(kind))
            for pattern in patterns
        )
    ]


@lru_cache(maxsize=1024)
def category_kinds(category: str) -> tuple[str, ...]:
    """Return what a category means: kinds ("amenity=cafe"), keys ("shop") or values of any key ("=cafe").

    A text with "=" is used as it is. A word, singular or plural, is looked up in a table of synonyms; a word that is
    not there is a key if OpenStreetMap has such a key ("shop"), otherwise a value ("cafes", "Fast food").
    """
    text = category.strip()[:200]
    if "=" in text:
        key, _, value = (part.strip().casefold() for part in text.partition("="))
        return ((f"{key}={value}" if value not in ("", "*") else key),) if key else ()
    word = fold(text)
    if word in _NOT_A_CATEGORY:
        return ()
    forms = [word, *(word.removesuffix(end) + singular for end, singular in _PLURALS if word.endswith(end))]
    for form in forms:
        if form in _SYNONYMS:
            return _SYNONYMS[form]
    underscored = [form.replace(" ", "_") for form in forms]
    return next(((form,) for form in underscored if form in _KEYS), tuple(f"={form}" for form in underscored))


def area_layer(tags: Mapping[str, str]) -> tuple[Layer, int, str | None] | None:
    """Return layer, rank and name of an area; None where a map does not show it."""
    name = tags.get("name")
    building = tags.get("building")
    if building and building != "no":
        return "building", 1, name
    if _has_any(tags, _WATER):
        # A bay is part of the sea, which is drawn from the coastline; where a bay ends is arbitrary.
        return None if tags.get("natural") == "bay" else ("water", 1, name)
    if _has_any(tags, _GREEN):
        return "green", 1, name
    for key, values in _LANDUSE.items():
        value = tags.get(key)
        if value and (values is None or value in values):
            return "landuse", 1, value
    return None


def line_layer(tags: Mapping[str, str]) -> tuple[Layer, int, str | None] | None:
    """Return layer, rank and name of a line; None where a map does not show it."""
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
    """Return layer, rank and name of a place, station or peak to label; None for everything else."""
    name = tags.get("name")
    if not name:
        return None
    rank = _PLACES.get(tags.get("place", ""))
    if rank is None and (tags.get("railway") in ("station", "halt") or tags.get("natural") == "peak"):
        rank = 8
    return ("place", rank, name) if rank is not None else None


def _has_any(tags: Mapping[str, str], table: Mapping[str, frozenset[str]]) -> bool:
    return any(tags.get(key) in values for key, values in table.items())
