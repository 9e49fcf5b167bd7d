"""Two processes on one machine train as one does: the same batch, the same losses, whole models or pieces of one."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from later import later
from scripted_grpo import make_photos, make_tiny

for needed in ("torch", "trl"):
    later(needed)

OPTIM = "micro_batch: 1, warmup_share: 0, gradient_checkpointing: false"
RECIPES = {
    "sft": f"optim: {{steps: 3, batch: 4, learning_rate: 1.0e-3, {OPTIM}}}",
    # The second pass over a step's replies is off-policy: only then are losses of any size.
    "grpo": f"""\
optim: {{steps: 4, batch: 2, learning_rate: 3.0e-3, {OPTIM}}}
rollout:
  {{method: spotagent, reward: spotagent, tools: [image_zoom_in_tool], turns: 2, group: 2, reply_tokens: 512,
   loss: dapo, kl: 0.04}}
trainer: {{num_iterations: 2}}""",
}
CHILD = Path(__file__).parents[2] / "support" / "spread_child.py"


@dataclass(frozen=True)
class Trained:
    losses: list[float]
    gradients: list[float]
    told: str


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Trained]:
    folder = tmp_path_factory.mktemp("two")
    make_tiny(folder / "model")
    make_photos(folder / "photos", 8)
    known: dict[tuple[str, int, str], Trained] = {}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "REPLAYED": "yes"}

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *words], check=False, capture_output=True, text=True, timeout=600, env=environment
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done

    def trained(stage: str, processes: int = 1, sharding: str = "none") -> Trained:
        """Train by the command, spread as its dry run says."""
        asked = (stage, processes, sharding)
        if asked in known:
            return known[asked]
        recipe, out = folder / f"{stage}.yaml", folder / "-".join(map(str, asked))
        recipe.write_text(
            f"name: two\nstage: {stage}\nmodel: {{path: {folder}/model, dtype: float32}}\n"
            f"data: {{photos: {folder}/photos/photos.csv}}\n{RECIPES[stage]}\n"
            "run: {tensorboard: false, save_steps: 100}\n",
            encoding="utf-8",
        )
        changes = ["--set", f"run.devices={processes}", "--set", f"run.sharding={sharding}"]
        plan = json.loads(command("-m", "geosleuth", "train", "dry-run", str(recipe), *changes, "--json").stdout)
        spread = folder / "spread.json"
        spread.write_text(json.dumps(plan["accelerate"]), encoding="utf-8")
        launch = ["-m", "accelerate.commands.launch", "--config_file", str(spread), "--main_process_port", "0"]
        done = command(*launch, str(CHILD), "train", stage, "--config", str(recipe), *changes, "--out", str(out))
        assert (out / "policy" / "model.safetensors").is_file()
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        losses, gradients = ([line[name] for line in lines] for name in ("loss", "grad_norm"))
        known[asked] = Trained(losses, gradients, done.stderr)
        return known[asked]

    return trained


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["sft", "grpo"])
@pytest.mark.parametrize("sharding", ["none", "fsdp"])
def test_two_processes_have_the_losses_of_one(train: Callable[..., Trained], stage: str, sharding: str) -> None:
    one, two = train(stage), train(stage, 2, sharding)
    assert len(one.losses) == (3 if stage == "sft" else 4)
    assert max(one.losses) - min(one.losses) > 0.01
    assert two.losses == pytest.approx(one.losses, abs=1e-4)
    assert two.gradients == pytest.approx(one.gradients, rel=1e-3)
    shares = [int(own) / int(whole) for own, whole in re.findall(r"holds (\d+) of (\d+) weights", two.told)]
    assert shares == pytest.approx([0.5, 0.5] if sharding == "fsdp" else [], abs=0.01)
