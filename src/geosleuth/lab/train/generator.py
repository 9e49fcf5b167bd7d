"""A model in memory that replies to many conversations at once, each picture prepared only once.

A processor preprocesses every picture again in every turn. For processors of Qwen's kind this is left out: the first
batch goes through the processor, the same batch is put together here too, and only where both are the same token by
token are later ones put together here alone.
"""

import math
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geosleuth.lab.scenes.environment import GeoEnvironment
from geosleuth.models import Sampling, weights_engine
from geosleuth.models.box_scale import read_box_scale
from geosleuth.models.weights import check_folder, check_installed
from geosleuth.models.weights_engine import Abilities, ChatMessage, Device, Dtype, Engine, Generated
from geosleuth.photo.runtime import no_probing
from geosleuth.support.errors import require

if TYPE_CHECKING:
    from PIL.Image import Image

Inputs = dict[str, Any]
"""What ``generate`` takes, by name."""

_OPENINGS = 8  # the replies of a group come one after the other, so that few are enough
_PRINT_VALUES = 64
# Default of `policies.weights`, used if a conversation sets no limit.
MAX_NEW_TOKENS = 2048
Generate = Callable[..., Any]
"""Takes what ``model.generate`` takes, all by name, and returns what it returns: prompts and replies, row by row."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation to reply to, as a chat template takes it; pictures are referred to by the keys of ``pictures``.

    ``text`` is the same as the template renders it, if already rendered.
    """

    messages: list[ChatMessage]
    tools: list[dict[str, Any]] | None
    pictures: Mapping[str, "Image"] = field(repr=False)
    sampling: Sampling = field(default_factory=Sampling)
    text: str | None = field(default=None, repr=False)


