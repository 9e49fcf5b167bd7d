"""The nano recipe and its example: the dry run builds the model, and the weights in examples/nano play."""

import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.lab.train.dryrun import dry_run
from geosleuth.lab.train.recipe_files import read_recipe
from later import later

for needed in ("torch", "transformers", "trl", "peft"):
    later(needed)


def test_the_dry_run_knows_the_model_and_says_that_its_weights_are_absent() -> None:
    # Photos that are not here take the place of scenes, which would be drawn.
    report = dry_run(read_recipe("nano-grpo", {"data.photos": "nowhere.csv"}))
    assert report.ok
    assert report.resolved["parameters"] == 28_143_040
    assert report.resolved["environment.method"] == "nano"
    assert [line.partition(":")[0] for line in report.absent] == ["weights", "data"]


@pytest.mark.slow
def test_the_shipped_weights_play_in_the_examples_own_tests() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "examples/nano/tests/test_shipped.py"]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "2 passed" in done.stdout
