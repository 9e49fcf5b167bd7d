"""Named parts, what they are for, their datum, and the papers' sets in the form that the papers print."""

from pathlib import Path

import numpy as np
import pytest

from geosleuth.geo import LatLon, distance_km
from geosleuth.geo.gcj02 import to_gcj02
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.scored import TRAINED_ON_TEST, in_datum, score_records, with_marks
from geosleuth.lab.bench.sets import CARDS, Item, open_set
from geosleuth.lab.bench.sets.dataset import is_for_testing
from geosleuth.lab.score import Truth
from set_files import jpeg, put, put_jsonl

SHANGHAI = LatLon(31.2304, 121.4737)


def mapbench(folder: Path) -> Path:
    shifted = to_gcj02(SHANGHAI)
    for part, photos in (("train", 2), ("test", 1)):
        rows = [
            {"image": f"images/{part}{number}.jpg", "latitude": shifted.lat, "longitude": shifted.lon, "city": "上海"}
            for number in range(photos)
        ]
        put_jsonl(folder / f"{part}_metadata_v1.jsonl", rows)
        for number in range(photos):
            put(folder / "images" / f"{part}{number}.jpg", jpeg(number))
    return folder


def test_parts_of_one_download(tmp_path: Path) -> None:
    folder = mapbench(tmp_path)
    train, test = open_set(f"mapbench-train:{folder}"), open_set(f"mapbench-test:{folder}")
    assert [item.id for item in train] == ["images/train0.jpg", "images/train1.jpg"]
    assert [item.id for item in test] == [item.id for item in open_set(f"mapbench:{folder}")] == ["images/test0.jpg"]
    assert (train.card.part, test.card.part) == ("train", "test")


@pytest.mark.parametrize(("spec", "away_km"), [("mapbench", 0.4), ("mapbench@wgs84", 0.4), ("mapbench@gcj02", 0.0)])
def test_the_datum_can_be_said_and_points_become_wgs84(tmp_path: Path, spec: str, away_km: float) -> None:
    (item,) = open_set(f"{spec}:{mapbench(tmp_path)}")
    found = distance_km(item.truth.point, SHANGHAI)
    assert found < 1e-6 if away_km == 0.0 else found > away_km
    assert item.fields.get("datum") == ("gcj02" if "gcj02" in spec else None)


def test_records_are_scored_in_either_datum() -> None:
    shifted = to_gcj02(SHANGHAI)
    reply = f'{{"lat": {SHANGHAI.lat}, "lon": {SHANGHAI.lon}, "city": "Shanghai", "country": "China"}}'
    records = [Record("a", Truth(shifted), reply=reply), Record("b", Truth(shifted), reply="no idea")]
    plain = score_records(records, label="m", parser="lenient", distance="geodesic")
    truths = in_datum(plain, truths="gcj02")
    both = in_datum(plain, truths="gcj02", answers="gcj02")
    assert 0.4 < plain.distance_km[0] < 0.8
    assert truths.distance_km[0] < 1e-6
    assert both.distance_km[0] == pytest.approx(plain.distance_km[0], abs=0.002)
    assert np.isnan(truths.distance_km[1])
    assert truths.label == "m (truths as GCJ-02)"
    assert in_datum(plain) is plain


def test_scores_of_a_policy_that_learned_test_photos_say_so() -> None:
    record = Record("a", Truth(SHANGHAI), reply="", fields={TRAINED_ON_TEST: "mapbench"})
    marked = with_marks(score_records([record], label="m", parser="lenient", distance="geodesic"))
    assert marked.notes[0].startswith("TRAINED ON TEST PHOTOS (mapbench)")


def test_what_is_for_testing() -> None:
    (item, held) = (
        Item("a", picture=None, truth=Truth(SHANGHAI), fields={"split": split})  # type: ignore[arg-type]
        for split in ("train", "validation")
    )
    assert is_for_testing(CARDS["geobench"], item)
    assert not is_for_testing(CARDS["mapbench-train"], held)
    assert (is_for_testing(CARDS["table"], item), is_for_testing(CARDS["table"], held)) == (False, True)


