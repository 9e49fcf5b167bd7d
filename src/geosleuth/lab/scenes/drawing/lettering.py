"""The designs of boards, and their lines of text as masks. Some designs appear in held-out scenes alone."""

import io
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from geosleuth.atlas.maps.labels import HALO_PX, can_shape, line, measure, width_px
from geosleuth.lab.scenes.scene import Board, Split

from .camera import sine

Lettering = Literal[
    "plain", "bold", "condensed", "wide", "slanted", "outlined", "shadowed", "neon", "embossed", "hand",
]  # fmt: skip
Panel = Literal[
    "plain", "line", "double", "rounded", "pill", "enamel", "planks", "lightbox", "stripes", "header", "footer",
    "tiles", "chalk", "paper", "torn", "awning", "burst", "split", "arrow", "band", "studs",
]  # fmt: skip

_SHOPS = (
    ("#3f1d1d", "#fdf6e3", "#d8b26a"), ("#12372a", "#fbfada", "#c9a227"), ("#27374d", "#e6eef5", "#9fb8cf"),
    ("#f5efe0", "#2b2118", "#8a5a2b"), ("#7a1f2b", "#fff4e6", "#e8c48a"), ("#1f4e5f", "#f4faf8", "#f2b134"),
)  # fmt: skip
_BRIGHT = (
    ("#ffffff", "#b00020", "#b00020"), ("#ffd400", "#1a1a1a", "#c1121f"), ("#0b63b0", "#ffffff", "#ffd400"),
    ("#d62828", "#ffffff", "#fcbf49"), ("#0a7d43", "#ffffff", "#ffe08a"), ("#f77f00", "#1b1108", "#ffffff"),
)  # fmt: skip
_DARK = (("#101820", "#f2aa4c", "#f2aa4c"), ("#14110f", "#f3e9d2", "#c9a227"), ("#0d1b2a", "#e0e1dd", "#778da9"))
_NEON = (
    ("#120b1c", "#ff4f9a", "#3b0f2b"), ("#0a1420", "#4fd8ff", "#0d3447"), ("#0f140a", "#a6ff5e", "#21400f"),
    ("#180f08", "#ffb347", "#4a2a0a"),
)  # fmt: skip
_PAPER = (("#f7f4ea", "#26221c", "#8c2f1b"), ("#ffffff", "#1b2a41", "#1b2a41"), ("#fff3b0", "#33261d", "#9e2a2b"))
_WOOD = (("#8a5a33", "#fff3dc", "#5b3a1e"), ("#a9793f", "#2b1a0c", "#6f4a22"), ("#5a3d2b", "#f2e2c4", "#3a2719"))
# Faces are opened at these sizes alone: each opening unpacks the font again, which is slow for the large scripts.
_SIZES_PX = (20, 32, 46, 66, 96, 140)
_WIDTHS = {"condensed": 0.84, "wide": 1.14}
_SLANT = 0.2
_NEARLY = 0.94
_PLAIN_LETTERINGS = ("plain", "condensed", "neon", "hand")
_MEASURED_PX = 40
_TALL_SCRIPT_EM = 1.5
_LOCK = threading.Lock()
"""FreeType's fonts must not be used from two threads at once."""


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


