"""Rewards of how far off an answer is. A distance that is NaN or infinite is that of an answer without a point: 0.

Distances are kilometres, one or an array of any shape; rewards come back in the same shape. A negative distance is a
mistake of the caller's and raises.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import overload

import numpy as np

from geosleuth.geo import FloatArray

TAU_KM = 200.0
"""GeoAgent's temperature: so far off, a reward of 1 has fallen to 1/e."""

Knots = tuple[tuple[float, float], ...]
LINEAR_KNOTS: Knots = ((1.0, 1.0), (25.0, 0.75), (200.0, 0.2))
"""SpotAgent's line: full up to the first distance, straight between them, nothing from the last one on."""

STEPS: Knots = ((0.5, 1.0), (2.0, 0.8), (10.0, 0.6), (25.0, 0.4), (200.0, 0.2), (750.0, 0.1))
"""Thinking with Map's steps: what an answer earns that is off by less than the distance."""


@overload
def spatial(distance_km: float, tau_km: float = TAU_KM) -> float: ...
@overload
def spatial(distance_km: FloatArray, tau_km: float = TAU_KM) -> FloatArray: ...
def spatial(distance_km: float | FloatArray, tau_km: float = TAU_KM) -> float | FloatArray:
    """GeoAgent: exp(-d / tau).

    Raises:
        ValueError: tau is no positive, finite length, or a distance is negative.
    """
    if not (np.isfinite(tau_km) and tau_km > 0):
        raise ValueError(f"tau must be a positive length in km, not {tau_km!r}")
    distances = _checked(distance_km)
    rewards = distances / -tau_km
    np.exp(rewards, out=rewards)
    np.nan_to_num(rewards, copy=False, nan=0.0)
    return _like(distance_km, rewards)


@overload
def linear(distance_km: float, knots: Sequence[tuple[float, float]] = LINEAR_KNOTS) -> float: ...
@overload
def linear(distance_km: FloatArray, knots: Sequence[tuple[float, float]] = LINEAR_KNOTS) -> FloatArray: ...
def linear(distance_km: float | FloatArray, knots: Sequence[tuple[float, float]] = LINEAR_KNOTS) -> float | FloatArray:
    """SpotAgent: 1 under 1 km, 1 - 0.25/24 (d - 1) to 25 km, 0.75 - 0.55/175 (d - 25) to 200 km, else 0.

    At 200 km it falls from 0.2 to 0. ``knots`` are (km, reward) pairs, nearest first.

    Raises:
        ValueError: the knots don't rise in distance and fall in reward, or a distance is negative.
    """
    check_knots(knots)
    kilometres, values = (np.array(column, dtype=np.float64) for column in zip(*knots, strict=True))
    distances = _checked(distance_km)
    rewards = np.interp(distances, kilometres, values, right=0.0)
    rewards[~(distances < kilometres[-1])] = 0.0  # NaN, too
    return _like(distance_km, rewards)


@overload
def stepped(distance_km: float, steps: Sequence[tuple[float, float]] = STEPS) -> float: ...
@overload
def stepped(distance_km: FloatArray, steps: Sequence[tuple[float, float]] = STEPS) -> FloatArray: ...
def stepped(distance_km: float | FloatArray, steps: Sequence[tuple[float, float]] = STEPS) -> float | FloatArray:
    """Thinking with Map: 1 under 500 m, .8 under 2 km, .6 under 10 km, .4 under 25, .2 under 200, .1 under 750, else 0.

    ``steps`` are (km, reward) pairs, nearest first; an answer exactly at a distance has missed it.

    Raises:
        ValueError: the steps don't rise in distance and fall in reward, or a distance is negative.
    """
    check_knots(steps)
    kilometres, values = (np.array(column, dtype=np.float64) for column in zip(*steps, strict=True))
    distances = _checked(distance_km)
    # NaN sorts behind everything, so that it earns what is beyond the last step.
    earned = np.append(values, 0.0)[np.searchsorted(kilometres, distances, side="right")]
    return _like(distance_km, earned)


def check_knots(knots: Sequence[tuple[float, float]]) -> None:
    """Refuse what is no falling line.

    Raises:
        ValueError: no pairs at all, a distance that is not above the one before, or a reward that is above it.
    """
    if not knots or any(len(pair) != 2 for pair in knots):
        raise ValueError(f"a reward by distance needs pairs of km and reward, at least one: {list(knots)}")
    if not np.isfinite(np.array(knots, dtype=np.float64)).all() or knots[0][0] <= 0 or knots[-1][1] < 0:
        raise ValueError(f"km must be positive, rewards 0 or more, and both finite: {list(knots)}")
    for (near_km, more), (far_km, less) in pairwise(knots):
        if far_km <= near_km or less > more:
            raise ValueError(f"km must rise and rewards fall from pair to pair: {list(knots)}")


def _checked(distance_km: float | FloatArray) -> FloatArray:
    distances = np.array(distance_km, dtype=np.float64, ndmin=1)
    if np.any(distances < 0):
        raise ValueError(f"a distance can't be negative: {np.nanmin(distances):g} km")
    return distances


def _like(distance_km: float | FloatArray, rewards: FloatArray) -> float | FloatArray:
    return rewards if np.ndim(distance_km) else float(rewards[0])
