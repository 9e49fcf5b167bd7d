"""Street pictures: every clue is in them, where its mark says, large or small enough, and none before another."""

from dataclasses import replace
from itertools import combinations
from typing import get_args

import numpy as np
import pytest

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing import Drawing, draw_scene
from geosleuth.lab.scenes.scene import Board, Layout, Mark, SceneClue, Sky, Sort

BOARDS: tuple[tuple[Board, ...], ...] = (
    ("shop_front", "street_plate", "house_number", "notice"),
    ("shop_front", "bus_stop", "number_plate", "poster"),
    ("direction_sign", "road_shield", "bus"),
    ("billboard", "town_sign", "banner", "shop_front"),
)
LEGIBLE_PX = 11.5
"""Capital letters at least so tall can be read."""


def whole(marks: tuple[Mark, ...]) -> dict[str, Mark]:
    return {mark.clue: mark for mark in marks if mark.line is None}


def shared(one: Mark, other: Mark) -> int:
    wide = min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])
    tall = min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])
    return max(wide, 0) * max(tall, 0)


@pytest.mark.parametrize("land", ["pt", "ja"])
def test_every_board_is_marked_inside_the_picture_and_legible(land: str) -> None:
    for seed, boards in enumerate(BOARDS):
        scene = street_scene(land, boards, seed=seed)
        drawing = draw_scene(scene)
        assert drawing.image.size == scene.size
        assert drawing.image.mode == "RGB"
        boxes = whole(drawing.marks)
        for shown in scene.clues:
            lines = [mark for mark in drawing.marks if mark.clue == shown.id and mark.line is not None]
            assert [mark.line for mark in lines] == list(range(len(shown.lines)))
            for mark in (*lines, boxes[shown.id]):
                left, top, right, bottom = mark.box
                assert 0 <= left < right <= scene.size[0]
                assert 0 <= top < bottom <= scene.size[1]
                assert mark.letter_px >= LEGIBLE_PX
        for one, other in combinations(boxes.values(), 2):
            assert shared(one, other) <= 0.02 * min(_area(one), _area(other)), (one, other)


def _area(mark: Mark) -> int:
    return (mark.box[2] - mark.box[0]) * (mark.box[3] - mark.box[1])


@pytest.mark.slow
@pytest.mark.parametrize("layout", get_args(Layout))
def test_every_layout_holds_every_kind_of_board(layout: Layout) -> None:
    for seed, boards in enumerate(BOARDS):
        scene = street_scene("de", boards, seed=seed)
        drawing = draw_scene(replace(scene, look=replace(scene.look, layout=layout)))
        assert set(whole(drawing.marks)) == {shown.id for shown in scene.clues}


def changed(one: Drawing, other: Drawing, mark: Mark) -> float:
    """The share of a mark's pixels that differ between two pictures."""
    left, top, right, bottom = mark.box
    before, after = (np.asarray(each.image).astype(int)[top:bottom, left:right] for each in (one, other))
    return float((np.abs(before - after).sum(axis=2) > 24).mean())


def test_what_is_hidden_is_partly_behind_something() -> None:
    for seed in range(3):
        plain = street_scene("de", ("shop_front", "town_sign"), seed=seed)
        shop, sign = plain.clues
        seen = draw_scene(plain)
        covered = draw_scene(replace(plain, clues=(shop, replace(sign, visibility="hidden"))))
        assert 0.15 < changed(seen, covered, whole(covered.marks)[sign.id]) < 0.85
        assert changed(seen, covered, whole(covered.marks)[shop.id]) < 0.1


def test_small_letters_are_legible_in_the_original_and_lost_in_a_first_view() -> None:
    for seed in range(2):
        scene = street_scene(
            "de", ("shop_front", "street_plate", "notice"), seed=seed, size=(3264, 2448),
            visibility={"street_plate": "small", "notice": "small"},
        )  # fmt: skip
        letters = {mark.clue: mark.letter_px for mark in draw_scene(scene).marks if mark.line == 0}
        shrunk = (2_000_000 / (3264 * 2448)) ** 0.5
        small = [letters[shown.id] for shown in scene.clues if shown.visibility == "small"]
        plain = [letters[shown.id] for shown in scene.clues if shown.visibility == "plain"]
        assert all(9.5 <= tall <= 11.5 for tall in small)
        assert all(tall * shrunk < 6 for tall in small)
        assert all(tall * shrunk >= LEGIBLE_PX for tall in plain)


@pytest.mark.parametrize(
    "sort", ["driving_side", "road_marking", "architecture", "terrain", "sun", "vegetation", "pole"]
)
def test_what_is_not_written_is_marked_too(sort: Sort) -> None:
    told = SceneClue("told", sort, "country", "It looks so there.")
    scene = street_scene("pt", ("shop_front",), seed=5, clues=(told,))
    mark = whole(draw_scene(scene).marks)["told"]
    assert mark.letter_px == 0
    assert _area(mark) > 50


def test_fog_leaves_boards_to_be_seen() -> None:
    """A board stands out from its own ground in the sun and in fog."""
    scene = street_scene("de", ("shop_front",), seed=2)
    skies = [(48.0, "clear"), (30.0, "fog")]
    for height, weather in skies:
        sky = Sky(scene.sky.at, 150.0, height, weather, "summer")  # type: ignore[arg-type]
        drawing = draw_scene(replace(scene, sky=sky))
        mark = next(mark for mark in drawing.marks if mark.line == 0)
        grey = np.asarray(drawing.image.crop(mark.box).convert("L")).astype(int)
        assert np.percentile(grey, 97) - np.percentile(grey, 3) > 50
