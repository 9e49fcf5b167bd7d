"""Recipes as files, and what TRL and accelerate are told of them."""

from dataclasses import replace
from importlib import import_module
from inspect import getsource
from pathlib import Path
from re import findall
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.train.configs import accelerate_config, batches, grpo_config, sft_config
from geosleuth.lab.train.recipe import Loss, ModelPart, OptimPart, Recipe, RolloutPart, RunPart
from geosleuth.lab.train.recipe_files import as_mapping, build_recipe, parse_override, read_recipe, recipe_names
from geosleuth.support.errors import BadInput

PAPERS = (
    "geoagent-sft", "geoagent-grpo", "spotagent-sft", "spotagent-coldstart", "spotagent-grpo", "geovista-coldstart",
    "geovista-grpo", "twm-grpo",
)  # fmt: skip
NANO = ("nano-grpo",)
LABS = ("lab-1x80gb-lora-grpo", "lab-1x80gb-offload-sft", "lab-8x80gb-fsdp-grpo", "lab-32x80gb-zero3-grpo")


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_recipe_of_the_package_is_read_and_named_as_its_file() -> None:
    assert set(recipe_names()) == {*PAPERS, *NANO, *LABS}
    for name in recipe_names():
        recipe = read_recipe(name)
        assert recipe.name == name
        assert name.endswith(recipe.stage)
        assert build_recipe(as_mapping(recipe)) == recipe
        assert build_recipe(yaml.safe_load(yaml.safe_dump(as_mapping(recipe)))) == recipe


def test_overrides_change_single_values() -> None:
    changes = {
        "optim.steps": 3,
        "rollout.reward_options.beta": 3.0,
        "model.path": "w",
        "data.phases_km": [[1], [1, 25]],
    }
    recipe = read_recipe("geovista-grpo", changes)
    plain = read_recipe("geovista-grpo")
    assert recipe.optim == replace(plain.optim, steps=3)
    assert recipe.rollout.reward_options == {"beta": 3.0}
    assert recipe.model == replace(plain.model, path="w")
    assert recipe.data.phases_km == ((1.0,), (1.0, 25.0))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("optim.steps=3", "optim.steps", 3),
        ("optim.learning_rate=1e-4", "optim.learning_rate", "1e-4"),
        ("data.photos=a=b", "data.photos", "a=b"),
        ("rollout.tools=[]", "rollout.tools", []),
        ("data.limit=", "data.limit", None),
    ],
)
def test_an_override_on_a_command_line(text: str, name: str, value: object) -> None:
    assert parse_override(text) == (name, value)
    read_recipe("twm-grpo", dict([parse_override(text)]))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: a\nstage: sft\nmodel: {path: x}\noptim: {learning_rat: 1}\n", "did you mean learning_rate"),
        ("name: a\nstage: dpo\nmodel: {path: x}\n", "stage must be one of sft, coldstart, grpo"),
        ("name: a\nstage: sft\n", "lacks model"),
        ("name: a\nstage: sft\nmodel: {path: x}\noptim: {batch: 1.5}\n", "optim.batch must be a whole number"),
        ("name: a\nstage: sft\nmodel: {path: x}\noptim: {batch: 0}\n", "optim.batch must be at least 1"),
        (
            "name: a\nstage: sft\nmodel: {path: x}\noptim: {epochs: 1e30}\n",
            "optim.epochs must be at least 0.001 and at",
        ),
        (f"name: a\nstage: sft\nmodel: {{path: x}}\noptim: {{steps: 1{'0' * 400}}}\n", "at most 1e+09, not 1000"),
        ("name: a\nstage: sft\nmodel: {path: x}\nrollout: {loss: foo}\n", "must be one of grpo, bnpo, dr_grpo, dapo"),
        ("name: a\nstage: sft\nmodel: {path: x}\nrollout: {clip: [0.2, 0]}\n", "clip must be above 0"),
        ("name: a\nstage: sft\nmodel: {path: x}\nrollout: {top_p: 1.2}\n", "at most 1"),
        ("name: a\nname: b\nstage: sft\nmodel: {path: x}\n", "line 2: name appears twice"),
        ("- a\n", "a recipe is a mapping"),
        ("model: [1]\nname: a\nstage: sft\n", "model must be a mapping"),
    ],
)
def test_what_can_not_be_is_said_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_recipe(written(tmp_path, text))
    assert complaint in str(caught.value)
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_recipe_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="did you mean twm-grpo"):
        read_recipe("twm-grp")
    with pytest.raises(BadInput, match="no such file"):
        read_recipe("nowhere/mine.yaml")
    with pytest.raises(BadInput, match="looks like"):
        parse_override("optim.steps")


def of_stage(stage: Any, *, group: int = 8, devices: int = 1, **optim: Any) -> Recipe:
    return Recipe(
        name="mine", stage=stage, model=ModelPart(path="x"), optim=OptimPart(**optim), rollout=RolloutPart(group=group),
        run=RunPart(devices=devices),
    )  # fmt: skip


