"""World map of errors: each photo's true place, coloured by how far off the answer was."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FloatArray
from geosleuth.lab.bench.report import FileReport
from geosleuth.lab.bench.scored import Scored
from geosleuth.report.charts import path
from geosleuth.report.markup import Html, el, join, name
from geosleuth.report.worldmap import HEIGHT, WIDTH, great_circle, to_page
from geosleuth.support.text.numbers import count, plural, threshold

from .parts import PageSection

# Upper bounds of the error classes in kilometres; the fifth class has none.
CLASSES_KM = (1.0, 25.0, 200.0, 750.0)
MAX_DOTS = 5000
MAX_LINES = 150
_REACH = 6.0  # dots within such a square, in units of the drawing, become one group
_STEP = 2.1  # growth of the spiral: the dots of a small group just touch
_MAX_RADIUS = 26.0  # what a group may fill; then its dots overlap
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_CLOSEST = 80.0  # narrowest view: the coarse outline of the land is useless on a smaller one
_UNLOCATED = len(CLASSES_KM) + 1
View = tuple[float, float, float, float]
_WHOLE: View = (0.0, 0.0, WIDTH, HEIGHT)


def fan_out(x: FloatArray, y: FloatArray, rank: NDArray[np.int64], unit: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Return new positions: each group of close dots becomes a sunflower, lowest rank in the middle. Single dots stay.

    ``unit`` is the scale: smaller than 1 for a drawing that is shown enlarged.

    The photos of a city share one spot of a world map. Drawn there, the last one would hide all others, and the map
    would show what is drawn last rather than what is common.
    """
    squares = np.round(np.c_[x, y] / (_REACH * unit)).astype(np.int64)
    _, group, sizes = np.unique(squares, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    order = np.lexsort((rank, group))
    turn = np.empty(len(x), dtype=np.int64)
    turn[order] = np.arange(len(x)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    step = np.minimum(_STEP, _MAX_RADIUS / np.sqrt(sizes))[group]
    radius = np.where(sizes[group] > 1, unit * step * np.sqrt(turn), 0.0)
    middle_x, middle_y = (np.bincount(group, values) / sizes for values in (x, y))
    return (
        middle_x[group] + radius * np.cos(turn * _GOLDEN_ANGLE),
        middle_y[group] + radius * np.sin(turn * _GOLDEN_ANGLE),
    )


def error_class(distance_km: FloatArray) -> NDArray[np.int64]:
    """Return the class 0 to 4 by error, 5 if unlocated."""
    classes = np.searchsorted(np.asarray(CLASSES_KM), distance_km, side="left")
    return np.where(np.isnan(distance_km), _UNLOCATED, classes)


def chosen_rows(scored: Scored) -> NDArray[np.int64]:
    """Return the records that get a dot: all, or a fixed random sample that includes the worst errors."""
    if len(scored) <= MAX_DOTS:
        return np.arange(len(scored))
    worst = worst_rows(scored)
    others = np.setdiff1d(np.arange(len(scored)), worst)
    sample = np.random.default_rng(0).choice(others, MAX_DOTS - len(worst), replace=False)
    return np.sort(np.r_[worst, sample])


def worst_rows(scored: Scored, most: int = MAX_LINES) -> NDArray[np.int64]:
    """Return the located records with the largest errors, largest first."""
    located = np.flatnonzero(~np.isnan(scored.distance_km))
    return located[np.argsort(-scored.distance_km[located], kind="stable")][:most]


def map_section(reports: Sequence[FileReport]) -> PageSection:
    """Return one map per file."""
    return PageSection(
        "map",
        "Where the errors are",
        [_map(report, index) for index, report in enumerate(reports)],
        "Every dot is where a photo was really taken. Its colour says how far off the answer was; a line leads to the "
        "answered place.",
    )


def _map(report: FileReport, index: int) -> Html:
    scored, rows = report.scored, chosen_rows(report.scored)
    classes = error_class(scored.distance_km)
    x, y = to_page(scored.truth_lat[rows], scored.truth_lon[rows])
    view = _view(x, y)
    x, y = fan_out(x, y, classes[rows], unit=view[2] / WIDTH)
    far = [row for row in worst_rows(scored) if scored.distance_km[row] > CLASSES_KM[2]]
    dot_of = {int(row): (float(a), float(b)) for row, a, b in zip(rows, x, y, strict=True)}
    lines = el("path", {"class": "lines", "d": "".join(_draw_error_line(scored, row, dot_of[int(row)]) for row in far)})
    description = (
        f"World map with {plural(len(rows), 'dot', 'dots')} at the true places of photos, coloured by error. "
        "The table of the worst errors below holds the same facts as text."
    )
    drawing = el(
        "svg",
        {
            "viewBox": " ".join(f"{number:g}" for number in view),
            "role": "img",
            "aria-labelledby": f"map-{index}-title map-{index}-desc",
        },
        el("title", {"id": f"map-{index}-title"}, f"Errors of {scored.label} on the map"),
        el("desc", {"id": f"map-{index}-desc"}, description),
        el("use", {"href": "#world"}),
        lines,
        *_dots(x, y, classes[rows]),
    )
    toggle = f"lines-{index}"
    switch = (
        el("input", {"type": "checkbox", "id": toggle, "class": "toggle", "checked": True}),
        el("label", {"for": toggle, "class": "toggle-label"},
           f"Lines: {plural(len(far), 'answer', 'answers')} farthest off"),
    )  # fmt: skip
    sampled = (
        f"A sample of {count(len(rows))} of the {count(len(scored))} records is drawn, with the worst {MAX_LINES}. "
    )
    caption = (
        sampled if len(rows) < len(scored) else "",
        "" if view == _WHOLE else "The map shows the part of the world where the photos are. ",
        "Photos on nearly one spot are fanned out around it, best in the middle. Equal Earth projection: areas are "
        "true to size.",
    )
    return el(
        "figure",
        {"class": "map"},
        el("h3", None, name(scored.label)),
        *(switch if far else ()),
        el("div", {"class": "stage"}, drawing),
        _legend(classes),
        el("figcaption", None, *caption),
    )


def _draw_error_line(scored: Scored, row: int, dot: tuple[float, float]) -> str:
    ends = (scored.truth_lat[row], scored.truth_lon[row], scored.lat[row], scored.lon[row])
    pieces: list[str] = []
    for lat, lon in great_circle(*(float(value) for value in ends)):
        x, y = to_page(lat, lon)
        if not pieces:
            x[0], y[0] = dot
        pieces.append(path(zip(x.tolist(), y.tolist(), strict=True)))
    return "".join(pieces)


def _dots(x: FloatArray, y: FloatArray, classes: NDArray[np.int64]) -> list[Html]:
    """Draw one path per class, worst on top. A dot is a zero-length line with round ends, to keep the page small."""
    drawn: list[Html] = []
    for number in np.unique(classes).tolist():
        here = classes == number
        spots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[here].tolist(), y[here].tolist(), strict=True))
        drawn += [el("path", {"class": f"dots {part} c{number}", "d": spots}) for part in ("ring", "core")]
    return drawn


