"""What a run trained with is written beside its weights, and an evaluation plays it so."""

import json
from pathlib import Path

import pytest

from geosleuth.agent import read_trajectory
from geosleuth.agent.policy_card import read_card
from geosleuth.lab.scenes.environment import build_prompt_column
from geosleuth.lab.train.evaluation import EvaluationSettings, evaluate
from geosleuth.lab.train.grpo import run_grpo
from geosleuth.lab.train.recipe import RolloutPart
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.lab.train.run_folder import TrainingFolder
from geosleuth.lab.train.saved_policies import as_trained, find_run
from geosleuth.support.errors import BadInput
from in_process import geosleuth
from later import later
from scripted_grpo import make_photos, make_tiny, tiny_recipe

later("torch")
later("trl")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, photos: Path) -> TrainingFolder:
    """A run that learned SpotAgent's words with a tool less, two turns, and a line of the user's own."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "words").mkdir()
    (folder / "words" / "system.txt").write_text("Mind the kerbs.\n\n{{own}}")
    rollout = RolloutPart(
        method="spotagent", reward="spotagent", tools=("maps_geocode", "image_zoom_in_tool"), turns=2,
        prompts=folder / "words", reply_tokens=8, group=2,
    )  # fmt: skip
    recipe = tiny_recipe(make_tiny(folder / "model"), photos, rollout, save_steps=1)
    run_grpo(recipe, folder / "run", environment_workers=0)
    return TrainingFolder(folder / "run")


@pytest.mark.usefixtures("atlas_home")
def test_an_evaluation_shows_what_training_showed(run: TrainingFolder, photos: Path, tmp_path: Path) -> None:
    card = read_card(run.policy)
    assert (card.method, card.tools, card.turns) == ("spotagent", ("image_zoom_in_tool", "maps_geocode"), 2)
    assert (card.wire, card.box_scale) == ("native", "thousandths")
    with as_trained(
        find_run(run.policy), EvaluationSettings(scenes=1, photos=str(photos), max_new_tokens=4)
    ) as settings:
        evaluate(run.policy, settings, folder=tmp_path, keep_trajectories=True)
    (played,) = (tmp_path / "trajectories").glob("*.jsonl")
    started = read_trajectory(played).started
    recipe = tiny_recipe(run.path.parent / "model", photos, RolloutPart(
        method="spotagent", reward="spotagent", tools=card.tools, turns=2, prompts=run.path.parent / "words",
    ))  # fmt: skip
    trained = rollout_setup(recipe).setting
    assert (started.method, started.wire, started.budget.turns) == ("spotagent", "native", 2)
    assert started.tools == trained.toolset.names
    assert started.system == build_prompt_column(trained)[0]["content"]
    assert started.system.startswith("Mind the kerbs.")
    asked = json.loads((tmp_path / "asked.json").read_text())
    assert (asked["method"], asked["tools"], asked["turns"]) == ("spotagent", list(card.tools), 2)


def test_what_it_did_not_learn_is_refused(run: TrainingFolder, tmp_path: Path) -> None:
    for words in (["--method", "twm"], ["--prompts", str(tmp_path)]):
        done = geosleuth("train", "evaluate", run.policy, "--scenes", "1", *words)
        assert done.returncode == 2
    assert "trained with --method spotagent, not twm; leave --method out" in geosleuth(
        "train", "evaluate", run.path, "--scenes", "1", "--method", "twm"
    ).stderr.replace("\n", " ")
    with pytest.raises(BadInput, match="with other words; pass their folder with --prompts"):
        evaluate(run.policy, EvaluationSettings(scenes=1))
