"""A street planned once, in metres: houses, boards, trees, cars and lamps, the same for every view."""

import random
from dataclasses import dataclass, replace
from typing import Literal

from geosleuth.lab.scenes.scene import Plant, Scene, SceneLook

from .camera import Lens, Point2, View, cosine, sine
from .canvas import Colour
from .furniture import PoleLine, pole_line
from .lots import MEASURES, Lot, Side, build_lots, dice
from .placement import Box, Hung, place_boards
from .plants import CROWNS, HEIGHTS_M
from .vehicles import BUS_M, CAR_COLOURS, Facing, Kind, car_size_m, compute_parked_facing, random_kind

PLATE_CAR: Kind = "estate"
CoverKind = Literal["leaves", "cloth", "crates"]


@dataclass(frozen=True, slots=True)
class Car:
    """A car: its middle, and which way it points."""

    at: Point2
    colour: Colour
    facing: Facing
    kind: Kind


@dataclass(frozen=True, slots=True)
class Bus:
    """A bus: its middle, and which way it points."""

    at: Point2
    colour: Colour
    facing: Facing


@dataclass(frozen=True, slots=True)
class Growing:
    """A plant in the street."""

    at: Point2
    plant: Plant
    height_m: float
    seed: int


@dataclass(frozen=True, slots=True)
class Cover:
    """Something before part of a board that is to be hidden; its middle, and half its width and height there."""

    kind: CoverKind
    at: tuple[float, float, float]
    half_m: float
    tall_m: float
    seed: int


@dataclass(frozen=True, slots=True)
class Street:
    """Everything that stands in a street."""

    lots: tuple[Lot, ...]
    boards: tuple[Hung, ...]
    cars: tuple[Car, ...]
    buses: tuple[Bus, ...]
    poles: PoleLine | None
    lamps: tuple[Point2, ...]
    plants: tuple[Growing, ...]
    covers: tuple[Cover, ...]


def main_side(scene: Scene) -> Side:
    """Return the side of the street with the shop that a picture is about."""
    return 1 if dice(f"side {scene.seed}").random() < 0.5 else -1


def build_view(scene: Scene) -> tuple[View, float]:
    """Return the camera of a street picture, and where along the street the house in its middle stands."""
    chance = dice(f"view {scene.seed}")
    sizes = MEASURES[scene.look.layout]
    side = main_side(scene)
    fronts = any(clue.board in {"shop_front", "house_number", "notice"} for clue in scene.clues)
    # Wide streets are crossed a little towards the shop, so that its letters can be read.
    low, high = (-75, 10) if scene.look.layout == "square" else (-30, 70) if sizes.setback > 4 else (10, 105)
    x = -side * sizes.road_half * chance.randrange(low, high) / 100
    yaw = float(chance.randrange(20, 42) if fronts else chance.randrange(4, 22))
    # The far end of the street stays in the picture: its poles, trees and lines are clues too.
    yaw = min(yaw, round(scene.camera.field_deg / 2 - 3, 3))
    front = sizes.road_half + sizes.pavement + min(sizes.setback, 2.0)
    across = front + side * -x
    # The shop stands a little to the side of the line of sight, and no farther than letters can be read.
    aim = yaw + round(scene.camera.field_deg * 0.15, 3)
    main_at = min(across * cosine(aim) / sine(aim), 17.0)
    level = chance.randrange(50, 64) / 100
    view = View(
        scene.size[0], scene.size[1], scene.camera.field_deg, scene.camera.height_m, round(x, 3), side * yaw, level
    )
    return view, main_at


def plan_street(scene: Scene, lens: Lens, main_at: float, reach: tuple[float, float]) -> Street:
    """Place everything in the street."""
    chance = dice(f"street {scene.seed}")
    shops = sum(clue.board == "shop_front" for clue in scene.clues)
    lots = build_lots(scene.look, main_side(scene), main_at, chance, reach, shops)
    boards = place_boards(scene, lens, lots, chance)
    keep = [board.box for board in boards]
    keep += [box for board in boards if board.place.body and (box := _body_box(lens, board))]
    covers = tuple(
        cover for board in boards if board.plan.clue.visibility == "hidden"
        for cover in _covers(board, [other.box for other in boards if other is not board], lens, chance)
    )  # fmt: skip
    cars = _cars(scene, lens, keep, boards, chance, reach)
    plants = _plants(scene, lens, keep, lots, chance, reach)
    poles = _poles(scene, lens, keep)
    lamps = _lamps(scene, lens, keep, chance)
    return Street(
        lots,
        boards,
        cars,
        _buses(boards, scene.look),
        poles,
        lamps,
        plants,
        covers,
    )


