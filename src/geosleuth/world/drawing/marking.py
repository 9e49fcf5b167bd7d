"""Where the clues of a scene stand in its picture."""

from geosleuth.world.model import Clue, Mark, Scene

from .camera import Point3
from .lots import MEASURES
from .placing import CAP_SHARE, Hung, Lens
from .scenery import Street


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


def _box(points: tuple[Point3, ...], lens: Lens) -> tuple[int, int, int, int] | None:
    flat = [point for corner in points if (point := lens.project(corner)) is not None]
    if len(flat) < 2:
        return None
    left, right = min(x for x, _ in flat), max(x for x, _ in flat)
    top, bottom = min(y for _, y in flat), max(y for _, y in flat)
    box = max(0, int(left)), max(0, int(top)), min(lens.width, int(right) + 1), min(lens.height, int(bottom) + 1)
    return box if box[2] - box[0] > 1 and box[3] - box[1] > 1 else None


def _unwritten(clue: Clue, scene: Scene, lens: Lens, street: Street) -> tuple[int, int, int, int] | None:
    """Where what isn't written can be seen: a stretch of road, a house, a tree, the horizon."""
    edge = MEASURES[scene.look.layout].road_half
    match clue.sort:
        case "driving_side" | "road_marking":
            for near in (2.0, 4.0, 7.0, 12.0):
                box = _box(((-edge, near, 0.0), (edge, near, 0.0), (edge, 40.0, 0.0), (-edge, 40.0, 0.0)), lens)
                if box is not None and _shows(box, lens):
                    return box
            return None
        case "architecture":
            boxes = [
                box for lot in street.lots
                if lot.start > 2 and (box := _box(lot.face.quad((0.0, 0.0, lot.width, lot.height)), lens))
            ]  # fmt: skip
            return max(boxes, key=_area, default=None)
        case "vegetation":
            found = [
                box for plant in street.plants
                if (box := _box(((plant.at[0] - plant.height_m * 0.3, plant.at[1], 0.0),
                                 (plant.at[0] + plant.height_m * 0.3, plant.at[1], plant.height_m)), lens))
            ]  # fmt: skip
            return max(found, key=_area, default=None)
        case _:
            return None


def _area(box: tuple[int, int, int, int]) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _shows(box: tuple[int, int, int, int], lens: Lens) -> bool:
    return _area(box) > lens.width * lens.height // 400
