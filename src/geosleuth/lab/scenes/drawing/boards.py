"""A clue's board as a flat picture: the panel that letters stand on, its layout, and where each line is on it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from geosleuth.lab.scenes.scene import Board, SceneClue, SceneLook

from .camera import Point2, cosine, sine
from .canvas import Colour, Pixels, blend_colour, colour, lit, mix_colours
from .lettering import Design, Panel, get_design, height_em, letters, width_em

_SHIFT = 4

_WHITE: Colour = (255, 255, 255)
Colours = tuple[Colour, Colour, Colour]
# Room around the letters: left, top, right, bottom, in ems of the main line.
_MARGINS: dict[Panel, tuple[float, float, float, float]] = {
    "header": (0.6, 0.85, 0.6, 0.25), "footer": (0.6, 0.25, 0.6, 0.85), "awning": (0.8, 0.55, 0.8, 0.75),
    "split": (0.7, 1.6, 0.7, 0.5), "burst": (1.0, 0.8, 1.0, 0.8), "band": (0.7, 0.35, 0.7, 0.65),
    "pill": (1.0, 0.25, 1.0, 0.2), "arrow": (0.5, 0.3, 1.5, 0.3), "tiles": (0.7, 0.4, 0.7, 0.35),
    "studs": (0.7, 0.4, 0.7, 0.35), "double": (0.7, 0.4, 0.7, 0.35),
}  # fmt: skip
_PLATE_MARGINS: dict[Panel, tuple[float, float, float, float]] = {
    "band": (0.75, 0.05, 0.3, 0.0),
    "line": (0.3, 0.05, 0.3, 0.0),
}
_SHAPED: frozenset[Panel] = frozenset({"rounded", "pill", "enamel", "awning", "torn", "arrow"})
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


class Sheet:
    """Pixels of a board, drawn from the back to the front; coordinates in pixels."""

    def __init__(self, width: int, height: int, ground: Colour, *, empty: bool = False) -> None:
        self.width, self.height = width, height
        # One number for four bytes: numpy is slow to repeat short rows.
        plain = np.frombuffer(bytes((*ground, 0 if empty else 255)), np.uint32)
        self.pixels: Pixels = np.full((height, width), plain).view(np.uint8).reshape(height, width, 4)

    def image(self) -> Image.Image:
        """Return the picture as it is now."""
        return Image.fromarray(self.pixels)

    def rectangle(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """Fill whole pixels."""
        columns = slice(max(0, round(left)), max(0, round(right)))
        self.pixels[max(0, round(top)) : max(0, round(bottom)), columns] = (*fill, 255)

    def polygon(self, points: Sequence[Point2], fill: Colour) -> None:
        """Fill a shape, with smooth edges."""
        import cv2

        corners = np.array([(round(x * 16) - 8, round(y * 16) - 8) for x, y in points], np.int32)
        cv2.fillPoly(self.pixels, [corners], (*fill, 255), cv2.LINE_AA, _SHIFT)

    def fill_rounded(self, left: float, top: float, right: float, bottom: float, radius: float, fill: Colour) -> None:
        """Fill a rectangle with round corners."""
        radius = max(1.0, min(radius, (right - left) / 2, (bottom - top) / 2))
        points: list[Point2] = []
        for x, y, first in (
            (right - radius, top + radius, -90),
            (right - radius, bottom - radius, 0),
            (left + radius, bottom - radius, 90),
            (left + radius, top + radius, 180),
        ):
            points += [(x + radius * cosine(first + a), y + radius * sine(first + a)) for a in range(0, 91, 15)]
        self.polygon(points, fill)

    def frame(self, inset: float, width: float, ink: Colour) -> None:
        """Draw a line along the edges."""
        self.rectangle(inset, inset, self.width - inset, inset + width, ink)
        self.rectangle(inset, self.height - inset - width, self.width - inset, self.height - inset, ink)
        self.rectangle(inset, inset, inset + width, self.height - inset, ink)
        self.rectangle(self.width - inset - width, inset, self.width - inset, self.height - inset, ink)

    def stencil(self, mask: Image.Image, left: float, top: float, ink: Colour, alpha: float = 1.0) -> None:
        """Lay ink on through a mask; what reaches over the edges is cut off."""
        cover = np.asarray(mask)
        x, y = round(left), round(top)
        x0, y0 = max(0, x), max(0, y)
        x1, y1 = min(self.width, x + cover.shape[1]), min(self.height, y + cover.shape[0])
        if x0 >= x1 or y0 >= y1:
            return
        blend_colour(self.pixels[y0:y1, x0:x1], cover[y0 - y : y1 - y, x0 - x : x1 - x], (*ink, 255), alpha)


def margins_em(design: Design) -> tuple[float, float, float, float]:
    """Return the margins: left, top, right, bottom, in ems of the main line."""
    usual = _MARGINS.get(design.panel, (0.55, 0.25, 0.55, 0.2))
    return _PLATE_MARGINS.get(design.panel, usual) if design.board == "number_plate" else usual


def draw_panel(design: Design, colours: Colours, width: int, height: int, em: float, chance: random.Random) -> Sheet:
    """Draw an empty panel of a design."""
    sheet = Sheet(width, height, colours[0], empty=design.panel in _SHAPED)
    draw = _plate_band if design.panel == "band" and design.board == "number_plate" else _PANELS.get(design.panel)
    if draw is not None:
        draw(sheet, colours, em, chance)
    return sheet


def _draw_line_frame(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    sheet.frame(2 * _hair(em), _hair(em), colours[2])


def _double(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    sheet.frame(1.5 * _hair(em), 2 * _hair(em), colours[2])
    sheet.frame(5 * _hair(em), _hair(em) / 1.5, colours[2])


def _draw_rounded(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    ground, _, accent = colours
    for inset, radius, fill in ((0.0, 0.3, ground), (1.5, 0.25, accent), (2.5, 0.21, ground)):
        edge = inset * _hair(em)
        sheet.fill_rounded(edge, edge, sheet.width - edge, sheet.height - edge, radius * em, fill)


def _pill(sheet: Sheet, colours: Colours, _em: float, _chance: random.Random) -> None:
    sheet.fill_rounded(0, 0, sheet.width, sheet.height, sheet.height / 2, colours[0])


def _enamel(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    edge = 1.6 * _hair(em)
    sheet.fill_rounded(0, 0, sheet.width, sheet.height, 0.18 * em, colours[2])
    sheet.fill_rounded(edge, edge, sheet.width - edge, sheet.height - edge, 0.12 * em, colours[0])


def _header(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    sheet.rectangle(0, 0, sheet.width, 0.55 * em, colours[2])
    sheet.frame(0, _hair(em) / 2, lit(colours[0], 0.6))


def _footer(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    sheet.rectangle(0, sheet.height - 0.6 * em, sheet.width, sheet.height, colours[2])
    sheet.frame(0, _hair(em) / 2, lit(colours[0], 0.6))


def _paper(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    line, middle = _hair(em), sheet.width / 2
    sheet.rectangle(0, sheet.height - line, sheet.width, sheet.height, lit(colours[0], 0.8))
    sheet.rectangle(middle - 2 * line, 0, middle + 2 * line, 3 * line, colours[2])


def _arrow(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    width, height, inset = float(sheet.width), float(sheet.height), 1.5 * _hair(em)
    shoulder = width - 1.1 * em
    sheet.polygon(((0, 0), (shoulder, 0), (width, height / 2), (shoulder, height), (0, height)), colours[2])
    inner = shoulder - inset / 2
    sheet.polygon(
        (
            (inset, inset), (inner, inset), (width - 2 * inset, height / 2), (inner, height - inset),
            (inset, height - inset),
        ),
        colours[0],
    )  # fmt: skip


def _plate_band(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    sheet.rectangle(0, 0, 0.45 * em, sheet.height, colours[2])
    sheet.frame(0, _hair(em) / 1.5, colours[1])


def _band(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    sheet.rectangle(0, sheet.height - 0.5 * em, sheet.width, sheet.height - 0.2 * em, colours[2])
    sheet.rectangle(0, sheet.height - 0.14 * em, sheet.width, sheet.height, colours[2])


def _hair(em: float) -> float:
    """Return the width of a thin line."""
    return max(1.0, em * 0.06)


def _planks(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    ground = colours[0]
    count = max(2, round(sheet.height / (0.75 * em)))
    for number in range(count):
        top, bottom = sheet.height * number / count, sheet.height * (number + 1) / count
        sheet.rectangle(0, top, sheet.width, bottom, lit(ground, 0.92 + 0.02 * chance.randrange(8)))
        sheet.rectangle(0, bottom - max(1.0, 0.03 * em), sheet.width, bottom, lit(ground, 0.6))


def _lightbox(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    ground, _, accent = colours
    rows = np.arange(sheet.height)
    far = np.abs(2 * rows - sheet.height + 1)
    for row in range(sheet.height):
        sheet.pixels[row, :, :3] = mix_colours(
            mix_colours(ground, _WHITE, 0.16), ground, float(far[row]) / sheet.height
        )
    sheet.frame(0, 1.5 * _hair(em), lit(accent, 0.6))


def _stripes(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    ground, _, accent = colours
    step = max(4.0, 0.9 * em)
    pale = mix_colours(ground, accent, 0.35)
    for number in range(-int(sheet.height / step) - 2, int(sheet.width / step) + 2, 2):
        x = number * step
        sheet.polygon(
            ((x, sheet.height), (x + sheet.height, 0), (x + sheet.height + step, 0), (x + step, sheet.height)), pale
        )
    sheet.frame(0, max(1.0, 0.1 * em), accent)


def _tiles(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    ground, _, accent = colours
    sheet.frame(0.08 * em, 0.2 * em, accent)
    step = max(6.0, 1.1 * em)
    joint = lit(ground, 0.82)
    for number in range(1, int(sheet.width / step) + 1):
        sheet.rectangle(number * step, 0, number * step + max(1.0, em * 0.03), sheet.height, joint)
    for number in range(1, int(sheet.height / step) + 1):
        sheet.rectangle(0, number * step, sheet.width, number * step + max(1.0, em * 0.03), joint)
    corner = 0.34 * em
    for x in (0.0, sheet.width - corner):
        for y in (0.0, sheet.height - corner):
            sheet.rectangle(x, y, x + corner, y + corner, mix_colours(accent, ground, 0.3))


def _chalk(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    ground, _, wood = colours
    for _ in range(5):
        x, y = chance.randrange(sheet.width), chance.randrange(sheet.height)
        sheet.fill_rounded(x, y, x + 2.5 * em, y + 0.8 * em, 0.4 * em, mix_colours(ground, _WHITE, 0.05))
    sheet.frame(0, max(2.0, 0.2 * em), wood)


def _torn(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    ground = colours[0]
    depth = 0.14 * em

    def generate_edge(along: float) -> list[float]:
        return [along * share / 12 for share in range(13)]

    points = [(x, depth * chance.randrange(100) / 100) for x in generate_edge(sheet.width)]
    points += [(sheet.width - depth * chance.randrange(100) / 100, y) for y in generate_edge(sheet.height)]
    points += [
        (sheet.width - x, sheet.height - depth * chance.randrange(100) / 100) for x in generate_edge(sheet.width)
    ]
    points += [(depth * chance.randrange(100) / 100, sheet.height - y) for y in generate_edge(sheet.height)]
    sheet.polygon(points, ground)
    fold = sheet.width * chance.randrange(30, 70) / 100
    sheet.polygon(
        (
            (fold, depth),
            (fold + max(1.0, 0.05 * em), depth),
            (fold + 2, sheet.height - depth),
            (fold, sheet.height - depth),
        ),
        lit(ground, 0.9),
    )


def _awning(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    ground, _, accent = colours
    scallop = 0.75 * em
    count = max(3, round(sheet.width / (1.1 * em)))
    step = sheet.width / count
    base = sheet.height - scallop / 1.5
    sheet.rectangle(0, 0, sheet.width, base, ground)
    sheet.rectangle(0, 0, sheet.width, 0.2 * em, accent)
    for number in range(count):
        middle = step * (number + 0.5)
        shape = [(middle + step / 2 * cosine(a), base - 1 + scallop / 1.5 * sine(a)) for a in range(0, 181, 20)]
        sheet.polygon(shape, ground if number % 2 else accent)


def _burst(sheet: Sheet, colours: Colours, _em: float, _chance: random.Random) -> None:
    """Draw rays from the middle."""
    ground, _, accent = colours
    x, y = sheet.width / 2, sheet.height / 2
    far = float(sheet.width + sheet.height)
    pale = mix_colours(ground, accent, 0.6)
    for angle in range(0, 360, 30):
        sheet.polygon(
            ((x, y), (x + far * cosine(angle), y + far * sine(angle)),
             (x + far * cosine(angle + 15), y + far * sine(angle + 15))),
            pale,
        )  # fmt: skip


def _split(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """Draw a simple picture above: a disc and hills in shades of the accent colour."""
    ground, _, accent = colours
    band = 1.35 * em
    sheet.rectangle(0, 0, sheet.width, band, accent)
    x = sheet.width * chance.randrange(20, 80) / 100
    disc = [(x + 0.4 * em * cosine(a), band * 0.5 + 0.4 * em * sine(a)) for a in range(0, 360, 20)]
    sheet.polygon(disc, mix_colours(accent, _WHITE, 0.6))
    for number in range(4):
        left = sheet.width * (number - 0.5) / 4
        top = band * chance.randrange(35, 80) / 100
        hill = ((left, band), (left + sheet.width / 4, top), (left + sheet.width / 2, band))
        sheet.polygon(hill, lit(accent, 0.6 + 0.08 * number))
    sheet.rectangle(0, band, sheet.width, sheet.height, ground)


def _studs(sheet: Sheet, colours: Colours, em: float, _chance: random.Random) -> None:
    ground, _, accent = colours
    sheet.frame(0, 0.28 * em, lit(ground, 0.7))
    count = max(2, round(sheet.width / (0.7 * em)))
    radius = 0.09 * em
    for number in range(count):
        x = (number + 0.5) * sheet.width / count
        for y in (0.14 * em, sheet.height - 0.14 * em):
            sheet.polygon([(x + radius * cosine(a), y + radius * sine(a)) for a in range(0, 360, 40)], accent)


_PANELS: dict[Panel, Callable[[Sheet, Colours, float, random.Random], None]] = {
    "line": _draw_line_frame, "double": _double, "rounded": _draw_rounded, "pill": _pill, "enamel": _enamel,
    "planks": _planks,
    "lightbox": _lightbox, "stripes": _stripes, "header": _header, "footer": _footer, "tiles": _tiles, "chalk": _chalk,
    "paper": _paper, "torn": _torn, "awning": _awning, "burst": _burst, "split": _split, "arrow": _arrow, "band": _band,
    "studs": _studs,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoardRow:
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

    clue: SceneClue
    design: Design
    rows: tuple[BoardRow, ...]
    wide: float
    tall: float
    colours: tuple[Colour, Colour, Colour]

    @property
    def smallest(self) -> float:
        """The size of its smallest line."""
        return min((row.size for row in self.rows), default=1.0)

    def line_box(self, line: int) -> tuple[float, float, float, float]:
        """Return where a line of the clue stands: left, top, right, bottom as shares of the board."""
        rows = [row for row in self.rows if row.line == line]
        return (
            min(row.left for row in rows) / self.wide, min(row.top + 0.12 * row.size for row in rows) / self.tall,
            max(row.left + row.wide for row in rows) / self.wide,
            max(row.top + (height_em(row.text) - 0.02) * row.size for row in rows) / self.tall,
        )  # fmt: skip


def lay_out_plans(clue: SceneClue, chance: random.Random, look: SceneLook | None = None) -> tuple[BoardPlan, ...]:
    """Return a clue's board laid out as its design has it; a second time where its lines can be broken to be narrower.

    ``look`` gives number plates their colours.
    """
    if clue.board is None:
        raise ValueError(f"clue {clue.id} has no board to draw")
    design = get_design(clue.design, clue.board)
    colours = chance.choice(design.colours)
    if clue.board == "number_plate" and look is not None:
        colours = (look.number_plate_ground, look.number_plate_ink, look.number_plate_band or look.number_plate_ground)
    usual = _laid_out(clue, design, colours, 1.0)
    if clue.board not in _BREAKABLE:
        return (usual,)
    narrow = _laid_out(clue, design, colours, _NARROW)
    return (usual, narrow) if len(narrow.rows) > len(usual.rows) else (usual,)


def _laid_out(clue: SceneClue, design: Design, hues: tuple[str, str, str], narrower: float) -> BoardPlan:
    widest, narrowest, lesser = _MEASURES[design.board]
    widest *= narrower
    pieces: list[tuple[str, int, float]] = []
    for number, text in enumerate(clue.lines):
        size = 1.0 if number == 0 else lesser
        pieces += [(part, number, size) for part in broken(text, widest / size, design)]
    widths = [width_em(text, design.lettering) * size for text, _, size in pieces]
    left, top, right, bottom = margins_em(design)
    inner = max(narrowest - left - right, *widths) if widths else narrowest
    rows: list[BoardRow] = []
    y = top
    for (text, number, size), wide in zip(pieces, widths, strict=True):
        x = left if design.left else left + (inner - wide) / 2
        rows.append(BoardRow(text, number, size, x, y, wide))
        y += height_em(text) * size * (_LEADING if len(pieces) > 1 else 1.0)
    ground, ink, accent = (colour(part) for part in hues)
    return BoardPlan(clue, design, tuple(rows), left + inner + right, y + bottom, (ground, ink, accent))


def broken(text: str, widest: float, design: Design) -> list[str]:
    """Return a line in as many pieces as it needs to be no wider than that, broken between words."""
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
    """Draw the board as RGBA, with an em of its main line so many pixels tall."""
    width, height = max(4, round(plan.wide * em_px)), max(4, round(plan.tall * em_px))
    sheet = draw_panel(plan.design, plan.colours, width, height, em_px, chance)
    for row in plan.rows:
        mask = letters(row.text, em_px * row.size, plan.design.lettering)
        _write_text(sheet, mask, row.left * em_px, row.top * em_px, em_px * row.size, plan)
    return sheet.image()


def _write_text(sheet: Sheet, mask: Image.Image, left: float, top: float, em_px: float, plan: BoardPlan) -> None:
    ground, ink, accent = plan.colours
    match plan.design.lettering:
        case "shadowed":
            away = max(1.0, em_px * 0.06)
            sheet.stencil(mask, left + away, top + away, lit(ground, 0.45))
        case "embossed":
            away = max(1.0, em_px * 0.035)
            sheet.stencil(mask, left + away, top + away, lit(ground, 0.5), 0.8)
            sheet.stencil(mask, left - away, top - away, mix_colours(ground, (255, 255, 255), 0.5), 0.6)
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
            sheet.stencil(glow, left - margin, top - margin, mix_colours(ink, accent, 0.25), 0.9)
            sheet.stencil(mask, left, top, mix_colours(ink, (255, 255, 255), 0.45))
            return
        case _:
            pass
    sheet.stencil(mask, left, top, ink)
