"""The unattended run of the nano model: its plan covers all that is compared, and a small one runs to its end."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
SMALL: dict[str, Any] = {
    "size": "tiny", "held_out": 3, "scenes": 4, "teachers": 1, "speakers": 1, "painters": 1, "loaders": 0,
    "words": {"seconds": 6, "rate": 4e-4, "tokens": 1024, "steps": 12},
    "base": {"seconds": 20, "rate": 4e-4, "tokens": 2048, "steps": 3},
    "sft": {"seconds": 6, "rate": 4e-4, "tokens": 2048},
    "coldstart": {"seconds": 6, "rate": 4e-4, "tokens": 2048},
    "sizes": [4], "size_steps": 2, "tried": 2,
    "grpo": {"seconds": 600, "rate": 1e-4, "steps": 3, "prompts": 2, "group": 2, "micro": 2, "decide_after": 0.1},
    "runs": {"main": {"crew": 1}, "ours": {}, "random": {"after_tries": True}},
}  # fmt: skip


def script(name: str) -> Any:
    spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "nano_pipeline.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_all_that_tables_compare_is_in_the_plan() -> None:
    pipeline, results = script("nano_pipeline"), script("nano_results")
    measured = {name.removeprefix("e-") for name, *_ in (*pipeline.EARLY, *pipeline.LATE)}
    made = {*pipeline.PLAN["runs"], *measured, *(f"cold-{size}" for size in pipeline.PLAN["sizes"])}
    wanted = {name for rows in results.COMPARED.values() for name in rows}
    wanted |= {f"{name}{bare}" for name in results.STAGES for bare in ("", "-bare")} | {"main-4", "nocold"}
    assert wanted <= made


def test_the_plan_is_shown_with_what_differs(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"scenes": 5}))
    shown = run(tmp_path, "--plan", tmp_path / "plan.json", "--show-plan")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout) == script("nano_pipeline").PLAN | {"scenes": 5}


@pytest.mark.slow
def test_a_small_plan_from_random_weights_to_figures(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(SMALL))
    root = tmp_path / "root"
    done = run(root, "--plan", tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    runs = root / "runs"
    evaluations = ["e-base", "e-cold-bare", "e-cold-4", "e-main-4", "g-main/evaluation", "g-random/evaluation"]
    for name in evaluations:
        assert len((runs / name / "scenes.jsonl").read_text().splitlines()) == SMALL["held_out"], name
    steps = {name: json.loads((runs / f"g-{name}" / "grpo.json").read_text())["steps"] for name in SMALL["runs"]}
    assert steps == {"main": 3, "ours": 3, "random": 3}
    began = done.stderr.count("begins")
    again = run(root, "--plan", tmp_path / "plan.json")
    assert again.returncode == 0, again.stderr
    assert began > 0
    assert "begins" not in again.stderr
