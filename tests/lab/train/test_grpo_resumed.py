"""A run of reinforcement learning that is killed goes on, and ends as one that never was."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import grpo_child
from geosleuth.lab.train.run_folder import Finished, TrainingFolder, last_checkpoint, read_finished
from geosleuth.lab.train.training_log import read_metrics
from later import later
from scripted_grpo import make_photos, make_tiny

later("trl")
SPEED = ("seconds", "step_time", "tokens_per_second")


def weights(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = import_module("safetensors.torch").load_file(folder / "model.safetensors")
    return found


def plain_words(folder: Path) -> dict[str, Any]:
    """Two steps are made of every sampling."""
    return {
        "model": str(make_tiny(folder / "model")),
        "photos": str(make_photos(folder / "photos", 3)),
        "steps": 4,
        # The checkpoint of step 1 waits for step 2, when the replies that were drawn are learned from.
        "save_steps": 1,
    }


def the_same_came_of(went_on: Finished, never_stopped: Finished) -> None:
    """Figures, weights and what was told of every step."""
    assert went_on.figures == never_stopped.figures
    assert went_on.steps == never_stopped.steps == 4
    one, other = (weights(run.policy) for run in (went_on, never_stopped))
    assert [name for name in one if not one[name].equal(other[name])] == []
    lines, others = (read_metrics(run.folder / "metrics.jsonl") for run in (went_on, never_stopped))
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    for line, same in zip(lines, others, strict=True):
        assert {k: v for k, v in line.items() if k not in SPEED} == {k: v for k, v in same.items() if k not in SPEED}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.usefixtures("atlas_home")
def test_a_run_that_stopped_between_samplings_ends_as_one_that_never_did(tmp_path: Path) -> None:
    recipe = grpo_child.recipe_of(plain_words(tmp_path))
    part = grpo_child.play(recipe, tmp_path / "stopped", seconds=0)
    assert (part.complete, part.steps) == (False, 2)
    assert not (tmp_path / "stopped" / "policy").exists()
    went_on = grpo_child.play(recipe, tmp_path / "stopped")
    the_same_came_of(went_on, grpo_child.play(recipe, tmp_path / "whole"))
    one, began = weights(went_on.policy), weights(tmp_path / "model")
    assert [name for name in one if not one[name].equal(began[name])] != []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.usefixtures("atlas_home")
def test_a_killed_run_ends_as_one_that_never_was(tmp_path: Path) -> None:
    """It is killed in the second sampling."""
    words = plain_words(tmp_path)
    (tmp_path / "recipe.json").write_text(json.dumps(words), encoding="utf-8")
    child = [sys.executable, "-W", "ignore", grpo_child.__file__, "recipe.json"]
    paths = os.pathsep.join(one for one in sys.path if one)
    surroundings = {**os.environ, "PYTHONPATH": paths}
    ended = subprocess.run([*child, "2", "killed"], cwd=tmp_path, env=surroundings, check=False)
    assert ended.returncode == -signal.SIGKILL
    killed = tmp_path / "killed"
    assert not (killed / "policy").exists()
    newest = last_checkpoint(TrainingFolder(killed))
    assert newest is not None
    assert newest.name == "checkpoint-2"

    # In a process of their own too: what was computed before in a process, in half precision say, shows in last bits.
    subprocess.run([*child, "0", "killed", "whole"], cwd=tmp_path, env=surroundings, check=True)
    went_on, never_killed = (read_finished(TrainingFolder(folder)) for folder in (killed, tmp_path / "whole"))
    assert went_on is not None
    assert never_killed is not None
    the_same_came_of(went_on, never_killed)
    one, began = weights(went_on.policy), weights(tmp_path / "model")
    assert [name for name in one if not one[name].equal(began[name])] != []