def _body_box(lens: Lens, board: Hung) -> Box | None:
    if board.place.body is None:
        return None
    points = [lens.project(corner) for corner in board.place.wall.quad(board.place.body)]
    if any(point is None for point in points):
        return None
    return (
        min(point[0] for point in points if point), min(point[1] for point in points if point),
        max(point[0] for point in points if point), max(point[1] for point in points if point),
    )  # fmt: skip


def _clear(lens: Lens, low: tuple[float, float, float], high: tuple[float, float, float], keep: list[Box]) -> bool:
    """Return whether a block in the street hides no board; False also if it touches the camera."""
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    points = [lens.project(corner) for corner in corners]
    seen = [point for point in points if point is not None]
    if len(seen) < len(points):
        return not seen
    left, right = min(point[0] for point in seen), max(point[0] for point in seen)
    top, bottom = min(point[1] for point in seen), max(point[1] for point in seen)
    return not any(
        left < box[2] + 4 and right > box[0] - 4 and top < box[3] + 4 and bottom > box[1] - 4 for box in keep
    )


def _covers(board: Hung, others: list[Box], lens: Lens, chance: random.Random) -> list[Cover]:
    """Return what hides part of a board: on the way from the camera to it, so wide that a good part is behind it.

    Of a few that would do, the one that is least in the way of other boards.
    """
    left, _, right, _ = board.rect
    best: tuple[int, Cover] | None = None
    for _ in range(6):
        share = chance.randrange(28, 73) / 100
        x, y, z = board.place.wall.locate_point(left + (right - left) * share, (board.rect[1] + board.rect[3]) / 2)
        near = chance.choice((0.9, 0.86, 0.8))
        at = (lens.x_m + (x - lens.x_m) * near, y * near, lens.height_m + (z - lens.height_m) * near)
        half = (right - left) * near * chance.randrange(22, 29) / 100
        tall = (board.rect[3] - board.rect[1]) * near / 2 * 1.25
        kind: CoverKind = "crates" if at[2] < 1.3 else chance.choice(("leaves", "cloth"))
        low = 0.0 if kind == "crates" else at[2] - tall
        corners = [(at[0] + side * half, at[1], height) for side in (-1, 1) for height in (low, at[2] + tall)]
        points = [point for corner in corners if (point := lens.project(corner)) is not None]
        if len(points) < 4:
            continue
        box = min(x for x, _ in points), min(y for _, y in points), max(x for x, _ in points), max(y for _, y in points)
        block = sum(box[0] < o[2] and box[2] > o[0] and box[1] < o[3] and box[3] > o[1] for o in others)
        if best is None or block < best[0]:
            best = block, Cover(kind, at, half, tall, chance.randrange(2**31))
    return [best[1]] if best else []


def _cars(
    scene: Scene,
    lens: Lens,
    keep: list[Box],
    boards: tuple[Hung, ...],
    chance: random.Random,
    reach: tuple[float, float],
) -> tuple[Car, ...]:
    sizes = MEASURES[scene.look.layout]
    cars: list[Car] = []
    for board in boards:
        if board.place.support == "car":
            length, _, _ = car_size_m(PLATE_CAR)
            x, y, _ = board.place.wall.start
            out_x, out_y, _ = board.place.wall.facing
            facing: Facing = "right" if out_x < -0.5 else "left" if out_x > 0.5 else "away" if out_y < 0 else "towards"
            cars.append(
                Car((x - out_x * length / 2, y - out_y * length / 2), chance.choice(CAR_COLOURS), facing, PLATE_CAR)
            )
    busy = {"high_street": 7, "suburb": 3, "market": 2, "square": 4, "country_road": 1, "industrial": 3}
    for _ in range(chance.randrange(busy[scene.look.layout] + 1)):
        kind = random_kind(chance)
        length, width, height = car_size_m(kind)
        kerb: Literal["left", "right"] = "right" if chance.random() < 0.5 else "left"
        x = (sizes.road_half - 1.05) * (1 if kerb == "right" else -1)
        y = chance.randrange(int(max(reach[0], -40) * 10), 500) / 10
        colour = chance.choice(CAR_COLOURS)
        low, high = (x - width / 2, y - length / 2, 0.0), (x + width / 2, y + length / 2, height)
        beside = abs(y) < length / 2 + 4.5
        apart = all(abs(other.at[0] - x) > 2.3 or abs(other.at[1] - y) > 5.8 for other in cars)
        if not beside and apart and _clear(lens, low, high, keep):
            cars.append(Car((x, y), colour, compute_parked_facing(scene.look.drives_on, kerb), kind))
    return tuple(cars)


