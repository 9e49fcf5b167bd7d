"""The ground: carriageway, lines, kerbs and pavements, the land around them, and the horizon."""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from geosleuth.lab.scenes.scene import Ground, Line, SceneLook, Sky

from .camera import Point3
from .canvas import Canvas, Colour, lit, mix_colours
from .lots import MEASURES, Lot
from .sky import NOISE_PX, Light, SkyWindow, ground_noise

_ROADS: dict[str, Colour] = {
    "asphalt": (92, 93, 96), "cobbles": (122, 114, 106), "earth": (158, 124, 88), "concrete": (156, 152, 146),
}  # fmt: skip
_LINES: dict[Line, Colour] = {"white": (232, 232, 226), "yellow": (232, 188, 60), "none": (0, 0, 0)}
_PAVEMENT: Colour = (166, 160, 152)
_KERB: Colour = (196, 192, 184)
_WET = {"rain": 0.72}
_BANDS: tuple[float, ...] = (-300.0, -60.0, -14.0, 5.0, 14.0, 30.0, 65.0, 140.0, 420.0)

_GROUNDS: dict[Ground, tuple[Colour, Colour]] = {
    "grass": ((96, 124, 74), (134, 154, 94)),
    "dry_grass": ((164, 148, 92), (198, 182, 122)),
    "sand": ((206, 182, 136), (228, 208, 166)),
    "red_earth": ((156, 92, 62), (186, 120, 82)),
    "snow": ((214, 222, 232), (246, 248, 251)),
    "paved": ((138, 136, 132), (162, 160, 154)),
}
_SEASONED: dict[str, tuple[Colour, float]] = {
    "autumn": ((150, 124, 62), 0.22),
    "winter": ((132, 120, 88), 0.38),
    "dry": ((190, 166, 104), 0.45),
    "spring": ((120, 172, 70), 0.2),
}
_STEPS = 24
_LEVELS = 64


def draw_street(
    canvas: Canvas, look: SceneLook, sky: Sky, light: Light, lots: tuple[Lot, ...], chance: random.Random
) -> None:
    """Draw everything that lies flat; houses and things come afterwards."""
    sizes = MEASURES[look.layout]
    road = lit(_ROADS[look.road], _WET.get(sky.weather, 1.0) * (0.94 + 0.02 * chance.randrange(7)))
    pavement = lit(_PAVEMENT, _WET.get(sky.weather, 1.0) * (0.9 + 0.03 * chance.randrange(6)))
    if sky.weather == "snow":
        road, pavement = mix_colours(road, (236, 240, 246), 0.45), mix_colours(pavement, (240, 243, 248), 0.75)
    edge = sizes.road_half
    if sizes.pavement > 0:
        for side in (-1.0, 1.0):
            far = edge + sizes.pavement + (3.0 if look.layout in {"high_street", "market", "square"} else 0.0)
            _strip(canvas, side * edge, side * far, 0.12, pavement, light)
            _slabs(canvas, side, edge, sizes.pavement, light, pavement)
            _strip(canvas, side * edge, side * (edge + 0.2), 0.13, _KERB, light)
    _paths(canvas, lots, light, pavement)
    _strip(canvas, -edge, edge, 0.0, road, light)
    for x in (-edge * 0.72, -edge * 0.28, edge * 0.28, edge * 0.72):
        # Wheels leave the road darker.
        _strip(canvas, x - 0.28, x + 0.28, 0.0, lit(road, 0.95), light)
    if look.road == "cobbles":
        _cobbles(canvas, edge, light, road)
    else:
        _patches(canvas, edge, light, road, chance)
    for side in (-1.0, 1.0):
        if sizes.pavement > 0:
            # The gutter, and the kerb's own face.
            _strip(canvas, side * edge, side * (edge - 0.14), 0.0, lit(road, 0.72), light)
            _strip(canvas, side * edge, side * edge, 0.0, lit(_KERB, 0.7), light, rise=0.13)
    if look.road in {"asphalt", "concrete"}:
        _draw_road_lines(canvas, look, edge, light, sky)


def _strip(
    canvas: Canvas, left: float, right: float, up: float, fill: Colour, light: Light, *, rise: float = 0.0
) -> None:
    """Draw a strip along the whole street, fading with distance; its right edge may be higher."""
    shaded, high = light.shade(fill), up + rise
    for near, far in pairwise(_BANDS):
        tone = light.apply_haze(shaded, min(abs(near), abs(far)) * 1.3)
        canvas.polygon3(((left, near, up), (right, near, high), (right, far, high), (left, far, up)), tone)


