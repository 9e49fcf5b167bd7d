"""Spatially-aware dynamic filtering: which photos teach something at which distance.

A photo is tried K times. At a distance it teaches where some tries are within it and some are not: one that always or
never succeeds gives every try the same reward, and there is nothing to learn. Each distance is a regime of its own;
a photo may be kept at several. This is how SpotAgent chooses its photos for reinforcement learning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from geosleuth.errors import BadInput

REGIMES_KM = (1.0, 25.0, 200.0, 750.0)
"""Street, city, region, country."""

PAPER_TRIES = 8
PAPER_PHOTOS = 206_106
PAPER_KEPT: Mapping[float, int] = {1.0: 22_766, 25.0: 42_764, 200.0: 76_367, 750.0: 91_060}
"""What SpotAgent kept of its photos in each regime, with eight tries of its fine-tuned model each."""


@dataclass(frozen=True, slots=True, eq=False)
class Tries:
    """How far off every try at every photo was.

    ``distances_km`` has a row a photo and a column a try. A try that gave no place is not a number, and never within
    any distance. ``made`` says which tries there were: photos need not have equally many.
    """

    ids: tuple[str, ...]
    distances_km: NDArray[np.float64]
    made: NDArray[np.bool_]

    def __post_init__(self) -> None:
        shape = self.distances_km.shape
        if self.made.shape != shape or len(shape) != 2 or shape[0] != len(self.ids):
            raise ValueError("a row a photo, a column a try")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many tries each photo had."""
        return np.asarray(self.made.sum(axis=1), dtype=np.int64)


def tries_of(distances_km: Mapping[str, Sequence[float | None]], *, tries: int | None = None) -> Tries:
    """The table of tries by photo; None and what is not a number are tries without a place.

    Args:
        distances_km: how far off each try was, by photo.
        tries: use exactly so many of each photo, the first ones; photos with fewer are left out.

    Raises:
        BadInput: a distance is below 0.
    """
    chosen = {
        one: list(values[:tries]) for one, values in distances_km.items() if tries is None or len(values) >= tries
    }
    columns = max((len(values) for values in chosen.values()), default=0)
    table = np.full((len(chosen), columns), np.nan)
    made = np.zeros((len(chosen), columns), dtype=np.bool_)
    for row, values in enumerate(chosen.values()):
        table[row, : len(values)] = [np.nan if value is None else value for value in values]
        made[row, : len(values)] = True
    if np.any(table < 0):
        raise BadInput("a distance can't be below 0 km")
    return Tries(tuple(chosen), table, made)


def passes(distances_km: NDArray[np.float64], thresholds_km: Sequence[float] = REGIMES_KM) -> NDArray[np.int64]:
    """How many tries at each photo are within each distance: a row a photo, a column a distance.

    A try exactly at a distance is within it, as everywhere in this package.
    """
    limits = np.asarray(thresholds_km, dtype=np.float64)
    # One distance after the other: all at once would take as many times the memory of the table.
    return np.stack([(distances_km <= limit).sum(axis=1, dtype=np.int64) for limit in limits], axis=1)


def teaches(within: NDArray[np.int64], tries: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """Whether some tries pass and some don't, for counts as `passes` gives them: 0 < passes < tries."""
    made = np.asarray(tries, dtype=np.int64)
    return np.asarray((within > 0) & (within < (made[:, None] if made.ndim else made)), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Regime:
    """One distance: of all photos ``kept`` teach something, ``never`` and ``always`` are too hard and too easy.

    ``by_passes`` counts photos by how many of their tries are within, from 0 to the most tries there are.
    """

    km: float
    kept: int
    never: int
    always: int
    by_passes: tuple[int, ...]

    @property
    def photos(self) -> int:
        """All photos that were tried."""
        return self.kept + self.never + self.always


@dataclass(frozen=True, slots=True, eq=False)
class Filtered:
    """What filtering found: ``within`` and ``kept`` have a row a photo and a column a regime."""

    tries: Tries
    thresholds_km: tuple[float, ...]
    within: NDArray[np.int64]
    kept: NDArray[np.bool_]

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Every distance in figures."""
        counts = self.tries.counts
        most = int(counts.max(initial=0))
        found = []
        for column, km in enumerate(self.thresholds_km):
            within = self.within[:, column]
            kept = int(self.kept[:, column].sum())
            never = int((within == 0).sum())
            by_passes = tuple(int(one) for one in np.bincount(within, minlength=most + 1))
            found.append(Regime(km, kept, never, len(self.tries) - kept - never, by_passes))
        return tuple(found)

    @property
    def single_tries(self) -> int:
        """How many photos were tried only once, and so can't teach anything whatever came of it."""
        return int((self.tries.counts < 2).sum())


def filtered(tries: Tries, thresholds_km: Sequence[float] = REGIMES_KM) -> Filtered:
    """Which photos teach something at which distance.

    Raises:
        BadInput: the distances are not positive and in ascending order.
    """
    limits = tuple(float(km) for km in thresholds_km)
    if not limits or limits[0] <= 0 or any(one >= other for one, other in pairwise(limits)):
        raise BadInput("the distances of the regimes must be above 0 and go up")
    within = passes(tries.distances_km, limits)
    return Filtered(tries, limits, within, teaches(within, tries.counts))
