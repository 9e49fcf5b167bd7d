"""The designs of boards, and their lines of text as masks. Some designs appear in held-out scenes alone."""

import io
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from geosleuth.atlas.maps.labels import HALO_PX, can_shape, line, measure, width_px
from geosleuth.lab.scenes.scene import Board, Split
from geosleuth.support.decode import decode

from .camera import sine

Lettering = Literal[
    "plain", "bold", "condensed", "wide", "slanted", "outlined", "shadowed", "neon", "embossed", "hand",
]  # fmt: skip
Panel = Literal[
    "plain", "line", "double", "rounded", "pill", "enamel", "planks", "lightbox", "stripes", "header", "footer",
    "tiles", "chalk", "paper", "torn", "awning", "burst", "split", "arrow", "band", "studs",
]  # fmt: skip

# Faces are opened at these sizes alone: each opening unpacks the font again, which is slow for the large scripts.
_SIZES_PX = (20, 32, 46, 66, 96, 140)
_WIDTHS = {"condensed": 0.84, "wide": 1.14}
_SLANT = 0.2
_NEARLY = 0.94
_PLAIN_LETTERINGS = ("plain", "condensed", "neon", "hand")
_MEASURED_PX = 40
_TALL_SCRIPT_EM = 1.5
# FreeType fonts must not be used by two threads at once.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Design:
    """One family: how the panel is made, how letters are, which colours (ground, ink, accent) it may have."""

    name: str
    board: Board
    panel: Panel
    lettering: Lettering
    colours: tuple[tuple[str, str, str], ...]
    held_out: bool = False
    left: bool = False


def _designs() -> Iterator[Design]:
    table = tomllib.loads((files(__package__) / "designs.toml").read_text(encoding="utf-8"))
    for name, row in table["designs"].items():
        colours = row["colours"] if isinstance(row["colours"], list) else table["palettes"][row["colours"]]
        yield decode({"name": name, **row, "colours": colours}, Design)


DESIGN_OF: Mapping[str, Design] = {design.name: design for design in _designs()}
# Names of all designs, by board.
DESIGNS: Mapping[Board, tuple[str, ...]] = {
    board: tuple(design.name for design in DESIGN_OF.values() if design.board == board)
    for board in dict.fromkeys(design.board for design in DESIGN_OF.values())
}
# Designs that training scenes never show.
HELD_OUT_DESIGNS: frozenset[str] = frozenset(design.name for design in DESIGN_OF.values() if design.held_out)


def list_designs(board: Board, split: Split) -> tuple[str, ...]:
    """Return the designs that a board may have in a scene of a split: held-out scenes show held-out designs alone."""
    return tuple(name for name in DESIGNS[board] if (name in HELD_OUT_DESIGNS) == (split == "held-out"))


def get_design(name: str, board: Board) -> Design:
    """Return a design by its name; the board's first one where the name means nothing for it."""
    design = DESIGN_OF.get(name)
    return design if design is not None and design.board == board else DESIGN_OF[DESIGNS[board][0]]


def drawable(text: str) -> bool:
    """Return whether the fonts have every letter of a text."""
    return line(text, bold=True) is not None


@lru_cache(maxsize=4096)
def width_em(text: str, lettering: Lettering) -> float:
    """Return how wide a text is, in ems."""
    wide = width_px(text, _MEASURED_PX, bold=_bold(lettering)) / _MEASURED_PX * _WIDTHS.get(lettering, 1.0)
    return wide + (_SLANT if lettering == "slanted" else 0.0)


@lru_cache(maxsize=4096)
def height_em(text: str) -> float:
    """Return how tall a line of this text is, in ems: scripts with marks above and below need more."""
    return (measure([text], _MEASURED_PX)[1] - 2 * HALO_PX) / _MEASURED_PX


def letters(text: str, em_px: float, lettering: Lettering) -> Image.Image:
    """Return a mask of one line of text, without margins at its sides, an em so many pixels tall.

    Raises:
        ValueError: where no font has one of the letters.
    """
    size = next((size for size in _SIZES_PX if size >= em_px * _NEARLY), _SIZES_PX[-1])
    bold = _bold(lettering)
    if line(text, bold=bold) is None:
        raise ValueError(f"no font has all the letters of {text!r}")
    mask = _mask(text, size, bold=bold)
    if lettering == "slanted":
        mask = _slant_mask(mask, round(_SLANT * size))
    elif lettering == "hand":
        mask = _wobbling(mask, size)
    share = em_px / size
    wide = max(1, round(mask.width * share * _WIDTHS.get(lettering, 1.0)))
    return mask.resize((wide, max(1, round(mask.height * share))), Image.Resampling.BILINEAR)


def _mask(text: str, size_px: int, *, bold: bool) -> Image.Image:
    """Return one line at a size that a face is opened at, from the first letter's start to the last one's end."""
    laid = line(text, bold=bold)
    runs = laid.runs if laid else ()
    direction = ("rtl" if laid and laid.right_to_left else "ltr") if can_shape() else None
    tall = height_em(text)
    base = round(size_px * (1.3 if tall > _TALL_SCRIPT_EM else 1.0))
    with _LOCK:
        faces = [_face(run.font, size_px) for run in runs]
        advances = [face.getlength(run.text, direction=direction) for run, face in zip(runs, faces, strict=True)]
        mask = Image.new("L", (int(sum(advances)) + 2, round(tall * size_px)))
        pen, x = ImageDraw.Draw(mask), 1.0
        for run, face, advance in zip(runs, faces, advances, strict=True):
            pen.text((x, base), run.text, fill=255, font=face, anchor="ls", direction=direction)
            x += advance
    return mask


@lru_cache(maxsize=96)
def _face(name: str, size_px: int) -> ImageFont.FreeTypeFont:
    data = (files("geosleuth.atlas.maps") / "fonts" / f"{name}.woff2").read_bytes()
    layout = ImageFont.Layout.RAQM if can_shape() else ImageFont.Layout.BASIC
    return ImageFont.truetype(io.BytesIO(data), size_px, layout_engine=layout)


def _bold(lettering: Lettering) -> bool:
    return lettering not in _PLAIN_LETTERINGS


def _slant_mask(mask: Image.Image, aside_px: int) -> Image.Image:
    """Return letters that lean to the right: every row moved by whole pixels."""
    pixels = np.asarray(mask)
    height, width = pixels.shape
    leaning = np.zeros((height, width + aside_px), np.uint8)
    for row in range(height):
        shift = aside_px - aside_px * row // height
        leaning[row, shift : shift + width] = pixels[row]
    return Image.fromarray(leaning)


def _wobbling(mask: Image.Image, size: int) -> Image.Image:
    pixels = np.asarray(mask)
    out = np.zeros_like(pixels)
    tall = max(1, round(size * 0.05))
    for column in range(pixels.shape[1]):
        turn = column * 360 // (size * 2)
        shift = int(tall * (sine(turn) + sine(turn * 5 // 3 + 70)) / 2 + 100.5) - 100
        source = pixels[:, column]
        if shift >= 0:
            out[shift:, column] = source[: len(source) - shift]
        else:
            out[:shift, column] = source[-shift:]
    return Image.fromarray(out)
