"""Charts of training: lines with bands and bars with whiskers, from runs or JSON files, on pages or as SVG.

The look is that of all our pages, light and dark; nothing here needs more than the core.

{"kind": "lines", "title": "…", "x": {"title": "steps"}, "y": {"title": "within 25 km", "percent": true},
 "lines": [{"name": "GRPO", "points": [{"x": 0, "y": 0.41, "low": 0.38, "high": 0.44}, …]}]}
{"kind": "bars", "title": "…", "y": {"percent": true},
 "groups": [{"name": "25 km", "bars": [{"name": "base", "y": 0.2, "low": 0.18, "high": 0.22}, …]}]}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any

from geosleuth.report.charts import Plot, drawing, label, line, n, path, polyline, round_step, series
from geosleuth.report.markup import Html, clean, el, join
from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_json

STYLE = """
.band { fill: var(--series); opacity: 0.17; }
.curve.raw { stroke-width: 1; opacity: 0.35; }
.column { fill: var(--series); opacity: 0.88; }
.column + .whisker, .bar-whisker { stroke: var(--ink); stroke-width: 1.4; opacity: 0.75; }
.chart .title { fill: var(--ink); font-size: 15px; font-weight: 600; }
"""
"""What pages with these charts add to the shared style sheet."""

_FEW_VALUES = 9
_LABELLED_WIDTH = 28.0
_LETTER_WIDTH = 7.3
_NAME_CHARACTERS = 44
# Rules of the shared style sheet that charts need; the rest is about pages.
_CHART_RULES = (
    ".series",
    ".s1 ",
    ".s5 ",
    "svg.chart",
    ".chart",
    ".rule",
    ".axis",
    ".curve",
    ".again",
    ".whisker",
    ".dot ",
)

_MOST_BYTES = 16 * 1024 * 1024
# Past this, an axis from end to end would have no length that a float can hold.
_MOST = 1e300


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
class Axis:
    """What an axis measures. Shares are given from 0 to 1 and written in per cent."""

    title: str
    percent: bool = False
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over one axis."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A named value, and its interval where it has one."""

    name: str
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that stand together."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class BarChart:
    """Groups of bars from left to right; bars of one name have one colour."""

    title: str
    y: Axis
    groups: tuple[Group, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bars, each once, in order."""
        return tuple(dict.fromkeys(bar.name for group in self.groups for bar in group.bars))


Chart = LineChart | BarChart


def chart_on_page(identifier: str, chart: Chart) -> Html:
    """Return the drawing alone, for a page that has the shared style and `STYLE`; `key_of` names its lines."""
    plot = Plot(width=520, height=300, left=58, top=14, right=16, bottom=46)
    return drawing(identifier, plot, chart.title, in_words(chart), _drawn(chart, plot))


def chart_alone(chart: Chart) -> str:
    """Return a complete SVG file with title, key and both colour schemes."""
    rows = list(_key_rows(names_of(chart), 720 - 24))
    plot = Plot(width=720, height=390 + 18 * len(rows), left=64, top=70 + 18 * len(rows), right=20, bottom=50)
    parts = [
        el("style", None, Html(_style())),
        el("rect", {"width": n(plot.width), "height": n(plot.height), "class": "paper"}),
        label(20, 28, clean(chart.title, 90), "title", "start"),
        *_key(rows),
        *_drawn(chart, plot),
    ]
    drawn = drawing("chart", plot, chart.title, in_words(chart), parts)
    size = f'<svg xmlns="http://www.w3.org/2000/svg" width="{n(plot.width)}" height="{n(plot.height)}"'
    return drawn.replace("<svg", size, 1) + "\n"


def key_of(chart: Chart) -> Html:
    """Return which colour is whose, for a caption; nothing where there is one line."""
    names = names_of(chart)
    if len(names) < 2:
        return join(())
    return join(
        join((el("span", {"class": f"nowrap {series(index)}"}, el("span", {"class": "key"}), clean(name, 60)), " "))
        for index, name in enumerate(names)
    )


def names_of(chart: Chart) -> tuple[str, ...]:
    """Return names of the lines or of the bars, in order."""
    return tuple(one.name for one in chart.lines) if isinstance(chart, LineChart) else chart.names


def in_words(chart: Chart) -> str:
    """Return what a chart shows, for those who can't see it: lines by their ends, bars one by one."""
    write = _write_percent if chart.y.percent else _write
    if isinstance(chart, LineChart):
        return "; ".join(
            f"{one.name}: from {write(one.points[0].y)} to {write(one.points[-1].y)}"
            for one in chart.lines
            if one.points
        )
    return "; ".join(
        f"{group.name}: " + ", ".join(f"{bar.name} {write(bar.y)}" for bar in group.bars) for group in chart.groups
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round values that cover a span, at most so many."""
    span = high - low
    if not isfinite(span) or span <= 0:
        return [low]
    step = round_step(span / (most - 1))
    return [step * number for number in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1)]


def _drawn(chart: Chart, plot: Plot) -> list[Html]:
    return _lines(chart, plot) if isinstance(chart, LineChart) else _bars(chart, plot)


def _lines(chart: LineChart, plot: Plot) -> list[Html]:
    points = [point for one in chart.lines for point in (*one.points, *one.raw)]
    if not points:
        return [label(plot.x(0.5), plot.y(0.5), "nothing yet")]
    across = _Across(sorted({point.x for point in points}), logarithmic=chart.x.logarithmic)
    up = _Up([value for point in points for value in _values(point)], percent=chart.y.percent)
    parts = [*up.axis(plot, chart.y), *across.axis(plot, chart.x)]
    for index, one in enumerate(chart.lines):
        kind = series(index)
        parts += _band(one, plot, across, up, kind)
        for spots, extra in ((one.raw, " raw"), (one.points, "")):
            places = [(plot.x(across.share(p.x)), plot.y(up.share(p.y))) for p in spots]
            parts.append(polyline(places, f"curve {kind}{extra}"))
            if not extra and len(places) <= _FEW_VALUES:
                parts += [el("circle", {"cx": n(x), "cy": n(y), "r": 3.5, "class": f"dot {kind}"}) for x, y in places]
    return parts


def _band(one: Line, plot: Plot, across: "_Across", up: "_Up", kind: str) -> list[Html]:
    known = [(p.x, p.low, p.high) for p in one.points if p.low is not None and p.high is not None]
    if len(known) < 2:
        return [
            line(
                plot.x(across.share(x)),
                plot.y(up.share(low)),
                plot.x(across.share(x)),
                plot.y(up.share(high)),
                f"whisker {kind}",
            )
            for x, low, high in known
        ]
    upper = [(plot.x(across.share(x)), plot.y(up.share(high))) for x, _, high in known]
    lower = [(plot.x(across.share(x)), plot.y(up.share(low))) for x, low, _ in reversed(known)]
    return [el("path", {"d": f"{path([*upper, *lower])}Z", "class": f"band {kind}"})]


def _bars(chart: BarChart, plot: Plot) -> list[Html]:
    names = chart.names
    write = _write_percent if chart.y.percent else _write
    values = [value for group in chart.groups for bar in group.bars for value in _values(bar)]
    if not values:
        return [label(plot.x(0.5), plot.y(0.5), "nothing yet")]
    up = _Up([0.0, *values], percent=chart.y.percent)
    room = (plot.x(1) - plot.x(0)) / len(chart.groups)
    parts = up.axis(plot, chart.y)
    for place, group in enumerate(chart.groups):
        middle = plot.x(0) + room * (place + 0.5)
        width = min(44.0, 0.78 * room / max(1, len(group.bars)))
        parts.append(label(middle, plot.y(0) + 17, clean(group.name, 30)))
        for number, bar in enumerate(group.bars):
            x = middle + width * (number - (len(group.bars) - 1) / 2)
            top, bottom = sorted((plot.y(up.share(bar.y)), plot.y(up.share(0.0))))
            box = {
                "x": n(x - 0.45 * width),
                "y": n(top),
                "width": n(0.9 * width),
                "height": n(bottom - top),
                "class": "column",
            }
            said = f"{group.name}, {bar.name}: {write(bar.y)}"
            inside: list[Html] = [el("title", None, said), el("rect", box)]
            if bar.low is not None and bar.high is not None:
                top = plot.y(up.share(bar.high))
                inside.append(line(x, plot.y(up.share(bar.low)), x, top, "bar-whisker"))
            if width >= _LABELLED_WIDTH:
                inside.append(
                    label(x, top - 5, _write(round(100 * bar.y, 1) if chart.y.percent else bar.y), "tick quiet")
                )
            parts.append(el("g", {"class": series(names.index(bar.name))}, *inside))
    return parts


class _Across:
    """Where values lie from left to right; few of them are labelled themselves, many by round numbers."""

    def __init__(self, values: Sequence[float], *, logarithmic: bool) -> None:
        self._values = values
        self._logarithmic = logarithmic and values[0] > 0
        self._low, self._high = self._at(values[0]), self._at(values[-1])
        self._few = len(values) <= _FEW_VALUES

    def share(self, value: float) -> float:
        if self._high <= self._low:
            return 0.5
        share = (self._at(value) - self._low) / (self._high - self._low)
        return 0.04 + 0.92 * share if self._few else share

    def axis(self, plot: Plot, axis: Axis) -> list[Html]:
        marked = (
            self._values if self._few else [v for v in ticks(self._values[0], self._values[-1], 7) if self._inside(v)]
        )
        parts = [plot.horizontal(plot.y(0), "axis"), label(plot.x(0.5), plot.height - 8, axis.title, "tick quiet")]
        for value in marked:
            x = plot.x(self.share(value))
            parts += [line(x, plot.y(0), x, plot.y(0) + 4, "axis"), label(x, plot.y(0) + 17, _write(value))]
        return parts

    def _inside(self, value: float) -> bool:
        return self._values[0] <= value <= self._values[-1]

    def _at(self, value: float) -> float:
        return log10(value) if self._logarithmic else value


class _Up:
    """Where values lie from the bottom up; the axis begins at 0 unless all of them are far from it."""

    def __init__(self, values: Sequence[float], *, percent: bool) -> None:
        low, most = min(values), max(values)
        high = most
        if high - low <= 1e-9 * max(abs(low), abs(high)):
            # One value alone: the axis reaches from 0 past it.
            low, high = (min(0.0, 1.2 * low), max(0.0, 1.2 * high)) if low else (0.0, 1.0)
        low = 0.0 if 0 <= low < 0.6 * high else low
        high = 0.0 if 0 >= high > 0.6 * low else high
        # Shares end at 100 % unless a value is larger.
        self._ticks = ticks(low, min(high, 1.0) if percent and 0 < most <= 1 else high)

    def share(self, value: float) -> float:
        return (value - self._ticks[0]) / (self._ticks[-1] - self._ticks[0])

    def axis(self, plot: Plot, axis: Axis) -> list[Html]:
        write = _write_percent if axis.percent else _write
        # Pages write the unit above the chart.
        parts = [label(20, plot.top - 14, axis.title, "tick quiet", "start")] if axis.title else []
        for value in self._ticks:
            y = plot.y(self.share(value))
            parts += [plot.horizontal(y, "rule"), label(plot.x(0) - 6, y + 4, write(value), anchor="end")]
        return parts


def _values(one: Point | Bar) -> Iterator[float]:
    yield one.y
    if one.low is not None and one.high is not None:
        yield from (one.low, one.high)


def _write(value: float) -> str:
    """Return a number with only the digits an axis needs; large ones in thousands, millions and so on."""
    for size, sign in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            scale = 1e3 if sign == "k" else size
            return f"{value / scale:,.4g}\N{NARROW NO-BREAK SPACE}{sign}".replace("-", "−")
    if value and abs(value) < 1e-3:
        return f"{value:.3g}".replace("e-0", "e-").replace("-", "−")
    return f"{value:,.4g}".replace("-", "−")


def _write_percent(share: float) -> str:
    return f"{_write(round(100 * share, 6))}\N{NARROW NO-BREAK SPACE}%"


def _key_rows(names: Sequence[str], room: float) -> Iterator[list[tuple[int, str, float]]]:
    """Yield names with where they begin, in rows that fit."""
    row: list[tuple[int, str, float]] = []
    x = 20.0
    for index, name in enumerate(names):
        words = clean(name, _NAME_CHARACTERS)
        if not words:
            continue
        width = 40 + _LETTER_WIDTH * len(words)
        if row and x + width > room:
            yield row
            row, x = [], 20.0
        row.append((index, words, x))
        x += width
    if row:
        yield row


def _key(rows: Sequence[Sequence[tuple[int, str, float]]]) -> list[Html]:
    parts = []
    for number, row in enumerate(rows):
        y = 50.0 + 18 * number
        for index, words, x in row:
            parts += [line(x, y - 4, x + 18, y - 4, f"curve {series(index)}"), label(x + 24, y, words, "tick", "start")]
    return parts


def _style() -> str:
    """Return the colours and chart rules of the shared style sheet, and ours."""
    sheet = files("geosleuth.report").joinpath("page.css").read_text(encoding="utf-8")
    head, _, rest = sheet.partition("* {")
    rules = [row for row in rest.splitlines() if row.startswith(_CHART_RULES)]
    return "\n".join((head.strip(), *rules, STYLE.strip(), ".paper { fill: var(--paper); }"))


def read_chart(path: Path) -> Chart:
    """Read a chart from a JSON file.

    Raises:
        BadInput: it can't be read, or is no chart; the message says what is wrong.
    """
    try:
        return chart_of(read_json(path, _MOST_BYTES), str(path))
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is not JSON: {error}") from error


def chart_of(document: Any, source: str = "the chart") -> Chart:
    """Return a chart from what such a file holds.

    Raises:
        BadInput: it is no chart; the message begins with ``source``.
    """
    try:
        if not isinstance(document, Mapping):
            raise BadInput(f"a chart is a mapping with kind and title, not {str(document)[:60]!r}")
        kind = document.get("kind")
        if kind not in ("lines", "bars"):
            raise BadInput(f"kind is lines or bars, not {str(kind)[:40]!r}")
        title = _one(document, "title", str)
        y = _axis(document.get("y", {}), "y")
        if kind == "lines":
            lines = tuple(_line(one) for one in _some(document, "lines"))
            return LineChart(title, _axis(document.get("x", {}), "x"), y, lines)
        return BarChart(title, y, tuple(_group(one) for one in _some(document, "groups")))
    except BadInput as error:
        raise BadInput(f"{source}: {error}") from error


def _one(values: Any, name: str, kind: type) -> Any:
    if not isinstance(values, Mapping):
        raise BadInput(f"{name} is missing; found {str(values)[:60]!r}")
    if not isinstance(values.get(name), kind):
        raise BadInput(f"{name} is missing, or not what it must be: {str(values.get(name))[:60]!r}")
    return values[name]


def _some(values: Any, name: str) -> list[Any]:
    found: list[Any] = _one(values, name, list)
    if not found:
        raise BadInput(f"{name} is empty; a chart needs at least one of them")
    return found


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST:
        raise BadInput(f"{name} is no number: {str(value)[:60]!r}")
    return float(value)


def _interval(values: Mapping[str, Any]) -> tuple[float, float] | tuple[None, None]:
    if values.get("low") is None and values.get("high") is None:
        return None, None
    return _number(values, "low"), _number(values, "high")


def _axis(values: Any, name: str) -> Axis:
    if not isinstance(values, Mapping):
        raise BadInput(f"{name} is not a mapping with title, percent, logarithmic: {str(values)[:60]!r}")
    return Axis(
        str(values.get("title", "")),
        percent=values.get("percent") is True,
        logarithmic=values.get("logarithmic") is True,
    )


def _line(values: Any) -> Line:
    points = _some(values, "points")
    if not all(isinstance(one, Mapping) for one in points):
        raise BadInput("points is not a list of mappings with x and y")
    made = [Point(_number(one, "x"), _number(one, "y"), *_interval(one)) for one in points]
    return Line(_one(values, "name", str), tuple(sorted(made, key=lambda one: one.x)))


def _group(values: Any) -> Group:
    bars = _some(values, "bars")
    if not all(isinstance(one, Mapping) for one in bars):
        raise BadInput("bars is not a list of mappings with name and y")
    made = tuple(Bar(_one(one, "name", str), _number(one, "y"), *_interval(one)) for one in bars)
    return Group(_one(values, "name", str), made)
