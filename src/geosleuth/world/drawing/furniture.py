"""What stands between road and houses: fences, hedges, low walls, market stalls, crossings."""

import random
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .camera import Point2
from .canvas import Canvas, Colour, colour, lit
from .dice import dice
from .sky_light import Light
from .walls import Rect, Wall

FenceKind = Literal["pickets", "hedge", "wall"]
FENCE_M = 0.95
STALL_M = (2.4, 1.6, 2.35)
"""Width along the street, depth and height of a stall."""
_CLOTHS = ("#b23a48", "#2f6690", "#3a7d44", "#d9a441", "#7a5c8e", "#8d5524")
_GOODS: tuple[Colour, ...] = (
    (204, 76, 52), (226, 158, 60), (120, 158, 70), (232, 208, 96), (150, 84, 120), (176, 120, 76),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fence:
    """A stretch along the street, ``x`` from its middle."""

    x: float
    start: float
    end: float
    kind: FenceKind
    paint: Colour


@dataclass(frozen=True, slots=True)
class Stall:
    """A market stall: its middle, and what decides its goods."""

    at: Point2
    seed: int


def draw_fence(canvas: Canvas, fence: Fence, light: Light) -> None:
    """Draw pickets, a hedge or a low wall."""
    side = 1.0 if fence.x > 0 else -1.0
    start = (fence.x, fence.end if side > 0 else fence.start, 0.0)
    face = Wall(start, (0.0, -side, 0.0), (-side, 0.0, 0.0))
    far = max(0.0, min(abs(fence.start), abs(fence.end)))
    wide = fence.end - fence.start

    def tone(fill: Colour) -> Colour:
        return light.hazed(light.shade(fill, face.facing), far)

    if fence.kind == "pickets":
        count = max(2, round(wide / (0.22 if far < 20 else 0.6)))
        half = 0.045 if far < 20 else 0.12
        posts: list[Rect] = [
            (wide * (n + 0.5) / count - half, 0.0, wide * (n + 0.5) / count + half, FENCE_M) for n in range(count)
        ]
        canvas.rects3(face, posts, tone(fence.paint))
        for low in (0.25, 0.7):
            canvas.rects3(face, [(0.0, low, wide, low + 0.08)], tone(lit(fence.paint, 0.86)), -0.02)
        return
    fill = (74, 104, 58) if fence.kind == "hedge" else fence.paint
    canvas.rects3(face, [(0.0, 0.0, wide, FENCE_M)], tone(fill))
    top = [face.at(0.0, FENCE_M), face.at(wide, FENCE_M), face.at(wide, FENCE_M, -0.4), face.at(0.0, FENCE_M, -0.4)]
    canvas.polygon3(top, light.hazed(light.shade(lit(fill, 1.12)), far))
    if fence.kind == "hedge" and far < 25:
        chance = dice(round(fence.start * 100))
        for shade in (0.82, 1.16):
            clumps: list[Rect] = []
            for number in range(int(wide / 0.5)):
                x, z = number * 0.5 + chance.randrange(20) / 100, chance.randrange(10, 70) / 100
                clumps.append((x, z, x + 0.2, z + 0.12))
            if clumps:
                canvas.rects3(face, clumps, tone(lit(fill, shade)))


def draw_stall(canvas: Canvas, stall: Stall, light: Light) -> None:
    """Draw a table of goods under a striped cloth, open towards the road."""
    chance = dice(stall.seed)
    wide, deep, tall = STALL_M
    x, y = stall.at
    side = 1.0 if x > 0 else -1.0
    face = Wall((x - side * deep / 2, y + side * wide / 2, 0.0), (0.0, -side, 0.0), (-side, 0.0, 0.0))

    def tone(fill: Colour) -> Colour:
        return light.hazed(light.shade(fill, face.facing), abs(y))

    canvas.shade3([face.at(0, 0, -deep), face.at(wide, 0, -deep), face.at(wide, 0, 0.2), face.at(0, 0, 0.2)], 0.35)
    for along in (0.05, wide - 0.05):
        canvas.line3(face.at(along, 0.0, -deep), face.at(along, tall, -deep), tone((120, 100, 80)), 0.07)
    canvas.rects3(face, [(0.0, 0.0, wide, 0.8)], tone(lit(colour(chance.choice(_CLOTHS)), 0.8)))
    # The table rises towards the back, so that goods can be seen.
    goods = chance.sample(_GOODS, 3)
    for row, fill in enumerate(goods):
        low, back = 0.8 + 0.14 * row, -deep * 0.25 * row
        crates = [
            (
                face.at(left, low, back), face.at(left + wide / 5 - 0.06, low, back),
                face.at(left + wide / 5 - 0.06, low + 0.14, back - 0.3), face.at(left, low + 0.14, back - 0.3),
            )
            for left in (wide * column / 5 + 0.03 for column in range(5))
        ]  # fmt: skip
        canvas.polygons3(np.array(crates, dtype=np.float64), tone(fill))
    for along in (0.05, wide - 0.05):
        canvas.line3(face.at(along, 0.0), face.at(along, tall - 0.2), tone((120, 100, 80)), 0.07)
    cloth = colour(chance.choice(_CLOTHS))
    for odd, fill in ((0, (238, 232, 218)), (1, cloth)):
        lefts = [wide * number / 8 for number in range(odd, 8, 2)]
        roof = [
            (
                face.at(left, tall, -deep), face.at(left + wide / 8, tall, -deep),
                face.at(left + wide / 8, tall - 0.2, 0.3), face.at(left, tall - 0.2, 0.3),
            )
            for left in lefts
        ]  # fmt: skip
        canvas.polygons3(np.array(roof, dtype=np.float64), light.hazed(light.shade(fill), abs(y)))
        hem: list[Rect] = [(left, tall - 0.42, left + wide / 8, tall - 0.2) for left in lefts]
        canvas.rects3(face, hem, tone(lit(fill, 0.88)), 0.3)


def draw_crossing(canvas: Canvas, at_m: float, road_half: float, light: Light) -> None:
    """White bars across the road."""
    count = max(4, round(road_half / 0.55))
    step = 2 * road_half / count
    bars = [
        [(x, at_m, 0.0), (x + step / 2, at_m, 0.0), (x + step / 2, at_m + 3.0, 0.0), (x, at_m + 3.0, 0.0)]
        for x in (-road_half + step * (number + 0.25) for number in range(count))
    ]
    canvas.polygons3(np.array(bars, dtype=np.float64), light.shade((222, 222, 216)))


def fences_of(
    gardens: list[tuple[float, float, float, float]], edge: float, chance: random.Random
) -> tuple[Fence, ...]:
    """Fences before houses that stand back: one kind for each, with a gap at the door.

    Args:
        gardens: for each house its side (-1 or 1), start and end along the street, and where its door is.
        edge: how far from the middle of the road gardens begin.
        chance: what decides.
    """
    made: list[Fence] = []
    kinds: tuple[FenceKind, ...] = ("pickets", "hedge", "wall", "hedge")
    paints: tuple[Colour, ...] = ((232, 230, 222), (120, 92, 66), (176, 168, 154), (150, 120, 100))
    for side, start, end, door in gardens:
        kind, paint = chance.choice(kinds), chance.choice(paints)
        if chance.random() < 0.25:
            continue
        for first, last in ((start - 0.8, door - 0.8), (door + 0.8, end + 0.8)):
            if last - first > 0.6:
                made.append(Fence(side * edge, first, last, kind, paint))
    return tuple(made)
