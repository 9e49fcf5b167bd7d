"""Draw a map offline: land and sea, the shapes of region files, names, pins, scale bar and credit line."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely
from PIL import Image, ImageColor, ImageDraw

from geosleuth.atlas.protocol import Marker, Picture
from geosleuth.geo import Box, LatLon
from geosleuth.support.errors import BadInput

from . import style
from .basemap import Altitudes, Settlement, draw_towns, paint_settlements, tint_relief
from .canvas import Geometries, MapCanvas, MapView, Strip, to_png
from .labels import Labels, LabelStyle, stencil, writable
from .layers import EMPTY, MARGIN_PX, MapLayer, MapPart, cut, is_inside, may_reach, open_region, paint_ground

_COUNTRIES_TO_ZOOM = 7
_MAX_COUNTRIES = 60
_MAX_PLACES = 120
_NAMED_COUNTRY_PX = 1_200
_MAX_STREETS = 250
_TOWNS_FROM_ZOOM = 6.5
_NAMED_AREA_PX = 3_500
_PLACE_STYLE = {
    1: LabelStyle(17, style.INK, bold=True),
    2: LabelStyle(15, style.INK, bold=True),
    3: LabelStyle(14, style.INK, bold=True),
    4: LabelStyle(13, style.INK),
    5: LabelStyle(12, style.INK),
}
_TOWN_SHIFTS_PX = (16, -16, -38)  # a pin often stands right where a town's name would be
_COUNTRY_STYLE = LabelStyle(12, style.COUNTRY_INK, bold=True)
_MINOR_PLACE = LabelStyle(11, style.INK)

MAX_MARKERS = 500
_GAZETTEERS_TO_ZOOM = 10.0
PIN_HEIGHT_PX = 26
_PIN_RADIUS_PX = 8
_OVERSIZE = 4
_PANEL = (255, 255, 255, 190)
Outlines = Callable[[Box, float], Iterable[tuple[shapely.Geometry, str, str]]]
"""Returns the world's shapes inside a box at a zoom: geometry (x = longitude), kind, name.

Kinds are "land" and "country" (filled as land), "lake" (as water) and "region" (only its edge is drawn)."""
PlaceLabels = Callable[[Box, float], Iterable[tuple[LatLon, str, int]]]
"""Returns the places to label inside a box at a zoom: point, name, rank from 1 (a city of millions) to 8."""


def name_countries(labels: Labels, view: MapView, countries: Sequence[tuple[shapely.Geometry, str]]) -> None:
    """Label the countries that fill a fair part of a wide view, the largest first."""
    if view.zoom > _COUNTRIES_TO_ZOOM:
        return
    found = []
    for geometry, name in countries:
        pieces = shapely.get_parts(geometry)
        largest = pieces[int(np.argmax(shapely.area(pieces)))] if len(pieces) else geometry
        visible = cut(largest, 0, 0, view.width, view.height)
        if visible.area > _NAMED_COUNTRY_PX:
            spot = shapely.point_on_surface(visible)
            found.append((visible.area, spot.x, spot.y, name))
    for _, x, y, name in sorted(found, key=lambda country: -country[0])[:_MAX_COUNTRIES]:
        labels.draw_label(x, y, [name], _COUNTRY_STYLE, once=True)


def name_places(
    labels: Labels,
    view: MapView,
    strips: Sequence[Strip],
    place_labels: Callable[[Box, float], Iterable[tuple[LatLon, str, int]]] | None,
    parts: Sequence[MapPart],
) -> None:
    """Label settlements, the most important first; of one rank, those of region files before the world's."""
    places: list[tuple[int, float, float, str]] = []
    for part in parts:
        layer = part.layers.get("place", EMPTY)
        points = shapely.get_coordinates(shapely.centroid(layer.geometries))
        for (x, y), rank, name in zip(points.tolist(), layer.ranks.tolist(), layer.names, strict=True):
            if name:
                places.append((rank, x, y, name))
    if place_labels is not None:
        for strip in strips:
            for point, name, rank in place_labels(strip.box, view.zoom):
                places.append((rank, *view.pixel(point, strip.turns), name))
    places.sort(key=lambda place: place[0])
    for rank, x, y, name in places[: 4 * _MAX_PLACES]:
        shifts = _TOWN_SHIFTS_PX if rank <= 3 else ()
        labels.draw_label(x, y, [name], _PLACE_STYLE.get(max(rank, 1), _MINOR_PLACE), shifts_px=shifts, once=True)


