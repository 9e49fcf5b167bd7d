"""Is an answerer as sure as it should be: risk against coverage, and calibration."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .metrics import within


@dataclass(frozen=True, slots=True)
class SelectivePoint:
    """Keep the surest answers only: which share of all records is answered, and which share of those is wrong."""

    coverage: float
    risk: float
    least_confidence: float


@dataclass(frozen=True, slots=True)
class Selective:
    """Risk against coverage at one threshold.

    ``points`` run from the surest answers to all answers. Records without a point or a stated confidence are never
    answered here, so full coverage may stay below 1. ``area`` is the mean risk over the covered range (lower is
    better), ``ideal_area`` what a perfect ordering of the same answers would reach.
    """

    threshold_km: float
    n: int
    with_confidence: int
    points: tuple[SelectivePoint, ...]
    area: float
    ideal_area: float

    def risk_at(self, coverage: float) -> float | None:
        """Risk of the smallest selection that covers at least this share of all records; None if none does."""
        return next((point.risk for point in self.points if point.coverage >= coverage - 1e-12), None)


def selective(
    distance_km: NDArray[np.float64], confidence: NDArray[np.float64], threshold_km: float
) -> Selective | None:
    """Leave out the least sure answers, one confidence value at a time; None where no answer states a confidence."""
    usable = ~np.isnan(confidence) & ~np.isnan(distance_km)
    count = int(np.count_nonzero(usable))
    if count == 0:
        return None
    order = np.argsort(-confidence[usable], kind="stable")
    sure = confidence[usable][order]
    wrong = (~within(distance_km[usable], threshold_km))[order]
    # Equal confidences can't be told apart: they enter together.
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
class CalibrationBin:
    """Answers of about equal stated probability: what they said and how often it was so."""

    n: int
    stated: float
    observed: float


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
    """Expected calibration error over equal-width bins; None where no answer states both probability and radius."""
    usable = ~(np.isnan(distance_km) | np.isnan(probability) | np.isnan(radius_km))
    count = int(np.count_nonzero(usable))
    if count == 0:
        return None
    stated = probability[usable]
    inside = distance_km[usable] <= radius_km[usable]
    index = np.minimum((stated * bins).astype(np.int64), bins - 1)
    filled = [
        CalibrationBin(int(chosen.sum()), float(stated[chosen].mean()), float(inside[chosen].mean()))
        for chosen in (index == number for number in range(bins))
        if chosen.any()
    ]
    error = sum(item.n * abs(item.stated - item.observed) for item in filled) / count
    return Calibration(count, tuple(filled), error)
