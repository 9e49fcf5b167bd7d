"""Maps drawn offline: land and sea, what region files hold, names, pins."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import shapely

from geosleuth.atlas.model import Marker, Picture
from geosleuth.geo import Box, LatLon

from . import style
from .canvas import Canvas, Geometries
from .furniture import check_markers, draw_credit, draw_markers, draw_scale_bar
from .ground import is_inside, paint_ground
from .labels import Labels
from .naming import name_countries, name_places, name_shapes
from .png import to_png
from .shapes import MARGIN_PX, Layer, Part, RegionFile, open_region
from .view import Strip, View

Outlines = Callable[[Box, float], Iterable[tuple[shapely.Geometry, str, str]]]
"""Shapes of the whole world inside a box at a zoom: geometry (x = longitude), kind, name.

Kinds are "land" and "country" (filled as land), "lake" (as water) and "region" (only its edge is drawn)."""

PlaceLabels = Callable[[Box, float], Iterable[tuple[LatLon, str, int]]]
"""Places to name inside a box at a zoom: point, name, rank from 1 (a city of millions) to 8."""


@dataclass(frozen=True, slots=True)
class MapSources:
    """What a map is drawn from: region files, and shapes and names of the world where there are none."""

    regions: Sequence[Path] = ()
    outlines: Outlines | None = None
    place_labels: PlaceLabels | None = None
    base_attribution: str = ""


def draw_map(
    sources: MapSources,
    centre: LatLon,
    zoom: float = 15,
    size: tuple[int, int] = (640, 640),
    markers: Sequence[Marker] = (),
) -> Picture:
    """A map as PNG, in Web Mercator.

    Raises:
        BadInput: zoom outside 0 to 20, size outside 1 to 2048, a colour that is none, a damaged region file.
    """
    view = View(centre, zoom, *size)
    check_markers(markers)
    with ExitStack() as stack:
        regions = [stack.enter_context(open_region(path)) for path in sources.regions]
        strips = list(view.strips(MARGIN_PX))
        parts = [
            Part(region, strip, region.layers(view, strip))
            for region in regions
            for strip in strips
            if _meet(region, strip)
        ]
        canvas = Canvas(view.width, view.height, style.SEA if sources.outlines else style.LAND)
        countries = paint_ground(canvas, view, strips, sources.outlines, parts)
        _paint_shapes(canvas, [part.layers for part in parts], view)
        _paint_beyond(canvas, view)
        image = canvas.reduced()
        labels = Labels(image)
        credit = _credit(view, parts, sources.base_attribution if sources.outlines or sources.place_labels else "")
        draw_credit(image, credit, labels)
        draw_scale_bar(image, view, labels)
        draw_markers(image, view, markers, labels)
        name_countries(labels, view, countries)
        name_places(labels, view, strips, sources.place_labels, parts)
        name_shapes(labels, view, parts)
    return Picture(png=to_png(image), extent=view.box, attribution=credit, source="map")


def _meet(region: RegionFile, strip: Strip) -> bool:
    """Whether a region has anything to show there; one that does not say how far it reaches may."""
    if region.bounds is None:
        return True
    south, west, north, east = region.bounds
    if west > east:
        return True
    # whole ways reach beyond the frame of an extract
    slack = 0.2
    return (
        south - slack < strip.north
        and north + slack > strip.south
        and west - slack < strip.east
        and east + slack > strip.west
    )


def _paint_shapes(canvas: Canvas, parts: Sequence[dict[str, Layer]], view: View) -> None:
    """Everything between the ground and the names, from the bottom up, each layer of all regions together."""
    zoom = view.zoom

    def layers(name: str) -> list[Layer]:
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


def _paint_waters(canvas: Canvas, waters: Sequence[Layer], zoom: float) -> None:
    """Lines first: those of rivers run on through their own areas and lakes."""
    for layer in waters:
        for rank, widths in style.RIVER_WIDTH_PX.items():
            lines = _lines_only(layer, rank)
            if len(lines) and zoom >= style.RIVER_FROM_ZOOM[rank]:
                canvas.stroke(lines, style.WATER_LINE, style.at_zoom(widths, zoom))
    for layer in waters:
        canvas.fill(layer.geometries, style.SEA)


def _paint_paved(canvas: Canvas, landuse: Sequence[Layer], metres_per_px: float) -> None:
    for kind, colour in style.PAVED.items():
        for layer in landuse:
            surfaces = layer.of_name(kind)
            canvas.fill(surfaces, colour)
            if kind in style.RUNWAY_WIDTH_M:
                canvas.stroke(surfaces, colour, max(1.0, style.RUNWAY_WIDTH_M[kind] / metres_per_px))


def _lines_only(layer: Layer, rank: int) -> Geometries:
    chosen = layer.of_rank(rank)
    lines: Geometries = chosen[shapely.get_dimensions(chosen) == 1]
    return lines


def _paint_paths(canvas: Canvas, roads: Sequence[Layer], zoom: float) -> None:
    if zoom >= style.ROAD_FROM_ZOOM[style.PATH_RANK]:
        width = style.at_zoom(style.ROAD_WIDTH_PX[style.PATH_RANK], zoom)
        for layer in roads:
            canvas.dashes(layer.of_rank(style.PATH_RANK), style.PATH, width, 3, 2.5)


def _paint_roads(canvas: Canvas, roads: Sequence[Layer], zoom: float) -> None:
    """All edges first and then all roadways, the smallest roads first: so crossings stay open."""
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


def _paint_rails(canvas: Canvas, layer: Layer, zoom: float) -> None:
    for rank, start in style.RAIL_FROM_ZOOM.items():
        if zoom >= start:
            lines = layer.of_rank(rank)
            wide = 2.4 if rank == 1 and zoom >= 14 else 1.2
            canvas.stroke(lines, style.RAIL, wide)
            if wide > 2:
                canvas.dashes(lines, style.RAIL_SLEEPERS, wide - 1.2, 5, 5)


def _paint_beyond(canvas: Canvas, view: View) -> None:
    """Above and below the plane there is nothing to show."""
    top, bottom = view.world_rows
    canvas.rectangle(0, 0, view.width, min(top, view.height), style.BEYOND)
    canvas.rectangle(0, max(bottom, 0), view.width, view.height, style.BEYOND)


def _credit(view: View, parts: Sequence[Part], base: str) -> str:
    named = [part.region.attribution for part in parts if part.layers or is_inside(view, part)] + [base]
    return " · ".join(dict.fromkeys(name for name in named if name))
