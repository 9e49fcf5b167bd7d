"""The regions a user has added, one file each, and the boxes, distances and places that questions about them share."""

import json
import logging
import math
import sqlite3
import struct
import threading
import weakref
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.folders import open_readonly
from geosleuth.atlas.protocol import Place
from geosleuth.atlas.search import NameIndex
from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, Box, Disc, Extent, FloatArray, LatLon, great_circle_km

from .feature_kinds import ADDRESS, is_street, matching_kinds
from .region_file import APPLICATION_ID, FORMAT_VERSION, SUFFIX, clear_abandoned, region_path

_log = logging.getLogger(__name__)
_HEADER_BYTES = 100
_WRONG_ROWS: Final = (
    sqlite3.Error, zlib.error, struct.error, shapely.errors.ShapelyError, OSError,
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
)  # fmt: skip
"""What reading rows that are not as they were written comes to: nothing in them can be trusted, types included."""


@dataclass(frozen=True, slots=True)
class RegionInfo:
    """What a region holds and whom to credit for it."""

    name: str
    kind: str  # "osm", "overture" or "made-up"; of gazetteers "geonames" or "naturalearth"
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
    refused: int = 0  # rows of the source that were not taken
    origin: str | None = None  # the address it was fetched from
    origin_md5: str | None = None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A region file that can't be read, and the line that says so."""

    name: str
    path: Path
    message: str


@dataclass(slots=True, weakref_slot=True)
class OpenRegion:
    """A region open for reading in one thread."""

    info: RegionInfo
    conn: sqlite3.Connection
    index: NameIndex
    kinds: tuple[str, ...]
    stamp: tuple[int, int, int]
    memory: dict[str, object] = field(default_factory=dict)


class DamagedRegion(BadInput):
    """A region's file is not what it was when it was written; the message says how to get it back."""

    def __init__(self, name: str, message: str) -> None:
        """Keep the region's name beside the message."""
        super().__init__(message)
        self.name = name


class RegionStore:
    """Lists, opens and removes regions. Reading never writes, so a read-only folder or several processes are fine."""

    def __init__(self, folder: Path) -> None:
        """Regions lie in that folder, which need not exist yet."""
        self.folder = folder
        self._threads = threading.local()

    def names(self) -> list[str]:
        """Names of all regions, damaged ones included."""
        if not self.folder.is_dir():
            return []
        return sorted(path.name.removesuffix(SUFFIX) for path in self.folder.glob(f"[!.]*{SUFFIX}"))

    def list(self) -> Sequence[RegionInfo]:
        """Every region that can be read, by name; ``damaged`` tells of the others."""
        return [region.info for region in self.open_all()]

    def damaged(self) -> Sequence[Damaged]:
        """Regions whose file can't be read."""
        found = []
        for name in self.names():
            try:
                self.open(name)
            except BadInput as error:
                found.append(Damaged(name, region_path(self.folder, name), str(error)))
        return found

    def info(self, name: str) -> RegionInfo:
        """One region.

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
            raise BadInput(self._unknown(name))
        self._opened().pop(name, None)
        path = region_path(self.folder, name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise BadInput(f"{path} can't be deleted ({error.strerror or error})") from error
        clear_abandoned(self.folder)

    def open_all(self, only: Sequence[str] | None = None) -> Sequence[OpenRegion]:
        """Open regions for reading: those named, or all that are sound.

        Raises:
            BadInput: a region that was named does not exist or is damaged. Nobody named is nobody to complain about:
                then damaged ones are left out.
        """
        if only is not None:
            return [self.open(name) for name in dict.fromkeys(only)]
        found = []
        for name in self.names():
            try:
                found.append(self.open(name))
            except BadInput as error:
                _log.warning("%s", error)
        return found

    def open(self, name: str) -> OpenRegion:
        """Open one region for reading, or hand out the connection this thread already has.

        Raises:
            BadInput: there is no such region, or its file is damaged.
        """
        path = region_path(self.folder, name)
        try:
            status = path.stat()
        except OSError:
            raise BadInput(self._unknown(name)) from None
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        known = self._opened().get(name)
        if known and known.stamp == stamp:
            return known
        with self.explained(name):
            _check_size(path)
            # Each connection stays in its thread; only closing may happen in another, once its thread is gone.
            conn = open_readonly(path, any_thread=True)
            try:
                region = _read(conn, name, path, stamp)
            except BaseException:
                conn.close()
                raise
        weakref.finalize(region, conn.close)
        self._opened()[name] = region
        return region

    @contextmanager
    def explained(self, name: str) -> Iterator[None]:
        """Whatever goes wrong in reading a region's file, as the line that says what to do about it.

        Nothing but reading belongs inside: what a user asked for must have been checked before.
        """
        try:
            with np.errstate(invalid="ignore", over="ignore"):  # coordinates that are none are refused as places
                yield
        except BadInput:
            raise
        except (_Unfit, *_WRONG_ROWS) as error:
            why = " ".join(str(error).split())[:200] or type(error).__name__
            if not isinstance(error, (_Unfit, sqlite3.Error, OSError)):
                why = f"what it holds is not what was written: {why}"
            raise DamagedRegion(
                name,
                f"region {name!r} is damaged ({why}): {region_path(self.folder, name)}; "
                f"add it again with: geosleuth atlas add EXTRACT --name {name}",
            ) from error

    def _opened(self) -> "dict[str, OpenRegion]":
        opened: dict[str, OpenRegion] | None = getattr(self._threads, "opened", None)
        if opened is None:
            opened = self._threads.opened = {}
        return opened

    def _unknown(self, name: str) -> str:
        there = ", ".join(self.names()) or "none yet; fetch one with: geosleuth atlas get PLACE"
        return f"there is no region {name[:80]!r} (regions: {there})"


class _Unfit(Exception):
    """A file that is a database, but not a region of ours."""


def _check_size(path: Path) -> None:
    """SQLite does not notice that a file was cut until it reads a page that is gone."""
    with path.open("rb") as stream:
        header = stream.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
        raise _Unfit("not a region file")
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    if path.stat().st_size != page_size * int.from_bytes(header[28:32], "big"):
        raise _Unfit("the file is cut short")


def _read(conn: sqlite3.Connection, name: str, path: Path, stamp: tuple[int, int, int]) -> OpenRegion:
    if conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise _Unfit("not a region file")
    meta: dict[str, str] = dict(conn.execute("SELECT key, value FROM meta"))
    if not all(isinstance(text, str) for text in (*meta, *meta.values())):
        raise _Unfit("its description is no text")
    if meta.get("format") != FORMAT_VERSION:
        raise _Unfit(f"format {meta.get('format')!r}, this version reads {FORMAT_VERSION!r}")
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
        raise _Unfit(f"its description is incomplete: {error}") from error
    if "kinds" in meta:  # a gazetteer, with too many features to look through
        kinds = tuple(meta["kinds"].split(","))
    else:
        kinds = tuple(text_of(kind) for (kind,) in conn.execute("SELECT DISTINCT kind FROM feature ORDER BY kind"))
    return OpenRegion(info, conn, NameIndex(conn), kinds, stamp)


def text_of(value: Any) -> str:
    """A text column, which in a damaged file may hold anything.

    Raises:
        TypeError: it holds something else.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where a text should be")
    return value


