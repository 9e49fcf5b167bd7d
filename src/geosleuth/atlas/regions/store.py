"""The regions a user has added: one file each in one folder."""

import json
import logging
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

from geosleuth.atlas.readonly import open_readonly
from geosleuth.atlas.search import NameIndex
from geosleuth.errors import BadInput
from geosleuth.geo import Box

from .schema import APPLICATION_ID, FORMAT_VERSION
from .writer import SUFFIX, clear_abandoned, region_path

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
    kind: str  # "osm", "overture" or "made-up"
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
        there = ", ".join(self.names()) or "none yet; add one with: geosleuth atlas add EXTRACT"
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
        )
    except (KeyError, ValueError) as error:
        raise _Unfit(f"its description is incomplete: {error}") from error
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
