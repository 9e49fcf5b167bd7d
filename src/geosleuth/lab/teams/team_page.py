"""Teams in reports: what each model said, how teams do as charts, and the social network as a drawing."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, log10

from geosleuth import __version__
from geosleuth.lab.bench.page import NO_SCRIPT, page_head
from geosleuth.lab.teams.learning import Overview, best_of
from geosleuth.lab.teams.sweeps.track_record import Measured
from geosleuth.lab.teams.sweeps.ways import GRID, PERSONAS_AGAINST_BACKBONES, Point
from geosleuth.names import country_name
from geosleuth.report.charts import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.report.markup import Html, caption, clean, el, join, name
from geosleuth.teams import TrustWeights
from geosleuth.teams.network import TrainedSociety

_NAME_CHARACTERS = 28
_LETTER_WIDTH, _LINE_HEIGHT = 7.5, 13.0
_SPOT_RADIUS = 5

_TITLES = {
    "answerers": ("How many answer", "answer agents (K)"),
    "reviewers": ("How many review each answer", "reviewers of each answer (R)"),
    "rounds": ("How long they discuss", "rounds of discussion at most (Z)"),
    "agents": ("How large the team is", "agents of the team"),
    GRID: ("How many answer and how many review", "answer agents (K)"),
    PERSONAS_AGAINST_BACKBONES: ("Personas of one model against different models", "agents of the team"),
}
_WIDTH, _HEIGHT, _MIDDLE, _RADIUS, _NODE = 920, 560, (300.0, 290.0), 175.0, 17.0
_BARS_LEFT, _BARS_WIDTH = 630.0, 220.0
_NODE_CHARACTERS = 15
_INK, _PAPER, _BLUE, _PALE, _GREY = "#1b2530", "#ffffff", "#2463a8", "#9cc3ee", "#8a94a0"


@dataclass(frozen=True, slots=True)
class Curves:
    """What was measured over one setting, a line for each kind of team."""

    title: str
    setting: str
    lines: Mapping[str, Sequence[tuple[float, Measured]]]


def accuracy_chart(identifier: str, curves: Curves) -> Html:
    """Return accuracy over the setting, each value with its 95 % interval."""
    plot = _plot()
    parts: list[Html] = [percent_axis(plot), *_setting_axis(plot, curves)]
    for index, found in enumerate(curves.lines.values()):
        for value, measured in found:
            estimate, x = measured.accuracy, plot.x(_share(value, curves))
            parts.append(line(x, plot.y(estimate.low), x, plot.y(estimate.high), f"whisker {series(index)}"))
        spots = [(plot.x(_share(value, curves)), plot.y(measured.accuracy.value)) for value, measured in found]
        parts += _drawn(spots, index)
    words = _words(curves, lambda measured: f"{measured.accuracy.value:.0%}")
    return drawing(identifier, plot, f"Accuracy over {curves.setting}", words, parts)


def tokens_chart(identifier: str, curves: Curves) -> Html:
    """Return tokens a query over the setting."""
    plot = _plot()
    most = max(measured.tokens_per_query for found in curves.lines.values() for _, measured in found)
    step = round_step(most / 4, (1, 2, 5, 10))
    top = step * ceil(most / step)
    parts: list[Html] = [*_setting_axis(plot, curves)]
    for number in range(round(top / step) + 1):
        y = plot.y(number * step / top)
        parts += [plot.horizontal(y, "rule"), label(plot.x(0) - 6, y + 4, f"{number * step:,.0f}", anchor="end")]
    for index, found in enumerate(curves.lines.values()):
        spots = [(plot.x(_share(value, curves)), plot.y(one.tokens_per_query / top)) for value, one in found]
        parts += _drawn(spots, index)
    words = _words(curves, lambda measured: f"{measured.tokens_per_query:,.0f}")
    return drawing(identifier, plot, f"Tokens a query over {curves.setting}", words, parts)


def ways_chart(identifier: str, ways: Mapping[str, Measured]) -> Html:
    """Return every way of working as a spot: accuracy over tokens a query, these on a logarithmic axis."""
    plot = Plot(width=760, height=420, left=56, top=18, right=150, bottom=48)
    tokens = [max(1.0, measured.tokens_per_query) for measured in ways.values()]
    low, high = floor(log10(min(tokens)) * 2) / 2, ceil(log10(max(tokens)) * 2 + 0.01) / 2

    def across(value: float) -> float:
        return plot.x((log10(max(1.0, value)) - low) / (high - low))

    parts: list[Html] = [percent_axis(plot), plot.horizontal(plot.y(0), "axis")]
    for power in range(int(low) - 1, int(high) + 1):
        for factor in (1, 2, 5):
            value = factor * 10**power
            if low <= log10(value) <= high:
                parts += [plot.vertical(across(value), "rule"), label(across(value), plot.y(0) + 16, f"{value:,}")]
    parts.append(label(plot.x(0.5), plot.height - 8, "tokens a query, images included"))
    spots = _side_by_side([(across(one.tokens_per_query), plot.y(one.accuracy.value)) for one in ways.values()])
    placed = [(x - 7, x + 7, y + 4) for x, y in spots]
    for index, (way, (x, y)) in enumerate(zip(ways, spots, strict=True)):
        words = clean(way, _NAME_CHARACTERS)
        parts.append(el("circle", {"cx": n(x), "cy": n(y), "r": _SPOT_RADIUS, "class": f"dot {series(index)}"}))
        parts.append(label(x + 9, _free_height(placed, x + 9, y + 4, words), words, "name", "start"))
    words = "; ".join(
        f"{way}: {one.accuracy.value:.0%} at {one.tokens_per_query:,.0f} tokens" for way, one in ways.items()
    )
    return drawing(identifier, plot, "Accuracy over tokens a query", words, parts)


def key_of(curves: Curves) -> Html:
    """Return which line is which, for the caption; nothing where there is one line."""
    if len(curves.lines) < 2:
        return join(())
    return join(
        el("span", {"class": f"nowrap {series(index)}"}, el("span", {"class": "key"}), clean(name, _NAME_CHARACTERS))
        for index, name in enumerate(curves.lines)
    )


def _plot() -> Plot:
    return Plot(width=520, height=320, left=58, top=16, right=16, bottom=46)


def _drawn(spots: Sequence[tuple[float, float]], index: int) -> list[Html]:
    dots = [el("circle", {"cx": n(x), "cy": n(y), "r": 3.5, "class": f"dot {series(index)}"}) for x, y in spots]
    return [polyline(spots, f"curve {series(index)}"), *dots]


def _values(curves: Curves) -> list[float]:
    return sorted({value for found in curves.lines.values() for value, _ in found})


def _share(value: float, curves: Curves) -> float:
    values = _values(curves)
    low, high = values[0], values[-1]
    return 0.5 if low == high else 0.03 + 0.94 * (value - low) / (high - low)


def _setting_axis(plot: Plot, curves: Curves) -> list[Html]:
    ticks = [label(plot.x(_share(value, curves)), plot.y(0) + 16, f"{value:g}") for value in _values(curves)]
    return [plot.horizontal(plot.y(0), "axis"), label(plot.x(0.5), plot.height - 8, curves.setting), *ticks]


def _words(curves: Curves, write: Callable[[Measured], str]) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{value:g}: {write(measured)}" for value, measured in found)
        for name, found in curves.lines.items()
    )


def _side_by_side(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the spots, those that another would hide moved to its right."""
    placed: list[tuple[float, float]] = []
    for spot in spots:
        x, y = spot
        while any(hypot(x - other_x, y - other_y) < 2 * _SPOT_RADIUS for other_x, other_y in placed):
            x += 1
        placed.append((x, y))
    return placed