class Encoder:
    """Writes batches for one model."""

    def __init__(self, torch: Any, model: Any, processor: Any) -> None:
        """Take the processor, and the model's device and dtype."""
        self._torch, self._model, self._processor = torch, model, processor
        # None while nothing was encoded yet; then whether batches are put together here.
        self._here: bool | None = None if _of_qwen(processor) else False
        self._types = False
        self._ready: dict[int, tuple[weakref.ref[Image], Any, Any]] = {}

    def prepare(self, asked: Asked) -> Asked:
        """Return the same with all done that needs no device; may be called from another thread meanwhile."""
        messages, shown = _with_pictures(asked)
        text = self._apply_template(messages, asked.tools)
        if self._here:
            for picture in shown:
                self._prepare_picture(picture)
        return replace(asked, text=text)

    def encode(self, asked: Sequence[Asked]) -> Inputs:
        """Return the batch, on the model's device."""
        texts: list[str] = []
        pictures: list[list[Image]] = []
        for item in asked:
            messages, shown = _with_pictures(item)
            pictures.append(shown)
            texts.append(self._apply_template(messages, item.tools) if item.text is None else item.text)
        if self._here:
            return self._put_together(texts, pictures)
        given = self._by_processor(texts, pictures)
        if self._here is None and any(pictures):
            self._types = "mm_token_type_ids" in given
            mine = self._put_together(texts, pictures)
            names = set(mine) == set(given)
            self._here = names and all(self._torch.equal(mine[name], given[name]) for name in given)
        return given

    def _apply_template(self, messages: list[ChatMessage], tools: list[dict[str, Any]] | None) -> str:
        template = self._processor.apply_chat_template
        return str(template(messages, tools=tools, add_generation_prompt=True, tokenize=False))

    def _by_processor(self, texts: list[str], pictures: list[list["Image"]]) -> Inputs:
        encoded = self._processor(
            text=texts,
            images=pictures if any(pictures) else None,
            padding=True,
            padding_side="left",
            return_tensors="pt",
            **self._special(texts),
        )
        return dict(encoded.to(self._model.device, dtype=self._model.dtype))

    def _special(self, texts: list[str]) -> dict[str, Any]:
        bos = self._processor.tokenizer.bos_token
        return {"add_special_tokens": False} if bos is not None and texts[0].startswith(bos) else {}

    def _put_together(self, texts: list[str], pictures: list[list["Image"]]) -> Inputs:
        torch, token = self._torch, self._processor.image_token
        merged = self._processor.image_processor.merge_size**2
        patches, grids, written = [], [], []
        for text, shown in zip(texts, pictures, strict=True):
            first, *rest = text.split(token)
            parts = [first]
            for picture, after in zip(shown, rest, strict=True):
                pixels, grid = self._on_device(picture)
                patches.append(pixels)
                grids.append(grid)
                parts += [token * (len(pixels) // merged), after]
            written.append("".join(parts))
        encoded = self._processor.tokenizer(
            written, padding=True, padding_side="left", return_tensors="pt", **self._special(texts)
        )
        device = self._model.device
        inputs: Inputs = {name: encoded[name].to(device) for name in ("input_ids", "attention_mask")}
        if patches:
            inputs |= {"pixel_values": torch.cat(patches), "image_grid_thw": torch.stack(grids)}
        if self._types:
            inputs["mm_token_type_ids"] = (inputs["input_ids"] == self._processor.image_token_id).long()
        return inputs

    def _on_device(self, picture: "Image") -> tuple[Any, Any]:
        pixels, grid = self._prepare_picture(picture)
        if pixels.device != self._model.device:
            pixels, grid = (item.to(self._model.device) for item in (pixels, grid))
            self._hold(picture, pixels, grid)
        return pixels, grid

    def _prepare_picture(self, picture: "Image") -> tuple[Any, Any]:
        held = self._ready.get(id(picture))
        if held is None:
            made = self._processor.image_processor(images=[picture], return_tensors="pt")
            held = self._hold(picture, made["pixel_values"].to(self._model.dtype), made["image_grid_thw"][0])
        return held[1], held[2]

    def _hold(self, picture: "Image", pixels: Any, grid: Any) -> tuple["weakref.ref[Image]", Any, Any]:
        # Drop what was made of a picture together with the picture.
        key = id(picture)
        self._ready[key] = held = weakref.ref(picture, lambda _: self._ready.pop(key, None)), pixels, grid
        return held


def _of_qwen(processor: Any) -> bool:
    images = getattr(processor, "image_processor", None)
    return type(images).__name__.startswith("Qwen2VLImageProcessor") and hasattr(processor, "image_token_id")


def _with_pictures(asked: Asked) -> tuple[list[ChatMessage], list["Image"]]:
    shown: list[Image] = []
    messages: list[ChatMessage] = []
    for message in asked.messages:
        content = message["content"]
        if not isinstance(content, str):
            content = [
                {"type": "image", "image": asked.pictures[part["image"]]} if part["type"] == "image" else part
                for part in content
            ]
            shown += [part["image"] for part in content if part["type"] == "image"]
        messages.append({**message, "content": content})
    return messages, shown


@dataclass(frozen=True, slots=True)
class Shrink:
    """Brings a picture to the size that an image processor would give it, so that only these pixels need to travel.

    The rule is that of Qwen's processors: sides are multiples of ``factor``, the area lies between two bounds.
    """

    factor: int
    least_pixels: int
    most_pixels: int
    resample: int

    def __call__(self, picture: "Image") -> "Image":
        """Return the picture in that size."""
        size = self.fit_size(*picture.size)
        rgb = picture if picture.mode == "RGB" else picture.convert("RGB")
        return rgb if size == picture.size else rgb.resize(size, self.resample)

    def fit_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the width and height at which a picture is seen."""

        def sides(scale: float, to_whole: Callable[[float], int]) -> tuple[int, int]:
            across, down = (max(1, to_whole(side * scale / self.factor)) * self.factor for side in (width, height))
            return across, down

        whole = sides(1.0, round)
        area = (round(width / self.factor) * self.factor) * (round(height / self.factor) * self.factor)
        if area > self.most_pixels:
            return sides(1 / math.sqrt(width * height / self.most_pixels), math.floor)
        if area < self.least_pixels:
            return sides(math.sqrt(self.least_pixels / (width * height)), math.ceil)
        return whole


def find_shrink(processor: Any) -> Shrink | None:
    """Return how pictures can be shrunk before they are sent; None if the processor has its own way."""
    images: Any = getattr(processor, "image_processor", None)
    size = getattr(images, "size", None)
    # Other kinds resize with other libraries, whose pixels differ by a hair.
    if not type(images).__name__.startswith("Qwen2VLImageProcessorPil") or size is None:
        return None
    least, most = size["shortest_edge"], size["longest_edge"]
    return Shrink(images.patch_size * images.merge_size, int(least), int(most), int(images.resample))


def shrinking(environment: type[GeoEnvironment], *, shrink: Shrink, tools: Sequence[str]) -> type[GeoEnvironment]:
    """Return the same environment with pictures at the model's size; groups share the first ones.

    As a ``partial`` it can be sent to the processes that serve environments.

    Args:
        environment: a class for TRL's ``environment_factory``.
        shrink: of the model's processor, see `find_shrink`.
        tools: the names of its tools, as the model knows them.
    """
    openings: OrderedDict[str, dict[int, Image]] = OrderedDict()

    def small(content: Any, made: dict[int, "Image"]) -> Any:
        if not isinstance(content, list):
            return content
        parts = []
        for at, part in enumerate(content):
            if part["type"] == "image":
                if at not in made:
                    made[at] = shrink(part["image"])
                parts.append({**part, "image": made[at]})
            else:
                parts.append(part)
        return parts

    def shrunk(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(self: Any, /, *given: Any, **named: Any) -> Any:
            return small(method(self, *given, **named), {})

        return call

    def reset(self: Any, **columns: Any) -> Any:
        row = columns.get("id")
        made = {} if row is None else openings.setdefault(str(row), {})
        while len(openings) > _OPENINGS:
            openings.popitem(last=False)
        return small(environment.reset(self, **columns), made)

    members = {name: shrunk(getattr(environment, name)) for name in tools}
    return type(environment.__name__, (environment,), {**members, "reset": wraps(environment.reset)(reset)})


@dataclass(frozen=True, slots=True)
class Refused:
    """No reply: the conversation is longer than the model can take, or memory is short."""

    trouble: str


@dataclass(frozen=True, slots=True)
class ChatWords:
    """Data of a model needed to write conversations: plain data, for other processes."""

    abilities: Abilities
    forbidden: frozenset[str]
    name: str
    shrink: Shrink | None = None


@dataclass(slots=True)
class SampledReply:
    """Work of a model so far: replies, their tokens, and the seconds of encoding and of generating."""

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
        """Take a loaded model on any device.

        Args:
            model: a vision-language model of ``transformers``.
            processor: its processor, with a chat template.
            name: what trajectories call it.
            generate: in place of the model's own ``generate``.
            max_new_tokens: how long a reply may get where the conversation does not say.
            seed: of sampling, set again for every batch; None leaves the random state alone.

        Raises:
            BadInput: the chat template can't show images.
        """
        with no_probing():
            self._torch = require("torch", extra="train")
            self._transformers = require("transformers", extra="train")
        self._name, self._model, self._processor = name, model, processor
        self._device = model.device.type
        self._sees = True
        self._tokenizer = processor.tokenizer
        steering = self._steering_tokens()
        self.words = ChatWords(self._abilities(Path(name)), frozenset(steering), name, find_shrink(processor))
        special = zip(self._tokenizer.all_special_tokens, self._tokenizer.all_special_ids, strict=True)
        self._dropped = {number for token, number in special if token in steering}
        limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self._positions = limit if isinstance(limit, int) and limit > 0 else None
        self._encoder = Encoder(self._torch, model, processor)
        self._draws: Generate = generate or model.generate
        self._max_new_tokens = max_new_tokens
        self._seed = seed
        self.drawn = SampledReply()
        self.box_scale = read_box_scale(model.config.to_dict())

    @classmethod
    def from_folder(cls, folder: Path, *, device: Device = "auto", dtype: Dtype = "auto", **more: Any) -> "Replier":
        """Return a model from a folder as `--model hf:DIR` takes it; ``more`` as for the class.

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

    def prepare(self, asked: Asked) -> Asked:
        """Return the same, with all work done that needs no device; may be called from another thread."""
        return self._encoder.prepare(asked)

    def replies(self, asked: Sequence[Asked]) -> list[Generated | Refused]:
        """Return a reply to each, in order; what is too long for the model, or for memory, is refused."""
        found: list[Generated | Refused | None] = [None] * len(asked)
        for rows, inputs, room, sampling in self._batches(asked, range(len(asked))):
            for row, reply in zip(rows, self._draw_batch(asked, rows, inputs, room, sampling), strict=True):
                found[row] = reply
        return [item or Refused("no reply was drawn") for item in found]

    def _batches(self, asked: Sequence[Asked], rows: Sequence[int]) -> Iterator[tuple[list[int], Any, int, Sampling]]:
        """Yield rows that can be drawn together: same sampling, same reply length."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for row in rows:
            how = asked[row].sampling
            alike.setdefault((how.temperature, how.top_p, how.top_k, how.max_tokens), []).append(row)
        for same in alike.values():
            how = asked[same[0]].sampling
            most = how.max_tokens or self._max_new_tokens
            inputs = self._encode_batch([asked[row] for row in same])
            given = inputs["attention_mask"].sum(dim=1).tolist()
            rooms = [most if self._positions is None else min(most, self._positions - item) for item in given]
            if min(rooms) == most:
                yield same, inputs, most, how
                continue
            # Prompts near the model's limit are sampled alone.
            if fitting := [row for row, room in zip(same, rooms, strict=True) if room == most]:
                yield fitting, self._encode_batch([asked[row] for row in fitting]), most, how
            for row, room in zip(same, rooms, strict=True):
                if room < most:
                    yield [row], self._encode_batch([asked[row]]) if room > 0 else None, room, how

    def _encode_batch(self, asked: Sequence[Asked]) -> Inputs:
        begun = time.perf_counter()
        inputs = self._encoder.encode(asked)
        self.drawn.encode_seconds += time.perf_counter() - begun
        return inputs

    def _draw_batch(
        self, asked: Sequence[Asked], rows: list[int], inputs: Any, room: int, sampling: Sampling
    ) -> list[Generated | Refused]:
        if inputs is None:
            return [Refused(f"the conversation is longer than the model takes, which is {self._positions} tokens")]
        try:
            return list(self._generate_replies(inputs, room, sampling))
        except (self._torch.OutOfMemoryError, MemoryError):
            if len(rows) == 1:
                return [Refused(f"the model ran out of memory on {self._device}")]
        del inputs
        if self._device == "cuda":
            self._torch.cuda.empty_cache()
        found: list[Generated | Refused] = []
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            found += self._draw_batch(asked, half, self._encode_batch([asked[row] for row in half]), room, sampling)
        return found

    def _generate_replies(self, inputs: Any, room: int, sampling: Sampling) -> Iterator[Generated]:
        torch, begun = self._torch, time.perf_counter()
        width = int(inputs["input_ids"].shape[1])
        devices = [self._model.device] if self._device == "cuda" else []
        # Restore the random state for training in this process.
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
    """Return ``generate`` for a `Replier` from a generator that takes prompts without padding.

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
