"""The page of ``bench score`` and ``bench compare``: figures, charts, map, slices, confidence, pairs, worst errors."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from math import isinf, isnan

import numpy as np

from geosleuth import __version__
from geosleuth.geo import EARTH_RADIUS_KM, GEOSCORE_DECAY, GEOSCORE_MAX, GEOSCORE_SCALE_KM, threshold_name
from geosleuth.lab.bench.report import (
    FileReport,
    PairReport,
    Side,
    Slice,
    beside,
    filter_by_distance,
    get_reported_percent,
)
from geosleuth.lab.score import LEVELS, Accuracy, Estimate, PublishedRow, Summary
from geosleuth.report.charts import series
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.support.text.numbers import (
    NONE,
    count,
    distance,
    format_signed,
    p_value,
    percent,
    percent_sign,
    place,
    plural,
    score,
    threshold,
)

from .error_map import map_section, worst_rows
from .parts import (
    Facts,
    Figure,
    Fold,
    Group,
    Items,
    PageSection,
    Para,
    Table,
    TableCell,
    TableRow,
    render_keyed_label,
    render_sections,
)
from .score_charts import confidence_section, error_chart, headline_km, second_km, threshold_chart

CLEAR_P = 0.05
SHOWN_MOVES = SHOWN_ERRORS = 20
SHOWN_UNLOCATED = 500
OPEN_ROWS = 12
MAX_ROWS = 300
_PARSERS = {
    "strict": "strict: located is only a reply whose first top-level JSON object holds lat, lon, city and country",
    "lenient": "lenient: coordinates are read wherever a person could read them in the reply",
}
_DISTANCES = {
    "geodesic": "geodesic on the WGS-84 ellipsoid",
    "great-circle": f"great circle on a sphere of radius {EARTH_RADIUS_KM:,.0f} km",
}
_LEVEL_OF_METRIC = {"country": "country", "region": "province", "city": "city"}
_UNLOCATED = (
    "a record whose answer holds no usable coordinates. It stays in n, is a miss at every threshold, scores 0 and "
    "counts as farther off than any other. No place is ever made up for it"
)
_GEOSCORE = (
    f"{GEOSCORE_MAX:,g} × exp(−{GEOSCORE_DECAY:g} × error / {GEOSCORE_SCALE_KM:,g} km) for each record, 0 where "
    "unlocated; the mean over all records"
)


def render_page(
    reports: Sequence[FileReport],
    *,
    published: Sequence[PublishedRow] = (),
    pairs: Sequence[PairReport] = (),
    title: str = "How close did the answers come?",
    generated: str,
    command: str = "",
) -> str:
    """Return the whole page as text, to be written as UTF-8.

    Args:
        reports: one per scored file, in order of appearance.
        published: rows from papers to show beneath ours.
        pairs: paired comparisons to show.
        title: the page's heading.
        generated: the time when the page was made, as displayed.
        command: the command line that made it; derived from the reports if not given.
    """
    sections = [
        figures_section(reports, published),
        charts_section(reports),
        map_section(reports),
        slices_section(reports),
        confidence_section(reports),
        pairs_section(pairs),
        worst_section(reports),
        method_section(reports, command),
    ]
    return render_sections(
        title,
        sections,
        command="geosleuth bench",
        generated=generated,
        headlines=[headline(report, index) for index, report in enumerate(reports)],
        intro=how_to_read(reports),
    )


def how_to_read(reports: Sequence[FileReport]) -> list[object]:
    """Return what a reader must know of errors, shares and intervals."""
    km = threshold(headline_km([report.summary for report in reports]))
    return [
        "This page measures how close answers to the question “where was this photo taken?” came to the true places. "
        "The error is the shortest way over the ground from the answered place to the true one.",
        join(
            (
                el("b", None, "How to read it. "),
                f"“Within {km}” is the share of all photos whose answer lies at most {km} from the truth. An answer "
                "without usable coordinates is called ",
                el("b", None, "unlocated"),
                "; it counts as a miss and is never left out. The grey ranges are 95 % intervals: two figures whose "
                "ranges overlap widely should not be ranked.",
            )
        ),
    ]


def headline(report: FileReport, index: int) -> Html:
    """Return what one file shows, in one plain sentence."""
    summary = report.summary
    km = headline_km([summary])
    accuracy, median_km = summary.within.get(km), summary.median_km.value
    label = el("span", {"class": f"label {series(index)}"}, name(report.scored.label))
    if accuracy is None or not summary.n:
        return join((label, " has no record that can be scored."))
    median = el("strong", None, distance(median_km))
    half = (
        ["half or more have no place at all; "]
        if isinf(median_km)
        else ["it is off by " if summary.n == 1 else "half are off by less than ", median, "; "]
    )
    share = el("strong", None, percent_sign(accuracy.percent.value))
    photos = f" of {plural(summary.n, 'photo', 'photos')} within {threshold(km)}; "
    lost = el("strong", None, count(summary.unlocated))
    return join((label, " places ", share, photos, *half, lost, " could not be placed."))


def figures_section(reports: Sequence[FileReport], published: Sequence[PublishedRow]) -> PageSection:
    """Return all figures side by side, and the papers' rows beneath."""
    thresholds = sorted({km for report in reports for km in report.summary.within})
    levels = [level for level in LEVELS if any(level in report.summary.levels for report in reports)]
    # Published figures have two decimals; ours get as many, so that equal ones look equal.
    decimals = 2 if published else 1
    shown = filter_by_distance(published, thresholds)
    notes = list(dict.fromkeys(flag.text for row in shown for flag in row.flags))
    heads = [
        TableCell("Answers"),
        "n",
        "unlocated",
        *(TableCell(threshold(km), threshold_name(km)) for km in thresholds),
    ]
    heads += [
        TableCell("median", "error"),
        TableCell("GeoScore", "mean of 5,000"),
        *(TableCell(item, "named") for item in levels),
    ]
    table = Table(
        "All figures",
        heads,
        [
            TableRow(_own_cells(report, index, thresholds, levels, decimals, is_marked=bool(shown)))
            for index, report in enumerate(reports)
        ],
        "Accuracy is the percentage of all records within a distance, unlocated ones included. Small grey figures: "
        "95 % intervals.",
        "figures",
        [TableRow(_build_published_cells(row, thresholds, levels, beside(row, reports), notes)) for row in shown],
    )
    lines = [el("span", {"id": f"note-{number}"}, f"[{number}] {note}") for number, note in enumerate(notes, 1)]
    parts: list[object] = [table]
    if notes:
        parts.append(Fold("Notes on the published rows", [Items(lines)], len(notes) <= 4, "footnotes"))
    return PageSection("figures", "All figures", parts)


