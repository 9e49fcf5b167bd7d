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
    assert curve.risk_at(0.5) == 0
    assert curve.risk_at(0.6) == pytest.approx(1 / 3)
    assert curve.area == curve.ideal_area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_equal_confidences_enter_together() -> None:
    curve = selective(np.array([NEAR, FAR, NEAR, FAR]), np.array([0.5, 0.5, 0.5, 0.1]), 25.0)
    assert curve is not None
    assert [(point.coverage, point.risk) for point in curve.points] == [(0.75, pytest.approx(1 / 3)), (1.0, 0.5)]
    assert curve.area == pytest.approx((3 * 1 / 3 + 0.5) / 4)


def test_records_without_point_or_confidence_are_never_answered() -> None:
    curve = selective(np.array([NEAR, nan, FAR, NEAR]), np.array([0.9, 0.99, 0.5, nan]), 25.0)
    assert curve is not None
    assert (curve.n, curve.with_confidence) == (4, 2)
    assert curve.points[-1].coverage == 0.5
    assert curve.risk_at(1.0) is None
    assert curve.risk_at(0.5) == 0.5


@pytest.mark.parametrize("confidence", [[nan, nan], [0.4, nan]])
def test_nothing_stated_gives_no_curve(confidence: list[float]) -> None:
    assert selective(np.array([nan, NEAR]), np.array(confidence), 25.0) is None
    assert selective(np.array([]), np.array([]), 25.0) is None


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_perfect_ordering_reaches_the_ideal(right: list[bool]) -> None:
    distances = np.where(right, NEAR, FAR)
    # Every right answer surer than every wrong one, no ties.
    ranks = np.argsort(np.argsort(~np.array(right), kind="stable"))
    curve = selective(distances, 1 - ranks / len(right), 25.0)
    assert curve is not None
    assert curve.area == pytest.approx(curve.ideal_area)
    assert curve.points[-1].risk == pytest.approx(1 - np.mean(right))


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40))
def test_no_ordering_beats_the_ideal(answers: list[tuple[bool, float]]) -> None:
    distances = np.array([NEAR if right else FAR for right, _ in answers])
    curve = selective(distances, np.array([sure for _, sure in answers]), 25.0)
    assert curve is not None
    assert curve.area >= curve.ideal_area - 1e-12
    coverages = [point.coverage for point in curve.points]
    assert coverages == sorted(set(coverages))
    assert coverages[-1] == 1


def test_confidence_without_meaning_gives_a_flat_curve() -> None:
    random = np.random.default_rng(5)
    n = 20_000
    distances = np.where(random.random(n) < 0.3, FAR, NEAR)
    curve = selective(distances, random.random(n), 25.0)
    assert curve is not None
    assert curve.area == pytest.approx(0.3, abs=0.02)
    assert curve.risk_at(0.2) == pytest.approx(0.3, abs=0.03)
    assert curve.ideal_area < 0.06


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


def test_overconfidence_has_a_known_size() -> None:
    distances = np.array([1.0] * 6 + [99.0] * 4)
    found = calibration(distances, np.full(10, 0.9), np.full(10, 5.0))
    assert found is not None
    assert found.expected_error == pytest.approx(0.3)
    assert [(item.n, item.observed) for item in found.bins] == [(10, 0.6)]
    assert found.bins[0].stated == pytest.approx(0.9)


def test_two_bins_are_weighted_by_their_answers() -> None:
    distances = np.array([1.0, 1.0, 1.0, 99.0])
    found = calibration(distances, np.array([1.0, 1.0, 1.0, 0.5]), np.full(4, 5.0))
    assert found is not None
    assert found.expected_error == pytest.approx(0.5 / 4)


def test_each_answer_is_held_to_its_own_radius_inclusively() -> None:
    found = calibration(np.array([10.0, 10.0]), np.array([1.0, 1.0]), np.array([10.0, 9.99]))
    assert found is not None
    assert found.bins[0].observed == 0.5


@pytest.mark.parametrize(("distance", "probability", "radius"), [(nan, 0.5, 5.0), (1.0, nan, 5.0), (1.0, 0.5, nan)])
def test_answers_that_state_too_little_are_left_out(distance: float, probability: float, radius: float) -> None:
    assert calibration(np.array([distance]), np.array([probability]), np.array([radius])) is None
    beside = calibration(np.array([distance, 1.0]), np.array([probability, 1.0]), np.array([radius, 5.0]))
    assert beside is not None
    assert (beside.n, beside.expected_error) == (1, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.integers(1, 20))
def test_calibration_error_is_a_share_and_every_answer_is_binned(answers: list[tuple[float, bool]], bins: int) -> None:
    stated = np.array([probability for probability, _ in answers])
    distances = np.array([1.0 if inside else 9.0 for _, inside in answers])
    found = calibration(distances, stated, np.full(len(answers), 5.0), bins=bins)
    assert found is not None
    assert 0 <= found.expected_error <= 1
    assert sum(item.n for item in found.bins) == found.n == len(answers)
