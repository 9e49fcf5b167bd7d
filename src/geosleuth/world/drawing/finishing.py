"""What a camera makes of a picture: blur and grain."""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from geosleuth.world.model import Scene

_TILE = 512


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

    more, less = _grain(level)
    height, width = pixels.shape[:2]
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            part = pixels[top : top + _TILE, left : left + _TILE]
            tall, wide = part.shape[:2]
            # Every tile begins somewhere else in the noise, so that none is seen to repeat.
            x, y = (scene.seed + left * 7 + top * 3) % _TILE, (scene.seed // 7 + left * 5 + top) % _TILE
            cv2.add(part, more[y : y + tall, x : x + wide], dst=part)
            cv2.subtract(part, less[y : y + tall, x : x + wide], dst=part)


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
    noise = np.random.Generator(np.random.PCG64(level)).integers(
        0, level + 1, (2, 2 * _TILE, 2 * _TILE), dtype=np.uint8
    )
    return np.repeat(noise[0][..., None], 3, axis=2), np.repeat(noise[1][..., None], 3, axis=2)
