"""Houses along a street: walls, windows, doors, shop windows and roofs."""

import random
from dataclasses import dataclass, field

import numpy as np

from geosleuth.lab.scenes.scene import SceneLook

from .camera import Point3, Rect, Wall, upright
from .canvas import Canvas, Colour, colour, lit, mix_colours
from .lots import Lot, dice
from .sky import Light

_EAVES_M = 0.35

DEPTH_M = 9.0
_FINE_M, _MIDDLE_M = 26.0, 60.0
_SLIVER_PX, _NARROW_PX = 12.0, 42.0
_PANES: tuple[Colour, ...] = ((58, 70, 82), (74, 86, 96), (44, 52, 60), (96, 112, 124))
_FRAMES: tuple[Colour, ...] = ((238, 234, 224), (92, 66, 46), (60, 70, 78), (206, 196, 176), (40, 74, 58))
_DOORS: tuple[Colour, ...] = ((94, 48, 32), (36, 66, 58), (44, 54, 86), (122, 30, 34), (70, 58, 48), (150, 120, 84))


def draw_roof(canvas: Canvas, lot: Lot, look: SceneLook, light: Light, distance_m: float, depth_m: float) -> None:
    """Draw the roof of a house; walls come afterwards and cover its lower edge."""
    chance = dice(lot.seed + 1)
    base = lit(colour(look.roof_colour), 0.9 + 0.02 * chance.randrange(10))
    roof = "flat" if lot.use == "shed" and look.roof == "terrace" else look.roof
    rise = 0.9 if lot.use == "shed" else 1.8 + 0.1 * chance.randrange(14)

    def tone(fill: Colour, facing: Point3) -> Colour:
        return light.apply_haze(light.shade(fill, facing), distance_m)

    if roof in {"gable", "hip"}:
        _sloping(canvas, lot, base, rise, depth_m, tone_front=tone(base, (-0.6 * lot.side, 0.0, 0.8)),
                 tone_side=tone(lit(lot.paint, 0.9), (0.0, -1.0, 0.0)), hip=roof == "hip")  # fmt: skip
        if chance.random() < 0.6:
            _chimney(canvas, lot, tone((128, 84, 70), (0.0, -1.0, 0.0)), rise, depth_m, chance)
    else:
        _level(canvas, lot, tone(lit(lot.paint, 0.86), (-1.0 * lot.side, 0.0, 0.0)), depth_m)
        if roof == "terrace":
            _on_terrace(canvas, lot, light, distance_m, chance)


def _x(lot: Lot, back_m: float) -> float:
    return lot.side * (lot.front + back_m)


def _near_end(lot: Lot) -> float:
    return lot.start if lot.start > 0 or lot.end > 0 else lot.end


def _sloping(
    canvas: Canvas, lot: Lot, base: Colour, rise: float, depth_m: float, *, tone_front: Colour, tone_side: Colour,
    hip: bool,
) -> None:  # fmt: skip
    eaves, ridge = lot.height, lot.height + rise
    inset = min(lot.width * 0.3, 2.6) if hip else 0.0
    end = _near_end(lot)
    away = 1.0 if end == lot.start else -1.0
    gable = (
        (_x(lot, 0.0), end, eaves), (_x(lot, depth_m), end, eaves), (_x(lot, depth_m / 2), end + away * inset, ridge),
    )  # fmt: skip
    canvas.polygon3(gable, lit(tone_front, 0.82) if hip else tone_side)
    out = -_EAVES_M
    slope = (
        (_x(lot, out), lot.start - 0.1, eaves - 0.15), (_x(lot, out), lot.end + 0.1, eaves - 0.15),
        (_x(lot, depth_m / 2), lot.end - inset, ridge), (_x(lot, depth_m / 2), lot.start + inset, ridge),
    )  # fmt: skip
    canvas.polygon3(slope, tone_front)
    lip = (
        (_x(lot, out), lot.start - 0.1, eaves - 0.15), (_x(lot, out), lot.end + 0.1, eaves - 0.15),
        (_x(lot, out), lot.end + 0.1, eaves - 0.3), (_x(lot, out), lot.start - 0.1, eaves - 0.3),
    )  # fmt: skip
    canvas.polygon3(lip, lit(base, 0.55))


