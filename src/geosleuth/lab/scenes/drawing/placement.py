"""Placement of boards on fronts, posts, stands, vehicles and ropes: large enough to read, and none before another."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from geosleuth.lab.scenes.scene import Board, Scene, SceneClue

from .boards import BoardPlan, lay_out_plans
from .camera import Lens, Point3, Rect, Wall
from .houses import shop_door
from .lots import MEASURES, Lot, Measures
from .vehicles import lane_x

Support = Literal["wall", "post", "stand", "car", "bus_side", "bus_rear", "rope", "roof", "blade"]

Box = tuple[float, float, float, float]
# Height of a capital letter, in ems.
CAP_SHARE = 0.72
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
_BROKEN = 0.5


@dataclass(frozen=True, slots=True)
class PlacementSlot:
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
class Around:
    """Surroundings: the camera, houses that boards could be read on, all houses, the street's measures and traffic."""

    lens: Lens
    near: Sequence[Lot]
    houses: Sequence[Lot]
    sizes: Measures
    drives_on: Literal["left", "right"]

    def away_side(self, y: float) -> float:
        """Return the side of the road on which traffic shows its rear: 1 is right of the middle, -1 left."""
        return 2 * lane_x(self.drives_on, 1.0, "away" if y >= 0 else "towards")

    @property
    def kerb(self) -> float:
        """Distance of posts from the middle of the road."""
        return self.sizes.road_half + 0.35


def find_places(around: Around, board: Board) -> Iterator[PlacementSlot]:
    """Return the places that suit a board."""
    return _SUITED[board](around)


def _for_shop(around: Around) -> Iterator[PlacementSlot]:
    yield from _over_shops(around.near)
    yield from _blades(around.near)


def _for_street_plate(around: Around) -> Iterator[PlacementSlot]:
    yield from _on_fronts(around.near, (2.75, 3.3, 4.3), room=(3.2, 1.0))
    yield from _posts(around.lens, around.kerb, (2.1, 2.4), dear=0.35)


def _for_house_number(around: Around) -> Iterator[PlacementSlot]:
    yield from _by_doors(around.near)
    yield from _on_fronts(around.near, (1.7, 2.3), room=(0.9, 0.7), dear=0.2)


def _for_notice(around: Around) -> Iterator[PlacementSlot]:
    yield from _on_fronts(around.near, (0.75, 1.1, 1.4), room=(2.6, 1.7))
    yield from _posts(around.lens, around.kerb + 0.6, (0.12, 0.9), support="stand", dear=0.3)


def _for_poster(around: Around) -> Iterator[PlacementSlot]:
    yield from _on_fronts(around.near, (0.6, 1.0), room=(2.6, 2.4))
    yield from _posts(around.lens, around.kerb + 0.6, (0.5, 0.9), support="stand", dear=-0.1)


def _for_billboard(around: Around) -> Iterator[PlacementSlot]:
    yield from _on_fronts(around.near, (4.4, 5.4, 6.6), room=(7.5, 3.6), dear=0.4)
    yield from _roofs(around.near)
    tall = _posts(around.lens, around.kerb + 3.4, (2.6, 3.6, 4.8), reach=(8, 46), room=(9.0, 5.0))
    yield from (place for place in tall if not _within(place, around.houses))


def _for_banner(around: Around) -> Iterator[PlacementSlot]:
    yield from _across(around.lens)
    yield from _on_fronts(around.near, (4.4, 5.6, 7.2), room=(7.5, 1.6), dear=0.25)


def _for_road_sign(around: Around) -> Iterator[PlacementSlot]:
    return _posts(around.lens, around.kerb + 0.3, (1.5, 2.1, 2.6), reach=(3, 30), room=(4.5, 3.2))