def name_shapes(labels: Labels, view: MapView, parts: Sequence[MapPart]) -> None:
    """Label the largest waters and parks, then streets by importance, then smaller areas, then points of interest."""
    streets: dict[str, tuple[int, list[shapely.Geometry]]] = {}
    for part in parts:
        layer = part.layers.get("road", EMPTY)
        for geometry, rank, name in zip(layer.geometries, layer.ranks.tolist(), layer.names, strict=True):
            if name and view.zoom >= style.STREET_NAMES_FROM_ZOOM.get(rank, 99):
                best, lines = streets.setdefault(name, (rank, []))
                lines.append(geometry)
                streets[name] = (min(best, rank), lines)
    areas = _find_named_areas(view, parts)
    for x, y, name, ink in areas[:12]:
        labels.draw_label(x, y, [name], LabelStyle(12, ink))
    order = sorted(streets.items(), key=lambda street: street[1][0])
    for name, (rank, lines) in order[:_MAX_STREETS]:
        size_px = 12 if rank <= 4 and view.zoom >= 15 else 11
        labels.along(np.array(lines, dtype=object), [name], LabelStyle(size_px, style.STREET_INK))
    for x, y, name, ink in areas[12:40]:
        labels.draw_label(x, y, [name], LabelStyle(11, ink))
    if view.zoom >= style.POI_FROM_ZOOM:
        _name_pois(labels, view, parts)


def _find_named_areas(view: MapView, parts: Sequence[MapPart]) -> list[tuple[float, float, str, str]]:
    """Return x, y, name and ink of waters and green areas with room for a name, the largest first."""
    found = []
    for part in parts:
        for layer_name, ink in (("water", style.WATER_INK), ("green", style.GREEN_INK)):
            layer = part.layers.get(layer_name, EMPTY)
            large = (shapely.area(layer.geometries) > _NAMED_AREA_PX) & np.array(
                [bool(n) for n in layer.names], dtype=bool
            )
            for i in np.flatnonzero(large):
                visible = cut(layer.geometries[i], 0, 0, view.width, view.height)
                if visible.area > _NAMED_AREA_PX:
                    spot = shapely.point_on_surface(visible)
                    found.append((visible.area, spot.x, spot.y, layer.names[i], ink))
    found.sort(key=lambda area: -area[0])
    return [(x, y, name, ink) for _, x, y, name, ink in found]


def _name_pois(labels: Labels, view: MapView, parts: Sequence[MapPart]) -> None:
    """Draw a dot and a name for points of interest, up to a number that depends on the zoom."""
    max_pois = 24 if view.zoom < 17 else 60
    for part in parts:
        shown = 0
        for poi in part.region.pois(part.strip):
            x, y = view.pixel(poi.point, part.strip.turns)
            ink = style.POI_INK[style.poi_family(poi.kind) or "other"]
            if 0 < x < view.width and 0 < y < view.height:
                shown += labels.draw_dot_label(x, y, [poi.name], LabelStyle(11, ink))
            if shown >= max_pois:
                break


def check_markers(markers: Sequence[Marker]) -> None:
    """Check that markers can be drawn.

    Raises:
        BadInput: there are too many, or a colour is invalid.
    """
    if len(markers) > MAX_MARKERS:
        raise BadInput(f"a map takes up to {MAX_MARKERS} markers, not {len(markers)}")
    for marker in markers:
        _colour(marker.colour)


def draw_markers(image: Image.Image, view: MapView, markers: Sequence[Marker], labels: Labels) -> None:
    """Draw pins with their tips on the points, and their labels; the first marker is on top."""
    spots = [
        (marker, *view.pixel(marker.point, strip.turns)) for marker in markers for strip in view.strips(PIN_HEIGHT_PX)
    ]
    visible = [(m, x, y) for m, x, y in spots if -20 < x < view.width + 20 and -2 < y < view.height + PIN_HEIGHT_PX + 2]
    for marker, x, y in reversed(visible):
        _paste_pin(image, x, y, _colour(marker.colour))
        labels.block((x - 9, y - PIN_HEIGHT_PX - 1, x + 9, y + 2))
    for marker, x, y in visible:
        if marker.label:
            middle = y - PIN_HEIGHT_PX + _PIN_RADIUS_PX
            labels.draw_label(
                x, middle, [marker.label], LabelStyle(13, style.INK, bold=True), beside_px=_PIN_RADIUS_PX + 2
            )


