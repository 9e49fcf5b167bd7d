"""How teams do, as charts and as one HTML page: no network, no script, no other file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, log10

from geosleuth import __version__
from geosleuth.bench.page import NO_SCRIPT, page_head
from geosleuth.bench.page.charts import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.bench.page.markup import Html, caption, clean, el, join, name
from geosleuth.team.sweeps.learning import Measured
from geosleuth.team.sweeps.ways import PERSONAS_AGAINST_BACKBONES, Point

_NAME_CHARACTERS = 28
_LETTER_WIDTH, _LINE_HEIGHT = 7.5, 13.0
_SPOT_RADIUS = 5


@dataclass(frozen=True, slots=True)
class Curves:
    """What was measured over one setting, a line for each kind of team."""

    title: str
    setting: str
    lines: Mapping[str, Sequence[tuple[float, Measured]]]


def accuracy_chart(identifier: str, curves: Curves) -> Html:
    """Accuracy over the setting, each value with its 95 % interval."""
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
    """Tokens a query over the setting."""
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
    """Every way of working as a spot: accuracy over tokens a query, these on a logarithmic axis."""
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
    """Which line is which, for the caption; nothing where there is one line."""
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
    """The spots, those that another would hide moved to its right."""
    placed: list[tuple[float, float]] = []
    for spot in spots:
        x, y = spot
        while any(hypot(x - other_x, y - other_y) < 2 * _SPOT_RADIUS for other_x, other_y in placed):
            x += 1
        placed.append((x, y))
    return placed


def _free_height(placed: list[tuple[float, float, float]], x: float, y: float, words: str) -> float:
    """The height nearest to ``y`` at which a label overlaps none of those placed; it is placed there."""
    end = x + _LETTER_WIDTH * len(words)
    for step in (0, 1, -1, 2, -2, 3, -3, 4):
        height = y + step * _LINE_HEIGHT
        if all(end < left or right < x or abs(height - other) >= _LINE_HEIGHT for left, right, other in placed):
            break
    placed.append((x, end, height))
    return height


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