def _free_height(placed: list[tuple[float, float, float]], x: float, y: float, words: str) -> float:
    """Return the height nearest to ``y`` at which a label overlaps none of those placed; it is placed there."""
    end = x + _LETTER_WIDTH * len(words)
    for step in (0, 1, -1, 2, -2, 3, -3, 4):
        height = y + step * _LINE_HEIGHT
        if all(end < left or right < x or abs(height - other) >= _LINE_HEIGHT for left, right, other in placed):
            break
    placed.append((x, end, height))
    return height


def render_team_page(
    *,
    title: str,
    about: Sequence[str],
    ways: Mapping[str, Measured] | None = None,
    curves: Sequence[Curves] = (),
    generated: str,
    command: str,
) -> str:
    """Return the whole page as text, to be written as UTF-8.

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
    """Return points of a sweep as curves, one for each setting."""
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
    text = (
        "An answer is right within the team's threshold of the true place; one without a point counts with the middle "
        "of the place that it names. Tokens are counted by one tariff for all: four characters a token, 750 pixels a "
        "token, and the picture in every call that shows it."
    )
    made = [el("p", None, "Made with ", el("code", None, command), ".")] if command else []
    return el("section", None, el("h2", None, "How it was measured"), el("p", {"class": "lead"}, text), join(made))


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn: the usual trust weights, or that for one photo."""

    name: str
    society: TrainedSociety
    seen: Overview
    photo: TrustWeights | None

    @property
    def shown(self) -> TrustWeights:
        """The trust weights in the drawing."""
        return self.society.usual() if self.photo is None else self.photo

    @property
    def title(self) -> str:
        """What the drawing is of."""
        about = "on the photos learned from, on average" if self.photo is None else "for one photo"
        return f"{self.name}: whom to trust {about}"


