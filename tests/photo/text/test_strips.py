"""Strips of one box, cut the ways it may stand."""

import numpy as np
import pytest

from geosleuth.photo.text.strips import cut_strip, cut_strips, rotate_quad


@pytest.mark.parametrize("turns", [(0, 180), (270, 90)])
@pytest.mark.parametrize("size", [(60, 20), (900, 300), (20, 60), (300, 900)])
def test_strips_of_one_box_are_those_cut_one_by_one(turns: tuple[int, int], size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(4).integers(0, 256, (1000, 1000, 3), dtype=np.uint8)
    (left, top), (wide, tall) = (30.5, 41.25), size
    corners = [[left, top], [left + wide, top], [left + wide, top + tall], [left, top + tall]]
    ways = [rotate_quad(np.array(corners, dtype=np.float32), turn) for turn in turns]
    together = cut_strips(pixels, ways)
    for strip, quad in zip(together, ways, strict=True):
        assert np.array_equal(strip, cut_strip(pixels, quad))
    assert not np.array_equal(together[0], together[1])
