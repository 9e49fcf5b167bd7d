"""``geosleuth traces geoagent | geovista | spotagent | import-notes``, run as people run them."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from factory_scenes import plain_picture, scene_of
from geosleuth.agent import read_trajectory
from geosleuth.agent.methods import method
from geosleuth.lab.traces import Store
from geosleuth.lab.traces.factory import Recipe, list_kept_files, open_atlas, read_photo, replays
from geosleuth.photo import open_photo
from geosleuth.support.errors import install_command
from homes import home_with_base
from in_process import Done, geosleuth


@pytest.fixture(scope="module")
def home(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with_base(tmp_path_factory.mktemp("data-commands"), base_file)


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(home))


def refused(done: Done, words: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_records_of_scenes_go_into_a_run_and_a_store(tmp_path: Path) -> None:
    words = (
        "traces",
        "geoagent",
        "--count",
        "3",
        "--processes",
        "1",
        "--out",
        tmp_path / "run",
        "--store",
        tmp_path / "s",
    )
    done = geosleuth(*words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["made"], told["kept"]) == (3, 3)
    store = Store(tmp_path / "s")
    samples = list(store.samples())
    assert len(samples) == 3
    assert all(sample.source == "geoagent" and sample.trajectory.started.method == "geoagent" for sample in samples)
    assert json.loads((tmp_path / "run" / "statistics.json").read_text())["kept"] == 3
    # Nothing is made twice, and the store takes nothing in twice.
    again = geosleuth(*words)
    assert again.returncode == 0, again.stderr
    assert "made" in again.stdout
    assert len(list(Store(tmp_path / "s").samples())) == 3


def test_assemblies_come_with_a_table(tmp_path: Path) -> None:
    done = geosleuth("traces", "geovista", "--count", "2", "--processes", "1", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "kept" in done.stdout
    assert "| kept | 2 |" in (tmp_path / "run" / "statistics.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_stand_ins_find_shops_on_the_map_of_the_world_and_what_is_kept_replays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = geosleuth("traces", "spotagent", "--count", "8", "--processes", "1", "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["made"] == 8
    assert told["kept"] >= 1
    assert set(told["calls_kept"]) <= set(method("spotagent").tools)
    assert told["calls_kept"]["maps_geocode"] >= 1
    atlas = open_atlas(Recipe(kind="spotagent"))
    for path in list_kept_files(run):
        assert asyncio.run(replays(read_trajectory(path), open_photo(read_photo(path)), atlas))


@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        ((), "say how many scenes with --count"),
        (("--count", "1", "--tools", "maps_geocode,teleport"), "there is no tool 'teleport'"),
        (("--count", "1", "--missed", "2"), "the rate of missed must be from 0 to 1"),
        (("--count", "1", "--observer", "nobody"), "names no model that can be asked"),
    ],
)
def test_what_can_not_be_is_refused_in_one_line(tmp_path: Path, words: tuple[str, ...], trouble: str) -> None:
    refused(geosleuth("traces", "spotagent", *words, "--out", tmp_path / "run"), trouble)
    assert not (tmp_path / "run").exists()


def test_notes_become_records_and_bad_ones_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(plain_picture(*scene_of(size=(640, 480))))
    notes = tmp_path / "notes.csv"
    notes.write_text("file,country,notes\na.jpg,Germany,A German sign.\nb.jpg,France,Gone.\n", encoding="utf-8")
    done = geosleuth("traces", "import-notes", notes, "--out", tmp_path / "s", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"store": str(tmp_path / "s"), "notes": 2, "kept": 1, "rejected": 1}
    (sample,) = Store(tmp_path / "s").samples()
    assert sample.source == "imported"
    assert "A German sign" in sample.trajectory.steps[0].text
    notes.write_text("file,country\na.jpg,\n", encoding="utf-8")
    refused(geosleuth("traces", "import-notes", notes, "--out", tmp_path / "t"), "the country is missing")


def test_a_store_alone_names_the_folder_of_the_run_and_its_card_names_the_scenes(tmp_path: Path) -> None:
    words = ("traces", "geoagent", "--count", "2", "--seed", "5", "--first", "3", "--processes", "1")
    done = geosleuth(*words, "--store", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    assert "within 25 km" not in done.stderr
    assert (tmp_path / "s.run" / "statistics.json").is_file()
    card = geosleuth("traces", "card", tmp_path / "s").stdout
    assert "| luck | 0 |" in card
    assert "scene seed 5, first scene 3, count 2, split train, world 1" in card
    refused(
        geosleuth(*words, "--store", tmp_path / "s", "--noise-seed", "3"),
        "begun with other settings: luck was 0, now 3; give the same",
    )
    refused(geosleuth("traces", "geoagent", "--count", "2"), "say with --out where the run's folder is")


def test_a_missing_extra_is_told_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    done = geosleuth("traces", "geoagent", "--count", "2", "--out", tmp_path / "run", "--store", tmp_path / "s")
    refused(done, install_command("lab"))
    assert not (tmp_path / "run").exists()


def test_notes_without_rows_or_without_a_country_are_refused_in_one_line(tmp_path: Path) -> None:
    notes = tmp_path / "notes.csv"
    for text, trouble in (
        ("file,country\n", "no notes found"),
        ("file,land\na.jpg,Chile\n", "add a column called country"),
        ("", "notes.csv"),
    ):
        notes.write_text(text)
        refused(geosleuth("traces", "import-notes", notes, "--out", tmp_path / "s"), trouble)
