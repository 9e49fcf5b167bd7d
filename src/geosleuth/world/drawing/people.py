"""People as plain figures: clothes and hair, no faces."""

import random
from functools import lru_cache

from .camera import Point2
from .canvas import Canvas, Colour, mixed
from .dice import dice
from .plants_sprite import Pen, Sprite
from .sky_light import Light

_TOPS: tuple[Colour, ...] = (
    (64, 84, 116), (150, 62, 56), (208, 200, 184), (70, 94, 78), (48, 50, 56), (190, 146, 78), (108, 84, 116),
    (118, 140, 160),
)  # fmt: skip
_LEGS: tuple[Colour, ...] = ((46, 54, 74), (58, 56, 54), (118, 106, 88), (38, 40, 44))
_SKIN: tuple[Colour, ...] = ((108, 78, 58), (150, 112, 84), (196, 154, 124), (84, 60, 46))
_HAIR: tuple[Colour, ...] = ((38, 32, 28), (74, 54, 38), (132, 104, 66), (120, 118, 114))
_DARK_HAIR: tuple[Colour, ...] = ((38, 32, 28), (30, 26, 24), (52, 40, 32), (120, 118, 114))
_FIGURES = 16


def draw_person(canvas: Canvas, at: Point2, light: Light, chance: random.Random) -> tuple[int, int, int, int] | None:
    """Draw somebody who walks or stands at a point of the street; returns the box filled, None where not seen."""
    figure = chance.randrange(_FIGURES)
    height = 1.78 - 0.02 * chance.randrange(14)
    if canvas.view.depth_m((at[0], at[1], 1.0)) < 2:
        return None
    return _figure(figure).stand(canvas, (at[0], at[1], 0.0), height, light)


@lru_cache(maxsize=_FIGURES)
def _figure(number: int) -> Sprite:
    chance = dice(f"person {number}")
    top, legs, skin = (chance.choice(colours) for colours in (_TOPS, _LEGS, _SKIN))
    hair = chance.choice(_HAIR if skin == _SKIN[2] else _DARK_HAIR)
    pen = Pen(240, 0.52)
    stride = chance.choice((0.0, 0.045, 0.075))
    swing = stride * 0.7
    skirt = chance.random() < 0.3
    dark = mixed(legs, (0, 0, 0), 0.28)
    pen.limb((0.022, 0.52), (0.03 + stride, 0.03), (0.075, 0.044), dark)
    pen.limb((-0.022, 0.52), (-0.03 - stride, 0.03), (0.08, 0.046), legs)
    for x in (0.03 + stride, -0.03 - stride):
        pen.blob(x + 0.014, 0.018, 0.036, 0.018, (36, 34, 34), fine=True)
    shade = mixed(top, (0, 0, 0), 0.25)
    pen.blob(0.1 + swing, 0.485, 0.02, 0.022, mixed(skin, (0, 0, 0), 0.25), fine=True)
    pen.limb((0.07, 0.79), (0.1 + swing, 0.5), (0.05, 0.036), shade)
    body = ((-0.082, 0.8), (0.082, 0.8), (0.078, 0.5), (-0.078, 0.5))
    if skirt:
        body = ((-0.078, 0.8), (0.078, 0.8), (0.115, 0.34), (-0.115, 0.34))
    pen.shape(body, top)
    pen.shape(((0.02, 0.81), (0.08, 0.8), (body[2][0], body[2][1]), (0.03, body[2][1])), shade)
    pen.blob(0, 0.8, 0.082, 0.03, top, fine=True)
    pen.limb((-0.076, 0.79), (-0.1 - swing, 0.5), (0.052, 0.038), mixed(top, (255, 255, 255), 0.08))
    pen.blob(-0.1 - swing, 0.485, 0.02, 0.022, skin, fine=True)
    pen.limb((0, 0.8), (0, 0.87), (0.05, 0.045), mixed(skin, (0, 0, 0), 0.2))
    pen.blob(0, 0.915, 0.05, 0.064, skin, fine=True)
    # Everybody is seen from behind or from too far away: hair goes all around.
    pen.blob(0, 0.93, 0.055, 0.06, hair, fine=True)
    if chance.random() < 0.3:
        bag = chance.choice(_TOPS)
        pen.shape(((-0.06, 0.79), (0.05, 0.79), (0.05, 0.58), (-0.06, 0.58)), bag)
        pen.shape(((-0.045, 0.68), (0.035, 0.68), (0.035, 0.6), (-0.045, 0.6)), mixed(bag, (0, 0, 0), 0.22))
    return pen.sprite()
