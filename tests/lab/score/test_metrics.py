"""What a set of errors amounts to, and that unlocated records count against it everywhere."""

from math import exp, inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import THRESHOLDS_KM
from geosleuth.lab.score import NOT_GIVEN, summarise, within

errors_km = st.lists(st.floats(0, 20_100) | st.just(nan), max_size=60)


def test_counts_and_shares_by_hand() -> None:
    found = summarise(np.array([0.2, 0.9, 30.0, 5000.0, nan]), thresholds_km=(1.0, 25.0, 200.0))
    assert (found.n, found.located, found.unlocated) == (5, 4, 1)
    assert [share.hits for share in found.within.values()] == [2, 2, 3]
    assert [share.n for share in found.within.values()] == [5, 5, 5]
    assert found.within[200.0].percent.value == 60
    assert found.median_km.value == 30
    assert found.median_located_km.value == pytest.approx((0.9 + 30) / 2)


def test_an_unlocated_record_scores_nothing_but_counts() -> None:
    found = summarise(np.array([0.0, nan]))
    assert found.geoscore.value == 2500
    assert all(share.percent.value == 50 for share in found.within.values())


def test_geoscore_is_the_mean_over_all_records() -> None:
    found = summarise(np.array([0.0, 1805.0, nan, nan]))
    assert found.geoscore.value == pytest.approx((5000 + 5000 * exp(-1)) / 4)


def test_the_interval_of_the_geoscore_stays_within_its_scale() -> None:
    near, far = summarise(np.array([0.0] * 9 + [3000.0])).geoscore, summarise(np.array([1000.0] + [nan] * 9)).geoscore
    assert near.high == 5000
    assert far.low == 0


def test_half_unlocated_has_an_infinite_median() -> None:
    assert summarise(np.array([1.0, 2.0, nan, nan])).median_km.value == inf
    assert summarise(np.array([1.0, 2.0, 3.0, nan])).median_km.value == 2.5
    assert summarise(np.array([1.0, nan, nan])).median_located_km.value == 1


def test_an_error_equal_to_the_threshold_is_within_it() -> None:
    distances = np.array([25.0, np.nextafter(25.0, inf)])
    assert summarise(distances, thresholds_km=(25.0,)).within[25.0].hits == 1
    assert within(distances, 25.0).tolist() == [True, False]


def test_infinite_errors_are_located_misses() -> None:
    found = summarise(np.array([1.0, inf, nan]))
    assert (found.located, found.within[2500.0].hits) == (2, 1)
    assert found.geoscore.value == pytest.approx(5000 * exp(-10 / 18050) / 3)


def test_no_threshold_reaches_an_unlocated_record() -> None:
    assert within(np.array([nan, 3.0, inf]), inf).tolist() == [False, True, True]


def test_no_records() -> None:
    found = summarise(np.array([]))
    assert (found.n, found.unlocated, found.levels) == (0, 0, {})
    assert isnan(found.geoscore.value)
    assert isnan(found.median_km.value)
    assert all(isnan(share.percent.value) and share.percent.high == 100 for share in found.within.values())


def test_one_record() -> None:
    found = summarise(np.array([3.0]))
    assert found.median_km.value == 3
    assert found.within[3.0].percent.value == 100
    assert found.within[3.0].percent.low == pytest.approx(20.65, abs=0.01)


def test_levels_count_only_truths_that_name_them() -> None:
    levels = {
        "country": np.array([1, 0, 1, NOT_GIVEN], dtype=np.int8),
        "region": np.full(4, NOT_GIVEN, dtype=np.int8),
        "city": np.array([NOT_GIVEN, NOT_GIVEN, 0, NOT_GIVEN], dtype=np.int8),
    }
    found = summarise(np.array([1.0, nan, 2.0, 3.0]), levels)
    assert {name: (share.hits, share.n) for name, share in found.levels.items()} == {"country": (2, 3), "city": (0, 1)}


@given(errors_km)
def test_accuracy_never_falls_as_the_threshold_grows(errors: list[float]) -> None:
    found = summarise(np.array(errors))
    hits = [found.within[km].hits for km in THRESHOLDS_KM]
    assert hits == sorted(hits)
    assert all(count <= found.located for count in hits)


@given(errors_km, st.floats(0.001, 20_100))
def test_summary_and_mask_agree(errors: list[float], km: float) -> None:
    distances = np.array(errors)
    assert summarise(distances, thresholds_km=(km,)).within[km].hits == int(within(distances, km).sum())
    assert int(within(distances, km).sum()) == sum(error <= km for error in errors)


@given(
    st.lists(st.floats(0, 20_100) | st.just(nan), min_size=1, max_size=30).flatmap(
        lambda errors: st.tuples(st.just(errors), st.permutations(errors))
    )
)
def test_the_order_of_records_does_not_matter(orders: tuple[list[float], list[float]]) -> None:
    one, two = (summarise(np.array(errors)) for errors in orders)
    assert one.within == two.within
    assert one.median_km.value == two.median_km.value
    assert one.geoscore.value == pytest.approx(two.geoscore.value)


@given(errors_km)
def test_an_extra_unlocated_record_never_helps(errors: list[float]) -> None:
    before, after = summarise(np.array([*errors, 1.0])), summarise(np.array([*errors, 1.0, nan]))
    assert after.geoscore.value <= before.geoscore.value
    assert after.median_km.value >= before.median_km.value
    assert all(after.within[km].percent.value <= before.within[km].percent.value for km in THRESHOLDS_KM)
