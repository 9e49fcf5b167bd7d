"""A gazetteer's file: named features of a country or the world, a few to tens of millions of them.

It lies in the folder beside that of the regions, and is listed, described and removed as a region file is
(`geosleuth.atlas.regions.region_file`). Tables:

- ``meta``: as in a region file, with ``kinds``, the words that ``feature.kind`` counts through, and ``refused``.
- ``feature``: ``id`` is the source's own number, positions count 1e-5 degrees, ``fame`` is 0 to 255.
- the index of names of `geosleuth.atlas.gazetteers.name_index`, owned by feature ids.
- ``area`` and its R-tree ``feature_box``: the ground or course of features that are more than a point, as WKB.
- ``shape``, ``shape_box``: what a map draws, as in a region file.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import shapely

from geosleuth.atlas.regions.region_file import APPLICATION_ID, Layer, Progress, new_database, run_script
from geosleuth.atlas.regions.region_store import GAZETTEER_FORMAT
from geosleuth.atlas.search import MAIN, OTHER
from geosleuth.errors import BadInput

from . import name_index

E5: Final = 100_000
CELL: Final = "(lat_e5 + 9000000) / 5000 * 7201 + (lon_e5 + 18000000) / 5000"
"""The twentieth of a degree that a feature lies in, row by row from the south-west; an index holds it."""

CELL_COLUMNS: Final = 7201
MAX_NAMES: Final = 250
MAX_NAME_CHARS: Final = 200
_BATCH: Final = 10_000
_CACHE_KB: Final = 262_144

KINDS: Final = (
    "city", "region", "country", "peak", "range", "volcano", "hill", "pass", "cliff", "valley", "plain", "plateau",
    "desert", "island", "island group", "cape", "peninsula", "beach", "coast", "lake", "reservoir", "river", "stream",
    "canal", "waterfall", "spring", "glacier", "wetland", "sea", "ocean", "bay", "gulf", "strait", "fjord", "lagoon",
    "reef", "undersea", "park", "forest", "area", "road", "railway", "airport", "bridge", "dam", "mine", "site",
    "building", "water", "terrain", "continent",
)  # fmt: skip
_STANDS_ALONE: Final = frozenset({"lake", "reservoir", "peak", "volcano", "river"})
_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}

_TABLES: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE feature (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind INTEGER NOT NULL, lat_e5 INTEGER NOT NULL, lon_e5 INTEGER NOT NULL,
    fame INTEGER NOT NULL, country TEXT, admin1 TEXT, population INTEGER, elevation INTEGER
);
CREATE TABLE area (feature INTEGER PRIMARY KEY, geom BLOB NOT NULL);
CREATE VIRTUAL TABLE feature_box USING rtree(id, west, east, south, north);
CREATE TABLE shape (id INTEGER PRIMARY KEY, layer TEXT NOT NULL, rank INTEGER NOT NULL, name TEXT, geom BLOB NOT NULL);
CREATE VIRTUAL TABLE shape_box USING rtree(id, west, east, south, north);
{name_index.TABLES}"""


class Named(NamedTuple):
    """A feature as it goes into the file; ``names`` are its other names."""

    number: int
    name: str
    kind: str
    lat: float
    lon: float
    fame: float  # 0 to 1
    names: Iterable[str] = ()
    country: str | None = None
    admin1: str | None = None
    population: int | None = None
    elevation: int | None = None


@contextmanager
def writing_gazetteer(folder: Path, name: str) -> Iterator["GazetteerWriter"]:
    """A writer whose file takes its place when the block ends well, and is gone when it does not."""
    with new_database(folder, name) as conn:
        conn.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        run_script(conn, _TABLES)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute("BEGIN")
        yield GazetteerWriter(conn)


