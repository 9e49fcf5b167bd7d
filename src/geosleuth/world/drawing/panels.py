"""What letters stand on: painted, enamelled, lit, planked, tiled or torn panels."""

import random
from collections.abc import Callable

import numpy as np

from .camera import cosine, sine
from .canvas import Colour, lit, mixed
from .designs import Design, Panel
from .sheet import Sheet

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


def margins_em(design: Design) -> tuple[float, float, float, float]:
    """Room around the letters: left, top, right, bottom, in ems of the main line."""
    usual = _MARGINS.get(design.panel, (0.55, 0.25, 0.55, 0.2))
    return _PLATE_MARGINS.get(design.panel, usual) if design.board == "number_plate" else usual


def draw_panel(design: Design, colours: Colours, width: int, height: int, em: float, chance: random.Random) -> Sheet:
    """An empty panel of a design."""
    sheet = Sheet(width, height, colours[0], empty=design.panel in _SHAPED)
    draw = _plate_band if design.panel == "band" and design.board == "number_plate" else _PANELS.get(design.panel)
    if draw is not None:
        draw(sheet, colours, em, chance)
    return sheet


def _line(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    sheet.frame(2 * _hair(em), _hair(em), colours[2])


def _double(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    sheet.frame(1.5 * _hair(em), 2 * _hair(em), colours[2])
    sheet.frame(5 * _hair(em), _hair(em) / 1.5, colours[2])


def _rounded(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    ground, _, accent = colours
    for inset, radius, fill in ((0.0, 0.3, ground), (1.5, 0.25, accent), (2.5, 0.21, ground)):
        edge = inset * _hair(em)
        sheet.rounded(edge, edge, sheet.width - edge, sheet.height - edge, radius * em, fill)


def _pill(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del em, chance
    sheet.rounded(0, 0, sheet.width, sheet.height, sheet.height / 2, colours[0])


def _enamel(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    edge = 1.6 * _hair(em)
    sheet.rounded(0, 0, sheet.width, sheet.height, 0.18 * em, colours[2])
    sheet.rounded(edge, edge, sheet.width - edge, sheet.height - edge, 0.12 * em, colours[0])


def _header(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    sheet.rectangle(0, 0, sheet.width, 0.55 * em, colours[2])
    sheet.frame(0, _hair(em) / 2, lit(colours[0], 0.6))


def _footer(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    sheet.rectangle(0, sheet.height - 0.6 * em, sheet.width, sheet.height, colours[2])
    sheet.frame(0, _hair(em) / 2, lit(colours[0], 0.6))


def _paper(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    line, middle = _hair(em), sheet.width / 2
    sheet.rectangle(0, sheet.height - line, sheet.width, sheet.height, lit(colours[0], 0.8))
    sheet.rectangle(middle - 2 * line, 0, middle + 2 * line, 3 * line, colours[2])


def _arrow(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
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


def _plate_band(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    sheet.rectangle(0, 0, 0.45 * em, sheet.height, colours[2])
    sheet.frame(0, _hair(em) / 1.5, colours[1])


def _band(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    sheet.rectangle(0, sheet.height - 0.5 * em, sheet.width, sheet.height - 0.2 * em, colours[2])
    sheet.rectangle(0, sheet.height - 0.14 * em, sheet.width, sheet.height, colours[2])


def _hair(em: float) -> float:
    """How wide a thin line is."""
    return max(1.0, em * 0.06)


def _planks(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    ground = colours[0]
    count = max(2, round(sheet.height / (0.75 * em)))
    for number in range(count):
        top, bottom = sheet.height * number / count, sheet.height * (number + 1) / count
        sheet.rectangle(0, top, sheet.width, bottom, lit(ground, 0.92 + 0.02 * chance.randrange(8)))
        sheet.rectangle(0, bottom - max(1.0, 0.03 * em), sheet.width, bottom, lit(ground, 0.6))


def _lightbox(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """Brighter in the middle, where the lamps are."""
    del chance
    ground, _, accent = colours
    rows = np.arange(sheet.height)
    far = np.abs(2 * rows - sheet.height + 1)
    for row in range(sheet.height):
        sheet.pixels[row, :, :3] = mixed(mixed(ground, _WHITE, 0.16), ground, float(far[row]) / sheet.height)
    sheet.frame(0, 1.5 * _hair(em), lit(accent, 0.6))


def _stripes(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """Slanted stripes, paled so that letters stand out."""
    del chance
    ground, _, accent = colours
    step = max(4.0, 0.9 * em)
    pale = mixed(ground, accent, 0.35)
    for number in range(-int(sheet.height / step) - 2, int(sheet.width / step) + 2, 2):
        x = number * step
        sheet.polygon(
            ((x, sheet.height), (x + sheet.height, 0), (x + sheet.height + step, 0), (x + step, sheet.height)), pale
        )
    sheet.frame(0, max(1.0, 0.1 * em), accent)


def _tiles(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
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
            sheet.rectangle(x, y, x + corner, y + corner, mixed(accent, ground, 0.3))


def _chalk(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    ground, _, wood = colours
    for _ in range(5):
        x, y = chance.randrange(sheet.width), chance.randrange(sheet.height)
        sheet.rounded(x, y, x + 2.5 * em, y + 0.8 * em, 0.4 * em, mixed(ground, _WHITE, 0.05))
    sheet.frame(0, max(2.0, 0.2 * em), wood)


def _torn(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """Paper with a ragged edge, once folded."""
    ground = colours[0]
    depth = 0.14 * em

    def ragged(along: float) -> list[float]:
        return [along * share / 12 for share in range(13)]

    points = [(x, depth * chance.randrange(100) / 100) for x in ragged(sheet.width)]
    points += [(sheet.width - depth * chance.randrange(100) / 100, y) for y in ragged(sheet.height)]
    points += [(sheet.width - x, sheet.height - depth * chance.randrange(100) / 100) for x in ragged(sheet.width)]
    points += [(depth * chance.randrange(100) / 100, sheet.height - y) for y in ragged(sheet.height)]
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


def _awning(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """A cloth whose lower edge hangs in scallops."""
    del chance
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


def _burst(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """Rays from the middle."""
    del em, chance
    ground, _, accent = colours
    x, y = sheet.width / 2, sheet.height / 2
    far = float(sheet.width + sheet.height)
    pale = mixed(ground, accent, 0.6)
    for angle in range(0, 360, 30):
        sheet.polygon(
            ((x, y), (x + far * cosine(angle), y + far * sine(angle)),
             (x + far * cosine(angle + 15), y + far * sine(angle + 15))),
            pale,
        )  # fmt: skip


def _split(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    """A picture of sorts above: a disc and hills in the accent's shades."""
    ground, _, accent = colours
    band = 1.35 * em
    sheet.rectangle(0, 0, sheet.width, band, accent)
    x = sheet.width * chance.randrange(20, 80) / 100
    disc = [(x + 0.4 * em * cosine(a), band * 0.5 + 0.4 * em * sine(a)) for a in range(0, 360, 20)]
    sheet.polygon(disc, mixed(accent, _WHITE, 0.6))
    for number in range(4):
        left = sheet.width * (number - 0.5) / 4
        top = band * chance.randrange(35, 80) / 100
        hill = ((left, band), (left + sheet.width / 4, top), (left + sheet.width / 2, band))
        sheet.polygon(hill, lit(accent, 0.6 + 0.08 * number))
    sheet.rectangle(0, band, sheet.width, sheet.height, ground)


def _studs(sheet: Sheet, colours: Colours, em: float, chance: random.Random) -> None:
    del chance
    ground, _, accent = colours
    sheet.frame(0, 0.28 * em, lit(ground, 0.7))
    count = max(2, round(sheet.width / (0.7 * em)))
    radius = 0.09 * em
    for number in range(count):
        x = (number + 0.5) * sheet.width / count
        for y in (0.14 * em, sheet.height - 0.14 * em):
            sheet.polygon([(x + radius * cosine(a), y + radius * sine(a)) for a in range(0, 360, 40)], accent)


_PANELS: dict[Panel, Callable[[Sheet, Colours, float, random.Random], None]] = {
    "line": _line, "double": _double, "rounded": _rounded, "pill": _pill, "enamel": _enamel, "planks": _planks,
    "lightbox": _lightbox, "stripes": _stripes, "header": _header, "footer": _footer, "tiles": _tiles, "chalk": _chalk,
    "paper": _paper, "torn": _torn, "awning": _awning, "burst": _burst, "split": _split, "arrow": _arrow, "band": _band,
    "studs": _studs,
}  # fmt: skip