def _own_cells(
    report: FileReport,
    index: int,
    thresholds: Sequence[float],
    levels: Sequence[str],
    decimals: int,
    *,
    is_marked: bool,
) -> list[object]:
    summary, label = report.summary, render_keyed_label(index, report.scored.label, 40)
    badge = el("span", {"class": "badge measured"}, "measured")
    geoscore = summary.geoscore
    spread = "" if isnan(geoscore.low) else f"{score(geoscore.low)}–{score(geoscore.high)}"
    return [
        TableCell(join((badge, " ", label)) if is_marked else label, kind="own"),
        count(summary.n),
        count(summary.unlocated),
        *(accuracy_cell(summary.within.get(km), decimals) for km in thresholds),
        median_cell(summary.median_km),
        TableCell(score(geoscore.value), spread),
        *(_level_cell(summary, level, decimals) for level in levels),
    ]


def _level_cell(summary: Summary, level: str, decimals: int) -> TableCell:
    if level in summary.levels and not summary.named[level]:
        return TableCell("none named", title=f"No answer names a {level}.")
    return accuracy_cell(summary.levels.get(level), decimals)


def accuracy_cell(accuracy: Accuracy | None, decimals: int = 1) -> TableCell:
    """Return a percentage over its interval, in whole points unless that is narrower than two."""
    if accuracy is None or not accuracy.n:
        return TableCell(NONE)
    share = accuracy.percent
    digits = 0 if share.high - share.low >= 2 else 1
    return TableCell(
        percent(share.value, decimals), f"{share.low:.{digits}f}–{share.high:.{digits}f}", format_counts(accuracy)
    )


def format_counts(accuracy: Accuracy) -> str:
    """Return what a percentage is made of."""
    share = accuracy.percent
    return f"{count(accuracy.hits)} of {count(accuracy.n)}; 95 % interval {share.low:.1f} to {share.high:.1f}"


