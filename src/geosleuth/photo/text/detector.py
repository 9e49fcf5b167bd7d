"""Find lines of text in a picture: boxes in any script and direction.

A large picture is searched by a quick detector. Where that notices writing without finding a
line, RapidOCR's own detector, which sees more and costs six times as much, looks at a cut of the place, enlarged.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .network_outputs import Map
from .rapid import detect_lines
from .strips import Pixels, Quad, sides, with_slack

# Larger images are searched with the quick detector; crops of signs with RapidOCR's own.
LARGE_PIXELS = 800_000

FINE_SHORT_SIDE_PX = 736

# Pixels that look like text this much belong together; a trace has one of at least 0.6, and a few of them.
NOTICED, MIN_TRACE, MIN_TRACE_PX = 0.3, 0.6, 6

# Traces less than this far apart, horizontally and vertically, are merged.
LINE_GAP_PX = 31, 3

# Cuts are enlarged twice, up to so many pixels; so many of a picture, each at least so wide and high in the searched
# copy. What was noticed over a larger part is no small lettering.
CLOSER, MAX_CUTS, CUT_PX, CUT_PIXELS = 2.0, 3, (320, 100), 260_000

# A box thicker than one inside it by this factor holds two lines.
TWO_LINE_RATIO = 1.5

# Minimum overlap of boxes in one line, as a share of the lower one's height.
ONE_LINE_OVERLAP = 0.7

# Rows and columns of the grid that shows where a picture may contain text.
GRID = 8

Grid: TypeAlias = tuple[tuple[float, ...], ...]

_COVERED = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class TextBox:
    """A part that looks like a line of text, in pixels, and how much it does, 0 to 1."""

    quad: Quad
    score: float

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        (left, top), (right, bottom) = self.quad.min(axis=0).tolist(), self.quad.max(axis=0).tolist()
        return left, top, right, bottom


@dataclass(frozen=True, slots=True)
class _Trace:
    """Pixels that look like text, as a rectangle, and how much they do together."""

    bounds: tuple[float, float, float, float]
    strength: float


class Search(NamedTuple):
    """Result of a search for text: boxes of lines, and how much each part of the picture looks like writing."""

    boxes: list[TextBox]
    writing: Grid


def find_boxes(pixels: Pixels, detail_px: int) -> list[TextBox]:
    """Return boxes of lines in pixels of the given picture, searched with its long side at most ``detail_px``."""
    return search(pixels, detail_px).boxes


def search(pixels: Pixels, detail_px: int, *, cuts: int = MAX_CUTS) -> Search:
    """Return the same with the grid; at most so many cuts are looked at more closely."""
    height, width = pixels.shape[:2]
    finer = max(1.0, FINE_SHORT_SIDE_PX / min(height, width))
    seen, scale = _resize_pixels(pixels, min(finer, detail_px / max(height, width)))
    if seen.shape[0] * seen.shape[1] <= LARGE_PIXELS:
        boxes, noticed = _detect(seen, scale)
        return Search(boxes, _grid(noticed))
    boxes, noticed = _detect(seen, scale, quick=True)
    closer = _closer(pixels, _find_missed_traces(boxes, _traces(noticed, seen, scale)), scale, cuts)
    return Search(_together(boxes, closer), _grid(noticed))


def _grid(noticed: Map) -> Grid:
    """Return the largest value in each cell of a grid over the picture."""
    cells = [np.array_split(rows, GRID, axis=1) for rows in np.array_split(noticed, GRID)]
    return tuple(tuple(round(float(cell.max()), 2) if cell.size else 0.0 for cell in row) for row in cells)


def _resize_pixels(pixels: Pixels, scale: float) -> tuple[Pixels, npt.NDArray[np.float32]]:
    """Return the picture at another size, and how much of it a pixel is of the old, across and down."""
    import cv2

    height, width = pixels.shape[:2]
    size = max(32, math.ceil(width * scale)), max(32, math.ceil(height * scale))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    resized = np.asarray(cv2.resize(pixels, size, interpolation=way), dtype=np.uint8)
    return resized, np.array([size[0] / width, size[1] / height], dtype=np.float32)


def _detect(seen: Pixels, scale: npt.NDArray[np.float32], *, quick: bool = False) -> tuple[list[TextBox], Map]:
    """Return the boxes in a picture, in pixels of the one it was made from, and how much each part looks like text."""
    found, noticed = detect_lines(seen, quick=quick)
    return [TextBox(quad / scale, score) for quad, score in found], noticed


def _traces(noticed: Map, seen: Pixels, scale: npt.NDArray[np.float32]) -> list[_Trace]:
    """Return what looks like text in the searched copy, in pixels of the whole picture."""
    import cv2

    across_down = seen.shape[1], seen.shape[0]
    noticed = np.asarray(cv2.resize(noticed, across_down, interpolation=cv2.INTER_NEAREST), dtype=np.float32)
    # Letters that were noticed one by one belong to one line.
    near = cv2.dilate((noticed > NOTICED).astype(np.uint8), np.ones((LINE_GAP_PX[1], LINE_GAP_PX[0]), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(near)
    traces = []
    for number in range(1, count):
        left, top, wide, tall, size = (int(value) for value in stats[number])
        part = noticed[top : top + tall, left : left + wide][labels[top : top + tall, left : left + wide] == number]
        if size >= MIN_TRACE_PX and float(part.max()) >= MIN_TRACE:
            corners = np.array([[left, top], [left + wide, top + tall]], dtype=np.float32) / scale
            traces.append(_Trace((*corners[0].tolist(), *corners[1].tolist()), float(part.sum())))
    return traces


def _find_missed_traces(boxes: Sequence[TextBox], traces: Iterable[_Trace]) -> list[_Trace]:
    """Return the traces outside the boxes, the strongest first."""
    missed = [
        trace
        for trace in traces
        if not any(_compute_rectangle_overlap(trace.bounds, box.bounds) > _COVERED for box in boxes)
    ]
    return sorted(missed, key=lambda item: -item.strength)


def _closer(pixels: Pixels, traces: Sequence[_Trace], scale: npt.NDArray[np.float32], most: int) -> list[TextBox]:
    """Return what RapidOCR's detector finds in enlarged cuts around the first traces."""
    height, width = pixels.shape[:2]
    cuts: list[tuple[int, int, int, int]] = []
    found: list[TextBox] = []
    for trace in traces:
        if len(cuts) == most:
            break
        if any(_compute_rectangle_overlap(trace.bounds, cut) > _COVERED for cut in cuts):
            continue
        left, top, right, bottom = trace.bounds
        grow_x = max((CUT_PX[0] / float(scale[0]) - (right - left)) / 2, bottom - top)
        grow_y = max((CUT_PX[1] / float(scale[1]) - (bottom - top)) / 2, (bottom - top) / 2)
        cut = (
            max(0, int(left - grow_x)), max(0, int(top - grow_y)),
            min(width, int(right + grow_x)), min(height, int(bottom + grow_y)),
        )  # fmt: skip
        cuts.append(cut)
        part = with_slack(pixels[cut[1] : cut[3], cut[0] : cut[2]])
        larger = CLOSER * float(scale.min())
        larger = min(larger, math.sqrt(CUT_PIXELS / max(1, part.shape[0] * part.shape[1])))
        shift = np.array(cut[:2], dtype=np.float32)
        lines = _join_upright_boxes(_detect(*_resize_pixels(part, larger))[0])
        found += [TextBox(box.quad + shift, box.score) for box in lines]
    return found