def _flat(shapes: list[tuple[Point3, Point3, Point3, Point3]]) -> NDArray[np.float64]:
    return np.array(shapes, dtype=np.float64).reshape(-1, 4, 3)


def _dash(x: float, wide: float, start: float, end: float) -> tuple[Point3, Point3, Point3, Point3]:
    low, high = x - wide / 2, x + wide / 2
    return (low, start, 0.0), (high, start, 0.0), (high, end, 0.0), (low, end, 0.0)


def _draw_road_lines(canvas: Canvas, look: SceneLook, edge: float, light: Light, sky: Sky) -> None:
    worn = 0.5 if sky.weather == "snow" else 0.92
    if look.centre_line != "none":
        ink = light.shade(lit(_LINES[look.centre_line], worn))
        if look.centre_double:
            for x in (-0.14, 0.14):
                canvas.polygons3(_flat([_dash(x, 0.12, y, y + 30) for y in range(-60, 150, 30)]), ink)
        else:
            ahead = [_dash(0.0, 0.14, y, y + 3.0) for y in range(2, 110, 8)]
            behind = [_dash(0.0, 0.14, y, y + 3.0) for y in range(-54, 0, 8)]
            canvas.polygons3(_flat(ahead), ink)
            canvas.polygons3(_flat(behind), ink)
    if look.edge_line != "none":
        ink = light.shade(lit(_LINES[look.edge_line], worn))
        for x in (0.35 - edge, edge - 0.35):
            canvas.polygons3(_flat([_dash(x, 0.13, y, y + 30) for y in range(-60, 150, 30)]), ink)


def _slabs(canvas: Canvas, side: float, edge: float, wide: float, light: Light, fill: Colour) -> None:
    joint = light.shade(lit(fill, 0.88))
    across = [((side * edge, y * 1.2, 0.12), (side * (edge + wide), y * 1.2, 0.12)) for y in range(-8, 26)]
    along = [((side * (edge + x), -10.0, 0.12), (side * (edge + x), 40.0, 0.12)) for x in (wide / 3, wide * 2 / 3)]
    canvas.strokes3(np.array([*across, *along], dtype=np.float64), joint)


def _cobbles(canvas: Canvas, edge: float, light: Light, fill: Colour) -> None:
    joint = light.shade(lit(fill, 0.84))
    rows = np.array([[(-edge, y * 0.35, 0.0), (edge, y * 0.35, 0.0)] for y in range(4, 70)], dtype=np.float64)
    canvas.strokes3(rows, joint)
    columns = [
        [(x * 0.4 + y % 2 * 0.2, y * 0.35, 0.0), (x * 0.4 + y % 2 * 0.2, y * 0.35 + 0.35, 0.0)]
        for y in range(4, 36) for x in range(-int(edge / 0.4), int(edge / 0.4))
    ]  # fmt: skip
    canvas.strokes3(np.array(columns, dtype=np.float64), joint)


def _patches(canvas: Canvas, edge: float, light: Light, fill: Colour, chance: random.Random) -> None:
    for _ in range(4):
        x, y = edge * chance.randrange(-80, 60) / 100, chance.randrange(3, 24)
        wide, deep = chance.randrange(5, 18) / 10, chance.randrange(10, 40) / 10
        tone = light.shade(lit(fill, 0.9 + 0.05 * chance.randrange(4)))
        canvas.polygon3(((x, y, 0.0), (x + wide, y, 0.0), (x + wide, y + deep, 0.0), (x, y + deep, 0.0)), tone)


def _paths(canvas: Canvas, lots: tuple[Lot, ...], light: Light, fill: Colour) -> None:
    from .houses import shop_door

    for lot in lots:
        door = lot.face.locate_point(shop_door(lot), 0.0)
        if lot.front > 8 and abs(door[1]) < 60:
            kerb = lot.side * 3.0
            x, y, _ = door
            canvas.polygon3(((kerb, y - 0.7, 0.05), (x, y - 0.7, 0.05), (x, y + 0.7, 0.05), (kerb, y + 0.7, 0.05)),
                            light.shade(fill))  # fmt: skip


