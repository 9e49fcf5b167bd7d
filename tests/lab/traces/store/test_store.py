"""The store: what is added comes back equal, whoever is killed on the way."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from any_trajectory import trajectories
from geosleuth.agent import Trajectory
from geosleuth.lab.traces import Rejected, Sample, Store, StoreWriter, write_store
from geosleuth.lab.traces.rows import build_sample_row, read_trajectory_text, schema, trajectory_text
from geosleuth.support.errors import BadInput
from python_path import python_path
from stored import ABOUT, about, made, pictures, real_run, sample


def test_what_is_added_comes_back_equal(tmp_path: Path) -> None:
    wanted = [one for one in made(12) if isinstance(one, Sample)]
    store = write_store(tmp_path / "s", made(12), ABOUT, shard_rows=3)
    assert list(store.samples()) == wanted
    assert len(store) == len(wanted) == 8
    assert [shard.rows for shard in store.manifest.shards] == [3, 3, 2]
    assert [one.key for one in store.samples(split="held-out")] == ["scene-00004", "scene-00009"]
    assert list(store.read_rejected()) == [one for one in made(12) if isinstance(one, Rejected)]
    assert store.about == ABOUT


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(trajectories())
def test_every_run_comes_back_equal_from_a_row(trajectory: Trajectory) -> None:
    assert read_trajectory_text(trajectory_text(trajectory)) == trajectory
    one = sample(0, trajectory=trajectory, images={})
    table = pa.Table.from_pylist([build_sample_row(one)], schema=schema())
    (row,) = table.to_pylist()
    assert read_trajectory_text(row["trajectory"]) == trajectory


def test_pictures_are_kept_once_by_their_content(tmp_path: Path) -> None:
    store = write_store(tmp_path / "s", (sample(number) for number in range(6)), ABOUT)
    files = [path for path in (tmp_path / "s" / "images").rglob("*") if path.is_file()]
    assert len(files) == len({*pictures(0).values(), *pictures(1).values()})
    assert all(path.parent.name == path.stem[:2] for path in files)
    assert [dict(one.images) for one in store.samples()] == [pictures(number % 2) for number in range(6)]
    assert [one.images for one in store.samples(images=False)] == [{}] * 6


def test_a_store_is_gone_on_with_and_makes_nothing_twice(tmp_path: Path) -> None:
    asked: list[str] = []
    for count in (4, 9):
        with StoreWriter(tmp_path / "s", ABOUT, shard_rows=2) as writer:
            for one in made(count):
                if one.key not in writer:
                    asked.append(one.key)
                    writer.add(one)
    assert asked == [one.key for one in made(9)]
    assert [one.key for one in Store(tmp_path / "s").samples()] == [
        one.key for one in made(9) if isinstance(one, Sample)
    ]


def test_a_writer_that_breaks_off_loses_nothing_it_had_finished(tmp_path: Path) -> None:
    def breaking_off() -> Iterator[Sample]:
        yield from (sample(number) for number in range(5))
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        write_store(tmp_path / "s", breaking_off(), ABOUT, shard_rows=3)
    store = Store(tmp_path / "s")
    assert [shard.rows for shard in store.manifest.shards] == [3]
    assert list(store.samples()) == [sample(number) for number in range(5)]
    assert len(store) == 5
    with StoreWriter(tmp_path / "s", ABOUT, shard_rows=3) as writer:
        assert (writer.sample_count, "scene-00004" in writer) == (5, True)
        writer.add(sample(5))
    store = Store(tmp_path / "s")
    assert [shard.rows for shard in store.manifest.shards] == [3, 3]
    assert list(store.samples()) == [sample(number) for number in range(6)]


CHILD = """
import sys
from pathlib import Path
from geosleuth.lab.traces import StoreWriter
from stored import ABOUT, made
with StoreWriter(Path(sys.argv[1]), ABOUT, shard_rows=4) as writer:
    for one in made(10_000):
        if one.key not in writer:
            writer.add(one)
            print(one.key, flush=True)
