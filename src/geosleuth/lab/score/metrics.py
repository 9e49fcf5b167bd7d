"""Metrics of answers: accuracy within distances, intervals, risk against coverage, calibration, paired tests.

Each function states its assumptions; all intervals are 95 %.

Everything is computed from arrays. A distance of NaN means *unlocated*: the record counts in n, is a miss at every
threshold, scores 0 and is farther off than any located one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, erfc, exp, inf, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import GEOSCORE_MAX, THRESHOLDS_KM, geoscore
from geosleuth.support.calibration import CalibrationBin, bin_probabilities, compute_calibration_error

Z_95 = 1.959963984540054
_MAX_FLIPPED = 20_000

LEVELS = ("country", "region", "city")
NOT_GIVEN = -1  # a level that the truth does not name; neither right nor wrong
NOT_NAMED = -2  # a level that the truth names and the answer does not: wrong, but counted separately


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(hits: int, n: int) -> Estimate:
    """Return a proportion in [0, 1] with Wilson's score interval, which holds near 0 and 1 and for small n."""
    if n == 0:
        return Estimate(float("nan"), 0.0, 1.0)
    share = hits / n
    spread = Z_95**2 / n
    middle = (share + spread / 2) / (1 + spread)
    half = Z_95 / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    # The share lies inside by definition; rounding must not push a bound past it at 0 or 1.
    return Estimate(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)))


def mean_estimate(values: NDArray[np.float64], *, lowest: float = -inf, highest: float = inf) -> Estimate:
    """Return the mean with a normal interval; fine for the hundreds of bounded values it is used on.

    A normal interval has no bounds and could exceed the maximum GeoScore of 5000 where all answers are near; it is
    clipped to ``lowest`` and ``highest``, beyond which no mean of such values can lie.
    """
    n = len(values)
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    mean = float(values.mean())
    half = Z_95 * float(values.std(ddof=1)) / sqrt(n) if n > 1 else float("nan")
    return Estimate(mean, max(mean - half, lowest), min(mean + half, highest))