def ground_colours(ground: Ground, season: str) -> tuple[Colour, Colour]:
    """Return the darker and the lighter colour of a ground at a time of the year, in plain daylight."""
    low, high = _GROUNDS[ground]
    if ground != "grass" or season not in _SEASONED:
        return low, high
    towards, share = _SEASONED[season]
    return mix_colours(low, towards, share), mix_colours(high, towards, share)


def draw_ground(
    pixels: NDArray[np.uint8], window: SkyWindow, height_m: float, look: SceneLook, sky: Sky, light: Light,
    chance: random.Random,
) -> None:  # fmt: skip
    """Paint open ground from the horizon to the lower edge, for a camera that is this high above it."""
    import cv2

    width, height = window.size
    top = max(0, int(window.horizon_y))
    if top >= height:
        return
    columns, rows = min(width // 2, 448), min((height - top + 1) // 2, 320)
    below = [max(0.4, (at + 0.5) * (height - top) / rows + top - window.horizon_y) for at in range(rows)]
    away_m = [min(400.0, height_m * window.far_px / down) for down in below]
    shift_x, shift_y = chance.randrange(NOISE_PX), chance.randrange(NOISE_PX)
    # A texel of ground is 5 cm.
    last = NOISE_PX - 1
    y = np.array([(round(far * 20) + shift_y & last) * NOISE_PX for far in away_m], dtype=np.int32)[:, None]
    aside = ((np.arange(columns) * 2 + 1) * width - width * columns) * 10 // columns
    spread = np.array([round(far / window.far_px * 1024) for far in away_m], dtype=np.int32)[:, None]
    x = (aside.astype(np.int32)[None, :] * spread >> 10) + shift_x & last
    bucket = np.array([64 * min(_STEPS - 1, round(_STEPS * far / (far + 40))) for far in away_m], dtype=np.int32)[
        :, None
    ]
    noise = ground_noise().ravel().take(y + x) >> 2
    # Four bytes to a colour: they are looked up as one number, and grown faster than three.
    small = _ground_table(look.ground, sky, light).view(np.uint32).reshape(-1).take(bucket + noise)
    grown = cv2.resize(
        small.view(np.uint8).reshape(rows, columns, 4), (width, height - top), interpolation=cv2.INTER_LINEAR_EXACT
    )
    cv2.cvtColor(grown, cv2.COLOR_RGBA2RGB, dst=pixels[top:])


def _ground_table(ground: Ground, sky: Sky, light: Light) -> NDArray[np.uint8]:
    """Return colours by distance and unevenness: far ground is smooth and takes on the colour of the air."""
    low, high = (light.shade(colour) for colour in ground_colours(ground, sky.season))
    levels = np.arange(_LEVELS) / (_LEVELS - 1) - 0.5
    far_m = [40 * step / (_STEPS - step) for step in range(_STEPS)]
    dark, bright = (np.array([light.apply_haze(end, far) for far in far_m])[:, None, :] for end in (low, high))
    rough = np.array([1.5 / (1 + far / 25) for far in far_m])[:, None]
    share = np.clip(0.5 + levels * rough, 0, 1)[..., None]
    table = np.zeros((_STEPS, _LEVELS, 4), dtype=np.uint8)
    table[..., :3] = dark + (bright - dark) * share + 0.5
    return table


def draw_terrain(
    pixels: NDArray[np.uint8], window: SkyWindow, look: SceneLook, sky: Sky, light: Light, chance: random.Random
) -> None:
    """Draw what stands at the horizon; after the ground and before what is nearer."""
    if not -window.size[1] < window.horizon_y < 3 * window.size[1]:
        return
    land = _land_colour(look, sky)
    sun_right = window.aside_deg(sky.sun_azimuth_deg) > 0
    if look.terrain == "mountains":
        far = _ridge(window, chance, ((9, 6.5), (23, 4.2), (61, 1.4), (140, 0.6)), 9.5, sharp=True)
        rock = mix_colours((112, 112, 122), land, 0.3)
        _fill(pixels, window, far, _haze_far_land(rock, 5200, light))
        _facets(
            pixels, window, far, rock, light, sun_right=sun_right, snow=sky.season == "winter" or look.ground == "snow"
        )
        _fill(pixels, window, _ridge(window, chance, ((13, 2.2), (37, 0.8)), 1.6), _haze_far_land(land, 1800, light))
    if look.terrain == "hills":
        for distance_m, height in ((3600, 7.2), (1900, 4.4), (900, 2.2)):
            ridge = _ridge(window, chance, ((7, height * 0.55), (19, height * 0.2)), height * 0.55)
            _fill(pixels, window, ridge, _haze_far_land(land, distance_m, light))
            _trees_along(
                pixels,
                window,
                ridge,
                _haze_far_land(mix_colours(land, (40, 66, 40), 0.4), distance_m, light),
                chance,
                0.35,
            )
    if look.terrain == "coast":
        _sea(pixels, window, light, sky, chance)
    if look.terrain in ("flat", "mountains") and look.ground != "sand":
        wood = mix_colours(land, (46, 74, 44), 0.6) if look.ground != "snow" else (112, 124, 128)
        _trees_along(pixels, window, [0.25] * _points(window), _haze_far_land(wood, 700, light), chance, 1.0)
    if look.ground == "sand" and look.terrain == "flat":
        _fill(pixels, window, _ridge(window, chance, ((11, 0.8), (29, 0.3)), 0.7), _haze_far_land(land, 900, light))


def _land_colour(look: SceneLook, sky: Sky) -> Colour:
    low, high = ground_colours(look.ground if look.ground != "paved" else "grass", sky.season)
    wooded = (64, 96, 58) if look.ground in ("grass", "paved") else low
    return mix_colours(mix_colours(low, high, 0.3), wooded, 0.5)


def _haze_far_land(colour: Colour, distance_m: float, light: Light) -> Colour:
    """Return the colour of far land through the air, which is thinner than in the street."""
    return light.apply_haze(light.shade(colour), distance_m * 0.3 if light.haze < 0.1 else distance_m)


def _points(window: SkyWindow) -> int:
    return 257 if window.round else 129


def _ridge(
    window: SkyWindow, chance: random.Random, waves: Sequence[tuple[int, float]], base: float, *, sharp: bool = False
) -> list[float]:
    """Return ridge heights across the picture in degrees; a wave is a count around the horizon and an amplitude."""
    tables = [[chance.randrange(-1000, 1001) / 1000 for _ in range(count)] for count, _ in waves]
    heights = []
    for at in range(_points(window)):
        turn = window.compute_azimuth(at * window.size[0] / (_points(window) - 1)) / 360 % 1
        height = base
        for (count, tall), table in zip(waves, tables, strict=True):
            whole = int(turn * count)
            rest = turn * count - whole
            rest = rest if sharp else rest * rest * (3 - 2 * rest)
            height += tall * (table[whole % count] * (1 - rest) + table[(whole + 1) % count] * rest)
        heights.append(max(0.15, height))
    return heights


def _outline(window: SkyWindow, ridge: Sequence[float]) -> list[tuple[int, int]]:
    step = window.size[0] / (len(ridge) - 1)
    return [(round(at * step * 16), round(window.compute_y(height) * 16)) for at, height in enumerate(ridge)]


def _fill(pixels: NDArray[np.uint8], window: SkyWindow, ridge: Sequence[float], colour: Colour) -> None:
    low = round(window.horizon_y * 16) + 16
    _polygon(pixels, [(0, low), *_outline(window, ridge), (window.size[0] * 16, low)], colour)


def _polygon(pixels: NDArray[np.uint8], points: Sequence[tuple[int, int]] | NDArray[np.int64], colour: Colour) -> None:
    import cv2

    cv2.fillPoly(pixels, [np.array(points, dtype=np.int32)], colour, cv2.LINE_AA, 4)


def _facets(
    pixels: NDArray[np.uint8], window: SkyWindow, ridge: Sequence[float], rock: Colour, light: Light, *,
    sun_right: bool, snow: bool,
) -> None:  # fmt: skip
    """Shade mountain sides away from the sun, and put snow on high ones."""
    line = _outline(window, ridge)
    low = round(window.horizon_y * 16)
    snow_line = round(window.compute_y(5.0 if snow else 9.5) * 16)
    shaded: list[list[int]] = []
    for at in range(1, len(ridge) - 1):
        if not ridge[at - 1] <= ridge[at] > ridge[at + 1] or ridge[at] < 2:
            continue
        for side in (-1, 1):
            flank = [at]
            while 0 <= flank[-1] + side < len(ridge) and ridge[flank[-1] + side] < ridge[flank[-1]] and len(flank) < 16:
                flank.append(flank[-1] + side)
            away = (side < 0) == sun_right
            if away:
                shaded.append(flank)
            (top_x, top), (foot_x, foot) = line[at], line[flank[-1]]
            deep = foot + (low - foot) // 2
            tip, inner = ((top_x + 2 * foot_x) // 3, deep), (top_x + (foot_x - top_x) // 5, (top + deep) // 2)
            base = mix_colours(rock, (44, 50, 72), 0.34) if away else mix_colours(rock, (255, 244, 226), 0.14)
            _polygon(pixels, [*(line[number] for number in flank), tip, inner], _haze_far_land(base, 5200, light))
    high = [number for number in range(len(line)) if line[number][1] < snow_line]
    for _, numbered in groupby(enumerate(high), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in numbered]
        _snow(pixels, line, run, snow_line, _haze_far_land((250, 250, 252), 3000, light))
    for flank in shaded:
        run = [number for number in flank if line[number][1] < snow_line]
        _snow(pixels, line, run, snow_line, _haze_far_land((176, 192, 218), 3000, light))


def _snow(
    pixels: NDArray[np.uint8], line: Sequence[tuple[int, int]], run: Sequence[int], snow_line: int, white: Colour
) -> None:
    """Draw snow below a stretch of ridge, with a jagged lower edge that is the same in every view."""
    if len(run) > 1:
        teeth = (30, 62, 40, 78, 26, 56)
        edge = [(line[at][0], line[at][1] + (snow_line - line[at][1]) * teeth[at % 6] // 100) for at in run]
        _polygon(pixels, [*(line[at] for at in run), *reversed(edge)], white)


def _trees_along(
    pixels: NDArray[np.uint8],
    window: SkyWindow,
    ridge: Sequence[float],
    colour: Colour,
    chance: random.Random,
    tall: float,
) -> None:
    """Draw the rough edge of distant woods."""
    turns = np.frombuffer(chance.randbytes(720), dtype=np.uint8).astype(np.int64)
    count = 3 * (len(ridge) - 1)
    turn = _quarter_turns(window, count)
    # Heights in pixels: so low above the horizon, an angle and its tangent are the same.
    degree_px = window.far_px * 3.14159265 / 180
    high = tall * (0.35 + (0.8 * turns[turn // 24 % 60] + 0.35 * turns[turn % 720]) / 255)
    rows = window.horizon_y - (np.array(ridge)[np.arange(count + 1) // 3] + high) * degree_px
    x = (np.arange(count + 1) * (window.size[0] * 16)) // count
    upper = np.stack([x, (rows * 16 + 0.5).astype(np.int64)], axis=-1)
    low = np.array(_outline(window, ridge))[::-1] + np.array([0, 24])
    _polygon(pixels, np.concatenate([upper, low]), colour)


@lru_cache(maxsize=8)
def _quarter_turns(window: SkyWindow, count: int) -> NDArray[np.int64]:
    """Return the azimuths of evenly spread columns, in quarters of a degree."""
    return np.array([round(window.compute_azimuth(at * window.size[0] / count) * 4) for at in range(count + 1)])


def _sea(pixels: NDArray[np.uint8], window: SkyWindow, light: Light, sky: Sky, chance: random.Random) -> None:
    """Draw water below the horizon, a headland beyond, and glitter on the sun's side."""
    width = window.size[0]
    top = round(window.horizon_y)
    depth = max(3, round(window.far_px * 0.02))
    near = light.apply_haze(light.shade(mix_colours(light.zenith, (24, 92, 112), 0.55)), 150)
    far = _haze_far_land(light.shade((92, 140, 162)), 2000, light)
    for row in range(max(0, top), min(window.size[1], top + depth)):
        pixels[row] = mix_colours(far, near, (row - top) / depth)
    ridge = _ridge(window, chance, ((5, 2.4), (17, 0.7)), -0.6)
    if chance.random() < 0.7:
        _fill(pixels, window, [height - 0.15 for height in ridge], _haze_far_land((88, 104, 92), 3000, light))
    glint = mix_colours(light.glow, (255, 255, 255), 0.5)
    x = window.compute_x(sky.sun_azimuth_deg)
    for _ in range(60 if light.direct > 0 and x is not None else 14):
        row = top + 1 + chance.randrange(max(1, depth - 1))
        middle = (
            chance.randrange(width)
            if x is None or light.direct == 0
            else round(x + (chance.random() + chance.random() - 1) * width / 6)
        )
        half = chance.randrange(2, 3 + depth)
        if 0 <= row < window.size[1]:
            part = pixels[row, max(0, middle - half) : max(0, middle + half)]
            part[:] = mix_colours(near, glint, 0.5 if light.direct else 0.12)