def median_cell(median_km: Estimate) -> TableCell:
    """Return the median over all records; none if half or more are unlocated."""
    if isnan(median_km.value):
        return TableCell(NONE)
    if isinf(median_km.value):
        return TableCell(
            "none", "half unlocated", "Half or more of the records are unlocated, so there is no median error."
        )
    spread = "" if isnan(median_km.low) else f"{distance(median_km.low)}–{distance(median_km.high)}"
    return TableCell(distance(median_km.value), spread)


def _build_published_cells(
    row: PublishedRow, thresholds: Sequence[float], levels: Sequence[str], images: str, notes: Sequence[str]
) -> list[object]:
    label = f"{row.system}, {row.setting}" if row.setting else row.system
    numbers = sorted(notes.index(flag.text) + 1 for flag in row.flags)
    links = join([el("a", {"href": f"#note-{number}"}, number) for number in numbers], " ")
    head = (el("span", {"class": "badge"}, "published"), " ", name(label, 60), el("sup", None, links) if links else "")
    median, geoscore = row.values.get("median_km"), row.values.get("geoscore")
    shares = [get_reported_percent(row, km) for km in thresholds]
    named = [row.values.get(_LEVEL_OF_METRIC[level]) for level in levels]
    return [
        TableCell(join(head), f"{row.source} · {images}"),
        TableCell(NONE if row.n is None else count(row.n), title=row.n_note),
        TableCell(NONE, title="The source does not say how many were unlocated."),
        *(_as_printed(value) for value in shares),
        NONE if median is None else distance(median),
        NONE if geoscore is None else score(geoscore),
        *(_as_printed(value) for value in named),
    ]


