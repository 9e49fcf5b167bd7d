"""Pixels to draw on: flat shapes with smooth edges, shades, gradients, and pictures pasted in perspective.

Edges are OpenCV's integer ones and sums are single float64 or integer steps, so that the same calls leave the same
pixels on every processor.

Only single steps of float64 and integers: nothing here that a processor could round or fuse in its own way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .camera import Point2, Point3, Rect, View, Wall

Colour = tuple[int, int, int]
Pixels = NDArray[np.uint8]
_SHIFT = 4
_ONE = 1 << _SHIFT
_FAR_OUT = 4096
_SMALLEST_QUAD_PX = 0.5
_MIN_STRIP_PX = 8

# Added to the distance of objects behind the whole street, so that no house is drawn in front of a car or a lamp.
BACKDROP_M2 = 1e7
_LOW_BITS = np.uint32(0x00FF00FF)


def colour(text: str) -> Colour:
    """``"#rrggbb"`` as numbers."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def mix_colours(item: Colour, other: Colour, share: float) -> Colour:
    """Return a colour between two: the second one's share runs from 0 to 1."""
    red, green, blue = item
    return (
        int(red + (other[0] - red) * share + 0.5),
        int(green + (other[1] - green) * share + 0.5),
        int(blue + (other[2] - blue) * share + 0.5),
    )


def lit(base: Colour, light: float) -> Colour:
    """Return a colour under more (over 1) or less light."""
    red, green, blue = base
    return min(255, int(red * light + 0.5)), min(255, int(green * light + 0.5)), min(255, int(blue * light + 0.5))


@dataclass(slots=True)
class Painter:
    """Things to draw later, the farthest first; of equally far ones, those added first. Squared distances will do."""

    _waiting: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)

    def add(self, distance: float, draw: Callable[[], object]) -> None:
        """Keep something that draws itself when its turn comes."""
        self._waiting.append((-distance, len(self._waiting), draw))

    def paint(self) -> None:
        """Draw everything that waits."""
        for _, _, draw in sorted(self._waiting, key=lambda entry: entry[:2]):
            draw()
        self._waiting.clear()


def blend_colour(part: Pixels, mask: Pixels, fill: Sequence[int], alpha: float) -> None:
    """Lay a colour on pixels through a mask as large as they are, in place; as many channels as the colour has."""
    # Sums stay below 65,536: a pixel is (under * (256 - weight) + fill * weight) / 256.
    weight = mask.astype(np.uint16)
    weight += weight >> np.uint16(7)
    if alpha < 1:
        weight = weight * np.uint16(int(alpha * 255 + 0.5)) // np.uint16(255)
    left_over = np.uint16(256) - weight
    for channel, ink in enumerate(fill):
        mixed_in = part[..., channel] * left_over
        mixed_in += weight * np.uint16(ink)
        part[..., channel] = mixed_in >> np.uint16(8)


def between(point3: Point3, other: Point3, share: float) -> Point3:
    """Return a point on the way from one to another."""
    x, y, z = (a + (b - a) * share for a, b in zip(point3, other, strict=True))
    return x, y, z