def test_imageo2_is_split_once_and_for_all(tmp_path: Path) -> None:
    rows = "".join(f"p{number},{number % 60},{number % 90}\n" for number in range(1000))
    put(tmp_path / "dataset2_info.csv", f"image_id,latitude,longitude\n{rows}")
    train = {item.id for item in open_set(f"imageo2-train:{tmp_path}")}
    test = {item.id for item in open_set(f"imageo2-test:{tmp_path}")}
    assert (len(train), len(test), train & test) == (98, 902, set())
    put(tmp_path / "dataset2_info.csv", "image_id,latitude,longitude,split\na,1,2,train\nb,3,4,test\n")
    assert [item.id for item in open_set(f"imageo2-train:{tmp_path}")] == ["a"]


def test_osv5m_for_training(tmp_path: Path) -> None:
    put(tmp_path / "train.csv", "id,latitude,longitude,country,region,city\n77,1.5,2.5,GA,Estuaire,Libreville\n")
    put(tmp_path / "images" / "train" / "97" / "77.jpg", jpeg(3))
    (item,) = open_set(f"osv5m-train:{tmp_path}")
    assert (item.id, item.truth.region, item.picture.read()) == ("77", "Estuaire", jpeg(3))


def test_geoseek_as_its_figure_prints_it(tmp_path: Path) -> None:
    """Figure 10: labels in one text, element tags as a set of words, which only a table of text can hold."""
    head = "image,solution,Locatability Score,cls,lat,lng\n"
    put(
        tmp_path / "GeoSeek-Val.csv",
        head
        + 'a.jpg,"United States; PR, Luquillo; Luquillo",6.5,"{""manmade"", ""traffic"", ""weather"" }",18.37,-65.74\n'
        + 'b.jpg,"<answer> Zambia; Lusaka Province; </answer>",4,"{""natural"", ""plants"", }",-15.44,28.05\n',
    )
    first, second = open_set(f"geoseek-val:{tmp_path}")
    truth = first.truth
    assert (truth.country, truth.region, truth.city) == ("United States", "PR, Luquillo", "Luquillo")
    assert (first.fields["locatability"], first.fields["traffic"], first.fields["plants"]) == ("6.5", "yes", "no")
    assert (first.fields["surroundings"], second.fields["surroundings"]) == ("man-made", "natural")
    assert (second.truth.region, second.truth.city) == ("Lusaka Province", None)


def test_geoseek_loc(tmp_path: Path) -> None:
    row = {"image": "a.jpg", "solution": "Indonesia; South Sumatra; Karang Agung", "lat": -2.1, "lng": 104.8}
    put_jsonl(tmp_path / "GeoSeek-Loc.jsonl", [row])
    put_jsonl(tmp_path / "GeoSeek-Val.jsonl", [row, row])
    data = open_set(f"geoseek-loc:{tmp_path}")
    (item,) = data
    assert (item.truth.city, data.card.part) == ("Karang Agung", "train")


@pytest.mark.parametrize("flat", [True, False])
def test_mp16_pro(tmp_path: Path, flat: bool) -> None:
    head = "IMG_ID,LAT,LON,neighbourhood,city,county,state,region,country,country_code,continent\n"
    put(tmp_path / "MP16_Pro_filtered.csv", head + "c8/47/1.jpg,48.85,2.35,,Paris,,Île-de-France,,France,fr,Europe\n")
    put(tmp_path / "images" / ("c8_47_1.jpg" if flat else "c8/47/1.jpg"), jpeg(4))
    (item,) = open_set(f"mp16-pro:{tmp_path}")
    assert (item.truth.city, item.truth.region, item.picture.read()) == ("Paris", "Île-de-France", jpeg(4))


def test_geocomp(tmp_path: Path) -> None:
    put(tmp_path / "geocomp.csv", "panoId,lat,lng,country\nabc,10.5,20.5,Chad\n")
    put(tmp_path / "images" / "abc.jpg", jpeg(5))
    (item,) = open_set(f"geocomp:{tmp_path}")
    assert (item.id, item.truth.country, item.picture.read()) == ("abc", "Chad", jpeg(5))
