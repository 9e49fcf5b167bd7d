"""TRL's own options in a recipe: each reaches the trainer; what TRL does not know is refused with the nearest name."""

from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.configs import grpo_config, sft_config
from geosleuth.lab.train.dryrun import as_lines, dry_run
from geosleuth.lab.train.recipe_files import as_mapping, build_recipe, read_recipe
from geosleuth.support.errors import BadInput
from later import later

for needed in ("torch", "trl"):
    later(needed)

LABS = ("lab-1x80gb-lora-grpo", "lab-1x80gb-offload-sft", "lab-8x80gb-fsdp-grpo", "lab-32x80gb-zero3-grpo")
MOE, DENSE = "twm-grpo", "geovista-grpo"


def config(name: str, **options: Any) -> Any:
    recipe = read_recipe(name, {f"trainer.{key}": value for key, value in options.items()})
    make = grpo_config if recipe.stage == "grpo" else sft_config
    return make(recipe, Path("run"), cpu=True)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("vllm_mode", "server"),
        ("vllm_importance_sampling_clip_max", 2.5),
        ("num_iterations", 2),
        ("lr_scheduler_kwargs", {"num_cycles": 1}),
    ],
)
def test_an_option_reaches_the_trainer(option: str, value: Any) -> None:
    made = config(DENSE, **{option: value})
    assert getattr(made, option) == value
    assert getattr(config(DENSE), option) != value
    assert dry_run(read_recipe(DENSE, {f"trainer.{option}": value})).resolved[f"trainer.{option}"] == value


def test_every_option_is_taken_named_as_a_field_or_kept() -> None:
    """None is dropped without a word: whatever TRL knows is either set, or refused with a reason."""
    trl = import_module("trl")
    for kind, name in ((trl.GRPOConfig, DENSE), (trl.SFTConfig, "geoagent-sft")):
        plain = config(name)
        taken, refused = 0, list[str]()
        for one in fields(kind):
            value = getattr(plain, one.name, None)
            if not one.init or value is None or not isinstance(value, bool | int | float | str):
                continue
            try:
                made = config(name, **{one.name: value})
            except BadInput as error:
                refused.append(str(error))
                continue
            assert getattr(made, one.name) == value
            taken += 1
        assert all("instead" in one or "geosleuth sets it" in one for one in refused)
        assert taken > 50


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"log_completion": True},
            "trainer.log_completion: GRPOConfig has no such option; did you mean log_completions",
        ),
        ({"beta": 0.1}, "trainer.beta: set rollout.kl instead"),
        ({"output_dir": "elsewhere"}, "geosleuth sets it"),
        ({"log_completions": 3}, "GRPOConfig wants bool"),
        ({"vllm_mode": "serve"}, "must be one of colocate, server, not 'serve'"),
    ],
)
def test_what_trl_does_not_know_is_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        config(DENSE, **options)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_long_replies_of_experts_are_not_dropped_unless_asked_for() -> None:
    assert config(MOE).vllm_importance_sampling_mode == "token_truncate"
    assert config(MOE, vllm_importance_sampling_mode="sequence_mask").vllm_importance_sampling_mode == "sequence_mask"
    lines = as_lines(dry_run(read_recipe(MOE, {"trainer.vllm_importance_sampling_mode": "sequence_mask"})))
    assert any("replies above it carry no loss" in line for line in lines)


@pytest.mark.parametrize("name", LABS)
def test_a_lab_recipe_fits_the_machine_that_it_is_named_after(name: str) -> None:
    recipe = read_recipe(name)
    devices, memory = name.split("-")[1].split("x")
    assert recipe.run.devices == int(devices)
    assert recipe.run.device_gb == float(memory.removesuffix("gb"))
    report = dry_run(recipe)
    assert report.ok, as_lines(report)
    assert report.estimate.memory.peak < recipe.run.device_gb
    assert build_recipe(as_mapping(recipe)) == recipe
    half = replace(recipe, run=replace(recipe.run, device_gb=recipe.run.device_gb / 8))
    assert not dry_run(half).ok
