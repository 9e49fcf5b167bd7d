"""Cut a line out of a picture and lay it flat, for engines that read one level line at a time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from geosleuth.geo import FloatArray

Pixels: TypeAlias = npt.NDArray[np.uint8]
Quad: TypeAlias = npt.NDArray[np.float32]

LINE_HEIGHT_PX = 48
MAX_TIMES_AS_WIDE = 40
# Minimum ratio of height to width for a box whose line was rotated by 90 degrees.
UPRIGHT_RATIO = 1.5

# Offset of a box's first corner that keeps its text upright if the picture is turned clockwise, by angle in degrees.
_CORNER_OFFSETS = {0: 0, 90: 1, 180: 2, 270: -1}


SLACK_ROWS, SLACK_BYTES = 2, 4096

_PITCHES = (0.85, 1.0, 1.2, 1.45)
_SHORTEST, _LONGEST = 0.6, 1.6


def with_slack(pixels: npt.NDArray[Any]) -> Pixels:
    """A copy with unused bytes behind it.

    OpenCV's fast paths on aarch64 (seen in `cv2.resize` of 5.0) read on past the end of their source, by about a row:
    where memory ends there, the whole process dies.
    """
    slack = SLACK_BYTES + SLACK_ROWS * pixels[:1].size
    room = np.empty(pixels.size + slack, dtype=np.uint8)
    copy: Pixels = room[: pixels.size].reshape(pixels.shape)
    copy[...] = pixels
    return copy


def sides(quad: Quad) -> tuple[float, float]:
    """Width and height of a box in pixels: the longer of each two opposite sides."""
    top, right, bottom, left = (float(np.linalg.norm(quad[i] - quad[(i + 1) % 4])) for i in range(4))
    return max(top, bottom), max(left, right)


def is_tall(quad: Quad) -> bool:
    """Return whether a box holds a line that was turned a quarter."""
    width, height = sides(quad)
    return height >= UPRIGHT_RATIO * width


def rotate_quad(quad: Quad, turn: int) -> Quad:
    """The corners of a box from the upper left of text that stands upright once the picture is turned clockwise."""
    return np.roll(quad, _CORNER_OFFSETS[turn], axis=0)


def cut_strip(pixels: Pixels, quad: Quad, *, tall: int = LINE_HEIGHT_PX, margin: float = 0.0) -> Pixels:
    """Return the line in a box as a level strip, so many pixels tall, with a margin around it in shares of that."""
    return cut_strips(pixels, [quad], tall=tall, margin=margin)[0]


def cut_strips(
    pixels: Pixels, quads: Sequence[Quad], *, tall: int = LINE_HEIGHT_PX, margin: float = 0.0
) -> list[Pixels]:
    """Return the strips of one box whose corners are counted from different ones: as it may stand."""
    import cv2

    width, height = sides(quads[0])
    if height >= UPRIGHT_RATIO * width:
        quads, width, height = [rotate_quad(quad, 270) for quad in quads], height, width
    scale = tall / max(height, 1.0)
    inner = max(8, min(round(width * scale), MAX_TIMES_AS_WIDE * tall))
    edge = round(margin * tall)
    right, bottom = edge + inner, edge + tall
    target = np.array([[edge, edge], [right, edge], [right, bottom], [edge, bottom]], dtype=np.float32)
    if scale < 0.5:
        # Warping samples four by four pixels only: without a blur beforehand, big letters would come out jagged.
        left, top = np.maximum(np.floor(quads[0].min(axis=0)).astype(int) - 8, 0)
        far, low = np.ceil(quads[0].max(axis=0)).astype(int) + 8
        pixels = cv2.GaussianBlur(pixels[top:low, left:far], (0, 0), 0.4 / scale).astype(np.uint8)
        quads = [(quad - np.array([left, top], dtype=np.float32)).astype(np.float32) for quad in quads]
    strips = []
    for quad in quads:
        warp: Any = cv2.getPerspectiveTransform(quad.astype(np.float32), target)
        strip = cv2.warpPerspective(
            pixels, warp, (inner + 2 * edge, tall + 2 * edge),
            flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        strips.append(strip.astype(np.uint8))
    return strips


def dark_on_white(strip: Pixels) -> Pixels:
    """Return the strip in grey: letters always dark, the wall's shades and grain taken out."""
    import cv2

    grey = cv2.GaussianBlur(cv2.cvtColor(strip, cv2.COLOR_RGB2GRAY), (0, 0), 0.6).astype(np.float32)
    level, _ = cv2.threshold(grey.astype(np.uint8), 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    rim = np.concatenate([grey[:3].ravel(), grey[-3:].ravel(), grey[:, :3].ravel(), grey[:, -3:].ravel()])
    if np.median(rim) < level:
        grey, level = 255 - grey, 255 - level
    wall = np.where(grey > level, grey, np.nan)
    # Letters leave holes in the wall: fill them with the wall around them, then smooth.
    weight = cv2.GaussianBlur(np.isfinite(wall).astype(np.float32), (0, 0), 16)
    shade = cv2.GaussianBlur(np.nan_to_num(wall).astype(np.float32), (0, 0), 16) / np.maximum(weight, 1e-3)
    ink = np.clip(shade - grey, 0, None)
    full = max(float(np.percentile(ink, 97)), 12.0)
    cleaned: Pixels = (255 - np.clip((ink / full - 0.12) / 0.8, 0, 1) * 255).astype(np.uint8)
    return cleaned


def cut_stacked_strip(pixels: Pixels, quad: Quad, *, tall: int = LINE_HEIGHT_PX, margin: float = 0.0) -> Pixels | None:
    """Return the letters of a column, which stand one below the other, laid side by side; None for a single one."""
    import cv2

    width, height = sides(quad)
    right, bottom = LINE_HEIGHT_PX, min(round(LINE_HEIGHT_PX * height / max(width, 1.0)), 20 * LINE_HEIGHT_PX)
    target = np.array([[0, 0], [right, 0], [right, bottom], [0, bottom]], dtype=np.float32)
    warp: Any = cv2.getPerspectiveTransform(quad.astype(np.float32), target)
    column = cv2.warpPerspective(
        pixels, warp, (right, bottom), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    ).astype(np.uint8)  # fmt: skip
    ink = 255.0 - dark_on_white(column).astype(np.float64)
    cuts = _cuts_between_letters(ink)
    if len(cuts) < 3:  # both ends and one between
        return None
    left, right = _find_ink_span(ink.sum(axis=0))
    deepest = max(after - before for before, after in pairwise(cuts))
    cells = []
    for before, after in pairwise(cuts):
        above = (deepest - (after - before)) // 2
        below = deepest - (after - before) - above
        cells.append(np.pad(column[before:after, left:right], ((above, below), (0, 0), (0, 0)), mode="edge"))
    line = np.hstack(cells)
    inner = round(line.shape[1] * tall / deepest)
    edge = round(margin * tall)
    strip = cv2.resize(with_slack(line), (max(8, inner), tall), interpolation=cv2.INTER_AREA)
    return np.pad(strip, ((edge, edge), (edge, edge), (0, 0)), mode="edge").astype(np.uint8)


def _cuts_between_letters(ink: FloatArray) -> list[int]:
    """Return the rows between the letters of a column: little ink, and letters of about one height."""
    rows = ink.sum(axis=1)
    rows = rows / max(float(np.percentile(rows, 90)), 1.0)
    left, right = _find_ink_span(ink.sum(axis=0))
    first, last = _find_ink_span(rows)
    wide = right - left
    if wide < LINE_HEIGHT_PX / 4:
        return []
    best: tuple[float, list[int]] = (np.inf, [])
    for pitch in (share * wide for share in _PITCHES):
        least, most = max(4, round(_SHORTEST * pitch)), round(_LONGEST * pitch)
        costs = np.full(last + 1, np.inf)
        costs[first] = 0.0
        before = np.zeros(last + 1, dtype=int)
        for row in range(first + least, last + 1):
            starts = np.arange(max(first, row - most), row - least + 1)
            steps = costs[starts] + ((row - starts) / pitch - 1.0) ** 2
            chosen = int(np.argmin(steps))
            costs[row] = steps[chosen] + (rows[row] if row < last else 0.0)
            before[row] = starts[chosen]
        if not np.isfinite(costs[last]):
            continue
        cuts = [last]
        while cuts[-1] != first:
            cuts.append(int(before[cuts[-1]]))
        cost = float(costs[last]) / (len(cuts) - 1)
        best = min(best, (cost, cuts[::-1]))
    return best[1]


def _find_ink_span(ink: FloatArray) -> tuple[int, int]:
    """Return where ink begins and ends along a side, with a rim."""
    found = np.flatnonzero(ink > 0.1 * max(float(ink.max(initial=0.0)), 1e-6))
    return (max(0, int(found[0]) - 2), min(len(ink), int(found[-1]) + 3)) if len(found) else (0, 0)
