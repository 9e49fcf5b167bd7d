"""Region files of an earlier version are refused with the command that converts them, and converted."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import shapely

from geosleuth.atlas.regions import RegionInfo, Regions, RegionStore, convert_region
from geosleuth.atlas.regions.region_file import APPLICATION_ID
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

# As version 2 of the format had them, as far as converting reads them.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE feature (id INTEGER PRIMARY KEY, osm TEXT UNIQUE NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL, south REAL NOT NULL, west REAL NOT NULL, north REAL NOT NULL,
    east REAL NOT NULL, rank REAL NOT NULL, address TEXT, tags TEXT NOT NULL);
CREATE TABLE street_way (street INTEGER NOT NULL, way TEXT NOT NULL, geom BLOB NOT NULL);
CREATE TABLE area (feature INTEGER PRIMARY KEY, geom BLOB NOT NULL);
CREATE TABLE junction (id INTEGER PRIMARY KEY, lat REAL NOT NULL, lon REAL NOT NULL);
CREATE TABLE junction_street (junction INTEGER NOT NULL, street TEXT NOT NULL, street_key TEXT NOT NULL);
CREATE TABLE shape (id INTEGER PRIMARY KEY, layer TEXT NOT NULL, rank INTEGER NOT NULL, name TEXT, geom BLOB NOT NULL);
CREATE TABLE name (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, role INTEGER NOT NULL, text TEXT NOT NULL,
    key TEXT NOT NULL);
"""
WAY = [(10.0, 50.0), (10.001, 50.0)]


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "old.region.sqlite"
    meta = {
        "format": "2", "name": "old", "kind": "osm", "source": "old.osm.pbf", "sha256": "ab", "licence": "ODbL-1.0",
        "attribution": "somebody", "created": "2026-01-01", "bbox": "49.9,9.9,50.1,10.1", "features": "4", "names": "5",
        "streets": "2", "addresses": "1", "junctions": "1", "shapes": "1", "origin": "https://example.org/old.osm.pbf",
    }  # fmt: skip
    rows = [
        (1, "n1", "Bar Uno", "amenity=cafe", 50.0, 10.0, 50.0, 10.0, 50.0, 10.0, 0.3, None, '{"name":"Bar Uno"}'),
        (2, "w2", "Via Prima", "highway=residential", 50.0, 10.0, 50, 10, 50, 10.001, 0.35, None, "{}"),
        (3, "w3", "Via Seconda", "highway=residential", 50.0, 10.0, 50, 10, 50, 10.001, 0.35, None, "{}"),
        (4, "w4", "Via Prima 7", "address", 50.0, 10.0, 50, 10, 50.001, 10.001, 0.02, "Via Prima 7",
         '{"addr:housenumber":"7","addr:street":"Via Prima"}'),
    ]  # fmt: skip
    names = [(1, 0, "Bar Uno"), (1, 1, "Кафе"), (1, 1, "Кафе"), (2, 0, "Via Prima"), (3, 0, "Via Seconda")]
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(TABLES)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        conn.executemany("INSERT INTO feature VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        conn.executemany("INSERT INTO name (owner, role, text, key) VALUES (?, ?, ?, '')", names)
        conn.executemany("INSERT INTO street_way VALUES (?, ?, ?)", [(2, "w2", shapely.LineString(WAY).wkb)] * 2)
        conn.execute("INSERT INTO area VALUES (4, ?)", (shapely.box(10, 50, 10.001, 50.001).wkb,))
        conn.execute("INSERT INTO junction VALUES (77, 50.0, 10.0)")
        streets = [(77, "Via Prima", "via prima"), (77, "Via Seconda", "via seconda")]
        conn.executemany("INSERT INTO junction_street VALUES (?, ?, ?)", streets)
        conn.execute("INSERT INTO shape VALUES (1, 'road', 6, 'Via Prima', ?)", (shapely.LineString(WAY).wkb,))
        conn.commit()
    return path


def test_it_is_refused_with_the_command_and_then_converted(earlier: Path) -> None:
    with pytest.raises(BadInput, match=f"geosleuth atlas add {earlier}"):
        RegionStore(earlier.parent).info("old")
    info = convert_region(earlier, folder=earlier.parent)
    assert (info.name, info.features, info.streets, info.junctions, info.addresses) == ("old", 4, 2, 1, 1)
    assert (info.origin, info.extent.south) == ("https://example.org/old.osm.pbf", 49.9)
    regions = Regions(earlier.parent)
    assert regions.search_pois("bar un0")[0].place.id == "osm:old:n1"
    assert regions.search_pois("kafe")[0].place.name == "Bar Uno"
    assert regions.crossing("Via Prima", "Via Seconda")[0].place.id == "osm:old:n77"
    assert regions.geocode("Via Prima 7")[0].place.address == "Via Prima 7"
    assert regions.nearby(LatLon(50.0, 10.0008), 5, category="street")[0].place.name == "Via Prima"


def test_what_is_no_such_file_is_one_line_and_stays(tmp_path: Path, monaco: RegionInfo) -> None:
    whole = monaco.path.read_bytes()
    for content in (b"no database", whole[: len(whole) // 2], _overwritten(whole)):
        path = tmp_path / "x.region.sqlite"
        path.write_bytes(content)
        with pytest.raises(BadInput) as caught:
            convert_region(path, folder=tmp_path / "new")
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == content
        assert not list(tmp_path.glob("new/*"))


def _overwritten(whole: bytes) -> bytes:
    """A file whose header is sound, and half of whose pages are not."""
    half = len(whole) // 2
    return whole[:half] + b"\xff" * (len(whole) - half)


def test_a_region_of_another_machine_is_copied(tmp_path: Path, monaco: RegionInfo) -> None:
    brought = tmp_path / "usb" / "there.region.sqlite"
    brought.parent.mkdir()
    brought.write_bytes(monaco.path.read_bytes())
    info = convert_region(brought, "here", folder=tmp_path / "regions")
    assert (info.name, info.features, info.source) == ("here", monaco.features, monaco.source)
    assert [path.name for path in (tmp_path / "regions").iterdir()] == ["here.region.sqlite"]
    point = LatLon(43.7396, 7.4276)
    new, old = (Regions(folder).nearby(point, 300, limit=40) for folder in (tmp_path / "regions", monaco.path.parent))
    assert [(hit.place.name, hit.distance_km) for hit in new] == [(hit.place.name, hit.distance_km) for hit in old]
    again = convert_region(tmp_path / "regions" / "here.region.sqlite", folder=tmp_path / "regions")
    assert again.features == monaco.features


def test_a_file_without_blocks_is_copied_and_answers_as_before(tmp_path: Path, monaco: RegionInfo) -> None:
    path = tmp_path / "older.region.sqlite"
    path.write_bytes(monaco.path.read_bytes())
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DROP TABLE feature_block")
        conn.execute("UPDATE meta SET value = '3' WHERE key = 'format'")
        conn.commit()
    with pytest.raises(BadInput, match=f"geosleuth atlas add {path}"):
        RegionStore(tmp_path).info("older")
    info = convert_region(path, folder=tmp_path)
    assert (info.name, info.features, info.names, info.source) == (
        "older", monaco.features, monaco.names, monaco.source,
    )  # fmt: skip
    here = LatLon(43.7396, 7.4276)
    new, old = (Regions(folder).nearby(here, 300, limit=40) for folder in (tmp_path, monaco.path.parent))
    assert [(hit.place.name, hit.distance_km) for hit in new] == [(hit.place.name, hit.distance_km) for hit in old]
