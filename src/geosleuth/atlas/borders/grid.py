"""Find the zones of millions of points with a grid of cells and an exact test near borders; read and write its file.

Borders are stored in whole units of 1e-5 degree (about a metre), so that neighbours share their border exactly, without
gaps or overlaps. A zone's polygon is the area that its lines enclose.

The grids count units from the south-west corner of the world, so positions are never negative. Cell edges lie half a
unit off the whole numbers, so that no vertex of a border can lie on one.

A *zone label* is 0 outside all countries, ``i`` on the land of region ``i``, and ``regions + i`` in the waters that
belong to it. The grids hold the label at each cell's south-west corner; a cell that no border touches has this label as
a whole. Fine cells are stored only for blocks that a border crosses.

In a cell that borders cross, the exact test follows a path from the cell's south-west corner, whose zone is known,
north to the point's latitude and then east to the point. The zone behind the last border crossed is the point's;
without crossings it is the corner's. Only the few edges within the cell matter, so the test needs no polygons.
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
from geosleuth.atlas.folders import open_prepared_files
from geosleuth.geo import EARTH_RADIUS_KM
from geosleuth.support.errors import DataFault

UNITS_PER_DEGREE = 100_000

Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[np.uint16]

# Units along the side of a fine cell: 0.02 degrees.
CELL = 2_000
# Fine cells along the side of a block (0.2 degrees).
PER_BLOCK = 10
COLUMNS = 360 * UNITS_PER_DEGREE // CELL
ROWS = 180 * UNITS_PER_DEGREE // CELL
BLOCK_COLUMNS = COLUMNS // PER_BLOCK
BLOCK_ROWS = ROWS // PER_BLOCK
EAST = 180 * UNITS_PER_DEGREE
NORTH = 90 * UNITS_PER_DEGREE
CELL_OFFSET = 0.5
# Units by which cells are widened when a border is traced through them: far more than the rounding errors.
SLACK = 1e-3
# Edges traced per batch, to limit the memory that tracing takes.
EDGES_PER_BATCH = 1 << 17
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
DATA = Path(__file__).parent / "data"
BORDERS = DATA / "borders.zip"
OUTLINES = DATA / "outlines.zip"
# Units by which points are moved north and east (a tenth of a millimetre), so that none is level with a vertex.
NUDGE = 1e-4
CHUNK = 1 << 16
THREADS = 2
Numbers = npt.NDArray[np.int32]
_MAX_BLOCKS = 2_000
KM_PER_UNIT = np.pi * EARTH_RADIUS_KM / 180 / UNITS_PER_DEGREE


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Lines with a zone label on each side; line ``i`` has vertices ``starts[i]`` up to ``starts[i + 1]``."""

    x: Ints
    y: Ints
    starts: Ints
    left: Labels
    right: Labels

    def __len__(self) -> int:
        return len(self.left)

    def edges(self) -> Ints:
        """Return the index of each edge's first vertex; the next vertex is its end."""
        inner = np.ones(len(self.x), dtype=bool)
        inner[self.starts[1:] - 1] = False
        return np.flatnonzero(inner).astype(np.int32)

    def arc_of_edge(self) -> Ints:
        """Return the index of the line that each of `edges` is part of."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts) - 1)

    def to_bytes(self) -> dict[str, bytes]:
        """Return the lines as byte strings that compress well, by name."""
        return {
            "lengths": _byte_planes(np.diff(self.starts)),
            "x": _byte_planes(_zigzag_deltas(self.x)),
            "y": _byte_planes(_zigzag_deltas(self.y)),
            "left": _byte_planes(_zigzag_deltas(self.left.astype(np.int32))),
            "right": _byte_planes(_zigzag_deltas(self.right.astype(np.int32))),
        }

    @classmethod
    def from_bytes(cls, parts: dict[str, bytes]) -> "Arcs":
        """Return the lines that `to_bytes` encoded."""
        lengths = _join_byte_planes(parts["lengths"])
        starts = np.zeros(len(lengths) + 1, dtype=np.int32)
        np.cumsum(lengths, out=starts[1:])
        return cls(
            x=_undo_zigzag_deltas(_join_byte_planes(parts["x"])),
            y=_undo_zigzag_deltas(_join_byte_planes(parts["y"])),
            starts=starts,
            left=_undo_zigzag_deltas(_join_byte_planes(parts["left"])).astype(np.uint16),
            right=_undo_zigzag_deltas(_join_byte_planes(parts["right"])).astype(np.uint16),
        )


def _zigzag_deltas(values: npt.NDArray[Any]) -> Ints:
    """Return the differences of successive values, in zigzag coding: small ones become small non-negative numbers."""
    steps = values.astype(np.int32)
    steps[1:] -= values[:-1]
    return (steps << 1) ^ (steps >> 31)


def _undo_zigzag_deltas(zigzag: Ints) -> Ints:
    steps = (zigzag.view(np.uint32) >> 1).astype(np.int32) ^ -(zigzag & 1)
    return np.cumsum(steps, dtype=np.int32)


def _byte_planes(values: npt.NDArray[Any]) -> bytes:
    # All low bytes first, then the next ones: the high planes are nearly all zero and take no space once compressed.
    as_bytes = np.ascontiguousarray(values, dtype="<i4").view(np.uint8).reshape(-1, 4)
    return np.ascontiguousarray(as_bytes.T).tobytes()


def _join_byte_planes(planes: bytes) -> Ints:
    as_bytes = np.frombuffer(planes, dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(as_bytes.T).view("<i4").reshape(-1).astype(np.int32, copy=False)


def compute_cells(steps: Floats, limit: int) -> Ints:
    """Return the row or column of positions, clamped to the grid."""
    return np.clip(np.floor((steps + CELL_OFFSET) / CELL), 0, limit - 1).astype(np.int32)


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the ``i`` of each whole number from ``first[i]`` to ``last[i]``, and the numbers."""
    counts = last - first + 1
    owner = np.repeat(np.arange(len(first), dtype=np.int32), counts)
    shift = first - (np.cumsum(counts, dtype=np.int32) - counts)
    return owner, np.arange(len(owner), dtype=np.int32) + np.repeat(shift, counts)


