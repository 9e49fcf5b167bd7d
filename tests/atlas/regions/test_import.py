"""Taking an extract in: what ends up in the file, and what bad files leave behind (nothing)."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import shapely

from geosleuth.atlas.regions import RegionInfo, RegionStore, extract, import_osm, osm
from geosleuth.atlas.regions.geometry import unpack
from geosleuth.atlas.regions.region_file import LAYERS, unpack_shapes
from geosleuth.support.errors import BadInput
from pbf_damage import damaged, not_utf8


def test_the_bundled_extract_says_what_it_holds(monaco: RegionInfo) -> None:
    assert monaco.attribution == "© OpenStreetMap contributors"
    assert monaco.licence == "ODbL-1.0"
    assert monaco.data_date == "2023-12-26T21:21:22Z"
    assert monaco.extent.south < 43.7384 < monaco.extent.north
    assert monaco.features > 3000
    assert monaco.names > 4000
    assert monaco.streets > 200
    assert monaco.junctions > 300
    assert monaco.addresses > 250


def test_every_layer_of_a_map_is_there_and_its_shapes_lie_in_their_boxes(monaco: RegionInfo) -> None:
    conn = sqlite3.connect(monaco.path)
    rows = conn.execute(
        "SELECT layer, shapes, west, east, south, north FROM shape JOIN shape_box USING (id)"
    ).fetchall()
    conn.close()
    assert {row[0] for row in rows} == set(LAYERS)
    for row in rows:
        _, geoms = unpack_shapes(row[1])
        for west, south, east, north in shapely.bounds(unpack(geoms)).tolist():
            assert row[2] <= west <= east <= row[3]
            assert row[4] <= south <= north <= row[5]


def test_a_street_of_many_ways_is_one_feature(monaco: RegionInfo) -> None:
    conn = sqlite3.connect(monaco.path)
    found = conn.execute(
        "SELECT geom FROM feature JOIN kind ON kind.id = feature.kind JOIN ground ON feature = feature.id "
        "WHERE name = 'Rue Grimaldi' AND kind.kind LIKE 'highway=%'"
    ).fetchall()
    conn.close()
    assert len(found) == 1
    assert shapely.get_num_geometries(unpack(found[0])[0]) > 1


def test_importing_again_replaces(tmp_path: Path, monaco_pbf: Path) -> None:
    first = import_osm(monaco_pbf, "m", folder=tmp_path)
    store = RegionStore(tmp_path)
    before = store.open("m")
    second = import_osm(monaco_pbf, "m", folder=tmp_path)
    assert second.features == first.features
    assert [info.name for info in store.list()] == ["m"]
    assert store.open("m") is not before
    assert [path.name for path in tmp_path.iterdir()] == ["m.region.sqlite"]


def test_an_extract_as_xml_reads_like_any_other(tmp_path: Path) -> None:
    text = """<?xml version='1.0'?><osm version="0.6">
      <node id="1" lat="10" lon="20"><tag k="amenity" v="cafe"/><tag k="name" v="Bar Uno"/></node>
      <node id="2" lat="10" lon="20.001"/><node id="3" lat="10.001" lon="20"/>
      <way id="5"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="name" v="Via Prima"/></way>
      <way id="6"><nd ref="1"/><nd ref="3"/><tag k="highway" v="residential"/><tag k="name" v="Via Seconda"/></way>
    </osm>"""
    source = tmp_path / "tiny.osm"
    source.write_text(text)
    info = import_osm(source, folder=tmp_path / "atlas")
    assert (info.name, info.features, info.streets, info.junctions) == ("tiny", 3, 2, 1)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("text.osm.pbf", b"this is only text\n" * 50, "not a sound OpenStreetMap extract"),
        ("empty.osm.pbf", b"", "is empty"),
        ("picture.jpg", b"\xff\xd8\xff\xe0 no map", "not a sound OpenStreetMap extract"),
        ("broken.osm", b"<osm version='0.6'><node id='1'", "not a sound OpenStreetMap extract"),
        ("nothing.osm", b"<osm version='0.6'></osm>", "holds no tagged"),
        ("bad.osm.bz2", b"BZh9 not bzip2 at all", "not a sound OpenStreetMap extract"),
    ],
)
def test_what_is_no_extract_gets_one_line_and_leaves_nothing(
    tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    source = tmp_path / name
    source.write_bytes(content)
    folder = tmp_path / "atlas"
    with pytest.raises(BadInput) as caught:
        import_osm(source, folder=folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not folder.exists()


def test_a_cut_extract_leaves_the_region_of_that_name_as_it_was(tmp_path: Path, monaco_pbf: Path) -> None:
    info = import_osm(monaco_pbf, "monaco", folder=tmp_path)
    cut = tmp_path / "cut.osm.pbf"
    whole = monaco_pbf.read_bytes()
    for size in (100, 5_000, len(whole) // 2, len(whole) - 10):
        cut.write_bytes(whole[:size])
        with pytest.raises(BadInput, match="not a sound OpenStreetMap extract"):
            import_osm(cut, "monaco", folder=tmp_path)
    cut.unlink()
    assert RegionStore(tmp_path).info("monaco") == info
    assert [path.name for path in tmp_path.iterdir()] == ["monaco.region.sqlite"]


def test_a_missing_file_a_folder_and_an_impossible_name(tmp_path: Path, monaco_pbf: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        import_osm(tmp_path / "none.osm.pbf", folder=tmp_path / "atlas")
    with pytest.raises(BadInput, match="is not a file"):
        import_osm(tmp_path, folder=tmp_path / "atlas")
    for name in ("", "../up", "a:b", "Ünï", "x" * 65):
        with pytest.raises(BadInput, match="a region's name"):
            import_osm(monaco_pbf, name, folder=tmp_path / "atlas")
    assert not (tmp_path / "atlas").exists()


def test_other_extracts_import_too(shared: Path, tmp_path: Path) -> None:
    for name, street in (("andorra", "avinguda"), ("helsinki", "katu")):
        source = shared / "data" / "osm" / f"{name}.osm.pbf"
        if not source.is_file():
            pytest.skip(f"{source} is absent")
        info = import_osm(source, folder=tmp_path)
        conn = sqlite3.connect(info.path)
        (count,) = conn.execute(
            "SELECT count(*) FROM feature JOIN kind ON kind.id = feature.kind "
            "WHERE kind.kind LIKE 'highway=%' AND name LIKE ?",
            (f"%{street}%",),
        ).fetchone()
        conn.close()
        assert info.streets > 80
        assert count > 10


@pytest.mark.slow
def test_several_processes_and_small_portions_read_the_same(
    tmp_path: Path, monaco_pbf: Path, monaco: RegionInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geosleuth.atlas.regions.osm._WORKERS_FROM_BYTES", 0)
    monkeypatch.setattr("geosleuth.atlas.regions.osm._PART_BYTES", 50_000)
    monkeypatch.setattr("geosleuth.atlas.regions.osm._RESUMABLE_FROM_BYTES", 0)
    import_osm(monaco_pbf, "monaco", folder=tmp_path)
    assert _rows(tmp_path / "monaco.region.sqlite") == _rows(monaco.path)
    assert [path.name for path in tmp_path.iterdir()] == ["monaco.region.sqlite"]


def _rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    tables = (
        "feature",
        "feature_tags",
        "ground",
        "address",
        "postcode",
        "junction",
        "junction_street",
        "spelling",
        "shape",
    )
    with closing(sqlite3.connect(path)) as conn:
        return {table: sorted(conn.execute(f"SELECT * FROM {table}")) for table in tables}  # noqa: S608


def test_an_import_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, monaco_pbf: Path, monaco: RegionInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(osm, "_PART_BYTES", 50_000)
    monkeypatch.setattr(osm, "_RESUMABLE_FROM_BYTES", 0)
    done: list[str] = []
    read_nodes, read_ways = extract.read_nodes, extract.read_ways

    def nodes(*of: Any) -> Any:
        done.append("nodes")
        return read_nodes(*of)

    def ways(*of: Any) -> Any:
        done.append("ways")
        if done.count("ways") == 1:
            raise KeyboardInterrupt
        return read_ways(*of)

    monkeypatch.setattr(osm, "read_nodes", nodes)
    monkeypatch.setattr(osm, "read_ways", ways)
    with pytest.raises(KeyboardInterrupt):
        import_osm(monaco_pbf, "monaco", folder=tmp_path)
    assert RegionStore(tmp_path).names() == []
    before = done.count("nodes")
    assert before > 1
    import_osm(monaco_pbf, "monaco", folder=tmp_path)
    assert done.count("nodes") == before
    assert _rows(tmp_path / "monaco.region.sqlite") == _rows(monaco.path)
    assert [path.name for path in tmp_path.iterdir()] == ["monaco.region.sqlite"]


def test_what_another_file_left_is_not_taken_up(
    tmp_path: Path, monaco_pbf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(osm, "_RESUMABLE_FROM_BYTES", 0)
    left = tmp_path / ".monaco.0123456789.resume"
    left.mkdir()
    (left / "stage.sqlite").write_bytes(b"of another file")
    import_osm(monaco_pbf, "monaco", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["monaco.region.sqlite"]


def test_a_folder_that_can_not_be_made_is_one_line(tmp_path: Path, monaco_pbf: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="can't be written to"):
        import_osm(monaco_pbf, folder=tmp_path / "file" / "atlas")


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_a_damaged_extract_is_taken_in_or_refused_in_one_line(tmp_path: Path, first: int) -> None:
    source, folder = tmp_path / "bad.osm.pbf", tmp_path / "atlas"
    told: list[str] = []
    for seed in range(first, first + 10):
        source.write_bytes(damaged(seed))
        try:
            import_osm(source, folder=folder)
        except BadInput as error:  # anything else fails the test
            told.append(str(error))
    assert len(told) > 1
    assert all(line.isprintable() for line in told)


def test_tags_that_are_not_utf_8_are_one_line(tmp_path: Path, atlas_home: Path) -> None:
    source = tmp_path / "latin.osm.pbf"
    source.write_bytes(not_utf8())
    command = [str(Path(sys.executable).parent / "geosleuth"), "atlas", "add", str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 2
    assert "text that is not UTF-8" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not list(atlas_home.rglob("*.region.sqlite"))
