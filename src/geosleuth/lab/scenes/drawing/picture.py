"""A scene as a picture or a panorama, and where in it every clue is.

The heading is in the middle of the picture. Above and below the views, which reach 69 degrees up and down, their last
rows continue: sky and road have no detail there.
"""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from geosleuth.atlas.maps.labels import can_shape
from geosleuth.lab.scenes.scene import Mark, Plant, Scene, SceneClue
from geosleuth.support.errors import BadInput

from .camera import Lens, Point2, Point3, View, cosine, on_grid, sine
from .canvas import BACKDROP_M2, Canvas, Painter
from .furniture import draw_lamp
from .houses import draw_house
from .lots import MEASURES, dice
from .mounts import draw_cover, hang
from .placement import CAP_SHARE, Hung
from .plants import CROWNS, draw_plant
from .scenery import Street, build_view, plan_street
from .sky import Light, SkyWindow, compute_light, draw_air, draw_sky, draw_weather
from .street import draw_ground, draw_street, draw_terrain
from .vehicles import car_size_m, draw_bus, draw_car

Pixels = tuple[int, int, int, int]
"""Left, top, right, bottom."""

# Maximum length of a shadow relative to its owner's height: beyond that only streaks would be left.
_MAX_SHADOW_RATIO = 9.0
_TILE = 512
YAWS = (0.0, 90.0, 180.0, 270.0)
_TALL = 2.6
# Four samples to a pixel, no two in one row or column; a little off, so that none falls between two texels exactly.
_SAMPLES = ((-0.37, -0.12), (0.13, -0.37), (-0.12, 0.38), (0.38, 0.13))
JPEG_QUALITY = 88
_AHEAD_M, _AROUND_M = (-12.0, 88.0), (-80.0, 80.0)


def find_marks(scene: Scene, lens: Lens, street: Street) -> tuple[Mark, ...]:
    """Return a mark for every clue that is in the picture, and one for each line of those that are written."""
    marks: list[Mark] = []
    boards = {board.plan.clue.id: board for board in street.boards}
    for clue in scene.clues:
        board = boards.get(clue.id)
        if board is not None:
            marks += _board_marks(board, lens)
        elif clue.board is None:
            box = _find_unwritten(clue, scene, lens, street)
            if box is not None:
                marks.append(Mark(clue.id, box))
    return tuple(marks)


def _board_marks(board: Hung, lens: Lens) -> list[Mark]:
    left, bottom, right, top = board.rect
    wide, tall = right - left, top - bottom
    out = 0.14 if board.place.support == "wall" else 0.0
    marks: list[Mark] = []
    letter = board.em_px * CAP_SHARE
    whole = _project_bounds(board.place.wall.quad(board.rect, out), lens)
    if whole is not None:
        marks.append(Mark(board.plan.clue.id, whole, None, round(letter * board.plan.smallest, 1)))
    for number in range(len(board.plan.clue.lines)):
        u0, v0, u1, v1 = board.plan.line_box(number)
        rect = (left + u0 * wide, top - v1 * tall, left + u1 * wide, top - v0 * tall)
        box = _project_bounds(board.place.wall.quad(rect, out), lens)
        size = min(row.size for row in board.plan.rows if row.line == number)
        if box is not None:
            marks.append(Mark(board.plan.clue.id, box, number, round(letter * size, 1)))
    return marks


def _project_bounds(points: tuple[Point3, ...], lens: Lens) -> Pixels | None:
    flat = [point for corner in points if (point := lens.project(corner)) is not None]
    if len(flat) < 2:
        return None
    left, right = min(x for x, _ in flat), max(x for x, _ in flat)
    top, bottom = min(y for _, y in flat), max(y for _, y in flat)
    box = max(0, int(left)), max(0, int(top)), min(lens.width, int(right) + 1), min(lens.height, int(bottom) + 1)
    return box if box[2] - box[0] > 1 and box[3] - box[1] > 1 else None


