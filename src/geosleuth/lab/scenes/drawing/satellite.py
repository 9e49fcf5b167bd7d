"""Tiles as satellites see them: north is up, streets, roofs with their shadows, trees, fields and water."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from geosleuth.geo import LatLon
from geosleuth.lab.scenes.scene import Layout, Mark, Plant, Scene

from .camera import Point2, cosine, sine
from .canvas import Colour, colour, mixed
from .lots import dice
from .plants import LEAVES
from .sky import NOISE_PX, Light, cloud_noise, ground_noise, light_of
from .street import ground_colours

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

Pixels = NDArray[np.uint8]
_OCTAGON = tuple((cosine(angle), sine(angle)) for angle in range(0, 360, 36))


@dataclass(frozen=True, slots=True)
class House:
    """A house: its middle, the direction of its long side as a unit vector, its half sizes, and how tall it is."""

    middle: Point2
    along: Point2
    half: Point2
    height_m: float
    tone: int

    def corners(self, grow_m: float = 0.0) -> list[Point2]:
        """Return its ground plan."""
        a, b = self.half[0] + grow_m, self.half[1] + grow_m
        return [self.at(x * a, y * b) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]

    def at(self, along_m: float, across_m: float) -> Point2:
        """Return a point of its plan, from its middle."""
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
        """Return whether a point lies in the water."""
        if self.sea_from_deg is None:
            return False
        return point[0] * sine(self.sea_from_deg) + point[1] * cosine(self.sea_from_deg) > SHORE * self.half_m


def plan_tile(scene: Scene, streets: Sequence[Sequence[LatLon]] | None, chance: random.Random) -> Tile:
    """Lay a tile out around a scene's point; missing streets are made up."""
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
        """Fill all that lies farther than this in one direction: the sea."""
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
    """Return streets of a small town: two directions, a little bent; some end early, one may run across."""
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
    """Return houses on both sides of a street."""
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
    """Return trees in gardens, along streets and in small woods: positions and widths."""
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


def draw_satellite(
    scene: Scene, streets: Sequence[Sequence[LatLon]] | None = None
) -> tuple[Image.Image, tuple[Mark, ...]]:
    """Draw the tile around a scene's point.

    Args:
        scene: whose look, sky and size it has.
        streets: the town's streets as lines; made up from the scene's seed where there are none.

    Returns:
        The picture, and a mark for each clue that shows from above.
    """
    tile = plan_tile(scene, streets, dice(f"tile {scene.seed}"))
    chance = dice(f"above {scene.seed}")
    # Seen from above, right is east and forward is north.
    light = light_of(scene.sky, replace(scene.camera, heading_deg=0.0))
    sheet = _Sheet(scene.size, tile.half_m)
    _land(sheet, scene, tile, light, chance)
    _roads(sheet, scene, tile, light)
    if tile.sea_from_deg is not None:
        _sea(sheet, tile, light, chance)
    shadows = _shadows(sheet, tile, light)
    _cars(sheet, scene, tile, light, chance)
    for house in tile.houses:
        _roof(sheet, scene, house, light)
    _canopies(sheet, scene, tile, light, chance)
    if scene.sky.weather == "fog":
        sheet.pixels[:] = (sheet.pixels.astype(np.uint16) * 3 + np.array(light.horizon, dtype=np.uint16)) // 4
    return Image.fromarray(sheet.pixels), _marks(scene, tile, sheet, shadows=shadows)


class _Sheet:
    """Pixels addressed by metres east and north of the middle."""

    def __init__(self, size: tuple[int, int], half_m: float) -> None:
        self.width, self.height = size
        self.scale = min(size) / 2 / half_m
        self.pixels: Pixels = np.empty((self.height, self.width, 3), dtype=np.uint8)

    def fine(self, points: Sequence[Point2]) -> NDArray[np.int32]:
        across, down = self.width * 8, self.height * 8
        scale = self.scale * 16
        return np.array([(round(x * scale) + across, down - round(y * scale)) for x, y in points], dtype=np.int32)

    def shape(self, points: Sequence[Point2], fill: Colour) -> None:
        import cv2

        cv2.fillConvexPoly(self.pixels, self.fine(points), fill, cv2.LINE_AA, 4)

    def line(self, points: Sequence[Point2], fill: Colour, width_m: float) -> None:
        import cv2

        thick = max(1, round(width_m * self.scale))
        cv2.polylines(
            self.pixels, [self.fine(points)], isClosed=False, color=fill, thickness=thick, lineType=cv2.LINE_AA, shift=4
        )

    def box(self, points: Sequence[Point2]) -> tuple[int, int, int, int] | None:
        placed = self.fine(points) // 16
        left, top = np.maximum(placed.min(axis=0), 0).tolist()
        right, bottom = np.minimum(placed.max(axis=0) + 1, (self.width, self.height)).tolist()
        return (left, top, right, bottom) if right - left > 3 and bottom - top > 3 else None