def _chimney(canvas: Canvas, lot: Lot, tone: Colour, rise: float, depth_m: float, chance: random.Random) -> None:
    y = lot.start + lot.width * chance.randrange(20, 80) / 100
    x0, x1 = _x(lot, depth_m * 0.42), _x(lot, depth_m * 0.5)
    low, high = lot.height + rise * 0.7, lot.height + rise + 0.9
    canvas.polygon3(upright((x0, y), (x0, y + 0.8), low, high), tone)
    canvas.polygon3(upright((x0, y), (x1, y), low, high), lit(tone, 0.8))


def _level(canvas: Canvas, lot: Lot, tone: Colour, depth_m: float) -> None:
    top = lot.height + 0.55
    end = _near_end(lot)
    front = _x(lot, 0.0)
    canvas.polygon3(upright((front, end), (_x(lot, depth_m), end), lot.height, top), lit(tone, 0.88))
    canvas.polygon3(upright((front, lot.start), (front, lot.end), lot.height - 0.1, top), tone)
    canvas.polygon3(upright((front, lot.start), (front, lot.end), top, top - 0.14), lit(tone, 1.12))


def _on_terrace(canvas: Canvas, lot: Lot, light: Light, distance_m: float, chance: random.Random) -> None:
    """Draw a water tank and washing lines on flat roofs in warm climates."""
    tank = light.apply_haze(light.shade(chance.choice(((60, 64, 70), (196, 200, 204), (92, 120, 150)))), distance_m)
    y = lot.start + lot.width * chance.randrange(20, 70) / 100
    x, low = _x(lot, 2.2), lot.height + 0.5
    canvas.polygon3(upright((x, y), (x, y + 1.3), low, low + 1.4), tank)
    canvas.polygon3(upright((x, y + 0.2), (x, y + 1.1), low + 1.4, low + 1.6), tank)
    canvas.line3((x, y - 1.2, low), (x, y - 1.2, low + 2.2), (70, 70, 72), 0.06)


@dataclass(frozen=True, slots=True)
class Tones:
    """Colours of a house as they look from the camera."""

    light: Light
    facing: Point3
    distance_m: float
    _veil: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_veil", self.light.veil(self.distance_m))

    def __call__(self, base: Colour) -> Colour:
        """Return a colour on this wall, in this light, through so much air."""
        return mix_colours(self.light.shade(base, self.facing), self.light.horizon, self._veil)


def draw_house(canvas: Canvas, lot: Lot, look: SceneLook, light: Light) -> None:
    """Draw one house, its roof first."""
    if not _in_frame(canvas, lot):
        return
    face = lot.face
    nearest = min(max(0.0, lot.start), lot.end) if lot.end > 0 else lot.end
    distance = abs(nearest) + 4
    tones = Tones(light, face.facing, distance)
    chance = dice(lot.seed)
    draw_roof(canvas, lot, look, light, distance, DEPTH_M)
    _side(canvas, lot, light, distance)
    whole = (0.0, 0.0, lot.width, lot.height)
    canvas.rects3(face, [whole], tones(lot.paint))
    wide_px = _width_px(canvas, face, lot)
    if wide_px < _SLIVER_PX:
        if lot.use == "shop":
            canvas.rects3(face, [(0.1, 0.0, lot.width - 0.1, 3.9)], tones((66, 60, 56)))
        return
    if wide_px < _NARROW_PX:
        _far_windows(canvas, lot, face, tones, chance)
        return
    if distance < _MIDDLE_M:
        _pattern(canvas, lot, face, tones, fine=distance < _FINE_M)
    _storeys(canvas, lot, face, tones, chance)
    if lot.use == "shop":
        _shop(canvas, lot, face, tones, chance)
    elif lot.use == "shed":
        _shed(canvas, lot, face, tones)
    else:
        _ground_floor(canvas, lot, face, tones, chance)
    # Walls are darker where they meet the ground and under the eaves.
    canvas.rects3(face, [(0.0, 0.0, lot.width, 0.35)], tones(lit(lot.paint, 0.62)))
    canvas.rects3(face, [(0.0, lot.height - 0.22, lot.width, lot.height)], tones(lit(lot.paint, 0.8)), 0.1)


