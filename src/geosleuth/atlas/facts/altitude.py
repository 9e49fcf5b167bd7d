"""Look up altitude and roughness of the land in a world grid of a twelfth of a degree (9 km at the equator).

The grid is coarse: altitudes are averages of cells in steps of 28 m, which show neither summits nor gorges.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FloatArray, LatLon

from .grids import WorldGrid

_GRID: Final = WorldGrid("altitude.bin", 2160, np.add, axis=1)
_CELLS_PER_DEGREE: Final = 12
_STEP_M, _LOWEST_M, _NO_DATA = 28, -450, 255

Roughness = Literal["flat", "rolling", "hilly", "mountainous"]
_ROUGH: Final[tuple[tuple[float, Roughness], ...]] = ((60, "flat"), (200, "rolling"), (600, "hilly"))


@dataclass(frozen=True, slots=True)
class Terrain:
    """The altitude at a point, the lowest and highest cells around it, and the roughness in a word."""

    altitude_m: int
    lowest_m: int
    highest_m: int
    roughness: Roughness


def find_terrain(point: LatLon) -> Terrain | None:
    """Return the terrain at a point from its cell and the eight around it; None at sea."""
    row, column = _GRID.find_cell(point)
    columns = np.arange(column - 1, column + 2) % _GRID.columns
    around = np.stack([_GRID.row(number)[columns] for number in range(max(0, row - 1), min(_GRID.rows, row + 2))])
    cell = _GRID.row(row)[column]
    land = around[around != _NO_DATA]
    if cell == _NO_DATA:
        # Near a coast, a point on land may lie in a cell that counts as sea.
        if not len(land):
            return None
        cell = land.min()
    altitude, lowest, highest = (_LOWEST_M + _STEP_M * int(value) for value in (cell, land.min(), land.max()))
    return Terrain(altitude, lowest, highest, _roughness(highest - lowest))


def interpolate_altitudes(lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Return metres above sea level at many points, interpolated between cell centres; NaN at sea."""
    down = np.clip((90 - lats) * _CELLS_PER_DEGREE - 0.5, 0, _GRID.rows - 1.001)
    right = (lons + 180) * _CELLS_PER_DEGREE - 0.5
    top, left = np.floor(down).astype(int), np.floor(right).astype(int)
    total, weights = np.zeros_like(down), np.zeros_like(down)
    for below in (0, 1):
        for beside in (0, 1):
            cells = _cells(top + below, (left + beside) % _GRID.columns)
            weight = np.abs(1 - below - (down - top)) * np.abs(1 - beside - (right - left)) * (cells != _NO_DATA)
            total, weights = total + weight * (_LOWEST_M + _STEP_M * cells.astype(float)), weights + weight
    return np.divide(total, weights, out=np.full_like(total, np.nan), where=weights > 0)


def altitude_grid() -> NDArray[np.int16]:
    """Return the altitudes of all cells in metres, from north-west to south-east; 0 at sea. Takes 19 MB."""
    cells = np.stack([_GRID.row(number) for number in range(_GRID.rows)])
    return np.where(cells == _NO_DATA, 0, _LOWEST_M + _STEP_M * cells.astype(np.int16)).astype(np.int16)


def _cells(rows: NDArray[np.int_], columns: NDArray[np.int_]) -> NDArray[np.uint8]:
    cells = np.empty(rows.shape, dtype=np.uint8)
    for number in np.unique(rows):
        here = rows == number
        cells[here] = _GRID.row(int(number))[columns[here]]
    return cells


def _roughness(height_m: int) -> Roughness:
    return next((word for limit_m, word in _ROUGH if height_m < limit_m), "mountainous")
