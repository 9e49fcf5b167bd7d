"""Draw what a map shows where no region was added: relief, built-up areas, towns, and arrows to distant ones."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import shapely
from PIL import Image, ImageDraw

from geosleuth.geo import FloatArray, LatLon, distance_km

from . import style
from .canvas import MapCanvas, MapView, Strip
from .labels import Labels, LabelStyle
from .layers import MARGIN_PX

Altitudes = Callable[[FloatArray, FloatArray], FloatArray]
"""Maps latitudes and longitudes to metres above sea level; NaN at sea and where unknown."""

Settlement = tuple[LatLon, str, float]
"""Point, name and radius in kilometres."""

_GRID_PX = 4
_SHADE, _SHADED_TO_ZOOM = 0.18, 9.0
_BUILT_FROM_ZOOM = 8.0
_MAX_ARROWS = 6
_ARROW_TEXT_INSET_PX = (76.0, 40.0)
_ARROW_PX, _HEAD_PX = 16.0, 5.0
_MIN_DISC_RADIUS_PX = 3.0
_ARROW_LABEL = LabelStyle(12, style.INK)
_TOWN_LABEL = LabelStyle(12, style.INK)
_ENOUGH_TOWNS = 3


def tint_relief(canvas: MapCanvas, view: MapView, altitudes: Altitudes) -> None:
    """Tint the land by altitude and shade its slopes, lit from the north-west."""
    columns = np.arange(0, view.width + _GRID_PX, _GRID_PX)
    rows = np.arange(0, view.height + _GRID_PX, _GRID_PX)
    left, top = view.origin
    lons = ((left + columns) / view.world_px * 360) % 360 - 180
    lats = np.degrees(np.arctan(np.sinh(math.pi * (1 - 2 * (top + rows) / view.world_px))))
    grid = altitudes(*(axis.astype(np.float64) for axis in np.meshgrid(lats, lons, indexing="ij")))
    heights_m = np.nan_to_num(grid, nan=0.0)
    steps, colours = zip(*style.RELIEF, strict=True)
    channels = np.array(colours, dtype=np.float64).T
    tint = np.stack([np.interp(heights_m, steps, channel) for channel in channels], axis=-1)
    down, right = np.gradient(heights_m, view.metres_per_px * _GRID_PX)
    shade = _SHADE if view.zoom <= _SHADED_TO_ZOOM else 0.0  # at closer zooms the cells of the grid would show
    light = np.clip(1 + shade * np.tanh(20 * (down + right)), 1 - shade, 1.0)[..., None]
    shades: npt.NDArray[np.uint8] = np.clip(tint * light, 0, 255).astype(np.uint8)
    canvas.replace(style.LAND, Image.fromarray(shades), columns[-1], rows[-1])


def paint_settlements(canvas: MapCanvas, view: MapView, strips: Sequence[Strip], towns: Iterable[Settlement]) -> None:
    """Fill the built-up area of each town as a disc of the town's radius."""
    if view.zoom < _BUILT_FROM_ZOOM:
        return
    discs = [
        shapely.Point(*view.pixel(point, strip.turns)).buffer(reach_px)
        for point, _, reach_km in towns
        if (reach_px := 1000 * reach_km / view.metres_per_px) >= _MIN_DISC_RADIUS_PX
        for strip in strips
    ]
    canvas.fill(np.array(discs, dtype=object), style.LANDUSE["residential"], style.BUILDING)


def name_settlements(labels: Labels, view: MapView, strips: Sequence[Strip], towns: Iterable[Settlement]) -> int:
    """Draw a dot and a name for each town, in the order given; return how many towns are in view."""
    shown = 0
    for point, name, _ in towns:
        for strip in strips:
            x, y = view.pixel(point, strip.turns)
            if 0 < x < view.width and 0 < y < view.height:
                shown += 1
                labels.draw_dot_label(x, y, [name], _TOWN_LABEL)
    return shown


def draw_arrows(image: Image.Image, labels: Labels, view: MapView, towns: Iterable[Settlement]) -> None:
    """Draw arrows at the edges towards towns outside the view, each with the name and distance from the centre."""
    if view.width < 4 * _ARROW_TEXT_INSET_PX[0] or view.height < 4 * _ARROW_TEXT_INSET_PX[1]:
        return
    pen = ImageDraw.Draw(image)
    middle_x, middle_y = view.width / 2, view.height / 2
    arrows = 0
    for point, name, _ in towns:
        x, y = view.pixel(point)
        dx, dy = x - middle_x, y - middle_y
        if arrows >= _MAX_ARROWS or abs(dx) > view.world_px / 2 or (abs(dx) < middle_x and abs(dy) < middle_y):
            continue
        length = math.hypot(dx, dy)
        tip_x, tip_y = (middle + _to_frame(dx, dy, view, 4) * step for middle, step in ((middle_x, dx), (middle_y, dy)))
        left, top = min(tip_x, tip_x - 20 * dx / length), min(tip_y, tip_y - 20 * dy / length)
        free = labels.is_free([(left, top, left + 20, top + 20)])
        share = min(_to_frame(dx, 0, view, _ARROW_TEXT_INSET_PX[0]), _to_frame(0, dy, view, _ARROW_TEXT_INSET_PX[1]))
        text = f"{name}, {distance_km(view.centre, point):.0f} km"
        if free and labels.draw_label(middle_x + share * dx, middle_y + share * dy, [text], _ARROW_LABEL):
            _arrow(pen, (tip_x, tip_y), (dx / length, dy / length))
            arrows += 1


def _to_frame(dx: float, dy: float, view: MapView, inset_px: float) -> float:
    """Return the factor by which to scale a vector from the centre so that it ends at the frame, less an inset."""
    across, down = view.width / 2 - inset_px, view.height / 2 - inset_px
    return min(across / max(abs(dx), 1e-9), down / max(abs(dy), 1e-9))


def _arrow(pen: ImageDraw.ImageDraw, tip: tuple[float, float], direction: tuple[float, float]) -> None:
    start = tip[0] - _ARROW_PX * direction[0], tip[1] - _ARROW_PX * direction[1]
    pen.line((*start, *tip), style.INK, 2)
    back = tip[0] - _HEAD_PX * 1.6 * direction[0], tip[1] - _HEAD_PX * 1.6 * direction[1]
    across = -direction[1] * _HEAD_PX, direction[0] * _HEAD_PX
    pen.polygon((*tip, back[0] + across[0], back[1] + across[1], back[0] - across[0], back[1] - across[1]), style.INK)


def draw_towns(image: Image.Image, labels: Labels, view: MapView, towns: Sequence[Settlement]) -> None:
    """Label the towns in view; if there are few, draw arrows to others outside it."""
    strips = list(view.strips(MARGIN_PX))
    if name_settlements(labels, view, strips, towns) < _ENOUGH_TOWNS:
        draw_arrows(image, labels, view, towns)
