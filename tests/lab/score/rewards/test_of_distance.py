"""Rewards by distance against values worked out by hand, on both sides of every boundary."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.score.rewards import compute_stepped, linear, spatial

BELOW = {km: math.nextafter(km, 0.0) for km in (0.5, 1.0, 2.0, 10.0, 25.0, 200.0, 750.0)}
DISTANCES = st.floats(0, 25_000, allow_nan=False)


@pytest.mark.parametrize(
    ("distance_km", "expected"),
    [
        (0.0, 1.0),
        (200.0, 0.36787944117144233),  # 1/e
        (100.0, 0.6065306597126334),  # e^-0.5
        (400.0, 0.1353352832366127),  # e^-2
        (2000.0, 4.5399929762484854e-05),  # e^-10
        (20_000.0, 3.720075976020836e-44),  # e^-100
        (math.inf, 0.0),
        (math.nan, 0.0),
    ],
)
def test_spatial_is_the_exponential(distance_km: float, expected: float) -> None:
    assert spatial(distance_km) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("distance_km", "expected"),
    [
        (0.0, 1.0),
        (BELOW[1.0], 1.0),
        (1.0, 1.0),
        (13.0, 0.875),  # half-way: 1 - 0.25 / 24 * 12
        (4.0, 0.96875),  # 1 - 0.25 / 24 * 3
        (BELOW[25.0], 0.75),
        (25.0, 0.75),
        (112.5, 0.475),  # half-way: 0.75 - 0.55 / 175 * 87.5
        (60.0, 0.64),  # 0.75 - 0.55 / 175 * 35
        (BELOW[200.0], 0.2),
        (200.0, 0.0),
        (201.0, 0.0),
        (20_000.0, 0.0),
        (math.inf, 0.0),
        (math.nan, 0.0),
    ],
)
def test_linear_is_three_lines(distance_km: float, expected: float) -> None:
    assert linear(distance_km) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("distance_km", "expected"),
    [
        (0.0, 1.0),
        (BELOW[0.5], 1.0),
        (0.5, 0.8),
        (BELOW[2.0], 0.8),
        (2.0, 0.6),
        (BELOW[10.0], 0.6),
        (10.0, 0.4),
        (BELOW[25.0], 0.4),
        (25.0, 0.2),
        (BELOW[200.0], 0.2),
        (200.0, 0.1),
        (BELOW[750.0], 0.1),
        (750.0, 0.0),
        (20_000.0, 0.0),
        (math.inf, 0.0),
        (math.nan, 0.0),
    ],
)
def test_stepped_falls_at_each_distance(distance_km: float, expected: float) -> None:
    assert compute_stepped(distance_km) == expected


@pytest.mark.parametrize("reward", [spatial, linear, compute_stepped])
@given(a=DISTANCES, b=DISTANCES)
def test_nearer_never_earns_less(reward: Callable[[float], float], a: float, b: float) -> None:
    near, far = sorted((a, b))
    assert 0.0 <= reward(far) <= reward(near) <= 1.0


@pytest.mark.parametrize(
    "knots",
    [(), ((0.0, 1.0),), ((1.0, 1.0), (1.0, 0.5)), ((1.0, 0.5), (2.0, 0.6)), ((1.0, -0.1),), ((math.nan, 1.0),)],
)
def test_knots_rise_in_distance_and_fall_in_reward(knots: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValueError, match=r"pair|km"):
        linear(1.0, knots)
    with pytest.raises(ValueError, match=r"pair|km"):
        compute_stepped(1.0, knots)
