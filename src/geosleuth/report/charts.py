"""Charts of the report: the distribution of errors, accuracy by threshold, risk against coverage, calibration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

from .markup import Html, el, join

# Number of series colours in the style sheet; further series reuse them with a dashed line.
SERIES_COLOURS = 8

_MIN_STEP = 1e-300


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing of ``width`` by ``height`` units whose inner area maps shares [0, 1] to x (right) and y (up)."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float

    def x(self, share: float) -> float:
        """Return the horizontal position of a share of the inner width."""
        return self.left + share * (self.width - self.left - self.right)

    def y(self, share: float) -> float:
        """Return the vertical position of a share of the inner height, 0 at the bottom."""
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def vertical(self, x: float, kind: str) -> Html:
        """Return a line over the whole inner height."""
        return line(x, self.y(0), x, self.y(1), kind)

    def horizontal(self, y: float, kind: str) -> Html:
        """Return a line over the whole inner width."""
        return line(self.x(0), y, self.x(1), y, kind)


def drawing(identifier: str, plot: Plot, title: str, description: str, parts: Iterable[object]) -> Html:
    """Return an SVG with a text description."""
    return el(
        "svg",
        {
            "viewBox": f"0 0 {plot.width:g} {plot.height:g}",
            "role": "img",
            "aria-labelledby": f"{identifier}-title {identifier}-desc",
            "class": "chart",
        },
        el("title", {"id": f"{identifier}-title"}, title),
        el("desc", {"id": f"{identifier}-desc"}, description),
        *parts,
    )


def round_step(rough: float, factors: Sequence[float] = (1, 2, 2.5, 5, 10)) -> float:
    """Return the smallest round axis step of at least about ``rough``: a factor times a power of ten."""
    decade = 10.0 ** floor(log10(max(rough, _MIN_STEP)))
    return next(factor * decade for factor in factors if factor * decade >= rough * 0.999)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Html:
    """Return a straight line of a class."""
    return el("line", {"x1": n(x1), "y1": n(y1), "x2": n(x2), "y2": n(y2), "class": kind})


def label(x: float, y: float, words: object, kind: str = "tick", anchor: str = "middle") -> Html:
    """Return text at a position; ``anchor`` is start, middle or end."""
    return el("text", {"x": n(x), "y": n(y), "class": kind, "text-anchor": anchor}, words)


def polyline(points: Sequence[tuple[float, float]], kind: str) -> Html:
    """Return a line through points."""
    return el("path", {"d": path(points), "class": kind})


def path(points: Iterable[tuple[float, float]]) -> str:
    """Return path data through points, one decimal each; a point at the position of the one before is left out."""
    written: list[str] = []
    for x, y in points:
        spot = f"{n(x)},{n(y)}"
        if not written or written[-1] != spot:
            written.append(spot)
    return "M" + "L".join(written) if written else ""


def percent_axis(plot: Plot, steps: Sequence[int] = (0, 25, 50, 75, 100)) -> Html:
    """Return horizontal rules at shares of 100 %, labelled at the left."""
    return join(
        join(
            (
                plot.horizontal(plot.y(s / 100), "rule"),
                label(plot.x(0) - 6, plot.y(s / 100) + 4, f"{s} %", anchor="end"),
            )
        )
        for s in steps
    )


def percent_axis_below(plot: Plot, steps: Sequence[int] = (0, 25, 50, 75, 100)) -> Html:
    """Return vertical rules at shares of 100 %, labelled below."""
    return join(
        join((plot.vertical(plot.x(s / 100), "rule"), label(plot.x(s / 100), plot.y(0) + 16, f"{s} %"))) for s in steps
    )


def series(index: int) -> str:
    """Return the class names that colour the file of this number."""
    return f"series s{index % SERIES_COLOURS}" + (" again" if index >= SERIES_COLOURS else "")


def key_inside(plot: Plot, names: Sequence[tuple[int, str]], *, at_bottom: bool) -> Html:
    """Return the names of lines, stacked in the corner that the lines leave empty: bottom right or top left."""
    parts: list[Html] = []
    for row, (index, words) in enumerate(names):
        if at_bottom:
            y = plot.y(0) - 10 - 16 * (len(names) - 1 - row)
            x, anchor, towards = plot.x(1) - 28, "end", 1
        else:
            y, x, anchor, towards = plot.y(1) + 16 + 16 * row, plot.x(0) + 28, "start", -1
        parts.append(line(x + towards * 5, y - 4, x + towards * 23, y - 4, f"curve {series(index)}"))
        parts.append(label(x, y, words, "name", anchor))
    return join(parts)


def n(value: float) -> str:
    """Format a coordinate with one decimal, as short as possible."""
    return "0" if abs(value) < 0.05 else f"{value:.1f}".removesuffix(".0")


def select_spaced(
    items: Sequence[float], position: Callable[[float], float], gap: float, first: Callable[[float], bool]
) -> set[float]:
    """Return which items can be labelled at least ``gap`` apart; those that ``first`` approves are placed first."""
    chosen: list[float] = []
    for item in sorted(items, key=lambda value: not first(value)):
        if all(abs(position(item) - position(other)) >= gap for other in chosen):
            chosen.append(item)
    return set(chosen)
