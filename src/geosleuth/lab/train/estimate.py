"""Estimate what a run needs before anything is built: memory of each device, and steps.

Lengths are the longest that a recipe allows, so that memory is an upper bound as far as it depends on them.
"""

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from geosleuth.photo.views import FIRST_VIEW_PIXELS

from .architectures import ModelShape
from .recipe import Recipe

GB = 1e9
_BYTES = {"float32": 4, "bfloat16": 2}
_ADAM = 8  # two moments in float32
# Bytes of the optimiser's state a trained weight, by transformers' names; AdamW in float32 for all others.
_STATES = {"adamw_8bit": 2, "adamw_bnb_8bit": 2, "paged_adamw_8bit": 2, "sgd": 0, "adafactor": 0}
_TILE = (4096, 32768)  # tokens and vocabulary that TRL scores at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate:
    """Memory of one device in 10^9 bytes.

    Attributes:
        weights: that stay there, the trained ones in float32.
        gradients: of trained weights.
        optimiser: AdamW's two moments, and copies of weights that DeepSpeed keeps.
        reference: the model that the divergence is measured from.
        passing: copies that passes need for a while: casts, or layers gathered from other devices.
        activations: what is kept for the backward pass.
        logits: scores of tokens while the loss is worked out, and the gradients of the head.
        rollouts: keys and values while replies are drawn, and the copy of the model that draws.
        peak: the most that is there at one time.
    """

    weights: float
    gradients: float
    optimiser: float
    reference: float
    passing: float
    activations: float
    logits: float
    rollouts: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The most that a run takes.

    Attributes:
        memory: of each device.
        host_gb: of the host for each device, where something is kept there.
        device_gb: what each device has.
        weights: of the model, adapters included.
        trained: weights that are updated.
        steps: optimiser steps of the whole run; None if the recipe does not say how many rows there are.
        step_tokens: tokens of one optimiser step over all devices, padding and tool results counted in.
        troubles: why the run can't work, one line each.
    """

    memory: MemoryEstimate
    host_gb: float
    device_gb: float
    weights: int
    trained: int
    steps: int | None
    step_tokens: int
    troubles: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the run fits the recipe's devices."""
        return not self.troubles


def estimate(recipe: Recipe, shape: ModelShape, *, rows: int | None = None) -> Estimate:
    """Estimate what a recipe needs with a model of this shape.

    Args:
        recipe: what is run.
        shape: of its model, see `geosleuth.lab.train.architectures.shape_of`.
        rows: samples or prompts of one epoch; by default the recipe's limit or number of scenes.

    Raises:
        BadInput: the batch can't be reached on the recipe's devices.
    """
    trained = shape.count_trained_weights(recipe.model)
    memory, host_gb = _memory(recipe, shape, trained)
    return Estimate(
        memory=memory,
        host_gb=host_gb,
        device_gb=recipe.run.device_gb,
        weights=shape.weights + (trained if recipe.model.tuned == "lora" else 0),
        trained=trained,
        steps=_steps(recipe, rows),
        step_tokens=_step_samples(recipe) * _longest(recipe),
        troubles=tuple(_troubles(recipe, shape, memory)),
    )


def state_bytes(recipe: Recipe, shape: ModelShape) -> tuple[float, float, float]:
    """Return bytes of weights, gradients and the optimiser's state on one device."""
    run, model = recipe.run, recipe.model
    trained = shape.count_trained_weights(model)
    kept = shape.weights + (trained if model.tuned == "lora" else 0)
    passed = _BYTES[model.dtype]
    # What adapters leave alone is held as passes want it; where all weights are tuned, float32 is loaded as a whole.
    frozen = passed if model.tuned == "lora" else 4
    moments = _STATES.get(str(recipe.trainer.get("optim")), _ADAM)
    if run.sharding in ("zero2", "zero3"):
        copies = 4 if passed == 2 else 0
        weights = kept * passed / (run.devices if run.sharding == "zero3" else 1)
        return weights, trained * passed / run.devices, trained * (moments + copies) / run.devices
    parts = run.devices if run.sharding == "fsdp" else 1
    weights = trained * 4 + (kept - trained) * frozen
    return weights / parts, trained * 4 / parts, trained * moments / parts


