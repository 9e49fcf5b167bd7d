"""A model in memory that replies to many conversations at once, read and written as `policies.weights` does it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from geosleuth.errors import require
from geosleuth.photo.runtime import no_probing
from geosleuth.policies import Sampling, weights_engine
from geosleuth.policies.weights_chat import Abilities
from geosleuth.policies.weights_engine import Device, Dtype, Engine, Generated
from geosleuth.policies.weights_folder import check_folder, check_installed

from .replying_encoding import Asked, Encoder, Inputs
from .shrinking import Shrink, shrink_of

__all__ = ["MAX_NEW_TOKENS", "Asked", "ChatWords", "Drawn", "Generate", "Refused", "Replier", "fast_generate"]

_PRINT_VALUES = 64
MAX_NEW_TOKENS = 2048
"""As `policies.weights` has it where a conversation does not say."""

Generate = Callable[..., Any]
"""Takes what ``model.generate`` takes, all by name, and returns what it returns: prompts and replies, row by row."""


@dataclass(frozen=True, slots=True)
class Refused:
    """No reply: the conversation is longer than the model can take, or memory is short."""

    trouble: str


@dataclass(frozen=True, slots=True)
class ChatWords:
    """What somebody who writes conversations must know of a model: plain data, for other processes."""

    abilities: Abilities
    forbidden: frozenset[str]
    name: str
    shrink: Shrink | None = None


@dataclass(slots=True)
class Drawn:
    """What a model has done so far: replies, their tokens, and the seconds of encoding and of generating."""

    batches: int = 0
    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    encode_seconds: float = 0.0
    generate_seconds: float = 0.0


class Replier(Engine):
    """A model and its processor that reply to many conversations at once. Not for use by two threads at once."""

    def __init__(
        self,
        model: Any,
        processor: Any,
        *,
        name: str = "model",
        generate: Generate | None = None,
        max_new_tokens: int = MAX_NEW_TOKENS,
        seed: int | None = 0,
    ) -> None:
        """Take a model that is loaded already, on whatever device it is.

        Args:
            model: a vision-language model of ``transformers``.
            processor: its processor, with a chat template.
            name: what trajectories call it.
            generate: in place of the model's own ``generate``.
            max_new_tokens: how long a reply may get where the conversation does not say.
            seed: of drawing, set anew for every batch; None leaves the state of chance alone.

        Raises:
            BadInput: the chat template can't show images.
        """
        with no_probing():
            self._torch = require("torch", extra="train")
            self._transformers = require("transformers", extra="train")
        self._name, self._model, self._processor = name, model, processor
        self._device = model.device.type
        self._tokenizer = processor.tokenizer
        steering = self._steering_tokens()
        self.words = ChatWords(self._abilities(Path(name)), frozenset(steering), name, shrink_of(processor))
        special = zip(self._tokenizer.all_special_tokens, self._tokenizer.all_special_ids, strict=True)
        self._dropped = {number for token, number in special if token in steering}
        limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self._positions = limit if isinstance(limit, int) and limit > 0 else None
        self._encoder = Encoder(self._torch, model, processor)
        self._draws: Generate = generate or model.generate
        self._max_new_tokens = max_new_tokens
        self._seed = seed
        self.drawn = Drawn()

    @classmethod
    def from_folder(cls, folder: Path, *, device: Device = "auto", dtype: Dtype = "auto", **more: Any) -> "Replier":
        """A model from a folder as `--model hf:DIR` takes it; ``more`` as for the class.

        Raises:
            BadInput: the folder does not hold a model that can be used.
            MissingExtra: torch or transformers is not installed.
        """
        check_folder(folder)
        check_installed()
        engine = Engine(folder, device=device, dtype=dtype)
        return cls(engine._model, engine._processor, **{"name": folder.name, **more})  # noqa: SLF001

    @property
    def fingerprint(self) -> str:
        """A number that changes with the weights: the first few of every tensor are looked at."""
        seen = sha256()
        for name, values in self._model.named_parameters():
            few = values.detach().flatten()[:_PRINT_VALUES].float().cpu()
            seen.update(f"{name} {tuple(values.shape)} ".encode() + few.numpy().tobytes())
        return seen.hexdigest()[:16]

    def prepared(self, asked: Asked) -> Asked:
        """The same with all done that needs no device; may be called from another thread while replies are drawn."""
        return self._encoder.prepared(asked)

    def replies(self, asked: Sequence[Asked]) -> list[Generated | Refused]:
        """A reply to each, in their order; what is too long for the model, or for memory, is refused by itself."""
        found: list[Generated | Refused | None] = [None] * len(asked)
        for rows, inputs, room, sampling in self._batches(asked, range(len(asked))):
            for row, reply in zip(rows, self._drawn(asked, rows, inputs, room, sampling), strict=True):
                found[row] = reply
        return [one or Refused("no reply was drawn") for one in found]

    def _batches(self, asked: Sequence[Asked], rows: Sequence[int]) -> Iterator[tuple[list[int], Any, int, Sampling]]:
        """Rows that can be drawn together: one way of drawing, one length of reply."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for row in rows:
            how = asked[row].sampling
            alike.setdefault((how.temperature, how.top_p, how.top_k, how.max_tokens), []).append(row)
        for same in alike.values():
            how = asked[same[0]].sampling
            most = how.max_tokens or self._max_new_tokens
            inputs = self._encoded([asked[row] for row in same])
            given = inputs["attention_mask"].sum(dim=1).tolist()
            rooms = [most if self._positions is None else min(most, self._positions - one) for one in given]
            if min(rooms) == most:
                yield same, inputs, most, how
                continue
            # Those near the model's limit are drawn alone, as they would be by themselves.
            if fitting := [row for row, room in zip(same, rooms, strict=True) if room == most]:
                yield fitting, self._encoded([asked[row] for row in fitting]), most, how
            for row, room in zip(same, rooms, strict=True):
                if room < most:
                    yield [row], self._encoded([asked[row]]) if room > 0 else None, room, how

    def _encoded(self, asked: Sequence[Asked]) -> Inputs:
        begun = time.perf_counter()
        inputs = self._encoder.encode(asked)
        self.drawn.encode_seconds += time.perf_counter() - begun
        return inputs

    def _drawn(
        self, asked: Sequence[Asked], rows: list[int], inputs: Any, room: int, sampling: Sampling
    ) -> list[Generated | Refused]:
        if inputs is None:
            return [Refused(f"the conversation is longer than the model takes, which is {self._positions} tokens")]
        try:
            return list(self._generated(inputs, room, sampling))
        except (self._torch.OutOfMemoryError, MemoryError):
            if len(rows) == 1:
                return [Refused(f"the model ran out of memory on {self._device}")]
        del inputs
        if self._device == "cuda":
            self._torch.cuda.empty_cache()
        found: list[Generated | Refused] = []
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            found += self._drawn(asked, half, self._encoded([asked[row] for row in half]), room, sampling)
        return found

    def _generated(self, inputs: Any, room: int, sampling: Sampling) -> Iterator[Generated]:
        torch, begun = self._torch, time.perf_counter()
        width = int(inputs["input_ids"].shape[1])
        devices = [self._model.device] if self._device == "cuda" else []
        # Whoever trains in this process goes on with the numbers of chance as they were.
        with torch.no_grad(), torch.random.fork_rng(devices, enabled=self._seed is not None):
            if self._seed is not None:
                torch.manual_seed(self._seed + self.drawn.batches)
            options = weights_engine._drawing(sampling)  # noqa: SLF001  (one definition for both players)
            rows = self._draws(**inputs, max_new_tokens=room, **options)[:, width:].tolist()
        ends = self._end_ids()
        self.drawn.generate_seconds += time.perf_counter() - begun
        self.drawn.batches += 1
        given = inputs["attention_mask"].sum(dim=1).tolist()
        for number, row in enumerate(rows):
            end = next((at for at, token in enumerate(row) if token in ends), None)
            ids = row[: room if end is None else end + 1]
            text = self._tokenizer.decode([token for token in ids if token not in self._dropped])
            opened = "<think>" if self._thinking_is_open(inputs["input_ids"][number]) else ""
            self.drawn.replies += 1
            self.drawn.input_tokens += given[number]
            self.drawn.output_tokens += len(ids)
            yield Generated(opened + text, given[number], len(ids), end is None)


