"""Build the base atlas from the packaged tables: one SQLite file in the cache folder, created atomically.

place   all GeoNames places of 500 people and more, countries, first-level regions and second-level units, landmarks,
        parks, islands, lakes and mountains (ref: a GeoNames id, or a text such as "airport:NCE"; coordinates in
        hundred-thousandths of a degree; region: "11", or for what several regions share "US.WY US.MT US.ID")
alias   all names of all places, folded, for exact lookup: blocks of sorted names
fuzzy   the names worth finding when misspelled, in blocks: all main names but those of second-level units, and all
        names of places over 200,000 people

Names are stored in blocks, because a million rows would take SQLite longer than everything else; `packed_tables` reads
them.
"""

import gzip
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.atlas.folders import cache_dir, open_readonly
from geosleuth.atlas.search import MAIN, OTHER, write_grams
from geosleuth.support.errors import BadInput, DataFault
from geosleuth.support.files import lock_file, replacing

from .packed_tables import BLOCK, PackedLines, PlaceTables, read_tables, unpack_places, unpack_roles

if TYPE_CHECKING:
    from numpy.typing import NDArray

BASE_FORMAT = 6
FUZZY_POPULATION = 200_000
CITY, REGION, COUNTRY, LANDMARK, UNIT = 0, 1, 2, 3, 4
_QUIET_S = 2.0
_POLL_S = 0.05

Progress = Callable[[str, float], None]
_BUILDING, _WAITING = "building the base atlas, once", "waiting for another process to build it"

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE place (id INTEGER PRIMARY KEY, ref NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL,
                    country TEXT NOT NULL, region TEXT NOT NULL, lat_e5 INTEGER NOT NULL, lon_e5 INTEGER NOT NULL,
                    population INTEGER NOT NULL, radius_hm INTEGER NOT NULL);
