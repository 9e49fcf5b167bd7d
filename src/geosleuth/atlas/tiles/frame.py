"""One tile of the Web Mercator plane: where it lies, and the way from other coordinates to its own units."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely

from geosleuth.atlas.maps.shapes import cut
from geosleuth.atlas.maps.view import View
from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, LatLon

from .mvt import EXTENT, Geometries

MAX_ZOOM = 16
"""Closer views stretch these tiles: a unit is about 15 cm there."""

BUFFER = 64
"""Units beyond the edge that shapes are kept for, so that strokes don't end there."""

# A tile is shown until the next zoom begins, at up to twice its size; maps count zooms by tiles of 256 pixels, pages
# by tiles of 512. So a tile is the drawn map of one to two zooms further on. It is filled as for the first of these,
# which keeps wide views calm, and from the zoom of houses on as for one halfway between.
_CLOSE_FROM = 14
_AHEAD, _AHEAD_CLOSE = 0.99, 1.49
_VIEW_PX, _VIEW_PX_CLOSE = 512, 724
TILE_PX = 512
"""How wide a page shows a tile when its zoom begins."""

_WHOLE_WORLD = View(LatLon(0, 0), 0, 256, 256)


@dataclass(frozen=True)
class Frame:
    """A tile by zoom, column and row.

    Raises:
        BadInput: there is no such tile.
    """

    z: int
    x: int
    y: int

    def __post_init__(self) -> None:
        if not 0 <= self.z <= MAX_ZOOM:
            raise BadInput(f"tiles have zooms from 0 to {MAX_ZOOM}, not {self.z}")
        if not (0 <= self.x < 1 << self.z and 0 <= self.y < 1 << self.z):
            raise BadInput(
                f"at zoom {self.z} columns and rows run from 0 to {(1 << self.z) - 1}, not {self.x}, {self.y}"
            )

    @cached_property
    def view(self) -> View:
        """The tile as a picture of the drawn maps, a few pixels wider, at the closest zoom that it is shown at."""
        count = 1 << self.z
        down = math.pi * (1 - 2 * (self.y + 0.5) / count)
        centre = LatLon(math.degrees(math.atan(math.sinh(down))), (self.x + 0.5) / count * 360 - 180)
        close = self.z >= _CLOSE_FROM
        px = _VIEW_PX_CLOSE if close else _VIEW_PX
        return View(centre, self.z + (_AHEAD_CLOSE if close else _AHEAD), px, px)

    @property
    def units_per_px(self) -> float:
        """Of the view's pixels."""
        return EXTENT * (1 << self.z) / self.view.world_px

    def from_view(self, geometries: Geometries) -> Geometries:
        """The same shapes in the tile's units, out of the view's pixels."""
        return _moved(geometries, self.units_per_px, EXTENT / 2 - self.view.width / 2 * self.units_per_px)

    def from_plane(self, geometries: Geometries, turns: int = 0) -> Geometries:
        """The same shapes in the tile's units, out of shares of the whole plane."""
        scale = float(EXTENT * (1 << self.z))
        return _moved(geometries, scale, np.array([turns * scale - self.x * EXTENT, -self.y * EXTENT]))

    def spots(self, plane: FloatArray) -> tuple[FloatArray, np.ndarray]:
        """Points of the plane in the tile's units, and which of them lie in it: each point is in one tile only."""
        spots = plane * (EXTENT * (1 << self.z)) - np.array([self.x * EXTENT, self.y * EXTENT])
        return spots, ((spots >= 0) & (spots < EXTENT)).all(axis=1)

    @property
    def reach(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom with the buffer, as shares of the plane."""
        count, margin = 1 << self.z, BUFFER / EXTENT
        return (
            (self.x - margin) / count,
            (self.y - margin) / count,
            (self.x + 1 + margin) / count,
            (self.y + 1 + margin) / count,
        )


def on_plane(lonlat: FloatArray) -> FloatArray:
    """Rows of (longitude, latitude) as shares of the plane: 0 to 1 eastwards and southwards."""
    shares: FloatArray = _WHOLE_WORLD.pixels(lonlat) / 256
    return shares


def clipped(geometries: Geometries, rectangle: tuple[float, float, float, float]) -> Geometries:
    """The part of each shape that lies in a rectangle, perhaps nothing; what lies wholly inside stays as it is."""
    left, top, right, bottom = rectangle
    west, north, east, south = shapely.bounds(geometries).T
    with np.errstate(invalid="ignore"):
        near = (west <= right) & (east >= left) & (north <= bottom) & (south >= top)
        across = near & ~((west >= left) & (east <= right) & (north >= top) & (south <= bottom))
    out: Geometries = np.where(near, geometries, shapely.Point())
    try:
        out[across] = shapely.clip_by_rect(out[across], *rectangle)
    except shapely.GEOSException:
        # One of them is too broken; the others need not suffer for it.
        out[across] = [cut(geometry, *rectangle) for geometry in geometries[across]]
    # Of a ring that crosses itself, or meets the edge in an odd way, the quick way may leave the whole rectangle.
    full = np.flatnonzero(across)[shapely.area(out[across]) > 0.999 * (right - left) * (bottom - top)]
    flooded = full[~shapely.contains_xy(geometries[full], (left + right) / 2, (top + bottom) / 2)]
    out[flooded] = shapely.intersection(shapely.make_valid(geometries[flooded]), shapely.box(*rectangle))
    return out


def in_buffer(geometries: Geometries) -> Geometries:
    """Shapes in a tile's units, cut off at its buffer."""
    return clipped(geometries, (-BUFFER, -BUFFER, EXTENT + BUFFER, EXTENT + BUFFER))


def _moved(geometries: Geometries, scale: float, shift: float | FloatArray) -> Geometries:
    out = geometries.copy()
    moved: Geometries = shapely.set_coordinates(out, shapely.get_coordinates(out) * scale + shift)
    return moved
