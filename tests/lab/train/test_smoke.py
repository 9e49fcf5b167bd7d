"""All stages of training by the commands that people give, with a tiny model on a CPU, each killed once or not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from in_process import geosleuth
from later import later
from scripted_grpo import make_photos, make_tiny
from training_runs import short_store

later("trl")

GEOSLEUTH = Path(sys.executable).with_name("geosleuth")
PATIENCE_S = 300
"""How long one command may take; machines that run tests are busy."""


def recipe(folder: Path, stage: str, model: Path, **parts: dict[str, Any]) -> Path:
    optim = {"steps": 2, "micro_batch": 2, "learning_rate": 1e-3, "warmup_share": 0.0, "gradient_checkpointing": False}
    whole = {
        "name": f"smoke-{stage}", "stage": stage, "model": {"path": str(model), "dtype": "float32", "max_pixels": 4096},
        "data": parts.get("data", {}), "optim": optim | parts.get("optim", {}), "rollout": parts.get("rollout", {}),
        "run": {"save_steps": 1, "keep": 2, "tensorboard": False},
    }  # fmt: skip
    path = folder / f"{stage}.yaml"
    path.write_text(yaml.safe_dump(whole), encoding="utf-8")
    return path


def started(stage: str, config: Path, out: Path) -> "subprocess.Popen[str]":
    """The command, in a process of its own."""
    return subprocess.Popen(
        [GEOSLEUTH, "train", stage, "--config", config, "--out", out, "--json"],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def killed_after_a_step(running: "subprocess.Popen[str]", out: Path) -> None:
    """Wait for the first checkpoint, and then kill -9."""
    state = out / "checkpoints" / "checkpoint-1" / "trainer_state.json"
    end = time.monotonic() + PATIENCE_S
    while not (state.is_file() and state.stat().st_size):
        assert running.poll() is None, running.communicate()[1]
        assert time.monotonic() < end, "no checkpoint was written"
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert not (out / "done.json").exists()


def ended(stage: str, config: Path, out: Path, *, killed: bool) -> tuple[int, str, str]:
    """How the command ends: as it is, or when it is given again after it was killed."""
    if killed:
        killed_after_a_step(started(stage, config, out), out)
    if killed and stage == "sft":
        again = started(stage, config, out)
        stdout, stderr = again.communicate(timeout=PATIENCE_S)
        return again.returncode, stdout, stderr
    # What was killed has left nothing but files. A process of its own takes most of its time to load the libraries, so
    # only one stage goes on in one.
    done = geosleuth("train", stage, "--config", config, "--out", out, "--json")
    return done.returncode, done.stdout, done.stderr


def trained(stage: str, config: Path, out: Path, *, killed: bool) -> Path:
    """Run a stage; the policy."""
    status, stdout, stderr = ended(stage, config, out, killed=killed)
    assert status == 0, stderr
    assert f"smoke-{stage}, stage {stage}" in stderr
    assert "memory of each device" in stderr
    told = json.loads(stdout)
    assert (told["finished"], told["steps"]) == (True, 2)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2]
    assert {line["stage"] for line in lines} == {stage}
    assert "Finished after 2 steps" in (out / "run.html").read_text(encoding="utf-8")
    policy = Path(told["policy"])
    assert (policy / "model.safetensors").is_file()
    return policy


@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["straight", "killed"])
@pytest.mark.usefixtures("atlas_home")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_from_nothing_to_a_policy_through_all_stages(tmp_path: Path, killed: bool) -> None:
    begun = make_tiny(tmp_path / "model")
    scenes = {"scenes": 1, "questions": ["country", "script"]}
    config = recipe(tmp_path, "sft", begun, data=scenes, optim={"batch": 2})
    tuned = trained("sft", config, tmp_path / "sft", killed=killed)

    store = {"store": str(short_store(tmp_path / "store", 2))}
    config = recipe(tmp_path, "coldstart", tuned, data=store, optim={"batch": 2})
    cold = trained("coldstart", config, tmp_path / "cold", killed=killed)

    photos = {"photos": str(make_photos(tmp_path / "photos", 2))}
    rollout = {
        "method": "spotagent",
        "reward": "spotagent",
        "tools": ["image_zoom_in_tool"],
        "group": 2,
        "reply_tokens": 8,
    }
    config = recipe(tmp_path, "grpo", cold, data=photos, optim={"batch": 1}, rollout=rollout)
    last = trained("grpo", config, tmp_path / "grpo", killed=killed)
    weights = [(one / "model.safetensors").read_bytes() for one in (begun, tuned, cold)]
    assert len({*weights}) == 3, "a stage moved no weight"
    assert (last / "config.json").is_file()
