"""One line of text that was read off a picture."""

from dataclasses import dataclass
from typing import Literal

Corner = tuple[float, float]
"""Pixels from the left and from the top of the picture that was given."""

Engine = Literal["rapidocr", "tesseract", "clue boxes"]
"""Who read it. Clue boxes are the truth of a drawn scene: whoever reads by them has not looked at a pixel."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text as it is written, in reading order (right-to-left text begins with its first letter).

    The box names four corners from the upper left of the text, clockwise; a turned sign has a turned box. The
    confidence (0 to 1) is the engine's own and is not calibrated between engines. Without text it is writing that was
    noticed and not read.
    """

    text: str
    box: tuple[Corner, Corner, Corner, Corner]
    confidence: float
    script: str
    engine: Engine

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the upright rectangle around the box."""
        across, down = zip(*self.box, strict=True)
        return min(across), min(down), max(across), max(down)
