"""Tables and pictures of the nano model's runs: what is there is shown, what is missing is told."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "nano_results.py"
SCENES = 40


def one_try(near: bool) -> dict[str, Any]:
    return {
        "distance_km": 0.1 if near else 900.0, "reward": 0.5, "answered": True, "reason": "answered", "turns": 2,
        "calls": 1, "failures": {}, "tools": {"read_text": 1}, "input_tokens": 10, "output_tokens": 5, "seconds": 0.1,
        "trouble": None,
    }  # fmt: skip


def evaluation(folder: Path, near: int, tries: int = 1) -> None:
    """So many of the scenes are answered right; of several tries the first alone is, and the verifier takes it."""
    folder.mkdir(parents=True)
    (folder / "asked.json").write_text(json.dumps({"policy": folder.name}))
    with (folder / "scenes.jsonl").open("w") as stream:
        for number in range(SCENES):
            right = one_try(number < near)
            scene = {
                "number": number, "id": f"held-out-{number}", "needs_zoom": number % 2 == 0, "misleading": False,
                "locatability": 8.0, "finest": "precise", "country": "MC",
                "tries": [right, *(one_try(near=False) for _ in range(tries - 1))],
                "verified": right if tries > 1 else None,
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
    evaluation(runs / "g-slow" / "evaluation", 15)
    evaluation(runs / "e-main-4", 20, tries=4)
    evaluation(runs / "e-detective", 12)
    history = [{"step": step, "accuracy/25km": step / 20, "tools/failure_rate": 0.1} for step in range(1, 11)]
    for name in ("main", "slow"):
        (runs / f"g-{name}" / "grpo.json").write_text(json.dumps({"history": history}))
    done = made(runs, pictures)
    assert done.returncode == 0, done.stderr
    assert "| cold start | 40 | 25.0 (" in done.stdout
    assert "| cold | main | 50.0 (" in done.stdout
    assert "| cold | slow | 12.5 (" in done.stdout
    assert "| slow, 10 steps | 40 | 37.5 (" in done.stdout
    assert "| 25 km | 12.5 | 50.0 | 50.0 | 37.5 (" in done.stdout
    assert "| all | difference | 45.0 (" in done.stdout
    for line in done.stdout.splitlines():
        assert line.count("|") != 1
    assert "missing: an evaluation of base" in done.stderr
    assert {path.name for path in pictures.iterdir()} == {
        f"nano-{name}.{kind}"
        for name in ("stages", "grpo-main", "grpo-slow", "failed-main", "failed-slow")
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
