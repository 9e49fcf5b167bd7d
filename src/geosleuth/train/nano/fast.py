"""Batched generation for small Qwen3-VL models, many times as fast as `model.generate` on one GPU.

A small model's step is a few hundred tiny kernels, and `generate` spends its time launching them from Python. Here the
model itself reads the prompts (images, positions and all), and what follows is our own step over static buffers,
captured in CUDA graphs: see `fast_decode`. `fast_check.check` compares all of it with `generate`.

    generator = FastGenerator(model, eos_ids=[tokenizer.eos_token_id], pad_id=tokenizer.pad_token_id)
    completions = generator.generate(ids, pixels, grids, max_new_tokens=256, temperature=1.0)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.errors import BadInput, require
from geosleuth.photo.runtime import no_probing

from .fast_decode import (
    BLOCK,
    LEAST_CUDA_ROWS,
    SPAN_STEP,
    Attention,
    Decoder,
    Mode,
    batch_bucket,
    span_bucket,
)
from .fast_prompts import Prompt, chunks, first_alike, rope_positions, split_prompts
from .fast_weights import Weights

# Bounds the memory of a prefill: the widest activations of so many tokens are some hundred megabytes at hidden 384.
PREFILL_TOKENS = 65_536


@dataclass(frozen=True, slots=True)
class Written:
    """Completions, each ended by its first end token if it has one, and the log probability of every token.

    The log probabilities are those at the temperature that was sampled with, before top-p or a ban cut anything off;
    they are empty where they were not asked for.
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
        """Take a model where it lies; it must stay on that device.

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
        """Take over the model's present weights; every call of `generate` starts with it."""
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
        """The completion of each prompt, up to its first end token, that one included; `sample` explains the rest."""
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
        """Write one completion for each prompt.

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
        """No gradients, no dropout, no checkpointing of activations (which would leave no cache behind)."""
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
        """The model's own pass over prompts, padded on the right: its cache, its last logits, offsets of positions."""
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
        """Decode what was started: tokens and log probabilities, [rows, tokens], padded after each row's end."""
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
