"""Boxes of a photo that a run may hide, as tables write them."""

import json
from typing import Any, get_args

from .model import Box, BoxKind

_KINDS = get_args(BoxKind)
_MOST_BOXES = 1000


def read_boxes(value: object) -> tuple[Box, ...]:
    """The boxes of a cell: a list of ``{"kind", "box": [left, top, right, bottom]}``, also written as JSON text.

    Edges up to 1 are shares of width and height. Larger ones are pixels, and need the photo's ``size``:
    ``{"kind", "box", "size": [width, height]}``.

    Raises:
        ValueError: it is something else; the message says what a box is.
    """
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError(_WANTED) from None
    if not isinstance(value, list) or len(value) > _MOST_BOXES:
        raise ValueError(_WANTED)
    return tuple(_box(entry) for entry in value)


_WANTED = (
    'boxes are a list such as [{"kind": "text", "box": [0.1, 0.2, 0.5, 0.3]}] with kinds '
    f'{", ".join(_KINDS)}; edges in pixels need "size": [width, height]'
)


def _box(entry: Any) -> Box:
    if not isinstance(entry, dict) or entry.get("kind") not in _KINDS:
        raise ValueError(_WANTED)
    edges = _numbers(entry.get("box"), 4)
    if entry.get("size") is not None:
        width, height = _numbers(entry["size"], 2)
        if min(width, height) <= 0:
            raise ValueError(_WANTED)
        return box_of_pixels(entry["kind"], edges, (width, height))
    left, top, right, bottom = edges
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise ValueError(_WANTED)
    return Box(entry["kind"], left, top, right, bottom)


def box_of_pixels(kind: BoxKind, edges: list[float], size: tuple[float, float]) -> Box:
    """A box given in pixels of a photo of that size, cut to the photo.

    Raises:
        ValueError: nothing of it lies on the photo.
    """
    width, height = size
    left, right = (min(1.0, max(0.0, edge / width)) for edge in (edges[0], edges[2]))
    top, bottom = (min(1.0, max(0.0, edge / height)) for edge in (edges[1], edges[3]))
    if not (left < right and top < bottom):
        raise ValueError(f"the box {edges} has no part on a photo of {width:g} x {height:g} pixels")
    return Box(kind, left, top, right, bottom)


def _numbers(value: Any, count: int) -> list[float]:
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(_WANTED)
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in value):
        raise ValueError(_WANTED)
    try:
        return [float(number) for number in value]
    except OverflowError:
        raise ValueError(_WANTED) from None
