"""Trackio and Weights & Biases: a run's figures are in their files; without the package the message says what to do."""

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.recipe import ModelPart, Recipe, RunPart
from geosleuth.lab.train.trackers import tracker_callbacks
from geosleuth.support.errors import BadInput
from later import later
from own_venv import ROOT, python_with
from scripted_grpo import make_photos, make_tiny

later("transformers")

RECIPE = """\
name: tracked
stage: grpo
model: {{path: {0}/model, dtype: float32}}
data: {{photos: {0}/photos/photos.csv}}
optim: {{steps: 2, batch: 1, micro_batch: 2, learning_rate: 1.0e-3, gradient_checkpointing: false}}
rollout:
  {{method: spotagent, reward: spotagent, tools: [image_zoom_in_tool], turns: 2, group: 4, reply_tokens: 512}}
trainer: {{log_completions: true}}
run: {{trackers: [{1}]}}
"""


def tracked(name: Any) -> Recipe:
    return Recipe(name="mine", stage="sft", model=ModelPart(path="x"), run=RunPart(trackers=(name,)))


@pytest.mark.slow
@pytest.mark.parametrize("requirement", ["wandb==0.31.0", "trackio==0.43.0"])
def test_a_run_is_tracked_without_the_network(requirement: str, tmp_path: Path) -> None:
    """A whole run by the command, where the tracker is installed: figures, a table of replies, no connection."""
    name = requirement.partition("=")[0]
    python, child = python_with(requirement), ROOT / "tests" / "support" / "spread_child.py"
    make_tiny(tmp_path / "model")
    make_photos(tmp_path / "photos", 2)
    (tmp_path / "grpo.yaml").write_text(RECIPE.format(tmp_path, name), encoding="utf-8")
    unset = {"WANDB_MODE", "TRACKIO_DIR"}
    words = ("train", "grpo", "--config", tmp_path / "grpo.yaml", "--out", tmp_path / "run", "--json")
    done = subprocess.run(
        [python, child, *words], check=False, capture_output=True, text=True, timeout=600,
        env={one: value for one, value in os.environ.items() if one not in unset}
        | {"OMP_NUM_THREADS": "1", "REPLAYED": "yes", "REACHED": str(tmp_path / "reached.txt")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["steps"] == 2
    assert (tmp_path / "reached.txt").read_text(encoding="utf-8") == ""
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    gradients = [line["grad_norm"] for line in lines]
    assert all(gradients)
    kept, replies = (in_trackio if name == "trackio" else in_wandb)(tmp_path / "run" / name)
    assert all(json.dumps(one).encode() in kept for one in gradients)
    assert len(replies) == 8
    assert all("image_zoom_in_tool" in reply and "country" in reply for reply in replies)


def in_wandb(folder: Path) -> tuple[bytes, list[str]]:
    """What W&B kept: its record of figures, and the replies in its tables."""
    (record,) = folder.glob("offline-run-*/run-*.wandb")
    tables = [json.loads(one.read_bytes()) for one in folder.glob("offline-run-*/files/media/table/*.json")]
    return record.read_bytes(), [row[table["columns"].index("completion")] for table in tables for row in table["data"]]


def in_trackio(folder: Path) -> tuple[bytes, list[str]]:
    """What Trackio kept: its record of figures, and the replies in its tables."""
    with closing(sqlite3.connect(folder / "geosleuth.db")) as tables:
        lines = [line for (line,) in tables.execute("select metrics from metrics")]
    rows = [row for line in lines for row in json.loads(line).get("completions", {}).get("_value", ())]
    return b"\n".join(lines), [row["completion"] for row in rows]


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_without_the_package_the_message_says_how_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geosleuth.lab.train.trackers.find_spec", lambda _: None)
    with pytest.raises(BadInput, match=f"{name} is not installed; run: pip install {name}"):
        tracker_callbacks(tracked(name), tmp_path)
