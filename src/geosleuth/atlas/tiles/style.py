"""Build the MapLibre style of the tiles.

MapLibre counts zooms by tiles of 512 pixels, drawn maps by tiles of 256: zoom z here is zoom z + 1 of drawn maps.
"""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from geosleuth.atlas.maps import style as look
from geosleuth.support.errors import BadInput

from .relief import MAX_ZOOM, SIDE_PX
from .settlements import COUNTRIES_TO_ZOOM
from .world_tiles import Detail

_NIGHT_LAND = "#262a31"
_NIGHT_BUILT = "#2c313a"
_NIGHT_GREEN = "#26352f"
_NIGHT_PAVED = "#323843"
SOURCE: Final = "atlas"
RELIEF: Final = "relief"
_RELIEF_TO_ZOOM: Final = 9
# Fonts on the user's machine; the weight in the first name applies to whichever font is found.
_PLAIN: Final = ("Noto Sans Regular", "Noto Sans", "system-ui")
_STRONG: Final = ("Noto Sans Semibold", "Noto Sans", "system-ui")
_ITALIC: Final = ("Noto Sans Italic", "Noto Sans", "system-ui")
_NAME: Final = ["coalesce", ["get", "label"], ["get", "name"]]
_RUNWAY_FROM = 12
_LINE_WIDTH_FACTOR = 0.75
Layer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme."""

    sea: str
    coast_line: str
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


# Drawn maps have the same colours under the same names, in capitals.
LIGHT: Final = Palette(**{field.name: getattr(look, field.name.upper()) for field in fields(Palette)})
DARK: Final = Palette(
    sea="#151c28",
    coast_line="#33475c",
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


_THEMES: Final = {"light": LIGHT, "dark": DARK}


def make_style(theme: str, detail: Detail, tiles_url: str, relief_url: str, attribution: str) -> dict[str, Any]:
    """Return a theme's style with the layers that a granularity allows.

    Raises:
        BadInput: there is no such theme.
    """
    if theme not in _THEMES:
        raise BadInput(f"the map has no theme {theme[:40]!r}; use light or dark")
    colours = _THEMES[theme]
    layers = [*_ground(colours), *(_areas(colours) if detail.ground else ())]
    if detail.streets:
        layers += [*_buildings(colours), *_roads(colours), *_rails(colours)]
    layers += _borders(colours, detail)
    # MapLibre places the labels of upper layers first.
    layers += _pois(colours) if detail.pois else ()
    layers += _area_names(colours) if detail.ground else ()
    layers += _street_names(colours) if detail.streets else ()
    layers += _build_place_layers(colours, detail)
    return {
        "version": 8,
        "name": f"geosleuth {theme}",
        "metadata": {"geosleuth:finest_zoom": detail.max_zoom},
        "sources": {
            SOURCE: {
                "type": "vector",
                "tiles": [tiles_url],
                "minzoom": 0,
                "maxzoom": detail.max_zoom,
                # MapLibre shows this as HTML, and region files are untrusted.
                "attribution": html.escape(attribution),
            },
            RELIEF: {"type": "raster", "tiles": [relief_url], "tileSize": SIDE_PX, "maxzoom": MAX_ZOOM},
        },
        "layers": layers,
    }


def _layer(name: str, kind: str, source_layer: str, paint: Mapping[str, Any], **more: Any) -> Layer:
    return {"id": name, "type": kind, "source": SOURCE, "source-layer": source_layer, "paint": dict(paint), **more}


def _equals(key: str, value: str | int) -> list[Any]:
    return ["==", ["get", key], value]


def _match(key: str, table: Mapping[Any, Any], other: Any) -> list[Any]:
    return ["match", ["get", key], *(part for item in table.items() for part in item), other]


def _widths_by_zoom(steps: Iterable[tuple[float, float]], *, more: float = 0.0) -> list[Any]:
    """Interpolate a width from drawn maps' (zoom, pixels) steps; lines are thinner here, as the map is a background."""
    return [
        "interpolate",
        ["linear"],
        ["zoom"],
        *(part for zoom, px in steps for part in (zoom - 1, _LINE_WIDTH_FACTOR * px + more)),
    ]


