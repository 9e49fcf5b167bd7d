"""Two answerers on the same images, and tiers."""

from math import comb, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.score import compare_paired, easy, score_or_zero

errors_km = st.lists(
    st.tuples(st.floats(0, 20_000) | st.just(nan), st.floats(0, 20_000) | st.just(nan)), min_size=1, max_size=30
)


def test_differences_are_second_minus_first() -> None:
    first, second = np.array([1.0, 30.0, nan, 400.0]), np.array([1.0, 2.0, 3.0, nan])
    found = compare_paired(first, second, (25.0, 500.0))
    city, country = found.accuracies
    assert (city.first_percent, city.second_percent, city.only_first, city.only_second) == (25, 75, 0, 2)
    assert (country.first_percent, country.second_percent, country.only_first, country.only_second) == (75, 75, 1, 1)
    assert city.p == pytest.approx(0.5)
    assert country.p == 1
    assert (city.p_adjusted, country.p_adjusted) == (1, 1)
    assert found.geoscore_difference.value == pytest.approx(np.mean(score_or_zero(second) - score_or_zero(first)))


def test_a_clear_winner_is_significant_after_correction() -> None:
    n = 60
    found = compare_paired(np.full(n, 800.0), np.full(n, 0.1))
    street = found.accuracies[0]
    assert street.p == pytest.approx(2 * comb(n, 0) / 2**n)
    assert street.p_adjusted == pytest.approx(9 * street.p)
    assert found.accuracies[-1].p_adjusted == 1
    assert found.geoscore_p < 0.001
    assert found.geoscore_difference.low > 0


@given(errors_km)
def test_swapping_the_two_mirrors_the_findings(pairs: list[tuple[float, float]]) -> None:
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    one, two = compare_paired(first, second), compare_paired(second, first)
    assert one.geoscore_difference.value == pytest.approx(-two.geoscore_difference.value, abs=1e-9)
    for here, there in zip(one.accuracies, two.accuracies, strict=True):
        assert (here.first_percent, here.only_first, here.p) == (there.second_percent, there.only_second, there.p)
        assert here.p <= here.p_adjusted <= 1


def test_easy_where_two_of_three_are_near() -> None:
    judges = [np.array([1.0, 1.0, 1.0, nan]), np.array([10.0, 99.0, 10.01, nan]), np.array([99.0, 99.0, 99.0, 1.0])]
    assert easy(judges).tolist() == [True, False, False, False]


@pytest.mark.parametrize(("judges", "needed"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (6, 4)])
def test_other_numbers_of_judges_need_two_thirds(judges: int, needed: int) -> None:
    for near in range(judges + 1):
        distances = [np.array([1.0 if number < near else 99.0]) for number in range(judges)]
        assert easy(distances).tolist() == [near >= needed]
