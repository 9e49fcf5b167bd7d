"""Roofs as seen from the street: slopes, gables, parapets, and what stands on them."""

import random
from itertools import pairwise

from geosleuth.world.model import Look

from .camera import Point3, cosine, sine
from .canvas import Canvas, Colour, colour, lit
from .dice import dice
from .lots import Lot
from .sky_light import Light

_EAVES_M = 0.35


def draw_roof(canvas: Canvas, lot: Lot, look: Look, light: Light, distance_m: float, depth_m: float) -> None:
    """Draw the roof of a house; walls come afterwards and cover its lower edge."""
    chance = dice(lot.seed + 1)
    base = lit(colour(look.roof_colour), 0.9 + 0.02 * chance.randrange(10))
    roof = "flat" if lot.use == "shed" and look.roof == "terrace" else look.roof
    rise = 0.9 if lot.use == "shed" else 1.8 + 0.1 * chance.randrange(14)

    def tone(fill: Colour, facing: Point3) -> Colour:
        return light.hazed(light.shade(fill, facing), distance_m)

    if roof in {"gable", "hip"}:
        _sloping(canvas, lot, base, rise, depth_m, tone_front=tone(base, (-0.6 * lot.side, 0.0, 0.8)),
                 tone_side=tone(lit(lot.paint, 0.9), (0.0, -1.0, 0.0)), hip=roof == "hip")  # fmt: skip
        if chance.random() < 0.6:
            _chimney(canvas, lot, tone((128, 84, 70), (0.0, -1.0, 0.0)), rise, depth_m, chance)
    elif roof == "curved":
        _curved(
            canvas, lot, tone(base, (-0.6 * lot.side, 0.0, 0.8)), tone(lit(lot.paint, 0.9), (0.0, -1.0, 0.0)), depth_m
        )
    else:
        _level(canvas, lot, tone(lit(lot.paint, 0.86), (-1.0 * lot.side, 0.0, 0.0)), depth_m)
        if roof == "terrace":
            _on_terrace(canvas, lot, light, distance_m, chance)


def _x(lot: Lot, back_m: float) -> float:
    return lot.side * (lot.front + back_m)


def _near_end(lot: Lot) -> float:
    return lot.start if lot.start > 0 or lot.end > 0 else lot.end


def _sloping(
    canvas: Canvas, lot: Lot, base: Colour, rise: float, depth_m: float, *, tone_front: Colour, tone_side: Colour,
    hip: bool,
) -> None:  # fmt: skip
    eaves, ridge = lot.height, lot.height + rise
    inset = min(lot.width * 0.3, 2.6) if hip else 0.0
    end = _near_end(lot)
    away = 1.0 if end == lot.start else -1.0
    gable = (
        (_x(lot, 0.0), end, eaves), (_x(lot, depth_m), end, eaves), (_x(lot, depth_m / 2), end + away * inset, ridge),
    )  # fmt: skip
    canvas.polygon3(gable, lit(tone_front, 0.82) if hip else tone_side)
    out = -_EAVES_M
    slope = (
        (_x(lot, out), lot.start - 0.1, eaves - 0.15), (_x(lot, out), lot.end + 0.1, eaves - 0.15),
        (_x(lot, depth_m / 2), lot.end - inset, ridge), (_x(lot, depth_m / 2), lot.start + inset, ridge),
    )  # fmt: skip
    canvas.polygon3(slope, tone_front)
    lip = (
        (_x(lot, out), lot.start - 0.1, eaves - 0.15), (_x(lot, out), lot.end + 0.1, eaves - 0.15),
        (_x(lot, out), lot.end + 0.1, eaves - 0.3), (_x(lot, out), lot.start - 0.1, eaves - 0.3),
    )  # fmt: skip
    canvas.polygon3(lip, lit(base, 0.55))


def _chimney(canvas: Canvas, lot: Lot, tone: Colour, rise: float, depth_m: float, chance: random.Random) -> None:
    y = lot.start + lot.width * chance.randrange(20, 80) / 100
    x0, x1 = _x(lot, depth_m * 0.42), _x(lot, depth_m * 0.5)
    low, high = lot.height + rise * 0.7, lot.height + rise + 0.9
    canvas.polygon3(((x0, y, low), (x0, y + 0.8, low), (x0, y + 0.8, high), (x0, y, high)), tone)
    canvas.polygon3(((x0, y, low), (x1, y, low), (x1, y, high), (x0, y, high)), lit(tone, 0.8))


def _curved(canvas: Canvas, lot: Lot, tone: Colour, tone_side: Colour, depth_m: float) -> None:
    """A vault, or upturned eaves: a slope of five strips, steep at its foot."""
    rise = 2.2
    points = [(depth_m / 2 * (1 - cosine(a)), rise * sine(a)) for a in range(0, 91, 18)]
    end = _near_end(lot)
    arch = [(_x(lot, back), end, lot.height + up) for back, up in points]
    arch += [(_x(lot, depth_m - back), end, lot.height + up) for back, up in reversed(points)]
    canvas.polygon3(arch, tone_side)
    for number, ((back, up), (back2, up2)) in enumerate(pairwise(points)):
        strip = (
            (_x(lot, back), lot.start, lot.height + up), (_x(lot, back), lot.end, lot.height + up),
            (_x(lot, back2), lot.end, lot.height + up2), (_x(lot, back2), lot.start, lot.height + up2),
        )  # fmt: skip
        canvas.polygon3(strip, lit(tone, 0.84 + 0.06 * number))


def _level(canvas: Canvas, lot: Lot, tone: Colour, depth_m: float) -> None:
    """A parapet around a flat roof."""
    top = lot.height + 0.55
    end = _near_end(lot)
    front = _x(lot, 0.0)
    canvas.polygon3(
        (
            (front, end, lot.height),
            (_x(lot, depth_m), end, lot.height),
            (_x(lot, depth_m), end, top),
            (front, end, top),
        ),
        lit(tone, 0.88),
    )
    canvas.polygon3(
        (
            (front, lot.start, lot.height - 0.1),
            (front, lot.end, lot.height - 0.1),
            (front, lot.end, top),
            (front, lot.start, top),
        ),
        tone,
    )
    canvas.polygon3(
        ((front, lot.start, top), (front, lot.end, top), (front, lot.end, top - 0.14), (front, lot.start, top - 0.14)),
        lit(tone, 1.12),
    )


def _on_terrace(canvas: Canvas, lot: Lot, light: Light, distance_m: float, chance: random.Random) -> None:
    """A water tank and washing lines stand on flat roofs where it is warm."""
    tank = light.hazed(light.shade(chance.choice(((60, 64, 70), (196, 200, 204), (92, 120, 150)))), distance_m)
    y = lot.start + lot.width * chance.randrange(20, 70) / 100
    x, low = _x(lot, 2.2), lot.height + 0.5
    canvas.polygon3(((x, y, low), (x, y + 1.3, low), (x, y + 1.3, low + 1.4), (x, y, low + 1.4)), tank)
    canvas.polygon3(
        ((x, y + 0.2, low + 1.4), (x, y + 1.1, low + 1.4), (x, y + 1.1, low + 1.6), (x, y + 0.2, low + 1.6)), tank
    )
    canvas.line3((x, y - 1.2, low), (x, y - 1.2, low + 2.2), (70, 70, 72), 0.06)
