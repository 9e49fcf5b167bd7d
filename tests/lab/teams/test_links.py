"""The three rules by which links between members change."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.teams.learning.links import LinkRule, full_links, link_factor, next_streak, update_links


@pytest.mark.parametrize(
    ("rule", "right", "streak", "factor"),
    [
        ("default", True, 0, 3 / 2),
        ("default", True, 1, 5 / 4),
        ("default", True, 2, 7 / 6),
        ("default", False, 0, 1 / 2),
        ("default", False, 1, 1 / 2),
        ("default", False, 3, 5 / 6),
        ("printed", True, 0, 1.0),
        ("printed", True, 1, 3 / 4),
        ("printed", True, 2, 4 / 6),
        ("printed", False, 0, 1 / 2),
        ("printed", False, 3, 5 / 6),
        ("default", False, -4, 1 / 2),
        ("released", True, -3, 1 / 2),
        ("released", True, 1, 3 / 4),
        ("released", False, 5, 1 / 2),
        ("released", False, -2, 5 / 6),
    ],
)
def test_a_link_is_multiplied_as_the_rule_says(rule: LinkRule, right: bool, streak: int, factor: float) -> None:
    assert link_factor(streak, right=right, rule=rule) == pytest.approx(factor)


def test_only_links_to_reviewers_of_that_round_change() -> None:
    links = update_links(full_links(4), 1, [0, 3], right=True, streak=0)
    assert links == ((0, 1, 1, 1), (1.5, 0, 1, 1.5), (1, 1, 0, 1), (1, 1, 1, 0))


def test_nobody_is_linked_to_themselves_even_if_told_so() -> None:
    assert update_links(full_links(3), 0, [0, 1], right=True, streak=0)[0] == (0.0, 1.5, 1.0)


@given(
    rounds=st.lists(st.booleans(), min_size=1, max_size=40),
    streaks=st.lists(st.integers(0, 30), min_size=40, max_size=40),
)
def test_with_the_default_right_answers_strengthen_and_wrong_ones_weaken(
    rounds: list[bool], streaks: list[int]
) -> None:
    for right, streak in zip(rounds, streaks, strict=False):
        factor = link_factor(streak, right=right)
        assert factor > 1 if right else 0 < factor < 1


@pytest.mark.parametrize("seed", range(20))
def test_links_of_right_members_end_above_unused_ones_and_those_above_links_of_wrong_ones(seed: int) -> None:
    chance = random.Random(seed)
    links, streaks = full_links(6), [0] * 6
    used = set()
    for _ in range(20):
        for answerer, right in ((0, True), (1, True), (2, False), (3, False)):
            reviewers = chance.sample([one for one in range(5) if one != answerer], 2)
            used |= {(answerer, one) for one in reviewers}
            links = update_links(links, answerer, reviewers, right=right, streak=streaks[answerer])
            streaks[answerer] = next_streak(streaks[answerer], right=right)
    of_right = [links[i][j] for i, j in used if i in (0, 1)]
    of_wrong = [links[i][j] for i, j in used if i in (2, 3)]
    unused = [links[i][j] for i in range(6) for j in range(6) if i != j and (i, j) not in used]
    assert min(of_right) > max(unused) == 1.0 == min(unused) > max(of_wrong)


def test_with_the_released_rule_links_stay_between_0_and_1_and_move_less_and_less() -> None:
    links, streak, weights = full_links(3, "released"), 0, [0.5]
    for right in (True, True, True, False, False):
        links = update_links(links, 0, [1], right=right, streak=streak, rule="released")
        streak = next_streak(streak, right=right)
        weights.append(links[0][1])
    # 1/2 + w/2, 1/4 + 3w/4, 1/6 + 5w/6 when right; w/2, 3w/4 when wrong.
    assert weights == pytest.approx([0.5, 0.75, 0.8125, 0.84375, 0.421875, 0.31640625])
    assert links[0][2] == 0.5
    thin = tuple(tuple(0.0015 if i != j else 0.0 for j in range(3)) for i in range(3))
    assert update_links(thin, 0, [1], right=False, streak=0, rule="released")[0] == (0.0, 0.0, 0.0015)


def test_with_the_printed_rule_members_who_are_always_right_lose_their_links() -> None:
    links, streak = full_links(3), 0
    for _ in range(10):
        links = update_links(links, 0, [1], right=True, streak=streak, rule="printed")
        streak = next_streak(streak, right=True)
    assert links[0][1] < 0.02
    assert links[0][2] == 1.0
