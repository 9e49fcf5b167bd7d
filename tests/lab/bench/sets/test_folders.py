"""Folders of photos with GPS tags, and what the Hugging Face hub gives."""

import io
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image

from geosleuth.lab.bench.sets import Fault, Strict, open_set, subset
from geosleuth.lab.bench.sets.hugging_face import ParquetFile
from geosleuth.support.errors import BadInput
from set_files import jpeg, put, put_jsonl, put_parquet


def test_photos_with_gps_tags_are_their_own_truth(tmp_path: Path) -> None:
    put(tmp_path / "b" / "two.jpg", jpeg(2, gps=(-33.0, 151.0)))
    put(tmp_path / "a.JPG", jpeg(1, gps=(48.0, 2.0)))
    put(tmp_path / "none.jpg", jpeg(3))
    put(tmp_path / "broken.jpg", b"\xff\xd8\xff nothing")
    put(tmp_path / "notes.txt", "no photo")
    data = open_set(str(tmp_path))
    assert data.card.name == "exif"
    assert [(item.id, item.truth.point.lat, item.truth.point.lon) for item in data] == [
        ("a.JPG", 48.0, 2.0),
        ("b/two.jpg", -33.0, 151.0),
    ]
    assert next(iter(data)).picture.read() == jpeg(1, gps=(48.0, 2.0))
    assert isinstance(data.stream, Strict)
    faults = [entry for entry in data.stream.entries() if isinstance(entry, Fault)]
    assert {Path(fault.where).name: fault.reason for fault in faults} == {
        "none.jpg": "no GPS tags",
        "broken.jpg": "the file is cut short or damaged; get a whole copy of it",
    }


def test_a_second_pass_reads_what_changed_and_nothing_else(tmp_path: Path) -> None:
    photo = put(tmp_path / "a.jpg", jpeg(1, gps=(48.0, 2.0)))
    data = open_set(f"exif:{tmp_path}")
    assert [item.truth.point.lat for item in data] == [48.0]
    photo.write_bytes(jpeg(1, (25, 16), gps=(50.0, 2.0)))
    assert [item.truth.point.lat for item in data] == [50.0]


def test_an_image_folder_has_its_metadata_beside_the_photos(tmp_path: Path) -> None:
    for split, count in (("test", 2), ("train", 1)):
        rows = [{"file_name": f"{at}.jpg", "latitude": at, "longitude": 2, "country": "Peru"} for at in range(count)]
        put_jsonl(tmp_path / split / "metadata.jsonl", rows)
        for at in range(count):
            put(tmp_path / split / f"{at}.jpg", jpeg(at))
    data = open_set(f"hf:{tmp_path}")
    assert [(item.id, item.fields["split"]) for item in data] == [
        ("test/0.jpg", "test"),
        ("test/1.jpg", "test"),
        ("train/0.jpg", "train"),
    ]
    assert [item.picture.read() for item in data] == [jpeg(0), jpeg(1), jpeg(0)]


def photos(count: int) -> list[dict[str, object]]:
    return [{"bytes": jpeg(at), "path": f"{at}.jpg"} for at in range(count)]


def test_parquet_rows_hold_their_photos(tmp_path: Path) -> None:
    count = 11
    columns = {
        "image": photos(count),
        "lat": [float(at) for at in range(count)],
        "lon": [2.0] * count,
        "country": ["Chile"] * count,
        "scene": ["street", None] * 5 + ["shop"],
    }
    put_parquet(tmp_path / "data" / "test-00000-of-00001.parquet", columns, features={"image": {"_type": "Image"}})
    data = open_set(str(tmp_path))
    items = list(data)
    assert [item.id for item in items] == [f"{at}.jpg" for at in range(count)]
    assert [item.fields.get("scene") for item in items[:2]] == ["street", None]
    assert [item.picture.read() for item in items] == [jpeg(at) for at in range(count)]
    assert [items[at].picture.read() for at in (9, 0, 4, 3, 10)] == [jpeg(at) for at in (9, 0, 4, 3, 10)]


def test_the_parts_of_a_hub_set_are_told_apart(tmp_path: Path) -> None:
    columns = {"image": photos(2), "lat": [1.0, 2.0], "lon": [2.0, 2.0]}
    put_parquet(tmp_path / "data" / "test-00000-of-00001.parquet", columns)
    put_parquet(tmp_path / "data" / "train" / "0000.parquet", columns)
    put_parquet(tmp_path / "data" / "testing.parquet", {**columns, "split": ["own", "own"]})
    data = open_set(str(tmp_path))
    assert [item.fields.get("split") for item in data] == ["test", "test", "own", "own", "train", "train"]
    assert [item.id for item in subset(data, only=["split=train"])] == ["0.jpg#3", "1.jpg#3"]


