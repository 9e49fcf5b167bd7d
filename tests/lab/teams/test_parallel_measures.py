"""How much several tries are worth: figures from errors alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from geosleuth.lab.teams.measures import best_at_n, mean_single, pass_at_k, range_at_n, verifier_at_n

ERRORS_KM = np.array([[1.0, 30.0, 400.0], [10.0, 20.0, np.nan], [900.0, np.inf, np.nan], [5.0, 5.0, 5.0]])
any_errors = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 6)),
    elements=st.one_of(st.floats(0, 20_000), st.just(np.nan), st.just(np.inf)),
)


def test_the_figures_of_a_small_table() -> None:
    assert mean_single(ERRORS_KM, 25.0) == pytest.approx(6 / 12)
    assert best_at_n(ERRORS_KM, 25.0) == pytest.approx(3 / 4)
    assert range_at_n(ERRORS_KM, 25.0) == pytest.approx(3 / 4 - 1 / 4)
    assert pass_at_k(ERRORS_KM, 25.0, 2) == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)
    assert verifier_at_n([1.0, 10.0, np.nan, 30.0], 25.0) == pytest.approx(2 / 4)


@given(any_errors, st.floats(0.1, 10_000))
def test_pass_at_k_is_the_mean_over_all_choices_of_k_tries(errors_km: np.ndarray, threshold_km: float) -> None:
    n = errors_km.shape[1]
    assert pass_at_k(errors_km, threshold_km, 1) == pytest.approx(mean_single(errors_km, threshold_km))
    assert pass_at_k(errors_km, threshold_km, n) == pytest.approx(best_at_n(errors_km, threshold_km))
    for k in range(1, n + 1):
        chosen = [best_at_n(errors_km[:, list(some)], threshold_km) for some in itertools.combinations(range(n), k)]
        assert pass_at_k(errors_km, threshold_km, k) == pytest.approx(np.mean(chosen))


@given(any_errors, st.floats(0.1, 10_000))
def test_the_best_choice_is_never_below_a_single_try_nor_the_worst_above(
    errors_km: np.ndarray, threshold_km: float
) -> None:
    best, spread = best_at_n(errors_km, threshold_km), range_at_n(errors_km, threshold_km)
    assert best - spread - 1e-12 <= mean_single(errors_km, threshold_km) <= best + 1e-12
    assert 0.0 <= spread <= 1.0


@pytest.mark.parametrize("k", [0, 4])
def test_k_is_one_of_the_tries_that_there_are(k: int) -> None:
    with pytest.raises(ValueError, match="between 1 and the 3 tries"):
        pass_at_k(ERRORS_KM, 25.0, k)


def test_shapes_that_are_no_tries_are_refused() -> None:
    with pytest.raises(ValueError, match="a row a photo"):
        mean_single([1.0, 2.0], 25.0)
    with pytest.raises(ValueError, match="one error a photo"):
        verifier_at_n([], 25.0)
