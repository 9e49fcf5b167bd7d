"""Folders of training runs with made-up figures, written as real runs write them."""

import math
import random
from pathlib import Path

import yaml

from geosleuth.lab.train.rollouts import ANSWER_RATE, CALL_RATE, CALLS, FAILURE_RATE
from geosleuth.lab.train.training_log import GPU_UTILISATION, Recorder, part_name, within_name


def write_run(folder: Path, steps: int, *, name: str = "made-up") -> Path:
    """A run of reinforcement learning that has come so far: figures of every kind, better towards the end."""
    folder.mkdir(parents=True)
    recipe = {
        "name": name, "stage": "grpo", "model": {"path": "models/tiny", "tuned": "full"},
        "optim": {"learning_rate": 1e-5, "steps": 500}, "rollout": {"group": 8, "tools": None, "clip": [0.2, 0.28]},
    }  # fmt: skip
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    luck = random.Random(7)
    writing = Recorder(folder, "grpo", tensorboard=False)
    writing.begin(0)
    for step in range(1, steps + 1):
        done = step / steps

        def near(value: float, spread: float = 0.03) -> float:
            return max(0.0, value + luck.gauss(0, spread))

        figures = {
            "loss": luck.gauss(0, 0.02), "grad_norm": near(1), "learning_rate": 1e-5 * (1 - done),
            "reward": near(0.2 + 0.5 * done), "reward_std": near(0.3 - 0.1 * done), "frac_reward_zero_std": 0.1 * done,
            CALLS: near(1 + 2 * done), FAILURE_RATE: near(0.3 - 0.25 * done), CALL_RATE: 0.9, ANSWER_RATE: 0.8,
            "tools/call_frequency": 0.5, "tools/failure_frequency": 0.0,
            "completions/mean_length": 180 + 60 * done, "completions/min_length": 90.0,
            "completions/max_length": 400.0, "completions/clipped_ratio": 0.05, "kl": near(0.02 * done, 0.001),
            "entropy": 1.2 - 0.6 * done, "clip_ratio/region_mean": 0.02, "num_tokens": 20_000 * step, "step_time": 7.0,
            GPU_UTILISATION: 0.9,
        }  # fmt: skip
        figures |= {part_name(part): near(0.5 * done) for part in ("format", "distance", "levels")}
        figures |= {within_name(km): min(1.0, near((math.log10(km) + 1) / 4 * done)) for km in (750.0, 0.5, 25.0)}
        writing.write(step, figures)
    writing.end()
    return folder
