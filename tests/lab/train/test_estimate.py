"""Estimates against models that are really built, bytes that are really there, and sums done by hand."""

import json
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from geosleuth.lab.train.architectures import ARCHITECTURES, KINDS, ModelShape, compute_shape, load_configuration
from geosleuth.lab.train.estimate import (
    Estimate,
    as_lines,
    as_mapping,
    compute_cached_bytes,
    estimate,
    layer_values,
    state_bytes,
)
from geosleuth.lab.train.models import adapters
from geosleuth.lab.train.recipe import ModelPart, OptimPart, Recipe
from geosleuth.lab.train.recipe_files import read_recipe
from geosleuth.support.errors import BadInput
from later import later

for needed in ("torch", "transformers", "peft"):
    later(needed)

QWEN25, QWEN3 = "Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen3-VL-30B-A3B-Instruct"
SMALL_EYES = {
    "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "patch_size": 16, "out_hidden_size": 128,
    "spatial_merge_size": 2, "temporal_patch_size": 2, "num_position_embeddings": 16,
    "deepstack_visual_indexes": [0, 1],
}  # fmt: skip
ROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [8, 4, 4], "mrope_interleaved": True}
SMALL_TEXT = {
    "vocab_size": 500, "hidden_size": 128, "intermediate_size": 320, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "max_position_embeddings": 512, "rope_parameters": ROPE,
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "qwen3_vl": {"text_config": SMALL_TEXT, "vision_config": SMALL_EYES, "tie_word_embeddings": True},
    "qwen3_vl_moe": {
        "text_config": {**SMALL_TEXT, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 96},
        "vision_config": SMALL_EYES,
        "tie_word_embeddings": False,
    },
    "qwen2_5_vl": {
        "text_config": {**SMALL_TEXT, "rope_parameters": {**ROPE, "mrope_section": [8, 4, 4]}},
        "vision_config": {
            "depth": 3, "hidden_size": 48, "intermediate_size": 70, "num_heads": 2, "out_hidden_size": 128,
            "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112,
            "fullatt_block_indexes": [2],
        },
        "tie_word_embeddings": False,
    },
}  # fmt: skip


def built(configuration: Any, device: str) -> Any:
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    kind = getattr(transformers, KINDS[configuration["model_type"]].model)
    with torch.device(device):
        return kind(kind.config_class.from_dict(json.loads(json.dumps(dict(configuration)))))


@cache
def small(kind: str) -> tuple[Any, ModelShape]:
    """A model of a few hundred thousand random weights."""
    configuration = {"model_type": kind, **SMALL[kind]}
    return built(configuration, "cpu"), compute_shape(configuration)


def count(weights: Any) -> int:
    return sum(one.numel() for one in weights)


def tuned(**model: Any) -> Recipe:
    return Recipe(
        name="mine", stage="sft", model=ModelPart(path="x", **model), optim=OptimPart(batch=4, max_length=64),
    )  # fmt: skip


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_published_models_are_counted_as_they_are_built(name: str) -> None:
    shape, model = compute_shape(ARCHITECTURES[name]), built(ARCHITECTURES[name], "meta")
    assert shape.weights == count(model.parameters())
    assert shape.vision_weights == count(model.model.visual.parameters())
    assert shape.layer_weights == count(model.model.language_model.layers[0].parameters())
    kinds = {type(one).__name__ for one in model.modules()}
    assert {KINDS[shape.kind].layer, KINDS[shape.kind].vision_layer} <= kinds


@pytest.mark.parametrize("kind", list(SMALL))
@pytest.mark.parametrize("freeze", [False, True])
def test_small_models_and_their_adapters_are_counted_as_they_are_built(kind: str, freeze: bool) -> None:
    peft: Any = import_module("peft")
    configuration = {"model_type": kind, **SMALL[kind]}
    shape, model = compute_shape(configuration), built(configuration, "meta")
    assert shape.weights == count(model.parameters())
    part = ModelPart(path="x", tuned="lora", rank=4, freeze_vision=freeze)
    adapted = peft.get_peft_model(model, adapters(part), low_cpu_mem_usage=True)
    assert shape.count_trained_weights(part) == count(one for one in adapted.parameters() if one.requires_grad)


