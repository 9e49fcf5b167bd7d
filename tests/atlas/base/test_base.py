"""Places of the world by name, by beginning and around a point."""

import importlib.util
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from geosleuth.atlas.base import (
    BasePlaces,
    base_path,
    build,
    build_base,
    ensure_base,
    geocode,
    open_base,
    packed_tables,
)
from geosleuth.geo import Box, LatLon, distance_km
from geosleuth.support.errors import BadInput, DataFault

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def places(base_file: Path) -> Iterator[BasePlaces]:
    conn = sqlite3.connect(f"file:{base_file}?mode=ro&immutable=1", uri=True)
    yield BasePlaces(conn)
    conn.close()


def test_it_stays_within_its_size(base_file: Path) -> None:
    assert base_file.stat().st_size <= 66e6


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("Paris", "Paris, Île-de-France, France"),
        ("Paris, Texas", "Paris, Texas, United States"),
        ("paris texas", "Paris, Texas, United States"),
        ("München", "Munich, Bavaria, Germany"),
        ("Springfield, Illinois, USA", "Springfield, Illinois, United States"),
        ("東京", "Tokyo, Japan"),
        ("Москва", "Moscow, Russia"),
        ("القاهرة", "Cairo, Egypt"),
        ("서울", "Seoul, South Korea"),
        ("กรุงเทพมหานคร", "Bangkok, Thailand"),
        ("Japan", "Japan"),
        ("日本", "Japan"),
        ("Bayern, Germany", "Bavaria, Germany"),
        ("New York", "New York City, New York, United States"),
        ("Brooklyn, New York", "Brooklyn, New York, United States"),
        ("Athens, Georgia", "Athens, Georgia, United States"),
        ("Batumi, Georgia", "Batumi, Adjara, Georgia"),
        ("Nice, France", "Nice, Provence-Alpes-Côte d'Azur, France"),
        ("Washington, D.C.", "Washington, District of Columbia, United States"),
        ("Barcelnoa", "Barcelona, Catalonia, Spain"),
        ("Lodnon", "London, England, United Kingdom"),
        ("London Heathrow Airport", "London Heathrow Airport, United Kingdom"),
        ("Heathrow Airport", "London Heathrow Airport, United Kingdom"),
        ("Berlin Hauptbahnhof", "Berlin Hauptbahnhof, Germany"),
        ("Gaza", "Gaza, Gaza Strip, Palestinian Territory"),
        ("Zanzibar", "Zanzibar, Zanzibar Urban/West, Tanzania"),
        ("Scotland", "Scotland, United Kingdom"),
        ("England", "England, United Kingdom"),
        ("Allemagne", "Germany"),
        ("Cambridge, MA", "Cambridge, Massachusetts, United States"),
        ("Springfield IL", "Springfield, Illinois, United States"),
        ("Bali", "Bali, Indonesia"),
        ("Corsica", "Corsica, France"),
        ("Baden-Baden", "Baden-Baden, Baden-Wurttemberg, Germany"),
        ("SAN FRANC1SC0, California", "San Francisco, California, United States"),
        ("Praha 1", "Praha 1, Prague, Czechia"),
        ("Qingda0, China", "Qingdao, Shandong, China"),
    ],
)
def test_geocode(places: BasePlaces, query: str, address: str) -> None:
    assert places.geocode(query)[0].place.address == address


def test_exact_names_say_so_and_misspelled_ones_too(places: BasePlaces) -> None:
    assert places.geocode("Monaco")[0].match == "exact"
    assert places.geocode("Wien")[0].match == "alias"
    assert places.geocode("Barcelnoa")[0].match == "fuzzy"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("San Miguel del", "San Miguel del Monte"),
        ("Concepción del", "Concepción del Oro"),
        ("Santa Cruz de la", "Santa Cruz de la Sierra"),
    ],
)
def test_a_name_whose_last_word_is_missing_is_found_though_its_words_are_common(
    places: BasePlaces, query: str, name: str
) -> None:
    hits = places.geocode(query, limit=10)
    assert name in [hit.place.name for hit in hits]


def test_a_country_or_an_area_narrows(places: BasePlaces) -> None:
    assert places.geocode("Paris", country="US")[0].place.country == "US"
    inside = places.geocode("Paris", within=Box(33, -96, 34, -95))
    assert [hit.place.region for hit in inside] == ["Texas"]