_SUITED: dict[Board, Callable[[Around], Iterator[PlacementSlot]]] = {
    "shop_front": _for_shop,
    "street_plate": _for_street_plate,
    "house_number": _for_house_number,
    "notice": _for_notice,
    "poster": _for_poster,
    "billboard": _for_billboard,
    "banner": _for_banner,
    "number_plate": lambda around: _cars(around, around.sizes.road_half),
    "bus": lambda around: _buses(around, around.sizes.road_half),
    "bus_stop": lambda around: _posts(around.lens, around.kerb, (2.0, 2.3)),
    "town_sign": _for_road_sign,
    "direction_sign": _for_road_sign,
    "road_shield": _for_road_sign,
}


def _over_shops(lots: Sequence[Lot]) -> Iterator[PlacementSlot]:
    for lot in lots:
        if lot.use == "shop":
            yield PlacementSlot(lot.face, lot.width / 2, 3.27, "wall", (lot.width - 0.4, 1.25), centred=True)
            for share in (0.26, 0.74):
                yield PlacementSlot(
                    lot.face, lot.width * share, 3.27, "wall", (lot.width * 0.48, 1.25), dear=0.4, centred=True
                )
            for up in (4.55, 6.1, 7.6):
                if up + 0.7 < lot.height:
                    room = (lot.width - 0.4, 1.4)
                    yield PlacementSlot(lot.face, lot.width / 2, up, "wall", room, dear=up / 9, centred=True)
        elif lot.use == "shed":
            yield PlacementSlot(lot.face, lot.width / 2, 4.75, "wall", (lot.width - 0.4, 1.3), dear=0.6, centred=True)
        else:
            yield PlacementSlot(lot.face, lot.width / 2, 2.75, "wall", (lot.width - 0.4, 0.9), dear=1.2, centred=True)


def _blades(lots: Sequence[Lot]) -> Iterator[PlacementSlot]:
    """Yield places for signs that stick out from the fronts, legible along the street."""
    for lot in lots:
        for y in (lot.start + 0.6, lot.middle, lot.end - 0.6):
            ahead = -1.0 if y > 0 else 1.0
            for low in (2.75, 3.9, 5.2):
                if low + 0.6 > lot.height:
                    continue
                wall = Wall((lot.side * (lot.front - 1.0), y, 0.0), (-ahead, 0.0, 0.0), (0.0, ahead, 0.0))
                yield PlacementSlot(wall, 0.0, low, "blade", (1.9, min(2.2, lot.height - low)), dear=0.7)


def _on_fronts(
    lots: Sequence[Lot], heights: Sequence[float], room: tuple[float, float], dear: float = 0.0
) -> Iterator[PlacementSlot]:
    for lot in lots:
        face = lot.face
        for share in (0.12, 0.3, 0.5, 0.7, 0.88):
            side = min(share, 1 - share) * lot.width * 2
            for low in heights:
                tall = min(room[1], lot.height - low)
                if tall > 0.3:
                    yield PlacementSlot(face, lot.width * share, low, "wall", (min(room[0], side), tall), dear)


def _roofs(lots: Sequence[Lot]) -> Iterator[PlacementSlot]:
    for lot in lots:
        yield PlacementSlot(lot.face, lot.width / 2, lot.height + 0.5, "roof", (lot.width, 3.4), dear=0.1)


def _within(place: PlacementSlot, lots: Sequence[Lot]) -> bool:
    """Return whether a post would stand in a house or its garden wall."""
    x, y, _ = place.wall.start
    return any(
        lot.start - 4 < y < lot.end + 4 and (x > 0) == (lot.side > 0) and abs(x) > lot.front - 3.5 for lot in lots
    )


def _by_doors(lots: Sequence[Lot]) -> Iterator[PlacementSlot]:
    for lot in lots:
        for aside in (-1.05, 1.05):
            yield PlacementSlot(lot.face, shop_door(lot) + aside, 1.75, "wall", (0.8, 0.6))


def _facing(lens: Lens, x: float, y: float, turned: float) -> Wall:
    """Return an upright plane at a point of the street, turned partly towards the camera."""
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
) -> Iterator[PlacementSlot]:  # fmt: skip
    for y in _steps(reach, lens):
        for x in (aside, -aside):
            wall = _facing(lens, x, y, 0.75)
            for low in heights:
                yield PlacementSlot(wall, 0.0, low, support, room, dear)