def draw_scale_bar(image: Image.Image, view: MapView, labels: Labels) -> None:
    """Draw a bar of a round length in the lower left corner and keep other labels off it."""
    length_m, text = _round_length(view.metres_per_px * min(110, view.width / 3))
    length_px = length_m / view.metres_per_px
    drawn = stencil([text], 11)
    width, height = max(round(length_px), drawn.size[0]) + 8, drawn.size[1] + 6
    if width + 8 > image.width or height + 8 > image.height:
        return
    left, top = 4, image.height - height - 4
    _panel(image, (left, top, left + width, top + height))
    image.paste(style.INK, (left + 4, top - 1), drawn)
    pen = ImageDraw.Draw(image)
    base = top + height - 5
    pen.line(
        (left + 4, base - 4, left + 4, base, left + 4 + length_px, base, left + 4 + length_px, base - 4), style.INK
    )
    labels.block((left, top, left + width, top + height))


def draw_credit(image: Image.Image, text: str, labels: Labels | None = None) -> None:
    """Write the attribution in the lower right corner and keep other labels off it."""
    shown = writable([text])
    if not shown:
        return
    drawn = stencil([shown], 10)
    width, height = drawn.size
    left, top = image.width - width, image.height - height
    _panel(image, (left, top, image.width, image.height))
    image.paste(style.INK, (left, top), drawn)
    if labels:
        labels.block((left, top, image.width, image.height))


def _panel(image: Image.Image, box: tuple[int, int, int, int]) -> None:
    pale = Image.new("RGBA", (box[2] - box[0], box[3] - box[1]), _PANEL)
    image.paste(pale.convert("RGB"), box[:2], pale.getchannel("A"))


def _paste_pin(image: Image.Image, x: float, y: float, colour: tuple[int, int, int]) -> None:
    """Draw a pin with a white dot, antialiased by drawing it large and reducing it."""
    width, height = 2 * _PIN_RADIUS_PX + 4, PIN_HEIGHT_PX + 4
    pin = Image.new("RGBA", (width * _OVERSIZE, height * _OVERSIZE))
    pen = ImageDraw.Draw(pin)
    for grow, fill in ((1.5, (255, 255, 255, 255)), (0.0, (*colour, 255))):
        radius = (_PIN_RADIUS_PX + grow) * _OVERSIZE
        middle_x, middle_y = width / 2 * _OVERSIZE, (_PIN_RADIUS_PX + 2) * _OVERSIZE
        tip = (PIN_HEIGHT_PX + 2 + grow) * _OVERSIZE
        pen.ellipse((middle_x - radius, middle_y - radius, middle_x + radius, middle_y + radius), fill=fill)
        pen.polygon(
            (middle_x - radius * 0.87, middle_y + radius * 0.5, middle_x + radius * 0.87, middle_y + radius * 0.5,
             middle_x, tip),
            fill=fill,
        )  # fmt: skip
    dot = 3 * _OVERSIZE
    pen.ellipse((middle_x - dot, middle_y - dot, middle_x + dot, middle_y + dot), fill=(255, 255, 255, 255))
    small = pin.reduce(_OVERSIZE)
    image.paste(small.convert("RGB"), (round(x - width / 2), round(y - PIN_HEIGHT_PX - 2)), small.getchannel("A"))


def _round_length(max_m: float) -> tuple[float, str]:
    """Return the longest round length (1, 2 or 5 times a power of ten) up to a limit, and its label."""
    power = 10.0 ** (len(str(int(max(max_m, 1)))) - 1)
    length_m = max((step * power for step in (1, 2, 5) if step * power <= max(max_m, 1)), default=1.0)
    return length_m, f"{length_m / 1000:g} km" if length_m >= 1000 else f"{length_m:g} m"