def _in_frame(canvas: Canvas, lot: Lot) -> bool:
    """Return whether a house may be in the picture: not wholly to one side or behind."""
    view = canvas.view
    front, back = lot.side * lot.front, lot.side * (lot.front + DEPTH_M)
    seen = [view.transform_point((x, y, 0.0)) for x in (front, back) for y in (lot.start, lot.end)]
    half = view.width / 2 / view.focal_px
    return (
        any(point[1] > 0 for point in seen)
        and any(point[0] < half * max(point[1], 0.0) + 0.5 for point in seen)
        and any(point[0] > -half * max(point[1], 0.0) - 0.5 for point in seen)
    )


def _width_px(canvas: Canvas, face: Wall, lot: Lot) -> float:
    """Return the width of a front in pixels; large if it reaches behind the camera."""
    left, right = (
        canvas.view.project(face.locate_point(0.0, 1.5)),
        canvas.view.project(face.locate_point(lot.width, 1.5)),
    )
    return float(canvas.view.width) if left is None or right is None else abs(right[0] - left[0])


def _far_windows(canvas: Canvas, lot: Lot, face: Wall, tones: Tones, chance: random.Random) -> None:
    """Draw panes only, for a house seen as a narrow strip."""
    columns = max(2, round(lot.width / 2.8))
    wide = lot.width / columns * 0.5
    floors = [(lot.ground_floor + floor * 3.0 + 0.75, 1.6) for floor in range(lot.storeys - 1)]
    if lot.use == "shop":
        canvas.rects3(face, [(0.1, 0.0, lot.width - 0.1, 3.9)], tones(lit(chance.choice(_DOORS), 0.9)))
        floors.append((0.5, 1.9))
    elif lot.use == "house":
        floors.append((0.9, 1.4))
    panes: list[Rect] = [
        (lot.width * (column + 0.5) / columns - wide / 2, z, lot.width * (column + 0.5) / columns + wide / 2, z + tall)
        for z, tall in floors for column in range(columns)
    ]  # fmt: skip
    if panes:
        canvas.rects3(face, panes, tones(chance.choice(_PANES)))


def _side(canvas: Canvas, lot: Lot, light: Light, distance: float) -> None:
    """Draw the end wall that faces the camera."""
    end = lot.start if lot.start > 0 else lot.end if lot.end < 0 else None
    if end is None:
        return
    front, back = lot.side * lot.front, lot.side * (lot.front + DEPTH_M)
    facing = (0.0, -1.0 if lot.start > 0 else 1.0, 0.0)
    tone = Tones(light, facing, distance)(lit(lot.paint, 0.9))
    canvas.polygon3(upright((front, end), (back, end), 0.0, lot.height), tone)
    if distance < 45 and lot.seed % 3 and lot.use != "shed":
        _side_windows(canvas, lot, Wall((min(front, back) if facing[1] < 0 else max(front, back), end, 0.0),
                                        (-facing[1], 0.0, 0.0), facing), Tones(light, facing, distance))  # fmt: skip


