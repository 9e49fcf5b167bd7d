"""All directions at once: four upright views around the camera, laid side by side in degrees.

The heading is in the middle of the picture. Above and below the views, which reach 69 degrees up and down, their last
rows go on: sky and road have no detail there.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .camera import Point2, Point3, View, on_grid

YAWS = (0.0, 90.0, 180.0, 270.0)
_TALL = 2.6
# Four samples to a pixel, no two in one row or column; a little off, so that none falls between two texels exactly.
_SAMPLES = ((-0.37, -0.12), (0.13, -0.37), (-0.12, 0.38), (0.38, 0.13))


@dataclass(frozen=True, slots=True)
class Round:
    """A lens that sees all around."""

    width: int
    height: int
    height_m: float
    x_m: float

    def project(self, point: Point3) -> Point2 | None:
        """The pixel of a point: every point has one."""
        across, ahead, up = point[0] - self.x_m, point[1], point[2] - self.height_m
        flat = math.sqrt(across * across + ahead * ahead)
        azimuth = round(math.degrees(math.atan2(across, ahead)), 9)
        elevation = round(math.degrees(math.atan2(up, flat)), 9)
        return (
            on_grid(self.width * (0.5 + azimuth / 360)),
            on_grid(self.height * (0.5 - elevation / 180)),
        )

    def pixels_per_metre(self, point: Point3) -> float:
        """How large a metre is at a point, where it faces the camera."""
        across, ahead, up = point[0] - self.x_m, point[1], point[2] - self.height_m
        away = math.sqrt(across * across + ahead * ahead + up * up)
        return self.width / math.tau / max(away, 0.25)

    @property
    def sees_behind(self) -> bool:
        """Whether what is behind the camera is in the picture as well."""
        return True

    @property
    def horizon_px(self) -> float:
        """The row of the horizon: the middle one."""
        return self.height / 2

    def direction(self, azimuth_deg: float, elevation_deg: float) -> Point2:
        """The pixel of something endlessly far away, to the right of the street's direction and up."""
        turn = round((azimuth_deg + 180) % 360 - 180, 9)
        return on_grid(self.width * (0.5 + turn / 360)), on_grid(self.height * (0.5 - elevation_deg / 180))

    def views(self) -> tuple[View, ...]:
        """The four views that the picture is put together from."""
        side = self.width * 3 // 8
        tall = int(side * _TALL)
        return tuple(View(side, tall, 90.0, self.height_m, self.x_m, yaw) for yaw in YAWS)

    def lay(self, picture: NDArray[np.uint8], number: int, face: NDArray[np.uint8], empty: NDArray[np.uint8]) -> None:
        """Lay what one of the views saw over the sky, where it differs from ``empty``, the sky as that view has it."""
        quarter = self.width // 4
        # The first view is in the middle: it begins three eighths from the left.
        left = (self.width * 3 // 8 + number * quarter) % self.width
        first = min(quarter, self.width - left)
        packed = np.empty((*face.shape[:2], 4), np.uint8)
        packed[..., :3] = face
        packed[..., 3] = (face != empty).any(axis=-1)
        packed[face.shape[0] // 2 :, :, 3] = 1
        _unrolled(packed, 0, first, quarter, picture[:, left : left + first])
        if first < quarter:
            _unrolled(packed, first, quarter, quarter, picture[:, : quarter - first])


def _unrolled(face: NDArray[np.uint8], start: int, end: int, width: int, picture: NDArray[np.uint8]) -> None:
    """Some columns of a view of 90 degrees, its pixels moved to where degrees are evenly spaced."""
    tall, side = face.shape[:2]
    height = picture.shape[0]
    texels = face.view("<u4").reshape(-1)
    mask = np.uint32(0x00FF00FF)
    low, high = np.zeros((2, height, end - start), np.uint32)
    for across, down in _SAMPLES:
        columns, stretch = _columns(side, width, across)
        rises = _rises(side, height, down)
        rows = rises[:, None] * stretch[None, start:end]
        rows += np.float32(tall / 2)
        np.clip(rows, np.float32(0), np.float32(tall - 1), out=rows)
        place = rows.astype(np.int32)
        place *= np.int32(side)
        place += columns[start:end]
        sample = texels.take(place)
        low += sample & mask
        high += (sample >> np.uint32(8)) & mask
    covered = high >> np.uint32(16) > 0
    for channel, total in enumerate((low & np.uint32(0xFFFF), high & np.uint32(0xFFFF), low >> np.uint32(16))):
        np.copyto(picture[..., channel], (total >> np.uint32(2)).astype(np.uint8), where=covered)


@lru_cache(maxsize=16)
def _columns(side: int, width: int, across: float) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """For every column of the picture, the view's column, and how much higher things are there than in the middle."""
    columns, stretch = [], []
    for x in range(width):
        aside = math.radians(((x + 0.5 + across) / width - 0.5) * 90)
        columns.append(min(side - 1, max(0, math.floor(side / 2 + round(math.tan(aside), 9) * side / 2))))
        stretch.append(round(1 / math.cos(aside), 9))
    return np.array(columns, np.int32), np.array(stretch, np.float32)


@lru_cache(maxsize=16)
def _rises(side: int, height: int, down: float) -> NDArray[np.float32]:
    """For every row of the picture, how far below the view's middle it looks, in the view's middle column."""
    rises = []
    for y in range(height):
        below = min(89.0, max(-89.0, ((y + 0.5 + down) / height - 0.5) * 180))
        rises.append(round(math.tan(math.radians(below)), 6) * side / 2)
    return np.array(rises, np.float32)
