"""A region file: its schema, what is kept of an object's tags, and writing it whole or not at all.

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

import marshal
import os
import re
import secrets
import shutil
import sqlite3
import struct
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.errors import BadInput
from geosleuth.files import lock_file
from geosleuth.names import fold

from . import region_names
from .geometry import pack, pack_steps
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

_STAGE = """
CREATE TABLE IF NOT EXISTS done (part TEXT PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS feature (
    curve INTEGER, osm, name TEXT, kind TEXT, rank INTEGER, lat INTEGER, lon INTEGER, box BLOB, tags TEXT,
    found_by BLOB, ground BLOB
);
CREATE TABLE IF NOT EXISTS name (length INTEGER, key TEXT, owner INTEGER, role INTEGER, text TEXT);
CREATE TABLE IF NOT EXISTS shape (
    layer TEXT, rank INTEGER, size INTEGER, curve INTEGER, name TEXT, geom BLOB, box BLOB
);
CREATE TABLE IF NOT EXISTS piece (street TEXT, way INTEGER, kind TEXT, tags TEXT, geom BLOB);
CREATE TABLE IF NOT EXISTS street_node (keys BLOB, of_key BLOB, nodes BLOB, positions BLOB);
CREATE TABLE IF NOT EXISTS relation (part INTEGER PRIMARY KEY, relations BLOB);
CREATE TABLE IF NOT EXISTS member (id INTEGER PRIMARY KEY, geom BLOB, box BLOB);
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


MAIN, OTHER, ATTRIBUTE = 0, 1, 2
"""Roles in the name index."""

_OTHER_NAMES: Final = frozenset(
    {"alt_name", "old_name", "official_name", "short_name", "loc_name", "int_name", "nat_name", "reg_name", "brand",
     "operator", "network", "sorting_name", "full_name", "branch", "addr:housename", "bridge:name", "tunnel:name"}
)  # fmt: skip
_ATTRIBUTES: Final = frozenset(
    {"ref", "local_ref", "int_ref", "nat_ref", "loc_ref", "old_ref", "route_ref", "iata", "icao", "ref:IFOPT",
     "uic_ref",
     "phone", "contact:phone", "contact:mobile", "website", "contact:website", "url", "email", "contact:email"}
)  # fmt: skip
_KEPT: Final = _OTHER_NAMES | _ATTRIBUTES | frozenset(
    {"name", "opening_hours", "cuisine", "religion", "denomination", "sport", "wikidata", "wikipedia", "ele", "height",
     "population", "description", "inscription", "artist_name", "architect", "start_date", "maxspeed", "surface",
     "oneway",
     "lanes", "material", "colour", "capacity", "wheelchair", "stars", "fee", "access", "brand:wikidata", "building",
     "amenity", "shop", "tourism", "historic", "leisure", "railway", "public_transport", "highway", "natural", "place",
     "man_made", "building:levels", "building:colour", "roof:shape", "roof:colour", "level", "inscription_date",
     "direction", "from", "to", "via", "route", "admin_level", "postal_code", "contact:facebook", "contact:instagram",
     "image", "species", "species:en", "memorial", "artwork_type", "information", "board_type", "traffic_sign",
     "boundary"}
)  # fmt: skip
_NAME_IN_LANGUAGE: Final = re.compile(
    r"(?:name|alt_name|old_name|official_name|short_name|loc_name|brand|operator):[a-zA-Z_-]+\Z"
)
_NO_NAMES: Final = re.compile(
    r"name:(?:etymology|prefix|suffix|source|pronunciation|signed)|:(?:wikidata|wikipedia)\Z|operator:(?:type|ref)\Z"
)
_NUMBER_FIRST: Final = re.compile(
    r"\b(street|road|avenue|lane|drive|close|way|terrace|court|crescent|gardens|place|hill|rise|walk|mews|grove|row|park"
    r"|parade|square|view|green|rue|boulevard|chemin|impasse|all[ée]e|quai|route|passage|escaliers?|ruelle)\b",
    re.IGNORECASE,
)
MAX_TEXT_CHARS: Final = 255


def main_name(tags: Mapping[str, str]) -> str:
    """The name people would call it by, or an empty text: its name, else its brand, operator or number."""
    for key in (
        "name",
        "int_name",
        "name:en",
        "official_name",
        "loc_name",
        "brand",
        "addr:housename",
        "ref",
        "operator",
    ):
        value = tags.get(key, "").strip()
        if value:
            return value[:MAX_TEXT_CHARS]
    return next(
        (value.strip()[:MAX_TEXT_CHARS] for key, value in tags.items() if key.startswith("name:") and value), ""
    )


def has_name(tags: Mapping[str, str]) -> bool:
    """Whether the object has a name of its own, in any language."""
    return "name" in tags or any(map(_is_name_key, tags))


@lru_cache(maxsize=1 << 16)
def _is_name_key(key: str) -> bool:
    return key.startswith("name:") or key in ("official_name", "loc_name", "int_name")


@lru_cache(maxsize=1 << 16)
def _use_of(key: str) -> tuple[int | None, bool]:
    """The role in the name index of what a key says, and whether that is worth showing."""
    named = bool(_NAME_IN_LANGUAGE.match(key) and not _NO_NAMES.search(key))
    role = ATTRIBUTE if key in _ATTRIBUTES else OTHER if key in _OTHER_NAMES or named else None
    return role, named or key in _KEPT or key.startswith("addr:")


def index_names(tags: Mapping[str, str]) -> list[tuple[str, int]]:
    """Every text an object can be found by, with its role, each text once and the main name first."""
    found: dict[str, int] = {}
    if tags.get("name"):
        found[tags["name"].strip()[:MAX_TEXT_CHARS]] = MAIN
    for key, value in tags.items():
        role = _use_of(key)[0]
        if role is None:
            continue
        for part in value.split(";") if ";" in value else (value,):
            text = part.strip()[:MAX_TEXT_CHARS]
            if text:
                found[text] = min(role, found.get(text, role))
    return list(found.items())


def kept_tags(tags: Mapping[str, str]) -> str:
    """The tags worth showing, as JSON with sorted keys."""
    return _JSON.encode({key: value[:1000] for key, value in tags.items() if _use_of(key)[1]}).decode()


_JSON: Final = msgspec.json.Encoder(order="sorted")


def house_number(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """The house number and the street (or the place, where houses are numbered without streets) of an address."""
    number = tags.get("addr:housenumber", "").strip()
    street = (tags.get("addr:street") or tags.get("addr:place") or "").strip()
    return (number[:40], street[:MAX_TEXT_CHARS]) if number and street else None


def address_line(number: str, street: str) -> str:
    """One line as it is written where the street's language is spoken: "12 Rue Grimaldi", "Mannerheimintie 12"."""
    return f"{number} {street}" if _NUMBER_FIRST.search(street) else f"{street} {number}"


def address_of(tags: Mapping[str, str]) -> str | None:
    """The postal address, as far as it is tagged."""
    at = house_number(tags)
    line = address_line(*at) if at else tags.get("addr:street") or tags.get("addr:housename") or tags.get("addr:full")
    town = " ".join(tags[key] for key in ("addr:postcode", "addr:city") if tags.get(key))
    whole = ", ".join(part for part in (line, town) if part)
    return whole[:MAX_TEXT_CHARS] or None


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many of it are done, and how many there are."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Take progress that nobody watches."""


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
    ground: bytes | None = (
        None  # what it covers, or the course of a street, as `geosleuth.atlas.regions.geometry` packs it
    )


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
    """A writer whose file takes its place when the block ends well, and is gone when it does not."""
    with workshop(folder, name) as work, new_writer(folder, name, work) as writer:
        yield writer


@contextmanager
def new_writer(folder: Path, name: str, work: Path, *, journal: str = "OFF") -> Iterator["RegionWriter"]:
    """The same with a folder for what is on its way; with a journal, what was committed there outlasts a kill."""
    stage = work / "stage.sqlite"
    with new_database(folder, name) as conn, _connected(stage) as staged:
        for pragma in (
            f"journal_mode = {journal}", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = FILE",
            "cache_size = -65536",
        ):  # fmt: skip
            staged.execute(f"PRAGMA {pragma}")
        run_script(staged, _STAGE)
        staged.execute("BEGIN")
        create_tables(conn)
        conn.execute("BEGIN")
        yield RegionWriter(conn, staged)


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
        raise _unwritable(folder, error) from error
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
    with _held_partial(folder, name) as partial, _connected(partial) as conn:
        conn.execute("PRAGMA page_size = 8192")
        conn.execute("PRAGMA journal_mode = OFF")  # nothing to roll back to: an unfinished file is thrown away
        conn.execute("PRAGMA synchronous = OFF")  # the whole file is synced once, before it is renamed
        conn.execute("PRAGMA locking_mode = EXCLUSIVE")
        conn.execute(f"PRAGMA cache_size = {_PAGES // 4}")
        conn.execute("PRAGMA temp_store = FILE")
        yield conn
        if conn.in_transaction:
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


class RegionWriter:
    """Collects rows in a file of its own, and writes the region from them, sorted, when all are there.

    Sorted rows make a file that is small and quick to read: neighbours lie together, and so do names that begin alike.
    SQLite sorts on disk, so that memory does not grow with the region.
    """

    def __init__(self, conn: sqlite3.Connection, stage: sqlite3.Connection) -> None:
        """Work on open, writable databases that have the tables."""
        self.conn = conn
        self.stage = stage
        self.counts = {"features": 0, "names": 0, "streets": 0, "addresses": 0, "junctions": 0, "shapes": 0}
        self._features: list[tuple[Any, ...]] = []
        self._shapes: list[tuple[Any, ...]] = []
        self._texts: set[str] = set()

    def add_feature(self, row: FeatureRow, tags: Mapping[str, str]) -> None:
        """Write one feature with its names and address; the first of an id stands."""
        if row.osm in self._texts:
            return
        self._texts.add(row.osm)
        self.counts["features"] += 1
        self._features.append(staged_feature(row, tags))
        if len(self._features) >= _BATCH:
            self.flush()

    def add_shape(self, layer: Layer, rank: int, name: str | None, geometry: shapely.Geometry) -> None:
        """Write one shape to draw."""
        self._shapes.extend(staged_shapes([(layer, rank, name, geometry)]))
        if len(self._shapes) >= _BATCH:
            self.flush()

    def add_staged(self, features: Iterable[tuple[Any, ...]], shapes: Iterable[tuple[Any, ...]] = ()) -> None:
        """Write rows that `staged_feature` and `staged_shapes` made."""
        self.stage.executemany("INSERT INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", features)
        self.stage.executemany("INSERT INTO shape VALUES (?, ?, ?, ?, ?, ?, ?)", shapes)

    def commit(self) -> None:
        """Make what was collected so far outlast a kill, where there is a journal."""
        self.stage.execute("COMMIT")
        self.stage.execute("BEGIN")

    def flush(self) -> None:
        """Write what is waiting."""
        self.add_staged(self._features, self._shapes)
        self._features.clear()
        self._shapes.clear()

    def finish(self, meta: Mapping[str, str]) -> None:
        """Write the region and say what the file is; nothing may be added afterwards."""
        self.flush()
        self.stage.execute("DELETE FROM name")
        bounds = self._write_features()
        rows = self.stage.execute("SELECT length, key, owner, role, text FROM name ORDER BY length, key")
        self.counts["names"] = region_names.write_names(self.conn, rows)
        self._write_shapes()
        create_indexes(self.conn)
        about = {
            "format": FORMAT_VERSION,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "bbox": bounds,
            **meta,
            **{key: str(count) for key, count in self.counts.items()},
        }
        self.conn.executemany("INSERT INTO meta VALUES (?, ?)", about.items())

    def _write_features(self) -> str:
        """Write all features in the order in which they lie; return the box around them."""
        kinds: dict[str, int] = {}
        postcodes: dict[tuple[Any, ...], list[Any]] = {}
        columns: dict[str, array[int]] = {"lat": array("i"), "lon": array("i"), "kind": array("H")}
        edges = np.array([_E7 * 90, _E7 * 180, -_E7 * 90, -_E7 * 180])
        rows = self.stage.execute("SELECT * FROM feature ORDER BY curve, osm")
        number = 0
        while batch := rows.fetchmany(FEATURE_BLOCK * 150):
            features, tags_of, grounds = [], [], []
            names: list[tuple[Any, ...]] = []
            addresses: list[tuple[str, str, int]] = []
            boxes = np.empty((len(batch), 4), dtype=np.int64)
            flags = np.zeros(len(batch), dtype=np.uint8)
            large = np.zeros(len(batch), dtype=bool)
            for at, (curve, osm, name, text, rank, lat, lon, box, tags, found_by, ground) in enumerate(batch):
                number += 1
                kind = kinds.setdefault(text, len(kinds))
                boxes[at] = (lat, lon, lat, lon) if box is None else unpack_box(box)
                large[at] = curve >= LARGE
                features.append((number, osm, name, kind, rank, lat, lon, box))
                tags_of.append(tags)
                columns["lat"].append(lat)
                columns["lon"].append(lon)
                columns["kind"].append(kind)
                spelled, houses, postcode = marshal.loads(found_by)  # noqa: S302  # what this process wrote
                names.extend((length, key, number, role, told) for length, key, role, told in spelled)
                if houses:
                    addresses.extend((street, house, number) for street, house in houses)
                    self.counts["addresses"] += 1
                if postcode:
                    _count_postcode(postcodes, postcode, lat / _E7, lon / _E7)
                if ground is not None:
                    grounds.append((number, ground))
                    flags[at] = HAS_GROUND
            first = number - len(batch)
            lats, lons, kinds_of = (np.array(columns[name][first:]) for name in ("lat", "lon", "kind"))
            edges[:2], edges[2:] = (
                np.minimum(edges[:2], boxes[:, :2].min(0)),
                np.maximum(edges[2:], boxes[:, 2:].max(0)),
            )
            insert = self.conn.executemany
            insert("INSERT INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?)", features)
            insert("INSERT INTO ground VALUES (?, ?)", grounds)
            insert("INSERT OR IGNORE INTO address VALUES (?, ?, ?)", addresses)
            insert("INSERT INTO feature_box VALUES (?, ?, ?, ?, ?)", _feature_boxes(boxes, large, first))
            insert("INSERT INTO feature_block VALUES (?, ?)", spot_blocks(first, lats, lons, kinds_of, boxes, flags))
            insert("INSERT INTO feature_tags VALUES (?, ?)", _tag_blocks(tags_of, first))
            self.stage.executemany("INSERT INTO name VALUES (?, ?, ?, ?, ?)", names)
        self.counts["features"] = number
        self._write_columns(kinds, columns)
        self._write_postcodes(postcodes)
        south, west, north, east = (edges / _E7).tolist() if number else (0.0, 0.0, 0.0, 0.0)
        return f"{south:.7f},{west:.7f},{north:.7f},{east:.7f}"

    def _write_columns(self, kinds: Mapping[str, int], columns: "Mapping[str, array[int]]") -> None:
        of_kind = np.frombuffer(columns["kind"], dtype=np.uint16)
        order = np.argsort(of_kind, kind="stable")
        cuts = np.searchsorted(of_kind[order], np.arange(len(kinds) + 1)).tolist()
        self.conn.executemany(
            "INSERT INTO kind VALUES (?, ?, ?)",
            ((at, text, pack_steps(order[cuts[at] : cuts[at + 1]] + 1)) for text, at in kinds.items()),
        )
        self.conn.executemany(
            "INSERT INTO feature_column VALUES (?, ?)",
            ((name, zlib.compress(column.tobytes(), 1)) for name, column in columns.items()),
        )

    def _write_postcodes(self, postcodes: Mapping[tuple[Any, ...], Sequence[Any]]) -> None:
        self.conn.executemany(
            f"INSERT INTO postcode VALUES ({', '.join('?' * 11)})",  # noqa: S608
            (
                (re.sub("[ -]", "", code.upper()), code, town, country, count, lat / count, lon / count, *box)
                for (code, town, country, _, _), (count, lat, lon, *box) in postcodes.items()
            ),
        )

    def _write_shapes(self) -> None:
        """Write shapes of a layer, rank and size that lie near each other in one row."""
        rows = self.stage.execute("SELECT * FROM shape ORDER BY layer, rank, size, curve")
        number = 0
        for (layer, rank, size), same in groupby(rows, key=itemgetter(0, 1, 2)):
            some = SHAPES if size < _LARGE_SIZE else 1
            while block := list(islice(same, some)):
                number += 1
                self.counts["shapes"] += len(block)
                boxes = np.array([unpack_box(box) for *_, box in block])
                south, west = boxes[:, :2].min(axis=0).tolist()
                north, east = boxes[:, 2:].max(axis=0).tolist()
                widest = float((boxes[:, 2:] - boxes[:, :2]).max()) / _E7
                packed = pack_shapes([name for *_, name, _, _ in block], [geom for *_, geom, _ in block])
                self.conn.execute("INSERT INTO shape VALUES (?, ?, ?, ?, ?)", (number, layer, rank, widest, packed))
                self.conn.execute(
                    "INSERT INTO shape_box VALUES (?, ?, ?, ?, ?)",
                    (number, west / _E7, east / _E7, south / _E7, north / _E7),
                )


_E7: Final = 10_000_000
FEATURE_BLOCK: Final = 32
"""Features that one entry of the R-tree stands for."""

TAG_BLOCK: Final = 8
"""Features of which the tags are packed together."""

SHAPES: Final = 48
LARGE: Final = 1 << 62
"""Added to the place on the curve of what is larger than a few blocks of houses: it comes last, and stands alone."""

_LARGE_E7: Final = 200_000
_LARGE_SIZE: Final = 12
_BOX: Final = struct.Struct("<4i")


def unpack_box(box: bytes) -> tuple[int, int, int, int]:
    """South, west, north, east in 1e-7 degrees."""
    return _BOX.unpack(box)


def curve_of(lats: Ints, lons: Ints, widths: Ints) -> Ints:
    """Where positions (1e-7 degrees) lie on a curve that keeps neighbours together; large things come last."""
    curve = np.zeros(len(lats), dtype=np.int64)
    for axis, (values, span) in enumerate(((lons + 180 * _E7, 360 * _E7), (lats + 90 * _E7, 180 * _E7))):
        cells = values * (1 << 20) // span
        for at, mask in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
                         (2, 0x3333333333333333), (1, 0x5555555555555555)):  # fmt: skip
            cells = (cells | cells << at) & mask
        curve |= cells << axis
    return np.where(widths > _LARGE_E7, curve + LARGE, curve)


def staged_feature(row: FeatureRow, tags: Mapping[str, str]) -> tuple[Any, ...]:
    """A row for `RegionWriter.add_staged`."""
    lat, lon, south, west, north, east = (round(value * _E7) for value in (*row.point, *row.bounds))
    curve = curve_of(np.array([lat]), np.array([lon]), np.array([max(north - south, east - west)]))
    return staged_row(row, tags, (lat, lon, south, west, north, east), int(curve[0]))


def staged_row(
    row: FeatureRow, tags: Mapping[str, str], at: tuple[int, int, int, int, int, int], curve: int
) -> tuple[Any, ...]:
    """The same for one whose place is counted in 1e-7 degrees: point, then south, west, north, east."""
    lat, lon, south, west, north, east = at
    box = None if south == north == lat and west == east == lon else _BOX.pack(south, west, north, east)
    names = [
        (region_names.class_of(key), key, max(role, OTHER) if latin else role, text)
        for text, role in row.names
        for key, latin in region_names.keys_of(text)
    ]
    house = house_number(tags)
    houses = None
    if house:
        street = fold(house[1])
        houses = [(street, fold(part).replace(" ", "")) for part in re.split("[;,]", house[0]) if fold(part)]
    found_by = marshal.dumps((names, houses, _postcode_of(tags)))
    return (
        curve, _osm_number(row.osm), row.name, row.kind, round(1000 * row.rank), lat, lon, box, row.tags_json, found_by,
        row.ground,
    )  # fmt: skip


_TYPES: Final = "nwr"


def _osm_number(osm: str) -> int | str:
    """Ids of OpenStreetMap as numbers, a quarter of the size; those of other sources as they are."""
    digits = osm[1:]
    if osm[:1] in _TYPES and digits.isascii() and digits.isdigit() and digits == str(int(digits)) and len(digits) < 18:
        return int(digits) * 4 + _TYPES.index(osm[0])
    return osm


def osm_key(osm: str) -> int | str:
    """What the column ``osm`` has for an id."""
    return _osm_number(osm) if osm else osm


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


def _postcode_of(tags: Mapping[str, str]) -> tuple[str, str, str] | None:
    code = tags.get("addr:postcode", "").strip()
    if not 3 <= len(code) <= 12 or address_of(tags) is None:
        return None
    return code, tags.get("addr:city", "").strip(), tags.get("addr:country", "").strip().upper()


def _count_postcode(known: dict[tuple[Any, ...], list[Any]], at: tuple[str, str, str], lat: float, lon: float) -> None:
    """Count an address of a postcode.

    Cells of about 20 km: the same code stands for other towns in other countries, and the middle of both is neither.
    """
    key = (*at, int(5 * (lat + 90)), int(5 * (lon + 180)))
    one = known.get(key)
    if one is None:
        known[key] = [1, lat, lon, lat, lon, lat, lon]
    else:
        one[:] = [
            one[0] + 1, one[1] + lat, one[2] + lon, min(one[3], lat), min(one[4], lon), max(one[5], lat),
            max(one[6], lon),
        ]  # fmt: skip


def _feature_boxes(boxes: Ints, large: NDArray[np.bool_], first: int) -> Iterator[tuple[float, ...]]:
    """Entries of the R-tree: blocks of small features by the number of the block, large features by -their number."""
    small = np.flatnonzero(~large)
    blocks = (first + small) // FEATURE_BLOCK
    for block in np.unique(blocks).tolist():
        some = boxes[small[blocks == block]]
        south, west = (some[:, :2].min(axis=0) / _E7).tolist()
        north, east = (some[:, 2:].max(axis=0) / _E7).tolist()
        yield block, west, east, south, north
    for at in np.flatnonzero(large).tolist():
        south, west, north, east = (boxes[at] / _E7).tolist()
        yield -(first + at + 1), west, east, south, north


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


def _tag_blocks(tags: Sequence[str], first: int) -> Iterator[tuple[int, bytes]]:
    for at in range(0, len(tags), TAG_BLOCK):
        yield (first + at) // TAG_BLOCK, zlib.compress("\n".join(tags[at : at + TAG_BLOCK]).encode(), 6)


def staged_shapes(shapes: Sequence[tuple[Layer, int, str | None, shapely.Geometry]]) -> Iterator[tuple[Any, ...]]:
    """Rows for `RegionWriter.add_staged` of geometries in degrees."""
    bounds = np.rint(shapely.bounds([geometry for *_, geometry in shapes]) * _E7).astype(np.int64)
    packed = pack([geometry for *_, geometry in shapes])
    for (layer, rank, name, _), row in zip(shapes, shape_rows(packed, bounds[:, [1, 0, 3, 2]]), strict=True):
        yield (layer, rank, row[0], row[1], name, *row[2:])


def shape_rows(packed: Sequence[bytes], boxes: Ints) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Size, place on the curve, geometry and box of shapes; sizes are told apart by factors of four."""
    widths = (boxes[:, 2:] - boxes[:, :2]).max(axis=1)
    curves = curve_of((boxes[:, 0] + boxes[:, 2]) // 2, (boxes[:, 1] + boxes[:, 3]) // 2, np.zeros_like(widths))
    sizes = (np.log2(np.maximum(widths, 1)) / 2).astype(np.int64)
    for size, curve, geom, box in zip(sizes.tolist(), curves.tolist(), packed, boxes.tolist(), strict=True):
        yield size, curve, geom, _BOX.pack(*box)


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
        raise BadInput(f"{path} is empty; download it again")


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
