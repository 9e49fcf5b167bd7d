"""A store that was damaged says so, and one that was not doesn't."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from geosleuth.lab.traces import Store, StoreWriter, write_store
from geosleuth.lab.traces.rows import Row, build_sample_row, schema
from geosleuth.lab.traces.store_card import check_store
from geosleuth.lab.traces.trainer_files import export_store
from geosleuth.lab.traces.trajectory_store import CARD, compute_checksum
from geosleuth.support.errors import BadInput
from stored import ABOUT, made, pictures, sample


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return write_store(tmp_path / "s", made(9), ABOUT, shard_rows=4)


def troubles(store: Store) -> list[str]:
    return list(check_store(Store(store.path)))


def test_a_whole_store_has_no_trouble(store: Store) -> None:
    heard: list[int] = []
    assert list(check_store(store, heard.append)) == []
    assert heard == [1, 2, 3, 4, 5, 6]
    with StoreWriter(store.path, ABOUT) as writer:
        writer.add(sample(20))
        assert troubles(store) == []


def test_a_changed_shard_is_named(store: Store) -> None:
    path = store.path / store.manifest.shards[0].file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    # Its pictures belong to rows that nobody can read now.
    assert troubles(store) == ["shards/00000.parquet: was changed after it was written"]
    path.unlink()
    assert troubles(store) == ["shards/00000.parquet: can't be read: No such file or directory"]


def test_a_changed_or_missing_picture_is_named(store: Store) -> None:
    first = next((store.path / "images").rglob("*.jpg"))
    name = first.relative_to(store.path).as_posix()
    whole = first.read_bytes()
    first.write_bytes(whole[:-1] + b"x")
    assert f"{name}: was changed after it was written" in troubles(store)
    first.unlink()
    assert f"{name}: can't be read: No such file or directory" in troubles(store)
    first.write_bytes(whole)
    assert troubles(store) == []


def test_metadata_and_wrong_sizes_and_missing_handles_are_told(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[271] = "a maker"
    told = jpeg((320, 240), exif=exif)
    small = jpeg((10, 10))
    fake = b"\xff\xd8\xff no picture"
    run = sample(0).trajectory
    handles = [image.handle for image in run.images]
    store = write_store(
        tmp_path / "s",
        [
            sample(0, images={**pictures(0), handles[0]: told}),
            sample(2, images={**pictures(0), handles[1]: small}),
            sample(4, images={**pictures(0), handles[1]: fake}),
            sample(6, images={handles[0]: pictures(0)[handles[0]]}),
        ],
        ABOUT,
    )
    found = " | ".join(troubles(store))
    assert "carries metadata (exif)" in found
    assert f"scene-00002: {handles[1]} has 10 x 10 pixels, which is not what its trajectory says" in found
    assert "is not a JPEG file" in found
    assert f"scene-00006: has no picture for {', '.join(handles[1:])}" in found


def jpeg(size: tuple[int, int], **options: object) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, (9, 99, 199)).save(stream, "JPEG", **options)
    return stream.getvalue()


def write_shard(store: Store, rows: list[Row]) -> Path:
    path = store.path / "shards" / "00002.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema()), path)
    return path


def count_shard(store: Store, path: Path, rows: int) -> None:
    document = json.loads((store.path / "manifest.json").read_text())
    shard = {
        "file": f"shards/{path.name}",
        "rows": rows,
        "bytes": path.stat().st_size,
        "sha256": compute_checksum(path),
    }
    document["shards"].append(shard)
    (store.path / "manifest.json").write_text(json.dumps(document))


def test_rows_that_were_made_elsewhere_are_looked_into(store: Store) -> None:
    rows = [
        build_sample_row(sample(0)),
        build_sample_row(sample(50)) | {"turns": 99},
        build_sample_row(sample(51)) | {"trajectory": "rubbish\n"},
    ]
    path = write_shard(store, rows)
    assert any(line.startswith("shards/00002.parquet: not in the manifest") for line in troubles(store))
    count_shard(store, path, 4)
    found = troubles(store)
    assert "scene-00000: appears twice" in found
    assert "scene-00050: its columns don't say what its trajectory says" in found
    assert any("the row of 'scene-00051' is damaged" in line for line in found)
    assert "shards/00002.parquet: holds 3 rows, and the manifest counts 4" in found


def test_strays_and_double_keys_are_told(store: Store) -> None:
    (store.path / "images" / "00").mkdir(exist_ok=True)
    (store.path / "images" / "00" / "stray.jpg").write_bytes(b"x")
    with (store.path / "rejected.jsonl").open("ab") as stream:
        stream.write(b'{"key":"scene-00000","scene":"x","source":"y","reason":"z","detail":"","meta":{}}\n')
    found = troubles(store)
    assert "images/00/stray.jpg: belongs to no trajectory (1 such files)" in found
    assert "scene-00000: was both kept and rejected" in found
    with (store.path / "rejected.jsonl").open("ab") as stream:
        stream.write(b'{"who":"?"}\n')
    assert any(line.startswith("what was rejected can't be read") for line in troubles(store))


@pytest.mark.parametrize("digest", ["../../../pictures/mine", "ab/../../../../mine", "", "A" * 64])
def test_a_row_can_name_no_picture_outside_of_its_store(store: Store, tmp_path: Path, digest: str) -> None:
    """Rows are whatever somebody else put into a file: a checksum must not lead to other people's pictures."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "mine.jpg").write_bytes(next(iter(pictures(0).values())))
    row = build_sample_row(sample(50))
    row["images"][0]["sha256"] = digest
    count_shard(store, write_shard(store, [row]), 1)
    with pytest.raises(BadInput, match="not the checksum of a picture"):
        list(Store(store.path).samples())
    with pytest.raises(BadInput, match="not the checksum of a picture"):
        export_store(Store(store.path), "trl", tmp_path / "out")
    assert any(line.startswith("scene-00050: ") and "not the checksum" in line for line in troubles(store))


@pytest.mark.parametrize("file", ["../other/shards/00000.parquet", "/etc/passwd", "shards/../00000.parquet"])
def test_a_manifest_can_name_no_shard_outside_of_its_store(store: Store, file: str) -> None:
    path = store.path / "manifest.json"
    document = json.loads(path.read_text())
    document["shards"][0]["file"] = file
    path.write_text(json.dumps(document))
    with pytest.raises(BadInput, match="is not the name of a shard"):
        Store(store.path)


def test_a_damaged_line_that_waits_is_one_trouble_among_others(store: Store) -> None:
    (store.path / "pending" / f"{len(store.manifest.shards):05d}.jsonl").write_bytes(b"{damaged\n")
    next((store.path / "images").rglob("*.jpg")).unlink()
    found = troubles(store)
    assert any("what waits for its shard can't be read" in line for line in found)
    assert any("can't be read: No such file" in line for line in found)


def test_a_store_that_grows_by_other_scenes_tells_all_of_them(tmp_path: Path) -> None:
    for number, first in ((0, 0), (2, 200), (4, 200)):
        about = replace(ABOUT, settings={**ABOUT.settings, "scenes": [{"scene seed": 1, "first scene": first}]})
        with StoreWriter(tmp_path / "s", about) as writer:
            writer.add(sample(number))
    assert "scene seed 1, first scene 0; scene seed 1, first scene 200 |" in (tmp_path / "s" / CARD).read_text()
