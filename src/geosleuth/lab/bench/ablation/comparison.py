"""Variants compared with the first, on the photos that all answered; for terminals and programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth import __version__
from geosleuth.geo import threshold_text
from geosleuth.lab.bench.export import finite, published_dict
from geosleuth.lab.bench.report import FileReport, align, report_file, reported_percent
from geosleuth.lab.bench.scored import Field, Scored
from geosleuth.lab.score import Accuracy, Comparison, Estimate, PublishedRow, compare_paired
from geosleuth.lab.score.metrics import holm
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import NONE, count, p_value, plural

USUAL_KM = (1.0, 25.0, 200.0, 750.0, 2500.0)

FORMAT = "geosleuth-ablation-report/1"
CLEAR_P = 0.05
TESTS = (
    "p: exact McNemar test on the photos where only one of the two is right, corrected by Holm over all distances and "
    "variants; GeoScore by sign flips, corrected by Holm over the variants"
)
USED = ("photos with a call, %", "calls", "failed calls, %", "turns", "tokens", "USD")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a variant did and used per photo; None if its records don't say.

    ``called_percent`` is the share of photos with any tool call, ``failed_percent`` that of failed calls.
    """

    calls: float | None
    called_percent: float | None
    failed_percent: float | None
    turns: float | None
    tokens: float | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A variant on the shared photos: its figures, and how many of its answers others lack.

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
    """An ablation in figures. ``empty`` are variants without answers so far, which are not included."""

    n: int
    thresholds_km: tuple[float, ...]
    rows: tuple[Row, ...]
    against: tuple[Against, ...]
    empty: tuple[str, ...] = ()
    data: str = ""

    @property
    def baseline(self) -> Row:
        """Return the row that the others are compared with."""
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
    """Compare variants with the first.

    All figures are over the photos that every variant answered: a photo that one has not reached, or on which its model
    failed, is left out for all, so that rows can be compared. The number left out is reported.

    Raises:
        BadInput: there are fewer than two variants, or no photo that all of them answered.
    """
    if len(scored) < 2:
        raise BadInput("nothing to compare yet: fewer than two variants have answers; continue the ablation")
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
    """Return some of the records, in the order given, under another name."""
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
    """Return what the records of a run say about calls, turns, tokens and money."""
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
    """Return a field as numbers, one per record; None if any record lacks it or has something else."""
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


def ablation_view(report: AblationReport) -> RenderableType:
    """Return the variants' figures, their differences from the first, what they used, and the paper's rows."""
    parts: list[RenderableType] = [
        Text(f"{plural(len(report.rows), 'variant', 'variants')} on the same {plural(report.n, 'photo', 'photos')}"),
        _figures(report),
        _differences(report),
        Text(TESTS, style="dim"),
        _used(report),
    ]
    if any(row.published for row in report.rows):
        parts.append(_published(report))
    parts += [Text(line, style="yellow") for line in remarks(report)]
    return Group(*parts)


def remarks(report: AblationReport) -> Iterable[str]:
    """Yield what the figures leave out."""
    lacking = [f"{row.name} {count(row.left_out)}" for row in report.rows if row.left_out]
    if lacking:
        yield f"left out of all figures, since another variant has no answer to the same photo: {', '.join(lacking)}"
    if report.empty:
        yield f"no answer yet: {', '.join(report.empty)}"


def _figures(report: AblationReport) -> RenderableType:
    table = _table(report)
    for row in report.rows:
        summary = row.report.summary
        shares = [_share(summary.within[km]) for km in report.thresholds_km]
        table.add_row(row.name, count(summary.unlocated), *shares, f"{summary.geoscore.value:,.0f}")
    return _titled("Percent within … km, 95 % intervals", table)


def _differences(report: AblationReport) -> RenderableType:
    table = _table(report)
    lost = report.baseline.report.summary.unlocated
    for row, one in zip(report.rows[1:], report.against, strict=True):
        table.add_row(
            row.name,
            f"{row.report.summary.unlocated - lost:+,}",
            *(_difference(one, at, km) for at, km in enumerate(report.thresholds_km)),
            _score_difference(one),
        )
    return _titled(f"Against {report.baseline.name}: points, and p after Holm's correction", table)


def _titled(title: str, table: Table) -> RenderableType:
    """Return a title as wide as the terminal, not as the table."""
    return Group(Text(f"\n{title}", style="italic"), table)


