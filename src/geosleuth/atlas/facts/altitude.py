"""Look up altitude and roughness of the land in a world grid of a twelfth of a degree (9 km at the equator).

The grid is coarse: altitudes are averages of cells in steps of 28 m, which show neither summits nor gorges.
"""

import struct
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FloatArray, LatLon
from geosleuth.support.errors import DataFault

from .countries import read_bytes

_ROWS: Final = 2160
_COLUMNS: Final = 4320
_BAND_ROWS: Final = 12
_BANDS: Final = _ROWS // _BAND_ROWS
_CELLS_PER_DEGREE: Final = 12
_STEP_M, _LOWEST_M, _NO_DATA = 28, -450, 255
_CACHED_BANDS: Final = 32

Roughness = Literal["flat", "rolling", "hilly", "mountainous"]
_ROUGH: Final[tuple[tuple[float, Roughness], ...]] = ((60, "flat"), (200, "rolling"), (600, "hilly"))


@dataclass(frozen=True, slots=True)
class Terrain:
    """The altitude at a point, the lowest and highest cells around it, and the roughness in a word."""

    altitude_m: int
    lowest_m: int
    highest_m: int
    roughness: Roughness


def terrain_at(point: LatLon) -> Terrain | None:
    """Return the terrain at a point from its cell and the eight around it; None at sea."""
    row = min(_ROWS - 1, int((90 - point.lat) * _CELLS_PER_DEGREE))
    column = int((point.lon + 180) * _CELLS_PER_DEGREE) % _COLUMNS
    columns = np.arange(column - 1, column + 2) % _COLUMNS
    around = np.stack([_row(number)[columns] for number in range(max(0, row - 1), min(_ROWS, row + 2))])
    cell = _row(row)[column]
    land = around[around != _NO_DATA]
    if cell == _NO_DATA:
        # Near a coast, a point on land may lie in a cell that counts as sea.
        if not len(land):
            return None
        cell = land.min()
    altitude, lowest, highest = (_LOWEST_M + _STEP_M * int(value) for value in (cell, land.min(), land.max()))
    return Terrain(altitude, lowest, highest, _roughness(highest - lowest))


def altitudes_at(lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Return metres above sea level at many points, interpolated between cell centres; NaN at sea."""
    down = np.clip((90 - lats) * _CELLS_PER_DEGREE - 0.5, 0, _ROWS - 1.001)
    right = (lons + 180) * _CELLS_PER_DEGREE - 0.5
    top, left = np.floor(down).astype(int), np.floor(right).astype(int)
    total, weights = np.zeros_like(down), np.zeros_like(down)
    for below in (0, 1):
        for beside in (0, 1):
            cells = _cells(top + below, (left + beside) % _COLUMNS)
            weight = np.abs(1 - below - (down - top)) * np.abs(1 - beside - (right - left)) * (cells != _NO_DATA)
            total, weights = total + weight * (_LOWEST_M + _STEP_M * cells.astype(float)), weights + weight
    return np.divide(total, weights, out=np.full_like(total, np.nan), where=weights > 0)


def altitude_grid() -> NDArray[np.int16]:
    """Return the altitudes of all cells in metres, from north-west to south-east; 0 at sea. Takes 19 MB."""
    cells = np.concatenate([_band(number) for number in range(_BANDS)])
    return np.where(cells == _NO_DATA, 0, _LOWEST_M + _STEP_M * cells.astype(np.int16)).astype(np.int16)


def _cells(rows: NDArray[np.int_], columns: NDArray[np.int_]) -> NDArray[np.uint8]:
    cells = np.empty(rows.shape, dtype=np.uint8)
    for number in np.unique(rows):
        here = rows == number
        cells[here] = _row(int(number))[columns[here]]
    return cells


def _roughness(height_m: int) -> Roughness:
    return next((word for limit_m, word in _ROUGH if height_m < limit_m), "mountainous")


def _row(number: int) -> NDArray[np.uint8]:
    row: NDArray[np.uint8] = _band(number // _BAND_ROWS)[number % _BAND_ROWS]
    return row


@cache
def _file() -> tuple[bytes, tuple[int, ...]]:
    data = read_bytes("altitude.bin")
    head = struct.calcsize(f"<{_BANDS}I")
    if len(data) < head:
        raise DataFault("a table of the atlas is damaged: altitude.bin")
    ends = np.cumsum(struct.unpack(f"<{_BANDS}I", data[:head])) + head
    return data, (head, *ends.tolist())


@lru_cache(maxsize=_CACHED_BANDS)
def _band(number: int) -> NDArray[np.uint8]:
    """Return a band of rows of the grid."""
    data, starts = _file()
    try:
        steps = np.frombuffer(zlib.decompress(data[starts[number] : starts[number + 1]]), dtype=np.uint8)
        rows: NDArray[np.uint8] = np.cumsum(steps.reshape(_BAND_ROWS, _COLUMNS), axis=1, dtype=np.uint8)
    except (zlib.error, ValueError) as error:
        raise DataFault("a table of the atlas is damaged: altitude.bin") from error
    return rows