@given(
    steps=st.integers(1, 6), passes=st.integers(1, 6), micro=st.integers(1, 8), devices=st.integers(1, 16),
    group=st.integers(2, 8),
)  # fmt: skip
def test_however_many_devices_a_step_has_the_batch_that_was_asked_for(
    steps: int, passes: int, micro: int, devices: int, group: int
) -> None:
    mini = passes * micro * devices
    told = batches(of_stage("grpo", group=group, batch=steps * mini, mini_batch=mini, micro_batch=micro), devices)
    assert told.per_pass * told.accumulated * devices == mini * group
    assert told.per_sampling == steps * told.accumulated
    tuned = batches(of_stage("sft", batch=mini, micro_batch=micro), devices)
    assert (tuned.per_pass * tuned.accumulated * devices, tuned.per_sampling) == (mini, tuned.accumulated)


@pytest.mark.parametrize(
    ("recipe", "complaint"),
    [
        (of_stage("sft", batch=30, micro_batch=4), "no multiple of optim.micro_batch 4 x 1 devices"),
        (of_stage("grpo", batch=64, mini_batch=24), "no multiple of optim.mini_batch"),
        (of_stage("grpo", batch=3, micro_batch=16), "3 prompts x 8 replies"),
    ],
)
def test_a_batch_that_can_not_be_reached(recipe: Recipe, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        batches(recipe, 1)


def test_trl_is_told_what_the_recipe_says(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="TRL is not installed; it is part of the developers' environment")
    made = grpo_config(read_recipe("twm-grpo"), tmp_path, cpu=True)
    assert (made.num_generations, made.generation_batch_size) == (16, 64 * 16)
    assert made.per_device_train_batch_size * made.gradient_accumulation_steps == 16 * 16
    assert (made.beta, made.loss_type, made.learning_rate, made.num_train_epochs) == (0.001, "grpo", 1e-6, 2)
    assert made.output_dir == str(tmp_path / "checkpoints")
    assert not made.shuffle_dataset
    assert made.router_aux_loss_coef == 0
    assert grpo_config(read_recipe("geovista-grpo"), tmp_path, cpu=True).router_aux_loss_coef is None
    tuned = sft_config(read_recipe("geovista-coldstart", {"optim.steps": 7}), tmp_path, cpu=True)
    assert (tuned.max_length, tuned.max_steps, tuned.gradient_accumulation_steps) == (32_768, 7, 32)
    assert not tuned.remove_unused_columns
    assert not tuned.bf16
    assert not any(tmp_path.iterdir())


def test_the_losses_are_those_that_trl_knows() -> None:
    pytest.importorskip("trl", reason="TRL is not installed; it is part of the developers' environment")
    trainer: Any = import_module("trl.trainer.grpo_trainer").GRPOTrainer
    told = getsource(trainer._compute_loss)
    known = {word for line in told.splitlines() if "self.loss_type" in line for word in findall(r'"([a-z_]+)"', line)}
    assert known == set(get_args(Loss))


def test_what_trl_refuses_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="TRL is not installed; it is part of the developers' environment")
    with pytest.raises(BadInput, match="TRL can't work with it"):
        sft_config(read_recipe("geoagent-sft", {"optim.schedule": "zigzag"}), tmp_path, cpu=True)


@pytest.mark.parametrize("name", PAPERS)
def test_accelerate_reads_how_a_recipe_is_spread(name: str, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="accelerate is not installed; it is part of the developers' environment")
    recipe = read_recipe(name)
    path = tmp_path / "accelerate.yaml"
    path.write_text(yaml.safe_dump(accelerate_config(recipe)), encoding="utf-8")
    read: Any = import_module("accelerate.commands.config.config_args")
    told = read.load_config_from_file(str(path))
    assert told.num_processes == recipe.run.devices
    assert told.mixed_precision == "bf16"
    if recipe.run.sharding == "zero3":
        assert told.deepspeed_config["zero_stage"] == 3
    else:
        assert told.fsdp_config["fsdp_offload_params"] is recipe.run.offload


def test_a_spread_that_can_not_be() -> None:
    with pytest.raises(BadInput, match=r"no multiple of run\.machines"):
        accelerate_config(read_recipe("twm-grpo", {"run.machines": 5}))
    with pytest.raises(BadInput, match=r"run\.offload needs run\.sharding"):
        accelerate_config(read_recipe("twm-grpo", {"run.offload": True, "run.sharding": "none"}))
    assert accelerate_config(of_stage("sft"))["distributed_type"] == "NO"


def test_every_process_loads_the_model_that_divergence_is_measured_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRL spreads that model from what each process has: where only the first loads weights, the rest is noise."""
    shards = {"run.sharding": "fsdp", "run.machines": 1, "rollout.vllm": False}
    far, free = (read_recipe("spotagent-grpo", {**shards, "rollout.kl": kl}) for kl in (0.001, 0.0))
    tuned = read_recipe("spotagent-grpo", {**shards, "model.tuned": "lora"})
    told = [accelerate_config(one)["fsdp_config"]["fsdp_cpu_ram_efficient_loading"] for one in (far, free, tuned)]
    assert told == [False, True, True]
    for name, value in (
        ("ACCELERATE_USE_FSDP", "true"),
        ("FSDP_CPU_RAM_EFFICIENT_LOADING", "true"),
        ("WORLD_SIZE", "8"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match="fsdp_cpu_ram_efficient_loading: false"):
        grpo_config(far, tmp_path, cpu=True)