def _land(whole: _Sheet, scene: Scene, tile: Tile, light: Light, chance: random.Random) -> None:
    """Draw fields all over, the town's own ground about its streets, hills by light and shade."""
    import cv2

    look = scene.look
    sheet = _Sheet((whole.width // 2, whole.height // 2), tile.half_m)
    ground = "grass" if look.ground == "paved" else look.ground
    low, high = ground_colours(ground, scene.sky.season)
    sheet.pixels[:] = np.array(light.shade(mixed(low, high, 0.5)), dtype=np.uint8)
    reach = 1.45 * tile.half_m
    _fields(sheet, (-reach, -reach, reach, reach), chance.randrange(90), (low, high), light, chance, 0)
    near = light.shade(
        mixed(mixed(low, high, 0.35), (150, 146, 138), 0.5 if look.layout not in ("suburb", "country_road") else 0.12)
    )
    for line in tile.streets:
        sheet.line(line, near, 2 * (46 if look.layout != "country_road" else 20))
    if look.layout in ("square", "market"):
        sheet.shape([(-32.0, -24.0), (32.0, -24.0), (32.0, 24.0), (-32.0, 24.0)], light.shade((186, 178, 164)))
    shift = chance.randrange(NOISE_PX)
    noise = np.roll(ground_noise(), (shift, shift // 2), axis=(0, 1))
    grain = cv2.resize(noise, (sheet.width, sheet.height), interpolation=cv2.INTER_LINEAR_EXACT)
    shade = 112 + (np.asarray(grain, dtype=np.int16) >> 3)
    if look.terrain in ("hills", "mountains"):
        shade = shade + _relief(sheet, light, 5 if look.terrain == "hills" else 9, shift)
    strength = np.clip(shade, 40, 210).astype(np.uint16)[:, :, None]
    sheet.pixels[:] = np.minimum(sheet.pixels.astype(np.uint16) * strength >> 7, 255)
    # Grass has no edges: land is worked out small and grown.
    cv2.resize(sheet.pixels, (whole.width, whole.height), dst=whole.pixels, interpolation=cv2.INTER_LINEAR_EXACT)


def _fields(
    sheet: _Sheet, area: tuple[float, float, float, float], turn: int, tones: tuple[Colour, Colour], light: Light,
    chance: random.Random, depth: int,
) -> None:  # fmt: skip
    """Cut land into fields, each with its own crop."""
    left, low, right, high = area
    if depth < 4 or (depth < 6 and chance.random() < 0.4):
        share = chance.uniform(0.35, 0.65)
        if right - left > high - low:
            cut = left + (right - left) * share
            halves = ((left, low, cut, high), (cut, low, right, high))
        else:
            cut = low + (high - low) * share
            halves = ((left, low, right, cut), (left, cut, right, high))
        for part in halves:
            _fields(sheet, part, turn, tones, light, chance, depth + 1)
        return
    crop = chance.choice(((172, 164, 96), (118, 142, 70), (146, 122, 84), (92, 118, 62)))
    plain = mixed(mixed(*tones, chance.random()), crop, 0.25)
    c, s = cosine(turn), sine(turn)

    def turned(x: float, y: float) -> Point2:
        return x * c - y * s, x * s + y * c

    corners = [turned(x, y) for x, y in ((left, low), (right, low), (right, high), (left, high))]
    sheet.shape(corners, light.shade(plain))
    if chance.random() < 0.5:
        stripe = light.shade(mixed(plain, (60, 50, 36), 0.12))
        x = left + 3
        while x < right:
            sheet.line((turned(x, low), turned(x, high)), stripe, 1.2)
            x += 6
    sheet.line([*corners, corners[0]], light.shade(mixed(plain, (54, 74, 44), 0.5)), 1.6)


def _relief(sheet: _Sheet, light: Light, strength: int, shift: int) -> NDArray[np.int16]:
    """Return slopes that face the sun are lighter than those that turn away."""
    import cv2

    heights = np.roll(cloud_noise(), (shift, shift), axis=(0, 1))[:320, :320].astype(np.int16)
    east = heights[:, 2:] - heights[:, :-2]
    south = heights[2:, :] - heights[:-2, :]
    towards = (round(light.sun[0] * 16), round(light.sun[1] * 16)) if light.direct else (-8, 8)
    slope = (-east[1:-1] * towards[0] + south[:, 1:-1] * towards[1]) * strength >> 5
    small = np.clip(slope + 128, 0, 255).astype(np.uint8)
    grown = cv2.resize(small, (sheet.width, sheet.height), interpolation=cv2.INTER_LINEAR_EXACT)
    return np.asarray(grown, dtype=np.int16) - np.int16(128)


def _sea(sheet: _Sheet, tile: Tile, light: Light, chance: random.Random) -> None:
    turn = tile.sea_from_deg or 0.0
    out, aside = (sine(turn), cosine(turn)), (cosine(turn), -sine(turn))
    wobble = [chance.uniform(-5, 5) for _ in range(25)]
    deep, shallow = light.shade((26, 84, 118)), light.shade((70, 146, 158))
    bands = (
        (SHORE, light.shade((222, 206, 166))), (SHORE + 0.05, light.shade((226, 232, 230))), (SHORE + 0.06, shallow),
        (0.56, mixed(shallow, deep, 0.4)), (0.68, mixed(shallow, deep, 0.7)), (0.82, deep),
    )  # fmt: skip
    for from_m, tone in bands:
        shore = [((step - 12) * tile.half_m / 6, from_m * tile.half_m + wobble[step]) for step in range(25)]
        far = [(2 * tile.half_m, 4 * tile.half_m), (-2 * tile.half_m, 4 * tile.half_m)]
        points = [(out[0] * b + aside[0] * a, out[1] * b + aside[1] * a) for a, b in (*shore, *far)]
        _any_shape(sheet, points, tone)


def _any_shape(sheet: _Sheet, points: Sequence[Point2], fill: Colour) -> None:
    import cv2

    cv2.fillPoly(sheet.pixels, [sheet.fine(points)], fill, cv2.LINE_AA, 4)


def _roads(sheet: _Sheet, scene: Scene, tile: Tile, light: Light) -> None:
    surface = {
        "asphalt": (104, 104, 106),
        "cobbles": (132, 124, 116),
        "earth": (168, 140, 104),
        "concrete": (164, 162, 156),
    }
    road = light.shade(surface[scene.look.road])
    if scene.sky.weather == "snow" or scene.look.ground == "snow":
        road = mixed(road, (214, 218, 224), 0.35)
    if scene.look.layout != "country_road" and scene.look.road != "earth":
        for line in tile.streets:
            sheet.line(line, light.shade((172, 168, 160)), 2 * tile.road_half_m + 4)
    for line in tile.streets:
        sheet.line(line, road, 2 * tile.road_half_m)
    if scene.look.centre_line != "none" and scene.look.road in ("asphalt", "concrete"):
        paint = light.shade((226, 226, 220) if scene.look.centre_line == "white" else (224, 186, 72))
        for line in tile.streets:
            sheet.line(line, paint, 0.3)


def _shadows(sheet: _Sheet, tile: Tile, light: Light) -> bool:
    """Draw shadows of houses and trees, darkening once; return False without sun."""
    import cv2

    if light.direct <= 0.05:
        return False
    x, y, up = light.sun
    reach = (-x / max(up, 0.16), -y / max(up, 0.16))
    mask = np.zeros((sheet.height, sheet.width), dtype=np.uint8)
    for house in tile.houses:
        corners = house.corners()
        away = (reach[0] * house.height_m, reach[1] * house.height_m)
        moved = [(a + away[0], b + away[1]) for a, b in corners]
        outline = cv2.convexHull(np.concatenate([sheet.fine(corners), sheet.fine(moved)]))
        cv2.fillConvexPoly(mask, outline, 255, cv2.LINE_AA, 4)
    for a, b, radius in tile.trees:
        away = (reach[0] * radius * 1.3, reach[1] * radius * 1.3)
        crown = [(a + away[0] + c * radius, b + away[1] + s * radius) for c, s in _OCTAGON]
        cv2.fillConvexPoly(mask, sheet.fine(crown), 255, cv2.LINE_AA, 4)
    table = np.stack([np.arange(256) * round(light.direct * part) // 255 for part in (120, 110, 92)], axis=-1)
    lost = np.multiply(sheet.pixels, cv2.LUT(cv2.merge([mask] * 3), table.astype(np.uint8)[None]), dtype=np.uint16)
    sheet.pixels -= (lost >> np.uint16(8)).astype(np.uint8)
    return True


def _cars(sheet: _Sheet, scene: Scene, tile: Tile, light: Light, chance: random.Random) -> None:
    """Draw cars on their side of the road."""
    side = 1 if scene.look.drives_on == "right" else -1
    for line in tile.streets:
        for (x0, y0), (x1, y1) in pairwise(line):
            if chance.random() < 0.55:
                continue
            dx, dy = x1 - x0, y1 - y0
            length = float(np.sqrt(dx * dx + dy * dy)) or 1.0
            way = chance.choice((-1, 1))
            u, v = dx / length * way, dy / length * way
            share, away = chance.uniform(0.15, 0.85), tile.road_half_m * chance.choice((0.45, 0.72)) * side
            middle = (x0 + dx * share + v * away, y0 + dy * share - u * away)
            if max(map(abs, middle)) > tile.half_m or tile.at_sea(middle):
                continue
            car = House(middle, (u, v), (2.2, 0.95), 1.4, 0)
            paint = chance.choice(((232, 232, 234), (44, 46, 52), (150, 34, 34), (52, 82, 130), (150, 152, 156)))
            sheet.shape(car.corners(), light.shade(paint))
            glass = House(car.at(-0.2, 0), (u, v), (1.1, 0.75), 0, 0)
            sheet.shape(glass.corners(), light.shade(mixed(paint, (40, 48, 58), 0.7)))
            sheet.shape(House(car.at(-0.3, 0), (u, v), (0.7, 0.7), 0, 0).corners(), light.shade(paint))


def _roof(sheet: _Sheet, scene: Scene, house: House, light: Light) -> None:
    look = scene.look
    tone = colour(look.roof_colour)
    away = (-18, -9, 0, 8, 14)[house.tone % 5]
    tone = mixed(tone, (255, 255, 255) if away > 0 else (0, 0, 0), abs(away) / 100)
    if house.tone % 7 == 0:
        tone = mixed(tone, (142, 138, 134), 0.5)
    if scene.sky.weather == "snow" or look.ground == "snow":
        tone = mixed(tone, (236, 240, 246), 0.72)
    a, b = house.half
    flat = look.roof in ("flat", "terrace") or min(a, b) > 11
    if flat:
        _flat_roof(sheet, house, mixed(tone, (190, 186, 178), 0.35), light)
        return
    along = a >= b
    ridge = max(0.0, abs(a - b)) if look.roof == "hip" else max(a, b)
    ends = [house.at(-ridge, 0), house.at(ridge, 0)] if along else [house.at(0, -ridge), house.at(0, ridge)]
    one, two, three, four = house.corners(0.4)
    if not along:
        one, two, three, four = two, three, four, one
    u, v = house.along if along else (-house.along[1], house.along[0])
    # The long sides slope down to the right and left of the ridge, the short ones of a hipped roof to its ends.
    slopes: list[tuple[Sequence[Point2], Point2]] = [
        ((one, two, ends[1], ends[0]), (v, -u)),
        ((three, four, ends[0], ends[1]), (-v, u)),
    ]
    if look.roof == "hip":
        slopes += [((two, three, ends[1]), (u, v)), ((four, one, ends[0]), (-u, -v))]
    for shape, (east, north) in slopes:
        sheet.shape(shape, light.shade(_lean(tone, east, north, light), (east * 0.6, north * 0.6, 0.8)))
    sheet.line(ends, light.shade(mixed(tone, (255, 255, 255), 0.22)), 0.5)


def _lean(tone: Colour, east: float, north: float, light: Light) -> Colour:
    """Return slopes differ even under clouds, or roofs would be mere rectangles."""
    lit = east * light.sun[0] + north * light.sun[1] if light.direct else (north - east) * 0.4
    return mixed(tone, (0, 0, 0), 0.16) if lit < 0 else mixed(tone, (255, 255, 255), 0.05)


def _flat_roof(sheet: _Sheet, house: House, tone: Colour, light: Light) -> None:
    sheet.shape(house.corners(0.3), light.shade(mixed(tone, (255, 255, 255), 0.25)))
    sheet.shape(house.corners(-0.5), light.shade(tone))
    a, b = house.half
    for number in range(house.tone % 4):
        x = a * (-0.6 + 0.4 * number)
        y = b * (0.4 if house.tone & 8 else -0.35)
        box = House(house.at(x, y), house.along, (min(1.4, a * 0.2), min(1.1, b * 0.2)), 1, 0)
        sheet.shape(box.corners(), light.shade((132, 134, 136)))
        sheet.shape(
            House(box.at(-0.2, 0.2), box.along, (box.half[0] * 0.8, box.half[1] * 0.8), 1, 0).corners(),
            light.shade((196, 198, 200)),
        )


def _canopies(sheet: _Sheet, scene: Scene, tile: Tile, light: Light, chance: random.Random) -> None:
    plant: Plant = scene.look.plant
    bare = scene.sky.season == "winter" and plant in ("broadleaf", "birch")
    evergreen = plant in ("conifer", "cypress", "palm", "cactus", "bamboo")
    sets = LEAVES["summer" if evergreen else scene.sky.season]
    palettes = [[light.shade(tone) for tone in tones] for tones in sets]
    if bare:
        palettes = [[light.shade(tone) for tone in ((88, 78, 68), (108, 96, 84), (128, 116, 102))]]
    snowy = light.shade((232, 236, 242))
    sun = (light.sun[0], light.sun[1]) if light.direct else (-0.4, 0.4)
    for x, y, radius in tile.trees:
        dark, plain, bright = chance.choice(palettes)
        if plant == "palm":
            for c, s in _OCTAGON:
                tip = (x + c * radius * 0.95, y + s * radius * 0.95)
                sheet.line(((x, y), tip), plain if c * sun[0] + s * sun[1] > 0 else dark, 0.7)
            continue
        rough = [0.82 + chance.random() * 0.3 for _ in _OCTAGON]
        for scale, shift, tone in ((1.0, 0.0, dark), (0.8, 0.16, plain), (0.45, 0.34, bright)):
            mx, my = x + sun[0] * shift * radius, y + sun[1] * shift * radius
            reach = radius * scale
            crown = [(mx + c * reach * r, my + s * reach * r) for (c, s), r in zip(_OCTAGON, rough, strict=True)]
            sheet.shape(crown, mixed(tone, snowy, 0.6) if scene.look.ground == "snow" and shift else tone)


def _marks(scene: Scene, tile: Tile, sheet: _Sheet, *, shadows: bool) -> tuple[Mark, ...]:
    """Return where clues can be seen from above."""
    half = tile.half_m
    inside = [house for house in tile.houses if max(map(abs, house.middle)) < 0.8 * half]
    marks = []
    for clue in scene.clues:
        points: list[Point2] = []
        if clue.sort in ("architecture", "sun") and inside and (clue.sort != "sun" or shadows):
            house = min(inside, key=lambda one: abs(one.middle[0]) + abs(one.middle[1]))
            points = house.corners(12.0 if clue.sort == "architecture" else 5.0)
        if clue.sort == "vegetation" and tile.trees:
            x, y, radius = max(tile.trees, key=lambda tree: tree[2] - (abs(tree[0]) + abs(tree[1])) / half)
            points = [(x - 2 * radius, y - 2 * radius), (x + 2 * radius, y + 2 * radius)]
        if clue.sort == "terrain":
            points = [(-half, -half), (half, half)]
            if tile.sea_from_deg is not None:
                out = (sine(tile.sea_from_deg), cosine(tile.sea_from_deg))
                near, far = 0.48 * half, 1.1 * half
                wide = 0.7 * half
                points = [
                    (out[0] * a + out[1] * b, out[1] * a - out[0] * b) for a in (near, far) for b in (-wide, wide)
                ]
        if clue.sort in ("driving_side", "road_marking") and tile.streets:
            points = [(-25.0, -25.0), (25.0, 25.0)]
        box = sheet.box(points) if points else None
        if box is not None:
            marks.append(Mark(clue.id, box))
    return tuple(marks)
