"""Reinforcement learning with a tiny model that is made to call tools: rewards, figures, and what carries no loss."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.scenes.environment import pose_photo
from geosleuth.lab.train.grpo import compute_scaled_advantages, grpo_trainer, run_grpo
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import ModelPart, OptimPart, Recipe, RolloutPart
from geosleuth.lab.train.rollouts import FAILED_CALLS, Rollouts, RolloutSetup, rollout_setup
from geosleuth.lab.train.training_log import part_name, read_metrics, within_name
from geosleuth.support.errors import BadInput
from later import later
from scripted_grpo import FAR, MIDDLE, NEAR, called, make_photos, make_tiny, script, tiny_recipe

later("trl")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("atlas_home"),
]
ZOOM = called("image_zoom_in_tool", bbox_2d=[0, 0, 48, 32])
GEOCODE = called("maps_geocode", address="Monaco")
NO_SUCH_TOOL = called("fly_there", speed=3)
BROKEN = '<tool_call>\n{"name": "maps_geocode", "arguments": \n</tool_call>'


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import_module("torch").set_num_threads(1)
    return make_tiny(tmp_path_factory.mktemp("grpo") / "model")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 3)


def made(
    recipe: Recipe, folder: Path, said: list[list[str]], setup: RolloutSetup | None = None, workers: int = 0
) -> Any:
    """The trainer, whose model says what is given for the rows of each generation."""
    model, processor = load_model(recipe.model)
    rows = prompt_rows(recipe.data)
    trainer = grpo_trainer(model, processor, rows, recipe, folder, setup=setup, workers=workers)
    turns = iter(said)
    script(model, processor.tokenizer, lambda _rows: next(turns))
    return trainer


def with_tools(**changes: Any) -> RolloutPart:
    usual: dict[str, Any] = {"method": "smilegeo", "reward": "spotagent", "reply_tokens": 1500, "group": 4}
    return RolloutPart(**usual | {"tools": ("image_zoom_in_tool", "maps_geocode")} | changes)


def test_a_step_with_tools(tiny: Path, photos: Path, tmp_path: Path) -> None:
    recipe = tiny_recipe(tiny, photos, with_tools(kl=0.1, entropy=0.01))
    turned = called("image_zoom_in_tool", bbox_2d=[48, 32, 0, 0])
    first, then = [turned, GEOCODE, NO_SUCH_TOOL, BROKEN], [NEAR, FAR, NEAR]
    trainer = made(recipe, tmp_path, [first, then])
    trainer.train()
    told = trainer.state.log_history[0]
    assert told[part_name("linear")] == told["reward"] == pytest.approx(0.5)
    assert told[within_name(0.5)] == told[within_name(750)] == 0.5
    assert told["answered"] == 0.75
    assert told["tools/call_rate"] == told["tools/calls"] == 1
    # The tool that there is not, and the call that is none.
    assert told["tools/failure_rate"] == 0.5
    assert told["tools/strict_failure_rate"] == 0.75  # with the box that was turned round
    assert told["kl"] == pytest.approx(0, abs=1e-6)  # the policy is still the model it began as
    assert told["grad_norm"] > 0

    (batch,) = trainer._buffered_inputs
    tokenizer = trainer.processing_class.tokenizer
    check_masks(batch, [*zip(first[:3], then, strict=True), (BROKEN, "")], tokenizer)
    check_gradients(trainer, batch)


def check_masks(batch: Any, said: list[tuple[str, str]], tokenizer: Any) -> None:
    """The mask is 0 exactly on what the model did not write: the whole tool message, with its pictures."""

    def ids_of(text: str) -> list[int]:
        return [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id] if text else []

    spans = [(ids_of(before), ids_of(after)) for before, after in said]
    picture = tokenizer.convert_tokens_to_ids("<|image_pad|>")
    seen, pictures = [], 0
    for ids, there, mask in zip(
        *(batch[name].tolist() for name in ("completion_ids", "completion_mask", "tool_mask")), strict=True
    ):
        length = sum(there)
        number, (before, after) = next((n, s) for n, s in enumerate(spans) if ids[: len(s[0])] == s[0])
        seen.append(number)
        tool = length - len(before) - len(after)
        assert ids[length - len(after) : length] == after
        assert mask[:length] == [1] * len(before) + [0] * tool + [1] * len(after)
        words = tokenizer.decode(ids[len(before) : len(before) + tool])
        assert ("<tool_response>" in words) == (number != 3)
        pictures += sum(token == picture for token in ids)
        assert not any(flag for token, flag in zip(ids, mask, strict=True) if token == picture)
    assert sorted(seen) == [0, 1, 2, 3]
    assert pictures > 0


def check_gradients(trainer: Any, batch: Any) -> None:
    """The loss, with KL and entropy in it, moves exactly the logits of tokens that the model wrote."""
    torch: Any = import_module("torch")
    kept: list[Any] = []

    def unfused(model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, **given: Any) -> Any:
        """What TRL works out in one piece with the last layer, with the logits in between to look at."""
        names = ("pixel_values", "image_grid_thw", "mm_token_type_ids")
        logits = model(
            input_ids=input_ids, attention_mask=attention_mask, **{name: given[name] for name in names}
        ).logits[:, -logits_to_keep - 1 : -1]
        logits.retain_grad()
        kept.append(logits)
        chances = logits.log_softmax(-1)
        own = chances.gather(-1, input_ids[:, -logits_to_keep:, None])[..., 0]
        return own, -(chances.exp() * chances).sum(-1), None

    trainer._get_per_token_logps_and_entropies = unfused
    # Away from where it began, so that every term of the loss has a slope.
    batch = {**batch, "ref_per_token_logps": batch["ref_per_token_logps"] + 0.5}
    batch["advantages"] = torch.tensor([1.0, -1.0, 0.5, -0.5])
    trainer._compute_loss(trainer.model, batch).backward()
    moved = kept[0].grad.abs().sum(-1) > 0
    carries_loss = (batch["completion_mask"] * batch["tool_mask"]).bool()
    assert torch.equal(moved, carries_loss)
    assert bool((kept[0].grad[~carries_loss] == 0).all())
    assert bool((~carries_loss & batch["completion_mask"].bool()).any())


@pytest.mark.slow
def test_failed_calls_cost_what_the_recipe_says(tiny: Path, photos: Path, tmp_path: Path) -> None:
    recipe = tiny_recipe(tiny, photos, with_tools(failed_call_cost=0.2, method="spotagent"))
    first, again = [ZOOM, NO_SUCH_TOOL, BROKEN, NEAR], [ZOOM, NEAR]  # the first says its zoom twice
    trainer = made(recipe, tmp_path, [first, again, [NEAR]])
    trainer.train()
    outcome = trainer.rollouts.newest
    assert outcome.parts[FAILED_CALLS].tolist() == [1, 1, 1, 0]
    assert [one.count(False) for one in outcome.worked] == [1, 0, 1, 0]  # what reached the environment
    assert outcome.total == pytest.approx(outcome.parts["linear"] - 0.2 * outcome.parts[FAILED_CALLS])
    assert trainer.state.log_history[0][part_name(FAILED_CALLS)] == 0.75
    with pytest.raises(BadInput, match="failed_call_cost must be a number from 0 on, not -1"):
        Rollouts(rollout_setup(recipe).setting, -1)


@pytest.mark.slow
def test_other_processes_serve_the_tools(tiny: Path, photos: Path, tmp_path: Path) -> None:
    """Replies of two groups, several calls in one reply among them, come to the same wherever tools are served."""
    both = f"{ZOOM}\n{NO_SUCH_TOOL}\n{GEOCODE}"
    said = [[both, GEOCODE, NEAR, BROKEN], [ZOOM, FAR], [MIDDLE]]
    optim = OptimPart(batch=2, micro_batch=2, steps=1, gradient_checkpointing=False)
    recipe = tiny_recipe(tiny, photos, with_tools(group=2, method="spotagent"), optim=optim)
    seen, outcomes = [], []
    for workers in (0, 2):
        trainer = made(recipe, tmp_path, said, workers=workers)
        one, other = trainer.train_dataset[0], {**trainer.train_dataset[0], **prompt_rows(recipe.data)[1]}
        try:
            outcomes.append(trainer.play([one, one, other, other]))
        finally:
            trainer.close_workers()
        contents = [message["content"] for talk in trainer._logs["completion"] for message in talk]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        pictures = [part["image"].tobytes() for part in parts if "image" in part]
        texts = [part["text"] for part in parts if "text" in part] + [one for one in contents if isinstance(one, str)]
        seen.append((pictures, texts, trainer.rollouts.unheard))
    here, there = outcomes
    assert here.total.tolist() == there.total.tolist()
    assert here.worked == there.worked == ((True, True, False), (True,), (), (False,))
    assert here.answered.tolist() == there.answered.tolist() == [True, True, True, False]
    assert seen[0] == seen[1]
    assert len(seen[0][0]) == 1  # the second zoom is the first one again
    assert seen[0][2] == 1


@pytest.mark.slow
def test_without_tools_a_single_reply_is_rewarded(tiny: Path, photos: Path, tmp_path: Path) -> None:
    posed: list[str] = []
    recipe = tiny_recipe(tiny, photos, with_tools(tools=()))
    setup = rollout_setup(recipe)

    def pose(row: Any) -> Any:
        posed.append(row["id"])
        return pose_photo(row)

    trainer = made(recipe, tmp_path, [[NEAR, FAR, "I can't say.", MIDDLE]], RolloutSetup(setup.setting, pose))
    trainer.train()
    told = trainer.state.log_history[0]
    assert trainer.tools == []
    assert "tool_mask" not in trainer._buffered_inputs[0]
    assert not [name for name in told if name.startswith("tools/")]
    assert told["answered"] == 0.75
    assert told[within_name(25)] == 0.5
    assert told[within_name(0.5)] == 0.25
    assert told["reward"] == pytest.approx((1 + 1 - 0.25 / 24 * (13.06 - 1)) / 4, abs=0.01)
    assert len(posed) == 1  # one photo is opened for all replies of its group


@pytest.mark.parametrize("objective", ["grpo", "pass@k"])
def test_the_objective_decides_the_advantages(tiny: Path, photos: Path, tmp_path: Path, objective: Any) -> None:
    recipe = tiny_recipe(tiny, photos, with_tools(tools=(), objective=objective, k=2))
    trainer = made(recipe, tmp_path, [[NEAR, FAR, FAR, MIDDLE, FAR, FAR, NEAR, NEAR]])
    trainer.model.train()
    rows = [trainer.train_dataset[0]] * 8
    advantages = trainer._generate_and_score_completions(rows)["advantages"].numpy().reshape(2, 4)
    earned = trainer.rollouts.newest.total.reshape(2, 4)
    spread = earned.std(axis=1, ddof=1, keepdims=True)
    plain = (earned - earned.mean(axis=1, keepdims=True)) / (spread + 1e-4)
    assert advantages == pytest.approx(plain if objective == "grpo" else compute_scaled_advantages(earned, 2), rel=1e-3)


def test_rewards_see_the_whole_group(tiny: Path, photos: Path, tmp_path: Path) -> None:
    """Consistency may weigh a reasoning by its length among the replies to the same photo, as the paper writes it."""
    phone = "A sign has the number +34 975 21 00 00. "
    levels = [{"country": {"conclusion": "Spain", "reasoning": phone * count}} for count in (1, 4)]
    reasons = [json.dumps({"lat": 41.8, "lon": -2.5, **level}) for level in levels]
    options = {"aliases": True, "withhold": "names", "length": "group"}
    rollout = with_tools(tools=(), group=2, reward="geoagent", method="geoagent", judge="rules", reward_options=options)
    recipe = tiny_recipe(tiny, photos, rollout)
    trainer = made(recipe, tmp_path, [reasons])
    trainer.model.train()
    trainer._generate_and_score_completions([trainer.train_dataset[0]] * 2)
    parts = trainer.rollouts.newest.parts
    assert set(parts) == {"spatial", "semantic", "consistency"}
    assert 0 < parts["consistency"][0] < parts["consistency"][1]


@pytest.mark.parametrize(
    ("rollout", "told"),
    [
        ({"judge": "rules"}, r"rollout\.encoder: .*MiniLM-L12-v2"),
        ({"judge": "rules", "encoder": "/nowhere"}, r"/nowhere has no config\.json"),
        ({"reward_options": {"aliases": True}}, r"rollout\.judge: .*server:MODEL"),
        ({"reward_options": {"aliases": True}, "judge": "server:m"}, "say where the server is"),
        ({"reward_options": {"aliases": True}, "judge": "hf:/nowhere"}, "there is no folder /nowhere"),
        ({"reward_options": {"aliases": True}, "judge": "nobody"}, "names no model that can be asked"),
    ],
)
def test_geoagents_reward_does_not_start_without_its_helpers(photos: Path, rollout: dict[str, Any], told: str) -> None:
    part = RolloutPart(method="geoagent", reward="geoagent", **rollout)
    with pytest.raises(BadInput, match=told):
        rollout_setup(tiny_recipe(photos.parent, photos, part))


@pytest.mark.slow
def test_a_run_with_adapters(tiny: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the recipe to a policy, with low-rank adapters, a KL term, and two steps on one sampling."""
    optim = OptimPart(batch=2, mini_batch=1, micro_batch=2, steps=4, learning_rate=1e-2, gradient_checkpointing=False)
    recipe = tiny_recipe(tiny, photos, with_tools(tools=(), group=2, kl=0.05), optim=optim, lora=True)

    def scripted(part: ModelPart) -> tuple[Any, Any]:
        model, processor = load_model(part)
        script(model, processor.tokenizer, lambda rows: [NEAR, FAR, FAR, NEAR][:rows])
        return model, processor

    monkeypatch.setattr("geosleuth.lab.train.grpo.load_model", scripted)
    steps: list[tuple[int, int]] = []
    done = run_grpo(recipe, tmp_path / "run", progress=lambda *step: steps.append(step))
    assert (done.steps, steps[0], steps[-1]) == (4, (0, 4), (4, 4))
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert lines[-1]["kl"] > lines[0]["kl"]
    before, after = (load_model(ModelPart(path=str(path)))[0].state_dict() for path in (tiny, done.policy))
    changed = {name.rsplit(".", 2)[-2] for name in before if not before[name].equal(after[name])}
    assert changed == {"q_proj"}
    assert run_grpo(recipe, tmp_path / "run") == done


def test_what_can_not_be_trained_is_said_first(photos: Path, tmp_path: Path) -> None:
    recipe = tiny_recipe(Path("nowhere"), photos, with_tools(objective="pass@k", k=4))
    with pytest.raises(BadInput, match="1 <= k < group"):
        grpo_trainer(None, None, [], recipe, tmp_path)
    with pytest.raises(BadInput, match="its stage is sft"):
        grpo_trainer(None, None, [], replace(recipe, stage="sft"), tmp_path)
