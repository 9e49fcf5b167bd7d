"""Two or three scored files side by side: paired comparison, images that moved, tiers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geosleuth.answer import ParserName
from geosleuth.errors import BadInput
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, great_circle_km
from geosleuth.score import Comparison, compare_paired, easy, score_or_zero

from .scored import Scored

# Truths of one image that are nearer than a metre differ by rounding alone.
_SAME_PLACE_KM = 0.001


@dataclass(frozen=True, slots=True)
class Side:
    """One of the files: how it was read, and how many of the images that all files have it leaves unlocated.

    ``left_out`` counts its images that another file lacks.
    """

    label: str
    sha256: str
    parser: ParserName
    distance: DistanceMethod
    n: int
    unlocated: int
    left_out: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """One image whose score differs: its error under both (NaN is unlocated) and the GeoScore gained or lost."""

    id: str
    first_km: float
    second_km: float
    gain: float


@dataclass(frozen=True, slots=True)
class PairReport:
    """Second against first on the images both have; ``moved`` largest change first."""

    first: Side
    second: Side
    comparison: Comparison
    moved: tuple[Moved, ...]


def compare_files(first: Scored, second: Scored, thresholds_km: Sequence[float] = THRESHOLDS_KM) -> PairReport:
    """Pair two files by image id.

    Raises:
        BadInput: they share no image, or disagree on where an image really was.
    """
    ids, (rows_one, rows_two) = align([first, second])
    one, two = first.distance_km[rows_one], second.distance_km[rows_two]
    gain = score_or_zero(two) - score_or_zero(one)
    order = np.argsort(-np.abs(gain), kind="stable")
    return PairReport(
        first=_side(first, rows_one),
        second=_side(second, rows_two),
        comparison=compare_paired(one, two, thresholds_km),
        moved=tuple(
            Moved(ids[row], float(one[row]), float(two[row]), float(gain[row])) for row in order if gain[row] != 0
        ),
    )


@dataclass(frozen=True, slots=True)
class Tiers:
    """Which images are easy (True) and which hard, and by whom that was judged."""

    judges: tuple[Side, ...]
    threshold_km: float
    ids: tuple[str, ...]
    easy: NDArray[np.bool_]


def tier_files(files: Sequence[Scored], threshold_km: float = 10.0) -> Tiers:
    """Tier the images that all files share.

    Raises:
        BadInput: fewer than two files, no shared image, or conflicting truths.
    """
    if len(files) < 2:
        raise BadInput("tiers need at least two files; the papers use three")
    ids, rows = align(files)
    distances = [scored.distance_km[chosen] for scored, chosen in zip(files, rows, strict=True)]
    judges = tuple(_side(scored, chosen) for scored, chosen in zip(files, rows, strict=True))
    return Tiers(judges, threshold_km, ids, easy(distances, threshold_km))


def _side(scored: Scored, rows: NDArray[np.int64]) -> Side:
    return Side(
        label=scored.label,
        sha256=scored.sha256,
        parser=scored.parser,
        distance=scored.distance,
        n=len(rows),
        unlocated=int(np.count_nonzero(np.isnan(scored.distance_km[rows]))),
        left_out=len(scored) - len(rows),
        notes=scored.notes,
    )


def align(files: Sequence[Scored]) -> tuple[tuple[str, ...], list[NDArray[np.int64]]]:
    """The ids that all files have, in the first file's order, and each file's rows for them."""
    where = [{name: row for row, name in enumerate(scored.ids)} for scored in files]
    ids = tuple(name for name in files[0].ids if all(name in rows for rows in where[1:]))
    if not ids:
        labels = " and ".join(scored.label for scored in files)
        raise BadInput(f"{labels} share no image id, so they can't be paired")
    rows = [np.asarray([index[name] for name in ids], dtype=np.int64) for index in where]
    _check_same_truths(files, ids, rows)
    return ids, rows


def _check_same_truths(files: Sequence[Scored], ids: tuple[str, ...], rows: list[NDArray[np.int64]]) -> None:
    lat, lon = files[0].truth_lat[rows[0]], files[0].truth_lon[rows[0]]
    for scored, chosen in zip(files[1:], rows[1:], strict=True):
        differs = great_circle_km(scored.truth_lat[chosen], scored.truth_lon[chosen], lat, lon) > _SAME_PLACE_KM
        if differs.any():
            image = ids[int(np.flatnonzero(differs)[0])]
            raise BadInput(
                f"{files[0].label} and {scored.label} disagree on where {int(differs.sum())} image(s) were, "
                f"for example {image}; they are not answers to the same data"
            )
