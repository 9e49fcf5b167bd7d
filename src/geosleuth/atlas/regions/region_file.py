"""Define the region file, an SQLite database: its schema, the packing of blocks, and atomic writing.

Positions are WGS-84 in 1e-7 degrees; R-trees are (id, west, east, south, north) in degrees. "Folded" names are
without case, accents and punctuation (`geosleuth.names.fold`).

- ``meta``: format, name, kind (osm, overture or made-up), source (the name of the input), its sha256, licence,
  attribution, data_date, origin (its URL), origin_md5 (as the server says), created, bbox ("south,west,north,east")
  and the counts of features, names, streets, addresses, junctions and shapes.
- ``feature``: everything that can be found, numbered along a Z-order curve, which keeps neighbours together.
  - ``osm``: id in the source. A number encodes an OpenStreetMap id (`osm_key`; a street has the id of its first way);
    a text is any other id, such as the GERS id of an Overture place.
  - ``kind``: id in table ``kind``. ``rank``: how well known it is, in thousandths.
  - ``box``: four integers; NULL for a point.
- ``feature_tags``: tags to show, for `TAG_BLOCK` features in a row: a line of JSON for each, compressed by zlib.
- ``feature_box``: R-tree of blocks of `FEATURE_BLOCK` features. A large feature has an entry of its own, under minus
  its id.
- ``feature_block``: position, box and kind of each feature of a block, as `SPOT`, to be read at once.
- ``feature_column``: positions and kinds of all features, one column each.
- ``kind``: "key=value", and the ids of the features of that kind.
- the name index: see ``region_names``. Its owners are feature ids.
- ``address``: (folded street, folded house number) to feature. ``postcode``: areas of postcodes.
- ``ground``: geometry of an area or street, as ``geometry`` packs it: distances are to the nearest point of a street,
  not to its middle. Boundaries, quarters and land use have none, since they contain nearly every point.
- ``junction``, ``junction_street``: nodes shared by two or more streets of different names; the nodes of each street.
- ``shape``: geometries for maps; a row holds many of the same layer, rank and size. Its R-tree is ``shape_box``.
  Layers: `LAYERS`.
"""

import os
import re
import secrets
import shutil
import sqlite3
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from geosleuth.names import fold
from geosleuth.support.errors import BadFile, BadInput
from geosleuth.support.files import lock_file

from . import region_names
from .pbf import Ints

FORMAT_VERSION: Final = "4"
APPLICATION_ID: Final = 0x47534C52  # "GSLR" in the header marks region files among SQLite files

Layer = Literal["water", "coast", "green", "building", "road", "rail", "place", "landuse"]
# From the bottom of a map to its top.
#
# ``water``: polygons (lakes, basins, riverbanks) and lines (rivers rank 1, canals 2, streams 3, the rest 4). ``coast``:
# coastline ways, land on the left. ``green``: parks, woods, grass. ``building``: footprints. ``landuse``: residential,
# industrial and so on, named by its value. ``road``: rank by ``ROAD_RANKS``. ``rail``: 1 main lines, 2 light rail, tram
# and subway, 3 sidings. ``place``: points with a name to label, rank 1 city to 8 single station.
LAYERS: Final[tuple[Layer, ...]] = ("landuse", "green", "water", "coast", "building", "rail", "road", "place")

ROAD_RANKS: Final[dict[str, int]] = {
    "motorway": 1,
    "motorway_link": 1,
    "trunk": 2,
    "trunk_link": 2,
    "primary": 3,
    "primary_link": 3,
    "secondary": 4,
    "secondary_link": 4,
    "tertiary": 5,
    "tertiary_link": 5,
    "residential": 6,
    "unclassified": 6,
    "living_street": 6,
    "road": 6,
    "busway": 6,
    "service": 7,
    "pedestrian": 7,
    "track": 8,
    "footway": 8,
    "steps": 8,
    "path": 8,
    "cycleway": 8,
    "bridleway": 8,
    "corridor": 8,
}

