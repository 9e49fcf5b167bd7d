"""Which zone a point is in, for millions of points: a grid of cells, an exact test near borders; and its file.

Coordinates are whole numbers of 1e-5 degree (about a metre), so that neighbours share their border to the bit, no gap
and no overlap. A zone's polygon is what its lines enclose.

Coordinates here are units of 1e-5 degree counted from the south-west corner of the world, so never negative. Cell
edges lie half a unit off the whole numbers: no vertex of a border can ever lie on one.

A *zone label* is 0 for no country's ground, ``i`` for the land of region ``i``, and ``regions + i`` for the waters that
belong to it. The grids hold the label at each cell's south-west corner; where no border touches a cell, that is the
label of all of it. Fine cells are kept only for blocks that a border runs through.

In a cell that borders run through, walk from its south-west corner, whose zone is known, north to the point's height
and then east to the point. The last border crossed on the way tells the zone by the side one comes out on; with
none crossed it is the corner's. Only the few edges within the cell matter, so the test needs no polygon.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from geosleuth import __version__
from geosleuth.atlas.folders import prepared
from geosleuth.errors import DataFault
from geosleuth.geo import EARTH_RADIUS_KM

UNITS_PER_DEGREE = 100_000

Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Lines: ``i`` has vertices ``starts[i]`` up to ``starts[i + 1]`` of ``x`` and ``y``, a label on each side."""

    x: Ints
    y: Ints
    starts: Ints
    left: Labels
    right: Labels

    def __len__(self) -> int:
        return len(self.left)

    def edges(self) -> Ints:
        """The first vertex of every straight piece; its end is the vertex after it."""
        inner = np.ones(len(self.x), dtype=bool)
        inner[self.starts[1:] - 1] = False
        return np.flatnonzero(inner).astype(np.int32)

    def arc_of_edge(self) -> Ints:
        """For each of `edges`, the number of the line it is part of."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts) - 1)

    def to_bytes(self) -> dict[str, bytes]:
        """Byte strings that compress well, by name."""
        return {
            "lengths": _planes(np.diff(self.starts)),
            "x": _planes(_steps(self.x)),
            "y": _planes(_steps(self.y)),
            "left": _planes(_steps(self.left.astype(np.int32))),
            "right": _planes(_steps(self.right.astype(np.int32))),
        }

    @classmethod
    def from_bytes(cls, parts: dict[str, bytes]) -> "Arcs":
        """The reverse of `to_bytes`."""
        lengths = _joined(parts["lengths"])
        starts = np.zeros(len(lengths) + 1, dtype=np.int32)
        np.cumsum(lengths, out=starts[1:])
        return cls(
            x=_walked(_joined(parts["x"])),
            y=_walked(_joined(parts["y"])),
            starts=starts,
            left=_walked(_joined(parts["left"])).astype(np.uint16),
            right=_walked(_joined(parts["right"])).astype(np.uint16),
        )


def _steps(values: npt.NDArray[Any]) -> Ints:
    steps = values.astype(np.int32)
    steps[1:] -= values[:-1]
    return (steps << 1) ^ (steps >> 31)  # small steps either way become small positive numbers


def _walked(zigzag: Ints) -> Ints:
    steps = (zigzag.view(np.uint32) >> 1).astype(np.int32) ^ -(zigzag & 1)
    return np.cumsum(steps, dtype=np.int32)


def _planes(values: npt.NDArray[Any]) -> bytes:
    # All low bytes first, then the next ones: the high planes are nearly all zero and cost nothing once compressed.
    as_bytes = np.ascontiguousarray(values, dtype="<i4").view(np.uint8).reshape(-1, 4)
    return np.ascontiguousarray(as_bytes.T).tobytes()


def _joined(planes: bytes) -> Ints:
    as_bytes = np.frombuffer(planes, dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(as_bytes.T).view("<i4").reshape(-1).astype(np.int32, copy=False)


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


DATA = Path(__file__).parent / "data"
BORDERS = DATA / "borders.zip"
OUTLINES = DATA / "outlines.zip"


@dataclass(frozen=True, slots=True)
class Region:
    """A first-level region of a country, or a part of one.

    ``code`` is ISO 3166-2 where the sources have it ("FR-IDF"), else GeoNames' ("HK.KKC"), else the country's. Where
    the polygon is finer than the first level (a French département, an English county), ``district`` and
    ``district_code`` name it, and several entries share one ``code``. ``geonames`` is GeoNames' code of the region
    ("FR.11"), where it has the same one.
    """

    code: str
    name: str
    country: str
    country_name: str
    district: str | None = None
    district_code: str | None = None
    geonames: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """All that is in the file. ``regions[0]`` stands for label 1: nothing is at 0 in the file.

    ``numbers`` says which blocks the rows of ``blocks`` are: those that a border runs through, sorted.
    """

    arcs: Arcs
    coarse: Labels
    blocks: Labels
    numbers: Ints
    regions: tuple[Region, ...]

    def to_bytes(self) -> bytes:
        """The file's bytes: the same for the same layer."""
        parts = self.arcs.to_bytes()
        parts["coarse"] = np.ascontiguousarray(self.coarse, dtype="<u2").tobytes()
        parts["blocks"] = np.ascontiguousarray(self.blocks, dtype="<u2").tobytes()
        parts["numbers"] = _planes(_steps(self.numbers))
        parts["regions.json"] = _regions_json(self.regions)
        return pack(parts)


