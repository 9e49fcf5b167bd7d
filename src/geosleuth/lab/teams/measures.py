"""Value of several tries: figures from errors, and the tries of a benchmark run.

Errors are kilometres in an array with a row a photo and a column a try; NaN or infinity is a try without a point. What
is within a threshold counts as right.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geosleuth.agent import read_trajectory
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.run.folder import JOURNAL, RESULTS, RunFolder
from geosleuth.support.errors import BadInput

_TRY = re.compile(r"\.try([0-9]{1,4})\.jsonl")


def right(errors_km: ArrayLike, threshold_km: float) -> NDArray[np.bool_]:
    """Return which errors count as right; one that is no number does not."""
    return np.asarray(np.asarray(errors_km, dtype=np.float64) <= threshold_km, dtype=np.bool_)


def verifier_at_n(verifier_errors_km: ArrayLike, threshold_km: float) -> float:
    """Return the share of photos that the verifier has right, one error a photo."""
    hits = right(verifier_errors_km, threshold_km)
    if hits.ndim != 1 or not hits.size:
        raise ValueError("the verifier has one error a photo, and there is at least one photo")
    return float(hits.mean())


def mean_single(errors_km: ArrayLike, threshold_km: float) -> float:
    """Return the share of photos that one try has right, on average."""
    return float(_tries(errors_km, threshold_km).mean())


def best_at_n(errors_km: ArrayLike, threshold_km: float) -> float:
    """Return the share of photos that at least one of all N tries has right: a verifier who always chose well.

    A verifier that puts a new answer together can do better.
    """
    return float(_tries(errors_km, threshold_km).any(axis=1).mean())


def range_at_n(errors_km: ArrayLike, threshold_km: float) -> float:
    """Return the share of photos that some try has right, less the share that every try has right."""
    hits = _tries(errors_km, threshold_km)
    return float(hits.any(axis=1).mean() - hits.all(axis=1).mean())


def pass_at_k(errors_km: ArrayLike, threshold_km: float, k: int) -> float:
    """Return the chance that at least one of k tries is right, without bias from the n >= k tries that were made.

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


def tries_figures(
    errors_km: ArrayLike, verified_km: ArrayLike | None, thresholds_km: Sequence[float], ks: Sequence[int] = ()
) -> dict[str, list[float]]:
    """Return each measure at the distances; without ``ks``, K is 1, 2, 4 and so on up to N.

    Raises:
        BadInput: a K is more than there are tries.
    """
    count = np.shape(errors_km)[1]
    if any(not 1 <= k <= count for k in ks):
        raise BadInput(f"pass@K needs K from 1 to the {count} tries that there are")
    chosen = ks or [1 << power for power in range(count.bit_length())]
    found = {"mean single": [mean_single(errors_km, km) for km in thresholds_km]}
    if count > 1:
        found |= {f"pass@{k}": [pass_at_k(errors_km, km, k) for km in thresholds_km] for k in chosen}
        found[f"best@{count}"] = [best_at_n(errors_km, km) for km in thresholds_km]
        found[f"range@{count}"] = [range_at_n(errors_km, km) for km in thresholds_km]
        if verified_km is not None:
            found[f"verifier@{count}"] = [verifier_at_n(verified_km, km) for km in thresholds_km]
    return found


@dataclass(frozen=True, slots=True)
class TriedPhoto:
    """A photo of a run: where it was taken, the run's answer, and those of its single tries, if it had several."""

    id: str
    truth: LatLon
    answer: LatLon | None
    tries: tuple[LatLon | None, ...]


def read_tried_photos(path: Path) -> Iterator[TriedPhoto]:
    """Yield every answered photo of a benchmark run, in the order of its results; failed or cut-off ones don't count.

    Raises:
        BadInput: it is no folder of a run, or a file of it is missing or damaged.
    """
    if not (path / JOURNAL).is_file() or not (path / RESULTS).is_file():
        raise BadInput(f"{path}: no {RESULTS} here; give the folder of a finished or stopped run")
    with RunFolder.read(path) as run:
        truths = {record.id: record.truth.point for record in read_records(run.results)}
        found: dict[str, list[TriedPhoto]] = {truth: [] for truth in truths}
        for made in run.tries():
            if made.outcome != "answered" or made.id not in found:
                continue
            files = run.list_files(made.image, made.number)
            own = sorted((int(named[1]), file) for file in files if (named := _TRY.search(file.name)))
            answers = (read_trajectory(file).answer for _, file in own)
            points = tuple(None if answer is None else answer.point for answer in answers)
            found[made.id].append(TriedPhoto(made.id, truths[made.id], made.answer.point, points))
    for photos in found.values():
        yield from photos


def _tries(errors_km: ArrayLike, threshold_km: float) -> NDArray[np.bool_]:
    hits = right(errors_km, threshold_km)
    if hits.ndim != 2 or not hits.size:
        raise ValueError("errors have a row a photo and a column a try, and at least one of each")
    return hits
