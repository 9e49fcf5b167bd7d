"""Where boards hang: on fronts, on posts, on stands, on vehicles; large enough to be read, and none before another."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.world.model import Board, Clue, Scene

from .boards import BoardPlan, plans_for
from .camera import Point3
from .lens import Lens
from .lots import MEASURES, Lot
from .places import Around, Place, places_for, stands_for
from .walls import Rect, Wall

Box = tuple[float, float, float, float]
CAP_SHARE = 0.72
"""How tall a capital letter is, in ems."""
_SHOP_EM_PX, _PLAIN_EM_PX = 32.0, 25.0
# Small letters: so tall that a crop of the original can be read, and so small that a first view can't. Both were tried
# with `photo.text.read_text`, which still reads ems of 10 pixels.
_SMALL_EM_PX, _LOST_EM_PX = 14.0, 6.8
_FIRST_VIEW_PX = 2_000_000
# How tall an em of each board is in metres, and how much larger it may become to be read.
_EMS: dict[Board, tuple[float, float]] = {
    "shop_front": (0.56, 1.6), "street_plate": (0.17, 2.2), "house_number": (0.17, 2.2), "bus_stop": (0.17, 2.2),
    "notice": (0.09, 2.8), "poster": (0.17, 2.4), "billboard": (0.6, 2.2), "bus": (0.3, 1.6),
    "number_plate": (0.11, 2.0), "town_sign": (0.26, 2.0), "direction_sign": (0.22, 2.0), "road_shield": (0.26, 2.0),
    "banner": (0.42, 2.0),
}  # fmt: skip
_ORDER: tuple[Board, ...] = (
    "shop_front", "bus", "banner", "billboard", "number_plate", "direction_sign", "town_sign", "poster", "bus_stop",
    "road_shield", "street_plate", "notice", "house_number",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hung:
    """A board in its place. ``em_m`` is how tall an em of its main line is."""

    plan: BoardPlan
    place: Place
    rect: Rect
    em_m: float
    em_px: float
    box: Box

    @property
    def quad(self) -> tuple[Point3, Point3, Point3, Point3]:
        """Its corners in the street: top left, top right, bottom right, bottom left."""
        return self.place.wall.quad(self.rect, 0.14 if self.place.support == "wall" else 0.0)

    @property
    def middle(self) -> Point3:
        """Its middle in the street."""
        left, bottom, right, top = self.rect
        return self.place.wall.at((left + right) / 2, (bottom + top) / 2)


def view_shrinks(size: tuple[int, int]) -> float:
    """How many times smaller a picture's first view is than the picture itself."""
    return max(1.0, math.sqrt(size[0] * size[1] / _FIRST_VIEW_PX))


@dataclass(frozen=True, slots=True)
class _Terms:
    """What a place must offer.

    By what share letters may be smaller than wanted, how flat the board may be seen, whether it may be in the way of
    others or behind something, and how much larger than usual it may become.
    """

    short: float
    flat: float
    crowded: bool = False
    growth: float = 1.0


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a board would like: an em in metres, how much it may grow, and how tall its smallest line's should look."""

    em_m: float
    growth: float
    target_px: float
    smallest: float


_TERMS = (_Terms(0.3, 0.5), _Terms(0.45, 0.34, growth=1.2))
_BROKEN = 0.5
_ANY = _Terms(1.0, 0.0, crowded=True, growth=2.0)


