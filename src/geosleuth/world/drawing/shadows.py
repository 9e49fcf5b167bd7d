"""Shadows on the ground: away from the sun, longer the lower it stands, none without it."""

from collections.abc import Sequence

import numpy as np

from geosleuth.world.model import Plant

from .camera import Point2, cosine, sine
from .canvas import Canvas
from .plants import CROWNS
from .sky_light import Light

_LONGEST = 9.0
"""How much longer than its owner a shadow may be: beyond that only streaks would be left."""


class Shadows:
    """All shadows of a street. They are gathered first and fall together, so that none darkens another."""

    def __init__(self, light: Light) -> None:
        self.light = light
        self.shapes: list[list[Point2]] = []
        x, y, up = light.sun
        level = float(np.sqrt(x * x + y * y))
        reach = min(_LONGEST, level / max(up, 0.02))
        self.away: Point2 = (-x / level * reach, -y / level * reach) if level > 1e-6 else (0.0, 0.0)
        """Where the shadow of a point one metre up lies, seen from its foot."""

    @property
    def any(self) -> bool:
        """Whether anything casts a shadow in this light."""
        return self.light.direct > 0.05

    def block(self, left_m: float, right_m: float, near_m: float, far_m: float, height_m: float) -> None:
        """Something upright with a rectangle for its ground plan: a house, a wall, a car."""
        corners = [(left_m, near_m), (right_m, near_m), (right_m, far_m), (left_m, far_m)]
        tops = [(x + self.away[0] * height_m, y + self.away[1] * height_m) for x, y in corners]
        self.shapes.append(_hull(corners + tops))

    def post(self, at: Point2, height_m: float, width_m: float = 0.2) -> None:
        """Something tall and thin: a pole, a lamp, a trunk."""
        end = (at[0] + self.away[0] * height_m, at[1] + self.away[1] * height_m)
        along, across = end[0] - at[0], end[1] - at[1]
        length = float(np.sqrt(along * along + across * across)) or 1.0
        x, y = -across / length * width_m / 2, along / length * width_m / 2
        self.shapes.append(
            [(at[0] + x, at[1] + y), (end[0] + x, end[1] + y), (end[0] - x, end[1] - y), (at[0] - x, at[1] - y)]
        )

    def plant(self, at: Point2, plant: Plant, height_m: float) -> None:
        """A trunk and the crown above it."""
        if plant == "none":
            return
        middle, half = CROWNS[plant]
        self.post(at, height_m * middle, 0.04 * height_m)
        centre = (at[0] + self.away[0] * height_m * middle, at[1] + self.away[1] * height_m * middle)
        reach = float(np.sqrt(self.away[0] * self.away[0] + self.away[1] * self.away[1]))
        across = half * height_m
        tall = (0.06 if plant in ("acacia", "palm") else min(middle, 1 - middle)) * height_m
        along = float(np.sqrt(across * across + (tall * reach) * (tall * reach)))
        way = (self.away[0] / reach, self.away[1] / reach) if reach > 1e-6 else (0.0, 1.0)
        outline = []
        for number, angle in enumerate(range(0, 360, 15)):
            # A rough edge: leaves.
            rough = (1.0, 0.9, 1.05, 0.94)[number % 4]
            a, b = along * cosine(angle) * rough, across * sine(angle) * rough
            outline.append((centre[0] + way[0] * a - way[1] * b, centre[1] + way[1] * a + way[0] * b))
        self.shapes.append(outline)

    def fall(self, canvas: Canvas) -> None:
        """Darken the ground. Whatever stands on it is drawn afterwards."""
        import cv2

        if not self.any:
            return
        view = canvas.view
        top = max(0, min(view.height - 1, int(view.horizon_px)))
        mask = np.zeros((view.height - top, view.width), dtype=np.uint8)
        for shape in self.shapes:
            points = _framed(view.outline([(x, y, 0.0) for x, y in shape]), view.width, view.height)
            if len(points) >= 3:
                corners = np.array([(round(x * 16) - 8, round((y - top) * 16) - 8) for x, y in points], dtype=np.int32)
                cv2.fillPoly(mask, [corners], 255, cv2.LINE_AA, 4)
        rows = np.flatnonzero(mask.max(axis=1))
        if not len(rows):
            return
        part = canvas.pixels[top + rows[0] : top + rows[-1] + 1]
        mask = mask[rows[0] : rows[-1] + 1]
        # Shadows are lit by the sky alone: they lose more red than blue.
        levels = np.arange(256)
        taken = [levels * round(self.light.direct * share) // 255 for share in (118, 108, 92)]
        table = np.stack(taken, axis=-1).astype(np.uint8)[None]
        lost = np.multiply(part, cv2.LUT(cv2.merge([mask] * 3), table), dtype=np.uint16)
        lost >>= np.uint16(8)
        part -= lost.astype(np.uint8)


def _hull(points: Sequence[Point2]) -> list[Point2]:
    """The outline around some points."""
    ordered = sorted(set(points))
    halves: list[list[Point2]] = []
    for run in (ordered, ordered[::-1]):
        half: list[Point2] = []
        for point in run:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return halves[0] + halves[1]


def _turn(one: Point2, two: Point2, three: Point2) -> float:
    return (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0])


def _framed(points: list[Point2], width: int, height: int) -> list[Point2]:
    """Points that a drawing of 32-bit sixteenths can hold: far ones are cut off well outside the picture."""
    from .canvas import _cut_to

    if all(-4.0 * width <= x <= 5.0 * width and -4.0 * height <= y <= 5.0 * height for x, y in points):
        return points
    return _cut_to(points, -4.0 * width, -4.0 * height, 5.0 * width, 5.0 * height)
