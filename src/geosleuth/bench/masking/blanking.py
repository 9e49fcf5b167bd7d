"""Parts of a photo taken out, so that nobody can read them, and so that the gap says nothing either.

A black or grey rectangle is a thing of its own: models describe it, readers of text find edges in it, and a run with it
measures the rectangle. So a gap is filled smoothly from its rim: the colours of the pixels just outside of it run into
each other across it, without an edge anywhere. Nothing from inside the gap goes into it, not even its mean colour: a
blue panel or a yellow plate is a clue too.
"""

from collections.abc import Iterable
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.bench.sets import Box
from geosleuth.photo import Photo

from .text import text_boxes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Colours = NDArray[np.float32]
    _Weights = NDArray[np.float32]
    _Rect = tuple[int, int, int, int]

WIDENED_BY = 0.1
"""Of a box's shorter side: whoever draws a box cuts corners, and compression smears letters over its edge."""

LEAST_WIDENED_PX = 4
ALL_TEXT = Box("text", 0.0, 0.0, 0.0, 0.0)
"""Stands for all text in a photo. Finding it takes seconds, so it is left to whoever opens the photo."""

_RIM = 0.05
_LEAST_RIM_PX = 3
# A fill has no detail: past so many pixels it is worked out on a coarser copy.
_MOST_PIXELS = 1_000_000
# Rounds of smoothing; a coarse level does most of the work, and costs next to nothing.
_ROUNDS, _ROUNDS_IF_FINE, _FINE_PIXELS = 40, 4, 60_000
_GREY = 128.0


def blank(photo: Photo, boxes: Iterable[Box]) -> Photo:
    """A photo without what is in the boxes; all that lies outside of the boxes, a little widened, is as it was.

    Boxes that hang over the edge are cut off there, and `ALL_TEXT` stands for every box of text that is found. The
    photo itself stays as it is; without boxes it is given back.
    """
    from PIL import Image

    wanted = list(boxes)
    if ALL_TEXT in wanted:
        wanted += text_boxes(photo)
    rects = [rect for box in wanted if (rect := widened(box, photo.size)) is not None]
    if not rects:
        return photo
    pixels = np.array(photo.image.convert("RGB"), dtype=np.uint8)
    # All that is hidden counts as unknown, also where it belongs to another gap: nothing seeps across.
    hidden, rim = np.zeros((2, *pixels.shape[:2]), dtype=np.bool_)
    for left, top, right, bottom in rects:
        hidden[top:bottom, left:right] = True
        rim[_around((left, top, right, bottom))] = True
    rim &= ~hidden
    for rect in _grouped(rects):
        part = _around(rect)
        _fill(pixels[part], hidden[part], rim[part])
    return Photo(Image.fromarray(pixels), photo.kind)


def widened(box: Box, size: tuple[int, int]) -> "_Rect | None":
    """The pixels that are blanked for a box: left, top, right, bottom; None where the box is empty or lies outside."""
    width, height = size
    left, right = box.left * width, box.right * width
    top, bottom = box.top * height, box.bottom * height
    if not (left < right and top < bottom and left < width and top < height and right > 0 and bottom > 0):
        return None
    more = max(LEAST_WIDENED_PX, WIDENED_BY * min(right - left, bottom - top))
    return (
        max(0, floor(left - more)),
        max(0, floor(top - more)),
        min(width, ceil(right + more)),
        min(height, ceil(bottom + more)),
    )


def _around(rect: "_Rect") -> tuple[slice, slice]:
    """A rectangle with its rim, as rows and columns of pixels."""
    left, top, right, bottom = rect
    rim = max(_LEAST_RIM_PX, round(_RIM * min(right - left, bottom - top)))
    return slice(max(0, top - rim), bottom + rim), slice(max(0, left - rim), right + rim)


def _grouped(rects: "Iterable[_Rect]") -> "list[_Rect]":
    """Rectangles around those that touch each other, so that each gap is filled in one go."""
    groups: list[_Rect] = []
    for rect in rects:
        grown, apart = rect, groups
        while True:
            touching = [one for one in apart if _touch(one, grown)]
            if not touching:
                break
            apart = [one for one in apart if one not in touching]
            lefts, tops, rights, bottoms = zip(grown, *touching, strict=True)
            grown = min(lefts), min(tops), max(rights), max(bottoms)
        groups = [*apart, grown]
    return groups


def _touch(one: "_Rect", other: "_Rect") -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _fill(pixels: "NDArray[np.uint8]", hidden: "NDArray[np.bool_]", rim: "NDArray[np.bool_]") -> None:
    """Let the colours of the rim run into what is hidden, in place."""
    step = max(1, ceil(sqrt(hidden.size / _MOST_PIXELS)))
    known = rim[::step, ::step].astype(np.float32)
    smooth = _spread(pixels[::step, ::step].astype(np.float32), known)
    if smooth.shape[:2] != hidden.shape:
        smooth = _resized(smooth, hidden.shape[1], hidden.shape[0])
    pixels[hidden] = np.clip(np.rint(smooth[hidden]), 0, 255).astype(np.uint8)


def _spread(colours: "_Colours", known: "_Weights") -> "_Colours":
    """Known pixels as they are, unknown ones between them: first in a copy of half the size, then smoothed in place."""
    if known.min() >= 1:
        return colours
    if max(known.shape) == 1:
        return np.where(known[..., None] > 0, colours, np.float32(_GREY))
    halved, weights = _halved(colours, known)
    coarse = _resized(_spread(halved, np.minimum(weights, np.float32(1.0))), known.shape[1], known.shape[0])
    free = known <= 0
    filled: _Colours = np.where(free[..., None], coarse, colours)
    for _ in range(_ROUNDS if free.size <= _FINE_PIXELS else _ROUNDS_IF_FINE):
        wider = np.pad(filled, ((1, 1), (1, 1), (0, 0)), mode="edge")
        means = wider[:-2, 1:-1] + wider[2:, 1:-1] + wider[1:-1, :-2] + wider[1:-1, 2:]
        filled[free] = means[free] / 4
    return filled


def _halved(colours: "_Colours", weights: "_Weights") -> "tuple[_Colours, _Weights]":
    """Means over two by two pixels, each counted by how much of it is known; and how much is known of each mean."""
    height, width = weights.shape
    even = ((0, height % 2), (0, width % 2))
    weights = np.pad(weights, even)
    weighted = np.pad(colours, (*even, (0, 0))) * weights[..., None]
    total = weights[::2, ::2] + weights[1::2, ::2] + weights[::2, 1::2] + weights[1::2, 1::2]
    summed = weighted[::2, ::2] + weighted[1::2, ::2] + weighted[::2, 1::2] + weighted[1::2, 1::2]
    return summed / np.maximum(total, np.float32(1e-6))[..., None], total


def _resized(colours: "_Colours", width: int, height: int) -> "_Colours":
    from PIL import Image

    channels = [
        Image.fromarray(np.ascontiguousarray(colours[..., channel])).resize((width, height), Image.Resampling.BILINEAR)
        for channel in range(colours.shape[2])
    ]
    return np.stack([np.asarray(channel, dtype=np.float32) for channel in channels], axis=-1)
