"""Score reports for people at a terminal."""

from collections.abc import Iterable, Sequence
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.geo import THRESHOLDS_KM
from geosleuth.score import Accuracy, Flag, PublishedRow, Summary

from .compare import PairReport, Tiers
from .numbers import distance, p_value, threshold_name
from .page.wording import headline_km
from .published import beside
from .report import FileReport


def score_view(reports: Sequence[FileReport], published: Sequence[PublishedRow] = ()) -> RenderableType:
    """Headlines, the figures, published rows beside them, slices, confidence, notes."""
    parts: list[RenderableType] = [Text(headline(report)) for report in reports]
    parts.append(_figures(reports))
    if published:
        parts.append(_beside_table(reports, published))
    for report in reports:
        parts += [_slice_table(report, field) for field in dict.fromkeys(item.field for item in report.slices)]
        parts += [Text(line) for line in _confidence_lines(report)]
        parts += [Text(f"note, {report.scored.label}: {note}", style="yellow") for note in report.scored.notes]
    parts += [Text(f"* {row.source}, {row.system}: {flag.text}", style="dim") for row, flag in _flags(published)]
    return Group(*parts)


def headline(report: FileReport) -> str:
    """The finding in one sentence."""
    summary = report.summary
    km = headline_km([summary])
    share = summary.within[km].percent.value
    return (
        f"{report.scored.label}: {share:.1f} % of {summary.n:,} images within {km:g} km, "
        f"median error {distance(summary.median_km.value)}, {summary.unlocated:,} unlocated"
    )


def _figures(reports: Sequence[FileReport]) -> Table:
    """Metrics down, files across: reads well up to a handful of files, on 80 columns too."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for report in reports:
        table.add_column(report.scored.label, justify="right", overflow="fold")
    summaries = [report.summary for report in reports]
    table.add_row("images", *(f"{summary.n:,}" for summary in summaries))
    table.add_row("unlocated", *(f"{summary.unlocated:,}" for summary in summaries), end_section=True)
    for km in summaries[0].within:
        table.add_row(f"within {km:g} km, %", *(_share(summary.within[km]) for summary in summaries))
    table.add_row("median error", *(_median(summary) for summary in summaries))
    table.add_row("mean GeoScore", *(f"{summary.geoscore.value:,.0f}" for summary in summaries))
    names = dict.fromkeys(name for summary in summaries for name in summary.levels)
    for name in names:
        shares = (summary.levels.get(name) for summary in summaries)
        table.add_row(f"{name} named right, %", *("–" if share is None else _share(share) for share in shares))
    return table


def _beside_table(reports: Sequence[FileReport], published: Sequence[PublishedRow]) -> Table:
    """Ours and the papers', at the thresholds that the papers report."""
    reported = {metric for row in published for metric, value in row.values.items() if value is not None}
    thresholds = [km for km in reports[0].summary.within if f"acc@{km:g}km" in reported]
    table = Table(
        title="Beside published rows, percent within … km", title_justify="left", box=SIMPLE_HEAD, pad_edge=False
    )
    table.add_column("answers", overflow="fold")
    for heading in ("n", "unlocated", *(f"{km:g}" for km in thresholds)):
        table.add_column(heading, justify="right", overflow="fold")
    for report in reports:
        shares = (f"{report.summary.within[km].percent.value:.2f}" for km in thresholds)
        table.add_row(f"{report.scored.label} (measured)", *_counts(report.summary), *shares, style="bold")
    for row in published:
        cells = (_plain(row.values.get(f"acc@{km:g}km")) for km in thresholds)
        marks = " *" if row.flags else ""
        name = Text.assemble(" ".join((row.system, row.setting)).strip(), (marks, "yellow"))
        name.append(f"\n{row.source}, {beside(row, reports)}", style="dim")
        table.add_row(name, _plain_count(row.n), "", *cells)
    return table


def _counts(summary: Summary) -> tuple[str, str]:
    return f"{summary.n:,}", f"{summary.unlocated:,}"


def _share(share: Accuracy) -> Text:
    percent = share.percent
    value = "–" if isnan(percent.value) else f"{percent.value:.2f}"
    return Text.assemble(value, (f" ({percent.low:.0f}–{percent.high:.0f})", "dim"))


def _median(summary: Summary) -> str:
    return distance(summary.median_km.value)


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _plain_count(n: int | None) -> str:
    return "?" if n is None else f"{n:,}"


def _slice_table(report: FileReport, field: str) -> RenderableType:
    chosen = [item for item in report.slices if item.field == field]
    thresholds = _few(report.summary.within)
    title = f"{report.scored.label} by {field}, percent within … km"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(field, overflow="fold", min_width=8)
    for name in ("n", "unlocated", *(f"{km:g}" for km in thresholds), "median"):
        table.add_column(name, justify="right", overflow="fold", no_wrap=True)
    for item in chosen:
        shares = [f"{item.summary.within[km].percent.value:.1f}" for km in thresholds]
        table.add_row(item.value, *_counts(item.summary), *shares, _median(item.summary))
    return Group("", table)