class Canvas:
    """A picture in the making. Pixel (0, 0) covers the square from 0 to 1; coordinates are in pixels, y downwards.

    Methods that end in ``3`` take points of the street in metres and put them through ``view``.
    """

    def __init__(self, view: View, ground: Colour = (0, 0, 0)) -> None:
        self.view = view
        self.pixels: Pixels = np.zeros((view.height, view.width, 3), np.uint8)
        if any(ground):
            self.pixels[:] = ground

    def image(self) -> Image.Image:
        """Return the picture as it is now."""
        return Image.fromarray(self.pixels)

    def polygon(self, points: Sequence[Point2], fill: Colour, alpha: float = 1.0) -> None:
        """Fill a shape; ``alpha`` under 1 lets what is there shine through."""
        import cv2

        corners = self._corners(points)
        if corners is None:
            return
        if alpha >= 1:
            cv2.fillPoly(self.pixels, [corners], fill, cv2.LINE_AA, _SHIFT)
            return
        box = self._compute_bounds(corners)
        if box is None:
            return
        left, top, right, bottom = box
        mask = np.zeros((bottom - top, right - left), np.uint8)
        cv2.fillPoly(mask, [corners - np.array([left, top]) * _ONE], 255, cv2.LINE_AA, _SHIFT)
        self.blend(left, top, mask, fill, alpha)

    def polygon3(self, points: Sequence[Point3], fill: Colour, alpha: float = 1.0) -> None:
        """Fill a flat shape in the street."""
        import cv2

        flat = self.view.sixteenths(points) if alpha >= 1 else None
        if flat is None:
            self.polygon(self.view.outline(points), fill, alpha)
            return
        columns, rows = flat[::2], flat[1::2]
        left, right, top, bottom = min(columns), max(columns), min(rows), max(rows)
        if right < 0 or bottom < 0 or left > self.view.width * _ONE or top > self.view.height * _ONE:
            return
        if left < -_FAR_OUT * _ONE or top < -_FAR_OUT * _ONE or max(right, bottom) > _FAR_OUT * 2 * _ONE:
            self.polygon([(x / _ONE, y / _ONE) for x, y in zip(columns, rows, strict=True)], fill)
            return
        corners = np.array(flat, np.int32).reshape(-1, 2) - _ONE // 2
        cv2.fillPoly(self.pixels, [corners], fill, cv2.LINE_AA, _SHIFT)

    def polygons3(self, shapes: NDArray[np.float64], fill: Colour) -> None:
        """Fill many flat shapes of as many corners in one colour: an array of shapes, corners, and x, y, z.

        They must not lie over each other: where two do, a hole stays.
        """
        import cv2

        corners, cut = self._many(shapes)
        if len(corners):
            cv2.fillPoly(self.pixels, list(corners), fill, cv2.LINE_AA, _SHIFT)
        for shape in cut:
            self.polygon3([(x, y, z) for x, y, z in shape.tolist()], fill)

    def rects3(self, wall: Wall, rects: Sequence[Rect], fill: Colour, out_m: float = 0.0) -> None:
        """Fill rectangles on a wall, or a little in front of it, in one colour. They must not lie over each other."""
        import cv2

        flat = self.view.uprights(wall.locate_point(0.0, 0.0, out_m), wall.along, rects)
        if not rects:
            return
        if flat is None or min(flat) < -_FAR_OUT * _ONE or max(flat) > 2 * _FAR_OUT * _ONE:
            self.polygons3(wall.quads(rects, out_m), fill)
            return
        columns, rows = flat[::2], flat[1::2]
        width, height = self.view.width * _ONE, self.view.height * _ONE
        if max(columns) > 0 and min(columns) < width and max(rows) > 0 and min(rows) < height:
            corners = np.array(flat, np.int32).reshape(-1, 4, 2) - np.int32(_ONE // 2)
            cv2.fillPoly(self.pixels, list(corners), fill, cv2.LINE_AA, _SHIFT)

    def strokes3(self, lines: NDArray[np.float64], ink: Colour) -> None:
        """Draw many hair lines in one colour: an array of lines, their two ends, and x, y, z."""
        import cv2

        ends, cut = self._many(lines)
        if len(ends):
            cv2.polylines(self.pixels, list(ends), isClosed=False, color=ink, lineType=cv2.LINE_AA, shift=_SHIFT)
        for start, end in cut.tolist():
            self.line(self.view.outline((tuple(start), tuple(end)))[:2], ink)

    def _many(self, shapes: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return shapes for OpenCV, and unchanged those that need clipping at the camera or lie far outside."""
        flat, before = self.view.sixteenths_many(shapes)
        far = (_FAR_OUT + self.view.width) * _ONE
        if before.all() and flat.min() > -far and flat.max() < far:
            return flat - np.int32(_ONE // 2), shapes[:0]
        easy = before.all(axis=1) & (np.abs(flat).max(axis=(1, 2)) < far)
        return flat[easy] - np.int32(_ONE // 2), shapes[~easy & before.any(axis=1)]

    def line(self, points: Sequence[Point2], ink: Colour, width_px: float = 1.0) -> None:
        """Draw a line through some points; thin ones pale instead of vanishing only as far as smooth edges go."""
        import cv2

        if len(points) < 2 or not self._is_near(points):
            return
        if width_px < 1.5:
            flat = np.array([(round(x * _ONE) - 8, round(y * _ONE) - 8) for x, y in points], np.int32)
            cv2.polylines(self.pixels, [flat], isClosed=False, color=ink, lineType=cv2.LINE_AA, shift=_SHIFT)
            return
        for (x0, y0), (x1, y1) in pairwise(points):
            along, across = x1 - x0, y1 - y0
            length = float(np.sqrt(along * along + across * across))
            if length > 0:
                aside, up = -across / length * width_px / 2, along / length * width_px / 2
                shape = ((x0 + aside, y0 + up), (x1 + aside, y1 + up), (x1 - aside, y1 - up), (x0 - aside, y0 - up))
                self.polygon(shape, ink)

    def line3(self, start: Point3, end: Point3, ink: Colour, width_m: float) -> None:
        """Draw something long and thin in the street: a wire, a post, a branch. It narrows with distance."""
        flat = self.view.outline((start, end))
        if len(flat) < 2:
            return
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, (start[2] + end[2]) / 2)
        self.line(flat[:2], ink, width_m * self.view.pixels_per_metre(middle))

    def shade(self, points: Sequence[Point2], strength: float) -> None:
        """Darken what is there already: 0 not at all, 1 to black."""
        self.polygon(points, (0, 0, 0), min(strength, 0.999))

    def shade3(self, points: Sequence[Point3], strength: float) -> None:
        """Darken a flat shape in the street: a shadow on the road."""
        self.shade(self.view.outline(points), strength)

    def blend(self, left: int, top: int, mask: Pixels, fill: Colour, alpha: float = 1.0) -> None:
        """Lay a colour on through a mask that lies wholly inside the picture."""
        height, width = mask.shape
        blend_colour(self.pixels[top : top + height, left : left + width], mask, fill, alpha)

    def paste(self, picture: Image.Image, quad: Sequence[Point2], light: float = 1.0) -> None:
        """Set a flat picture (RGB or RGBA) onto four corners: top left, top right, bottom right, bottom left.

        Every pixel takes the mean of four samples, so a picture should be about as large as the quad, or up to twice.
        """
        box = self._quad_box(quad)
        if box is not None:
            left, top, right, bottom = box
            warp_picture(self.pixels[top:bottom, left:right], picture, [(x - left, y - top) for x, y in quad], light)

    def paste3(self, picture: Image.Image, quad: Sequence[Point3], light: float = 1.0) -> None:
        """Set a flat picture into the street: corners as for ``paste``. What reaches behind the camera is cut off."""
        flat = [point for corner in quad if (point := self.view.project(corner)) is not None]
        if len(flat) == 4:
            self.paste(picture, flat, light)
        elif flat and picture.width >= _MIN_STRIP_PX:
            # Halves of it, until each is before the camera or behind it: no more than a sliver is lost.
            half = picture.width // 2
            share = half / picture.width
            top, bottom = between(quad[0], quad[1], share), between(quad[3], quad[2], share)
            self.paste3(picture.crop((0, 0, half, picture.height)), (quad[0], top, bottom, quad[3]), light)
            self.paste3(picture.crop((half, 0, picture.width, picture.height)), (top, quad[1], quad[2], bottom), light)

    def _quad_box(self, quad: Sequence[Point2]) -> tuple[int, int, int, int] | None:
        columns, rows = [x for x, _ in quad], [y for _, y in quad]
        if max(columns) - min(columns) < _SMALLEST_QUAD_PX or max(rows) - min(rows) < _SMALLEST_QUAD_PX:
            return None
        left, top = max(0, int(min(columns)) - 1), max(0, int(min(rows)) - 1)
        right, bottom = min(self.view.width, int(max(columns)) + 2), min(self.view.height, int(max(rows)) + 2)
        return (left, top, right, bottom) if left < right and top < bottom else None

    def _is_near(self, points: Sequence[Point2]) -> bool:
        right, bottom = self.view.width + _FAR_OUT, self.view.height + _FAR_OUT
        for x, y in points:  # noqa: SIM110 - a loop is twice as fast, and this is where time goes
            if not (-_FAR_OUT < x < right and -_FAR_OUT < y < bottom):
                return False
        return True

    def _corners(self, points: Sequence[Point2]) -> NDArray[np.int32] | None:
        """Return points in OpenCV's fixed point: sixteenths of a pixel, from the centre of the first pixel."""
        if not self._is_near(points):
            points = _cut_to(points, -64, -64, self.view.width + 64, self.view.height + 64)
        if len(points) < 3:
            return None
        return np.array(
            [(int(x * _ONE + 65536.5) - 65544, int(y * _ONE + 65536.5) - 65544) for x, y in points], np.int32
        )

    def _compute_bounds(self, corners: NDArray[np.int32]) -> tuple[int, int, int, int] | None:
        low, high = corners.min(axis=0) // _ONE - 1, corners.max(axis=0) // _ONE + 3
        left, top = max(0, int(low[0])), max(0, int(low[1]))
        right, bottom = min(self.view.width, int(high[0])), min(self.view.height, int(high[1]))
        return (left, top, right, bottom) if left < right and top < bottom else None


def _cut_to(points: Sequence[Point2], left: float, top: float, right: float, bottom: float) -> list[Point2]:
    """Clip a shape to a frame (Sutherland-Hodgman)."""
    kept = list(points)
    for axis, bound, sign in ((0, left, 1), (0, right, -1), (1, top, 1), (1, bottom, -1)):
        before, kept = kept, []
        for here, there in zip(before, (*before[1:], *before[:1]), strict=True):
            inside, next_inside = (here[axis] - bound) * sign >= 0, (there[axis] - bound) * sign >= 0
            if inside:
                kept.append(here)
            if inside != next_inside:
                share = (bound - here[axis]) / (there[axis] - here[axis])
                kept.append((here[0] + (there[0] - here[0]) * share, here[1] + (there[1] - here[1]) * share))
    return kept


def warp_picture(target: NDArray[np.uint8], picture: Image.Image, quad: Sequence[Point2], light: float) -> None:
    """Lay a picture over part of a canvas, its corners where the quad has them."""
    texture = _premultiply(picture, light)
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = quad
    if x0 == x3 < x1 == x2 and y0 < y3 and y1 < y2:
        place = _upright(target.shape[:2], texture.shape, (x0, x1), (y0, y3), (y1, y2))
    else:
        place = _aslant(target.shape[:2], texture.shape, quad)
    samples = texture.reshape(-1).take(place)
    low, high = samples & _LOW_BITS, (samples >> np.uint32(8)) & _LOW_BITS
    low = _fourfold(low)
    high = _fourfold(high)
    through = np.uint32(1020) - (high >> np.uint32(16))
    for channel, ink in enumerate((low & np.uint32(0xFFFF), high & np.uint32(0xFFFF), low >> np.uint32(16))):
        total = ink * np.uint32(255)
        total += target[..., channel] * through
        total += np.uint32(510)
        target[..., channel] = total // np.uint32(1020)


def _aslant(size: tuple[int, ...], texture: tuple[int, ...], quad: Sequence[Point2]) -> NDArray[np.int32]:
    """Return the texel of each of four samples per pixel. The texture has an empty border for samples outside."""
    across, down, over = _way_back(quad)
    (height, width), (tall, wide) = size, texture
    columns = np.arange(2 * width, dtype=np.float32) * np.float32(0.5) + np.float32(0.25)
    rows = (np.arange(2 * height, dtype=np.float32) * np.float32(0.5) + np.float32(0.25))[:, None]
    depth = _plane(rows, columns, over, 1.0)
    # A point on the quad's vanishing line has no place in the picture: it is far outside instead.
    depth[depth == 0] = np.float32(1e-6)
    np.divide(np.float32(1), depth, out=depth)
    place = _texels(_plane(rows, columns, down, tall - 2.0), depth, tall)
    place *= np.int32(wide)
    place += _texels(_plane(rows, columns, across, wide - 2.0), depth, wide)
    return place


def _upright(
    size: tuple[int, ...], texture: tuple[int, ...], sides: Point2, left: Point2, right: Point2
) -> NDArray[np.int32]:
    """Return the same for quads with vertical sides, as on every wall: a pixel column is then a texel column."""
    (height, width), (tall, wide) = size, texture
    columns = np.arange(2 * width, dtype=np.float64) * 0.5 + 0.25
    share = (columns - sides[0]) / (sides[1] - sides[0])
    # How high the picture stands in a column goes with how near it is there.
    rise = (left[1] - left[0]) * (1 - share) + (right[1] - right[0]) * share
    inside = (share >= 0) & (share < 1)
    rise[~inside] = 1.0
    texels = share * (right[1] - right[0]) / rise * (wide - 2) + 1
    texels[~inside] = 0
    top = left[0] + (right[0] - left[0]) * share
    step = (tall - 2) / rise
    rows = (np.arange(2 * height, dtype=np.float32) * np.float32(0.5) + np.float32(0.25))[:, None]
    down = rows * step.astype(np.float32)
    down += (1 - top * step).astype(np.float32)
    np.clip(down, np.float32(0), np.float32(tall - 1), out=down)
    place = down.astype(np.int32)
    place *= np.int32(wide)
    place += texels.astype(np.int32)
    return place


def _plane(
    rows: NDArray[np.float32], columns: NDArray[np.float32], factors: Point3, scale: float
) -> NDArray[np.float32]:
    a, b, c = (np.float32(factor * scale) for factor in factors)
    return rows * b + (columns * a + c)


def _texels(plane: NDArray[np.float32], depth: NDArray[np.float32], count: int) -> NDArray[np.int32]:
    plane *= depth
    plane += np.float32(1)
    np.clip(plane, np.float32(0), np.float32(count - 1), out=plane)
    return plane.astype(np.int32)


def _fourfold(samples: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return sums of two by two samples."""
    rows = samples[::2] + samples[1::2]
    return rows[:, ::2] + rows[:, 1::2]


def _premultiply(picture: Image.Image, light: float) -> NDArray[np.uint32]:
    """Return premultiplied red, green, blue and coverage packed from the lowest byte, with an empty border."""
    import cv2

    scale = int(light * 256 + 0.5)
    pixels = np.array(picture if picture.mode == "RGBA" else picture.convert("RGBA"))
    if scale != 256:
        table = np.repeat(np.arange(256)[:, None], 4, axis=1)
        table[:, :3] = np.minimum(table[:, :3] * scale >> 8, 255)
        cv2.LUT(pixels, table.astype(np.uint8)[None], dst=pixels)
    cover = pixels[..., 3]
    if cover.min() < 255:
        for channel in range(3):
            weighed = np.multiply(pixels[..., channel], cover, dtype=np.uint16)
            weighed += np.uint16(127)
            pixels[..., channel] = weighed // np.uint16(255)
    packed = np.zeros((pixels.shape[0] + 2, pixels.shape[1] + 2), np.uint32)
    packed[1:-1, 1:-1] = np.ascontiguousarray(pixels).view("<u4")[..., 0]
    return packed


def _way_back(quad: Sequence[Point2]) -> tuple[Point3, Point3, Point3]:
    """Return three rows of the homography from pixels to picture shares: (u, v) = (first, second) / third."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = quad
    dx1, dx2, sx = x1 - x2, x3 - x2, x0 - x1 + x2 - x3
    dy1, dy2, sy = y1 - y2, y3 - y2, y0 - y1 + y2 - y3
    area = dx1 * dy2 - dx2 * dy1
    if area == 0:
        return (-1.0, 0.0, -1.0), (0.0, -1.0, -1.0), (0.0, 0.0, 1.0)
    g, h = (sx * dy2 - dx2 * sy) / area, (dx1 * sy - sx * dy1) / area
    a, b, c = x1 - x0 + g * x1, x3 - x0 + h * x3, x0
    d, e, f = y1 - y0 + g * y1, y3 - y0 + h * y3, y0
    # Scaled so that the last row is about 1: the factors stay within what short floats hold well.
    size = (a * e - b * d) + (d * h - e * g) * x0 + (b * g - a * h) * y0 or 1.0
    return (
        ((e - f * h) / size, (c * h - b) / size, (b * f - c * e) / size),
        ((f * g - d) / size, (a - c * g) / size, (c * d - a * f) / size),
        ((d * h - e * g) / size, (b * g - a * h) / size, (a * e - b * d) / size),
    )
