"""A region file: its schema, how blocks of it are packed, and writing it whole or not at all.

Tables (positions on WGS-84 count 1e-7 degrees; R-trees are (id, west, east, south, north) in degrees):

- ``meta``: what the file is, see ``META_KEYS``.
- ``feature``: everything that can be found, numbered along a curve that keeps neighbours together. ``osm`` is the
  source's own id: a number whose last two bits tell nodes, ways and relations apart, or a text (a street has the id
  of its first way, an Overture place its GERS id). ``kind`` is a row of ``kind``, ``rank`` thousandths of how well
  known it is, ``box`` four numbers where it is more than a point.
- ``feature_tags``: what people ask for, a line of JSON for each of ``TAG_BLOCK`` features, packed by zlib.
- ``feature_box``: R-tree of blocks of ``FEATURE_BLOCK`` features; what is large stands alone, under its number less
  than zero. ``feature_block``: where the features of each block lie, as ``SPOT`` has it, to be read in one go; so has
  ``feature_column`` the positions and kinds of all features.
- ``kind``: "key=value", and the features that are of that kind.
- the name index of ``region_names``, owned by feature ids.
- ``address``: (folded street, folded house number) to feature. ``postcode``: grounds of postcodes.
- ``ground``: what a feature covers, or the course of a street, as ``geometry`` packs it, so that points on a street are
  near it and not only near its middle; not of boundaries, quarters and land use, which one is always inside of.
- ``junction``, ``junction_street``: nodes that two or more differently named streets share, and the nodes of each.
- ``shape``: what a map draws, many of a layer, rank and size in one row; its R-tree is ``shape_box``. Layers are in
  ``LAYERS``.
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

from geosleuth.errors import BadFile, BadInput
from geosleuth.files import lock_file
from geosleuth.names import fold

from . import region_names
from .pbf import Ints

FORMAT_VERSION: Final = "4"
APPLICATION_ID: Final = 0x47534C52  # "GSLR" in the file's header: tells our files from other SQLite files

META_KEYS: Final = (
    "format",
    "name",
    "kind",  # "osm", "overture" or "made-up"
    "source",  # file name of the input
    "sha256",
    "licence",
    "attribution",
    "data_date",
    "origin",  # the address that the input was fetched from, where it was
    "origin_md5",  # what that server said the input must come to
    "created",
    "bbox",  # "south,west,north,east"
    "features",
    "names",
    "streets",
    "addresses",
    "junctions",
    "shapes",
)

Layer = Literal["water", "coast", "green", "building", "road", "rail", "place", "landuse"]
LAYERS: Final[tuple[Layer, ...]] = ("landuse", "green", "water", "coast", "building", "rail", "road", "place")
"""From the bottom of a map to its top.

``water``: polygons (lakes, basins, riverbanks) and lines (rivers rank 1, canals 2, streams 3, the rest 4).
``coast``: coastline ways, land on the left. ``green``: parks, woods, grass. ``building``: footprints. ``landuse``:
residential, industrial and so on, named by its value. ``road``: rank by ``ROAD_RANKS``. ``rail``: 1 main lines,
2 light rail, tram and subway, 3 sidings. ``place``: points with a name to label, rank 1 city to 8 single station.
"""

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

_TABLES = """
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
CREATE TABLE shape (
    id INTEGER PRIMARY KEY, layer TEXT NOT NULL, rank INTEGER NOT NULL, size REAL NOT NULL, shapes BLOB NOT NULL
);
CREATE VIRTUAL TABLE shape_box USING rtree(id, west, east, south, north);
"""

_INDEXES = """
CREATE INDEX feature_osm ON feature (osm);
CREATE INDEX postcode_key ON postcode (key);
"""


def create_tables(conn: sqlite3.Connection) -> None:
    """Every table; indexes come last, see ``create_indexes``."""
    run_script(conn, _TABLES)
    run_script(conn, region_names.TABLES)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def create_indexes(conn: sqlite3.Connection) -> None:
    """The ordinary indexes, made once the tables are full: far quicker than keeping them up row by row."""
    run_script(conn, _INDEXES)


def run_script(conn: sqlite3.Connection, script: str) -> None:
    """Run statements one by one; sqlite3's own ``executescript`` would commit the transaction that is open."""
    for statement in script.split(";"):
        conn.execute(statement)


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many of it are done, and how many there are."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Take progress that nobody watches."""


