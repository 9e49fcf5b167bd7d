"""How good are these answers: accuracy within distances, median error, GeoScore, levels.

Everything is computed from arrays. A distance of NaN means *unlocated*: the record counts in n, is a miss at every
threshold, scores 0 and is farther off than any located one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import GEOSCORE_MAX, THRESHOLDS_KM, geoscore

from .statistics import Estimate, mean_estimate, median_estimate, wilson

LEVELS = ("country", "region", "city")
NOT_GIVEN = -1  # a level that the truth does not name; neither right nor wrong
NOT_NAMED = -2  # a level that the truth names and the answer does not: wrong, but told apart


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share of records that are right, in percent, with its 95 % interval."""

    hits: int
    n: int
    percent: Estimate

    @classmethod
    def of(cls, hits: int, n: int) -> "Accuracy":
        """The share of ``hits`` in ``n``."""
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
        """How many records have a point."""
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
    # One sort answers every threshold and both medians.
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
        within={km: Accuracy.of(int(count), n) for km, count in zip(thresholds_km, hits, strict=True)},
        median_km=median_estimate(everything),
        median_located_km=median_estimate(ordered),
        geoscore=mean_estimate(scores, lowest=0.0, highest=GEOSCORE_MAX),
        levels={name: Accuracy.of(int(np.count_nonzero(values == 1)), len(values)) for name, values in given.items()},
        named={name: int(np.count_nonzero(values != NOT_NAMED)) for name, values in given.items()},
    )


def within(distance_km: NDArray[np.float64], threshold_km: float) -> NDArray[np.bool_]:
    """Which records are right at a threshold; unlocated ones are not."""
    return np.less_equal(
        distance_km, threshold_km, where=~np.isnan(distance_km), out=np.zeros(len(distance_km), np.bool_)
    )
