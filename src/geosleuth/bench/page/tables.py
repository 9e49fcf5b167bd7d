"""The main table: one row per file, published rows beneath."""

from collections.abc import Iterable, Sequence
from math import isinf, isnan

from geosleuth.bench.published import beside, reported_percent, with_any_of
from geosleuth.bench.report import FileReport
from geosleuth.score import LEVELS, Accuracy, Estimate, PublishedRow, Summary
from geosleuth.text.numbers import NONE, count, distance, percent, score, threshold, threshold_name

from .markup import Html, caption, el, join, name

_LEVEL_OF_METRIC = {"country": "country", "region": "province", "city": "city"}


def main_table(reports: Sequence[FileReport], published: Sequence[PublishedRow]) -> Html:
    """All figures side by side, in a box that scrolls by itself."""
    thresholds = sorted({km for report in reports for km in report.summary.within})
    levels = [level for level in LEVELS if any(level in report.summary.levels for report in reports)]
    # Published figures are printed with two decimals; ours get as many, so that equal ones look equal.
    decimals = 2 if published else 1
    footnotes = _Footnotes()
    shown = with_any_of(published, thresholds)
    rows = [
        _own_row(report, index, thresholds, levels, decimals, marked=bool(shown))
        for index, report in enumerate(reports)
    ]
    foreign = [_published_row(row, thresholds, levels, beside(row, reports), footnotes) for row in shown]
    table = el(
        "table",
        {"class": "figures"},
        caption(
            "Accuracy is the percentage of all records, unlocated ones included. Small grey figures: 95 % intervals.",
        ),
        _head(thresholds, levels),
        el("tbody", None, *rows),
        el("tbody", {"class": "published"}, *foreign) if foreign else "",
    )
    return join((scroll_box("All figures", table), footnotes.html()))


def scroll_box(words: str, *children: object) -> Html:
    """A region that scrolls sideways on narrow screens, reachable by keyboard."""
    return el("div", {"class": "scroll", "role": "region", "aria-label": words, "tabindex": 0}, *children)


def cell(main: object, below: object = "", title: str | None = None, kind: str = "num") -> Html:
    """A figure, and in small grey print what qualifies it."""
    return el("td", {"class": kind, "title": title}, main, el("small", None, below) if below else "")


def accuracy_cell(accuracy: Accuracy | None, decimals: int = 1) -> Html:
    """A share in percent over its interval."""
    if accuracy is None or not accuracy.n:
        return cell(NONE)
    interval = accuracy.percent
    return cell(
        percent(interval.value, decimals),
        interval_range(interval),
        f"{count(accuracy.hits)} of {count(accuracy.n)}; 95 % interval {interval.low:.1f} to {interval.high:.1f}",
    )


def interval_range(interval: Estimate) -> str:
    """Both ends of an interval in percent, in whole points unless it is narrower than two."""
    decimals = 0 if interval.high - interval.low >= 2 else 1
    return f"{interval.low:.{decimals}f}–{interval.high:.{decimals}f}"


def _head(thresholds: Sequence[float], levels: Sequence[str]) -> Html:
    spans = [el("td", {"colspan": 3})]
    if thresholds:
        spans.append(el("th", {"scope": "colgroup", "colspan": len(thresholds)}, "Percent within"))
    spans.append(el("th", {"scope": "colgroup", "colspan": 2}, "Typical"))
    if levels:
        spans.append(el("th", {"scope": "colgroup", "colspan": len(levels)}, "Percent named rightly"))
    columns: list[tuple[object, object]] = [("Answers", ""), ("n", ""), ("unlocated", "")]
    columns += [(threshold(km), threshold_name(km)) for km in thresholds]
    columns += [("median", "error"), ("GeoScore", "mean of 5,000")]
    columns += [(level, "") for level in levels]
    heads = [el("th", {"scope": "col"}, words, el("small", None, below) if below else "") for words, below in columns]
    return el("thead", None, el("tr", {"class": "groups"}, *spans), el("tr", None, *heads))


def _own_row(
    report: FileReport, index: int, thresholds: Sequence[float], levels: Sequence[str], decimals: int, *, marked: bool
) -> Html:
    summary = report.summary
    return el(
        "tr",
        None,
        el(
            "th",
            {"scope": "row", "class": "own"},
            el("span", {"class": f"key series s{index % 8}"}),
            join((el("span", {"class": "badge measured"}, "measured"), " ")) if marked else "",
            name(report.scored.label, 40),
        ),
        cell(count(summary.n)),
        cell(count(summary.unlocated)),
        *(accuracy_cell(summary.within.get(km), decimals) for km in thresholds),
        median_cell(summary.median_km),
        cell(score(summary.geoscore.value), _score_range(summary.geoscore)),
        *(_level_cell(summary, level, decimals) for level in levels),
    )


def _level_cell(summary: Summary, level: str, decimals: int) -> Html:
    if level in summary.levels and not summary.named[level]:
        return cell("none named", title=f"No answer names a {level}.")
    return accuracy_cell(summary.levels.get(level), decimals)


def median_cell(median_km: Estimate) -> Html:
    """The median over all records; none where half or more are unlocated."""
    if isnan(median_km.value):
        return cell(NONE)
    if isinf(median_km.value):
        return cell("none", "half unlocated", "Half or more of the records are unlocated, so there is no median error.")
    spread = "" if isnan(median_km.low) else f"{distance(median_km.low)}–{distance(median_km.high)}"
    return cell(distance(median_km.value), spread)


def _score_range(estimate: Estimate) -> str:
    return "" if isnan(estimate.low) else f"{score(estimate.low)}–{score(estimate.high)}"


class _Footnotes:
    """Notes in order of first mention; the same note keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, notes: Iterable[str]) -> Html:
        numbers = [self._numbers.setdefault(note, len(self._numbers) + 1) for note in notes]
        links = [el("a", {"href": f"#note-{number}"}, number) for number in numbers]
        return el("sup", None, join(links, " ")) if links else Html("")

    def html(self) -> Html:
        if not self._numbers:
            return Html("")
        notes = [el("li", {"id": f"note-{number}"}, note) for note, number in self._numbers.items()]
        return el(
            "details",
            {"class": "footnotes", "open": len(notes) <= 4},
            el("summary", None, "Notes on the published rows"),
            el("ol", None, *notes),
        )


def _published_row(
    row: PublishedRow, thresholds: Sequence[float], levels: Sequence[str], images: str, footnotes: _Footnotes
) -> Html:
    label = f"{row.system}, {row.setting}" if row.setting else row.system
    notes = [flag.text for flag in row.flags]
    values = [reported_percent(row, km) for km in thresholds]
    median = row.values.get("median_km")
    geoscore = row.values.get("geoscore")
    named = [row.values.get(_LEVEL_OF_METRIC[level]) for level in levels]
    return el(
        "tr",
        None,
        el(
            "th",
            {"scope": "row"},
            el("span", {"class": "badge"}, "published"),
            " ",
            name(label, 60),
            footnotes.mark(notes),
            el("small", None, f"{row.source} · {images}"),
        ),
        cell(NONE if row.n is None else count(row.n), title=row.n_note),
        cell(NONE, title="The source does not say how many were unlocated."),
        *(cell(NONE if value is None else f"{value:.2f}") for value in values),
        cell(NONE if median is None else distance(median)),
        cell(NONE if geoscore is None else score(geoscore)),
        *(cell(NONE if value is None else f"{value:.2f}") for value in named),
    )
