"""Where boards may hang: over shops, beside doors, on posts and stands, on vehicles, on ropes across the street."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from geosleuth.world.model import Board

from .houses import shop_door
from .lens import Lens
from .lots import Lot, Measures
from .vehicles import lane_x
from .walls import Rect, Wall

Support = Literal["wall", "post", "stand", "car", "bus_side", "bus_rear", "rope", "roof", "blade"]


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
class Around:
    """What is there: the camera, houses that boards could be read on, all houses, the street's measures and traffic."""

    lens: Lens
    near: Sequence[Lot]
    houses: Sequence[Lot]
    sizes: Measures
    drives_on: Literal["left", "right"]

    def away_side(self, y: float) -> float:
        """The side of the road on which traffic shows its rear at a distance: 1 is right of the middle, -1 left."""
        return 2 * lane_x(self.drives_on, 1.0, "away" if y >= 0 else "towards")

    @property
    def kerb(self) -> float:
        """Where posts stand, from the middle of the road."""
        return self.sizes.road_half + 0.35


def places_for(around: Around, board: Board) -> Iterator[Place]:
    """The places that suit a board."""
    return _SUITED[board](around)


def _for_shop(around: Around) -> Iterator[Place]:
    yield from _over_shops(around.near)
    yield from _blades(around.near)


def _for_street_plate(around: Around) -> Iterator[Place]:
    yield from _on_fronts(around.near, (2.75, 3.3, 4.3), room=(3.2, 1.0))
    yield from _posts(around.lens, around.kerb, (2.1, 2.4), dear=0.35)


def _for_house_number(around: Around) -> Iterator[Place]:
    yield from _by_doors(around.near)
    yield from _on_fronts(around.near, (1.7, 2.3), room=(0.9, 0.7), dear=0.2)


def _for_notice(around: Around) -> Iterator[Place]:
    yield from _on_fronts(around.near, (0.75, 1.1, 1.4), room=(2.6, 1.7))
    yield from _posts(around.lens, around.kerb + 0.6, (0.12, 0.9), support="stand", dear=0.3)


def _for_poster(around: Around) -> Iterator[Place]:
    yield from _on_fronts(around.near, (0.6, 1.0), room=(2.6, 2.4))
    yield from _posts(around.lens, around.kerb + 0.6, (0.5, 0.9), support="stand", dear=-0.1)


def _for_billboard(around: Around) -> Iterator[Place]:
    yield from _on_fronts(around.near, (4.4, 5.4, 6.6), room=(7.5, 3.6), dear=0.4)
    yield from _roofs(around.near)
    tall = _posts(around.lens, around.kerb + 3.4, (2.6, 3.6, 4.8), reach=(8, 46), room=(9.0, 5.0))
    yield from (place for place in tall if not _within(place, around.houses))


def _for_banner(around: Around) -> Iterator[Place]:
    yield from _across(around.lens)
    yield from _on_fronts(around.near, (4.4, 5.6, 7.2), room=(7.5, 1.6), dear=0.25)


def _for_road_sign(around: Around) -> Iterator[Place]:
    return _posts(around.lens, around.kerb + 0.3, (1.5, 2.1, 2.6), reach=(3, 30), room=(4.5, 3.2))


