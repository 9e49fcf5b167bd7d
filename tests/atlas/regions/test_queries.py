"""What people ask of a region: names as they were read, streets, corners, house numbers, what is around."""

import threading
from pathlib import Path

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.regions import Regions, import_osm
from geosleuth.atlas.regions.geometry import unpack
from geosleuth.atlas.regions.region_store import rows_of_kinds
from geosleuth.geo import Box, Disc, LatLon, distance_km
from geosleuth.support.errors import BadInput

CASINO = LatLon(43.7393, 7.4277)


@pytest.mark.parametrize(
    ("text", "name", "match"),
    [
        ("Café de Paris", "Café de Paris", "exact"),
        ("CAFE DE PARIS", "Café de Paris", "exact"),
        ("Caf6 de Parls", "Café de Paris", "fuzzy"),
        ("cafedeparis", "Café de Paris", "exact"),
        ("Paris Café de", "Café de Paris", "fuzzy"),
        ("モナコ", "Monaco", "alias"),
        ("Монако", "Monaco", "alias"),
        ("Rue Grimald1", "Rue Grimaldi", "fuzzy"),
        ("Musee Oceanographlque", "Musée Océanographique", "fuzzy"),
    ],
)
def test_names_however_they_were_read(regions: Regions, text: str, name: str, match: str) -> None:
    best = regions.search_pois(text)[0]
    assert (best.place.name, best.match) == (name, match)
    assert 0 < best.score <= 1


def test_exact_comes_before_alias_before_fuzzy(regions: Regions) -> None:
    order = {"exact": 0, "alias": 1, "fuzzy": 2}
    for text in ("Monaco", "Casino", "Carrefour", "Monte-Carlo"):
        kinds = [order[hit.match] for hit in regions.search_pois(text, limit=30, near=CASINO)]
        assert kinds == sorted(kinds)


def test_a_category_and_an_extent_narrow(regions: Regions) -> None:
    box = Box(43.735, 7.42, 43.742, 7.43)
    for hit in regions.search_pois("Monaco", category="hotels", limit=20):
        assert hit.place.kind == "tourism=hotel"
    inside = regions.search_pois("Monaco", within=box, limit=50)
    assert inside
    assert all(box.contains(hit.place.point) for hit in inside)
    disc = Disc(CASINO, 0.2)
    assert all(disc.contains(hit.place.point) for hit in regions.search_pois("Casino", within=disc))
    assert regions.search_pois("Monaco", within=Box(0, 0, 1, 1)) == []


def test_near_settles_between_equal_names(regions: Regions) -> None:
    rows = [row for row in rows_of_kinds(regions.store.open("monaco"), lambda kind: kind != "address") if row[2]]
    asked = 0
    for _, osm, name, kind, lat, lon, *_, rank in rows:
        if not any((name, kind, rank) == (*row[2:4], row[10]) and abs(lat - row[4]) > 0.004 for row in rows):
            continue
        best = regions.search_pois(name, near=LatLon(lat, lon))[0]
        if best.match == "exact":
            asked += 1
            assert best.distance_km is not None
            assert best.distance_km < 0.3, (name, osm)
    assert asked > 5


def test_the_nearest_branch_of_a_chain_with_many(tmp_path: Path) -> None:
    nodes = "".join(
        f"<node id='{number}' lat='{number / 1000}' lon='5'><tag k='shop' v='kiosk'/><tag k='name' v='Kiosk'/></node>"
        for number in range(1, 801)
    )
    source = tmp_path / "chain.osm"
    source.write_text(f"<osm version='0.6'>{nodes}</osm>")
    import_osm(source, folder=tmp_path)
    for number in (1, 400, 799):
        (best,) = Regions(tmp_path).search_pois("Kiosk", near=LatLon(number / 1000, 5), limit=1)
        assert best.place.id == f"osm:chain:n{number}"


def test_poi_by_id(regions: Regions) -> None:
    hit = regions.search_pois("Café de Paris")[0]
    assert regions.poi(hit.place.id) == hit.place
    corner = regions.crossing("Rue Grimaldi", "Rue Suffren Reymond")[0]
    found = regions.poi(corner.place.id)
    assert found is not None
    assert {"Rue Grimaldi", "Rue Suffren Reymond"} <= set(found.name.split(" / "))
    for unknown in ("", "osm", "osm:monaco:", "osm:monaco:n1", "osm:paris:n4316767531", "geonames:5", "osm:../x:n1"):
        assert regions.poi(unknown) is None


def test_the_crossing_of_two_streets(regions: Regions) -> None:
    best = regions.crossing("Rue Grimaldi", "Rue Suffren Reymond")[0]
    assert best.place.kind == "crossing"
    assert best.match == "exact"
    around = {hit.place.name for hit in regions.nearby(best.place.point, 3, category="street")}
    assert {"Rue Grimaldi", "Rue Suffren Reymond"} <= around
    misread = regions.crossing("rue suffren reymond", "Rue Grlmaldi")[0]
    assert misread.place.point == best.place.point
    assert misread.match == "fuzzy"
    assert regions.crossing("Rue Grimaldi", "Rue Qui N'Existe Pas") == []
    assert regions.crossing("Rue Grimaldi", "Rue Grimaldi") == []
    assert regions.crossing("", "Rue Grimaldi") == []
    assert regions.crossing("Rue Grimaldi", "Rue Suffren Reymond", within=Box(0, 0, 1, 1)) == []


