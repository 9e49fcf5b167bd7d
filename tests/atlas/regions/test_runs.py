"""Rows in sorted runs come back in one order, each once, however they are cut."""

import random
from pathlib import Path

import numpy as np
import pytest

from geosleuth.atlas.regions import name_runs, runs
from geosleuth.atlas.regions.name_runs import NameRow, name_portions, write_name_run
from geosleuth.atlas.regions.runs import Row, merge_runs, portions, write_run


@pytest.mark.parametrize(("at_once", "sample"), [(1 << 20, 1 << 10), (64, 8), (8, 1)])
@pytest.mark.parametrize("distinct", [5, 10_000])
def test_runs_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, sample: int, distinct: int
) -> None:
    monkeypatch.setattr(runs, "_MERGED_AT_ONCE", at_once)
    monkeypatch.setattr(runs, "_SAMPLE_EVERY", sample)
    chance = random.Random(27)
    written: list[Row] = []
    made = []
    for number in range(7):
        rows = [(chance.randrange(distinct), chance.randrange(3), number, at, "né", b"\0") for at in range(40 * number)]
        written += rows
        keys, ties = (np.array([row[column] for row in rows], dtype=np.int64) for column in (0, 1))
        made.append(write_run(tmp_path / f"run{number}", rows, keys, ties))
    assert made[0] is None, "no rows, no run"
    some = [run for run in made if run is not None]
    expected = sorted(written, key=lambda row: row[:2])  # stable: runs in turn
    assert [row for portion in merge_runs(some) for row in portion.rows()] == expected
    cut = list(portions(some, 32))
    assert [row for portion in cut for row in portion.rows()] == expected
    assert {len(portion) for portion in cut[:-1]} == {32}


def test_no_runs_are_no_portions() -> None:
    assert list(portions([], 32)) == []
    assert [portion.rows() for portion in name_portions([])] == [[]]


@pytest.mark.parametrize(("chunk", "portion"), [(256, 100_000), (4, 16), (1, 1)])
def test_names_are_merged_and_a_key_is_in_one_portion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, portion: int
) -> None:
    monkeypatch.setattr(name_runs, "_CHUNK_ROWS", chunk)
    monkeypatch.setattr(name_runs, "_PORTION_ROWS", portion)
    chance = random.Random(27)
    written: list[NameRow] = []
    made = []
    for number in range(5):
        rows: list[NameRow] = [
            (chance.randrange(3), chance.choice(["a", "ab", "b", "né", "桥下"]), chance.randrange(900), 0, "Name")
            for _ in range(30 * number)
        ]
        written += rows
        made.append(write_name_run(tmp_path / f"names{number}", rows))
    parts = [part.rows() for part in name_portions([run for run in made if run is not None])]
    assert [row for part in parts for row in part] == sorted(written)
    keys = [{row[:2] for row in part} for part in parts]
    assert sum(map(len, keys)) == len(set().union(*keys))
