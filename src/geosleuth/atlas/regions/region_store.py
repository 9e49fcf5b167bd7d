"""Open the region files of a folder, and read features from them.

- `RegionStore` lists, opens and removes regions, and turns errors of damaged files into messages for the user.
- Spatial functions: boxes around a point, features in boxes, nearest points of streets and areas.
- Functions that read rows, tags and columns of features, and turn them into `Place`.
"""

import logging
import math
import os
import sqlite3
import struct
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import msgspec
import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.folders import open_readonly
from geosleuth.atlas.keyed_rows import select_rows
from geosleuth.atlas.protocol import Place
from geosleuth.geo import EARTH_RADIUS_KM, Box, Disc, Extent, FloatArray, LatLon, distances_from_km
from geosleuth.support.errors import BadInput

from .feature_kinds import ADDRESS, category_kinds, is_street, matching_kinds
from .geometry import E7, Segments, count_packed, extract_segments, nearest_points, unpack, unpack_steps
from .pbf import spans
from .region_file import (
    APPLICATION_ID,
    FEATURE_BLOCK,
    FORMAT_VERSION,
    SPOT,
    SUFFIX,
    TAG_BLOCK,
    clear_abandoned,
    osm_text,
    region_path,
    unpack_box,
)
from .region_names import Keep, RegionNames
from .tags import format_address

_log = logging.getLogger(__name__)
_HEADER_BYTES = 100
_SETTLED_AFTER_NS: Final = 3_000_000_000
# Errors that damaged rows can cause; any value in them may be wrong, even its type.
_DAMAGE_ERRORS: Final = (
    sqlite3.Error, zlib.error, struct.error, shapely.errors.ShapelyError, OSError,
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, msgspec.MsgspecError,
)  # fmt: skip

_thread = threading.local()
_MEMORY: dict[Path, tuple[tuple[int, int, int], dict[str, Any]]] = {}
_MAX_CACHED_FILES: Final = 64
Ids = NDArray[np.int64]
Edges = tuple[float, float, float, float]  # south, west, north, east
_SOURCES: Final = {"osm": "OpenStreetMap", "overture": "Overture Maps", "made-up": "geosleuth world (made up)"}
GAZETTEER_FORMAT: Final = "3"
_WIDE_KM: Final = 100.0
Spots = NDArray[np.void]
"""Rows of ``SPOT``."""
_COLUMNS: Final = {"lat": "<i4", "lon": "<i4", "kind": "<u2"}
_MAX_ROW_BY_ROW: Final = 100
_FEATURES: Final = "SELECT id, osm, name, kind, rank, lat, lon, box FROM feature"
_BLOCKS_NEAR: Final = f"""
SELECT f.block, f.spots FROM feature_box b CROSS JOIN feature_block f
ON f.block = CASE WHEN b.id < 0 THEN (-b.id - 1) / {FEATURE_BLOCK} ELSE b.id END
WHERE b.west <= ? AND b.east >= ? AND b.south <= ? AND b.north >= ?
"""  # noqa: S608
_MAX_BOXES: Final = 10_000  # 2 MB
_MAX_TAG_BYTES: Final = 1 << 24
_DECODER: Final = msgspec.json.Decoder(dict[str, str])
_MAX_SEGMENTS: Final = 100_000  # 3 MB


@dataclass(frozen=True, slots=True)
class RegionInfo:
    """Metadata of a region: source, licence, extent, counts."""

    name: str
    kind: str  # "osm", "overture" or "made-up"; for gazetteers "geonames" or "naturalearth"
    path: Path
    source: str
    sha256: str
    licence: str
    attribution: str
    extent: Box
    created: str
    data_date: str | None
    features: int
    names: int
    streets: int
    addresses: int
    junctions: int
    shapes: int
    size_bytes: int
    refused: int = 0  # rows of the source that were not imported
    origin: str | None = None  # URL that it was downloaded from
    origin_md5: str | None = None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A region file that can't be read, with the error message."""

    name: str
    path: Path
    message: str