def _side_windows(canvas: Canvas, lot: Lot, wall: Wall, tones: Tones) -> None:
    chance = dice(lot.seed + 2)
    windows: list[Rect] = [
        (DEPTH_M * share - 0.5, z, DEPTH_M * share + 0.5, z + 1.3)
        for floor in range(lot.storeys)
        for z in [1.1 if floor == 0 else lot.ground_floor + (floor - 1) * 3.0 + 0.85]
        for share in (0.27, 0.7)
    ]
    _windows(canvas, windows, wall, tones, chance.choice(_FRAMES), chance.choice(_PANES), "plain", chance)


def _pattern(canvas: Canvas, lot: Lot, face: Wall, tones: Tones, *, fine: bool) -> None:
    """Draw brick courses, boards and joints as hair lines, so that a wall is not one flat colour."""
    wide, tall = lot.width, lot.height
    joint = tones(mix_colours(lot.paint, (90, 84, 78) if sum(lot.paint) > 330 else (210, 205, 196), 0.22))
    lines: list[Rect] = []
    match lot.wall:
        case "brick":
            step = 0.22 if fine else 0.6
            lines = [(0, z * step, wide, z * step) for z in range(1, int(tall / step))]
        case "timber":
            step = 0.3 if fine else 0.8
            lines = [(0, z * step, wide, z * step) for z in range(1, int(tall / step))]
            lines += [(0.08, 0, 0.08, tall), (wide - 0.08, 0, wide - 0.08, tall)]
        case "stone" | "adobe":
            step = 0.45
            rows = int(tall / step) if lot.wall == "stone" else 0
            lines = [(0, z * step, wide, z * step) for z in range(1, rows)]
            if fine:
                lines += [
                    (x * 0.9 + z % 2 * 0.45, z * step, x * 0.9 + z % 2 * 0.45, (z + 1) * step)
                    for z in range(rows) for x in range(int(wide / 0.9))
                ]  # fmt: skip
        case "tiles":
            step = 0.5 if fine else 1.0
            lines = [(0, z * step, wide, z * step) for z in range(1, int(tall / step))]
            lines += [(x * step, 0, x * step, tall) for x in range(1, int(wide / step))]
        case "metal":
            step = 0.4 if fine else 1.2
            lines = [(x * step, 0, x * step, tall) for x in range(1, int(wide / step))]
        case "concrete":
            lines = [(0, z * 3.0 + 1.1, wide, z * 3.0 + 1.1) for z in range(1, int(tall / 3) + 1)]
            lines += [(x * 2.4, 0, x * 2.4, tall) for x in range(1, int(wide / 2.4))]
        case _:
            pass
    if lines:
        canvas.strokes3(face.lines(lines), joint)


def _storeys(canvas: Canvas, lot: Lot, face: Wall, tones: Tones, chance: random.Random) -> None:
    columns = max(1, round(lot.width / chance.choice((2.2, 2.6, 3.1))))
    wide = min(1.5, lot.width / columns * chance.choice((0.42, 0.5, 0.6)))
    tall = chance.choice((1.3, 1.6, 1.9))
    frame, pane = chance.choice(_FRAMES), chance.choice(_PANES)
    style = chance.choice(("plain", "shutters", "sill", "balcony", "arch", "sill"))
    windows = [
        (x - wide / 2, z, x + wide / 2, z + tall)
        for floor in range(1, lot.storeys)
        for x in [lot.width * (column + 0.5) / columns for column in range(columns)]
        for z in [lot.ground_floor + (floor - 1) * 3.0 + 0.75]
    ]
    if windows:
        _windows(canvas, windows, face, tones, frame, pane, style, chance)


