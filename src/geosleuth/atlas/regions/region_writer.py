"""Write a region file: rows are first staged in sorted runs, then merged and written in order.

Sorting keeps neighbouring features together, and names with a common prefix: the file is small and fast to read.

1. `stage` (any process) writes features and shapes as sorted runs (`runs`).
2. `RegionWriter.finish` merges the runs. Worker processes pack features, names and shapes into blocks; this process
   writes the tables.
"""

import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.search import OTHER
from geosleuth.names import fold

from . import region_names
from .geometry import E7, pack, pack_steps
from .name_runs import NamePortion, NameRow, NameRun, name_portions, write_name_run
from .pbf import Ints
from .region_file import (
    FEATURE_BLOCK,
    FORMAT_VERSION,
    HAS_GROUND,
    LAYERS,
    TAG_BLOCK,
    Layer,
    create_indexes,
    create_tables,
    import_folder,
    new_database,
    open_without_locks,
    osm_key,
    pack_box,
    pack_shapes,
    run_script,
    spot_blocks,
    unpack_box,
    unwritable,
)
from .runs import Portion, Row, SortedRun, merge_runs, portions, write_run
from .tags import house_number
from .workers import JobPool

_STAGE: Final = """
CREATE TABLE IF NOT EXISTS done (part TEXT PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS piece (street TEXT, way INTEGER, kind TEXT, tags TEXT, geom BLOB);
CREATE TABLE IF NOT EXISTS street_node (keys BLOB, of_key BLOB, nodes BLOB, positions BLOB);
CREATE TABLE IF NOT EXISTS relation (part INTEGER PRIMARY KEY, relations BLOB);
CREATE TABLE IF NOT EXISTS member (id INTEGER PRIMARY KEY, geom BLOB, box BLOB);
"""
_ROWS_PER_RUN: Final = 5_000
_FEATURES_PER_JOB: Final = FEATURE_BLOCK * 150
_SHAPES_PER_ROW: Final = 48
_SHAPE_ROWS_AT_ONCE: Final = 200
# Added to the curve position of large features so that they sort last; each gets its own R-tree entry.
_LARGE: Final = 1 << 62

_LARGE_E7: Final = 200_000  # about 2 km
_LARGE_SIZE: Final = 12  # size class of shapes that get a row of their own
_CURVE_BITS: Final = 42
_RANK_BITS: Final = 8
_SIZE_BITS: Final = 6
_LAYER_NUMBERS: Final = {layer: number for number, layer in enumerate(sorted(LAYERS))}

_COLUMNS: Final[dict[str, np.dtype[Any]]] = {"lat": np.dtype("<i4"), "lon": np.dtype("<i4"), "kind": np.dtype("<u2")}


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """One feature to write."""

    osm: int | str  # id in the source, or the number that encodes it: see `osm_key`
    name: str
    kind: str
    point: tuple[float, float]  # lat, lon
    bounds: tuple[float, float, float, float]  # south, west, north, east
    rank: float
    address: str | None
    tags_json: str
    names: list[tuple[str, int]]
    ground: bytes | None = None  # packed geometry of an area or street: see `geosleuth.atlas.regions.geometry`


@dataclass(frozen=True, slots=True)
class StagedRuns:
    """Runs of features and shapes, and the kinds of the features."""

    features: SortedRun | None = None
    shapes: SortedRun | None = None
    kinds: frozenset[str] = frozenset()


def stage(path: Path, features: Sequence[Row], shapes: Sequence[Row]) -> StagedRuns:
    """Write rows of `stage_feature` and `stage_shapes` as runs, to files whose names start with ``path``."""
    curves = np.array([row[0] for row in features], dtype=np.int64)
    # Only ids of OpenStreetMap are numbers; other features stay in their original order.
    ties = np.array([osm if isinstance(osm, int) else 0 for _, osm, *_ in features], dtype=np.int64)
    keys = np.array([_shape_key(*row[:4]) for row in shapes], dtype=np.int64)
    return StagedRuns(
        write_run(path.with_name(f"{path.name}.features"), features, curves, ties),
        write_run(path.with_name(f"{path.name}.shapes"), shapes, keys, np.zeros_like(keys)),
        frozenset(row[3] for row in features),
    )


