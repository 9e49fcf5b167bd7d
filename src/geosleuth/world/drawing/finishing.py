"""What a camera makes of a picture: blur and grain."""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from geosleuth.world.model import Scene

_TILE = 256


def finish(pixels: NDArray[np.uint8], scene: Scene) -> None:
    """Blur and grain, in place. Blur comes in quarters of a pixel, so that its weights are the same everywhere."""
    quarters = round(scene.camera.blur_px * 4)
    if quarters >= 3:
        pixels[:] = np.asarray(Image.fromarray(pixels).filter(ImageFilter.BoxBlur(quarters / 4)))
    elif quarters > 0:
        _soften(pixels)
        if quarters == 2:
            _soften(pixels)
    level = min(7, round(2 + scene.camera.grain))
    import cv2

    tile = _grain(level)
    height, width = pixels.shape[:2]
    aside = scene.seed % _TILE
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            part = pixels[top : top + _TILE, left : left + _TILE]
            more, less = tile
            tall, wide = part.shape[:2]
            turned = (
                np.roll(more, aside + left // 7, axis=1)[:tall, :wide],
                np.roll(less, aside + top // 5, axis=1)[:tall, :wide],
            )
            cv2.add(part, turned[0], dst=part)
            cv2.subtract(part, turned[1], dst=part)


def _soften(pixels: NDArray[np.uint8]) -> None:
    """A pixel becomes a quarter of each neighbour and half of itself, across and then down."""
    right, low = pixels[:, -1].copy(), pixels[-1].copy()
    for step in (3, pixels.shape[1] * 3):
        line = pixels.reshape(-1)
        once = _mean(line[:-step], line[step:])
        line[step:-step] = _mean(once[:-step], once[step:])
    pixels[:, -1], pixels[-1] = right, low


def _mean(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    half = one ^ other
    half >>= np.uint8(1)
    np.subtract(one | other, half, out=half)
    return half


@cache
def _grain(level: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """What to add and what to take away, a tile of it, the same for all colours."""
    noise = np.random.Generator(np.random.PCG64(level)).integers(0, level + 1, (2, _TILE, _TILE), dtype=np.uint8)
    return np.repeat(noise[0][..., None], 3, axis=2), np.repeat(noise[1][..., None], 3, axis=2)
