"""Intervals and tests against truths that were computed in another way."""

from fractions import Fraction
from itertools import product
from math import comb, inf, isnan, sqrt
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.score.metrics import Z_95, holm, mcnemar_p, mean_estimate, median_estimate, sign_flip_p, wilson

probabilities = st.floats(0, 1)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3: the score interval, to four decimals.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_agrees_with_published_values(hits: int, n: int, low: float, high: float) -> None:
    found = wilson(hits, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_a_share(case: tuple[int, int]) -> None:
    found = wilson(*case)
    assert 0 <= found.low <= found.value <= found.high <= 1
    mirrored = wilson(case[1] - case[0], case[1])
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)


def test_wilson_of_nothing_knows_nothing() -> None:
    found = wilson(0, 0)
    assert isnan(found.value)
    assert (found.low, found.high) == (0, 1)


def test_mean_interval_stays_within_what_is_possible() -> None:
    found = mean_estimate(np.array([5000.0, 5000.0, 4000.0, 0.0]), lowest=0.0, highest=5000.0)
    assert (found.value, found.high) == (3500, 5000)
    assert mean_estimate(np.array([0.0, 0.0, 900.0]), lowest=0.0, highest=5000.0).low == 0
    assert isnan(mean_estimate(np.array([7.0]), lowest=0.0, highest=9.0).high)


def test_mean_of_one_value_has_no_interval_and_of_none_nothing() -> None:
    one, none = mean_estimate(np.array([7.0])), mean_estimate(np.array([]))
    assert one.value == 7
    assert isnan(one.low)
    assert isnan(one.high)
    assert isnan(none.value)


def binomial_tail(n: int, k: int) -> Fraction:
    return Fraction(sum(comb(n, i) for i in range(k + 1)), 2**n)


@pytest.mark.parametrize("n", [*range(6, 80), 500, 1001, 3000])
def test_median_interval_uses_the_innermost_order_statistics_that_reach_95_percent(n: int) -> None:
    found = median_estimate(np.arange(n, dtype=np.float64)[::-1])
    rank = int(found.low)
    assert found.high == n - 1 - rank
    assert 2 * binomial_tail(n, rank) <= Fraction(5, 100) < 2 * binomial_tail(n, rank + 1)
    assert found.value == (n - 1) / 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_median_of_fewer_than_six_claims_no_interval(n: int) -> None:
    found = median_estimate(np.arange(n, dtype=np.float64))
    assert found.value == (n - 1) / 2
    assert isnan(found.low)
    assert isnan(found.high)


def test_median_with_infinite_values() -> None:
    assert median_estimate(np.array([1.0, inf])).value == inf
    assert median_estimate(np.array([1.0, 2.0, inf])).value == 2
    assert median_estimate(np.full(9, inf)).value == inf
    partly = median_estimate(np.array([1.0] * 9 + [inf] * 8))
    assert (partly.value, partly.high) == (1, inf)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_exact_and_symmetric(one: int, two: int) -> None:
    n, k = one + two, min(one, two)
    exact = min(Fraction(1), 2 * binomial_tail(n, k))
    assert mcnemar_p(one, two) == pytest.approx(float(exact), rel=1e-12)
    assert mcnemar_p(one, two) == mcnemar_p(two, one)


@pytest.mark.parametrize(("one", "two"), [(480, 521), (400, 601), (0, 1001), (5, 996), (990, 1100)])
def test_mcnemar_beyond_a_thousand_pairs_agrees_with_exact_fractions(one: int, two: int) -> None:
    exact = 2 * binomial_tail(one + two, min(one, two))
    assert mcnemar_p(one, two) == pytest.approx(float(exact), rel=1e-8)


def enumerated_sign_flip_p(differences: list[float]) -> float:
    observed = abs(sum(differences))
    flips = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(flip >= observed * (1 - 1e-12) for flip in flips) / len(flips)


@pytest.mark.parametrize(
    "differences",
    [
        [5.0],
        [1.0, 2.0],
        [3.0, -1.0, 4.0, 1.5],
        [1.0] * 8,
        [900.0, -850.0, 20.0, 3.0, -2.5, 700.0, 41.0],
        [1e-9, 2e-9, 4e-9, 8e-9],
    ],
)
def test_sign_flips_agree_with_all_of_them(differences: list[float]) -> None:
    exact = enumerated_sign_flip_p(differences)
    rounds = 20_000
    found = sign_flip_p(np.array(differences), rounds=rounds)
    assert found == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / rounds) + 2 / rounds)


def test_sign_flip_p_is_repeatable_and_never_zero() -> None:
    strong = np.full(200, 10.0)
    assert sign_flip_p(strong, rounds=999) == 1 / 1000
    noisy = np.random.default_rng(3).normal(0.1, 1, 60)
    assert sign_flip_p(noisy) == sign_flip_p(noisy)


def test_many_pairs_are_judged_by_the_normal_limit_of_the_same_sum() -> None:
    random = np.random.default_rng(4)
    few = random.normal(0.015, 1, 20_000)
    many = np.append(few, 1e-9)
    assert sign_flip_p(many) == pytest.approx(sign_flip_p(few), abs=0.02)
    assert sign_flip_p(-many) == sign_flip_p(many)
    assert sign_flip_p(np.full(30_000, 2.0), rounds=999) == 1 / 1000
    begin = process_time()
    sign_flip_p(random.normal(0, 1, 1_000_000))
    low = median_estimate(np.arange(1e6)).low
    mcnemar_p(400_000, 401_000)
    assert process_time() - begin < 2
    assert low == pytest.approx(5e5 - Z_95 * 500, abs=2)


def test_holm_hand_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


@given(st.lists(probabilities, max_size=12))
def test_holm_never_helps_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(raw <= fair <= 1 for raw, fair in zip(p_values, adjusted, strict=True))
    in_order = [adjusted[index] for index in sorted(range(len(p_values)), key=p_values.__getitem__)]
    assert in_order == sorted(in_order)
    assert not p_values or min(adjusted) == pytest.approx(min(1, len(p_values) * min(p_values)))
