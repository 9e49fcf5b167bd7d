"""How teams do, as one HTML page: no network, no script, no other file."""

from collections.abc import Mapping, Sequence

from geosleuth import __version__
from geosleuth.app.team_charts import Curves, accuracy_chart, key_of, tokens_chart, ways_chart
from geosleuth.bench.page import NO_SCRIPT, page_head
from geosleuth.bench.page.markup import Html, caption, el, join, name
from geosleuth.team.sweeps.learning import Measured
from geosleuth.team.sweeps.varying import PERSONAS_AGAINST_BACKBONES, Point

_TITLES = {
    "answerers": ("How many answer", "answer agents (K)"),
    "reviewers": ("How many review each answer", "reviewers of each answer (R)"),
    "rounds": ("How long they discuss", "rounds of discussion at most (Z)"),
    "agents": ("How large the team is", "agents of the team"),
    PERSONAS_AGAINST_BACKBONES: ("Personas of one model against different models", "agents of the team"),
}


def render_team_page(
    *,
    title: str,
    about: Sequence[str],
    ways: Mapping[str, Measured] | None = None,
    curves: Sequence[Curves] = (),
    generated: str,
    command: str,
) -> str:
    """The whole page as text, to be written as UTF-8.

    Args:
        title: the page's heading.
        about: paragraphs that say what was measured.
        ways: ways of working to set side by side.
        curves: what was swept.
        generated: when, as it is to be read.
        command: what makes the page again.
    """
    sections = [_ways_section(ways)] if ways else []
    sections += [_curves_section(number, one) for number, one in enumerate(curves)]
    body = el(
        "body",
        None,
        el(
            "header",
            None,
            el("p", {"class": "kicker"}, f"geosleuth team · {generated}"),
            el("h1", None, title),
            el("div", {"class": "intro"}, *(el("p", None, words) for words in about)),
        ),
        el("main", {"id": "main"}, *sections, _method_section(command)),
        el("footer", None, f"Made with geosleuth {__version__}, {generated}. This page is one file and loads nothing."),
    )
    return f"<!doctype html>\n{el('html', {'lang': 'en'}, page_head(title, NO_SCRIPT), body)}\n"


def curves_of(swept: Sequence[tuple[Point, Measured]]) -> list[Curves]:
    """Points of a sweep as curves, one for each setting."""
    found: dict[str, dict[str, list[tuple[float, Measured]]]] = {}
    for point, measured in swept:
        found.setdefault(point.setting, {}).setdefault(point.line, []).append((float(point.value), measured))
    return [Curves(*_TITLES[setting], lines) for setting, lines in found.items()]


def _ways_section(ways: Mapping[str, Measured]) -> Html:
    rows = [(one, measured) for one, measured in ways.items()]
    return el(
        "section",
        None,
        el("h2", None, "Ways of working"),
        el(
            "figure",
            None,
            ways_chart("ways", ways),
            el("figcaption", None, "Spots that would hide each other stand side by side; the table has the figures."),
        ),
        _table("Every way over the same photos.", "way", rows),
    )


def _curves_section(number: int, curves: Curves) -> Html:
    rows = [
        (f"{line}, {value:g}" if len(curves.lines) > 1 else f"{value:g}", measured)
        for line, found in curves.lines.items()
        for value, measured in found
    ]
    return el(
        "section",
        None,
        el("h2", None, curves.title),
        el(
            "div",
            {"class": "pair"},
            el(
                "figure",
                None,
                accuracy_chart(f"accuracy-{number}", curves),
                el("figcaption", None, "Share of right answers; the bars are 95 % intervals. ", key_of(curves)),
            ),
            el(
                "figure",
                None,
                tokens_chart(f"tokens-{number}", curves),
                el("figcaption", None, "Tokens a query by the team's one tariff, images included. ", key_of(curves)),
            ),
        ),
        el("details", None, el("summary", None, "The figures"), _table(f"Over {curves.setting}.", "value", rows)),
    )


def _table(words: str, first: str, rows: Sequence[tuple[str, Measured]]) -> Html:
    measures = ("right", "95 % interval", "tokens a query", "calls a query", "seconds of replies a query")
    heads = (first, *measures, "failed replies")
    return el(
        "div",
        {"class": "scroll"},
        el(
            "table",
            None,
            caption(words),
            el("thead", None, el("tr", None, *(el("th", {"scope": "col"}, head) for head in heads))),
            el("tbody", None, *(_row(one, measured) for one, measured in rows)),
        ),
    )


def _row(words: str, measured: Measured) -> Html:
    estimate = measured.accuracy
    cells = (
        f"{estimate.value:.1%}",
        f"{estimate.low:.1%} to {estimate.high:.1%}",
        f"{measured.tokens_per_query:,.0f}",
        f"{measured.calls_per_query:.1f}",
        f"{measured.seconds_per_query:.2f}",
        f"{len(measured.failures):,}",
    )
    return el("tr", None, el("th", {"scope": "row"}, name(words)), *(el("td", None, cell) for cell in cells))


def _method_section(command: str) -> Html:
    told = (
        "An answer is right within the team's threshold of the true place; one without a point counts with the middle "
        "of the place that it names. Tokens are counted by one tariff for all: four characters a token, 750 pixels a "
        "token, and the picture in every call that shows it."
    )
    made = [el("p", None, "Made with ", el("code", None, command), ".")] if command else []
    return el("section", None, el("h2", None, "How it was measured"), el("p", {"class": "lead"}, told), join(made))
