"""The school: what a scene teaches hangs on its number alone, and comes out as the model takes it in."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from geosleuth.lab.scenes import World
from nano.lessons import Kind
from nano.shards import final_pixels
from nano.teacher import ECHOES, LISTS, SIGN_LESSONS, Speaking, Teaching
from nano_lessons import SEED, Taught, words_of
from nano_models import tiny_nano_processor


@pytest.fixture
def teaching(few_towns: World, nano_home: Path, monkeypatch: pytest.MonkeyPatch) -> Teaching:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(nano_home))
    return Teaching(few_towns, SEED, tiny_nano_processor())


def plain(message: Any) -> Any:
    """A message that can be compared: pictures as their bytes."""
    if isinstance(message["content"], str):
        return message
    parts = [{**part, "image": part["image"].tobytes()} if "image" in part else part for part in message["content"]]
    return {**message, "content": parts}


def test_a_scene_teaches_the_same_each_time_whatever_came_before(taught: list[Taught], teaching: Teaching) -> None:
    for one in (taught[1], taught[0]):
        again = list(teaching.lessons(one.number))
        assert [(lesson.kind, lesson.tools) for lesson in again] == [
            (lesson.kind, lesson.tools) for lesson in one.lessons
        ]
        for lesson, before in zip(again, one.lessons, strict=True):
            assert list(map(plain, lesson.messages)) == list(map(plain, before.messages))


def test_lessons_come_out_encoded_and_the_photo_once(taught: list[Taught], teaching: Teaching) -> None:
    one = next(one for one in taught if one.of("format", tools=True))
    tokenizer = tiny_nano_processor().tokenizer
    encoded = list(teaching.encoded(one.number))
    assert [kind for kind, _ in encoded] == [lesson.kind for lesson in one.lessons]
    assert {kind for kind, _ in encoded} == set(get_args(Kind)) - {"echo", "telling"}
    for (_, sample), lesson in zip(encoded, one.lessons, strict=True):
        said = [words_of(message) for message in lesson.messages if message["role"] == "assistant"]
        learned = tokenizer.decode(sample.input_ids[sample.mask])
        assert all(words in learned for words in said)
        assert learned.count("<|im_end|>") == len(said)
        assert ("Tools:" in tokenizer.decode(sample.input_ids)) == lesson.tools
    photos = [sample.images[0] for kind, sample in encoded if kind in ("levels", "trajectory")]
    photos += [sample.images[0] for (_, sample), lesson in zip(encoded, one.lessons, strict=True)
               if (lesson.kind, lesson.tools) == ("format", True)]  # fmt: skip
    assert len(photos) == 3
    assert len({id(photo) for photo in photos}) == 1
    (levels,) = one.of("levels")
    (photo,) = [part["image"] for part in levels.messages[1]["content"] if part["type"] == "image"]
    assert np.array_equal(photos[0], final_pixels(tiny_nano_processor(), photo))


def test_what_is_spoken_needs_no_scene_and_is_the_same_each_time(few_towns: World) -> None:
    processor = tiny_nano_processor()
    speaking = Speaking(few_towns, SEED, processor)
    one, again, other = ([lesson.messages for lesson in speaking.lessons(number)] for number in (3, 3, 4))
    assert one == again != other
    encoded = list(speaking.encoded(3))
    assert [kind for kind, _ in encoded] == ["echo"] * (ECHOES + LISTS) + ["telling"] * SIGN_LESSONS
    assert all(not sample.images and sample.mask.any() for _, sample in encoded)