SUFFIX: Final = ".region.sqlite"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_CACHE_PAGES: Final = 4_096
_ABANDONED_AFTER_S: Final = 86_400.0


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
def workshop(folder: Path, name: str, plan: str | None = None) -> Iterator[Path]:
    """A hidden folder that is locked inside the block and gone afterwards.

    With a plan, which tells an input and how it is taken in, it is found again by the next import of that plan, unless
    this one ended well or the input was bad. Without one, the next import clears away what a killed one left.
    """
    work = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clear_abandoned(folder)
        if plan is not None:
            kept = folder / f".{name}.{plan}{_RESUMED}"
            kept.mkdir(exist_ok=True)
            for other in folder.glob(f".{name}.*{_RESUMED}"):
                if other != kept:
                    _clear_folder(other, 0.0)
            work = kept if (held := _lock(kept)) is not None else work
        if plan is None or work != kept:
            work.mkdir()
            held = _lock(work)
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
        if held is not None:
            os.close(held)


_RESUMED: Final = ".resume"
_RESUME_WITHIN_S: Final = 7 * 86_400.0


def _lock(work: Path) -> int | None:
    """A handle that holds a folder's lock; None where another has it."""
    handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    if lock_file(handle) is False:
        os.close(handle)
        return None
    return handle


