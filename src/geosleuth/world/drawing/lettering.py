"""Lines of text as masks, in the manners that signs are lettered in: condensed, slanted, painted by hand and so on."""

import io
import threading
from functools import lru_cache
from importlib.resources import files

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from geosleuth.atlas.maps.lettering import HALO_PX, can_shape, line, measure, width_px

from .camera import sine
from .designs import Lettering

# Faces are opened at these sizes alone: each opening unpacks the font anew, which is slow for the large scripts.
_SIZES_PX = (20, 32, 46, 66, 96, 140)
_WIDTHS = {"condensed": 0.84, "wide": 1.14}
_SLANT = 0.2
_NEARLY = 0.94
_PLAIN_LETTERINGS = ("plain", "condensed", "neon", "hand")
_MEASURED_PX = 40
_TALL_SCRIPT_EM = 1.5
_LOCK = threading.Lock()
"""FreeType's fonts must not be used from two threads at once."""


def drawable(text: str) -> bool:
    """Whether the fonts have every letter of a text."""
    return line(text, bold=True) is not None


@lru_cache(maxsize=4096)
def width_em(text: str, lettering: Lettering) -> float:
    """How wide a text is, in ems."""
    wide = width_px(text, _MEASURED_PX, bold=_bold(lettering)) / _MEASURED_PX * _WIDTHS.get(lettering, 1.0)
    return wide + (_SLANT if lettering == "slanted" else 0.0)


@lru_cache(maxsize=4096)
def height_em(text: str) -> float:
    """How tall a line of this text is, in ems: scripts with marks above and below need more."""
    return (measure([text], _MEASURED_PX)[1] - 2 * HALO_PX) / _MEASURED_PX


def letters(text: str, em_px: float, lettering: Lettering) -> Image.Image:
    """A mask of one line of text, without margins at its sides, an em so many pixels tall.

    Raises:
        ValueError: where no font has one of the letters.
    """
    size = next((size for size in _SIZES_PX if size >= em_px * _NEARLY), _SIZES_PX[-1])
    bold = _bold(lettering)
    if line(text, bold=bold) is None:
        raise ValueError(f"no font has all the letters of {text!r}")
    mask = _mask(text, size, bold=bold)
    if lettering == "slanted":
        mask = _slanted(mask, round(_SLANT * size))
    elif lettering == "hand":
        mask = _wobbling(mask, size)
    share = em_px / size
    wide = max(1, round(mask.width * share * _WIDTHS.get(lettering, 1.0)))
    return mask.resize((wide, max(1, round(mask.height * share))), Image.Resampling.BILINEAR)


def _mask(text: str, size_px: int, *, bold: bool) -> Image.Image:
    """One line at a size that a face is opened at, from the first letter's start to the last one's end."""
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


def _slanted(mask: Image.Image, aside_px: int) -> Image.Image:
    """Letters that lean to the right: every row moved by whole pixels."""
    pixels = np.asarray(mask)
    height, width = pixels.shape
    leaning = np.zeros((height, width + aside_px), np.uint8)
    for row in range(height):
        shift = aside_px - aside_px * row // height
        leaning[row, shift : shift + width] = pixels[row]
    return Image.fromarray(leaning)


def _wobbling(mask: Image.Image, size: int) -> Image.Image:
    """Letters of an unsteady hand: columns moved up and down by whole pixels."""
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
