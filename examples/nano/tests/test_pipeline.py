"""The unattended run of the nano model: its plan covers all that is compared, and a small one runs to its end."""

import json
import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nano.shards import Encoded, ShardWriter
from nano_plan import ARMS

SCRIPTS = Path(__file__).parents[1]

SMALL: dict[str, Any] = {
    "size": "tiny", "held_out": 3, "scenes": 4, "teachers": 1, "speakers": 1, "painters": 1, "loaders": 0,
    "words": {"seconds": 6, "rate": 4e-4, "tokens": 1024, "steps": 12},
    "base": {"seconds": 20, "rate": 4e-4, "tokens": 2048, "steps": 3},
    "sft": {"seconds": 6, "rate": 4e-4, "tokens": 2048},
    "coldstart": {"seconds": 6, "rate": 4e-4, "tokens": 2048},
    "tried": 2, "compared": 2,
    "grpo": {
        "seconds": 600, "rate": 1e-4, "steps": 2, "prompts": 2, "group": 2, "micro": 2, "tries": False,
        "tries_workers": 0,
    },
    "runs": {
        "main": {"workers": 1, "steps": 3}, "city-1": {"reward": "geovista-city"}, "bare-1": {"bare": True},
        "reasons-1": {**ARMS["reasons"], "group": 4},
    },
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
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)


def test_all_that_tables_compare_is_in_the_plan() -> None:
    pipeline, results = script("nano_pipeline"), script("nano_results")
    measured = {name.removeprefix("e-") for name, *_ in (*pipeline.EARLY, *pipeline.LATE)}
    made = {*pipeline.PLAN["runs"], *measured}
    arms = {name for rows in results.COMPARED.values() for name in rows} - {"cold"}
    wanted = {f"{arm}-{seed}" for arm in arms for seed in results.SEEDS}
    wanted |= {f"{name}{bare}" for name in results.STAGES for bare in ("", "-bare")} | set(results.CONTROLS)
    # Reading from pixels is measured apart: the machine with the GPU has no OCR engine.
    assert wanted - {"main-pixels"} == made


def test_lessons_of_the_last_stage_are_kept_for_the_study_of_data_sizes() -> None:
    assert set(script("nano_pipeline").KEPT) == set(script("train_nano").MIXES["coldstart"])


def test_the_plan_is_shown_with_what_differs(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"scenes": 5}))
    shown = run(tmp_path, "--plan", tmp_path / "plan.json", "--show-plan")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout) == script("nano_pipeline").PLAN | {"scenes": 5}


@pytest.mark.parametrize(
    ("differs", "refusal"),
    [
        ({"scnes": 5}, "the plan has no 'scnes'; --show-plan prints all that it has"),
        ({"grpo": {"second": 5}}, "'grpo' has no 'second'; --show-plan prints all that it has"),
        ({"base": {"seconds": 0}}, "a run of GRPO starts from the stage base, which the plan leaves out"),
        ({"runs": {"ours": {}}}, "the plan has no run called main, which the last evaluations are of"),
    ],
)
def test_a_plan_with_unknown_settings_is_refused_at_once(tmp_path: Path, differs: Any, refusal: str) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(differs))
    refused = run(tmp_path / "root", "--plan", tmp_path / "plan.json")
    assert (refused.returncode, refused.stderr) == (
        1, f"nano_pipeline: {refusal}\n",
    )  # fmt: skip


def test_stages_are_changed_setting_by_setting() -> None:
    pipeline = script("nano_pipeline")
    plan = pipeline.changed(pipeline.PLAN, {"grpo": {"seconds": 9}, "runs": {"main": {}}})
    assert plan["grpo"] == {**pipeline.PLAN["grpo"], "seconds": 9}
    assert plan["runs"] == {"main": {}}


def test_a_teacher_that_was_stopped_goes_on_with_its_next_scene(tmp_path: Path) -> None:
    next_scene = script("train_nano").next_scene
    assert next_scene(tmp_path / "trajectory", "worker", 2, 5) == 2
    sample = Encoded(np.zeros(3, np.int32), np.ones(3, np.bool_), ())
    with ShardWriter(tmp_path, "trajectory", "worker-02", samples=2) as shards:
        for scene in (2, 7, 12):
            shards.add(sample, {"scene": scene})
    assert next_scene(tmp_path / "trajectory", "worker", 2, 5) == 17
    assert next_scene(tmp_path / "trajectory", "worker", 2, 8) == 18  # the next of every eighth
    assert next_scene(tmp_path / "trajectory", "worker", 3, 5) == 3


def test_programs_end_with_the_one_that_started_them() -> None:
    waits = (
        "import sys, time; sys.path.append(sys.argv[1]); import train_nano as t; t.leave_with_parent(); time.sleep(60)"
    )
    starts = (
        "import os, subprocess, sys; env = {**os.environ, 'NANO_PIPELINE': str(os.getpid())}\n"
        "one = subprocess.Popen([sys.executable, '-c', *sys.argv[1:]], env=env, stdout=-3, stderr=-3); print(one.pid)"
    )
    parent = subprocess.run(
        [sys.executable, "-c", starts, waits, str(SCRIPTS)], capture_output=True, text=True, check=True, timeout=60
    )
    child = Path(f"/proc/{int(parent.stdout)}")
    until = time.monotonic() + 30
    while child.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not child.exists()


