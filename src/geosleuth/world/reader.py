"""Reading a scene by its clue boxes: a stand-in for eyes that read as well as letters are large, and look at no pixel.

It serves to tell what text reading costs from what thinking costs, and where reading pixels would be too slow. Every
line says that it was read so: its engine is "clue boxes".
"""

from collections.abc import Sequence

from geosleuth.photo import View
from geosleuth.photo.text import TextLine, script_of
from geosleuth.tools import TextReader

from .model import Mark, Scene

LEGIBLE_PX = 7.5
"""Letters that are this tall in the view that is looked at can be read."""


def clue_reader(scene: Scene, marks: Sequence[Mark], *, least_px: float = LEGIBLE_PX) -> TextReader:
    """Reads every line of the scene whose letters are large enough in the view and whose middle lies in it.

    What is hidden is not read. The scene must be the first photo of its case: of others nothing is known.
    """
    clues = {clue.id: clue for clue in scene.clues}
    written = [
        (clues[mark.clue].lines[mark.line], mark)
        for mark in marks
        if mark.line is not None and clues[mark.clue].visibility != "hidden"
    ]

    def read(view: View) -> list[TextLine]:
        left, top, right, bottom = view.box_in_original
        if right > scene.size[0] or bottom > scene.size[1]:
            return []
        scale = view.size[0] / (right - left)
        found = []
        for text, mark in written:
            x = (mark.box[0] + mark.box[2]) / 2
            y = (mark.box[1] + mark.box[3]) / 2
            if left <= x < right and top <= y < bottom and mark.letter_px * scale >= least_px:
                found.append(_line(text, [(side - (left, top)[at % 2]) * scale for at, side in enumerate(mark.box)]))
        return found

    return read


def _line(text: str, box: Sequence[float]) -> TextLine:
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return TextLine(text, corners, 1.0, script_of(text), "clue boxes")
