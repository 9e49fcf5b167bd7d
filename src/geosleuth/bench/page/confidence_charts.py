"""Does an answerer know when it is wrong: risk against coverage, and stated against observed probability."""

from collections.abc import Sequence

from geosleuth.bench.report import FileReport
from geosleuth.score import Calibration, Selective
from geosleuth.text.numbers import count, percent_sign, plural, threshold

from .canvas import Plot, drawing, key_inside, label, line, n, percent_axis, percent_axis_below, polyline, series
from .markup import Html, clean, el, join, name

_MOST_POINTS = 500
_LABEL_LIMIT = 30


def confidence_section(reports: Sequence[FileReport]) -> Html:
    """Both charts with their sentences, or nothing where no file states a confidence."""
    sure = [(index, report, report.selective) for index, report in enumerate(reports) if report.selective]
    stated = [(index, report, report.calibration) for index, report in enumerate(reports) if report.calibration]
    figures = []
    if sure:
        figures.append(_risk_figure(sure))
    if stated:
        figures.append(_reliability_figure(stated))
    if not figures:
        return Html("")
    return el(
        "section",
        {"id": "confidence", "aria-labelledby": "confidence-h"},
        el("h2", {"id": "confidence-h"}, "Does it know when it is wrong?"),
        el("div", {"class": "pair"}, *figures),
    )


def _risk_figure(sure: Sequence[tuple[int, FileReport, Selective]]) -> Html:
    plot = Plot(width=520, height=360, left=48, top=16, right=14, bottom=42)
    parts: list[Html] = [percent_axis(plot), percent_axis_below(plot)]
    for index, _, curve in sure:
        chosen = _thinned(curve)
        points = [(plot.x(curve.points[i].coverage), plot.y(curve.points[i].risk)) for i in chosen]
        parts.append(polyline(points, f"curve {series(index)}"))
        if len(points) == 1:
            parts.append(_spot(points[0], index))
    if len(sure) > 1:
        names = [(index, clean(report.scored.label, _LABEL_LIMIT)) for index, report, _ in sure]
        parts.append(key_inside(plot, names, at_bottom=False))
    parts.append(label(plot.x(0.5), plot.height - 6, "share of all photos that are answered", "tick quiet"))
    sentences = [_risk_sentence(report, curve) for _, report, curve in sure]
    return el(
        "figure",
        None,
        el("h3", None, "Leaving out the least sure answers"),
        drawing("risk", plot, "Risk against coverage", "Share of wrong answers among those kept.", parts),
        el(
            "figcaption",
            None,
            f"Height: share of the kept answers that are more than {threshold(sure[0][2].threshold_km)} off. "
            "A good sense of its own limits shows as a line that starts low and rises to the right.",
            el("ul", None, *(el("li", None, sentence) for sentence in sentences)),
        ),
    )


def _thinned(curve: Selective) -> list[int]:
    """Indices of at most so many points, first and last among them."""
    last = len(curve.points) - 1
    if last < _MOST_POINTS:
        return list(range(last + 1))
    return sorted({round(step * last / (_MOST_POINTS - 1)) for step in range(_MOST_POINTS)})


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


def _reliability_figure(stated: Sequence[tuple[int, FileReport, Calibration]]) -> Html:
    plot = Plot(width=520, height=360, left=48, top=16, right=14, bottom=42)
    parts: list[Html] = [percent_axis(plot), percent_axis_below(plot)]
    parts.append(line(plot.x(0), plot.y(0), plot.x(1), plot.y(1), "ideal"))
    parts.append(label(plot.x(0.3) - 6, plot.y(0.3) - 6, "as sure as right", "tick quiet", "end"))
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
    return el(
        "figure",
        None,
        el("h3", None, "Stated against observed probability"),
        drawing(
            "reliability", plot, "Reliability diagram", "How often answers of a stated probability were right.", parts
        ),
        el(
            "figcaption",
            None,
            "Height: how often the truth lay within the radius that the answer named. Below the diagonal is too sure, "
            "above it too modest; larger dots hold more answers.",
            el("ul", None, *(el("li", None, sentence) for sentence in sentences)),
        ),
    )


def _spot(point: tuple[float, float], index: int, radius: float = 4, words: str = "") -> Html:
    circle = el("circle", {"cx": n(point[0]), "cy": n(point[1]), "r": n(radius), "class": "dot"})
    return el("g", {"class": series(index)}, el("title", None, words) if words else "", circle)