def details_of(tags_json: str) -> dict[str, str]:
    """The kept tags of a feature."""
    return {str(key): str(value) for key, value in json.loads(tags_json).items()}


Ids = NDArray[np.int64]
Edges = tuple[float, float, float, float]  # south, west, north, east
FEATURE_COLUMNS: Final = "id, osm, name, kind, lat, lon, south, west, north, east, rank, address, tags"
_SOURCES: Final = {"osm": "OpenStreetMap", "overture": "Overture Maps", "made-up": "geosleuth world (made up)"}
_PARAMETERS: Final = 30_000  # SQLite takes 32,766 at once


def boxes_around(point: LatLon, radius_m: float) -> list[Edges]:
    """Boxes that hold the whole disc around a point."""
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
    """Whether a region can hold anything of an extent; its own box is the extract's, with some room at the edges."""
    if extent is None:
        return True
    box = region.info.extent
    roomy = Box(
        max(box.south - 0.2, -90), max(box.west - 0.2, -180), min(box.north + 0.2, 90), min(box.east + 0.2, 180)
    )
    return roomy.distance_km(extent) == 0


def inside(extent: Extent, lats: FloatArray, lons: FloatArray) -> NDArray[np.bool_]:
    """Which points lie in an extent: its own ``contains``, for many points at once."""
    if isinstance(extent, Disc):
        within: NDArray[np.bool_] = distances_m(extent.centre, lats, lons) <= extent.radius_km * 1000
        return within
    if extent.west <= extent.east:
        spanned = (lons >= extent.west) & (lons <= extent.east)
    else:
        spanned = (lons >= extent.west) | (lons <= extent.east)
    edge = (np.abs(lons) == 180) & (extent.spans_lon(180.0) or extent.spans_lon(-180.0))
    between: NDArray[np.bool_] = (lats >= extent.south) & (lats <= extent.north)
    around: NDArray[np.bool_] = spanned | edge | (np.abs(lats) == 90)
    return between & around


def in_boxes(region: OpenRegion, boxes: Sequence[Edges], table: str = "feature_box") -> Ids:
    """Ids whose box meets one of these, ascending."""
    found: set[int] = set()
    for south, west, north, east in boxes:
        rows = region.conn.execute(
            f"SELECT id FROM {table} WHERE west <= ? AND east >= ? AND south <= ? AND north >= ?",  # noqa: S608
            (east, west, north, south),
        )
        found.update(number for (number,) in rows)
    return np.array(sorted(found), dtype=np.int64)


def among(region: OpenRegion, within: Extent | None, category: str | None) -> Ids | None:
    """Features inside an extent and of a category, ascending; None for all of them."""
    chosen = of_category(region, category) if category is not None else None
    if within is None:
        return chosen
    lats, lons = positions(region)
    if chosen is None:
        return np.flatnonzero(inside(within, lats, lons))
    return chosen[inside(within, lats[chosen], lons[chosen])]


