"""What a tile from above shows, in metres east and north of its middle: streets, houses, trees, fields."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from geosleuth.geo import LatLon
from geosleuth.world.model import Layout, Scene

from .camera import Point2, cosine, sine

_METRES_PER_DEGREE = 111_195.0
SHORE = 0.42
"""Where the sea begins, as a share of half the tile."""
# Half the road, from there to the houses, how wide and deep those are, how far apart, and how many stay empty (%).
_HOUSING: dict[Layout, tuple[float, float, tuple[int, int], tuple[int, int], float, int]] = {
    "high_street": (4.5, 3.0, (9, 20), (11, 17), 0.4, 6),
    "market": (4.0, 2.6, (7, 15), (9, 15), 0.5, 10),
    "square": (4.5, 3.5, (11, 24), (12, 18), 1.0, 10),
    "suburb": (3.4, 6.5, (8, 13), (8, 12), 6.0, 12),
    "country_road": (3.2, 9.0, (9, 20), (8, 12), 12.0, 55),
    "industrial": (5.0, 8.0, (24, 52), (24, 44), 9.0, 18),
}


@dataclass(frozen=True, slots=True)
class House:
    """A house: its middle, the direction of its long side as a unit vector, its half sizes, and how tall it is."""

    middle: Point2
    along: Point2
    half: Point2
    height_m: float
    tone: int

    def corners(self, grow_m: float = 0.0) -> list[Point2]:
        """Its ground plan."""
        a, b = self.half[0] + grow_m, self.half[1] + grow_m
        return [self.at(x * a, y * b) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]

    def at(self, along_m: float, across_m: float) -> Point2:
        """A point of its plan, from its middle."""
        (x, y), (u, v) = self.middle, self.along
        return x + u * along_m - v * across_m, y + v * along_m + u * across_m


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile in metres; ``half_m`` is half of what it shows from side to side."""

    half_m: float
    road_half_m: float
    streets: tuple[tuple[Point2, ...], ...]
    houses: tuple[House, ...]
    trees: tuple[tuple[float, float, float], ...]
    sea_from_deg: float | None

    def at_sea(self, point: Point2) -> bool:
        """Whether a point lies in the water."""
        if self.sea_from_deg is None:
            return False
        return point[0] * sine(self.sea_from_deg) + point[1] * cosine(self.sea_from_deg) > SHORE * self.half_m


def plan_tile(scene: Scene, streets: Sequence[Sequence[LatLon]] | None, chance: random.Random) -> Tile:
    """Lay a tile out around a scene's point; streets that nobody gives are made up."""
    half = float(chance.choice((110, 140, 170, 200) if scene.look.layout != "industrial" else (210, 250)))
    lines = [_metres(scene.spot.point, line) for line in streets] if streets else _grid(scene.look.layout, half, chance)
    taken = _Taken(half)
    sea = float(chance.randrange(0, 360, 15)) if scene.look.terrain == "coast" else None
    if sea is not None:
        taken.beyond(sea, half * SHORE)
    road, *_ = _HOUSING[scene.look.layout]
    for line in lines:
        taken.line(line, road + 1.5)
    if scene.look.layout in ("square", "market"):
        taken.block([(-32.0, -24.0), (32.0, -24.0), (32.0, 24.0), (-32.0, 24.0)])
    houses = [house for line in lines for house in _row(scene, line, taken, chance)]
    bare = Tile(half, road, tuple(tuple(line) for line in lines), (), _trees(scene, taken, chance), sea)
    return replace(bare, houses=tuple(house for house in houses if not bare.at_sea(house.middle)))


class _Taken:
    """Which ground is built on, in cells of a quarter of a per cent of the tile."""

    def __init__(self, half_m: float) -> None:
        self.half_m = half_m
        self.cells = np.zeros((400, 400), dtype=np.uint8)
        self.scale = 200 / half_m

    def spot(self, point: Point2) -> tuple[int, int]:
        return round((point[0] + self.half_m) * self.scale), round((self.half_m - point[1]) * self.scale)

    def line(self, line: Sequence[Point2], half_m: float) -> None:
        import cv2

        points = np.array([self.spot(point) for point in line], dtype=np.int32)
        cv2.polylines(self.cells, [points], isClosed=False, color=1, thickness=max(1, round(2 * half_m * self.scale)))

    def block(self, corners: Sequence[Point2]) -> None:
        import cv2

        cv2.fillConvexPoly(self.cells, np.array([self.spot(point) for point in corners], dtype=np.int32), 1)

    def beyond(self, towards_deg: float, from_m: float) -> None:
        """All that lies farther than this in one direction: the sea."""
        out, aside = (sine(towards_deg), cosine(towards_deg)), (cosine(towards_deg), -sine(towards_deg))
        far = 4 * self.half_m
        self.block([
            (out[0] * a + aside[0] * b, out[1] * a + aside[1] * b)
            for a, b in ((from_m, -far), (from_m, far), (far, far), (far, -far))
        ])  # fmt: skip

    def free(self, points: Sequence[Point2]) -> bool:
        spots = [self.spot(point) for point in points]
        return all(not (0 <= x < 400 and 0 <= y < 400) or not self.cells[y, x] for x, y in spots)


