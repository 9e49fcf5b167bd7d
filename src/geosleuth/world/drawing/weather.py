"""What falls through the air between camera and street, and wet roads."""

import random

import numpy as np
from numpy.typing import NDArray

from geosleuth.world.model import Sky

from .canvas import Canvas, Colour, mixed
from .sky_light import Light


def draw_weather(pixels: NDArray[np.uint8], sky: Sky, light: Light, chance: random.Random) -> None:
    """Draw rain or snow in the air over a finished picture; thin enough that whatever is written stays legible."""
    if sky.weather == "rain":
        _rain(pixels, light, chance)
    if sky.weather == "snow":
        _snow(pixels, chance, light)


def draw_air(canvas: Canvas, sky: Sky, light: Light) -> None:
    """Let a road fade in fog, rain or snow, and shine when wet; after the road, before whatever stands on it."""
    view = canvas.view
    top, height = max(0, int(view.horizon_px)), view.height
    if light.haze < 0.1 or top >= height:
        return
    wet = 0.3 if sky.weather == "rain" else 0.0
    below = [max(0.5, row + 0.5 - view.horizon_px) for row in range(top, height)]
    veils = [light.veil(view.height_m * view.focal_px / down) for down in below]
    shares = [
        round(256 * min(0.94, veil + wet * 60 / (60 + down * 768 / height)))
        for veil, down in zip(veils, below, strict=True)
    ]
    # Rows whose share is next to nothing stay as they are.
    last = next((number for number, share in enumerate(shares) if share < 5), len(shares))
    part = canvas.pixels[top : top + last]
    share = np.array(shares[:last], dtype=np.uint16)[:, None]
    for channel in range(3):
        air = share * np.uint16(light.horizon[channel])
        part[..., channel] = (np.multiply(part[..., channel], 256 - share, dtype=np.uint16) + air) >> np.uint16(8)


def _rain(pixels: NDArray[np.uint8], light: Light, chance: random.Random) -> None:
    import cv2

    height, width = pixels.shape[:2]
    unit = width / 1024
    slant = chance.uniform(-0.25, 0.25)
    pale: Colour = mixed(light.horizon, (255, 255, 255), 0.3)
    layer = np.zeros((height, width), dtype=np.uint8)
    for _ in range(240):
        x, y = chance.randrange(width), chance.randrange(height)
        long = chance.uniform(14, 44) * unit
        end = (round((x + slant * long) * 16), round((y + long) * 16))
        cv2.line(layer, (x * 16, y * 16), end, 70, max(1, round(unit)), cv2.LINE_AA, 4)
    rows, columns = np.nonzero(layer)
    weight = layer[rows, columns].astype(np.int32)[:, None]
    under = pixels[rows, columns].astype(np.int32)
    pixels[rows, columns] = under + ((np.array(pale, dtype=np.int32) - under) * weight >> 8)


def _snow(pixels: NDArray[np.uint8], chance: random.Random, light: Light) -> None:
    import cv2

    height, width = pixels.shape[:2]
    unit = width / 1024
    white = mixed(light.shade((255, 255, 255)), (255, 255, 255), 0.4)
    for _ in range(420):
        # Most flakes are far: small and many.
        size = 0.6 + 2.0 * chance.random() * chance.random() * chance.random()
        x, y = chance.randrange(width * 16), chance.randrange(height * 16)
        cv2.circle(pixels, (x, y), round(size * unit * 16), white, -1, cv2.LINE_AA, 4)
