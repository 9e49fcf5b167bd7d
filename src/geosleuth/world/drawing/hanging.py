"""Boards in the picture: the board itself, and what holds it up."""

import random
from functools import partial

from geosleuth.world.model import Scene

from .boards import draw_board
from .canvas import BACKDROP_M2, Canvas, Colour, Painter, lit
from .dice import dice
from .placing import Hung, legs
from .scenery import Street
from .sky_light import Light

_NEXT_TO_M2 = 40.0
_SHARPNESS = 1.28
"""Pixels of a board's own picture to one of the scene: samples are averaged, so it is drawn larger."""


def hang(canvas: Canvas, painter: Painter, street: Street, scene: Scene, light: Light) -> None:
    """Queue every board behind what stands before it."""
    for number, board in enumerate(street.boards):
        draw = partial(_draw, canvas, board, light, dice(f"board {scene.seed} {number}"))
        painter.add(_far(canvas, board, street) - 0.01, draw)


def _far(canvas: Canvas, board: Hung, street: Street) -> float:
    """How far a board counts as: it comes right after the house or the vehicle that carries it."""
    x, y, _ = board.middle
    carriers: list[tuple[float, float]] = []
    if board.place.support in {"wall", "roof"}:
        carriers = [(lot.side * lot.front, lot.middle) for lot in street.lots if lot.face == board.place.wall]
    elif board.place.support in {"car", "bus_rear", "bus_side"}:
        vehicles = (*(car.at for car in street.cars), *(bus.at for bus in street.buses))
        carriers = [at for at in vehicles if (at[0] - x) * (at[0] - x) + (at[1] - y) * (at[1] - y) < _NEXT_TO_M2]
    own = canvas.view.x_m
    behind = BACKDROP_M2 if board.place.support in {"wall", "roof"} else 0.0
    return behind + min((at[0] - own) * (at[0] - own) + at[1] * at[1] for at in (carriers or [(x, y)]))


def _draw(canvas: Canvas, board: Hung, light: Light, chance: random.Random) -> None:
    if not _may_show(canvas, board):
        return
    em_px = board.em_m * canvas.view.pixels_per_metre(board.middle)
    _holder(canvas, board, light)
    picture = draw_board(board.plan, max(6.0, min(em_px * _SHARPNESS, 220.0)), chance)
    canvas.paste3(picture, board.quad, _brightness(board, light))


def _may_show(canvas: Canvas, board: Hung) -> bool:
    points = [point for corner in board.quad if (point := canvas.view.project(corner)) is not None]
    return any(x > 0 for x, _ in points) and any(x < canvas.view.width for x, _ in points)


def _brightness(board: Hung, light: Light) -> float:
    if light.night and board.plan.design.glows:
        return 1.0
    facing = board.place.wall.facing
    seen = light.shade((200, 200, 200), facing)[1] / 200
    # Lamps are near every board that matters at night.
    return max(seen, 0.55)


def _holder(canvas: Canvas, board: Hung, light: Light) -> None:
    """Posts, a frame, a shadow on the wall, ropes."""
    left, bottom, right, top = board.rect
    wall = board.place.wall
    metal = light.shade((112, 116, 120))
    match board.place.support:
        case "wall":
            canvas.shade3(wall.quad((left + 0.05, bottom - 0.12, right + 0.05, bottom), 0.02), 0.3)
            _frame(canvas, board, 0.04, light.shade(_rim(board)), 0.1)
        case "post":
            for foot in legs(board.rect):
                canvas.line3(wall.at(foot, 0.0), wall.at(foot, top), metal, 0.08 if right - left < 3 else 0.18)
            _frame(canvas, board, 0.03, lit(metal, 0.75))
        case "stand":
            corners = ((left, 0.3), (right, 0.3), (right, -0.2), (left, -0.2))
            canvas.shade3([wall.at(along, 0.0, out) for along, out in corners], 0.35)
            for foot in (left + 0.05, right - 0.05):
                canvas.line3(wall.at(foot, 0.0), wall.at(foot, bottom + 0.1), lit(metal, 0.6), 0.07)
            _frame(canvas, board, 0.06, lit(metal, 0.5))
        case "roof":
            for foot in (left + 0.4, right - 0.4):
                canvas.line3(wall.at(foot, bottom - 0.8), wall.at(foot, top), lit(metal, 0.6), 0.1)
            _frame(canvas, board, 0.06, lit(metal, 0.5))
        case "blade":
            _bars(canvas, board, lit(metal, 0.5), reach_m=0.6, up_m=0.0, width_m=0.05)
            _frame(canvas, board, 0.04, light.shade(_rim(board)))
        case "rope":
            _bars(canvas, board, light.shade((60, 60, 62)), reach_m=6.0, up_m=0.5, width_m=0.02)
        case _:
            pass


def _frame(canvas: Canvas, board: Hung, wide_m: float, fill: Colour, out_m: float = 0.0) -> None:
    left, bottom, right, top = board.rect
    rim = (left - wide_m, bottom - wide_m, right + wide_m, top + wide_m)
    canvas.polygon3(board.place.wall.quad(rim, out_m), fill)


def _bars(canvas: Canvas, board: Hung, ink: Colour, *, reach_m: float, up_m: float, width_m: float) -> None:
    """Bars or ropes from both upper and both lower corners outwards."""
    left, bottom, right, top = board.rect
    wall = board.place.wall
    for high in (top, bottom):
        canvas.line3(wall.at(left - reach_m, high + up_m), wall.at(left, high), ink, width_m)
        canvas.line3(wall.at(right, high), wall.at(right + reach_m, high + up_m), ink, width_m)


def _rim(board: Hung) -> Colour:
    ground = board.plan.colours[0]
    return lit(ground, 0.55)