@pytest.mark.parametrize("query", ["", "  ", ",,,", "?!", "\x00", "x" * 10_000_000, '" OR 1=1', "zzqqxxjj"])
def test_what_names_nothing_finds_little_and_breaks_nothing(places: BasePlaces, query: str) -> None:
    assert all(hit.score < 0.9 for hit in places.geocode(query))
    assert isinstance(places.suggest(query), list)


def test_random_cities_with_region_and_country_are_found(places: BasePlaces, base_file: Path) -> None:
    conn = sqlite3.connect(f"file:{base_file}?mode=ro&immutable=1", uri=True)
    rows = conn.execute("SELECT ref FROM place WHERE kind = 0 AND population > 5000 ORDER BY id").fetchall()
    conn.close()
    right = 0
    for (ref,) in random.Random(5).sample(rows, 300):
        place = places.place(f"geonames:{ref}")
        assert place is not None
        assert place.address is not None
        found = places.geocode(place.address, limit=1)
        right += bool(found) and distance_km(found[0].place.point, place.point) <= 10
    assert right >= 294


@pytest.mark.parametrize(
    ("point", "country", "name"),
    [
        (LatLon(48.8584, 2.2945), "FR", "Paris"),
        (LatLon(41.9022, 12.4539), "VA", "Vatican City"),
        (LatLon(43.7384, 7.4246), "MC", "Monaco"),
        (LatLon(-4.325, 15.322), "CD", "Kinshasa"),
        (LatLon(-16.83, 179.97), "FJ", None),
    ],
)
def test_a_point_belongs_to_the_place_whose_size_reaches_it(
    places: BasePlaces, point: LatLon, country: str, name: str | None
) -> None:
    first = places.around(point, country=country)[0]
    assert first.place.country == country
    assert name is None or first.place.name == name


def test_what_is_remembered_near_a_point_changes_no_answer(base_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    towns = [
        (LatLon(43.74, 7.42), "MC"),
        (LatLon(42.5, 1.5), "AD"),
        (LatLon(52.5, 13.4), "DE"),
        (LatLon(47.1, 9.5), None),
    ]
    asked = [
        (LatLon(at.lat + chance.uniform(-0.2, 0.2), at.lon + chance.uniform(-0.2, 0.2)), country)
        for _ in range(10)
        for at, country in towns
    ]
    with closing(open_base(base_file)) as conn:
        fresh = [BasePlaces(conn).around(point, country=country) for point, country in asked]
        for most in (1, 30, 2048):
            monkeypatch.setattr(geocode, "_MAX_REMEMBERED", most)
            one = BasePlaces(conn)
            assert [one.around(point, country=country) for point, country in asked * 2] == fresh * 2


def test_a_region_given_comes_first_and_a_far_settlement_is_not_claimed(places: BasePlaces) -> None:
    liberty = LatLon(40.6892, -74.0445)
    assert places.around(liberty, country="US")[0].place.name == "New York City"
    assert places.around(liberty, country="US", region="US.NJ")[0].place.name == "Jersey City"
    fuji = places.around(LatLon(35.3606, 138.7274), country="JP", region="JP.46")[0]
    assert fuji.place.name != "Tokyo"
    assert (fuji.distance_km or 0) < 20


@pytest.mark.parametrize("place_id", ["geonames:99999999999999999999999", "geonames:²", "x\ud800", "", "geonames:"])
def test_nonsense_ids_are_nobody(places: BasePlaces, place_id: str) -> None:
    assert places.place(place_id) is None


def test_suggestions_begin_so_and_large_places_come_first(places: BasePlaces) -> None:
    names = [hit.place.name for hit in places.suggest("San Franc", limit=20)]
    assert "San Francisco" in names
    assert names.index("San Francisco") < 3


def test_building_where_nothing_can_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="can't be built there"):
        build_base(tmp_path / "file" / "base.sqlite")


def test_the_base_atlas_in_place_is_not_built_again(atlas_home: Path) -> None:
    before = ensure_base()
    assert before.is_file()
    assert before.is_relative_to(atlas_home)