class GazetteerWriter:
    """Collects rows and writes them in batches; what can't be taken is counted, by reason."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Work on an open, writable database that has the tables."""
        self.conn = conn
        self.refused: dict[str, int] = {}
        self._features: list[tuple[Any, ...]] = []
        self._names: list[tuple[Any, ...]] = []
        self._shapes = 0

    def refuse(self, why: str) -> None:
        """Count a row that was not taken."""
        self.refused[why] = self.refused.get(why, 0) + 1

    def add(self, one: Named) -> None:
        """Write a feature with its names; the first of a number stands."""
        fame = max(0, min(255, round(255 * one.fame)))
        self._features.append(
            (one.number, one.name, _NUMBERS[one.kind], round(one.lat * E5), round(one.lon * E5), fame, one.country,
             one.admin1, one.population, one.elevation)
        )  # fmt: skip
        self.add_names(one.number, fame, one.name, one.names, alone=one.kind in _STANDS_ALONE)
        if len(self._features) >= _BATCH:
            self.flush()

    def add_names(
        self, number: int, fame: int, main: str | None, others: Iterable[str], *, alone: bool = False
    ) -> None:
        """Write names of a feature, each spelling once; ``alone`` adds "Balaton" to "Lake Balaton"."""
        seen: set[str] = set()
        if main is not None:
            for at, key in enumerate(name_index.keys_of(main)):
                seen.add(key)
                self._names.append((number, OTHER if at else MAIN, fame, main, key))
        for text in others:
            for key in name_index.keys_of(text):
                if key not in seen:
                    seen.add(key)
                    self._names.append((number, OTHER, fame, text, key))
        if alone:
            for key in [one for one in map(name_index.without_kind, seen) if one and one not in seen]:
                seen.add(key)
                self._names.append((number, OTHER, fame, main or key, key))

    def add_area(self, number: int, geometry: shapely.Geometry) -> None:
        """Write the ground or course of a feature."""
        west, south, east, north = shapely.bounds(geometry).tolist()
        self.conn.execute("INSERT OR IGNORE INTO area VALUES (?, ?)", (number, shapely.to_wkb(geometry)))
        self.conn.execute(
            "INSERT OR IGNORE INTO feature_box VALUES (?, ?, ?, ?, ?)", (number, west, east, south, north)
        )

    def add_shape(self, layer: Layer, rank: int, name: str, geometry: shapely.Geometry) -> None:
        """Write a shape to draw."""
        self._shapes += 1
        west, south, east, north = shapely.bounds(geometry).tolist()
        self.conn.execute(
            "INSERT INTO shape VALUES (?, ?, ?, ?, ?)", (self._shapes, layer, rank, name, shapely.to_wkb(geometry))
        )
        self.conn.execute("INSERT INTO shape_box VALUES (?, ?, ?, ?, ?)", (self._shapes, west, east, south, north))

    def flush(self) -> None:
        """Write what is waiting."""
        self.conn.executemany("INSERT OR IGNORE INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._features)
        self.conn.executemany("INSERT INTO name (owner, role, fame, text, key) VALUES (?, ?, ?, ?, ?)", self._names)
        self._features.clear()
        self._names.clear()

    def finish(self, meta: Mapping[str, str], progress: Progress) -> None:
        """Build the indexes and say what the file is; nothing may be added afterwards.

        Raises:
            BadInput: nothing was added.
        """
        self.flush()
        progress("indexing", 0, 3)
        (features,) = self.conn.execute("SELECT count(*) FROM feature").fetchone()
        if not features:
            why = ", ".join(f"{count} with {reason}" for reason, count in sorted(self.refused.items()))
            raise BadInput(f"{meta['source']} holds no named feature" + (f" ({why})" if why else ""))
        (names,) = self.conn.execute("SELECT count(*) FROM name").fetchone()
        self.conn.execute(f"CREATE INDEX feature_cell ON feature ({CELL}, fame DESC)")
        progress("indexing", 1, 3)
        name_index.finish(self.conn)
        progress("indexing", 2, 3)
        counts = {"features": features, "names": names, "shapes": self._shapes, "streets": 0, "addresses": 0,
                  "junctions": 0, "refused": sum(self.refused.values())}  # fmt: skip
        about = {
            "format": GAZETTEER_FORMAT,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "kinds": ",".join(KINDS),
            "bbox": self._bounds(),
            **meta,
            **{key: str(count) for key, count in counts.items()},
        }
        self.conn.executemany("INSERT INTO meta VALUES (?, ?)", about.items())
        progress("indexing", 3, 3)

    def _bounds(self) -> str:
        query = "SELECT min(lat_e5), min(lon_e5), max(lat_e5), max(lon_e5) FROM feature"
        edges = [edge / E5 for edge in self.conn.execute(query).fetchone()]
        boxes = self.conn.execute("SELECT min(south), min(west), max(north), max(east) FROM feature_box").fetchone()
        if boxes[0] is not None:
            edges = [min(edges[0], boxes[0]), min(edges[1], boxes[1]), max(edges[2], boxes[2]), max(edges[3], boxes[3])]
        south, west, north, east = edges
        return f"{max(south, -90.0):.5f},{max(west, -180.0):.5f},{min(north, 90.0):.5f},{min(east, 180.0):.5f}"
