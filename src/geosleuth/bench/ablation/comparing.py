"""Variants held against the first of them, on the photos that all of them answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from geosleuth.bench.compare import align
from geosleuth.bench.report import FileReport, report_file
from geosleuth.bench.scored import Field, Scored
from geosleuth.errors import BadInput
from geosleuth.score import Comparison, PublishedRow, compare_paired
from geosleuth.score.statistics import holm

USUAL_KM = (1.0, 25.0, 200.0, 750.0, 2500.0)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a variant did and used, a photo; None where its records don't say.

    ``called_percent`` is the share of photos on which any tool was called, ``failed_percent`` of calls that failed.
    """

    calls: float | None
    called_percent: float | None
    failed_percent: float | None
    turns: float | None
    tokens: float | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A variant on the photos that all have: its figures, and how many of its answers others lack.

    ``published`` is what a paper reports for the same variant, on its own images.
    """

    name: str
    words: str
    report: FileReport
    behaviour: Behaviour
    left_out: int
    published: PublishedRow | None = None


@dataclass(frozen=True, slots=True)
class Against:
    """A variant against the baseline; differences are the variant's minus the baseline's.

    ``p_adjusted`` is Holm's correction of the McNemar tests over every variant and threshold of the ablation,
    ``geoscore_p_adjusted`` of the sign-flip tests over its variants.
    """

    name: str
    comparison: Comparison
    p_adjusted: Mapping[float, float]
    geoscore_p_adjusted: float


@dataclass(frozen=True, slots=True)
class AblationReport:
    """An ablation in figures. ``empty`` are variants that have no answer yet, and are in none of them."""

    n: int
    thresholds_km: tuple[float, ...]
    rows: tuple[Row, ...]
    against: tuple[Against, ...]
    empty: tuple[str, ...] = ()
    data: str = ""

    @property
    def baseline(self) -> Row:
        """What the others are held against."""
        return self.rows[0]


def compare_variants(
    scored: Mapping[str, Scored],
    *,
    words: Mapping[str, str] | None = None,
    published: Mapping[str, PublishedRow] | None = None,
    thresholds_km: Sequence[float] = USUAL_KM,
    empty: Sequence[str] = (),
    data: str = "",
) -> AblationReport:
    """Hold variants against the first of them.

    All figures are over the photos that every variant answered: one that a variant has not come to, or on which its
    model failed, is left out for all of them, so that rows can be compared. How many those are is told.

    Raises:
        BadInput: there are less than two variants, or no photo that all of them answered.
    """
    if len(scored) < 2:
        raise BadInput("there is nothing to compare yet: fewer than two variants have answers; go on with the ablation")
    names = list(scored)
    ids, rows = align(list(scored.values()))
    shared = [chosen_rows(one, chosen, name) for (name, one), chosen in zip(scored.items(), rows, strict=True)]
    baseline = shared[0].distance_km
    comparisons = [compare_paired(baseline, one.distance_km, thresholds_km) for one in shared[1:]]
    cells = [(at, item.threshold_km, item.p) for at, found in enumerate(comparisons) for item in found.accuracies]
    fair = {(at, km): p for (at, km, _), p in zip(cells, holm([p for _, _, p in cells]), strict=True)}
    fair_scores = holm([found.geoscore_p for found in comparisons])
    return AblationReport(
        n=len(ids),
        thresholds_km=tuple(thresholds_km),
        rows=tuple(
            Row(
                name,
                (words or {}).get(name, ""),
                report_file(one, thresholds_km=thresholds_km),
                behaviour_of(one),
                len(scored[name]) - len(ids),
                (published or {}).get(name),
            )
            for name, one in zip(names, shared, strict=True)
        ),
        against=tuple(
            Against(name, found, {km: fair[at, km] for km in thresholds_km}, fair_scores[at])
            for at, (name, found) in enumerate(zip(names[1:], comparisons, strict=True))
        ),
        empty=tuple(empty),
        data=data,
    )


def chosen_rows(scored: Scored, rows: NDArray[np.int64], label: str) -> Scored:
    """Some of the records, in the order given, under a name of their own."""
    place = {int(old): new for new, old in enumerate(rows)}
    return replace(
        scored,
        label=label,
        ids=tuple(scored.ids[row] for row in rows),
        truth_lat=scored.truth_lat[rows],
        truth_lon=scored.truth_lon[rows],
        lat=scored.lat[rows],
        lon=scored.lon[rows],
        distance_km=scored.distance_km[rows],
        probability=scored.probability[rows],
        radius_km=scored.radius_km[rows],
        levels={name: values[rows] for name, values in scored.levels.items()},
        fields={name: Field(column.values, column.codes[rows]) for name, column in scored.fields.items()},
        named_only={place[row]: name for row, name in scored.named_only.items() if row in place},
    )


def behaviour_of(scored: Scored) -> Behaviour:
    """What the records of a run say about calls, turns, tokens and money."""
    calls, failed = _numbers(scored, "calls"), _numbers(scored, "failed_calls")
    tokens = [_numbers(scored, name) for name in ("input_tokens", "output_tokens")]
    total = None if tokens[0] is None or tokens[1] is None else tokens[0] + tokens[1]
    made = 0.0 if calls is None else float(calls.sum())
    return Behaviour(
        calls=_mean(calls),
        called_percent=None if calls is None else 100 * float((calls > 0).mean()),
        failed_percent=100 * float(failed.sum()) / made if failed is not None and made else None,
        turns=_mean(_numbers(scored, "turns")),
        tokens=_mean(total),
        usd=_mean(_numbers(scored, "cost_usd")),
    )


def _numbers(scored: Scored, name: str) -> NDArray[np.float64] | None:
    """A field as numbers, one for each record; None where any record lacks it or has something else."""
    column = scored.fields.get(name)
    if column is None:
        return None
    values = np.asarray([_number(value) for value in column.values], dtype=np.float64)[column.codes]
    return None if np.isnan(values).any() else values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _mean(values: NDArray[np.float64] | None) -> float | None:
    return None if values is None or not len(values) else float(values.mean())
