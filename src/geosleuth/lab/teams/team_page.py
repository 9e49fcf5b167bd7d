"""Teams on a page of their own: ways of working as charts, and the social network as a drawing."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from geosleuth.lab.bench.page.parts import Figure, Group, PageSection, Para, Table, TableRow, render_sections
from geosleuth.lab.teams.compare import GRID, PERSONAS_AGAINST_BACKBONES, WAY, Measured, Point
from geosleuth.lab.teams.learning import Overview, find_best
from geosleuth.names import country_name
from geosleuth.report.charts import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.teams import TrustWeights
from geosleuth.teams.network import TrainedSociety

_TITLES = {
    "answerers": ("How many answer", "answer agents (K)"),
    "reviewers": ("How many review each answer", "reviewers of each answer (R)"),
    "rounds": ("How long they discuss", "rounds of discussion at most (Z)"),
    "agents": ("How large the team is", "agents of the team"),
    GRID: ("How many answer and how many review", "answer agents (K)"),
    PERSONAS_AGAINST_BACKBONES: ("Personas of one model against different models", "agents of the team"),
}
_METHOD = (
    "An answer is right within the team's threshold of the true place; one without a point counts with the middle "
    "of the place that it names. Tokens are counted by one tariff for all: four characters a token, 750 pixels a "
    "token, and the picture in every call that shows it."
)
_HEADS = ("right", "95 % interval", "tokens a query", "calls a query", "seconds of replies a query", "failed replies")
_NAME_CHARACTERS = 28
_SPOT = 8.0
_WIDTH, _HEIGHT, _RADIUS, _NODE = 640, 560, 175.0, 17.0
_NODE_CHARACTERS = 15
_INK, _PAPER, _BLUE, _PALE, _GREY = "#1b2530", "#ffffff", "#2463a8", "#9cc3ee", "#8a94a0"


@dataclass(frozen=True, slots=True)
class Curves:
    """Measurements over one setting, a line for each kind of team."""

    title: str
    setting: str
    lines: Mapping[str, Sequence[tuple[float, Measured]]]


def comparison_page(
    swept: Sequence[tuple[Point, Measured]],
    *,
    title: str,
    about: Sequence[str],
    generated: str,
    command: str,
    more: Sequence[Curves] = (),
) -> str:
    """Return what was compared as a page, to be written as UTF-8.

    Args:
        swept: every run and its figures: ways of working side by side, and settings as curves.
        title: the page's heading.
        about: paragraphs that say what was measured.
        generated: when, as it is to be read.
        command: what makes the page again.
        more: further curves.
    """
    ways = {point.line: measured for point, measured in swept if point.setting == WAY}
    lines: dict[str, dict[str, list[tuple[float, Measured]]]] = {}
    for point, measured in swept:
        if point.setting != WAY:
            lines.setdefault(point.setting, {}).setdefault(point.line, []).append((float(point.value), measured))
    curves = [*(Curves(*_TITLES[setting], of) for setting, of in lines.items()), *more]
    sections = [_ways_section(ways)] if ways else []
    sections += [_curves_section(number, one) for number, one in enumerate(curves)]
    method = PageSection(
        "method", "How it was measured", [Para(_METHOD, "lead"), Para(f"Made with: {command}", "lead")]
    )
    return render_sections(title, [*sections, method], command="geosleuth team", generated=generated, intro=about)


def _ways_section(ways: Mapping[str, Measured]) -> PageSection:
    numbered = {f"{number}  {way}": one for number, (way, one) in enumerate(ways.items(), 1)}
    words = "The numbers are those of the table. Spots that would hide each other stand side by side."
    rows = [TableRow([name, *_cells(one)]) for name, one in numbered.items()]
    table = Table("Every way over the same photos.", ("way", *_HEADS), rows)
    figure = Figure("Accuracy over tokens", ways_chart("ways", ways), words)
    return PageSection("ways", "Ways of working", [figure, table])


def _curves_section(number: int, curves: Curves) -> PageSection:
    several = len(curves.lines) > 1
    rows = [
        TableRow([f"{name}, {value:g}" if several else f"{value:g}", *_cells(measured)])
        for name, found in curves.lines.items()
        for value, measured in found
    ]
    key = _render_key(list(curves.lines)) if several else Html()
    right = join(["Share of right answers; the bars are 95 % intervals. ", key])
    tokens = join(["Tokens a query by the team's one tariff, images included. ", key])
    figures = [
        Figure("Accuracy", accuracy_chart(f"accuracy-{number}", curves), right),
        Figure("Tokens", tokens_chart(f"tokens-{number}", curves), tokens),
    ]
    table = Table(f"Over {curves.setting}.", ("value", *_HEADS), rows)
    return PageSection(f"curves-{number}", curves.title, [Group(figures, kind="pair"), table])


def _cells(measured: Measured) -> list[str]:
    found = measured.figures()
    return [
        f"{found['accuracy']:.1%}",
        f"{found['low']:.1%} to {found['high']:.1%}",
        f"{found['tokens']:,.0f}",
        f"{found['calls']:.1f}",
        f"{found['seconds']:.2f}",
        f"{found['failed']:,}",
    ]


def _render_key(names: Sequence[str]) -> Html:
    return join(
        el("span", {"class": f"nowrap {series(index)}"}, el("span", {"class": "key"}), clean(name, _NAME_CHARACTERS))
        for index, name in enumerate(names)
    )


def accuracy_chart(identifier: str, curves: Curves) -> Html:
    """Return accuracy over the setting, each value with its 95 % interval."""

    def whisker(plot: Plot, x: float, measured: Measured, kind: str) -> Html:
        estimate = measured.accuracy
        return line(x, plot.y(estimate.low), x, plot.y(estimate.high), f"whisker {kind}")

    return _over_setting(
        identifier, curves, "Accuracy", percent_axis, lambda measured: measured.accuracy.value, "{:.0%}", whisker
    )


def tokens_chart(identifier: str, curves: Curves) -> Html:
    """Return tokens a query over the setting."""
    most = max(measured.tokens_per_query for found in curves.lines.values() for _, measured in found)
    step = round_step(most / 4, (1, 2, 5, 10))
    top = step * math.ceil(most / step)

    def axis(plot: Plot) -> Html:
        heights = [(plot.y(number * step / top), f"{number * step:,.0f}") for number in range(round(top / step) + 1)]
        return join(
            join([plot.horizontal(y, "rule"), label(plot.x(0) - 6, y + 4, words, anchor="end")]) for y, words in heights
        )

    return _over_setting(
        identifier, curves, "Tokens a query", axis, lambda measured: measured.tokens_per_query, "{:,.0f}", None, top
    )


def _over_setting(
    identifier: str,
    curves: Curves,
    what: str,
    axis: Callable[[Plot], Html],
    value_of: Callable[[Measured], float],
    form: str,
    whisker: Callable[[Plot, float, Measured, str], Html] | None,
    top: float = 1.0,
) -> Html:
    plot = Plot(width=520, height=320, left=58, top=16, right=16, bottom=46)
    values = sorted({value for found in curves.lines.values() for value, _ in found})
    low, high = values[0], values[-1]

    def across(value: float) -> float:
        return plot.x(0.5 if low == high else 0.03 + 0.94 * (value - low) / (high - low))

    parts: list[Html] = [axis(plot), plot.horizontal(plot.y(0), "axis")]
    parts += [label(across(value), plot.y(0) + 16, f"{value:g}") for value in values]
    parts.append(label(plot.x(0.5), plot.height - 8, curves.setting))
    for index, found in enumerate(curves.lines.values()):
        kind = series(index)
        if whisker is not None:
            parts += [whisker(plot, across(value), measured, kind) for value, measured in found]
        spots = [(across(value), plot.y(value_of(measured) / top)) for value, measured in found]
        parts.append(polyline(spots, f"curve {kind}"))
        parts += [el("circle", {"cx": n(x), "cy": n(y), "r": 3.5, "class": f"dot {kind}"}) for x, y in spots]
    words = "; ".join(
        f"{name}: " + ", ".join(f"{value:g}: {form.format(value_of(measured))}" for value, measured in found)
        for name, found in curves.lines.items()
    )
    return drawing(identifier, plot, f"{what} over {curves.setting}", words, parts)


def ways_chart(identifier: str, ways: Mapping[str, Measured]) -> Html:
    """Return every way of working as a numbered spot: accuracy over tokens a query, these on a logarithmic axis."""
    plot = Plot(width=760, height=420, left=56, top=18, right=30, bottom=48)
    tokens = [math.log10(max(1.0, measured.tokens_per_query)) for measured in ways.values()]
    low, high = math.floor(min(tokens) * 2) / 2, math.ceil(max(tokens) * 2 + 0.01) / 2
    parts: list[Html] = [percent_axis(plot), plot.horizontal(plot.y(0), "axis")]
    for power in range(int(low) - 1, int(high) + 1):
        for value in (10.0**power * factor for factor in (1, 2, 5)):
            if low <= math.log10(value) <= high:
                x = plot.x((math.log10(value) - low) / (high - low))
                parts += [plot.vertical(x, "rule"), label(x, plot.y(0) + 16, f"{value:,.0f}")]
    parts.append(label(plot.x(0.5), plot.height - 8, "tokens a query, images included"))
    placed: list[tuple[float, float]] = []
    for number, (item, log_tokens) in enumerate(zip(ways.values(), tokens, strict=True), 1):
        x, y = plot.x((log_tokens - low) / (high - low)), plot.y(item.accuracy.value)
        while any(math.dist((x, y), other) < 2 * _SPOT for other in placed):
            x += 1
        placed.append((x, y))
        parts.append(el("circle", {"cx": n(x), "cy": n(y), "r": _SPOT, "class": f"dot {series(number - 1)}"}))
        parts.append(label(x, y + 4, str(number), "name"))
    words = "; ".join(
        f"{way}: {one.accuracy.value:.0%} at {one.tokens_per_query:,.0f} tokens" for way, one in ways.items()
    )
    return drawing(identifier, plot, "Accuracy over tokens a query", words, parts)


@dataclass(frozen=True, slots=True)
class TeamDrawing:
    """Trust weights to draw: the usual ones, or those for one photo."""

    name: str
    society: TrainedSociety
    seen: Overview
    photo: TrustWeights | None

    @property
    def shown(self) -> TrustWeights:
        """Return the trust weights in the drawing."""
        return self.society.usual() if self.photo is None else self.photo

    @property
    def title(self) -> str:
        """Return what the drawing is of."""
        about = "on the photos learned from, on average" if self.photo is None else "for one photo"
        return f"{self.name}: whom to trust {about}"


def country_words(code: str) -> str:
    """Return a country's name, or what else there is to say."""
    return (country_name(code) or code) if code else "at sea"


