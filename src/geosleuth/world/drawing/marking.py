"""Where the clues of a scene stand in its picture."""

from geosleuth.world.model import Clue, Mark, Scene

from .camera import Point2, Point3
from .lens import Lens
from .lots import MEASURES
from .placing import CAP_SHARE, Hung
from .scenery import Street

Pixels = tuple[int, int, int, int]
"""Left, top, right, bottom."""


def marks_of(scene: Scene, lens: Lens, street: Street) -> tuple[Mark, ...]:
    """A mark for every clue that is in the picture, and one for each line of those that are written."""
    marks: list[Mark] = []
    boards = {board.plan.clue.id: board for board in street.boards}
    for clue in scene.clues:
        board = boards.get(clue.id)
        if board is not None:
            marks += _board_marks(board, lens)
        elif clue.board is None:
            box = _unwritten(clue, scene, lens, street)
            if box is not None:
                marks.append(Mark(clue.id, box))
    return tuple(marks)


def _board_marks(board: Hung, lens: Lens) -> list[Mark]:
    left, bottom, right, top = board.rect
    wide, tall = right - left, top - bottom
    out = 0.14 if board.place.support == "wall" else 0.0
    marks: list[Mark] = []
    letter = board.em_px * CAP_SHARE
    whole = _box(board.place.wall.quad(board.rect, out), lens)
    if whole is not None:
        marks.append(Mark(board.plan.clue.id, whole, None, round(letter * board.plan.smallest, 1)))
    for number in range(len(board.plan.clue.lines)):
        u0, v0, u1, v1 = board.plan.line_box(number)
        rect = (left + u0 * wide, top - v1 * tall, left + u1 * wide, top - v0 * tall)
        box = _box(board.place.wall.quad(rect, out), lens)
        size = min(row.size for row in board.plan.rows if row.line == number)
        if box is not None:
            marks.append(Mark(board.plan.clue.id, box, number, round(letter * size, 1)))
    return marks


def _box(points: tuple[Point3, ...], lens: Lens) -> Pixels | None:
    flat = [point for corner in points if (point := lens.project(corner)) is not None]
    if len(flat) < 2:
        return None
    left, right = min(x for x, _ in flat), max(x for x, _ in flat)
    top, bottom = min(y for _, y in flat), max(y for _, y in flat)
    box = max(0, int(left)), max(0, int(top)), min(lens.width, int(right) + 1), min(lens.height, int(bottom) + 1)
    return box if box[2] - box[0] > 1 and box[3] - box[1] > 1 else None


def _unwritten(clue: Clue, scene: Scene, lens: Lens, street: Street) -> Pixels | None:
    """Where what isn't written can be seen: a stretch of road, a house, a tree, the horizon."""
    match clue.sort:
        case "driving_side":  # told by those who drive there, and by nothing else
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
    boxes = [box for shape in shapes if (box := _box(shape, lens)) is not None]
    return max(boxes, key=_area, default=None)


def _upright(at: Point2, half_m: float, tall_m: float) -> tuple[Point3, Point3, Point3, Point3]:
    x, y = at
    return (x - half_m, y, tall_m), (x + half_m, y, tall_m), (x + half_m, y, 0.0), (x - half_m, y, 0.0)


def _road(half_m: float, lens: Lens) -> Pixels | None:
    """A stretch of road ahead, the nearest that shows."""
    for near in (2.0, 4.0, 7.0, 12.0):
        box = _box(((-half_m, near, 0.0), (half_m, near, 0.0), (half_m, 40.0, 0.0), (-half_m, 40.0, 0.0)), lens)
        if box is not None and _area(box) > lens.width * lens.height // 400:
            return box
    return None


def _sun(scene: Scene, lens: Lens) -> Pixels | None:
    """The sun itself where it is in the picture; else the road with the shadows on it."""
    at = lens.direction(scene.sky.sun_azimuth_deg - scene.camera.heading_deg, scene.sky.sun_elevation_deg)
    if at is not None and 0 <= at[0] < lens.width and 0 <= at[1] < lens.height:
        half = lens.width // 20
        x, y = round(at[0]), round(at[1])
        return max(0, x - half), max(0, y - half), min(lens.width, x + half), min(lens.height, y + half)
    return _road(MEASURES[scene.look.layout].road_half + 2.0, lens)


def _area(box: Pixels) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])
