"""Reading a scene by its clue boxes: a stand-in that reads large letters better, and looks at no pixel.

It separates the cost of reading text from that of reasoning, and serves where reading pixels would be too slow. Every
line says that it was read so: its engine is "clue boxes".
"""

from collections.abc import Sequence

from geosleuth.photo import View
from geosleuth.photo.text import TextLine, detect_script
from geosleuth.tools import TextReader

from .scene import Mark, Scene

# Minimum height at which letters are legible in the view.
LEGIBLE_PX = 7.5

# Minimum height at which letters are noticed, though not read.
NOTICED_PX = 3.0

# Maximum share of a line that may lie outside on each side without keeping it from being read whole.
_MAX_CUT_OFF_SHARE = 0.1

Pixels = tuple[int, int, int, int]
"""Left, top, right, bottom."""


def is_in_view(line: Pixels, view: Pixels) -> bool:
    """Return whether a line of text lies in a view, up to a tenth of its width or height on each side."""
    across, down = _MAX_CUT_OFF_SHARE * (line[2] - line[0]), _MAX_CUT_OFF_SHARE * (line[3] - line[1])
    return (
        line[0] + across >= view[0]
        and line[2] - across <= view[2]
        and line[1] + down >= view[1]
        and line[3] - down <= view[3]
    )


def clue_reader(scene: Scene, marks: Sequence[Mark], *, photo: str | None = None) -> TextReader:
    """Return a reader of every line of the scene that is in the view and large enough, see `is_in_view`.

    Smaller letters are noticed, as lines without text. What is hidden is neither. Views that a panorama is cut into
    can't be read: their boxes are not the panorama's.

    Args:
        scene: what is read.
        marks: where its lines stand.
        photo: the handle of the scene's photo; of others, such as maps that tools drew, nothing is known. Without it,
            every view that could be one of the scene is taken for one.
    """
    clues = {clue.id: clue for clue in scene.clues}
    written = [
        (clues[mark.clue].lines[mark.line], mark)
        for mark in marks
        if mark.line is not None and clues[mark.clue].visibility != "hidden"
    ]

    def read(view: View) -> list[TextLine]:
        left, top, right, bottom = view.box_in_original
        if photo not in (None, view.photo_handle) or right > scene.size[0] or bottom > scene.size[1]:
            return []
        scale = view.size[0] / (right - left)
        found = []
        for text, mark in written:
            tall = mark.letter_px * scale
            if is_in_view(mark.box, view.box_in_original) and tall >= NOTICED_PX:
                box = [(side - (left, top)[at % 2]) * scale for at, side in enumerate(mark.box)]
                found.append(_build_line(text if tall >= LEGIBLE_PX else "", box))
        return found

    return read


def _build_line(text: str, box: Sequence[float]) -> TextLine:
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return TextLine(text, corners, 1.0 if text else 0.0, detect_script(text), "clue boxes")
