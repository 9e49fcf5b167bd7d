"""Writing a region file: rows go in by the batch, into a file that nobody can see until it is complete."""

import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from geosleuth.atlas import search
from geosleuth.errors import BadInput
from geosleuth.files import lock_file
from geosleuth.names import fold

from . import schema
from .tags import house_number

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many of it are done, and how many there are."""

SUFFIX: Final = ".region.sqlite"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_BATCH: Final = 5_000
_PAGES: Final = 16_384
_ABANDONED_AFTER_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """One feature as it goes into the file."""

    osm: str
    name: str
    kind: str
    point: tuple[float, float]  # lat, lon
    bounds: tuple[float, float, float, float]  # south, west, north, east
    rank: float
    address: str | None
    tags_json: str
    names: list[tuple[str, int]]


def region_name(wanted: str | None, path: Path) -> str:
    """The name asked for, or one made from the file's: "isle-of-wight-latest.osm.pbf" is "isle-of-wight".

    Raises:
        BadInput: the name asked for could not be part of an id.
    """
    if wanted is not None:
        if not _NAME.match(wanted):
            raise BadInput(
                f"a region's name is small letters, digits, hyphens and underscores, 64 at most, not {wanted[:80]!r}"
            )
        return wanted
    stem = path.name.split(".")[0].casefold()
    stem = re.sub(r"-latest\Z|[-_]\d{6}\Z", "", stem)
    made = re.sub(r"[^a-z0-9]+", "-", fold(stem)).strip("-")[:64]
    return made if _NAME.match(made) else "region"


def region_path(folder: Path, name: str) -> Path:
    """Where a region's file lies once it is complete."""
    return folder / f"{name}{SUFFIX}"


@contextmanager
def writing(folder: Path, name: str) -> Iterator["RegionWriter"]:
    """A writer whose file takes its place when the block ends well, and is gone when it does not.

    The unfinished file is hidden from the store and locked until it has its name. A killed import leaves it behind
    unlocked; the next import clears it away.
    """
    with _held_partial(folder, name) as partial, _connected(partial) as conn:
        conn.execute("PRAGMA page_size = 8192")
        conn.execute("PRAGMA journal_mode = OFF")  # nothing to roll back to: an unfinished file is thrown away
        conn.execute("PRAGMA synchronous = OFF")  # the whole file is synced once, before it is renamed
        conn.execute("PRAGMA locking_mode = EXCLUSIVE")
        conn.execute(f"PRAGMA cache_size = {_PAGES // 4}")
        conn.execute("PRAGMA temp_store = FILE")
        schema.create_tables(conn)
        search.create_tables(conn)
        conn.execute("BEGIN")
        writer = RegionWriter(conn)
        yield writer
        conn.execute("COMMIT")
        conn.close()
        _sync(partial)
        try:
            partial.replace(region_path(folder, name))
        except OSError as error:
            raise _unwritable(folder, error) from error
        _sync(folder)


@contextmanager
def _held_partial(folder: Path, name: str) -> Iterator[Path]:
    """A new, empty, hidden file that ``clear_abandoned`` leaves alone inside the block; it is gone afterwards."""
    handle = None
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clear_abandoned(folder)
            while handle is None:
                partial = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.partial"
                handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
                lock_file(handle, wait=True)
                if not partial.exists():  # cleared away in the moment before it was locked
                    os.close(handle)
                    handle = None
        except OSError as error:
            raise _unwritable(folder, error) from error
        try:
            yield partial
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def _connected(partial: Path) -> Iterator[sqlite3.Connection]:
    """SQLite's own locks are left out: on some systems they get in the way of the one that is held already."""
    conn = None
    try:
        conn = sqlite3.connect(f"{partial.absolute().as_uri()}?nolock=1", uri=True, isolation_level=None)
        yield conn
    except sqlite3.OperationalError as error:  # a full disk, or one that went away
        raise _unwritable(partial.parent, error) from error
    finally:
        if conn is not None:
            conn.close()


def _unwritable(folder: Path, error: Exception) -> BadInput:
    return BadInput(f"{folder} can't be written to ({error})")


def clear_abandoned(folder: Path) -> None:
    """Delete what killed imports left; files of imports that are still running are locked and stay."""
    for partial in folder.glob(".*.partial"):
        with suppress(OSError):  # gone already, or not ours to delete
            handle = os.open(partial, os.O_RDWR)
            try:
                free = lock_file(handle)
                if free is None:
                    free = time.time() - os.fstat(handle).st_mtime > _ABANDONED_AFTER_S
                if free:
                    partial.unlink(missing_ok=True)
            finally:
                os.close(handle)


