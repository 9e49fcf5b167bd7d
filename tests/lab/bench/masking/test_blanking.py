"""What is hidden is gone, and what is not hidden is untouched."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from drawn import examples
from geosleuth.lab.bench.masking import ALL_TEXT, blank, text_boxes, widen_box
from geosleuth.lab.bench.sets import DatasetBox
from geosleuth.photo import Photo
from geosleuth.photo.text import read_text

WORDS = ("Rue Grimaldi", "PHARMACIE 24")


def street_photo() -> Photo:
    """A wall with two signs, and colours that differ from pixel to pixel everywhere else."""
    across, down = np.meshgrid(np.arange(1200), np.arange(800))
    pattern = np.stack([across // 8 + 60, down // 6 + 60, (across + down) // 16 + 60], axis=-1).astype(np.uint8)
    image = Image.fromarray(pattern)
    draw = ImageDraw.Draw(image)
    for words, at, colour in zip(WORDS, ((150, 180), (600, 520)), ((20, 40, 150), (0, 110, 40)), strict=True):
        draw.rectangle((at[0] - 20, at[1] - 15, at[0] + 470, at[1] + 85), fill=colour)
        draw.text(at, words, fill=(250, 250, 250), font=ImageFont.load_default(60))
    return Photo(image)


def pixels(photo: Photo) -> "np.typing.NDArray[np.uint8]":
    return np.asarray(photo.image, dtype=np.uint8)


def read(image: Image.Image) -> list[str]:
    """The lines in Latin letters, as those of the signs are: on an empty plate the reader may see other letters."""
    return [line.text for line in read_text(image, seconds=1.0) if line.script == "latin"]


@pytest.fixture(scope="module")
def street() -> Photo:
    return street_photo()


@pytest.fixture(scope="module")
def lines(street: Photo) -> tuple[DatasetBox, ...]:
    return text_boxes(street)


def test_no_text_can_be_read_once_all_text_is_hidden(street: Photo) -> None:
    assert read(street.image) == list(WORDS)
    masked = blank(street, [ALL_TEXT])
    assert read(masked.image) == []
    # Nor by somebody who looks closer.
    assert read(masked.image.crop((100, 120, 700, 320)).resize((1200, 400))) == []


def test_one_sign_is_hidden_and_the_other_can_still_be_read(street: Photo, lines: tuple[DatasetBox, ...]) -> None:
    upper = [box for box in lines if box.top < 0.5]
    assert read(blank(street, upper).image) == [WORDS[1]]


def test_everything_outside_of_the_boxes_is_as_it_was(street: Photo, lines: tuple[DatasetBox, ...]) -> None:
    before = pixels(street).copy()
    masked = blank(street, lines)
    outside = np.ones(before.shape[:2], dtype=np.bool_)
    for box in lines:
        rect = widen_box(box, street.size)
        assert rect is not None
        outside[rect[1] : rect[3], rect[0] : rect[2]] = False
    assert outside.mean() > 0.8
    assert np.array_equal(pixels(masked)[outside], before[outside])
    assert not np.array_equal(pixels(masked), before)
    assert np.array_equal(pixels(street), before)


def test_a_gap_has_neither_the_colour_nor_the_edges_of_what_was_there() -> None:
    image = Image.new("RGB", (400, 300), (120, 120, 120))
    image.paste((255, 0, 0), (100, 100, 200, 180))
    masked = blank(Photo(image), [DatasetBox("signs", 0.25, 1 / 3, 0.5, 0.6)])
    assert np.array_equal(pixels(masked), np.full((300, 400, 3), 120))


def test_a_panorama_stays_one() -> None:
    photo = Photo(Image.new("RGB", (200, 100)), "panorama")
    masked = blank(photo, [DatasetBox("text", 0.0, 0.0, 0.1, 0.1)])
    assert (masked.kind, masked.size) == ("panorama", (200, 100))
    assert masked.handle != photo.handle


_shares = st.floats(-0.5, 1.5)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(_shares, _shares, _shares, _shares), min_size=1, max_size=5),
    st.tuples(st.integers(1, 90), st.integers(1, 70)),
)
def test_any_boxes_on_any_photo(edges: list[tuple[float, float, float, float]], size: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    before = random.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    boxes = [DatasetBox("signs", *one) for one in edges]
    masked = pixels(blank(Photo(Image.fromarray(before)), boxes))
    hidden = np.zeros(before.shape[:2], dtype=np.bool_)
    for rect in filter(None, (widen_box(box, size) for box in boxes)):
        hidden[rect[1] : rect[3], rect[0] : rect[2]] = True
    assert np.array_equal(masked[~hidden], before[~hidden])
    # What was hidden has no say in what is shown there.
    changed = before.copy()
    changed[hidden] = 255 - changed[hidden]
    assert np.array_equal(pixels(blank(Photo(Image.fromarray(changed)), boxes)), masked)
