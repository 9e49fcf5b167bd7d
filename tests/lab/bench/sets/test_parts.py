"""Parts of a set, its fingerprint, what is on the disk, and staging."""

import io
import json
import re
import tracemalloc
from pathlib import Path

import pillow_heif
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from drawn import examples
from geosleuth.lab.bench.sets import DataSet, describe, draw, fingerprint, open_set, stage, subset
from geosleuth.lab.bench.sets.staging import stripped
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput
from set_files import jpeg, put, put_jsonl, put_parquet

PLACES = [
    ("a", 48.85, 2.35, "France", "street"),
    ("b", -33.87, 151.2, "Australia", "shop"),
    ("c", 52.52, 13.4, None, "street"),
    ("d", 48.2, 16.37, "Österreich", "shop"),
]


@pytest.fixture
def data(tmp_path: Path) -> DataSet:
    rows = []
    for at, (name, lat, lon, country, scene) in enumerate(PLACES):
        put(tmp_path / "set" / f"{name}.jpg", jpeg(at))
        rows.append({"id": name, "image": f"{name}.jpg", "lat": lat, "lon": lon, "country": country, "scene": scene})
    return open_set(str(put_jsonl(tmp_path / "set" / "t.jsonl", rows)))


def ids(data: DataSet) -> list[str]:
    return [item.id for item in data]


def test_a_part_keeps_the_order(data: DataSet) -> None:
    assert ids(subset(data, only=["scene=street"])) == ["a", "c"]
    assert ids(subset(data, only=["scene=street", "scene=shop", "country=france"])) == ["a"]
    assert ids(subset(data, only=["country=Austria"])) == ["d"]
    assert ids(subset(data, only=["id=c", "id=a"])) == ["a", "c"]
    assert subset(data) is data
    assert ids(subset(data, only=["scene=shop"], limit=2)) == ["b", "d"]


@settings(max_examples=examples(30), deadline=None)
@given(seed=st.integers(0, 2**32), small=st.integers(1, 20), more=st.integers(0, 20))
def test_samples_are_the_same_again_and_nested(
    tmp_path_factory: pytest.TempPathFactory, seed: int, small: int, more: int
) -> None:
    folder = tmp_path_factory.mktemp("set")
    rows = "".join(f"{at},{at}.jpg,1,2\n" for at in range(40))
    whole = open_set(str(put(folder / "t.csv", f"id,image,lat,lon\n{rows}")))
    one, two = (ids(subset(whole, limit=count, seed=seed)) for count in (small, small + more))
    assert len(one) == small
    assert set(one) <= set(two)
    assert one == sorted(one, key=int)
    assert one == ids(subset(whole, limit=small, seed=seed))


