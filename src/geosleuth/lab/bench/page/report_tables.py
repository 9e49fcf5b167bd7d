"""Tables of the report: one row per file with published rows, two files compared, and slices with bars."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isinf, isnan

from geosleuth.geo import threshold_name
from geosleuth.lab.bench.page.score_charts import headline_km, second_km
from geosleuth.lab.bench.report import FileReport, Moved, PairReport, Side, Slice, beside, reported_percent, with_any_of
from geosleuth.lab.score import LEVELS, Accuracy, Estimate, PublishedRow, Summary
from geosleuth.report.markup import Html, caption, el, join, name
from geosleuth.support.text.numbers import NONE, count, distance, p_value, percent, plural, score, signed, threshold

_LEVEL_OF_METRIC = {"country": "country", "region": "province", "city": "city"}

SHOWN_MOVES = 20
_CLEAR_P = 0.05
OPEN_ROWS = 12
MOST_ROWS = 300


def main_table(reports: Sequence[FileReport], published: Sequence[PublishedRow]) -> Html:
    """Return all figures side by side, in a box that scrolls by itself."""
    thresholds = sorted({km for report in reports for km in report.summary.within})
    levels = [level for level in LEVELS if any(level in report.summary.levels for report in reports)]
    # Published figures have two decimals; ours get as many, so that equal ones look equal.
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
    """Return a region that scrolls sideways on narrow screens, reachable by keyboard."""
    return el("div", {"class": "scroll", "role": "region", "aria-label": words, "tabindex": 0}, *children)


def cell(main: object, below: object = "", title: str | None = None, kind: str = "num") -> Html:
    """Return a figure, with a qualification in small grey print."""
    return el("td", {"class": kind, "title": title}, main, el("small", None, below) if below else "")


def accuracy_cell(accuracy: Accuracy | None, decimals: int = 1) -> Html:
    """Return a percentage over its interval."""
    if accuracy is None or not accuracy.n:
        return cell(NONE)
    interval = accuracy.percent
    return cell(
        percent(interval.value, decimals),
        interval_range(interval),
        f"{count(accuracy.hits)} of {count(accuracy.n)}; 95 % interval {interval.low:.1f} to {interval.high:.1f}",
    )


def interval_range(interval: Estimate) -> str:
    """Return both ends of an interval in percent, in whole points unless it is narrower than two."""
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
    """Return the median over all records; none if half or more are unlocated."""
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


def pairs_section(pairs: Sequence[PairReport]) -> Html:
    """Return all pairs, or nothing."""
    if not pairs:
        return Html("")
    return el(
        "section",
        {"id": "pairs", "aria-labelledby": "pairs-h"},
        el("h2", {"id": "pairs-h"}, "Side by side on the same photos"),
        *(_pair(pair) for pair in pairs),
    )


def _pair(pair: PairReport) -> Html:
    comparison = pair.comparison
    heads = ["within", pair.first.label, pair.second.label, "difference", "only the first", "only the second", "p"]
    lost = pair.first.unlocated, pair.second.unlocated
    unlocated = el(
        "tr",
        None,
        el("th", {"scope": "row"}, "unlocated, photos"),
        *(cell(count(value)) for value in lost),
        cell(signed(lost[1] - lost[0], 0)),
        *(cell("") for _ in range(3)),
    )
    body = [
        el(
            "tr",
            {"class": "clear" if item.p_adjusted < _CLEAR_P else None},
            el("th", {"scope": "row"}, threshold(item.threshold_km)),
            cell(percent(item.first_percent)),
            cell(percent(item.second_percent)),
            cell(signed(item.second_percent - item.first_percent)),
            cell(count(item.only_first)),
            cell(count(item.only_second)),
            cell(p_value(item.p_adjusted), title=f"before Holm's correction: {p_value(item.p)}"),
        )
        for item in comparison.accuracies
    ]
    table = el(
        "table",
        {"class": "pairs"},
        caption(
            "First the photos without a readable place, which are misses at every distance. Then percent within each "
            "distance, and the photos that only one of the two gets right. p: exact McNemar test, "
            "Holm-corrected over the rows; bold where below 0.05.",
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, name(words, 30)) for words in heads))),
        el("tbody", None, unlocated, *body),
    )
    return el(
        "div",
        {"class": "field"},
        el("h3", None, name(pair.second.label), " against ", name(pair.first.label)),
        el("p", None, *_sentence(pair)),
        scroll_box(f"{pair.second.label} against {pair.first.label}", table),
        *(_notes(side) for side in (pair.first, pair.second)),
        _moves(pair),
    )


def _notes(side: Side) -> Html:
    """Return how a file was read, and its oddities."""
    read = f": {side.parser} parser, {side.distance} distance"
    return el("p", {"class": "quiet"}, name(side.label), "; ".join((read, *side.notes)), ".")


def _sentence(pair: PairReport) -> list[object]:
    comparison = pair.comparison
    difference = comparison.geoscore_difference
    points = f"{abs(difference.value):,.0f} GeoScore points"
    if comparison.geoscore_p >= _CLEAR_P:
        verdict: list[object] = ["no clear difference in GeoScore"]
    elif difference.value > 0:
        verdict = [name(pair.second.label), f" is better by {points}"]
    else:
        verdict = [name(pair.first.label), f" is better by {points}"]
    ends = f"{signed(difference.low, 0)} to {signed(difference.high, 0)}"
    apart = f" (mean change {signed(difference.value, 0)}, 95 % interval {ends}"
    sentence = [f"On the {plural(comparison.n, 'photo', 'photos')} that both have: ", *verdict, apart]
    sentence.append(f"; sign-flip test p {_equals(comparison.geoscore_p)}).")
    alone = pair.first.left_out, pair.second.left_out
    if any(alone):
        sentence.append(f" Only the first has {count(alone[0])} others, only the second {count(alone[1])}.")
    return sentence


def _equals(p: float) -> str:
    words = p_value(p)
    return words if words.startswith("<") else f"= {words}"


def _moves(pair: PairReport) -> Html:
    if not pair.moved:
        return el("p", {"class": "quiet"}, "No photo's score moved.")
    shown = pair.moved[:SHOWN_MOVES]
    heads = ["photo", pair.first.label, pair.second.label, "GeoScore change"]
    table = el(
        "table",
        {"class": "moves"},
        caption("Error under each, and the change in GeoScore (0 to 5,000) from first to second."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, name(words, 30)) for words in heads))),
        el("tbody", None, *(_move(moved) for moved in shown)),
    )
    words = f"The {len(shown)} photos that moved most, of {count(len(pair.moved))} that moved"
    return el("details", None, el("summary", None, words), scroll_box("Photos that moved most", table))


def _move(moved: Moved) -> Html:
    return el(
        "tr",
        None,
        el("th", {"scope": "row"}, name(moved.id, 60)),
        cell(_error(moved.first_km)),
        cell(_error(moved.second_km)),
        cell(signed(moved.gain, 0)),
    )


def _error(km: float) -> str:
    return "unlocated" if isnan(km) else distance(km)


def slices_section(reports: Sequence[FileReport]) -> Html:
    """Return every requested field, or nothing."""
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
