"""From metres in the street to pixels in the picture, for a view or a panorama.

The street's own axes: x to the right, y forward along the street's heading, z up from the road; the camera stands at
(``x_m``, 0, ``height_m``). Sums are plain products, sums and quotients of Python floats, which every processor rounds
alike; only angles go through libm, and those results are rounded before use.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .picture import Round

Point3 = tuple[float, float, float]
Point2 = tuple[float, float]
NEAR_M = 0.25
# Grid steps per pixel: projected points lie on a grid of sixteenths of a pixel.
_STEPS_PER_PIXEL = 16

Rect = tuple[float, float, float, float]
"""Left, bottom, right, top on a wall, in metres."""

Lens: TypeAlias = "View | Round"
"""What sees the street: a view, or a panorama."""


@lru_cache(maxsize=2048)
def sine(degrees: float) -> float:
    """Return a sine that is the same on every machine."""
    return round(math.sin(math.radians(degrees)), 9)


@lru_cache(maxsize=2048)
def cosine(degrees: float) -> float:
    """Return a cosine that is the same on every machine."""
    return round(math.cos(math.radians(degrees)), 9)


def on_grid(value: float) -> float:
    """Return a pixel coordinate moved to the next sixteenth."""
    return math.floor(value * _STEPS_PER_PIXEL + 0.5) / _STEPS_PER_PIXEL


def upright(point2: Point2, other: Point2, low: float, high: float) -> tuple[Point3, Point3, Point3, Point3]:
    """Return the corners of an upright rectangle between two points of the street."""
    return (*point2, low), (*other, low), (*other, high), (*point2, high)


@dataclass(frozen=True, slots=True)
class View:
    """A perspective camera: what it sees is ``width`` by ``height`` pixels, ``field_deg`` from side to side.

    ``yaw_deg`` turns it to the right of the street's direction. ``level`` is where the line of sight meets the picture,
    as a share of its height: moving it shows more sky or road and leaves upright lines so.
    """

    width: int
    height: int
    field_deg: float
    height_m: float
    x_m: float = 0.0
    yaw_deg: float = 0.0
    level: float = 0.5
    focal_px: float = field(init=False)
    _turn: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        half = round(math.tan(math.radians(self.field_deg / 2)), 9)
        object.__setattr__(self, "focal_px", round(self.width / 2 / half, 6))
        object.__setattr__(self, "_turn", (sine(self.yaw_deg), cosine(self.yaw_deg)))

    def transform_point(self, point: Point3) -> Point3:
        """Return a point of the street as the camera has it: to the right, away from it, and up."""
        return self._rotate_point(point[0] - self.x_m, point[1], point[2] - self.height_m)

    def _rotate_point(self, x: float, y: float, z: float) -> Point3:
        sin_yaw, cos_yaw = self._turn
        return x * cos_yaw - y * sin_yaw, x * sin_yaw + y * cos_yaw, z

    def _flat(self, seen: Point3) -> Point2:
        right, ahead, up = seen
        scale = self.focal_px / ahead
        x, y = self.width / 2 + right * scale, self.height * self.level - up * scale
        return math.floor(x * _STEPS_PER_PIXEL + 0.5) / _STEPS_PER_PIXEL, math.floor(
            y * _STEPS_PER_PIXEL + 0.5
        ) / _STEPS_PER_PIXEL

    def depth_m(self, point: Point3) -> float:
        """Return how far ahead of the camera a point lies; negative behind it."""
        return self.transform_point(point)[1]

    def project(self, point: Point3) -> Point2 | None:
        """Return the pixel of a point; None for what is behind the camera or touches it."""
        seen = self.transform_point(point)
        return self._flat(seen) if seen[1] > NEAR_M else None

    def outline(self, points: Sequence[Point3]) -> list[Point2]:
        """Return a flat shape's outline in pixels, clipped behind the camera; empty if all of it is behind."""
        seen = [self.transform_point(point) for point in points]
        if all(point[1] > NEAR_M for point in seen):
            return [self._flat(point) for point in seen]
        kept: list[Point3] = []
        if not any(point[1] > NEAR_M for point in seen):
            return []
        for here, there in zip(seen, (*seen[1:], seen[0]), strict=True):
            if here[1] > NEAR_M:
                kept.append(here)
            if (here[1] > NEAR_M) != (there[1] > NEAR_M):
                share = (NEAR_M - here[1]) / (there[1] - here[1])
                kept.append((here[0] + (there[0] - here[0]) * share, NEAR_M, here[2] + (there[2] - here[2]) * share))
        return [self._flat(point) for point in kept]

    def sixteenths_many(self, points: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return many points as sixteenths of pixels (last axis x, y, z to x, y), and which are before the camera."""
        sin_yaw, cos_yaw = self._turn
        x, y, up = points[..., 0] - self.x_m, points[..., 1], points[..., 2] - self.height_m
        away, right = x * sin_yaw + y * cos_yaw, x * cos_yaw - y * sin_yaw
        before = away > NEAR_M
        scale = self.focal_px * _STEPS_PER_PIXEL / np.maximum(away, NEAR_M)
        flat = np.empty((*away.shape, 2))
        np.multiply(right, scale, out=flat[..., 0])
        np.multiply(up, -scale, out=flat[..., 1])
        flat += (self.width / 2 * _STEPS_PER_PIXEL + 0.5, self.height * self.level * _STEPS_PER_PIXEL + 0.5)
        return np.floor(flat, out=flat).astype(np.int32), before

    def sixteenths(self, points: Sequence[Point3]) -> list[int] | None:
        """Return pixels of a shape's corners in sixteenths, x and y in turn; None if one is behind the camera.

        The same as ``outline``, in one go: most of what a street is made of comes through here.
        """
        sin_yaw, cos_yaw = self._turn
        x_m, height_m, focal = self.x_m, self.height_m, self.focal_px
        middle, level = self.width / 2, self.height * self.level
        out: list[int] = []
        for x, y, z in points:
            x -= x_m  # noqa: PLW2901 - this is the inner loop
            z -= height_m  # noqa: PLW2901
            away = x * sin_yaw + y * cos_yaw
            if away <= NEAR_M:
                return None
            scale = focal / away
            out.append(math.floor((middle + (x * cos_yaw - y * sin_yaw) * scale) * _STEPS_PER_PIXEL + 0.5))
            out.append(math.floor((level - z * scale) * _STEPS_PER_PIXEL + 0.5))
        return out

    def uprights(
        self, start: Point3, along: Point3, rects: Iterable[tuple[float, float, float, float]]
    ) -> list[int] | None:
        """Return corners of rectangles on an upright plane, in sixteenths of a pixel, eight numbers each.

        The plane begins at ``start`` and runs on towards ``along``; a rectangle is left, bottom, right, top in metres
        from there. None if one reaches behind the camera. Upright edges are upright in the picture, which saves half
        the work.
        """
        sin_yaw, cos_yaw = self._turn
        x, y = start[0] - self.x_m, start[1]
        foot = start[2] - self.height_m
        away_0, away_1 = x * sin_yaw + y * cos_yaw, along[0] * sin_yaw + along[1] * cos_yaw
        right_0, right_1 = x * cos_yaw - y * sin_yaw, along[0] * cos_yaw - along[1] * sin_yaw
        focal = self.focal_px * _STEPS_PER_PIXEL
        middle, level = self.width / 2 * _STEPS_PER_PIXEL + 0.5, self.height * self.level * _STEPS_PER_PIXEL + 0.5
        floor = math.floor
        out: list[int] = []
        for left, bottom, right, top in rects:
            near, far = away_0 + away_1 * left, away_0 + away_1 * right
            if near <= NEAR_M or far <= NEAR_M:
                return None
            near, far = focal / near, focal / far
            first, last = (
                floor(middle + (right_0 + right_1 * left) * near),
                floor(middle + (right_0 + right_1 * right) * far),
            )
            low, high = foot + bottom, foot + top
            out += (
                first, floor(level - high * near), last, floor(level - high * far),
                last, floor(level - low * far), first, floor(level - low * near),
            )  # fmt: skip
        return out

    def direction(self, azimuth_deg: float, elevation_deg: float) -> Point2 | None:
        """Return the pixel of something endlessly far away; None behind the camera.

        The azimuth counts to the right from the street's own direction: the sun's is its azimuth less the heading.
        """
        flat = cosine(elevation_deg)
        seen = self._rotate_point(sine(azimuth_deg) * flat, cosine(azimuth_deg) * flat, sine(elevation_deg))
        return self._flat(seen) if seen[1] > 1e-6 else None

    @property
    def sees_behind(self) -> bool:
        """Whether the picture includes what is behind the camera: always False here."""
        return False

    @property
    def horizon_px(self) -> float:
        """The row of the horizon."""
        return on_grid(self.height * self.level)

    def pixels_per_metre(self, point: Point3) -> float:
        """Return how large a metre is at a point, where it faces the camera."""
        return self.focal_px / max(self.depth_m(point), NEAR_M)


@dataclass(frozen=True, slots=True)
class Wall:
    """An upright plane as seen from in front of it: ``along`` points to its right, ``facing`` out of it."""

    start: Point3
    along: Point3
    facing: Point3

    def locate_point(self, right_m: float, up_m: float, out_m: float = 0.0) -> Point3:
        """Return a point on the wall, or a little in front of it."""
        return (
            self.start[0] + self.along[0] * right_m + self.facing[0] * out_m,
            self.start[1] + self.along[1] * right_m + self.facing[1] * out_m,
            self.start[2] + up_m,
        )

    def quad(self, rect: Rect, out_m: float = 0.0) -> tuple[Point3, Point3, Point3, Point3]:
        """Return a rectangle on the wall: top left, top right, bottom right, bottom left."""
        left, bottom, right, top = rect
        return (
            self.locate_point(left, top, out_m),
            self.locate_point(right, top, out_m),
            self.locate_point(right, bottom, out_m),
            self.locate_point(left, bottom, out_m),
        )

    def quads(self, rects: Iterable[Rect], out_m: float = 0.0) -> NDArray[np.float64]:
        """Return many rectangles at once, for `Canvas.polygons3`."""
        return np.array([self.quad(rect, out_m) for rect in rects], dtype=np.float64).reshape(-1, 4, 3)

    def lines(self, ends: Iterable[Rect], out_m: float = 0.0) -> NDArray[np.float64]:
        """Return many lines at once, each from its left bottom to its right top, for `Canvas.strokes3`."""
        pairs = [
            (self.locate_point(left, low, out_m), self.locate_point(right, high, out_m))
            for left, low, right, high in ends
        ]
        return np.array(pairs, dtype=np.float64).reshape(-1, 2, 3)