def place_boards(scene: Scene, lens: Lens, lots: Sequence[Lot], chance: random.Random) -> tuple[Hung, ...]:
    """Hang every board of a scene. Where no good place is free, a stand takes the least bad one: none is left out."""
    written = [clue for clue in scene.clues if clue.board is not None and clue.lines]
    written.sort(key=lambda clue: (_ORDER.index(clue.board or "notice"), clue.visibility == "small"))
    placed: list[Hung] = []
    taken: list[Box] = []
    near = [lot for lot in lots if _in_sight(lot, lens)]
    around = Around(lens, near, lots, MEASURES[scene.look.layout], scene.look.drives_on)
    for clue in written:
        board = clue.board or "notice"
        plans = plans_for(clue, chance, scene.look)
        usual = list(places_for(around, board))
        best: tuple[float, Hung] | None = None
        for terms in (*_TERMS, _ANY):
            options = list(stands_for(around, board)) if terms.crowded else usual
            found = [_best(plan, options, around, scene.size, taken, chance, terms) for plan in plans]
            # One row reads better than two.
            dear = [(option[0] + _BROKEN * number, option[1]) for number, option in enumerate(found) if option]
            best = min(dear, key=lambda option: option[0], default=None)
            if best is not None:
                break
        if best is not None:
            hung = best[1]
            placed.append(hung)
            taken.append(hung.box)
            taken += [box for own in _parts(hung.place, hung.rect) if (box := _box_on(lens, hung.place.wall, own))]
    return tuple(placed)


def _in_sight(lot: Lot, lens: Lens) -> bool:
    """Whether boards on a house could be read: near enough, and at least a corner of it in the picture."""
    if min(abs(lot.start), abs(lot.end)) > 30:
        return False
    points = (lens.project(lot.face.at(lot.width * share, up)) for share in (0.05, 0.5, 0.95) for up in (1.0, 3.3))
    return any(point is not None and 0 < point[0] < lens.width and 0 < point[1] < lens.height for point in points)


def legs(rect: Rect) -> tuple[float, ...]:
    """Where along a wall the posts under a board stand: one under a narrow board, two under a wide one."""
    left, _, right, _ = rect
    wide = right - left
    return ((left + right) / 2,) if wide < 1.9 else (left + wide * 0.2, right - wide * 0.2)


def _parts(place: Place, rect: Rect) -> list[Rect]:
    """What comes with a board and stands before other things: a vehicle, posts."""
    parts = [place.body] if place.body else []
    if place.support == "post":
        parts += [(foot - 0.06, 0.0, foot + 0.06, rect[1]) for foot in legs(rect)]
    return parts


def target_px(clue: Clue, size: tuple[int, int]) -> float:
    """How tall an em of a clue's smallest line should be in the picture."""
    if clue.visibility == "small":
        return max(_SMALL_EM_PX, _LOST_EM_PX * view_shrinks(size))
    # A panorama's things are small: they are read by turning towards them.
    larger = 1.5 if size[0] == 2 * size[1] else view_shrinks(size)
    return (_SHOP_EM_PX if clue.board == "shop_front" else _PLAIN_EM_PX) * larger


def _best(
    plan: BoardPlan, places: Sequence[Place], around: Around, size: tuple[int, int], taken: Sequence[Box],
    chance: random.Random, terms: _Terms,
) -> tuple[float, Hung] | None:  # fmt: skip
    best: tuple[float, Hung] | None = None
    wish = _Wish(*_EMS[plan.clue.board or "notice"], target_px(plan.clue, size), plan.smallest)
    for place in places:
        tried = _tried(plan, place, around, wish, taken, terms, best[0] if best else 1e9)
        if tried is not None:
            cost = tried[0] + 0.12 * chance.randrange(100) / 100
            if best is None or cost < best[0]:
                best = cost, tried[1]
    return best


