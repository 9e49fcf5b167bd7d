"""Shards: what writers put in is what a trainer gets, while they write, after a restart, and the same each time."""

import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest

from geosleuth.support.errors import BadInput
from nano.shards import Encoded, Shard, ShardPool, ShardWriter


def sample(number: int) -> Encoded:
    """A sample that can be told by its first token."""
    chance = np.random.default_rng(number)
    tokens = 3 + number % 7
    ids = chance.integers(0, 8192, tokens, dtype=np.int32)
    ids[0] = number
    images = tuple(chance.integers(0, 256, (32, 32 * wide, 3), dtype=np.uint8) for wide in range(1, 1 + number % 3))
    return Encoded(ids, chance.random(tokens) < 0.5, images)


def fill(folder: Path, kind: str, writer: str, numbers: range) -> None:
    with ShardWriter(folder, kind, writer, samples=4) as shards:
        for number in numbers:
            shards.add(sample(number), {"number": number})


def same(one: Encoded, other: Encoded) -> bool:
    pairs = zip((one.input_ids, one.mask, *one.images), (other.input_ids, other.mask, *other.images), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def test_samples_come_back_as_they_were(tmp_path: Path) -> None:
    fill(tmp_path, "perception", "worker-0", range(10))
    pool = ShardPool(tmp_path)
    assert pool.counts == {"perception": 10}
    assert len(pool.names) == 3
    assert all(same(pool.at("perception", number), sample(number)) for number in range(10))
    assert [pool.about("perception", number)["number"] for number in range(10)] == list(range(10))
    assert pool.lengths("perception") == [len(sample(number)) for number in range(10)]
    with pytest.raises(ValueError, match="read-only"):
        pool.at("perception", 0).input_ids[0] = 1


def test_a_photo_that_several_chats_show_is_kept_once(tmp_path: Path) -> None:
    photo = np.random.default_rng(0).integers(0, 256, (320, 448, 3), dtype=np.uint8)
    ids, mask = np.arange(5, dtype=np.int32), np.ones(5, np.bool_)
    with ShardWriter(tmp_path, "levels", "w") as shards:
        for _ in range(10):
            shards.add(Encoded(ids, mask, (photo,)))
    assert next((tmp_path / "levels").iterdir()).stat().st_size < 1.1 * photo.nbytes
    pool = ShardPool(tmp_path)
    assert all(np.array_equal(pool.at("levels", number).images[0], photo) for number in range(10))


def test_draws_repeat_and_follow_the_weights(tmp_path: Path) -> None:
    fill(tmp_path, "perception", "a", range(100))
    fill(tmp_path, "trajectory", "a", range(1000, 1100))
    pool, other = ShardPool(tmp_path), ShardPool(tmp_path)
    weights = {"perception": 3.0, "trajectory": 1.0, "levels": 5.0}

    def drawn(from_pool: ShardPool, step: int) -> list[int]:
        return [int(one.input_ids[0]) for one in from_pool.sample(weights, 400, seed=7, step=step)]

    assert drawn(pool, 5) == drawn(other, 5)
    assert drawn(pool, 5) != drawn(pool, 6)
    first = drawn(pool, 5)
    assert 250 < sum(number < 1000 for number in first) < 350
    assert len(set(first)) > 100
    newest = pool.sample({"trajectory": 1.0}, 200, seed=0, newest=0.1)
    assert {int(one.input_ids[0]) for one in newest} == set(range(1090, 1100))


def test_a_pool_grows_and_old_draws_can_be_repeated(tmp_path: Path) -> None:
    fill(tmp_path, "format", "b", range(8))
    pool = ShardPool(tmp_path)
    before, names = [one.input_ids.tolist() for one in pool.sample({"format": 1.0}, 20, seed=1, step=3)], pool.names
    fill(tmp_path, "format", "a", range(50, 58))
    assert pool.refresh() == 2
    assert pool.refresh() == 0
    assert pool.counts == {"format": 16}
    assert pool.names == ShardPool(tmp_path).names
    grown = [one.input_ids.tolist() for one in pool.sample({"format": 1.0}, 20, seed=1, step=3)]
    assert grown != before
    again = ShardPool(tmp_path, names).sample({"format": 1.0}, 20, seed=1, step=3)
    assert [one.input_ids.tolist() for one in again] == before


def test_a_writer_goes_on_where_it_stopped(tmp_path: Path) -> None:
    fill(tmp_path, "levels", "w-1", range(6))
    fill(tmp_path, "levels", "w-1", range(6, 9))
    fill(tmp_path, "levels", "w", range(20, 21))
    pool = ShardPool(tmp_path)
    assert sorted(int(pool.at("levels", number).input_ids[0]) for number in range(10)) == [*range(9), 20]


def test_what_is_not_finished_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no samples of the kinds levels"):
        ShardPool(tmp_path / "none").sample({"levels": 1.0}, 1, seed=0)
    writer = ShardWriter(tmp_path, "levels", "w", samples=10)
    writer.add(sample(1))
    assert ShardPool(tmp_path).counts == {}
    writer.flush()
    whole = next((tmp_path / "levels").iterdir()).read_bytes()
    cut = tmp_path / "levels" / "cut-000000.shard"
    cut.write_bytes(whole[:-20])
    with pytest.raises(BadInput, match=r"cut-000000\.shard: not a complete shard"):
        Shard(cut)
    with pytest.raises(BadInput, match="can't name samples"):
        ShardWriter(tmp_path, "../levels", "w")


@pytest.mark.slow
def test_processes_write_while_a_trainer_reads(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [
        spawn.Process(target=fill, args=(tmp_path, "perception", f"worker-{number}", range(number, 200, 2)))
        for number in range(2)
    ]
    for writer in writers:
        writer.start()
    pool, until = ShardPool(tmp_path), time.monotonic() + 60
    while pool.counts.get("perception", 0) < 200 and time.monotonic() < until:
        if pool.refresh():
            seen = pool.sample({"perception": 1.0}, 5, seed=0)
            assert all(same(one, sample(int(one.input_ids[0]))) for one in seen)
        time.sleep(0.01)
    for writer in writers:
        writer.join()
    assert sorted(int(pool.at("perception", number).input_ids[0]) for number in range(200)) == list(range(200))