def _shape_key(layer: Layer, rank: int, size: int, curve: int) -> int:
    """Return a sort key: by layer, rank and size class, then along the curve."""
    rank = min(max(rank, 0), (1 << _RANK_BITS) - 1)
    return ((_LAYER_NUMBERS[layer] << _RANK_BITS | rank) << _SIZE_BITS | size) << _CURVE_BITS | curve


@contextmanager
def open_writer(folder: Path, name: str) -> Iterator["RegionWriter"]:
    """Provide a writer for a new region; its file replaces an earlier one if the block succeeds, else it is deleted."""
    with import_folder(folder, name) as work, open_writer_inside(folder, name, work) as writer:
        yield writer


@contextmanager
def open_writer_inside(folder: Path, name: str, work: Path, *, journal: str = "OFF") -> Iterator["RegionWriter"]:
    """Like `open_writer`, with a given folder for staged rows; a journal makes commits there survive a kill."""
    with new_database(folder, name) as conn, open_without_locks(work / "stage.sqlite") as staged:
        for pragma in (
            f"journal_mode = {journal}", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = FILE",
            "cache_size = -65536",
        ):  # fmt: skip
            staged.execute(f"PRAGMA {pragma}")
        run_script(staged, _STAGE)
        staged.execute("BEGIN")
        create_tables(conn)
        conn.execute("BEGIN")
        yield RegionWriter(conn, staged, work)


