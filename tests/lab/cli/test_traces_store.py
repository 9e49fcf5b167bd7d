"""``geosleuth traces check | card | export``, run as people run them."""

import json
from pathlib import Path

import pytest

from geosleuth.lab.traces import Store, write_store
from in_process import Done, geosleuth
from stored import ABOUT, made


def refused(done: Done, words: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return write_store(tmp_path_factory.mktemp("stores") / "s", made(12), ABOUT, shard_rows=3)


def test_check_says_whether_a_store_is_whole(store: Store, tmp_path: Path) -> None:
    done = geosleuth("traces", "check", store.path)
    assert (done.returncode, done.stdout) == (0, "whole: 8 trajectories\n"), done.stderr
    other = write_store(tmp_path / "s", made(6), ABOUT)
    (other.path / other.manifest.shards[0].file).write_bytes(b"PAR1")
    done = geosleuth("traces", "check", other.path, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert not document["whole"]
    assert "shards/00000.parquet: was changed after it was written" in document["troubles"]
    done = geosleuth("traces", "check", other.path)
    assert (done.returncode, done.stdout) == (1, "not whole\n")
    assert "was changed after it was written" in done.stderr


def test_the_card_is_printed_or_written(store: Store, tmp_path: Path) -> None:
    done = geosleuth("traces", "card", store.path)
    assert done.stdout == (store.path / "card.md").read_text(encoding="utf-8")
    document = json.loads(geosleuth("traces", "card", store.path, "--json").stdout)
    assert document["figures"]["rejected"] == {"spotagent": {"failed_call": 2, "far_answer": 2}}
    assert len(document["shards"]) == 3
    out = tmp_path / "README.md"
    assert geosleuth("traces", "card", store.path, "--out", out).returncode == 0
    assert out.read_text(encoding="utf-8") == done.stdout
    refused(geosleuth("traces", "card", store.path, "--out", out), "README.md: is there already")


def test_exports_one_split_and_replaces_nothing(store: Store, tmp_path: Path) -> None:
    out = tmp_path / "sft"
    done = geosleuth("traces", "export", store.path, "--to", "llama-factory", "--split", "train", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{out / 'train.jsonl'}: 6 rows\n"
    assert sorted(path.name for path in out.iterdir()) == ["card.md", "dataset_info.json", "images", "train.jsonl"]
    words = ("traces", "export", store.path, "--to", "llama-factory", "--split", "train", "--out", out)
    refused(geosleuth(*words), "train.jsonl: is there already; choose another name, or add --overwrite")
    assert geosleuth(*words, "--overwrite").returncode == 0


def test_what_is_no_store_is_refused_in_one_line(store: Store, tmp_path: Path) -> None:
    for command in (("check",), ("card",), ("export", "--to", "trl", "--out", tmp_path / "x")):
        refused(geosleuth("traces", command[0], tmp_path, *command[1:]), "not a store of trajectories")
    words = ("traces", "export", store.path, "--to", "trl", "--out")
    refused(geosleuth(*words, store.path), "is the store itself; choose another folder")
    told = "holds no trajectory of the split 'dev'; its splits are: held-out, train"
    refused(geosleuth(*words, tmp_path / "x", "--split", "dev"), told)
    assert not (tmp_path / "x").exists()


def test_a_damaged_manifest_is_a_finding_of_check(store: Store) -> None:
    (store.path / "manifest.json").write_text("{")
    done = geosleuth("traces", "check", store.path)
    assert (done.returncode, done.stdout) == (1, "not whole\n")
    assert "this is not JSON" in done.stderr
