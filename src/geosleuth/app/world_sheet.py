"""Scenes on a sheet with captions, and a scene with its clues framed."""

from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image, ImageDraw

from geosleuth.atlas.maps.lettering import line, stencil
from geosleuth.world.model import Mark, Scene

_CELL, _GAP, _CAPTION = (448, 336), 12, 46
_GROUND, _INK, _FAINT = (250, 249, 246), (28, 28, 30), (110, 110, 114)
_FRAMES = {"plain": (22, 120, 60), "small": (20, 80, 190), "hidden": (120, 120, 120)}
_MISLEADING = (200, 30, 40)


class Caption(NamedTuple):
    """Two lines below a picture."""

    place: str
    facts: str


def sheet_of(cells: Sequence[tuple[Image.Image, Caption]], columns: int) -> Image.Image:
    """All pictures in a grid, each in a cell of the same size."""
    columns = max(1, min(columns, len(cells)))
    rows = -(-len(cells) // columns)
    wide, tall = _CELL[0] + _GAP, _CELL[1] + _CAPTION + _GAP
    sheet = Image.new("RGB", (columns * wide + _GAP, max(1, rows) * tall + _GAP), _GROUND)
    for number, (image, caption) in enumerate(cells):
        left, top = _GAP + number % columns * wide, _GAP + number // columns * tall
        fitted = image.copy()
        fitted.thumbnail(_CELL, Image.Resampling.LANCZOS)
        at = (left + (_CELL[0] - fitted.width) // 2, top + (_CELL[1] - fitted.height) // 2)
        sheet.paste(fitted, at)
        _write(sheet, (left, top + _CELL[1] + 2), caption.place, 16, _INK, bold=True)
        _write(sheet, (left, top + _CELL[1] + 23), caption.facts, 13, _FAINT)
    return sheet


def framed(image: Image.Image, marks: Sequence[Mark], scene: Scene) -> Image.Image:
    """The picture with a frame around each clue: green plain, blue small, grey hidden, red misleading."""
    clues = {clue.id: clue for clue in scene.clues}
    drawing = ImageDraw.Draw(image)
    width = max(2, image.width // 500)
    for mark in marks:
        clue = clues.get(mark.clue)
        if mark.line is None and clue is not None:
            colour = _MISLEADING if clue.misleading else _FRAMES[clue.visibility]
            drawing.rectangle(mark.box, outline=colour, width=width)
    return image


def _write(
    sheet: Image.Image, at: tuple[int, int], text: str, size_px: int, ink: tuple[int, int, int], *, bold: bool = False
) -> None:
    if line(text, bold=bold) is None:
        text = text.encode("ascii", "replace").decode()
    mask = stencil([text], size_px, bold=bold)
    mask = mask.crop((0, 0, min(mask.width, _CELL[0]), mask.height))
    sheet.paste(ink, (at[0], at[1], at[0] + mask.width, at[1] + mask.height), mask)