def _join_upright_boxes(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Return boxes, with upright ones that stand beside each other in one line as one."""
    kept: list[TextBox] = []
    for box in sorted(boxes, key=lambda item: item.bounds[0]):
        beside = next((number for number, other in enumerate(kept) if _in_one_line(other, box)), None)
        if beside is None:
            kept.append(box)
            continue
        (left, top, right, bottom), (_, upper, end, lower) = kept[beside].bounds, box.bounds
        top, right, bottom = min(top, upper), max(right, end), max(bottom, lower)
        quad = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float32)
        kept[beside] = TextBox(quad, max(kept[beside].score, box.score))
    return kept


def _in_one_line(left: TextBox, right: TextBox) -> bool:
    item, other = left.bounds, right.bounds
    tall = min(item[3] - item[1], other[3] - other[1])
    level = min(item[3], other[3]) - max(item[1], other[1]) > ONE_LINE_OVERLAP * tall
    wide = all(bounds[2] - bounds[0] > bounds[3] - bounds[1] for bounds in (item, other))
    return level and wide and other[0] - item[2] < tall


def _together(boxes: Sequence[TextBox], more: Iterable[TextBox]) -> list[TextBox]:
    """Return boxes with those of a closer look, where a longer box of the same line takes the place of its parts."""
    kept = list(boxes)
    for new in more:
        parts = [old for old in kept if _compute_box_overlap(old.quad, new.quad) > _COVERED]
        two_lines = any(min(sides(new.quad)) > TWO_LINE_RATIO * min(sides(old.quad)) for old in parts)
        if not two_lines and not any(_compute_box_overlap(new.quad, old.quad) > _COVERED for old in kept):
            kept = [old for old in kept if all(old is not part for part in parts)] + [new]
    return kept


def _compute_rectangle_overlap(inner: Sequence[float], outer: Sequence[float]) -> float:
    """Return how much of a rectangle lies in another, 0 to 1."""
    wide = min(inner[2], outer[2]) - max(inner[0], outer[0])
    tall = min(inner[3], outer[3]) - max(inner[1], outer[1])
    size = (inner[2] - inner[0]) * (inner[3] - inner[1])
    return wide * tall / size if wide > 0 and tall > 0 and size > 0 else 0.0


def _compute_box_overlap(inner: Quad, outer: Quad) -> float:
    """Return how much of a box, which may be slanted, lies in another, 0 to 1."""
    import cv2

    size = float(cv2.contourArea(inner))
    return float(cv2.intersectConvexConvex(inner, outer)[0]) / size if size > 0 else 0.0
