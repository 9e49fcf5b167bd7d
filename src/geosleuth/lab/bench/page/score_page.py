"""The report as one HTML document: no network, no other file, readable with scripts off."""

import hashlib
import shlex
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from geosleuth import __version__
from geosleuth.geo import EARTH_RADIUS_KM, GEOSCORE_DECAY, GEOSCORE_MAX, GEOSCORE_SCALE_KM
from geosleuth.lab.bench.page.error_map import map_data, map_section, placed_dots, worst_rows
from geosleuth.lab.bench.page.score_charts import (
    confidence_section,
    error_chart,
    headline,
    headline_km,
    threshold_chart,
)
from geosleuth.lab.bench.report import FileReport, PairReport
from geosleuth.lab.score import PublishedRow
from geosleuth.report.charts import series
from geosleuth.report.markup import Html, caption, clean, data_block, el, join, name
from geosleuth.report.worldmap import shared_drawing
from geosleuth.support.text.numbers import count, distance, place, plural, threshold

from .report_tables import cell, main_table, pairs_section, scroll_box, slices_section

_PARSERS = {
    "strict": "strict: located is only a reply whose first top-level JSON object holds lat, lon, city and country",
    "lenient": "lenient: coordinates are read wherever a person could read them in the reply",
}
_DISTANCES = {
    "geodesic": "geodesic on the WGS-84 ellipsoid",
    "great-circle": f"great circle on a sphere of radius {EARTH_RADIUS_KM:,.0f} km",
}
SHOWN_ERRORS = 20
SHOWN_UNLOCATED = 500
NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a page without script and other files may load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreSections:
    """Additional sections of a page.

    Attributes:
        first: placed before all figures.
        after_figures: placed after the table of all figures.
        after_charts: placed after the two charts.
        before_worst: placed before the worst errors.
        style: CSS rules for them, added to the style sheet.
    """

    first: Sequence[Html] = ()
    after_figures: Sequence[Html] = ()
    after_charts: Sequence[Html] = ()
    before_worst: Sequence[Html] = ()
    style: str = ""


_NO_MORE = MoreSections()


def method_section(reports: Sequence[FileReport], command: str) -> Html:
    """Return parser, distance, intervals, inputs, and the command that repeats the report."""
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
    """Return the command with its defaults spelt out; labels replace the files, whose folders are not known here."""
    scored = [report.scored for report in reports]
    words = ["geosleuth", "bench", "score", *(shlex.quote(clean(item.label, 80)) for item in scored)]
    words += ["--parser", scored[0].parser, "--distance", scored[0].distance]
    for field in dict.fromkeys(item.field for report in reports for item in report.slices):
        words += ["--by", shlex.quote(clean(field, 80))]
    return " ".join([*words, "--out", "report.html"])


def worst_section(reports: Sequence[FileReport]) -> Html:
    """Return the largest errors and the unlocated ids of each file, collapsed."""
    return el(
        "section",
        {"id": "worst", "aria-labelledby": "worst-h"},
        el("h2", {"id": "worst-h"}, "Largest errors"),
        *(join((_errors(report), _unlocated(report))) for report in reports),
    )


def _errors(report: FileReport) -> Html:
    scored = report.scored
    rows = worst_rows(scored, SHOWN_ERRORS)
    if not len(rows):
        return Html("")
    body = [
        el(
            "tr",
            None,
            el("th", {"scope": "row"}, name(scored.ids[row], 60)),
            cell(distance(float(scored.distance_km[row]))),
            cell(place(float(scored.truth_lat[row]), float(scored.truth_lon[row]))),
            cell(place(float(scored.lat[row]), float(scored.lon[row]))),
        )
        for row in rows
    ]
    heads = ("record", "error", "true place", "answered place")
    table = el(
        "table",
        {"class": "worst"},
        caption("Latitude, longitude in degrees."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *body),
    )
    words = "The worst error" if len(rows) == 1 else f"The {len(rows)} worst errors"
    return el(
        "details",
        None,
        el("summary", None, f"{words} of ", name(scored.label)),
        scroll_box(f"Worst errors of {scored.label}", table),
    )


def _unlocated(report: FileReport) -> Html:
    scored = report.scored
    rows = np.flatnonzero(np.isnan(scored.distance_km))
    if not len(rows):
        return Html("")
    shown = [el("li", None, name(scored.ids[row], 60)) for row in rows[:SHOWN_UNLOCATED]]
    more = len(rows) - len(shown)
    return el(
        "details",
        None,
        el("summary", None, f"{plural(len(rows), 'unlocated record', 'unlocated records')} of ", name(scored.label)),
        el("ul", {"class": "ids"}, *shown),
        el("p", {"class": "quiet"}, f"and {count(more)} more; the CSV output lists all.") if more else "",
    )


