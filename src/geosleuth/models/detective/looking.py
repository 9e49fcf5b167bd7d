"""Closer looks: lettering that was too small to read well, and parts of large photos."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.evidence import TextSeen
from geosleuth.geo import FloatArray
from geosleuth.photo import MIN_REDUCTION_FOR_CROPS, View

from .notebook import Notebook

Box = tuple[float, float, float, float]

# Lettering below this height is read from the original, if the original has more pixels.
SMALL_LETTERS_PX = 14.0

MORE_PIXELS = 1.2
# Confidence below which a line of any size is read again: alone and magnified, its script shows better.
UNSURE_CONFIDENCE = 0.85

MAX_LOOKS = 4
MAX_PARTS = 3
# Minimum text score of a part at first sight for it to be read: of 41 parts below it, none had any text.
MIN_WRITING = 0.1

# The box of a line is at least so many times as tall as its letters; of small lettering it may be far taller.
_BOX_HEIGHTS = 1.4
_LETTER_WIDTHS = 0.6
_FULL_WIDTHS = 1.0
_MARGIN = 0.7
_MIN_MARGIN_PX = 8.0
_GRID = 2
_PART_OVERLAP = 0.08
_LARGEST_SHARE = 0.5
_LARGE_PX = 100.0


@dataclass(frozen=True, slots=True)
class ReadingWindow:
    """A part of a picture to magnify and read, in its pixels."""

    image: str
    box: Box

    def arguments(self, view: View, *, thousandths: bool) -> dict[str, Any]:
        """The arguments of a call, the box on the scale that the run uses."""
        across, down = (1000 / view.size[0], 1000 / view.size[1]) if thousandths else (1.0, 1.0)
        left, top, right, bottom = self.box
        box = [round(left * across), round(top * down), round(right * across), round(bottom * down)]
        return {"bbox_2d": box, "image": self.image}


def at_small_text(notebook: Notebook) -> list[ReadingWindow]:
    """Parts around lines that are small or doubtful and may read better when magnified, neighbours together."""
    looks: list[tuple[float, ReadingWindow]] = []
    read = _read_whole(notebook)
    for handle in notebook.photos:
        view = notebook.view(handle)
        lines = read.get(handle)
        if view is None or not lines:
            continue
        finer = view.reduction
        boxes = [_grown(line.box, view) for line in lines if _worth_a_look(line, finer)]
        most = _LARGEST_SHARE * view.size[0] * view.size[1]
        looks.extend(
            (_compute_box_area(box), ReadingWindow(handle, box))
            for box in _merge_boxes(boxes)
            if _compute_box_area(box) <= most
        )
    looks.sort(key=lambda pair: (-pair[0], pair[1].image, pair[1].box))
    return [look for _, look in looks[:MAX_LOOKS]]


def at_parts(notebook: Notebook) -> list[ReadingWindow]:
    """Quarters of photos that are much larger than what was shown, those with most unread structure first.

    Quarters in which nothing at all looked like writing are left out.
    """
    looks: list[tuple[float, ReadingWindow]] = []
    read = _read_whole(notebook)
    for handle in notebook.photos:
        view = notebook.view(handle)
        if view is None or view.reduction < MIN_REDUCTION_FOR_CROPS:
            continue
        structure = _structure(view, read.get(handle, []))
        writing = notebook.writing(handle)
        for box in _split_view(view):
            if writing.size and _most(writing, box, view) < MIN_WRITING:
                continue
            left, top, right, bottom = map(round, box)
            looks.append((float(structure[top:bottom, left:right].mean()), ReadingWindow(handle, box)))
    looks.sort(key=lambda pair: (-pair[0], pair[1].image, pair[1].box))
    return [look for _, look in looks[:MAX_PARTS]]


def _most(writing: FloatArray, box: Box, view: View) -> float:
    """The largest value of a grid over a picture in the cells that a part of it touches."""
    rows, columns = writing.shape
    width, height = view.size
    left, right = int(box[0] / width * columns), math.ceil(box[2] / width * columns)
    top, bottom = int(box[1] / height * rows), math.ceil(box[3] / height * rows)
    return float(writing[top:bottom, left:right].max())


def _read_whole(notebook: Notebook) -> dict[str, list[TextSeen]]:
    found: dict[str, list[TextSeen]] = {}
    for reading in notebook.first_readings:
        found.setdefault(reading.image, []).append(reading)
    return found


def _worth_a_look(line: TextSeen, finer: float) -> bool:
    if _letters_px(line) < SMALL_LETTERS_PX and finer >= MORE_PIXELS:
        return True
    return line.confidence < UNSURE_CONFIDENCE


def _letters_px(line: TextSeen) -> float:
    """Return the letter height of a line, by its box and its number of letters."""
    across, down = line.box[2] - line.box[0], line.box[3] - line.box[1]
    widths = sum(_FULL_WIDTHS if "\u2e80" <= letter <= "\ud7af" else _LETTER_WIDTHS for letter in line.text)
    return min(min(across, down) / _BOX_HEIGHTS, max(across, down) / max(widths, 1.0))


def _grown(box: Box, view: View) -> Box:
    left, top, right, bottom = box
    margin = max(_MIN_MARGIN_PX, _MARGIN * min(right - left, bottom - top))
    return (
        max(0.0, left - margin),
        max(0.0, top - margin),
        min(float(view.size[0]), right + margin),
        min(float(view.size[1]), bottom + margin),
    )


def _merge_boxes(boxes: Sequence[Box]) -> list[Box]:
    """Small boxes that touch become one; large ones read better alone."""
    merged: list[Box] = [box for box in boxes if box[3] - box[1] > _LARGE_PX]
    for box in boxes:
        joined = box
        if box in merged:
            continue
        while touching := [other for other in merged if other[3] - other[1] <= _LARGE_PX and _touch(joined, other)]:
            for other in touching:
                merged.remove(other)
                joined = (
                    min(joined[0], other[0]),
                    min(joined[1], other[1]),
                    max(joined[2], other[2]),
                    max(joined[3], other[3]),
                )
        merged.append(joined)
    return merged


def _touch(box: Box, other: Box) -> bool:
    return box[0] <= other[2] and other[0] <= box[2] and box[1] <= other[3] and other[1] <= box[3]


def _compute_box_area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _split_view(view: View) -> list[Box]:
    width, height = view.size
    across, down = width / _GRID, height / _GRID
    return [
        (
            max(0.0, column * across - _PART_OVERLAP * width),
            max(0.0, row * down - _PART_OVERLAP * height),
            min(float(width), (column + 1) * across + _PART_OVERLAP * width),
            min(float(height), (row + 1) * down + _PART_OVERLAP * height),
        )
        for row in range(_GRID)
        for column in range(_GRID)
    ]


def _structure(view: View, lines: Sequence[TextSeen]) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """Return the change of brightness from pixel to pixel, zero where text was read already."""
    grey = np.asarray(view.image.convert("L"), dtype=np.float32)
    change = np.zeros_like(grey)
    change[:, 1:] = np.abs(np.diff(grey, axis=1))
    for line in lines:
        left, top, right, bottom = (max(0, round(side)) for side in line.box)
        change[top:bottom, left:right] = 0.0
    return change