def layer_values(shape: ModelShape) -> int:
    """Return how many values one layer of the language model keeps per token for its backward pass.

    Both norms with what goes in and comes out, queries, keys and values before and after turning, what attention gives,
    the feed-forward part's two arms, their product and the bent one, and both sums. Attention keeps no square of
    scores.
    """
    return 6 * shape.hidden + 3 * shape.query + 3 * shape.key + 4 * shape.inner


def compute_cached_bytes(recipe: Recipe, shape: ModelShape) -> int:
    """Return bytes of keys and values that one token takes while replies are drawn."""
    return 2 * shape.layers * shape.key * _BYTES[recipe.model.dtype]


def _memory(recipe: Recipe, shape: ModelShape, trained: int) -> tuple[MemoryEstimate, float]:
    run, optim, passed = recipe.run, recipe.optim, _BYTES[recipe.model.dtype]
    weights, gradients, optimiser = state_bytes(recipe, shape)
    host = 0.0
    if run.offload:
        host, optimiser = optimiser, 0.0
        if run.sharding == "fsdp":
            host, weights, gradients = host + weights + gradients, 0.0, 0.0
    in_pieces = run.sharding in ("fsdp", "zero3")
    reference = 0.0
    if recipe.has_reference:
        reference = shape.weights * passed / (run.devices if in_pieces else 1)
    if in_pieces:
        passing: float = (2 * shape.layer_weights + shape.table_weights) * passed
    else:
        passing = trained * passed if passed == 2 and run.sharding == "none" else 0
    length = _longest(recipe)
    per_token = layer_values(shape) * passed
    kept = (
        shape.layers * shape.hidden * passed + 2 * per_token
        if optim.gradient_checkpointing
        else shape.layers * per_token
    )
    activations = optim.micro_batch * (length * kept + _vision_activations(recipe, shape))
    scored = optim.micro_batch * (recipe.rollout.reply_tokens if recipe.stage == "grpo" else length)
    # TRL scores tokens in tiles and never has all scores at once; gradients of the head are gathered in float32.
    logits = min(scored, _TILE[0]) * min(shape.tokens, _TILE[1]) * passed + scored * shape.hidden * 4
    logits += shape.tokens * shape.hidden * 4 if recipe.model.tuned == "full" else 0
    rollouts = _rollout_bytes(recipe, shape) if recipe.stage == "grpo" else 0.0
    stays, training = weights + gradients + optimiser + reference, passing + activations + logits
    together = recipe.stage == "grpo" and recipe.rollout.vllm and not recipe.rollout.vllm_sleeps
    peak = stays + (training + rollouts if together else max(training, rollouts))
    in_bytes = {
        "weights": weights, "gradients": gradients, "optimiser": optimiser, "reference": reference, "passing": passing,
        "activations": activations, "logits": logits, "rollouts": rollouts, "peak": peak,
    }  # fmt: skip
    return MemoryEstimate(**{name: value / GB for name, value in in_bytes.items()}), host / GB


def _vision_activations(recipe: Recipe, shape: ModelShape) -> float:
    passed = _BYTES[recipe.model.dtype]
    patches = _pixels(recipe) // shape.patch_px**2
    layer = (10 * shape.vision_hidden + 4 * shape.vision_inner) * passed
    if recipe.model.freeze_vision:
        return patches * layer
    if recipe.optim.gradient_checkpointing:
        return patches * (shape.vision_layers * shape.vision_hidden * passed + 2 * layer)
    return patches * shape.vision_layers * layer


def _rollout_bytes(recipe: Recipe, shape: ModelShape) -> float:
    rollout, run = recipe.rollout, recipe.run
    if rollout.vllm:
        # A server draws on other devices.
        return 0.0 if recipe.trainer.get("vllm_mode") == "server" else rollout.vllm_share * run.device_gb * GB
    replies = ceil(recipe.optim.batch * rollout.group / run.devices)
    gathered = shape.weights * _BYTES[recipe.model.dtype] if run.sharding != "none" else 0
    return gathered + replies * _longest(recipe) * compute_cached_bytes(recipe, shape)


