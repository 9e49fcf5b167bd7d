"""What a set of errors amounts to, and that unlocated records count against it everywhere."""

from math import inf, nan

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


def test_half_unlocated_has_an_infinite_median() -> None:
    assert summarise(np.array([1.0, 2.0, nan, nan])).median_km.value == inf
    assert summarise(np.array([1.0, 2.0, 3.0, nan])).median_km.value == 2.5
    assert summarise(np.array([1.0, nan, nan])).median_located_km.value == 1


def test_an_error_equal_to_the_threshold_is_within_it() -> None:
    distances = np.array([25.0, np.nextafter(25.0, inf)])
    assert summarise(distances, thresholds_km=(25.0,)).within[25.0].hits == 1
    assert within(distances, 25.0).tolist() == [True, False]


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