_ALL: tuple[Design, ...] = (
    Design("fascia", "shop_front", "line", "bold", _SHOPS),
    Design("lightbox", "shop_front", "lightbox", "bold", _BRIGHT),
    Design("shopfront_enamel", "shop_front", "enamel", "plain", _BRIGHT[:4]),
    Design("planks", "shop_front", "planks", "hand", _WOOD),
    Design("glass_gold", "shop_front", "double", "embossed", _DARK),
    Design("awning", "shop_front", "awning", "bold", _BRIGHT),
    Design("pill", "shop_front", "pill", "wide", _SHOPS),
    Design("two_tone", "shop_front", "band", "slanted", _BRIGHT),
    Design("neon", "shop_front", "lightbox", "neon", _NEON, held_out=True),
    Design("candy_stripes", "shop_front", "stripes", "outlined", _BRIGHT, held_out=True),
    Design("studded", "shop_front", "studs", "shadowed", _SHOPS, held_out=True),
    Design("plate_blue", "street_plate", "enamel", "plain", (("#1d3f8f", "#ffffff", "#ffffff"),)),
    Design("plate_white", "street_plate", "line", "bold", (("#fafaf5", "#1a1a1a", "#1a1a1a"),)),
    Design("plate_green", "street_plate", "rounded", "bold", (("#14532d", "#ffffff", "#ffffff"),)),
    Design("plate_header", "street_plate", "header", "plain", (
        ("#f8f8f4", "#14233c", "#b0232a"), ("#f8f8f4", "#14233c", "#1f4f9c"),
    )),
    Design("plate_iron", "street_plate", "double", "embossed", (("#17191c", "#f3f0e6", "#f3f0e6"),), held_out=True),
    Design("plate_tiles", "street_plate", "tiles", "plain", (("#f4f1e4", "#1c3f87", "#1c3f87"),), held_out=True),
    Design("number_blue", "house_number", "enamel", "bold", (("#1d3f8f", "#ffffff", "#ffffff"),)),
    Design("number_white", "house_number", "rounded", "bold", (("#fbfbf7", "#20242a", "#20242a"),)),
    Design("number_black", "house_number", "plain", "plain", (("#22262b", "#f5f5f0", "#f5f5f0"),)),
    Design("number_tile", "house_number", "tiles", "bold", (("#f4f1e4", "#1c3f87", "#1c3f87"),), held_out=True),
    Design("number_brass", "house_number", "double", "embossed", (("#b08d3c", "#2a1f0b", "#6d5520"),), held_out=True),
    Design("stop_header", "bus_stop", "header", "bold", (
        ("#f6f6f2", "#14233c", "#0b4f8a"), ("#f6f6f2", "#16281c", "#0a7d43"), ("#f6f6f2", "#2a1515", "#c1121f"),
    )),
    Design("stop_blue", "bus_stop", "rounded", "bold", (("#0b4f8a", "#ffffff", "#ffffff"),)),
    Design("stop_footer", "bus_stop", "footer", "plain", (("#ffffff", "#1f2937", "#f2b705"),)),
    Design("stop_yellow", "bus_stop", "double", "condensed", (("#ffd21f", "#10301c", "#10301c"),), held_out=True),
    Design("notice_paper", "notice", "paper", "plain", _PAPER, left=True),
    Design("notice_card", "notice", "line", "plain", _PAPER),
    Design("notice_board", "notice", "header", "plain", (
        ("#f4f6f8", "#16324f", "#16324f"), ("#f6f3ec", "#3a1d1d", "#7c1d1d"),
    ), left=True),
    Design("notice_plaque", "notice", "double", "embossed", (("#c8ccd0", "#22262b", "#6a7076"),)),
    Design("notice_chalk", "notice", "chalk", "hand", (("#26312c", "#f2f0e6", "#8a5a33"),), held_out=True),
    Design("notice_torn", "notice", "torn", "condensed", _PAPER, held_out=True, left=True),
    Design("poster_block", "poster", "split", "bold", (
        ("#b91c1c", "#fff7ed", "#7f1010"), ("#0f4c5c", "#ffffff", "#e36414"), ("#fde047", "#1c1917", "#f59e0b"),
    )),
    Design("poster_frame", "poster", "double", "plain", (
        ("#f5e9d3", "#3d1c10", "#b5502b"), ("#e6eff5", "#142c47", "#2a6f97"),
    )),
    Design("poster_footer", "poster", "footer", "wide", (
        ("#1d3557", "#f1faee", "#e63946"), ("#2d6a4f", "#f4fff8", "#ffd166"),
    )),
    Design("poster_burst", "poster", "burst", "shadowed", (
        ("#ffb703", "#3a0f0f", "#fb8500"), ("#c1121f", "#ffffff", "#e5383b"), ("#219ebc", "#ffffff", "#48b5d0"),
    ), held_out=True),
    Design("poster_torn", "poster", "torn", "condensed", _PAPER, held_out=True),
    Design("billboard_band", "billboard", "band", "bold", _BRIGHT),
    Design("billboard_split", "billboard", "split", "wide", (
        ("#ffffff", "#123524", "#2e8b57"), ("#fff8e7", "#7a1022", "#c1272d"), ("#f0f6ff", "#0b2c5f", "#2f6fd0"),
    )),
    Design("billboard_frame", "billboard", "line", "slanted", _SHOPS),
    Design("billboard_burst", "billboard", "burst", "outlined", (
        ("#ffb703", "#3a0f0f", "#fb8500"), ("#219ebc", "#ffffff", "#48b5d0"),
    ), held_out=True),
    Design("bus_side", "bus", "plain", "bold", (
        ("#e5e7eb", "#111827", "#1e40af"), ("#1e40af", "#ffffff", "#93c5fd"), ("#166534", "#f0fdf4", "#86efac"),
        ("#b91c1c", "#ffffff", "#fecaca"),
    )),
    Design("bus_band", "bus", "band", "slanted", (
        ("#ffffff", "#0b4f8a", "#0b4f8a"), ("#f8e16c", "#1c1917", "#b45309"), ("#ffffff", "#9d174d", "#f472b6"),
    )),
    Design("bus_stripes", "bus", "stripes", "outlined", (
        ("#f1f5f9", "#7c2d12", "#fb923c"), ("#ecfeff", "#164e63", "#22d3ee"),
    ), held_out=True),
    Design("number_plate", "number_plate", "band", "condensed", (("#ffffff", "#111111", "#1f3f99"),)),
    Design("number_plate_wide", "number_plate", "line", "wide", (("#ffffff", "#111111", "#111111"),), held_out=True),
    Design("town_yellow", "town_sign", "line", "bold", (("#ffd21f", "#111111", "#111111"),)),
    Design("town_white", "town_sign", "line", "bold", (("#fafafa", "#111111", "#b0232a"),)),
    Design("town_green", "town_sign", "rounded", "bold", (("#14532d", "#ffffff", "#ffffff"),)),
    Design("town_blue", "town_sign", "rounded", "plain", (("#1d4ed8", "#ffffff", "#ffffff"),)),
    Design("town_stone", "town_sign", "double", "embossed", (("#b9b1a1", "#3a342a", "#8b8374"),), held_out=True),
    Design("town_timber", "town_sign", "planks", "hand", _WOOD, held_out=True),
    Design("direction_green", "direction_sign", "rounded", "plain", (("#14532d", "#ffffff", "#ffffff"),), left=True),
    Design("direction_blue", "direction_sign", "rounded", "bold", (("#1d4ed8", "#ffffff", "#ffffff"),), left=True),
    Design("direction_white", "direction_sign", "line", "plain", (("#fafafa", "#111111", "#111111"),), left=True),
    Design("direction_arrow", "direction_sign", "arrow", "bold", (
        ("#fafafa", "#111111", "#111111"), ("#f7d417", "#111111", "#111111"),
    ), held_out=True, left=True),
    Design("shield_line", "road_shield", "double", "bold", (
        ("#fafafa", "#111111", "#111111"), ("#1f4f9c", "#ffffff", "#ffffff"), ("#b0232a", "#ffffff", "#ffffff"),
    )),
    Design("shield_yellow", "road_shield", "line", "bold", (("#ffd21f", "#111111", "#111111"),)),
    Design("shield_pill", "road_shield", "pill", "bold", (
        ("#14532d", "#ffffff", "#ffffff"), ("#1f4f9c", "#ffffff", "#ffffff"),
    ), held_out=True),
    Design("banner_plain", "banner", "plain", "bold", (
        ("#c1121f", "#ffffff", "#fcbf49"), ("#1d3557", "#f1faee", "#e63946"), ("#0a7d43", "#ffffff", "#ffe08a"),
    )),
    Design("banner_band", "banner", "band", "wide", (
        ("#ffffff", "#9b2226", "#ca6702"), ("#ffe8b6", "#432818", "#99582a"),
    )),
    Design("banner_stripes", "banner", "stripes", "shadowed", (
        ("#5f0f40", "#ffffff", "#9a031e"), ("#0f4c5c", "#ffffff", "#5f9ea0"),
    ), held_out=True),
)  # fmt: skip