def _steps(reach: tuple[int, int], lens: Lens) -> Iterator[float]:
    """Yield distances along the street, farther apart with distance; also behind the camera for full panoramas."""
    y = float(reach[0])
    while y <= reach[1]:
        yield y
        if lens.sees_behind:
            yield -y
        y += max(0.8, y * 0.14)


def _cars(around: Around, road_half: float, reach: tuple[int, int] = (3, 11)) -> Iterator[PlacementSlot]:
    """Yield places on the rears of cars that drive ahead or park at a kerb."""
    lens = around.lens
    body: Rect = (-0.92, 0.0, 0.92, 1.5)
    room = (0.95, 0.3)
    for y in _steps(reach, lens):
        side = around.away_side(y)
        for x in (side * (road_half - 1.05), side * road_half * 0.5):
            yield PlacementSlot(_facing(lens, x, y, 0.0), 0.0, 0.6, "car", room, body=body, centred=True)
        for x in (road_half - 2.2, 2.2 - road_half):
            if abs(x - lens.x_m) > 1.5:
                out = -1.0 if x > lens.x_m else 1.0
                wall = Wall((x, y, 0.0), (0.0, out, 0.0), (out, 0.0, 0.0))
                yield PlacementSlot(wall, 0.0, 0.6, "car", room, 0.1, body=body, centred=True)


