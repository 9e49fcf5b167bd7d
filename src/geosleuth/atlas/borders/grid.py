"""Which zone a point is in, for millions of points: a look into the grid, and near a border an exact test.

In a cell that borders run through, walk from its south-west corner, whose zone is known, north to the point's height
and then east to the point. The last border crossed on the way tells the zone by the side one comes out on; with
none crossed it is the corner's. Only the few edges within the cell matter, so the test needs no polygon.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from .arcs import UNITS_PER_DEGREE, Labels
from .cells import (
    BLOCK_COLUMNS,
    CELL,
    CELL_OFFSET,
    COLUMNS,
    EAST,
    NORTH,
    PER_BLOCK,
    ROWS,
    Floats,
    touched_cells,
)
from .layer import Layer, blocks_of

NUDGE = 1e-4
"""Units (a tenth of a millimetre) that points are moved north and east, so that none is level with a vertex."""

CHUNK = 1 << 16
THREADS = 2
Numbers = npt.NDArray[np.int32]


class Grid:
    """A layer made ready for look-ups. Safe to use from several threads."""

    def __init__(self, layer: Layer) -> None:
        cells, edge = touched_cells(layer.arcs)
        begin = np.flatnonzero(np.diff(cells, prepend=-1))
        border_cells = cells[begin]
        self._begin: Numbers = np.append(begin, len(cells)).astype(np.int32)
        arcs = layer.arcs
        # Copied in the order of the cells, so that the edges of one cell are read from one place.
        at, arc = arcs.edges()[edge], arcs.arc_of_edge()[edge]
        ends = (arcs.x[at] + EAST, arcs.y[at] + NORTH, arcs.x[at + 1] + EAST, arcs.y[at + 1] + NORTH)
        self._ends: Numbers = np.stack(ends, axis=1).astype(np.int32, copy=False)
        self._sides: Labels = np.stack([arcs.left[arc], arcs.right[arc]], axis=1)

        numbers = blocks_of(border_cells)
        coarse = layer.coarse.astype(np.int32).reshape(-1)
        coarse[numbers] = -1 - np.arange(len(numbers), dtype=np.int32)
        self._coarse: Numbers = coarse
        row, column = np.divmod(border_cells, np.int32(COLUMNS))
        block = -1 - coarse[row // PER_BLOCK * BLOCK_COLUMNS + column // PER_BLOCK]
        place = block * PER_BLOCK**2 + row % PER_BLOCK * PER_BLOCK + column % PER_BLOCK
        fine = layer.blocks.astype(np.int32).reshape(-1)
        self._border_cells = border_cells
        self._corner: Labels = fine[place].astype(np.uint16)
        fine[place] = -1 - np.arange(len(place), dtype=np.int32)
        self._fine: Numbers = fine

    def labels(self, lats: Floats, lons: Floats) -> Labels:
        """The zone label of each point; 0 for what is no point (NaN, out of range). One-dimensional arrays."""
        found = np.zeros(len(lats), dtype=np.uint16)
        parts = [slice(begin, begin + CHUNK) for begin in range(0, len(lats), CHUNK)]

        def work(part: slice) -> None:
            found[part] = self._chunk(lats[part], lons[part])

        if len(parts) > 2:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(work, parts))
        else:
            for part in parts:
                work(part)
        return found

    def edges_in(self, cells: Numbers) -> tuple[Floats, Labels]:
        """The edges in any of these fine cells (row * COLUMNS + column): ends as x, y, x, y, labels left and right."""
        at = np.minimum(np.searchsorted(self._border_cells, cells), len(self._border_cells) - 1)
        edge = self._pairs(at[self._border_cells[at] == cells])[1]
        return self._ends[edge].astype(np.float64), self._sides[edge]

    def _chunk(self, lats: Floats, lons: Floats) -> Labels:
        valid = (np.abs(lats) <= 90) & (np.abs(lons) <= 180)
        if not valid.all():
            found = np.zeros(len(lats), dtype=np.uint16)
            found[valid] = self._chunk(lats[valid], lons[valid])
            return found
        y = lats * UNITS_PER_DEGREE
        y += NORTH + NUDGE
        x = lons * UNITS_PER_DEGREE
        x += EAST + NUDGE
        x[x > 2 * EAST] -= 2 * EAST  # 180 and -180 are one meridian
        row = ((y + CELL_OFFSET) * (1 / CELL)).astype(np.int32)
        column = ((x + CELL_OFFSET) * (1 / CELL)).astype(np.int32)
        np.minimum(row, ROWS - 1, out=row)
        np.minimum(column, COLUMNS - 1, out=column)
        block_row, block_column = row // PER_BLOCK, column // PER_BLOCK
        found_i = self._coarse[block_row * BLOCK_COLUMNS + block_column]
        in_block = np.flatnonzero(found_i < 0)
        place = (-1 - found_i[in_block]) * PER_BLOCK**2
        place += (row - block_row * PER_BLOCK)[in_block] * PER_BLOCK + (column - block_column * PER_BLOCK)[in_block]
        fine = self._fine[place]
        found_i[in_block] = fine
        at_border = in_block[fine < 0]
        if len(at_border):
            cell = -1 - found_i[at_border]
            found_i[at_border] = self._exact(
                cell,
                x[at_border],
                y[at_border],
                row[at_border] * CELL - CELL_OFFSET,
                column[at_border] * CELL - CELL_OFFSET,
            )
        labels: Labels = found_i.astype(np.uint16)
        return labels

    def _exact(self, cell: Numbers, x: Floats, y: Floats, south: Floats, west: Floats) -> Labels:
        found = self._corner[cell]
        owner, edge = self._pairs(cell)
        ends = self._ends[edge]
        height = y[owner]
        level = np.flatnonzero((ends[:, 1] <= height) != (ends[:, 3] <= height))
        x0, y0, x1, y1 = ends[level].T
        owner, edge = owner[level], edge[level]
        cross = x0 + (height[level] - y0) * ((x1 - x0) / (y1 - y0))
        passed = np.flatnonzero((cross <= x[owner]) & (cross > west[owner]))
        east_side = (y1 > y0)[passed].astype(np.intp)  # of a rising edge the right side
        met = self._settle(found, owner[passed], cross[passed], self._sides[edge[passed], east_side])

        rest = np.flatnonzero(~met)
        turn, edge = self._pairs(cell[rest])
        owner = rest[turn].astype(np.int32)
        ends = self._ends[edge]
        wall = west[owner]
        level = np.flatnonzero((ends[:, 0] < wall) != (ends[:, 2] < wall))
        x0, y0, x1, y1 = ends[level].T
        owner, edge = owner[level], edge[level]
        cross = y0 + (wall[level] - x0) * ((y1 - y0) / (x1 - x0))
        passed = np.flatnonzero((cross <= y[owner]) & (cross > south[owner]))
        north_side = (x1 < x0)[passed].astype(np.intp)  # of a westward edge the right side
        self._settle(found, owner[passed], cross[passed], self._sides[edge[passed], north_side])
        return found

    def _pairs(self, cell: Numbers) -> tuple[Numbers, Numbers]:
        """Every point with every edge in its cell: the point's place in ``cell``, and the edge."""
        begin = self._begin[cell]
        counts = self._begin[cell + 1] - begin
        owner = np.repeat(np.arange(len(cell), dtype=np.int32), counts)
        shift = begin - (np.cumsum(counts, dtype=np.int32) - counts)
        return owner, np.arange(len(owner), dtype=np.int32) + np.repeat(shift, counts)

    @staticmethod
    def _settle(found: Labels, owner: Numbers, cross: Floats, zone: Labels) -> npt.NDArray[np.bool_]:
        """Give each owner the zone behind its farthest crossing; says which owners had one."""
        met = np.zeros(len(found), dtype=bool)
        if len(owner):
            starts = np.flatnonzero(np.diff(owner, prepend=-1))
            farthest = np.repeat(np.maximum.reduceat(cross, starts), np.diff(np.append(starts, len(owner))))
            last = cross == farthest
            found[owner[last]] = zone[last]
            met[owner] = True
        return met