def _few(thresholds: Iterable[float]) -> list[float]:
    """Of the ten usual distances those with a name, which fit on 80 columns; all of those a user asked for."""
    wanted = list(thresholds)
    return [km for km in wanted if threshold_name(km)] if tuple(wanted) == THRESHOLDS_KM else wanted


def _confidence_lines(report: FileReport) -> Iterable[str]:
    if (curve := report.selective) is not None:
        kept = [(share, risk) for share in (1.0, 0.8, 0.5, 0.2) if (risk := curve.risk_at(share)) is not None]
        steps = ", ".join(f"{100 * share:.0f} % answered: {100 * risk:.1f} % wrong" for share, risk in kept)
        yield (
            f"{report.scored.label}, surest answers first, wrong beyond {curve.threshold_km:g} km: {steps or '–'} "
            f"(mean risk {curve.area:.3f}, at best {curve.ideal_area:.3f})"
        )
    if (found := report.calibration) is not None:
        yield f"{report.scored.label}: expected calibration error {found.expected_error:.3f} over {found.n:,} answers"


def _flags(published: Sequence[PublishedRow]) -> Iterable[tuple[PublishedRow, Flag]]:
    seen: set[tuple[str, str]] = set()
    for row in published:
        for flag in row.flags:
            if (row.paper, flag.id) not in seen:
                seen.add((row.paper, flag.id))
                yield row, flag


def pair_view(pair: PairReport, moved: int) -> RenderableType:
    """The paired table and the images that moved most."""
    comparison = pair.comparison
    table = Table(
        title=f"{pair.second} against {pair.first}, {comparison.n:,} images in both",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for name in ("within", pair.first, pair.second, "difference", "only first", "only second", "p", "p, corrected"):
        table.add_column(name, justify="right", overflow="fold")
    for item in comparison.accuracies:
        difference = item.second_percent - item.first_percent
        table.add_row(
            f"{item.threshold_km:g} km", f"{item.first_percent:.2f}", f"{item.second_percent:.2f}",
            f"{difference:+.2f}", f"{item.only_first:,}", f"{item.only_second:,}", p_value(item.p),
            Text(p_value(item.p_adjusted), style="bold" if item.p_adjusted < 0.05 else ""),
        )  # fmt: skip
    gain = comparison.geoscore_difference
    interval = "" if isnan(gain.low) else f" ({gain.low:+.0f} to {gain.high:+.0f})"
    parts: list[RenderableType] = [
        table,
        Text(
            f"mean GeoScore {gain.value:+.0f}{interval}, p {p_value(comparison.geoscore_p)}; "
            "p by exact McNemar test, Holm-corrected over the thresholds, and by sign flips for GeoScore"
        ),
    ]
    if pair.only_in_first or pair.only_in_second:
        left_out = f"{pair.only_in_first:,} images only in the first file, {pair.only_in_second:,} only in the second"
        parts.append(Text(f"left out: {left_out}", style="yellow"))
    if moved and pair.moved:
        parts += ["", _moved_table(pair, moved)]
    return Group(*parts)


def _moved_table(pair: PairReport, limit: int) -> Table:
    table = Table(title=f"{len(pair.moved):,} images moved; the largest changes", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("image", overflow="fold")
    for name in (pair.first, pair.second, "GeoScore"):
        table.add_column(name, justify="right")
    for item in pair.moved[:limit]:
        table.add_row(item.id, distance(item.first_km), distance(item.second_km), f"{item.gain:+.0f}")
    return table


def tier_view(tiers: Tiers) -> RenderableType:
    """How many images are easy and hard."""
    easy = int(tiers.easy.sum())
    rule = "at least two" if len(tiers.judges) == 3 else "at least two thirds"
    return Text(
        f"{easy:,} easy, {len(tiers.ids) - easy:,} hard of {len(tiers.ids):,} images "
        f"(easy: {rule} of {', '.join(tiers.judges)} within {tiers.threshold_km:g} km)"
    )


def published_view(rows: Sequence[PublishedRow]) -> RenderableType:
    """The papers' own rows, one table per printed table."""
    parts: list[RenderableType] = []
    for source in dict.fromkeys(row.source for row in rows):
        chosen = [row for row in rows if row.source == source]
        metrics = list(dict.fromkeys(metric for row in chosen for metric in row.values))
        table = Table(title=source, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for name in ("system", "data set", "n"):
            table.add_column(name, overflow="fold")
        for metric in metrics:
            table.add_column(metric, justify="right")
        for row in chosen:
            system = Text.assemble(" ".join((row.system, row.setting)).strip(), (" *" if row.flags else "", "yellow"))
            where = " ".join((row.dataset, row.split)).strip()
            table.add_row(system, where, _plain_count(row.n), *(_plain(row.values.get(name)) for name in metrics))
        parts += [table]
        parts += [Text(f"* {flag.text}", style="yellow") for _, flag in _flags(chosen)]
        parts += [""]
    return Group(*parts)
