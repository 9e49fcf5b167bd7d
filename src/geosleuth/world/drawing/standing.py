"""Things that stand or hang before part of a board: leaves, a cloth on a line, crates."""

import random

from .camera import cosine, sine
from .canvas import Canvas, Colour, lit
from .dice import dice
from .scenery import Cover
from .sky_light import Light

_LEAVES: tuple[Colour, ...] = ((70, 104, 54), (88, 118, 58), (58, 92, 62), (120, 112, 58))
_CLOTHS: tuple[Colour, ...] = ((186, 178, 160), (92, 120, 150), (150, 84, 70), (206, 196, 170), (96, 110, 90))


def draw_cover(canvas: Canvas, cover: Cover, light: Light) -> None:
    """Draw what hides part of a board."""
    chance = dice(cover.seed)
    if cover.kind == "leaves":
        _leaves(canvas, cover, light, chance)
    elif cover.kind == "cloth":
        _cloth(canvas, cover, light, chance)
    else:
        _crates(canvas, cover, light)


def _leaves(canvas: Canvas, cover: Cover, light: Light, chance: random.Random) -> None:
    """A bough that hangs into the picture from above."""
    middle = canvas.view.project(cover.at)
    if middle is None:
        return
    metre = canvas.view.pixels_per_metre(cover.at)
    wide, tall = cover.half_m * metre, cover.tall_m * metre
    leaf = chance.choice(_LEAVES)
    twig = light.shade((92, 74, 56))
    canvas.line(
        ((middle[0] - wide * 0.2, middle[1] - tall * 2.6), (middle[0], middle[1] - tall * 0.5)),
        twig,
        max(1.0, wide * 0.06),
    )
    for _ in range(46):
        angle, away = chance.randrange(360), chance.randrange(100) / 100
        x, y = middle[0] + wide * 0.92 * away * cosine(angle), middle[1] + tall * away * sine(angle)
        size = max(1.5, (wide + tall) * chance.randrange(8, 17) / 100)
        turn = chance.randrange(180)
        shape = [
            (x + size * (cosine(turn) * cosine(a) - 0.55 * sine(turn) * sine(a)),
             y + size * (sine(turn) * cosine(a) + 0.55 * cosine(turn) * sine(a)))
            for a in range(0, 360, 45)
        ]  # fmt: skip
        canvas.polygon(shape, light.shade(lit(leaf, 0.7 + 0.06 * chance.randrange(10))))


def _cloth(canvas: Canvas, cover: Cover, light: Light, chance: random.Random) -> None:
    """A sheet hung out, in folds."""
    x, y, z = cover.at
    fill = chance.choice(_CLOTHS)
    folds = 6
    for number in range(folds):
        left = x + cover.half_m * (2 * number / folds - 1)
        right = x + cover.half_m * (2 * (number + 1) / folds - 1)
        sag = 0.06 * cover.tall_m * chance.randrange(10) / 10
        tone = light.shade(lit(fill, 0.84 + 0.05 * ((number * 3) % 5)))
        top, low = z + cover.tall_m, z - cover.tall_m - sag
        canvas.polygon3(((left, y, top), (right, y, top), (right, y, low), (left, y, low)), tone)
    rope = light.shade((70, 66, 60))
    canvas.line3((x - cover.half_m * 3, y, z + cover.tall_m * 1.3), (x - cover.half_m, y, z + cover.tall_m), rope, 0.02)
    canvas.line3((x + cover.half_m, y, z + cover.tall_m), (x + cover.half_m * 3, y, z + cover.tall_m * 1.3), rope, 0.02)


def _crates(canvas: Canvas, cover: Cover, light: Light) -> None:
    """A stack from the ground up."""
    x, y, z = cover.at
    half, top = cover.half_m, z + cover.tall_m * 0.7
    count = max(2, round(top / 0.35))
    wood = light.shade((168, 128, 84))
    canvas.shade3(
        ((x - half, y - 0.3, 0.0), (x + half, y - 0.3, 0.0), (x + half, y + 0.3, 0.0), (x - half, y + 0.3, 0.0)), 0.4
    )
    for number in range(count):
        low, high = top * number / count, top * (number + 1) / count
        face = ((x - half, y, low), (x + half, y, low), (x + half, y, high), (x - half, y, high))
        canvas.polygon3(face, lit(wood, 1 - 0.08 * (number % 2)))
        rim = ((x - half, y, high - 0.05), (x + half, y, high - 0.05), (x + half, y, high), (x - half, y, high))
        canvas.polygon3(rim, lit(wood, 0.6))