def fast_generate(write: Callable[..., list[list[int]]], pad_id: int) -> Generate:
    """``generate`` for a `Replier` by way of a generator that takes prompts without padding.

    Args:
        write: takes lists of token ids, pixels and grids, and ``max_new_tokens``, ``temperature``, ``top_p`` and
            ``greedy`` by name, as ``FastGenerator.generate`` of the nano model does; returns what was written, row by
            row.
        pad_id: what shorter rows are filled up with.
    """

    def generate(
        *,
        input_ids: Any,
        attention_mask: Any,
        pixel_values: Any = None,
        image_grid_thw: Any = None,
        max_new_tokens: int,
        do_sample: bool = False,
        temperature: float | None = None,
        top_p: float | None = None,
        **_: Any,
    ) -> Any:
        torch: Any = require("torch", extra="train")
        rows = [ids[kept.bool()].tolist() for ids, kept in zip(input_ids, attention_mask, strict=True)]
        how = {"temperature": temperature or 1.0, "top_p": top_p or 1.0, "greedy": not do_sample}
        written = write(rows, pixel_values, image_grid_thw, max_new_tokens=max_new_tokens, **how)
        longest = max(map(len, written))
        filled = torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in written], dtype=input_ids.dtype)
        return torch.cat([input_ids, filled.to(input_ids.device)], dim=1)

    return generate