def _clear_folder(work: Path, older_s: float) -> None:
    """Delete what an import left of a folder, unless it still runs or may be taken up again."""
    with suppress(OSError):
        age = time.time() - work.stat().st_mtime
        handle = _lock(work)
        if handle is not None:
            try:
                if age >= older_s:
                    shutil.rmtree(work, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def new_database(folder: Path, name: str) -> Iterator[sqlite3.Connection]:
    """An empty database that becomes a region's file when the block ends well; a transaction may be open then.

    The unfinished file is hidden from the store and locked until it has its name. A killed import leaves it behind
    unlocked; the next import clears it away.
    """
    with _held_partial(folder, name) as partial, connected(partial) as conn:
        conn.execute("PRAGMA page_size = 8192")
        conn.execute("PRAGMA journal_mode = OFF")  # nothing to roll back to: an unfinished file is thrown away
        conn.execute("PRAGMA synchronous = OFF")  # the whole file is synced once, before it is renamed
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
def connected(partial: Path) -> Iterator[sqlite3.Connection]:
    """SQLite's own locks are left out: on some systems they get in the way of the one that is held already."""
    conn = None
    try:
        conn = sqlite3.connect(f"{partial.absolute().as_uri()}?nolock=1", uri=True, isolation_level=None)
        yield conn
    except sqlite3.OperationalError as error:  # a full disk, or one that went away
        raise unwritable(partial.parent, error) from error
    finally:
        if conn is not None:
            conn.close()


def unwritable(folder: Path, error: Exception) -> BadInput:
    """What to raise where a folder takes no more."""
    return BadInput(f"{folder} can't be written to ({error})")


def clear_abandoned(folder: Path) -> None:
    """Delete what killed imports left; files of imports that are still running are locked and stay."""
    for kept in folder.glob(f".*{_RESUMED}"):
        _clear_folder(kept, _RESUME_WITHIN_S)
    for partial in folder.glob(".*.partial"):
        if partial.is_dir():
            _clear_folder(partial, 0.0)
            continue
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


FEATURE_BLOCK: Final = 32
"""Features that one entry of the R-tree stands for."""

TAG_BLOCK: Final = 8
"""Features of which the tags are packed together."""

_BOX: Final = struct.Struct("<4i")


def pack_box(south: int, west: int, north: int, east: int) -> bytes:
    """A box in 1e-7 degrees."""
    return _BOX.pack(south, west, north, east)


def unpack_box(box: bytes) -> tuple[int, int, int, int]:
    """South, west, north, east in 1e-7 degrees."""
    return _BOX.unpack(box)


OsmKind = Literal["n", "w", "r"]
_TYPES: Final = "nwr"


def osm_key(osm: str) -> int | str:
    """What the column ``osm`` has for an id: OpenStreetMap's as numbers, a quarter of the size, others as they are."""
    digits = osm[1:]
    if osm[:1] in _TYPES and digits.isascii() and digits.isdigit() and digits == str(int(digits)) and len(digits) < 18:
        return int(digits) * 4 + _TYPES.index(osm[0])
    return osm


def osm_number(kind: OsmKind, number: int) -> int:
    """The same for a node, way or relation of OpenStreetMap."""
    return number * 4 + _TYPES.index(kind)


def osm_text(number: object) -> str:
    """The id that a value of the column ``osm`` stands for.

    Raises:
        TypeError: it stands for none.
    """
    if isinstance(number, int) and number & 3 < len(_TYPES):
        return f"{_TYPES[number & 3]}{number >> 2}"
    if not isinstance(number, str):
        raise TypeError(f"{number!r:.40} where an id should be")
    return number


SPOT: Final = np.dtype([("lat", "<i4"), ("lon", "<i4"), ("box", "<i4", 4), ("kind", "<u2"), ("flags", "u1")])
"""Where a feature lies: its point, its box (south, west, north, east), its kind and `HAS_GROUND`."""

HAS_GROUND: Final = 1
"""The table ``ground`` has the feature."""


def spot_blocks(
    first: int,
    lats: NDArray[np.int32],
    lons: NDArray[np.int32],
    kinds: NDArray[np.uint16],
    boxes: Ints,
    flags: NDArray[np.uint8],
) -> Iterator[tuple[int, bytes]]:
    """Rows of ``feature_block`` for features that follow so many others, which fill whole blocks."""
    spots = np.empty(len(lats), dtype=SPOT)
    for name, column in (("lat", lats), ("lon", lons), ("kind", kinds), ("box", boxes), ("flags", flags)):
        spots[name] = column
    for at in range(0, len(spots), FEATURE_BLOCK):
        yield (first + at) // FEATURE_BLOCK, spots[at : at + FEATURE_BLOCK].tobytes()


def pack_shapes(names: Sequence[str | None], geoms: Sequence[bytes]) -> bytes:
    """Names and packed geometries of some shapes in one piece."""
    lengths = np.array([len(geom) for geom in geoms], dtype="<u4")
    texts = "\n".join((name or "").replace("\n", " ") for name in names).encode()
    return zlib.compress(struct.pack("<II", len(geoms), len(texts)) + lengths.tobytes() + texts + b"".join(geoms), 6)


def unpack_shapes(packed: bytes) -> tuple[list[str], list[bytes]]:
    """What `pack_shapes` packed.

    Raises:
        zlib.error, struct.error, ValueError: it is damaged.
    """
    data = zlib.decompressobj().decompress(packed, 1 << 26)
    count, size = struct.unpack_from("<II", data)
    begin = 8 + 4 * count
    lengths = np.frombuffer(data, dtype="<u4", count=count, offset=8)
    names = data[begin : begin + size].decode().split("\n")
    cuts = (begin + size + np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])).tolist()
    if len(names) != count or cuts[-1] != len(data):
        raise ValueError("shapes without names")
    return names, [data[cuts[at] : cuts[at + 1]] for at in range(count)]


def _sync(path: Path) -> None:
    """Make what was written to a file, or a rename in a folder, outlast a power cut."""
    with suppress(PermissionError, OSError):  # some systems let nobody open a folder
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_readable(path: Path) -> None:
    """Refuse what is not a file with something in it.

    Raises:
        BadInput: the file is missing, no file, or empty.
    """
    if not path.exists():
        raise BadInput(f"{path} does not exist")
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    if not path.stat().st_size:
        raise BadFile(path, "is empty", "download it again")


def digest_of(path: Path, report: Progress) -> str:
    """The file's SHA-256, in hexadecimal.

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