_SUITED: dict[Board, Callable[[Around], Iterator[Place]]] = {
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


def _over_shops(lots: Sequence[Lot]) -> Iterator[Place]:
    for lot in lots:
        if lot.use == "shop":
            yield Place(lot.face, lot.width / 2, 3.27, "wall", (lot.width - 0.4, 1.25), centred=True)
            for share in (0.26, 0.74):
                yield Place(lot.face, lot.width * share, 3.27, "wall", (lot.width * 0.48, 1.25), dear=0.4, centred=True)
            for up in (4.55, 6.1, 7.6):
                if up + 0.7 < lot.height:
                    room = (lot.width - 0.4, 1.4)
                    yield Place(lot.face, lot.width / 2, up, "wall", room, dear=up / 9, centred=True)
        elif lot.use == "shed":
            yield Place(lot.face, lot.width / 2, 4.75, "wall", (lot.width - 0.4, 1.3), dear=0.6, centred=True)
        else:
            yield Place(lot.face, lot.width / 2, 2.75, "wall", (lot.width - 0.4, 0.9), dear=1.2, centred=True)


def _blades(lots: Sequence[Lot]) -> Iterator[Place]:
    """Signs that stick out from the fronts, seen by whoever comes along the street."""
    for lot in lots:
        for y in (lot.start + 0.6, lot.middle, lot.end - 0.6):
            ahead = -1.0 if y > 0 else 1.0
            for low in (2.75, 3.9, 5.2):
                if low + 0.6 > lot.height:
                    continue
                wall = Wall((lot.side * (lot.front - 1.0), y, 0.0), (-ahead, 0.0, 0.0), (0.0, ahead, 0.0))
                yield Place(wall, 0.0, low, "blade", (1.9, min(2.2, lot.height - low)), dear=0.7)


def _on_fronts(
    lots: Sequence[Lot], heights: Sequence[float], room: tuple[float, float], dear: float = 0.0
) -> Iterator[Place]:
    for lot in lots:
        face = lot.face
        for share in (0.12, 0.3, 0.5, 0.7, 0.88):
            side = min(share, 1 - share) * lot.width * 2
            for low in heights:
                tall = min(room[1], lot.height - low)
                if tall > 0.3:
                    yield Place(face, lot.width * share, low, "wall", (min(room[0], side), tall), dear)


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
    for y in _steps(reach, lens):
        for x in (aside, -aside):
            wall = _facing(lens, x, y, 0.75)
            for low in heights:
                yield Place(wall, 0.0, low, support, room, dear)


def _steps(reach: tuple[int, int], lens: Lens) -> Iterator[float]:
    """Distances along the street, farther apart the farther they are; behind the camera too where it sees that."""
    y = float(reach[0])
    while y <= reach[1]:
        yield y
        if lens.sees_behind:
            yield -y
        y += max(0.8, y * 0.14)


def _cars(around: Around, road_half: float, reach: tuple[int, int] = (3, 11)) -> Iterator[Place]:
    """Rears of cars on the side of the road where they go that way, or with their noses to a kerb."""
    lens = around.lens
    body: Rect = (-0.92, 0.0, 0.92, 1.5)
    room = (0.95, 0.3)
    for y in _steps(reach, lens):
        side = around.away_side(y)
        for x in (side * (road_half - 1.05), side * road_half * 0.5):
            yield Place(_facing(lens, x, y, 0.0), 0.0, 0.6, "car", room, body=body, centred=True)
        for x in (road_half - 2.2, 2.2 - road_half):
            if abs(x - lens.x_m) > 1.5:
                out = -1.0 if x > lens.x_m else 1.0
                wall = Wall((x, y, 0.0), (0.0, out, 0.0), (out, 0.0, 0.0))
                yield Place(wall, 0.0, 0.6, "car", room, 0.1, body=body, centred=True)


def _buses(around: Around, road_half: float, reach: tuple[int, int] = (6, 26)) -> Iterator[Place]:
    lens = around.lens
    for y in _steps(reach, lens):
        for x in (road_half - 1.4, 1.4 - road_half):
            if x * around.away_side(y) > 0:
                body: Rect = (-1.25, 0.0, 1.25, 3.1)
                yield Place(_facing(lens, x, y, 0.3), 0.0, 1.45, "bus_rear", (2.35, 1.5), body=body, centred=True)
            side = Wall((x, y + 5.5, 0.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))
            if x < lens.x_m:
                side = Wall((x, y - 5.5, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
            yield Place(side, 5.5, 1.15, "bus_side", (9.6, 1.4), body=(0.0, 0.0, 11.0, 3.1), centred=True)


def _across(lens: Lens) -> Iterator[Place]:
    for y in _steps((8, 30), lens):
        for low in (4.4, 5.2, 6.2):
            for x in (0.0, 1.5, -1.5):
                yield Place(_facing(lens, x, y, 0.2), 0.0, low, "rope", (7.0, 1.8))


def stands_for(around: Around, board: Board) -> Iterator[Place]:
    """Stands and posts all over the place, for what found none; buses anywhere on the road for what is on a bus."""
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
                    yield Place(wall, 0.0, 0.62, "car", (1.15, 0.4), body=(-0.92, 0.0, 0.92, 1.5), centred=True)
                else:
                    yield Place(wall, 0.0, low, "stand" if low < 1 else "post", (8.0, 4.0), dear=0.3 * low)