@pytest.mark.parametrize("kind", list(SMALL))
@pytest.mark.parametrize("tuned_how", ["full", "lora"])
def test_weights_gradients_and_optimiser_take_the_bytes_that_are_told(kind: str, tuned_how: Any) -> None:
    torch: Any = import_module("torch")
    peft: Any = import_module("peft")
    recipe = tuned(tuned=tuned_how, rank=4, dtype="float32", freeze_vision=tuned_how == "lora")
    configuration = {"model_type": kind, **SMALL[kind]}
    model = built(configuration, "cpu")
    if tuned_how == "lora":
        model = peft.get_peft_model(model, adapters(recipe.model))
    moving = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(moving, lr=1e-3)
    for one in moving:
        one.grad = torch.ones_like(one)
    optimiser.step()
    of_weights = sum(one.numel() * one.element_size() for one in model.parameters())
    of_gradients = sum(one.grad.numel() * one.grad.element_size() for one in moving)
    moments = [
        one for state in optimiser.state.values() for one in state.values() if torch.is_tensor(one) and one.dim() > 0
    ]
    of_optimiser = sum(one.numel() * one.element_size() for one in moments)
    assert state_bytes(recipe, compute_shape(configuration)) == (of_weights, of_gradients, of_optimiser)


@pytest.mark.parametrize("kind", ["qwen3_vl", "qwen3_vl_moe", "qwen2_5_vl"])
def test_keys_and_values_take_the_bytes_that_are_told(kind: str) -> None:
    torch: Any = import_module("torch")
    model, shape = small(kind)
    with torch.no_grad():
        cache_of = model(input_ids=torch.ones((3, 40), dtype=torch.long), use_cache=True).past_key_values
    held = sum(one.numel() * one.element_size() for layer in cache_of.layers for one in (layer.keys, layer.values))
    assert held == 3 * 40 * compute_cached_bytes(tuned(dtype="float32"), shape)


def kept_bytes(model: Any, ids: Any) -> int:
    """Bytes that one forward pass keeps for the backward pass, weights left out."""
    torch: Any = import_module("torch")
    own = {one.untyped_storage().data_ptr() for one in model.parameters()}
    seen: dict[int, int] = {}

    def keep(one: Any) -> Any:
        storage = one.untyped_storage()
        if storage.data_ptr() not in own:
            seen[storage.data_ptr()] = storage.nbytes()
        return one

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
        # The outcome must live until all is counted, or storage is given out twice.
        outcome = model(inputs_embeds=ids, use_cache=False)
        total = sum(seen.values())
        del outcome
    return total


def test_what_a_layer_keeps_is_about_what_is_told() -> None:
    torch: Any = import_module("torch")
    model, shape = small("qwen3_vl")
    model.train()
    words = torch.randn((2, 64, shape.hidden), requires_grad=True)
    measured = kept_bytes(model.model.language_model, words)
    told = 2 * 64 * shape.layers * layer_values(shape) * 4
    assert 0.6 * measured < told < 1.6 * measured


def told(recipe: Recipe, **changes: Any) -> Estimate:
    return estimate(recipe, compute_shape(load_configuration(recipe.model)), **changes)


def test_how_many_steps_a_run_has() -> None:
    assert told(read_recipe("geovista-coldstart")).steps == 63
    assert told(read_recipe("twm-grpo")).steps == 141 * 4
    assert told(read_recipe("twm-grpo", {"optim.steps": 10})).steps == 10
    assert told(read_recipe("spotagent-grpo")).steps is None
    assert told(read_recipe("spotagent-grpo"), rows=91_060).steps == 356 * 2


@pytest.mark.parametrize("name", ["geoagent-sft", "geoagent-grpo", "spotagent-grpo", "geovista-grpo", "twm-grpo"])
def test_recipes_fit_their_devices_and_say_so(name: str) -> None:
    found = told(read_recipe(name))
    assert found.fits
    assert found.memory.peak < found.device_gb
    assert any("memory of each device" in line for line in as_lines(found))
    assert json.loads(json.dumps(as_mapping(found)))["fits"] is True


def test_what_does_not_fit_is_said() -> None:
    one = told(read_recipe("geovista-coldstart", {"run.devices": 1, "run.sharding": "none"}))
    assert not one.fits
    assert "which has 80 GB" in one.troubles[0]
    cramped = told(read_recipe("twm-grpo", {"rollout.vllm_share": 0.1}))
    assert any("its weights alone need" in line for line in cramped.troubles)
    assert any("trouble" in line for line in as_lines(cramped))


def test_replies_without_vllm_need_room_for_all_of_them_at_once() -> None:
    recipe = read_recipe("geovista-grpo", {"rollout.vllm": False})
    shape = compute_shape(ARCHITECTURES[QWEN25])
    # 64 prompts of 8 replies on 8 devices, 32768 tokens each, and the whole model gathered.
    by_hand = 64 * 32_768 * 57_344 + shape.weights * 2
    assert told(recipe).memory.rollouts == pytest.approx(by_hand / 1e9)
    assert not told(recipe).fits


def test_models_that_nobody_knows() -> None:
    with pytest.raises(BadInput, match="known are Qwen"):
        load_configuration(ModelPart(path="nobody/knows"))
    with pytest.raises(BadInput, match="can't be estimated"):
        compute_shape({"model_type": "llama", "text_config": {}, "vision_config": {}})