def country_words(code: str) -> str:
    """Return a country's name, or what else there is to say."""
    return (country_name(code) or code) if code else "at sea"


def network_svg(members: Sequence[str], trust_weights: TrustWeights, title: str, *, alone: bool = False) -> Html:
    """Draw members on a circle, links as wide as they are strong, and a bar per election probability.

    Args:
        members: their names, in the order of the weights.
        trust_weights: what to draw.
        title: said to those who can't see it.
        alone: as a file of its own, with the title above it.
    """
    count = len(members)
    spots = [_spot(i, count) for i in range(count)]
    best = best_of(trust_weights.election)
    head = {"xmlns": "http://www.w3.org/2000/svg"} if alone else {}
    return el(
        "svg",
        head | {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img", "aria-label": title,
                "font-family": "system-ui, sans-serif", "font-size": "14", "fill": _INK},
        el("rect", {"width": _WIDTH, "height": _HEIGHT, "fill": _PAPER}),
        *([el("text", {"x": 24, "y": 34, "font-size": "17", "font-weight": "600"}, clean(title, 90))] if alone else []),
        *_links(trust_weights, spots),
        *(_node(i, members[i], trust_weights.election[i], spots[i], first=i == best) for i in range(count)),
        *_bars(members, trust_weights),
        el("text", {"x": 24, "y": _HEIGHT - 16, "fill": _GREY, "font-size": "12"},
           "A link goes from who answers to who is asked for a review; wide ones are asked more often than by chance."),
    )  # fmt: skip


def _spot(i: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * i / max(1, count) - math.pi / 2
    return _MIDDLE[0] + _RADIUS * math.cos(angle), _MIDDLE[1] + _RADIUS * math.sin(angle)


def _links(trust_weights: TrustWeights, spots: Sequence[tuple[float, float]]) -> list[Html]:
    count = len(spots)
    drawn: list[tuple[float, Html]] = []
    for i, row in enumerate(trust_weights.links):
        total = sum(row)
        for j, weight in enumerate(row):
            if i == j or not total or not weight:
                continue
            # 1 is what chance would give: the share of this link among all of its row, against an equal one.
            strength = min(3.0, weight / total * (count - 1))
            path = _curve(spots[i], spots[j])
            drawn.append((strength, el("path", {
                "d": path, "fill": "none", "stroke": _BLUE if strength > 1.05 else _GREY,
                "stroke-width": f"{0.4 + 2.2 * strength**1.5:.2f}", "stroke-opacity": f"{0.18 + 0.2 * strength:.2f}",
                "stroke-linecap": "round",
            })))  # fmt: skip
    return [path for _, path in sorted(drawn, key=lambda one: one[0])]


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a path between two nodes' edges, bent to the right, so that both directions are visible."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    ux, uy = dx / length, dy / length
    bend = 0.1 * length
    x, y = (start[0] + end[0]) / 2 - uy * bend, (start[1] + end[1]) / 2 + ux * bend
    gap = _NODE + 3
    return (
        f"M{start[0] + ux * gap:.1f} {start[1] + uy * gap:.1f}Q{x:.1f} {y:.1f} "
        f"{end[0] - ux * gap:.1f} {end[1] - uy * gap:.1f}"
    )


def _node(i: int, label: str, chance: float, spot: tuple[float, float], *, first: bool) -> Html:
    x, y = spot
    dx, dy = x - _MIDDLE[0], y - _MIDDLE[1]
    anchor = "middle" if abs(dx) < 30 else ("start" if dx > 0 else "end")
    at_x = x + (0 if anchor == "middle" else math.copysign(_NODE + 8, dx))
    at_y = y + (math.copysign(_NODE + 14, dy) + 5 if anchor == "middle" else 5)
    return el(
        "g",
        None,
        el("title", None, f"{clean(label, 200)}: elected with {chance:.0%}"),
        el("circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": _NODE, "fill": _PAPER, "stroke": _INK,
                      "stroke-width": 3 if first else 1.2}),
        el("circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{_NODE * math.sqrt(chance):.1f}", "fill": _PALE}),
        el("text", {"x": f"{x:.1f}", "y": f"{y + 5:.1f}", "text-anchor": "middle", "font-size": "13",
                    "font-weight": "600"}, i + 1),
        el("text", {"x": f"{at_x:.1f}", "y": f"{at_y:.1f}", "text-anchor": anchor}, clean(label, _NODE_CHARACTERS)),
    )  # fmt: skip