def _table(report: AblationReport) -> Table:
    """Return cells of two short lines: five distances fit on 80 columns; the page and the document say the rest."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("variant", overflow="fold")
    for name in ("no\nplace", *map(threshold_text, report.thresholds_km), "GeoScore"):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _difference(one: Against, at: int, km: float) -> Text:
    found = one.comparison.accuracies[at]
    p = one.p_adjusted[km]
    style = "bold" if p < CLEAR_P else ""
    return Text.assemble((f"{found.second_percent - found.first_percent:+.2f}", style), (f"\n{p_value(p)}", "dim"))


def _score_difference(one: Against) -> Text:
    gain, p = one.comparison.geoscore_difference, one.geoscore_p_adjusted
    return Text.assemble((f"{gain.value:+.0f}", "bold" if p < CLEAR_P else ""), (f"\n{p_value(p)}", "dim"))


def _share(share: Accuracy) -> Text:
    percent = share.percent
    return Text.assemble(f"{percent.value:.2f}", (f"\n({percent.low:.0f}–{percent.high:.0f})", "dim"))


def used_cells(behaviour: Behaviour) -> list[str]:
    """Return what a variant did and used, in the order of `USED`."""
    return [
        _cell(behaviour.called_percent, ".1f"),
        _cell(behaviour.calls, ".2f"),
        _cell(behaviour.failed_percent, ".1f"),
        _cell(behaviour.turns, ".2f"),
        _cell(behaviour.tokens, ",.0f"),
        _cell(behaviour.usd, ".5f"),
    ]


def _cell(value: float | None, form: str) -> str:
    return NONE if value is None else format(value, form)


def _used(report: AblationReport) -> RenderableType:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant", overflow="fold")
    for name in USED:
        table.add_column(name, justify="right")
    for row in report.rows:
        table.add_row(row.name, *used_cells(row.behaviour))
    return _titled("Cost per photo", table)


def _published(report: AblationReport) -> RenderableType:
    rows = [row for row in report.rows if row.published is not None]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("variant", "as printed"):
        table.add_column(name, overflow="fold")
    for km in report.thresholds_km:
        table.add_column(threshold_text(km), justify="right")
    for row in rows:
        assert row.published is not None  # noqa: S101  (chosen above)
        shares = [reported_percent(row.published, km) for km in report.thresholds_km]
        table.add_row(row.name, row.published.system, *(_cell(share, ".2f") for share in shares))
    notes = dict.fromkeys(flag.text for row in rows if row.published for flag in row.published.flags)
    title = f"Published: {published_words(rows)}; percent within … km"
    return Group(_titled(title, table), *(Text(note, style="dim") for note in notes))


def published_words(rows: Iterable[Row]) -> str:
    """Return the source of the published rows and their images: never the same as ours, unless stated."""
    found = [row.published for row in rows if row.published is not None]
    return "; ".join(dict.fromkeys(_source(one) for one in found))


def _source(row: PublishedRow) -> str:
    n = "an unknown number of" if row.n is None else count(row.n)
    return f"{row.source}, {n} images of {row.dataset}"


def ablation_document(report: AblationReport) -> dict[str, Any]:
    """Return everything an ablation says, as one JSON document; null if there is no number."""
    return {
        "format": FORMAT,
        "geosleuth": __version__,
        "data": report.data,
        "n": report.n,
        "baseline": report.baseline.name,
        "variants": [_row_document(row, report) for row in report.rows],
        "against_baseline": [_against_document(one) for one in report.against],
        "empty": list(report.empty),
        "remarks": list(remarks(report)),
    }


def _row_document(row: Row, report: AblationReport) -> dict[str, Any]:
    summary, used = row.report.summary, row.behaviour
    return {
        "variant": row.name,
        "changes": row.words,
        "n": summary.n,
        "unlocated": summary.unlocated,
        "accuracy": {
            threshold_text(km): {"hits": summary.within[km].hits, **_estimate(summary.within[km].percent, "percent")}
            for km in report.thresholds_km
        },
        "median_km": finite(summary.median_km.value),
        "geoscore": _estimate(summary.geoscore, "value"),
        "per_photo": {"calls": used.calls, "turns": used.turns, "tokens": used.tokens, "usd": used.usd},
        "photos_with_a_call_percent": used.called_percent,
        "failed_calls_percent": used.failed_percent,
        "left_out": row.left_out,
        "published": None if row.published is None else published_dict(row.published),
    }


def _against_document(one: Against) -> dict[str, Any]:
    found = one.comparison
    return {
        "variant": one.name,
        "accuracy": {
            threshold_text(item.threshold_km): {
                "difference": item.second_percent - item.first_percent,
                "only_baseline": item.only_first,
                "only_variant": item.only_second,
                "p": item.p,
                "p_adjusted": one.p_adjusted[item.threshold_km],
            }
            for item in found.accuracies
        },
        "geoscore": {
            **_estimate(found.geoscore_difference, "difference"),
            "p": found.geoscore_p,
            "p_adjusted": one.geoscore_p_adjusted,
        },
    }


def _estimate(estimate: Estimate, name: str) -> dict[str, float | None]:
    return {name: finite(estimate.value), "low": finite(estimate.low), "high": finite(estimate.high)}
