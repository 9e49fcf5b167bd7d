"""Cars, vans, buses and others that stand or drive along a street."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .camera import Point2, Point3, cosine, sine
from .canvas import Canvas, Colour, mix_colours
from .sky import Light, shine

Facing = Literal["away", "towards", "left", "right"]
"""Which way a vehicle points, seen along the street."""
Corners = tuple[Point3, Point3, Point3, Point3]
"""A face: top left, top right, bottom right, bottom left as seen from the front."""

_FORWARD: dict[Facing, Point2] = {"away": (0, 1), "towards": (0, -1), "left": (-1, 0), "right": (1, 0)}
_CIRCLE = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 20))
TYRE: Colour = (34, 34, 36)
GLASS: Colour = (58, 74, 88)

Kind = Literal["hatchback", "saloon", "estate", "suv", "van", "pickup"]
Side = Literal["left", "right"]
# Width and height of a number plate, in metres.
_PLATE_M = (0.52, 0.115)
CAR_COLOURS: tuple[Colour, ...] = (
    (232, 233, 234), (196, 200, 204), (148, 152, 156), (62, 66, 72), (34, 36, 40), (146, 36, 36), (34, 62, 116),
    (86, 118, 152), (58, 84, 70), (194, 160, 92), (176, 92, 40), (220, 214, 196),
)  # fmt: skip
_RED: Colour = (168, 28, 28)
# Length, width and height of a bus, in metres.
BUS_M = (11.0, 2.5, 3.1)
# Width and height, in metres, of the display above the windscreen and rear window of a bus.
_DISPLAY_M = (1.7, 0.3)


class Body:
    """A vehicle at a point of the street.

    Its own axes: u runs from its rear (0) to its front, v from its left (negative) to its right, z up. Faces that turn
    away from the camera are left out.
    """

    def __init__(self, canvas: Canvas, at: Point2, facing: Facing, length_m: float, light: Light) -> None:
        self.canvas = canvas
        self.light = light
        self.at = at
        self.length_m = length_m
        self.forward = _FORWARD[facing]
        self.right = (self.forward[1], -self.forward[0])
        self.distance_m = max(1.0, canvas.view.depth_m((at[0], at[1], 1.0)))
        self.near = length_m * canvas.view.focal_px / self.distance_m > 140
        """Whether seams, mirrors and glints are large enough to be seen."""

    def place(self, u: float, v: float, z: float) -> Point3:
        """Return a point of the vehicle in metres of the street."""
        along = u - self.length_m / 2
        return (
            self.at[0] + self.forward[0] * along + self.right[0] * v,
            self.at[1] + self.forward[1] * along + self.right[1] * v,
            z,
        )

    def tone(self, colour: Colour, normal: Point3) -> Colour:
        """Return a colour on a face of this direction (in the vehicle's axes), in the light and air of the scene."""
        ahead, aside, up = normal
        facing = (
            self.forward[0] * ahead + self.right[0] * aside, self.forward[1] * ahead + self.right[1] * aside, up,
        )  # fmt: skip
        return self.light.apply_haze(self.light.shade(colour, facing), self.distance_m)

    def face(self, points: Sequence[Point3], normal: Point3, colour: Colour) -> bool:
        """Fill a flat face given in (u, v, z); False if it turns away from the camera."""
        if not self.shows(points[0], normal):
            return False
        self.canvas.polygon3([self.place(*point) for point in points], self.tone(colour, normal))
        return True

    def glowing(self, points: Sequence[Point3], normal: Point3, colour: Colour) -> None:
        """Fill a face that shines by itself."""
        if self.shows(points[0], normal):
            self.canvas.polygon3(
                [self.place(*point) for point in points], self.light.apply_haze(colour, self.distance_m / 2)
            )

    def shows(self, point: Point3, normal: Point3) -> bool:
        """Return whether a face with this point and normal turns towards the camera."""
        x, y, z = self.place(*point)
        view = self.canvas.view
        ahead, aside, up = normal
        across = self.forward[0] * ahead + self.right[0] * aside
        along = self.forward[1] * ahead + self.right[1] * aside
        return across * (view.x_m - x) - along * y + up * (view.height_m - z) > 1e-9

    def wheel(self, u: float, v: float, radius: float, rim: Colour) -> None:
        """Draw a wheel on the outside of the body."""
        side = 1.0 if v > 0 else -1.0
        if not self.shows((u, v, radius), (0, side, 0)):
            return
        for scale, colour in ((1.0, TYRE), (0.62, rim), (0.2, TYRE)):
            points = [(u + x * radius * scale, v, radius + z * radius * scale) for x, z in _CIRCLE]
            self.canvas.polygon3([self.place(*point) for point in points], self.tone(colour, (0, side, 0)))

    def arch(self, u: float, v: float, radius: float) -> None:
        """Draw the dark opening above a wheel."""
        side = 1.0 if v > 0 else -1.0
        upper = [(u + x * radius, v, 0.3 + max(z, -0.2) * radius) for x, z in _CIRCLE]
        self.face(upper, (0, side, 0), (24, 24, 26))

    def ground_shadow(self, half_width: float) -> None:
        """Draw the dark under a vehicle, with the sun or without."""
        for grow, alpha in ((0.1, 0.34), (-0.12, 1.0)):
            low, high, aside = -grow, self.length_m + grow, half_width + grow
            plan = ((low, -aside, 0.0), (high, -aside, 0.0), (high, aside, 0.0), (low, aside, 0.0))
            self.canvas.polygon3([self.place(*point) for point in plan], (20, 21, 24), alpha)

    def end(self, u: float, half: float, low: float, high: float, *, front: bool) -> Corners:
        """Return an upright rectangle across the vehicle, as seen from the front or the rear."""
        left = half if front else -half
        return (u, left, high), (u, -left, high), (u, -left, low), (u, left, low)

    def side(self, v: float, rear: float, front: float, low: float, high: float) -> Corners:
        """Return an upright rectangle along the vehicle, as seen from the side."""
        first, last = (rear, front) if v > 0 else (front, rear)
        return (first, v, high), (last, v, high), (last, v, low), (first, v, low)


def part(corners: Corners, left: float, top: float, right: float, bottom: float) -> Corners:
    """Return a piece of a face; its edges are shares of the face's width and height from its top left corner."""

    def locate_point(across: float, down: float) -> Point3:
        upper = _between(corners[0], corners[1], across)
        return _between(upper, _between(corners[3], corners[2], across), down)

    return locate_point(left, top), locate_point(right, top), locate_point(right, bottom), locate_point(left, bottom)


def _across(point3: Point3, other: Point3) -> Corners:
    """Return a face across the whole width of a vehicle, between two edges, each given by an endpoint."""
    return point3, (point3[0], -point3[1], point3[2]), (other[0], -other[1], other[2]), other


def _between(point3: Point3, other: Point3, share: float) -> Point3:
    rest = 1 - share
    return point3[0] * rest + other[0] * share, point3[1] * rest + other[1] * share, point3[2] * rest + other[2] * share


def compute_glass_colour(light: Light) -> Colour:
    """Return the colour of window panes: they show the sky."""
    return mix_colours(GLASS, light.zenith, 0.25)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Vehicle outline in metres: the body, the height of boot, belt, bonnet and roof, and the ends of the cabin (u)."""

    length: float
    width: float
    boot: float
    belt: float
    bonnet: float
    roof: float
    cabin: tuple[float, float, float, float]
    wheel: float = 0.32


_SHAPES: dict[Kind, _Shape] = {
    "hatchback": _Shape(3.9, 1.72, 0.92, 0.94, 0.86, 1.48, (0.05, 0.42, 2.05, 2.95)),
    "saloon": _Shape(4.6, 1.8, 0.95, 0.95, 0.84, 1.44, (0.75, 1.35, 2.65, 3.45)),
    "estate": _Shape(4.6, 1.8, 0.94, 0.95, 0.85, 1.48, (0.06, 0.5, 2.7, 3.45)),
    "suv": _Shape(4.5, 1.88, 1.08, 1.1, 1.02, 1.7, (0.08, 0.4, 2.6, 3.35), 0.37),
    "van": _Shape(5.0, 1.95, 1.1, 1.12, 1.05, 2.05, (0.02, 0.12, 3.75, 4.5), 0.34),
    "pickup": _Shape(5.1, 1.86, 1.02, 1.06, 1.0, 1.74, (2.0, 2.1, 3.1, 3.75), 0.38),
}


def lane_x(drives_on: Side, road_half_m: float, facing: Literal["away", "towards"]) -> float:
    """Return where cars of one direction drive, in metres right of the middle of the road."""
    own_right = (drives_on == "right") == (facing == "away")
    return road_half_m / 2 if own_right else -road_half_m / 2


def compute_parked_facing(drives_on: Side, kerb: Side) -> Literal["away", "towards"]:
    """Return which way a car at one kerb points: the way that side of the road drives."""
    return "away" if drives_on == kerb else "towards"


def random_kind(chance: random.Random) -> Kind:
    """Return a kind of car, common ones more often."""
    kinds: tuple[Kind, ...] = ("hatchback", "hatchback", "saloon", "saloon", "estate", "suv", "suv", "van", "pickup")
    return chance.choice(kinds)


def car_size_m(kind: Kind) -> tuple[float, float, float]:
    """Return length, width and height of a car, for its shadow and to keep others out of it."""
    shape = _SHAPES[kind]
    return shape.length, shape.width, shape.roof


def draw_car(
    canvas: Canvas, at: Point2, colour: Colour, facing: Facing, light: Light, *, kind: Kind = "hatchback"
) -> None:
    """Draw a car whose middle stands at a point of the street; a plate that can be read is a board before its own."""
    shape = _SHAPES[kind]
    body = Body(canvas, at, facing, shape.length, light)
    half = shape.width / 2
    body.ground_shadow(half)
    _underneath(body, shape, half)
    _shell(body, shape, half, colour)
    if kind == "pickup":
        _draw_pickup_bed(body, shape, half, colour)
    _cabin(body, shape, half, colour, panel=kind == "van")
    _ends(body, shape, half, colour)


def _underneath(body: Body, shape: _Shape, half: float) -> None:
    dark = (26, 27, 30)
    for front, u in ((False, 0.12), (True, shape.length - 0.12)):
        low = body.end(u, half - 0.06, 0.14, 0.4, front=front)
        body.face(low, (1 if front else -1, 0, 0), dark)
        for v in (-half + 0.14, half - 0.14):
            tyre = ((u, v - 0.1, 0.4), (u, v + 0.1, 0.4), (u, v + 0.1, 0.0), (u, v - 0.1, 0.0))
            body.face(tyre, (1 if front else -1, 0, 0), (30, 30, 32))
    for v in (-half, half):
        body.face(body.side(v * 0.96, 0.3, shape.length - 0.3, 0.15, 0.4), (0, v / half, 0), dark)


def _shell(body: Body, shape: _Shape, half: float, colour: Colour) -> None:
    """Draw the lower body: two sides, boot and bonnet, without the ends."""
    length = shape.length
    for v in (-half, half):
        turned = (0.0, v / half, 0.0)
        outline = [
            (0.06, v, 0.3), (0.0, v, 0.5), (0.04, v, shape.boot - 0.1), (0.14, v, shape.boot),
            (shape.cabin[3], v, shape.belt), (length - 0.3, v, shape.bonnet - 0.06),
            (length - 0.04, v, shape.bonnet - 0.22), (length, v, 0.5), (length - 0.06, v, 0.3),
        ]  # fmt: skip
        if not body.face(outline, turned, mix_colours(colour, (0, 0, 0), 0.04)):
            continue
        for u in (0.78, length - 0.82):
            body.arch(u, v, shape.wheel + 0.07)
            body.wheel(u, v * 1.003, shape.wheel, (168, 172, 176))
    rear = [(0.06, 0.3), (0.0, 0.5), (0.04, shape.boot - 0.1), (0.14, shape.boot)]
    if shape.cabin[0] > 0.2:
        rear.append((shape.cabin[0], shape.belt))
    front = [
        (length - 0.06, 0.3), (length, 0.5), (length - 0.04, shape.bonnet - 0.22), (length - 0.3, shape.bonnet - 0.06),
        (shape.cabin[3], shape.belt),
    ]  # fmt: skip
    for sign, profile in ((-1, rear), (1, front)):
        for (u0, z0), (u1, z1) in pairwise(profile):
            along, up = (z1 - z0) * sign, (u0 - u1) * sign
            far = max(abs(along), abs(up))
            strip = ((u0, -half, z0), (u0, half, z0), (u1, half, z1), (u1, -half, z1))
            body.face(
                strip, (along / far, 0.0, up / far), mix_colours(colour, (0, 0, 0), 0.05 if along == far else 0.0)
            )


def _draw_pickup_bed(body: Body, shape: _Shape, half: float, colour: Colour) -> None:
    front = shape.cabin[0]
    inner = _across((0.16, 0.1 - half, 1.0), (front - 0.08, 0.1 - half, 1.0))
    body.face(inner, (0, 0, 1), mix_colours(colour, (20, 20, 22), 0.8))


def _cabin(body: Body, shape: _Shape, half: float, colour: Colour, *, panel: bool) -> None:
    glass = compute_glass_colour(body.light)
    rear, back, fore, front = shape.cabin
    low, high = half - 0.03, half - (0.1 if panel else 0.17)
    dark = mix_colours(colour, (0, 0, 0), 0.06)
    for v in (-1, 1):
        first, last = ((rear, back), (front, fore)) if v > 0 else ((front, fore), (rear, back))
        side: Corners = (
            (first[1], v * high, shape.roof), (last[1], v * high, shape.roof),
            (last[0], v * low, shape.belt), (first[0], v * low, shape.belt),
        )  # fmt: skip
        turned = (0.0, v * 0.96, 0.28)
        if not body.face(side, turned, dark):
            continue
        if panel:
            pane = part(side, 0.72, 0.12, 0.95, 0.9) if v > 0 else part(side, 0.05, 0.12, 0.28, 0.9)
            body.face(pane, turned, glass)
            continue
        for left, right in ((0.07, 0.48), (0.52, 0.93)) if front - rear > 1.9 else ((0.1, 0.9),):
            pane = part(side, left, 0.14, right, 0.94)
            body.face(pane, turned, glass)
            if body.near:
                body.face(part(pane, 0.1, 0.0, 0.32, 1.0), turned, mix_colours(glass, (214, 226, 236), 0.22))
    behind = _across((back, -high, shape.roof), (rear, -low, shape.belt))
    if body.face(behind, (-0.85, 0, 0.5), dark):
        pane = part(behind, 0.1, 0.14, 0.9, 0.7 if panel else 0.88)
        body.face(pane, (-0.85, 0, 0.5), glass)
        body.face(part(pane, 0.08, 0.0, 0.3, 1.0), (-0.85, 0, 0.5), mix_colours(glass, (214, 226, 236), 0.2))
    before = _across((fore, high, shape.roof), (front, low, shape.belt))
    if body.face(before, (0.6, 0, 0.8), dark):
        pane = part(before, 0.06, 0.08, 0.94, 0.95)
        body.face(pane, (0.6, 0, 0.8), glass)
        body.face(part(pane, 0.62, 0.0, 0.82, 1.0), (0.6, 0, 0.8), mix_colours(glass, (214, 226, 236), 0.24))
    roof = _across((back, -high, shape.roof), (fore, -high, shape.roof))
    body.face(roof, (0, 0, 1), colour)


def _ends(body: Body, shape: _Shape, half: float, colour: Colour) -> None:
    """Draw rear and front with lamps, bumper and plate."""
    lit = body.light.brightness < 0.78
    for front in (False, True):
        u = shape.length if front else 0.0
        turned = (1.0 if front else -1.0, 0.0, 0.0)
        top = shape.bonnet - 0.2 if front else shape.boot
        face = body.end(u, half - 0.02, 0.34, top, front=front)
        if not body.face(face, turned, mix_colours(colour, (0, 0, 0), 0.05)):
            continue
        body.face(part(face, 0.0, 0.72, 1.0, 1.0), turned, mix_colours(colour, (20, 20, 22), 0.62))
        if front:
            body.face(part(face, 0.2, 0.3, 0.8, 0.62), turned, (38, 40, 44))
        else:
            body.face(part(face, 0.16, 0.08, 0.84, 0.12), turned, mix_colours(colour, (0, 0, 0), 0.3))
        for lamp in (part(face, 0.03, 0.1, 0.19, 0.42), part(face, 0.81, 0.1, 0.97, 0.42)):
            _lamp(body, lamp, turned, front=front, lit=lit)
        _plate(body, face, turned, lower=0.88 if front else 0.66)


def _lamp(body: Body, lamp: Corners, turned: tuple[float, float, float], *, front: bool, lit: bool) -> None:
    colour = (240, 240, 232) if front else _RED
    body.face(lamp, turned, mix_colours(colour, (0, 0, 0), 0.25))
    inner = part(lamp, 0.12, 0.14, 0.88, 0.7)
    if not lit:
        body.face(inner, turned, colour)
        return
    body.glowing(inner, turned, (255, 250, 226) if front else (255, 70, 54))
    middle = body.canvas.view.project(body.place(*part(lamp, 0.5, 0.4, 1, 1)[0]))
    if middle is not None:
        radius = 0.6 * body.canvas.view.focal_px / body.distance_m
        shine(body.canvas.pixels, middle, radius, (255, 240, 200) if front else (255, 90, 70), 0.5)


def _plate(body: Body, face: Corners, turned: Point3, *, lower: float) -> None:
    wide = abs(face[0][1] - face[1][1])
    tall = face[0][2] - face[3][2]
    share = _PLATE_M[1] / _PLATE_M[0]
    across = _PLATE_M[0] / wide / 2
    down = 2 * across * wide * share / tall
    corners = part(face, 0.5 - across, lower - down, 0.5 + across, lower)
    frame = part(corners, -0.03, -0.12, 1.03, 1.12)
    body.face(frame, turned, (30, 31, 34))
    body.face(corners, turned, (236, 236, 230))


def draw_bus(
    canvas: Canvas, at: Point2, colour: Colour, facing: Facing, light: Light, *, doors_on: Side = "right"
) -> None:
    """Draw a bus whose middle stands at a point of the street.

    It is boarded from the side ``doors_on``: where people drive on the right, its right.
    """
    length, width, height = BUS_M
    body = Body(canvas, at, facing, length, light)
    half = width / 2
    body.ground_shadow(half)
    for v in (-half, half):
        face = body.side(v, 0.0, length, 0.32, height)
        if body.face(face, (0, v / half, 0), mix_colours(colour, (0, 0, 0), 0.05)):
            _side(body, v, colour, doors=(v > 0) == (doors_on == "right"))
    for ahead in (False, True):
        u = length if ahead else 0.0
        face = body.end(u, half, 0.32, height, front=ahead)
        if body.face(face, (1 if ahead else -1, 0, 0), mix_colours(colour, (0, 0, 0), 0.03)):
            _end(body, face, colour, ahead=ahead)
    roof = ((0.0, -half, height), (0.0, half, height), (length, half, height), (length, -half, height))
    body.face(roof, (0, 0, 1), mix_colours(colour, (255, 255, 255), 0.2))


def _side(body: Body, v: float, colour: Colour, *, doors: bool) -> None:
    length, _, height = BUS_M
    turned = (0.0, 1.0 if v > 0 else -1.0, 0.0)
    glass = compute_glass_colour(body.light)
    body.face(body.side(v, 0.0, length, 0.32, 0.42), turned, mix_colours(colour, (16, 16, 18), 0.6))
    body.face(body.side(v, 0.15, length - 0.12, 1.48, height - 0.42), turned, mix_colours(glass, (14, 16, 20), 0.4))
    panes = 7
    for pane in range(panes):
        low = 0.25 + pane * (length - 0.5) / panes
        window = body.side(v, low + 0.04, low + (length - 0.5) / panes - 0.04, 1.53, height - 0.47)
        body.face(window, turned, glass)
        body.face(part(window, 0.14, 0.0, 0.4, 1.0), turned, mix_colours(glass, (214, 226, 236), 0.2))
    if doors:
        for u in (0.7, length - 2.1):
            door = body.side(v, u, u + 1.25, 0.36, height - 0.45)
            body.face(door, turned, mix_colours(colour, (30, 32, 36), 0.7))
            for left, right in ((0.06, 0.47), (0.53, 0.94)):
                body.face(part(door, left, 0.05, right, 0.94), turned, glass)
    for u in (2.6 if doors else 2.2, length - 2.9):
        body.arch(u, v, 0.56)
        body.wheel(u, v * 1.002, 0.47, (150, 154, 158))


def _end(body: Body, face: Corners, colour: Colour, *, ahead: bool) -> None:
    turned = (1.0 if ahead else -1.0, 0.0, 0.0)
    glass = compute_glass_colour(body.light)
    body.face(part(face, 0.0, 0.86, 1.0, 1.0), turned, mix_colours(colour, (20, 20, 22), 0.6))
    pane = part(face, 0.05, 0.2, 0.95, 0.62) if ahead else part(face, 0.1, 0.2, 0.9, 0.46)
    body.face(pane, turned, glass)
    body.face(part(pane, 0.56, 0.0, 0.76, 1.0), turned, mix_colours(glass, (214, 226, 236), 0.22))
    for left in (0.04, 0.84):
        lamp = part(face, left, 0.74, left + 0.12, 0.82)
        if body.light.brightness < 0.78:
            body.glowing(lamp, turned, (255, 250, 226) if ahead else (255, 70, 54))
        else:
            body.face(lamp, turned, (240, 240, 232) if ahead else (168, 28, 28))
    wide, tall = _DISPLAY_M[0] / BUS_M[1] / 2, _DISPLAY_M[1] / (BUS_M[2] - 0.32)
    display = part(face, 0.5 - wide, 0.045, 0.5 + wide, 0.045 + tall)
    body.face(part(display, -0.04, -0.12, 1.04, 1.12), turned, (22, 23, 26))
