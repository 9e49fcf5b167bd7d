"""Calibration of answers: a small monotone map from stated to observed accuracy, kept as data.

    logit P(right) = level + slope * logit(probability) + kinds * log(1 + number of kinds) + margin * margin

with one constant for each level, and slopes of zero or more: an answer that is surer, rests on more kinds of clues or
stands further before the next is never called less likely to be right. What is little likelier than not is stated below
a half (``claim``). The figures lie in ``data/calibration.json`` with where they come from.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from math import exp, isfinite, log, log1p
from typing import Any, get_args

import numpy as np

from geosleuth.support.errors import DataFault
from geosleuth.support.fitting import logistic

from .decision import STATED_KINDS, Decision, Level

# Bounds of a stated probability: no answer from a photo is surer than that.
LEAST, MOST = 0.01, 0.99

# Stated probability from which people act on an answer.
ACTIONABLE_PROBABILITY = 0.5

_LEVELS: tuple[Level, ...] = tuple(level for level in get_args(Level) if level != "none")
_FEATURES = ("slope", "kinds", "margin")
_PRIOR: Mapping[str, float] = {"slope": 0.8, "kinds": 0.0, "margin": 0.0}
_PRIOR_WEIGHT = 2.0  # as if so many scenes had spoken for the default
_STATED = STATED_KINDS | {"sighting"}
_NEAREST = 1e-4


@dataclass(frozen=True, slots=True)
class CalibrationSample:
    """An answer whose truth is known: what it said, and whether the truth lay within its radius."""

    level: Level
    probability_raw: float
    kinds: int
    margin: float
    right: bool

    @classmethod
    def create(cls, decision: Decision, *, right: bool) -> "CalibrationSample":
        """Return the sample of a decision."""
        return cls(decision.level, decision.probability_raw, decision.kinds, decision.margin, right)


@dataclass(frozen=True, slots=True)
class ConfidenceMap:
    """The map: constants by level, and what each feature counts for.

    What was right less often than ``claim`` is stated below `ACTIONABLE_PROBABILITY`, in proportion: a wrong claim
    costs more than a right one that is held back.
    """

    levels: Mapping[str, float]
    slope: float
    kinds: float
    margin: float
    provenance: str
    claim: float = ACTIONABLE_PROBABILITY

    def probability(self, decision: Decision | CalibrationSample) -> float:
        """The probability that such an answer is right; 0 where there is none."""
        if decision.level == "none":
            return 0.0
        features = _features(decision)
        weights = (self.slope, self.kinds, self.margin)
        score = self.levels[decision.level] + sum(w * x for w, x in zip(weights, features, strict=True))
        measured = 1 / (1 + exp(-min(max(score, -50.0), 50.0)))
        stated = measured if measured >= self.claim else measured * ACTIONABLE_PROBABILITY / self.claim
        return min(MOST, max(LEAST, stated))


def apply(decision: Decision | CalibrationSample, calibration: ConfidenceMap | None = None) -> float:
    """The calibrated probability of a decision, by the shipped map or by another.

    The map was measured on what photos show. Where nothing but the user's word speaks for an answer, it does not apply,
    and the answer is as likely as the clues say.
    """
    if isinstance(decision, Decision) and _is_somebodys_word(decision):
        return min(MOST, max(LEAST, decision.probability_raw))
    return (calibration or load_calibration()).probability(decision)


def fit(
    samples: Iterable[CalibrationSample],
    *,
    claim: float = ACTIONABLE_PROBABILITY,
    provenance: str = "fitted, nobody said on what",
) -> dict[str, Any]:
    """The map that fits answers of known truth best, as `from_json` reads it.

    Logistic regression, held near the default by a weak prior, so that few samples or a level without any still give a
    sensible map; slopes are kept from falling below zero. Deterministic for any order of the samples. Answers of
    the level "none" are passed over.
    """
    rows = [sample for sample in samples if sample.level != "none"]
    size = len(_LEVELS) + len(_FEATURES)
    features = np.zeros((len(rows), size))
    for number, sample in enumerate(rows):
        features[number, _LEVELS.index(sample.level)] = 1.0
        features[number, len(_LEVELS) :] = _features(sample)
    right = np.array([float(sample.right) for sample in rows])
    default = np.array([*(0.0 for _ in _LEVELS), *_PRIOR.values()])
    least = np.array([*(-np.inf for _ in _LEVELS), *(0.0 for _ in _FEATURES)])
    weights = logistic(features, right, _PRIOR_WEIGHT, centre=default, least=least)
    levels = {level: round(float(value), 6) for level, value in zip(_LEVELS, weights, strict=False)}
    slopes = {name: round(float(value), 6) for name, value in zip(_FEATURES, weights[len(_LEVELS) :], strict=True)}
    return {"levels": levels, **slopes, "claim": claim, "provenance": provenance, "samples": len(rows)}


def from_json(table: Mapping[str, Any]) -> ConfidenceMap:
    """A map from its stored form.

    Raises:
        ValueError: something is missing, is no number, or would turn surer answers into less likely ones.
    """
    levels = table.get("levels")
    if not isinstance(levels, Mapping) or set(levels) != set(_LEVELS):
        raise ValueError(f"a calibration has a figure for each of {', '.join(_LEVELS)}")
    figures = {name: table.get(name) for name in _FEATURES}
    claim = table.get("claim", ACTIONABLE_PROBABILITY)
    for value in (*levels.values(), *figures.values(), claim):
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise ValueError("every figure of a calibration is a finite number")
    slopes = {name: float(value) for name, value in figures.items() if value is not None}
    if min(slopes.values()) < 0:
        raise ValueError("the slopes of a calibration are zero or more")
    if not ACTIONABLE_PROBABILITY <= claim < 1:
        raise ValueError("the claim of a calibration is at least 0.5 and less than 1")
    constants = {name: float(value) for name, value in levels.items()}
    return ConfidenceMap(levels=constants, provenance=str(table.get("provenance", "")), claim=claim, **slopes)


def to_json(calibration: ConfidenceMap) -> dict[str, Any]:
    """The stored form of a map."""
    return asdict(calibration)


@cache
def load_calibration() -> ConfidenceMap:
    """The map that ships with the package.

    Raises:
        DataFault: it is missing or damaged.
    """
    source = files("geosleuth.evidence") / "data" / "calibration.json"
    try:
        return from_json(json.loads(source.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError) as error:
        raise DataFault(f"the calibration of answers can't be read: {source}") from error


def _is_somebodys_word(decision: Decision) -> bool:
    kinds = {clue.kind for clue in decision.supporting}
    return bool(kinds) and kinds <= _STATED and not decision.contradicting


def _features(decision: Decision | CalibrationSample) -> tuple[float, float, float]:
    p = min(max(decision.probability_raw, _NEAREST), 1 - _NEAREST)
    return log(p / (1 - p)), log1p(max(0, decision.kinds)), min(max(decision.margin, 0.0), 1.0)
