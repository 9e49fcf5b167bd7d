"""Score reports for people at a terminal: files, two files side by side, and the papers' rows.

A name has its own line above its figures, and what a whole group shares is said once above it: so the figures fit on 80
columns however long the names are.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth.geo import threshold_text
from geosleuth.lab.bench.page.parts import sections_view
from geosleuth.lab.bench.page.score_charts import headline_km
from geosleuth.lab.bench.page.score_page import figures_section, pairs_section, slices_section
from geosleuth.lab.score import Flag, PublishedRow
from geosleuth.lab.score.published import threshold_km
from geosleuth.support.text.numbers import NONE, count, distance

from .report import FileReport, PairReport, Tiers, beside, filter_by_distance, get_reported_percent

_NOT_PERCENT = ("median_km", "geoscore", "tokens", "response_ms")
_HEADINGS = {"median_km": "median km", "geoscore": "GeoScore", "response_ms": "ms"}


class Footnotes:
    """Notes in order of first mention; the same note of the same paper keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, row: PublishedRow) -> str:
        """Return the numbers of a row's notes, such as ``[1, 3]``; nothing for a row without."""
        numbers = [self._numbers.setdefault(_note(row, flag), len(self._numbers) + 1) for flag in row.flags]
        return f"[{', '.join(map(str, sorted(numbers)))}]" if numbers else ""

    def lines(self) -> list[RenderableType]:
        """Return the notes themselves."""
        return [Text(f"[{number}] {note}", style="dim") for note, number in self._numbers.items()]


def _note(row: PublishedRow, flag: Flag) -> str:
    paper, _, _ = row.source.rpartition(", ")
    return f"{paper}: {flag.text}"


def beside_view(
    reports: Sequence[FileReport], published: Sequence[PublishedRow], footnotes: Footnotes
) -> RenderableType:
    """Return ours and the papers' rows, at those of our thresholds that the papers report; others are left out."""
    rows = filter_by_distance(published, reports[0].summary.within)
    thresholds = [
        km for km in reports[0].summary.within if any(get_reported_percent(row, km) is not None for row in rows)
    ]
    if not rows:
        return Text("\nNo published row reports any of these distances.", style="yellow")
    lines: list[tuple[Text, list[str]]] = []
    for report in reports:
        summary = report.summary
        shares = [f"{summary.within[km].percent.value:.2f}" for km in thresholds]
        cells = [count(summary.n), count(summary.unlocated), *shares]
        lines.append((Text(f"{report.scored.label} (measured)", style="bold"), cells))
    for heading, group in groupby(rows, key=lambda row: f"{row.source}; {beside(row, reports)}"):
        lines.append((Text(f"\n{heading}", style="dim"), []))
        for row in group:
            cells = [_count(row.n), NONE, *(_figure("acc", get_reported_percent(row, km)) for km in thresholds)]
            lines.append((_name(row, footnotes), cells))
    title = "\nBeside published rows: n, unlocated, and percent within … km"
    return Group(Text(title, style="italic"), *_laid_out(["n", "unlocated", *map(threshold_text, thresholds)], lines))


def render_published(rows: Sequence[PublishedRow]) -> RenderableType:
    """Return the papers' own rows, one block per printed table, its notes beneath."""
    parts: list[RenderableType] = []
    for source in dict.fromkeys(row.source for row in rows):
        footnotes = Footnotes()
        chosen = [row for row in rows if row.source == source]
        metrics = list(dict.fromkeys(metric for row in chosen for metric in row.values))
        sets = list(dict.fromkeys(_set(row) for row in chosen))
        counts = {row.n for row in chosen}
        title = [source, *(sets if len(sets) == 1 else []), *([f"n = {_count(*counts)}"] if len(counts) == 1 else [])]
        if any(threshold_km(metric) is not None for metric in metrics):
            title.append("percent within … km")
        lines: list[tuple[Text, list[str]]] = []
        for found in sets:
            if len(sets) > 1:
                lines.append((Text(f"\n{found}", style="dim"), []))
            for row in (row for row in chosen if _set(row) == found):
                cells = [_figure(metric, row.values.get(metric)) for metric in metrics]
                lines.append((_name(row, footnotes), [*([_count(row.n)] if len(counts) > 1 else []), *cells]))
        headings = [*(["n"] if len(counts) > 1 else []), *map(_heading, metrics)]
        parts += [Text(", ".join(title), style="italic"), *_laid_out(headings, lines), *footnotes.lines(), ""]
    return Group(*parts)


def _set(row: PublishedRow) -> str:
    return row.dataset if row.split == "all" else f"{row.dataset}, {row.split}"


