"""Two processes on one machine train as one does: the same batch, the same losses."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from later import later
from scripted_grpo import make_photos
from tiny_vlm import make_tiny_vlm

for needed in ("torch", "trl"):
    later(needed)

RECIPE = """\
name: two
stage: sft
model: {{path: {0}/model, dtype: float32}}
data: {{photos: {0}/photos/photos.csv}}
optim: {{steps: 3, batch: 4, micro_batch: 1, learning_rate: 1.0e-3, warmup_share: 0, gradient_checkpointing: false}}
run: {{tensorboard: false, save_steps: 100}}
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def losses(folder: Path, processes: int) -> list[float]:
    """Train by the command, as a user would; the figures of each step."""
    start = [sys.executable, "-m", "geosleuth"]
    if processes > 1:
        start = [
            sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc_per_node", str(processes),
            "--master_addr", "127.0.0.1", "--master_port", str(free_port()), "-m", "geosleuth",
        ]  # fmt: skip
    out = folder / f"run-{processes}"
    words = [
        "train",
        "sft",
        "--config",
        str(folder / "sft.yaml"),
        "--set",
        f"run.devices={processes}",
        "--out",
        str(out),
    ]
    done = subprocess.run(
        [*start, *words], check=False, capture_output=True, text=True, timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert (out / "policy" / "model.safetensors").is_file()
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line["loss"] for line in lines]


@pytest.mark.slow
def test_two_processes_have_the_losses_of_one(tmp_path: Path) -> None:
    make_tiny_vlm(tmp_path / "model")
    make_photos(tmp_path / "photos", 8)
    (tmp_path / "sft.yaml").write_text(RECIPE.format(tmp_path), encoding="utf-8")
    one, two = losses(tmp_path, 1), losses(tmp_path, 2)
    assert len(one) == 3
    assert one[0] != one[-1]
    assert two == pytest.approx(one, abs=1e-4)
