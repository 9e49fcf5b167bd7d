"""Parks, islands, lakes, mountains and sights by name."""

import importlib.util
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from geosleuth.atlas.base import BasePlaces, packed_tables
from geosleuth.geo import LatLon, distance_km

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def places(base_file: Path) -> Iterator[BasePlaces]:
    conn = sqlite3.connect(f"file:{base_file}?mode=ro&immutable=1", uri=True)
    yield BasePlaces(conn)
    conn.close()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        spec = importlib.util.spec_from_file_location("make_named_places", ROOT / "scripts/make_named_places.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["make_named_places"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    return module


@pytest.mark.parametrize(
    ("query", "point", "within_km", "kind"),
    [
        ("Yosemite National Park, United States", LatLon(37.85, -119.56), 25, "park"),
        ("Antelope Canyon, United States", LatLon(36.87, -111.38), 10, "canyon"),
        ("Banff, Canada", LatLon(51.18, -115.57), 25, "city"),
        ("Parque Nacional Torres del Paine, Chile", LatLon(-51.0, -73.1), 25, "park"),
        ("Lake Tahoe, Nevada", LatLon(39.1, -120.0), 15, "lake"),
        ("Lake Tahoe, California", LatLon(39.1, -120.0), 15, "lake"),
        ("Lago Titicaca, Bolivia", LatLon(-15.8, -69.4), 60, "lake"),
        ("Isle of Skye, Scotland", LatLon(57.3, -6.2), 25, "island"),
        ("Half Dome, Yosemite National Park, USA", LatLon(37.746, -119.533), 2, "mountain"),
        ("西湖, 杭州", LatLon(30.25, 120.14), 5, "lake"),
        ("Troy, Turkey", LatLon(39.96, 26.24), 5, "ruins"),
        ("Monte Bianco, Italia", LatLon(45.83, 6.86), 5, "mountain"),
        ("Mount Rainier, Washington", LatLon(46.85, -121.76), 5, "mountain"),
        ("Bretagne, France", LatLon(48.2, -2.9), 150, "region"),
        ("阿寒摩周国立公園, Hokkaido", LatLon(43.55, 144.35), 25, "park"),
    ],
)
def test_finds_what_is_no_town(places: BasePlaces, query: str, point: LatLon, within_km: float, kind: str) -> None:
    best = places.geocode(query)[0]
    assert best.place.kind == kind
    assert distance_km(best.place.point, point) <= within_km
    assert not best.missing


@pytest.mark.parametrize("query", ["Orange", "Victoria", "Troy", "Phoenix", "Naples", "Hollywood", "Kingston"])
def test_never_replaces_a_larger_city_of_its_name(places: BasePlaces, query: str) -> None:
    assert places.geocode(query)[0].place.kind in ("city", "region")


def test_towns_lie_on_islands_and_in_parks(places: BasePlaces) -> None:
    assert places.geocode("Palma, Mallorca, Spain")[0].place.id == "geonames:2512989"
    lodge = places.geocode("Nowhere Lodge, Yosemite National Park, United States")[0]
    assert (lodge.place.name, lodge.missing) == ("Yosemite National Park", ("Nowhere Lodge",))


@pytest.mark.parametrize(
    ("query", "point"),
    [
        ("Orange County, California", LatLon(33.70, -117.76)),
        ("St. Louis County, Minnesota", LatLon(47.59, -92.46)),
        ("Landkreis Görlitz, Sachsen", LatLon(51.2, 14.8)),
        ("Dordogne, France", LatLon(45.1, 0.75)),
        ("Norfolk, England", LatLon(52.65, 1.0)),
        ("Kabupaten Sleman, Indonesia", LatLon(-7.7, 110.35)),
        ("阳朔县, 桂林, 广西, 中国", LatLon(24.8, 110.45)),
        ("福岡県福岡市中央区", LatLon(33.58, 130.39)),
        ("Кольский район, Мурманская область", LatLon(68.8, 32.5)),
    ],
)
def test_finds_second_level_units(places: BasePlaces, query: str, point: LatLon) -> None:
    best = places.geocode(query)[0]
    assert (best.place.kind, best.level, best.missing) == ("county", "feature", ())
    assert distance_km(best.place.point, point) <= 60


@pytest.mark.parametrize(
    "query",
    [
        "Paris, France",
        "York, England",
        "Siena, Toscana, Italia",
        "Lugo, Galicia, España",
        "Orange, California",
        "Durham",
    ],
)
def test_a_unit_never_replaces_the_town_of_its_name(places: BasePlaces, query: str) -> None:
    assert places.geocode(query)[0].place.kind == "city"


def test_a_feature_of_two_countries_is_in_the_one_that_is_named(places: BasePlaces) -> None:
    found = [places.geocode(f"Lake Titicaca, {name}")[0].place.country for name in ("Peru", "Bolivia")]
    assert found == ["PE", "BO"]


def test_has_its_own_size(places: BasePlaces) -> None:
    from geosleuth.atlas.place_extent import get_radius_km

    crater = places.geocode("Ngorongoro Crater")[0].place
    assert get_radius_km(crater) == 25.0


def test_suggests_them_by_their_beginning(places: BasePlaces) -> None:
    assert "Yosemite National Park" in [hit.place.name for hit in places.suggest("Yosem", limit=3)]


def test_the_packaged_table_is_made_of_what_there_is_now(script: ModuleType) -> None:
    made_of = packed_tables.read_sources_line(packed_tables.read_packaged(packed_tables.NAMED_PLACES_FILE))
    assert made_of == script.sources(), "run scripts/make_named_places.py"


def test_every_sight_lies_in_its_country(script: ModuleType) -> None:
    features = list(script.sights())
    assert len(features) > 3000
    assert [feature for feature in features if script.is_astray(feature)] == []