def _interpolate(*steps: tuple[float, float]) -> list[Any]:
    return ["interpolate", ["linear"], ["zoom"], *(part for step in steps for part in step)]


def _ground(colours: Palette) -> list[Layer]:
    world = {"fill-color": colours.land, "fill-outline-color": colours.coast_line}
    local = {"fill-color": _match("class", {"local-sea": colours.sea}, colours.land)}
    return [
        {"id": "sea", "type": "background", "paint": {"background-color": colours.sea}},
        _layer("land", "fill", "land", world, filter=_equals("class", "land")),
        # Below the land of added regions, as the relief is too coarse for street maps.
        {
            "id": RELIEF,
            "type": "raster",
            "source": RELIEF,
            "maxzoom": _RELIEF_TO_ZOOM,
            "paint": {"raster-opacity": _interpolate((1, 0.35), (4, 0.6), (6, 0.5), (_RELIEF_TO_ZOOM, 0))},
        },
        # A layer of its own, to cover the outline of the coarser coast, which lies above all fills of its layer.
        _layer("local-land", "fill", "land", local, filter=["!=", ["get", "class"], "land"]),
    ]


def _areas(colours: Palette) -> list[Layer]:
    surface = ["==", ["geometry-type"], "Polygon"]

    def land_use(name: str, table: Mapping[str, str]) -> Layer:
        kinds = ["match", ["get", "class"], list(table), True, False]
        return _layer(
            name,
            "fill",
            "landuse",
            {"fill-color": _match("class", table, colours.land)},
            filter=["all", surface, kinds],
        )

    rivers = [
        _layer(
            f"river-{rank}",
            "line",
            "water",
            {"line-color": colours.water_line, "line-width": _widths_by_zoom(widths)},
            filter=["all", _equals("class", "line"), _equals("rank", rank)],
            minzoom=look.RIVER_FROM_ZOOM[rank] - 1,
            layout={"line-cap": "round", "line-join": "round"},
        )
        for rank, widths in look.RIVER_WIDTH_PX.items()
    ]
    runways = _layer(
        "runways",
        "line",
        "landuse",
        {
            "line-color": _match("class", {kind: colours.paved[kind] for kind in look.RUNWAY_WIDTH_M}, colours.land),
            "line-width": ["interpolate", ["exponential", 2], ["zoom"], 11, 1, 16, 20],
        },
        filter=["==", ["geometry-type"], "LineString"],
        minzoom=_RUNWAY_FROM - 2,
    )
    return [
        land_use("land-use", colours.landuse),
        _layer("green", "fill", "green", {"fill-color": colours.green}),
        *rivers,
        _layer("water", "fill", "water", {"fill-color": colours.sea}, filter=surface),
        _layer("coast", "line", "water", {"line-color": colours.coast_line}, filter=_equals("class", "coast")),
        land_use("paved", colours.paved),
        runways,
    ]


def _buildings(colours: Palette) -> list[Layer]:
    paint = {
        "fill-color": colours.building,
        "fill-outline-color": colours.building_edge,
        "fill-opacity": _interpolate((13, 0.5), (14.5, 1)),
    }
    return [_layer("buildings", "fill", "buildings", paint, minzoom=look.BUILDING_FROM_ZOOM - 1)]


def _roads(colours: Palette) -> list[Layer]:
    """Return paths, then all casings, then all fills, minor roads first, so that no casing crosses a junction."""
    ranks = sorted(look.ROAD_FILL, reverse=True)
    smooth = {"line-cap": "round", "line-join": "round"}

    def road(name: str, rank: int, paint: Mapping[str, Any], from_zoom: float) -> Layer:
        return _layer(name, "line", "roads", paint, filter=_equals("rank", rank), minzoom=from_zoom, layout=smooth)

    paths = _layer(
        "paths",
        "line",
        "roads",
        {
            "line-color": colours.path,
            "line-width": _widths_by_zoom(look.ROAD_WIDTH_PX[look.PATH_RANK]),
            "line-dasharray": [2.5, 2],
        },
        filter=_equals("rank", look.PATH_RANK),
        minzoom=look.ROAD_FROM_ZOOM[look.PATH_RANK] - 1,
    )
    edges = [
        road(
            f"road-edge-{rank}",
            rank,
            {
                "line-color": colours.road_casing[rank],
                "line-width": _widths_by_zoom(look.ROAD_WIDTH_PX[rank], more=1.3),
            },
            max(look.ROAD_FROM_ZOOM[rank], look.CASING_FROM_ZOOM) - 1,
        )
        for rank in ranks
    ]
    ways = [
        road(
            f"road-{rank}",
            rank,
            {"line-color": colours.road_fill[rank], "line-width": _widths_by_zoom(look.ROAD_WIDTH_PX[rank])},
            look.ROAD_FROM_ZOOM[rank] - 1,
        )
        for rank in ranks
    ]
    return [paths, *edges, *ways]


