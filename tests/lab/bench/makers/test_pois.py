"""POI-centred sets: one photo for each, as many in each city, the same for the same seed."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geosleuth.atlas.regions import Regions
from geosleuth.geo import LatLon, destination, distance_km
from geosleuth.lab.bench.makers.photo_tables import build_point_place, read_places
from geosleuth.lab.bench.makers.pois import AtlasPois, PoiSet, TablePois, choose_pois, write_pois
from geosleuth.lab.bench.sets import DataSet, open_set
from geosleuth.support.errors import BadInput
from homes import add_region

ROOT = Path(__file__).parents[4]
LISBON, PORTO, EVORA = LatLon(38.7223, -9.1393), LatLon(41.1496, -8.611), LatLon(38.5714, -7.9135)


def write_pois_table(path: Path, *, named: bool = True) -> Path:
    """Twelve sights in Lisbon, six in Porto, two in Evora, 300 m apart."""
    rows = ["id,name,lat,lon,kind" + (",city,country" if named else "")]
    for city, centre, count in (("Lisbon", LISBON, 12), ("Porto", PORTO, 6), ("Evora", EVORA, 2)):
        for number in range(count):
            at = destination(centre, 90, 0.3 * number)
            tail = f",{city},Portugal" if named else ""
            rows.append(f"{city}-{number},Sight {number},{at.lat},{at.lon},attraction{tail}")
    path.write_text("\n".join(rows) + "\n")
    return path


def write_photos(folder: Path, pois: Path, per_poi: int = 2) -> DataSet:
    """Photos 10 m, 20 m and so on north of each sight, and one far from all."""
    folder.mkdir(exist_ok=True)
    rows = ["id,image,lat,lon,season"]
    Image.new("RGB", (8, 8)).save(folder / "a.png")
    for name, place in read_places(pois).items():
        for number in range(per_poi):
            at = destination(place.truth.point, 0, 0.01 * (number + 1))
            rows.append(f"{name}-{number},a.png,{at.lat},{at.lon},summer")
    rows.append("far,a.png,0,0,winter")
    (folder / "photos.csv").write_text("\n".join(rows) + "\n")
    return open_set(str(folder / "photos.csv"))


@pytest.fixture
def pois(tmp_path: Path) -> Path:
    return write_pois_table(tmp_path / "pois.csv")


def chosen(found: PoiSet) -> list[tuple[str, str]]:
    return [(one.poi.id, one.item.id) for one in found.photos]


def test_each_poi_has_the_one_photo_nearest_to_it(tmp_path: Path, pois: Path) -> None:
    found = choose_pois(write_photos(tmp_path / "p", pois), TablePois(read_places(pois).values()))
    assert all(photo == f"{poi}-0" for poi, photo in chosen(found))
    assert Counter(one.poi.city for one in found.photos) == {"Lisbon": 2, "Porto": 2, "Evora": 2}
    assert found.at_hand == {"Evora, Portugal": 2, "Lisbon, Portugal": 12, "Porto, Portugal": 6}
    for one in found.photos:
        assert one.metres == pytest.approx(1000 * distance_km(one.item.truth.point, one.poi.point))
        assert one.metres == pytest.approx(10, abs=0.1)


def test_cities_are_balanced_and_drawn_by_seed(tmp_path: Path, pois: Path) -> None:
    data, source = write_photos(tmp_path / "p", pois), TablePois(read_places(pois).values())
    first = choose_pois(data, source, cities=2, per_city=4, seed=1)
    assert first.per_city == {"Lisbon, Portugal": 4, "Porto, Portugal": 4}
    assert chosen(choose_pois(data, source, cities=2, per_city=4, seed=1)) == chosen(first)
    assert chosen(choose_pois(data, source, cities=2, per_city=4, seed=2)) != chosen(first)
    assert len(choose_pois(data, source, fewest=3).photos) == 12
    with pytest.raises(BadInput, match=r"2 cities have 4 photos .* 3 are wanted"):
        choose_pois(data, source, cities=3, per_city=4)


def test_the_table_reads_back_as_a_data_set(tmp_path: Path, pois: Path) -> None:
    found = choose_pois(write_photos(tmp_path / "p", pois), TablePois(read_places(pois).values()), per_city=2)
    write_pois(tmp_path / "p" / "set.csv", found)
    items = list(open_set(str(tmp_path / "p" / "set.csv")))
    assert [item.id for item in items] == [one.item.id for one in found.photos]
    first, one = items[0], found.photos[0]
    assert (first.truth.city, first.truth.country) == ("Evora", "Portugal")
    assert first.truth.point == one.item.truth.point
    assert first.fields["poi"] == one.poi.id
    assert (float(first.fields["poi_lat"]), float(first.fields["poi_lon"])) == (one.poi.point.lat, one.poi.point.lon)
    assert first.fields["season"] == "summer"
    assert float(first.fields["poi_metres"]) == pytest.approx(10, abs=0.1)


def test_cities_without_a_name_are_those_of_the_map(tmp_path: Path) -> None:
    pois = write_pois_table(tmp_path / "pois.csv", named=False)
    found = choose_pois(write_photos(tmp_path / "p", pois), TablePois(read_places(pois).values()))
    assert sum(found.at_hand.values()) == 20
    assert found.at_hand["Porto, Portugal"] == 6
    assert any(city.startswith("Lisbon") for city in found.at_hand)


def test_the_atlas_knows_sights_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "regions"
    folder.mkdir()
    add_region(ROOT / "examples" / "regions" / "monaco.osm.pbf", folder)
    rows = ["id,image,lat,lon"]
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    for number in range(25):
        at = destination(LatLon(43.7384, 7.4246), 14.4 * number, 0.02 * number)
        rows.append(f"{number},a.png,{at.lat},{at.lon}")
    (tmp_path / "photos.csv").write_text("\n".join(rows) + "\n")
    data = open_set(str(tmp_path / "photos.csv"))
    found = choose_pois(data, AtlasPois(Regions(folder)), cities=1)
    assert len(found.photos) > 5
    assert {one.item.truth.country for one in found.photos} == {"Monaco"}
    ids = [one.poi.id for one in found.photos]
    assert len(set(ids)) == len(ids)
    assert all(one.metres <= 100 and "=" in one.poi.kind for one in found.photos)
    assert not [one.poi.kind for one in found.photos if one.poi.kind.startswith("highway=")]
    meals = choose_pois(data, AtlasPois(Regions(folder), "restaurant"), cities=1)
    assert {one.poi.kind for one in meals.photos} == {"amenity=restaurant"}
    assert "restaurant" not in {one.poi.name.casefold() for one in meals.photos}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,lat,lon\n", "no rows"),
        ("lat,lon\n1,2\n", ":2: the row has no id"),
        ("id,lat,lon\na,1,2\na,3,4\n", ":3: 'a' appears twice"),
        ("id,lat,lon\na,95,2\n", ":2: "),
        ("id,lat,lon\na,,2\n", ":2: no truth: lat"),
    ],
)
def test_tables_of_places_that_can_not_be_used_are_named_with_their_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(BadInput, match=told) as caught:
        read_places(tmp_path / "t.csv")
    assert "\n" not in str(caught.value)


@given(
    st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 179)), max_size=30),
    st.tuples(st.floats(-90, 90), st.floats(-180, 179)),
    st.floats(1, 2e7),
)
def test_a_table_knows_all_that_is_near(
    points: list[tuple[float, float]], at: tuple[float, float], within_m: float
) -> None:
    here = LatLon(*at)
    source = TablePois(build_point_place(str(number), LatLon(*point)) for number, point in enumerate(points))
    metres = {str(number): distance_km(here, LatLon(*point)) * 1000 for number, point in enumerate(points)}
    found = source.near(here, within_m)
    assert {poi.id for _, poi in found} == {name for name, away in metres.items() if away <= within_m}
    assert [away for away, _ in found] == pytest.approx(sorted(away for away in metres.values() if away <= within_m))
