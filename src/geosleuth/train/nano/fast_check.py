"""Is fast generation right on this machine, and how fast is it? Run it first on a GPU that was never tried.

for line in check(model).lines():
    print(line)
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.errors import require

from .fast import FastGenerator, Written
from .fast_decode import Attention

# Rounding in bfloat16 moves a log probability by some hundredths; a wrong position or cache moves it by whole units.
MOST_LOGPROB_DIFFERENCE = 0.25
MOST_LOGPROB_DIFFERENCE_FLOAT32 = 1e-3


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as the generator takes them."""

    ids: list[list[int]]
    pixel_values: Any
    image_grid_thw: Any

    @property
    def tokens(self) -> int:
        """How many tokens all prompts have together."""
        return sum(map(len, self.ids))


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to generate, beside `model.generate` and beside the model's own pass over what it wrote."""

    name: str
    same_as_generate: float  # share of tokens that agree with model.generate up to the first that differs
    most_difference: float  # of a token's log probability, to the model's pass over the finished text
    mean_difference: float
    seconds: float
    tokens_a_second: float
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` found."""

    variants: tuple[Variant, ...]
    graphs_equal_steps: bool | None  # CUDA graphs wrote the very tokens that plain steps wrote; None without CUDA
    sampling_repeats: bool
    fine: bool

    def lines(self) -> list[str]:
        """The findings as a table, one variant a line."""
        head = f"{'way':24}{'as generate':>12}{'most diff':>11}{'mean diff':>11}{'seconds':>9}{'tokens/s':>11}"
        rows = [
            f"{way.name:24}{way.same_as_generate:12.1%}{way.most_difference:11.2g}{way.mean_difference:11.2g}"
            f"{way.seconds:9.3f}{way.tokens_a_second:11,.0f}  {way.trouble}".rstrip()
            for way in self.variants
        ]
        tail = f"graphs equal steps: {self.graphs_equal_steps}; sampling repeats: {self.sampling_repeats}"
        return [head, *rows, f"{tail}; fine: {self.fine}"]


def random_prompts(
    model: Any, count: int, *, tokens: int, images: int = 1, grid: tuple[int, int, int] = (1, 16, 16), seed: int = 0
) -> Prompts:
    """Prompts of noise: about so many text tokens each (lengths vary), and up to so many images of one grid each."""
    torch: Any = require("torch", extra="train")
    random = np.random.default_rng(seed)
    config = model.config
    special = {config.image_token_id, config.video_token_id, config.vision_start_token_id, config.vision_end_token_id}
    words = np.array([word for word in range(config.text_config.vocab_size) if word not in special])
    merge, vision = config.vision_config.spatial_merge_size, config.vision_config
    span = [
        config.vision_start_token_id,
        *[config.image_token_id] * (int(np.prod(grid)) // merge**2),
        config.vision_end_token_id,
    ]
    ids, given = [], 0
    for number in range(count):
        text = [int(word) for word in random.choice(words, max(2, tokens - number % 8))]
        own = images - number % 2 if images > 1 else images
        given += own
        ids.append([*text[:1], *span * own, *text[1:]])
    if not given:
        return Prompts(ids, None, None)
    width = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    pixels = random.standard_normal((given * int(np.prod(grid)), width), dtype=np.float32)
    device = model.get_input_embeddings().weight.device
    return Prompts(ids, torch.from_numpy(pixels).to(device), torch.tensor([grid] * given, device=device))


def image_ids(model: Any) -> list[int]:
    """The tokens that stand for images and videos."""
    return [model.config.image_token_id, model.config.video_token_id]


def stock_generate(
    model: Any, prompts: Prompts, *, pad_id: int, max_new_tokens: int, dtype: Any = None, **sampling: Any
) -> list[list[int]]:
    """`model.generate` as trainers call it, padded on the left; nothing ends a completion, and no image is in it.

    A ``dtype`` runs it under autocast.
    """
    torch: Any = require("torch", extra="train")
    device = model.get_input_embeddings().weight.device
    width = max(map(len, prompts.ids))
    ids = torch.tensor([[pad_id] * (width - len(row)) + row for row in prompts.ids], device=device)
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in prompts.ids], device=device)
    images = {"pixel_values": prompts.pixel_values, "image_grid_thw": prompts.image_grid_thw}
    with _endless(model, pad_id), torch.no_grad(), torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
        whole = model.generate(
            input_ids=ids, attention_mask=mask, mm_token_type_ids=(ids == model.config.image_token_id).int(),
            max_new_tokens=max_new_tokens, **{key: value for key, value in images.items() if value is not None},
            suppress_tokens=image_ids(model), **sampling,
        )  # fmt: skip
    completions: list[list[int]] = whole[:, width:].tolist()
    return completions


def check(
    model: Any,
    *,
    pad_id: int = 0,
    prompts: Prompts | None = None,
    max_new_tokens: int = 64,
    attentions: Sequence[Attention] = ("sdpa", "varlen"),
    repeats: int = 2,
) -> Checked:
    """Compare every way to generate with `model.generate`, greedily and with no ends, and time each of them.

    A way that raises is reported, not passed on. The first run of each is not timed: it captures graphs.
    """
    torch: Any = require("torch", extra="train")
    weight = model.get_input_embeddings().weight
    on_cuda = weight.device.type == "cuda"
    prompts = prompts or random_prompts(model, 16, tokens=48, images=2)
    mixed = torch.bfloat16 if on_cuda and weight.dtype == torch.float32 else None
    room: dict[str, Any] = {
        "max_batch": len(prompts.ids),
        "max_tokens": max(map(len, prompts.ids)) + max_new_tokens,
        "banned_ids": image_ids(model),
    }

    def timed(work: Callable[[], Any]) -> tuple[Any, float]:
        best, result = float("inf"), work()
        for _ in range(repeats):
            started = _now(torch, on_cuda=on_cuda)
            result = work()
            best = min(best, _now(torch, on_cuda=on_cuda) - started)
        return result, best

    def stock() -> list[list[int]]:
        return stock_generate(
            model, prompts, pad_id=pad_id, max_new_tokens=max_new_tokens, dtype=mixed, do_sample=False
        )

    reference, seconds = timed(stock)
    written = len(prompts.ids) * max_new_tokens
    variants = [Variant("model.generate", 1.0, 0.0, 0.0, seconds, written / seconds)]
    outputs: dict[str, Written] = {}
    tried: Sequence[Attention] = attentions if on_cuda else ["sdpa"]
    kinds = ["steps", "graphs"] if on_cuda else ["steps"]
    ways = [(f"{attention}, {kind}", attention, kind == "graphs") for attention in tried for kind in kinds]
    repeating = True
    for name, attention, graphs in ways:
        try:
            generator = FastGenerator(model, eos_ids=[], pad_id=pad_id, graphs=graphs, attention=attention, **room)
            outputs[name], seconds = timed(lambda: _greedy(generator, prompts, max_new_tokens))  # noqa: B023
            drawn = [_drawn(generator, prompts, max_new_tokens) for _ in range(2)]
            repeating = repeating and drawn[0] == drawn[1]
        except Exception as error:  # noqa: BLE001
            first = str(error).splitlines()[:1]
            trouble = f"{type(error).__name__}: {first[0] if first else ''}"
            variants.append(Variant(name, 0.0, float("inf"), float("inf"), 0.0, 0.0, trouble))
            continue
        differences = logprob_differences(model, prompts, outputs[name], mixed)
        variants.append(
            Variant(
                name, _agreement(reference, outputs[name].ids), float(differences.max()), float(differences.mean()),
                seconds, written / seconds,
            )
        )  # fmt: skip
    equal = None
    if on_cuda:
        pairs = [(outputs.get(f"{kind}, steps"), outputs.get(f"{kind}, graphs")) for kind in attentions]
        equal = all(steps.ids == graph.ids for steps, graph in pairs if steps and graph)
    exact = not mixed and weight.dtype == torch.float32
    limit = MOST_LOGPROB_DIFFERENCE_FLOAT32 if exact else MOST_LOGPROB_DIFFERENCE
    needed = [way for way in variants if way.name.startswith(("sdpa", "model"))]
    fine = repeating and equal is not False and all(way.most_difference < limit for way in needed)
    return Checked(tuple(variants), equal, repeating, fine)


def _greedy(generator: FastGenerator, prompts: Prompts, count: int) -> Written:
    return generator.sample(
        prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=count, greedy=True
    )


def _drawn(generator: FastGenerator, prompts: Prompts, count: int) -> list[list[int]]:
    return generator.generate(
        prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=count, temperature=1.0, seed=7
    )


def _now(torch: Any, *, on_cuda: bool) -> float:
    if on_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()


@contextmanager
def _endless(model: Any, pad_id: int) -> Iterator[None]:
    settings = model.generation_config
    before = settings.eos_token_id, settings.pad_token_id
    settings.eos_token_id, settings.pad_token_id = None, pad_id
    try:
        yield
    finally:
        settings.eos_token_id, settings.pad_token_id = before


def _agreement(wanted: list[list[int]], got: list[list[int]]) -> float:
    agreeing = 0
    for one, other in zip(wanted, got, strict=True):
        differing = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        agreeing += differing[0] if differing else len(one)
    return agreeing / sum(map(len, wanted))


def logprob_differences(model: Any, prompts: Prompts, written: Written, dtype: Any) -> Any:
    """How far each token's log probability lies from the one in the model's own pass over prompt and completion."""
    torch: Any = require("torch", extra="train")
    device = model.get_input_embeddings().weight.device
    rows = [[*prompt, *completion] for prompt, completion in zip(prompts.ids, written.ids, strict=True)]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
    images = {"pixel_values": prompts.pixel_values, "image_grid_thw": prompts.image_grid_thw}
    with torch.no_grad(), torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
        logits = model(
            input_ids=ids, attention_mask=mask, mm_token_type_ids=(ids == model.config.image_token_id).int(),
            **{key: value for key, value in images.items() if value is not None},
        ).logits  # fmt: skip
    found = logits[:, :-1].float().log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0].cpu().numpy()
    return np.concatenate(
        [
            np.abs(found[row, len(prompt) - 1 : len(prompt) - 1 + len(likely)] - np.array(likely))
            for row, (prompt, likely) in enumerate(zip(prompts.ids, written.logprobs, strict=True))
        ]
    )
