"""What letters stand on: painted, enamelled, lit, planked, tiled or torn panels."""

import random

import numpy as np

from .camera import cosine, sine
from .canvas import Colour, lit, mixed
from .designs import Design
from .sheet import Sheet

_WHITE: Colour = (255, 255, 255)
Colours = tuple[Colour, Colour, Colour]


def margins_em(design: Design) -> tuple[float, float, float, float]:
    """Room around the letters: left, top, right, bottom, in ems of the main line."""
    match design.panel:
        case "header":
            return 0.6, 0.85, 0.6, 0.25
        case "footer":
            return 0.6, 0.25, 0.6, 0.85
        case "awning":
            return 0.8, 0.55, 0.8, 0.75
        case "split":
            return 0.7, 1.6, 0.7, 0.5
        case "burst":
            return 1.0, 0.8, 1.0, 0.8
        case "band" if design.board == "number_plate":
            return 0.75, 0.05, 0.3, 0.0
        case "band":
            return 0.7, 0.35, 0.7, 0.65
        case "pill":
            return 1.0, 0.25, 1.0, 0.2
        case "arrow":
            return 0.5, 0.3, 1.5, 0.3
        case "tiles" | "studs" | "double":
            return 0.7, 0.4, 0.7, 0.35
        case "line" if design.board == "number_plate":
            return 0.3, 0.05, 0.3, 0.0
        case _:
            return 0.55, 0.25, 0.55, 0.2


def draw_panel(design: Design, colours: Colours, width: int, height: int, em: float, chance: random.Random) -> Sheet:
    """An empty panel of a design."""
    ground, ink, accent = colours
    shaped = design.panel in {"rounded", "pill", "enamel", "awning", "torn", "arrow"}
    sheet = Sheet(width, height, ground, empty=shaped)
    line = max(1.0, em * 0.06)
    match design.panel:
        case "line":
            sheet.frame(2 * line, line, accent)
        case "double":
            sheet.frame(1.5 * line, 2 * line, accent)
            sheet.frame(5 * line, line / 1.5, accent)
        case "rounded":
            sheet.rounded(0, 0, width, height, 0.3 * em, ground)
            _inner_rounded(sheet, line, 0.25 * em, accent, ground)
        case "pill":
            sheet.rounded(0, 0, width, height, height / 2, ground)
        case "enamel":
            sheet.rounded(0, 0, width, height, 0.18 * em, accent)
            sheet.rounded(1.6 * line, 1.6 * line, width - 1.6 * line, height - 1.6 * line, 0.12 * em, ground)
        case "planks":
            _planks(sheet, ground, em, chance)
        case "lightbox":
            _lightbox(sheet, ground, accent, line)
        case "stripes":
            _stripes(sheet, ground, accent, em)
        case "header":
            sheet.rectangle(0, 0, width, 0.55 * em, accent)
            sheet.frame(0, line / 2, lit(ground, 0.6))
        case "footer":
            sheet.rectangle(0, height - 0.6 * em, width, height, accent)
            sheet.frame(0, line / 2, lit(ground, 0.6))
        case "tiles":
            _tiles(sheet, ground, accent, em)
        case "chalk":
            _chalk(sheet, ground, accent, em, chance)
        case "paper":
            sheet.rectangle(0, height - line, width, height, lit(ground, 0.8))
            sheet.rectangle(width / 2 - 2 * line, 0, width / 2 + 2 * line, 3 * line, accent)
        case "torn":
            _torn(sheet, ground, em, chance)
        case "awning":
            _awning(sheet, ground, accent, em)
        case "burst":
            _burst(sheet, ground, accent)
        case "split":
            _split(sheet, ground, accent, em, chance)
        case "arrow":
            point = 1.1 * em
            shape = ((0.0, 0.0), (width - point, 0.0), (width, height / 2), (width - point, height), (0.0, height))
            sheet.polygon(shape, accent)
            inset = 1.5 * line
            sheet.polygon(
                (
                    (inset, inset), (width - point - inset / 2, inset), (width - 2 * inset, height / 2),
                    (width - point - inset / 2, height - inset), (inset, height - inset),
                ),
                ground,
            )  # fmt: skip
        case "band" if design.board == "number_plate":
            sheet.rectangle(0, 0, 0.45 * em, height, accent)
            sheet.frame(0, line / 1.5, ink)
        case "band":
            sheet.rectangle(0, height - 0.5 * em, width, height - 0.2 * em, accent)
            sheet.rectangle(0, height - 0.14 * em, width, height, accent)
        case "studs":
            _studs(sheet, ground, accent, em)
        case _:
            pass
    return sheet