def test_a_limit_draws_from_the_whole_set(tmp_path: Path) -> None:
    """Sets are sorted by place or time: the first rows are no sample."""
    rows = "".join(f"{at},{at}.jpg,1,2\n" for at in range(1000))
    whole = open_set(str(put(tmp_path / "t.csv", f"id,image,lat,lon\n{rows}")))
    drawn = [int(one) for one in ids(subset(whole, limit=100))]
    quarters = [sum(at // 250 == quarter for at in drawn) for quarter in range(4)]
    assert min(quarters) >= 12
    # What there is no more of is taken whole.
    assert ids(subset(whole, limit=2000)) == ids(whole)


def test_a_draw_streams() -> None:
    """What is not drawn is not held: fifty thousand ids take no more memory than the hundred that stay."""
    tracemalloc.start()
    drawn = draw((f"photo-{at}" for at in range(50_000)), 100, seed=3)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(drawn) == 100
    assert most < 1_000_000


def test_the_fingerprint_tells_every_change_that_could_change_a_figure(data: DataSet) -> None:
    seen: list[int] = []
    count, first = fingerprint(data, seen.append)
    assert (count, sum(seen)) == (4, 4)
    assert fingerprint(data) == (4, first)
    table = data.root / "t.jsonl"
    told = table.read_text()
    for old, new in (("48.85", "48.86"), ('"a"', '"z"'), ("Australia", "Austria"), ("shop", "shops")):
        table.write_text(told.replace(old, new))
        assert fingerprint(data)[1] != first, old
    table.write_text(told)
    put(data.root / "a.jpg", jpeg(0, (25, 16)))
    assert fingerprint(data)[1] != first


def test_a_description_counts_what_is_there(data: DataSet) -> None:
    (data.root / "b.jpg").unlink()
    with (data.root / "t.jsonl").open("a") as stream:
        stream.write(
            '{"id": "a", "image": "a.jpg", "lat": 1, "lon": 2, "boxes": [{"kind": "text", "box": [0,0,1,1]}]}\n'
        )
        stream.write('{"id": "e", "image": "e.jpg", "lat": 100, "lon": 2}\n')
    seen = describe(data)
    assert (seen.photos, seen.missing, seen.bad, seen.left_out, seen.repeated, seen.boxed) == (5, 1, 1, 0, 1, 1)
    assert seen.countries == {"FR": 1, "AU": 1, "AT": 1, "DE": 1, "(unknown)": 1}
    assert seen.continents == {"Europe": 3, "Oceania": 1, "(unknown)": 1}
    assert seen.fields == {"scene": 4}
    assert "b.jpg" in seen.missing_shown[0]
    assert "latitude must lie between" in seen.bad_shown[0].reason
    assert (seen.is_whole, seen.is_usable) == (None, False)


def test_a_description_of_a_published_set_says_whether_it_is_whole(tmp_path: Path) -> None:
    rows = "".join(f"img/{at}.jpg 1 2\n" for at in range(3))
    put(tmp_path / "0aaaa.r.imagedata.txt", rows)
    put(tmp_path / "images" / "0.jpg", jpeg())
    seen = describe(open_set(f"yfcc4k:{tmp_path}"))
    assert (seen.photos, seen.missing, seen.is_whole, seen.is_usable) == (3, 2, False, True)


def test_photos_in_parquet_are_not_missing(tmp_path: Path) -> None:
    columns = {"image": [{"bytes": jpeg(), "path": "a.jpg"}], "lat": [1.0], "lon": [2.0]}
    seen = describe(open_set(str(put_parquet(tmp_path / "t.parquet", columns))))
    assert (seen.photos, seen.missing) == (1, 0)


def turned(orientation: int, image_format: str) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "Telltale Cameras"
    stream = io.BytesIO()
    if image_format == "HEIF":
        pillow_heif.register_heif_opener()
    Image.open(io.BytesIO(jpeg(3, (64, 64)))).save(stream, image_format, exif=exif, comment=b"SECRET")
    return stream.getvalue()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_stripped_jpeg_shows_the_same_pixels_and_says_nothing(orientation: int) -> None:
    before = turned(orientation, "JPEG")
    after, ending = stripped(before)
    assert ending == ".jpg"
    assert b"Telltale" not in after
    assert b"SECRET" not in after
    assert open_photo(after).photo.image.tobytes() == open_photo(before).photo.image.tobytes()
    assert set(dict(Image.open(io.BytesIO(after)).getexif())) <= {0x0112}


@pytest.mark.parametrize(
    ("image_format", "ending"), [("PNG", ".png"), ("WEBP", ".webp"), ("TIFF", ".png"), ("HEIF", ".png")]
)
@pytest.mark.parametrize("orientation", [1, 6])
def test_other_formats_are_stripped_without_loss(image_format: str, ending: str, orientation: int) -> None:
    before = turned(orientation, image_format)
    after, given = stripped(before)
    assert given == (ending if orientation == 1 else ".png")
    assert b"Telltale" not in after
    assert open_photo(after).photo.image.tobytes() == open_photo(before).photo.image.tobytes()


def test_staging_hides_names_metadata_and_truths(tmp_path: Path) -> None:
    for at, name in enumerate(["MARKER-paris", "MARKER-rome"]):
        put(tmp_path / "set" / f"{name}.jpg", jpeg(at, gps=(48.0 + at, 2.0)))
    data = open_set(f"exif:{tmp_path / 'set'}")
    heard: list[str] = []
    done = stage(data, tmp_path / "out", progress=heard.append)
    assert (done.photos, done.kept, done.refused) == (2, 0, ())
    assert heard == ["MARKER-paris.jpg", "MARKER-rome.jpg"]
    files = sorted(done.folder.iterdir())
    assert all(re.fullmatch(r"[0-9a-f]{16}\.jpg", file.name) for file in files)
    assert all(file.stat().st_mtime == 0 for file in files)
    for file in files:
        assert b"Telltale" not in file.read_bytes()
        assert open_photo(file).claims.point is None
    again = open_set(str(done.key))
    assert {item.id: item.truth.point.lat for item in again} == {"MARKER-paris.jpg": 48.0, "MARKER-rome.jpg": 49.0}
    assert {item.id: open_photo(item.picture.read()).photo.image.tobytes() for item in again} == {
        item.id: open_photo(item.picture.read()).photo.image.tobytes() for item in data
    }
    order = [json.loads(line)["image"] for line in done.key.read_text().splitlines()]
    assert order == sorted(order)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"photos", "key.jsonl", "about.json"}


def test_a_staging_that_was_cut_off_goes_on(data: DataSet, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def give_up(id_: str) -> None:
        if id_ == "c":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage(data, out, progress=give_up)
    assert not (out / "key.jsonl").exists()
    with (out / "begun.jsonl").open("a") as stream:
        stream.write('{"id": "d", "ima')
    before = {path.name for path in (out / "photos").iterdir()}
    done = stage(data, out)
    assert (done.photos, done.kept) == (4, 3)
    assert before <= {path.name for path in done.folder.iterdir()}
    assert len(list(done.folder.iterdir())) == 4
    assert stage(data, out).kept == 4


def test_fields_and_boxes_survive_staging(tmp_path: Path) -> None:
    row = {
        "id": "x",
        "image": "a.jpg",
        "lat": 1,
        "lon": 2,
        "city": "Lima",
        "scene": "s",
        "boxes": [{"kind": "text", "box": [0, 0, 1, 0.5]}],
    }
    put(tmp_path / "set" / "a.jpg", jpeg())
    data = open_set(str(put_jsonl(tmp_path / "set" / "t.jsonl", [row])))
    (before,) = data
    (after,) = open_set(str(stage(data, tmp_path / "out").key))
    assert (after.id, after.truth, after.fields, after.boxes) == (before.id, before.truth, before.fields, before.boxes)


def test_a_photo_that_cannot_be_opened_is_listed_and_left_out(data: DataSet, tmp_path: Path) -> None:
    put(data.root / "a.jpg", b"no photo")
    (data.root / "b.jpg").unlink()
    done = stage(data, tmp_path / "out")
    assert done.photos == 2
    assert len(done.refused) == 2
    assert "a.jpg: this is not a photo that can be opened" in done.refused[0]
    assert "there is no such photo" in done.refused[1]


def test_staging_never_writes_among_other_files(data: DataSet, tmp_path: Path) -> None:
    put(tmp_path / "out" / "mine.txt", "mine")
    with pytest.raises(BadInput, match="is not empty"):
        stage(data, tmp_path / "out")
    stage(data, tmp_path / "other")
    put(data.root / "d.jpg", jpeg(9, (40, 40)))
    with pytest.raises(BadInput, match="holds another set, or this one before a change"):
        stage(data, tmp_path / "other")
