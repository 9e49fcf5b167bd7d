"""A small Qwen3-VL made from random weights and saved as any such model is: a folder that ``hf:DIR`` loads."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from geosleuth.errors import require
from geosleuth.files import write_text_atomically
from geosleuth.photo.runtime import no_probing
from geosleuth.policies.weights_engine import load_processor

from .tokens import CHAT_TEMPLATE, MAX_POSITIONS, MODEL_TOKENS, VOCABULARY, make_tokenizer

Size = Literal["nano", "tiny"]

PATCH_PX: Final = 16
MERGE: Final = 2
LEAST_PIXELS: Final = 130_000
MOST_PIXELS: Final = 155_000
"""Between the two a photo of 4:3 becomes 448 x 320 pixels, 140 tokens, and small cuts are enlarged to about as many.
They are apart, and apart from 448 x 336, so that no rounding of a root decides over a row of tokens."""
_WEIGHTS_STD: Final = 0.02


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the parts of a model are; ``grid`` is the side of the table of positions that images are laid on."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int
    rope_sections: tuple[int, int, int]
    vision_hidden: int
    vision_layers: int
    vision_heads: int
    vision_inner: int
    grid: int
    deepstack: int


SHAPES: Final[dict[Size, Shape]] = {
    "nano": Shape(384, 8, 6, 2, 64, 1024, (16, 8, 8), 320, 6, 5, 1280, 28, 2),
    "tiny": Shape(64, 2, 4, 2, 16, 128, (4, 2, 2), 64, 2, 4, 128, 8, 0),
}


def make_nano(folder: Path, *, size: Size = "nano", seed: int = 0, corpus: Iterable[str]) -> Path:
    """Make a model that knows nothing yet and save it; the same for the same size, seed and texts.

    Args:
        folder: where it goes; made where it is missing.
        size: "nano", or "tiny" for tests.
        seed: of the weights.
        corpus: texts to make the tokens from; see `words_for_tokens.corpus`.

    Raises:
        MissingExtra: torch or transformers is not installed.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with no_probing():
        torch: Any = require("torch", extra="train")
        transformers: Any = require("transformers", extra="train")
        pil: Any = require("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl", extra="train")
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer = make_tokenizer(corpus)
        config = _configuration(transformers, SHAPES[size], tokenizer)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = transformers.Qwen3VLForConditionalGeneration(config)
            _initialise(torch, model, SHAPES[size])
        model.generation_config.eos_token_id = tokenizer.eos_token_id
        model.generation_config.pad_token_id = tokenizer.pad_token_id
        images = pil.Qwen2VLImageProcessorPil(
            patch_size=PATCH_PX,
            merge_size=MERGE,
            temporal_patch_size=2,
            size={"shortest_edge": LEAST_PIXELS, "longest_edge": MOST_PIXELS},
            image_mean=[0.5, 0.5, 0.5],
            image_std=[0.5, 0.5, 0.5],
        )
        bars = transformers.utils.logging
        shown = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()
        try:
            model.save_pretrained(folder)
        finally:
            if shown:
                bars.enable_progress_bar()
        tokenizer.save_pretrained(folder)
        images.save_pretrained(folder)
    path = folder / "preprocessor_config.json"
    settings = {**json.loads(path.read_text(encoding="utf-8")), "processor_class": "Qwen3VLProcessor"}
    write_text_atomically(path, json.dumps(settings, indent=1))
    write_text_atomically(folder / "chat_template.jinja", CHAT_TEMPLATE)
    return folder


def load_nano_processor(folder: Path) -> Any:
    """The processor of a nano model, with pictures made ready by Pillow also where torchvision is installed.

    Lessons, rollouts and evaluations then see the same pixels on every machine.

    Raises:
        MissingExtra: transformers is not installed.
    """
    pil: Any = require("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl", extra="train")
    processor = load_processor(folder)
    processor.image_processor = pil.Qwen2VLImageProcessorPil.from_pretrained(folder, local_files_only=True)
    return processor


def parameters(model: Any) -> int:
    """How many weights a model has, those used twice counted once."""
    return sum(weights.numel() for weights in model.parameters())


def _configuration(transformers: Any, shape: Shape, tokenizer: Any) -> Any:
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in MODEL_TOKENS}
    return transformers.Qwen3VLConfig(
        text_config={
            # Always the full table: a tokenizer made from few texts leaves rows of it unused.
            "vocab_size": VOCABULARY, "hidden_size": shape.hidden, "intermediate_size": shape.inner,
            "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads,
            "num_key_value_heads": shape.kv_heads, "head_dim": shape.head_dim,
            "max_position_embeddings": MAX_POSITIONS, "initializer_range": _WEIGHTS_STD,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0,
                                "mrope_section": list(shape.rope_sections), "mrope_interleaved": True},
            "pad_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"], "tie_word_embeddings": True,
        },
        vision_config={
            "depth": shape.vision_layers, "hidden_size": shape.vision_hidden, "num_heads": shape.vision_heads,
            "intermediate_size": shape.vision_inner, "patch_size": PATCH_PX, "spatial_merge_size": MERGE,
            "temporal_patch_size": 2, "out_hidden_size": shape.hidden, "num_position_embeddings": shape.grid**2,
            "deepstack_visual_indexes": [shape.deepstack], "initializer_range": _WEIGHTS_STD,
        },
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )  # fmt: skip


def _initialise(torch: Any, model: Any, shape: Shape) -> None:
    """Weights to start training from: normal, and narrower where a layer adds to what flows past it.

    The narrowing keeps the sum over all layers from growing with their number.
    """
    depths = {
        "self_attn.o_proj.weight": shape.layers,
        "mlp.down_proj.weight": shape.layers,
        "attn.proj.weight": shape.vision_layers,
        "mlp.linear_fc2.weight": shape.vision_layers,
    }
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith("bias"):
                weights.zero_()
            elif "norm" in name:
                weights.fill_(1.0)
            else:
                layers = next((depth for end, depth in depths.items() if name.endswith(end)), None)
                weights.normal_(0.0, _WEIGHTS_STD if layers is None else _WEIGHTS_STD / (2 * layers) ** 0.5)
