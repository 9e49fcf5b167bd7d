"""What a map shows where no region was added: relief, built-up ground, towns, and which way others lie."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageDraw

from geosleuth.geo import FloatArray, LatLon, distance_km

from . import style
from .canvas import Canvas, Strip, View
from .labels import Labels, Lettered
from .layers import MARGIN_PX

Altitudes = Callable[[FloatArray, FloatArray], FloatArray]
"""Metres above the sea of latitudes and longitudes; NaN at sea and where nothing is known."""

Settlement = tuple[LatLon, str, float]
"""Point, name, and how far it reaches in kilometres."""

_STEP_PX = 4
_SHADE, _SHADED_TO_ZOOM = 0.18, 9.0
_BUILT_FROM_ZOOM = 8.0
_POINTERS = 6
_INSET_PX = (76.0, 40.0)
_ARROW_PX, _HEAD_PX = 16.0, 5.0
_LEAST_DISC_PX = 3.0
_POINTER = Lettered(12, style.INK)
_TOWN = Lettered(12, style.INK)
_FEW = 3


def tint_relief(canvas: Canvas, view: View, altitudes: Altitudes) -> None:
    """Colour the land by its height and shade its slopes, lit from the north-west."""
    columns = np.arange(0, view.width + _STEP_PX, _STEP_PX)
    rows = np.arange(0, view.height + _STEP_PX, _STEP_PX)
    left, top = view.origin
    lons = ((left + columns) / view.world_px * 360) % 360 - 180
    lats = np.degrees(np.arctan(np.sinh(math.pi * (1 - 2 * (top + rows) / view.world_px))))
    grid = altitudes(*(one.astype(np.float64) for one in np.meshgrid(lats, lons, indexing="ij")))
    known = np.nan_to_num(grid, nan=0.0)
    steps, colours = zip(*style.RELIEF, strict=True)
    tint = np.stack([np.interp(known, steps, channel) for channel in np.array(colours, dtype=np.float64).T], axis=-1)
    down, right = np.gradient(known, view.metres_per_px * _STEP_PX)
    shade = _SHADE if view.zoom <= _SHADED_TO_ZOOM else 0.0  # closer, the cells of the grid would show
    light = np.clip(1 + shade * np.tanh(20 * (down + right)), 1 - shade, 1.0)[..., None]
    shades: npt.NDArray[np.uint8] = np.clip(tint * light, 0, 255).astype(np.uint8)
    canvas.replace(style.LAND, Image.fromarray(shades), columns[-1], rows[-1])


def paint_settlements(canvas: Canvas, view: View, strips: Sequence[Strip], towns: Iterable[Settlement]) -> None:
    """Built-up ground, as large as the people who live there need."""
    if view.zoom < _BUILT_FROM_ZOOM:
        return
    discs = [
        shapely.Point(*view.pixel(point, strip.turns)).buffer(reach_px)
        for point, _, reach_km in towns
        if (reach_px := 1000 * reach_km / view.metres_per_px) >= _LEAST_DISC_PX
        for strip in strips
    ]
    canvas.fill(np.array(discs, dtype=object), style.LANDUSE["residential"], style.BUILDING)


def name_settlements(labels: Labels, view: View, strips: Sequence[Strip], towns: Iterable[Settlement]) -> int:
    """Dots with names, in the order given; returns how many stand in the picture."""
    shown = 0
    for point, name, _ in towns:
        for strip in strips:
            x, y = view.pixel(point, strip.turns)
            if 0 < x < view.width and 0 < y < view.height:
                shown += 1
                labels.dotted(x, y, [name], _TOWN)
    return shown


def point_beyond(image: Image.Image, labels: Labels, view: View, towns: Iterable[Settlement]) -> None:
    """Arrows at the edges of an empty map to towns beyond them, each with its name and distance from the middle."""
    if view.width < 4 * _INSET_PX[0] or view.height < 4 * _INSET_PX[1]:
        return
    pen = ImageDraw.Draw(image)
    middle_x, middle_y = view.width / 2, view.height / 2
    pointed = 0
    for point, name, _ in towns:
        x, y = view.pixel(point)
        dx, dy = x - middle_x, y - middle_y
        if pointed >= _POINTERS or abs(dx) > view.world_px / 2 or (abs(dx) < middle_x and abs(dy) < middle_y):
            continue
        long = math.hypot(dx, dy)
        tip_x, tip_y = (middle + _to_frame(dx, dy, view, 4) * step for middle, step in ((middle_x, dx), (middle_y, dy)))
        around = (min(tip_x, tip_x - 20 * dx / long), min(tip_y, tip_y - 20 * dy / long))
        free = labels.is_free([(*around, around[0] + 20, around[1] + 20)])
        share = min(_to_frame(dx, 0, view, _INSET_PX[0]), _to_frame(0, dy, view, _INSET_PX[1]))
        told = f"{name}, {distance_km(view.centre, point):.0f} km"
        if free and labels.at(middle_x + share * dx, middle_y + share * dy, [told], _POINTER):
            _arrow(pen, (tip_x, tip_y), (dx / long, dy / long))
            pointed += 1


def _to_frame(dx: float, dy: float, view: View, inset_px: float) -> float:
    """How many times a step from the middle leads to the frame, less an inset."""
    across, down = view.width / 2 - inset_px, view.height / 2 - inset_px
    return min(across / max(abs(dx), 1e-9), down / max(abs(dy), 1e-9))


def _arrow(pen: ImageDraw.ImageDraw, tip: tuple[float, float], way: tuple[float, float]) -> None:
    start = tip[0] - _ARROW_PX * way[0], tip[1] - _ARROW_PX * way[1]
    pen.line((*start, *tip), style.INK, 2)
    back = tip[0] - _HEAD_PX * 1.6 * way[0], tip[1] - _HEAD_PX * 1.6 * way[1]
    across = -way[1] * _HEAD_PX, way[0] * _HEAD_PX
    pen.polygon((*tip, back[0] + across[0], back[1] + across[1], back[0] - across[0], back[1] - across[1]), style.INK)


def draw_towns(image: Image.Image, labels: Labels, view: View, towns: Sequence[Settlement]) -> None:
    """Name the towns in view, and point to others where there are few."""
    strips = list(view.strips(MARGIN_PX))
    if name_settlements(labels, view, strips, towns) < _FEW:
        point_beyond(image, labels, view, towns)