SHAPE_TABLES: Final = """
CREATE TABLE shape (
    id INTEGER PRIMARY KEY, layer TEXT NOT NULL, rank INTEGER NOT NULL, size REAL NOT NULL, shapes BLOB NOT NULL
);
CREATE VIRTUAL TABLE shape_box USING rtree(id, west, east, south, north);
"""

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE kind (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, features BLOB NOT NULL);
CREATE TABLE feature (
    id INTEGER PRIMARY KEY, osm NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL, rank INTEGER NOT NULL,
    lat INTEGER NOT NULL, lon INTEGER NOT NULL, box BLOB
);
CREATE TABLE feature_tags (block INTEGER PRIMARY KEY, tags BLOB NOT NULL);
CREATE TABLE feature_block (block INTEGER PRIMARY KEY, spots BLOB NOT NULL);
CREATE TABLE feature_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE VIRTUAL TABLE feature_box USING rtree(id, west, east, south, north);
CREATE TABLE ground (feature INTEGER PRIMARY KEY, geom BLOB NOT NULL);
CREATE TABLE address (
    street_key TEXT NOT NULL, number TEXT NOT NULL, feature INTEGER NOT NULL, PRIMARY KEY (street_key, number, feature)
) WITHOUT ROWID;
CREATE TABLE postcode (
    key TEXT NOT NULL, code TEXT NOT NULL, town TEXT NOT NULL, country TEXT NOT NULL, addresses INTEGER NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL,
    south REAL NOT NULL, west REAL NOT NULL, north REAL NOT NULL, east REAL NOT NULL
);
CREATE TABLE junction (id INTEGER PRIMARY KEY, lat INTEGER NOT NULL, lon INTEGER NOT NULL, streets TEXT NOT NULL);
CREATE TABLE junction_street (street_key TEXT PRIMARY KEY, junctions BLOB NOT NULL) WITHOUT ROWID;
{SHAPE_TABLES}"""

_INDEXES = """
CREATE INDEX feature_osm ON feature (osm);
CREATE INDEX postcode_key ON postcode (key);
"""

Progress = Callable[[str, int, int], None]
"""Called with the current step, how many units of it are done, and how many there are."""
SUFFIX: Final = ".region.sqlite"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_CACHE_PAGES: Final = 4_096
_ABANDONED_AFTER_S: Final = 86_400.0
_RESUMABLE: Final = ".resume"
_RESUME_WITHIN_S: Final = 7 * 86_400.0
# Features per entry of the R-tree.
FEATURE_BLOCK: Final = 32
# Number of features whose tags are compressed together.
TAG_BLOCK: Final = 8
_BOX: Final = struct.Struct("<4i")
OsmKind = Literal["n", "w", "r"]
_TYPES: Final = "nwr"
# A feature's point and box (south, west, north, east) in 1e-7 degrees, its kind, and flags (`HAS_GROUND`).
SPOT: Final = np.dtype([("lat", "<i4"), ("lon", "<i4"), ("box", "<i4", 4), ("kind", "<u2"), ("flags", "u1")])
# Flag: the table ``ground`` has the feature's geometry.
HAS_GROUND: Final = 1


def create_tables(conn: sqlite3.Connection) -> None:
    """Create all tables; `create_indexes` adds the indexes once they are full."""
    run_script(conn, _TABLES)
    run_script(conn, region_names.TABLES)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def create_indexes(conn: sqlite3.Connection) -> None:
    """Create the indexes of full tables, which is much faster than updating them with each row."""
    run_script(conn, _INDEXES)


def run_script(conn: sqlite3.Connection, script: str) -> None:
    """Run statements one by one; ``executescript`` of sqlite3 would commit the open transaction."""
    for statement in script.split(";"):
        conn.execute(statement)


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Ignore progress reports."""


def region_name(wanted: str | None, path: Path) -> str:
    """Return the wanted name, or one made from a file name: "isle-of-wight-latest.osm.pbf" gives "isle-of-wight".

    Raises:
        BadInput: the wanted name is not valid in ids.
    """
    if wanted is not None:
        if not _NAME.match(wanted):
            raise BadInput(
                f"a region's name is up to 64 lowercase letters, digits, hyphens and underscores, not {wanted[:80]!r}"
            )
        return wanted
    stem = path.name.split(".")[0].casefold()
    stem = re.sub(r"-latest\Z|[-_]\d{6}\Z", "", stem)
    made = re.sub(r"[^a-z0-9]+", "-", fold(stem)).strip("-")[:64]
    return made if _NAME.match(made) else "region"


def region_path(folder: Path, name: str) -> Path:
    """Return the path of a region's file."""
    return folder / f"{name}{SUFFIX}"


