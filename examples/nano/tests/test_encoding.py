"""Chats encoded in bulk: they are what the processor makes of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from later import later
from nano.shards import encode_chat, final_pixels, final_size
from nano_models import TOOLS, chat, noise, tiny_nano_processor

later("transformers")


def by_processor(messages: Any, tools: Any) -> Any:
    return tiny_nano_processor().apply_chat_template(messages, tools=tools, tokenize=True, return_dict=True)


@pytest.mark.parametrize("tools", [TOOLS, None])
def test_tokens_are_those_of_the_processor(tools: Any) -> None:
    processor = tiny_nano_processor()
    messages = chat(noise(400, 300), noise(90, 200), noise(600, 37))
    sample = encode_chat(processor, messages, tools)
    assert sample.input_ids.tolist() == by_processor(messages, tools)["input_ids"][0]
    assert sample.input_ids.dtype == np.int32
    assert len(sample) == len(sample.mask) == len(sample.input_ids)


def test_a_chat_without_pictures() -> None:
    sample = encode_chat(tiny_nano_processor(), chat(), None)
    assert sample.input_ids.tolist() == by_processor(chat(), None)["input_ids"][0]
    assert sample.images == ()


def test_the_mask_holds_the_assistants_words_and_nothing_else() -> None:
    processor = tiny_nano_processor()
    sample = encode_chat(processor, chat(noise(400, 300), noise(90, 200)), TOOLS)
    assert processor.tokenizer.decode(sample.input_ids[sample.mask]) == (
        '<tool_call>\n{"name": "zoom", "arguments": {"bbox_2d": [1, 20, 300, 45], "image": "ü"}}\n</tool_call>'
        '<|im_end|>{"country": "France", "city": "Nice", "lat": 43.7, "lon": 7.25}<|im_end|>'
    )
    for at in np.flatnonzero(sample.mask[1:] & ~sample.mask[:-1]):
        assert processor.tokenizer.decode(sample.input_ids[: at + 1]).endswith("<|im_start|>assistant\n")


def test_a_picture_made_ready_before_gives_the_same() -> None:
    processor = tiny_nano_processor()
    photo = noise(640, 480).convert("RGBA")
    once = encode_chat(processor, chat(photo), None)
    again = encode_chat(processor, chat(final_pixels(processor, photo)), None)
    assert np.array_equal(once.input_ids, again.input_ids)
    assert np.array_equal(once.images[0], again.images[0])
    with pytest.raises(ValueError, match="final_pixels"):
        encode_chat(processor, chat(np.zeros((100, 100, 3), np.uint8)), None)


@given(width=st.integers(1, 4000), height=st.integers(1, 4000))
@settings(max_examples=examples(300), deadline=None)
def test_sizes_are_those_of_the_processor(width: int, height: int) -> None:
    processor = tiny_nano_processor()
    try:
        patches = processor.image_processor.get_number_of_image_patches(height, width)
    except ValueError:
        with pytest.raises(ValueError, match="oblong"):
            final_size(processor, height, width)
        return
    seen = final_size(processor, height, width)
    assert seen[0] % 32 == seen[1] % 32 == 0
    assert seen[0] * seen[1] == patches * 16 * 16
