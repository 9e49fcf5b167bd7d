"""Evaluation while a policy trains: curves, the best policy, and runs that are stopped in the middle of one."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.evaluation import read_evaluation
from geosleuth.lab.train.generator import Replier
from geosleuth.lab.train.grpo import grpo_trainer, run_grpo
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import EvaluationPart, OptimPart, Recipe, RolloutPart
from geosleuth.lab.train.recipe_files import as_mapping, build_recipe
from geosleuth.lab.train.run_folder import TrainingFolder, read_best
from geosleuth.lab.train.run_page import read_run, render_run
from geosleuth.lab.train.sft import run_sft
from geosleuth.lab.train.training_log import metrics_callback, read_metrics
from geosleuth.lab.train.validation import add_evaluations, check_evaluation
from geosleuth.models.weights import check_folder
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import threshold
from in_process import geosleuth
from later import later
from scripted_grpo import FAR, MIDDLE, NEAR, make_photos, make_tiny, script_by_prompt, tiny_recipe
from tiny_vlm import tiny_vlm_folder
from training_runs import short_recipe, short_store

torch = later("torch")
later("trl")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("atlas_home"),
]


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import_module("torch").set_num_threads(1)
    return make_photos(tmp_path_factory.mktemp("photos"), 3)


def part(photos: Path | None, **changes: Any) -> EvaluationPart:
    usual: dict[str, Any] = {
        "every": 2, "scenes": 2, "photos": photos and str(photos), "tries": 2, "method": "smilegeo",
        "max_new_tokens": 4, "keep_best": "reward",
    }  # fmt: skip
    return EvaluationPart(**usual | changes)


def fine_tuning(folder: Path, evaluation: EvaluationPart, tuned: str = "full") -> Recipe:
    """Four steps of fine-tuning."""
    store = folder / "store"
    return replace(
        short_recipe(tiny_vlm_folder(), store if store.exists() else short_store(store), tuned), evaluation=evaluation
    )


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def steps_of(run: TrainingFolder) -> list[int]:
    return sorted(int(path.parent.name.removeprefix("step-")) for path in run.evaluations.glob("*/evaluation.json"))


def test_the_best_policy_of_reinforcement_learning_is_kept(photos: Path, tmp_path: Path) -> None:
    rollout = RolloutPart(
        method="smilegeo", reward="spotagent", reply_tokens=1500, group=4, tools=("image_zoom_in_tool",)
    )
    optim = OptimPart(batch=1, micro_batch=4, steps=3, learning_rate=1e-3, warmup_share=0, gradient_checkpointing=False)
    recipe = tiny_recipe(make_tiny(tmp_path / "model"), photos, rollout, optim=optim)
    recipe = replace(
        recipe, evaluation=part(photos, every=1, max_new_tokens=100, method=None, keep_best="pass@2_2km", scenes=1)
    )
    check_evaluation(recipe)
    run = TrainingFolder(tmp_path / "run")
    model, processor = load_model(recipe.model)
    figures = metrics_callback(run.path, "grpo", tensorboard=False)
    trainer = grpo_trainer(model, processor, prompt_rows(recipe.data), recipe, run.path, callbacks=[figures])
    add_evaluations(trainer, recipe, run)
    # What the policy says of the photos after so many steps: one good try of two after the second.
    later_on = [[FAR, FAR], [MIDDLE, FAR], [NEAR, FAR], [NEAR, FAR]]
    own: dict[int, bytes] = {}

    def say(prompts: Sequence[str]) -> list[str]:
        if len(prompts) == 4:
            return [NEAR, FAR, MIDDLE, FAR]
        own[trainer.state.global_step] = model.state_dict()["lm_head.weight"].numpy().tobytes()
        return later_on[trainer.state.global_step]

    script_by_prompt(model, processor.tokenizer, say)
    trainer.train()
    assert steps_of(run) == [0, 1, 2, 3]
    assert read_best(run) == {"step": 2, "figure": "pass@2_2km", "value": 1.0}
    check_folder(run.best)
    best, _ = load_model(replace(recipe.model, path=str(run.best)))
    assert best.state_dict()["lm_head.weight"].numpy().tobytes() == own[2]
    assert own[2] not in (own[1], own[3])
    lines = {line["step"]: line for line in read_metrics(run.metrics)}
    assert [lines[step]["evaluation/within_2km"] for step in range(4)] == [0, 0, 0.5, 0.5]
    assert [lines[step]["evaluation/pass@2_25km"] for step in range(4)] == [0, 1, 1, 1]
    assert "reward" in lines[2], "figures of training are not disturbed"
    assert "evaluation/reward" not in lines.get(4, {})

    page = render_run(read_run(run.path), generated="now")
    assert "Held-out evaluation" in page
    assert f"Pass@K within {threshold(25.0)}" in page
    assert "one try: from 0" in page
    assert "pass@2: from 0" in page
    assert "The best policy by pass@2_2km is that of step 2: 1." in page


@pytest.mark.slow
def test_fine_tuning_is_the_same_with_evaluations_and_without(photos: Path, tmp_path: Path) -> None:
    plain = run_sft(fine_tuning(tmp_path, EvaluationPart()), tmp_path / "plain")
    found = run_sft(fine_tuning(tmp_path, part(photos)), tmp_path / "run")
    run = TrainingFolder(found.folder)
    assert weights(found.policy) == weights(plain.policy)
    assert found.figures == plain.figures
    assert steps_of(run) == [0, 2, 4]
    assert [len(read_evaluation(run.evaluations / f"step-{step}").scenes) for step in (0, 2, 4)] == [2, 2, 2]
    best = read_best(run)
    assert best is not None
    check_folder(run.best)
    names = {name for line in read_metrics(run.metrics) for name in line}
    assert {"evaluation/within_25km", "evaluation/pass@2_750km", "evaluation/reward", "loss"} <= names


@pytest.mark.slow
@pytest.mark.parametrize("stopped_at", [0, 2])
def test_a_run_that_is_stopped_within_an_evaluation_resumes_it(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: int
) -> None:
    recipe = fine_tuning(tmp_path, part(photos, at_once=2))
    whole = run_sft(recipe, tmp_path / "whole")
    draw, run = Replier.replies, TrainingFolder(tmp_path / "run")

    def dies(self: Replier, asked: Any) -> Any:
        if (
            self.words.name == f"step-{stopped_at}"
            and (run.evaluations / self.words.name / "scenes.jsonl").read_bytes()
        ):
            raise KeyboardInterrupt
        return draw(self, asked)

    with monkeypatch.context() as patch:
        patch.setattr(Replier, "replies", dies)
        with pytest.raises(KeyboardInterrupt):
            run_sft(recipe, run.path)
    kept = (run.evaluations / f"step-{stopped_at}" / "scenes.jsonl").read_bytes()
    assert kept.count(b"\n") == 1
    assert steps_of(run) == [step for step in (0, 2) if step < stopped_at]
    found = run_sft(recipe, run.path)
    assert weights(found.policy) == weights(whole.policy)
    assert (run.evaluations / f"step-{stopped_at}" / "scenes.jsonl").read_bytes().startswith(kept), "not played again"
    assert steps_of(run) == steps_of(TrainingFolder(whole.folder)) == [0, 2, 4]
    assert read_best(run) == read_best(TrainingFolder(whole.folder))
    assert weights(run.best) == weights(TrainingFolder(whole.folder).best)
    shown = [[(line["step"], line["evaluation/reward"]) for line in read_run(one).lines if "evaluation/reward" in line]
             for one in (run.path, whole.folder)]  # fmt: skip
    assert shown[0] == shown[1]


@pytest.mark.slow
def test_saved_policies_are_played_at_photos_from_outside_and_the_best_is_kept(photos: Path, tmp_path: Path) -> None:
    found = run_sft(fine_tuning(tmp_path, EvaluationPart()), tmp_path / "run")
    run = TrainingFolder(found.folder)
    words = ("train", "evaluate", run.path, "--data", photos, "--scenes", "1", "--tries", "2", "--max-new-tokens", "4",
             "--method", "smilegeo", "--keep-best", "reward")  # fmt: skip
    done = geosleuth(*words)
    assert done.returncode == 0, done.stderr
    assert steps_of(run) == [3, 4]
    best = read_best(run)
    assert best is not None
    assert best["step"] == 3, "of equals the first"
    assert weights(run.best) != weights(run.policy)
    assert f"the best by reward: {run.best}, of step 3" in done.stderr
    assert "Held-out evaluation" in run.page.read_text()
    refused = geosleuth(*words[:-1], "luck")
    assert (refused.returncode, "there is no figure 'luck'" in refused.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("tuned", ["full", "lora"])
def test_held_out_scenes_are_played_in_both_stages(photos: Path, tmp_path: Path, tuned: str) -> None:
    evaluation = part(None, scenes=1, method=None)
    found = run_sft(fine_tuning(tmp_path, evaluation, tuned), tmp_path / "sft")
    rollout = RolloutPart(method="smilegeo", reward="spotagent", reply_tokens=8, group=2, tools=())
    recipe = tiny_recipe(make_tiny(tmp_path / "model"), photos, rollout, lora=tuned == "lora")
    then = run_grpo(replace(recipe, evaluation=replace(evaluation, every=1)), tmp_path / "grpo", environment_workers=0)
    for folder, last in ((found.folder, 4), (then.folder, 1)):
        asked = json.loads((folder / "evaluations" / f"step-{last}" / "asked.json").read_text())
        assert (asked["split"], asked["scenes"], asked["tries"]) == ("held-out", 1, 2)
        check_folder(folder / "best")


@pytest.mark.slow
def test_processes_that_train_together_wait_for_the_one_that_plays(photos: Path, tmp_path: Path) -> None:
    recipe = fine_tuning(tmp_path, part(photos))
    (tmp_path / "recipe.yaml").write_text(json.dumps(as_mapping(recipe)))
    # What a run has of steps that are still to come is dropped by the first process alone.
    (tmp_path / "run" / "evaluations" / "step-9").mkdir(parents=True)
    command = [
        sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc_per_node", "2", "--master_addr",
        "127.0.0.1", "--master_port", str(free_port()), "-m", "geosleuth", "train", "coldstart", "--config",
        str(tmp_path / "recipe.yaml"), "--set", "run.devices=2", "--set", "optim.micro_batch=1", "--out",
        str(tmp_path / "run"),
    ]  # fmt: skip
    done = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    run = TrainingFolder(tmp_path / "run")
    assert steps_of(run) == [0, 2, 4]
    assert not (run.evaluations / "step-9").exists()
    check_folder(run.best)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"keep_best": "within_26km"}, "there is no figure 'within_26km'; there are within_0.5km"),
        ({"keep_best": "pass@4_25km"}, "there is no figure"),
        ({"method": "nobody"}, "nobody"),
    ],
)
def test_what_can_not_be_evaluated_is_said_first(
    photos: Path, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        check_evaluation(fine_tuning(tmp_path, part(photos, **changes)))


def test_no_best_policy_by_test_photos_and_none_of_spread_weights(photos: Path, tmp_path: Path) -> None:
    table = photos.read_text().splitlines()
    tested = photos.with_name("tested.csv")
    tested.write_text("\n".join([f"{table[0]},split", *(f"{line},test" for line in table[1:])]) + "\n")
    recipe = fine_tuning(tmp_path, part(tested))
    with pytest.raises(BadInput, match="is for testing, and a policy that was chosen by it has no score"):
        check_evaluation(recipe)
    check_evaluation(replace(recipe, evaluation=part(tested, keep_best=None)))
    spread = replace(recipe, run=replace(recipe.run, sharding="fsdp", devices=8), evaluation=part(photos))
    with pytest.raises(BadInput, match="geosleuth train evaluate RUN/ --follow"):
        check_evaluation(spread)
    with pytest.raises(BadInput, match=r"say after how many steps with evaluation\.every"):
        build_recipe(as_mapping(replace(recipe, evaluation=part(photos, every=0))))