DESIGN_OF: Mapping[str, Design] = {design.name: design for design in _ALL}
DESIGNS: Mapping[Board, tuple[str, ...]] = {
    board: tuple(design.name for design in _ALL if design.board == board)
    for board in dict.fromkeys(design.board for design in _ALL)
}
"""Every board's designs."""
HELD_OUT_DESIGNS: frozenset[str] = frozenset(design.name for design in _ALL if design.held_out)
"""Designs that scenes for training never show."""


def designs_for(board: Board, split: Split) -> tuple[str, ...]:
    """Return the designs that a board may have in a scene of a split: held-out scenes show held-out designs alone."""
    return tuple(name for name in DESIGNS[board] if (name in HELD_OUT_DESIGNS) == (split == "held-out"))


def design_of(name: str, board: Board) -> Design:
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
        mask = _slanted(mask, round(_SLANT * size))
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


def _slanted(mask: Image.Image, aside_px: int) -> Image.Image:
    """Return letters that lean to the right: every row moved by whole pixels."""
    pixels = np.asarray(mask)
    height, width = pixels.shape
    leaning = np.zeros((height, width + aside_px), np.uint8)
    for row in range(height):
        shift = aside_px - aside_px * row // height
        leaning[row, shift : shift + width] = pixels[row]
    return Image.fromarray(leaning)


def _wobbling(mask: Image.Image, size: int) -> Image.Image:
    """Return letters of an unsteady hand: columns moved up and down by whole pixels."""
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
