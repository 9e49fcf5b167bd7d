"""Every named set, from a small copy of what its own download gives."""

import csv
import io
import json
import os
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.bench.sets import CARDS, Fault, Strict, describe, open_set
from geosleuth.support.errors import BadInput
from set_files import jpeg, put, put_jsonl, put_parquet

ROOT = Path(__file__).parents[4]
RECORDED = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "recorded"
SCENES = "IMG_ID,AUTHOR,LAT,LON,S3_Label,S16_Label,S365_Label,Prob_indoor,Prob_natural,Prob_urban\n"
PHOTO = "1005977048_5ccf8b05d3_1201_91728102@N00.jpg"


def table(rows: Sequence[Sequence[object]], *, delimiter: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_every_set_that_can_be_opened_has_a_card_and_the_other_way_round(tmp_path: Path) -> None:
    for name in CARDS:
        with pytest.raises(BadInput) as caught:
            list(open_set(f"{name}:{tmp_path / 'not-there'}"))
        assert CARDS[name].get in str(caught.value)
    with pytest.raises(BadInput, match="unknown data set") as unknown:
        open_set("atlantis:x")
    assert all(name in str(unknown.value) for name in CARDS)


@pytest.mark.parametrize("name", [name for name in CARDS if name not in ("exif", "table")])
def test_an_empty_folder_is_refused_in_one_line_that_names_what_was_looked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"looked for") as caught:
        open_set(f"{name}:{tmp_path}")
    assert "\n" not in str(caught.value)


def test_im2gps3k(tmp_path: Path) -> None:
    put(tmp_path / "im2gps3k_places365.csv", f"{SCENES}{PHOTO},91728102@N00,29.976052,122.390356,2,6,273,0.1,0.4,0.5\n")
    put(tmp_path / "im2gps3ktest" / PHOTO, jpeg(1))
    data = open_set(f"im2gps3k:{tmp_path}")
    (item,) = data
    assert (item.id, item.truth.point.lat, item.truth.point.lon) == (PHOTO, 29.976052, 122.390356)
    assert dict(item.fields) == {"s16_label": "6", "s365_label": "273", "scene": "urban", "surroundings": "man-made"}
    assert item.picture.read() == jpeg(1)
    assert data.card.photos == 3000
    assert data.card.published_as == "Im2GPS3k"


def test_the_first_table_of_im2gps3k_with_its_columns_exchanged_is_set_right(tmp_path: Path) -> None:
    head = SCENES.replace("LAT,LON", "LON,LAT")
    rows = f"{PHOTO},a,29.976052,122.390356,2,6,273,0,0,1\nb.jpg,a,32.3,-64.8,0,6,273,1,0,0\n"
    path = put(tmp_path / "im2gps3k_places365.csv", head + rows)
    data = open_set(f"im2gps3k:{path}")
    assert [(item.truth.point.lat, item.truth.point.lon) for item in data] == [(29.976052, 122.390356), (32.3, -64.8)]
    assert "exchanged" in data.card.faults[-1]
    assert data.card.faults != CARDS["im2gps3k"].faults


@pytest.mark.parametrize("listed", [True, False])
def test_yfcc4k_from_its_table_or_from_the_authors_list(tmp_path: Path, listed: bool) -> None:
    if listed:
        put(tmp_path / "0aaaa.r.imagedata.txt", "img/10735218284.jpg 48.85 2.35\n\n")
    else:
        put(tmp_path / "yfcc4k_places365.csv", f"{SCENES}10735218284.jpg,a,48.85,2.35,1,6,273,0,1,0\n")
    put(tmp_path / "yfcc4k.zip", zipped({"yfcc4k/10735218284.jpg": jpeg(2)}))
    (item,) = open_set(f"yfcc4k:{tmp_path}")
    assert (item.truth.point.lat, item.truth.point.lon, item.picture.read()) == (48.85, 2.35, jpeg(2))


