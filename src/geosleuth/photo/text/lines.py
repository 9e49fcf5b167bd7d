"""Lines of text read off a picture: where they stand, which boxes are one line, and in what order they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .script import RIGHT_TO_LEFT
from .strips import Quad, sides

Corner = tuple[float, float]
"""Pixels from the left and from the top of the picture that was given."""

Bounds = tuple[float, float, float, float]
"""Left, top, right, bottom."""

Engine = Literal["rapidocr", "tesseract", "clue boxes"]
"""What read it. Clue boxes are the truth of a drawn scene: a reader that uses them has not looked at a pixel."""


Overlay = Literal["stamp", "credit", "caption", "interface", "registration", "product", "instruction"]
"""Text that says nothing about the place: see `geosleuth.photo.text.overlays`."""

Turn = Literal[0, 90, 180, 270]
"""Degrees clockwise that a picture must be turned for a line to stand upright."""

CLOSE_GAP = 0.9
LIKE_HEIGHT = 1.6
SAME_PLACE = 0.6


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text as it is written, in reading order (right-to-left text begins with its first letter).

    Attributes:
        text: what was read; empty for writing that was noticed and not read.
        box: four corners from the upper left of the text, clockwise; a turned sign has a turned box.
        confidence: how likely the reading is right, 0 to 1, the same for all engines; see
            `geosleuth.photo.text.reliability`.
        script: what it is written in.
        engine: who read it.
        turn: how the picture must be turned for the line to stand upright.
        overlay: why the line says nothing about the place, None for text of the scene.
    """

    text: str
    box: tuple[Corner, Corner, Corner, Corner]
    confidence: float
    script: str
    engine: Engine
    turn: Turn = 0
    overlay: Overlay | None = None

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the upright rectangle around the box."""
        across, down = zip(*self.box, strict=True)
        return min(across), min(down), max(across), max(down)

    @property
    def upright_bounds(self) -> Bounds:
        """The bounds as they lie once the picture is turned so that the line stands upright."""
        return rotate_bounds(self.bounds, self.turn)


def rotate_bounds(bounds: Bounds, turn: int) -> Bounds:
    """Return a rectangle turned clockwise about the origin: what lies where to what is kept, distances too."""
    left, top, right, bottom = bounds
    match turn:
        case 90:
            return -bottom, left, -top, right
        case 180:
            return -right, -bottom, -left, -top
        case 270:
            return top, -right, bottom, -left
        case _:
            return bounds


def join_neighbours(quads: Sequence[Quad]) -> list[Quad]:
    """Boxes of words that stand close together on one level become the box of the line."""
    joined: list[Quad] = []
    for quad in sorted(quads, key=lambda quad: float(quad[:, 0].min())):
        for place, line in enumerate(joined):
            if _continues(line, quad):
                joined[place] = np.array([line[0], quad[1], quad[2], line[3]], dtype=np.float32)
                break
        else:
            joined.append(quad)
    return joined


def _continues(line: Quad, quad: Quad) -> bool:
    height, other = sides(line)[1], sides(quad)[1]
    if max(height, other) > LIKE_HEIGHT * min(height, other) or sides(quad)[0] < 0.2 * other:
        return False
    along = (line[1] - line[0]) / max(float(np.linalg.norm(line[1] - line[0])), 1.0)
    across = np.array([-along[1], along[0]])
    step = (quad[0] + quad[3]) / 2 - (line[1] + line[2]) / 2
    return -0.5 * height < float(step @ along) < CLOSE_GAP * height and abs(float(step @ across)) < 0.35 * height


def without_doubles(lines: Sequence[TextLine]) -> list[TextLine]:
    """Of lines that lie on one another, the surer one."""
    kept: list[TextLine] = []
    for line in sorted(lines, key=lambda line: -line.confidence):
        if all(overlap(line, other) < SAME_PLACE for other in kept):
            kept.append(line)
    return kept


def overlap(first: TextLine, second: TextLine) -> float:
    """Share of the smaller upright rectangle that lies in the other."""
    item, two = first.bounds, second.bounds
    width = min(item[2], two[2]) - max(item[0], two[0])
    height = min(item[3], two[3]) - max(item[1], two[1])
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (item, two))
    return max(width, 0.0) * max(height, 0.0) / max(smaller, 1e-6)


def in_reading_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Rows from the top; within a row from the left, or from the right where most of it is right-to-left."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.turn, _middle(line))):
        if (
            rows
            and rows[-1][0].turn == line.turn
            and _middle(line) - _middle(rows[-1][0]) < 0.5 * min(_height(line), _height(rows[-1][0]))
        ):
            rows[-1].append(line)
        else:
            rows.append([line])
    ordered: list[TextLine] = []
    for row in rows:
        backwards = 2 * sum(line.script in RIGHT_TO_LEFT for line in row) > len(row)
        ordered += sorted(row, key=lambda line: line.upright_bounds[0], reverse=backwards)
    return ordered


def _middle(line: TextLine) -> float:
    return (line.upright_bounds[1] + line.upright_bounds[3]) / 2


def _height(line: TextLine) -> float:
    return line.upright_bounds[3] - line.upright_bounds[1]
