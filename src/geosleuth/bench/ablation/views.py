"""An ablation for people at a terminal, and for programs."""

from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth import __version__
from geosleuth.bench.export import finite, published_dict
from geosleuth.bench.published import reported_percent
from geosleuth.geo import threshold_text
from geosleuth.score import Accuracy, Estimate, PublishedRow
from geosleuth.text.numbers import NONE, count, p_value, plural

from .comparing import AblationReport, Against, Behaviour, Row

FORMAT = "geosleuth-ablation-report/1"
CLEAR_P = 0.05
TESTS = (
    "p: exact McNemar test on the photos where only one of the two is right, corrected by Holm over all distances and "
    "variants; GeoScore by sign flips, corrected by Holm over the variants"
)


def ablation_view(report: AblationReport) -> RenderableType:
    """The variants' figures, how they differ from the first, what they used, and the paper's rows."""
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
    """What the figures leave out."""
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
    """A title as wide as the terminal, not as the table."""
    return Group(Text(f"\n{title}", style="italic"), table)


def _table(report: AblationReport) -> Table:
    """Cells of two short lines: five distances fit on 80 columns; the page and the document say the rest."""
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


USED = ("photos with a call, %", "calls", "failed calls, %", "turns", "tokens", "USD")


def used_cells(behaviour: Behaviour) -> list[str]:
    """What a variant did and used, in the order of `USED`."""
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
    return _titled("What it took, a photo", table)


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
    """Where the published rows stand, and on which images: never the same as ours, unless it is said."""
    found = [row.published for row in rows if row.published is not None]
    return "; ".join(dict.fromkeys(_source(one) for one in found))


def _source(row: PublishedRow) -> str:
    n = "an unknown number of" if row.n is None else count(row.n)
    return f"{row.source}, {n} images of {row.dataset}"


def ablation_document(report: AblationReport) -> dict[str, Any]:
    """Everything an ablation says, as one JSON document; null where there is no number."""
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
