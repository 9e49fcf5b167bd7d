"""The results of ``bench score`` and ``bench compare`` as data: a file's figures, pairs of files, published rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from geosleuth.answer import ParserName
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, great_circle_km, threshold_text
from geosleuth.lab.score import (
    Calibration,
    Comparison,
    PublishedRow,
    Selective,
    Summary,
    calibration,
    compare_paired,
    easy,
    list_published_rows,
    papers,
    score_or_zero,
    selective,
    summarise,
)
from geosleuth.lab.score.metrics import holm
from geosleuth.lab.score.published import canonical_dataset
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import count

from .scored import UNKNOWN, Scored

SELECTIVE_KM = 25.0

# Truths of one image closer than a metre differ only by rounding.
_SAME_PLACE_KM = 0.001


@dataclass(frozen=True, slots=True)
class Slice:
    """The records that share one value of a field."""

    field: str
    value: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class FileReport:
    """All figures of one scored file."""

    scored: Scored
    summary: Summary
    slices: tuple[Slice, ...]
    selective: Selective | None
    calibration: Calibration | None


def report_file(
    scored: Scored,
    *,
    by: Iterable[str] = (),
    thresholds_km: Sequence[float] = THRESHOLDS_KM,
    selective_km: float = SELECTIVE_KM,
) -> FileReport:
    """Compute the figures of a scored file, sliced by the named fields, largest slices first.

    Raises:
        BadInput: no record has a field of that name.
    """
    return FileReport(
        scored=scored,
        summary=summarise(scored.distance_km, scored.levels, thresholds_km),
        slices=tuple(item for field in dict.fromkeys(by) for item in _slices(scored, field, thresholds_km)),
        selective=selective(scored.distance_km, scored.probability, selective_km),
        calibration=calibration(scored.distance_km, scored.probability, scored.radius_km),
    )


def _slices(scored: Scored, field: str, thresholds_km: Sequence[float]) -> list[Slice]:
    column = scored.fields.get(field)
    if column is None:
        known = ", ".join(sorted(scored.fields))
        raise BadInput(f"{scored.label}: no record has a field {field!r}; there are: {known}")
    # One stable sort groups all slices; a scan per value would cost values times records.
    order = np.argsort(column.codes, kind="stable")
    starts = np.searchsorted(column.codes[order], np.arange(len(column.values) + 1))
    slices = []
    for code, value in enumerate(column.values):
        rows = order[starts[code] : starts[code + 1]]
        levels = {name: values[rows] for name, values in scored.levels.items()}
        slices.append(Slice(field, value, summarise(scored.distance_km[rows], levels, thresholds_km)))
    return sorted(slices, key=lambda item: (-item.summary.n, item.value))


@dataclass(frozen=True, slots=True)
class Side:
    """One of the files: how it was read, and how many of the shared images it leaves unlocated.

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
    """Second against first on the images both have; ``moved`` by largest change."""

    first: Side
    second: Side
    comparison: Comparison
    moved: tuple[Moved, ...]


def compare_files(first: Scored, second: Scored, thresholds_km: Sequence[float] = THRESHOLDS_KM) -> PairReport:
    """Pair two files by image id.

    Raises:
        BadInput: they share no image, or disagree on where an image was taken.
    """
    ids, (rows_one, rows_two) = align([first, second])
    item, two = first.distance_km[rows_one], second.distance_km[rows_two]
    gain = score_or_zero(two) - score_or_zero(item)
    order = np.argsort(-np.abs(gain), kind="stable")
    return PairReport(
        first=_side(first, rows_one),
        second=_side(second, rows_two),
        comparison=compare_paired(item, two, thresholds_km),
        moved=tuple(
            Moved(ids[row], float(item[row]), float(two[row]), float(gain[row])) for row in order if gain[row] != 0
        ),
    )


def correct_together(pairs: Iterable[PairReport]) -> list[PairReport]:
    """Return pairs that are read side by side, with Holm's correction over the rows of all of them."""
    found = list(pairs)
    adjusted = iter(holm([item.p for pair in found for item in pair.comparison.accuracies]))
    corrected = []
    for pair in found:
        rows = tuple(replace(item, p_adjusted=next(adjusted)) for item in pair.comparison.accuracies)
        corrected.append(replace(pair, comparison=replace(pair.comparison, accuracies=rows)))
    return corrected


@dataclass(frozen=True, slots=True)
class Tiers:
    """Easy (True) and hard images, and the files by which that was judged."""

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
    """Return the ids that all files have, in the first file's order, and each file's rows for them."""
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
                f"{files[0].label} and {scored.label} disagree on where {int(differs.sum())} image(s) were taken, "
                f"for example {image}; they are not answers to the same data"
            )


def find_dataset_rows(dataset: str) -> tuple[PublishedRow, ...]:
    """Return the papers' accuracy rows on a data set.

    Raises:
        BadInput: no paper reports accuracies on it; the message lists the known sets.
    """
    rows = tuple(row for row in list_published_rows(dataset=dataset) if _has_accuracy(row))
    if not rows:
        known = sorted({row.dataset for paper in papers() for row in paper.rows if _has_accuracy(row)})
        raise BadInput(f"no published accuracy on {dataset!r}; there are rows on: {', '.join(known)}")
    return rows


def _has_accuracy(row: PublishedRow) -> bool:
    return any(metric.startswith("acc@") for metric in row.values)


def beside(row: PublishedRow, reports: Sequence[FileReport]) -> str:
    """Return how a row's images relate to the scored ones: the same number of the same set, another subset, or others.

    The records' field ``data_source`` decides; without it the relation is unknown.
    """
    sources = [column.values for report in reports if (column := report.scored.fields.get("data_source")) is not None]
    ours = {canonical_dataset(name) for names in sources for name in names}
    if row.dataset not in ours and _find_parent_set(row.dataset) not in ours:
        silent = len(sources) < len(reports) or any(UNKNOWN in names for names in sources)
        return f"not known whether the same images: {row.dataset}" if silent else f"other images: {row.dataset}"
    if row.n is None:
        return f"{row.dataset}, number of images not known"
    if row.n in {report.summary.n for report in reports}:
        return f"{row.dataset}, same n"
    return f"{row.dataset}, another subset (n = {count(row.n)})"


def _find_parent_set(dataset: str) -> str:
    return dataset.removesuffix("-easy").removesuffix("-hard")


def get_reported_percent(row: PublishedRow, km: float) -> float | None:
    """Return the percentage that a row reports within a distance; None if it reports none."""
    return row.values.get(f"acc@{threshold_text(km)}km")


def filter_by_distance(rows: Sequence[PublishedRow], thresholds_km: Iterable[float]) -> list[PublishedRow]:
    """Return the rows that report at least one of the distances: the others would have no figure."""
    wanted = list(thresholds_km)
    return [row for row in rows if any(get_reported_percent(row, km) is not None for km in wanted)]