@dataclass(slots=True, weakref_slot=True)
class OpenRegion:
    """An open region; the connection belongs to one thread."""

    info: RegionInfo
    conn: sqlite3.Connection
    index: RegionNames
    kinds: tuple[str, ...]
    stamp: tuple[int, int, int]  # identifies the version of the file, see `_stamp`
    memory: dict[str, Any]  # cache, shared by all threads


class DamagedRegion(BadInput):
    """A region file is damaged; the message says how to restore it."""

    def __init__(self, name: str, message: str) -> None:
        """Keep the region's name beside the message."""
        super().__init__(message)
        self.name = name


class RegionStore:
    """Lists, opens and removes regions. Files are opened read-only, so several processes may read a folder."""

    def __init__(self, folder: Path) -> None:
        """Use the regions in a folder, which need not exist yet."""
        self.folder = folder
        self._threads = threading.local()
        self._listed: tuple[int, dict[str, str]] = -1, {}

    def names(self) -> list[str]:
        """Return the names of all regions, including damaged ones."""
        return list(self._files())

    def _files(self) -> dict[str, str]:
        """Return the path of each region by name, sorted; the folder is listed again only after it has changed."""
        try:
            changed_ns = os.stat(self.folder).st_mtime_ns  # noqa: PTH116  (called for every search; half the time)
            if self._listed[0] == changed_ns:
                return self._listed[1]
            with os.scandir(self.folder) as files:
                paths = {
                    file.name.removesuffix(SUFFIX): file.path
                    for file in files
                    if file.name.endswith(SUFFIX) and not file.name.startswith(".")
                }
        except OSError:
            return {}
        found = dict(sorted(paths.items()))
        # A folder that changed just now may change again without a new timestamp: some clocks tick every two seconds.
        if time.time_ns() - changed_ns > _SETTLED_AFTER_NS:
            self._listed = changed_ns, found
        return found

    def list(self) -> Sequence[RegionInfo]:
        """Return every region that can be read, sorted by name; see `damaged` for the others."""
        return [region.info for region in self.open_all()]

    def list_damaged(self) -> Sequence[Damaged]:
        """Return the regions whose file can't be read."""
        found = []
        for name in self.names():
            try:
                self.open(name)
            except BadInput as error:
                found.append(Damaged(name, region_path(self.folder, name), str(error)))
        return found

    def info(self, name: str) -> RegionInfo:
        """Return the metadata of a region.

        Raises:
            BadInput: there is no such region, or its file is damaged.
        """
        return self.open(name).info

    def remove(self, name: str) -> None:
        """Delete a region, damaged or not.

        Raises:
            BadInput: there is no such region, or its file can't be deleted.
        """
        if name not in self.names():
            raise BadInput(self._build_unknown_message(name))
        self._get_open_regions().pop(name, None)
        path = region_path(self.folder, name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(f"{path} can't be deleted ({error.strerror or error})") from error
        clear_abandoned(self.folder)

    def open_all(self, only: Sequence[str] | None = None) -> Sequence[OpenRegion]:
        """Open the named regions; without names, all that can be read.

        Raises:
            BadInput: a named region does not exist or is damaged. Without names, damaged regions are skipped.
        """
        if only is not None:
            return [self.open(name) for name in dict.fromkeys(only)]
        found = []
        opened = self._get_open_regions()
        for name, path in self._files().items():
            region = opened.get(name)
            try:
                unchanged = region is not None and region.stamp == _stamp(os.stat(path))  # noqa: PTH116
                found.append(region if region is not None and unchanged else self.open(name))
            except (BadInput, FileNotFoundError) as error:
                _log.warning("%s", error)
        return found

    def open(self, name: str) -> OpenRegion:
        """Return a region, opened for reading; a thread opens each region only once.

        Raises:
            BadInput: there is no such region, or its file is damaged.
        """
        path = region_path(self.folder, name)
        try:
            status = path.stat()
        except OSError:
            raise BadInput(self._build_unknown_message(name)) from None
        stamp = _stamp(status)
        opened = self._get_open_regions().get(name)
        if opened and opened.stamp == stamp:
            return opened
        with self.explain_errors(name):
            _check_size(path)
            # A connection is used by one thread, but may be closed by another after that thread has ended.
            conn = open_readonly(path, any_thread=True)
            try:
                region = _read_region(conn, name, path, stamp)
            except BaseException:
                conn.close()
                raise
        weakref.finalize(region, conn.close)
        self._get_open_regions()[name] = region
        return region

    def explain_errors(self, name: str) -> AbstractContextManager[None]:
        """Turn errors of the block into `DamagedRegion`, which says how to restore the file.

        Only read the file inside the block: validate user input before, as its errors would be blamed on the file.
        """
        return _Explained(self.folder, name)

    def _get_open_regions(self) -> "dict[str, OpenRegion]":
        """Return the regions that this thread has opened, by name."""
        opened: dict[str, OpenRegion] | None = getattr(self._threads, "opened", None)
        if opened is None:
            opened = self._threads.opened = {}
        return opened

    def _build_unknown_message(self, name: str) -> str:
        names = ", ".join(self.names()) or "none yet; fetch one with: geosleuth atlas get PLACE"
        return f"there is no region {name[:80]!r} (regions: {names})"


@contextmanager
def numpy_warnings_off() -> Iterator[None]:
    """Ignore invalid values and overflows in numpy during a search, which reads regions many times.

    Damaged coordinates are detected later, when places are made of them.
    """
    before = getattr(_thread, "warnings_off", False)
    _thread.warnings_off = True
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            yield
    finally:
        _thread.warnings_off = before


class _Explained(AbstractContextManager[None]):
    """See `RegionStore.explain_errors`. A class, since a search enters it a hundred times and a generator is slower."""

    __slots__ = ("_folder", "_name", "_state")

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._state: np.errstate | None = None

    def __enter__(self) -> None:
        if not getattr(_thread, "warnings_off", False):  # see `numpy_warnings_off`
            self._state = np.errstate(invalid="ignore", over="ignore")
            self._state.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._state is not None:
            self._state.__exit__(kind, error, trace)
        if error is None:
            return
        if not isinstance(error, (_NotReadable, *_DAMAGE_ERRORS)) or isinstance(error, BadInput):
            return
        message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        why = " ".join(message.split())[:200] or type(error).__name__
        if not isinstance(error, (_NotReadable, sqlite3.Error, OSError)):
            why = f"invalid content: {why}"
        raise DamagedRegion(
            self._name,
            f"region {self._name!r} is damaged ({why}): {region_path(self._folder, self._name)}; "
            f"add it again with: geosleuth atlas add EXTRACT --name {self._name}",
        ) from error


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Return values that change when a file is replaced or written."""
    return status.st_ino, status.st_mtime_ns, status.st_size


class _NotReadable(Exception):
    """A file is not a region file, incomplete, or of an unknown format."""


def _check_size(path: Path) -> None:
    """Raise if a file is shorter than its header says; SQLite notices only when it reads a missing page."""
    with path.open("rb") as stream:
        header = stream.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
        raise _NotReadable("not a region file")
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    if path.stat().st_size != page_size * int.from_bytes(header[28:32], "big"):
        raise _NotReadable("the file is incomplete")


def _read_region(conn: sqlite3.Connection, name: str, path: Path, stamp: tuple[int, int, int]) -> OpenRegion:
    """Check a file's format and read its metadata."""
    if conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise _NotReadable("not a region file")
    meta: dict[str, str] = dict(conn.execute("SELECT key, value FROM meta"))
    if not all(isinstance(text, str) for text in (*meta, *meta.values())):
        raise _NotReadable("its metadata is not text")
    if meta.get("format") != (GAZETTEER_FORMAT if "kinds" in meta else FORMAT_VERSION):
        raise _NotReadable(f"it has format {meta.get('format')!r}; this version reads {FORMAT_VERSION!r}")
    try:
        south, west, north, east = (float(edge) for edge in meta["bbox"].split(","))
        info = RegionInfo(
            name=name,
            kind=meta["kind"],
            path=path,
            source=meta["source"],
            sha256=meta["sha256"],
            licence=meta["licence"],
            attribution=meta["attribution"],
            extent=Box(south, west, north, east),
            created=meta["created"],
            data_date=meta.get("data_date"),
            features=int(meta["features"]),
            names=int(meta["names"]),
            streets=int(meta["streets"]),
            addresses=int(meta["addresses"]),
            junctions=int(meta["junctions"]),
            shapes=int(meta["shapes"]),
            size_bytes=stamp[2],
            refused=int(meta.get("refused", "0")),
            origin=meta.get("origin"),
            origin_md5=meta.get("origin_md5"),
        )
    except (KeyError, ValueError) as error:
        raise _NotReadable(f"its metadata is incomplete: {error}") from error
    if "kinds" in meta:  # a gazetteer, which stores its few kinds in the metadata
        kinds = tuple(meta["kinds"].split(","))
    else:
        kinds = tuple(convert_text(kind) for (kind,) in conn.execute("SELECT kind FROM kind ORDER BY id"))
    # The cache of a gazetteer depends on its connection, so threads can't share it.
    memory = {} if "kinds" in meta else _get_file_cache(path, stamp)
    return OpenRegion(info, conn, RegionNames(conn, memory), kinds, stamp, memory)


def _get_file_cache(path: Path, stamp: tuple[int, int, int]) -> dict[str, Any]:
    """Return the cache of a file, which all threads share."""
    cached = _MEMORY.get(path)
    if cached is None or cached[0] != stamp:
        while len(_MEMORY) >= _MAX_CACHED_FILES:
            with suppress(KeyError):  # another thread was first
                _MEMORY.pop(next(iter(_MEMORY)))
        cached = _MEMORY[path] = (stamp, {})
    return cached[1]


def convert_text(value: Any) -> str:
    """Return the value of a text column, which in a damaged file may be anything.

    Raises:
        TypeError: the value is not a text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where text should be")
    return value


def boxes_around(point: LatLon, radius_m: float) -> list[Edges]:
    """Return boxes that cover the disc around a point: two if it crosses the antimeridian."""
    reach = math.degrees(radius_m / 1000 / EARTH_RADIUS_KM) * 1.0000001 + 1e-9
    south, north = point.lat - reach, point.lat + reach
    if south <= -90 or north >= 90:
        return [(max(south, -90.0), -180.0, min(north, 90.0), 180.0)]
    widest = math.cos(math.radians(max(abs(south), abs(north))))
    half = reach / widest
    if half >= 180:
        return [(south, -180.0, north, 180.0)]
    west, east = point.lon - half, point.lon + half
    if west < -180:
        return [(south, west + 360, north, 180.0), (south, -180.0, north, east)]
    if east > 180:
        return [(south, west, north, 180.0), (south, -180.0, north, east - 360)]
    return [(south, west, north, east)]


def touches(region: OpenRegion, extent: Extent | None) -> bool:
    """Return whether a region may have features in an extent."""
    if extent is None:
        return True
    room = roomy(region)
    if isinstance(extent, Box) or extent.radius_km > _WIDE_KM:
        return room.distance_km(extent) == 0
    boxes = boxes_around(extent.centre, 1000 * extent.radius_km)
    return any(
        south <= room.north and north >= room.south and west <= room.east and east >= room.west
        for south, west, north, east in boxes
    )


def roomy(region: OpenRegion) -> Box:
    """Return the bounding box of a region with a margin of 0.2 degrees: features may extend beyond the extract."""
    cached = region.memory.get("room")
    if isinstance(cached, Box):
        return cached
    box = region.info.extent
    south, west = max(box.south - 0.2, -90), max(box.west - 0.2, -180)
    room = region.memory["room"] = Box(south, west, min(box.north + 0.2, 90), min(box.east + 0.2, 180))
    return room


def inside(extent: Extent, lats: FloatArray, lons: FloatArray) -> NDArray[np.bool_]:
    """Return for each point whether it is in an extent, as ``extent.contains`` does for one point."""
    if isinstance(extent, Disc):
        within: NDArray[np.bool_] = distances_from_km(extent.centre, lats, lons) <= extent.radius_km
        return within
    if extent.west <= extent.east:
        spanned = (lons >= extent.west) & (lons <= extent.east)
    else:
        spanned = (lons >= extent.west) | (lons <= extent.east)
    edge = (np.abs(lons) == 180) & (extent.spans_lon(180.0) or extent.spans_lon(-180.0))
    between: NDArray[np.bool_] = (lats >= extent.south) & (lats <= extent.north)
    around: NDArray[np.bool_] = spanned | edge | (np.abs(lats) == 90)
    return between & around


def in_boxes(region: OpenRegion, boxes: Sequence[Edges], kinds: NDArray[np.bool_]) -> tuple[Ids, Spots]:
    """Return ids and `SPOT` rows of the features that intersect one of some boxes; ``kinds`` marks the wanted kinds."""
    blocks: dict[int, bytes] = {}
    for south, west, north, east in boxes:
        blocks.update(region.conn.execute(_BLOCKS_NEAR, (east, west, north, south)).fetchall())
    spots = np.frombuffer(b"".join(blocks.values()), dtype=SPOT)
    edges = np.ascontiguousarray(spots["box"].T)
    matches = np.zeros(len(spots), dtype=bool)
    for south, west, north, east in boxes:  # integers compare several times as fast
        intersects = edges[0] <= math.floor(north * E7)
        intersects &= edges[1] <= math.floor(east * E7)
        intersects &= edges[2] >= math.ceil(south * E7)
        intersects &= edges[3] >= math.ceil(west * E7)
        matches |= intersects
    matches &= kinds[spots["kind"]]
    indexes = matches.nonzero()[0]
    firsts = np.array([block * FEATURE_BLOCK + 1 for block in blocks], dtype=np.int64)
    counts = [len(packed) // SPOT.itemsize for packed in blocks.values()]
    if counts[:-1].count(FEATURE_BLOCK) == len(counts) - 1:
        numbers = firsts[indexes // FEATURE_BLOCK] + indexes % FEATURE_BLOCK
    else:  # the last block of a region is not full
        numbers = spans(firsts, np.array(counts, dtype=np.int64))[indexes]
    return numbers, spots[indexes]


def build_filter(
    region: OpenRegion, within: Extent | None, category: str | None = None, *, streets: bool = False
) -> Keep | None:
    """Return a filter for features in an extent, of a category, or streets only; None if all features pass."""
    if within is None and category is None and not streets:
        return None
    kind_mask = street_kinds(region) if streets else None
    if category is not None:
        matching = set(matching_kinds(category, region.kinds))
        category_mask = np.array([kind in matching for kind in region.kinds], dtype=bool)
        kind_mask = category_mask if kind_mask is None else category_mask & kind_mask

    def keep(ids: Ids) -> NDArray[np.bool_]:
        fits = np.ones(len(ids), dtype=bool)
        if kind_mask is not None:
            fits = kind_mask[column(region, "kind")[ids - 1]]
        if within is not None:
            fits &= inside(within, *positions(region, ids))
        return fits

    return keep


def of_category(region: OpenRegion, category: str) -> Ids:
    """Return the ids of the features of a category, ascending."""
    return features_of_kinds(region, _matching_kinds(region, category))


def kinds_of_category(region: OpenRegion, category: str) -> NDArray[np.bool_]:
    """Return for each kind of a region whether a category means it."""
    matching = _matching_kinds(region, category)
    return np.array([kind in matching for kind in region.kinds], dtype=bool)


def count_of_category(region: OpenRegion, category: str) -> int:
    """Return the number of features of a category, without reading them."""
    counts = region.memory.get("kind counts")
    if not isinstance(counts, dict):
        sizes = region.conn.execute("SELECT kind, substr(features, 1, 1), length(features) FROM kind").fetchall()
        counts = region.memory["kind counts"] = {kind: count_packed(first, size) for kind, first, size in sizes}
    return sum(counts.get(kind, 0) for kind in _matching_kinds(region, category))


def _matching_kinds(region: OpenRegion, category: str) -> Set[str]:
    """Return the kinds that a category means; fast for texts that are not categories, which most are."""
    patterns = category_kinds(category)
    if not all(pattern[0] == "=" for pattern in patterns):
        return _match_cached_kinds(category, region.kinds)
    by_value = region.memory.get("kinds by value")
    if not isinstance(by_value, dict):
        by_value = {}
        for kind in region.kinds:
            by_value.setdefault(f"={kind.rpartition('=')[2]}", []).append(kind)
        region.memory["kinds by value"] = by_value
    return {kind for pattern in patterns for kind in by_value.get(pattern, ()) if "=" in kind}


@lru_cache(maxsize=256)
def _match_cached_kinds(category: str, kinds: tuple[str, ...]) -> frozenset[str]:
    return frozenset(matching_kinds(category, kinds))


def features_of_kinds(region: OpenRegion, kinds: Set[str]) -> Ids:
    """Return the ids of the features of some kinds, ascending."""
    if not kinds:
        return np.empty(0, dtype=np.int64)
    lists = [
        unpack_steps(features)
        for number, kind in enumerate(region.kinds)
        if kind in kinds
        for (features,) in region.conn.execute("SELECT features FROM kind WHERE id = ?", (number,))
    ]
    return np.sort(np.concatenate(lists)) if lists else np.empty(0, dtype=np.int64)


def rows_of_kinds(region: OpenRegion, wanted: Callable[[str], bool]) -> list[tuple[Any, ...]]:
    """Return the rows of all features of the kinds that ``wanted`` accepts, ordered by id; see `read_feature_rows`."""
    ids = features_of_kinds(region, {kind for kind in region.kinds if wanted(kind)})
    return list(read_feature_rows(region, ids.tolist()).values())


def are_streets(region: OpenRegion, ids: Ids) -> NDArray[np.bool_]:
    """Return for each feature whether it is a street."""
    return np.asarray(street_kinds(region)[column(region, "kind")[ids - 1]])


def street_kinds(region: OpenRegion) -> NDArray[np.bool_]:
    """Return for each kind of a region whether it is a street."""
    flags = region.memory.get("street kinds")
    if not isinstance(flags, np.ndarray):
        flags = region.memory["street kinds"] = np.array([is_street(kind) for kind in region.kinds], dtype=bool)
    return flags


def column(region: OpenRegion, name: str) -> NDArray[Any]:
    """Return a column ("lat", "lon" or "kind") of all features; the value of a feature is at index id - 1."""
    values = region.memory.get(name)
    if not isinstance(values, np.ndarray):
        query = 'SELECT bytes FROM feature_column WHERE "column" = ?'
        (packed,) = region.conn.execute(query, (name,)).fetchone()
        values = region.memory[name] = np.frombuffer(zlib.decompress(packed), dtype=_COLUMNS[name])
    return values


def read_spots(region: OpenRegion, ids: Ids) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Return latitudes and longitudes (1e-7 degrees) and kinds of features; for a few, without loading columns."""
    if len(ids) > _MAX_ROW_BY_ROW or "lat" in region.memory:
        lats, lons, kinds = (column(region, name)[ids - 1] for name in ("lat", "lon", "kind"))
        return lats, lons, kinds
    rows = read_raw_rows(region, ids.tolist())
    found = np.array([rows[number][5:7] + rows[number][3:4] for number in ids.tolist()], dtype=np.int64).reshape(-1, 3)
    return found[:, 0].astype(np.int32), found[:, 1].astype(np.int32), found[:, 2].astype(np.uint16)


def positions(region: OpenRegion, ids: Ids) -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes of features in degrees."""
    lats, lons = column(region, "lat")[ids - 1] / E7, column(region, "lon")[ids - 1] / E7
    check_positions(lats, lons)
    return lats, lons


def check_positions(lats: FloatArray, lons: FloatArray) -> None:
    """Check that positions are valid; NaN, for no position, is allowed.

    Raises:
        ValueError: a latitude beyond 90 or a longitude beyond 180 degrees.
    """
    if np.any(np.abs(lats) > 90) or np.any(np.abs(lons) > 180):
        raise ValueError("a position has coordinates out of range")


def read_raw_rows(region: OpenRegion, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Return feature rows by id, with the columns of the table: id, osm, name, kind, rank, lat, lon, box."""
    return {row[0]: row for row in select_rows(region.conn, f"{_FEATURES} WHERE id", [int(number) for number in ids])}


def read_boxes(region: OpenRegion, ids: Sequence[int]) -> dict[int, bytes]:
    """Return the packed boxes of features that are not points, by id; cached, as a search needs them repeatedly."""
    cache: dict[int, bytes | None] = region.memory.setdefault("boxes", {})
    found = {number: cache.get(number) for number in ids}
    if missing := [number for number, box in found.items() if box is None and number not in cache]:
        read = _values_by_id(region, "box", missing)
        found |= read
        if len(cache) + len(read) > _MAX_BOXES:
            cache.clear()
        cache.update(islice(read.items(), _MAX_BOXES))
    return {number: box for number, box in found.items() if box is not None}


def read_sources(region: OpenRegion, ids: Sequence[int]) -> dict[int, int | str]:
    """Return the value of column ``osm`` of features, by id; see `osm_text`."""
    return _values_by_id(region, "osm", ids)


def _values_by_id(region: OpenRegion, column: str, ids: Sequence[int]) -> dict[int, Any]:
    return dict(select_rows(region.conn, f"SELECT id, {column} FROM feature WHERE id", ids))  # noqa: S608


def read_feature_rows(region: OpenRegion, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Return feature rows by id, in degrees: id, osm, name, kind, lat, lon, south, west, north, east, rank."""
    return {number: full_row(region, row) for number, row in read_raw_rows(region, ids).items()}


def full_row(region: OpenRegion, row: Sequence[Any]) -> tuple[Any, ...]:
    """Convert a row of `read_raw_rows` to a row of `read_feature_rows`."""
    number, osm, name, kind, rank, lat, lon, box = row
    point = (lat / E7, lon / E7)
    if box is None:
        return (number, osm_text(osm), name, region.kinds[kind], *point, *point, *point, rank / 1000)
    south, west, north, east = unpack_box(box)
    edges = (south / E7, west / E7, north / E7, east / E7)
    return (number, osm_text(osm), name, region.kinds[kind], *point, *edges, rank / 1000)


def read_tags(region: OpenRegion, number: int) -> dict[str, str]:
    """Return the stored tags of a feature."""
    return _read_tags_by_id(region, [number])[number]


def _read_tags_by_id(region: OpenRegion, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return the stored tags of features, by id."""
    wanted = list({(number - 1) // TAG_BLOCK for number in numbers})
    blocks = {
        block: zlib.decompressobj().decompress(packed, _MAX_TAG_BYTES).split(b"\n")
        for block, packed in select_rows(region.conn, "SELECT block, tags FROM feature_tags WHERE block", wanted)
    }
    return {number: _DECODER.decode(blocks[(number - 1) // TAG_BLOCK][(number - 1) % TAG_BLOCK]) for number in numbers}


def build_place(region: OpenRegion, row: Sequence[Any]) -> Place:
    """Return the place of a row of `read_feature_rows`."""
    return build_places(region, [row])[0]


def build_places(region: OpenRegion, rows: Sequence[Sequence[Any]]) -> list[Place]:
    """Return the places of rows of `read_feature_rows`."""
    tags_in = _read_tags_by_id(region, [row[0] for row in rows])
    source = get_source(region)
    return [_build_tagged_place(region, row, tags_in[row[0]], source) for row in rows]


def _build_tagged_place(region: OpenRegion, row: Sequence[Any], tags: dict[str, str], source: str) -> Place:
    _, osm, name, kind, lat, lon, south, west, north, east, _ = row
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{osm}",
        name=convert_text(name or "") or kind.partition("=")[2].replace("_", " "),
        kind=kind,
        point=LatLon(lat, lon),
        extent=Box(south, west, north, east),
        source=source,
        address=format_address(tags) or (name if kind == ADDRESS else None),
        details=tags,
    )


def get_source(region: OpenRegion) -> str:
    """Return the source to name for a place."""
    return f"{_SOURCES.get(region.info.kind, region.info.kind)}, region {region.info.name}"


def unpack_grounds(geoms: Sequence[Any]) -> NDArray[np.object_]:
    """Unpack geometries of table ``ground``.

    Raises:
        ValueError: a geometry is damaged.
    """
    shapes = unpack(geoms)
    if shapely.is_missing(shapes).any():
        raise ValueError("a geometry is damaged")
    return shapes


def snap_to_nearest(
    region: OpenRegion, ids: Sequence[int], point: LatLon, positions: tuple[Ids, FloatArray, FloatArray]
) -> None:
    """Move streets and areas, in place, to the point of each that is nearest to ``point``.

    Args:
        region: the region of the features.
        ids: features; those without a geometry are left where they are.
        point: the point to be near.
        positions: the indexes of the features in the two arrays that follow, latitudes, and longitudes.
    """
    segments = _segments(region, ids)
    if not segments:
        return
    indexes, lats, lons = positions
    nearest = nearest_points(list(segments.values()), point.lat, point.lon)
    if len(segments) < len(ids) or list(segments) != ids:
        index_of = dict(zip(ids, indexes.tolist(), strict=True))
        indexes = np.array([index_of[number] for number in segments])
    lats[indexes], lons[indexes] = nearest[:, 0], np.minimum(np.maximum(nearest[:, 1], -180.0), 180.0)


@dataclass(slots=True)
class _SegmentCache:
    """Segments of a region's streets and areas by feature; emptied when it holds too many."""

    by_feature: dict[int, Segments]
    count: int = 0


def _segments(region: OpenRegion, ids: Sequence[int]) -> dict[int, Segments]:
    """Return the segments of the features that have a geometry; cached, as the same streets are near many points."""
    cache = region.memory.get("segments")
    if not isinstance(cache, _SegmentCache) or cache.count > _MAX_SEGMENTS:
        cache = region.memory["segments"] = _SegmentCache({})
    found = {number: cached for number in ids if (cached := cache.by_feature.get(number)) is not None}
    missing = [number for number in ids if number not in found]
    geoms = dict(select_rows(region.conn, "SELECT feature, geom FROM ground WHERE feature", missing))
    if geoms:
        read = dict(zip(geoms, extract_segments(list(geoms.values())), strict=True))
        found |= read
        count = sum(item.ends.shape[1] for item in read.values())
        if count <= _MAX_SEGMENTS:
            cache.by_feature |= read
            cache.count += count
    return found
