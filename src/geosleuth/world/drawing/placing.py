"""Where boards hang: on fronts, on posts, on stands, on vehicles; large enough to be read, and none before another."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from geosleuth.world.model import Board, Clue, Look, Scene

from .boards import BoardPlan, plan_board
from .camera import Point2, Point3
from .houses import shop_door
from .lots import MEASURES, Lot
from .walls import Rect, Wall

Box = tuple[float, float, float, float]
Support = Literal["wall", "post", "stand", "car", "bus_side", "bus_rear", "rope", "roof"]
CAP_SHARE = 0.72
"""How tall a capital letter is, in ems."""
_SHOP_EM_PX, _PLAIN_EM_PX, _SMALL_EM_PX = 34.0, 25.0, 19.5
_FIRST_VIEW_PX = 2_000_000
# How tall an em of each board is in metres, and how much larger it may become to be read.
_EMS: dict[Board, tuple[float, float]] = {
    "shop_front": (0.56, 1.6), "street_plate": (0.17, 2.2), "house_number": (0.17, 2.2), "bus_stop": (0.17, 2.2),
    "notice": (0.085, 2.6), "poster": (0.17, 2.4), "billboard": (0.6, 2.2), "bus": (0.3, 1.6),
    "number_plate": (0.11, 2.0), "town_sign": (0.26, 2.0), "direction_sign": (0.22, 2.0), "road_shield": (0.26, 2.0),
    "banner": (0.42, 2.0),
}  # fmt: skip
_ORDER: tuple[Board, ...] = (
    "shop_front", "bus", "banner", "billboard", "number_plate", "direction_sign", "town_sign", "poster", "bus_stop",
    "road_shield", "street_plate", "notice", "house_number",
)  # fmt: skip


class Lens(Protocol):
    """What sees the street: a view, or a panorama."""

    @property
    def width(self) -> int:
        """Pixels from side to side."""

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""

    @property
    def x_m(self) -> float:
        """Where across the street it stands."""

    @property
    def height_m(self) -> float:
        """How high it stands."""

    def project(self, point: Point3) -> Point2 | None:
        """The pixel of a point, where it has one."""

    def pixels_per_metre(self, point: Point3) -> float:
        """How large a metre is there."""


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that a board could hang: its middle along a wall and its lower edge, and the room there is."""

    wall: Wall
    middle: float
    bottom: float
    support: Support
    room: tuple[float, float]
    dear: float = 0.0
    centred: bool = False
    body: Rect | None = None
    """What else comes with it, a vehicle say, on the same wall: nothing written may be behind that."""


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


def place_boards(scene: Scene, lens: Lens, lots: Sequence[Lot], chance: random.Random) -> tuple[Hung, ...]:
    """Hang every board of a scene. Nothing is left out: where no good place is free, a stand takes the least bad one."""
    written = [clue for clue in scene.clues if clue.board is not None and clue.lines]
    written.sort(key=lambda clue: (_ORDER.index(clue.board or "notice"), clue.visibility == "small"))
    placed: list[Hung] = []
    taken: list[Box] = []
    near = [lot for lot in lots if _in_sight(lot, lens)]
    for clue in written:
        plan = plan_board(clue, chance, scene.look)
        best = _best(plan, _places(clue, scene.look, lens, near, lots), lens, scene.size, taken, chance)
        if best is None:
            best = _best(plan, _stands(clue, lens, MEASURES[scene.look.layout].road_half), lens, scene.size, taken, chance, forced=True)
        if best is not None:
            placed.append(best)
            taken.append(best.box)
            taken += [
                box for own in _parts(best.place, best.rect) if (box := _box_on(lens, best.place.wall, own)) is not None
            ]
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
        return _SMALL_EM_PX
    return (_SHOP_EM_PX if clue.board == "shop_front" else _PLAIN_EM_PX) * view_shrinks(size)


def _best(
    plan: BoardPlan, places: Iterator[Place], lens: Lens, size: tuple[int, int], taken: Sequence[Box],
    chance: random.Random, *, forced: bool = False,
) -> Hung | None:  # fmt: skip
    best: tuple[float, Hung] | None = None
    for place in places:
        tried = _tried(plan, place, lens, size, taken, forced=forced, under=best[0] if best else 1e9)
        if tried is None:
            continue
        cost, hung = tried
        cost += 0.12 * chance.randrange(100) / 100
        if best is None or cost < best[0]:
            best = cost, hung
    return best[1] if best else None


