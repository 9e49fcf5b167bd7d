"""Draw the world's shaded relief as raster tiles, from the altitude grid that comes with the atlas.

Light comes from the north-west. Pixels are black or white, and more opaque the steeper the slope, so that a tile can be
laid over any colour. The grid has cells of 9 km: hills show, valleys do not.
"""

import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from geosleuth.atlas.facts.altitude import altitude_grid
from geosleuth.geo import FloatArray

from .mvt import TileFrame

MAX_ZOOM = 5
SIDE_PX = 256
_MAX_LEVELS = 6
_KM_PER_DEGREE = 111.32
# Vertical exaggeration of slopes, which are gentle between cells of 9 km.
_EXAGGERATION = 18.0

# Fainter shades are not drawn: they show the grid's steps of 28 m in flat land.
_MIN_SHADE = 0.06

_MAX_OPACITY = 150


@lru_cache(maxsize=128)
def relief_tile(z: int, x: int, y: int) -> bytes:
    """Return a tile of shaded relief as PNG.

    Raises:
        BadInput: there is no such tile.
    """
    from PIL import Image

    frame = TileFrame(z, x, y)
    shade = _shade(frame.z, frame.x, frame.y)
    grey = np.where(shade > 0, 255, 0).astype(np.uint8)
    opacity = np.clip((np.abs(shade) - _MIN_SHADE) * 2 * _MAX_OPACITY, 0, _MAX_OPACITY).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(np.dstack([grey, opacity]), "LA").save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _shade(z: int, x: int, y: int) -> FloatArray:
    """Return how much lighter (above 0) or darker (below 0) than flat land each pixel is."""
    count = SIDE_PX * 2**z
    # One more pixel on every side, for the slopes at the edge.
    right = (np.arange(-1, SIDE_PX + 1) + 0.5 + x * SIDE_PX) / count
    down = (np.arange(-1, SIDE_PX + 1) + 0.5 + y * SIDE_PX) / count
    lons = right * 360 - 180
    lats = np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * np.clip(down, 0, 1)))))
    heights_km = _heights(lats, lons, 360 / count) / 1000
    pixel_km = _KM_PER_DEGREE * 360 / count * np.maximum(np.cos(np.radians(lats[1:-1])), 0.05)[:, None]
    # Coarser pixels average slopes out, so smaller scales need more exaggeration.
    exaggeration = _EXAGGERATION * 2 ** (0.45 * (MAX_ZOOM - z))
    east = (heights_km[1:-1, 2:] - heights_km[1:-1, :-2]) / (2 * pixel_km) * exaggeration
    north = (heights_km[:-2, 1:-1] - heights_km[2:, 1:-1]) / (2 * pixel_km) * exaggeration
    slope: FloatArray = (east - north) / np.sqrt(2 * (1 + east**2 + north**2))
    return np.where(heights_km[1:-1, 1:-1] == 0, 0.0, slope)


def _heights(lats: FloatArray, lons: FloatArray, step_deg: float) -> FloatArray:
    """Return the altitude in metres at every pair of a latitude and a longitude, interpolated between cell centres."""
    level = int(np.clip(np.floor(np.log2(max(1.0, step_deg * 12))), 0, _MAX_LEVELS - 1))
    grid = _grids()[level]
    rows, columns = grid.shape
    down = np.clip((90 - lats) * rows / 180 - 0.5, 0, rows - 1.001)
    right = (lons + 180) * columns / 360 - 0.5
    top, left = np.floor(down).astype(int), np.floor(right).astype(int)
    lower, beside = (down - top)[:, None], (right - left)[None, :]
    at = [[grid[np.ix_(top + dy, (left + dx) % columns)] for dx in (0, 1)] for dy in (0, 1)]
    upper_row = at[0][0] * (1 - beside) + at[0][1] * beside
    lower_row = at[1][0] * (1 - beside) + at[1][1] * beside
    heights_m: FloatArray = upper_row * (1 - lower) + lower_row * lower
    return heights_m


@lru_cache(maxsize=1)
def _grids() -> list[NDArray[np.int16]]:
    """Return the altitude grid and coarser versions of it, each with half the resolution of the one before."""
    grid = altitude_grid()
    grids = [grid]
    while len(grids) < _MAX_LEVELS and grid.shape[0] % 2 == 0:
        grid = grid.reshape(grid.shape[0] // 2, 2, grid.shape[1] // 2, 2).mean(axis=(1, 3)).astype(np.int16)
        grids.append(grid)
    return grids
