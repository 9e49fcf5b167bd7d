"""Conversations as a model takes them in: many at once, padded on the left, each picture made ready only once.

A processor makes every picture ready anew in every turn. For processors of Qwen's kind this is left out: the first
batch goes through the processor, the same batch is put together here too, and only where both are the same token by
token are later ones put together here alone.
"""

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from geosleuth.policies import Sampling
from geosleuth.policies.weights_chat import ChatMessage

if TYPE_CHECKING:
    from PIL.Image import Image

Inputs = dict[str, Any]
"""What ``generate`` takes, by name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation to reply to, as a chat template takes it; pictures stand in it by the keys of ``pictures``.

    ``text`` is the same as the template writes it, where somebody had it written before.
    """

    messages: list[ChatMessage]
    tools: list[dict[str, Any]] | None
    pictures: Mapping[str, "Image"] = field(repr=False)
    sampling: Sampling = field(default_factory=Sampling)
    text: str | None = field(default=None, repr=False)


class Encoder:
    """Writes batches for one model."""

    def __init__(self, torch: Any, model: Any, processor: Any) -> None:
        """Take the processor, and the model for its device and type of numbers."""
        self._torch, self._model, self._processor = torch, model, processor
        # None while nothing was encoded yet; then whether batches are put together here.
        self._here: bool | None = None if _of_qwen(processor) else False
        self._types = False
        self._ready: dict[int, tuple[weakref.ref[Image], Any, Any]] = {}

    def prepared(self, asked: Asked) -> Asked:
        """The same with all done that needs no device; may be called from another thread meanwhile."""
        messages, shown = _with_pictures(asked)
        text = self._written(messages, asked.tools)
        if self._here:
            for picture in shown:
                self._made_ready(picture)
        return replace(asked, text=text)

    def encode(self, asked: Sequence[Asked]) -> Inputs:
        """The batch, on the model's device."""
        texts: list[str] = []
        pictures: list[list[Image]] = []
        for one in asked:
            messages, shown = _with_pictures(one)
            pictures.append(shown)
            texts.append(self._written(messages, one.tools) if one.text is None else one.text)
        if self._here:
            return self._put_together(texts, pictures)
        given = self._by_processor(texts, pictures)
        if self._here is None and any(pictures):
            self._types = "mm_token_type_ids" in given
            mine = self._put_together(texts, pictures)
            names = set(mine) == set(given)
            self._here = names and all(self._torch.equal(mine[name], given[name]) for name in given)
        return given

    def _written(self, messages: list[ChatMessage], tools: list[dict[str, Any]] | None) -> str:
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
        pixels, grid = self._made_ready(picture)
        if pixels.device != self._model.device:
            pixels, grid = (one.to(self._model.device) for one in (pixels, grid))
            self._hold(picture, pixels, grid)
        return pixels, grid

    def _made_ready(self, picture: "Image") -> tuple[Any, Any]:
        held = self._ready.get(id(picture))
        if held is None:
            made = self._processor.image_processor(images=[picture], return_tensors="pt")
            held = self._hold(picture, made["pixel_values"].to(self._model.dtype), made["image_grid_thw"][0])
        return held[1], held[2]

    def _hold(self, picture: "Image", pixels: Any, grid: Any) -> tuple["weakref.ref[Image]", Any, Any]:
        # What was made of a picture goes when the picture goes.
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
