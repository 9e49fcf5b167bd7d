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
    texture = _premultiplied(picture, light)
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = quad
    if x0 == x3 < x1 == x2 and y0 < y3 and y1 < y2:
        place = _upright(target.shape[:2], texture.shape, (x0, x1), (y0, y3), (y1, y2))
    else:
        place = _aslant(target.shape[:2], texture.shape, quad)
    samples = texture.reshape(-1).take(place)
    low, high = samples & _LOW_BITS, (samples >> np.uint32(8)) & _LOW_BITS
    low = _fourfold(low)
    high = _fourfold(high)
    through = np.uint32(1020) - (high >> np.uint32(16))
    for channel, ink in enumerate((low & np.uint32(0xFFFF), high & np.uint32(0xFFFF), low >> np.uint32(16))):
        total = ink * np.uint32(255)
        total += target[..., channel] * through
        total += np.uint32(510)
        target[..., channel] = total // np.uint32(1020)


def _aslant(size: tuple[int, ...], texture: tuple[int, ...], quad: Sequence[Point2]) -> NDArray[np.int32]:
    """For four samples to a pixel, the texel of each. The texture has an empty rim: samples outside land there."""
    across, down, over = _way_back(quad)
    (height, width), (tall, wide) = size, texture
    columns = np.arange(2 * width, dtype=np.float32) * np.float32(0.5) + np.float32(0.25)
    rows = (np.arange(2 * height, dtype=np.float32) * np.float32(0.5) + np.float32(0.25))[:, None]
    depth = _plane(rows, columns, over, 1.0)
    # A point on the quad's vanishing line has no place in the picture: it is far outside instead.
    depth[depth == 0] = np.float32(1e-6)
    np.divide(np.float32(1), depth, out=depth)
    place = _texels(_plane(rows, columns, down, tall - 2.0), depth, tall)
    place *= np.int32(wide)
    place += _texels(_plane(rows, columns, across, wide - 2.0), depth, wide)
    return place


def _upright(
    size: tuple[int, ...], texture: tuple[int, ...], sides: Point2, left: Point2, right: Point2
) -> NDArray[np.int32]:
    """The same where both sides are upright, as on every wall: a column of pixels is then a column of texels."""
    (height, width), (tall, wide) = size, texture
    columns = np.arange(2 * width, dtype=np.float64) * 0.5 + 0.25
    share = (columns - sides[0]) / (sides[1] - sides[0])
    # How high the picture stands in a column goes with how near it is there.
    rise = (left[1] - left[0]) * (1 - share) + (right[1] - right[0]) * share
    inside = (share >= 0) & (share < 1)
    rise[~inside] = 1.0
    texels = share * (right[1] - right[0]) / rise * (wide - 2) + 1
    texels[~inside] = 0
    top = left[0] + (right[0] - left[0]) * share
    step = (tall - 2) / rise
    rows = (np.arange(2 * height, dtype=np.float32) * np.float32(0.5) + np.float32(0.25))[:, None]
    down = rows * step.astype(np.float32)
    down += (1 - top * step).astype(np.float32)
    np.clip(down, np.float32(0), np.float32(tall - 1), out=down)
    place = down.astype(np.int32)
    place *= np.int32(wide)
    place += texels.astype(np.int32)
    return place


def _plane(
    rows: NDArray[np.float32], columns: NDArray[np.float32], factors: Point3, scale: float
) -> NDArray[np.float32]:
    a, b, c = (np.float32(factor * scale) for factor in factors)
    return rows * b + (columns * a + c)


def _texels(plane: NDArray[np.float32], depth: NDArray[np.float32], count: int) -> NDArray[np.int32]:
    plane *= depth
    plane += np.float32(1)
    np.clip(plane, np.float32(0), np.float32(count - 1), out=plane)
    return plane.astype(np.int32)


def _fourfold(samples: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Sums of two by two samples."""
    rows = samples[::2] + samples[1::2]
    return rows[:, ::2] + rows[:, 1::2]


def _premultiplied(picture: Image.Image, light: float) -> NDArray[np.uint32]:
    """Red, green, blue and cover in one number each (from the lowest byte), with an empty rim around them."""
    import cv2

    scale = int(light * 256 + 0.5)
    pixels = np.array(picture if picture.mode == "RGBA" else picture.convert("RGBA"))
    if scale != 256:
        table = np.repeat(np.arange(256)[:, None], 4, axis=1)
        table[:, :3] = np.minimum(table[:, :3] * scale >> 8, 255)
        cv2.LUT(pixels, table.astype(np.uint8)[None], dst=pixels)
    cover = pixels[..., 3]
    if cover.min() < 255:
        for channel in range(3):
            weighed = np.multiply(pixels[..., channel], cover, dtype=np.uint16)
            weighed += np.uint16(127)
            pixels[..., channel] = weighed // np.uint16(255)
    packed = np.zeros((pixels.shape[0] + 2, pixels.shape[1] + 2), np.uint32)
    packed[1:-1, 1:-1] = np.ascontiguousarray(pixels).view("<u4")[..., 0]
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
    # Scaled so that the last row is about 1: the factors stay within what short floats hold well.
    size = (a * e - b * d) + (d * h - e * g) * x0 + (b * g - a * h) * y0 or 1.0
    return (
        ((e - f * h) / size, (c * h - b) / size, (b * f - c * e) / size),
        ((f * g - d) / size, (a - c * g) / size, (c * d - a * f) / size),
        ((d * h - e * g) / size, (b * g - a * h) / size, (a * e - b * d) / size),
    )