class RegionWriter:
    """Collects features and shapes, then writes the region file."""

    def __init__(self, conn: sqlite3.Connection, stage: sqlite3.Connection, work: Path) -> None:
        """Use open databases with their tables (the region, and staged data), and a folder for runs."""
        self.conn = conn
        self.stage = stage
        self.counts = {"features": 0, "names": 0, "streets": 0, "addresses": 0, "junctions": 0, "shapes": 0}
        self.work = work
        self._staged: list[StagedRuns] = []
        self._features: list[Row] = []
        self._shapes: list[Row] = []
        self._ids: set[int | str] = set()
        self._flushed = 0

    def add_feature(self, row: FeatureRow, tags: Mapping[str, str]) -> None:
        """Add a feature with its names and address; later ones with the same id are ignored."""
        if row.osm in self._ids:
            return
        self._ids.add(row.osm)
        self.counts["features"] += 1
        self._features.append(stage_feature(row, tags))
        if len(self._features) >= _ROWS_PER_RUN:
            self._flush()

    def add_shape(self, layer: Layer, rank: int, name: str | None, geometry: shapely.Geometry) -> None:
        """Add a shape for the map."""
        self._shapes.extend(stage_shapes([(layer, rank, name, geometry)]))
        if len(self._shapes) >= _ROWS_PER_RUN:
            self._flush()

    def add_staged(self, staged: StagedRuns) -> None:
        """Add the runs that `stage` wrote."""
        self._staged.append(staged)

    def commit(self) -> None:
        """Commit the staging database, so that an interrupted import can resume if there is a journal."""
        self.stage.execute("COMMIT")
        self.stage.execute("BEGIN")

    def _flush(self) -> None:
        if self._features or self._shapes:
            self._flushed += 1
            with self._disk_errors_explained():
                self.add_staged(stage(self.work / f"rows{self._flushed}", self._features, self._shapes))
            self._features.clear()
            self._shapes.clear()

    def finish(self, meta: Mapping[str, str], workers: JobPool | None = None) -> None:
        """Write all tables and the metadata; nothing may be added afterwards."""
        self._flush()
        with self._disk_errors_explained():
            bounds = self._write_tables(workers or JobPool())
        about = {
            "format": FORMAT_VERSION,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "bbox": bounds,
            **meta,
            **{key: str(count) for key, count in self.counts.items()},
        }
        self.conn.executemany("INSERT INTO meta VALUES (?, ?)", about.items())

    @contextmanager
    def _disk_errors_explained(self) -> Iterator[None]:
        """Turn a full or missing disk into an error that names the folder."""
        try:
            yield
        except OSError as error:
            raise unwritable(self.work.parent, error) from error

    def _write_tables(self, workers: JobPool) -> str:
        """Write all tables from the runs; return the bounding box of the features."""
        shapes = [staged.shapes for staged in self._staged if staged.shapes is not None]
        shape_count = workers.start(partial(_pack_shapes, shapes, self.work / "shapes.sqlite"))
        bounds, runs = self._write_features(workers)
        parts = workers.run_all(partial(_group_names, portion) for portion in name_portions(runs))
        self.counts["names"] = region_names.write_names(self.conn, parts)
        self.counts["shapes"] = shape_count()
        self._copy_shapes()
        create_indexes(self.conn)
        return bounds

    def _write_features(self, workers: JobPool) -> tuple[str, list[NameRun]]:
        """Write all features along the curve; return their bounding box and the runs of their names."""
        texts = sorted(frozenset().union(*(staged.kinds for staged in self._staged)))
        kinds = {text: number for number, text in enumerate(texts)}
        runs = [staged.features for staged in self._staged if staged.features is not None]
        postcodes: dict[Row, list[Any]] = {}
        columns: dict[str, list[NDArray[Any]]] = {"lat": [], "lon": [], "kind": []}
        edges = np.array([E7 * 90, E7 * 180, -E7 * 90, -E7 * 180])
        names: list[NameRun] = []
        insert = self.conn.executemany

        def jobs() -> Iterator[partial[_PackedFeatures]]:
            first = 0
            for portion in portions(runs, _FEATURES_PER_JOB):
                yield partial(_pack_features, portion, first, kinds, self.work / f"names{first}")
                first += len(portion)

        for part in workers.run_all(jobs()):
            insert("INSERT INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?)", part.rows)
            insert("INSERT INTO ground VALUES (?, ?)", part.grounds)
            insert("INSERT OR IGNORE INTO address VALUES (?, ?, ?)", part.addresses)
            insert("INSERT INTO feature_box VALUES (?, ?, ?, ?, ?)", part.boxes)
            insert("INSERT INTO feature_block VALUES (?, ?)", part.spots)
            insert("INSERT INTO feature_tags VALUES (?, ?)", part.tags)
            if part.names is not None:
                names.append(part.names)
            for name, column in part.columns.items():
                columns[name].append(column)
            for postcode, lat, lon in part.postcodes:
                _count_postcode(postcodes, postcode, lat, lon)
            edges[:2] = np.minimum(edges[:2], part.edges[:2])
            edges[2:] = np.maximum(edges[2:], part.edges[2:])
            self.counts["addresses"] += part.address_count
        whole = {name: np.concatenate([np.empty(0, _COLUMNS[name]), *parts]) for name, parts in columns.items()}
        number = self.counts["features"] = len(whole["lat"])
        self._write_columns(kinds, whole)
        self._write_postcodes(postcodes)
        south, west, north, east = (edges / E7).tolist() if number else (0.0, 0.0, 0.0, 0.0)
        return f"{south:.7f},{west:.7f},{north:.7f},{east:.7f}", names

    def _write_columns(self, kinds: Mapping[str, int], columns: Mapping[str, NDArray[Any]]) -> None:
        """Write tables ``kind`` (with the features of each kind) and ``feature_column``."""
        kind_of = columns["kind"]
        order = np.argsort(kind_of, kind="stable")
        cuts = np.searchsorted(kind_of[order], np.arange(len(kinds) + 1)).tolist()
        self.conn.executemany(
            "INSERT INTO kind VALUES (?, ?, ?)",
            ((at, text, pack_steps(order[cuts[at] : cuts[at + 1]] + 1)) for text, at in kinds.items()),
        )
        self.conn.executemany(
            "INSERT INTO feature_column VALUES (?, ?)",
            ((name, zlib.compress(column.tobytes(), 1)) for name, column in columns.items()),
        )

    def _write_postcodes(self, postcodes: Mapping[Row, Sequence[Any]]) -> None:
        self.conn.executemany(
            f"INSERT INTO postcode VALUES ({', '.join('?' * 11)})",  # noqa: S608
            (
                (re.sub("[ -]", "", code.upper()), code, town, country, count, lat / count, lon / count, *box)
                for (code, town, country, _, _), (count, lat, lon, *box) in postcodes.items()
            ),
        )

    def _copy_shapes(self) -> None:
        """Copy the rows that `_pack_shapes` wrote, which may have run in another process."""
        with closing(sqlite3.connect(self.work / "shapes.sqlite")) as packed:
            rows = packed.execute("SELECT id, layer, rank, size, shapes FROM shape ORDER BY id")
            self.conn.executemany("INSERT INTO shape VALUES (?, ?, ?, ?, ?)", rows)
            boxes = packed.execute("SELECT id, west, east, south, north FROM shape ORDER BY id")
            self.conn.executemany("INSERT INTO shape_box VALUES (?, ?, ?, ?, ?)", boxes)


