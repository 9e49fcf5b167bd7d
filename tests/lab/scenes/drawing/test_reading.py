"""What is written plainly can be read by the reader that the tools have."""

import pytest
from rapidfuzz import fuzz

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.scene import Board, Scene
from geosleuth.photo.text import read_text

SCENES: tuple[tuple[str, tuple[Board, ...], int], ...] = (
    ("pt", ("shop_front", "street_plate", "house_number", "notice"), 4),
    ("de", ("shop_front", "bus_stop", "number_plate", "poster"), 5),
    ("pt", ("direction_sign", "road_shield", "town_sign"), 6),
)


def read_share(scene: Scene) -> tuple[int, int]:
    """How many of a scene's lines were read, and how many there are."""
    found = [line.text.casefold() for line in read_text(draw_scene(scene).image, seconds=40)]
    lines = [line.casefold() for clue in scene.clues for line in clue.lines]
    return sum(any(fuzz.ratio(line, text) >= 80 for text in found) for line in lines), len(lines)


@pytest.mark.slow
def test_most_plain_boards_are_read() -> None:
    shares = [read_share(street_scene(land, boards, seed=seed)) for land, boards, seed in SCENES]
    assert sum(read for read, _ in shares) >= 0.8 * sum(count for _, count in shares)


def test_a_plain_street_is_read() -> None:
    read, count = read_share(street_scene("de", ("shop_front", "town_sign"), seed=1))
    assert (read, count) == (2, 2)