def median_estimate(values: NDArray[np.float64]) -> Estimate:
    """Return the median with an interval from order statistics, which needs no assumption about the distribution.

    Values may be infinite (an unlocated record is farther off than any other), and so may the result. Fewer than six
    values allow no such interval at 95 %: its bounds are NaN.
    """
    n = len(values)
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    ordered = np.sort(values)
    middle = (float(ordered[(n - 1) // 2]), float(ordered[n // 2]))
    median = middle[1] if middle[1] == inf else sum(middle) / 2
    below = _largest_rank_below(n)
    if below < 0:
        return Estimate(median, float("nan"), float("nan"))
    return Estimate(median, float(ordered[below]), float(ordered[n - 1 - below]))


def _largest_rank_below(n: int) -> int:
    """Return the largest k with P(Binomial(n, 1/2) <= k) <= 2.5 %, or -1."""
    # The normal approximation starts next to it; from there every step is exact.
    k = max(-1, int(n / 2 - Z_95 * sqrt(n) / 2) - 1)
    total = _tail(n, k)
    while total > 0.025:
        total -= _mass(n, k)
        k -= 1
    while (grown := total + _mass(n, k + 1)) <= 0.025:
        total = grown
        k += 1
    return k


def _tail(n: int, k: int) -> float:
    """Return P(Binomial(n, 1/2) <= k) for k below the middle, summed downwards until terms are negligible."""
    if k < 0:
        return 0.0
    mass = total = _mass(n, k)
    while k > 0 and mass > 1e-18 * total:
        mass *= k / (n - k + 1)
        total += mass
        k -= 1
    return total


def _mass(n: int, k: int) -> float:
    """Return P(Binomial(n, 1/2) = k)."""
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2))


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Return the p-value of an exact two-sided McNemar test on the pairs where the two differ."""
    n = only_first + only_second
    if n == 0:
        return 1.0
    k = min(only_first, only_second)
    tail = sum(comb(n, i) for i in range(k + 1)) / (1 << n) if n <= 1000 else _tail(n, k)
    return min(1.0, 2 * tail)


def sign_flip_p(differences: NDArray[np.float64], *, rounds: int = 10_000, seed: int = 0) -> float:
    """Return the p-value of a two-sided permutation test that paired differences have mean 0, by random sign flips.

    The observed sum counts once, so the smallest value is 1 / (rounds + 1), never 0. Same seed, same value. With more
    than 20,000 pairs that differ, the sum under random signs is nearly normal, and its tail is used instead of flips,
    with the same smallest value.
    """
    moved = differences[differences != 0]
    if len(moved) == 0:
        return 1.0
    observed = abs(float(moved.sum()))
    if len(moved) > _MAX_FLIPPED:
        return max(erfc(observed / sqrt(2 * float(moved @ moved))), 1 / (rounds + 1))
    random = np.random.default_rng(seed)
    extreme = 0
    # In batches, so that memory stays bounded however many pairs there are.
    batch = max(1, 4_000_000 // len(moved))
    done = 0
    while done < rounds:
        size = min(batch, rounds - done)
        signs = random.integers(0, 2, size=(size, len(moved)), dtype=np.int8) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ moved) >= observed * (1 - 1e-12)))
        done += size
    return (extreme + 1) / (rounds + 1)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted for multiple tests with Holm's step-down correction."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, floor = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        floor = max(floor, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = floor
    return adjusted


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of right records, in percent, with its 95 % interval."""

    hits: int
    n: int
    percent: Estimate

    @classmethod
    def from_counts(cls, hits: int, n: int) -> "Accuracy":
        """Return the share of ``hits`` in ``n``."""
        share = wilson(hits, n)
        return cls(hits, n, Estimate(100 * share.value, 100 * share.low, 100 * share.high))


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one set of records.

    ``within`` maps a threshold in km to its accuracy. ``median_km`` is over all records (infinite when half or more
    are unlocated), ``median_located_km`` over the located ones. ``geoscore`` is a mean, its interval cut to 0..5000.
    ``levels`` holds a level only where some truth names it, and ``named`` in how many of those records the answer
    names it too, rightly or not.
    """

    n: int
    unlocated: int
    within: Mapping[float, Accuracy]
    median_km: Estimate
    median_located_km: Estimate
    geoscore: Estimate
    levels: Mapping[str, Accuracy]
    named: Mapping[str, int]

    @property
    def located(self) -> int:
        """Return how many records have a point."""
        return self.n - self.unlocated


def summarise(
    distance_km: NDArray[np.float64],
    levels: Mapping[str, NDArray[np.int8]] | None = None,
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
) -> Summary:
    """Compute every figure of a set of records.

    Args:
        distance_km: error of each record; NaN where it is unlocated.
        levels: per level name, 1 right, 0 wrong, ``NOT_NAMED`` where the answer has no such level, ``NOT_GIVEN``
            where the truth has none.
        thresholds_km: a record counts as right within a threshold when its error is at most that.
    """
    n = len(distance_km)
    located = distance_km[~np.isnan(distance_km)]
    # One sort serves every threshold and both medians.
    ordered = np.sort(located)
    hits = np.searchsorted(ordered, np.asarray(thresholds_km, dtype=np.float64), side="right")
    scores = np.zeros(n)
    scores[: len(ordered)] = geoscore(ordered)
    everything = np.concatenate([ordered, np.full(n - len(ordered), np.inf)])
    given = {name: values[values != NOT_GIVEN] for name, values in (levels or {}).items()}
    given = {name: values for name, values in given.items() if len(values)}
    return Summary(
        n=n,
        unlocated=n - len(located),
        within={km: Accuracy.from_counts(int(count), n) for km, count in zip(thresholds_km, hits, strict=True)},
        median_km=median_estimate(everything),
        median_located_km=median_estimate(ordered),
        geoscore=mean_estimate(scores, lowest=0.0, highest=GEOSCORE_MAX),
        levels={
            name: Accuracy.from_counts(int(np.count_nonzero(values == 1)), len(values))
            for name, values in given.items()
        },
        named={name: int(np.count_nonzero(values != NOT_NAMED)) for name, values in given.items()},
    )


def within(distance_km: NDArray[np.float64], threshold_km: float) -> NDArray[np.bool_]:
    """Return which records are right at a threshold; unlocated ones are not."""
    return np.less_equal(
        distance_km, threshold_km, where=~np.isnan(distance_km), out=np.zeros(len(distance_km), np.bool_)
    )


@dataclass(frozen=True, slots=True)
class SelectivePoint:
    """One selection of the most confident answers: the share of all records, and the share of these that is wrong."""

    coverage: float
    risk: float
    least_confidence: float


@dataclass(frozen=True, slots=True)
class Selective:
    """Risk against coverage at one threshold.

    ``points`` run from the most confident answers to all answers. Records without a point or a stated confidence are
    never answered here, so full coverage may stay below 1. ``area`` is the mean risk over the covered range (lower is
    better), ``ideal_area`` that of a perfect ordering of the same answers.
    """

    threshold_km: float
    n: int
    with_confidence: int
    points: tuple[SelectivePoint, ...]
    area: float
    ideal_area: float

    def compute_risk(self, coverage: float) -> float | None:
        """Return the risk of the smallest selection that covers at least this share of records; None if none does."""
        return next((point.risk for point in self.points if point.coverage >= coverage - 1e-12), None)


def selective(
    distance_km: NDArray[np.float64], confidence: NDArray[np.float64], threshold_km: float
) -> Selective | None:
    """Drop the least confident answers, one confidence value at a time; None if no answer states a confidence."""
    usable = ~np.isnan(confidence) & ~np.isnan(distance_km)
    count = int(np.count_nonzero(usable))
    if count == 0:
        return None
    order = np.argsort(-confidence[usable], kind="stable")
    sure = confidence[usable][order]
    wrong = (~within(distance_km[usable], threshold_km))[order]
    # Answers of equal confidence enter together.
    last_of_tie = np.flatnonzero(np.append(sure[1:] != sure[:-1], True))
    kept = last_of_tie + 1
    risk = np.cumsum(wrong)[last_of_tie] / kept
    points = tuple(
        SelectivePoint(float(k / len(distance_km)), float(r), float(sure[i]))
        for k, r, i in zip(kept, risk, last_of_tie, strict=True)
    )
    weights = np.diff(kept, prepend=0)
    ideal = np.cumsum(np.sort(wrong)) / np.arange(1, count + 1)
    return Selective(
        threshold_km=threshold_km,
        n=len(distance_km),
        with_confidence=count,
        points=points,
        area=float(np.average(risk, weights=weights)),
        ideal_area=float(ideal.mean()),
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """Stated probability that the truth lies within the stated radius, against how often it did."""

    n: int
    bins: tuple[CalibrationBin, ...]
    expected_error: float


def calibration(
    distance_km: NDArray[np.float64],
    probability: NDArray[np.float64],
    radius_km: NDArray[np.float64],
    bins: int = 10,
) -> Calibration | None:
    """Return the expected calibration error over equal-width bins; None if no answer states probability and radius."""
    usable = ~(np.isnan(distance_km) | np.isnan(probability) | np.isnan(radius_km))
    count = int(np.count_nonzero(usable))
    if count == 0:
        return None
    filled = bin_probabilities(probability[usable], distance_km[usable] <= radius_km[usable], bins)
    return Calibration(count, filled, compute_calibration_error(filled))


@dataclass(frozen=True, slots=True)
class PairedAccuracy:
    """Accuracy of both at one threshold, and an exact McNemar test on the images where they differ.

    ``p_adjusted`` is Holm-corrected over all thresholds of the comparison.
    """

    threshold_km: float
    first_percent: float
    second_percent: float
    only_first: int
    only_second: int
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a pair; differences are second minus first."""

    n: int
    accuracies: tuple[PairedAccuracy, ...]
    geoscore_difference: Estimate
    geoscore_p: float


def compare_paired(
    first_km: NDArray[np.float64],
    second_km: NDArray[np.float64],
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
) -> Comparison:
    """Compare two sets of distances aligned image by image; NaN is unlocated."""
    n = len(first_km)
    if n != len(second_km) or n == 0:
        raise ValueError("a paired comparison needs the same images, at least one, in both")
    counts = []
    for km in thresholds_km:
        item, two = within(first_km, km), within(second_km, km)
        only_first, only_second = int((item & ~two).sum()), int((two & ~item).sum())
        counts.append(
            (km, int(item.sum()), int(two.sum()), only_first, only_second, mcnemar_p(only_first, only_second))
        )
    adjusted = holm([count[-1] for count in counts])
    difference = score_or_zero(second_km) - score_or_zero(first_km)
    return Comparison(
        n=n,
        accuracies=tuple(
            PairedAccuracy(km, 100 * one / n, 100 * two / n, only_first, only_second, p, fair)
            for (km, one, two, only_first, only_second, p), fair in zip(counts, adjusted, strict=True)
        ),
        geoscore_difference=mean_estimate(difference, lowest=-GEOSCORE_MAX, highest=GEOSCORE_MAX),
        geoscore_p=sign_flip_p(difference),
    )


def score_or_zero(distance_km: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the GeoScore per record, 0 where unlocated."""
    return np.nan_to_num(np.asarray(geoscore(distance_km), dtype=np.float64), nan=0.0)


def easy(distances_km: Sequence[NDArray[np.float64]], threshold_km: float = 10.0) -> NDArray[np.bool_]:
    """Return MAPBench's tiers: easy where at least two of three methods are within 10 km, else hard.

    With another number of methods, at least two thirds of them must be.
    """
    votes = np.sum([within(distance, threshold_km) for distance in distances_km], axis=0)
    return np.asarray(votes * 3 >= 2 * len(distances_km), dtype=np.bool_)
