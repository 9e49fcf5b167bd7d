"""Reward terms of GRPO and others: for an answer's distance, and for which levels of its address are right.

Distances are kilometres, one or an array of any shape; rewards have the same shape. A negative distance raises.

Functions of levels take one row per answer, shape (n, 3), and return n rewards.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray

# GeoAgent's temperature: at this distance the reward is 1/e.
TAU_KM = 200.0

Knots = tuple[tuple[float, float], ...]
# SpotAgent's linear reward, as (kilometres, reward): full up to the first distance, 0 from the last one on.
LINEAR_KNOTS: Knots = ((1.0, 1.0), (25.0, 0.75), (200.0, 0.2))

# Thinking with Map's steps: the reward of an answer within each distance.
STEPS: Knots = ((0.5, 1.0), (2.0, 0.8), (10.0, 0.6), (25.0, 0.4), (200.0, 0.2), (750.0, 0.1))

# GeoVista's factor from one level to the next finer one.
BETA = 2.0
Weights = tuple[float, float, float]
Km = TypeVar("Km", float, FloatArray)
Groups = Sequence[int] | npt.NDArray[np.int64]
# GeoAgent's weights of country, region and precise place; they sum to 1.
ALPHA: Weights = (0.1, 0.6, 0.3)
# GeoAgent's thresholds: a lower similarity counts as 0. They belong to its encoder; see `encoders`.
THRESHOLDS: Weights = (0.7, 0.5, 0.0)
STEEPNESS = 10.0
# With the steepness above, our length penalty within a group: a level keeps 12 % of its weight at the shortest length,
# half at a fifth of the way to the longest, and 95 % half-way.
MIDPOINT = 0.2
RELEASED_STEEPNESS = 8.0
RELEASED_MIDPOINT = 0.5
# As in GeoAgent's released code (HVision-NKU/GeoAgent, swift/plugin/orm.py); the paper prints none. Characters of
# reasoning: a level below the first bound earns nothing, one above the second all.
RELEASED_BOUNDS = (90.0, 200.0)


def spatial(distance_km: Km, tau_km: float = TAU_KM) -> Km:
    """GeoAgent: exp(-d / tau).

    Raises:
        ValueError: tau is not positive and finite, or a distance is negative.
    """
    if not (np.isfinite(tau_km) and tau_km > 0):
        raise ValueError(f"tau must be a positive length in km, not {tau_km!r}")
    distances = _check_distances(distance_km)
    rewards = distances / -tau_km
    np.exp(rewards, out=rewards)
    np.nan_to_num(rewards, copy=False, nan=0.0)
    return _like(distance_km, rewards)


def linear(distance_km: Km, knots: Sequence[tuple[float, float]] = LINEAR_KNOTS) -> Km:
    """SpotAgent: 1 under 1 km, 1 - 0.25/24 (d - 1) to 25 km, 0.75 - 0.55/175 (d - 25) to 200 km, else 0.

    At 200 km it falls from 0.2 to 0. ``knots`` are (km, reward) pairs, nearest first.

    Raises:
        ValueError: the knots don't rise in distance and fall in reward, or a distance is negative.
    """
    check_knots(knots)
    kilometres, values = (np.array(column, dtype=np.float64) for column in zip(*knots, strict=True))
    distances = _check_distances(distance_km)
    rewards = np.interp(distances, kilometres, values, right=0.0)
    rewards[~(distances < kilometres[-1])] = 0.0  # also NaN
    return _like(distance_km, rewards)


def compute_stepped(distance_km: Km, steps: Sequence[tuple[float, float]] = STEPS) -> Km:
    """Thinking with Map: 1 under 500 m, .8 under 2 km, .6 under 10 km, .4 under 25, .2 under 200, .1 under 750, else 0.

    ``steps`` are (km, reward) pairs, nearest first; an answer exactly at a distance has missed it.

    Raises:
        ValueError: the steps don't rise in distance and fall in reward, or a distance is negative.
    """
    check_knots(steps)
    kilometres, values = (np.array(column, dtype=np.float64) for column in zip(*steps, strict=True))
    distances = _check_distances(distance_km)
    # NaN sorts last, so it earns what is beyond the last step.
    earned = np.append(values, 0.0)[np.searchsorted(kilometres, distances, side="right")]
    return _like(distance_km, earned)


def check_knots(knots: Sequence[tuple[float, float]]) -> None:
    """Check that the pairs form a falling line.

    Raises:
        ValueError: no pairs, a distance not above the one before, or a reward above it.
    """
    if not knots or any(len(pair) != 2 for pair in knots):
        raise ValueError(f"a reward by distance needs at least one pair of km and reward: {list(knots)}")
    if not np.isfinite(np.array(knots, dtype=np.float64)).all() or knots[0][0] <= 0 or knots[-1][1] < 0:
        raise ValueError(f"km must be positive, rewards 0 or more, and both finite: {list(knots)}")
    for (near_km, more), (far_km, less) in pairwise(knots):
        if far_km <= near_km or less > more:
            raise ValueError(f"km must rise and rewards must fall from pair to pair: {list(knots)}")


def _check_distances(distance_km: float | FloatArray) -> FloatArray:
    distances = np.array(distance_km, dtype=np.float64, ndmin=1)
    if np.any(distances < 0):
        raise ValueError(f"a distance can't be negative: {np.nanmin(distances):g} km")
    return distances


def _like(distance_km: Km, rewards: FloatArray) -> Km:
    found: Any = rewards if np.ndim(distance_km) else float(rewards[0])
    return cast("Km", found)


def hierarchical(right: BoolArray, beta: float = BETA) -> FloatArray:
    """GeoVista: beta² if the city is right, beta if the state is, 1 if the country is, else 0.

    Raises:
        ValueError: beta is not above 0 and finite, or there are not three columns.
    """
    if not (np.isfinite(beta) and beta > 0):
        raise ValueError(f"beta must be a positive number, not {beta!r}")
    country, region, city = flags(right).T
    return np.select([city, region, country], [beta**2, beta, 1.0], 0.0)


def city_only(right: BoolArray) -> FloatArray:
    """GeoVista without its hierarchy: 1 if the city is right, else 0.

    Raises:
        ValueError: there are not three columns.
    """
    return flags(right)[:, 2].astype(np.float64)


def text_equality(equal: BoolArray, weights: Sequence[float] = ALPHA, given: BoolArray | None = None) -> FloatArray:
    """GeoAgent's baseline of equal text: the weights of the levels whose texts are equal.

    ``given`` as in `semantic`.

    Raises:
        ValueError: weights or columns don't fit.
    """
    shares = _normalize_shares(weights, given)
    return _sum_weighted(flags(equal), shares)


def semantic(
    similarity: FloatArray,
    alpha: Sequence[float] = ALPHA,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    gated: bool = True,
    given: BoolArray | None = None,
) -> FloatArray:
    """GeoAgent: the sum of alpha_i s_i.

    A similarity under its level's threshold is 0, and so is a negative one or NaN. A level counts only if the level
    above it does: a Paris in another country earns nothing.

    Args:
        similarity: cosines per level, shape (n, 3).
        alpha: the weights of the levels; they sum to 1.
        thresholds: the minimum similarity, per level.
        gated: whether a level requires the one above it.
        given: whether the truth names the level, shape (n, 3). The weight of a level that it does not name goes to the
            others, and the level below requires the one above it.

    Raises:
        ValueError: weights, thresholds or columns don't fit.
    """
    shares = _normalize_shares(alpha, given)
    least = np.array(thresholds, dtype=np.float64)
    if least.shape != (3,) or not np.isfinite(least).all():
        raise ValueError(f"thresholds must be three numbers, for country, region and precise place: {list(thresholds)}")
    cosines = numbers(similarity)
    kept = np.where((cosines >= least) & (cosines > 0), np.minimum(cosines, 1.0), 0.0)
    if gated:
        counts = kept > 0
        if given is not None:
            counts |= ~given
        for level in (1, 2):
            counts[:, level] &= counts[:, level - 1]
            kept[:, level] *= counts[:, level - 1]
    return _sum_weighted(kept, shares)


def consistency(
    agrees: BoolArray,
    lengths: FloatArray,
    groups: Groups | None = None,
    weights: Sequence[float] = ALPHA,
    *,
    steepness: float = STEEPNESS,
    midpoint: float = MIDPOINT,
    bounds: tuple[float, float] | None = None,
) -> FloatArray:
    """GeoAgent: the sum of 1(ŷ_i = y_i) w_i p_i.

    Args:
        agrees: per level, whether the place that a judge derived from the reasoning is the conclusion, shape (n, 3).
        lengths: the length of each level's reasoning, shape (n, 3).
        groups: which replies answer the same question; None if all do.
        weights: of the levels; they sum to 1.
        steepness: lambda of `length_factor`.
        midpoint: mu of `length_factor`.
        bounds: fixed bounds of the lengths, see `fixed_length_factor`; None for those of the group.

    Raises:
        ValueError: weights or columns don't fit.
    """
    shares = _normalize_shares(weights, None)
    if bounds is None:
        factor = length_factor(lengths, groups, steepness=steepness, midpoint=midpoint)
    else:
        factor = fixed_length_factor(lengths, bounds=bounds, steepness=steepness, midpoint=midpoint)
    factor *= flags(agrees)
    return _sum_weighted(factor, shares)


def length_factor(
    lengths: FloatArray,
    groups: Groups | None = None,
    *,
    steepness: float = STEEPNESS,
    midpoint: float = MIDPOINT,
) -> FloatArray:
    """1 / (1 + exp(-lambda (l̂ - mu))), with l̂ the length between the group's shortest (0) and longest (1).

    Each level is measured separately. If all of a group are equally long, as in a group of one, l̂ is 1. A length of
    NaN counts as 0.

    Raises:
        ValueError: lambda is negative, a parameter is not finite, or the number of groups is not that of the rows.
    """
    if not (np.isfinite(steepness) and np.isfinite(midpoint) and steepness >= 0):
        raise ValueError(f"steepness must be 0 or more and midpoint finite, not {steepness!r} and {midpoint!r}")
    sizes = np.nan_to_num(numbers(lengths), nan=0.0)
    shortest, longest = _bounds(sizes, groups)
    spread = longest - shortest
    factor = np.ones_like(sizes)
    np.divide(sizes - shortest, spread, out=factor, where=spread > 0)
    # The hyperbolic tangent is the same curve and can't overflow.
    factor -= midpoint
    factor *= 0.5 * steepness
    np.tanh(factor, out=factor)
    factor += 1.0
    factor *= 0.5
    return factor


def fixed_length_factor(
    lengths: FloatArray,
    *,
    bounds: tuple[float, float] = RELEASED_BOUNDS,
    steepness: float = RELEASED_STEEPNESS,
    midpoint: float = RELEASED_MIDPOINT,
) -> FloatArray:
    """The same curve with fixed bounds, as in GeoAgent's released code: 0 below the first, 1 above the second.

    Raises:
        ValueError: the bounds don't rise, or a parameter is out of range.
    """
    if not (steepness >= 0 and np.isfinite([*bounds, steepness, midpoint]).all() and bounds[0] < bounds[1]):
        raise ValueError(f"bounds must rise and steepness be 0 or more, not {bounds!r} and {steepness!r}")
    sizes = np.nan_to_num(numbers(lengths), nan=0.0)
    share = (sizes - bounds[0]) / (bounds[1] - bounds[0])
    curve = 0.5 * (1.0 + np.tanh(0.5 * steepness * (share - midpoint)))
    return np.asarray(np.where(share < 0, 0.0, np.where(share > 1, 1.0, curve)))


def check_weights(weights: Sequence[float]) -> None:
    """Check that there are three non-negative weights that sum to 1.

    Raises:
        ValueError: any of these.
    """
    values = np.array(weights, dtype=np.float64)
    if values.shape != (3,) or not np.isfinite(values).all() or (values < 0).any() or abs(values.sum() - 1) > 1e-9:
        raise ValueError(
            f"weights must be three numbers of 0 or more, for country, region and precise place, that add up to 1: "
            f"{list(weights)}"
        )


def flags(values: npt.ArrayLike) -> BoolArray:
    """Return booleans per level, as rows of three columns.

    Raises:
        ValueError: they have another shape.
    """
    columns = np.asarray(values, dtype=np.bool_)
    _check_shape(columns.shape)
    return columns


def numbers(values: npt.ArrayLike) -> FloatArray:
    """Return a number per level, as rows of three columns.

    Raises:
        ValueError: they have another shape.
    """
    columns = np.asarray(values, dtype=np.float64)
    _check_shape(columns.shape)
    return columns


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[1] != 3:
        raise ValueError(f"levels must have the shape (n, 3): country, region, precise; not {shape}")


def _normalize_shares(weights: Sequence[float], given: BoolArray | None) -> FloatArray:
    check_weights(weights)
    shares = np.array(weights, dtype=np.float64)
    if given is None or flags(given).all():
        return shares
    present = flags(given) * shares
    total = present.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(present, total, out=np.zeros_like(present), where=total > 0))


def _sum_weighted(columns: FloatArray | BoolArray, shares: FloatArray) -> FloatArray:
    """Return the sum over the three levels; column by column, since numpy is slow along short rows."""
    country, region, precise = (columns[:, level] * shares[..., level] for level in range(3))
    country += region
    country += precise
    return np.asarray(country)


def _bounds(sizes: FloatArray, groups: Groups | None) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest value of the row's group, for every row and column."""
    if groups is None or len(sizes) == 0:
        return sizes.min(axis=0, initial=np.inf), sizes.max(axis=0, initial=-np.inf)
    ids = np.asarray(groups)
    if ids.shape != (len(sizes),):
        raise ValueError(f"there must be one group per row, so {len(sizes)}, not {ids.shape}")
    if np.all(ids[1:] >= ids[:-1]):
        return _bounds_of_runs(sizes, ids)
    order = np.argsort(ids, kind="stable")
    back = np.argsort(order, kind="stable")
    least, largest = _bounds_of_runs(sizes[order], ids[order])
    return least[back], largest[back]


def _bounds_of_runs(sizes: FloatArray, ids: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    counts = np.diff(np.append(starts, len(ids)))
    least = np.repeat(np.minimum.reduceat(sizes, starts), counts, axis=0)
    return least, np.repeat(np.maximum.reduceat(sizes, starts), counts, axis=0)
