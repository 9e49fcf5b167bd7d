"""Configurations of published models, written out, and how many weights follow from a configuration.

Nothing here is fetched and nothing needs torch: a dry run builds models from these without their weights, and estimates
count with them before anything is built.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from geosleuth.agent.policy_card import card_beside
from geosleuth.models.box_scale import read_box_scale
from geosleuth.photo import BoxScale
from geosleuth.support.errors import BadInput

from .recipe import ModelPart

_ADAPTED_IN_EYES = ("gate_proj", "up_proj", "down_proj")

# Model architectures by name, as in their configuration files: published models, and the nano model of examples/nano.
ARCHITECTURES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    json.loads((files(__package__) / "architectures.json").read_text(encoding="utf-8"))
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The names that transformers has for a family of models: its class, and the layers that are sharded as one."""

    model: str
    layer: str
    vision_layer: str


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "qwen2_5_vl": Kind("Qwen2_5_VLForConditionalGeneration", "Qwen2_5_VLDecoderLayer", "Qwen2_5_VLVisionBlock"),
        "qwen3_vl": Kind("Qwen3VLForConditionalGeneration", "Qwen3VLTextDecoderLayer", "Qwen3VLVisionBlock"),
        "qwen3_vl_moe": Kind(
            "Qwen3VLMoeForConditionalGeneration", "Qwen3VLMoeTextDecoderLayer", "Qwen3VLMoeVisionBlock"
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """Sizes of a model's parts, in numbers of weights and of values per token.

    Attributes:
        kind: the family, a key of `KINDS`.
        weights: of the whole model.
        vision_weights: of what sees.
        table_weights: of the table of tokens and of the head, once where they share it.
        layer_weights: of one layer of the language model.
        layers: of the language model.
        hidden: the width between layers.
        query: the width of all query heads together.
        key: the width of all key heads together.
        inner: the width within a layer's feed-forward part, for one token.
        tokens: how many there are.
        vision_layers: layers of what sees.
        vision_hidden: its width between layers.
        vision_inner: its width within a layer.
        patch_px: the side of a patch in pixels.
        adapted: layer sizes (in, out, how many of them) that adapters can be put on, by name.
    """

    kind: str
    weights: int
    vision_weights: int
    table_weights: int
    layer_weights: int
    layers: int
    hidden: int
    query: int
    key: int
    inner: int
    tokens: int
    vision_layers: int
    vision_hidden: int
    vision_inner: int
    patch_px: int
    adapted: Mapping[str, tuple[tuple[int, int, int], ...]]

    def adapter_weights(self, part: ModelPart) -> int:
        """Return weights of the adapters that a recipe asks for."""
        chosen = [item for name in part.targets for item in self.adapted.get(name, ())]
        if not part.freeze_vision and self.kind == "qwen2_5_vl":
            sides = (self.vision_hidden, self.vision_inner)
            chosen += [(*sides, self.vision_layers) for name in part.targets if name in _ADAPTED_IN_EYES]
        return sum(part.rank * (inward + outward) * times for inward, outward, times in chosen)

    def count_trained_weights(self, part: ModelPart) -> int:
        """Return weights that move."""
        if part.tuned == "lora":
            return self.adapter_weights(part)
        return self.weights - (self.vision_weights if part.freeze_vision else 0)


def load_configuration(part: ModelPart) -> Mapping[str, Any]:
    """Return the configuration of a recipe's model: its folder's, or that of the published model it names.

    Raises:
        BadInput: there is no such folder, and no published model of that name is known.
    """
    path = Path(part.path) / "config.json"
    if path.is_file():
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: can't be read as JSON") from error
        if not isinstance(config, dict) or "text_config" not in config or "vision_config" not in config:
            raise BadInput(f"{path}: is no model for images and text")
        return config
    for name in (part.base, part.path):
        if name is not None and name in ARCHITECTURES:
            return ARCHITECTURES[name]
    raise BadInput(
        f"model.path {part.path!r} is no folder with weights, and no configuration of that name is known; known are"
        f" {', '.join(ARCHITECTURES)}"
    )


def find_box_scale(part: ModelPart) -> BoxScale:
    """Return in what a recipe's model gives boxes: as the recipe says, as it learned before, or by its configuration.

    Raises:
        BadInput: the card beside its weights is damaged.
    """
    if part.boxes != "auto":
        return part.boxes
    if (card := card_beside(Path(part.path))) is not None:
        return card.box_scale
    try:
        return read_box_scale(load_configuration(part))
    except BadInput:
        return "pixels"  # loading the model reports what is wrong


def compute_shape(configuration: Mapping[str, Any]) -> ModelShape:
    """Return sizes from a configuration, by counting: no model is built.

    Raises:
        BadInput: the family of models is not known here, or the configuration lacks a size.
    """
    kind = str(configuration.get("model_type"))
    if kind not in KINDS:
        raise BadInput(f"models of the kind {kind!r} can't be estimated; those that can: {', '.join(KINDS)}")
    try:
        return _build_shape(kind, configuration)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise BadInput(f"the model's configuration lacks a size ({error}), so it can't be estimated") from error


def _build_shape(kind: str, configuration: Mapping[str, Any]) -> ModelShape:
    text, vision = configuration["text_config"], configuration["vision_config"]
    hidden, heads = int(text["hidden_size"]), int(text["num_attention_heads"])
    each = int(text.get("head_dim") or hidden // heads)
    query, key = heads * each, int(text["num_key_value_heads"]) * each
    experts = int(text.get("num_experts") or text.get("num_local_experts") or 0) if kind == "qwen3_vl_moe" else 0
    chosen = int(text["num_experts_per_tok"]) if experts else 1
    inner = int(text["moe_intermediate_size"] if experts else text["intermediate_size"])
    biases = query + 2 * key if kind == "qwen2_5_vl" else 2 * each
    shared = 2 * hidden * query + 2 * hidden * key + biases + 2 * hidden + experts * hidden
    layers, tokens = int(text["num_hidden_layers"]), int(text["vocab_size"])
    tied = bool(configuration.get("tie_word_embeddings", text.get("tie_word_embeddings", False)))
    table = tokens * hidden * (1 if tied else 2)
    layer = shared + 3 * hidden * inner * (experts or 1)
    vision_weights = _vision_weights(kind, vision)
    sizes = {"q_proj": (hidden, query), "k_proj": (hidden, key), "v_proj": (hidden, key), "o_proj": (query, hidden)}
    if not experts:
        sizes |= {"gate_proj": (hidden, inner), "up_proj": (hidden, inner), "down_proj": (inner, hidden)}
    return ModelShape(
        kind=kind,
        weights=layers * layer + hidden + table + vision_weights,
        vision_weights=vision_weights,
        table_weights=table,
        layer_weights=layer,
        layers=layers,
        hidden=hidden,
        query=query,
        key=key,
        inner=inner * chosen,
        tokens=tokens,
        vision_layers=int(vision["depth"]),
        vision_hidden=int(vision["hidden_size"]),
        vision_inner=int(vision["intermediate_size"]),
        patch_px=int(vision["patch_size"]),
        adapted=MappingProxyType({name: ((*size, layers),) for name, size in sizes.items()}),
    )


def _vision_weights(kind: str, vision: Mapping[str, Any]) -> int:
    width, inner, depth = int(vision["hidden_size"]), int(vision["intermediate_size"]), int(vision["depth"])
    merged = width * int(vision.get("spatial_merge_size", 2)) ** 2
    out = int(vision["out_hidden_size"])
    patch = (
        int(vision.get("in_channels", 3)) * int(vision.get("temporal_patch_size", 2)) * int(vision["patch_size"]) ** 2
    )
    attention = width * 3 * width + 3 * width + width * width + width
    joining = merged * merged + merged + merged * out + out
    if kind == "qwen2_5_vl":
        feed = 3 * width * inner + 2 * inner + width
        return depth * (attention + feed + 2 * width) + patch * width + joining + width
    feed = 2 * width * inner + inner + width
    positions = int(vision["num_position_embeddings"]) * width
    deeper = len(vision.get("deepstack_visual_indexes") or ()) * (joining + 2 * merged)
    return depth * (attention + feed + 4 * width) + patch * width + width + positions + joining + 2 * width + deeper