def test_a_rate_fades_in_the_second_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed; it is part of the extra train")
    callbacks = script("nano_callbacks")
    now = [100.0]
    monkeypatch.setattr(callbacks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _step: 1.0)
    fading = callbacks.fading(object, 1e-4, 80.0)
    rates = []
    for passed, wrapped in ((0, False), (40, False), (60, True), (80, False), (90, False)):
        now[0] = 100.0 + passed
        # accelerate wraps the schedule
        given = SimpleNamespace(scheduler=schedule) if wrapped else schedule
        fading.on_step_begin(None, None, None, lr_scheduler=given)
        optimizer.step()
        schedule.step()
        rates.append(round(1e6 * optimizer.param_groups[0]["lr"], 3))
    assert rates == [100, 100, 50, 0, 0]


def test_a_rate_that_fades_needs_a_time() -> None:
    command = [sys.executable, str(SCRIPTS / "train_nano.py"), "grpo", "--name", "x", "--model", "x", "--out", "x"]
    refused = subprocess.run([*command, "--steps", "1", "--fade"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.endswith("--fade needs --seconds: a rate fades by the time\n")


def policy_of(words: str, folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(words)
    return folder


def test_what_follows_a_stage_that_is_left_out_goes_on_from_the_one_before(tmp_path: Path) -> None:
    pipeline = script("nano_pipeline")
    plan = pipeline.changed(pipeline.PLAN, {"sft": {"seconds": 0}})
    one = pipeline.Pipeline(tmp_path / "root", plan)
    policy_of("taught", one._policy("base"))
    assert not one._left_out("base", "base", after="words")
    assert one._left_out("sft", "sft", after="base")
    assert (one._policy("sft") / "config.json").read_text() == "taught"
    assert one._done("sft")
    assert not one._studied("sft")


def test_a_run_can_go_on_with_grpo_alone(tmp_path: Path) -> None:
    pipeline = script("nano_pipeline")
    start = policy_of("earlier", tmp_path / "earlier")
    none = {name: {"seconds": 0} for name in ("base", "sft", "coldstart")}
    plan = pipeline.changed(pipeline.PLAN, {"start": str(start), **none, "runs": {"main": {}}})
    one = pipeline.Pipeline(tmp_path / "root", plan)
    assert [name for name, *_ in one._early()] == ["e-cold", "e-cold-bare"]
    assert not pipeline.Pipeline(tmp_path / "root", {**plan, "early": False})._early()
    one.learn()
    assert [(place / "config.json").read_text() for place in (one.nano, one._policy("cold"))] == ["earlier"] * 2
    (start / "config.json").unlink()  # after a kill it is not needed again
    one.learn()


def test_steps_are_said_by_the_plan_or_follow_from_the_speed_of_the_base(tmp_path: Path) -> None:
    pipeline = script("nano_pipeline")
    one = pipeline.Pipeline(
        tmp_path, pipeline.changed(pipeline.PLAN, {"sft": {"steps": 9}, "coldstart": {"seconds": 30}})
    )
    assert one._planned_steps("sft", 0.7) == 9
    with pytest.raises(SystemExit, match="the plan must say the steps of coldstart"):
        one._planned_steps("coldstart", 1.3)
    (tmp_path / "runs" / "base").mkdir()
    (tmp_path / "runs" / "base" / "study.json").write_text(json.dumps({"steps": 100, "seconds": 50}))
    assert one._planned_steps("coldstart", 1.3) == pytest.approx(1.3 * 2 * 30)


@pytest.mark.slow
def test_a_small_plan_from_random_weights_to_figures(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(SMALL))
    root = tmp_path / "root"
    done = run(root, "--plan", tmp_path / "plan.json")
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    runs = root / "runs"
    for name in ("e-cold", "g-main/evaluation"):
        assert len((runs / name / "scenes.jsonl").read_text().splitlines()) == SMALL["held_out"], name
    for name in ("e-base", "e-cold-bare", "e-main-blank-image", "e-main-other-tools", "g-bare-1/evaluation"):
        assert len((runs / name / "scenes.jsonl").read_text().splitlines()) == SMALL["compared"], name
    steps = {name: json.loads((runs / f"g-{name}" / "grpo.json").read_text())["steps"] for name in SMALL["runs"]}
    assert steps == {"main": 3, "city-1": 2, "bare-1": 2, "reasons-1": 2}
    with_tools = {
        name: json.loads((runs / f"g-{name}" / "evaluation" / "asked.json").read_text())["with_tools"]
        for name in ("bare-1", "reasons-1")
    }
    assert with_tools == {"bare-1": True, "reasons-1": False}
    (root / "done" / "g-city-1").unlink()
    again = run(root, "--plan", tmp_path / "plan.json")
    assert again.returncode == 0, again.stderr
    assert [line.rpartition(": ")[2] for line in again.stderr.splitlines() if "begins" in line] == ["g-city-1"]
    assert (root / "done" / "g-city-1").exists()
