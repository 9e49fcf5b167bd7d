"""The two charts at the head of the report: how errors are spread, and accuracy at each threshold."""

from collections.abc import Sequence
from math import log10

import numpy as np

from geosleuth.bench.report import FileReport
from geosleuth.text.numbers import count, percent_sign, threshold, threshold_name

from .canvas import (
    Plot,
    drawing,
    key_inside,
    label,
    line,
    n,
    percent_axis,
    percent_axis_below,
    polyline,
    series,
    spaced,
)
from .markup import Html, clean, el, join
from .wording import headline_km

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
_LABEL_LIMIT = 30
_LANE = 11.0


def log_share(km: float) -> float:
    """Where a distance lies on the logarithmic axis, 0 to 1."""
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
    """One height for both charts, since they stand side by side; more files need more lanes."""
    thresholds = {km for report in reports for km in report.summary.within}
    return min(900.0, max(410.0, 68 + (_LANE * len(reports) + 12) * len(thresholds)))


def _distance_axis(plot: Plot, reports: Sequence[FileReport]) -> list[Html]:
    thresholds = sorted({km for report in reports for km in report.summary.within if NEAREST_KM <= km <= FARTHEST_KM})

    def position(km: float) -> float:
        return plot.x(log_share(km))

    labelled = spaced(thresholds, position, gap=27, first=lambda km: bool(threshold_name(km)))
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