def _bars(members: Sequence[str], trust_weights: TrustWeights) -> list[Html]:
    step = min(40.0, (_HEIGHT - 120) / max(1, len(members)))
    parts = [el("text", {"x": _BARS_LEFT, "y": 76, "font-weight": "600"}, "Election probability")]
    for row, i in enumerate(sorted(range(len(members)), key=lambda i: -trust_weights.election[i])):
        y, chance = 94 + step * row, trust_weights.election[i]
        height = min(12.0, step * 0.36)
        parts += [
            el("text", {"x": _BARS_LEFT, "y": f"{y + step * 0.34:.1f}", "font-size": "13"},
               f"{i + 1}  {clean(members[i], 28)}"),
            el("rect", {"x": _BARS_LEFT, "y": f"{y + step * 0.44:.1f}", "width": _BARS_WIDTH, "height": f"{height:.1f}",
                        "fill": "#e6e9ed", "rx": 2}),
            el("rect", {"x": _BARS_LEFT, "y": f"{y + step * 0.44:.1f}", "width": f"{_BARS_WIDTH * chance:.1f}",
                        "height": f"{height:.1f}", "fill": _BLUE, "rx": 2}),
            el("text", {"x": _BARS_LEFT + _BARS_WIDTH + 10, "y": f"{y + step * 0.44 + height - 1:.1f}",
                        "font-size": "13"}, f"{chance:.0%}"),
        ]  # fmt: skip
    return parts


def standing_page(drawn: Drawn, learned: str) -> str:
    """Return the whole page as text, to be written as UTF-8; ``learned`` says what the state holds."""
    society, seen = drawn.society, drawn.seen
    about = f"{learned[:1].upper()}{learned[1:]}."
    sections = [el("section", None, network_svg(society.members, drawn.shown, drawn.title)), _links_section(drawn)]
    if seen.countries:
        sections.append(_countries_section(drawn))
    body = el(
        "body",
        None,
        el("header", None, el("p", {"class": "kicker"}, "geosleuth team"), el("h1", None, drawn.title),
           el("div", {"class": "intro"}, el("p", None, about))),
        el("main", {"id": "main"}, *sections),
        el("footer", None, f"Made with geosleuth {__version__}. This page is one file and loads nothing."),
    )  # fmt: skip
    return f"<!doctype html>\n{el('html', {'lang': 'en'}, page_head(drawn.title, NO_SCRIPT), body)}\n"


def _links_section(drawn: Drawn) -> Html:
    members, links = drawn.society.members, drawn.shown.links
    rows = []
    for i, member in enumerate(members):
        total = sum(links[i]) or 1.0
        cells = ("" if i == j else f"{weight / total:.0%}" for j, weight in enumerate(links[i]))
        rows.append(el("tr", None, el("th", {"scope": "row"}, name(member)), *(el("td", None, cell) for cell in cells)))
    heads = el("tr", None, el("th", {"scope": "col"}, "answers"), *(_head(member) for member in members))
    said = caption("How often each is drawn to review an answer of the row's member, at its first step")
    return _section("Who reviews whom", el("table", None, said, el("thead", None, heads), el("tbody", None, *rows)))


def _countries_section(drawn: Drawn) -> Html:
    seen = drawn.seen
    rows = []
    for one in seen.countries:
        best = best_of(one.election)
        cells = (
            el("td", None, el("strong", None, f"{e:.0%}") if i == best else f"{e:.0%}", f" ({r:.0%})")
            for i, (e, r) in enumerate(zip(one.election, one.right, strict=True))
        )
        rows.append(
            el("tr", None, el("th", {"scope": "row"}, country_words(one.code)), el("td", None, one.photos), *cells)
        )
    heads = el(
        "tr", None, el("th", {"scope": "col"}, "country"), el("th", {"scope": "col"}, "photos"),
        *(_head(member) for member in seen.members),
    )  # fmt: skip
    said = caption("Election probability on the photos learned from, and in brackets how often the member was right")
    return _section("By country", el("table", None, said, el("thead", None, heads), el("tbody", None, *rows)))


def _head(member: str) -> Html:
    return el("th", {"scope": "col"}, name(member, 24))


def _section(title: str, table: Html) -> Html:
    return join([el("section", None, el("h2", None, title), el("div", {"class": "scroll"}, table))])