def network_page(drawn: TeamDrawing, learned: str, generated: str) -> str:
    """Return the network as a page, to be written as UTF-8; ``learned`` says what the state holds."""
    members, shown, seen = drawn.society.members, drawn.shown, drawn.seen
    links = []
    for i, member in enumerate(members):
        total = sum(shown.links[i]) or 1.0
        shares = ["" if i == j else f"{weight / total:.0%}" for j, weight in enumerate(shown.links[i])]
        links.append(TableRow([name(member), f"{shown.election[i]:.0%}", *shares]))
    words = "Election probability, and how often each is drawn to review an answer of the row's member"
    drawing_of = network_svg(members, shown, drawn.title)
    parts = [
        Figure("The network", drawing_of, "Wide links are asked more often than by chance."),
        Table(words, ("answers", "elected", *(name(item, 28) for item in members)), links),
    ]
    sections = [PageSection("network", "Who is elected, and who reviews whom", parts)]
    if seen.countries:
        rows = []
        for country in seen.countries:
            best = find_best(country.election)
            pairs = enumerate(zip(country.election, country.right, strict=True))
            cells = [
                join([el("strong" if i == best else "span", None, f"{e:.0%}"), f" ({r:.0%})"]) for i, (e, r) in pairs
            ]
            rows.append(TableRow([country_words(country.code), str(country.photos), *cells]))
        words = "Election probability on the photos learned from, and in brackets how often the member was right"
        heads = ("country", "photos", *(name(item, 28) for item in seen.members))
        sections.append(PageSection("countries", "By country", [Table(words, heads, rows)]))
    about = [f"{learned[:1].upper()}{learned[1:]}."]
    return render_sections(drawn.title, sections, command="geosleuth team", generated=generated, intro=about)