def _windows(
    canvas: Canvas, windows: list[Rect], face: Wall, tones: Tones, frame: Colour, pane: Colour, style: str,
    chance: random.Random,
) -> None:  # fmt: skip
    near = tones.distance_m < _FINE_M
    if style == "shutters":
        leaf = tones(chance.choice(_DOORS))
        shutters = [(x0 - 0.42, z0, x0 - 0.04, z1) for x0, z0, _, z1 in windows]
        shutters += [(x1 + 0.04, z0, x1 + 0.42, z1) for _, z0, x1, z1 in windows]
        canvas.rects3(face, shutters, leaf, 0.04)
    canvas.rects3(face, [(x0 - 0.1, z0 - 0.1, x1 + 0.1, z1 + 0.1) for x0, z0, x1, z1 in windows], tones(frame))
    canvas.rects3(face, windows, tones(pane))
    if tones.distance_m < _MIDDLE_M:
        # The upper part mirrors the sky.
        sky = mix_colours(tones(pane), tones.light.horizon, 0.28)
        canvas.rects3(face, [(x0, z0 + (z1 - z0) * 0.55, x1, z1) for x0, z0, x1, z1 in windows], sky)
    if near:
        bars = [((x0 + x1) / 2 - 0.03, z0, (x0 + x1) / 2 + 0.03, z1) for x0, z0, x1, z1 in windows]
        canvas.rects3(face, bars, tones(frame))
        canvas.rects3(
            face,
            [(x0, z0 + (z1 - z0) * 0.6, x1, z0 + (z1 - z0) * 0.6 + 0.05) for x0, z0, x1, z1 in windows],
            tones(frame),
        )
    if style == "sill":
        sills = [(x0 - 0.18, z0 - 0.2, x1 + 0.18, z0 - 0.08) for x0, z0, x1, _ in windows]
        canvas.rects3(face, sills, tones(lit(frame, 0.9)), 0.1)
    elif style == "balcony" and near:
        floors = [(x0 - 0.35, z0 - 0.28, x1 + 0.35, z0 - 0.14) for x0, z0, x1, _ in windows]
        canvas.rects3(face, floors, tones((120, 116, 110)), 0.5)
        rails = [(x0 - 0.35, z0 + 0.62, x1 + 0.35, z0 + 0.68) for x0, z0, x1, _ in windows]
        canvas.rects3(face, rails, tones((50, 50, 54)), 0.5)
        posts = [
            (x0 - 0.35 + step * (x1 - x0 + 0.7) / 6, z0 - 0.14, x0 - 0.35 + step * (x1 - x0 + 0.7) / 6, z0 + 0.65)
            for x0, z0, x1, _ in windows for step in range(7)
        ]  # fmt: skip
        canvas.strokes3(face.lines(posts, 0.5), tones((50, 50, 54)))


def shop_door(lot: Lot) -> float:
    """Return where along its front the middle of a house's door is."""
    return lot.width * (0.84 if lot.seed % 2 else 0.16)


def _shop(canvas: Canvas, lot: Lot, face: Wall, tones: Tones, chance: random.Random) -> None:
    """Draw shop windows and a door under the board's strip."""
    trim = chance.choice((*_DOORS, *_FRAMES))
    wide, door = lot.width, shop_door(lot)
    canvas.rects3(face, [(0.12, 0.0, wide - 0.12, 2.62)], tones(trim), 0.02)
    canvas.rects3(face, [(0.12, 2.62, wide - 0.12, 3.92)], tones(lit(trim, 0.82)), 0.02)
    doors: list[Rect] = [(door - 0.5, 0.08, door + 0.5, 2.3)]
    left, right = (0.3, door - 0.65) if door > wide / 2 else (door + 0.65, wide - 0.3)
    panes = max(1, round((right - left) / 2.0))
    step = (right - left) / panes
    glass: list[Rect] = [(left + n * step + 0.05, 0.55, left + (n + 1) * step - 0.05, 2.45) for n in range(panes)]
    pane = tones((70, 76, 82))
    canvas.rects3(face, [*glass, *doors], pane, 0.03)
    if tones.distance_m > _MIDDLE_M:
        return
    _goods(canvas, glass, face, tones, chance)
    canvas.rects3(face, [(door + 0.32, 1.0, door + 0.38, 1.35)], tones((214, 200, 150)), 0.06)
    if chance.random() < 0.35:
        _awning(canvas, lot, face, tones, chance)


