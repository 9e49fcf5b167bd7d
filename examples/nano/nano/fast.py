"""Batched generation for small Qwen3-VL models, many times as fast as `model.generate` on one GPU; and its check.

A small model's step is a few hundred tiny kernels, and `generate` spends its time launching them from Python. Here the
model itself reads the prompts (images, positions and all), and what follows is our own step over static buffers,
captured in CUDA graphs: see `fast_decode`. `check` compares all of it with `generate`.

    generator = FastGenerator(model, eos_ids=[tokenizer.eos_token_id], pad_id=tokenizer.pad_token_id)
    completions = generator.generate(ids, pixels, grids, max_new_tokens=256, temperature=1.0)

for line in check(model).lines():
    print(line)
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from geosleuth.photo.runtime import no_probing
from geosleuth.support.errors import BadInput, require

from .fast_decode import BLOCK, LEAST_CUDA_ROWS, SPAN_STEP, Attention, Decoder, Mode, Weights, batch_bucket, span_bucket

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Prompt:
    """One prompt: its tokens, where its images' tokens start and end, their grids, which patches are its own."""

    ids: Positions
    runs: tuple[tuple[int, int], ...]
    grids: tuple[tuple[int, int, int], ...]
    patches: slice


def split_prompts(
    prompt_ids: Sequence[Sequence[int]], image_grid_thw: Any, *, image_id: int, merge: int
) -> list[Prompt]:
    """Assign images to prompts: they come in the order of their tokens over all prompts.

    Raises:
        BadInput: a prompt is empty, or tokens and images do not match.
    """
    grids = [] if image_grid_thw is None else [(int(t), int(h), int(w)) for t, h, w in image_grid_thw.tolist()]
    prompts, next_image, next_patch = [], 0, 0
    for number, given in enumerate(prompt_ids):
        ids = np.asarray(given, dtype=np.int64)
        if not ids.size:
            raise BadInput(f"prompt {number} has no tokens: give each prompt at least one")
        runs = _image_runs(ids, image_id)
        own = tuple(grids[next_image : next_image + len(runs)])
        tokens = [t * h * w // merge**2 for t, h, w in own]
        wanted = [end - start for start, end in runs]
        if tokens != wanted:
            raise BadInput(f"prompt {number} has runs of {wanted} image tokens, and its images take {tokens}")
        next_image += len(runs)
        width = sum(t * h * w for t, h, w in own)
        prompts.append(Prompt(ids, runs, own, slice(next_patch, next_patch + width)))
        next_patch += width
    if next_image != len(grids):
        raise BadInput(f"{len(grids)} images were given, and the prompts have tokens for {next_image}")
    return prompts


def rope_positions(prompt: Prompt, *, merge: int) -> tuple[Positions, int]:
    """Return positions of a prompt in time, height and width, [3, tokens], and next position minus next index.

    As `get_rope_index` of the model has them, without its many small steps on the GPU.
    """
    positions = np.empty((3, len(prompt.ids)), dtype=np.int64)
    at, following = 0, 0
    for (start, end), (t, h, w) in zip(prompt.runs, prompt.grids, strict=True):
        positions[:, at:start] = np.arange(following, following + start - at)
        following += start - at
        inside = np.indices((t, h // merge, w // merge)).reshape(3, -1)
        positions[:, start:end] = inside + following
        following += max(h, w) // merge
        at = end
    rest = len(prompt.ids) - at
    positions[:, at:] = np.arange(following, following + rest)
    return positions, int(positions.max()) + 1 - len(prompt.ids)


def first_alike(prompts: Sequence[Prompt], pixel_values: Any) -> list[int]:
    """Return for each prompt the number of the first with the same tokens and the same images, pixel by pixel.

    Groups of completions of one prompt then share its prefill.
    """
    torch: Any = require("torch", extra="train")
    seen: dict[tuple[bytes, tuple[tuple[int, int, int], ...]], int] = {}
    first = [seen.setdefault((prompt.ids.tobytes(), prompt.grids), number) for number, prompt in enumerate(prompts)]
    doubtful = [number for number, same in enumerate(first) if same != number and prompts[number].grids]
    if doubtful:
        pairs = [(prompts[number].patches, prompts[first[number]].patches) for number in doubtful]
        equal = torch.stack([(pixel_values[own] == pixel_values[other]).all() for own, other in pairs]).tolist()
        for number, alike in zip(doubtful, equal, strict=True):
            if not alike:
                first[number] = number
    return first


def chunks(lengths: Sequence[int], most_tokens: int) -> list[slice]:
    """Cut prompts, shortest first, into runs that stay under so many tokens when padded (one prompt at the least)."""
    cuts, start = [], 0
    for end in range(1, len(lengths) + 1):
        if end == len(lengths) or lengths[end] * (end + 1 - start) > most_tokens:
            cuts.append(slice(start, end))
            start = end
    return cuts


def _image_runs(ids: Positions, image_id: int) -> tuple[tuple[int, int], ...]:
    """Return where runs of image tokens start and end."""
    inside = np.concatenate(([False], ids == image_id, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return tuple((int(start), int(end)) for start, end in edges.reshape(-1, 2))


# Bounds the memory of a prefill: the widest activations of so many tokens are some hundred megabytes at hidden 384.
PREFILL_TOKENS = 65_536


@dataclass(frozen=True, slots=True)
class Written:
    """Completions, each ended by its first end token if it has one, and the log probability of every token.

    The log probabilities are those at the temperature that was sampled with, before top-p or a ban cut anything off;
    they are empty if they were not asked for.
    """

    ids: list[list[int]]
    logprobs: list[list[float]]


class FastGenerator:
    """Writes completions with a model whose weights may change between calls, never during one."""

    def __init__(
        self,
        model: Any,
        *,
        eos_ids: Sequence[int],
        pad_id: int,
        max_batch: int = 512,
        max_tokens: int = 2048,
        graphs: bool | None = None,
        attention: Attention = "sdpa",
        dtype: Any = None,
        banned_ids: Sequence[int] = (),
        prefill_tokens: int = PREFILL_TOKENS,
    ) -> None:
        """Use a model on its device; it must stay there.

        Args:
            model: a transformers Qwen3VLForConditionalGeneration with plain (merged) weights.
            eos_ids: tokens that end a completion; none makes every completion as long as allowed.
            pad_id: what ended rows are fed with; it never shows in a completion.
            max_batch: rows written at once; more are written in turns.
            max_tokens: room for a prompt with its completion. On CUDA room for all rows is taken at once.
            graphs: CUDA graphs; None for where there is CUDA.
            attention: "sdpa", or "varlen" for CUDA's flash kernel, which reads no more of the caches than is filled.
            dtype: what products are computed in; None for bfloat16 on CUDA (as under autocast where the weights are
                float32), and for the weights' own type elsewhere.
            banned_ids: tokens that are never written. A sampled image token, say, would leave a trainer's pass over the
                completion short of an image.
            prefill_tokens: prompts are read in chunks of so many tokens, padding counted.

        Raises:
            BadInput: it is no such model.
        """
        with no_probing():
            torch: Any = require("torch", extra="train")
        self._torch = torch
        self._model = model
        weight = model.get_input_embeddings().weight
        self._device = weight.device
        on_cuda = self._device.type == "cuda"
        given = weight.dtype
        self._dtype = dtype or (torch.bfloat16 if on_cuda and given == torch.float32 else given)
        self._weights = Weights(model, self._dtype)
        self._graphs = on_cuda if graphs is None else graphs
        if self._graphs and not on_cuda:
            raise BadInput("CUDA graphs need a model on CUDA: leave graphs out, or move the model")
        self._decoder = Decoder(self._weights, self._device, graphs=self._graphs, attention=attention)
        self._decoder.set_tokens(list(eos_ids), pad_id, list(banned_ids))
        self._attention = attention
        self._eos = np.array(sorted(eos_ids), dtype=np.int64)
        self._pad = pad_id
        self._max_batch = max_batch
        self._max_tokens = -(-max_tokens // SPAN_STEP) * SPAN_STEP
        self._prefill_tokens = prefill_tokens
        self._image_id = model.config.image_token_id
        self._merge = model.config.vision_config.spatial_merge_size

    @property
    def captures(self) -> int:
        """How many CUDA graphs have been captured so far."""
        return self._decoder.captures

    def refresh(self) -> None:
        """Copy the model's present weights; every call of `generate` starts with it."""
        self._weights.refresh()

    def generate(
        self,
        prompt_ids: Sequence[Sequence[int]],
        pixel_values: Any = None,
        image_grid_thw: Any = None,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
        seed: int | None = None,
        greedy: bool = False,
    ) -> list[list[int]]:
        """Return the completion of each prompt up to and including its first end token; see `sample`."""
        return self.sample(
            prompt_ids, pixel_values, image_grid_thw, max_new_tokens=max_new_tokens, temperature=temperature,
            top_p=top_p, seed=seed, greedy=greedy, logprobs=False,
        ).ids  # fmt: skip

    def sample(
        self,
        prompt_ids: Sequence[Sequence[int]],
        pixel_values: Any = None,
        image_grid_thw: Any = None,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
        seed: int | None = None,
        greedy: bool = False,
        logprobs: bool = True,
    ) -> Written:
        """Generate one completion for each prompt.

        Images come concatenated as the processor gives them, in the order of their tokens over all prompts. Prompts
        that are the same, images included, are read once. Without a seed one is drawn from torch's own numbers, so
        that a run which restores these repeats itself.

        Raises:
            BadInput: a prompt leaves no room for its completion, or images and tokens do not match.
        """
        if max_new_tokens < 1 or (not greedy and temperature <= 0) or not 0 < top_p <= 1:
            raise BadInput("generation needs max_new_tokens >= 1, temperature > 0 (or greedy) and 0 < top_p <= 1")
        prompts = split_prompts(prompt_ids, image_grid_thw, image_id=self._image_id, merge=self._merge)
        longest = max((len(prompt.ids) for prompt in prompts), default=0)
        if longest + max_new_tokens > self._max_tokens:
            raise BadInput(
                f"a prompt of {longest} tokens and {max_new_tokens} new ones need more than the {self._max_tokens} "
                "tokens there is room for: raise max_tokens"
            )
        patches = max((prompt.patches.stop for prompt in prompts), default=0)
        if patches != (0 if pixel_values is None else len(pixel_values)):
            raise BadInput(f"the images' grids have {patches} patches, and pixel_values has another number of rows")
        mode = Mode(greedy, top_p < 1 and not greedy, logprobs)
        ids: list[list[int]] = [[] for _ in prompts]
        scores: list[list[float]] = [[] for _ in prompts]
        with self._quiet_model():
            self.refresh()
            rows, room = self._bucket(min(len(prompts), self._max_batch)), longest + max_new_tokens
            if self._graphs:
                rows, room = self._max_batch, self._max_tokens
            self._decoder.reserve(rows, span_bucket(room, self._max_tokens))
            seed = int(self._torch.randint(2**62, ())) if seed is None else seed
            self._decoder.set_sampling(temperature, top_p, seed)
            first = first_alike(prompts, pixel_values)
            order = sorted(range(len(prompts)), key=lambda number: (len(prompts[number].ids), first[number]))
            for start in range(0, len(order), self._max_batch):
                wave = order[start : start + self._max_batch]
                self._read_prompts(wave, prompts, first, pixel_values, mode)
                lengths = np.array([len(prompts[number].ids) for number in wave])
                tokens, likely = self._write(lengths, max_new_tokens, mode)
                for row, number in enumerate(wave):
                    ids[number] = self._ended(tokens[row])
                    scores[number] = likely[row, : len(ids[number])].tolist() if logprobs else []
        return Written(ids, scores)

    @contextmanager
    def _quiet_model(self) -> Iterator[None]:
        """Switch off gradients, dropout and activation checkpointing (which would leave no cache)."""
        training = [module for module in self._model.modules() if module.training]
        for module in training:
            module.training = False
        try:
            with self._torch.no_grad(), self._torch.autocast(self._device.type, enabled=False):
                yield
        finally:
            for module in training:
                module.training = True

    def _read_prompts(
        self, wave: list[int], prompts: list[Prompt], first: list[int], pixel_values: Any, mode: Mode
    ) -> None:
        """Prefill a wave: each different prompt once, into the slots of all rows that share it."""
        torch, decoder = self._torch, self._decoder
        slots: dict[int, list[int]] = {}
        for slot, number in enumerate(wave):
            slots.setdefault(first[number], []).append(slot)
        alone = list(slots)
        logits = torch.empty((len(wave), self._weights.shape.vocabulary), device=self._device)
        deltas = np.empty(len(wave), dtype=np.int64)
        for cut in chunks([len(prompts[number].ids) for number in alone], self._prefill_tokens):
            chunk = [prompts[number] for number in alone[cut]]
            shares = [len(slots[number]) for number in alone[cut]]
            # Rows that share a prompt stand side by side in the order of the wave, so a chunk's slots are one run.
            begin = slots[alone[cut][0]][0]
            run = slice(begin, begin + sum(shares))
            cache, last, offsets = self._prefill(chunk, pixel_values)
            copies = torch.tensor(np.repeat(np.arange(len(chunk)), shares), device=self._device)
            for layer, held in enumerate(cache.layers):
                decoder.fill(run, layer, held.keys.index_select(0, copies), held.values.index_select(0, copies))
            logits[run] = last.index_select(0, copies)
            deltas[run] = np.repeat(offsets, shares)
        lengths = torch.tensor([len(prompts[number].ids) for number in wave], device=self._device)
        batch = self._bucket(len(wave))
        decoder.start(logits, lengths, torch.from_numpy(deltas).to(self._device), mode, batch)

    def _prefill(self, chunk: list[Prompt], pixel_values: Any) -> tuple[Any, Any, list[int]]:
        """Run the model over prompts, padded on the right; return its cache, last logits and position offsets."""
        torch, device = self._torch, self._device
        width = max(len(prompt.ids) for prompt in chunk)
        ids = np.full((len(chunk), width), self._pad, dtype=np.int64)
        positions = np.zeros((3, len(chunk), width), dtype=np.int64)
        offsets = []
        for row, prompt in enumerate(chunk):
            ids[row, : len(prompt.ids)] = prompt.ids
            placed, offset = rope_positions(prompt, merge=self._merge)
            positions[:, row, : len(prompt.ids)] = placed
            offsets.append(offset)
        images: dict[str, Any] = {}
        if grids := [grid for prompt in chunk for grid in prompt.grids]:
            pixels = torch.cat([pixel_values[prompt.patches] for prompt in chunk if prompt.grids])
            images = {"pixel_values": pixels.to(device), "image_grid_thw": torch.tensor(grids, device=device)}
        mixed = self._dtype != self._weights.residual_dtype
        with torch.autocast(device.type, dtype=self._dtype, enabled=mixed):
            # Behind padding on the right a causal model needs no mask, and without one it takes the fast kernel.
            output = self._model.model(
                input_ids=torch.from_numpy(ids).to(device), position_ids=torch.from_numpy(positions).to(device),
                use_cache=True, **images,
            )  # fmt: skip
            ends = torch.tensor([len(prompt.ids) - 1 for prompt in chunk], device=device)
            hidden = output.last_hidden_state[torch.arange(len(chunk), device=device), ends]
            last = self._model.lm_head(hidden).float()
        return output.past_key_values, last, offsets

    def _write(self, lengths: Any, max_new_tokens: int, mode: Mode) -> tuple[Any, Any]:
        """Decode; return tokens and log probabilities, [rows, tokens], padded after each row's end."""
        decoder, rows = self._decoder, len(lengths)
        tokens = np.full((rows, max_new_tokens), self._pad, dtype=np.int64)
        likely = np.zeros((rows, max_new_tokens), dtype=np.float32)
        alive, done = np.arange(rows), np.zeros(rows, dtype=bool)
        batch = self._bucket(rows)
        produced, waiting = 0, 1
        while True:
            columns = min(BLOCK, max_new_tokens - produced)
            need = int(lengths[alive[~done]].max()) + produced + columns
            # The flash kernel reads what is filled, whatever the span: one graph does for all of them.
            span = self._max_tokens if self._attention == "varlen" else span_bucket(need, self._max_tokens)
            decoder.run(columns - waiting, batch, span, mode)
            tokens[alive, produced : produced + columns], likely[alive, produced : produced + columns], done = (
                decoder.read(len(alive), columns)
            )
            produced, waiting = produced + columns, 0
            if produced == max_new_tokens or done.all():
                return tokens, likely
            left = np.flatnonzero(~done)
            if 2 * len(left) <= batch and (smaller := self._bucket(len(left))) < batch:
                decoder.keep(left, smaller, span)
                alive, done, batch = alive[left], done[left], smaller

    def _bucket(self, rows: int) -> int:
        # By the device, not by whether graphs are on: a seed draws the same with and without them.
        return batch_bucket(rows, self._max_batch, LEAST_CUDA_ROWS if self._device.type == "cuda" else 1)

    def _ended(self, tokens: Any) -> list[int]:
        ends = np.flatnonzero(np.isin(tokens, self._eos))
        whole: list[int] = (tokens if not len(ends) else tokens[: ends[0] + 1]).tolist()
        return whole


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
        """Return the findings as a table, one variant a line."""
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
    """Return random prompts of about so many text tokens (lengths vary) and up to so many images of one grid."""
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
    """Return the tokens that stand for images and videos."""
    return [model.config.image_token_id, model.config.video_token_id]


def stock_generate(
    model: Any, prompts: Prompts, *, pad_id: int, max_new_tokens: int, dtype: Any = None, **sampling: Any
) -> list[list[int]]:
    """Call `model.generate` as trainers do, padded on the left; completions have no end token and no image.

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
    """Return each token's difference in log probability from the model's own pass over prompt and completion."""
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
