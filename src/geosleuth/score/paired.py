"""Two answerers on the same images: who is better, how sure is that, and which images moved."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import GEOSCORE_MAX, THRESHOLDS_KM, geoscore

from .metrics import within
from .statistics import Estimate, holm, mcnemar_p, mean_estimate, sign_flip_p


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
    """Everything about a pair; differences are second minus first."""

    n: int
    accuracies: tuple[PairedAccuracy, ...]
    geoscore_difference: Estimate
    geoscore_p: float


def compare_paired(
    first_km: NDArray[np.float64],
    second_km: NDArray[np.float64],
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
) -> Comparison:
    """Compare two answerers whose distances are aligned image by image; NaN is unlocated."""
    n = len(first_km)
    if n != len(second_km) or n == 0:
        raise ValueError("a paired comparison needs the same images, at least one, in both")
    counts = []
    for km in thresholds_km:
        one, two = within(first_km, km), within(second_km, km)
        only_first, only_second = int((one & ~two).sum()), int((two & ~one).sum())
        counts.append((km, int(one.sum()), int(two.sum()), only_first, only_second, mcnemar_p(only_first, only_second)))
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
    """GeoScore per record, 0 where unlocated."""
    return np.nan_to_num(np.asarray(geoscore(distance_km), dtype=np.float64), nan=0.0)


def easy(distances_km: Sequence[NDArray[np.float64]], threshold_km: float = 10.0) -> NDArray[np.bool_]:
    """MAPBench's tiers: easy where at least two answerers of three are within 10 km, else hard.

    With another number of answerers, at least two thirds of them must be.
    """
    votes = np.sum([within(distance, threshold_km) for distance in distances_km], axis=0)
    return np.asarray(votes * 3 >= 2 * len(distances_km), dtype=np.bool_)
