"""Any table of photos and points, hostile ones too."""

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.lab.bench.sets import DatasetBox, open_set
from geosleuth.lab.bench.sets.archives import BadName, clean_name
from geosleuth.support.errors import BadInput
from set_files import jpeg, put, put_jsonl


def test_a_csv_gives_photos_points_names_and_fields(tmp_path: Path) -> None:
    put(tmp_path / "a.jpg", jpeg(1))
    put(tmp_path / "images" / "b.jpg", jpeg(2))
    table = put(
        tmp_path / "t.csv",
        "image,Latitude,LNG,country,state,city,scene\na.jpg,48.8,2.3,France,,Paris,street\nb.jpg,-33.9,151.2,AU,NSW,,\n",
    )
    first, second = open_set(str(table))
    assert (first.id, first.truth.point.lat, first.truth.point.lon) == ("a.jpg", 48.8, 2.3)
    assert (first.truth.country, first.truth.region, first.truth.city) == ("France", None, "Paris")
    assert dict(first.fields) == {"scene": "street"}
    assert first.picture.read() == jpeg(1)
    assert first.picture.size_bytes() == len(jpeg(1))
    assert (second.truth.region, dict(second.fields), second.picture.read()) == ("NSW", {}, jpeg(2))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "id,path,lat,lon\n7,a.jpg,1,2\n"),
        ("t.csv", "\ufeffid;path;lat;lon\r\n7;a.jpg;1;2\r\n"),
        ("t.tsv", "id\tpath\tlat\tlon\n7\ta.jpg\t1\t2\n"),
        ("t.csv", ",id,path,lat,lon\n0,7,a.jpg,1,2\n"),
        ("t.jsonl", '{"id": 7, "image": "a.jpg", "truth": {"lat": 1, "lon": "2"}}\n\n'),
        ("t.jsonl", '{"id": "7", "images": ["a.jpg"], "location": [1, 2]}\n'),
        ("t.json", '[{"id": "7", "file_name": "a.jpg", "lat": 1.0, "lng": 2.0}]'),
        ("t.json", '{"7": {"file_name": "a.jpg", "lat": 1.0, "lng": 2.0}}'),
    ],
)
def test_tables_of_every_kind_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    put(tmp_path / "a.jpg", jpeg())
    table = put(tmp_path / name, text)
    (item,) = open_set(f"table:{table}")
    assert (item.id, item.truth.point.lat, item.truth.point.lon) == ("7", 1.0, 2.0)
    assert item.picture.read() == jpeg()