def _metres(middle: LatLon, line: Sequence[LatLon]) -> list[Point2]:
    squeeze = round(math.cos(math.radians(middle.lat)), 9)
    return [
        (
            round(((point.lon - middle.lon + 180) % 360 - 180) * _METRES_PER_DEGREE * squeeze, 2),
            round((point.lat - middle.lat) * _METRES_PER_DEGREE, 2),
        )
        for point in line
    ]


def _grid(layout: Layout, half_m: float, chance: random.Random) -> list[list[Point2]]:
    """Streets as a small town has them: two directions, a little bent; some end early, one may run across."""
    turn = chance.randrange(90)
    along, across = (cosine(turn), sine(turn)), (-sine(turn), cosine(turn))
    apart = {"country_road": (170, 330), "industrial": (100, 190), "suburb": (58, 96)}.get(layout, (55, 110))
    bend_m = {"suburb": 9.0, "country_road": 16.0}.get(layout, 3.0)
    lines: list[list[Point2]] = []
    for first, second in ((along, across), (across, along)):
        offset = -half_m * 1.3 + chance.uniform(0, apart[0])
        while offset < half_m * 1.3:
            start, end = (-4, 4) if chance.random() < 0.62 else (chance.randrange(-4, 0), chance.randrange(1, 5))
            line = []
            bend = 0.0
            for step in range(start, end + 1):
                far = step * half_m * 0.4
                bend += chance.uniform(-bend_m, bend_m)
                x = first[0] * far + second[0] * (offset + bend)
                y = first[1] * far + second[1] * (offset + bend)
                line.append((round(x, 2), round(y, 2)))
            lines.append(line)
            offset += chance.uniform(*apart)
    if chance.random() < 0.3:
        way = turn + chance.choice((32, 45, 58))
        far = 1.6 * half_m
        lines.append([(round(cosine(way) * far * end, 2), round(sine(way) * far * end, 2)) for end in (-1, 0, 1)])
    return lines


def _row(scene: Scene, line: Sequence[Point2], taken: _Taken, chance: random.Random) -> list[House]:
    """Houses on both sides of a street."""
    road, setback, wide, deep, gap, empty = _HOUSING[scene.look.layout]
    low, high = scene.look.storeys
    found: list[House] = []
    for (x0, y0), (x1, y1) in pairwise(line):
        dx, dy = x1 - x0, y1 - y0
        length = float(np.sqrt(dx * dx + dy * dy))
        edge = taken.half_m + 30
        outside = any(
            low > edge or high < -edge for low, high in ((min(x0, x1), max(x0, x1)), (min(y0, y1), max(y0, y1)))
        )
        if length < 4 or outside:
            continue
        along = (round(dx / length, 6), round(dy / length, 6))
        for side in (-1, 1):
            at = chance.uniform(2, 8)
            while at < length - 4:
                width, depth = chance.randrange(*wide), chance.randrange(*deep)
                away = road + setback + depth / 2 + chance.uniform(0, setback * 0.3)
                centre = at + width / 2
                middle = (
                    round(x0 + along[0] * centre - along[1] * side * away, 2),
                    round(y0 + along[1] * centre + along[0] * side * away, 2),
                )
                at += width + gap * chance.uniform(0.6, 1.6)
                tall = 3.1 * chance.randrange(low, high + 1) + 1
                house = House(middle, along, (width / 2, depth / 2), tall, chance.randrange(1000))
                if chance.randrange(100) < empty or max(map(abs, middle)) > taken.half_m + 20:
                    continue
                probes = [house.at(a * width / 2, b * depth / 2) for a in (-0.95, 0, 0.95) for b in (-0.95, 0, 0.95)]
                if taken.free(probes):
                    taken.block(house.corners(0.6))
                    found.append(house)
    return found


def _trees(scene: Scene, taken: _Taken, chance: random.Random) -> tuple[tuple[float, float, float], ...]:
    """Trees in gardens, along streets and in small woods: where they stand and how wide they are."""
    if scene.look.plant == "none":
        return ()
    narrow = {"cypress": 0.5, "cactus": 0.4, "shrub": 0.5, "conifer": 0.75, "birch": 0.75}.get(scene.look.plant, 1.0)
    count = {"high_street": 120, "market": 90, "square": 140, "industrial": 90}.get(scene.look.layout, 260)
    if scene.look.ground in ("sand", "red_earth"):
        count //= 3
    half = taken.half_m
    woods = [(chance.uniform(-half, half), chance.uniform(-half, half)) for _ in range(5)]
    found = []
    for _ in range(count):
        if chance.random() < 0.35 and scene.look.ground not in ("sand", "red_earth"):
            wood = chance.choice(woods)
            x, y = (middle + 34 * (chance.random() + chance.random() - 1) for middle in wood)
        else:
            x, y = chance.uniform(-half, half), chance.uniform(-half, half)
        radius = chance.uniform(2.0, 4.6) * narrow
        around = [(x + a * radius * 0.5, y + b * radius * 0.5) for a, b in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))]
        if taken.free(around):
            found.append((round(x, 2), round(y, 2), round(radius, 2)))
    return tuple(found)
