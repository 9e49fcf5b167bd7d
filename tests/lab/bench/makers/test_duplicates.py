"""Pictures that are the same in another size, quality or light are found, others are not."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageEnhance

from geosleuth.lab.bench.makers.duplicates import (
    BYTES,
    DEFAULT_MAX_BITS,
    MAX_BITS,
    NO_FINGERPRINT,
    Pair,
    Prints,
    compute_print,
    differing_bits,
    group_pairs,
    pairs_across,
    pairs_within,
    prints,
)
from maker_sets import jpeg, picture


def _bits(first: Image.Image, second: Image.Image) -> int:
    return int(differing_bits(prints([compute_print(first)]), prints([compute_print(second)]))[0])


def _reopened(content: bytes) -> Image.Image:
    import io

    return Image.open(io.BytesIO(content)).convert("RGB")


def _marked(image: Image.Image) -> Image.Image:
    made = image.copy()
    ImageDraw.Draw(made).text((5, made.height - 15), "(c) somebody", fill="white")
    return made


@pytest.mark.parametrize("seed", range(8))
def test_the_same_picture_keeps_its_print(seed: int) -> None:
    original = picture(seed, (640, 480))
    changed = {
        "half the size": original.resize((320, 240)),
        "poor quality": _reopened(jpeg(original, 30)),
        "brighter": ImageEnhance.Brightness(original).enhance(1.1),
        "less contrast": ImageEnhance.Contrast(original).enhance(0.8),
        "marked": _marked(original),
        "a hair cut off": original.crop((3, 3, 637, 477)),
    }
    far = {name: bits for name, image in changed.items() if (bits := _bits(original, image)) > DEFAULT_MAX_BITS}
    assert far == {}


def test_other_pictures_have_other_prints() -> None:
    table = prints(compute_print(picture(seed)) for seed in range(60))
    nearest = min(
        int(differing_bits(table[one : one + 1], table[other : other + 1])[0])
        for one in range(60)
        for other in range(one)
    )
    assert nearest > 60


def test_pictures_without_contrast_are_like_no_other() -> None:
    plain = compute_print(Image.new("RGB", (50, 50), "grey"))
    assert plain == NO_FINGERPRINT
    assert pairs_within(prints([plain, plain])) == []


def _brute(table: Prints, most: int) -> list[list[int]]:
    count = len(table)
    found = [
        Pair(one, other, 0)
        for one in range(count)
        for other in range(one + 1, count)
        if table[one].any() and table[other].any()
        and int(differing_bits(table[one : one + 1], table[other : other + 1])[0]) <= most
    ]  # fmt: skip
    return group_pairs(count, found)


@given(st.integers(0, 10_000), st.integers(0, MAX_BITS), st.lists(st.integers(0, 40), min_size=1, max_size=25))
def test_no_pair_is_missed(seed: int, most: int, flips: list[int]) -> None:
    """Prints made of one another by flipping bits, compared with comparing each with each."""
    chance = np.random.default_rng(seed)
    rows = [chance.integers(0, 256, BYTES, dtype=np.uint8)]
    for count in flips:
        bits = np.unpackbits(rows[int(chance.integers(0, len(rows)))])
        bits[chance.permutation(256)[:count]] ^= 1
        rows.append(np.packbits(bits))
    table = np.stack(rows)
    assert group_pairs(len(table), pairs_within(table, most_bits=most)) == _brute(table, most)


def test_two_sets_are_compared() -> None:
    ours = prints(compute_print(picture(seed)) for seed in (1, 2, 3))
    theirs = prints(compute_print(picture(seed).resize((200, 150))) for seed in (9, 3, 3))
    (pair,) = pairs_across(ours, theirs)
    assert (pair.first, pair.second) == (2, 1)
    assert pair.bits <= 16


@pytest.mark.slow
def test_a_large_set_is_not_compared_each_with_each() -> None:
    chance = np.random.default_rng(1)
    table = chance.integers(0, 256, (20_000, BYTES), dtype=np.uint8)
    table[19_999] = table[5]
    table[19_998] = table[6] ^ np.packbits(np.arange(256) % 16 == 0)
    began = time.thread_time()
    found = pairs_within(table, most_bits=16)
    assert [(one.first, one.second, one.bits) for one in found] == [(5, 19_999, 0), (6, 19_998, 16)]
    # Each with each would be 200 million comparisons.
    assert time.thread_time() - began < 20
