"""Boards in the picture: the board itself, and what holds it up."""

import random

from geosleuth.world.model import Scene

from .boards import draw_board
from .canvas import Canvas, Colour, Painter, lit
from .placing import Hung, legs
from .scenery import Street
from .sky_light import Light

_SHARPNESS = 1.28
"""Pixels of a board's own picture to one of the scene: samples are averaged, so it is drawn larger."""


def hang(canvas: Canvas, painter: Painter, street: Street, scene: Scene, light: Light) -> None:
    """Queue every board behind what stands before it."""
    for number, board in enumerate(street.boards):
        x, y, _ = board.middle
        far = (x - canvas.view.x_m) * (x - canvas.view.x_m) + y * y
        if board.place.support in {"wall", "roof"}:
            # Right after the house that it hangs on.
            far = min(
                (
                    (lot.side * lot.front - canvas.view.x_m) * (lot.side * lot.front - canvas.view.x_m) + lot.middle * lot.middle
                    for lot in street.lots if lot.face == board.place.wall
                ),
                default=far,
            )  # fmt: skip
        elif board.place.support in {"car", "bus_rear", "bus_side"}:
            # Right after the vehicle, which counts from its middle.
            far = min(
                (
                    (x - canvas.view.x_m) * (x - canvas.view.x_m) + y * y
                    for x, y in (*(car.at for car in street.cars), *(bus.at for bus in street.buses))
                    if (x - board.middle[0]) * (x - board.middle[0]) + (y - board.middle[1]) * (y - board.middle[1]) < 40
                ),
                default=far,
            )  # fmt: skip
        seed = f"board {scene.seed} {number}"
        painter.add(far - 0.01, lambda board=board, seed=seed: _draw(canvas, board, light, random.Random(seed)))


def _draw(canvas: Canvas, board: Hung, light: Light, chance: random.Random) -> None:
    points = [canvas.view.project(corner) for corner in board.quad]
    if any(point is None for point in points):
        return
    em_px = board.em_m * canvas.view.pixels_per_metre(board.middle)
    _holder(canvas, board, light)
    picture = draw_board(board.plan, max(6.0, min(em_px * _SHARPNESS, 220.0)), chance)
    canvas.paste3(picture, board.quad, _brightness(board, light))


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
            canvas.polygon3(wall.quad((left - 0.04, bottom - 0.04, right + 0.04, top + 0.04), 0.1), light.shade(_rim(board)))
        case "post":
            for foot in legs(board.rect):
                canvas.line3(wall.at(foot, 0.0), wall.at(foot, top), metal, 0.08 if right - left < 3 else 0.18)
            canvas.polygon3(wall.quad((left - 0.03, bottom - 0.03, right + 0.03, top + 0.03)), lit(metal, 0.75))
        case "stand":
            canvas.shade3((wall.at(left, -0.0, 0.3), wall.at(right, 0.0, 0.3), wall.at(right, 0.0, -0.2), wall.at(left, 0.0, -0.2)), 0.35)
            for foot in (left + 0.05, right - 0.05):
                canvas.line3(wall.at(foot, 0.0), wall.at(foot, bottom + 0.1), lit(metal, 0.6), 0.07)
            canvas.polygon3(wall.quad((left - 0.06, bottom - 0.06, right + 0.06, top + 0.06)), lit(metal, 0.5))
        case "roof":
            for foot in (left + 0.4, right - 0.4):
                canvas.line3(wall.at(foot, bottom - 0.8), wall.at(foot, top), lit(metal, 0.6), 0.1)
            canvas.polygon3(wall.quad((left - 0.06, bottom - 0.06, right + 0.06, top + 0.06)), lit(metal, 0.5))
        case "rope":
            dark = light.shade((60, 60, 62))
            for high in (top, bottom):
                canvas.line3(wall.at(left - 6, high + 0.5), wall.at(left, high), dark, 0.02)
                canvas.line3(wall.at(right, high), wall.at(right + 6, high + 0.5), dark, 0.02)
        case _:
            pass


def _rim(board: Hung) -> Colour:
    ground = board.plan.colours[0]
    return lit(ground, 0.55)
