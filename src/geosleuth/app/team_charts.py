"""Charts of how teams do: accuracy and tokens over a setting, and ways of working beside each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, log10

from geosleuth.bench.page.canvas import Plot, drawing, label, line, n, percent_axis, polyline, round_step, series
from geosleuth.bench.page.markup import Html, clean, el, join
from geosleuth.team.sweeps.learning import Measured

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
    for index, (name, (x, y)) in enumerate(zip(ways, spots, strict=True)):
        words = clean(name, _NAME_CHARACTERS)
        parts.append(el("circle", {"cx": n(x), "cy": n(y), "r": _SPOT_RADIUS, "class": f"dot {series(index)}"}))
        parts.append(label(x + 9, _free_height(placed, x + 9, y + 4, words), words, "name", "start"))
    words = "; ".join(
        f"{name}: {one.accuracy.value:.0%} at {one.tokens_per_query:,.0f} tokens" for name, one in ways.items()
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
