"""An ablation as one HTML page, in the style of the scorer's pages."""

from collections.abc import Sequence
from math import isnan

from geosleuth import __version__
from geosleuth.lab.bench.page.report_tables import cell, main_table, scroll_box
from geosleuth.lab.bench.page.score_charts import error_chart, headline, threshold_chart
from geosleuth.lab.bench.page.score_page import content_policy, method_section, page_head
from geosleuth.lab.bench.report import FileReport
from geosleuth.report.markup import Html, caption, el, join, name
from geosleuth.support.text.numbers import count, p_value, percent, plural, signed, threshold

from .comparison import CLEAR_P, USED, AblationReport, Against, published_words, remarks, used_cells


def ablation_page(
    report: AblationReport, *, title: str, notes: Sequence[str] = (), generated: str, command: str
) -> str:
    """Return the whole page as text, to be written as UTF-8.

    Args:
        report: the figures.
        title: the page's heading.
        notes: remarks on the variants, such as which tools correspond to a paper's.
        generated: the time when the page was made, as displayed.
        command: the command line that made it.
    """
    reports = [row.report for row in report.rows]
    body = el(
        "body",
        None,
        _header(report, reports, title, generated),
        el(
            "main",
            {"id": "main"},
            _section("variants", "The variants", _variants(report, notes)),
            _section("figures", "All figures", *_figures(report, reports)),
            _section("against", f"Against {report.baseline.name}", *_differences(report)),
            _section("used", "What it took", _used(report)),
            _section("charts", "How far off, how often", _charts(reports)),
            method_section(reports, command),
        ),
        el("footer", None, f"Made with geosleuth {__version__}, {generated}. This page is one file and loads nothing."),
    )
    return f"<!doctype html>\n{el('html', {'lang': 'en'}, page_head(title, content_policy('')), body)}\n"


def _section(identifier: str, heading: str, *parts: object) -> Html:
    return el(
        "section",
        {"id": identifier, "aria-labelledby": f"{identifier}-h"},
        el("h2", {"id": f"{identifier}-h"}, heading),
        *parts,
    )


def _header(report: AblationReport, reports: Sequence[FileReport], title: str, generated: str) -> Html:
    return el(
        "header",
        None,
        el("p", {"class": "kicker"}, f"geosleuth bench ablate · {generated}"),
        el("h1", None, title),
        el("ul", {"class": "headlines"}, *(el("li", None, headline(one, at)) for at, one in enumerate(reports))),
        el(
            "div",
            {"class": "intro"},
            el(
                "p",
                None,
                f"Every variant answered for the same {plural(report.n, 'photo', 'photos')}, so that each is held "
                "against the first photo by photo. The grey ranges are 95 % intervals of each variant alone; whether "
                "two differ is better shown by the paired tests, which see the photos that moved.",
            ),
        ),
    )


def _variants(report: AblationReport, notes: Sequence[str]) -> Html:
    items = [el("li", None, el("b", None, name(row.name)), ": ", name(row.words, 200)) for row in report.rows]
    lines = [el("li", None, line) for line in (*notes, *remarks(report))]
    return join((el("ul", None, *items), el("ul", {"class": "quiet"}, *lines) if lines else ""))


def _figures(report: AblationReport, reports: Sequence[FileReport]) -> list[Html]:
    published = [row.published for row in report.rows if row.published is not None]
    parts = [main_table(reports, published)]
    if published:
        caption = f"Rows in grey are printed figures: {published_words(report.rows)}. Their images need not be these."
        parts.append(el("p", {"class": "quiet"}, caption))
    return parts


def _differences(report: AblationReport) -> list[Html]:
    heads = ["variant", *(threshold(km) for km in report.thresholds_km), "GeoScore"]
    table = el(
        "table",
        {"class": "pairs"},
        caption(
            "Points of accuracy gained or lost, photos that only one of the two gets right (lost, won), and p: exact "
            "McNemar test, corrected by Holm over every cell of this table. GeoScore: mean change, 95 % interval, "
            "sign-flip test, corrected over its column. Bold where p is below 0.05.",
        ),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in heads))),
        el("tbody", None, *(_difference_row(one, report) for one in report.against)),
    )
    return [scroll_box(f"Against {report.baseline.name}", table)]


def _difference_row(one: Against, report: AblationReport) -> Html:
    cells = []
    for item, km in zip(one.comparison.accuracies, report.thresholds_km, strict=True):
        p = one.p_adjusted[km]
        change = signed(item.second_percent - item.first_percent)
        below = f"−{count(item.only_first)} +{count(item.only_second)}, p {_equals(p)}"
        cells.append(cell(_bold(change, p), below, f"before Holm's correction: p {_equals(item.p)}"))
    gain, p = one.comparison.geoscore_difference, one.geoscore_p_adjusted
    spread = "" if isnan(gain.low) else f"{signed(gain.low, 0)} to {signed(gain.high, 0)}, "
    title = f"before Holm's correction: p {_equals(one.comparison.geoscore_p)}"
    cells.append(cell(_bold(signed(gain.value, 0), p), f"{spread}p {_equals(p)}", title))
    return el("tr", None, el("th", {"scope": "row"}, name(one.name, 60)), *cells)


def _bold(words: str, p: float) -> Html:
    return el("b" if p < CLEAR_P else "span", None, words)


def _equals(p: float) -> str:
    words = p_value(p)
    return words if words.startswith("<") else f"= {words}"


def _used(report: AblationReport) -> Html:
    table = el(
        "table",
        None,
        caption("Means per photo over the same photos; a dash if the records don't say."),
        el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, words) for words in ("variant", *USED)))),
        el(
            "tbody",
            None,
            *(
                el(
                    "tr",
                    None,
                    el("th", {"scope": "row"}, name(row.name, 60)),
                    *(cell(words) for words in used_cells(row.behaviour)),
                )
                for row in report.rows
            ),
        ),
    )
    return scroll_box("What it took", table)


def _charts(reports: Sequence[FileReport]) -> Html:
    return el(
        "div",
        {"class": "pair"},
        el("figure", None, el("h3", None, "Share of photos by error"), error_chart(reports)),
        el(
            "figure",
            None,
            el("h3", None, "Accuracy at each distance"),
            threshold_chart(reports),
            el("figcaption", None, f"Dots are measured shares, lines their {percent(95, 0)} % intervals."),
        ),
    )
