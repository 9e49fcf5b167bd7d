"""The style of maps: colours, widths by zoom, and the zoom from which each feature is shown."""

from typing import Final

LAND: Final = "#f3f0e8"
SEA: Final = "#a8cfe3"
# Land colours by altitude in metres, as (altitude, colour) steps.
RELIEF: Final = (
    (-50.0, (226, 236, 214)),
    (100.0, (236, 240, 219)),
    (400.0, (244, 238, 210)),
    (1000.0, (236, 220, 184)),
    (2000.0, (219, 193, 158)),
    (3500.0, (203, 180, 162)),
    (5000.0, (240, 238, 238)),
)

OUTSIDE_WORLD: Final = "#dfe3e6"  # above and below the Mercator plane
WATER_LINE: Final = "#8fbfd8"
COAST_LINE: Final = "#86b3c9"
GREEN: Final = "#cce1b8"
BUILDING: Final = "#dbd2c6"
BUILDING_EDGE: Final = "#c3b7a7"
# Colours of land use by kind, from the bottom up; other kinds are drawn as plain land.
LANDUSE: Final = {
    "residential": "#ebe6dd",
    "farmland": "#eeead3",
    "farmyard": "#ebe3cc",
    "commercial": "#efe2da",
    "retail": "#f2e0d8",
    "industrial": "#e5dfe6",
    "railway": "#e5dfe6",
    "military": "#ead9d3",
    "quarry": "#dedad3",
    "construction": "#e6e0cd",
    "aerodrome": "#e4e3e8",
    "school": "#efe9cf",
    "college": "#efe9cf",
    "university": "#efe9cf",
    "hospital": "#f2dedb",
    "glacier": "#e4f0f5",
    "bare_rock": "#e3dfda",
    "scree": "#e6e2dc",
    "shingle": "#ebe3d0",
    "beach": "#f5e9c0",
    "sand": "#f5e9c0",
}

# Colours of paved surfaces and structures, drawn above parks and water.
PAVED: Final = {
    "apron": "#d5d4dc",
    "parking": "#e9e7e6",
    "square": "#f1eeea",
    "pedestrian": "#f1eeea",
    "footway": "#f1eeea",
    "service": "#f4f2ee",
    "platform": "#d9d7d6",
    "bridge": "#dcd8d0",
    "pier": "#f3f0e8",
    "breakwater": "#dcd8d0",
    "taxiway": "#c6c5d0",
    "runway": "#c6c5d0",
}

# Land use that may stand in the sea, and so is not evidence of land.
OVER_WATER: Final = frozenset({"pier", "breakwater", "bridge"})

RUNWAY_WIDTH_M: Final = {"runway": 45.0, "taxiway": 18.0}

BORDER: Final = "#9a86a6"
REGION_BORDER: Final = "#c4b8ca"
RAIL: Final = "#8d8d93"
RAIL_SLEEPERS: Final = "#f2f2f2"
PATH: Final = "#b08f74"

ROAD_FILL: Final = {1: "#f2a65e", 2: "#f6bd77", 3: "#fad98d", 4: "#fdf0b4", 5: "#ffffff", 6: "#ffffff", 7: "#fbfaf7"}
ROAD_CASING: Final = {1: "#c9772c", 2: "#cc8f45", 3: "#cda84f", 4: "#c9b871", 5: "#bdb5a8", 6: "#c6beb1", 7: "#d3ccc0"}
ROAD_FROM_ZOOM: Final = {1: 6, 2: 7, 3: 9, 4: 10, 5: 12, 6: 13, 7: 14.5, 8: 15.5}
# Width of the road fill by rank, as (zoom, pixels) steps; interpolated linearly in between.
ROAD_WIDTH_PX: Final = {
    1: ((6, 1.0), (10, 2.2), (13, 4.5), (15, 8), (17, 16), (20, 44)),
    2: ((7, 0.8), (10, 1.8), (13, 4.0), (15, 7), (17, 15), (20, 42)),
    3: ((9, 0.8), (11, 1.6), (13, 3.2), (15, 6.5), (17, 14), (20, 40)),
    4: ((10, 0.7), (12, 1.6), (13, 2.6), (15, 6), (17, 13), (20, 38)),
    5: ((12, 0.8), (13, 1.8), (15, 5), (17, 11), (20, 34)),
    6: ((13, 0.9), (14, 1.8), (15, 3.6), (17, 9), (20, 30)),
    7: ((14.5, 0.8), (16, 2.4), (17, 4.5), (20, 16)),
    8: ((15.5, 0.8), (17, 1.4), (20, 4)),
}

