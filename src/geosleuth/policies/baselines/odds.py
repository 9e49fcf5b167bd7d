"""How probable it is that the answer of a gallery is right: learned from its own photos, each held out."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from geosleuth.fitting import logistic
from geosleuth.geo import FloatArray, LatLon, density_mode, great_circle_km
from geosleuth.photo.eyes import Features

from .neighbours import Neighbours, Rows

How = Literal["first", "spread"]

FEWEST: Final = 30
"""A smaller gallery can't tell how often it is right."""

_HELD_OUT: Final = 400
SAME: Final = 1 - 2e-6
"""Rows with such a cosine are of one picture."""

_STEADY: Final = 1.0


@dataclass(frozen=True, slots=True)
class Vote:
    """What neighbours amount to: whose place is the answer, and how much of the others' weight lies near it."""

    chosen: int
    agreement: float
    cosine: float


@dataclass(frozen=True, slots=True)
class Odds:
    """P(right) as a logistic function of the agreement and of how alike the nearest is; ``photos`` were held out."""

    weights: tuple[float, float, float]
    middle: float
    spread: float
    photos: int

    def probability(self, vote: Vote) -> float:
        """The probability for one vote; never surer than the held-out photos allow."""
        offset, agreement, alike = self.weights
        # Nothing is known about photos less or more alike than those held out: the edge stands for what lies beyond.
        seen = float(np.clip((vote.cosine - self.middle) / self.spread, -3.0, 3.0))
        value = 1 / (1 + np.exp(-(offset + agreement * vote.agreement + alike * seen)))
        least = 1 / (self.photos + 2)
        return float(np.clip(value, least, 1 - least))


def vote_of(lats: FloatArray, lons: FloatArray, cosines: Features, how: How, within_km: float) -> Vote:
    """The vote of neighbours, nearest first; each counts with one over its rank.

    "first" takes the nearest. "spread" looks where they lie most densely, at the scale of ``within_km``, and takes the
    nearest of those around there: several that agree outvote one that is a little more alike.
    """
    weights = 1 / np.arange(1, len(lats) + 1)
    chosen = 0
    if how == "spread" and len(lats) > 1:
        middle: LatLon = density_mode(lats, lons, within_km, weights)
        away = great_circle_km(middle.lat, middle.lon, lats, lons)
        near = np.flatnonzero(away <= within_km)
        chosen = int(near[0]) if near.size else int(np.argmin(away))
    others = np.arange(len(lats)) != chosen
    near_km = great_circle_km(float(lats[chosen]), float(lons[chosen]), lats, lons) <= within_km
    total = float(weights[others].sum())
    agreement = float(weights[others & near_km].sum()) / total if total else 0.0
    return Vote(chosen, agreement, float(cosines[0]))


def learn_odds(
    neighbours: Neighbours, features: Features, lats: FloatArray, lons: FloatArray, k: int, how: How, within_km: float
) -> Odds | None:
    """What the gallery's own photos teach, each asked about as if it were not in it; None for a small gallery.

    It holds for photos that stand to the gallery as its own photos stand to each other.
    """
    if len(features) < FEWEST:
        return None
    chance = np.random.default_rng(0)
    asked = np.sort(chance.choice(len(features), min(_HELD_OUT, len(features)), replace=False))
    # A few more than needed: itself, and copies of it, are taken out.
    rows, cosines = neighbours.search(features[asked], min(k + 5, len(features)))
    given, right = [], []
    for number, (near, alike) in zip(asked.tolist(), zip(rows, cosines, strict=True), strict=True):
        kept = others_than(number, near, alike)[:k]
        if not kept.size:
            continue
        vote = vote_of(lats[near[kept]], lons[near[kept]], alike[kept], how, within_km)
        chosen = near[kept[vote.chosen]]
        away = great_circle_km(float(lats[chosen]), float(lons[chosen]), float(lats[number]), float(lons[number]))
        given.append((vote.agreement, vote.cosine))
        right.append(away <= within_km)
    if len(given) < FEWEST:
        return None
    return _fitted(np.array(given), np.array(right, dtype=np.float64))


def others_than(number: int | None, rows: Rows, cosines: Features) -> Rows:
    """Which of the neighbours are other pictures than the one asked about."""
    kept: Rows = np.flatnonzero((rows != (-1 if number is None else number)) & (cosines < SAME))
    return kept


def _fitted(given: FloatArray, right: FloatArray) -> Odds:
    """Logistic regression; a small penalty keeps it steady where all are right or all wrong."""
    middle, spread = float(given[:, 1].mean()), float(max(given[:, 1].std(), 1e-6))
    alike = np.clip((given[:, 1] - middle) / spread, -3.0, 3.0)
    rows = np.stack([np.ones(len(given)), given[:, 0], alike], axis=1)
    weights = logistic(rows, right, _STEADY)
    offset, agreement, seen = (float(value) for value in weights)
    return Odds((offset, agreement, seen), middle, spread, len(given))
