"""Buses with writing on them."""

from typing import Literal

from PIL import Image

from .camera import Point2
from .canvas import Canvas, Colour, mixed
from .sky_light import Light
from .vehicles_body import Body, Corners, Facing, glass_in, part

BUS_M = (11.0, 2.5, 3.1)
"""Length, width and height of a bus."""
BUS_BOARD_M = (8.6, 0.8)
"""How wide and tall the writing on its side is."""
BUS_DISPLAY_M = (1.7, 0.3)
"""How wide and tall the display above its windscreen and rear window is."""


def draw_bus(
    canvas: Canvas, at: Point2, colour: Colour, facing: Facing, light: Light, *,
    doors_on: Literal["left", "right"] = "right", side: Image.Image | None = None, front: Image.Image | None = None,
) -> tuple[Corners | None, Corners | None]:  # fmt: skip
    """Draw a bus whose middle stands at a point of the street.

    Args:
        canvas: where to draw.
        at: metres of the street, right and forward.
        colour: of its body in plain daylight.
        facing: which way it points.
        light: of the scene.
        doors_on: the side it is boarded from: where people drive on the right, its right.
        side: what is written along it, about `BUS_BOARD_M` in shape; pasted where a side can be seen.
        front: what its display says, about `BUS_DISPLAY_M` in shape.

    Returns:
        Where the writing along it and where the display are, as corners in metres of the street; None for what can't
        be seen.
    """
    length, width, height = BUS_M
    body = Body(canvas, at, facing, length, light)
    half = width / 2
    body.ground_shadow(half)
    written: Corners | None = None
    for v in (-half, half):
        face = body.side(v, 0.0, length, 0.32, height)
        if body.face(face, (0, v / half, 0), mixed(colour, (0, 0, 0), 0.05)):
            doors = (v > 0) == (doors_on == "right")
            written = _side(body, v, colour, side, doors=doors)
    shown: Corners | None = None
    for ahead in (False, True):
        u = length if ahead else 0.0
        face = body.end(u, half, 0.32, height, front=ahead)
        if body.face(face, (1 if ahead else -1, 0, 0), mixed(colour, (0, 0, 0), 0.03)):
            shown = _end(body, face, colour, front, ahead=ahead)
    roof = ((0.0, -half, height), (0.0, half, height), (length, half, height), (length, -half, height))
    body.face(roof, (0, 0, 1), mixed(colour, (255, 255, 255), 0.2))
    return written, shown


def _side(body: Body, v: float, colour: Colour, side: Image.Image | None, *, doors: bool) -> Corners:
    length, _, height = BUS_M
    turned = (0.0, 1.0 if v > 0 else -1.0, 0.0)
    glass = glass_in(body.light)
    lit = body.light.night
    body.face(body.side(v, 0.0, length, 0.32, 0.42), turned, mixed(colour, (16, 16, 18), 0.6))
    body.face(body.side(v, 0.15, length - 0.12, 1.48, height - 0.42), turned, mixed(glass, (14, 16, 20), 0.4))
    panes = 7
    for pane in range(panes):
        low = 0.25 + pane * (length - 0.5) / panes
        window = body.side(v, low + 0.04, low + (length - 0.5) / panes - 0.04, 1.53, height - 0.47)
        if lit:
            body.glowing(window, turned, (236, 214, 160))
            continue
        body.face(window, turned, glass)
        body.face(part(window, 0.14, 0.0, 0.4, 1.0), turned, mixed(glass, (214, 226, 236), 0.2))
    if doors:
        for u in (0.7, length - 2.1):
            door = body.side(v, u, u + 1.25, 0.36, height - 0.45)
            body.face(door, turned, mixed(colour, (30, 32, 36), 0.7))
            for left, right in ((0.06, 0.47), (0.53, 0.94)):
                body.face(part(door, left, 0.05, right, 0.94), turned, glass)
    for u in (2.6 if doors else 2.2, length - 2.9):
        body.arch(u, v, 0.56)
        body.wheel(u, v * 1.002, 0.47, (150, 154, 158))
    board = body.side(v, (length - BUS_BOARD_M[0]) / 2, (length + BUS_BOARD_M[0]) / 2, 0.66, 0.66 + BUS_BOARD_M[1])
    street = body.street(board)
    if side is not None:
        body.canvas.paste3(side, street, max(0.45, min(1.0, body.light.brightness)))
    return street


def _end(body: Body, face: Corners, colour: Colour, front: Image.Image | None, *, ahead: bool) -> Corners:
    turned = (1.0 if ahead else -1.0, 0.0, 0.0)
    glass = glass_in(body.light)
    body.face(part(face, 0.0, 0.86, 1.0, 1.0), turned, mixed(colour, (20, 20, 22), 0.6))
    pane = part(face, 0.05, 0.2, 0.95, 0.62) if ahead else part(face, 0.1, 0.2, 0.9, 0.46)
    body.face(pane, turned, glass)
    body.face(part(pane, 0.56, 0.0, 0.76, 1.0), turned, mixed(glass, (214, 226, 236), 0.22))
    for left in (0.04, 0.84):
        lamp = part(face, left, 0.74, left + 0.12, 0.82)
        if body.light.night or body.light.brightness < 0.78:
            body.glowing(lamp, turned, (255, 250, 226) if ahead else (255, 70, 54))
        else:
            body.face(lamp, turned, (240, 240, 232) if ahead else (168, 28, 28))
    wide, tall = BUS_DISPLAY_M[0] / BUS_M[1] / 2, BUS_DISPLAY_M[1] / (BUS_M[2] - 0.32)
    display = part(face, 0.5 - wide, 0.045, 0.5 + wide, 0.045 + tall)
    body.face(part(display, -0.04, -0.12, 1.04, 1.12), turned, (22, 23, 26))
    street = body.street(display)
    if front is not None:
        body.canvas.paste3(front, street)
    return street
