"""Boards in the picture: what holds them up, and what covers part of them."""

import random
from functools import partial

from geosleuth.lab.scenes.scene import Scene

from .boards import draw_board
from .camera import cosine, sine, upright
from .canvas import BACKDROP_M2, Canvas, Colour, Painter, lit
from .lots import dice
from .placement import Hung, legs
from .scenery import Cover, Street
from .sky import Light

_NEXT_TO_M2 = 40.0
# Pixels of a board's own picture per pixel of the scene: samples are averaged, so the board is drawn larger.
_OVERSAMPLING = 1.28

_LEAVES: tuple[Colour, ...] = ((70, 104, 54), (88, 118, 58), (58, 92, 62), (120, 112, 58))
_CLOTHS: tuple[Colour, ...] = ((186, 178, 160), (92, 120, 150), (150, 84, 70), (206, 196, 170), (96, 110, 90))


def hang(canvas: Canvas, painter: Painter, street: Street, scene: Scene, light: Light) -> None:
    """Queue every board behind what stands before it."""
    for number, board in enumerate(street.boards):
        draw = partial(_draw, canvas, board, light, dice(f"board {scene.seed} {number}"))
        painter.add(_far(canvas, board, street) - 0.01, draw)


def _far(canvas: Canvas, board: Hung, street: Street) -> float:
    """Return the squared distance to sort a board by: just behind the house or the vehicle that carries it."""
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
    picture = draw_board(board.plan, max(6.0, min(em_px * _OVERSAMPLING, 220.0)), chance)
    canvas.paste3(picture, board.quad, _brightness(board, light))


def _may_show(canvas: Canvas, board: Hung) -> bool:
    points = [point for corner in board.quad if (point := canvas.view.project(corner)) is not None]
    return any(x > 0 for x, _ in points) and any(x < canvas.view.width for x, _ in points)


def _brightness(board: Hung, light: Light) -> float:
    facing = board.place.wall.facing
    seen = light.shade((200, 200, 200), facing)[1] / 200
    return max(seen, 0.55)


def _holder(canvas: Canvas, board: Hung, light: Light) -> None:
    """Draw what holds a board: posts, a frame, a shadow on the wall, ropes."""
    left, bottom, right, top = board.rect
    wall = board.place.wall
    metal = light.shade((112, 116, 120))
    match board.place.support:
        case "wall":
            canvas.shade3(wall.quad((left + 0.05, bottom - 0.12, right + 0.05, bottom), 0.02), 0.3)
            _frame(canvas, board, 0.04, light.shade(_rim(board)), 0.1)
        case "post":
            for foot in legs(board.rect):
                canvas.line3(
                    wall.locate_point(foot, 0.0),
                    wall.locate_point(foot, top),
                    metal,
                    0.08 if right - left < 3 else 0.18,
                )
            _frame(canvas, board, 0.03, lit(metal, 0.75))
        case "stand":
            corners = ((left, 0.3), (right, 0.3), (right, -0.2), (left, -0.2))
            canvas.shade3([wall.locate_point(along, 0.0, out) for along, out in corners], 0.35)
            for foot in (left + 0.05, right - 0.05):
                canvas.line3(wall.locate_point(foot, 0.0), wall.locate_point(foot, bottom + 0.1), lit(metal, 0.6), 0.07)
            _frame(canvas, board, 0.06, lit(metal, 0.5))
        case "roof":
            for foot in (left + 0.4, right - 0.4):
                canvas.line3(wall.locate_point(foot, bottom - 0.8), wall.locate_point(foot, top), lit(metal, 0.6), 0.1)
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
    """Draw bars or ropes outwards from all four corners."""
    left, bottom, right, top = board.rect
    wall = board.place.wall
    for high in (top, bottom):
        canvas.line3(wall.locate_point(left - reach_m, high + up_m), wall.locate_point(left, high), ink, width_m)
        canvas.line3(wall.locate_point(right, high), wall.locate_point(right + reach_m, high + up_m), ink, width_m)