def find_touched_cells(arcs: Arcs) -> tuple[Ints, Ints]:
    """Return all pairs of a fine cell (row * COLUMNS + column) and an edge that touches it, or at least comes close.

    Returns the cells and, for each, the position of its edge in ``arcs.edges()``, sorted by cell.
    """
    at = arcs.edges()
    x, y = arcs.x + np.int32(EAST), arcs.y + np.int32(NORTH)
    batches = []
    for begin in range(0, len(at), EDGES_PER_BATCH):
        part = at[begin : begin + EDGES_PER_BATCH]
        cells, edge = _pair_touched_cells(x[part], y[part], x[part + 1], y[part + 1])
        batches.append((cells.astype(np.int64) << 32) + (edge + begin))  # single numbers sort several times as fast
    pairs = np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)
    pairs.sort()
    return (pairs >> 32).astype(np.int32), pairs.astype(np.int32)  # the lower half is the edge


def _pair_touched_cells(x0: Ints, y0: Ints, x1: Ints, y1: Ints) -> tuple[Ints, Ints]:
    first, last = (np.minimum(extreme(x0, x1) // CELL, COLUMNS - 1) for extreme in (np.minimum, np.maximum))
    row_first, row_last = (np.minimum(extreme(y0, y1) // CELL, ROWS - 1) for extreme in (np.minimum, np.maximum))
    slanted = np.flatnonzero((first != last) & (row_first != row_last))
    simple = np.flatnonzero((first == last) | (row_first == row_last))  # touch all cells of their one row or column

    turn, column_a = spread(first[simple], last[simple])
    edge_a = simple[turn]
    turn, column_b = spread(first[slanted], last[slanted])
    edge_b = slanted[turn]
    west, east = np.minimum(x0, x1)[edge_b], np.maximum(x0, x1)[edge_b]
    wall = column_b * float(CELL) - CELL_OFFSET
    slope = ((y1 - y0) / np.where(x1 == x0, 1, x1 - x0))[edge_b]
    start_x, start_y = x0[edge_b], y0[edge_b]
    y_west = start_y + (np.maximum(wall - SLACK, west) - start_x) * slope
    y_east = start_y + (np.minimum(wall + CELL + SLACK, east) - start_x) * slope

    column, edge = np.concatenate([column_a, column_b]), np.concatenate([edge_a, edge_b])
    low = np.concatenate([row_first[edge_a], compute_cells(np.minimum(y_west, y_east) - SLACK, ROWS)])
    high = np.concatenate([row_last[edge_a], compute_cells(np.maximum(y_west, y_east) + SLACK, ROWS)])
    piece, row = spread(low, high)
    return row * np.int32(COLUMNS) + column[piece], edge[piece].astype(np.int32)


@dataclass(frozen=True, slots=True)
class BorderRegion:
    """A first-level region of a country, or a part of one.

    ``code`` is the ISO 3166-2 code if the sources have it ("FR-IDF"), else GeoNames' ("HK.KKC"), else the country's. If
    the polygon is finer than the first level (a French département, an English county), ``district`` and
    ``district_code`` name it, and several entries share one ``code``. ``geonames`` is GeoNames' code of the region
    ("FR.11"), if GeoNames has the same region.
    """

    code: str
    name: str
    country: str
    country_name: str
    district: str | None = None
    district_code: str | None = None
    geonames: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BorderLayer:
    """The content of the borders file.

    Attributes:
        arcs: the borders.
        coarse: the label at each block's south-west corner.
        blocks: the labels of the fine cells of the blocks that a border crosses, one block per row.
        numbers: the number of the block in each row of ``blocks``, ascending.
        regions: the regions; ``regions[0]`` has label 1.
    """

    arcs: Arcs
    coarse: Labels
    blocks: Labels
    numbers: Ints
    regions: tuple[BorderRegion, ...]

    def to_bytes(self) -> bytes:
        """Return the file's bytes; the same layer gives the same bytes."""
        parts = self.arcs.to_bytes()
        parts["coarse"] = np.ascontiguousarray(self.coarse, dtype="<u2").tobytes()
        parts["blocks"] = np.ascontiguousarray(self.blocks, dtype="<u2").tobytes()
        parts["numbers"] = _byte_planes(_zigzag_deltas(self.numbers))
        parts["regions.json"] = _regions_json(self.regions)
        return pack(parts)


def compute_blocks(cells: Ints) -> Ints:
    """Return the number of the block that contains each fine cell."""
    row, column = np.divmod(cells, np.int32(COLUMNS))
    blocks: Ints = row // PER_BLOCK * np.int32(BLOCK_COLUMNS) + column // PER_BLOCK
    return blocks


def list_blocks(cells: Ints) -> Ints:
    """Return the numbers of the blocks that contain fine cells, ascending."""
    has_cell = np.zeros(BLOCK_ROWS * BLOCK_COLUMNS, dtype=bool)
    has_cell[compute_blocks(cells)] = True
    return np.flatnonzero(has_cell).astype(np.int32)


def read_layer(path: Path = BORDERS) -> BorderLayer:
    """Read a borders file.

    Raises:
        DataFault: it is missing or damaged.
    """
    parts = unpack(path)
    try:
        return BorderLayer(
            arcs=Arcs.from_bytes(parts),
            coarse=np.frombuffer(parts["coarse"], dtype="<u2").reshape(BLOCK_ROWS, BLOCK_COLUMNS),
            blocks=np.frombuffer(parts["blocks"], dtype="<u2").reshape(-1, PER_BLOCK**2),
            numbers=_undo_zigzag_deltas(_join_byte_planes(parts["numbers"])),
            regions=tuple(BorderRegion(*row) for row in json.loads(parts["regions.json"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataFault(f"{path} is damaged ({error}); install geosleuth again") from error


def load_cached_layer(path: Path = BORDERS) -> BorderLayer:
    """Read a borders file through a cache of its decompressed arrays; decompression takes a fifth of a second.

    Raises:
        DataFault: the file is missing or damaged.
    """

    def decompress() -> list[npt.NDArray[Any]]:
        layer = read_layer(path)
        arcs = layer.arcs
        regions = np.frombuffer(_regions_json(layer.regions), dtype=np.uint8)
        return [
            arcs.x,
            arcs.y,
            arcs.starts,
            arcs.left,
            arcs.right,
            layer.coarse,
            layer.blocks,
            layer.numbers,
            regions,
        ]

    arrays = open_prepared_files(f"borders-{__version__}-1-{_content_checksum(path)}").arrays("layer", decompress)
    x, y, starts, left, right, coarse, blocks, numbers, regions = arrays
    rows = json.loads(regions.tobytes())
    return BorderLayer(
        Arcs(x, y, starts, left, right), coarse, blocks, numbers, tuple(BorderRegion(*row) for row in rows)
    )


def _content_checksum(path: Path) -> str:
    """Return a checksum of a zip file's content, computed from the checksums in its directory."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{crc32(repr([(entry.filename, entry.CRC) for entry in archive.infolist()]).encode()):08x}"
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise DataFault(f"{path} can't be read ({error}); install geosleuth again") from error


def pack(parts: dict[str, bytes]) -> bytes:
    """Return a zip file of named parts, without dates, so that the same parts give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """Return the parts of a zip file by name.

    Raises:
        DataFault: it is missing or damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, EOFError, zipfile.BadZipFile, ValueError) as error:
        raise DataFault(f"{path} can't be read ({error}); install geosleuth again") from error


def _regions_json(regions: Sequence[BorderRegion]) -> bytes:
    rows = [list(asdict(region).values()) for region in regions]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def _in_units(lats: Floats, lons: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Return the positions of points in units from the corner, and row and column of their fine cells."""
    y = lats * UNITS_PER_DEGREE
    y += NORTH + NUDGE
    x = lons * UNITS_PER_DEGREE
    x += EAST + NUDGE
    x[x > 2 * EAST] -= 2 * EAST  # 180 and -180 are one meridian
    row = ((y + CELL_OFFSET) * (1 / CELL)).astype(np.int32)
    column = ((x + CELL_OFFSET) * (1 / CELL)).astype(np.int32)
    return x, y, np.minimum(row, ROWS - 1, out=row), np.minimum(column, COLUMNS - 1, out=column)


class Grid:
    """Looks up zone labels in a layer, or in one of its blocks. Safe to use from several threads."""

    def __init__(self, layer: BorderLayer, arcs: Arcs | None = None, row: int | None = None) -> None:
        """Index a whole layer, which takes about a second, or only one block.

        Args:
            layer: borders and grids.
            arcs: the lines to index, for one block those that may touch it; all by default.
            row: the block's row in ``layer.blocks``; None for the whole layer. A grid of one block can only look up
                points of that block.
        """
        arcs = layer.arcs if arcs is None else arcs
        cells, edge = find_touched_cells(arcs)
        coarse: Numbers | None = layer.coarse.astype(np.int32).reshape(-1) if row is None else None
        if row is None:
            numbers, blocks = layer.numbers, layer.blocks
        else:
            numbers, blocks = layer.numbers[row : row + 1], layer.blocks[row : row + 1]
            inside = compute_blocks(cells) == numbers[0]
            cells, edge = cells[inside], edge[inside]
        begin = np.flatnonzero(np.diff(cells, prepend=-1))
        border_cells = cells[begin]
        self._begin: Numbers = np.append(begin, len(cells)).astype(np.int32)
        # Copied in the order of the cells, so that the edges of one cell are adjacent in memory.
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
            block = -1 - coarse[compute_blocks(border_cells)]
        self._coarse = coarse
        south, west = (part % PER_BLOCK for part in np.divmod(border_cells, np.int32(COLUMNS)))
        place = block * PER_BLOCK**2 + south * PER_BLOCK + west
        fine = blocks.astype(np.int32).reshape(-1)
        self._border_cells = border_cells
        self._corner: Labels = fine[place].astype(np.uint16)
        fine[place] = -1 - np.arange(len(place), dtype=np.int32)
        self._fine: Numbers = fine

    def labels(self, lats: Floats, lons: Floats) -> Labels:
        """Return the zone label of each point of one-dimensional arrays; 0 for NaN and values out of range."""
        found = np.zeros(len(lats), dtype=np.uint16)
        parts = [slice(begin, begin + CHUNK) for begin in range(0, len(lats), CHUNK)]

        def work(part: slice) -> None:
            found[part] = self._chunk_labels(lats[part], lons[part])

        if len(parts) > 2:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(work, parts))
        else:
            for part in parts:
                work(part)
        return found

    def fine_label(self, row: int, column: int) -> int:
        """Return the label of a fine cell of a grid of one block; negative if a border crosses the cell."""
        return int(self._fine[row * PER_BLOCK + column])

    def label_at_border(self, place: int, x: float, y: float, row: int, column: int) -> int:
        """Return the zone label of one point in a fine cell (row, column) whose `fine_label` is ``place``, negative."""
        cell = -1 - place
        in_cell = slice(int(self._begin[cell]), int(self._begin[cell + 1]))
        edges = list(zip(self._ends[in_cell].tolist(), self._sides[in_cell].tolist(), strict=True))
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

    def _chunk_labels(self, lats: Floats, lons: Floats) -> Labels:
        valid = (np.abs(lats) <= 90) & (np.abs(lons) <= 180)
        if not valid.all():
            found = np.zeros(len(lats), dtype=np.uint16)
            found[valid] = self._chunk_labels(lats[valid], lons[valid])
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
            found_i[at_border] = self._exact_labels(
                cell,
                x[at_border],
                y[at_border],
                (row[at_border] * CELL - CELL_OFFSET).astype(np.float64),
                (column[at_border] * CELL - CELL_OFFSET).astype(np.float64),
            )
        labels: Labels = found_i.astype(np.uint16)
        return labels

    def _exact_labels(self, cell: Numbers, x: Floats, y: Floats, south: Floats, west: Floats) -> Labels:
        found = self._corner[cell]
        owner, edge = self._edges_of_cells(cell)
        ends = self._ends[edge]
        height = y[owner]
        level = np.flatnonzero((ends[:, 1] <= height) != (ends[:, 3] <= height))
        x0, y0, x1, y1 = ends[level].T
        owner, edge = owner[level], edge[level]
        cross = x0 + (height[level] - y0) * ((x1 - x0) / (y1 - y0))
        passed = np.flatnonzero((cross <= x[owner]) & (cross > west[owner]))
        east_side = (y1 > y0)[passed].astype(np.intp)  # of a rising edge the right side
        met = self._set_farthest_zone(found, owner[passed], cross[passed], self._sides[edge[passed], east_side])

        rest = np.flatnonzero(~met)
        turn, edge = self._edges_of_cells(cell[rest])
        owner = rest[turn].astype(np.int32)
        ends = self._ends[edge]
        wall = west[owner]
        level = np.flatnonzero((ends[:, 0] < wall) != (ends[:, 2] < wall))
        x0, y0, x1, y1 = ends[level].T
        owner, edge = owner[level], edge[level]
        cross = y0 + (wall[level] - x0) * ((y1 - y0) / (x1 - x0))
        passed = np.flatnonzero((cross <= y[owner]) & (cross > south[owner]))
        north_side = (x1 < x0)[passed].astype(np.intp)  # of a westward edge the right side
        self._set_farthest_zone(found, owner[passed], cross[passed], self._sides[edge[passed], north_side])
        return found

    def _edges_of_cells(self, cell: Numbers) -> tuple[Numbers, Numbers]:
        """Pair every point with every edge of its cell; return indices into ``cell`` and the edges."""
        begin = self._begin[cell]
        counts = self._begin[cell + 1] - begin
        owner = np.repeat(np.arange(len(cell), dtype=np.int32), counts)
        shift = begin - (np.cumsum(counts, dtype=np.int32) - counts)
        return owner, np.arange(len(owner), dtype=np.int32) + np.repeat(shift, counts)

    @staticmethod
    def _set_farthest_zone(found: Labels, owner: Numbers, cross: Floats, zone: Labels) -> npt.NDArray[np.bool_]:
        """Set each owner's zone to the one behind its farthest crossing; return which owners have a crossing."""
        met = np.zeros(len(found), dtype=bool)
        if len(owner):
            starts = np.flatnonzero(np.diff(owner, prepend=-1))
            farthest = np.repeat(np.maximum.reduceat(cross, starts), np.diff(np.append(starts, len(owner))))
            last = cross == farthest
            found[owner[last]] = zone[last]
            met[owner] = True
        return met


class LocalGrids:
    """Grids of single blocks, each built when a point first falls into it, so that few points need no world grid."""

    def __init__(self, layer: BorderLayer) -> None:
        self._layer = layer
        arcs = layer.arcs
        self._west, self._south = (np.minimum.reduceat(axis, arcs.starts[:-1]) for axis in (arcs.x, arcs.y))
        self._east, self._north = (np.maximum.reduceat(axis, arcs.starts[:-1]) for axis in (arcs.x, arcs.y))
        self.made: dict[int, Grid] = {}
        self._making = Lock()

    def label(self, lat: float, lon: float) -> int:
        """Return the zone label of a point; 0 for NaN and values out of range."""
        if not (abs(lat) <= 90 and abs(lon) <= 180):
            return 0
        # As `_in_units`, for one point.
        y, x = lat * UNITS_PER_DEGREE + (NORTH + NUDGE), lon * UNITS_PER_DEGREE + (EAST + NUDGE)
        x = x - 2 * EAST if x > 2 * EAST else x
        cell_row, cell_column = int((y + CELL_OFFSET) * (1 / CELL)), int((x + CELL_OFFSET) * (1 / CELL))
        cell_row, cell_column = min(cell_row, ROWS - 1), min(cell_column, COLUMNS - 1)
        row, column = cell_row // PER_BLOCK, cell_column // PER_BLOCK
        number = row * BLOCK_COLUMNS + column
        # Converted to the array's type, or else searchsorted would convert the whole array.
        at = int(self._layer.numbers.searchsorted(self._layer.numbers.dtype.type(number)))
        if at == len(self._layer.numbers) or self._layer.numbers[at] != number:
            return int(self._layer.coarse[row, column])
        grid = self.made.get(number)
        if grid is None:
            grid = Grid(self._layer, self._lines_near_block(row, column), at)
            with self._making:
                while len(self.made) >= _MAX_BLOCKS:
                    self.made.pop(next(iter(self.made)))
                self.made[number] = grid
        fine = grid.fine_label(cell_row - row * PER_BLOCK, cell_column - column * PER_BLOCK)
        return fine if fine >= 0 else grid.label_at_border(fine, x, y, cell_row, cell_column)

    def nearest(self, lat: float, lon: float, within_km: float) -> tuple[int, float] | None:
        """Return the label of the zone with the nearest border and its distance in km; None if none is near enough.

        Distances are measured on a plane at the point's latitude, accurate to a percent under 100 km and below 85
        degrees of latitude.
        """
        up = int(within_km / KM_PER_UNIT) + 1
        across = int(up / max(float(np.cos(np.radians(lat))), 0.02)) + 1
        x, y = round(lon * UNITS_PER_DEGREE), round(lat * UNITS_PER_DEGREE)
        ends, sides = [], []
        for shift in (-2 * EAST, 0, 2 * EAST):
            west, east = max(x - across, x - EAST) + shift, min(x + across, x + EAST) + shift
            if west <= EAST and east >= -EAST:
                arcs = self._lines_in_box(west, y - up, east, y + up)
                ends.append(np.column_stack([arcs.x[::2], arcs.y[::2], arcs.x[1::2], arcs.y[1::2]]))
                sides.append(np.column_stack([arcs.left, arcs.right]))
        found = np.concatenate(ends) + np.array([EAST, NORTH, EAST, NORTH])
        return _nearest(found.astype(np.float64), np.concatenate(sides), lat, lon, within_km)

    def _lines_near_block(self, row: int, column: int) -> Arcs:
        """Return every edge that may touch a block, as a line of its own."""
        side = PER_BLOCK * CELL
        west, south = column * side - EAST - CELL, row * side - NORTH - CELL
        return self._lines_in_box(west, south, west + side + 2 * CELL, south + side + 2 * CELL)

    def _lines_in_box(self, west: int, south: int, east: int, north: int) -> Arcs:
        """Return every edge whose bounding box intersects a box, as a line of its own."""
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
    distances = np.hypot(*(start + part[:, None] * along).T)
    best = int(np.argmin(distances))
    distance_km = float(distances[best]) * KM_PER_UNIT
    if distance_km > within_km:
        return None
    left, right = sides[best].tolist()
    return left or right, distance_km
