"""Slices: the same figures for the records that share a field's value, with bars."""

from collections.abc import Sequence
from itertools import groupby

from geosleuth.bench.report import FileReport, Slice
from geosleuth.score import Accuracy
from geosleuth.text.numbers import NONE, count, percent, plural, threshold

from .markup import Html, caption, el, join, name
from .tables import cell, median_cell, scroll_box
from .wording import headline_km, second_km

OPEN_ROWS = 12
MOST_ROWS = 300


def slices_section(reports: Sequence[FileReport]) -> Html:
    """Every field that was asked for, or nothing."""
    fields = list(dict.fromkeys(item.field for report in reports for item in report.slices))
    if not fields:
        return Html("")
    return el(
        "section",
        {"id": "slices", "aria-labelledby": "slices-h"},
        el("h2", {"id": "slices-h"}, "Slices: is it equally good everywhere?"),
        el(
            "p",
            {"class": "lead"},
            "The thin line over a bar is the 95 % interval. Where it is long, the slice is too small to say much.",
        ),
        *(_field(field, reports) for field in fields),
    )


def _field(field: str, reports: Sequence[FileReport]) -> Html:
    tables = []
    for report in reports:
        rows = next((list(found) for key, found in groupby(report.slices, lambda item: item.field) if key == field), [])
        if rows:
            tables.append(_table(field, report, rows))
    return el("div", {"class": "field"}, el("h3", None, "By ", name(field)), el("div", {"class": "pair"}, *tables))


def _table(field: str, report: FileReport, rows: Sequence[Slice]) -> Html:
    shown, rest = rows[:OPEN_ROWS], rows[OPEN_ROWS:MOST_ROWS]
    left_out = len(rows) - len(shown) - len(rest)
    parts: list[Html] = [_rows(field, report, shown)]
    if rest:
        words = f"{plural(len(rest), 'more value', 'more values')}, smaller"
        parts.append(el("details", None, el("summary", None, words), _rows(field, report, rest)))
    if left_out:
        words = (
            f"{plural(left_out, 'value is', 'values are')} not listed here; the JSON and CSV outputs hold all of them."
        )
        parts.append(el("p", {"class": "quiet"}, words))
    return el("div", None, *parts)


def _rows(field: str, report: FileReport, rows: Sequence[Slice]) -> Html:
    summaries = [item.summary for item in rows]
    first, second = headline_km(summaries), second_km(summaries)
    thresholds = [first] if first == second else [first, second]
    heads = [field, "n", "unlocated", *(f"within {threshold(km)}" for km in thresholds), "median"]
    body = [
        el(
            "tr",
            None,
            el("th", {"scope": "row"}, name(item.value, 40)),
            cell(count(item.summary.n)),
            cell(count(item.summary.unlocated)),
            *(_bar(item.summary.within.get(km)) for km in thresholds),
            median_cell(item.summary.median_km),
        )
        for item in rows
    ]
    table = el(
        "table",
        {"class": "slices"},
        caption(name(report.scored.label)),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *body),
    )
    return scroll_box(f"Slices of {report.scored.label} by {field}", table)


def _bar(accuracy: Accuracy | None) -> Html:
    if accuracy is None or not accuracy.n:
        return cell(NONE)
    share = accuracy.percent
    style = f"--value:{share.value:.1f}%;--low:{share.low:.1f}%;--high:{share.high:.1f}%"
    title = f"{count(accuracy.hits)} of {count(accuracy.n)}; 95 % interval {share.low:.1f} to {share.high:.1f}"
    return el(
        "td",
        {"class": "num barred", "title": title},
        join((el("span", {"class": "bar", "style": style}), percent(share.value))),
    )
