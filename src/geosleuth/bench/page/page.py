"""The report as one HTML document: no network, no other file, readable with scripts off."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from geosleuth import __version__
from geosleuth.bench.compare import PairReport
from geosleuth.bench.report import FileReport
from geosleuth.score import PublishedRow
from geosleuth.text.numbers import threshold

from .canvas import series
from .charts import error_chart, threshold_chart
from .confidence_charts import confidence_section
from .markup import Html, data_block, el, join, name
from .method import method_section
from .pairs import pairs_section
from .slices import slices_section
from .tables import main_table
from .wording import headline, headline_km
from .worldmap import map_data, map_section, placed_dots, shared_drawing
from .worst import worst_section


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreSections:
    """Sections that a page has beside those of every report.

    Attributes:
        after_figures: they stand after the table of all figures.
        after_charts: they stand after the two charts.
        before_worst: they stand before the worst errors.
        style: rules for them, added to the style sheet.
    """

    after_figures: Sequence[Html] = ()
    after_charts: Sequence[Html] = ()
    before_worst: Sequence[Html] = ()
    style: str = ""


_NO_MORE = MoreSections()


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
    """The whole page as text, to be written as UTF-8.

    Args:
        reports: one per scored file, in the order they are to appear.
        published: rows from papers to stand beneath ours.
        pairs: paired comparisons to show.
        title: the page's heading.
        generated: when the page was made, as it is to be read.
        command: the command line that made it; put together from the reports where not given.
        more: further sections.
    """
    script = Html(_asset("page.js"))
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


NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a page may load that has neither a script nor another file."""


def content_policy(script: str) -> str:
    """What the page may load: itself, and only the one script that it was made with."""
    digest = b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(file_name: str) -> str:
    return files(__package__).joinpath(file_name).read_text(encoding="utf-8")


def page_head(title: str, policy: str, style: str = "") -> Html:
    """The head of a page that is one file, in the look that all such pages share.

    ``policy`` says what it may load, ``style`` adds rules of its own to the shared ones.
    """
    return el(
        "head",
        None,
        el("meta", {"charset": "utf-8"}),
        el("meta", {"http-equiv": "Content-Security-Policy", "content": Html(policy)}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"name": "color-scheme", "content": "light dark"}),
        el("title", None, title),
        el("style", None, Html(_asset("page.css") + style)),
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
