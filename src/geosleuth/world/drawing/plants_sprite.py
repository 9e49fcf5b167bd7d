"""Upright cut-outs: drawn once in plain daylight, kept, and set into pictures in the light of a scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .camera import Point2, View, cosine, on_grid, sine
from .canvas import Canvas, Colour
from .sky_light import Light

Pixels = NDArray[np.uint8]
Row = NDArray[np.float64]
_OCTAGON = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 45))
_CIRCLE = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 20))


class Pen:
    """Draws shapes of one cut-out: its width and height are shares of its height, y counts up from its foot.

    Colours are kept multiplied with their cover, so that cut-outs shrink and grow without dark fringes.
    """

    def __init__(self, height_px: int, width: float) -> None:
        self.height_px = height_px
        self.width_px = round(height_px * width)
        self.pixels: Pixels = np.zeros((height_px, self.width_px, 4), dtype=np.uint8)

    def shape(self, points: Sequence[Point2], fill: Colour) -> None:
        """Fill a shape, convex or not."""
        import cv2

        cv2.fillPoly(self.pixels, [self._placed(points)], (*fill, 255), cv2.LINE_AA, 4)

    def blob(self, x: float, y: float, wide: float, tall: float, fill: Colour, *, fine: bool = False) -> None:
        """Fill a round shape, given its middle and its two radii."""
        import cv2

        points = [(x + a * wide, y + b * tall) for a, b in (_CIRCLE if fine else _OCTAGON)]
        cv2.fillConvexPoly(self.pixels, self._placed(points), (*fill, 255), cv2.LINE_AA, 4)

    def leaves(self, x: Row, y: Row, wide: Row, tall: Row, tones: NDArray[np.int64]) -> None:
        """Fill many small round shapes, one after the other."""
        import cv2

        across, up = (np.array(part)[None, :] for part in zip(*_OCTAGON, strict=True))
        px = (x.reshape(-1, 1) + wide.reshape(-1, 1) * across) * (self.height_px * 16) + (self.width_px * 8 - 8)
        py = (1 - y.reshape(-1, 1) - tall.reshape(-1, 1) * up) * (self.height_px * 16) - 8
        shapes = np.floor(np.stack([px, py], axis=-1) + 0.5).astype(np.int32)
        for shape, (red, green, blue) in zip(shapes, tones.tolist(), strict=True):
            cv2.fillConvexPoly(self.pixels, shape, (red, green, blue, 255), cv2.LINE_AA, 4)

    def limb(self, start: Point2, end: Point2, thick: tuple[float, float], fill: Colour) -> None:
        """Draw a stem or branch, thicker at its start."""
        import cv2

        along, up = end[0] - start[0], end[1] - start[1]
        length = float(np.sqrt(along * along + up * up)) or 1.0
        x, y = -up / length / 2, along / length / 2
        first, last = thick
        points = (
            (start[0] + x * first, start[1] + y * first), (end[0] + x * last, end[1] + y * last),
            (end[0] - x * last, end[1] - y * last), (start[0] - x * first, start[1] - y * first),
        )  # fmt: skip
        cv2.fillConvexPoly(self.pixels, self._placed(points), (*fill, 255), cv2.LINE_AA, 4)

    def snow(self, deep: float, white: Colour, shaded: Colour) -> None:
        """Lay snow on whatever has nothing above it, this deep."""
        rows = max(1, round(deep * self.height_px))
        covered = self.pixels[..., 3] > 127
        open_above = np.ones_like(covered)
        open_above[rows:] = ~covered[:-rows]
        self.pixels[covered & open_above] = (*shaded, 255)
        open_above[rows // 2 :] = ~covered[: len(covered) - rows // 2]
        self.pixels[covered & open_above] = (*white, 255)

    def sprite(self) -> "Sprite":
        """What was drawn, in all sizes."""
        import cv2

        sizes = [self.pixels]
        while min(sizes[-1].shape[:2]) > 24:
            half = (sizes[-1].shape[1] // 2, sizes[-1].shape[0] // 2)
            sizes.append(np.asarray(cv2.resize(sizes[-1], half, interpolation=cv2.INTER_LINEAR_EXACT), dtype=np.uint8))
        return Sprite(tuple(sizes))

    def _placed(self, points: Sequence[Point2]) -> NDArray[np.int32]:
        tall, middle = self.height_px, self.width_px * 8
        placed = [(round(x * tall * 16) + middle - 8, round((1 - y) * tall * 16) - 8) for x, y in points]
        return np.array(placed, dtype=np.int32)


def sun_on_the_right(view: View, light: Light) -> bool:
    """Whether the sun lights the right side of what a camera sees."""
    return light.sun[0] * cosine(view.yaw_deg) - light.sun[1] * sine(view.yaw_deg) > 0


@dataclass(frozen=True, slots=True)
class Sprite:
    """A cut-out in ever smaller sizes; red, green, blue (times cover) and cover. Its sun stands on the left."""

    sizes: tuple[Pixels, ...] = field(repr=False)

    def stand(
        self, canvas: Canvas, foot: tuple[float, float, float], height_m: float, light: Light
    ) -> tuple[int, int, int, int] | None:
        """Set it upright into a street; returns the box it fills, or None where none of it is seen."""
        at = canvas.view.project(foot)
        if at is None:
            return None
        depth = canvas.view.depth_m(foot)
        tall = on_grid(canvas.view.focal_px * height_m / depth)
        return self.lay(canvas.pixels, at, round(tall), light, depth, mirrored=sun_on_the_right(canvas.view, light))

    def lay(self, pixels: Pixels, foot: Point2, tall_px: int, light: Light, distance_m: float, *,
            mirrored: bool = False) -> tuple[int, int, int, int] | None:  # fmt: skip
        """Set it onto pixels, the middle of its lower edge at a point, and this tall."""
        import cv2

        source = next((size for size in reversed(self.sizes) if size.shape[0] >= tall_px), self.sizes[0])
        wide = max(1, round(tall_px * source.shape[1] / source.shape[0]))
        left, top = round(foot[0] - wide / 2), round(foot[1]) - tall_px
        box = max(left, 0), max(top, 0), min(left + wide, pixels.shape[1]), min(top + tall_px, pixels.shape[0])
        if tall_px < 2 or box[0] >= box[2] or box[1] >= box[3]:
            return None
        if mirrored:
            source = np.asarray(cv2.flip(source, 1), dtype=np.uint8)
        grown = cv2.resize(source, (wide, tall_px), interpolation=cv2.INTER_LINEAR_EXACT)
        cut = grown[box[1] - top : box[3] - top, box[0] - left : box[2] - left]
        part = pixels[box[1] : box[3], box[0] : box[2]]
        veil = light.veil(distance_m)
        white = light.shade((255, 255, 255))
        levels = np.arange(256)[None, :, None]
        table = levels * np.array([int(part * (1 - veil) * 256 / 255 + 0.5) for part in white]) >> 8
        cover = cv2.merge([cv2.extractChannel(cut, 3)] * 3)
        own = cv2.LUT(cv2.cvtColor(cut, cv2.COLOR_RGBA2RGB), table.astype(np.uint8))
        if veil > 0.02:
            air = levels * np.array([int(part * veil + 0.5) for part in light.horizon]) // 255
            own = cv2.add(own, cv2.LUT(cover, air.astype(np.uint8)))
        # A product of two bytes over 255, rounded, without a division.
        behind = np.multiply(part, 255 - cover, dtype=np.uint16)
        behind += np.uint16(128)
        behind += behind >> np.uint16(8)
        behind >>= np.uint16(8)
        part[:] = cv2.add(own, behind.astype(np.uint8))
        return box