def _rails(colours: Palette) -> list[Layer]:
    lines = [
        _layer(
            f"rail-{rank}",
            "line",
            "rails",
            {"line-color": colours.rail, "line-width": _interpolate((8, 0.8), (13, 2.2 if rank == 1 else 1.2))},
            filter=_equals("rank", rank),
            minzoom=start - 1,
        )
        for rank, start in look.RAIL_FROM_ZOOM.items()
    ]
    sleepers = {"line-color": colours.rail_sleepers, "line-width": 1.0, "line-dasharray": [5, 5]}
    return [*lines, _layer("rail-sleepers", "line", "rails", sleepers, filter=_equals("rank", 1), minzoom=13)]


def _borders(colours: Palette, detail: Detail) -> list[Layer]:
    """Return border lines up to the zoom at which they would visibly run through buildings."""
    country = _layer(
        "country-borders",
        "line",
        "borders",
        {"line-color": colours.border, "line-width": _interpolate((1, 0.5), (4, 0.9), (8, 1.6)), "line-opacity": 0.8},
        filter=_equals("class", "country"),
        maxzoom=12,
        layout={"line-join": "round"},
    )
    region = _layer(
        "region-borders",
        "line",
        "borders",
        {
            "line-color": colours.region_border,
            "line-width": _interpolate((3, 0.4), (8, 1.0)),
            "line-dasharray": [3, 2],
            "line-opacity": _interpolate((3, 0.4), (5, 1)),
        },
        filter=_equals("class", "region"),
        minzoom=3,
        maxzoom=12,
    )
    return [region, country] if detail.region_borders else [country]


def _text_paint(colours: Palette, ink: Any, *, halo_px: float = 1.4) -> dict[str, Any]:
    return {"text-color": ink, "text-halo-color": colours.halo, "text-halo-width": halo_px, "text-halo-blur": 0.4}


def _text_layout(font: Sequence[Any], size: Any, **more: Any) -> dict[str, Any]:
    base = {"text-field": _NAME, "text-font": list(font), "text-size": size}
    return {**base, **{key.replace("_", "-"): value for key, value in more.items()}}


def _street_names(colours: Palette) -> list[Layer]:
    return [
        _layer(
            f"street-names-{rank}",
            "symbol",
            "roads",
            _text_paint(colours, colours.street_ink),
            filter=["all", _equals("rank", rank), ["has", "name"]],
            minzoom=start - 1,
            layout=_text_layout(
                _PLAIN,
                _interpolate((start - 1, 10 if rank > 4 else 11), (17, 13 if rank > 4 else 14)),
                symbol_placement="line",
                symbol_spacing=320,
                text_max_angle=35,
                text_padding=6,
                text_letter_spacing=0.02,
            ),
        )
        for rank, start in reversed(look.STREET_NAMES_FROM_ZOOM.items())
    ]


def _area_names(colours: Palette) -> list[Layer]:
    ink = _match("class", {"water": colours.water_ink}, colours.green_ink)
    layout = _text_layout(
        _ITALIC, _interpolate((10, 10), (16, 12.5)), symbol_sort_key=["get", "order"], text_max_width=7
    )
    return [_layer("area-names", "symbol", "names", _text_paint(colours, ink), minzoom=10, layout=layout)]


