"""Listing, describing, removing; and region files that went bad."""

import os
import time
from pathlib import Path

import pytest

from geosleuth.atlas.regions import RegionInfo, Regions, RegionStore, import_osm
from geosleuth.support.errors import BadInput


def test_no_regions_yet(tmp_path: Path) -> None:
    store = RegionStore(tmp_path / "nowhere")
    assert store.list() == []
    assert Regions(tmp_path / "nowhere").search_pois("anything") == []
    with pytest.raises(BadInput, match="none yet; fetch one with: geosleuth atlas get"):
        store.info("monaco")


def test_remove(tmp_path: Path, monaco_pbf: Path) -> None:
    import_osm(monaco_pbf, "one", folder=tmp_path)
    regions = Regions(tmp_path)
    assert regions.search_pois("Café de Paris")
    regions.store.remove("one")
    assert regions.search_pois("Café de Paris") == []
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadInput, match="there is no region 'one'"):
        regions.store.remove("one")


def test_what_others_do_in_a_folder_is_seen_also_where_it_was_listed_before(tmp_path: Path, monaco: RegionInfo) -> None:
    store = RegionStore(tmp_path)
    one, two = tmp_path / "one.region.sqlite", tmp_path / "two.region.sqlite"

    def names() -> list[str]:
        """As they are told a minute after the last change, twice."""
        long_ago = time.time() - 60 - len(told)
        os.utime(tmp_path, (long_ago, long_ago))
        assert [info.name for info in store.list()] == store.names()
        return store.names()

    told: list[list[str]] = []
    told.append(names())
    two.write_bytes(monaco.path.read_bytes())
    assert store.names() == ["two"]
    told.append(names())
    two.rename(one)
    assert [info.name for info in store.list()] == ["one"]
    told.append(names())
    os.utime(one, ns=(1, 1))  # as if another file had taken its place
    assert store.open_all()[0].stamp[1] == 1
    one.unlink()
    assert store.list() == []
    assert told == [[], ["two"], ["one"]]


@pytest.mark.parametrize("damage", ["text", "cut", "empty", "other database", "middle"])
def test_a_damaged_region_is_named_and_the_others_answer(tmp_path: Path, monaco: RegionInfo, damage: str) -> None:
    whole = monaco.path.read_bytes()
    (tmp_path / "good.region.sqlite").write_bytes(whole)
    bad = tmp_path / "bad.region.sqlite"
    if damage == "other database":
        import sqlite3

        conn = sqlite3.connect(bad)
        conn.execute("CREATE TABLE t (x)")
        conn.close()
    else:
        junk = b"\xa5" * (len(whole) // 2)
        bad.write_bytes(
            {"text": b"hello", "cut": whole[: len(whole) // 3 * 2], "empty": b"", "middle": whole[:2000] + junk}[damage]
        )
    regions = Regions(tmp_path)
    assert [info.name for info in regions.store.list()] == ["good"]
    (told,) = regions.store.list_damaged()
    assert told.path == bad
    assert "geosleuth atlas add EXTRACT --name bad" in told.message
    assert "\n" not in told.message
    assert regions.search_pois("Café de Paris")[0].place.id == "osm:good:n4316767531"
    with pytest.raises(BadInput, match="region 'bad' is damaged"):
        Regions(tmp_path, only=["bad"]).search_pois("Café de Paris")
    regions.store.remove("bad")
    assert not regions.store.list_damaged()


def test_pages_that_rot_inside_a_file_are_an_error_that_names_it(tmp_path: Path, monaco: RegionInfo) -> None:
    whole = bytearray(monaco.path.read_bytes())
    page = 8192
    for begin in range(4 * page, len(whole), page):  # the description stays, everything else is noise
        whole[begin : begin + page] = b"\x5a" * page
    (tmp_path / "rotten.region.sqlite").write_bytes(bytes(whole))
    with pytest.raises(BadInput, match="region 'rotten' is damaged"):
        Regions(tmp_path, only=["rotten"]).search_pois("Café de Paris")
    (tmp_path / "sound.region.sqlite").write_bytes(monaco.path.read_bytes())
    everywhere = Regions(tmp_path)
    assert everywhere.search_pois("Café de Paris")[0].place.id == "osm:sound:n4316767531"
    assert everywhere.colocated(["pharmacy", "cafe"], 500)
    assert everywhere.crossing("Rue Grimaldi", "Rue Suffren Reymond")


def test_only_some_regions_are_asked(tmp_path: Path, monaco: RegionInfo) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.region.sqlite").write_bytes(monaco.path.read_bytes())
    assert Regions(tmp_path, only=["b"]).search_pois("Café de Paris")[0].place.id.startswith("osm:b:")
    # Extracts that overlap hold the same objects; each is told once.
    ids = [hit.place.id.split(":")[2] for hit in Regions(tmp_path).search_pois("Café de Paris")]
    assert len(ids) == len(set(ids))
    with pytest.raises(BadInput, match="there is no region 'c' \\(regions: a, b\\)"):
        Regions(tmp_path, only=["c"]).search_pois("x")


def test_a_folder_nobody_may_write_to_is_read_all_the_same(tmp_path: Path, monaco: RegionInfo) -> None:
    path = tmp_path / "m.region.sqlite"
    path.write_bytes(monaco.path.read_bytes())
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert Regions(tmp_path).search_pois("Café de Paris")
    finally:
        tmp_path.chmod(0o755)
    assert [one.name for one in tmp_path.iterdir()] == ["m.region.sqlite"]
