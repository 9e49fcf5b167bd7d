"""The grid of cells laid over the world, and which cells a border runs through.

Coordinates here are units of 1e-5 degree counted from the south-west corner of the world, so never negative. Cell
edges lie half a unit off the whole numbers: no vertex of a border can ever lie on one.
"""

import numpy as np
import numpy.typing as npt

from .arcs import UNITS_PER_DEGREE, Arcs, Ints

CELL = 2_000
"""Units along the side of a fine cell: 0.02 degrees."""

PER_BLOCK = 10
"""Fine cells along the side of a block (0.2 degrees)."""

COLUMNS = 360 * UNITS_PER_DEGREE // CELL
ROWS = 180 * UNITS_PER_DEGREE // CELL
BLOCK_COLUMNS = COLUMNS // PER_BLOCK
BLOCK_ROWS = ROWS // PER_BLOCK
EAST = 180 * UNITS_PER_DEGREE
NORTH = 90 * UNITS_PER_DEGREE

CELL_OFFSET = 0.5
SLACK = 1e-3
"""Units by which cells are widened when a border is traced through them, far more than rounding can err."""

EDGES_AT_ONCE = 1 << 17
"""Edges traced at a time, to bound the memory that tracing takes."""

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def cells_of(steps: Floats, limit: int) -> Ints:
    """The row or column of positions counted from the corner, kept within the grid."""
    return np.clip(np.floor((steps + CELL_OFFSET) / CELL), 0, limit - 1).astype(np.int32)


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Every whole number from ``first[i]`` to ``last[i]``, and the ``i`` of each."""
    counts = last - first + 1
    owner = np.repeat(np.arange(len(first), dtype=np.int32), counts)
    shift = first - (np.cumsum(counts, dtype=np.int32) - counts)
    return owner, np.arange(len(owner), dtype=np.int32) + np.repeat(shift, counts)


def touched_cells(arcs: Arcs) -> tuple[Ints, Ints]:
    """All pairs of a fine cell (row * COLUMNS + column) and an edge that may touch it; none that touches is left out.

    Returns the cells and, for each, the position of its edge in ``arcs.edges()``, sorted by cell.
    """
    at = arcs.edges()
    x, y = arcs.x + np.int32(EAST), arcs.y + np.int32(NORTH)
    some = []
    for begin in range(0, len(at), EDGES_AT_ONCE):
        part = at[begin : begin + EDGES_AT_ONCE]
        cells, edge = _touched(x[part], y[part], x[part + 1], y[part + 1])
        some.append((cells.astype(np.int64) << 32) + (edge + begin))  # one number to sort by is several times as fast
    pairs = np.concatenate(some) if some else np.zeros(0, dtype=np.int64)
    pairs.sort()
    return (pairs >> 32).astype(np.int32), pairs.astype(np.int32)  # the lower half is the edge


def _touched(x0: Ints, y0: Ints, x1: Ints, y1: Ints) -> tuple[Ints, Ints]:
    first, last = (np.minimum(keep(x0, x1) // CELL, COLUMNS - 1) for keep in (np.minimum, np.maximum))
    row_first, row_last = (np.minimum(keep(y0, y1) // CELL, ROWS - 1) for keep in (np.minimum, np.maximum))
    slanted = np.flatnonzero((first != last) & (row_first != row_last))
    simple = np.flatnonzero((first == last) | (row_first == row_last))  # in one column or one row all cells are touched

    turn, column_a = spread(first[simple], last[simple])
    edge_a = simple[turn]
    turn, column_b = spread(first[slanted], last[slanted])
    edge_b = slanted[turn]
    west, east = np.minimum(x0, x1)[edge_b], np.maximum(x0, x1)[edge_b]
    wall = column_b * float(CELL) - CELL_OFFSET
    slope = ((y1 - y0) / np.where(x1 == x0, 1, x1 - x0))[edge_b]
    start_x, start_y = x0[edge_b], y0[edge_b]
    one = start_y + (np.maximum(wall - SLACK, west) - start_x) * slope
    two = start_y + (np.minimum(wall + CELL + SLACK, east) - start_x) * slope

    column, edge = np.concatenate([column_a, column_b]), np.concatenate([edge_a, edge_b])
    low = np.concatenate([row_first[edge_a], cells_of(np.minimum(one, two) - SLACK, ROWS)])
    high = np.concatenate([row_last[edge_a], cells_of(np.maximum(one, two) + SLACK, ROWS)])
    piece, row = spread(low, high)
    return row * np.int32(COLUMNS) + column[piece], edge[piece].astype(np.int32)


def corner_labels(arcs: Arcs) -> npt.NDArray[np.uint16]:
    """The zone at the south-west corner of every fine cell, by sweeping each row of corners from west to east."""
    at = arcs.edges()
    arc = arcs.arc_of_edge()
    x0, y0 = (arcs.x[at] + EAST).astype(np.float64), (arcs.y[at] + NORTH).astype(np.float64)
    x1, y1 = (arcs.x[at + 1] + EAST).astype(np.float64), (arcs.y[at + 1] + NORTH).astype(np.float64)
    east_of = np.where(y1 > y0, arcs.right[arc], arcs.left[arc])
    # Row r's corners lie at r * CELL - 0.5: an edge crosses it where one end is below and the other above.
    low = np.ceil((np.minimum(y0, y1) + CELL_OFFSET) / CELL).astype(np.int32)
    high = np.floor((np.maximum(y0, y1) + CELL_OFFSET) / CELL).astype(np.int32)
    crossing = np.flatnonzero((high >= low) & (low < ROWS))
    turn, row = spread(low[crossing], np.minimum(high[crossing], ROWS - 1))
    edge = crossing[turn]
    height = row * float(CELL) - CELL_OFFSET
    where = x0[edge] + (height - y0[edge]) * ((x1 - x0) / np.where(y1 == y0, 1, y1 - y0))[edge]
    order = np.lexsort((where, row))
    where, zone = where[order], east_of[edge][order]
    bounds = np.searchsorted(row[order], np.arange(ROWS + 1))
    corners = np.arange(COLUMNS) * float(CELL) - CELL_OFFSET
    labels = np.zeros((ROWS, COLUMNS), dtype=np.uint16)
    for number in range(ROWS):
        here = slice(bounds[number], bounds[number + 1])
        known = np.concatenate([np.zeros(1, dtype=np.uint16), zone[here]])
        labels[number] = known[np.searchsorted(where[here], corners, side="right")]
    return labels