def of_category(region: OpenRegion, category: str) -> Ids:
    """Features of a category, ascending."""
    key = f"category {category[:200]}"
    ids = region.memory.get(key)
    if not isinstance(ids, np.ndarray):
        ids = _of_kinds(region, matching_kinds(category, region.kinds))
        if len(region.memory) < 200:
            region.memory[key] = ids
    return ids


def street_ids(region: OpenRegion) -> Ids:
    """All streets of a region, ascending."""
    ids = region.memory.get("streets")
    if not isinstance(ids, np.ndarray):
        ids = region.memory["streets"] = _of_kinds(region, [kind for kind in region.kinds if is_street(kind)])
    return ids


def _of_kinds(region: OpenRegion, kinds: Sequence[str]) -> Ids:
    marks = ",".join("?" * len(kinds))
    rows = region.conn.execute(f"SELECT id FROM feature WHERE kind IN ({marks}) ORDER BY id", kinds)  # noqa: S608
    return np.array([number for (number,) in rows], dtype=np.int64)


def positions(region: OpenRegion) -> tuple[FloatArray, FloatArray]:
    """Latitude and longitude of every feature, at its id; NaN where there is none."""
    known = region.memory.get("positions")
    if isinstance(known, tuple):
        return known
    columns = dict(region.conn.execute("SELECT axis, degrees FROM feature_position"))
    lats, lons = (np.frombuffer(columns[axis], dtype="<f8") for axis in ("lat", "lon"))
    if len(lats) != len(lons):
        raise ValueError("latitudes without longitudes")
    check_positions(lats, lons)
    region.memory["positions"] = (lats, lons)
    return lats, lons


def check_positions(lats: FloatArray, lons: FloatArray) -> None:
    """Refuse what is nowhere on Earth; NaN, for no position, is let through.

    Raises:
        ValueError: a latitude beyond 90 or a longitude beyond 180 degrees.
    """
    if np.any(np.abs(lats) > 90) or np.any(np.abs(lons) > 180):
        raise ValueError("a position that is nowhere on Earth")


def rows_of(region: OpenRegion, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Feature rows by id."""
    found: dict[int, tuple[Any, ...]] = {}
    for begin in range(0, len(ids), _PARAMETERS):
        some = [int(number) for number in ids[begin : begin + _PARAMETERS]]
        marks = ",".join("?" * len(some))
        rows = region.conn.execute(f"SELECT {FEATURE_COLUMNS} FROM feature WHERE id IN ({marks})", some)  # noqa: S608
        found.update((row[0], row) for row in rows)
    return found


def place_of(region: OpenRegion, row: Sequence[Any]) -> Place:
    """A feature row as a place."""
    _, osm, name, kind, lat, lon, south, west, north, east, _, address, tags = row
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{text_of(osm)}",
        name=text_of(name or "") or kind.partition("=")[2].replace("_", " "),
        kind=text_of(kind),
        point=LatLon(lat, lon),
        extent=Box(south, west, north, east),
        source=source_of(region),
        address=text_of(address or "") or (name if kind == ADDRESS else None),
        details=details_of(tags),
    )


def source_of(region: OpenRegion) -> str:
    """Whose word it is."""
    return f"{_SOURCES.get(region.info.kind, region.info.kind)}, region {region.info.name}"


def distances_m(point: LatLon, lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Metres from a point to each of these."""
    return great_circle_km(np.array([point.lat]), np.array([point.lon]), lats, lons) * 1000


def nearest_points(region: OpenRegion, ids: Ids, point: LatLon) -> dict[int, LatLon]:
    """For those of the features that are streets or cover ground: the point of each that is nearest."""
    owners: list[int] = []
    geoms: list[bytes] = []
    for table, column in (("street_way", "street"), ("area", "feature")):
        for begin in range(0, len(ids), _PARAMETERS):
            some = ids[begin : begin + _PARAMETERS].tolist()
            marks = ",".join("?" * len(some))
            query = f"SELECT {column}, geom FROM {table} WHERE {column} IN ({marks})"  # noqa: S608
            for owner, geom in region.conn.execute(query, some):
                owners.append(owner)
                geoms.append(geom)
    if not owners:
        return {}
    # A degree of longitude is shorter than one of latitude; without the stretch "nearest" would lean east and west.
    squeeze = max(math.cos(math.radians(point.lat)), 1e-6)
    shapes = shapely.transform(shapely.from_wkb(geoms), lambda xy: xy * [squeeze, 1.0])
    ways = shapely.shortest_line(shapes, shapely.Point(point.lon * squeeze, point.lat))
    found: dict[int, LatLon] = {}
    for at in np.argsort(shapely.length(ways), kind="stable").tolist():
        if owners[at] not in found:
            x, y = shapely.get_coordinates(ways[at])[0].tolist()
            found[owners[at]] = LatLon(y, min(180.0, max(-180.0, x / squeeze)))
    return found