def _tried(
    plan: BoardPlan, place: Place, lens: Lens, size: tuple[int, int], taken: Sequence[Box], *, forced: bool,
    under: float,
) -> tuple[float, Hung] | None:  # fmt: skip
    """What a place would cost, and the board there; None where it can't be, or costs more than another does."""
    board = plan.clue.board or "notice"
    base, growth = _EMS[board]
    small = plan.clue.visibility == "small"
    middle = place.wall.at(place.middle, place.bottom + 0.3)
    at = lens.project(middle)
    if at is None or not (0 < at[0] < lens.width and 0 < at[1] < lens.height):
        return None
    metre = lens.pixels_per_metre(middle)
    wanted = target_px(plan.clue, size) / max(metre * plan.smallest, 1e-6)
    em = min(max(wanted, base * 0.3 if small else base), base * growth * (2.0 if forced else 1.0))
    em = min(em, place.room[0] / plan.wide, place.room[1] / plan.tall)
    target = target_px(plan.clue, size)
    short = max(0.0, 1 - em * plan.smallest * metre / target)
    over = max(0.0, em * plan.smallest * metre / target - 1) if small else 0.0
    cost = 4 * short + 3 * over + 0.4 * abs(em / base - 1) + place.dear
    if cost > under or (short > 0.35 and not forced):
        return None
    wide, tall = plan.wide * em, plan.tall * em
    low = place.bottom - tall / 2 if place.centred else place.bottom
    rect = (place.middle - wide / 2, low, place.middle + wide / 2, low + tall)
    box = _box_on(lens, place.wall, rect)
    if box is None or not _inside(box, lens):
        return None
    flat = (box[2] - box[0]) / max(wide * metre, 1e-6)
    if flat < 0.4 and not forced:
        return None
    parts = [box, *(part for own in _parts(place, rect) if (part := _box_on(lens, place.wall, own)))]
    crowded = sum(_overlap(part, other) for part in parts for other in taken)
    if crowded > 0 and not forced:
        return None
    em_px = em * metre
    area = (box[2] - box[0]) * (box[3] - box[1]) / (lens.width * lens.height)
    cost += 0.8 * max(0.0, 1 - flat) + 6 * max(0.0, area - 0.1)
    return cost + 20 * crowded / (lens.width * lens.height), Hung(plan, place, rect, em, em_px, box)


def _box_on(lens: Lens, wall: Wall, rect: Rect) -> Box | None:
    points = [lens.project(corner) for corner in wall.quad(rect)]
    if any(point is None for point in points):
        return None
    columns = [point[0] for point in points if point]
    rows = [point[1] for point in points if point]
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


def _places(clue: Clue, look: Look, lens: Lens, lots: Sequence[Lot], houses: Sequence[Lot]) -> Iterator[Place]:
    """The places that suit a board."""
    sizes = MEASURES[look.layout]
    kerb = sizes.road_half + 0.35
    match clue.board:
        case "shop_front":
            yield from _over_shops(lots)
        case "street_plate":
            yield from _on_fronts(lots, (2.75, 3.3, 4.3), room=(3.2, 1.0))
            yield from _posts(lens, kerb, (2.1, 2.4), dear=0.35)
        case "house_number":
            yield from _by_doors(lots)
            yield from _on_fronts(lots, (1.7, 2.3), room=(0.9, 0.7), dear=0.2)
        case "notice":
            yield from _on_fronts(lots, (0.75, 1.1, 1.4), room=(2.6, 1.7))
            yield from _posts(lens, kerb + 0.6, (0.12, 0.9), support="stand", dear=0.3)
        case "poster":
            yield from _on_fronts(lots, (0.6, 1.0), room=(2.6, 2.4))
            yield from _posts(lens, kerb + 0.6, (0.5, 0.9), support="stand", dear=-0.1)
        case "billboard":
            yield from _on_fronts(lots, (4.4, 5.4, 6.6), room=(7.5, 3.6), dear=0.4)
            yield from _roofs(lots)
            yield from (
                place for place in _posts(lens, kerb + 3.4, (2.6, 3.6, 4.8), reach=(8, 46), room=(9.0, 5.0))
                if not _within(place, houses)
            )  # fmt: skip
        case "banner":
            yield from _across(lens)
            yield from _on_fronts(lots, (4.4, 5.6, 7.2), room=(7.5, 1.6), dear=0.25)
        case "number_plate":
            yield from _cars(lens, sizes.road_half)
        case "bus":
            yield from _buses(lens, sizes.road_half)
        case "bus_stop":
            yield from _posts(lens, kerb, (2.0, 2.3), dear=0.0)
        case _:
            yield from _posts(lens, kerb + 0.3, (1.5, 2.1, 2.6), reach=(3, 30), room=(4.5, 3.2))


def _over_shops(lots: Sequence[Lot]) -> Iterator[Place]:
    for lot in lots:
        if lot.use == "shop":
            yield Place(lot.face, lot.width / 2, 3.27, "wall", (lot.width - 0.4, 1.25), centred=True)
            yield Place(lot.face, lot.width / 2, 4.55, "wall", (lot.width - 0.4, 1.5), dear=0.5, centred=True)
        elif lot.use == "shed":
            yield Place(lot.face, lot.width / 2, 4.75, "wall", (lot.width - 0.4, 1.3), dear=0.6, centred=True)
        else:
            yield Place(lot.face, lot.width / 2, 2.75, "wall", (lot.width - 0.4, 0.9), dear=1.2, centred=True)


def _on_fronts(
    lots: Sequence[Lot], heights: Sequence[float], room: tuple[float, float], dear: float = 0.0
) -> Iterator[Place]:
    for lot in lots:
        for share in (0.12, 0.3, 0.5, 0.7, 0.88):
            side = min(share, 1 - share) * lot.width * 2
            for low in heights:
                yield Place(lot.face, lot.width * share, low, "wall", (min(room[0], side), room[1]), dear)


