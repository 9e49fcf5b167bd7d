"""Selective answering and calibration."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.score import calibration, selective

NEAR, FAR = 1.0, 900.0


def test_surest_answers_first_by_hand() -> None:
    curve = selective(np.array([NEAR, FAR, NEAR, FAR]), np.array([0.9, 0.2, 0.8, 0.5]), 25.0)
    assert curve is not None
    assert [(point.coverage, point.risk) for point in curve.points] == [
        (0.25, 0.0),
        (0.5, 0.0),
        (0.75, pytest.approx(1 / 3)),
        (1.0, 0.5),
    ]
    assert [point.least_confidence for point in curve.points] == [0.9, 0.8, 0.5, 0.2]
    assert curve.compute_risk(0.5) == 0
    assert curve.compute_risk(0.6) == pytest.approx(1 / 3)
    assert curve.area == curve.ideal_area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_records_without_point_or_confidence_are_never_answered() -> None:
    curve = selective(np.array([NEAR, nan, FAR, NEAR]), np.array([0.9, 0.99, 0.5, nan]), 25.0)
    assert curve is not None
    assert (curve.n, curve.with_confidence) == (4, 2)
    assert curve.points[-1].coverage == 0.5
    assert curve.compute_risk(1.0) is None
    assert curve.compute_risk(0.5) == 0.5


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_perfect_ordering_reaches_the_ideal(right: list[bool]) -> None:
    distances = np.where(right, NEAR, FAR)
    # Every right answer surer than every wrong one, no ties.
    ranks = np.argsort(np.argsort(~np.array(right), kind="stable"))
    curve = selective(distances, 1 - ranks / len(right), 25.0)
    assert curve is not None
    assert curve.area == pytest.approx(curve.ideal_area)
    assert curve.points[-1].risk == pytest.approx(1 - np.mean(right))


def test_honest_probabilities_are_calibrated() -> None:
    random = np.random.default_rng(8)
    n = 50_000
    stated = random.random(n)
    distances = np.where(random.random(n) < stated, 1.0, 20.0)
    found = calibration(distances, stated, np.full(n, 5.0))
    assert found is not None
    assert found.expected_error < 0.01
    assert len(found.bins) == 10
    assert sum(item.n for item in found.bins) == n


@pytest.mark.parametrize(("distance", "probability", "radius"), [(nan, 0.5, 5.0), (1.0, nan, 5.0), (1.0, 0.5, nan)])
def test_answers_that_state_too_little_are_left_out(distance: float, probability: float, radius: float) -> None:
    assert calibration(np.array([distance]), np.array([probability]), np.array([radius])) is None
    beside = calibration(np.array([distance, 1.0]), np.array([probability, 1.0]), np.array([radius, 5.0]))
    assert beside is not None
    assert (beside.n, beside.expected_error) == (1, 0)
