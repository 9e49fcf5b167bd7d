"""Every published value of the four papers is held: a recipe that strays from one is told so, by name."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from geosleuth.lab.train import dryrun
from geosleuth.lab.train.papers import PAPER_VALUES, PaperValue, differences, find_paper_values, find_unaccounted
from geosleuth.lab.train.recipe import ModelPart
from geosleuth.lab.train.recipe_files import flat, read_recipe
from geosleuth.support.errors import BadInput
from later import later

for needed in ("torch", "transformers", "trl", "peft"):
    later(needed)

PUBLISHED = [
    pytest.param(paper, stage, value, id=f"{paper}-{stage}-{value.name}")
    for (paper, stage), values in PAPER_VALUES.items()
    for value in values
    if value.published
]

# Other values that can be, where the next number or another word can not.
OTHERS: dict[str, Any] = {
    "model.base": "Qwen/Qwen3-VL-8B-Instruct",
    "model.tuned": "full",
    "model.dtype": "float32",
    "optim.gradient_checkpointing": False,
    "optim.schedule": "linear",
    "rollout.loss": "dapo",
    "rollout.objective": "pass@k",
    "rollout.vllm": False,
    "rollout.vllm_share": 0.5,
    "data.regimes_km": [1, 25, 200],
    "data.phases_km": [[1, 25, 200, 750]],
    "run.sharding": "zero2",
}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "trained_percent": {"model.targets": ["q_proj", "v_proj"]},
    "context_tokens": {"rollout.reply_tokens": 1024},
    "environment.turns": {"rollout.turns": 3},
    "environment.tools": {"rollout.tools": ["maps_geocode"]},
    "environment.result_characters": {"rollout.method": "geovista"},
    "environment.reply_tokens": {"rollout.method": "geovista"},
}


def another(name: str, value: Any) -> dict[str, Any]:
    """Changes to a recipe after which a value is no longer the paper's."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    if name.startswith("reward."):
        setting = name.removeprefix("reward.").removesuffix(".weight")
        return {"rollout.reward_options": {setting: _other_setting(value)}}
    if name in OTHERS:
        return {name: OTHERS[name]}
    if name in ("optim.batch", "optim.mini_batch", "optim.micro_batch", "rollout.group", "run.devices"):
        return {name: value * 2, **({"optim.batch": value * 2} if name == "optim.mini_batch" else {})}
    return {name: value + 1 if isinstance(value, int) else value * 2 + (value == 0)}


def _other_setting(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return {"conclusion": "names", "fixed": "group"}[value]
    if isinstance(value, tuple) and len(value) == 2:
        return [10.0, 20.0]
    if not isinstance(value, tuple):
        return 3.5
    return [list(value[0]), *map(list, value[2:])] if isinstance(value[0], tuple) else [0.3, 0.3, 0.4]


_built = cache(dryrun.meta_model)


@pytest.fixture(autouse=True)
def _remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are built once for all recipes of the same sizes."""

    def of_same_size(part: ModelPart) -> Any:
        return _built(replace(part, path=part.base or part.path, dtype="bfloat16", max_pixels=None))

    monkeypatch.setattr(dryrun, "meta_model", of_same_size)


@pytest.mark.slow
@pytest.mark.parametrize(("paper", "stage", "value"), PUBLISHED)
def test_a_value_that_strays_from_the_paper_is_named(paper: str, stage: str, value: PaperValue) -> None:
    if value.name == "kl_estimate":
        resolved = dict(dryrun.dry_run(read_recipe(f"{paper}-{stage}")).resolved, kl_estimate="unbiased gradient")
        assert [one.name for one in differences(read_recipe(f"{paper}-{stage}"), resolved)] == ["kl_estimate"]
        return
    changed = read_recipe(f"{paper}-{stage}", another(value.name, value.value))
    report = dryrun.dry_run(changed)
    assert value.name in [one.name for one in report.differences]
    assert not report.ok
    assert any(value.name in line and value.where in line for line in dryrun.as_lines(report))


@pytest.mark.parametrize(("paper", "stage"), list(PAPER_VALUES))
def test_a_recipe_of_a_paper_has_nothing_that_is_quietly_ours(paper: str, stage: str) -> None:
    recipe = read_recipe(f"{paper}-{stage}")
    assert differences(recipe) == []
    assert find_unaccounted(recipe) == []
    assert all(one.where for one in find_paper_values(recipe))
    names = [one.name for one in find_paper_values(recipe)]
    assert len(names) == len(set(names))


def test_a_mark_that_is_missing_or_too_much_is_found() -> None:
    recipe = read_recipe("twm-grpo")
    marks = [one for one in recipe.unpublished if one != "rollout.clip"]
    assert find_unaccounted(read_recipe("twm-grpo", {"unpublished": marks})) == ["rollout.clip"]
    assert find_unaccounted(read_recipe("twm-grpo", {"unpublished": [*recipe.unpublished, "rollout.kl"]})) == [
        "rollout.kl"
    ]


@pytest.mark.parametrize("name", ["geovista-grpo", "twm-grpo", "spotagent-grpo"])
def test_what_papers_do_not_say_is_shown_as_ours(name: str) -> None:
    report = dryrun.dry_run(read_recipe(name, {"rollout.clip": [0.1, 0.3]}))
    assert report.ok
    assert report.ours["rollout.clip"][0] == (0.1, 0.3)
    assert any(line.strip().startswith("ours     rollout.clip = 0.1, 0.3") for line in dryrun.as_lines(report))
    if name == "geovista-grpo":
        assert report.ours["rollout.group"][0] == 8


def test_a_recipe_of_our_own_is_held_against_no_paper() -> None:
    recipe = read_recipe("twm-grpo", {"paper": None, "optim.learning_rate": 1.0})
    assert differences(recipe) == []
    assert find_unaccounted(recipe) == []
    assert flat(recipe)["optim.learning_rate"] == 1.0


def test_a_batch_that_the_devices_can_not_reach_stops_the_dry_run() -> None:
    with pytest.raises(BadInput, match="no multiple"):
        dryrun.dry_run(read_recipe("twm-grpo", {"optim.mini_batch": 24}))
