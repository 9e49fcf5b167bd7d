"""Write a gazetteer file: a few to tens of millions of named features of a country or the world.

Gazetteer files have a folder of their own beside that of the regions, and are listed, described and removed like region
files (`geosleuth.atlas.regions.region_file`). Tables:

- ``meta``: as in a region file, with ``kinds``, the words that ``feature.kind`` is an index into, and ``refused``.
- ``feature``: ``id`` is the source's own number, positions are in units of 1e-5 degrees, ``fame`` is 0 to 255.
- the name index of `geosleuth.atlas.gazetteers.name_index`, whose owners are feature ids.
- ``area`` and its R-tree ``feature_box``: the area or line of features that are more than a point, as WKB.
- ``shape``, ``shape_box``: the shapes that a map draws, as in a region file.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import shapely

from geosleuth.atlas.regions.region_file import APPLICATION_ID, SHAPE_TABLES, Layer, Progress, new_database, run_script
from geosleuth.atlas.regions.region_store import GAZETTEER_FORMAT
from geosleuth.atlas.regions.region_writer import shape_row, stage_shapes
from geosleuth.atlas.search import MAIN, OTHER
from geosleuth.support.errors import BadInput

from . import name_index

E5: Final = 100_000
# SQL for the 0.05-degree cell of a feature, counted by rows from the south-west; indexed.
CELL: Final = "(lat_e5 + 9000000) / 5000 * 7201 + (lon_e5 + 18000000) / 5000"

CELL_COLUMNS: Final = 7201
MAX_NAMES: Final = 250
MAX_NAME_CHARS: Final = 200
_BATCH_ROWS: Final = 10_000
_CACHE_KB: Final = 262_144

KINDS: Final = (
    "city", "region", "country", "peak", "range", "volcano", "hill", "pass", "cliff", "valley", "plain", "plateau",
    "desert", "island", "island group", "cape", "peninsula", "beach", "coast", "lake", "reservoir", "river", "stream",
    "canal", "waterfall", "spring", "glacier", "wetland", "sea", "ocean", "bay", "gulf", "strait", "fjord", "lagoon",
    "reef", "undersea", "park", "forest", "area", "road", "railway", "airport", "bridge", "dam", "mine", "site",
    "building", "water", "terrain", "continent",
)  # fmt: skip
_FOUND_WITHOUT_KIND: Final = frozenset({"lake", "reservoir", "peak", "volcano", "river"})
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}

_TABLES: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE feature (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind INTEGER NOT NULL, lat_e5 INTEGER NOT NULL, lon_e5 INTEGER NOT NULL,
    fame INTEGER NOT NULL, country TEXT, admin1 TEXT, population INTEGER, elevation INTEGER
);
CREATE TABLE area (feature INTEGER PRIMARY KEY, geom BLOB NOT NULL);
CREATE VIRTUAL TABLE feature_box USING rtree(id, west, east, south, north);
{SHAPE_TABLES}{name_index.TABLES}"""


class GazetteerRow(NamedTuple):
    """A feature to write; ``names`` are its names besides the main one."""

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
    """Open a writer; the file replaces one of the same name if the block succeeds, and is deleted if it fails."""
    with new_database(folder, name) as conn:
        conn.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        run_script(conn, _TABLES)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute("BEGIN")
        yield GazetteerWriter(conn)


