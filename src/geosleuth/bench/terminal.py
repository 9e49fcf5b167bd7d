"""Score reports for people at a terminal."""

from collections.abc import Iterable, Sequence
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from geosleuth.geo import THRESHOLDS_KM, threshold_text
from geosleuth.score import Accuracy, PublishedRow, Summary
from geosleuth.text.numbers import NONE, distance, score, threshold_name

from .compare import Tiers
from .page.wording import headline_km
from .report import FileReport
from .terminal_published import Footnotes, beside_view


def score_view(reports: Sequence[FileReport], published: Sequence[PublishedRow] = ()) -> RenderableType:
    """Headlines, the figures, published rows beside them, slices, confidence, notes."""
    footnotes = Footnotes()
    parts: list[RenderableType] = [Text(headline(report)) for report in reports]
    if any(report.summary.n for report in reports):
        parts.append(_figures(reports))
    if published:
        parts.append(beside_view(reports, published, footnotes))
    for report in reports:
        parts += [_slice_table(report, field) for field in dict.fromkeys(item.field for item in report.slices)]
        parts += [Text(line) for line in _confidence_lines(report)]
        parts += notes(report.scored.label, report.scored.notes)
    parts += footnotes.lines()
    return Group(*parts)


def notes(label: str, found: Iterable[str]) -> list[RenderableType]:
    """What is odd about a file."""
    return [Text(f"note, {label}: {note}", style="yellow") for note in found]


def headline(report: FileReport) -> str:
    """The finding in one sentence."""
    summary = report.summary
    if not summary.n:
        return f"{report.scored.label}: holds no answer that could be measured"
    km = headline_km([summary])
    share = summary.within[km].percent.value
    return (
        f"{report.scored.label}: {share:.1f} % of {summary.n:,} images within {threshold_text(km)} km, "
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
        table.add_row(f"within {threshold_text(km)} km, %", *(_share(summary.within[km]) for summary in summaries))
    table.add_row("median error", *(_median(summary) for summary in summaries))
    table.add_row("mean GeoScore", *(score(summary.geoscore.value) for summary in summaries))
    names = dict.fromkeys(name for summary in summaries for name in summary.levels)
    for name in names:
        table.add_row(f"{name} named right, %", *(_named(summary, name) for summary in summaries))
    return table


def _counts(summary: Summary) -> tuple[str, str]:
    return f"{summary.n:,}", f"{summary.unlocated:,}"


def _named(summary: Summary, level: str) -> Text:
    if level not in summary.levels:
        return Text(NONE)
    return _share(summary.levels[level]) if summary.named[level] else Text("none named")


def _share(share: Accuracy) -> Text:
    percent = share.percent
    if isnan(percent.value):
        return Text(NONE)
    return Text.assemble(f"{percent.value:.2f}", (f" ({percent.low:.0f}–{percent.high:.0f})", "dim"))


def _median(summary: Summary) -> str:
    return distance(summary.median_km.value)


def _slice_table(report: FileReport, field: str) -> RenderableType:
    chosen = [item for item in report.slices if item.field == field]
    thresholds = _few(report.summary.within)
    title = f"{report.scored.label} by {field}, percent within … km"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(field, overflow="fold", min_width=8)
    for name in ("n", "unlocated", *map(threshold_text, thresholds), "median"):
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
        beyond = f"wrong beyond {threshold_text(curve.threshold_km)} km"
        kept = [(share, risk) for share in (1.0, 0.8, 0.5, 0.2) if (risk := curve.risk_at(share)) is not None]
        steps = ", ".join(f"{100 * share:.0f} % answered: {100 * risk:.1f} % wrong" for share, risk in kept)
        said = f"{curve.with_confidence:,} of {curve.n:,} answers state a place and a confidence"
        if kept:
            means = f"mean risk {curve.area:.3f}, at best {curve.ideal_area:.3f}"
            yield f"{report.scored.label}: {said}; surest first, {beyond}: {steps} ({means})"
        else:
            wrong = f"{100 * curve.points[-1].risk:.1f} % of them are {beyond}"
            yield f"{report.scored.label}: {said}, too few to leave the least sure ones out; {wrong}"
    if (found := report.calibration) is not None:
        yield f"{report.scored.label}: expected calibration error {found.expected_error:.3f} over {found.n:,} answers"


def tier_view(tiers: Tiers) -> RenderableType:
    """How many images are easy and hard."""
    easy = int(tiers.easy.sum())
    judges = ", ".join(judge.label for judge in tiers.judges)
    rule = "at least two" if len(tiers.judges) == 3 else "at least two thirds"
    return Text(
        f"{easy:,} easy, {len(tiers.ids) - easy:,} hard of {len(tiers.ids):,} images "
        f"(easy: {rule} of {judges} within {threshold_text(tiers.threshold_km)} km)"
    )
