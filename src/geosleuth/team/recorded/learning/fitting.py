"""Learning whom to trust from images whose truth is known. Only this module and ``replaying`` see truths."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.fitting import logistic
from geosleuth.geo import FloatArray, distances_km
from geosleuth.score import Truth
from geosleuth.team.recorded.design import design, scaling_of, signs
from geosleuth.team.recorded.folding import fold_numbers
from geosleuth.team.recorded.logistic import fit
from geosleuth.team.recorded.panel import BoolArray, IntArray, Panel
from geosleuth.team.recorded.places import count_places
from geosleuth.team.recorded.trust import WITHIN_KM, Trust, choose

FEWEST_IMAGES = 20
_INNER_FOLDS = 5
_RIDGES = (36.0, 12.0, 4.0)  # the tightest first: the others begin where it ended
_FREE = 1e-3  # the constant is hardly held
_FINE = 3  # so many of the finest distances say how exact an agent is
_AS_IF_CALIBRATED = 4.0
_LEAST_SLOPE = 0.05
_RIGHT_KM = 25.0


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Images to learn from: what was said, where they were, and which of them belong together."""

    panel: Panel
    lat: FloatArray
    lon: FloatArray
    groups: IntArray

    @classmethod
    def of(cls, panel: Panel, truths: Sequence[Truth], groups: IntArray) -> "Known":
        """Put truths beside what was said."""
        if not len(panel) == len(truths) == len(groups):
            raise ValueError("there must be one truth and one group for each image")
        points = [truth.point for truth in truths]
        return cls(panel, np.array([p.lat for p in points]), np.array([p.lon for p in points]), groups)

    def rows(self, chosen: IntArray) -> "Known":
        """Some of the images."""
        return Known(self.panel.rows(chosen), self.lat[chosen], self.lon[chosen], self.groups[chosen])

    def errors_km(self) -> FloatArray:
        """Image by agent; infinite where an agent gave no point."""
        errors: FloatArray = np.nan_to_num(
            distances_km(self.panel.lat, self.panel.lon, self.lat[:, None], self.lon[:, None]), nan=np.inf
        )
        return errors


def learn(known: Known, *, seed: int = 0) -> Trust:
    """Learn from images of known truth.

    How tightly weights are held, and calibration, come from cross-validation among these images. An image's own truth,
    and those of its group, never enter the record of places that its row is given.

    Raises:
        BadInput: there are too few images.
    """
    if len(np.unique(known.groups)) < FEWEST_IMAGES:
        raise BadInput(f"learning whom to trust needs at least {FEWEST_IMAGES} different images of known truth")
    panel, errors = known.panel, known.errors_km()
    inner = fold_numbers(known.groups, _INNER_FOLDS, seed)
    raw = signs(panel, _unseen_places(known, errors, inner))
    scaling = scaling_of(panel, raw)
    columns = design(panel, raw, scaling)
    right = (errors[:, :, None] <= np.asarray(WITHIN_KM)).astype(np.float64)
    ridge, weights, unseen = _held(columns, right, panel.answered, inner)
    exactness = right[:, :, :_FINE].mean(axis=(0, 2))
    chosen = choose(panel, unseen, exactness)
    level, slope = _calibration(unseen, right, chosen)
    record = count_places(panel, _within(errors), known.lat, known.lon)
    return Trust(panel.agents, weights, ridge, exactness, level, slope, record, scaling, len(panel))


def _within(errors: FloatArray) -> FloatArray:
    return (errors <= _RIGHT_KM).astype(np.float64)


def _unseen_places(known: Known, errors: FloatArray, inner: IntArray) -> FloatArray:
    """Each image's figures from the record of the other folds."""
    parts = []
    for fold in range(_INNER_FOLDS):
        asked, told = np.flatnonzero(inner == fold), np.flatnonzero(inner != fold)
        others = known.rows(told)
        record = count_places(others.panel, _within(errors[told]), others.lat, others.lon)
        parts.append((asked, record.signs(known.panel.rows(asked))))
    places = np.zeros((*known.panel.lat.shape, parts[0][1].shape[2]))
    for asked, found in parts:
        places[asked] = found
    return places


def _held(
    columns: FloatArray, right: FloatArray, answered: BoolArray, inner: IntArray
) -> tuple[float, FloatArray, FloatArray]:
    """The ridge that predicts unseen folds best, the weights with it, and the log-odds of the unseen folds."""
    best: tuple[float, float, FloatArray, FloatArray] | None = None
    weights: FloatArray | None = None
    for ridge in _RIDGES:
        penalty = np.full(columns.shape[2], ridge)
        penalty[0] = _FREE
        weights = _fit_all(columns[answered], right[answered], penalty, weights)
        unseen = np.zeros(right.shape)
        for fold in range(_INNER_FOLDS):
            told = answered & (inner != fold)[:, None]
            # Begun from the weights of all folds, and walked to its own end: where it begins does not matter.
            part = _fit_all(columns[told], right[told], penalty, weights)
            unseen[inner == fold] = columns[inner == fold] @ part
        scores = unseen[answered]
        loss = float((np.logaddexp(0.0, scores) - right[answered] * scores).mean())
        if best is None or loss < best[0]:
            best = (loss, ridge, weights, unseen)
    assert best is not None  # noqa: S101  -- there is at least one ridge
    return best[1], best[2], best[3]


def _fit_all(rows: FloatArray, right: FloatArray, penalty: FloatArray, start: FloatArray | None = None) -> FloatArray:
    return np.stack(
        [fit(rows, right[:, at], penalty, None if start is None else start[:, at]) for at in range(right.shape[1])],
        axis=1,
    )


def _calibration(unseen: FloatArray, right: FloatArray, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    """By distance a level and a slope that turn the log-odds of chosen answers into calibrated ones."""
    rows = np.flatnonzero(chosen >= 0)
    levels, slopes = [], []
    for at in range(right.shape[2]):
        scores = np.clip(unseen[rows, chosen[rows], at], -30.0, 30.0)
        hits = right[rows, chosen[rows], at]
        # Held near "as it is" (level 0, slope 1): the ridge pulls on the difference from it.
        level, slope = _platt(scores, hits)
        levels.append(level)
        slopes.append(slope)
    return np.array(levels), np.array(slopes)


def _platt(scores: FloatArray, hits: FloatArray) -> tuple[float, float]:
    as_it_is, least = np.array([0.0, 1.0]), np.array([-np.inf, _LEAST_SLOPE])
    rows = np.stack([np.ones(len(scores)), scores], axis=1)
    level, slope = logistic(rows, hits, _AS_IF_CALIBRATED, centre=as_it_is, least=least)
    return float(level), float(slope)