def test_plain_bytes_base64_and_lists_of_photos_are_photos_too(tmp_path: Path) -> None:
    import base64

    point = {"lat": [1.0], "lon": [2.0]}
    kinds = {
        "bytes": {"jpg": [jpeg(1)], **point},
        "listed": {"images": [[{"bytes": jpeg(1), "path": None}]], **point},
    }
    for name, columns in kinds.items():
        path = put_parquet(tmp_path / f"{name}.parquet", columns)
        (item,) = open_set(str(path))
        assert item.picture.read() == jpeg(1), name
        assert item.id == f"{name}/0"
    encoded = put_parquet(
        tmp_path / "b64.parquet",
        {"image": [base64.b64encode(jpeg(1)).decode()], **point},
        features={"image": {"_type": "Image"}},
    )
    (item,) = open_set(str(encoded))
    assert item.picture.read() == jpeg(1)


def test_parquet_may_name_photos_that_lie_beside_it(tmp_path: Path) -> None:
    put(tmp_path / "images" / "a.jpg", jpeg(7))
    put_parquet(tmp_path / "test.parquet", {"file_name": ["a.jpg"], "location": [{"lat": 1.0, "lng": 2.0}]})
    (item,) = open_set(f"hf:{tmp_path}")
    assert (item.picture.read(), item.truth.point.lon) == (jpeg(7), 2.0)


def test_a_row_without_a_photo_is_told_when_it_is_read(tmp_path: Path) -> None:
    columns = {
        "image": [{"bytes": None, "path": "x.jpg"}, {"bytes": jpeg(), "path": "y.jpg"}],
        "lat": [1.0] * 2,
        "lon": [2.0] * 2,
    }
    first, second = open_set(str(put_parquet(tmp_path / "t.parquet", columns)))
    with pytest.raises(BadInput, match="the row has no photo"):
        first.picture.read()
    assert second.picture.read() == jpeg()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"image": [{"bytes": b"x", "path": "a"}], "lat": [1.0]}, "no column for lon"),
        ({"lat": [1.0], "lon": [1.0]}, "no column for a photo"),
    ],
)
def test_parquet_without_what_is_needed_is_refused(
    tmp_path: Path, columns: dict[str, list[object]], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        open_set(str(put_parquet(tmp_path / "t.parquet", columns)))


def noise(seed: int) -> bytes:
    """About 60 kB that no compression makes smaller, and no two alike."""
    stream = io.BytesIO()
    Image.frombytes("L", (256, 256), random.Random(seed).randbytes(65536)).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def test_a_large_file_is_gone_through_in_little_memory_and_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, groups = 300, 10
    photos = [noise(at) for at in range(count)]
    columns = {
        "image": [{"bytes": photo, "path": f"{at}.jpg"} for at, photo in enumerate(photos)],
        "lat": [1.0] * count,
        "lon": [2.0] * count,
    }
    path = put_parquet(tmp_path / "t.parquet", columns, rows_a_group=count // groups)
    columns.clear()
    begun: list[int] = []
    batches = ParquetFile._batches

    def counted(file: ParquetFile, group: int, columns: list[str], step: int) -> Iterator[Any]:
        begun.append(group)
        return batches(file, group, columns, step)

    data = open_set(str(path))
    monkeypatch.setattr(ParquetFile, "_batches", counted)
    before = pa.total_allocated_bytes()
    peak = 0
    for at, item in enumerate(data):
        assert item.picture.read() == photos[at]
        peak = max(peak, pa.total_allocated_bytes() - before)
    # Each group is begun once for its truths and once for its photos.
    assert sorted(begun) == sorted([*range(groups), *range(groups)])
    assert peak < 4 * path.stat().st_size / groups


def test_photos_are_read_by_several_threads_at_once(tmp_path: Path) -> None:
    count = 60
    columns = {"image": photos(count), "lat": [1.0] * count, "lon": [2.0] * count}
    items = list(open_set(str(put_parquet(tmp_path / "t.parquet", columns, rows_a_group=25))))
    order = random.Random(1).sample(range(count), count)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: items[at].picture.read(), order))
    assert found == [jpeg(at) for at in order]
