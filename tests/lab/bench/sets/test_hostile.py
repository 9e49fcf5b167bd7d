"""Whatever is in the files, the answer is items or one line that says what is wrong."""

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.lab.bench.sets import describe, open_set
from geosleuth.support.errors import BadInput
from set_files import jpeg, put, put_parquet

QUICK = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.just("a.jpg"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["lat", "lng", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = ["image", "images", "id", "lat", "lon", "country", "boxes", "location", "metadata", "truth", "scene"]


def gone_through(spec: str) -> None:
    said = ""
    try:
        data = open_set(spec)
        describe(data)
        for item in data:
            assert item.id.isprintable()
            assert -90 <= item.truth.point.lat <= 90
            item.picture.size_bytes()
            with suppress(BadInput):
                item.picture.read()
    except BadInput as error:
        said = str(error)
    assert "\n" not in said


@QUICK
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8), min_size=1, max_size=4))
@example([{"image": "a.jpg", "lat": 1, "lon": 10**400}])
@example([{"image": ["a.jpg", "b.jpg"], "lat": "1", "lon": "2", "boxes": {"kind": 1}}])
@example([{"image": "a.jpg", "lat": 1, "lon": 2, "boxes": [{"kind": "text", "box": [0, 0, 1, 10**400]}]}])
@example([{"image": "a.jpg", "location": [1, 2], "boxes": [{"kind": "text", "box": [0, 0, 1, float("nan")]}]}])
def test_any_rows_of_json(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    put(tmp_path / "t.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    gone_through(str(tmp_path / "t.jsonl"))
    put(tmp_path / "t.json", json.dumps(rows))
    gone_through(f"geoseek-val:{tmp_path / 't.json'}")


@QUICK
@given(st.binary(max_size=200), st.sampled_from(["csv", "tsv", "jsonl", "json"]))
def test_any_bytes(tmp_path: Path, content: bytes, ending: str) -> None:
    table = put(tmp_path / f"t.{ending}", b"image,lat,lon\n" + content if ending == "csv" else content)
    gone_through(f"table:{table}")


@pytest.mark.parametrize("name", ["location.csv", "test.xml", "test.csv", "dataset1_info.csv", "shard_0.msg"])
def test_rubbish_in_place_of_a_named_sets_files(tmp_path: Path, name: str) -> None:
    dice = random.Random(name)
    put(tmp_path / "yfcc25600_places365.csv", "IMG_ID,LAT,LON\na.jpg,1,2\n")
    for _ in range(10):
        put(tmp_path / name, dice.randbytes(dice.randrange(400)))
        for known in ("geoglobe", "street-view-text", "osv5m", "imageo1", "yfcc26k"):
            gone_through(f"{known}:{tmp_path}")


def test_a_parquet_file_with_any_byte_changed(tmp_path: Path) -> None:
    columns = {
        "image": [{"bytes": jpeg(at), "path": f"{at}.jpg"} for at in range(6)],
        "lat": [1.0] * 6,
        "lon": [2.0] * 6,
    }
    path = put_parquet(tmp_path / "t.parquet", columns)
    whole = path.read_bytes()
    dice = random.Random(1)
    for _ in range(60):
        changed = bytearray(whole)
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
        path.write_bytes(changed)
        gone_through(str(path))
