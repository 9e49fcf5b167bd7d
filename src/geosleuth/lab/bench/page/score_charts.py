"""Charts of scores: errors, thresholds, calibration and risk."""

from collections.abc import Sequence
from math import log10

import numpy as np

from geosleuth.geo import threshold_name
from geosleuth.lab.bench.report import FileReport
from geosleuth.lab.score import Calibration, Selective, Summary
from geosleuth.report.charts import (
    Plot,
    drawing,
    key_inside,
    label,
    line,
    n,
    percent_axis,
    percent_axis_below,
    polyline,
    select_spaced,
    series,
)
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.support.text.numbers import count, percent_sign, plural, threshold

from .parts import Figure, Group, PageSection

_MAX_POINTS = 500
_LABEL_LIMIT = 30
HEADLINE_KM = 25.0
SECOND_KM = 200.0
# The antipode is 20,004 km off on the ellipsoid and 20,015 km on the sphere; nothing may lie beyond the axis.
NEAREST_KM, FARTHEST_KM = 0.01, 20_040.0
_DECADES = (
    (0.01, "10 m"),
    (0.1, "100 m"),
    (1, "1 km"),
    (10, "10 km"),
    (100, "100 km"),
    (1e3, "1,000"),
    (1e4, "10,000"),
)
_LANE = 11.0


def confidence_section(reports: Sequence[FileReport]) -> PageSection:
    """Return both charts with their sentences, if any file states a confidence."""
    sure = [(index, report, report.selective) for index, report in enumerate(reports) if report.selective]
    stated = [(index, report, report.calibration) for index, report in enumerate(reports) if report.calibration]
    figures = [*([_risk_figure(sure)] if sure else []), *([_reliability_figure(stated)] if stated else [])]
    return PageSection("confidence", "Confidence", [Group(figures, kind="pair")] if figures else [])


def _risk_figure(sure: Sequence[tuple[int, FileReport, Selective]]) -> Figure:
    plot = Plot(width=520, height=360, left=48, top=16, right=14, bottom=42)
    parts: list[Html] = [percent_axis(plot), percent_axis_below(plot)]
    for index, _, curve in sure:
        chosen = _sample_indices(curve)
        points = [(plot.x(curve.points[i].coverage), plot.y(curve.points[i].risk)) for i in chosen]
        parts.append(polyline(points, f"curve {series(index)}"))
        if len(points) == 1:
            parts.append(_spot(points[0], index))
    if len(sure) > 1:
        names = [(index, clean(report.scored.label, _LABEL_LIMIT)) for index, report, _ in sure]
        parts.append(key_inside(plot, names, at_bottom=False))
    parts.append(label(plot.x(0.5), plot.height - 6, "share of all photos that are answered", "tick quiet"))
    sentences = [_risk_sentence(report, curve) for _, report, curve in sure]
    words = (
        f"Height: share of the kept answers that are more than {threshold(sure[0][2].threshold_km)} off. "
        "A good sense of its own limits shows as a line that starts low and rises to the right."
    )
    return Figure(
        "Risk against coverage by confidence",
        drawing("risk", plot, "Risk against coverage", "Share of wrong answers among those kept.", parts),
        join((words, el("ul", None, *(el("li", None, sentence) for sentence in sentences)))),
    )


def _sample_indices(curve: Selective) -> list[int]:
    """Return at most `_MAX_POINTS` indices, including the first and last."""
    last = len(curve.points) - 1
    if last < _MAX_POINTS:
        return list(range(last + 1))
    return sorted({round(step * last / (_MAX_POINTS - 1)) for step in range(_MAX_POINTS)})


def _risk_sentence(report: FileReport, curve: Selective) -> Html:
    everything = curve.points[-1]
    half = next(point for point in curve.points if point.coverage >= everything.coverage / 2)
    sentence = (
        f": {count(curve.with_confidence)} of {plural(curve.n, 'record gives', 'records give')} a place and a "
        f"confidence. Of those, {percent_sign(100 * everything.risk)} are wrong"
    )
    if half is not everything:
        sentence += (
            f"; keep only the surest ({percent_sign(100 * half.coverage)} of all photos) "
            f"and {percent_sign(100 * half.risk)} are"
        )
    ideal = percent_sign(100 * curve.ideal_area)
    sentence += f". Mean risk {percent_sign(100 * curve.area)}; a perfect order would give {ideal}."
    return join((name(report.scored.label), sentence))