def compile_layer(arcs: Arcs, regions: Sequence[Region]) -> Layer:
    """Lay the grids over the lines."""
    fine = corner_labels(arcs)
    cells, _ = touched_cells(arcs)
    numbers = blocks_of(cells)
    square = fine.reshape(BLOCK_ROWS, PER_BLOCK, BLOCK_COLUMNS, PER_BLOCK)
    coarse = square[:, 0, :, 0].copy()
    blocks = square.transpose(0, 2, 1, 3).reshape(BLOCK_ROWS * BLOCK_COLUMNS, PER_BLOCK**2)[numbers]
    return Layer(arcs, coarse, blocks, numbers, tuple(regions))


def block_of(cells: Ints) -> Ints:
    """The number of the block that holds each of these fine cells."""
    row, column = np.divmod(cells, np.int32(COLUMNS))
    blocks: Ints = row // PER_BLOCK * np.int32(BLOCK_COLUMNS) + column // PER_BLOCK
    return blocks


def blocks_of(cells: Ints) -> Ints:
    """The numbers, sorted, of the blocks that hold these fine cells."""
    held = np.zeros(BLOCK_ROWS * BLOCK_COLUMNS, dtype=bool)
    held[block_of(cells)] = True
    return np.flatnonzero(held).astype(np.int32)


