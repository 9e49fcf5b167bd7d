"""A flat picture seen from aside: the mean of four samples for every pixel.

Only single steps of float64 and integers: nothing here that a processor could round or fuse in its own way.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .camera import Point2, Point3

_LOW_BITS = np.uint32(0x00FF00FF)


def warped(target: NDArray[np.uint8], picture: Image.Image, quad: Sequence[Point2], light: float) -> None:
    """Lay a picture over part of a canvas, its corners where the quad has them."""
    across, down, over = _way_back(quad)
    height, width = target.shape[:2]
    columns = np.arange(2 * width, dtype=np.float64) * 0.5 + 0.25
    rows = (np.arange(2 * height, dtype=np.float64) * 0.5 + 0.25)[:, None]
    depth = rows * over[1] + (columns * over[0] + over[2])
    # A point on the quad's vanishing line has no place in the picture: it is far outside instead.
    depth[depth == 0] = 1e-12
    texture = _premultiplied(picture, light)
    tall, wide = texture.shape
    u = (rows * across[1] + (columns * across[0] + across[2])) / depth
    v = (rows * down[1] + (columns * down[0] + down[2])) / depth
    inside = (u >= 0) & (u < 1) & (v >= 0) & (v < 1)
    # The last row and column of the texture are empty: samples outside land there.
    place = np.where(
        inside, (v * (tall - 1)).astype(np.int32) * wide + (u * (wide - 1)).astype(np.int32), wide * tall - 1
    )
    samples = texture.ravel()[place]
    low, high = samples & _LOW_BITS, (samples >> np.uint32(8)) & _LOW_BITS
    low = low[::2, ::2] + low[::2, 1::2] + low[1::2, ::2] + low[1::2, 1::2]
    high = high[::2, ::2] + high[::2, 1::2] + high[1::2, ::2] + high[1::2, 1::2]
    through = 1020 - (high >> np.uint32(16))
    for channel, part in enumerate((low & np.uint32(0xFFFF), high & np.uint32(0xFFFF), low >> np.uint32(16))):
        target[..., channel] = (part * np.uint32(255) + target[..., channel] * through + np.uint32(510)) // np.uint32(
            1020
        )


def _premultiplied(picture: Image.Image, light: float) -> NDArray[np.uint32]:
    """Red, green, blue and cover in one number each (from the lowest byte), with an empty row and column added."""
    pixels = np.asarray(picture.convert("RGBA")).astype(np.uint32)
    cover = pixels[..., 3]
    scale = np.uint32(int(light * 256 + 0.5))
    red, green, blue = (
        (np.minimum(pixels[..., channel] * scale >> np.uint32(8), np.uint32(255)) * cover + np.uint32(127))
        // np.uint32(255)
        for channel in range(3)
    )
    packed = np.zeros((pixels.shape[0] + 1, pixels.shape[1] + 1), np.uint32)
    packed[:-1, :-1] = red | green << np.uint32(8) | blue << np.uint32(16) | cover << np.uint32(24)
    return packed


def _way_back(quad: Sequence[Point2]) -> tuple[Point3, Point3, Point3]:
    """Three rows of the map from pixels to shares of the picture: (u, v) = (first, second) / third."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = quad
    dx1, dx2, sx = x1 - x2, x3 - x2, x0 - x1 + x2 - x3
    dy1, dy2, sy = y1 - y2, y3 - y2, y0 - y1 + y2 - y3
    area = dx1 * dy2 - dx2 * dy1
    if area == 0:
        return (-1.0, 0.0, -1.0), (0.0, -1.0, -1.0), (0.0, 0.0, 1.0)
    g, h = (sx * dy2 - dx2 * sy) / area, (dx1 * sy - sx * dy1) / area
    a, b, c = x1 - x0 + g * x1, x3 - x0 + h * x3, x0
    d, e, f = y1 - y0 + g * y1, y3 - y0 + h * y3, y0
    return (
        (e - f * h, c * h - b, b * f - c * e),
        (f * g - d, a - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
