"""How fast a small Qwen3-VL writes: our generator beside `model.generate` as TRL calls it, on the same prompts.

    python examples/nano/generation.py [--size nano|tiny] [--model DIR] [--rows N] [--tokens N] [--new N] [--images N]
                                    [--group N] [--attention sdpa|varlen] [--dtype float32|bfloat16] [--check] [--json]

Prompts are noise, with images of the size that the nano model sees; nothing ends a completion, so that both write the
same number of tokens. `--group` gives that many rows the same prompt, as GRPO does. The first round of each is not
timed. Model FLOPs utilisation counts two operations for each weight of the text model and each written token, and
attention over what is cached, against the card's dense bfloat16 peak as its maker gives it; prefill is left out of it
but not out of the time, so it is a lower bound. `--check` first compares every way to generate with `model.generate`
and exits with 1 where they differ. On a CPU take `--size tiny --rows 8 --new 32`.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from geosleuth.photo.runtime import no_probing
from geosleuth.support.errors import require
from nano.fast import FastGenerator, Prompts, check, image_ids, random_prompts, stock_generate
from nano.nano_model import make_nano, parameters
from nano.vision import patch_vision_attention, patch_vision_inputs

# Dense bfloat16, from the makers' data sheets.
PEAK_FLOPS = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}
GRIDS = {"nano": (1, 20, 28), "tiny": (1, 4, 4)}
PAD = 0


def load(asked: argparse.Namespace) -> Any:
    """The model, on the GPU where there is one."""
    with no_probing():
        torch: Any = require("torch", extra="train")
        transformers: Any = require("transformers", extra="train")
        with tempfile.TemporaryDirectory() as name:
            folder = asked.model or make_nano(Path(name) / "model", size=asked.size, corpus=["Where is this? Here."])
            model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=asked.dtype)
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def grouped(prompts: Prompts, group: int, patches: int) -> Prompts:
    """Every prompt so many times, one copy beside the other."""
    if group == 1:
        return prompts
    torch: Any = require("torch", extra="train")
    ids = [row for row in prompts.ids for _ in range(group)]
    if prompts.pixel_values is None:
        return Prompts(ids, None, None)
    images = [len(prompts.image_grid_thw) // len(prompts.ids)] * len(prompts.ids)
    pixels = prompts.pixel_values.split([count * patches for count in images])
    grids = prompts.image_grid_thw.split(images)
    return Prompts(
        ids,
        torch.cat([part for part in pixels for _ in range(group)]),
        torch.cat([part for part in grids for _ in range(group)]),
    )


def timed(work: Callable[[], list[list[int]]], *, rounds: int) -> tuple[float, float]:
    """Seconds of the first round, and of the best of the others."""
    torch: Any = require("torch", extra="train")
    taken = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - started)
    return taken[0], min(taken[1:])


def flops(model: Any, prompts: Prompts, new: int) -> float:
    """Operations that writing takes: two a weight and token, and attention over what is cached by then."""
    config = model.config.text_config
    weights = sum(weight.numel() for weight in model.model.language_model.layers.parameters())
    weights += config.vocab_size * config.hidden_size
    cached = sum(len(row) + new / 2 for row in prompts.ids) * new
    attention = 4.0 * config.num_hidden_layers * config.num_attention_heads * config.head_dim * cached
    return float(2.0 * weights * len(prompts.ids) * new + attention)


def measure(asked: argparse.Namespace, model: Any) -> dict[str, Any]:
    """Every figure of one measurement."""
    torch: Any = require("torch", extra="train")
    transformers: Any = require("transformers", extra="train")
    on_cuda = torch.cuda.is_available()
    grid = GRIDS[asked.size]
    alone = random_prompts(
        model, asked.rows // asked.group, tokens=asked.tokens, images=min(asked.images, 1), grid=grid
    )
    if asked.images > 1:
        alone = random_prompts(model, asked.rows, tokens=asked.tokens, images=asked.images, grid=grid)
    prompts = grouped(alone, asked.group if asked.images <= 1 else 1, grid[1] * grid[2])
    written = len(prompts.ids) * asked.new
    mixed = torch.bfloat16 if on_cuda and asked.dtype == "float32" else None

    def stock() -> list[list[int]]:
        return stock_generate(
            model, prompts, pad_id=PAD, max_new_tokens=asked.new, dtype=mixed,
            do_sample=True, temperature=1.0, top_p=1.0, top_k=0,
        )  # fmt: skip

    _, stock_seconds = timed(stock, rounds=1)
    if not asked.unpatched:
        patch_vision_attention(model)
        patch_vision_inputs(model)
    generator = FastGenerator(
        model, eos_ids=[], pad_id=PAD, max_batch=asked.rows, max_tokens=max(map(len, prompts.ids)) + asked.new,
        attention=asked.attention, graphs=False if asked.no_graphs else None, banned_ids=image_ids(model),
    )  # fmt: skip

    def fast() -> list[list[int]]:
        return generator.generate(
            prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=asked.new, temperature=1.0
        )

    def first_token() -> list[list[int]]:
        return generator.generate(prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=1)

    first_seconds, fast_seconds = timed(fast, rounds=3)
    _, prefill_seconds = timed(first_token, rounds=2)
    card = torch.cuda.get_device_name() if on_cuda else None
    peak = next((value for name, value in PEAK_FLOPS.items() if card and name in card), None)
    work = flops(model, prompts, asked.new)
    return {
        "machine": {
            "arch": platform.machine(), "cpus": os.cpu_count(), "card": card, "python": platform.python_version(),
            "torch": torch.__version__, "transformers": transformers.__version__,
        },
        "load": os.getloadavg()[0],
        "parameters": parameters(model),
        "dtype": asked.dtype,
        "attention": asked.attention,
        "rows": len(prompts.ids),
        "same_prompt": asked.group if asked.images <= 1 else 1,
        "prompt_tokens": prompts.tokens,
        "written_tokens": written,
        "stock_seconds": stock_seconds,
        "stock_tokens_a_second": written / stock_seconds,
        "fast_seconds": fast_seconds,
        "fast_first_seconds": first_seconds,
        "fast_prefill_seconds": prefill_seconds,
        "fast_tokens_a_second": written / fast_seconds,
        "graphs": generator.captures,
        "ratio": stock_seconds / fast_seconds,
        "fast_mfu": work / fast_seconds / peak if peak else None,
        "stock_mfu": work / stock_seconds / peak if peak else None,
        "memory_gb": torch.cuda.max_memory_allocated() / 1e9 if on_cuda else None,
    }  # fmt: skip


def main() -> None:
    """Check if asked to, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=("nano", "tiny"), default="nano")
    parser.add_argument("--model", type=Path, help="a trained model instead of random weights")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=256, help="text tokens of a prompt")
    parser.add_argument("--new", type=int, default=256)
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--group", type=int, default=1, help="rows that share a prompt (with at most one image)")
    parser.add_argument("--attention", choices=("sdpa", "varlen"), default="sdpa")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32", help="of the weights")
    parser.add_argument("--no-graphs", action="store_true")
    parser.add_argument("--unpatched", action="store_true", help="leave the vision tower as transformers has it")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    model = load(asked)
    if asked.check:
        trial = random_prompts(model, 8, tokens=32, images=2, grid=GRIDS[asked.size])
        found = check(model, prompts=trial, max_new_tokens=48)
        for line in found.lines():
            print(line, file=sys.stderr)
        if not found.fine:
            raise SystemExit(1)
    figures = measure(asked, model)
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:22} {value:,.4g}" if isinstance(value, float) else f"{name:22} {value}")


if __name__ == "__main__":
    main()