def _buses(around: Around, road_half: float, reach: tuple[int, int] = (6, 26)) -> Iterator[PlacementSlot]:
    lens = around.lens
    for y in _steps(reach, lens):
        for x in (road_half - 1.4, 1.4 - road_half):
            if x * around.away_side(y) > 0:
                body: Rect = (-1.25, 0.0, 1.25, 3.1)
                yield PlacementSlot(
                    _facing(lens, x, y, 0.3), 0.0, 1.45, "bus_rear", (2.35, 1.5), body=body, centred=True
                )
            side = Wall((x, y + 5.5, 0.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))
            if x < lens.x_m:
                side = Wall((x, y - 5.5, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
            yield PlacementSlot(side, 5.5, 1.15, "bus_side", (9.6, 1.4), body=(0.0, 0.0, 11.0, 3.1), centred=True)


def _across(lens: Lens) -> Iterator[PlacementSlot]:
    for y in _steps((8, 30), lens):
        for low in (4.4, 5.2, 6.2):
            for x in (0.0, 1.5, -1.5):
                yield PlacementSlot(_facing(lens, x, y, 0.2), 0.0, low, "rope", (7.0, 1.8))


def find_stands(around: Around, board: Board) -> Iterator[PlacementSlot]:
    """Yield stands and posts everywhere for boards without a place; for those on a bus, buses on the road."""
    lens, road_half = around.lens, around.sizes.road_half
    if board == "bus":
        yield from _buses(around, road_half, (5, 30))
        yield from _buses(around, road_half - 1.6, (5, 30))
        return
    car = board == "number_plate"
    if car:
        yield from _cars(around, road_half, (3, 24))
        yield from _cars(around, road_half + 3.0, (3, 24))
    tall = board in {"shop_front", "billboard", "banner"}
    for y in _steps((3, 24), lens):
        for step in range(-9, 10):
            x = step * y / 8
            for low in (0.12, 0.9, 1.8, 2.6, 3.6, 5.0):
                against = x * around.away_side(y) < 1.0
                if (car and (low > 0.5 or against)) or (tall and low < 2) or (not car and abs(x) < road_half + 0.8):
                    continue
                wall = _facing(lens, x, y, 1.0)
                if car:
                    yield PlacementSlot(wall, 0.0, 0.62, "car", (1.15, 0.4), body=(-0.92, 0.0, 0.92, 1.5), centred=True)
                else:
                    yield PlacementSlot(wall, 0.0, low, "stand" if low < 1 else "post", (8.0, 4.0), dear=0.3 * low)


@dataclass(frozen=True, slots=True)
class Hung:
    """A board in its place. ``em_m`` is how tall an em of its main line is."""

    plan: BoardPlan
    place: PlacementSlot
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
        return self.place.wall.locate_point((left + right) / 2, (bottom + top) / 2)


def view_shrinks(size: tuple[int, int]) -> float:
    """Return how many times smaller a picture's first view is than the picture itself."""
    return max(1.0, math.sqrt(size[0] * size[1] / _FIRST_VIEW_PX))


@dataclass(frozen=True, slots=True)
class _Terms:
    """Requirements on a place.

    By what share letters may be smaller than wanted, how flat the board may be seen, whether it may be in the way of
    others or behind something, and how much larger than usual it may become.
    """

    short: float
    flat: float
    crowded: bool = False
    growth: float = 1.0


@dataclass(frozen=True, slots=True)
class _Target:
    """Preferred size of a board: an em in metres, how much it may grow, and how tall its smallest line should look."""

    em_m: float
    growth: float
    target_px: float
    smallest: float


_TERMS = (_Terms(0.3, 0.5), _Terms(0.45, 0.34, growth=1.2))
_ANY = _Terms(1.0, 0.0, crowded=True, growth=2.0)


def place_boards(scene: Scene, lens: Lens, lots: Sequence[Lot], chance: random.Random) -> tuple[Hung, ...]:
    """Place every board of a scene. If no good place is free, a stand takes the least bad one: none is left out."""
    written = [clue for clue in scene.clues if clue.board is not None and clue.lines]
    written.sort(key=lambda clue: (_ORDER.index(clue.board or "notice"), clue.visibility == "small"))
    placed: list[Hung] = []
    taken: list[Box] = []
    near = [lot for lot in lots if _in_sight(lot, lens)]
    around = Around(lens, near, lots, MEASURES[scene.look.layout], scene.look.drives_on)
    for clue in written:
        board = clue.board or "notice"
        plans = lay_out_plans(clue, chance, scene.look)
        usual = list(find_places(around, board))
        best: tuple[float, Hung] | None = None
        for terms in (*_TERMS, _ANY):
            options = list(find_stands(around, board)) if terms.crowded else usual
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
            taken += [
                box
                for own in _list_attached_parts(hung.place, hung.rect)
                if (box := _project_rect(lens, hung.place.wall, own))
            ]
    return tuple(placed)


def _in_sight(lot: Lot, lens: Lens) -> bool:
    """Return whether boards on a house are readable: near enough, with at least a corner in the picture."""
    if min(abs(lot.start), abs(lot.end)) > 30:
        return False
    points = (
        lens.project(lot.face.locate_point(lot.width * share, up)) for share in (0.05, 0.5, 0.95) for up in (1.0, 3.3)
    )
    return any(point is not None and 0 < point[0] < lens.width and 0 < point[1] < lens.height for point in points)


def legs(rect: Rect) -> tuple[float, ...]:
    """Return where along a wall the posts under a board stand: one under a narrow board, two under a wide one."""
    left, _, right, _ = rect
    wide = right - left
    return ((left + right) / 2,) if wide < 1.9 else (left + wide * 0.2, right - wide * 0.2)


def _list_attached_parts(place: PlacementSlot, rect: Rect) -> list[Rect]:
    """Return the parts of a board that cover other things: a vehicle, posts."""
    parts = [place.body] if place.body else []
    if place.support == "post":
        parts += [(foot - 0.06, 0.0, foot + 0.06, rect[1]) for foot in legs(rect)]
    return parts


def target_px(clue: SceneClue, size: tuple[int, int]) -> float:
    """Return how tall an em of a clue's smallest line should be in the picture."""
    if clue.visibility == "small":
        return max(_SMALL_EM_PX, _LOST_EM_PX * view_shrinks(size))
    # A panorama's things are small: they are read by turning towards them.
    larger = 1.5 if size[0] == 2 * size[1] else view_shrinks(size)
    return (_SHOP_EM_PX if clue.board == "shop_front" else _PLAIN_EM_PX) * larger


def _best(
    plan: BoardPlan, places: Sequence[PlacementSlot], around: Around, size: tuple[int, int], taken: Sequence[Box],
    chance: random.Random, terms: _Terms,
) -> tuple[float, Hung] | None:  # fmt: skip
    best: tuple[float, Hung] | None = None
    target = _Target(*_EMS[plan.clue.board or "notice"], target_px(plan.clue, size), plan.smallest)
    for place in places:
        tried = _try_place(plan, place, around, target, taken, terms, best[0] if best else 1e9)
        if tried is not None:
            cost = tried[0] + 0.12 * chance.randrange(100) / 100
            if best is None or cost < best[0]:
                best = cost, tried[1]
    return best


def _try_place(
    plan: BoardPlan, place: PlacementSlot, around: Around, target: _Target, taken: Sequence[Box], terms: _Terms,
    under: float,
) -> tuple[float, Hung] | None:  # fmt: skip
    """Return the cost of a place and the board there; None if impossible or costlier than another place."""
    lens = around.lens
    middle = place.wall.locate_point(place.middle, place.bottom + 0.3)
    at = lens.project(middle)
    if at is None or not (0 < at[0] < lens.width and 0 < at[1] < lens.height):
        return None
    metre = lens.pixels_per_metre(middle)
    em, short, cost = _fit_lettering(plan, place, metre, target, terms)
    if cost > under or short > terms.short:
        return None
    wide, tall = plan.wide * em, plan.tall * em
    low = place.bottom - tall / 2 if place.centred else place.bottom
    rect = (place.middle - wide / 2, low, place.middle + wide / 2, low + tall)
    box = _project_rect(lens, place.wall, rect)
    if box is None or not _is_inside_frame(box, lens):
        return None
    flat = (box[2] - box[0]) / max(wide * metre, 1e-6)
    parts = [
        box,
        *(part for own in _list_attached_parts(place, rect) if (part := _project_rect(lens, place.wall, own))),
    ]
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


def _fit_lettering(
    plan: BoardPlan, place: PlacementSlot, metre: float, target: _Target, terms: _Terms
) -> tuple[float, float, float]:
    """Return the em in metres, by what share the letters fall short, and the cost of that."""
    base = target.em_m
    small = plan.clue.visibility == "small"
    wanted = target.target_px / max(metre * target.smallest, 1e-6)
    em = min(max(wanted, base * 0.3 if small else base), base * target.growth * terms.growth)
    em = min(em, place.room[0] / plan.wide, place.room[1] / plan.tall)
    reached = em * target.smallest * metre / target.target_px
    over = max(0.0, reached - 1) if small else 0.0
    short = max(0.0, 1 - reached)
    return em, short, 4 * short + 3 * over + 0.4 * abs(em / base - 1) + place.dear


def _behind(lens: Lens, point: Point3, houses: Sequence[Lot], own: Wall) -> bool:
    """Return whether a house hides a point, or the point is inside one."""
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


def _project_rect(lens: Lens, wall: Wall, rect: Rect) -> Box | None:
    points = [point for corner in wall.quad(rect) if (point := lens.project(corner)) is not None]
    if len(points) < 4:
        return None
    columns, rows = [x for x, _ in points], [y for _, y in points]
    if max(columns) - min(columns) > lens.width * 0.9:
        return None
    return min(columns), min(rows), max(columns), max(rows)


def _is_inside_frame(box: Box, lens: Lens) -> bool:
    edge = lens.width * 0.008
    return box[0] > edge and box[1] > edge and box[2] < lens.width - edge and box[3] < lens.height - edge


def _overlap(box: Box, other: Box) -> float:
    air = 5.0
    wide = min(box[2], other[2]) - max(box[0], other[0]) + air
    tall = min(box[3], other[3]) - max(box[1], other[1]) + air
    return wide * tall if wide > 0 and tall > 0 else 0.0