CASING_FROM_ZOOM: Final = 12.5
PATH_RANK: Final = 8

RAIL_FROM_ZOOM: Final = {1: 9, 2: 13, 3: 15}
RIVER_FROM_ZOOM: Final = {1: 8, 2: 11, 3: 13.5, 4: 15}
RIVER_WIDTH_PX: Final = {
    1: ((8, 0.8), (13, 2), (16, 5), (20, 12)),
    2: ((11, 0.8), (16, 3), (20, 8)),
    3: ((13.5, 0.8), (17, 2), (20, 5)),
    4: ((15, 0.8), (20, 4)),
}
BUILDING_FROM_ZOOM: Final = 14.0
LANDUSE_FROM_ZOOM: Final = 10.0
GREEN_FROM_ZOOM: Final = 9.0
PLACE_FROM_ZOOM: Final = {1: 3, 2: 8, 3: 10, 4: 11, 5: 12, 6: 13, 7: 14, 8: 15}

INK: Final = "#3b3a3d"
SOFT_INK: Final = "#6a6670"
HALO: Final = "#fdfcf8"
STREET_INK: Final = "#55504a"
WATER_INK: Final = "#3f7391"
GREEN_INK: Final = "#4d7a3d"
COUNTRY_INK: Final = "#6b5a78"
POI_INK: Final = {
    "food": "#a65a17",
    "shop": "#7d4a8c",
    "sight": "#7a4b22",
    "health": "#b0332f",
    "travel": "#2f5f9e",
    "other": "#5f5a54",
}
POI_FROM_ZOOM: Final = 16.0
STREET_NAMES_FROM_ZOOM: Final = {1: 12, 2: 12, 3: 13, 4: 13.5, 5: 14, 6: 15, 7: 16, 8: 17}

_FOOD = {"restaurant", "cafe", "bar", "pub", "fast_food", "food_court", "ice_cream", "biergarten", "nightclub"}
_HEALTH = {"pharmacy", "hospital", "clinic", "doctors", "dentist", "veterinary"}
_TRAVEL = {"bus_station", "ferry_terminal", "fuel", "parking", "taxi", "bicycle_rental", "car_rental"}
_POI_KEYS = {
    "shop": "shop",
    "tourism": "sight",
    "historic": "sight",
    "railway": "travel",
    "aeroway": "travel",
    "public_transport": "travel",
    "leisure": "other",
    "office": "other",
    "craft": "shop",
    "man_made": "sight",
    "amenity": "other",
}
_HIDDEN = {
    "amenity": {
        "atm", "bench", "bicycle_parking", "car_sharing", "charging_station", "drinking_water", "fountain", "grit_bin",
        "hunting_stand", "parking", "parking_entrance", "parking_space", "post_box", "recycling", "shelter",
        "telephone", "toilets", "vending_machine", "waste_basket", "waste_disposal",
    },
    "railway": {"level_crossing", "signal", "stop", "switch"},
    "public_transport": {"stop_position"},
}  # fmt: skip


def poi_family(kind: str) -> str | None:
    """Return the key of `POI_INK` for a kind such as "amenity=cafe"; None for kinds that a map does not label."""
    key, _, value = kind.partition("=")
    family = _POI_KEYS.get(key)
    if family is None or value in _HIDDEN.get(key, ()):
        return None
    if key == "amenity":
        return "food" if value in _FOOD else "health" if value in _HEALTH else "travel" if value in _TRAVEL else "other"
    return family


def at_zoom(steps: tuple[tuple[float, float], ...], zoom: float) -> float:
    """Interpolate a width linearly between (zoom, width) steps; constant beyond them."""
    low_zoom, low = steps[0]
    for high_zoom, high in steps:
        if zoom <= high_zoom:
            share = 0.0 if high_zoom == low_zoom else max(0.0, (zoom - low_zoom) / (high_zoom - low_zoom))
            return low + (high - low) * share
        low_zoom, low = high_zoom, high
    return low