def _inner_rounded(sheet: Sheet, line: float, radius: float, accent: Colour, ground: Colour) -> None:
    width, height = sheet.width, sheet.height
    sheet.rounded(1.5 * line, 1.5 * line, width - 1.5 * line, height - 1.5 * line, radius, accent)
    sheet.rounded(2.5 * line, 2.5 * line, width - 2.5 * line, height - 2.5 * line, radius * 0.85, ground)


def _planks(sheet: Sheet, ground: Colour, em: float, chance: random.Random) -> None:
    count = max(2, round(sheet.height / (0.75 * em)))
    for number in range(count):
        top, bottom = sheet.height * number / count, sheet.height * (number + 1) / count
        sheet.rectangle(0, top, sheet.width, bottom, lit(ground, 0.92 + 0.02 * chance.randrange(8)))
        sheet.rectangle(0, bottom - max(1.0, 0.03 * em), sheet.width, bottom, lit(ground, 0.6))


def _lightbox(sheet: Sheet, ground: Colour, accent: Colour, line: float) -> None:
    """Brighter in the middle, where the lamps are."""
    rows = np.arange(sheet.height)
    far = np.abs(2 * rows - sheet.height + 1)
    for row in range(sheet.height):
        sheet.pixels[row, :, :3] = mixed(mixed(ground, _WHITE, 0.16), ground, float(far[row]) / sheet.height)
    sheet.frame(0, 1.5 * line, lit(accent, 0.6))


def _stripes(sheet: Sheet, ground: Colour, accent: Colour, em: float) -> None:
    """Slanted stripes, paled so that letters stand out."""
    step = max(4.0, 0.9 * em)
    pale = mixed(ground, accent, 0.35)
    for number in range(-int(sheet.height / step) - 2, int(sheet.width / step) + 2, 2):
        x = number * step
        sheet.polygon(
            ((x, sheet.height), (x + sheet.height, 0), (x + sheet.height + step, 0), (x + step, sheet.height)), pale
        )
    sheet.frame(0, max(1.0, 0.1 * em), accent)


def _tiles(sheet: Sheet, ground: Colour, accent: Colour, em: float) -> None:
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


def _chalk(sheet: Sheet, ground: Colour, wood: Colour, em: float, chance: random.Random) -> None:
    for _ in range(5):
        x, y = chance.randrange(sheet.width), chance.randrange(sheet.height)
        sheet.rounded(x, y, x + 2.5 * em, y + 0.8 * em, 0.4 * em, mixed(ground, _WHITE, 0.05))
    sheet.frame(0, max(2.0, 0.2 * em), wood)


def _torn(sheet: Sheet, ground: Colour, em: float, chance: random.Random) -> None:
    """Paper with a ragged edge, once folded."""
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


def _awning(sheet: Sheet, ground: Colour, accent: Colour, em: float) -> None:
    """A cloth whose lower edge hangs in scallops."""
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


def _burst(sheet: Sheet, ground: Colour, accent: Colour) -> None:
    """Rays from the middle."""
    x, y = sheet.width / 2, sheet.height / 2
    far = float(sheet.width + sheet.height)
    pale = mixed(ground, accent, 0.6)
    for angle in range(0, 360, 30):
        sheet.polygon(
            ((x, y), (x + far * cosine(angle), y + far * sine(angle)),
             (x + far * cosine(angle + 15), y + far * sine(angle + 15))),
            pale,
        )  # fmt: skip


def _split(sheet: Sheet, ground: Colour, accent: Colour, em: float, chance: random.Random) -> None:
    """A picture of sorts above: a disc and hills in the accent's shades."""
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


def _studs(sheet: Sheet, ground: Colour, accent: Colour, em: float) -> None:
    sheet.frame(0, 0.28 * em, lit(ground, 0.7))
    count = max(2, round(sheet.width / (0.7 * em)))
    radius = 0.09 * em
    for number in range(count):
        x = (number + 0.5) * sheet.width / count
        for y in (0.14 * em, sheet.height - 0.14 * em):
            sheet.polygon([(x + radius * cosine(a), y + radius * sine(a)) for a in range(0, 360, 40)], accent)