@dataclass(slots=True)
class _PackedFeatures:
    rows: list[Row] = field(default_factory=list)
    grounds: list[Row] = field(default_factory=list)
    addresses: list[Row] = field(default_factory=list)
    names: NameRun | None = None
    boxes: list[Row] = field(default_factory=list)
    spots: list[Row] = field(default_factory=list)
    tags: list[Row] = field(default_factory=list)
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    postcodes: list[tuple[tuple[str, str, str], float, float]] = field(default_factory=list)
    edges: Ints = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    address_count: int = 0


def _pack_features(portion: Portion, first: int, kinds: Mapping[str, int], store: Path) -> _PackedFeatures:
    """Make the rows of features; ``first`` features come before them and fill whole blocks. Names go to a run."""
    part = _PackedFeatures()
    batch = portion.rows()
    boxes = np.empty((len(batch), 4), dtype=np.int64)
    flags = np.zeros(len(batch), dtype=np.uint8)
    tags_of = []
    names: list[NameRow] = []
    for at, (_, osm, name, kind, rank, lat, lon, box, tags, searched_by, ground) in enumerate(batch):
        number = first + at + 1
        boxes[at] = (lat, lon, lat, lon) if box is None else unpack_box(box)
        part.rows.append((number, osm, name, kinds[kind], rank, lat, lon, box))
        tags_of.append(tags)
        feature_names, houses, postcode = searched_by
        names.extend((length, key, number, role, text) for length, key, role, text in feature_names)
        if houses:
            part.addresses.extend((street, house, number) for street, house in houses)
            part.address_count += 1
        if postcode:
            part.postcodes.append((postcode, lat / E7, lon / E7))
        if ground is not None:
            part.grounds.append((number, ground))
            flags[at] = HAS_GROUND
    part.columns = {
        name: np.array([row[at] for row in part.rows], dtype=_COLUMNS[name])
        for name, at in (("kind", 3), ("lat", 5), ("lon", 6))
    }
    part.edges = np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
    part.boxes = list(_feature_boxes(boxes, portion.keys >= _LARGE, first))
    columns = part.columns
    part.spots = list(spot_blocks(first, columns["lat"], columns["lon"], columns["kind"], boxes, flags))
    part.tags = list(_tag_blocks(tags_of, first))
    part.names = write_name_run(store, names)
    return part


def _group_names(portion: NamePortion) -> region_names.Spellings:
    return region_names.build_spellings(portion.rows())


def _pack_shapes(runs: Sequence[SortedRun], path: Path) -> int:
    """Write shapes to a new database and return how many; neighbours of one layer, rank and size share a row."""
    path.unlink(missing_ok=True)
    number = count = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode = OFF")
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("CREATE TABLE shape (id INTEGER PRIMARY KEY, layer, rank, size, shapes, west, east, south, north)")
        conn.execute("BEGIN")
        for portion, cuts in _shape_blocks(runs):
            rows = portion.rows()
            count += len(rows)
            packed = [shape_row(rows[begin:end]) for begin, end in zip(cuts, [*cuts[1:], len(rows)], strict=True)]
            conn.executemany(
                "INSERT INTO shape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((number, *row) for number, row in enumerate(packed, start=number + 1)),
            )
            number += len(packed)
        conn.execute("COMMIT")
    return count


