"""Bands of shadows hold the true place, and the times that fit one are right: against pvlib, read off as people do."""

import pytest

from sun_cases import band_holds, sun_cases, times_off_minutes

COUNTS = [25, pytest.param(500, marks=pytest.mark.slow)]
pytest.importorskip("pvlib")


@pytest.mark.parametrize("count", COUNTS)
def test_bands_hold_the_true_place(count: int) -> None:
    held = [band_holds(case) for case in sun_cases(count)]
    assert sum(held) >= 0.99 * count


@pytest.mark.parametrize("count", COUNTS)
def test_times_are_right_within_two_minutes(count: int) -> None:
    assert max(map(times_off_minutes, sun_cases(count))) <= 2.0