def _buses(boards: tuple[Hung, ...], look: SceneLook) -> tuple[Bus, ...]:
    buses: list[Bus] = []
    length, width, _ = BUS_M
    for board in boards:
        x, y, _ = board.place.wall.start
        out_x, out_y, _ = board.place.wall.facing
        paint = board.plan.colours[0]
        if board.place.support == "bus_rear":
            ahead = -1.0 if out_y > 0 else 1.0
            buses.append(Bus((x, y + ahead * length / 2), paint, "away" if ahead > 0 else "towards"))
        elif board.place.support == "bus_side":
            middle = y + board.place.wall.along[1] * length / 2
            kerb: Literal["left", "right"] = "right" if x > 0 else "left"
            buses.append(Bus((x - out_x * width / 2, middle), paint, compute_parked_facing(look.drives_on, kerb)))
    return tuple(buses)


def _poles(scene: Scene, lens: Lens, keep: list[Box]) -> PoleLine | None:
    """Return poles along the kerb that hide the fewest boards; poles that still hide any are dropped."""
    if scene.look.poles == "none":
        return None
    aside = MEASURES[scene.look.layout].road_half + 0.55
    best: tuple[tuple[bool, int], PoleLine] | None = None
    for number in range(6):
        line = pole_line(aside if number % 2 else -aside, dice(f"poles {scene.seed} {number}"))
        free = tuple(
            (x, y) for x, y in line.at
            if _clear(lens, (x - 0.2, y - 0.2, 0.0), (x + 0.2, y + 0.2, line.height_m), keep)
        )  # fmt: skip
        shows = any(_in_view(at, 4.0, lens) for at in free)
        if best is None or (shows, len(free) - len(line.at)) > best[0]:
            best = (shows, len(free) - len(line.at)), replace(line, at=free)
        if best[0] == (True, 0):
            break
    return best[1] if best and best[1].at else None


def _lamps(scene: Scene, lens: Lens, keep: list[Box], chance: random.Random) -> tuple[Point2, ...]:
    if scene.look.layout == "country_road":
        return ()
    side = 1 if chance.random() < 0.5 else -1
    x = side * (MEASURES[scene.look.layout].road_half + 0.5)
    first = chance.randrange(60, 160) / 10
    spots = [(x, first + number * 19.0) for number in range(-3, 5)]
    return tuple(
        (x, y) for x, y in spots
        if abs(y) > 4 and _clear(lens, (x - 0.15, y - 0.15, 0.0), (x + 0.15, y + 0.15, 6.2), keep)
    )  # fmt: skip


def _plants(
    scene: Scene, lens: Lens, keep: list[Box], lots: tuple[Lot, ...], chance: random.Random, reach: tuple[float, float]
) -> tuple[Growing, ...]:
    look = scene.look
    if look.plant == "none":
        return ()
    sizes = MEASURES[look.layout]
    grown: list[Growing] = []
    many = {"high_street": 6, "suburb": 12, "market": 3, "square": 8, "country_road": 26, "industrial": 6}
    needed = any(clue.sort == "vegetation" for clue in scene.clues)
    for number in range(many[look.layout] + (40 if needed else 0)):
        if number >= many[look.layout] and any(_in_view(plant.at, plant.height_m / 2, lens) for plant in grown):
            break
        side = 1 if chance.random() < 0.5 else -1
        aside = sizes.road_half + 0.9
        if look.layout in {"suburb", "country_road", "industrial"}:
            aside += sizes.pavement + chance.randrange(3, 26 if look.layout != "country_road" else 160) / 10
        low, high = HEIGHTS_M[look.plant]
        plant = Growing(
            (side * aside, chance.randrange(int(max(reach[0], -60) * 10), 800) / 10), look.plant,
            low + (high - low) * chance.randrange(101) / 100, chance.randrange(2**31),
        )  # fmt: skip
        if _may_grow(plant, lens, keep, lots):
            grown.append(plant)
    return tuple(grown)


def _may_grow(plant: Growing, lens: Lens, keep: list[Box], lots: tuple[Lot, ...]) -> bool:
    """Return whether a plant would clear houses, the camera and boards."""
    (x, y), tall = plant.at, plant.height_m
    crown, half = CROWNS[plant.plant]
    if any(
        (x > 0) == (lot.side > 0) and lot.start - 0.5 < y < lot.end + 0.5 and abs(x) > lot.front - 0.7 for lot in lots
    ):
        return False
    if abs(y) < 3.0 and abs(x - lens.x_m) < 2.0:
        return False
    return _clear(
        lens, (x - half * tall, y - 0.3, tall * (2 * crown - 1)), (x + half * tall, y + 0.3, tall), keep
    ) and _clear(lens, (x - 0.2, y - 0.2, 0.0), (x + 0.2, y + 0.2, tall * crown), keep)


def _in_view(at: Point2, up_m: float, lens: Lens) -> bool:
    """Return whether something at a point, seen at half its height, is well inside the picture."""
    seen = lens.project((*at, up_m))
    return seen is not None and 0.04 < seen[0] / lens.width < 0.96 and 0 < seen[1] < lens.height and at[1] < 45
