"""One line of text that was read off a picture."""

from dataclasses import dataclass
from typing import Literal

Corner = tuple[float, float]
"""Pixels from the left and from the top of the picture that was given."""

Bounds = tuple[float, float, float, float]
"""Left, top, right, bottom."""

Engine = Literal["rapidocr", "tesseract", "clue boxes"]
"""Who read it. Clue boxes are the truth of a drawn scene: whoever reads by them has not looked at a pixel."""


Overlay = Literal["stamp", "credit", "caption", "interface", "registration", "product"]
"""Text that says nothing about the place: see `geosleuth.photo.text.overlays`."""

Turn = Literal[0, 90, 180, 270]
"""Degrees clockwise that a picture must be turned for a line to stand upright."""


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
        return turned_bounds(self.bounds, self.turn)


def turned_bounds(bounds: Bounds, turn: int) -> Bounds:
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
