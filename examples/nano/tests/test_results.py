"""Tables and pictures of the nano model's runs: what is there is shown, what is missing is told."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "nano_results.py"
SCENES = 40


def one_try(near: bool) -> dict[str, Any]:
    return {
        "distance_km": 0.1 if near else 900.0, "reward": 0.5, "answered": True, "reason": "answered", "turns": 2,
        "calls": 1, "failures": {}, "tools": {"read_text": 1}, "input_tokens": 10, "output_tokens": 5, "seconds": 0.1,
        "trouble": None,
    }  # fmt: skip


def evaluation(folder: Path, near: int) -> None:
    """So many of the scenes are answered right."""
    folder.mkdir(parents=True)
    (folder / "asked.json").write_text(json.dumps({"policy": folder.name}))
    with (folder / "scenes.jsonl").open("w") as stream:
        for number in range(SCENES):
            scene = {
                "number": number, "id": f"held-out-{number}", "needs_zoom": number % 2 == 0, "misleading": False,
                "locatability": 8.0, "finest": "precise", "country": "MC",
                "tries": [one_try(number < near)],
                "verified": None,
            }  # fmt: skip
            stream.write(json.dumps(scene) + "\n")


def made(runs: Path, pictures: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(runs), "--pictures", str(pictures)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_tables_and_pictures_of_what_is_there(tmp_path: Path) -> None:
    runs, pictures = tmp_path / "runs", tmp_path / "pictures"
    pictures.mkdir()
    evaluation(runs / "e-cold", 10)
    evaluation(runs / "g-main" / "evaluation", 30)
    for arm, near in {"levels-1": 30, "levels-2": 20, "nocold-1": 5, "nocold-2": 5}.items():
        evaluation(runs / f"g-{arm}" / "evaluation", near)
    evaluation(runs / "e-main-blank-image", 26)
    evaluation(runs / "e-detective", 12)
    history = [
        {"step": step, "accuracy/25km": step / 20, "tools/failure_rate": 0.1, "step_time": float(step)}
        for step in range(1, 11)
    ]
    record = {"history": history, "steps": 10, "seconds": 60.0, "gpu_busy_percent": 30.0}
    for name in ("main", "levels-1", "nocold-1"):
        (runs / f"g-{name}" / "grpo.json").write_text(json.dumps(record))
    done = made(runs, pictures)
    assert done.returncode == 0, done.stderr
    assert "| cold start | 40 | 25.0 (" in done.stdout
    assert "| cold | main | 50.0 (" in done.stdout
    assert "| main | main-blank-image | -10.0 (" in done.stdout
    assert "| GRPO after cold start, 10 steps, seed 1 | 40 | 75.0 (" in done.stdout
    # Both seeds of an arm count: 25 of 40 on average, and 5.
    assert "| GRPO from the base less GRPO after cold start | -50.0 (" in done.stdout
    assert "| all | difference | 45.0 (" in done.stdout
    assert "| GRPO, main | 10 | 60 | 6.0 s a step | 30.0 % |" in done.stdout
    for line in done.stdout.splitlines():
        assert line.count("|") != 1
    assert "missing: an evaluation of base" in done.stderr
    assert {path.name for path in pictures.iterdir()} == {
        f"nano-{name}.{kind}"
        for name in (
            "stages",
            "coldstart",
            "toolfree",
            *(f"{kind}-{run}" for kind in ("grpo", "failed") for run in ("main", "nocold-1")),
        )
        for kind in ("json", "svg")
    }
    curve = json.loads((pictures / "nano-grpo-main.json").read_text())["lines"][0]
    assert curve["points"][0] == {"x": 5, "y": 0.15}
    assert (pictures / "nano-stages.svg").read_text().startswith("<svg")


def test_nothing_there_is_told(tmp_path: Path) -> None:
    done = made(tmp_path, tmp_path)
    assert done.returncode == 0
    assert "missing: an evaluation of main" in done.stderr
    assert "difference" not in done.stdout