def network_svg(members: Sequence[str], trust_weights: TrustWeights, title: str, *, alone: bool = False) -> Html:
    """Draw members on a circle, filled by their election probability, and links as wide as they are strong.

    Args:
        members: their names, in the order of the weights.
        trust_weights: what to draw.
        title: said to those who can't see it.
        alone: as a file of its own.
    """
    count = len(members)
    spots = [_spot(i, count) for i in range(count)]
    best = find_best(trust_weights.election)
    return el(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg" if alone else None, "viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img",
         "aria-label": title, "font-family": "system-ui, sans-serif", "font-size": "14", "fill": _INK},
        el("rect", {"width": _WIDTH, "height": _HEIGHT, "fill": _PAPER}),
        *_links(trust_weights, spots),
        *(_node(i, members[i], trust_weights.election[i], spots[i], first=i == best) for i in range(count)),
    )  # fmt: skip


def _spot(i: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * i / max(1, count) - math.pi / 2
    return _WIDTH / 2 + _RADIUS * math.cos(angle), _HEIGHT / 2 + _RADIUS * math.sin(angle)


def _links(trust_weights: TrustWeights, spots: Sequence[tuple[float, float]]) -> list[Html]:
    drawn: list[tuple[float, Html]] = []
    for i, row in enumerate(trust_weights.links):
        for j, weight in enumerate(row):
            if i == j or not weight:
                continue
            # 1 is what chance would give: the share of this link among all of its row, against an equal one.
            strength = min(3.0, weight / sum(row) * (len(spots) - 1))
            path = el("path", {
                "d": _curve(spots[i], spots[j]), "fill": "none", "stroke": _BLUE if strength > 1.05 else _GREY,
                "stroke-width": f"{0.4 + 2.2 * strength**1.5:.2f}", "stroke-opacity": f"{0.18 + 0.2 * strength:.2f}",
                "stroke-linecap": "round",
            })  # fmt: skip
            drawn.append((strength, path))
    return [path for _, path in sorted(drawn, key=lambda pair: pair[0])]


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a path between the edges of two nodes, bent to the right, so that both directions are visible."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy)
    ux, uy = dx / length * (_NODE + 3), dy / length * (_NODE + 3)
    x, y = (start[0] + end[0]) / 2 - 0.1 * dy, (start[1] + end[1]) / 2 + 0.1 * dx
    return f"M{n(start[0] + ux)} {n(start[1] + uy)}Q{n(x)} {n(y)} {n(end[0] - ux)} {n(end[1] - uy)}"


def _node(i: int, name: str, chance: float, spot: tuple[float, float], *, first: bool) -> Html:
    x, y = spot
    down = math.copysign(_NODE + 14, y - _HEIGHT / 2) + 5
    words = f"{i + 1}  {clean(name, _NODE_CHARACTERS)}, {chance:.0%}"
    return el(
        "g",
        None,
        el("title", None, f"{clean(name, 200)}: elected with {chance:.0%}"),
        el("circle", {"cx": n(x), "cy": n(y), "r": _NODE, "fill": _PAPER, "stroke": _INK,
                      "stroke-width": 3 if first else 1.2}),
        el("circle", {"cx": n(x), "cy": n(y), "r": n(_NODE * math.sqrt(chance)), "fill": _PALE}),
        el("text", {"x": n(x), "y": n(y + down), "text-anchor": "middle"}, words),
    )  # fmt: skip