def test_photos_in_a_zip_are_read_where_they_lie(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        archive.writestr("images/a.jpg", jpeg(1))
        archive.writestr("images/deep/b.jpg", jpeg(2))
    table = put(tmp_path / "t.csv", "image,lat,lon\na.jpg,1,2\ndeep/b.jpg,1,2\nc.jpg,1,2\n")
    first, second, third = open_set(str(table))
    assert (first.picture.read(), second.picture.read()) == (jpeg(1), jpeg(2))
    assert first.picture.size_bytes() == len(jpeg(1))
    with pytest.raises(BadInput, match=r"c\.jpg: there is no such photo; looked in .*archives"):
        third.picture.read()


def test_photos_in_a_plain_tar_are_read_where_they_lie(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "images.tar", "w") as archive:
        for name, data in (("images/a.jpg", jpeg(1)), ("images/b.jpg", jpeg(2))):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("images/passwd.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    table = put(tmp_path / "t.csv", "image,lat,lon\na.jpg,1,2\nb.jpg,1,2\npasswd.jpg,1,2\n")
    first, second, link_to = open_set(str(table))
    assert (second.picture.read(), first.picture.read()) == (jpeg(2), jpeg(1))
    assert first.picture.size_bytes() == len(jpeg(1))
    assert link_to.picture.size_bytes() is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("images.tar.gz", b"\x1f\x8b", r"images\.tar\.gz must be unpacked first \(tar xf"),
        ("images.zip", b"PK no zip", "this zip file can't be opened"),
        ("images.tar", b"no tar", "this tar file can't be opened"),
    ],
)
def test_an_archive_that_cannot_be_looked_into_is_told_with_a_missing_photo(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    put(tmp_path / name, content)
    put(tmp_path / "b.jpg", jpeg())
    table = put(tmp_path / "t.csv", "image,lat,lon\na.jpg,1,2\nb.jpg,1,2\n")
    first, second = open_set(str(table))
    assert first.picture.size_bytes() is None
    with pytest.raises(BadInput, match=f"a\\.jpg: there is no such photo; .*{words}"):
        first.picture.read()
    assert second.picture.read() == jpeg()


def test_a_damaged_or_huge_member_of_a_zip_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        archive.writestr("a.jpg", jpeg(1))
    packed = bytearray((tmp_path / "images.zip").read_bytes())
    packed[60] ^= 0xFF
    (tmp_path / "images.zip").write_bytes(packed)
    with zipfile.ZipFile(tmp_path / "more.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.jpg", bytes(101 * 1024 * 1024))
    table = put(tmp_path / "t.csv", "image,lat,lon\na.jpg,1,2\nb.jpg,1,2\n")
    damaged, huge = open_set(str(table))
    with pytest.raises(BadInput, match="can't be read"):
        damaged.picture.read()
    with pytest.raises(BadInput, match="larger than the limit of 100 MiB"):
        huge.picture.read()


@pytest.mark.parametrize("packed_by", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_members_that_can_swell_without_bound_are_refused(tmp_path: Path, packed_by: int) -> None:
    with zipfile.ZipFile(tmp_path / "images.zip", "w", packed_by) as archive:
        archive.writestr("a.jpg", jpeg(1))
    (item,) = open_set(str(put(tmp_path / "t.csv", "image,lat,lon\na.jpg,1,2\n")))
    with pytest.raises(BadInput, match="unsupported compression"):
        item.picture.read()


def test_repeated_ids_are_told_apart(tmp_path: Path) -> None:
    rows = "".join(f"{name},a.jpg,1,2\n" for name in ("x", "x", "x#2", "x", "y"))
    table = put(tmp_path / "t.csv", f"id,image,lat,lon\n{rows}")
    ids = [item.id for item in open_set(str(table))]
    assert ids[:2] == ["x", "x#2"]
    assert len(set(ids)) == 5


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "a/../../b.jpg", "..\\..\\b.jpg", "C:\\b.jpg", "a\0.jpg", "\x1b[2J", ".."],
)
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    table = put_jsonl(tmp_path / "set" / "t.jsonl", [{"image": name, "lat": 1, "lon": 2}])
    with pytest.raises(BadInput, match=r"t\.jsonl:1: .*(outside|leads out|not a photo's name)") as caught:
        list(open_set(str(table)))
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet="./\\abC: ~\0", max_size=20))
def test_no_name_whatever_reaches_a_file_outside(name: str) -> None:
    root = Path("/data/set")
    try:
        inside = os.path.normpath(root / clean_name(name, root))
    except BadName:
        return
    assert inside.startswith("/data/set/")


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_not(tmp_path: Path) -> None:
    secret = put(tmp_path / "elsewhere" / "secret.jpg", jpeg())
    root = tmp_path / "set"
    put(root / "real.jpg", jpeg(1))
    (root / "out.jpg").symlink_to(secret)
    (root / "in.jpg").symlink_to(root / "real.jpg")
    table = put(root / "t.csv", "image,lat,lon\nout.jpg,1,2\nin.jpg,1,2\n")
    out, inside = open_set(str(table))
    with pytest.raises(BadInput, match="a link leads out of"):
        out.picture.read()
    assert out.picture.size_bytes() is None
    assert inside.picture.read() == jpeg(1)


def test_the_links_of_a_hub_cache_are_followed(tmp_path: Path) -> None:
    home = tmp_path / "datasets--some--set"
    blob = put(home / "blobs" / "0123abcd", jpeg(4))
    root = home / "snapshots" / "rev"
    table = put(root / "t.csv", "image,lat,lon\na.jpg,1,2\n")
    (root / "a.jpg").symlink_to(blob)
    (item,) = open_set(str(table))
    assert item.picture.read() == jpeg(4)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a.jpg,91,2", "latitude must lie between"),
        ("a.jpg,1,-181", "longitude must lie between"),
        ("a.jpg,nan,2", "latitude must lie between"),
        ("a.jpg,inf,2", "latitude must lie between"),
        ("a.jpg,,2", "no truth: lat is missing or empty"),
        ("a.jpg,north,2", "no truth: lat 'north' is not a number"),
        (",1,2", "no photo is named"),
        ("a.jpg,1", "2 cells where the header names 3"),
    ],
)
def test_a_bad_row_ends_the_reading_and_is_named(tmp_path: Path, row: str, reason: str) -> None:
    table = put(tmp_path / "t.csv", f"image,lat,lon\ngood.jpg,1,2\n{row}\n")
    with pytest.raises(BadInput, match=rf"t\.csv:3: .*{reason}"):
        list(open_set(str(table)))