def _find_unwritten(clue: SceneClue, scene: Scene, lens: Lens, street: Street) -> Pixels | None:
    """Return where a textless clue is visible: a stretch of road, a house, a tree, the horizon."""
    match clue.sort:
        case "driving_side":  # shown only by the cars there
            along = ("away", "towards")
            cars = [_upright(car.at, 0.9, 1.5) for car in street.cars if car.facing in along]
            shapes = cars + [_upright(bus.at, 1.25, 3.1) for bus in street.buses if bus.facing in along]
        case "road_marking":
            return _road(MEASURES[scene.look.layout].road_half, lens)
        case "architecture":
            shapes = [lot.face.quad((0.0, 0.0, lot.width, lot.height)) for lot in street.lots if lot.start > 2]
        case "vegetation":
            shapes = [_upright(plant.at, plant.height_m * 0.3, plant.height_m) for plant in street.plants]
        case "pole" if street.poles is not None:
            shapes = [_upright(at, 0.4, street.poles.height_m) for at in street.poles.at if at[1] > 2]
        case "terrain":
            row = round(lens.horizon_px)
            return 0, max(0, row - lens.height // 12), lens.width, min(lens.height, row + lens.height // 40)
        case "sun":
            return _sun(scene, lens)
        case _:
            return None
    boxes = [box for shape in shapes if (box := _project_bounds(shape, lens)) is not None]
    return max(boxes, key=_compute_box_area, default=None)


def _upright(at: Point2, half_m: float, tall_m: float) -> tuple[Point3, Point3, Point3, Point3]:
    x, y = at
    return (x - half_m, y, tall_m), (x + half_m, y, tall_m), (x + half_m, y, 0.0), (x - half_m, y, 0.0)


def _road(half_m: float, lens: Lens) -> Pixels | None:
    """Return the nearest visible stretch of road ahead."""
    for near in (2.0, 4.0, 7.0, 12.0):
        box = _project_bounds(
            ((-half_m, near, 0.0), (half_m, near, 0.0), (half_m, 40.0, 0.0), (-half_m, 40.0, 0.0)), lens
        )
        if box is not None and _compute_box_area(box) > lens.width * lens.height // 400:
            return box
    return None


def _sun(scene: Scene, lens: Lens) -> Pixels | None:
    """Return the sun if it is in the picture, else the road with its shadows."""
    at = lens.direction(scene.sky.sun_azimuth_deg - scene.camera.heading_deg, scene.sky.sun_elevation_deg)
    if at is not None and 0 <= at[0] < lens.width and 0 <= at[1] < lens.height:
        half = lens.width // 20
        x, y = round(at[0]), round(at[1])
        return max(0, x - half), max(0, y - half), min(lens.width, x + half), min(lens.height, y + half)
    return _road(MEASURES[scene.look.layout].road_half + 2.0, lens)


def _compute_box_area(box: Pixels) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


class Shadows:
    """All shadows of a street. They are gathered first and fall together, so that none darkens another."""

    def __init__(self, light: Light) -> None:
        self.light = light
        self.shapes: list[list[Point2]] = []
        x, y, up = light.sun
        level = float(np.sqrt(x * x + y * y))
        reach = min(_MAX_SHADOW_RATIO, level / max(up, 0.02))
        self.away: Point2 = (-x / level * reach, -y / level * reach) if level > 1e-6 else (0.0, 0.0)
        """Where the shadow of a point one metre up lies, seen from its foot."""

    @property
    def any(self) -> bool:
        """Whether anything casts a shadow in this light."""
        return self.light.direct > 0.05

    def block(self, left_m: float, right_m: float, near_m: float, far_m: float, height_m: float) -> None:
        """Add the shadow of a block: a house, a wall, a car."""
        corners = [(left_m, near_m), (right_m, near_m), (right_m, far_m), (left_m, far_m)]
        tops = [(x + self.away[0] * height_m, y + self.away[1] * height_m) for x, y in corners]
        self.shapes.append(_hull(corners + tops))

    def post(self, at: Point2, height_m: float, width_m: float = 0.2) -> None:
        """Add the shadow of something tall and thin: a pole, a lamp, a trunk."""
        end = (at[0] + self.away[0] * height_m, at[1] + self.away[1] * height_m)
        along, across = end[0] - at[0], end[1] - at[1]
        length = float(np.sqrt(along * along + across * across)) or 1.0
        x, y = -across / length * width_m / 2, along / length * width_m / 2
        self.shapes.append(
            [(at[0] + x, at[1] + y), (end[0] + x, end[1] + y), (end[0] - x, end[1] - y), (at[0] - x, at[1] - y)]
        )

    def plant(self, at: Point2, plant: Plant, height_m: float) -> None:
        """Add the shadow of a trunk and the crown above it."""
        if plant == "none":
            return
        middle, half = CROWNS[plant]
        self.post(at, height_m * middle, 0.04 * height_m)
        centre = (at[0] + self.away[0] * height_m * middle, at[1] + self.away[1] * height_m * middle)
        reach = float(np.sqrt(self.away[0] * self.away[0] + self.away[1] * self.away[1]))
        across = half * height_m
        tall = (0.06 if plant in ("acacia", "palm") else min(middle, 1 - middle)) * height_m
        along = float(np.sqrt(across * across + (tall * reach) * (tall * reach)))
        way = (self.away[0] / reach, self.away[1] / reach) if reach > 1e-6 else (0.0, 1.0)
        outline = []
        for number, angle in enumerate(range(0, 360, 15)):
            # A rough edge: leaves.
            rough = (1.0, 0.9, 1.05, 0.94)[number % 4]
            a, b = along * cosine(angle) * rough, across * sine(angle) * rough
            outline.append((centre[0] + way[0] * a - way[1] * b, centre[1] + way[1] * a + way[0] * b))
        self.shapes.append(outline)

    def fall(self, canvas: Canvas) -> None:
        """Darken the ground. What stands on it is drawn afterwards."""
        import cv2

        if not self.any:
            return
        view = canvas.view
        top = max(0, min(view.height - 1, int(view.horizon_px)))
        mask = np.zeros((view.height - top, view.width), dtype=np.uint8)
        for shape in self.shapes:
            points = _clip_points(view.outline([(x, y, 0.0) for x, y in shape]), view.width, view.height)
            if len(points) >= 3:
                corners = np.array([(round(x * 16) - 8, round((y - top) * 16) - 8) for x, y in points], dtype=np.int32)
                cv2.fillPoly(mask, [corners], 255, cv2.LINE_AA, 4)
        rows = np.flatnonzero(mask.max(axis=1))
        if not len(rows):
            return
        part = canvas.pixels[top + rows[0] : top + rows[-1] + 1]
        mask = mask[rows[0] : rows[-1] + 1]
        # Shadows are lit by the sky alone: they lose more red than blue.
        levels = np.arange(256)
        taken = [levels * round(self.light.direct * share) // 255 for share in (118, 108, 92)]
        table = np.stack(taken, axis=-1).astype(np.uint8)[None]
        lost = np.multiply(part, cv2.LUT(cv2.merge([mask] * 3), table), dtype=np.uint16)
        lost >>= np.uint16(8)
        part -= lost.astype(np.uint8)


def _hull(points: Sequence[Point2]) -> list[Point2]:
    ordered = sorted(set(points))
    halves: list[list[Point2]] = []
    for run in (ordered, ordered[::-1]):
        half: list[Point2] = []
        for point in run:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return halves[0] + halves[1]


def _turn(point2: Point2, two: Point2, three: Point2) -> float:
    return (two[0] - point2[0]) * (three[1] - point2[1]) - (two[1] - point2[1]) * (three[0] - point2[0])


def _clip_points(points: list[Point2], width: int, height: int) -> list[Point2]:
    """Clip points well outside the picture, so that they fit 32-bit sixteenths of a pixel."""
    from .canvas import _cut_to

    if all(-4.0 * width <= x <= 5.0 * width and -4.0 * height <= y <= 5.0 * height for x, y in points):
        return points
    return _cut_to(points, -4.0 * width, -4.0 * height, 5.0 * width, 5.0 * height)


def finish(pixels: NDArray[np.uint8], scene: Scene) -> None:
    """Blur and grain, in place. Blur comes in quarters of a pixel, so that its weights are the same everywhere."""
    quarters = round(scene.camera.blur_px * 4)
    if quarters >= 3:
        pixels[:] = np.asarray(Image.fromarray(pixels).filter(ImageFilter.BoxBlur(quarters / 4)))
    elif quarters > 0:
        _soften(pixels)
        if quarters == 2:
            _soften(pixels)
    level = min(7, round(2 + scene.camera.grain))
    import cv2

    more, less = _grain(level)
    height, width = pixels.shape[:2]
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            part = pixels[top : top + _TILE, left : left + _TILE]
            tall, wide = part.shape[:2]
            # Every tile begins somewhere else in the noise, so that none is seen to repeat.
            x, y = (scene.seed + left * 7 + top * 3) % _TILE, (scene.seed // 7 + left * 5 + top) % _TILE
            cv2.add(part, more[y : y + tall, x : x + wide], dst=part)
            cv2.subtract(part, less[y : y + tall, x : x + wide], dst=part)


def _soften(pixels: NDArray[np.uint8]) -> None:
    """Blur with a 1-2-1 kernel, across and then down."""
    right, low = pixels[:, -1].copy(), pixels[-1].copy()
    for step in (3, pixels.shape[1] * 3):
        line = pixels.reshape(-1)
        once = _mean(line[:-step], line[step:])
        line[step:-step] = _mean(once[:-step], once[step:])
    pixels[:, -1], pixels[-1] = right, low


def _mean(array: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    half = array ^ other
    half >>= np.uint8(1)
    np.subtract(array | other, half, out=half)
    return half


@cache
def _grain(level: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return a noise tile as additions and subtractions, the same for all colours."""
    noise = np.random.Generator(np.random.PCG64(level)).integers(
        0, level + 1, (2, 2 * _TILE, 2 * _TILE), dtype=np.uint8
    )
    return np.repeat(noise[0][..., None], 3, axis=2), np.repeat(noise[1][..., None], 3, axis=2)


@dataclass(frozen=True, slots=True)
class Round:
    """A lens that sees all around."""

    width: int
    height: int
    height_m: float
    x_m: float

    def project(self, point: Point3) -> Point2 | None:
        """Return the pixel of a point: every point has one."""
        across, ahead, up = point[0] - self.x_m, point[1], point[2] - self.height_m
        flat = math.sqrt(across * across + ahead * ahead)
        azimuth = round(math.degrees(math.atan2(across, ahead)), 9)
        elevation = round(math.degrees(math.atan2(up, flat)), 9)
        return (
            on_grid(self.width * (0.5 + azimuth / 360)),
            on_grid(self.height * (0.5 - elevation / 180)),
        )

    def pixels_per_metre(self, point: Point3) -> float:
        """Return how large a metre is at a point, where it faces the camera."""
        across, ahead, up = point[0] - self.x_m, point[1], point[2] - self.height_m
        away = math.sqrt(across * across + ahead * ahead + up * up)
        return self.width / math.tau / max(away, 0.25)

    @property
    def sees_behind(self) -> bool:
        """Whether the picture includes what is behind the camera: always True here."""
        return True

    @property
    def horizon_px(self) -> float:
        """The row of the horizon: the middle one."""
        return self.height / 2

    def direction(self, azimuth_deg: float, elevation_deg: float) -> Point2:
        """Return the pixel of something endlessly far away, to the right of the street's direction and up."""
        turn = round((azimuth_deg + 180) % 360 - 180, 9)
        return on_grid(self.width * (0.5 + turn / 360)), on_grid(self.height * (0.5 - elevation_deg / 180))

    def views(self) -> tuple[View, ...]:
        """Return the four views that the picture is put together from."""
        side = self.width * 3 // 8
        tall = int(side * _TALL)
        return tuple(View(side, tall, 90.0, self.height_m, self.x_m, yaw) for yaw in YAWS)

    def lay(self, picture: NDArray[np.uint8], number: int, face: NDArray[np.uint8], empty: NDArray[np.uint8]) -> None:
        """Lay what one of the views saw over the sky, where it differs from ``empty``, the sky as that view has it."""
        quarter = self.width // 4
        # The first view is in the middle: it begins three eighths from the left.
        left = (self.width * 3 // 8 + number * quarter) % self.width
        first = min(quarter, self.width - left)
        packed = np.empty((*face.shape[:2], 4), np.uint8)
        packed[..., :3] = face
        packed[..., 3] = (face != empty).any(axis=-1)
        packed[face.shape[0] // 2 :, :, 3] = 1
        _unroll_face(packed, 0, first, quarter, picture[:, left : left + first])
        if first < quarter:
            _unroll_face(packed, first, quarter, quarter, picture[:, : quarter - first])


def _unroll_face(face: NDArray[np.uint8], start: int, end: int, width: int, picture: NDArray[np.uint8]) -> None:
    """Fill panorama columns from a 90-degree view, evenly spaced in degrees."""
    tall, side = face.shape[:2]
    height = picture.shape[0]
    texels = face.view("<u4").reshape(-1)
    mask = np.uint32(0x00FF00FF)
    low, high = np.zeros((2, height, end - start), np.uint32)
    for across, down in _SAMPLES:
        columns, stretch = _columns(side, width, across)
        rises = _rises(side, height, down)
        rows = rises[:, None] * stretch[None, start:end]
        rows += np.float32(tall / 2)
        np.clip(rows, np.float32(0), np.float32(tall - 1), out=rows)
        place = rows.astype(np.int32)
        place *= np.int32(side)
        place += columns[start:end]
        sample = texels.take(place)
        low += sample & mask
        high += (sample >> np.uint32(8)) & mask
    covered = high >> np.uint32(16) > 0
    for channel, total in enumerate((low & np.uint32(0xFFFF), high & np.uint32(0xFFFF), low >> np.uint32(16))):
        np.copyto(picture[..., channel], (total >> np.uint32(2)).astype(np.uint8), where=covered)


@lru_cache(maxsize=16)
def _columns(side: int, width: int, across: float) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return for each picture column the view's column, and how much taller things are there than in the middle."""
    columns, stretch = [], []
    for x in range(width):
        aside = math.radians(((x + 0.5 + across) / width - 0.5) * 90)
        columns.append(min(side - 1, max(0, math.floor(side / 2 + round(math.tan(aside), 9) * side / 2))))
        stretch.append(round(1 / math.cos(aside), 9))
    return np.array(columns, np.int32), np.array(stretch, np.float32)


@lru_cache(maxsize=16)
def _rises(side: int, height: int, down: float) -> NDArray[np.float32]:
    """Return for each picture row its offset below the view's middle, in pixels of the view's middle column."""
    rises = []
    for y in range(height):
        below = min(89.0, max(-89.0, ((y + 0.5 + down) / height - 0.5) * 180))
        rises.append(round(math.tan(math.radians(below)), 6) * side / 2)
    return np.array(rises, np.float32)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture and where the scene's clues stand in it: whole ones, and every line of those that are written."""

    image: Image.Image
    marks: tuple[Mark, ...]

    def jpeg(self) -> bytes:
        """Return the picture as a camera would store it."""
        stored = io.BytesIO()
        self.image.save(stored, "JPEG", quality=JPEG_QUALITY)
        return stored.getvalue()


def draw_scene(scene: Scene) -> Drawing:
    """Draw a scene. The same scene gives the same pixels on every machine.

    Raises:
        BadInput: Pillow can't shape letters here, so that they would come out otherwise.
    """
    if not can_shape():
        raise BadInput("drawing scenes needs FriBiDi, which Pillow can't find here: apt install libfribidi0")
    return _panorama(scene) if scene.kind == "panorama" else _street_picture(scene)


def _panorama(scene: Scene) -> Drawing:
    view, main_at = build_view(scene)
    lens = Round(scene.size[0], scene.size[1], view.height_m, view.x_m)
    street = plan_street(scene, lens, min(main_at, 6.0), _AROUND_M)
    light = compute_light(scene.sky, scene.camera)
    pixels = np.zeros((scene.size[1], scene.size[0], 3), np.uint8)
    around = SkyWindow(scene.size, scene.size[1] / 2, scene.camera.heading_deg, 360.0, round=True)
    draw_sky(pixels, around, scene.sky, light, dice(f"sky {scene.seed}"))
    for number, seen in enumerate(lens.views()):
        canvas = Canvas(seen)
        empty = draw_street_view(canvas, scene, street, light)
        lens.lay(pixels, number, canvas.pixels, empty)
    draw_weather(pixels, scene.sky, light, dice(f"weather {scene.seed}"))
    finish(pixels, scene)
    return Drawing(Image.fromarray(pixels), find_marks(scene, lens, street))


def _street_picture(scene: Scene) -> Drawing:
    view, main_at = build_view(scene)
    street = plan_street(scene, view, main_at, _AHEAD_M)
    canvas = Canvas(view)
    light = compute_light(scene.sky, scene.camera)
    draw_street_view(canvas, scene, street, light)
    draw_weather(canvas.pixels, scene.sky, light, dice(f"weather {scene.seed}"))
    finish(canvas.pixels, scene)
    return Drawing(canvas.image(), find_marks(scene, view, street))


def draw_street_view(canvas: Canvas, scene: Scene, street: Street, light: Light) -> NDArray[np.uint8]:
    """Draw a street as one camera sees it; return the sky alone, to find what covers it."""
    look, sky, view = scene.look, scene.sky, canvas.view
    window = SkyWindow.from_view(view, scene.camera.heading_deg)
    draw_sky(canvas.pixels, window, sky, light, dice(f"sky {scene.seed}"))
    alone = canvas.pixels.copy() if scene.kind == "panorama" else canvas.pixels
    draw_ground(canvas.pixels, window, view.height_m, look, sky, light, dice(f"ground {scene.seed}"))
    draw_terrain(canvas.pixels, window, look, sky, light, dice(f"terrain {scene.seed}"))
    draw_street(canvas, look, sky, light, street.lots, dice(f"road {scene.seed}"))
    draw_air(canvas, sky, light)
    _shadows(street, light).fall(canvas)
    painter = Painter()
    _queue_still(painter, canvas, scene, street, light)
    _queue_things(painter, canvas, scene, street, light)
    hang(canvas, painter, street, scene, light)
    painter.paint()
    return alone


def _queue_still(painter: Painter, canvas: Canvas, scene: Scene, street: Street, light: Light) -> None:
    """Queue houses and plants for drawing."""
    look, sky = scene.look, scene.sky
    for lot in street.lots:
        far = _far(canvas, lot.side * lot.front, lot.middle) + BACKDROP_M2
        painter.add(far, partial(draw_house, canvas, lot, look, light))
    street_edge = min((lot.front for lot in street.lots), default=1e9)
    for plant in street.plants:
        grow = partial(draw_plant, canvas, plant.at, plant.plant, plant.height_m, sky.season, light, dice(plant.seed))
        # Plants in gardens may be behind a house.
        far = _far(canvas, *plant.at) + (BACKDROP_M2 if abs(plant.at[0]) >= street_edge else 0.0)
        painter.add(far, grow)


def _queue_things(painter: Painter, canvas: Canvas, scene: Scene, street: Street, light: Light) -> None:
    """Queue vehicles, lamps, poles, and covers of boards for drawing."""
    look = scene.look
    for car in street.cars:
        park = partial(draw_car, canvas, car.at, car.colour, car.facing, light, kind=car.kind)
        painter.add(_far(canvas, *car.at), park)
    for bus in street.buses:
        stop = partial(draw_bus, canvas, bus.at, bus.colour, bus.facing, light, doors_on=look.drives_on)
        painter.add(_far(canvas, *bus.at), stop)
    for spot in street.lamps:
        painter.add(_far(canvas, *spot), partial(draw_lamp, canvas, spot, -1.2 if spot[0] > 0 else 1.2, light))
    if street.poles is not None and look.poles != "none":
        for ahead, draw in street.poles.things(canvas, look.poles, light, wires=look.wires):
            painter.add(ahead * ahead + 9.0, draw)
    for cover in street.covers:
        painter.add(_far(canvas, *cover.at[:2]), partial(draw_cover, canvas, cover, light))


def _far(canvas: Canvas, x: float, y: float) -> float:
    across = x - canvas.view.x_m
    return across * across + y * y


def _shadows(street: Street, light: Light) -> Shadows:
    shadows = Shadows(light)
    if not shadows.any:
        return shadows
    for lot in street.lots:
        if -40 < lot.middle < 70:
            front, back = lot.side * lot.front, lot.side * (lot.front + 9.0)
            shadows.block(min(front, back), max(front, back), lot.start, lot.end, lot.height)
    for plant in street.plants:
        shadows.plant(plant.at, plant.plant, plant.height_m)
    for car in street.cars:
        length, width, height = car_size_m(car.kind)
        half_x, half_y = (width / 2, length / 2) if car.facing in {"away", "towards"} else (length / 2, width / 2)
        x, y = car.at
        shadows.block(x - half_x, x + half_x, y - half_y, y + half_y, height * 0.8)
    for spot in street.lamps:
        shadows.post(spot, 6.2, 0.14)
    if street.poles is not None:
        for spot in street.poles.at:
            shadows.post(spot, street.poles.height_m, 0.25)
    for bus in street.buses:
        shadows.block(bus.at[0] - 1.25, bus.at[0] + 1.25, bus.at[1] - 5.5, bus.at[1] + 5.5, 3.0)
    return shadows
