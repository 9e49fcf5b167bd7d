"""The file of an index of photos: SQLite, changed a batch at a time, with coordinates from photos or a table.

root    folders that were looked at, by absolute path
photo   one row a photo: where it lies under its root, the hash of its content, where it was taken, its features
        (features are empty where no place is known, or one that was estimated: the row then only says that there is
        nothing to look at again)
"""

import csv
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.folders import data_dir
from geosleuth.geo import LatLon, is_valid
from geosleuth.photo.views import FIRST_VIEW_PIXELS
from geosleuth.support.databases import check_stamp, explain_errors, run_transaction, stamp
from geosleuth.support.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

    from geosleuth.photo.image_encoder import ImageEncoder

FORMAT: Final = 1
_APPLICATION: Final = 0x67736C69
_BUSY_SECONDS: Final = 10.0
_WHAT: Final = "an index of photos"
_PAGE_BYTES: Final = 16_384  # with the usual 4096, a third of the file would be air between features

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE root (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
CREATE TABLE photo (
    id INTEGER PRIMARY KEY, root INTEGER NOT NULL REFERENCES root, path BLOB NOT NULL,
    bytes INTEGER NOT NULL, changed_ns INTEGER NOT NULL, lat REAL, lon REAL,
    file_sha256 BLOB, pixel_sha256 BLOB, features BLOB, UNIQUE (root, path));
"""

Halves = npt.NDArray[np.float16]

_COLUMNS: Final = {
    "path": ("path", "file", "filename", "image"),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "longitude"),
}


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Metadata of an index: its encoder, and how to find the encoder again."""

    encoder: str
    spec: str
    dimension: int


def default_index_path() -> Path:
    """Return the default path of the index."""
    return data_dir() / "photos.index"


def encode_key(relative: str) -> bytes:
    """Return the key of a path below a folder: bytes, since not every file name is text."""
    return os.fsencode(relative.replace(os.sep, "/"))


def format_key(key: bytes) -> str:
    """Return a key for models and terminals: text on one line."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in key.decode("utf-8", "replace"))


def pixel_digest(image: "Image") -> bytes:
    """Return a fingerprint of a picture's pixels, the same for any file that they came in."""
    hashing = hashlib.sha256(f"{image.mode} {image.width} {image.height}".encode())
    hashing.update(image.tobytes())
    return hashing.digest()


@contextmanager
def open_for_change(path: Path, encoder: "ImageEncoder", spec: str) -> Iterator[sqlite3.Connection]:
    """The index to add to, made if there is none; statements outside a transaction are committed at once.

    Raises:
        BadInput: something else is there, it can't be written, or it was made with another encoder.
    """
    if not path.parent.is_dir():
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    with explain_errors(path, _WHAT):
        fresh = not path.exists() or path.stat().st_size == 0
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as conn:
            if fresh:
                conn.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                _create(conn, IndexInfo(encoder.name, spec, encoder.dimension))
            info = read_info(conn, path)
            if info.encoder != encoder.name or info.dimension != encoder.dimension:
                raise BadInput(
                    f"{path}: it was made with the encoder {info.encoder!r}, not {encoder.name!r}; "
                    f"use that one, or write another file"
                )
            yield conn


@contextmanager
def open_for_reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The index as it is now.

    Raises:
        BadInput: there is none, or it can't be read.
    """
    if not path.is_file():
        raise BadInput(f"{path}: there is no index; make one with: geosleuth photo index FOLDER --out FILE")
    with explain_errors(path, _WHAT):
        # Writable where possible: the next process takes back what an interrupted run left half done.
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)) as conn:
            conn.execute("BEGIN")
            yield conn


def read_info(conn: sqlite3.Connection, path: Path) -> IndexInfo:
    """Return the metadata of an index.

    Raises:
        BadInput: the file is no index, or one of another version.
    """
    check_stamp(conn, path, _WHAT, _APPLICATION, FORMAT)
    meta = dict(conn.execute("SELECT key, value FROM meta"))
    try:
        if int(meta["view_pixels"]) != FIRST_VIEW_PIXELS:
            raise BadInput(f"{path}: the index was made from views of another size; delete it and make it anew")
        return IndexInfo(meta["encoder"], meta["spec"], int(meta["dimension"]))
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"{path}: the index is damaged; delete it and make it anew") from error


def _create(conn: sqlite3.Connection, info: IndexInfo) -> None:
    with run_transaction(conn):
        for statement in _SCHEMA.strip().split(";\n"):
            conn.execute(statement)
        meta = {
            "encoder": info.encoder,
            "spec": info.spec,
            "dimension": str(info.dimension),
            "view_pixels": str(FIRST_VIEW_PIXELS),
        }
        conn.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        stamp(conn, _APPLICATION, FORMAT)


@dataclass(frozen=True, slots=True)
class Contents:
    """Photos of one folder with what was seen in them, a row each; ``encoder`` and ``spec`` say with which encoder."""

    points: tuple[LatLon, ...]
    features: Halves
    encoder: str
    spec: str


def read_contents(path: Path, folder: Path, points_by_path: Mapping[bytes, LatLon] | None = None) -> Contents:
    """The photos of a folder, in the order of their paths; only those in ``points_by_path``, where it is given.

    Raises:
        BadInput: there is no index, or it can't be read.
    """
    root = os.fsencode(folder.resolve())
    query = (
        "SELECT photo.path, lat, lon, features FROM photo JOIN root ON root.id = photo.root "
        "WHERE root.path = ? AND features IS NOT NULL ORDER BY photo.path"
    )
    with open_for_reading(path) as conn:
        info = read_info(conn, path)
        points, rows = [], []
        for key, lat, lon, blob in conn.execute(query, (root,)):
            if points_by_path is not None and key not in points_by_path:
                continue
            if not is_valid(lat, lon) or not isinstance(blob, bytes) or len(blob) != 2 * info.dimension:
                raise BadInput(f"{path}: the index is damaged; delete it and make it anew")
            points.append(LatLon(lat, lon) if points_by_path is None else points_by_path[key])
            rows.append(np.frombuffer(blob, dtype="<f2"))
    features: Halves = np.stack(rows).astype(np.float16) if rows else np.empty((0, info.dimension), dtype=np.float16)
    return Contents(tuple(points), features, info.encoder, info.spec)


def read_coordinates(table: Path, folder: Path) -> dict[bytes, LatLon]:
    """Points by the photo's path under the folder.

    The table is CSV in UTF-8 with columns path, lat and lon. Paths are relative to the folder, or absolute.

    Raises:
        BadInput: it can't be read; the message names the line.
    """
    found: dict[bytes, LatLon] = {}
    root = folder.resolve()
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            names = _columns(table, rows.fieldnames or ())
            for row in rows:
                path, lat, lon = ((row[names[what]] or "").strip() for what in _COLUMNS)
                found[_make_key(path, root)] = _parse_point(lat, lon, f"{table}, line {rows.line_num}")
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{table}: this is no CSV table in UTF-8: {error}") from error
    except OSError as error:
        raise BadInput(f"{table}: can't be read: {error.strerror or error}") from error
    return found


def _columns(table: Path, present: Sequence[str]) -> dict[str, str]:
    by_name = {name.strip().casefold(): name for name in reversed(present) if name}
    names = {
        what: by_name[spelling] for what, spellings in _COLUMNS.items() for spelling in spellings[::-1]
        if spelling in by_name
    }  # fmt: skip
    if missing := [what for what in _COLUMNS if what not in names]:
        raise BadInput(f"{table}: the column {missing[0]} is missing; the first line must name path, lat and lon")
    return names


def _make_key(path: str, root: Path) -> bytes:
    given = Path(path)
    if given.is_absolute() and given.resolve().is_relative_to(root):
        given = given.resolve().relative_to(root)
    return encode_key(os.path.normpath(given))


def _parse_point(lat: str, lon: str, where: str) -> LatLon:
    try:
        return LatLon(float(lat), float(lon))
    except ValueError as error:
        raise BadInput(
            f"{where}: {lat[:30]!r}, {lon[:30]!r} is no point; write degrees such as 48.8584 and 2.2945"
        ) from error