def _shape_blocks(runs: Sequence[SortedRun]) -> Iterator[tuple[Portion, list[int]]]:
    """Yield shapes in sorted order, some blocks at a time, and where each block begins."""
    waiting: Portion | None = None
    for chunk in merge_runs(runs):
        whole = chunk if waiting is None else waiting.concatenate(chunk)
        starts = _block_starts(whole.keys)
        # The last block may continue in the next portion.
        cuts = [*range(0, len(starts) - 1, _SHAPE_ROWS_AT_ONCE), len(starts) - 1]
        for begin, end in pairwise(cuts):
            some = starts[begin:end] - starts[begin]
            yield whole.cut(int(starts[begin]), int(starts[end])), some.tolist()
        waiting = whole.cut(int(starts[-1]), len(whole))
    if waiting is not None:
        yield waiting, [0]


def _block_starts(keys: Ints) -> Ints:
    """Return where blocks begin: at each new layer, rank or size, and when a row is full; large shapes are alone."""
    groups = keys >> _CURVE_BITS
    first = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    place = np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))
    alone = (groups & (1 << _SIZE_BITS) - 1) >= _LARGE_SIZE
    return np.flatnonzero(alone | (place % _SHAPES_PER_ROW == 0))


def shape_row(block: Sequence[Row]) -> Row:
    """Return a row of table ``shape`` without its number, and its box, for rows of `stage_shapes`."""
    layer, rank = block[0][:2]
    boxes = np.array([unpack_box(box) for *_, box in block])
    south, west = (boxes[:, :2].min(axis=0) / E7).tolist()
    north, east = (boxes[:, 2:].max(axis=0) / E7).tolist()
    widest = float((boxes[:, 2:] - boxes[:, :2]).max()) / E7
    packed = pack_shapes([name for *_, name, _, _ in block], [geom for *_, geom, _ in block])
    return layer, rank, widest, packed, west, east, south, north


def compute_curve(lats: Ints, lons: Ints, widths: Ints) -> Ints:
    """Return the positions of points (1e-7 degrees) on a Z-order curve; large features come after all others."""
    curve = np.zeros(len(lats), dtype=np.int64)
    for axis, (values, span) in enumerate(((lons + 180 * E7, 360 * E7), (lats + 90 * E7, 180 * E7))):
        cells = np.clip(values * (1 << 20) // span, 0, 1 << 20)  # damaged extracts may have any position
        for at, mask in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
                         (2, 0x3333333333333333), (1, 0x5555555555555555)):  # fmt: skip
            cells = (cells | cells << at) & mask
        curve |= cells << axis
    return np.where(widths > _LARGE_E7, curve + _LARGE, curve)


def stage_feature(row: FeatureRow, tags: Mapping[str, str]) -> Row:
    """Return the row that `stage` expects for a feature."""
    lat, lon, south, west, north, east = (round(value * E7) for value in (*row.point, *row.bounds))
    curve = compute_curve(np.array([lat]), np.array([lon]), np.array([max(north - south, east - west)]))
    return stage_row(row, tags, (lat, lon, south, west, north, east), int(curve[0]))


def stage_row(row: FeatureRow, tags: Mapping[str, str], at: tuple[int, int, int, int, int, int], curve: int) -> Row:
    """Like `stage_feature`, with a position in 1e-7 degrees: lat, lon, south, west, north, east."""
    lat, lon, south, west, north, east = at
    box = None if south == north == lat and west == east == lon else pack_box(south, west, north, east)
    names = [
        (region_names.get_length_class(key), key, max(role, OTHER) if latin else role, text)
        for text, role in row.names
        for key, latin in region_names.make_keys(text)
    ]
    house = house_number(tags)
    houses = None
    if house:
        street = fold(house[1])
        houses = [(street, fold(part).replace(" ", "")) for part in re.split("[;,]", house[0]) if fold(part)]
    osm = osm_key(row.osm) if isinstance(row.osm, str) else row.osm
    return (
        curve, osm, row.name, row.kind, round(1000 * row.rank), lat, lon, box, row.tags_json,
        (names, houses, _extract_postcode(tags)), row.ground,
    )  # fmt: skip


