"""Places of the world by name, by beginning and around a point."""

import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.atlas.base import BasePlaces, base_path, build, build_base, ensure_base
from geosleuth.errors import BadInput
from geosleuth.geo import Box, LatLon, distance_km


@pytest.fixture(scope="module")
def places(base_file: Path) -> Iterator[BasePlaces]:
    conn = sqlite3.connect(f"file:{base_file}?mode=ro&immutable=1", uri=True)
    yield BasePlaces(conn)
    conn.close()


def test_it_stays_within_its_size(base_file: Path) -> None:
    assert base_file.stat().st_size <= 60e6


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
        ("Qingda0, China", "Qingdao, Shandong, China"),
    ],
)
def test_geocode(places: BasePlaces, query: str, address: str) -> None:
    assert places.geocode(query)[0].place.address == address


def test_exact_names_say_so_and_misspelled_ones_too(places: BasePlaces) -> None:
    assert places.geocode("Monaco")[0].match == "exact"
    assert places.geocode("Wien")[0].match == "alias"
    assert places.geocode("Barcelnoa")[0].match == "fuzzy"


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
