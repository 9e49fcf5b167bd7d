"""Find positions that are near each other, among a million, with a grid of cells (a spatial hash).

- `in_company` discards positions that have no neighbour in each other set; it may keep a few too many.
- `neighbours` returns pairs of positions that may be within a radius.
- `cell_numbers` and `hash_cells` number the cells.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import EARTH_RADIUS_KM, FloatArray

from .pbf import Ints, spans

Hashes = NDArray[np.uint32]
Positions = tuple[NDArray[Any], NDArray[Any]]
"""Latitudes and longitudes, both in the same unit."""

# Minimum radius for which cells are made: tables of smaller cells would not fit into memory.
MIN_RADIUS_M: Final = 5.0

# Multiplier for cell numbers: a cell's number is its row times this, plus its column.
ROW_STRIDE: Final = 1_000_003

# Offsets from the hash of a cell to its own and to those of its eight neighbours; sums wrap around.
NEIGHBOUR_OFFSETS: Final = np.array(
    [0, -1, 1, -ROW_STRIDE, ROW_STRIDE, -ROW_STRIDE - 1, -ROW_STRIDE + 1, ROW_STRIDE - 1, ROW_STRIDE + 1],
    dtype=np.int64,
).astype(np.uint32)

_SOUTH_WEST: Final = np.array([0, -1, -ROW_STRIDE, -ROW_STRIDE - 1], dtype=np.int64).astype(np.uint32)
_OFFSET: Final = 1 << 26  # larger than any row or column, so that negative ones become positive
_ENTRIES_PER_POSITION: Final = 32  # of the smallest set, each of which marks four
_MIN_BITS, _MAX_BITS = 12, 24  # of the size of the table
_AT_ONCE: Final = 1 << 15  # positions; for larger arrays numpy allocates new memory each time
_NONE: Final = np.empty(0, dtype=np.int64)
_MARGIN: Final = 4  # cells added to each number, so that none is negative
_WIDEST_DEG: Final = 60.0


def hash_cells(rows: FloatArray, columns: FloatArray, shift: float = 0.0) -> Hashes:
    """Return the hash of the cell of each position; few cells share one.

    Args:
        rows: latitudes, in cells.
        columns: longitudes, in cells.
        shift: what to add to both.
    """
    # Processors convert several floats to signed integers at a time, but not to unsigned ones.
    hashes: Hashes = (rows + (_OFFSET + shift)).astype(np.int32).view(np.uint32)
    hashes *= np.uint32(ROW_STRIDE)
    hashes += (columns + (_OFFSET + shift)).astype(np.int32).view(np.uint32)
    return hashes


def in_company(positions: Sequence[Positions], reach: float, wide: float) -> list[Ints]:
    """Return which positions of each set may belong to a group: one position of each set, all within reach.

    A position of a group is never left out. About one in ten of the isolated positions is kept, since cells share
    entries of the table.

    Args:
        positions: two sets or more.
        reach: the largest distance of latitudes, in the unit of the positions.
        wide: the largest distance of longitudes.

    Cells are twice as wide as the reach, so that the box within reach of a position touches at most four cells. A table
    counts for each cell how many sets touch it, the smallest set first. Positions in cells that all sets touch are
    kept.
    """
    smallest_first = sorted(range(len(positions)), key=lambda number: len(positions[number][0]))
    entries = _ENTRIES_PER_POSITION * len(positions[smallest_first[0]][0])
    table = np.zeros(1 << min(max(entries.bit_length(), _MIN_BITS), _MAX_BITS), dtype=np.uint8)
    kept_parts: dict[int, list[tuple[Ints, Hashes]]] = {}
    for step, number in enumerate(smallest_first):
        lats, lons = positions[number]
        kept_parts[number] = parts = []
        for begin in range(0, len(lats), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            kept, cells = _touch(table, step, lats[part] * (0.5 / reach), lons[part] * (0.5 / wide))
            parts.append((kept + begin, cells))
    return [
        np.concatenate([_NONE, *(kept[table.take(cells) == len(smallest_first)] for kept, cells in kept_parts[number])])
        for number in range(len(positions))
    ]


def _touch(table: NDArray[np.uint8], step: int, rows: FloatArray, columns: FloatArray) -> tuple[Ints, Hashes]:
    """Count the cells that a set touches; return its positions in cells that all earlier sets touch, and their cells.

    Args:
        table: for each cell, how many sets touch it.
        step: how many sets came before.
        rows: latitudes, in cells.
        columns: longitudes, in cells.
    """
    last = np.uint32(len(table) - 1)
    cells = hash_cells(rows, columns)
    cells &= last
    if step:
        kept = (table.take(cells) >= step).nonzero()[0]
        rows, columns, cells = rows[kept], columns[kept], cells[kept]
    else:
        kept = np.arange(len(cells))
    north_east = hash_cells(rows, columns, 0.5)
    for corner in _SOUTH_WEST:
        touched = (north_east + corner) & last
        if step:  # cells that an earlier set does not touch no longer matter
            touched = touched[table.take(touched) >= step]
        table[touched] = step + 1
    return kept, cells


def neighbours(here: Positions, there: Positions, radius_m: float) -> tuple[Ints, Ints]:
    """Return pairs of positions that may be within a radius of each other, as indexes into both.

    Args:
        here: latitudes and longitudes in degrees.
        there: the same.
        radius_m: pairs within this are all returned, with some that are farther apart.
    """
    (lats, lons), (other_lats, other_lons) = here, there
    reach = math.degrees(max(radius_m, MIN_RADIUS_M) / 1000 / EARTH_RADIUS_KM) * 1.0000001 + 1e-9
    farthest = max(float(np.abs(lats).max(initial=0.0)), float(np.abs(other_lats).max(initial=0.0))) + reach
    wide = reach / math.cos(math.radians(min(farthest, 89.9999)))
    if wide > _WIDEST_DEG:  # near a pole all longitudes are near each other
        wide = 720.0
    columns = int(360 // wide) + 4  # room to repeat the first columns after the last
    likely, order = np.arange(len(lats)), np.arange(len(other_lats))
    farthest = max(float(np.abs(lons).max(initial=0.0)), float(np.abs(other_lons).max(initial=0.0)))
    if farthest + wide < 180:  # most positions of a long street have no neighbour
        likely, order = in_company([here, there], reach, wide)
    cells = cell_numbers(other_lats[order], 90, reach) * columns + cell_numbers(other_lons[order], 180, wide)
    ascending = cells.argsort(kind="stable")
    cells, order = cells[ascending], order[ascending]
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for shift in (0.0, -360.0, 360.0) if wide <= _WIDEST_DEG else (0.0,):
        turned = lons[likely] + shift
        some = likely[(turned >= -180 - wide) & (turned <= 180 + wide)]
        middle = cell_numbers(lats[some], 90, reach) * columns + cell_numbers(lons[some] + shift, 180, wide)
        along = middle.argsort(kind="stable")  # sorted values are found several times as fast
        some, middle = some[along], middle[along]
        for row in (-columns, 0, columns) if len(some) else ():
            begins = np.searchsorted(cells, middle + row - 1, side="left")
            counts = np.searchsorted(cells, middle + row + 1, side="right") - begins
            found.append((np.repeat(some, counts), order[spans(begins, counts)]))
    item, two = (np.concatenate(column) for column in zip(*found, strict=True))
    return item, two


def cell_numbers(degrees: FloatArray, least: float, wide: float) -> Ints:
    """Return the row or column of each position's cell.

    Args:
        degrees: latitudes or longitudes.
        least: 90 or 180.
        wide: the width of a cell in degrees.
    """
    scaled = degrees * (1 / wide)  # made positive, so that truncation, which is faster, equals floor
    scaled += least / wide + _MARGIN
    return scaled.astype(np.int64)
