"""The papers' rows, alone and beside ours, for people at a terminal.

A name stands on its own line above its figures, and what is the same in a whole group is said once above it: so the
figures fit on 80 columns however long the names are.
"""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth.geo import threshold_text
from geosleuth.score import Flag, PublishedRow
from geosleuth.score.published.vocabulary import threshold_km
from geosleuth.text.numbers import NONE, count

from .published import beside, reported_percent, with_any_of
from .report import FileReport

_NOT_PERCENT = ("median_km", "geoscore", "tokens", "response_ms")
_HEADINGS = {"median_km": "median km", "geoscore": "GeoScore", "response_ms": "ms"}


class Footnotes:
    """Notes in order of first mention; the same note of the same paper keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, row: PublishedRow) -> str:
        """The numbers of a row's notes, such as ``[1, 3]``; nothing for a row without."""
        numbers = [self._numbers.setdefault(_note(row, flag), len(self._numbers) + 1) for flag in row.flags]
        return f"[{', '.join(map(str, sorted(numbers)))}]" if numbers else ""

    def lines(self) -> list[RenderableType]:
        """The notes themselves."""
        return [Text(f"[{number}] {note}", style="dim") for note, number in self._numbers.items()]


def _note(row: PublishedRow, flag: Flag) -> str:
    paper, _, _ = row.source.rpartition(", ")
    return f"{paper}: {flag.text}"


def beside_view(
    reports: Sequence[FileReport], published: Sequence[PublishedRow], footnotes: Footnotes
) -> RenderableType:
    """Ours and the papers', at those of our thresholds that the papers report; rows with none of them are left out."""
    rows = with_any_of(published, reports[0].summary.within)
    thresholds = [km for km in reports[0].summary.within if any(reported_percent(row, km) is not None for row in rows)]
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
            cells = [_count(row.n), NONE, *(_figure("acc", reported_percent(row, km)) for km in thresholds)]
            lines.append((_name(row, footnotes), cells))
    title = "\nBeside published rows: n, unlocated, and percent within … km"
    return Group(Text(title, style="italic"), *_laid_out(["n", "unlocated", *map(threshold_text, thresholds)], lines))


def published_view(rows: Sequence[PublishedRow]) -> RenderableType:
    """The papers' own rows, one block per printed table, its notes beneath."""
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
    """As many decimals as our own shares have; counts and the like as they were printed."""
    if value is None:
        return NONE
    if metric in _NOT_PERCENT or metric.endswith("_images"):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:.2f}"


def _laid_out(headings: Sequence[str], lines: Sequence[tuple[Text, list[str]]]) -> list[RenderableType]:
    """Headings of one or two words over right-aligned columns; each name above its figures."""
    words = [heading.rpartition(" ")[::2] for heading in headings]
    cells = [row for _, row in lines if row]
    widths = [
        2 + max(len(text) for text in (*heading, *(row[column] for row in cells)))
        for column, heading in enumerate(words)
    ]

    def aligned(row: Sequence[str]) -> str:
        return "".join(text.rjust(width) for text, width in zip(row, widths, strict=True))

    heads = [aligned([pair[line] for pair in words]) for line in (0, 1)]
    parts: list[RenderableType] = [Text(head, style="bold") for head in heads if head.strip()]
    for name, row in lines:
        parts.append(name)
        if row:
            parts.append(Text(aligned(row), style=name.style))
    return parts