def test_huge_cells_are_no_fields_and_do_no_harm(tmp_path: Path) -> None:
    rows = [{"image": "a.jpg", "lat": 1, "lon": 2, "story": "x" * 3_000_000, "id": "y" * 5000, "short": "kept"}]
    (item,) = open_set(str(put_jsonl(tmp_path / "t.jsonl", rows)))
    assert dict(item.fields) == {"short": "kept"}
    assert len(item.id) <= 200


def test_ids_and_names_come_out_fit_for_results(tmp_path: Path) -> None:
    row = {
        "image": "a.jpg",
        "id": "x\x1b[2J\ny\ud800",
        "lat": 1,
        "lon": 2,
        "city": "Li\x00ma",
        "bad\nname": "v",
        "n": "a\x07",
    }
    (item,) = open_set(str(put_jsonl(tmp_path / "t.jsonl", [row])))
    for text in (item.id, item.truth.city or ""):
        assert text.isprintable()
        assert text.encode()
    assert dict(item.fields) == {}


def test_an_address_on_the_net_is_no_photo(tmp_path: Path) -> None:
    table = put(tmp_path / "t.csv", "image,lat,lon\nhttps://example.org/a.jpg,1,2\n")
    with pytest.raises(BadInput, match="photos must be on this disk"):
        list(open_set(str(table)))


def test_boxes_come_as_shares_or_as_pixels(tmp_path: Path) -> None:
    boxes = [
        {"kind": "text", "box": [0.1, 0.2, 0.5, 0.3]},
        {"kind": "signs", "box": [-5, 50, 100, 100], "size": [200, 100]},
    ]
    rows = [{"image": "a.jpg", "lat": 1, "lon": 2, "boxes": boxes}]
    (item,) = open_set(str(put_jsonl(tmp_path / "t.jsonl", rows)))
    assert item.boxes == (DatasetBox("text", 0.1, 0.2, 0.5, 0.3), DatasetBox("signs", 0.0, 0.5, 0.5, 1.0))
    as_text = put(tmp_path / "t.csv", f"image;lat;lon;boxes\na.jpg;1;2;{json.dumps(boxes[:1])}\n")
    (written,) = open_set(str(as_text))
    assert written.boxes == item.boxes[:1]


@pytest.mark.parametrize(
    "boxes", ["[1]", "{}", '[{"kind": "cat", "box": [0,0,1,1]}]', '[{"kind": "text", "box": [0,0,5,5]}]']
)
def test_what_is_no_box_is_refused(tmp_path: Path, boxes: str) -> None:
    rows = [{"image": "a.jpg", "lat": 1, "lon": 2, "boxes": boxes}]
    with pytest.raises(BadInput, match="boxes are a list such as"):
        list(open_set(str(put_jsonl(tmp_path / "t.jsonl", rows))))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.csv", "image,lon\na.jpg,1\n", "no column for lat: looked for lat, latitude"),
        ("t.csv", "place,lat,lon\na.jpg,1,2\n", "no column for a photo"),
        ("t.csv", "", "the table is empty"),
        ("t.csv", "lat,lat\n1,2\n", "more than once"),
        ("t.csv", b"image,lat,lon\n\xff\xfe,1,2\n", "not UTF-8 text; save it as UTF-8"),
        ("t.jsonl", "[1]\n", "a row is a JSON object"),
        ("t.jsonl", "{\n", "not JSON"),
        ("t.json", "3", "a list of objects"),
        ("t.txt", "image,lat,lon\n", "give a folder, a table"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, name: str, text: str | bytes, words: str) -> None:
    table = put(tmp_path / name, text)
    with pytest.raises(BadInput, match=words) as caught:
        open_set(str(table))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nonsuch:data", "unknown data set 'nonsuch'; choose from im2gps3k"),
        ("table:", "give NAME:PATH"),
        ("table:not-there.csv", "no such file or folder; nothing is downloaded"),
        ("not-there", "no such file or folder"),
        ("osv5m", "osv5m: say where its files are: osv5m:PATH; hf download"),
    ],
)
def test_a_wrong_spec_is_told_in_one_line(spec: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        open_set(spec)