def _as_printed(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def charts_section(reports: Sequence[FileReport]) -> PageSection:
    """Return the charts of errors and of accuracy, if there is any record."""
    keys = [
        el("span", {"class": "nowrap"}, render_keyed_label(index, report.scored.label, 40))
        for index, report in enumerate(reports)
    ]
    figures = [
        Figure(
            "Share of photos by error",
            error_chart(reports),
            "Follow a line upwards: its height above a distance is the share of all photos that are at most so far "
            "off. What is missing to 100 % at the right edge is unlocated.",
        ),
        Figure(
            "Accuracy at each distance",
            threshold_chart(reports),
            join(("Dots are measured shares, lines their 95 % intervals. ", *(keys if len(reports) > 1 else ()))),
        ),
    ]
    drawn = any(report.summary.n for report in reports)
    return PageSection("charts", "How far off, how often", [Group(figures, kind="pair")] if drawn else [])


def slices_section(reports: Sequence[FileReport]) -> PageSection:
    """Return every requested field."""
    fields = dict.fromkeys(item.field for report in reports for item in report.slices)
    parts = []
    for field in fields:
        tables: list[object] = []
        for report in reports:
            rows = [item for item in report.slices if item.field == field]
            tables += _slices(field, report, rows) if rows else []
        parts.append(Group(tables, join(("By ", name(field))), "field pair"))
    lead = "The thin line over a bar is the 95 % interval. Where it is long, the slice is too small to say much."
    return PageSection("slices", "Slices: is it equally good everywhere?", parts, lead)


def _slices(field: str, report: FileReport, rows: Sequence[Slice]) -> list[object]:
    shown, rest = rows[:OPEN_ROWS], rows[OPEN_ROWS:MAX_ROWS]
    parts: list[object] = [_slice_table(field, report, shown)]
    if rest:
        words = f"{plural(len(rest), 'more value', 'more values')}, smaller"
        parts.append(Fold(words, [_slice_table(field, report, rest)]))
    if left_out := len(rows) - len(shown) - len(rest):
        words = (
            f"{plural(left_out, 'value is', 'values are')} not listed here; the JSON and CSV outputs hold all of them."
        )
        parts.append(Para(words, "quiet"))
    return [Group(parts, name(report.scored.label), "")]


def _slice_table(field: str, report: FileReport, rows: Sequence[Slice]) -> Table:
    summaries = [item.summary for item in rows]
    thresholds = list(dict.fromkeys((headline_km(summaries), second_km(summaries))))
    return Table(
        f"Slices of {report.scored.label} by {field}",
        [name(field, 40), "n", "unlocated", *(f"within {threshold(km)}" for km in thresholds), "median"],
        [
            TableRow(
                [
                    name(item.value, 40),
                    count(item.summary.n),
                    count(item.summary.unlocated),
                    *(_render_bar_cell(item.summary.within.get(km)) for km in thresholds),
                    median_cell(item.summary.median_km),
                ]
            )
            for item in rows
        ],
        kind="slices",
    )


def _render_bar_cell(accuracy: Accuracy | None) -> TableCell:
    if accuracy is None or not accuracy.n:
        return TableCell(NONE)
    share = accuracy.percent
    style = f"--value:{share.value:.1f}%;--low:{share.low:.1f}%;--high:{share.high:.1f}%"
    drawn = join((el("span", {"class": "bar", "style": style}), percent(share.value)))
    return TableCell(drawn, title=format_counts(accuracy), kind="num barred")


def pairs_section(pairs: Sequence[PairReport], moved: int = SHOWN_MOVES, *, is_open: bool = False) -> PageSection:
    """Return all paired comparisons, each with so many of the photos that moved most."""
    parts = [_pair(pair, moved, is_open=is_open) for pair in pairs]
    return PageSection("pairs", "Side by side on the same photos", parts)


def _pair(pair: PairReport, most: int, *, is_open: bool) -> Group:
    first, second = pair.first, pair.second
    lost = first.unlocated, second.unlocated
    rows = [TableRow(["unlocated, photos", *map(count, lost), format_signed(lost[1] - lost[0], 0), "", "", ""])]
    rows += [
        TableRow(
            [
                threshold(item.threshold_km),
                percent(item.first_percent),
                percent(item.second_percent),
                format_signed(item.second_percent - item.first_percent),
                count(item.only_first),
                count(item.only_second),
                TableCell(p_value(item.p_adjusted), title=f"before Holm's correction: {p_value(item.p)}"),
            ],
            "clear" if item.p_adjusted < CLEAR_P else "",
        )
        for item in pair.comparison.accuracies
    ]
    names = (name(first.label, 30), name(second.label, 30))
    table = Table(
        f"{second.label} against {first.label}",
        ["within", *names, "difference", "only the first", "only the second", "p"],
        rows,
        "First the photos without a readable place, which are misses at every distance. Then percent within each "
        "distance, and the photos that only one of the two gets right. p: exact McNemar test, Holm-corrected over the "
        "rows of all pairs; bold where below 0.05.",
        "pairs",
    )
    moved = pair.moved[:most]
    moves = Table(
        "Photos that moved most",
        ["photo", *names, "GeoScore change"],
        [
            TableRow(
                [name(entry.id, 60), _error(entry.first_km), _error(entry.second_km), format_signed(entry.gain, 0)]
            )
            for entry in moved
        ],
        "Error under each, and the change in GeoScore (0 to 5,000) from first to second.",
        "moves",
    )
    words = f"The {len(moved)} photos that moved most, of {count(len(pair.moved))} that moved"
    parts: list[object] = [Para(_pair_sentence(pair)), table, *(_how_read(side) for side in (first, second))]
    if moved or not pair.moved:
        parts.append(Fold(words, [moves], is_open) if moved else Para("No photo's score moved.", "quiet"))
    return Group(parts, join((name(second.label), " against ", name(first.label))))


def _how_read(side: Side) -> Para:
    read = f": {side.parser} parser, {side.distance} distance"
    return Para(join((name(side.label), "; ".join((read, *side.notes)), ".")), "quiet")


def _pair_sentence(pair: PairReport) -> Html:
    comparison, gain = pair.comparison, pair.comparison.geoscore_difference
    better = pair.second if gain.value > 0 else pair.first
    verdict: list[object] = [name(better.label), f" is better by {abs(gain.value):,.0f} GeoScore points"]
    if comparison.geoscore_p >= CLEAR_P:
        verdict = ["no clear difference in GeoScore"]
    p = p_value(comparison.geoscore_p)
    ends = (
        f"{format_signed(gain.low, 0)} to {format_signed(gain.high, 0)}; "
        f"sign-flip test p {p if p.startswith('<') else f'= {p}'}"
    )
    alone = pair.first.left_out, pair.second.left_out
    others = f" Only the first has {count(alone[0])} others, only the second {count(alone[1])}." if any(alone) else ""
    both = f"On the {plural(comparison.n, 'photo', 'photos')} that both have: "
    return join((both, *verdict, f" (mean change {format_signed(gain.value, 0)}, 95 % interval {ends}).", others))


def _error(km: float) -> str:
    return "unlocated" if isnan(km) else distance(km)


def worst_section(reports: Sequence[FileReport]) -> PageSection:
    """Return the largest errors and the unlocated ids of each file, collapsed."""
    return PageSection("worst", "Largest errors", [part for report in reports for part in _worst(report)])


def _worst(report: FileReport) -> Iterable[Fold]:
    scored = report.scored
    rows = worst_rows(scored, SHOWN_ERRORS).tolist()
    if rows:
        table = Table(
            f"Worst errors of {scored.label}",
            ["record", "error", "true place", "answered place"],
            [
                TableRow(
                    [
                        name(scored.ids[row], 60),
                        distance(float(scored.distance_km[row])),
                        place(float(scored.truth_lat[row]), float(scored.truth_lon[row])),
                        place(float(scored.lat[row]), float(scored.lon[row])),
                    ]
                )
                for row in rows
            ],
            "Latitude, longitude in degrees.",
            "worst",
        )
        words = "The worst error" if len(rows) == 1 else f"The {len(rows)} worst errors"
        yield Fold(join((f"{words} of ", name(scored.label))), [table])
    lost = np.flatnonzero(np.isnan(scored.distance_km))
    if len(lost):
        parts: list[object] = [Items([name(scored.ids[row], 60) for row in lost[:SHOWN_UNLOCATED]], "ids")]
        if more := len(lost) - SHOWN_UNLOCATED:
            parts += [Para(f"and {count(more)} more; the CSV output lists all.", "quiet")] if more > 0 else []
        records = plural(len(lost), "unlocated record", "unlocated records")
        yield Fold(join((f"{records} of ", name(scored.label))), parts)


def method_section(reports: Sequence[FileReport], command: str) -> PageSection:
    """Return parser, distance, intervals, inputs, and the command that repeats the report."""
    thresholds = sorted({km for report in reports for km in report.summary.within})
    distances = ", ".join(threshold(km) for km in thresholds)
    facts = [
        ("Unlocated", _UNLOCATED),
        ("Reading replies", _each(reports, lambda report: _PARSERS[report.scored.parser])),
        ("Distance", _each(reports, lambda report: _DISTANCES[report.scored.distance])),
        ("Thresholds", f"{distances}; an error exactly at a threshold counts as within"),
        (
            "Intervals",
            "95 %. Shares: Wilson's score interval. Median: order statistics. Mean GeoScore: normal approximation",
        ),
        ("GeoScore", _GEOSCORE),
        (
            "Level-wise",
            "country, region and city are compared as names, after folding spelling, case and common aliases",
        ),
        ("Map", "land outline: Natural Earth 1:110m, public domain"),
        ("Version", f"geosleuth {__version__}"),
    ]
    again = el("pre", {"tabindex": 0}, el("code", None, command or _command(reports)))
    return PageSection(
        "method",
        "How the figures were made",
        [
            Facts([(term, words, "") for term, words in facts]),
            Group([Items([_input(report) for report in reports], "inputs")], "Inputs", ""),
            Group([again], "To make this page again", ""),
        ],
    )


def _each(reports: Sequence[FileReport], words_of: Callable[[FileReport], str]) -> Html:
    found = {
        words: [report.scored.label for report in group]
        for words, group in groupby(sorted(reports, key=words_of), words_of)
    }
    if len(found) == 1:
        return el("span", None, next(iter(found)))
    return join([join((name(", ".join(labels)), f": {words}. ")) for words, labels in found.items()])


def _input(report: FileReport) -> Html:
    scored = report.scored
    digest = el("code", {"class": "sha"}, f"sha256 {scored.sha256}" if scored.sha256 else "not read from a file")
    notes = "".join(f"; {note}" for note in scored.notes)
    return join((name(scored.label), f", {count(len(scored))} records{notes}", el("br"), digest))


def _command(reports: Sequence[FileReport]) -> str:
    """Return the command with its defaults spelt out; labels replace the files, whose folders are not known here."""
    scored = [report.scored for report in reports]
    words = ["geosleuth", "bench", "score", *(shlex.quote(clean(item.label, 80)) for item in scored)]
    words += ["--parser", scored[0].parser, "--distance", scored[0].distance]
    for field in dict.fromkeys(item.field for report in reports for item in report.slices):
        words += ["--by", shlex.quote(clean(field, 80))]
    return " ".join([*words, "--out", "report.html"])
