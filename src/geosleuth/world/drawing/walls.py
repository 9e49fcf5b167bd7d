"""Upright flat things in the street: positions along and up a wall, as points of the street."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .camera import Point3

Rect = tuple[float, float, float, float]
"""Left, bottom, right, top on a wall, in metres."""


@dataclass(frozen=True, slots=True)
class Wall:
    """An upright plane as seen from in front of it: ``along`` points to its right, ``facing`` out of it."""

    start: Point3
    along: Point3
    facing: Point3

    def at(self, right_m: float, up_m: float, out_m: float = 0.0) -> Point3:
        """A point on the wall, or a little in front of it."""
        return (
            self.start[0] + self.along[0] * right_m + self.facing[0] * out_m,
            self.start[1] + self.along[1] * right_m + self.facing[1] * out_m,
            self.start[2] + up_m,
        )

    def quad(self, rect: Rect, out_m: float = 0.0) -> tuple[Point3, Point3, Point3, Point3]:
        """A rectangle on the wall: top left, top right, bottom right, bottom left."""
        left, bottom, right, top = rect
        return (
            self.at(left, top, out_m),
            self.at(right, top, out_m),
            self.at(right, bottom, out_m),
            self.at(left, bottom, out_m),
        )

    def quads(self, rects: Iterable[Rect], out_m: float = 0.0) -> NDArray[np.float64]:
        """Many rectangles at once, for `Canvas.polygons3`."""
        return np.array([self.quad(rect, out_m) for rect in rects], dtype=np.float64).reshape(-1, 4, 3)

    def lines(self, ends: Iterable[Rect], out_m: float = 0.0) -> NDArray[np.float64]:
        """Many lines at once, each from its left bottom to its right top, for `Canvas.strokes3`."""
        pairs = [(self.at(left, low, out_m), self.at(right, high, out_m)) for left, low, right, high in ends]
        return np.array(pairs, dtype=np.float64).reshape(-1, 2, 3)