def _step_samples(recipe: Recipe) -> int:
    optim = recipe.optim
    if recipe.stage != "grpo":
        return optim.batch
    return (optim.mini_batch or optim.batch) * recipe.rollout.group


def _longest(recipe: Recipe) -> int:
    if recipe.stage == "grpo":
        return recipe.rollout.prompt_tokens + recipe.rollout.reply_tokens
    return recipe.optim.max_length


def _pixels(recipe: Recipe) -> int:
    return min(recipe.model.max_pixels or FIRST_VIEW_PIXELS, FIRST_VIEW_PIXELS)


def _steps(recipe: Recipe, rows: int | None) -> int | None:
    if recipe.optim.steps is not None:
        return recipe.optim.steps
    data = recipe.data
    optim = recipe.optim
    known = rows or data.limit
    if known is None and (data.photos or (data.store if recipe.stage != "grpo" else None)) is None:
        # Each kind of question is asked at most once per scene.
        known = data.scenes * (1 if recipe.stage == "grpo" else len(data.questions))
    if known is None:
        return None
    if recipe.stage != "grpo":
        return ceil(optim.epochs * ceil(known / optim.batch))
    # The last sampling is padded to a full one.
    return ceil(optim.epochs * known / optim.batch) * (optim.batch // (optim.mini_batch or optim.batch))


def _troubles(recipe: Recipe, shape: ModelShape, memory: MemoryEstimate) -> list[str]:
    run, rollout = recipe.run, recipe.rollout
    found = []
    if memory.peak > run.device_gb:
        found.append(f"needs {memory.peak:.0f} GB on each device, which has {run.device_gb:g} GB")
    if recipe.stage == "grpo" and rollout.vllm and recipe.trainer.get("vllm_mode") != "server":
        needed = shape.weights * _BYTES[recipe.model.dtype] / rollout.vllm_devices / GB
        share = rollout.vllm_share * run.device_gb
        if needed >= share:
            found.append(f"vLLM may take {share:.0f} GB of each device, but its weights alone need {needed:.0f} GB")
        if run.devices % rollout.vllm_devices:
            found.append(f"{run.devices} devices can't be shared out to engines of {rollout.vllm_devices} devices")
    return found


def as_lines(result: Estimate) -> list[str]:
    """Return an estimate as lines of text."""
    memory = result.memory
    parts = {
        "weights": memory.weights, "gradients": memory.gradients, "optimiser": memory.optimiser,
        "reference": memory.reference, "passing": memory.passing, "activations": memory.activations,
        "logits": memory.logits, "rollouts": memory.rollouts,
    }  # fmt: skip
    told_parts = ", ".join(f"{name} {value:.1f}" for name, value in parts.items() if value >= 0.05)
    if memory.rollouts >= 0.05 and sum(parts.values()) > 1.001 * memory.peak:
        told_parts += "; training and rollouts take turns, the larger counts"
    words = f" ({told_parts})" if told_parts else ""
    share = 100 * result.trained / result.weights
    lines = [
        f"{_large(result.weights)} weights, {_large(result.trained)} trained ({share:.2f} %)",
        f"memory of each device: {memory.peak:.1f} of {result.device_gb:g} GB{words}",
        f"a step: at most {result.step_tokens:,} tokens",
    ]
    if result.host_gb:
        lines.append(f"memory of the host for each device: {result.host_gb:.1f} GB")
    if result.steps is not None:
        lines.append(f"{result.steps:,} steps; all lengths are the longest allowed")
    return [*lines, *(f"trouble: {trouble}" for trouble in result.troubles)]


def _large(number: int) -> str:
    return f"{number / 1e9:.2f} billion" if number >= 1e9 else f"{number / 1e6:,.1f} million"


def as_mapping(result: Estimate) -> dict[str, Any]:
    """Return an estimate as plain data."""
    return {**asdict(result), "fits": result.fits}
