"""Chats as a model takes them in, made quickly and in bulk: token ids, whose words they are, pictures at final size.

The outcome is that of the processor itself, which takes each picture through several copies and, in some versions,
tells whose words are whose wrongly once a chat holds pictures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from geosleuth.errors import require
from geosleuth.train.shrinking import Shrink, shrink_of

Message = Mapping[str, Any]
Pixels = NDArray[np.uint8]

_MOST_OBLONG: Final = 200


@dataclass(frozen=True, slots=True)
class Encoded:
    """One chat. ``mask`` is true on what the assistant writes; ``images`` are height x width x 3, at final size."""

    input_ids: NDArray[np.int32]
    mask: NDArray[np.bool_]
    images: tuple[Pixels, ...] = ()

    def __len__(self) -> int:
        """How many tokens it has, those of pictures with them."""
        return len(self.input_ids)


def encode_chat(processor: Any, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None) -> Encoded:
    """One chat, encoded as the processor would.

    Args:
        processor: of a Qwen-VL model, with a chat template that tells by generation tags what the assistant writes.
        messages: as templates take them. A picture's part holds an image, or an array from `final_pixels`, which is
            worthwhile where many chats show the same photo.
        tools: in OpenAI's form, or None where the chat shows none.

    Raises:
        ValueError: a picture is far too oblong, or an array is none of `final_pixels`.
    """
    text, spans = _written(processor, messages, tools)
    sheets = tuple(_pixels(processor, image) for image in _images(messages))
    encoded = processor.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    ids = np.asarray(encoded.ids, np.int32)
    offsets = np.asarray(encoded.offsets, np.int64).reshape(-1, 2)
    mask = np.zeros(len(ids), np.bool_)
    for start, end in spans:
        mask |= (offsets[:, 0] < end) & (offsets[:, 1] > start)
    repeats = np.ones(len(ids), np.int64)
    repeats[ids == processor.image_token_id] = [image_tokens(processor, *sheet.shape[:2]) for sheet in sheets]
    return Encoded(np.repeat(ids, repeats), np.repeat(mask, repeats), sheets)


def final_pixels(processor: Any, image: Image.Image) -> Pixels:
    """A picture at the size at which the model sees it.

    Raises:
        ValueError: it is far too oblong.
    """
    final_size(processor, image.height, image.width)
    return np.asarray(final_shrink(processor)(image), np.uint8)


def final_size(processor: Any, height: int, width: int) -> tuple[int, int]:
    """The height and width at which the model sees a picture: whole cells, as many as the budget of pixels allows.

    Raises:
        ValueError: it is far too oblong.
    """
    if max(height, width) > _MOST_OBLONG * min(height, width):
        raise ValueError(f"a picture of {width} x {height} pixels is too oblong to be shown")
    across, down = final_shrink(processor).fitted(width, height)
    return down, across


def final_shrink(processor: Any) -> Shrink:
    """What brings pictures to that size.

    Raises:
        ValueError: the processor makes them ready in a way of its own.
    """
    shrink = shrink_of(processor)
    if shrink is None:
        raise ValueError(f"{type(processor).__name__} makes pictures ready in a way of its own")
    return shrink


def image_tokens(processor: Any, height: int, width: int) -> int:
    """How many tokens a picture of a final size takes."""
    cell = _cell(processor)
    return (height // cell) * (width // cell)


def _cell(processor: Any) -> int:
    images = processor.image_processor
    return int(images.patch_size * images.merge_size)


def _written(
    processor: Any, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None
) -> tuple[str, list[tuple[int, int]]]:
    """The chat's text, and where in it the assistant's words stand."""
    templates: Any = require("transformers.utils.chat_template_utils", extra="train")
    texts, spans = templates.render_jinja_template(
        conversations=[list(messages)],
        tools=list(tools) if tools else None,
        chat_template=processor.chat_template,
        return_assistant_tokens_mask=True,
    )
    return texts[0], [tuple(span) for span in spans[0]]


def _images(messages: Sequence[Message]) -> list[Any]:
    return [
        part["image"]
        for message in messages
        if not isinstance(content := message.get("content") or (), str)
        for part in content
        if part["type"] == "image"
    ]


def _pixels(processor: Any, image: Any) -> Pixels:
    if not isinstance(image, np.ndarray):
        return final_pixels(processor, image)
    cell = _cell(processor)
    fits = image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
    if not fits or image.shape[0] % cell or image.shape[1] % cell:
        raise ValueError(f"an array of shape {image.shape} is no picture at final size; make it with final_pixels")
    return image
