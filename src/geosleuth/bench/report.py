"""What ``bench score`` says about a file, as data: the terminal, JSON, CSV and HTML outputs only render it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.geo import THRESHOLDS_KM
from geosleuth.score import Calibration, Selective, Summary, calibration, selective, summarise

from .scored import Scored

SELECTIVE_KM = 25.0


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
        BadInput: a field that no record has.
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