def render_page(
    reports: Sequence[FileReport],
    *,
    published: Sequence[PublishedRow] = (),
    pairs: Sequence[PairReport] = (),
    title: str = "How close did the answers come?",
    generated: str,
    command: str = "",
    more: MoreSections = _NO_MORE,
) -> str:
    """Return the whole page as text, to be written as UTF-8.

    Args:
        reports: one per scored file, in order of appearance.
        published: rows from papers to show beneath ours.
        pairs: paired comparisons to show.
        title: the page's heading.
        generated: the time when the page was made, as displayed.
        command: the command line that made it; derived from the reports if not given.
        more: further sections.
    """
    script = Html(_asset(__package__, "page.js"))
    dots = [placed_dots(report.scored) for report in reports]
    body = el(
        "body",
        None,
        el("a", {"class": "skip", "href": "#main"}, "Skip to the figures"),
        shared_drawing(),
        _header(reports, title, generated),
        el(
            "main",
            {"id": "main"},
            *more.first,
            _figures(reports, published),
            *more.after_figures,
            _charts(reports),
            *more.after_charts,
            map_section(reports, dots),
            slices_section(reports),
            confidence_section(reports),
            pairs_section(pairs),
            *more.before_worst,
            worst_section(reports),
            method_section(reports, command),
        ),
        el("footer", None, f"Made with geosleuth {__version__}, {generated}. This page is one file and loads nothing."),
        data_block("map-data", map_data(reports, dots)),
        el("script", None, script),
    )
    return (
        f"<!doctype html>\n{el('html', {'lang': 'en'}, page_head(title, content_policy(script), more.style), body)}\n"
    )


def content_policy(script: str) -> str:
    """Return what the page may load: itself, and only the one script that it was made with."""
    digest = b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(package: str, file_name: str) -> str:
    return files(package).joinpath(file_name).read_text(encoding="utf-8")


def page_head(title: str, policy: str, style: str = "") -> Html:
    """Return the head of a single-file page, in the shared style.

    ``policy`` says what it may load, ``style`` adds CSS rules of its own.
    """
    return el(
        "head",
        None,
        el("meta", {"charset": "utf-8"}),
        el("meta", {"http-equiv": "Content-Security-Policy", "content": Html(policy)}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"name": "color-scheme", "content": "light dark"}),
        el("title", None, title),
        el("style", None, Html(_asset("geosleuth.report", "page.css") + style)),
    )


def _header(reports: Sequence[FileReport], title: str, generated: str) -> Html:
    sentences = [el("li", None, headline(report, index)) for index, report in enumerate(reports)]
    km = threshold(headline_km([report.summary for report in reports]))
    return el(
        "header",
        None,
        el("p", {"class": "kicker"}, f"geosleuth bench · {generated}"),
        el("h1", None, title),
        el("ul", {"class": "headlines"}, *sentences),
        el(
            "div",
            {"class": "intro"},
            el(
                "p",
                None,
                "This page measures how close answers to the question “where was this photo taken?” came to the true "
                "places. The error is the shortest way over the ground from the answered place to the true one.",
            ),
            el(
                "p",
                None,
                el("b", None, "How to read it. "),
                f"“Within {km}” is the share of all photos whose answer lies at most {km} from the truth. An answer "
                "without usable coordinates is called ",
                el("b", None, "unlocated"),
                "; it counts as a miss and is never left out. The grey ranges are 95 % intervals: two figures whose "
                "ranges overlap widely should not be ranked.",
            ),
        ),
    )


def _figures(reports: Sequence[FileReport], published: Sequence[PublishedRow]) -> Html:
    return el(
        "section",
        {"id": "figures", "aria-labelledby": "figures-h"},
        el("h2", {"id": "figures-h"}, "All figures"),
        main_table(reports, published),
    )


def _charts(reports: Sequence[FileReport]) -> Html:
    if not any(report.summary.n for report in reports):
        return Html("")
    return el(
        "section",
        {"id": "charts", "aria-labelledby": "charts-h"},
        el("h2", {"id": "charts-h"}, "How far off, how often"),
        el(
            "div",
            {"class": "pair"},
            el(
                "figure",
                None,
                el("h3", None, "Share of photos by error"),
                error_chart(reports),
                el(
                    "figcaption",
                    None,
                    "Follow a line upwards: its height above a distance is the share of all photos that are at most so "
                    "far off. What is missing to 100 % at the right edge is unlocated.",
                ),
            ),
            el(
                "figure",
                None,
                el("h3", None, "Accuracy at each distance"),
                threshold_chart(reports),
                el("figcaption", None, _dot_caption(reports)),
            ),
        ),
    )


def _dot_caption(reports: Sequence[FileReport]) -> Html:
    keys = [
        join(
            (
                el(
                    "span",
                    {"class": "nowrap"},
                    el("span", {"class": f"key {series(index)}"}),
                    name(report.scored.label, 40),
                ),
                " ",
            )
        )
        for index, report in enumerate(reports)
    ]
    return join(("Dots are measured shares, lines their 95 % intervals. ", *(keys if len(reports) > 1 else ())))
