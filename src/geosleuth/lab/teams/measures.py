"""How much several tries are worth: figures from errors alone.

Errors are kilometres in an array with a row a photo and a column a try; NaN or infinity is a try without a point. What
is within a threshold counts as right. Where the errors come from, and what the truth was, nobody here knows.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