def test_geocode_knows_addresses_corners_and_names(regions: Regions) -> None:
    lines = [row[2] for row in rows_of_kinds(regions.store.open("monaco"), "address".__eq__)]
    assert len(lines) > 50
    for line in lines[::7]:
        best = regions.geocode(line)[0]
        assert best.match == "exact"
        assert line in (best.place.address or "")
    corner = regions.geocode("Rue Grimaldi & Rue Suffren Reymond")[0]
    assert corner.place.kind == "crossing"
    assert regions.geocode("Rue Grimaldi")[0].place.kind.startswith("highway=")
    # A house number nobody mapped: the street is the honest answer, and not an exact one.
    guess = regions.geocode("9999 Rue Grimaldi, Monaco")[0]
    assert guess.place.name == "Rue Grimaldi"
    assert (guess.match, guess.missing) == ("part", ("9999",))


def test_suggest(regions: Regions) -> None:
    names = [hit.place.name for hit in regions.suggest("rue gr")]
    assert "Rue Grimaldi" in names
    assert regions.suggest("mon")[0].place.kind.startswith("place=")
    assert regions.suggest("zzzz") == []
    assert regions.suggest("") == []


def test_nearby_is_all_there_is_nearest_first(regions: Regions) -> None:
    radius_m = 120.0
    hits = regions.nearby(CASINO, radius_m, limit=1000)
    far = [hit.distance_km or 0.0 for hit in hits]
    assert far == sorted(far)
    assert all(km * 1000 <= radius_m for km in far)
    region = regions.store.open("monaco")
    expected = {
        f"osm:monaco:{osm}"
        for _, osm, _, _, lat, lon, *_ in rows_of_kinds(region, lambda kind: kind != "address")
        if distance_km(CASINO, LatLon(lat, lon)) * 1000 <= radius_m
    }
    found = {hit.place.id for hit in hits}
    assert expected <= found
    for hit in hits:
        if hit.place.id not in expected:  # its middle is farther off, so some of its ground must reach here
            assert hit.place.extent.distance_km(Disc(CASINO, radius_m / 1000)) == 0
            assert isinstance(hit.place.extent, Box)
            assert hit.place.extent.north > hit.place.extent.south
    assert [hit.place.id for hit in regions.nearby(CASINO, radius_m, limit=5)] == [hit.place.id for hit in hits[:5]]


def test_one_stands_on_the_street_though_its_middle_is_far(regions: Regions) -> None:
    corner = regions.crossing("Rue Grimaldi", "Rue Suffren Reymond")[0].place.point
    streets = {hit.place.name: hit.distance_km or 0.0 for hit in regions.nearby(corner, 30, category="street")}
    assert streets["Rue Grimaldi"] < 0.002
    assert streets["Rue Suffren Reymond"] < 0.002


def test_one_stands_in_the_garden_though_its_middle_is_far(regions: Regions) -> None:
    region = regions.store.open("monaco")
    grounds = dict(region.conn.execute("SELECT feature, geom FROM ground").fetchall())
    asked = 0
    for number, osm, *_ in rows_of_kinds(region, ("leisure=park", "leisure=garden").__contains__):
        (ground,) = unpack([grounds[number]])
        corner = LatLon(*shapely.get_coordinates(ground.buffer(-0.00001))[0][::-1]) if ground.area > 1e-7 else None
        if corner is not None:
            near = {hit.place.id: hit.distance_km for hit in regions.nearby(corner, 5, limit=100)}
            assert near[f"osm:monaco:{osm}"] == pytest.approx(0, abs=1e-9)
            asked += 1
    assert asked > 3


def test_a_key_is_a_category_and_transit_stops_are_features(regions: Regions) -> None:
    shops = regions.nearby(CASINO, 2000, category="shops", limit=1000)
    assert len({hit.place.kind for hit in shops}) > 10
    assert all(hit.place.kind.startswith("shop=") for hit in shops)
    assert regions.nearby(CASINO, 2000, category="bus stop")
    assert regions.nearby(CASINO, 2000, category="petrol stations")
    assert regions.nearby(CASINO, 2000, category="no such thing") == []


NASTY = ["", " ", "'; DROP TABLE feature; --", '" OR 1=1 NEAR(', "a*", "NOT", "^$", "\x00", "%", "😀", "x" * 10_000_000]


@pytest.mark.parametrize("text", NASTY, ids=lambda text: repr(text[:12]))
def test_nasty_queries_are_queries(regions: Regions, text: str) -> None:
    for hits in (
        regions.search_pois(text),
        regions.search_pois("Casino", category=text),
        regions.geocode(text),
        regions.suggest(text),
        regions.crossing(text, text),
        regions.nearby(CASINO, 100, category=text),
    ):
        assert isinstance(hits, list)
    assert regions.poi(text) is None
    if not text.strip():
        assert regions.search_pois(text) == regions.geocode(text) == []
    assert regions.search_pois("Café de Paris")[0].match == "exact"


@given(st.text(max_size=60))
def test_any_text_at_all(regions: Regions, text: str) -> None:
    for hit in (*regions.search_pois(text), *regions.geocode(text), *regions.suggest(text)):
        assert 0 <= hit.score <= 1


def test_numbers_out_of_range_are_refused(regions: Regions) -> None:
    for radius in (-1.0, float("nan"), float("inf")):
        with pytest.raises(BadInput, match="radius"):
            regions.nearby(CASINO, radius)
    with pytest.raises(BadInput, match="limit"):
        regions.search_pois("x", limit=0)


def test_many_threads_may_ask_at_once(regions: Regions) -> None:
    found: list[str] = []

    def ask() -> None:
        found.extend(regions.search_pois("Café de Paris")[0].place.id for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["osm:monaco:n4316767531"] * 20
