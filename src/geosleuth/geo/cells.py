"""The Earth cut into numbered cells, of equal angle or of nearly equal area."""

import math
from dataclasses import dataclass
from functools import lru_cache
from operator import index

import numpy as np
import numpy.typing as npt

from .extent import Box
from .point import FloatArray, LatLon

IdArray = npt.NDArray[np.int64]

_FINEST_DEG = 0.001


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Rows of cells `size_deg` high, numbered from the south-west (row by row, eastwards from -180), starting at 0.

    With `equal_area` false every cell is `size_deg` wide. With it true a row has fewer and wider cells the nearer it
    lies to a pole, so that all cells have about the area of one at the equator. For cells of one degree the most
    unequal ones, in the outermost rows, differ from it by 4.7 %; beyond ten rows from the poles by less than 1 %.

    A cell owns its southern and western edge; the northernmost row owns the pole as well. Each pole belongs to the
    first cell of its row and 180 to the same cell as -180, whatever name a point on them goes by.

    Raises:
        ValueError: `size_deg` does not divide 180, or is finer than 0.001.
    """

    size_deg: float = 1.0
    equal_area: bool = False

    def __post_init__(self) -> None:
        if not _FINEST_DEG <= self.size_deg <= 180:
            raise ValueError(f"cell size must lie between {_FINEST_DEG} and 180 degrees, not {self.size_deg}")
        if not math.isclose(self.rows * self.size_deg, 180, rel_tol=1e-9):
            raise ValueError(f"cell size must divide 180 degrees without remainder; {self.size_deg} does not")
        object.__setattr__(self, "size_deg", float(self.size_deg))

    def __len__(self) -> int:
        """Number of cells."""
        return int(self._row_starts()[-1])

    @property
    def rows(self) -> int:
        """Number of rows from pole to pole."""
        return round(180 / self.size_deg)

    def cell_of(self, lat: float | FloatArray, lon: float | FloatArray) -> IdArray:
        """Ids of the cells that own the places; numbers or arrays, broadcast. NaN or out of range gives -1."""
        lats, lons = np.broadcast_arrays(np.asarray(lat, dtype=np.float64), np.asarray(lon, dtype=np.float64))
        valid = (np.abs(lats) <= 90) & (np.abs(lons) <= 180)
        lats = np.where(valid, lats, 0.0)
        lons = np.where(valid & (lons < 180) & (np.abs(lats) < 90), lons, -180.0)
        starts = self._row_starts()
        row = _slot(lats, np.int64(self.rows), -90.0, 180.0)
        column = _slot(lons, np.diff(starts)[row], -180.0, 360.0)
        return np.where(valid, starts[row] + column, np.int64(-1))

    def cell_bounds(self, cell_id: int) -> Box:
        """The cell's edges. Raises IndexError for an id that the grid does not have, TypeError for no whole number."""
        cell_id = index(cell_id)
        starts = self._row_starts()
        if not 0 <= cell_id < starts[-1]:
            raise IndexError(f"this grid has cells 0 to {starts[-1] - 1}, not {cell_id}")
        row = int(np.searchsorted(starts, cell_id, side="right")) - 1
        column, columns = int(cell_id - starts[row]), int(starts[row + 1] - starts[row])
        south, north = (float(_edge(row + step, self.rows, -90.0, 180.0)) for step in (0, 1))
        west, east = (float(_edge(column + step, columns, -180.0, 360.0)) for step in (0, 1))
        return Box(south, west, north, east)

    def cell_centre(self, cell_id: int) -> LatLon:
        """The middle of the cell in degrees. Raises as `cell_bounds` does."""
        bounds = self.cell_bounds(cell_id)
        return LatLon((bounds.south + bounds.north) / 2, (bounds.west + bounds.east) / 2)

    def _row_starts(self) -> IdArray:
        return _row_starts(self.rows, equal_area=self.equal_area)


@lru_cache(maxsize=16)
def _row_starts(rows: int, *, equal_area: bool) -> IdArray:
    """Id of each row's first cell, and the number of cells at the end."""
    columns = np.full(rows, 2 * rows)
    if equal_area:
        edges = np.sin(np.radians(_edge(np.arange(rows + 1), rows, -90.0, 180.0)))
        zone = 2 * np.pi * np.diff(edges)
        columns = np.maximum(1, np.rint(zone / (np.pi / rows) ** 2).astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(columns)]).astype(np.int64)
    starts.setflags(write=False)
    return starts


def _edge(number: int | IdArray, count: int | np.int64 | IdArray, origin: float, length: float) -> float | FloatArray:
    return origin + number * length / count


def _slot(value: FloatArray, count: np.int64 | IdArray, origin: float, length: float) -> IdArray:
    """Which of `count` equal parts of [origin, origin + length] holds the value, by the very edges of `_edge`."""
    guess = np.clip(np.floor((value - origin) * count / length).astype(np.int64), 0, count - 1)
    guess -= value < _edge(guess, count, origin, length)
    guess += value >= _edge(guess + 1, count, origin, length)
    return np.clip(guess, 0, count - 1)
