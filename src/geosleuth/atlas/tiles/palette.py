"""The colours of the map in a browser: the drawn maps' own for the light theme, and a night of the same things."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from geosleuth.atlas.maps import style as look


@dataclass(frozen=True, slots=True)
class Palette:
    """A colour for everything that a map shows."""

    sea: str
    coast: str
    land: str
    green: str
    water_line: str
    building: str
    building_edge: str
    landuse: Mapping[str, str]
    paved: Mapping[str, str]
    border: str
    region_border: str
    rail: str
    rail_sleepers: str
    path: str
    road_fill: Mapping[int, str]
    road_casing: Mapping[int, str]
    ink: str
    soft_ink: str
    halo: str
    street_ink: str
    water_ink: str
    green_ink: str
    country_ink: str
    poi_ink: Mapping[str, str]


LIGHT: Final = Palette(
    sea=look.SEA,
    coast=look.COAST_LINE,
    land=look.LAND,
    green=look.GREEN,
    water_line=look.WATER_LINE,
    building=look.BUILDING,
    building_edge=look.BUILDING_EDGE,
    landuse=look.LANDUSE,
    paved=look.PAVED,
    border=look.BORDER,
    region_border=look.REGION_BORDER,
    rail=look.RAIL,
    rail_sleepers=look.RAIL_SLEEPERS,
    path=look.PATH,
    road_fill=look.ROAD_FILL,
    road_casing=look.ROAD_CASING,
    ink=look.INK,
    soft_ink="#6a6670",
    halo=look.HALO,
    street_ink=look.STREET_INK,
    water_ink=look.WATER_INK,
    green_ink=look.GREEN_INK,
    country_ink=look.COUNTRY_INK,
    poi_ink=look.POI_INK,
)

_NIGHT_LAND = "#262a31"
_NIGHT_BUILT = "#2c313a"
_NIGHT_GREEN = "#26352f"
_NIGHT_PAVED = "#323843"

DARK: Final = Palette(
    sea="#151c28",
    coast="#33475c",
    land=_NIGHT_LAND,
    green=_NIGHT_GREEN,
    water_line="#22344a",
    building="#363c47",
    building_edge="#444b58",
    landuse={
        **dict.fromkeys(look.LANDUSE, _NIGHT_BUILT),
        "farmland": "#292c2f",
        "farmyard": "#292c2f",
        "glacier": "#35424d",
        "beach": "#3a382f",
        "sand": "#3a382f",
        "hospital": "#352d33",
        "military": "#332e2f",
    },
    paved={
        **dict.fromkeys(look.PAVED, _NIGHT_PAVED),
        "pier": _NIGHT_LAND,
        "runway": "#404755",
        "taxiway": "#404755",
    },
    border="#8d7ba0",
    region_border="#4b4657",
    rail="#5d6470",
    rail_sleepers=_NIGHT_LAND,
    path="#6f6357",
    road_fill={1: "#a3733f", 2: "#8f6d44", 3: "#7a6746", 4: "#66604f", 5: "#535964", 6: "#4a505b", 7: "#424853"},
    road_casing={1: "#1c1f25", 2: "#1c1f25", 3: "#1c1f25", 4: "#1c1f25", 5: "#1e2127", 6: "#1e2127", 7: "#1e2127"},
    ink="#e4e2dd",
    soft_ink="#a7a9b0",
    halo="#1b1f26",
    street_ink="#b9b7b1",
    water_ink="#7fa9c9",
    green_ink="#8db784",
    country_ink="#b9a8cc",
    poi_ink={
        "food": "#dda066",
        "shop": "#c49ad2",
        "sight": "#d0a884",
        "health": "#e28f8b",
        "travel": "#8fb4e6",
        "other": "#aaa69f",
    },
)
