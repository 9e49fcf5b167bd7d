"""The street itself: carriageway, lines, kerbs, pavements and paths, as flat shapes on the ground."""

import random
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from geosleuth.world.model import Line, Look, Sky

from .camera import Point3
from .canvas import Canvas, Colour, lit, mixed
from .lots import MEASURES, Lot
from .sky_light import Light

_ROADS: dict[str, Colour] = {
    "asphalt": (92, 93, 96), "cobbles": (122, 114, 106), "earth": (158, 124, 88), "concrete": (156, 152, 146),
}  # fmt: skip
_LINES: dict[Line, Colour] = {"white": (232, 232, 226), "yellow": (232, 188, 60), "none": (0, 0, 0)}
_PAVEMENT: Colour = (166, 160, 152)
_KERB: Colour = (196, 192, 184)
_WET = {"rain": 0.72}
_BANDS: tuple[float, ...] = (-300.0, -60.0, -14.0, 5.0, 14.0, 30.0, 65.0, 140.0, 420.0)


def draw_street(
    canvas: Canvas, look: Look, sky: Sky, light: Light, lots: tuple[Lot, ...], chance: random.Random
) -> None:
    """Draw everything that lies flat; houses and things come afterwards."""
    sizes = MEASURES[look.layout]
    road = lit(_ROADS[look.road], _WET.get(sky.weather, 1.0) * (0.94 + 0.02 * chance.randrange(7)))
    pavement = lit(_PAVEMENT, _WET.get(sky.weather, 1.0) * (0.9 + 0.03 * chance.randrange(6)))
    if sky.weather == "snow":
        road, pavement = mixed(road, (236, 240, 246), 0.45), mixed(pavement, (240, 243, 248), 0.75)
    edge = sizes.road_half
    if sizes.pavement > 0:
        for side in (-1.0, 1.0):
            far = edge + sizes.pavement + (3.0 if look.layout in {"high_street", "market", "square"} else 0.0)
            _strip(canvas, side * edge, side * far, 0.12, pavement, light)
            _slabs(canvas, side, edge, sizes.pavement, light, pavement)
            _strip(canvas, side * edge, side * (edge + 0.2), 0.13, _KERB, light)
    _paths(canvas, lots, light, pavement)
    _strip(canvas, -edge, edge, 0.0, road, light)
    for x in (-edge * 0.72, -edge * 0.28, edge * 0.28, edge * 0.72):
        # Wheels leave the road darker.
        _strip(canvas, x - 0.28, x + 0.28, 0.0, lit(road, 0.95), light)
    if look.road == "cobbles":
        _cobbles(canvas, edge, light, road)
    else:
        _patches(canvas, edge, light, road, chance)
    for side in (-1.0, 1.0):
        if sizes.pavement > 0:
            # The gutter, and the kerb's own face.
            _strip(canvas, side * edge, side * (edge - 0.14), 0.0, lit(road, 0.72), light)
            _strip(canvas, side * edge, side * edge, 0.0, lit(_KERB, 0.7), light, rise=0.13)
    if look.road in {"asphalt", "concrete"}:
        _lines(canvas, look, edge, light, sky)


def _strip(
    canvas: Canvas, left: float, right: float, up: float, fill: Colour, light: Light, *, rise: float = 0.0
) -> None:
    """A strip along the whole street, in bands that pale with distance; its right edge may be higher."""
    shaded, high = light.shade(fill), up + rise
    for near, far in pairwise(_BANDS):
        tone = light.hazed(shaded, min(abs(near), abs(far)) * 1.3)
        canvas.polygon3(((left, near, up), (right, near, high), (right, far, high), (left, far, up)), tone)


def _flat(shapes: list[tuple[Point3, Point3, Point3, Point3]]) -> NDArray[np.float64]:
    return np.array(shapes, dtype=np.float64).reshape(-1, 4, 3)