def _reliability_figure(stated: Sequence[tuple[int, FileReport, Calibration]]) -> Figure:
    plot = Plot(width=520, height=360, left=48, top=16, right=14, bottom=42)
    parts: list[Html] = [percent_axis(plot), percent_axis_below(plot)]
    parts.append(line(plot.x(0), plot.y(0), plot.x(1), plot.y(1), "ideal"))
    parts.append(label(plot.x(0.3) - 6, plot.y(0.3) - 6, "perfectly calibrated", "tick quiet", "end"))
    for index, report, figures in stated:
        points = [(plot.x(item.stated), plot.y(item.observed)) for item in figures.bins]
        parts.append(polyline(points, f"curve thin {series(index)}"))
        most = max(item.n for item in figures.bins)
        for item, point in zip(figures.bins, points, strict=True):
            words = (
                f"{clean(report.scored.label, _LABEL_LIMIT)}: {plural(item.n, 'answer', 'answers')} said "
                f"{percent_sign(100 * item.stated)}, true in {percent_sign(100 * item.observed)}"
            )
            parts.append(_spot(point, index, radius=3 + 5 * (item.n / most) ** 0.5, words=words))
    if len(stated) > 1:
        names = [(index, clean(report.scored.label, _LABEL_LIMIT)) for index, report, _ in stated]
        parts.append(key_inside(plot, names, at_bottom=True))
    parts.append(label(plot.x(0.5), plot.height - 6, "probability that the answer stated", "tick quiet"))
    sentences = [
        join(
            (
                name(report.scored.label),
                f": over {plural(figures.n, 'answer', 'answers')}, stated and observed differ by "
                f"{100 * figures.expected_error:.1f} points on average (expected calibration error, ECE).",
            )
        )
        for _, report, figures in stated
    ]
    words = (
        "Height: how often the truth lay within the radius that the answer named. Below the diagonal is too sure, "
        "above it too modest; larger dots hold more answers."
    )
    return Figure(
        "Stated against observed probability",
        drawing(
            "reliability", plot, "Reliability diagram", "How often answers of a stated probability were right.", parts
        ),
        join((words, el("ul", None, *(el("li", None, sentence) for sentence in sentences)))),
    )


def _spot(point: tuple[float, float], index: int, radius: float = 4, words: str = "") -> Html:
    circle = el("circle", {"cx": n(point[0]), "cy": n(point[1]), "r": n(radius), "class": "dot"})
    return el("g", {"class": series(index)}, el("title", None, words) if words else "", circle)


def headline_km(summaries: Sequence[Summary]) -> float:
    """Return the threshold used in sentences: 25 km, or the nearest that was measured."""
    return _nearest(summaries, HEADLINE_KM)


def second_km(summaries: Sequence[Summary]) -> float:
    """Return the second threshold: 200 km, or the nearest that was measured."""
    return _nearest(summaries, SECOND_KM)


def _nearest(summaries: Sequence[Summary], wanted_km: float) -> float:
    measured = {km for summary in summaries for km in summary.within}
    return min(measured, key=lambda km: (abs(km - wanted_km), km), default=wanted_km)


def log_share(km: float) -> float:
    """Return the position of a distance on the logarithmic axis, 0 to 1."""
    return log10(km / NEAREST_KM) / log10(FARTHEST_KM / NEAREST_KM)


def error_curve(report: FileReport, columns: int) -> list[tuple[float, float]]:
    """(share of the axis, share of all records with at most that error); unlocated ones are never reached."""
    shares = np.linspace(0.0, 1.0, columns + 1)
    distances_km = NEAREST_KM * (FARTHEST_KM / NEAREST_KM) ** shares
    located = np.sort(report.scored.distance_km[~np.isnan(report.scored.distance_km)])
    reached = np.searchsorted(located, distances_km, side="right") / max(1, len(report.scored))
    return list(zip(shares.tolist(), reached.tolist(), strict=True))


def error_chart(reports: Sequence[FileReport]) -> Html:
    """Cumulative share of records by error, one line per file."""
    plot = Plot(width=520, height=_height(reports), left=48, top=26, right=14, bottom=42)
    curves = [error_curve(report, columns=458) for report in reports]
    parts: list[Html] = [percent_axis(plot), *_distance_axis(plot, reports)]
    parts += [
        polyline([(plot.x(x), plot.y(y)) for x, y in curve], f"curve {series(index)}")
        for index, curve in enumerate(curves)
    ]
    if len(reports) > 1:
        order = sorted(range(len(reports)), key=lambda index: -sum(y for _, y in curves[index]))
        names = [(index, clean(reports[index].scored.label, _LABEL_LIMIT)) for index in order]
        # An ascending curve leaves the corner below its right end empty, unless it hardly rises at all.
        height = 16 * len(names) + 12
        lowest = min(y for curve in curves for x, y in curve if x > 0.55)
        parts.append(key_inside(plot, names, at_bottom=plot.y(0) - plot.y(lowest) > height))
    return drawing(
        "cdf",
        plot,
        "How far off the answers are",
        "; ".join(f"{report.scored.label}: {_in_words(report)}" for report in reports),
        parts,
    )


