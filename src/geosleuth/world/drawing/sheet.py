"""A small flat picture to draw a board on: red, green, blue and cover."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from .camera import Point2, cosine, sine
from .canvas import Colour, Pixels, blended

_SHIFT = 4


class Sheet:
    """Pixels of a board, drawn from the back to the front; coordinates in pixels."""

    def __init__(self, width: int, height: int, ground: Colour, *, empty: bool = False) -> None:
        self.width, self.height = width, height
        # One number for four bytes: numpy is slow to repeat short rows.
        plain = np.frombuffer(bytes((*ground, 0 if empty else 255)), np.uint32)
        self.pixels: Pixels = np.full((height, width), plain).view(np.uint8).reshape(height, width, 4)

    def image(self) -> Image.Image:
        """The picture as it is now."""
        return Image.fromarray(self.pixels)

    def rectangle(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """Fill whole pixels."""
        columns = slice(max(0, round(left)), max(0, round(right)))
        self.pixels[max(0, round(top)) : max(0, round(bottom)), columns] = (*fill, 255)

    def polygon(self, points: Sequence[Point2], fill: Colour) -> None:
        """Fill a shape, with smooth edges."""
        import cv2

        corners = np.array([(round(x * 16) - 8, round(y * 16) - 8) for x, y in points], np.int32)
        cv2.fillPoly(self.pixels, [corners], (*fill, 255), cv2.LINE_AA, _SHIFT)

    def rounded(self, left: float, top: float, right: float, bottom: float, radius: float, fill: Colour) -> None:
        """Fill a rectangle with round corners."""
        radius = max(1.0, min(radius, (right - left) / 2, (bottom - top) / 2))
        points: list[Point2] = []
        for x, y, first in (
            (right - radius, top + radius, -90),
            (right - radius, bottom - radius, 0),
            (left + radius, bottom - radius, 90),
            (left + radius, top + radius, 180),
        ):
            points += [(x + radius * cosine(first + a), y + radius * sine(first + a)) for a in range(0, 91, 15)]
        self.polygon(points, fill)

    def frame(self, inset: float, width: float, ink: Colour) -> None:
        """A line along the edges."""
        self.rectangle(inset, inset, self.width - inset, inset + width, ink)
        self.rectangle(inset, self.height - inset - width, self.width - inset, self.height - inset, ink)
        self.rectangle(inset, inset, inset + width, self.height - inset, ink)
        self.rectangle(self.width - inset - width, inset, self.width - inset, self.height - inset, ink)

    def stencil(self, mask: Image.Image, left: float, top: float, ink: Colour, alpha: float = 1.0) -> None:
        """Lay ink on through a mask; what reaches over the edges is cut off."""
        cover = np.asarray(mask)
        x, y = round(left), round(top)
        x0, y0 = max(0, x), max(0, y)
        x1, y1 = min(self.width, x + cover.shape[1]), min(self.height, y + cover.shape[0])
        if x0 >= x1 or y0 >= y1:
            return
        blended(self.pixels[y0:y1, x0:x1], cover[y0 - y : y1 - y, x0 - x : x1 - x], (*ink, 255), alpha)
