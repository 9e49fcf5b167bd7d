"""Trackio and Weights & Biases: a run's figures are in their files; without the package the message says what to do."""

import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from geosleuth.errors import BadInput
from geosleuth.train.recipe import ModelPart, Recipe, RunPart
from geosleuth.train.recipe_files import recipe_of
from geosleuth.train.trackers import tracker_callbacks
from later import later

later("transformers")


def tracked(name: Any) -> Recipe:
    return Recipe(name="mine", stage="sft", model=ModelPart(path="x"), run=RunPart(trackers=(name,)))


def logged(name: str, folder: Path) -> None:
    (callback,) = tracker_callbacks(tracked(name), folder)
    state = SimpleNamespace(is_world_process_zero=True, global_step=1)
    callback.on_train_begin(None, state, None)
    callback.on_log(None, state, None, logs={"loss": 0.5, "kl": float("nan"), "words": "no"})
    state.global_step = 2
    callback.on_log(None, state, None, logs={"loss": 0.25})
    callback.on_train_end(None, state, None)


@pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed: pip install wandb")
@pytest.mark.filterwarnings("ignore")
def test_weights_and_biases_writes_offline_into_the_runs_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WANDB_MODE", raising=False)
    logged("wandb", tmp_path / "run")
    (record,) = (tmp_path / "run" / "wandb").rglob("*.wandb")
    # Its own process writes the file out.
    until = time.monotonic() + 30
    while b"0.25" not in record.read_bytes() and time.monotonic() < until:
        time.sleep(0.2)
    assert b"0.25" in record.read_bytes()


@pytest.mark.skipif(find_spec("trackio") is None, reason="trackio is not installed: pip install trackio")
@pytest.mark.filterwarnings("ignore")
def test_trackio_writes_into_the_runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRACKIO_DIR", raising=False)
    logged("trackio", tmp_path / "run")
    assert [one for one in (tmp_path / "run" / "trackio").rglob("*") if one.is_file()]


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_without_the_package_the_message_says_how_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geosleuth.train.trackers.find_spec", lambda _: None)
    with pytest.raises(BadInput, match=f"{name} is not installed; run: pip install {name}"):
        tracker_callbacks(tracked(name), tmp_path)


def test_trackers_are_named_in_a_recipe() -> None:
    words = {"name": "a", "stage": "sft", "model": {"path": "x"}, "run": {"trackers": ["wandb", "trackio"]}}
    assert recipe_of(words).run.trackers == ("wandb", "trackio")
    with pytest.raises(BadInput, match=r"run\.trackers"):
        recipe_of(words | {"run": {"trackers": ["mlflow"]}})
    none = replace(tracked("wandb"), run=RunPart())
    assert tracker_callbacks(none, Path("nowhere")) == []