def _height(reports: Sequence[FileReport]) -> float:
    """Return the height shared by both charts, since they stand side by side; more files need more lanes."""
    thresholds = {km for report in reports for km in report.summary.within}
    return min(900.0, max(410.0, 68 + (_LANE * len(reports) + 12) * len(thresholds)))


def _distance_axis(plot: Plot, reports: Sequence[FileReport]) -> list[Html]:
    thresholds = sorted({km for report in reports for km in report.summary.within if NEAREST_KM <= km <= FARTHEST_KM})

    def position(km: float) -> float:
        return plot.x(log_share(km))

    labelled = select_spaced(thresholds, position, gap=27, first=lambda km: bool(threshold_name(km)))
    parts = [plot.horizontal(plot.y(0), "axis")]
    parts.append(label(plot.x(0), plot.top - 7, "thresholds, km", "tick quiet", "start"))
    for km in thresholds:
        parts.append(plot.vertical(position(km), "rule threshold" if km in labelled else "rule threshold faint"))
        if km in labelled:
            parts.append(label(position(km), plot.top - 7, f"{km:,.12g}"))
    for km, words in _DECADES:
        parts.append(line(position(km), plot.y(0), position(km), plot.y(0) + 4, "axis"))
        parts.append(label(position(km), plot.y(0) + 17, words))
    parts.append(label(plot.x(0.5), plot.height - 6, "distance between answer and truth", "tick quiet"))
    return parts


def _in_words(report: FileReport) -> str:
    shares = ", ".join(
        f"{percent_sign(item.percent.value)} within {threshold(km)}" for km, item in report.summary.within.items()
    )
    return f"{shares}; {count(report.summary.unlocated)} of {count(report.summary.n)} unlocated"


def threshold_chart(reports: Sequence[FileReport]) -> Html:
    """Accuracy at each threshold as a dot with its interval, one row per file within each threshold."""
    thresholds = sorted({km for report in reports for km in report.summary.within})
    plot = Plot(width=520, height=_height(reports), left=124, top=26, right=18, bottom=42)
    band = (plot.y(0) - plot.y(1)) / max(1, len(thresholds))
    lane = min(_LANE, band / (len(reports) + 1))
    headline = headline_km([report.summary for report in reports])
    parts: list[Html] = [percent_axis_below(plot)]
    for row, km in enumerate(thresholds):
        top = plot.y(1) + band * row
        middle = top + band / 2
        if km == headline:
            ground = {"x": 0, "y": n(top), "width": n(plot.width), "height": n(band), "class": "highlight", "rx": 3}
            parts.append(el("rect", ground))
        words = el("tspan", {"class": "quiet"}, threshold_name(km) + "  ") if threshold_name(km) else ""
        parts.append(label(plot.x(0) - 12, middle + 4, join((words, threshold(km))), "tick", "end"))
        for index, report in enumerate(reports):
            y = middle + lane * (index - (len(reports) - 1) / 2)
            parts.append(_dot(plot, report, km, y, index))
    parts.append(label(plot.x(0.5), plot.height - 6, "share of all photos within the distance", "tick quiet"))
    return drawing(
        "dots",
        plot,
        "Accuracy at each distance, with 95 % intervals",
        "; ".join(f"{report.scored.label}: {_in_words(report)}" for report in reports),
        parts,
    )


def _dot(plot: Plot, report: FileReport, km: float, y: float, index: int) -> Html:
    accuracy = report.summary.within.get(km)
    if accuracy is None or not accuracy.n:
        return Html("")
    value, low, high = accuracy.percent.value, accuracy.percent.low, accuracy.percent.high
    words = (
        f"{clean(report.scored.label, _LABEL_LIMIT)}: {percent_sign(value)} within {threshold(km)} "
        f"({count(accuracy.hits)} of {count(accuracy.n)}; 95 % interval {low:.1f} to {high:.1f})"
    )
    return el(
        "g",
        {"class": series(index)},
        el("title", None, words),
        line(plot.x(low / 100), y, plot.x(high / 100), y, "whisker"),
        el("circle", {"cx": n(plot.x(value / 100)), "cy": n(y), "r": 4, "class": "dot"}),
    )
