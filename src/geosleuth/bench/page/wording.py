"""Choices of words and of figures that several parts of the page share."""

from collections.abc import Sequence
from math import isinf

from geosleuth.bench.report import FileReport
from geosleuth.score import Summary
from geosleuth.text.numbers import count, distance, percent_sign, plural, threshold

from .markup import Html, el, join, name

HEADLINE_KM = 25.0
SECOND_KM = 200.0


def headline_km(summaries: Sequence[Summary]) -> float:
    """The one threshold that sentences speak of: 25 km, or the nearest that was measured."""
    return _nearest(summaries, HEADLINE_KM)


def second_km(summaries: Sequence[Summary]) -> float:
    """The threshold that stands beside the headline's: 200 km, or the nearest that was measured."""
    return _nearest(summaries, SECOND_KM)


def _nearest(summaries: Sequence[Summary], wanted_km: float) -> float:
    measured = {km for summary in summaries for km in summary.within}
    return min(measured, key=lambda km: (abs(km - wanted_km), km), default=wanted_km)


def headline(report: FileReport, index: int) -> Html:
    """What one file shows, in one plain sentence."""
    summary = report.summary
    km = headline_km([summary])
    accuracy = summary.within.get(km)
    strong = "strong"
    parts: list[object] = [el("span", {"class": f"label series s{index % 8}"}, name(report.scored.label)), " "]
    if accuracy is None or not summary.n:
        return join([*parts, "holds no record that could be measured."])
    share = el(strong, None, percent_sign(accuracy.percent.value))
    parts += ["places ", share, f" of {plural(summary.n, 'photo', 'photos')} within {threshold(km)}; "]
    if isinf(summary.median_km.value):
        parts.append("half or more have no place at all; ")
    elif summary.n == 1:
        parts += ["it is off by ", el(strong, None, distance(summary.median_km.value)), "; "]
    else:
        parts += ["half are off by less than ", el(strong, None, distance(summary.median_km.value)), "; "]
    parts += [el(strong, None, count(summary.unlocated)), " could not be placed."]
    return join(parts)
