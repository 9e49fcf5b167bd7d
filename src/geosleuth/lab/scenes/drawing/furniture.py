"""What stands between road and houses: fences, hedges, crossings, poles with wires, lamps, and people."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

from .camera import Point2, Point3, Rect, Wall
from .canvas import Canvas, Colour, lit, mixed
from .lots import dice
from .plants import Pen, Sprite, sun_on_the_right
from .sky import Light

FenceKind = Literal["pickets", "hedge", "wall"]
FENCE_M = 0.95

Material = Literal["wood", "concrete", "metal"]
_COLOURS: dict[Material, Colour] = {"wood": (104, 82, 62), "concrete": (172, 168, 160), "metal": (126, 134, 140)}
_WIRE: Colour = (38, 40, 44)
_HEIGHT_M = 8.2
_TOPS: tuple[Colour, ...] = (
    (64, 84, 116), (150, 62, 56), (208, 200, 184), (70, 94, 78), (48, 50, 56), (190, 146, 78), (108, 84, 116),
    (118, 140, 160),
)  # fmt: skip
_LEGS: tuple[Colour, ...] = ((46, 54, 74), (58, 56, 54), (118, 106, 88), (38, 40, 44))
_SKIN: tuple[Colour, ...] = ((108, 78, 58), (150, 112, 84), (196, 154, 124), (84, 60, 46))
_HAIR: tuple[Colour, ...] = ((38, 32, 28), (74, 54, 38), (132, 104, 66), (120, 118, 114))
_DARK_HAIR: tuple[Colour, ...] = ((38, 32, 28), (30, 26, 24), (52, 40, 32), (120, 118, 114))
_FIGURES = 16


@dataclass(frozen=True, slots=True)
class Fence:
    """A stretch along the street, ``x`` from its middle."""

    x: float
    start: float
    end: float
    kind: FenceKind
    paint: Colour


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


def draw_crossing(canvas: Canvas, at_m: float, road_half: float, light: Light) -> None:
    """Draw white bars across the road."""
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
    """Return fences before houses set back: one kind for each, with a gap at the door.

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


@dataclass(frozen=True, slots=True)
class PoleLine:
    """Poles in a row along a street."""

    at: tuple[Point2, ...]
    height_m: float
    arms: int
    transformer: int | None

    def things(
        self, canvas: Canvas, material: Material, light: Light, *, wires: bool
    ) -> list[tuple[float, Callable[[], None]]]:
        """Return what there is to draw, each with its distance."""
        drawn: list[tuple[float, Callable[[], None]]] = []
        for number, (x, y) in enumerate(self.at):
            has_box = number == self.transformer

            def draw(x: float = x, y: float = y, has_box: bool = has_box) -> None:  # noqa: FBT001 - bound per pole
                _pole(canvas, (x, y), self.height_m, self.arms, material, light, has_box=has_box)

            drawn.append((y, draw))
        if wires:
            # Wires hang in front of what lies under their far end.
            for here, there in pairwise(self.at):

                def span(here: Point2 = here, there: Point2 = there) -> None:
                    _wires(canvas, here, there, self.height_m, self.arms, light)

                drawn.append((max(here[1], 0.0), span))
        return drawn


def pole_line(x_m: float, chance: random.Random, *, first_m: float = -12.0, far_m: float = 150.0) -> PoleLine:
    """Return a row of poles at one side of the street, beginning behind the camera so that wires pass over it."""
    step = chance.uniform(24, 34)
    y = first_m - chance.uniform(0, 6)
    at = []
    while y < far_m:
        at.append((x_m + round(chance.uniform(-0.15, 0.15), 3), round(y, 3)))
        y += step
    transformer = chance.choice((None, 1, 2))
    return PoleLine(tuple(at), _HEIGHT_M + round(chance.uniform(-0.7, 0.9), 3), chance.choice((1, 1, 2)), transformer)


