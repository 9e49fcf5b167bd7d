"""Small exact statistics: intervals, paired tests, correction for many tests. No dependency, no approximation hidden.

Each function says what it assumes; all intervals are 95 %.
"""

from dataclasses import dataclass
from math import comb, erfc, exp, inf, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054
_MOST_FLIPPED = 20_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(hits: int, n: int) -> Estimate:
    """A proportion in [0, 1] with Wilson's score interval, which stays honest near 0 and 1 and for small n."""
    if n == 0:
        return Estimate(float("nan"), 0.0, 1.0)
    share = hits / n
    spread = Z_95**2 / n
    middle = (share + spread / 2) / (1 + spread)
    half = Z_95 / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    # The share itself is inside by definition; rounding must not push a bound past it at 0 or 1.
    return Estimate(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)))


def mean_estimate(values: NDArray[np.float64], *, lowest: float = -inf, highest: float = inf) -> Estimate:
    """The mean with a normal interval; fine for the hundreds of bounded values it is used on.

    A normal interval knows no bounds and would promise a mean GeoScore above 5000 where all answers are near; it is
    cut off at ``lowest`` and ``highest``, beyond which no mean of such values can lie.
    """
    n = len(values)
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    mean = float(values.mean())
    half = Z_95 * float(values.std(ddof=1)) / sqrt(n) if n > 1 else float("nan")
    return Estimate(mean, max(mean - half, lowest), min(mean + half, highest))


def median_estimate(values: NDArray[np.float64]) -> Estimate:
    """The median with an interval from order statistics, which needs no assumption about the distribution.

    Values may be infinite (an unlocated record is farther off than any other); then so may the result be. Fewer than
    six values allow no such interval at 95 %: its bounds are NaN.
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
    """Largest k with P(Binomial(n, 1/2) <= k) <= 2.5 %, or -1."""
    # The normal approximation lands next to it; from there every step is exact.
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
    """P(Binomial(n, 1/2) <= k) for k below the middle, summed downwards until what is left can't be seen."""
    if k < 0:
        return 0.0
    mass = total = _mass(n, k)
    while k > 0 and mass > 1e-18 * total:
        mass *= k / (n - k + 1)
        total += mass
        k -= 1
    return total


def _mass(n: int, k: int) -> float:
    """P(Binomial(n, 1/2) = k)."""
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2))


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar test: how surprising is this split of the pairs on which the two differ?"""
    n = only_first + only_second
    if n == 0:
        return 1.0
    k = min(only_first, only_second)
    tail = sum(comb(n, i) for i in range(k + 1)) / (1 << n) if n <= 1000 else _tail(n, k)
    return min(1.0, 2 * tail)


def sign_flip_p(differences: NDArray[np.float64], *, rounds: int = 10_000, seed: int = 0) -> float:
    """Two-sided permutation test that paired differences have mean 0: flip signs at random, count what is as extreme.

    Counts itself once, so that the smallest value is 1 / (rounds + 1), never 0. Same seed, same value. With more than
    20,000 pairs that moved, the sum under random signs is as good as normal, and its tail is taken from there instead
    of from flips, with the same smallest value.
    """
    moved = differences[differences != 0]
    if len(moved) == 0:
        return 1.0
    observed = abs(float(moved.sum()))
    if len(moved) > _MOST_FLIPPED:
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
    """Holm's step-down correction: p-values adjusted for having asked several questions at once."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, floor = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        floor = max(floor, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = floor
    return adjusted