def packed(value: bytes | str, *, raw: bool = False) -> bytes:
    """MessagePack, as its library writes it (and with ``raw``, as its older versions did)."""
    if isinstance(value, str) and len(value) < 32:
        return bytes([0xA0 | len(value)]) + value.encode()
    data = value.encode() if isinstance(value, str) else value
    kinds = (0xDA, 0xDB) if raw or isinstance(value, str) else (0xC5, 0xC6)
    if len(data) < 1 << 16:
        return struct.pack(">BH", kinds[0], len(data)) + data
    return struct.pack(">BI", kinds[1], len(data)) + data


@pytest.mark.parametrize("raw", [True, False])
def test_yfcc26k_from_the_shards_of_its_downloader(tmp_path: Path, raw: bool) -> None:
    names = ["3c/bd/3cbd1ab3.jpg", "a0/64/a064-a-name-that-is-longer-than-one-byte-of-length.jpg"]
    rows = "".join(f"{name},x,{at + 1.5},2.5,0,1,2,1,0,0\n" for at, name in enumerate(names))
    put(tmp_path / "yfcc25600_places365.csv", f"{SCENES}{rows}missing.jpg,x,1,1,0,1,2,1,0,0\n")
    large = jpeg(4) + bytes(70_000)
    shard = b"".join(
        b"\x82" + packed("image") + packed(data, raw=raw) + packed("id") + packed(name)
        for name, data in zip(names, (jpeg(3), large), strict=True)
    )
    put(tmp_path / "images" / "yfcc25600" / "shard_0.msg", b"\xc0" + shard)
    first, second, third = open_set(f"yfcc26k:{tmp_path}")
    assert (first.picture.read(), second.picture.read()) == (jpeg(3), large)
    assert (first.id, first.truth.point.lat, first.fields["scene"]) == (names[0], 1.5, "indoor")
    with pytest.raises(BadInput, match="there is no such photo"):
        third.picture.read()


OSV = (
    "id,latitude,longitude,thumb_original_url,country,sequence,captured_at,lon_bin,lat_bin,cell,region,sub-region,city,"
    "land_cover,road_index,drive_side,climate,soil,dist_sea,quadtree_10_1000,unique_region,unique_sub-region,"
    "unique_city,unique_country,creator_username,creator_id\n"
    "3859149887465501,-21.9,-43.5,https://scontent.example/x,BR,seq,2017,30.0,20.0,c,Minas Gerais,Zona da Mata,"
    "Rio Preto,5.0,1.2,0.0,9.0,3.0,0.8,77,Minas Gerais_BR,z,Rio Preto_z,BR,someone,12\n"
)


@pytest.mark.parametrize("packed_up", [True, False])
def test_osv5m(tmp_path: Path, packed_up: bool) -> None:
    put(tmp_path / "test.csv", OSV)
    photo = "3859149887465501.jpg"
    if packed_up:
        put(tmp_path / "images" / "test" / "03.zip", zipped({f"03/{photo}": jpeg(5)}))
    else:
        put(tmp_path / "images" / "test" / "03" / photo, jpeg(5))
    (item,) = open_set(f"osv5m:{tmp_path}")
    assert (item.id, item.truth.point.lat, item.picture.read()) == ("3859149887465501", -21.9, jpeg(5))
    assert (item.truth.country, item.truth.region, item.truth.city) == ("BR", "Minas Gerais", "Rio Preto")
    assert set(item.fields) == {"sub_region", "land_cover", "road_index", "drive_side", "climate", "soil", "dist_sea"}


METADATA = {
    "uid": "0f9ec2512713476ea694f6cf04ad93e0", "timestamp": 1, "pano_id": "secret", "data_type": "panorama",
    "location": {"lat": 53.35, "lng": -6.26},
    "multi_level": {"country": "Ireland", "province_or_state": "Leinster", "city": "Dublin"},
}  # fmt: skip


def test_geobench_with_its_pictures_in_the_rows(tmp_path: Path) -> None:
    columns = {"image": [{"bytes": jpeg(6), "path": "x.jpg"}], "metadata": [json.dumps(METADATA)]}
    put_parquet(tmp_path / "data" / "train-00000-of-00001.parquet", columns, features={"image": {"_type": "Image"}})
    (item,) = open_set(f"geobench:{tmp_path}")
    assert (item.id, item.truth.point.lat, item.truth.point.lon) == (METADATA["uid"], 53.35, -6.26)
    assert (item.truth.country, item.truth.region, item.truth.city) == ("Ireland", "Leinster", "Dublin")
    assert dict(item.fields) == {"data_type": "panorama"}
    assert item.picture.read() == jpeg(6)