class GazetteerWriter:
    """Writes rows in batches, and counts refused ones by reason."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        """Use an open, writable database that has the tables."""
        self.conn = conn
        self.refused: dict[str, int] = {}
        self._features: list[tuple[Any, ...]] = []
        self._names: list[tuple[Any, ...]] = []
        self._shapes = 0

    def refuse(self, reason: str) -> None:
        """Count a row that is not written."""
        self.refused[reason] = self.refused.get(reason, 0) + 1

    def add(self, row: GazetteerRow) -> None:
        """Write a feature with its names; of several with one number, the first is kept."""
        fame = max(0, min(255, round(255 * row.fame)))
        self._features.append(
            (row.number, row.name, _KIND_NUMBERS[row.kind], round(row.lat * E5), round(row.lon * E5), fame, row.country,
             row.admin1, row.population, row.elevation)
        )  # fmt: skip
        self.add_names(row.number, fame, row.name, row.names, without_kind=row.kind in _FOUND_WITHOUT_KIND)
        if len(self._features) >= _BATCH_ROWS:
            self.flush()

    def add_names(
        self, number: int, fame: int, main: str | None, others: Iterable[str], *, without_kind: bool = False
    ) -> None:
        """Write names of a feature, each spelling once; ``without_kind`` adds "Balaton" for "Lake Balaton"."""
        seen: set[str] = set()
        if main is not None:
            for at, key in enumerate(name_index.make_keys(main)):
                seen.add(key)
                self._names.append((number, OTHER if at else MAIN, fame, main, key))
        for text in others:
            for key in name_index.make_keys(text):
                if key not in seen:
                    seen.add(key)
                    self._names.append((number, OTHER, fame, text, key))
        if without_kind:
            for key in [short for short in map(name_index.without_kind, seen) if short and short not in seen]:
                seen.add(key)
                self._names.append((number, OTHER, fame, main or key, key))

    def add_area(self, number: int, geometry: shapely.Geometry) -> None:
        """Write the area or line of a feature."""
        west, south, east, north = shapely.bounds(geometry).tolist()
        self.conn.execute("INSERT OR IGNORE INTO area VALUES (?, ?)", (number, shapely.to_wkb(geometry)))
        self.conn.execute(
            "INSERT OR IGNORE INTO feature_box VALUES (?, ?, ?, ?, ?)", (number, west, east, south, north)
        )

    def add_shape(self, layer: Layer, rank: int, name: str, geometry: shapely.Geometry) -> None:
        """Write a shape for maps."""
        self._shapes += 1
        row = shape_row(list(stage_shapes([(layer, rank, name, geometry)])))
        self.conn.execute("INSERT INTO shape VALUES (?, ?, ?, ?, ?)", (self._shapes, *row[:4]))
        self.conn.execute("INSERT INTO shape_box VALUES (?, ?, ?, ?, ?)", (self._shapes, *row[4:]))

    def flush(self) -> None:
        """Write the rows of the current batch."""
        self.conn.executemany("INSERT OR IGNORE INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._features)
        self.conn.executemany("INSERT INTO name (owner, role, fame, text, key) VALUES (?, ?, ?, ?, ?)", self._names)
        self._features.clear()
        self._names.clear()

    def finish(self, meta: Mapping[str, str], progress: Progress) -> None:
        """Build the indexes and write the metadata; nothing may be added afterwards.

        Raises:
            BadInput: no feature was added.
        """
        self.flush()
        progress("indexing", 0, 3)
        (features,) = self.conn.execute("SELECT count(*) FROM feature").fetchone()
        if not features:
            reasons = ", ".join(f"{count} with {reason}" for reason, count in sorted(self.refused.items()))
            refused = f"; rows refused: {reasons}" if reasons else ""
            raise BadInput(f"{meta['source']} holds no named feature{refused}")
        (names,) = self.conn.execute("SELECT count(*) FROM name").fetchone()
        self.conn.execute(f"CREATE INDEX feature_cell ON feature ({CELL}, fame DESC)")
        progress("indexing", 1, 3)
        name_index.finish(self.conn)
        progress("indexing", 2, 3)
        counts = {"features": features, "names": names, "shapes": self._shapes, "streets": 0, "addresses": 0,
                  "junctions": 0, "refused": sum(self.refused.values())}  # fmt: skip
        rows = {
            "format": GAZETTEER_FORMAT,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "kinds": ",".join(KINDS),
            "bbox": self._bounds(),
            **meta,
            **{key: str(count) for key, count in counts.items()},
        }
        self.conn.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        progress("indexing", 3, 3)

    def _bounds(self) -> str:
        """Return "south,west,north,east" of all features."""
        query = "SELECT min(lat_e5), min(lon_e5), max(lat_e5), max(lon_e5) FROM feature"
        edges = [edge / E5 for edge in self.conn.execute(query).fetchone()]
        boxes = self.conn.execute("SELECT min(south), min(west), max(north), max(east) FROM feature_box").fetchone()
        if boxes[0] is not None:
            edges = [min(edges[0], boxes[0]), min(edges[1], boxes[1]), max(edges[2], boxes[2]), max(edges[3], boxes[3])]
        south, west, north, east = edges
        return f"{max(south, -90.0):.5f},{max(west, -180.0):.5f},{min(north, 90.0):.5f},{min(east, 180.0):.5f}"
