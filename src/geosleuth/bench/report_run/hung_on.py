"""What answers hung on: the same photos with something hidden, and how far the answers moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geosleuth.answer.wording import envelope
from geosleuth.bench.compare import PairReport, align, compare_files
from geosleuth.bench.records import read_records
from geosleuth.bench.run.folder import RESULTS
from geosleuth.bench.scored import Scored, score_file
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, distances_km
from geosleuth.score import within
from geosleuth.text import one_line, printable

MOVED_KM = 1.0
"""An answer that moved less says the same place."""

SHOWN = 20
_NAME_CHARS = 120


@dataclass(frozen=True, slots=True)
class Turned:
    """How many photos are right and wrong at a distance, without the mask (first) and with it (second)."""

    threshold_km: float
    both_right: int
    right_to_wrong: int
    wrong_to_right: int
    both_wrong: int
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Shift:
    """One photo under both runs: points, names and errors; NaN is unlocated, and so is ``moved_km`` then."""

    id: str
    first: tuple[float, float]
    second: tuple[float, float]
    first_km: float
    second_km: float
    moved_km: float
    first_place: str = ""
    second_place: str = ""


@dataclass(frozen=True, slots=True)
class HungOn:
    """What became of the answers when ``hidden`` was hidden.

    ``n`` photos have an answer in both runs; ``located`` of them a place in both, and ``moved`` of those places lie
    more than a kilometre apart. ``lost`` answers had a place only before, ``found`` ones only after. ``shifts`` are the
    photos that moved most, then those that lost their place.
    """

    first: str
    second: str
    hidden: str
    n: int
    located: int
    moved: int
    median_moved_km: float
    lost: int
    found: int
    turned: tuple[Turned, ...]
    shifts: tuple[Shift, ...]
    pair: PairReport


def hung_on_of_folders(
    first: Path, second: Path, *, hidden: str = "", distance: DistanceMethod = "geodesic", shown: int = SHOWN
) -> HungOn:
    """Compare two runs over the same photos; the second is the one with something hidden, or changed.

    Raises:
        BadInput: a run has no results, they share no photo, or they disagree on where one was.
    """
    one, two = (
        score_file(folder / RESULTS, parser="lenient", distance=distance, label=folder.name)
        for folder in (first, second)
    )
    return hung_on(one, two, files=(first / RESULTS, second / RESULTS), hidden=hidden, shown=shown)


def hung_on(
    first: Scored,
    second: Scored,
    *,
    files: tuple[Path, Path] | None = None,
    hidden: str = "",
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
    shown: int = SHOWN,
) -> HungOn:
    """The same from results that are scored already; ``files`` are where the names of places are looked up.

    Raises:
        BadInput: they share no photo, or disagree on where one was.
    """
    ids, (rows_one, rows_two) = align([first, second])
    moved_km = distances_km(
        first.lat[rows_one], first.lon[rows_one], second.lat[rows_two], second.lon[rows_two], method=first.distance
    )
    here, there = np.isnan(first.lat[rows_one]), np.isnan(second.lat[rows_two])
    known = moved_km[~np.isnan(moved_km)]
    pair = compare_files(first, second, thresholds_km)
    errors = first.distance_km[rows_one], second.distance_km[rows_two]
    shifts = [
        Shift(
            ids[row],
            (float(first.lat[rows_one[row]]), float(first.lon[rows_one[row]])),
            (float(second.lat[rows_two[row]]), float(second.lon[rows_two[row]])),
            float(errors[0][row]),
            float(errors[1][row]),
            float(moved_km[row]),
        )
        for row in _most_moved(moved_km, ~here & there, shown)
    ]
    return HungOn(
        first=first.label,
        second=second.label,
        hidden=one_line(hidden),
        n=len(ids),
        located=len(known),
        moved=int(np.count_nonzero(known > MOVED_KM)),
        median_moved_km=float(np.median(known)) if len(known) else float("nan"),
        lost=int(np.count_nonzero(~here & there)),
        found=int(np.count_nonzero(here & ~there)),
        turned=tuple(_turned(errors, item.threshold_km, item.p_adjusted) for item in pair.comparison.accuracies),
        shifts=tuple(shifts if files is None else _with_places(shifts, files)),
        pair=pair,
    )


def _most_moved(moved_km: NDArray[np.float64], lost: NDArray[np.bool_], most: int) -> list[int]:
    """Rows that moved by more than a kilometre, farthest first, then those that lost their place."""
    far = np.flatnonzero(moved_km > MOVED_KM)
    ordered = far[np.argsort(-moved_km[far], kind="stable")]
    return [*ordered.tolist(), *np.flatnonzero(lost).tolist()][:most]


def _turned(errors: tuple[NDArray[np.float64], NDArray[np.float64]], threshold_km: float, p_adjusted: float) -> Turned:
    before, after = (within(one, threshold_km) for one in errors)
    return Turned(
        threshold_km,
        both_right=int(np.count_nonzero(before & after)),
        right_to_wrong=int(np.count_nonzero(before & ~after)),
        wrong_to_right=int(np.count_nonzero(~before & after)),
        both_wrong=int(np.count_nonzero(~before & ~after)),
        p_adjusted=p_adjusted,
    )


def _with_places(shifts: Sequence[Shift], files: tuple[Path, Path]) -> list[Shift]:
    wanted = {shift.id for shift in shifts}
    one, two = (_places(file, wanted) for file in files)
    return [
        Shift(
            shift.id, shift.first, shift.second, shift.first_km, shift.second_km, shift.moved_km,
            one.get(shift.id, ""), two.get(shift.id, ""),
        )
        for shift in shifts
    ]  # fmt: skip


def _places(file: Path, wanted: set[str]) -> dict[str, str]:
    """What the answers to a few photos are called."""
    return {
        printable(record.id): one_line(envelope(record.read("lenient").address))[:_NAME_CHARS]
        for record in read_records(file)
        if printable(record.id) in wanted
    }