def _pois(colours: Palette) -> list[Layer]:
    ink = _match("class", colours.poi_ink, colours.poi_ink["other"])
    start = look.POI_FROM_ZOOM - 1
    dots = {
        "circle-color": ink,
        "circle-radius": _interpolate((start, 1.6), (18, 3.2)),
        "circle-stroke-color": colours.halo,
        "circle-stroke-width": 1,
        "circle-opacity": 0.9,
    }
    layout = _text_layout(
        _PLAIN,
        _interpolate((start, 10), (18, 12)),
        text_variable_anchor=["left", "right", "top", "bottom"],
        text_radial_offset=0.55,
        text_justify="auto",
        text_max_width=8,
        text_padding=4,
        symbol_sort_key=["get", "order"],
    )
    return [
        _layer("poi-dots", "circle", "pois", dots, minzoom=start),
        _layer("poi-names", "symbol", "pois", _text_paint(colours, ink), minzoom=start, layout=layout),
    ]


def _build_place_layers(colours: Palette, detail: Detail) -> list[Layer]:
    towns = ["match", ["get", "class"], ["city", "capital", "village"], True, False]
    wide = ["interpolate", ["linear"], ["zoom"]]
    size = [
        *wide, 2, _match("rank", {1: 11.5, 2: 10.5}, 10), 6, _match("rank", {1: 16, 2: 14, 3: 12.5}, 11),
        11, _match("rank", {1: 21, 2: 18, 3: 16, 4: 14.5, 5: 13}, 12),
        16, _match("rank", {1: 24, 2: 21, 3: 18, 4: 16}, 14),
    ]  # fmt: skip
    font = [
        "case",
        ["any", ["<=", ["get", "rank"], 2], _equals("class", "capital")],
        _literal(_STRONG),
        _literal(_PLAIN),
    ]
    dots = _layer(
        "town-dots",
        "circle",
        "places",
        {
            "circle-color": colours.halo,
            "circle-radius": [*wide, 2, 1.3, 8, _match("rank", {1: 3, 2: 2.8, 3: 2.5}, 2)],
            "circle-stroke-color": colours.ink,
            "circle-stroke-width": [*wide, 2, 0.8, 8, 1.2],
            "circle-opacity": 0.95,
        },
        filter=["all", towns, ["has", "population"]],
        minzoom=2,
        maxzoom=9,
    )
    names = _layer(
        "town-names",
        "symbol",
        "places",
        _text_paint(colours, colours.ink),
        filter=towns,
        minzoom=2,
        layout=_text_layout(
            font,
            size,
            text_variable_anchor=["bottom", "top", "left", "right"],
            text_radial_offset=["step", ["zoom"], 0.35, 9, 0],
            text_justify="auto",
            text_max_width=8,
            text_padding=3,
            symbol_sort_key=["get", "order"],
        ),
    )
    quarters = _layer(
        "quarter-names",
        "symbol",
        "places",
        _text_paint(colours, colours.soft_ink),
        filter=_equals("class", "quarter"),
        minzoom=11,
        layout=_text_layout(
            _STRONG,
            _interpolate((11, 10), (16, 13)),
            text_letter_spacing=0.06,
            text_max_width=7,
            text_padding=8,
            symbol_sort_key=["get", "order"],
        ),
    )
    countries = _layer(
        "country-names",
        "symbol",
        "places",
        _text_paint(colours, colours.country_ink, halo_px=1.6),
        filter=_equals("class", "country"),
        maxzoom=min(COUNTRIES_TO_ZOOM + 1, 24) if detail.max_zoom > COUNTRIES_TO_ZOOM else 24,
        layout=_text_layout(
            _STRONG,
            [*wide, 0, _match("rank", {1: 10, 2: 9.5}, 9), 4, _match("rank", {1: 17, 2: 15, 3: 13}, 11.5), 7, 18],
            text_letter_spacing=0.08,
            text_max_width=6,
            text_padding=4,
            symbol_sort_key=["get", "order"],
        ),
    )
    return [dots, *([quarters] if detail.streets else []), names, countries]


def _literal(font: Sequence[str]) -> list[Any]:
    return ["literal", list(font)]
