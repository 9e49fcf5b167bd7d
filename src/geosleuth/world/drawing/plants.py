"""Plants in a street, by kind and season."""

import random
from functools import lru_cache

from geosleuth.world.model import Plant

from .canvas import Canvas
from .dice import dice
from .plants_kinds import KINDS
from .plants_sprite import Pen, Sprite
from .sky_light import Light

HEIGHTS_M: dict[Plant, tuple[float, float]] = {
    "broadleaf": (5.5, 10.0), "birch": (6.0, 11.0), "conifer": (6.0, 13.0), "palm": (5.0, 10.0), "cypress": (5.0, 9.5),
    "acacia": (4.5, 7.5), "cactus": (2.0, 4.5), "bamboo": (4.0, 7.0), "shrub": (0.8, 1.8), "none": (0.0, 0.0),
}  # fmt: skip
"""How tall each plant grows in a street."""
# The height of a crown's middle and its half width, as shares of the plant's height: what its shadow needs.
CROWNS: dict[Plant, tuple[float, float]] = {
    "broadleaf": (0.62, 0.33), "birch": (0.6, 0.2), "conifer": (0.4, 0.2), "palm": (0.78, 0.3), "cypress": (0.5, 0.1),
    "acacia": (0.82, 0.45), "cactus": (0.5, 0.1), "bamboo": (0.55, 0.25), "shrub": (0.5, 0.6), "none": (0.0, 0.0),
}  # fmt: skip
_VARIANTS = 4
_SIZES_PX = (320, 960)


def draw_plant(
    canvas: Canvas, at: tuple[float, float], plant: Plant, height_m: float, season: str, light: Light,
    chance: random.Random, *, snow: bool = False,
) -> tuple[int, int, int, int] | None:  # fmt: skip
    """Draw a plant that stands at a point of the street; returns the box it fills, or None where it isn't seen."""
    variant = chance.randrange(_VARIANTS)
    if plant == "none":
        return None
    foot = (at[0], at[1], 0.0)
    tall = canvas.view.pixels_per_metre(foot) * height_m
    small, large = (_SIZES_PX[0] // 2, _SIZES_PX[0]) if plant == "shrub" else _SIZES_PX
    size = small if tall <= 1.6 * small or canvas.view.width < 2000 else large
    return sprite(plant, season, variant, size, snow=snow).stand(canvas, foot, height_m, light)


def sprite(plant: Plant, season: str, variant: int, height_px: int, *, snow: bool) -> Sprite:
    """One of a few individuals of a kind."""
    kept = _large if height_px > _SIZES_PX[0] else _usual
    return kept(plant, season, variant, height_px, snow=snow)


def _drawn(plant: Plant, season: str, variant: int, height_px: int, *, snow: bool) -> Sprite:
    draw, width = KINDS[plant]
    pen = Pen(height_px, width)
    draw(pen, season, dice(f"plant {plant} {season} {variant}"), snow=snow)
    return pen.sprite()


# A usual one is half a megabyte, and a set of scenes needs nearly 200 of them; a large one is five.
_usual = lru_cache(maxsize=192)(_drawn)
_large = lru_cache(maxsize=16)(_drawn)