def _colour(text: str) -> tuple[int, int, int]:
    try:
        red, green, blue = ImageColor.getrgb(text)[:3]
    except ValueError:
        raise BadInput(f"{text[:40]!r} is not a colour; use one such as #c4002f or red") from None
    return red, green, blue


@dataclass(frozen=True, slots=True)
class MapSources:
    """The data that a map is drawn from: region files and, where there are none, shapes and names of the world.

    Attributes:
        regions: region files.
        outlines: returns the land and borders of the world.
        place_labels: returns the places of the world to label.
        base_attribution: whom to credit for ``outlines`` and ``place_labels``.
        towns: returns the settlements in and around a view without regions, those to label first in front.
        altitudes: returns the altitudes that colour the land outside regions.
        gazetteers: files with lakes, rivers and names for wide views; coarser than regions, so not used in closer
            views of a region.
    """

    regions: Sequence[Path] = ()
    outlines: Outlines | None = None
    place_labels: PlaceLabels | None = None
    base_attribution: str = ""
    towns: Callable[[MapView], Sequence[Settlement]] | None = None
    altitudes: Altitudes | None = None
    gazetteers: Sequence[Path] = ()


def draw_map(
    sources: MapSources,
    centre: LatLon,
    zoom: float = 15,
    size: tuple[int, int] = (640, 640),
    markers: Sequence[Marker] = (),
) -> Picture:
    """Draw a map in Web Mercator as PNG.

    Raises:
        BadInput: the zoom is outside 0 to 20, the size is outside 1 to 2048, there are too many markers, a colour is
            invalid, or a region file is damaged.
    """
    view = MapView(centre, zoom, *size)
    check_markers(markers)
    with ExitStack() as stack:
        regions = [stack.enter_context(open_region(path)) for path in sources.regions]
        strips = list(view.strips(MARGIN_PX))
        parts = [
            MapPart(region, strip, region.layers(view, strip))
            for region in regions
            for strip in strips
            if may_reach(region.bounds, strip)
        ]
        canvas = MapCanvas(view.width, view.height, style.SEA if sources.outlines else style.LAND)
        countries = paint_ground(canvas, view, strips, sources.outlines, parts)
        is_empty = not any(part.layers for part in parts)
        if is_empty and sources.altitudes is not None:
            tint_relief(canvas, view, sources.altitudes)
        towns = sources.towns(view) if is_empty and sources.towns is not None else ()
        paint_settlements(canvas, view, strips, towns)
        if view.zoom < _GAZETTEERS_TO_ZOOM or not parts:
            gazetteers = [stack.enter_context(open_region(path)) for path in sources.gazetteers]
            parts += [MapPart(file, strip, file.layers(view, strip)) for file in gazetteers for strip in strips]
        _paint_shapes(canvas, [part.layers for part in parts], view)
        _paint_outside_world(canvas, view)
        image = canvas.reduce()
        labels = Labels(image)
        credit = _credit(view, parts, sources.base_attribution if sources.outlines or sources.place_labels else "")
        draw_credit(image, credit, labels)
        draw_scale_bar(image, view, labels)
        draw_markers(image, view, markers, labels)
        if towns and view.zoom >= _TOWNS_FROM_ZOOM:
            draw_towns(image, labels, view, towns)
        name_countries(labels, view, countries)
        name_places(labels, view, strips, sources.place_labels, parts)
        name_shapes(labels, view, parts)
    return Picture(png=to_png(image), extent=view.box, attribution=credit, source="map")


def _paint_shapes(canvas: MapCanvas, parts: Sequence[dict[str, MapLayer]], view: MapView) -> None:
    """Paint the layers between land and labels from the bottom up, each for all regions at once."""
    zoom = view.zoom

    def layers(name: str) -> list[MapLayer]:
        return [part[name] for part in parts if name in part]

    for kind, colour in style.LANDUSE.items():
        for layer in layers("landuse"):
            canvas.fill(layer.of_name(kind), colour)
    for layer in layers("green"):
        canvas.fill(layer.geometries, style.GREEN)
    for layer in layers("coast"):
        canvas.stroke(layer.geometries, style.COAST_LINE, 1)
    _paint_waters(canvas, layers("water"), zoom)
    _paint_paved(canvas, layers("landuse"), view.metres_per_px)
    for layer in layers("building"):
        canvas.fill(layer.geometries, style.BUILDING, style.BUILDING_EDGE if zoom >= 15 else None)
    roads = layers("road")
    _paint_paths(canvas, roads, zoom)
    _paint_roads(canvas, roads, zoom)
    for layer in layers("rail"):
        _paint_rails(canvas, layer, zoom)


