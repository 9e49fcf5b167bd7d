"""How the figures were made, in enough detail to make them again."""

import shlex
from collections.abc import Callable, Sequence

from geosleuth import __version__
from geosleuth.bench.report import FileReport
from geosleuth.geo import EARTH_RADIUS_KM, GEOSCORE_DECAY, GEOSCORE_MAX, GEOSCORE_SCALE_KM
from geosleuth.text.numbers import count, threshold

from .markup import Html, clean, el, name

_PARSERS = {
    "strict": "strict: located is only a reply whose first top-level JSON object holds lat, lon, city and country",
    "lenient": "lenient: coordinates are read wherever a person could read them in the reply",
}
_DISTANCES = {
    "geodesic": "geodesic on the WGS-84 ellipsoid",
    "great-circle": f"great circle on a sphere of radius {EARTH_RADIUS_KM:,.0f} km",
}


def method_section(reports: Sequence[FileReport], command: str) -> Html:
    """Parser, distance, intervals, inputs, and the command to repeat it all."""
    thresholds = sorted({km for report in reports for km in report.summary.within})
    facts = [
        ("Unlocated", _unlocated_words()),
        ("Reading replies", _each(reports, lambda report: _PARSERS.get(report.scored.parser, report.scored.parser))),
        ("Distance", _each(reports, lambda report: _DISTANCES.get(report.scored.distance, report.scored.distance))),
        (
            "Thresholds",
            ", ".join(threshold(km) for km in thresholds) + "; an error exactly at a threshold counts as within",
        ),
        (
            "Intervals",
            "95 %. Shares: Wilson's score interval. Median: order statistics. Mean GeoScore: normal approximation",
        ),
        ("GeoScore", _geoscore_words()),
        (
            "Level-wise",
            "country, region and city are compared as names, after folding spelling, case and common aliases",
        ),
        ("Map", "land outline: Natural Earth 1:110m, public domain"),
        ("Version", f"geosleuth {__version__}"),
    ]
    terms = [part for term, words in facts for part in (el("dt", None, term), el("dd", None, words))]
    return el(
        "section",
        {"id": "method", "aria-labelledby": "method-h"},
        el("h2", {"id": "method-h"}, "How the figures were made"),
        el("dl", None, *terms),
        el("h3", None, "Inputs"),
        el("ul", {"class": "inputs"}, *(_input(report) for report in reports)),
        el("h3", None, "To make this page again"),
        el("pre", {"tabindex": 0}, el("code", None, command or _command(reports))),
    )


def _unlocated_words() -> str:
    return (
        "a record whose answer holds no usable coordinates. It stays in n, is a miss at every threshold, scores 0 and "
        "counts as farther off than any other. No place is ever made up for it"
    )


def _geoscore_words() -> str:
    formula = f"{GEOSCORE_MAX:,g} × exp(−{GEOSCORE_DECAY:g} × error / {GEOSCORE_SCALE_KM:,g} km)"
    return f"{formula} for each record, 0 where unlocated; the mean over all records"


def _each(reports: Sequence[FileReport], words_of: Callable[[FileReport], str]) -> Html:
    found: dict[str, list[str]] = {}
    for report in reports:
        found.setdefault(words_of(report), []).append(report.scored.label)
    if len(found) == 1:
        return el("span", None, next(iter(found)))
    return el("ul", None, *(el("li", None, name(", ".join(labels)), f": {words}") for words, labels in found.items()))


def _input(report: FileReport) -> Html:
    scored = report.scored
    notes = [el("li", None, note) for note in scored.notes]
    return el(
        "li",
        None,
        name(scored.label),
        f", {count(len(scored))} records",
        el("br"),
        el("code", {"class": "sha"}, f"sha256 {scored.sha256}" if scored.sha256 else "not read from a file"),
        el("ul", None, *notes) if notes else "",
    )


def _command(reports: Sequence[FileReport]) -> str:
    """The command with its defaults spelt out; labels stand for the files, whose folders the page does not know."""
    scored = [report.scored for report in reports]
    words = ["geosleuth", "bench", "score", *(shlex.quote(clean(item.label, 80)) for item in scored)]
    words += ["--parser", scored[0].parser, "--distance", scored[0].distance]
    for field in dict.fromkeys(item.field for report in reports for item in report.slices):
        words += ["--by", shlex.quote(clean(field, 80))]
    return " ".join([*words, "--out", "report.html"])
