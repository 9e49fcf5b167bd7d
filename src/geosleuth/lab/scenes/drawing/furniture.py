"""Street furniture between road and houses: poles with wires, and lamps."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .camera import Point2, Point3
from .canvas import Canvas, Colour, mix_colours
from .plants import sun_on_the_right
from .sky import Light

Material = Literal["wood", "concrete", "metal"]
_COLOURS: dict[Material, Colour] = {"wood": (104, 82, 62), "concrete": (172, 168, 160), "metal": (126, 134, 140)}
_WIRE: Colour = (38, 40, 44)
_HEIGHT_M = 8.2
_FIRST_M, _FAR_M = -12.0, 150.0
_LAMP_M = 6.2


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


def pole_line(x_m: float, chance: random.Random) -> PoleLine:
    """Return a row of poles at one side of the street, beginning behind the camera so that wires pass over it."""
    step = chance.uniform(24, 34)
    y = _FIRST_M - chance.uniform(0, 6)
    at = []
    while y < _FAR_M:
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
    base = light.apply_haze(light.shade(_COLOURS[material], (-light.sun[0], -light.sun[1], 0.0)), y)
    shaft(canvas, (x, y, 0.0), (x, y, height_m), (0.32, 0.2), base, light)
    for number in range(arms):
        z = height_m - 0.45 - 0.8 * number
        canvas.line3((x - 1.0, y, z), (x + 1.0, y, z), mix_colours(base, (30, 28, 26), 0.25), 0.12)
        for aside in (-0.9, -0.35, 0.35, 0.9):
            canvas.line3(
                (x + aside, y, z), (x + aside, y, z + 0.2), light.apply_haze(light.shade((196, 190, 180)), y), 0.07
            )
    if has_box:
        side = light.apply_haze(light.shade((138, 144, 148), (-1.0 if x > 0 else 1.0, 0, 0)), y)
        shaft(
            canvas, (x + 0.35, y - 0.05, height_m - 2.6), (x + 0.35, y - 0.05, height_m - 1.5), (0.5, 0.5), side, light
        )


def _wires(canvas: Canvas, here: Point2, there: Point2, height_m: float, arms: int, light: Light) -> None:
    ink = light.apply_haze(mix_colours(_WIRE, light.horizon, 0.1), max(here[1], 10.0))
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
            for item, other in pairwise(points):
                flat = canvas.view.outline((item, other))
                if len(flat) >= 2:
                    scale = canvas.view.focal_px / max(4.0, (item[1] + other[1]) / 2)
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
            mix_colours(colour, tone, strength),
        )  # fmt: skip


def draw_lamp(canvas: Canvas, at: Point2, reach_m: float, light: Light) -> None:
    """Draw a street lamp whose arm reaches over the road: to the left for a negative reach."""
    x, y = at
    depth = canvas.view.depth_m((x, y, 1.0))
    if depth < 1.5:
        return
    grey = light.apply_haze(light.shade((92, 98, 104), (-light.sun[0], -light.sun[1], 0.0)), y)
    shaft(canvas, (x, y, 0.0), (x, y, _LAMP_M), (0.18, 0.1), grey, light)
    end = x + reach_m * 1.4
    canvas.line3((x, y, _LAMP_M - 0.05), (end, y, _LAMP_M + 0.25), grey, 0.09)
    head = (
        (end - 0.4, y, _LAMP_M + 0.32),
        (end + 0.4, y, _LAMP_M + 0.32),
        (end + 0.3, y, _LAMP_M + 0.16),
        (end - 0.3, y, _LAMP_M + 0.16),
    )
    canvas.polygon3(head, grey)
