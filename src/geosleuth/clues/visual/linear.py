"""The third expert: a plain linear model of the countries.

It knows nothing of distances. The other two do better on every set that was tried, but not on every set there may be:
where it is right and they are not, the pool listens to it, so that a prior is not worse than what is simple.
"""

from dataclasses import dataclass

import numpy as np

from geosleuth.fitting import log_shares, multinomial

from .areas import Areas
from .experts import Seen, photo_counts
from .scaling import Rows
from .spreading import Ints

_STEPS = 100
_STRENGTH = 0.03  # the best of 0.003, 0.01, 0.03 and 0.1 on every set that was tried


@dataclass(frozen=True, slots=True)
class Linear:
    """Multinomial logistic regression of the countries; ``within`` is the logarithm of each area's share of its own."""

    weights: Rows
    offsets: Rows
    within: Rows
    country: Ints

    def log_shares(self, seen: Seen) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        return log_shares(seen.scaled @ self.weights + self.offsets)[:, self.country] + self.within


def learn_linear(seen: Seen, label: Ints, areas: Areas) -> Linear:
    """Learn from photos."""
    weights, offsets = logistic(seen.scaled, areas.country[label], len(areas.codes))
    counts = photo_counts(label, areas)
    within = np.log(counts / np.bincount(areas.country, counts)[areas.country])
    return Linear(weights, offsets, within.astype(np.float32), areas.country)


def logistic(rows: Rows, label: Ints, classes: int) -> tuple[Rows, Rows]:
    """Weights and offsets of a multinomial logistic regression, with the strength that did best."""
    return multinomial(rows, label, classes, strength=_STRENGTH, steps=_STEPS)