def _name(row: PublishedRow, footnotes: Footnotes) -> Text:
    label = f"{row.system}, {row.setting}" if row.setting else row.system
    return Text.assemble(label, (f" {footnotes.mark(row)}".rstrip(), "yellow"))


def _count(n: int | None) -> str:
    return "?" if n is None else count(n)


def _heading(metric: str) -> str:
    km = threshold_km(metric)
    return threshold_text(km) if km is not None else _HEADINGS.get(metric, metric.replace("_", " "))


def _figure(metric: str, value: float | None) -> str:
    """Format a figure with as many decimals as our own shares; counts and the like as printed."""
    if value is None:
        return NONE
    if metric in _NOT_PERCENT or metric.endswith("_images"):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:.2f}"


def _laid_out(headings: Sequence[str], lines: Sequence[tuple[Text, list[str]]]) -> list[RenderableType]:
    """Lay out short headings over right-aligned columns, each name above its figures."""
    words = [heading.rpartition(" ")[::2] for heading in headings]
    cells = [row for _, row in lines if row]
    widths = [
        2 + max(len(text) for text in (*heading, *(row[column] for row in cells)))
        for column, heading in enumerate(words)
    ]

    def align_row(row: Sequence[str]) -> str:
        return "".join(text.rjust(width) for text, width in zip(row, widths, strict=True))

    heads = [align_row([pair[line] for pair in words]) for line in (0, 1)]
    parts: list[RenderableType] = [Text(head, style="bold") for head in heads if head.strip()]
    for name, row in lines:
        parts.append(name)
        if row:
            parts.append(Text(align_row(row), style=name.style))
    return parts


def score_view(reports: Sequence[FileReport], published: Sequence[PublishedRow] = ()) -> RenderableType:
    """Return headlines, the figures, published rows beside them, slices, confidence, notes."""
    footnotes = Footnotes()
    parts: list[RenderableType] = [Text(headline(report)) for report in reports]
    if any(report.summary.n for report in reports):
        parts += sections_view([figures_section(reports, ())])
        parts += [Text(line) for line in _fewer_names(reports)]
    if published:
        parts.append(beside_view(reports, published, footnotes))
    parts += sections_view([slices_section(reports)])
    for report in reports:
        parts += [Text(line) for line in _confidence_lines(report)]
        parts += notes(report.scored.label, report.scored.notes)
    parts += footnotes.lines()
    return Group(*parts)


def notes(label: str, found: Iterable[str]) -> list[RenderableType]:
    """Return a file's oddities."""
    return [Text(f"note, {label}: {note}", style="yellow") for note in found]


def headline(report: FileReport) -> str:
    """Return the result in one sentence."""
    summary = report.summary
    if not summary.n:
        return f"{report.scored.label}: has no answer that can be scored"
    km = headline_km([summary])
    share = summary.within[km].percent.value
    return (
        f"{report.scored.label}: {share:.1f} % of {summary.n:,} images within {threshold_text(km)} km, "
        f"median error {distance(summary.median_km.value)}, {summary.unlocated:,} unlocated"
    )


def _fewer_names(reports: Sequence[FileReport]) -> Iterable[str]:
    """Yield a line for each file with unknown true names: its shares are of the others."""
    for report in reports:
        summary = report.summary
        fewer = [f"{name} {share.n:,}" for name, share in summary.levels.items() if share.n < summary.n]
        if fewer:
            known = f"names are counted where the true one is known: {', '.join(fewer)} of {summary.n:,} images"
            yield f"{report.scored.label}: {known}"


def _confidence_lines(report: FileReport) -> Iterable[str]:
    if (curve := report.selective) is not None:
        beyond = f"wrong beyond {threshold_text(curve.threshold_km)} km"
        kept = [(share, risk) for share in (1.0, 0.8, 0.5, 0.2) if (risk := curve.compute_risk(share)) is not None]
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
    """Return how many images are easy and hard."""
    easy = int(tiers.easy.sum())
    judges = ", ".join(judge.label for judge in tiers.judges)
    rule = "at least two" if len(tiers.judges) == 3 else "at least two thirds"
    return Text(
        f"{easy:,} easy, {len(tiers.ids) - easy:,} hard of {len(tiers.ids):,} images "
        f"(easy: {rule} of {judges} within {threshold_text(tiers.threshold_km)} km)"
    )


def pair_view(pair: PairReport, moved: int) -> RenderableType:
    """Return the two files, the paired table, oddities of the files, and the images that moved most."""
    return Group(*sections_view([pairs_section([pair], moved, is_open=True)]))