def _pole(
    canvas: Canvas, at: Point2, height_m: float, arms: int, material: Material, light: Light, *, has_box: bool
) -> None:
    x, y = at
    if canvas.view.depth_m((x, y, 1.0)) < 1.5:
        return
    base = light.hazed(light.shade(_COLOURS[material], (-light.sun[0], -light.sun[1], 0.0)), y)
    shaft(canvas, (x, y, 0.0), (x, y, height_m), (0.32, 0.2), base, light)
    for number in range(arms):
        z = height_m - 0.45 - 0.8 * number
        canvas.line3((x - 1.0, y, z), (x + 1.0, y, z), mixed(base, (30, 28, 26), 0.25), 0.12)
        for aside in (-0.9, -0.35, 0.35, 0.9):
            canvas.line3((x + aside, y, z), (x + aside, y, z + 0.2), light.hazed(light.shade((196, 190, 180)), y), 0.07)
    if has_box:
        side = light.hazed(light.shade((138, 144, 148), (-1.0 if x > 0 else 1.0, 0, 0)), y)
        shaft(
            canvas, (x + 0.35, y - 0.05, height_m - 2.6), (x + 0.35, y - 0.05, height_m - 1.5), (0.5, 0.5), side, light
        )


def _wires(canvas: Canvas, here: Point2, there: Point2, height_m: float, arms: int, light: Light) -> None:
    ink = light.hazed(mixed(_WIRE, light.horizon, 0.1), max(here[1], 10.0))
    for number in range(arms):
        z = height_m - 0.25 - 0.8 * number
        for aside in (-0.9, -0.35, 0.35, 0.9) if here[1] < 70 else (-0.9, 0.9):
            points: list[Point3] = []
            steps = 8 if here[1] < 40 else 3
            for step in range(steps + 1):
                share = step / steps
                sag = 4 * share * (1 - share) * 0.55
                points.append(
                    (here[0] + (there[0] - here[0]) * share + aside, here[1] + (there[1] - here[1]) * share, z - sag)
                )
            for one, other in pairwise(points):
                flat = canvas.view.outline((one, other))
                if len(flat) >= 2:
                    scale = canvas.view.focal_px / max(4.0, (one[1] + other[1]) / 2)
                    canvas.line(flat[:2], ink, 0.022 * scale)


def shaft(
    canvas: Canvas, foot: Point3, top: Point3, thick_m: tuple[float, float], colour: Colour, light: Light
) -> None:
    """Draw an upright round thing: lighter on the sun's side, darker on the other."""
    low, high = canvas.view.project(foot), canvas.view.project(top)
    if low is None or high is None:
        return
    scale = canvas.view.pixels_per_metre(foot)
    first, last = max(0.5, thick_m[0] * scale / 2), max(0.4, thick_m[1] * scale / 2)
    canvas.polygon(
        [(low[0] - first, low[1]), (high[0] - last, high[1]), (high[0] + last, high[1]), (low[0] + first, low[1])],
        colour,
    )
    if first < 1.5:
        return
    sunny = 1 if sun_on_the_right(canvas.view, light) else -1
    for side, share, tone in ((sunny, 0.3, (255, 250, 238)), (-sunny, 0.34, (16, 18, 24))):
        strength = 0.24 if light.direct > 0.05 else 0.12
        inner, outer = (1 - 2 * share) * side, side
        canvas.polygon(
            [(low[0] + inner * first, low[1]), (high[0] + inner * last, high[1]), (high[0] + outer * last, high[1]),
             (low[0] + outer * first, low[1])],
            mixed(colour, tone, strength),
        )  # fmt: skip


def draw_lamp(canvas: Canvas, at: Point2, reach_m: float, light: Light, *, height_m: float = 6.2) -> None:
    """Draw a street lamp whose arm reaches over the road: to the left for a negative reach."""
    x, y = at
    depth = canvas.view.depth_m((x, y, 1.0))
    if depth < 1.5:
        return
    grey = light.hazed(light.shade((92, 98, 104), (-light.sun[0], -light.sun[1], 0.0)), y)
    shaft(canvas, (x, y, 0.0), (x, y, height_m), (0.18, 0.1), grey, light)
    end = x + reach_m * 1.4
    canvas.line3((x, y, height_m - 0.05), (end, y, height_m + 0.25), grey, 0.09)
    head = (
        (end - 0.4, y, height_m + 0.32),
        (end + 0.4, y, height_m + 0.32),
        (end + 0.3, y, height_m + 0.16),
        (end - 0.3, y, height_m + 0.16),
    )
    canvas.polygon3(head, grey)


def draw_person(canvas: Canvas, at: Point2, light: Light, chance: random.Random) -> tuple[int, int, int, int] | None:
    """Draw a person at a point of the street; return the box filled, None if not visible."""
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