def test_geobench_with_previews_uses_the_full_pictures(tmp_path: Path) -> None:
    path = f"raw_image/{METADATA['uid']}/panorama.jpg"
    columns = {
        "id": [METADATA["uid"]], "raw_image_path": [path], "preview": [{"bytes": jpeg(1), "path": "p.jpg"}],
        "metadata": [json.dumps({key: value for key, value in METADATA.items() if key != "data_type"})],
        "data_type": ["panorama"],
    }  # fmt: skip
    put_parquet(tmp_path / "data" / "test" / "data-00000-of-00001.parquet", columns)
    put(tmp_path / path, jpeg(7))
    (item,) = open_set(f"geobench:{tmp_path}")
    assert (item.id, item.picture.read(), item.fields["data_type"]) == (METADATA["uid"], jpeg(7), "panorama")


IMAGEO: dict[int, tuple[str, list[object]]] = {
    1: (
        "image_id,source,orig_id,url,city,country,continent,latitude,longitude,img_path,weather",
        ["000e4272", "KartaView", 1.0, "https://k.example", "Ljubljana", "Slovenia", "Europe", 46.05, 14.52,
         "img/6/000e4272.jpeg", "clear"],
    ),
    2: (
        "image_id,name,address,gmap_id,latitude,longitude,category,hours,street,city,state",
        ["1_0x888e_0x9ab5", "A Delight", "A Delight, Montgomery, AL 36104", "0x888e", 32.37, -86.3, "['Restaurant']",
         "[]", "36 Dexter Ave", "Montgomery", "AL"],
    ),
    3: (
        "image_id,address,latitude,longitude,street,city,state,country",
        ["GJVABEQTQL", "Mackinac Bridge, MI", 45.8388, -84.7209, "Mackinac Bridge", "Mackinaw City", "MI", "USA"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("number", "truth", "fields"),
    [
        (1, ("Slovenia", None, "Ljubljana"), {"source": "KartaView", "continent": "Europe", "weather": "clear"}),
        (2, ("United States", "AL", "Montgomery"), {}),
        (3, ("USA", "MI", "Mackinaw City"), {}),
    ],
)
def test_imageo_bench(tmp_path: Path, number: int, truth: tuple[object, ...], fields: dict[str, str]) -> None:
    names, cells = IMAGEO[number]
    put(tmp_path / "data" / f"dataset{number}_info.csv", table([names.split(","), cells]))
    put(tmp_path / "data" / f"dataset{number}" / f"{cells[0]}.jpeg", jpeg(number))
    (item,) = open_set(f"imageo{number}:{tmp_path}")
    assert (item.truth.country, item.truth.region, item.truth.city) == truth
    assert (item.id, dict(item.fields), item.picture.read()) == (cells[0], fields, jpeg(number))


def test_mapbench_from_its_lines(tmp_path: Path) -> None:
    photo = "772cc96701064662b48ed6f351d21c82.jpg"
    row = {
        "image": f"images/{photo}",
        "latitude": 36.086763,
        "longitude": 120.379146,
        "city": "青岛",
        "country": "中国",
    }
    put_jsonl(tmp_path / "test_metadata_v1.jsonl", [row, {**row, "latitude": 36.1}])
    put_jsonl(tmp_path / "train_metadata_v1.jsonl", [{**row, "image": "images/train.jpg"}])
    put(tmp_path / "images" / photo, jpeg(8))
    items = list(open_set(f"mapbench:{tmp_path}"))
    assert [item.id for item in items] == [f"images/{photo}", f"images/{photo}#2"]
    assert (items[0].truth.city, items[0].truth.country, items[0].picture.read()) == ("青岛", "中国", jpeg(8))
    assert items[1].truth.point.lat == 36.1


def test_what_the_cards_say_of_mapbench_and_geobench_is_so() -> None:
    if not RECORDED.is_dir():
        pytest.skip(f"the recorded answers of real models are not at {RECORDED}")
    data = open_set(f"mapbench:{RECORDED / 'mapbench_gpt5.jsonl'}")
    assert isinstance(data.stream, Strict)
    truths: dict[str, set[object]] = {}
    for entry in data.stream.entries():
        assert not isinstance(entry, Fault)
        truths.setdefault(entry.id, set()).add(entry.truth.point)
    assert (len(list(data)), len(truths)) == (data.card.photos, 2498)
    assert sum(len(points) > 1 for points in truths.values()) == 1
    seen = describe(open_set(f"table:{RECORDED / 'geobench_gpt5.jsonl'}"))
    assert (seen.photos, seen.bad) == (934, 0)
    assert "CN" not in seen.countries


def test_mapbench_from_the_parquet_of_its_own_preprocessing(tmp_path: Path) -> None:
    path = "file:///mnt/authors/disk/images/772c.jpg"
    truth = {"lat": 36.08, "lon": 120.37, "city": "青岛", "country": "中国", "image": path, "split": "test"}
    columns: dict[str, list[Any]] = {
        "data_source": ["MAPBench_V1"], "prompt": [[{"role": "user", "content": "<image>Where?"}]],
        "images": [[{"image": path}]], "reward_model": [{"style": "rule", "ground_truth": truth}],
        "extra_info": [{"split": "test", "answer": truth}],
    }  # fmt: skip
    put_parquet(tmp_path / "MAPBench_test.parquet", columns)
    put(tmp_path / "images" / "772c.jpg", jpeg(9))
    (item,) = open_set(f"mapbench:{tmp_path}")
    assert (item.truth.point.lat, item.truth.city, item.picture.read()) == (36.08, "青岛", jpeg(9))
    assert dict(item.fields) == {"data_source": "MAPBench_V1", "split": "test"}


def test_geoseek_val_from_a_table_or_from_parquet(tmp_path: Path) -> None:
    row = {
        "image": "a.jpg",
        "location": {"lat": 1.5, "lng": 2.5, "country": "Gabon"},
        "locatability": 7,
        "cot": "x" * 900,
    }
    put(tmp_path / "one" / "GeoSeek-Val.json", json.dumps([row]))
    put(tmp_path / "one" / "images" / "a.jpg", jpeg(1))
    put_jsonl(tmp_path / "one" / "GeoSeek-CoT.jsonl", [row, row])
    (item,) = open_set(f"geoseek-val:{tmp_path / 'one'}")
    assert (item.truth.country, dict(item.fields), item.picture.read()) == ("Gabon", {"locatability": "7"}, jpeg(1))
    columns = {"image": [{"bytes": jpeg(2), "path": "b.jpg"}], "latitude": [1.0], "longitude": [2.0], "sign": ["yes"]}
    put_parquet(tmp_path / "two" / "data" / "val-00000.parquet", columns)
    put_parquet(tmp_path / "two" / "data" / "cot-00000.parquet", columns)
    (other,) = open_set(f"geoseek-val:{tmp_path / 'two'}")
    assert (other.id, other.fields["sign"], other.picture.read()) == ("b.jpg", "yes", jpeg(2))


@pytest.mark.usefixtures("atlas_home")
def test_geoglobe_places_its_photos_by_the_words_it_has(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["index", "city", "country", "hierarchical_label", "category", "natural_or_human_made", "images"],
        [1, "Vienna", "Austria", "church", "Category:Karlskirche", "human-made", "0a1b 0c2d"],
        [2, "Nowhere-upon-Nothing", "Austria", "lake", "Some_lake", "natural", "ffff"],
        [3, "Mont-Saint-Michel", "France", "island", "Category:Mont-Saint-Michel", "human-made", "1a1a"],
        [4, "Nowhere-upon-Nothing", "Jordan", "ruin", "Category:Petra", "human-made", "2b2b"],
        [5, "Bali", "Indonesia", "temple", "Category:Some_temple", "human-made", "3c3c"],
        [6, "France", "France", "plain", "Category:Some_plain", "natural", "4d4d"],
    ]
    put(tmp_path / "location.csv", table(rows, delimiter=";"))
    put(tmp_path / "pic" / "0c2d.jpg", jpeg(3))
    data = open_set(f"geoglobe:{tmp_path}")
    first, second, *rest = data
    assert (first.id, second.id, second.picture.read()) == ("0a1b", "0c2d", jpeg(3))
    assert abs(first.truth.point.lat - 48.2) < 0.1
    assert abs(first.truth.point.lon - 16.37) < 0.1
    assert (first.truth.city, first.fields["natural_or_human_made"]) == ("Vienna", "human-made")
    assert isinstance(data.stream, Strict)
    assert {item.id: item.fields["truth_level"] for item in data} == {
        "0a1b": "town", "0c2d": "town", "1a1a": "feature", "2b2b": "feature", "3c3c": "region",
    }  # fmt: skip
    assert distance_km(rest[0].truth.point, LatLon(48.636, -1.511)) < 2
    assert distance_km(rest[1].truth.point, LatLon(30.329, 35.444)) < 10
    left_out = [entry.reason for entry in data.stream.entries() if isinstance(entry, Fault)]
    assert ["Nowhere-upon-Nothing" in reason for reason in left_out] == [True, False]
    assert "'France'" in left_out[1]


SVT = """<?xml version="1.0" encoding="utf-8"?><tagset><image><imageName>img/14_03.jpg</imageName>
<address>341 Southwest 10th Avenue Portland OR</address><lex>LIVING,ROOM,THEATERS</lex>
<Resolution x="1280" y="880"/><taggedRectangles>
<taggedRectangle height="88" width="128" x="320" y="220"><tag>LIVING</tag></taggedRectangle>
<taggedRectangle height="88" width="128" x="1300" y="220"><tag>OUTSIDE</tag></taggedRectangle>
</taggedRectangles></image></tagset>"""


def test_street_view_text_has_boxes_and_the_citys_centre(tmp_path: Path) -> None:
    put(tmp_path / "svt1" / "test.xml", SVT)
    put(tmp_path / "svt1" / "img" / "14_03.jpg", jpeg(4))
    (item,) = open_set(f"street-view-text:{tmp_path}")
    assert (item.id, item.picture.read()) == ("img/14_03.jpg", jpeg(4))
    assert (item.truth.city, item.truth.region, item.truth.country) == ("Portland", "Oregon", "United States")
    assert abs(item.truth.point.lat - 45.52) < 0.1
    assert abs(item.truth.point.lon + 122.68) < 0.1
    assert dict(item.fields) == {"split": "test", "point": "city centre"}
    (box,) = item.boxes
    assert (box.kind, box.left, box.top, box.right, box.bottom) == ("text", 0.25, 0.25, 0.35, 0.35)


@pytest.mark.parametrize(
    "text", ['<!DOCTYPE x [<!ENTITY a "aaaa">]><tagset>&a;</tagset>', "<tagset><image>", "no xml at all"]
)
def test_hostile_or_broken_xml_is_refused(tmp_path: Path, text: str) -> None:
    put(tmp_path / "test.xml", text)
    with pytest.raises(BadInput, match="not the set's XML"):
        list(open_set(f"street-view-text:{tmp_path}"))


def test_llmgeo_reads_heading_country_and_point_from_the_path(tmp_path: Path) -> None:
    name = "h90/arg/-57.66466702778938_-28.02636478438659_h90_p0_f90.jpg"
    put(tmp_path / "dataset" / "test" / name, jpeg(5))
    put(tmp_path / "dataset" / "train" / "comprehensive" / "ala" / "19.7_60.2_h0_p0_f90.jpg", jpeg(6))
    (item,) = open_set(f"llmgeo:{tmp_path}")
    assert (item.id, item.picture.read(), dict(item.fields)) == (name, jpeg(5), {"heading": "90"})
    assert (item.truth.point.lat, item.truth.point.lon) == (-28.02636478438659, -57.66466702778938)
    assert item.truth.country == "ARG"