def _rim(board: Hung) -> Colour:
    ground = board.plan.colours[0]
    return lit(ground, 0.55)


def draw_cover(canvas: Canvas, cover: Cover, light: Light) -> None:
    """Draw what hides part of a board."""
    chance = dice(cover.seed)
    if cover.kind == "leaves":
        _leaves(canvas, cover, light, chance)
    elif cover.kind == "cloth":
        _cloth(canvas, cover, light, chance)
    else:
        _crates(canvas, cover, light)


def _leaves(canvas: Canvas, cover: Cover, light: Light, chance: random.Random) -> None:
    """Draw a bough that hangs into the picture from above."""
    middle = canvas.view.project(cover.at)
    if middle is None:
        return
    metre = canvas.view.pixels_per_metre(cover.at)
    wide, tall = cover.half_m * metre, cover.tall_m * metre
    leaf = chance.choice(_LEAVES)
    twig = light.shade((92, 74, 56))
    canvas.line(
        ((middle[0] - wide * 0.2, middle[1] - tall * 2.6), (middle[0], middle[1] - tall * 0.5)),
        twig,
        max(1.0, wide * 0.06),
    )
    for _ in range(46):
        angle, away = chance.randrange(360), chance.randrange(100) / 100
        x, y = middle[0] + wide * 0.92 * away * cosine(angle), middle[1] + tall * away * sine(angle)
        size = max(1.5, (wide + tall) * chance.randrange(8, 17) / 100)
        turn = chance.randrange(180)
        shape = [
            (x + size * (cosine(turn) * cosine(a) - 0.55 * sine(turn) * sine(a)),
             y + size * (sine(turn) * cosine(a) + 0.55 * cosine(turn) * sine(a)))
            for a in range(0, 360, 45)
        ]  # fmt: skip
        canvas.polygon(shape, light.shade(lit(leaf, 0.7 + 0.06 * chance.randrange(10))))


def _cloth(canvas: Canvas, cover: Cover, light: Light, chance: random.Random) -> None:
    x, y, z = cover.at
    fill = chance.choice(_CLOTHS)
    folds = 6
    for number in range(folds):
        left = x + cover.half_m * (2 * number / folds - 1)
        right = x + cover.half_m * (2 * (number + 1) / folds - 1)
        sag = 0.06 * cover.tall_m * chance.randrange(10) / 10
        tone = light.shade(lit(fill, 0.84 + 0.05 * ((number * 3) % 5)))
        top, low = z + cover.tall_m, z - cover.tall_m - sag
        canvas.polygon3(upright((left, y), (right, y), top, low), tone)
    rope = light.shade((70, 66, 60))
    canvas.line3((x - cover.half_m * 3, y, z + cover.tall_m * 1.3), (x - cover.half_m, y, z + cover.tall_m), rope, 0.02)
    canvas.line3((x + cover.half_m, y, z + cover.tall_m), (x + cover.half_m * 3, y, z + cover.tall_m * 1.3), rope, 0.02)


def _crates(canvas: Canvas, cover: Cover, light: Light) -> None:
    x, y, z = cover.at
    half, top = cover.half_m, z + cover.tall_m * 0.7
    count = max(2, round(top / 0.35))
    wood = light.shade((168, 128, 84))
    canvas.shade3(
        ((x - half, y - 0.3, 0.0), (x + half, y - 0.3, 0.0), (x + half, y + 0.3, 0.0), (x - half, y + 0.3, 0.0)), 0.4
    )
    for number in range(count):
        low, high = top * number / count, top * (number + 1) / count
        canvas.polygon3(upright((x - half, y), (x + half, y), low, high), lit(wood, 1 - 0.08 * (number % 2)))
        canvas.polygon3(upright((x - half, y), (x + half, y), high - 0.05, high), lit(wood, 0.6))