def _legend(classes: NDArray[np.int64]) -> Html:
    bounds = [f"within {threshold(CLASSES_KM[0])}", *(f"to {threshold(km)}" for km in CLASSES_KM[1:])]
    bounds += [f"over {threshold(CLASSES_KM[-1])}", "unlocated"]
    found = np.bincount(classes, minlength=len(bounds)).tolist()
    entries = [
        el("li", None, el("span", {"class": f"swatch c{at}"}), f"{words} ", el("b", None, count(found[at])))
        for at, words in enumerate(bounds)
    ]
    return el("ul", {"class": "legend", "aria-label": "Error classes and their counts"}, join(entries))


def _view(x: FloatArray, y: FloatArray) -> View:
    """Return the frame around nearly all photos if they fill a small part of the world, else the whole world."""
    if not len(x):
        return _WHOLE
    (left, right), (top, bottom) = np.quantile(x, [0.01, 0.99]).tolist(), np.quantile(y, [0.01, 0.99]).tolist()
    width = max(1.25 * (right - left), 1.25 * (bottom - top) * WIDTH / HEIGHT, _CLOSEST)
    if width > 0.5 * WIDTH:
        return _WHOLE
    height = width * HEIGHT / WIDTH
    x0 = min(max(0.0, (left + right - width) / 2), WIDTH - width)
    y0 = min(max(0.0, (top + bottom - height) / 2), HEIGHT - height)
    return round(x0, 1), round(y0, 1), round(width, 1), round(height, 1)