def _roofs(lots: Sequence[Lot]) -> Iterator[Place]:
    for lot in lots:
        yield Place(lot.face, lot.width / 2, lot.height + 0.5, "roof", (lot.width, 3.4), dear=0.1)


def _within(place: Place, lots: Sequence[Lot]) -> bool:
    """Whether a post would stand in a house, or in its garden wall."""
    x, y, _ = place.wall.start
    return any(
        lot.start - 4 < y < lot.end + 4 and (x > 0) == (lot.side > 0) and abs(x) > lot.front - 3.5 for lot in lots
    )


def _by_doors(lots: Sequence[Lot]) -> Iterator[Place]:
    for lot in lots:
        for aside in (-1.05, 1.05):
            yield Place(lot.face, shop_door(lot) + aside, 1.75, "wall", (0.8, 0.6))


def _facing(lens: Lens, x: float, y: float, turned: float) -> Wall:
    """An upright plane at a point of the street, turned from the traffic towards the camera by a share."""
    away_x, away_y = lens.x_m - x, -y
    length = math.sqrt(away_x * away_x + away_y * away_y) or 1.0
    ahead = -1.0 if y >= 0 else 1.0
    fx, fy = turned * away_x / length, turned * away_y / length + (1 - turned) * ahead
    length = math.sqrt(fx * fx + fy * fy) or 1.0
    fx, fy = round(fx / length, 6), round(fy / length, 6)
    return Wall((x, y, 0.0), (-fy, fx, 0.0), (fx, fy, 0.0))


def _posts(
    lens: Lens, aside: float, heights: Sequence[float], *, support: Support = "post", dear: float = 0.0,
    reach: tuple[int, int] = (3, 16), room: tuple[float, float] = (3.0, 2.4),
) -> Iterator[Place]:  # fmt: skip
    for y in _steps(reach):
        for x in (aside, -aside):
            for low in heights:
                yield Place(_facing(lens, x, y, 0.75), 0.0, low, support, room, dear)


def _steps(reach: tuple[int, int]) -> Iterator[float]:
    y = float(reach[0])
    while y <= reach[1]:
        yield y
        yield -y
        y += max(0.8, y * 0.14)


def _cars(lens: Lens, road_half: float) -> Iterator[Place]:
    """Rears of cars that stand along the street, or with their noses to a kerb."""
    body: Rect = (-0.92, 0.0, 0.92, 1.5)
    room = (0.95, 0.3)
    for y in _steps((3, 11)):
        for x in (road_half - 1.05, 1.05 - road_half, road_half * 0.3, -road_half * 0.3):
            yield Place(_facing(lens, x, y, 0.0), 0.0, 0.6, "car", room, body=body, centred=True)
        for x in (road_half - 2.2, 2.2 - road_half):
            if abs(x - lens.x_m) > 1.5:
                out = -1.0 if x > lens.x_m else 1.0
                wall = Wall((x, y, 0.0), (0.0, out, 0.0), (out, 0.0, 0.0))
                yield Place(wall, 0.0, 0.6, "car", room, 0.1, body=body, centred=True)


def _buses(lens: Lens, road_half: float) -> Iterator[Place]:
    for y in _steps((7, 26)):
        for x in (road_half - 1.4, 1.4 - road_half):
            body: Rect = (-1.25, 0.0, 1.25, 3.1)
            yield Place(_facing(lens, x, y, 0.3), 0.0, 1.45, "bus_rear", (2.35, 1.1), body=body, centred=True)
            side = Wall((x, y + 5.5, 0.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))
            if x < lens.x_m:
                side = Wall((x, y - 5.5, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
            yield Place(side, 5.5, 1.1, "bus_side", (9.6, 0.9), body=(0.0, 0.0, 11.0, 3.1), centred=True)


def _across(lens: Lens) -> Iterator[Place]:
    for y in _steps((8, 30)):
        for low in (4.4, 5.2, 6.2):
            for x in (0.0, 1.5, -1.5):
                yield Place(_facing(lens, x, y, 0.2), 0.0, low, "rope", (7.0, 1.8))


def _stands(clue: Clue, lens: Lens, road_half: float) -> Iterator[Place]:
    """Stands and posts all over the place, for what found none."""
    car = clue.board == "number_plate"
    for y in _steps((3, 24)):
        for step in range(-9, 10):
            x = step * y / 8
            for low in (0.12, 0.9, 1.8, 2.6, 3.6, 5.0):
                if (car and low > 0.5) or (not car and abs(x) < road_half):
                    continue
                wall = _facing(lens, x, y, 1.0)
                if car:
                    yield Place(wall, 0.0, 0.62, "car", (1.15, 0.4), body=(-0.92, 0.0, 0.92, 1.5), centred=True)
                else:
                    yield Place(wall, 0.0, low, "stand" if low < 1 else "post", (8.0, 4.0), dear=0.3 * low)