def _paint_waters(canvas: MapCanvas, waters: Sequence[MapLayer], zoom: float) -> None:
    """Paint river lines, then water areas over them, as the lines continue through lakes and wide rivers."""
    for layer in waters:
        for rank, widths in style.RIVER_WIDTH_PX.items():
            lines = _lines_only(layer, rank)
            if len(lines) and zoom >= style.RIVER_FROM_ZOOM[rank]:
                canvas.stroke(lines, style.WATER_LINE, style.at_zoom(widths, zoom))
    for layer in waters:
        canvas.fill(layer.geometries, style.SEA)


def _paint_paved(canvas: MapCanvas, landuse: Sequence[MapLayer], metres_per_px: float) -> None:
    for kind, colour in style.PAVED.items():
        for layer in landuse:
            surfaces = layer.of_name(kind)
            canvas.fill(surfaces, colour)
            if kind in style.RUNWAY_WIDTH_M:
                canvas.stroke(surfaces, colour, max(1.0, style.RUNWAY_WIDTH_M[kind] / metres_per_px))


def _lines_only(layer: MapLayer, rank: int) -> Geometries:
    chosen = layer.of_rank(rank)
    lines: Geometries = chosen[shapely.get_dimensions(chosen) == 1]
    return lines


def _paint_paths(canvas: MapCanvas, roads: Sequence[MapLayer], zoom: float) -> None:
    if zoom >= style.ROAD_FROM_ZOOM[style.PATH_RANK]:
        width = style.at_zoom(style.ROAD_WIDTH_PX[style.PATH_RANK], zoom)
        for layer in roads:
            canvas.dashes(layer.of_rank(style.PATH_RANK), style.PATH, width, 3, 2.5)


def _paint_roads(canvas: MapCanvas, roads: Sequence[MapLayer], zoom: float) -> None:
    """Paint all casings, then all fills, minor roads first, so that no casing crosses a junction."""
    shown = [rank for rank, start in style.ROAD_FROM_ZOOM.items() if zoom >= start and rank != style.PATH_RANK]
    cased = zoom >= style.CASING_FROM_ZOOM
    strokes = [
        (rank, canvas.paths(layer.of_rank(rank)), style.at_zoom(style.ROAD_WIDTH_PX[rank], zoom))
        for rank in reversed(shown)
        for layer in roads
    ]
    if cased:
        for rank, paths, width_px in strokes:
            canvas.stroke(paths, style.ROAD_CASING[rank], width_px + 1.6)
    for rank, paths, width_px in strokes:
        colours = style.ROAD_FILL if cased or rank <= 3 else style.ROAD_CASING
        canvas.stroke(paths, colours[rank], width_px)


def _paint_rails(canvas: MapCanvas, layer: MapLayer, zoom: float) -> None:
    for rank, start in style.RAIL_FROM_ZOOM.items():
        if zoom >= start:
            lines = layer.of_rank(rank)
            wide = 2.4 if rank == 1 and zoom >= 14 else 1.2
            canvas.stroke(lines, style.RAIL, wide)
            if wide > 2:
                canvas.dashes(lines, style.RAIL_SLEEPERS, wide - 1.2, 5, 5)


def _paint_outside_world(canvas: MapCanvas, view: MapView) -> None:
    top, bottom = view.world_rows
    canvas.rectangle(0, 0, view.width, min(top, view.height), style.OUTSIDE_WORLD)
    canvas.rectangle(0, max(bottom, 0), view.width, view.height, style.OUTSIDE_WORLD)


def _credit(view: MapView, parts: Sequence[MapPart], base: str) -> str:
    """Return the attributions of all data in view."""
    named = [part.region.attribution for part in parts if part.layers or is_inside(view, part)] + [base]
    return " · ".join(dict.fromkeys(name for name in named if name))