def _goods(canvas: Canvas, glass: list[Rect], face: Wall, tones: Tones, chance: random.Random) -> None:
    """Draw bright boxes on a shelf in the shop window."""
    hues: tuple[Colour, ...] = ((190, 70, 58), (210, 168, 70), (82, 132, 110), (96, 116, 168), (196, 188, 172))
    for fill in chance.sample(hues, 3):
        boxes: list[Rect] = []
        for x0, _, x1, _ in glass:
            x = x0 + (x1 - x0) * chance.randrange(5, 70) / 100
            wide, tall = chance.randrange(15, 45) / 100, chance.randrange(20, 60) / 100
            if x + wide < x1:
                boxes.append((x, 0.6, x + wide, 0.6 + tall))
        if boxes:
            canvas.rects3(face, boxes, tones(lit(fill, 0.7)), 0.03)


def _awning(canvas: Canvas, lot: Lot, face: Wall, tones: Tones, chance: random.Random) -> None:
    """Draw an awning over the pavement, below the board."""
    item = colour(chance.choice(("#b23a48", "#2f6690", "#3a7d44", "#d9a441", "#7a5c8e", "#8d5524")))
    count = max(4, round(lot.width / 0.8))
    step = (lot.width - 0.3) / count
    for odd, cloth in ((0, (240, 234, 220)), (1, item)):
        fill = tones(lit(cloth, 1.08))
        lefts = [0.15 + number * step for number in range(odd, count, 2)]
        slopes = [
            (
                face.locate_point(x, 2.66, 0.05),
                face.locate_point(x + step, 2.66, 0.05),
                face.locate_point(x + step, 2.3, 1.1),
                face.locate_point(x, 2.3, 1.1),
            )
            for x in lefts
        ]
        canvas.polygons3(np.array(slopes, dtype=np.float64), fill)
        hem: list[Rect] = [(x, 2.1, x + step, 2.3) for x in lefts]
        canvas.rects3(face, hem, mix_colours(fill, (0, 0, 0), 0.12), 1.1)


def _shed(canvas: Canvas, lot: Lot, face: Wall, tones: Tones) -> None:
    gate = lot.width * 0.4
    canvas.rects3(face, [(gate, 0.0, gate + 4.2, 4.0)], tones((150, 156, 160)))
    canvas.strokes3(face.lines([(gate, z * 0.4, gate + 4.2, z * 0.4) for z in range(1, 10)]), tones((110, 116, 120)))
    canvas.rects3(face, [(gate + 5.2, 0.0, gate + 6.2, 2.1)], tones((70, 84, 98)))
    row = [(x * 2.0 + 0.5, 4.4, x * 2.0 + 1.9, 5.0) for x in range(int(lot.width / 2.0))]
    canvas.rects3(face, row, tones((86, 100, 110)))


def _ground_floor(canvas: Canvas, lot: Lot, face: Wall, tones: Tones, chance: random.Random) -> None:
    door = shop_door(lot)
    frame, pane = chance.choice(_FRAMES), chance.choice(_PANES)
    canvas.rects3(face, [(door - 0.62, 0.0, door + 0.62, 2.38)], tones(frame), 0.02)
    canvas.rects3(face, [(door - 0.5, 0.0, door + 0.5, 2.26)], tones(chance.choice(_DOORS)), 0.03)
    canvas.rects3(face, [(door - 0.85, 0.0, door + 0.85, 0.16)], tones((158, 152, 144)), 0.5)
    low, high = (0.3, door - 1.0) if door > lot.width / 2 else (door + 1.0, lot.width - 0.3)
    count = max(1, round((high - low) / 2.6))
    step = (high - low) / count
    windows = [(low + (n + 0.5) * step - 0.6, 0.95, low + (n + 0.5) * step + 0.6, 2.35) for n in range(count)]
    _windows(canvas, windows, face, tones, frame, pane, chance.choice(("plain", "sill", "shutters")), chance)
