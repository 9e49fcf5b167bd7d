"""Charts of a run's page: lines over steps, with bands where there are intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite

from geosleuth.report.charts import Plot, drawing, label, line, n, path, polyline, round_step, series
from geosleuth.report.markup import Html, clean, el, join

# CSS that pages with these charts add to the shared style sheet.
STYLE = """
.band { fill: var(--series); opacity: 0.17; }
.curve.raw { stroke-width: 1; opacity: 0.35; }
"""

_FEW_VALUES = 9
_PLOT = Plot(width=520, height=300, left=58, top=14, right=16, bottom=46)


@dataclass(frozen=True, slots=True)
class Point:
    """A value, and its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right under one name; ``raw`` ones stand faintly behind the line of the same place."""

    name: str
    points: tuple[Point, ...]
    raw: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over steps. Shares are given from 0 to 1 and written in per cent."""

    title: str
    lines: tuple[Line, ...]
    percent: bool = False


def draw_chart(identifier: str, chart: Chart) -> Html:
    """Return the drawing, for a page that has the shared style and `STYLE`; `render_chart_key` names its lines."""
    write = _write_percent if chart.percent else _format_axis_value
    words = "; ".join(
        f"{item.name}: from {write(item.points[0].y)} to {write(item.points[-1].y)}"
        for item in chart.lines
        if item.points
    )
    return drawing(identifier, _PLOT, chart.title, words, _draw_chart_parts(chart))


def render_chart_key(chart: Chart) -> Html:
    """Return which colour is whose, for a caption; nothing where there is one line."""
    return join(
        join((el("span", {"class": f"nowrap {series(index)}"}, el("span", {"class": "key"}), clean(one.name, 60)), " "))
        for index, one in enumerate(chart.lines if len(chart.lines) > 1 else ())
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round values that cover a span, at most so many."""
    span = high - low
    if not isfinite(span) or span <= 0:
        return [low]
    step = round_step(span / (most - 1))
    return [step * number for number in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1)]


def _draw_chart_parts(chart: Chart) -> list[Html]:
    points = [point for item in chart.lines for point in (*item.points, *item.raw)]
    if not points:
        return [label(_PLOT.x(0.5), _PLOT.y(0.5), "nothing yet")]
    across = _Across(sorted({point.x for point in points}))
    values = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    up = _Up(values, percent=chart.percent)
    parts = [*up.axis(), *across.axis()]
    for index, item in enumerate(chart.lines):
        kind = series(index)
        parts += _band(item, across, up, kind)
        for spots, extra in ((item.raw, " raw"), (item.points, "")):
            places = [(across.x(p.x), up.y(p.y)) for p in spots]
            parts.append(polyline(places, f"curve {kind}{extra}"))
            if not extra and len(places) <= _FEW_VALUES:
                parts += [el("circle", {"cx": n(x), "cy": n(y), "r": 3.5, "class": f"dot {kind}"}) for x, y in places]
    return parts


def _band(item: Line, across: "_Across", up: "_Up", kind: str) -> list[Html]:
    known = [
        (across.x(p.x), up.y(p.low), up.y(p.high)) for p in item.points if p.low is not None and p.high is not None
    ]
    if len(known) < 2:
        return [line(x, low, x, high, f"whisker {kind}") for x, low, high in known]
    around = [*((x, high) for x, _, high in known), *((x, low) for x, low, _ in reversed(known))]
    return [el("path", {"d": f"{path(around)}Z", "class": f"band {kind}"})]


class _Across:
    """Positions of values from left to right; few of them are labelled themselves, many by round numbers."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values, self._few = values, len(values) <= _FEW_VALUES

    def x(self, value: float) -> float:
        low, high = self._values[0], self._values[-1]
        share = 0.5 if high <= low else (value - low) / (high - low)
        return _PLOT.x(0.04 + 0.92 * share if self._few else share)

    def axis(self) -> list[Html]:
        low, high = self._values[0], self._values[-1]
        marked = self._values if self._few else [value for value in ticks(low, high, 7) if low <= value <= high]
        bottom = _PLOT.y(0)
        parts = [
            _PLOT.horizontal(bottom, "axis"),
            label(_PLOT.x(0.5), _PLOT.height - 8, "optimiser step", "tick quiet"),
        ]
        for value in marked:
            x = self.x(value)
            parts += [line(x, bottom, x, bottom + 4, "axis"), label(x, bottom + 17, _format_axis_value(value))]
        return parts


class _Up:
    """Positions of values from the bottom up; the axis begins at 0 unless all of them are far from it."""

    def __init__(self, values: Sequence[float], *, percent: bool) -> None:
        self._write = _write_percent if percent else _format_axis_value
        low, most = min(values), max(values)
        high = most
        if high - low <= 1e-9 * max(abs(low), abs(high)):
            # One value alone: the axis reaches from 0 past it.
            low, high = (min(0.0, 1.2 * low), max(0.0, 1.2 * high)) if low else (0.0, 1.0)
        low = 0.0 if 0 <= low < 0.6 * high else low
        high = 0.0 if 0 >= high > 0.6 * low else high
        # Shares end at 100 % unless a value is larger.
        self._ticks = ticks(low, min(high, 1.0) if percent and 0 < most <= 1 else high)

    def y(self, value: float) -> float:
        return _PLOT.y((value - self._ticks[0]) / (self._ticks[-1] - self._ticks[0]))

    def axis(self) -> list[Html]:
        return [
            part
            for value in self._ticks
            for part in (
                _PLOT.horizontal(self.y(value), "rule"),
                label(_PLOT.x(0) - 6, self.y(value) + 4, self._write(value), anchor="end"),
            )
        ]


def _format_axis_value(value: float) -> str:
    """Return a number with only the digits that an axis needs; large ones in thousands, millions and so on."""
    for size, sign in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            scale = 1e3 if sign == "k" else size
            return f"{value / scale:,.4g}\N{NARROW NO-BREAK SPACE}{sign}".replace("-", "−")
    if value and abs(value) < 1e-3:
        return f"{value:.3g}".replace("e-0", "e-").replace("-", "−")
    return f"{value:,.4g}".replace("-", "−")


def _write_percent(share: float) -> str:
    return f"{_format_axis_value(round(100 * share, 6))}\N{NARROW NO-BREAK SPACE}%"
