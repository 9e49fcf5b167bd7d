"""A region file: its schema, what is kept of an object's tags, and writing it whole or not at all.

Tables (degrees on WGS-84; R-trees are (id, west, east, south, north)):

- ``meta``: what the file is, see ``META_KEYS``.
- ``feature``: everything that can be found; ``osm`` is the source's own id ("n123", "w45", "r6"; a street carries the
  id of its first way, an Overture place its GERS id), ``kind`` is "key=value", ``rank`` 0 to 1 how well known it is,
  ``tags`` a JSON object of what people ask for. ``feature_box`` is its R-tree.
- ``feature_position``: all latitudes ("lat") and longitudes ("lon") once more, as little-endian doubles at the place
  of the feature's id (place 0 is NaN), to be read in one go.
- the name index of ``geosleuth.atlas.search``, owned by feature ids.
- ``address``: (folded street, folded house number) to feature.
- ``street_way``: the ways of each street feature, as WKB, so that points on a street are near it and not only near
  its middle.
- ``area``: the ground of features that cover some, as WKB, for the same reason; not of boundaries, quarters and land
  use, which one is always inside of.
- ``junction``, ``junction_street``: nodes that two or more differently named streets share.
- ``shape``: what a map draws, WKB (x = longitude), with the R-tree ``shape_box``. Layers are in ``LAYERS``.
"""

import json
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from geosleuth.atlas import search
from geosleuth.errors import BadInput
from geosleuth.files import lock_file
from geosleuth.names import fold

FORMAT_VERSION: Final = "2"
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
CREATE TABLE feature (
    id INTEGER PRIMARY KEY, osm TEXT UNIQUE NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL,
    south REAL NOT NULL, west REAL NOT NULL, north REAL NOT NULL, east REAL NOT NULL,
    rank REAL NOT NULL, address TEXT, tags TEXT NOT NULL
);
CREATE TABLE feature_position (axis TEXT PRIMARY KEY, degrees BLOB NOT NULL);
CREATE VIRTUAL TABLE feature_box USING rtree(id, west, east, south, north);
CREATE TABLE address (street_key TEXT NOT NULL, number TEXT NOT NULL, feature INTEGER NOT NULL);
CREATE TABLE postcode (
    key TEXT NOT NULL, code TEXT NOT NULL, town TEXT NOT NULL, country TEXT NOT NULL, addresses INTEGER NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL,
    south REAL NOT NULL, west REAL NOT NULL, north REAL NOT NULL, east REAL NOT NULL
);
CREATE TABLE street_way (street INTEGER NOT NULL, way TEXT NOT NULL, geom BLOB NOT NULL);
CREATE TABLE area (feature INTEGER PRIMARY KEY, geom BLOB NOT NULL);
CREATE TABLE junction (id INTEGER PRIMARY KEY, lat REAL NOT NULL, lon REAL NOT NULL);
CREATE TABLE junction_street (junction INTEGER NOT NULL, street TEXT NOT NULL, street_key TEXT NOT NULL);
CREATE TABLE shape (id INTEGER PRIMARY KEY, layer TEXT NOT NULL, rank INTEGER NOT NULL, name TEXT, geom BLOB NOT NULL);
CREATE VIRTUAL TABLE shape_box USING rtree(id, west, east, south, north);
"""

_INDEXES = """
CREATE INDEX feature_kind ON feature (kind);
CREATE INDEX address_street ON address (street_key, number);
CREATE INDEX street_way_street ON street_way (street);
CREATE INDEX junction_street_key ON junction_street (street_key, junction);
CREATE INDEX junction_street_junction ON junction_street (junction);
CREATE INDEX postcode_key ON postcode (key);
"""

# Cells of about 20 km: the same code stands for other towns in other countries, and the middle of both is neither.
_POSTCODES = """
INSERT INTO postcode
SELECT replace(replace(upper(code), ' ', ''), '-', ''), code, town, land, count(*),
       avg(lat), avg(lon), min(lat), min(lon), max(lat), max(lon)
FROM (
    SELECT trim(json_extract(tags, '$."addr:postcode"')) AS code,
           trim(coalesce(json_extract(tags, '$."addr:city"'), '')) AS town,
           upper(trim(coalesce(json_extract(tags, '$."addr:country"'), ''))) AS land, lat, lon
    FROM feature WHERE address IS NOT NULL
)
WHERE length(code) BETWEEN 3 AND 12
GROUP BY code, town, land, cast(5 * (lat + 90) AS INTEGER), cast(5 * (lon + 180) AS INTEGER)
"""


def create_tables(conn: sqlite3.Connection) -> None:
    """Every table but the name index; indexes come last, see ``create_indexes``."""
    run_script(conn, _TABLES)
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def create_indexes(conn: sqlite3.Connection) -> None:
    """The ordinary indexes, made once the tables are full: far quicker than keeping them up row by row.

    What is summed up of the tables is made then, too.
    """
    run_script(conn, _POSTCODES)
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
    return "name" in tags or any(
        key.startswith("name:") or key in ("official_name", "loc_name", "int_name") for key in tags
    )


def index_names(tags: Mapping[str, str]) -> list[tuple[str, int]]:
    """Every text an object can be found by, with its role, each text once and the main name first."""
    found: dict[str, int] = {}
    if tags.get("name"):
        found[tags["name"].strip()[:MAX_TEXT_CHARS]] = MAIN
    for key, value in tags.items():
        if key in _ATTRIBUTES:
            role = ATTRIBUTE
        elif key in _OTHER_NAMES or (_NAME_IN_LANGUAGE.match(key) and not _NO_NAMES.search(key)):
            role = OTHER
        else:
            continue
        for part in value.split(";"):
            text = part.strip()[:MAX_TEXT_CHARS]
            if text:
                found[text] = min(role, found.get(text, role))
    return list(found.items())


def kept_tags(tags: Mapping[str, str]) -> str:
    """The tags worth showing, as JSON with sorted keys."""
    kept = {
        key: value[:1000]
        for key, value in tags.items()
        if key in _KEPT or key.startswith("addr:") or (_NAME_IN_LANGUAGE.match(key) and not _NO_NAMES.search(key))
    }
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


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
    with new_database(folder, name) as conn:
        create_tables(conn)
        search.create_tables(conn)
        conn.execute("BEGIN")
        yield RegionWriter(conn)


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
        self, layer: Layer, rank: int, name: str | None, geom: bytes, bounds: tuple[float, float, float, float]
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
        create_indexes(self.conn)
        about = {
            "format": FORMAT_VERSION,
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
