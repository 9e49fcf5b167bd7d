"""Unevenness for clouds and ground: textures that are the same on every machine and meet themselves at all edges."""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

NOISE_PX = 512


@cache
def cloud_noise() -> NDArray[np.uint8]:
    """Large billows with finer ones in them, 0 to 255."""
    return _noise(20, ((4, 10), (8, 9), (16, 6), (32, 4), (64, 2), (128, 1)))


@cache
def ground_noise() -> NDArray[np.uint8]:
    """Patches and fine grain, 0 to 255."""
    return _noise(21, ((8, 5), (32, 4), (128, 5), (256, 5), (512, 4)))


def _noise(seed: int, octaves: tuple[tuple[int, int], ...]) -> NDArray[np.uint8]:
    """Random cells of several sizes, grown smooth and added up; an octave is how many cells and how much they weigh."""
    source = np.random.Generator(np.random.PCG64(seed))
    total = np.zeros((NOISE_PX, NOISE_PX), dtype=np.int64)
    margin = 3
    for cells, weight in octaves:
        grid = source.integers(0, 256, (cells, cells), dtype=np.uint8)
        wrapped = Image.fromarray(np.pad(grid, margin, mode="wrap"))
        step = NOISE_PX // cells
        grown = wrapped.resize((wrapped.width * step, wrapped.height * step), Image.Resampling.BICUBIC)
        edge = margin * step
        total += np.asarray(grown.crop((edge, edge, edge + NOISE_PX, edge + NOISE_PX))).astype(np.int64) * weight
    low, high = int(total.min()), int(total.max())
    return ((total - low) * 255 // (high - low)).astype(np.uint8)
