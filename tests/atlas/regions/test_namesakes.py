"""A country has thousands of streets, houses and shops of one name; the one that is meant must be found."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.regions import Regions, import_osm
from geosleuth.geo import Disc, LatLon, distance_km

TOWNS = {
    "Rottweil": LatLon(48.1681, 8.6247),
    "Göttingen": LatLon(51.5344, 9.9323),
    "Cottbus": LatLon(51.7577, 14.3289),
    "Rostock": LatLon(54.0887, 12.1405),
    "Quakenheim": LatLon(53.05, 8.05),
}
VILLAGE = "Quakenheim"  # only the region knows it, by a point
ACROSS = 50


def _points() -> list[LatLon]:
    """A grid over Germany that keeps its distance from the towns, and the towns."""
    grid = (LatLon(47.6 + 6.6 * row / ACROSS, 7.0 + 7.5 * at / ACROSS) for row in range(ACROSS) for at in range(ACROSS))
    return [*(one for one in grid if all(distance_km(one, town) > 4 for town in TOWNS.values())), *TOWNS.values()]


def _extract() -> str:
    """At every point a house, a street and a shop of the same name."""
    nodes, ways = [], []
    for number, point in enumerate(_points(), start=1):
        first, (lat, lon) = 10 * number, (point.lat, point.lon)
        town = f"<tag k='addr:city' v='{VILLAGE}'/>" if point == TOWNS[VILLAGE] else ""
        house = f"<tag k='addr:street' v='Hauptstraße'/><tag k='addr:housenumber' v='5'/>{town}"
        shop = "<tag k='shop' v='bakery'/><tag k='name' v='Backhaus'/>"
        tagged = [(lat, lon, house), (lat + 0.001, lon, ""), (lat + 0.001, lon + 0.001, ""), (lat, lon + 0.001, shop)]
        nodes += [
            f"<node id='{first + at}' lat='{lat}' lon='{lon}'>{tags}</node>"
            for at, (lat, lon, tags) in enumerate(tagged)
        ]
        street = "<tag k='highway' v='residential'/><tag k='name' v='Hauptstraße'/>"
        ways.append(f"<way id='{number}'><nd ref='{first + 1}'/><nd ref='{first + 2}'/>{street}</way>")
    village = TOWNS[VILLAGE]
    tags = f"<tag k='place' v='village'/><tag k='name' v='{VILLAGE}'/>"
    nodes.append(f"<node id='900000' lat='{village.lat}' lon='{village.lon}'>{tags}</node>")
    return f"<osm version='0.6'>{''.join(nodes)}{''.join(ways)}</osm>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the region lies."""
    folder = tmp_path_factory.mktemp("regions")
    source = folder / "germany.osm"
    source.write_text(_extract(), encoding="utf-8")
    import_osm(source, folder=folder)
    return folder


@pytest.mark.parametrize("town", TOWNS)
@pytest.mark.parametrize("text", ["Hauptstraße 5", "Hauptstraße", "Backhaus", "Hauptstrase", "Backhuas"])
def test_one_of_thousands_is_found_inside_an_extent(folder: Path, text: str, town: str) -> None:
    hits = Regions(folder).geocode(text, within=Disc(TOWNS[town], 3.0))
    assert hits
    assert all(distance_km(hit.place.point, TOWNS[town]) < 3.0 for hit in hits)


@pytest.mark.parametrize("town", TOWNS)
@pytest.mark.parametrize("text", ["Hauptstraße 5", "5 Hauptstraße"])
def test_one_house_of_thousands_is_found_by_its_town(folder: Path, text: str, town: str) -> None:
    best = asyncio.run(OfflineAtlas(folder).geocode(f"{text}, {town}"))[0]
    assert not best.missing
    assert distance_km(best.place.point, TOWNS[town]) < 3.0


@pytest.mark.parametrize("town", TOWNS)
@pytest.mark.parametrize("text", ["Hauptstraße", "Backhaus"])
def test_one_of_thousands_is_found_by_its_town(folder: Path, text: str, town: str) -> None:
    best = asyncio.run(OfflineAtlas(folder).geocode(f"{text}, {town}"))[0]
    assert not best.missing
    assert distance_km(best.place.point, TOWNS[town]) < 3.0


@pytest.mark.parametrize("town", TOWNS)
def test_the_nearest_of_thousands_is_first(folder: Path, town: str) -> None:
    hits = Regions(folder).search_pois("Backhaus", near=TOWNS[town], limit=3)
    assert distance_km(hits[0].place.point, TOWNS[town]) < 3.0


@pytest.mark.parametrize("town", TOWNS)
def test_two_of_thousands_stand_together_inside_an_extent(folder: Path, town: str) -> None:
    (found,) = Regions(folder).colocated(["Hauptstraße", "Backhaus"], 200, within=Disc(TOWNS[town], 3.0))
    assert distance_km(found.point, TOWNS[town]) < 3.0


def test_a_rare_name_beside_one_of_thousands(folder: Path) -> None:
    (found,) = Regions(folder).colocated([VILLAGE, "Hauptstraße"], 200)
    assert distance_km(found.point, TOWNS[VILLAGE]) < 3.0


def test_the_village_that_has_the_street_is_meant(tmp_path: Path) -> None:
    villages = [(46.1, 6.1), (46.3, 6.3), (46.5, 6.5)]
    tags = "<tag k='place' v='village'/><tag k='name' v='Sugudet'/>"
    nodes = [f"<node id='{at + 1}' lat='{lat}' lon='{lon}'>{tags}</node>" for at, (lat, lon) in enumerate(villages)]
    nodes += [f"<node id='{at}' lat='46.51' lon='6.{at}'/>" for at in (500, 501)]  # 1.1 km from the last one
    way = "<nd ref='500'/><nd ref='501'/><tag k='highway' v='residential'/><tag k='name' v='Rue du Lavoir'/>"
    source = tmp_path / "ain.osm"
    source.write_text(f"<osm version='0.6'>{''.join(nodes)}<way id='1'>{way}</way></osm>", encoding="utf-8")
    import_osm(source, folder=tmp_path)
    best = asyncio.run(OfflineAtlas(tmp_path).geocode("Rue du Lavoir, Sugudet"))[0]
    assert best.place.name == "Rue du Lavoir"
    assert not best.missing


def test_a_house_comes_before_the_shops_in_it(tmp_path: Path) -> None:
    tags = "<tag k='addr:street' v='Bulevardi'/><tag k='addr:housenumber' v='14'/>"
    shops = [f"{tags}<tag k='shop' v='clothes'/><tag k='name' v='Shop {number}'/>" for number in range(20)]
    nodes = [
        f"<node id='{at + 1}' lat='60.{at + 100}' lon='24.9'>{one}</node>"
        for at, one in enumerate([*shops, tags, *shops])
    ]
    source = tmp_path / "helsinki.osm"
    source.write_text(f"<osm version='0.6'>{''.join(nodes)}</osm>", encoding="utf-8")
    import_osm(source, folder=tmp_path)
    for ask in (Regions(tmp_path).find_by_name, Regions(tmp_path).geocode):
        (best,) = ask("Bulevardi 14", limit=1)
        assert best.place.kind == "address"
