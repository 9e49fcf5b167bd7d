"""A region file: one SQLite database per added region, written once and only read afterwards.

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

import sqlite3
from typing import Final, Literal

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