def _tried(
    plan: BoardPlan, place: Place, around: Around, wish: _Wish, taken: Sequence[Box], terms: _Terms, under: float,
) -> tuple[float, Hung] | None:  # fmt: skip
    """What a place would cost, and the board there; None where it can't be, or costs more than another does."""
    lens = around.lens
    middle = place.wall.at(place.middle, place.bottom + 0.3)
    at = lens.project(middle)
    if at is None or not (0 < at[0] < lens.width and 0 < at[1] < lens.height):
        return None
    metre = lens.pixels_per_metre(middle)
    em, short, cost = _fitted(plan, place, metre, wish, terms)
    if cost > under or short > terms.short:
        return None
    wide, tall = plan.wide * em, plan.tall * em
    low = place.bottom - tall / 2 if place.centred else place.bottom
    rect = (place.middle - wide / 2, low, place.middle + wide / 2, low + tall)
    box = _box_on(lens, place.wall, rect)
    if box is None or not _inside(box, lens):
        return None
    flat = (box[2] - box[0]) / max(wide * metre, 1e-6)
    parts = [box, *(part for own in _parts(place, rect) if (part := _box_on(lens, place.wall, own)))]
    crowded = sum(_overlap(part, other) for part in parts for other in taken)
    behind = any(_behind(lens, corner, around.houses, place.wall) for corner in place.wall.quad(rect, 0.1))
    if flat < terms.flat or ((crowded > 0 or behind) and not terms.crowded):
        return None
    area = (box[2] - box[0]) * (box[3] - box[1])
    cost += 1.2 * max(0.0, 1 - flat) + 6 * max(0.0, area / (lens.width * lens.height) - 0.1)
    # Posts are thin, but one across a word is as bad as a board before it.
    cost += 1.5 * sum(any(_overlap(part, other) for part in parts) for other in taken) if crowded > 0 else 0.0
    cost += 6 * min(1.0, crowded / (area + 1)) + (5 if behind else 0)
    return cost, Hung(plan, place, rect, em, em * metre, box)


def _fitted(plan: BoardPlan, place: Place, metre: float, wish: _Wish, terms: _Terms) -> tuple[float, float, float]:
    """How tall an em is there in metres, by what share its letters fall short, and what that costs."""
    base = wish.em_m
    small = plan.clue.visibility == "small"
    wanted = wish.target_px / max(metre * wish.smallest, 1e-6)
    em = min(max(wanted, base * 0.3 if small else base), base * wish.growth * terms.growth)
    em = min(em, place.room[0] / plan.wide, place.room[1] / plan.tall)
    reached = em * wish.smallest * metre / wish.target_px
    over = max(0.0, reached - 1) if small else 0.0
    short = max(0.0, 1 - reached)
    return em, short, 4 * short + 3 * over + 0.4 * abs(em / base - 1) + place.dear


def _behind(lens: Lens, point: Point3, houses: Sequence[Lot], own: Wall) -> bool:
    """Whether a house stands between the camera and a point, or the point is inside one."""
    x, y, z = point
    for lot in houses:
        if lot.start > 45 or (x > 0) != (lot.side > 0) or abs(x) <= lot.front or lot.face == own:
            continue
        # From where the line of sight passes the fronts to the point itself.
        share = (lot.side * lot.front - lens.x_m) / (x - lens.x_m)
        first, last = sorted((y * share, y))
        if first < lot.end + 0.2 and last > lot.start - 0.2:
            enters = max(share, (lot.start if y > 0 else lot.end) / y if y else 0.0)
            if lens.height_m + (z - lens.height_m) * enters < lot.height + 1.0:
                return True
    return False


def _box_on(lens: Lens, wall: Wall, rect: Rect) -> Box | None:
    points = [point for corner in wall.quad(rect) if (point := lens.project(corner)) is not None]
    if len(points) < 4:
        return None
    columns, rows = [x for x, _ in points], [y for _, y in points]
    if max(columns) - min(columns) > lens.width * 0.9:
        return None
    return min(columns), min(rows), max(columns), max(rows)


def _inside(box: Box, lens: Lens) -> bool:
    edge = lens.width * 0.008
    return box[0] > edge and box[1] > edge and box[2] < lens.width - edge and box[3] < lens.height - edge


def _overlap(one: Box, other: Box) -> float:
    """Pixels that two boxes share, with a little air between them asked for."""
    air = 5.0
    wide = min(one[2], other[2]) - max(one[0], other[0]) + air
    tall = min(one[3], other[3]) - max(one[1], other[1]) + air
    return wide * tall if wide > 0 and tall > 0 else 0.0