CREATE TABLE region (code TEXT PRIMARY KEY, name TEXT NOT NULL, iso TEXT) WITHOUT ROWID;
CREATE TABLE alias (id INTEGER PRIMARY KEY, first TEXT NOT NULL, keys TEXT NOT NULL, owners BLOB NOT NULL);
CREATE TABLE fuzzy (id INTEGER PRIMARY KEY, keys TEXT NOT NULL, owners BLOB NOT NULL);
CREATE TABLE gram (gram TEXT PRIMARY KEY, names BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE name_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE place_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE city_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
"""


def base_path() -> Path:
    """Return the path of the base atlas for this version's format."""
    return cache_dir() / f"atlas-base-{BASE_FORMAT}.sqlite"


def ensure_base(progress: Progress | None = None) -> Path:
    """Return the path of the base atlas, building it first if necessary (a second or two, once).

    If several processes or threads need it at once, one builds it and the others wait. Without ``progress``, a line on
    stderr explains the delay after two seconds.

    Raises:
        BadInput: the folder can't be written to.
    """
    path = base_path()
    if not _is_whole(path):
        progress = progress or line_on_stderr()
        with _build_lock(path, progress):
            if not _is_whole(path):
                build_base(path, progress)
    return path


def open_base(path: Path) -> sqlite3.Connection:
    """Open a read-only connection that may be used from a thread other than this one."""
    return open_readonly(path, any_thread=True)


def _is_whole(path: Path) -> bool:
    """Return whether there is a complete base atlas of this format; truncated or overwritten files are not."""
    if not path.is_file():
        return False
    try:
        with closing(open_base(path)) as conn:
            (found,) = conn.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            (pages,), (size,) = (conn.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    except (sqlite3.DatabaseError, TypeError):
        return False
    return bool(found == str(BASE_FORMAT) and pages * size == path.stat().st_size)


@contextmanager
def _build_lock(path: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock for building this file.

    On file systems without locks, several processes may build it at once; the last one wins.
    """
    _make_folder(path)
    try:
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise _cannot_build(path, error.strerror or str(error)) from error
    try:
        while lock_file(handle) is False:
            progress(_WAITING, 0.0)
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(handle)


def line_on_stderr() -> Progress:
    """Return a progress callback that prints one line on stderr if the work takes more than two seconds."""
    begin, printed = time.monotonic(), False

    def report(step: str, _share: float) -> None:
        nonlocal printed
        if not printed and time.monotonic() - begin >= _QUIET_S:
            printed = True
            waits = step == _WAITING
            with suppress(OSError, ValueError):
                line = "waiting for another command to build the base atlas" if waits else _BUILDING
                print(line, file=sys.stderr, flush=True)

    return report


def build_base(path: Path, progress: Progress = lambda _step, _share: None) -> None:
    """Build the base atlas in a temporary file beside `path`, then rename it.

    Raises:
        BadInput: the folder can't be written to.
    """
    _make_folder(path)
    _remove_leftovers(path)
    with replacing(path) as temporary:
        try:
            _fill(temporary, progress)
        except sqlite3.OperationalError as error:
            raise _cannot_build(path, str(error)) from error
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_build(path, error.strerror or str(error)) from error


def _cannot_build(path: Path, why: str) -> BadInput:
    return BadInput(f"{path}: the base atlas can't be built there: {why}")


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of killed builds: those older than an hour, as no build takes that long."""
    for left in path.parent.glob(f".{path.name}.*.part"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > 3600:
                left.unlink()


def _fill(path: Path, progress: Progress) -> None:
    progress("reading places", 0.0)
    tables = read_tables()
    conn = sqlite3.connect(path)
    try:
        conn.executescript(_SCHEMA)
        conn.executemany("INSERT INTO region VALUES (?, ?, ?)", _region_rows())
        progress("writing places", 0.4)
        conn.executemany("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _place_rows(tables))
        conn.executemany("INSERT INTO place_column VALUES (?, ?)", [("population", tables.populations.tobytes())])
        conn.executemany("INSERT INTO city_column VALUES (?, ?)", _city_columns(tables))
        progress("writing names", 0.6)
        conn.executemany("INSERT INTO alias VALUES (NULL, ?, ?, ?)", _alias_blocks(tables))
        conn.execute("CREATE INDEX alias_first ON alias (first)")
        progress("indexing names", 0.7)
        _write_fuzzy(conn, tables)
        conn.execute("INSERT INTO meta VALUES ('format', ?)", (str(BASE_FORMAT),))
        conn.execute("INSERT INTO meta VALUES ('places', ?)", (str(len(tables.refs)),))
        conn.commit()
        progress("done", 1.0)
    finally:
        conn.close()


def _place_rows(tables: PlaceTables) -> Iterator[tuple[int, int | str, str, int, str, str, int, int, int, int]]:
    return zip(
        range(1, len(tables.refs) + 1),
        tables.refs,
        tables.names,
        tables.kinds.tolist(),
        tables.countries,
        tables.regions,
        tables.lat_e5.tolist(),
        tables.lon_e5.tolist(),
        tables.populations.tolist(),
        tables.radii.tolist(),
        strict=True,
    )


def _city_columns(tables: PlaceTables) -> Iterator[tuple[str, bytes]]:
    """Yield the columns of all settlements that `reverse` needs, sorted by latitude; read at once in milliseconds."""
    cities = np.flatnonzero(tables.kinds == CITY)
    cities = cities[np.argsort(tables.lat_e5[cities], kind="stable")]
    columns: dict[str, NDArray[np.signedinteger]] = {
        "id": cities + 1,
        "lat_e5": tables.lat_e5[cities],
        "lon_e5": tables.lon_e5[cities],
        "population": tables.populations[cities],
    }
    for name, column in columns.items():
        yield name, column.astype("<i4").tobytes()
    yield "country", np.asarray(tables.countries, dtype="S2")[cities].tobytes()


def _alias_blocks(tables: PlaceTables) -> Iterator[tuple[str, str, bytes]]:
    """Yield blocks of sorted names with their owners; equal names are never split over two blocks."""
    keys, start = tables.keys.data.decode().split("\n")[:-1], 0
    while start < len(keys):
        end = min(start + BLOCK, len(keys))
        while end < len(keys) and keys[end] == keys[end - 1]:
            end += 1
        yield keys[start], "\n".join(keys[start:end]), tables.owners[start:end].tobytes()
        start = end


def _write_fuzzy(conn: sqlite3.Connection, tables: PlaceTables) -> None:
    roles, places = unpack_roles(tables.owners), unpack_places(tables.owners)
    is_large = tables.populations[places.astype(np.int64) - 1] >= FUZZY_POPULATION
    is_unit = tables.kinds[places.astype(np.int64) - 1] == UNIT  # a misspelled "Kent" is rather a town
    chosen = ((roles == MAIN) | ((roles == OTHER) & is_large)) & ~is_unit
    keys, owners = tables.keys.where(chosen), tables.owners[chosen]
    conn.executemany(
        "INSERT INTO fuzzy VALUES (?, ?, ?)",
        (
            (
                start + 1,
                _decode_keys(keys, start, min(start + BLOCK, len(keys))),
                owners[start : start + BLOCK].tobytes(),
            )
            for start in range(0, len(keys), BLOCK)
        ),
    )
    write_grams(conn, [(unpack_places(owners), keys.data.decode())])


def _decode_keys(keys: PackedLines, start: int, end: int) -> str:
    return keys.between(start, end)[:-1].decode()


def admin1_table() -> dict[str, tuple[str, str | None, list[str]]]:
    """Return first-level regions by GeoNames code "CC.NN": name, ISO 3166-2 code, other names."""
    source = files("geosleuth.atlas.base") / "data" / "admin1.json.gz"
    try:
        table: dict[str, tuple[str, str | None, list[str]]] = json.loads(gzip.decompress(source.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise DataFault(f"the table of regions can't be read: {source}") from error
    return table


def _region_rows() -> Iterator[tuple[str, str, str | None]]:
    for code, (name, iso, _others) in admin1_table().items():
        yield code, name, iso