def read_layer(path: Path = BORDERS) -> Layer:
    """Read the file.

    Raises:
        DataFault: it is missing or damaged.
    """
    parts = unpack(path)
    try:
        return Layer(
            arcs=Arcs.from_bytes(parts),
            coarse=np.frombuffer(parts["coarse"], dtype="<u2").reshape(BLOCK_ROWS, BLOCK_COLUMNS),
            blocks=np.frombuffer(parts["blocks"], dtype="<u2").reshape(-1, PER_BLOCK**2),
            numbers=_walked(_joined(parts["numbers"])),
            regions=tuple(Region(*row) for row in json.loads(parts["regions.json"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataFault(f"{path} is damaged ({error}); install geosleuth again") from error


def kept_layer(path: Path = BORDERS) -> Layer:
    """Return the same, from where it is kept unpacked: unpacking takes a fifth of a second.

    Raises:
        DataFault: the file is missing or damaged.
    """

    def unpacked() -> list[npt.NDArray[Any]]:
        read = read_layer(path)
        lines = read.arcs
        regions = np.frombuffer(_regions_json(read.regions), dtype=np.uint8)
        return [
            lines.x,
            lines.y,
            lines.starts,
            lines.left,
            lines.right,
            read.coarse,
            read.blocks,
            read.numbers,
            regions,
        ]

    kept = prepared(f"borders-{__version__}-1-{_checksums(path)}").arrays("layer", unpacked)
    x, y, starts, left, right, coarse, blocks, numbers, regions = kept
    rows = json.loads(regions.tobytes())
    return Layer(Arcs(x, y, starts, left, right), coarse, blocks, numbers, tuple(Region(*row) for row in rows))


def _checksums(path: Path) -> str:
    """Return what changes with the content of a zip file, without reading it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{crc32(repr([(one.filename, one.CRC) for one in archive.infolist()]).encode()):08x}"
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise DataFault(f"{path} can't be read ({error}); install geosleuth again") from error


def pack(parts: dict[str, bytes]) -> bytes:
    """A zip of these parts with no dates in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """The parts by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, EOFError, zipfile.BadZipFile, ValueError) as error:
        raise DataFault(f"{path} can't be read ({error}); install geosleuth again") from error


def _regions_json(regions: Sequence[Region]) -> bytes:
    rows = [list(asdict(region).values()) for region in regions]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


NUDGE = 1e-4
"""Units (a tenth of a millimetre) that points are moved north and east, so that none is level with a vertex."""

CHUNK = 1 << 16
THREADS = 2
Numbers = npt.NDArray[np.int32]


def _in_units(lats: Floats, lons: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Points as units from the corner, and the row and column of the fine cell of each."""
    y = lats * UNITS_PER_DEGREE
    y += NORTH + NUDGE
    x = lons * UNITS_PER_DEGREE
    x += EAST + NUDGE
    x[x > 2 * EAST] -= 2 * EAST  # 180 and -180 are one meridian
    row = ((y + CELL_OFFSET) * (1 / CELL)).astype(np.int32)
    column = ((x + CELL_OFFSET) * (1 / CELL)).astype(np.int32)
    return x, y, np.minimum(row, ROWS - 1, out=row), np.minimum(column, COLUMNS - 1, out=column)


class Grid:
    """A layer made ready for look-ups. Safe to use from several threads."""

    def __init__(self, layer: Layer, arcs: Arcs | None = None, row: int | None = None) -> None:
        """Make the whole layer ready (about a second), or one row of its blocks, with the lines that may touch it.

        A grid of one block knows nothing of any other place.
        """
        arcs = layer.arcs if arcs is None else arcs
        cells, edge = touched_cells(arcs)
        coarse: Numbers | None = layer.coarse.astype(np.int32).reshape(-1) if row is None else None
        if row is None:
            numbers, blocks = layer.numbers, layer.blocks
        else:
            numbers, blocks = layer.numbers[row : row + 1], layer.blocks[row : row + 1]
            inside = block_of(cells) == numbers[0]
            cells, edge = cells[inside], edge[inside]
        begin = np.flatnonzero(np.diff(cells, prepend=-1))
        border_cells = cells[begin]
        self._begin: Numbers = np.append(begin, len(cells)).astype(np.int32)
        # Copied in the order of the cells, so that the edges of one cell are read from one place.
        at, arc = arcs.edges()[edge], arcs.arc_of_edge()[edge]
        del cells, edge
        self._ends: Numbers = np.empty((len(at), 4), dtype=np.int32)
        for place, values, least in ((0, arcs.x, EAST), (1, arcs.y, NORTH)):
            self._ends[:, place] = values[at]
            self._ends[:, place + 2] = values[1:][at]
            self._ends[:, [place, place + 2]] += np.int32(least)
        self._sides: Labels = np.stack([arcs.left[arc], arcs.right[arc]], axis=1)
        del at, arc

        if coarse is None:
            block = np.zeros(len(border_cells), dtype=np.int32)
        else:
            coarse[numbers] = -1 - np.arange(len(numbers), dtype=np.int32)
            block = -1 - coarse[block_of(border_cells)]
        self._coarse = coarse
        south, west = (part % PER_BLOCK for part in np.divmod(border_cells, np.int32(COLUMNS)))
        place = block * PER_BLOCK**2 + south * PER_BLOCK + west
        fine = blocks.astype(np.int32).reshape(-1)
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

    def fine_label(self, row: int, column: int) -> int:
        """The label of a fine cell of a grid of one block; less than zero where a border runs through it."""
        return int(self._fine[row * PER_BLOCK + column])

    def label_at_border(self, place: int, x: float, y: float, row: int, column: int) -> int:
        """As `labels` finds it for a point in a fine cell (row, column) that has ``place`` for its `fine_label`."""
        cell = -1 - place
        some = slice(int(self._begin[cell]), int(self._begin[cell + 1]))
        edges = list(zip(self._ends[some].tolist(), self._sides[some].tolist(), strict=True))
        south, west = row * CELL - CELL_OFFSET, column * CELL - CELL_OFFSET
        found, farthest = int(self._corner[cell]), west
        for (x0, y0, x1, y1), sides in edges:
            if (y0 <= y) != (y1 <= y):
                cross = x0 + (y - y0) * ((x1 - x0) / (y1 - y0))
                if west < cross <= x and cross >= farthest:
                    found, farthest = sides[y1 > y0], cross
        if farthest > west:
            return found
        farthest = south
        for (x0, y0, x1, y1), sides in edges:
            if (x0 < west) != (x1 < west):
                cross = y0 + (west - x0) * ((y1 - y0) / (x1 - x0))
                if south < cross <= y and cross >= farthest:
                    found, farthest = sides[x1 < x0], cross
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
        x, y, row, column = _in_units(lats, lons)
        block_row, block_column = row // PER_BLOCK, column // PER_BLOCK
        at = block_row * BLOCK_COLUMNS + block_column
        found_i: Numbers = np.full(len(at), -1, dtype=np.int32) if self._coarse is None else self._coarse[at]
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
                (row[at_border] * CELL - CELL_OFFSET).astype(np.float64),
                (column[at_border] * CELL - CELL_OFFSET).astype(np.float64),
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


_MOST_BLOCKS = 2_000


class LocalGrids:
    """Grids of single blocks, each made when a point first falls into it: a few points need no grid of the world."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        arcs = layer.arcs
        self._west, self._south = (np.minimum.reduceat(axis, arcs.starts[:-1]) for axis in (arcs.x, arcs.y))
        self._east, self._north = (np.maximum.reduceat(axis, arcs.starts[:-1]) for axis in (arcs.x, arcs.y))
        self.made: dict[int, Grid] = {}
        self._making = Lock()

    def label(self, lat: float, lon: float) -> int:
        """The zone label of a point; 0 for what is no point."""
        if not (abs(lat) <= 90 and abs(lon) <= 180):
            return 0
        # As `_in_units`, for one point.
        y, x = lat * UNITS_PER_DEGREE + (NORTH + NUDGE), lon * UNITS_PER_DEGREE + (EAST + NUDGE)
        x = x - 2 * EAST if x > 2 * EAST else x
        cell_row, cell_column = int((y + CELL_OFFSET) * (1 / CELL)), int((x + CELL_OFFSET) * (1 / CELL))
        cell_row, cell_column = min(cell_row, ROWS - 1), min(cell_column, COLUMNS - 1)
        row, column = cell_row // PER_BLOCK, cell_column // PER_BLOCK
        number = row * BLOCK_COLUMNS + column
        # As a number of their own type, or all of them would be converted to that of this one first.
        at = int(self._layer.numbers.searchsorted(self._layer.numbers.dtype.type(number)))
        if at == len(self._layer.numbers) or self._layer.numbers[at] != number:
            return int(self._layer.coarse[row, column])
        grid = self.made.get(number)
        if grid is None:
            grid = Grid(self._layer, self._lines_near(row, column), at)
            with self._making:
                while len(self.made) >= _MOST_BLOCKS:
                    self.made.pop(next(iter(self.made)))
                self.made[number] = grid
        fine = grid.fine_label(cell_row - row * PER_BLOCK, cell_column - column * PER_BLOCK)
        return fine if fine >= 0 else grid.label_at_border(fine, x, y, cell_row, cell_column)

    def nearest(self, lat: float, lon: float, within_km: float) -> tuple[int, float] | None:
        """What `nearest_label` finds, without a grid of the world."""
        up = int(within_km / KM_PER_UNIT) + 1
        across = int(up / max(float(np.cos(np.radians(lat))), 0.02)) + 1
        x, y = round(lon * UNITS_PER_DEGREE), round(lat * UNITS_PER_DEGREE)
        ends, sides = [], []
        for shift in (-2 * EAST, 0, 2 * EAST):
            west, east = max(x - across, x - EAST) + shift, min(x + across, x + EAST) + shift
            if west <= EAST and east >= -EAST:
                arcs = self._lines_in(west, y - up, east, y + up)
                ends.append(np.column_stack([arcs.x[::2], arcs.y[::2], arcs.x[1::2], arcs.y[1::2]]))
                sides.append(np.column_stack([arcs.left, arcs.right]))
        found = np.concatenate(ends) + np.array([EAST, NORTH, EAST, NORTH])
        return _nearest(found.astype(np.float64), np.concatenate(sides), lat, lon, within_km)

    def _lines_near(self, row: int, column: int) -> Arcs:
        """Every straight piece that may touch a block, as a line of its own."""
        side = PER_BLOCK * CELL
        west, south = column * side - EAST - CELL, row * side - NORTH - CELL
        return self._lines_in(west, south, west + side + 2 * CELL, south + side + 2 * CELL)

    def _lines_in(self, west: int, south: int, east: int, north: int) -> Arcs:
        """Every straight piece whose box meets another, as a line of its own."""
        arcs = self._layer.arcs
        close = np.flatnonzero(
            (self._west <= east) & (self._east >= west) & (self._south <= north) & (self._north >= south)
        ).astype(np.int32)  # fmt: skip
        turn, at = spread(arcs.starts[close], arcs.starts[close + 1] - 2)
        x, y = np.stack([arcs.x[at], arcs.x[at + 1]]), np.stack([arcs.y[at], arcs.y[at + 1]])
        kept = (x.min(0) <= east) & (x.max(0) >= west) & (y.min(0) <= north) & (y.max(0) >= south)
        line = close[turn[kept]]
        return Arcs(
            x=x[:, kept].T.reshape(-1),
            y=y[:, kept].T.reshape(-1),
            starts=np.arange(0, 2 * len(line) + 1, 2, dtype=np.int32),
            left=arcs.left[line],
            right=arcs.right[line],
        )


KM_PER_UNIT = np.pi * EARTH_RADIUS_KM / 180 / UNITS_PER_DEGREE


def nearest_label(grid: Grid, lat: float, lon: float, within_km: float) -> tuple[int, float] | None:
    """The label of the nearest zone by its border, and the distance in km; None where there is none within reach.

    Measured on a plane laid at the point's latitude: good to a percent at the distances this is for (under 100 km,
    below 85 degrees of latitude).
    """
    x, y = lon * UNITS_PER_DEGREE + EAST, lat * UNITS_PER_DEGREE + NORTH
    squeeze = max(float(np.cos(np.radians(lat))), 0.02)
    up = within_km / KM_PER_UNIT
    rows = np.arange(max(0, int((y - up) // CELL)), min(ROWS - 1, int((y + up) // CELL)) + 1)
    first, last = int((x - up / squeeze) // CELL), int((x + up / squeeze) // CELL)
    columns = np.unique(np.arange(first, min(last, first + COLUMNS - 1) + 1) % COLUMNS)
    ends, sides = grid.edges_in((rows[:, None] * COLUMNS + columns).reshape(-1).astype(np.int32))
    return _nearest(ends, sides, lat, lon, within_km)


def _nearest(ends: Floats, sides: Labels, lat: float, lon: float, within_km: float) -> tuple[int, float] | None:
    if not len(ends):
        return None
    x, y = lon * UNITS_PER_DEGREE + EAST, lat * UNITS_PER_DEGREE + NORTH
    squeeze = max(float(np.cos(np.radians(lat))), 0.02)
    x0, y0, x1, y1 = ends.T
    turn = 2.0 * EAST
    start = np.stack([((x0 - x + EAST) % turn - EAST) * squeeze, y0 - y], 1)
    along = np.stack([(x1 - x0) * squeeze, y1 - y0], 1)
    part = np.clip(-(start * along).sum(1) / (along * along).sum(1), 0, 1)
    away = np.hypot(*(start + part[:, None] * along).T)
    best = int(np.argmin(away))
    distance_km = float(away[best]) * KM_PER_UNIT
    if distance_km > within_km:
        return None
    left, right = sides[best].tolist()
    return left or right, distance_km
