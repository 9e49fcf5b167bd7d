"""Panoramas: everything around the camera, no seams, marks where things are."""

import numpy as np
import pytest

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.drawing.picture import Round


@pytest.fixture(scope="module")
def pixels_and_marks() -> tuple[np.ndarray, dict[str, tuple[int, int, int, int]]]:
    scene = street_scene("de", ("shop_front", "bus_stop", "number_plate"), seed=3, size=(2048, 1024), kind="panorama")
    drawing = draw_scene(scene)
    return np.asarray(drawing.image), {mark.clue: mark.box for mark in drawing.marks if mark.line is None}


def test_all_boards_are_marked(pixels_and_marks: tuple[np.ndarray, dict[str, tuple[int, int, int, int]]]) -> None:
    pixels, marks = pixels_and_marks
    assert pixels.shape == (1024, 2048, 3)
    assert set(marks) == {"shop_front3", "bus_stop3", "number_plate3"}


def test_its_sides_meet(pixels_and_marks: tuple[np.ndarray, dict[str, tuple[int, int, int, int]]]) -> None:
    """What leaves on the right comes back on the left: columns there differ no more than neighbours do elsewhere."""
    pixels = pixels_and_marks[0].astype(int)
    usual = np.median([np.abs(pixels[:, x] - pixels[:, x + 1]).mean() for x in range(50, 2000, 50)])
    assert np.abs(pixels[:, 0] - pixels[:, -1]).mean() < 3 * usual + 2


def test_a_board_is_drawn_where_its_mark_is() -> None:
    """A wall of one colour in front of the lens lands in the pixels that the lens names."""
    from geosleuth.lab.scenes.drawing.canvas import Canvas

    lens = Round(1024, 512, 1.6, 0.0)
    wall = ((3.0, 1.0, 3.0), (3.0, -1.0, 3.0), (3.0, -1.0, 0.5), (3.0, 1.0, 0.5))
    picture = np.zeros((512, 1024, 3), np.uint8)
    for number, view in enumerate(lens.views()):
        canvas = Canvas(view)
        empty = canvas.pixels.copy()
        canvas.polygon3(wall, (250, 10, 10))
        lens.lay(picture, number, canvas.pixels, empty)
    red = picture[..., 0] > 125
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    points = [point for corner in wall if (point := lens.project(corner)) is not None]
    assert columns[0] == pytest.approx(min(x for x, _ in points), abs=2)
    assert columns[-1] == pytest.approx(max(x for x, _ in points), abs=2)
    assert rows[-1] == pytest.approx(max(y for _, y in points), abs=3)
