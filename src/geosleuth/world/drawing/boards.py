"""A clue's board as a flat picture: how it is laid out, its panel, its letters, and where each line stands on it."""

import random
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from geosleuth.world.model import Board, Clue, Look

from .canvas import Colour, colour, lit, mixed
from .designs import Design, design_of
from .lettering import height_em, letters, width_em
from .panels import draw_panel, margins_em
from .sheet import Sheet

# Per board: the widest a line may be before it is broken, the narrowest a panel may be (ems of its main line), and how
# large further lines are beside the first.
_MEASURES: dict[Board, tuple[float, float, float]] = {
    "shop_front": (15, 6.5, 0.62), "street_plate": (15, 4.5, 0.8), "house_number": (7, 1.7, 1.0),
    "bus_stop": (11, 4.5, 0.85), "notice": (12, 6, 1.0), "poster": (9, 5, 0.8), "billboard": (11, 7, 0.75),
    "bus": (16, 8, 0.75), "number_plate": (12, 4.6, 1.0), "town_sign": (12, 5, 0.8), "direction_sign": (14, 6, 1.0),
    "road_shield": (7, 2.2, 1.0), "banner": (18, 9, 0.75),
}  # fmt: skip
_LEADING = 1.12
_NARROW = 0.6
# Names may stand in two rows; telephone numbers, prices and road numbers should not.
_BREAKABLE: frozenset[Board] = frozenset({"shop_front", "poster", "billboard", "bus", "town_sign", "bus_stop"})


@dataclass(frozen=True, slots=True)
class Row:
    """A piece of a line: which line of the clue it is from, and where it stands (ems of the main line)."""

    text: str
    line: int
    size: float
    left: float
    top: float
    wide: float


@dataclass(frozen=True, slots=True)
class BoardPlan:
    """A board laid out, in ems of its main line."""

    clue: Clue
    design: Design
    rows: tuple[Row, ...]
    wide: float
    tall: float
    colours: tuple[Colour, Colour, Colour]

    @property
    def smallest(self) -> float:
        """The size of its smallest line."""
        return min((row.size for row in self.rows), default=1.0)

    def line_box(self, line: int) -> tuple[float, float, float, float]:
        """Where a line of the clue stands: left, top, right, bottom as shares of the board."""
        rows = [row for row in self.rows if row.line == line]
        return (
            min(row.left for row in rows) / self.wide, min(row.top + 0.12 * row.size for row in rows) / self.tall,
            max(row.left + row.wide for row in rows) / self.wide,
            max(row.top + (height_em(row.text) - 0.02) * row.size for row in rows) / self.tall,
        )  # fmt: skip


def plans_for(clue: Clue, chance: random.Random, look: Look | None = None) -> tuple[BoardPlan, ...]:
    """A clue's board laid out as its design has it; a second time where its lines can be broken to be narrower.

    ``look`` gives number plates their colours.
    """
    if clue.board is None:
        raise ValueError(f"clue {clue.id} has no board to draw")
    design = design_of(clue.design, clue.board)
    colours = chance.choice(design.colours)
    if clue.board == "number_plate" and look is not None:
        colours = (look.number_plate_ground, look.number_plate_ink, look.number_plate_band or look.number_plate_ground)
    usual = _laid_out(clue, design, colours, 1.0)
    if clue.board not in _BREAKABLE:
        return (usual,)
    narrow = _laid_out(clue, design, colours, _NARROW)
    return (usual, narrow) if len(narrow.rows) > len(usual.rows) else (usual,)


def _laid_out(clue: Clue, design: Design, hues: tuple[str, str, str], narrower: float) -> BoardPlan:
    widest, narrowest, lesser = _MEASURES[design.board]
    widest *= narrower
    pieces: list[tuple[str, int, float]] = []
    for number, text in enumerate(clue.lines):
        size = 1.0 if number == 0 else lesser
        pieces += [(part, number, size) for part in broken(text, widest / size, design)]
    widths = [width_em(text, design.lettering) * size for text, _, size in pieces]
    left, top, right, bottom = margins_em(design)
    inner = max(narrowest - left - right, *widths) if widths else narrowest
    rows: list[Row] = []
    y = top
    for (text, number, size), wide in zip(pieces, widths, strict=True):
        x = left if design.left else left + (inner - wide) / 2
        rows.append(Row(text, number, size, x, y, wide))
        y += height_em(text) * size * (_LEADING if len(pieces) > 1 else 1.0)
    ground, ink, accent = (colour(part) for part in hues)
    return BoardPlan(clue, design, tuple(rows), left + inner + right, y + bottom, (ground, ink, accent))


def broken(text: str, widest: float, design: Design) -> list[str]:
    """A line in as many pieces as it needs to be no wider than that, broken between words."""
    words = text.split(" ")
    if width_em(text, design.lettering) <= widest or len(words) == 1:
        return [text]
    cut = min(
        range(1, len(words)),
        key=lambda at: max(
            width_em(" ".join(words[:at]), design.lettering), width_em(" ".join(words[at:]), design.lettering)
        ),
    )
    return [
        *broken(" ".join(words[:cut]), widest, design),
        *broken(" ".join(words[cut:]), widest, design),
    ]


def draw_board(plan: BoardPlan, em_px: float, chance: random.Random) -> Image.Image:
    """The board as a picture (RGBA), an em of its main line so many pixels tall."""
    width, height = max(4, round(plan.wide * em_px)), max(4, round(plan.tall * em_px))
    sheet = draw_panel(plan.design, plan.colours, width, height, em_px, chance)
    for row in plan.rows:
        mask = letters(row.text, em_px * row.size, plan.design.lettering)
        _write(sheet, mask, row.left * em_px, row.top * em_px, em_px * row.size, plan)
    return sheet.image()


def _write(sheet: Sheet, mask: Image.Image, left: float, top: float, em_px: float, plan: BoardPlan) -> None:
    ground, ink, accent = plan.colours
    match plan.design.lettering:
        case "shadowed":
            away = max(1.0, em_px * 0.06)
            sheet.stencil(mask, left + away, top + away, lit(ground, 0.45))
        case "embossed":
            away = max(1.0, em_px * 0.035)
            sheet.stencil(mask, left + away, top + away, lit(ground, 0.5), 0.8)
            sheet.stencil(mask, left - away, top - away, mixed(ground, (255, 255, 255), 0.5), 0.6)
        case "outlined":
            import cv2

            margin = max(1, round(em_px * 0.06))
            wider = Image.new("L", (mask.width + 2 * margin, mask.height + 2 * margin))
            wider.paste(mask, (margin, margin))
            rim = Image.fromarray(cv2.dilate(np.asarray(wider), np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)))
            pale = sum(ink) > sum(ground)
            sheet.stencil(rim, left - margin, top - margin, (20, 16, 14) if pale else (252, 250, 244))
        case "neon":
            margin = max(2, round(em_px * 0.3))
            wider = Image.new("L", (mask.width + 2 * margin, mask.height + 2 * margin))
            wider.paste(mask, (margin, margin))
            glow = wider.filter(ImageFilter.BoxBlur(max(1, margin // 3))).filter(
                ImageFilter.BoxBlur(max(1, margin // 3))
            )
            sheet.stencil(glow, left - margin, top - margin, mixed(ink, accent, 0.25), 0.9)
            sheet.stencil(mask, left, top, mixed(ink, (255, 255, 255), 0.45))
            return
        case _:
            pass
    sheet.stencil(mask, left, top, ink)
