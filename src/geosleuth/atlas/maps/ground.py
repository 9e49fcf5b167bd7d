"""The ground of a map: land and sea, from the coastlines of regions and from outlines of the world elsewhere."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import shapely

from geosleuth.geo import Box

from . import style
from .canvas import Canvas, Geometries
from .land import Rectangle, divide
from .shapes import EMPTY, Part, to_pixels
from .view import Strip, View

_COAST_FROM_ZOOM = 8.5  # coarser maps take the outlines, which are made for them
_BORDERS_TO_ZOOM = 11.5  # outlines are too coarse to show a border closer than that
_WIDER = (4, 16)
NamedShape = tuple[shapely.Geometry, str]


def paint_ground(
    canvas: Canvas,
    view: View,
    strips: Sequence[Strip],
    outlines: Callable[[Box, float], Iterable[tuple[shapely.Geometry, str, str]]] | None,
    parts: Sequence[Part],
) -> list[NamedShape]:
    """Paint land and sea; returns the countries that outlines gave, in pixels."""
    countries: list[NamedShape] = []
    if outlines is not None:
        for strip in strips:
            countries += _paint_outlines(canvas, view, strip, list(outlines(strip.box, view.zoom)))
    if outlines is None or view.zoom >= _COAST_FROM_ZOOM:
        for part in parts:
            _paint_region(canvas, view, part)
    return countries


def _paint_outlines(
    canvas: Canvas, view: View, strip: Strip, found: Sequence[tuple[shapely.Geometry, str, str]]
) -> list[NamedShape]:
    geometries = np.empty(len(found), dtype=object)
    geometries[:] = [geometry for geometry, _, _ in found]
    geometries = to_pixels(geometries, view, strip.turns)
    kinds = np.array([kind for _, kind, _ in found], dtype=object)
    canvas.fill(geometries[(kinds == "land") | (kinds == "country")], style.LAND)
    canvas.fill(geometries[kinds == "lake"], style.SEA)
    if view.zoom < _BORDERS_TO_ZOOM:
        if view.zoom >= 4:
            canvas.stroke(geometries[kinds == "region"], style.REGION_BORDER, 0.7)
        canvas.stroke(
            geometries[kinds == "country"], style.BORDER, 0.4 if view.zoom < 3.5 else 0.8 if view.zoom < 6 else 1.2
        )
    named = zip(geometries, found, strict=True)
    return [(geometry, name) for geometry, (_, kind, name) in named if kind == "country" and name]


def _paint_region(canvas: Canvas, view: View, part: Part) -> None:
    """Land and sea inside one region's frame; where its coast is out of view, by what stands there or lies around."""
    area = _area(view, part)
    if area is None:
        return
    coast = part.layers.get("coast", EMPTY).geometries
    ground = divide(coast, area)
    if ground is not None:
        canvas.fill(ground.sea, style.SEA)
        canvas.fill(ground.land, style.LAND)
        return
    if _stands_on_land(part):
        canvas.rectangle(*area, style.LAND)
        return
    for times in _WIDER:
        wider, rectangle = _wider(view, part, times)
        ground = divide(wider, rectangle)
        if ground is not None:
            middle = shapely.Point((area[0] + area[2]) / 2, (area[1] + area[3]) / 2)
            at_sea = bool(shapely.intersects(ground.sea, middle).any())
            canvas.rectangle(*area, style.SEA if at_sea else style.LAND)
            return


def is_inside(view: View, part: Part) -> bool:
    """Whether the picture shows ground inside the region's frame."""
    return _area(view, part) is not None


def _stands_on_land(part: Part) -> bool:
    """Whether the view shows something that only land bears."""
    if any(len(part.layers.get(name, EMPTY).geometries) for name in ("building", "green")):
        return True
    return not style.OVER_WATER.issuperset(part.layers.get("landuse", EMPTY).names)


def _wider(view: View, part: Part, times: int) -> tuple[Geometries, Rectangle]:
    """The coast of a frame so many times as large as the view, and that frame."""
    more = view.width * (times - 1) / 2
    strip = next((s for s in view.strips(more) if s.turns == part.strip.turns), part.strip)
    return part.region.coast(view, strip, more), (-more, -more, view.width + more, view.height + more)


def _area(view: View, part: Part) -> Rectangle | None:
    """The part of the picture that lies inside the region's frame, a little beyond the picture's edge."""
    edge = 8.0
    left, top, right, bottom = -edge, -edge, view.width + edge, view.height + edge
    if part.region.bounds is not None:
        south, west, north, east = part.region.bounds
        if west <= east:
            corners = view.pixels(np.array([[west, north], [east, south]]), part.strip.turns)
            left, top = max(left, corners[0, 0]), max(top, corners[0, 1])
            right, bottom = min(right, corners[1, 0]), min(bottom, corners[1, 1])
    return (left, top, right, bottom) if right - left > 1 and bottom - top > 1 else None
