"""A stand-in for text reading that returns given lines, and the detective at work on them."""

import asyncio
import io
from collections.abc import Sequence
from functools import cache

from PIL import Image

from geosleuth.agent.locate import Finding, locate
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas import Atlas
from geosleuth.models.detective import Detective
from geosleuth.photo import View, open_photo
from geosleuth.photo.text import TextLine, detect_script
from geosleuth.tools import TextReader
from geosleuth.tools.toolset import all_tools

SIZE = (1200, 900)


def reader_of(lines: Sequence[str], *, upright: bool = False) -> TextReader:
    """Return a stand-in for text reading: lines one below the other, or the characters of each as a column."""

    def read(view: View) -> list[TextLine]:
        if view.box_in_original != (0, 0, *SIZE):
            return []
        if upright:
            boxes = [
                (character, (100 + 200 * column, 60 + 66 * row, 160 + 200 * column, 120 + 66 * row))
                for column, text in enumerate(lines)
                for row, character in enumerate(text)
            ]
        else:
            boxes = [
                (text, (100, 60 + 120 * row, 100 + 25 * len(text), 120 + 120 * row)) for row, text in enumerate(lines)
            ]
        return [_line(text, [side * view.size[0] / SIZE[0] for side in box]) for text, box in boxes]

    return read


def _line(text: str, box: Sequence[float]) -> TextLine:
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return TextLine(text, corners, 0.98, detect_script(text), "clue boxes")


@cache
def blank_photo() -> bytes:
    """Return a white photo."""
    picture = io.BytesIO()
    Image.new("RGB", SIZE, "white").save(picture, "JPEG")
    return picture.getvalue()


def locate_lines(
    lines: Sequence[str], atlas: Atlas, *, upright: bool = False, detective: Detective | None = None
) -> Finding:
    """Return what the detective makes of lines."""
    method = method_of("detective")
    setup = AgentSetup(method=method, policy=detective or Detective(), toolset=method.toolset(all_tools()))
    reader = reader_of(lines, upright=upright)
    return asyncio.run(locate([open_photo(blank_photo())], setup, Resources(atlas, reader=reader)))
