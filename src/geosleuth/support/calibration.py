"""Compare stated probabilities with how often they came true."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Answers of similar stated probability: the stated mean and the observed frequency."""

    n: int
    stated: float
    observed: float


def bin_probabilities(
    stated: npt.NDArray[np.float64], came_true: npt.NDArray[np.bool_], bins: int = 10
) -> tuple[CalibrationBin, ...]:
    """Return the bins of equal width that hold any answer."""
    index = np.minimum((stated * bins).astype(np.int64), bins - 1)
    return tuple(
        CalibrationBin(int(chosen.sum()), float(stated[chosen].mean()), float(came_true[chosen].mean()))
        for chosen in (index == number for number in range(bins))
        if chosen.any()
    )


def compute_calibration_error(bins: Sequence[CalibrationBin]) -> float:
    """Return the mean distance between stated and observed, weighted by answers; 0 without any."""
    return sum(item.n * abs(item.stated - item.observed) for item in bins) / max(1, sum(item.n for item in bins))
