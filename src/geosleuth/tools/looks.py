"""Where to look closer: few parts of a picture that hold what is too small to be read from afar."""

from collections.abc import Sequence
from math import ceil

LOOKS = 3
"""So many parts are named at most."""

_CLOSE, _STEP, _ROOM = 360, 40, 1.3  # how wide a closer look is, where it may begin, and how much room is around a box

Bounds = Sequence[float]
"""Left, top, right, bottom in pixels."""


def around(box: Bounds, size: tuple[int, int]) -> list[int]:
    """A part of the picture about a third as wide, with a box in its middle; in thousandths.

    It begins at one of few places, so that whoever has to name it chooses among few, and who is off by one still sees
    what is looked for, unless it is large.
    """
    sides = []
    for low, high in zip(thousandths(box[:2], size), thousandths(box[2:], size), strict=True):
        extent = min(1000, max(_CLOSE, 10 * ceil(_ROOM * (high - low) / 10)))
        start = _STEP * round((low + high - extent) / 2 / _STEP)
        start = max(0, min(start, 1000 - extent))
        sides.append((start, start + extent))
    (left, right), (top, bottom) = sides
    return [left, top, right, bottom]


def looks_at(boxes: Sequence[Bounds], size: tuple[int, int]) -> list[list[int]]:
    """Up to `LOOKS` parts of a picture that hold as many of the boxes as they can, the fullest first; in thousandths.

    Args:
        boxes: what is to be seen from near.
        size: width and height of the picture.
    """
    left = [thousandths(box, size) for box in boxes]
    parts = [around(box, size) for box in boxes]
    looks: list[list[int]] = []
    while left and len(looks) < LOOKS:
        fullest = max(parts, key=lambda part: sum(holds(part, box) for box in left))
        looks.append(fullest)
        left = [box for box in left if not holds(fullest, box)]
    return looks


def holds(part: Bounds, box: Bounds) -> bool:
    """Whether a box lies in a part."""
    return part[0] <= box[0] and part[1] <= box[1] and box[2] <= part[2] and box[3] <= part[3]


def thousandths(box: Bounds, size: tuple[int, int]) -> list[int]:
    """A box in pixels as thousandths of a picture's width and height."""
    return [max(0, min(1000, round(1000 * side / size[at % 2]))) for at, side in enumerate(box)]