@pytest.mark.parametrize("harm", [b"", b"SQLite format 3\x00" + bytes(4000), b"no database at all"])
def test_a_damaged_base_atlas_is_built_anew(
    atlas_home: Path, base_file: Path, monkeypatch: pytest.MonkeyPatch, harm: bytes
) -> None:
    assert atlas_home.is_dir()
    path = base_path()
    path.unlink()
    path.write_bytes(harm)
    built = []
    monkeypatch.setattr(build, "build_base", lambda where, _progress: built.append(where))
    assert ensure_base() == path
    assert built == [path]
    path.write_bytes(base_file.read_bytes()[:-4096])
    ensure_base()
    assert built == [path, path]


def test_what_a_killed_build_left_is_swept_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, young = (tmp_path / f".base.sqlite.{name}.part" for name in ("old", "young"))
    for left in (old, young):
        left.write_text("half")
    os.utime(old, (0, 0))
    monkeypatch.setattr(build, "_fill", lambda path, _progress: path.write_text("whole"))
    build_base(tmp_path / "base.sqlite")
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, "base.sqlite"]


# What a process that needs the base atlas does, saying when it begins to build and when it is done.
_BUILDER = """
from geosleuth.atlas.base import build
real = build.build_base
def told(path, progress):
    print("building", flush=True)
    real(path, progress)
build.build_base = told
print(build.ensure_base(), flush=True)
"""


def _builder(home: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _BUILDER],
        env={**os.environ, "GEOSLEUTH_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_of_two_processes_that_start_at_once_one_builds_and_both_have_it(tmp_path: Path) -> None:
    both = [_builder(tmp_path), _builder(tmp_path)]
    outputs = [process.communicate() for process in both]
    told = [out.split() for out, _ in outputs]
    assert sorted(len(words) for words in told) == [1, 2]
    # Whoever waits long, for the build or for the other process, hears of it once.
    waiting = "waiting for another command to build the base atlas\n"
    assert {err for _, err in outputs} <= {"", "building the base atlas, once\n", waiting}
    path = Path(told[0][-1])
    assert {words[-1] for words in told} == {str(path)}
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_build_that_is_killed_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    path = base_path()
    with _builder(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "building\n"
        while not list(path.parent.glob(f".{path.name}.*.part")):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not path.exists()
    built = []
    monkeypatch.setattr(build, "build_base", lambda where, _progress: built.append(where))
    assert ensure_base() == path  # the lock died with its holder
    assert built == [path]


def test_whoever_waits_long_is_told_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    tell = build.line_on_stderr()
    tell("reading places", 0.0)
    assert capsys.readouterr().err == ""
    now = 2.5
    tell("writing places", 0.4)
    tell("writing names", 0.6)
    assert capsys.readouterr().err == "building the base atlas, once\n"
    now = 0.0
    tell = build.line_on_stderr()
    now = 2.5
    tell("waiting for another process to build it", 0.0)
    assert capsys.readouterr().err == "waiting for another command to build the base atlas\n"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_base_tables", ROOT / "scripts/build_base_tables.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize("name", packed_tables.TABLES)
def test_the_packaged_tables_are_made_of_what_there_is_now(name: str) -> None:
    assert packed_tables.read_sources_line(packed_tables.read_packaged(name)) == _script().sources(), (
        "run scripts/build_base_tables.py"
    )


@pytest.mark.slow
def test_the_packaged_tables_are_what_the_script_makes() -> None:
    for name, made in _script().tables().items():
        shipped = packed_tables.unpack_tables(packed_tables.read_packaged(name))
        assert shipped.keys.data == made.keys.data
        for column in ("refs", "names", "countries", "regions"):
            assert getattr(shipped, column) == getattr(made, column)
        for column in ("kinds", "lat_e5", "lon_e5", "populations", "owners"):
            assert np.array_equal(getattr(shipped, column), getattr(made, column))


def test_damaged_tables_say_so() -> None:
    data = packed_tables.read_packaged("stations_odbl.zip")
    for harmed in (b"", data[: len(data) // 2], data[:5000] + bytes(2000) + data[7000:]):
        with pytest.raises(DataFault, match="damaged"):
            packed_tables.unpack_tables(harmed)


def test_names_of_two_tables_stay_sorted_and_their_places_apart() -> None:
    first, second = packed_tables.PackedLines(b"a\nb\nb\nd\n"), packed_tables.PackedLines(b"a\nb\nc\ne\n")
    at = first.find_insert_positions(second)
    assert at == [1, 3, 3, 4]
    assert list(first.with_lines(at, second)) == sorted([*first, *second])
    assert list(first.where(np.array([True, False, True, False]))) == [b"a", b"b"]
