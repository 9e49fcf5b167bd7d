"""Find positions that are near each other, among a million, by cells of a grid."""

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

NARROWEST_M: Final = 5.0  # tables of narrower cells would not fit into memory
ROW: Final = 1_000_003
BESIDE: Final = np.array([0, -1, 1, -ROW, ROW, -ROW - 1, -ROW + 1, ROW - 1, ROW + 1], dtype=np.int64).astype(np.uint32)
"""From the hash of a cell to its own and to those of the cells around it; sums start again at zero."""

_SOUTH_WEST: Final = np.array([0, -1, -ROW, -ROW - 1], dtype=np.int64).astype(np.uint32)
_ABOVE: Final = 1 << 26  # more than there are cells south of the equator or west of Greenwich
_ROOM: Final = 32  # entries for each position of the smallest set, which marks four
_LEAST_BITS, _MOST_BITS = 12, 24
_AT_ONCE: Final = 1 << 15  # positions: larger arrays would be new memory each time
_NONE: Final = np.empty(0, dtype=np.int64)
_WEST: Final = 4  # cells west of the first one
_WIDEST: Final = 60.0


def hashed_cells(rows: FloatArray, columns: FloatArray, shift: float = 0.0) -> Hashes:
    """Return a number for the cell of each position, given in cells; few cells share one."""
    # By way of signed numbers, which processors convert several at a time.
    hashes: Hashes = (rows + (_ABOVE + shift)).astype(np.int32).view(np.uint32)
    hashes *= np.uint32(ROW)
    hashes += (columns + (_ABOVE + shift)).astype(np.int32).view(np.uint32)
    return hashes


def in_company(positions: Sequence[Positions], reach: float, wide: float) -> list[Ints]:
    """Return the positions of each set that may belong to a group: one of each set, all within reach of each other.

    None that does is left out. Of those with nothing near about one in ten is kept, since cells share entries.

    Args:
        positions: two sets or more.
        reach: how far is near, in the unit of the positions.
        wide: how many units of longitude that is.

    Cells are twice as wide as the reach, so that the reach of a position touches four cells at most. A table counts
    for each cell how many sets touch it, the smallest set first. Positions are kept that lie in a cell which all sets
    touch.
    """
    order = sorted(range(len(positions)), key=lambda number: len(positions[number][0]))
    room = _ROOM * len(positions[order[0]][0])
    table = np.zeros(1 << min(max(room.bit_length(), _LEAST_BITS), _MOST_BITS), dtype=np.uint8)
    asked: dict[int, list[tuple[Ints, Hashes]]] = {}
    for step, number in enumerate(order):
        lats, lons = positions[number]
        asked[number] = parts = []
        for begin in range(0, len(lats), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            kept, cells = _touch(table, step, lats[part] * (0.5 / reach), lons[part] * (0.5 / wide))
            parts.append((kept + begin, cells))
    return [
        np.concatenate([_NONE, *(kept[table.take(cells) == len(order)] for kept, cells in asked[number])])
        for number in range(len(positions))
    ]


def _touch(table: NDArray[np.uint8], step: int, rows: FloatArray, columns: FloatArray) -> tuple[Ints, Hashes]:
    """Count the cells that a set touches; return its positions in cells that all sets before do, and these cells."""
    last = np.uint32(len(table) - 1)
    cells = hashed_cells(rows, columns)
    cells &= last
    if step:
        kept = (table.take(cells) == step).nonzero()[0]
        rows, columns, cells = rows[kept], columns[kept], cells[kept]
    else:
        kept = np.arange(len(cells))
    north_east = hashed_cells(rows, columns, 0.5)
    for corner in _SOUTH_WEST:
        touched = (north_east + corner) & last
        if step:  # cells that one of the sets before does not touch matter no more
            touched = touched[table.take(touched) >= step]
        table[touched] = step + 1
    return kept, cells


def neighbours(here: Positions, there: Positions, radius_m: float) -> tuple[Ints, Ints]:
    """Return pairs of positions, in degrees, that may be no farther from each other than a radius."""
    (lats, lons), (other_lats, other_lons) = here, there
    reach = math.degrees(max(radius_m, NARROWEST_M) / 1000 / EARTH_RADIUS_KM) * 1.0000001 + 1e-9
    farthest = max(float(np.abs(lats).max(initial=0.0)), float(np.abs(other_lats).max(initial=0.0))) + reach
    wide = reach / math.cos(math.radians(min(farthest, 89.9999)))
    if wide > _WIDEST:  # around a pole all longitudes are near
        wide = 720.0
    columns = int(360 // wide) + 4  # beside the last there is room for the first ones again
    likely, order = np.arange(len(lats)), np.arange(len(other_lats))
    farthest = max(float(np.abs(lons).max(initial=0.0)), float(np.abs(other_lons).max(initial=0.0)))
    if farthest + wide < 180:  # most of a long street has none of the others anywhere near
        likely, order = in_company([here, there], reach, wide)
    cells = cell_numbers(other_lats[order], 90, reach) * columns + cell_numbers(other_lons[order], 180, wide)
    ascending = cells.argsort(kind="stable")
    cells, order = cells[ascending], order[ascending]
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for shift in (0.0, -360.0, 360.0) if wide <= _WIDEST else (0.0,):
        turned = lons[likely] + shift
        some = likely[(turned >= -180 - wide) & (turned <= 180 + wide)]
        middle = cell_numbers(lats[some], 90, reach) * columns + cell_numbers(lons[some] + shift, 180, wide)
        along = middle.argsort(kind="stable")  # what ascends is looked up several times as fast
        some, middle = some[along], middle[along]
        for row in (-columns, 0, columns) if len(some) else ():
            begins = np.searchsorted(cells, middle + row - 1, side="left")
            counts = np.searchsorted(cells, middle + row + 1, side="right") - begins
            found.append((np.repeat(some, counts), order[spans(begins, counts)]))
    one, two = (np.concatenate(column) for column in zip(*found, strict=True))
    return one, two


def cell_numbers(degrees: FloatArray, least: float, wide: float) -> Ints:
    """Return the number of each cell, all larger by the same: to cut is faster than to floor, but for negative ones."""
    scaled = degrees * (1 / wide)
    scaled += least / wide + _WEST
    return scaled.astype(np.int64)
