"""Bodies of vehicles: flat faces in the vehicle's own metres, shown where the camera sees them."""

from collections.abc import Sequence
from typing import Literal

from .camera import Point2, Point3, cosine, sine
from .canvas import Canvas, Colour, mixed
from .sky_light import Light

Facing = Literal["away", "towards", "left", "right"]
"""Which way a vehicle points, seen along the street."""
Corners = tuple[Point3, Point3, Point3, Point3]
"""A face: top left, top right, bottom right, bottom left as somebody before it sees them."""

_FORWARD: dict[Facing, Point2] = {"away": (0, 1), "towards": (0, -1), "left": (-1, 0), "right": (1, 0)}
_CIRCLE = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 20))
TYRE: Colour = (34, 34, 36)
GLASS: Colour = (58, 74, 88)


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
        """A point of the vehicle in metres of the street."""
        along = u - self.length_m / 2
        return (
            self.at[0] + self.forward[0] * along + self.right[0] * v,
            self.at[1] + self.forward[1] * along + self.right[1] * v,
            z,
        )

    def tone(self, colour: Colour, normal: Point3) -> Colour:
        """A colour on a face that points this way (in the vehicle's own axes), in the light and air of the scene."""
        ahead, aside, up = normal
        facing = (
            self.forward[0] * ahead + self.right[0] * aside, self.forward[1] * ahead + self.right[1] * aside, up,
        )  # fmt: skip
        return self.light.hazed(self.light.shade(colour, facing), self.distance_m)

    def face(self, points: Sequence[Point3], normal: Point3, colour: Colour, alpha: float = 1.0) -> bool:
        """Fill a flat face given in (u, v, z); False where it turns away from the camera."""
        if not self.shows(points[0], normal):
            return False
        self.canvas.polygon3([self.place(*point) for point in points], self.tone(colour, normal), alpha)
        return True

    def glowing(self, points: Sequence[Point3], normal: Point3, colour: Colour) -> None:
        """Fill a face that shines by itself."""
        if self.shows(points[0], normal):
            self.canvas.polygon3(
                [self.place(*point) for point in points], self.light.hazed(colour, self.distance_m / 2)
            )

    def shows(self, point: Point3, normal: Point3) -> bool:
        """Whether a face with this point and normal turns towards the camera."""
        x, y, z = self.place(*point)
        view = self.canvas.view
        ahead, aside, up = normal
        across = self.forward[0] * ahead + self.right[0] * aside
        along = self.forward[1] * ahead + self.right[1] * aside
        return across * (view.x_m - x) - along * y + up * (view.height_m - z) > 1e-9

    def wheel(self, u: float, v: float, radius: float, rim: Colour) -> None:
        """A wheel on the outside of the body."""
        side = 1.0 if v > 0 else -1.0
        if not self.shows((u, v, radius), (0, side, 0)):
            return
        for scale, colour in ((1.0, TYRE), (0.62, rim), (0.2, TYRE)):
            points = [(u + x * radius * scale, v, radius + z * radius * scale) for x, z in _CIRCLE]
            self.canvas.polygon3([self.place(*point) for point in points], self.tone(colour, (0, side, 0)))

    def arch(self, u: float, v: float, radius: float) -> None:
        """The dark opening above a wheel."""
        side = 1.0 if v > 0 else -1.0
        upper = [(u + x * radius, v, 0.3 + max(z, -0.2) * radius) for x, z in _CIRCLE]
        self.face(upper, (0, side, 0), (24, 24, 26))

    def ground_shadow(self, half_width: float) -> None:
        """The dark under a vehicle, with the sun or without."""
        for grow, alpha in ((0.1, 0.34), (-0.12, 1.0)):
            low, high, aside = -grow, self.length_m + grow, half_width + grow
            plan = ((low, -aside, 0.0), (high, -aside, 0.0), (high, aside, 0.0), (low, aside, 0.0))
            self.canvas.polygon3([self.place(*point) for point in plan], (20, 21, 24), alpha)

    def end(self, u: float, half: float, low: float, high: float, *, front: bool) -> Corners:
        """An upright rectangle across the vehicle, as somebody before its front or behind its rear sees it."""
        left = half if front else -half
        return (u, left, high), (u, -left, high), (u, -left, low), (u, left, low)

    def side(self, v: float, rear: float, front: float, low: float, high: float) -> Corners:
        """An upright rectangle along the vehicle, as somebody beside it sees it."""
        first, last = (rear, front) if v > 0 else (front, rear)
        return (first, v, high), (last, v, high), (last, v, low), (first, v, low)

    def street(self, corners: Corners) -> Corners:
        """A face in metres of the street."""
        one, two, three, four = (self.place(*corner) for corner in corners)
        return one, two, three, four


def part(corners: Corners, left: float, top: float, right: float, bottom: float) -> Corners:
    """A piece of a face; its edges are shares of the face's width and height from its top left corner."""

    def at(across: float, down: float) -> Point3:
        upper = _between(corners[0], corners[1], across)
        return _between(upper, _between(corners[3], corners[2], across), down)

    return at(left, top), at(right, top), at(right, bottom), at(left, bottom)


def _between(one: Point3, other: Point3, share: float) -> Point3:
    rest = 1 - share
    return one[0] * rest + other[0] * share, one[1] * rest + other[1] * share, one[2] * rest + other[2] * share


def glass_in(light: Light) -> Colour:
    """Window panes: they show the sky by day and little at night."""
    return mixed(GLASS, light.zenith, 0.25)