@contextmanager
def import_folder(folder: Path, name: str, plan: str | None = None) -> Iterator[Path]:
    """Provide a hidden folder for the files of an import: locked inside the block, then deleted.

    A plan names the input and how it is read. With a plan, an interrupted import keeps its folder, and the next import
    with the same plan resumes from it; it is deleted once the import succeeds or the input proves bad. Without a plan,
    the next import deletes what a killed one left.
    """
    work = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clear_abandoned(folder)
        if plan is not None:
            resumable = folder / f".{name}.{plan}{_RESUMABLE}"
            resumable.mkdir(exist_ok=True)
            for other in folder.glob(f".{name}.*{_RESUMABLE}"):
                if other != resumable:
                    _clear_folder(other, 0.0)
            work = resumable if (lock := _lock(resumable)) is not None else work
        if plan is None or work != resumable:
            work.mkdir()
            lock = _lock(work)
    except OSError as error:
        raise unwritable(folder, error) from error
    keep = plan is not None
    try:
        yield work
        keep = False
    except BadInput:
        keep = False
        raise
    finally:
        if not keep:
            shutil.rmtree(work, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock(work: Path) -> int | None:
    """Lock a folder and return the handle that holds the lock; None if another process holds it."""
    handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    if lock_file(handle) is False:
        os.close(handle)
        return None
    return handle


def _clear_folder(work: Path, min_age_s: float) -> None:
    """Delete the folder of an import, unless the import still runs or the folder is younger than ``min_age_s``."""
    with suppress(OSError):
        age = time.time() - work.stat().st_mtime
        handle = _lock(work)
        if handle is not None:
            try:
                if age >= min_age_s:
                    shutil.rmtree(work, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def new_database(folder: Path, name: str) -> Iterator[sqlite3.Connection]:
    """Provide an empty database that becomes the region's file if the block succeeds; an open transaction is committed.

    Until it is renamed, the file is hidden and locked. If the import is killed, the lock is released and the next
    import deletes the file.
    """
    with _create_partial(folder, name) as partial, open_without_locks(partial) as conn:
        conn.execute("PRAGMA page_size = 8192")
        conn.execute("PRAGMA journal_mode = OFF")  # no rollback needed: an unfinished file is deleted
        conn.execute("PRAGMA synchronous = OFF")  # the file is synced once, before it is renamed
        conn.execute("PRAGMA locking_mode = EXCLUSIVE")
        conn.execute(f"PRAGMA cache_size = {_CACHE_PAGES}")
        conn.execute("PRAGMA temp_store = FILE")
        yield conn
        if conn.in_transaction:
            conn.execute("COMMIT")
        conn.close()
        _sync(partial)
        try:
            partial.replace(region_path(folder, name))
        except OSError as error:
            raise unwritable(folder, error) from error
        _sync(folder)


@contextmanager
def _create_partial(folder: Path, name: str) -> Iterator[Path]:
    """Provide a new hidden file: locked inside the block, so that `clear_abandoned` leaves it alone, then deleted."""
    handle = None
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clear_abandoned(folder)
            while handle is None:
                partial = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.partial"
                handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
                lock_file(handle, wait=True)
                if not partial.exists():  # another import deleted it before it was locked
                    os.close(handle)
                    handle = None
        except OSError as error:
            raise unwritable(folder, error) from error
        try:
            yield partial
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def open_without_locks(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database without SQLite's own locks, which on some systems conflict with the lock that is already held."""
    conn = None
    try:
        conn = sqlite3.connect(f"{path.absolute().as_uri()}?nolock=1", uri=True, isolation_level=None)
        yield conn
    except sqlite3.OperationalError as error:  # the disk is full or gone
        raise unwritable(path.parent, error) from error
    finally:
        if conn is not None:
            conn.close()


def unwritable(folder: Path, error: Exception) -> BadInput:
    """Return the error to raise if a folder can't be written to."""
    return BadInput(f"{folder} can't be written to ({error})")


def clear_abandoned(folder: Path) -> None:
    """Delete what killed imports left; running imports hold locks, so their files stay."""
    for resumable in folder.glob(f".*{_RESUMABLE}"):
        _clear_folder(resumable, _RESUME_WITHIN_S)
    for partial in folder.glob(".*.partial"):
        if partial.is_dir():
            _clear_folder(partial, 0.0)
            continue
        with suppress(OSError):  # already deleted, or no permission
            handle = os.open(partial, os.O_RDWR)
            try:
                free = lock_file(handle)
                if free is None:
                    free = time.time() - os.fstat(handle).st_mtime > _ABANDONED_AFTER_S
                if free:
                    partial.unlink(missing_ok=True)
            finally:
                os.close(handle)


def pack_box(south: int, west: int, north: int, east: int) -> bytes:
    """Pack a box in 1e-7 degrees."""
    return _BOX.pack(south, west, north, east)


def unpack_box(box: bytes) -> tuple[int, int, int, int]:
    """Return south, west, north, east in 1e-7 degrees."""
    return _BOX.unpack(box)


def osm_key(osm: str) -> int | str:
    """Return the value of column ``osm`` for an id.

    "n123", "w123" and "r123" become 4 * 123 + 0, 1 or 2, a quarter of the size; other ids stay as they are.
    """
    digits = osm[1:]
    if osm[:1] in _TYPES and digits.isascii() and digits.isdigit() and digits == str(int(digits)) and len(digits) < 18:
        return int(digits) * 4 + _TYPES.index(osm[0])
    return osm


def osm_number(kind: OsmKind, number: int) -> int:
    """Return the value of column ``osm`` for an OpenStreetMap node, way or relation."""
    return number * 4 + _TYPES.index(kind)


def osm_text(value: object) -> str:
    """Return the id that a value of column ``osm`` stands for.

    Raises:
        TypeError: the value is not valid.
    """
    if isinstance(value, int) and value & 3 < len(_TYPES):
        return f"{_TYPES[value & 3]}{value >> 2}"
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where an id should be")
    return value


def spot_blocks(
    first: int,
    lats: NDArray[np.int32],
    lons: NDArray[np.int32],
    kinds: NDArray[np.uint16],
    boxes: Ints,
    flags: NDArray[np.uint8],
) -> Iterator[tuple[int, bytes]]:
    """Yield rows of ``feature_block``; ``first`` features come before these and fill whole blocks."""
    spots = np.empty(len(lats), dtype=SPOT)
    for name, column in (("lat", lats), ("lon", lons), ("kind", kinds), ("box", boxes), ("flags", flags)):
        spots[name] = column
    for at in range(0, len(spots), FEATURE_BLOCK):
        yield (first + at) // FEATURE_BLOCK, spots[at : at + FEATURE_BLOCK].tobytes()


def pack_shapes(names: Sequence[str | None], geoms: Sequence[bytes]) -> bytes:
    """Compress the names and packed geometries of some shapes."""
    lengths = np.array([len(geom) for geom in geoms], dtype="<u4")
    texts = "\n".join((name or "").replace("\n", " ") for name in names).encode()
    return zlib.compress(struct.pack("<II", len(geoms), len(texts)) + lengths.tobytes() + texts + b"".join(geoms), 6)


def unpack_shapes(packed: bytes) -> tuple[list[str], list[bytes]]:
    """Return the names and packed geometries that `pack_shapes` compressed.

    Raises:
        zlib.error, struct.error, ValueError: the data is damaged.
    """
    data = zlib.decompressobj().decompress(packed, 1 << 26)
    count, size = struct.unpack_from("<II", data)
    begin = 8 + 4 * count
    lengths = np.frombuffer(data, dtype="<u4", count=count, offset=8)
    names = data[begin : begin + size].decode().split("\n")
    cuts = (begin + size + np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])).tolist()
    if len(names) != count or cuts[-1] != len(data):
        raise ValueError("names and shapes differ in number")
    return names, [data[cuts[at] : cuts[at + 1]] for at in range(count)]


def _sync(path: Path) -> None:
    """Flush a file, or a rename in a folder, to disk, so that it survives a power cut."""
    with suppress(PermissionError, OSError):  # some systems can't open folders
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_readable(path: Path) -> None:
    """Check that a path is a non-empty file.

    Raises:
        BadInput: the path is missing, not a file, or empty.
    """
    if not path.exists():
        raise BadInput(f"{path} does not exist")
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    if not path.stat().st_size:
        raise BadFile(path, "is empty", "download it again")


def compute_digest(path: Path, report: Progress) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    Raises:
        BadInput: the file can't be read.
    """
    total, done, digest = path.stat().st_size, 0, sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                done += len(block)
                report("reading the file", done, total)
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror or error}") from error
    return digest.hexdigest()
