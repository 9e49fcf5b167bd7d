"""Panoramas of the whole sphere: told from ordinary photos, and cut into flat views with known headings.

The picture is equirectangular: columns are headings, rows are pitches. Its middle column looks towards
`centre_heading_deg`, headings grow clockwise (to the right), pitch grows upwards from the horizon.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .metadata import PanoramaClaim
from .photo import Photo

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    _Packed = NDArray[np.uint32]

_MIN_WIDTH_PX = 1024
_MAX_CUT_PIXELS = 8_000_000
_BAND_ROWS = 128


@dataclass(frozen=True, slots=True, eq=False)
class PanoramaView:
    """A flat view out of a panorama, at the panorama's own resolution, and the heading of its middle."""

    photo: Photo
    heading_deg: float


def looks_equirectangular(image: "Image", claim: PanoramaClaim | None = None) -> bool:
    """Return whether a picture shows the whole sphere.

    What the file says decides. Where it is silent: twice as wide as high, at least 1024 pixels wide, and the left edge
    continues the right one, as an ordinary photo of that shape does not.
    """
    width, height = image.size
    if abs(width - 2 * height) > 0.01 * width or width < _MIN_WIDTH_PX:
        return False
    if claim is not None:
        return claim.projection == "equirectangular" and claim.full_sphere is not False
    first, second, before_last, last = (
        np.asarray(image.resize((1, height), box=(x, 0, x + 1, height)), dtype=np.float64)
        for x in (0, 1, width - 2, width - 1)
    )
    seam = float(np.abs(first - last).mean())
    beside = float((np.abs(first - second).mean() + np.abs(last - before_last).mean()) / 2)
    # A plain sky gives hardly any difference on either side; compression alone makes a few grey levels.
    return seam <= 3.0 * beside + 4.0


def cut_views(photo: Photo, count: int = 6, *, centre_heading_deg: float = 0.0) -> list[PanoramaView]:
    """Flat square views of 90 degrees all the way round, evenly spaced from heading 0.

    Args:
        photo: an equirectangular panorama of the whole sphere.
        count: how many views.
        centre_heading_deg: compass heading of the panorama's middle, if known (`PanoramaClaim.pose_heading_deg`);
            with 0 all headings count from the middle of the picture.

    Raises:
        ValueError: no views.
    """
    if count < 1 or not math.isfinite(centre_heading_deg):
        raise ValueError("cut_views needs count >= 1 and a finite heading")
    # The middle of a view then has exactly as many pixels a degree as the panorama has.
    side = max(1, min(round(photo.size[0] / math.pi), math.isqrt(_MAX_CUT_PIXELS)))
    headings = [index * 360.0 / count for index in range(count)]
    cuts = _cuts(photo.image, side, [heading - centre_heading_deg for heading in headings])
    return [PanoramaView(cut, heading) for heading, cut in zip(headings, map(Photo, cuts), strict=True)]


def boxes_in_panorama(
    box: tuple[float, float, float, float], turn_deg: float
) -> list[tuple[float, float, float, float]]:
    """Return where part of a flat, level view lies in its panorama: a box, or two across the seam.

    Args:
        box: left, top, right, bottom in shares of the view.
        turn_deg: how far to the right of the panorama's middle the view looks.
    """
    # Straight edges of a view are curves in the panorama: points along them and between them tell how far they reach.
    across = np.linspace(box[0], box[2], 17) * 2 - 1
    down = np.linspace(box[1], box[3], 17) * 2 - 1
    right, below = np.meshgrid(across, down)
    x = np.arctan2(right, 1.0) / (2 * math.pi) + 0.5 + turn_deg / 360
    y = 0.5 + np.arctan2(below, np.hypot(right, 1.0)) / math.pi
    top, bottom = float(y.min()), float(y.max())
    left, wide = float(x.min()) % 1.0, float(x.max() - x.min())
    if left + wide <= 1.0:
        return [(left, top, left + wide, bottom)]
    return [(left, top, 1.0, bottom), (0.0, top, left + wide - 1.0, bottom)]


def _cuts(image: "Image", side: int, turns_deg: list[float]) -> "list[Image]":
    """One level view of 90 degrees for each turn to the right of the panorama's middle."""
    from PIL import Image

    width, height = image.size
    packed = np.frombuffer(image.convert("RGBA").tobytes(), dtype="<u4")
    outs = [np.empty((side, side), dtype="<u4") for _ in turns_deg]
    steps = (np.arange(side) + 0.5) / side * 2 - 1
    for top in range(0, side, _BAND_ROWS):
        right, down = np.meshgrid(steps, steps[top : top + _BAND_ROWS])
        # In pixels, from the panorama's left edge and top; turning is a shift, so this is worked out once for all.
        x = (np.arctan2(right, 1.0) / (2 * math.pi) + 0.5) * width - 0.5
        y = np.clip((0.5 - np.arctan2(-down, np.hypot(right, 1.0)) / math.pi) * height - 0.5, 0, height - 1)
        for turn, out in zip(turns_deg, outs, strict=True):
            out[top : top + _BAND_ROWS] = _sample_bilinear(packed, width, x + turn / 360 * width, y)
    return [Image.frombuffer("RGBA", (side, side), out, "raw", "RGBA", 0, 1).convert("RGB") for out in outs]


def _sample_bilinear(packed: "_Packed", width: int, x: "NDArray[np.float64]", y: "NDArray[np.float64]") -> "_Packed":
    """Bilinear samples of four-byte pixels; columns go round, rows stop at the poles."""
    left, above = np.floor(x), np.floor(y)
    across = np.rint((x - left) * 256).astype(np.uint32)
    down = np.rint((y - above) * 256).astype(np.uint32)
    x0 = np.mod(left, width).astype(np.int64)
    x1 = np.where(x0 == width - 1, 0, x0 + 1)
    row = above.astype(np.int64) * width
    below = np.minimum(row + width, packed.size - width)
    upper = _blend_pixels(packed.take(row + x0), packed.take(row + x1), across)
    lower = _blend_pixels(packed.take(below + x0), packed.take(below + x1), across)
    return _blend_pixels(upper, lower, down)


def _blend_pixels(a: "_Packed", b: "_Packed", share_of_b: "_Packed") -> "_Packed":
    """Two pixels mixed in 256ths, two of their bytes at a time in one number: four times as fast as byte by byte."""
    low, half = np.uint32(0x00FF00FF), np.uint32(0x00800080)
    share_of_a = np.uint32(256) - share_of_b
    even = (((a & low) * share_of_a + (b & low) * share_of_b + half) >> np.uint32(8)) & low
    odd = (((a >> np.uint32(8)) & low) * share_of_a + ((b >> np.uint32(8)) & low) * share_of_b + half) & ~low
    mixed: NDArray[np.uint32] = even | odd
    return mixed