"""


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_it_said_was_finished(tmp_path: Path) -> None:
    support = Path(__file__).parents[3] / "support"
    finished: list[str] = []
    for after in (3, 7, 12):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path / "s")],
            stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": python_path(support)},
        )  # fmt: skip
        assert child.stdout is not None
        finished += [child.stdout.readline().strip() for _ in range(after)]
        child.send_signal(signal.SIGKILL)
        finished += child.stdout.read().split()
        child.wait()
        child.stdout.close()
        store = Store(tmp_path / "s")
        there = {one.key for one in store.samples()} | {one.key for one in store.read_rejected()}
        assert set(finished) <= there
        # Of what was under way, one thing may have been finished that nobody heard of.
        assert len(there - set(finished)) <= 1
        finished = [one.key for one in made(len(there))]
        assert set(finished) == there


@pytest.mark.parametrize("moment", ["shard", "manifest"])
def test_killed_while_a_shard_is_written(tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import geosleuth.lab.traces.trajectory_store as module

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    writer = StoreWriter(tmp_path / "s", ABOUT, shard_rows=3)
    writer.add(sample(0))
    writer.add(sample(1))
    with monkeypatch.context() as patch:
        if moment == "shard":
            patch.setattr(module, "write_manifest", die)
        else:
            patch.setattr(Path, "unlink", die)
        with pytest.raises(KeyboardInterrupt):
            writer.add(sample(2))
    writer.close()
    assert list(Store(tmp_path / "s").samples()) == [sample(number) for number in range(3)]
    with StoreWriter(tmp_path / "s", ABOUT, shard_rows=3) as again:
        again.add(sample(3))
    store = Store(tmp_path / "s")
    assert list(store.samples()) == [sample(number) for number in range(4)]
    assert sum(shard.rows for shard in store.manifest.shards) == 4
    assert not list((tmp_path / "s" / "shards").glob(".*"))


def test_half_a_line_is_passed_over_and_cut_off(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path / "s", ABOUT)
    writer.add(sample(0))
    writer.add(Rejected(key="no", scene="x", source="spotagent", reason="far_answer", detail="41 km"))
    writer.close()
    for name in ("pending/00000.jsonl", "rejected.jsonl"):
        with (tmp_path / "s" / name).open("ab") as stream:
            stream.write(b'{"key": "hal')
    assert [one.key for one in Store(tmp_path / "s").samples()] == ["scene-00000"]
    with StoreWriter(tmp_path / "s", ABOUT) as writer:
        writer.add(sample(1))
        writer.add(Rejected(key="no-2", scene="x", source="spotagent", reason="far_answer"))
    store = Store(tmp_path / "s")
    assert [one.key for one in store.samples()] == ["scene-00000", "scene-00001"]
    assert [one.key for one in store.read_rejected()] == ["no", "no-2"]


def test_only_one_writer_at_a_time(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", ABOUT) as writer:
        writer.add(sample(0))
        assert [one.key for one in Store(tmp_path / "s").samples()] == ["scene-00000"]
        with pytest.raises(BadInput, match="another process writes to this store"):
            StoreWriter(tmp_path / "s", ABOUT)


def test_another_set_is_refused(tmp_path: Path) -> None:
    write_store(tmp_path / "s", [sample(0)], ABOUT)
    with pytest.raises(BadInput, match="holds the set 'small', not 'other'"):
        StoreWriter(tmp_path / "s", about(name="other"))
    with pytest.raises(BadInput, match=r"was begun with seed = 1, not 2; use the same settings"):
        StoreWriter(tmp_path / "s", about(settings={"seed": 2, "rates": {"miss": 0.1}}))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("words")
    with pytest.raises(BadInput, match=r"holds 'thesis.txt' and is not a store"):
        StoreWriter(tmp_path / "full", ABOUT)
    with pytest.raises(BadInput, match="not a store of trajectories"):
        Store(tmp_path / "full")


def test_what_does_not_fit_is_refused_and_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", ABOUT) as writer:
        writer.add(sample(0))
        for wrong, trouble in (
            (sample(0), "already has 'scene-00000'"),
            (sample(1, images={"image-9": b"\xff\xd8\xff"}), "has no picture 'image-9'"),
            (sample(1, images={"image-1": b"\x89PNG"}), "is not a JPEG file"),
            (sample(1, trajectory=sample(0).trajectory, images={}), "give each its own id"),
            (sample(1, meta={"x": {1, 2}}), "must be JSON"),
            (sample(1, scene="\ud83d"), "unpaired surrogate"),
        ):
            with pytest.raises(BadInput, match=trouble):
                writer.add(wrong)
    assert list(Store(tmp_path / "s").samples()) == [sample(0)]


def test_the_manifest_of_another_version_or_kind_is_refused(tmp_path: Path) -> None:
    write_store(tmp_path / "s", [sample(0)], ABOUT)
    path = tmp_path / "s" / "manifest.json"
    document = json.loads(path.read_text())
    for changed, trouble in (
        (document | {"version": 9}, "is of version 9; this geosleuth reads version 1"),
        (document | {"format": "x"}, "not the manifest of a store"),
        (document | {"about": {}}, "is damaged"),
        (document | {"shards": [{"file": 3}]}, "is damaged"),
        ([], "not the manifest of a store"),
    ):
        path.write_text(json.dumps(changed))
        with pytest.raises(BadInput, match=trouble):
            Store(tmp_path / "s")
    path.write_text("{")
    with pytest.raises(BadInput, match="this is not JSON"):
        Store(tmp_path / "s")


def test_any_reader_of_parquet_reads_the_shards(tmp_path: Path) -> None:
    write_store(tmp_path / "s", made(9), ABOUT, shard_rows=4)
    table = pq.read_table(tmp_path / "s" / "shards")
    assert table.num_rows == 6
    first = table.slice(0, 1).to_pylist()[0]
    run = real_run(0)
    assert first["truth_country"] == "DE"
    assert first["tools"] == [call.name for step in run.steps for call in step.calls]
    assert (first["turns"], first["calls"]) == (run.spent.turns, run.spent.calls)
    assert first["error_km"] == pytest.approx(5.6, abs=0.1)


LONG = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from geosleuth.lab.traces import Store, StoreWriter
from stored import ABOUT, real_run, sample
run, peak = real_run(1), lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
with StoreWriter(Path(sys.argv[1]), ABOUT, shard_rows=250) as writer:
    for number in range(20_000):
        one = replace(run, id=f"{number:016x}")
        writer.add(sample(0, key=f"k{number}", scene=f"k{number}", trajectory=one, images={}))
        if number == 1_999:
            peak()
peak()
print(sum(1 for _ in Store(Path(sys.argv[1])).samples()))
peak()
"""


@pytest.mark.slow
def test_memory_stays_flat_over_twenty_thousand(tmp_path: Path) -> None:
    support = Path(__file__).parents[3] / "support"
    told = subprocess.run(
        [sys.executable, "-c", LONG, str(tmp_path / "s")],
        stdout=subprocess.PIPE, text=True, check=True, env=os.environ | {"PYTHONPATH": python_path(support)},
    )  # fmt: skip
    early, written, count, read = (int(word) for word in told.stdout.split())
    assert count == 20_000
    # Keys and ids are kept, a few hundred bytes a sample; trajectories are not. Figures are in KiB.
    assert written - early < 40_000
    assert read - early < 60_000
