"""Boards: every design draws every kind of text, and held-out designs look like nothing in training."""

import random
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

from drawn_streets import clue
from geosleuth.lab.scenes.drawing import DESIGNS, HELD_OUT_DESIGNS, list_designs
from geosleuth.lab.scenes.drawing.boards import draw_board, lay_out_plans
from geosleuth.lab.scenes.drawing.lettering import DESIGN_OF
from geosleuth.lab.scenes.scene import Board

EVERY = [(board, name) for board, names in DESIGNS.items() for name in names]


def test_every_board_has_designs_for_both_splits() -> None:
    assert set(DESIGNS) == set(get_args(Board))
    for board in DESIGNS:
        shown, kept = list_designs(board, "train"), list_designs(board, "held-out")
        assert shown
        assert kept
        assert not set(shown) & set(kept)


def test_a_held_out_design_shares_its_make_with_none_that_training_shows() -> None:
    """Neither panel and lettering together, nor the same name."""
    for board in DESIGNS:
        makes = {(DESIGN_OF[name].panel, DESIGN_OF[name].lettering) for name in list_designs(board, "train")}
        for name in list_designs(board, "held-out"):
            assert name in HELD_OUT_DESIGNS
            assert (DESIGN_OF[name].panel, DESIGN_OF[name].lettering) not in makes, name


@pytest.mark.parametrize(("board", "design"), EVERY)
def test_letters_stand_where_the_plan_says(board: Board, design: str) -> None:
    """Each line's box holds pixels of the ink's colour, and the strips between lines hold none."""
    shown = clue("de", board, design=design)
    plan = lay_out_plans(shown, random.Random(3))[0]
    picture = np.asarray(draw_board(plan, 40.0, random.Random(3)).convert("RGB")).astype(int)
    height, width = picture.shape[:2]
    away = np.abs(picture - np.array(plan.colours[1])).sum(axis=2)
    for number in range(len(shown.lines)):
        left, top, right, bottom = plan.line_box(number)
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
        inside = away[round(top * height) : round(bottom * height), round(left * width) : round(right * width)]
        # Neon letters are paler than their ink, so the threshold is wide.
        assert (inside < 180).mean() > 0.05
    tops = [plan.line_box(number)[1] for number in range(len(shown.lines))]
    assert all(one < other for one, other in pairwise(tops))


def test_a_line_too_wide_for_its_board_is_broken_between_words() -> None:
    from dataclasses import replace

    long = replace(clue("de", "shop_front"), lines=("Konditorei und Kaffeehaus Zur Goldenen Traube am Markt",))
    plan = lay_out_plans(long, random.Random(1))[0]
    assert len(plan.rows) > 1
    assert " ".join(row.text for row in plan.rows) == long.lines[0]
    assert {row.line for row in plan.rows} == {0}


def test_a_clue_that_is_not_written_has_no_board_to_draw() -> None:
    from dataclasses import replace

    with pytest.raises(ValueError, match="no board"):
        lay_out_plans(replace(clue("de", "notice"), board=None), random.Random(1))
