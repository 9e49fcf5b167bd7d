"""Several tries and their verifier held against truths: errors photo by photo, and figures over all of them.

Errors are kilometres in an array with a row a photo and a column a try; NaN or infinity is a try without a point. What
is within a threshold counts as right. Where the errors come from, and what the truth was, nobody here knows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geosleuth.agent.locate import Finding
from geosleuth.answer import Answer
from geosleuth.geo import distance_km
from geosleuth.score import Truth

from .chains import answered


def right(errors_km: ArrayLike, threshold_km: float) -> NDArray[np.bool_]:
    """Which errors count as right; one that is no number does not."""
    errors = np.asarray(errors_km, dtype=np.float64)
    return np.less_equal(errors, threshold_km, where=~np.isnan(errors), out=np.zeros(errors.shape, np.bool_))


def verifier_at_n(verifier_errors_km: ArrayLike, threshold_km: float) -> float:
    """The share of photos that the verifier has right, one error a photo."""
    hits = right(verifier_errors_km, threshold_km)
    if hits.ndim != 1 or not hits.size:
        raise ValueError("the verifier has one error a photo, and there is at least one photo")
    return float(hits.mean())


def mean_single(errors_km: ArrayLike, threshold_km: float) -> float:
    """The share of photos that one try has right, on average: what there was before anybody verified."""
    return float(_tries(errors_km, threshold_km).mean())


def best_at_n(errors_km: ArrayLike, threshold_km: float) -> float:
    """The share of photos that at least one of all N tries has right: what a verifier who always chose well would get.

    A verifier that puts a new answer together can do better.
    """
    return float(_tries(errors_km, threshold_km).any(axis=1).mean())


def range_at_n(errors_km: ArrayLike, threshold_km: float) -> float:
    """How far apart the best and the worst choice among N tries lie, as a difference of shares.

    The share of photos that some try has right, less the share that every try has right: 0 where all tries of a photo
    are alike.
    """
    hits = _tries(errors_km, threshold_km)
    return float(hits.any(axis=1).mean() - hits.all(axis=1).mean())


def pass_at_k(errors_km: ArrayLike, threshold_km: float, k: int) -> float:
    """The chance that at least one of k tries is right, without bias from the n >= k tries that were made.

    For a photo with c right ones of n tries, 1 - C(n - c, k) / C(n, k): the mean over all choices of k of them.

    Raises:
        ValueError: k is not between 1 and n.
    """
    hits = _tries(errors_km, threshold_km)
    n = hits.shape[1]
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and the {n} tries that there are, not {k}")
    of_all = math.comb(n, k)
    return float(np.mean([1.0 - math.comb(n - int(count), k) / of_all for count in hits.sum(axis=1)]))


def _tries(errors_km: ArrayLike, threshold_km: float) -> NDArray[np.bool_]:
    hits = right(errors_km, threshold_km)
    if hits.ndim != 2 or not hits.size:
        raise ValueError("errors have a row a photo and a column a try, and at least one of each")
    return hits


THRESHOLDS_KM = (1.0, 25.0, 200.0, 750.0)


@dataclass(frozen=True, slots=True)
class Errors:
    """How far off the verifier and each try were, in kilometres; NaN where there was no point."""

    verifier_km: float
    tries_km: tuple[float, ...]

    def document(self) -> dict[str, Any]:
        """As JSON has it; what is no number is null."""
        return {"verifier_km": _or_none(self.verifier_km), "tries_km": [_or_none(one) for one in self.tries_km]}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Errors":
        """Read what `document` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        return cls(_number(document["verifier_km"]), tuple(_number(one) for one in document["tries_km"]))


def errors_of(finding: Finding, truth: Truth, tries: int) -> Errors:
    """What a finding is off by; a try that failed, or never began, has no point."""
    answers = [one.answer or Answer() if answered(one) else Answer() for one in finding.team]
    off = [_off(one, truth) for one in answers]
    if not any(map(answered, finding.team)):
        return Errors(math.nan, (math.nan,) * tries)
    return Errors(_off(finding.answer, truth), (*off, *(math.nan for _ in range(tries - len(off)))))


def figures(errors: Sequence[Errors], ks: Sequence[int]) -> dict[str, list[float]]:
    """Each measure at 1, 25, 200 and 750 km, by its name.

    Raises:
        ValueError: there is no photo, or a k is more than there are tries.
    """
    tries = [one.tries_km for one in errors]
    verified = [one.verifier_km for one in errors]
    count = len(tries[0]) if tries else 0
    return {
        f"verifier@{count}": [verifier_at_n(verified, km) for km in THRESHOLDS_KM],
        "mean single": [mean_single(tries, km) for km in THRESHOLDS_KM],
        f"best@{count}": [best_at_n(tries, km) for km in THRESHOLDS_KM],
        **{f"pass@{k}": [pass_at_k(tries, km, k) for km in THRESHOLDS_KM] for k in ks},
        f"range@{count}": [range_at_n(tries, km) for km in THRESHOLDS_KM],
    }


def _off(answer: Answer, truth: Truth) -> float:
    return math.nan if answer.point is None else distance_km(answer.point, truth.point)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("an error is a number of kilometres, or null")
    return float(value)