def _dash(x: float, wide: float, start: float, end: float) -> tuple[Point3, Point3, Point3, Point3]:
    low, high = x - wide / 2, x + wide / 2
    return (low, start, 0.0), (high, start, 0.0), (high, end, 0.0), (low, end, 0.0)


def _lines(canvas: Canvas, look: Look, edge: float, light: Light, sky: Sky) -> None:
    worn = 0.5 if sky.weather == "snow" else 0.92
    if look.centre_line != "none":
        ink = light.shade(lit(_LINES[look.centre_line], worn))
        if look.centre_double:
            for x in (-0.14, 0.14):
                canvas.polygons3(_flat([_dash(x, 0.12, y, y + 30) for y in range(-60, 150, 30)]), ink)
        else:
            ahead = [_dash(0.0, 0.14, y, y + 3.0) for y in range(2, 110, 8)]
            behind = [_dash(0.0, 0.14, y, y + 3.0) for y in range(-54, 0, 8)]
            canvas.polygons3(_flat(ahead), ink)
            canvas.polygons3(_flat(behind), ink)
    if look.edge_line != "none":
        ink = light.shade(lit(_LINES[look.edge_line], worn))
        for x in (0.35 - edge, edge - 0.35):
            canvas.polygons3(_flat([_dash(x, 0.13, y, y + 30) for y in range(-60, 150, 30)]), ink)


def _slabs(canvas: Canvas, side: float, edge: float, wide: float, light: Light, fill: Colour) -> None:
    joint = light.shade(lit(fill, 0.88))
    across = [((side * edge, y * 1.2, 0.12), (side * (edge + wide), y * 1.2, 0.12)) for y in range(-8, 26)]
    along = [((side * (edge + x), -10.0, 0.12), (side * (edge + x), 40.0, 0.12)) for x in (wide / 3, wide * 2 / 3)]
    canvas.strokes3(np.array([*across, *along], dtype=np.float64), joint)


def _cobbles(canvas: Canvas, edge: float, light: Light, fill: Colour) -> None:
    joint = light.shade(lit(fill, 0.84))
    rows = np.array([[(-edge, y * 0.35, 0.0), (edge, y * 0.35, 0.0)] for y in range(4, 70)], dtype=np.float64)
    canvas.strokes3(rows, joint)
    columns = [
        [(x * 0.4 + y % 2 * 0.2, y * 0.35, 0.0), (x * 0.4 + y % 2 * 0.2, y * 0.35 + 0.35, 0.0)]
        for y in range(4, 36) for x in range(-int(edge / 0.4), int(edge / 0.4))
    ]  # fmt: skip
    canvas.strokes3(np.array(columns, dtype=np.float64), joint)


def _patches(canvas: Canvas, edge: float, light: Light, fill: Colour, chance: random.Random) -> None:
    """Mended places."""
    for _ in range(4):
        x, y = edge * chance.randrange(-80, 60) / 100, chance.randrange(3, 24)
        wide, deep = chance.randrange(5, 18) / 10, chance.randrange(10, 40) / 10
        tone = light.shade(lit(fill, 0.9 + 0.05 * chance.randrange(4)))
        canvas.polygon3(((x, y, 0.0), (x + wide, y, 0.0), (x + wide, y + deep, 0.0), (x, y + deep, 0.0)), tone)


def _paths(canvas: Canvas, lots: tuple[Lot, ...], light: Light, fill: Colour) -> None:
    """Ways to the doors of houses that stand back."""
    from .houses import shop_door

    for lot in lots:
        door = lot.face.at(shop_door(lot), 0.0)
        if lot.front > 8 and abs(door[1]) < 60:
            kerb = lot.side * 3.0
            x, y, _ = door
            canvas.polygon3(((kerb, y - 0.7, 0.05), (x, y - 0.7, 0.05), (x, y + 0.7, 0.05), (kerb, y + 0.7, 0.05)),
                            light.shade(fill))  # fmt: skip