def _extract_postcode(tags: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return postcode, town and country of an address."""
    code = tags.get("addr:postcode", "").strip()
    if not 3 <= len(code) <= 12:
        return None
    return code, tags.get("addr:city", "").strip(), tags.get("addr:country", "").strip().upper()


def _count_postcode(areas: dict[Row, list[Any]], postcode: tuple[str, str, str], lat: float, lon: float) -> None:
    """Add an address to the area of its postcode: count, sums of lat and lon, south, west, north, east.

    Addresses are grouped by cells of about 20 km: a code may also occur in other countries, and the mean of both
    positions would be in neither.
    """
    key = (*postcode, int(5 * (lat + 90)), int(5 * (lon + 180)))
    area = areas.get(key)
    if area is None:
        areas[key] = [1, lat, lon, lat, lon, lat, lon]
    else:
        area[:] = [
            area[0] + 1, area[1] + lat, area[2] + lon,
            min(area[3], lat), min(area[4], lon), max(area[5], lat), max(area[6], lon),
        ]  # fmt: skip


def _feature_boxes(boxes: Ints, large: NDArray[np.bool_], first: int) -> Iterator[tuple[float, ...]]:
    """Yield R-tree entries: a block of small features under its number, a large feature under minus its id."""
    small = np.flatnonzero(~large)
    blocks = (first + small) // FEATURE_BLOCK
    if len(small):
        starts = np.flatnonzero(np.concatenate([[True], blocks[1:] != blocks[:-1]]))
        low = np.minimum.reduceat(boxes[small, :2], starts, axis=0) / E7
        high = np.maximum.reduceat(boxes[small, 2:], starts, axis=0) / E7
        for block, (south, west), (north, east) in zip(
            blocks[starts].tolist(), low.tolist(), high.tolist(), strict=True
        ):
            yield block, west, east, south, north
    for at in np.flatnonzero(large).tolist():
        south, west, north, east = (boxes[at] / E7).tolist()
        yield -(first + at + 1), west, east, south, north


def _tag_blocks(tags: Sequence[str], first: int) -> Iterator[tuple[int, bytes]]:
    for at in range(0, len(tags), TAG_BLOCK):
        yield (first + at) // TAG_BLOCK, zlib.compress("\n".join(tags[at : at + TAG_BLOCK]).encode(), 6)


def stage_shapes(shapes: Sequence[tuple[Layer, int, str | None, shapely.Geometry]]) -> Iterator[Row]:
    """Yield the rows that `stage` expects for shapes in degrees."""
    bounds = np.rint(shapely.bounds([geometry for *_, geometry in shapes]) * E7).astype(np.int64)
    packed = pack([geometry for *_, geometry in shapes])
    for (layer, rank, name, _), row in zip(shapes, shape_rows(packed, bounds[:, [1, 0, 3, 2]]), strict=True):
        yield (layer, rank, row[0], row[1], name, *row[2:])


def shape_rows(packed: Sequence[bytes], boxes: Ints) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Yield size class, curve position, geometry and box of shapes; each size class is four times the one before."""
    widths = (boxes[:, 2:] - boxes[:, :2]).max(axis=1)
    curves = compute_curve((boxes[:, 0] + boxes[:, 2]) // 2, (boxes[:, 1] + boxes[:, 3]) // 2, np.zeros_like(widths))
    sizes = (np.log2(np.maximum(widths, 1)) / 2).astype(np.int64)
    boxed = boxes.astype("<i4").tobytes()
    for at, (size, curve, geom) in enumerate(zip(sizes.tolist(), curves.tolist(), packed, strict=True)):
        yield size, curve, geom, boxed[16 * at : 16 * at + 16]