class RegionWriter:
    """Collects rows and writes them in batches; ids are given in the order rows arrive."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Work on an open, writable database that has the tables."""
        self.conn = conn
        self.counts = {"features": 0, "names": 0, "streets": 0, "addresses": 0, "junctions": 0, "shapes": 0}
        self._features: list[tuple[Any, ...]] = []
        self._boxes: list[tuple[float, ...]] = []
        self._names: list[tuple[int, str, int]] = []
        self._addresses: list[tuple[str, str, int]] = []
        self._areas: list[tuple[int, bytes]] = []
        self._shapes: list[tuple[Any, ...]] = []
        self._shape_boxes: list[tuple[float, ...]] = []

    def add_feature(self, row: FeatureRow, tags: Mapping[str, str]) -> int:
        """Write one feature with its names and address, and return its number; the first of an id stands."""
        number = self.counts["features"] = self.counts["features"] + 1
        south, west, north, east = row.bounds
        self._features.append(
            (
                number,
                row.osm,
                row.name,
                row.kind,
                *row.point,
                south,
                west,
                north,
                east,
                row.rank,
                row.address,
                row.tags_json,
            )
        )
        self._boxes.append((number, west, east, south, north))
        self._names.extend((number, text, role) for text, role in row.names)
        at = house_number(tags)
        if at:
            street_key = fold(at[1])
            self._addresses.extend(
                (street_key, fold(part).replace(" ", ""), number) for part in re.split("[;,]", at[0]) if fold(part)
            )
            self.counts["addresses"] += 1
        if len(self._features) >= _BATCH:
            self.flush()
        return number

    def add_area(self, feature: int, geom: bytes) -> None:
        """Write the ground that a feature covers."""
        self._areas.append((feature, geom))

    def add_shape(
        self, layer: schema.Layer, rank: int, name: str | None, geom: bytes, bounds: tuple[float, float, float, float]
    ) -> None:
        """Write one shape to draw; ``bounds`` are south, west, north, east."""
        number = self.counts["shapes"] = self.counts["shapes"] + 1
        south, west, north, east = bounds
        self._shapes.append((number, layer, rank, name, geom))
        self._shape_boxes.append((number, west, east, south, north))
        if len(self._shapes) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        insert = self.conn.executemany
        insert("INSERT OR IGNORE INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._features)
        insert("INSERT INTO feature_box VALUES (?, ?, ?, ?, ?)", self._boxes)
        insert("INSERT INTO address VALUES (?, ?, ?)", self._addresses)
        insert("INSERT OR IGNORE INTO area VALUES (?, ?)", self._areas)
        insert("INSERT INTO shape VALUES (?, ?, ?, ?, ?)", self._shapes)
        insert("INSERT INTO shape_box VALUES (?, ?, ?, ?, ?)", self._shape_boxes)
        search.add_names(self.conn, self._names)
        self.counts["names"] += len(self._names)
        for waiting in (
            self._features, self._boxes, self._names, self._addresses, self._areas, self._shapes, self._shape_boxes
        ):  # fmt: skip
            waiting.clear()

    def finish(self, meta: Mapping[str, str]) -> None:
        """Build the indexes and say what the file is; nothing may be added afterwards."""
        self.flush()
        self._write_positions()
        search.finish(self.conn)
        schema.create_indexes(self.conn)
        about = {
            "format": schema.FORMAT_VERSION,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **meta,
            **{key: str(count) for key, count in self.counts.items()},
        }
        if "bbox" not in about:
            box = self.conn.execute("SELECT min(south), min(west), max(north), max(east) FROM feature").fetchone()
            about["bbox"] = ",".join(f"{edge:.7f}" for edge in box) if box[0] is not None else "0,0,0,0"
        self.conn.executemany("INSERT INTO meta VALUES (?, ?)", about.items())
        self.conn.execute("COMMIT")
        self.conn.execute("ANALYZE")
        self.conn.execute("BEGIN")

    def _write_positions(self) -> None:
        columns = np.full((2, self.counts["features"] + 1), np.nan, dtype="<f8")
        for number, lat, lon in self.conn.execute("SELECT id, lat, lon FROM feature"):
            columns[:, number] = lat, lon
        self.conn.executemany(
            "INSERT INTO feature_position VALUES (?, ?)",
            [(axis, column.tobytes()) for axis, column in zip(("lat", "lon"), columns, strict=True)],
        )


def _sync(path: Path) -> None:
    """Make what was written to a file, or a rename in a folder, outlast a power cut."""
    with suppress(PermissionError, OSError):  # some systems let nobody open a folder
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
