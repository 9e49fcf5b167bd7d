"""Rewards by level against values worked out by hand, on both sides of every boundary."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from geosleuth.lab.score.rewards import consistency, hierarchical, length_factor, semantic, text_equality

YES, NO = True, False
COSINES = arrays(np.float64, (4, 3), elements=st.one_of(st.floats(-1, 1), st.just(math.nan)))


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ((NO, NO, NO), 0.0),
        ((YES, NO, NO), 1.0),
        ((YES, YES, NO), 2.0),
        ((YES, YES, YES), 4.0),
        ((YES, NO, YES), 4.0),
        ((NO, YES, NO), 2.0),
        ((NO, NO, YES), 4.0),
    ],
)
def test_hierarchical_pays_the_finest_level(right: tuple[bool, bool, bool], expected: float) -> None:
    assert hierarchical(np.array([right])).tolist() == [expected]


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        ((1.0, 1.0, 1.0), 1.0),
        ((0.7, 0.5, 0.25), 0.445),  # 0.07 + 0.3 + 0.075
        ((math.nextafter(0.7, 0), 1.0, 1.0), 0.0),  # the country gates all
        ((0.7, 0.0, 1.0), 0.07),  # the region gates the place
        ((0.7, math.nextafter(0.5, 0), 1.0), 0.07),
        ((0.7, 0.5, 0.0), 0.37),  # 0.07 + 0.3
        ((0.9, 0.8, 0.6), 0.75),  # 0.09 + 0.48 + 0.18
        ((1.0, 1.0, -0.5), 0.7),  # a place that is unlike costs nothing
        ((1.0, 1.0, 1e-9), 0.7 + 0.3e-9),  # the precise place has no threshold
        ((1.0, math.nan, 1.0), 0.1),
        ((math.nan, 1.0, 1.0), 0.0),
        ((-1.0, -1.0, -1.0), 0.0),
        ((1.0000000002, 1.0, 1.0), 1.0),  # rounding of cosines
    ],
)
def test_semantic_adds_up_what_counts(similarity: tuple[float, float, float], expected: float) -> None:
    assert semantic(np.array([similarity])).tolist() == pytest.approx([expected], abs=1e-15)


def test_semantic_without_gates_counts_each_level_for_itself() -> None:
    similarity = np.array([(0.0, 0.5, 0.5), (0.9, 0.2, 0.5)])
    assert semantic(similarity, gated=False).tolist() == pytest.approx([0.45, 0.24], abs=1e-15)


def test_a_level_that_the_truth_leaves_out_gives_its_weight_to_the_others() -> None:
    similarity = np.array([(1.0, 0.0, 1.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
    present = np.array([(YES, NO, YES), (YES, YES, YES), (YES, NO, YES), (NO, NO, NO)])
    assert semantic(similarity, given=present).tolist() == pytest.approx([1.0, 0.1, 0.0, 0.0], abs=1e-15)
    assert text_equality(similarity > 0, given=present).tolist() == pytest.approx([1.0, 0.4, 0.75, 0.0], abs=1e-15)


@given(similarity=COSINES, level=st.integers(0, 2), more=st.floats(0, 1))
def test_more_alike_never_earns_less(similarity: np.ndarray, level: int, more: float) -> None:
    better = np.nan_to_num(similarity, nan=0.0)
    worse = better.copy()
    better[:, level] = np.minimum(1.0, better[:, level] + more)
    assert np.all(semantic(better) >= semantic(worse) - 1e-12)


# sigma(x) = 1 / (1 + exp(-x)), with lambda = 10 and mu = 0.2
SHORTEST = 0.11920292202211755  # sigma(-2)
AT_MU = 0.5
HALF_WAY = 0.9525741268224334  # sigma(3)
LONGEST = 0.9996646498695336  # sigma(8)


def test_length_counts_between_the_shortest_and_the_longest() -> None:
    lengths = np.array([[100.0], [120.0], [150.0], [200.0]]) @ np.ones((1, 3))
    expected = [SHORTEST, AT_MU, HALF_WAY, LONGEST]
    assert length_factor(lengths)[:, 1].tolist() == pytest.approx(expected, rel=1e-13)


def test_each_level_and_each_group_is_measured_by_itself() -> None:
    lengths = np.array([(10, 5, 7), (20, 5, 9), (1000, 1, 1), (3000, 2, 1)], dtype=np.float64)
    factor = length_factor(lengths, [7, 7, 3, 3])
    assert factor.tolist() == [
        pytest.approx([SHORTEST, LONGEST, SHORTEST], rel=1e-13),
        pytest.approx([LONGEST, LONGEST, LONGEST], rel=1e-13),
        pytest.approx([SHORTEST, SHORTEST, LONGEST], rel=1e-13),
        pytest.approx([LONGEST, LONGEST, LONGEST], rel=1e-13),
    ]


@given(
    agrees=arrays(np.bool_, (5, 3)),
    lengths=arrays(np.float64, (5, 3), elements=st.one_of(st.floats(0, 1e6), st.just(math.nan))),
    groups=st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
def test_consistency_stays_in_range_and_is_a_number(agrees: np.ndarray, lengths: np.ndarray, groups: list[int]) -> None:
    rewards = consistency(agrees, lengths, groups)
    assert np.all((rewards >= 0) & (rewards <= 1))


@pytest.mark.parametrize("weights", [(0.1, 0.6), (0.1, 0.6, 0.4), (-0.1, 0.8, 0.3), (math.nan, 0.6, 0.3)])
def test_weights_add_up_to_one(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="add up to 1"):
        semantic(np.ones((1, 3)), weights)
    with pytest.raises(ValueError, match="add up to 1"):
        text_equality(np.ones((1, 3), dtype=bool), weights)
    with pytest.raises(ValueError, match="add up to 1"):
        consistency(np.ones((1, 3), dtype=bool), np.ones((1, 3)), None, weights)
