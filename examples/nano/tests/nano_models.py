"""A tiny model of the nano model's kind, made once a process, and a chat to show it."""

import atexit
import shutil
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from geosleuth.models.weights_engine import load_processor
from nano.nano_model import make_nano

TEXTS = (
    '{"name": "zoom", "arguments": {"bbox_2d": [120, 30, 455, 900], "image": "image-1"}}',
    '{"country": "France", "city": "Nice", "lat": -43.7034, "lon": -7.2663}',
    "Where was this photo taken? Rue Grimaldi 12, 98000 Monaco; 43.73841, 7.42463; exact match, confidence 0.98",
    "system\nuser\nassistant\n",
) * 3
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Magnify a part of an image, so that small signs can be seen.",
            "parameters": {"type": "object", "properties": {"bbox_2d": {"type": "array"}, "image": {"type": "string"}}},
        },
    }
    for name in ("zoom", "read_text")
]


@cache
def tiny_nano_folder() -> Path:
    """The folder of the model, removed when the process ends."""
    torch: Any = import_module("torch")
    # Passes this small only get slower on several threads.
    torch.set_num_threads(1)
    home = Path(tempfile.mkdtemp(prefix="tiny-nano-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return make_nano(home / "tiny", size="tiny", corpus=TEXTS)


@cache
def tiny_nano_processor() -> Any:
    return load_processor(tiny_nano_folder())


@cache
def tiny_nano_model() -> Any:
    transformers: Any = import_module("transformers")
    return transformers.Qwen3VLForConditionalGeneration.from_pretrained(tiny_nano_folder()).eval()


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    """A picture in which no two places look the same."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def chat(*images: Any, city: str = "Nice") -> list[dict[str, Any]]:
    """A question with the first picture, a call for each of the others, and an answer."""
    call = {"type": "function", "function": {"name": "zoom", "arguments": {"bbox_2d": [1, 20, 300, 45], "image": "ü"}}}
    found: list[dict[str, Any]] = [
        {"role": "system", "content": "Find the place."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "image-1 (ひまわり):"},
                *({"type": "image", "image": image} for image in images[:1]),
                {"type": "text", "text": "Where was this photo taken?"},
            ],
        },
    ]
    for image in images[1:]:
        found += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {
                "role": "tool",
                "name": "zoom",
                "content": [{"type": "text", "text": "A cut."}, {"type": "image", "image": image}],
            },
        ]
    words = f'{{"country": "France", "city": "{city}", "lat": 43.7, "lon": 7.25}}'
    return [*found, {"role": "assistant", "content": [{"type": "text", "text": words}]}]
