"""World map of errors: each photo's true place, coloured by how far off the answer was."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FloatArray
from geosleuth.lab.bench.report import FileReport
from geosleuth.lab.bench.scored import Scored
from geosleuth.report.charts import path
from geosleuth.report.markup import Html, clean, el, name
from geosleuth.report.worldmap import COEFFICIENTS, HEIGHT, SCALE, WIDTH, great_circle, to_page
from geosleuth.support.text.numbers import count, distance, plural, threshold

_REACH = 6.0  # spots closer than this, in units of the drawing, become one
_STEP = 2.1  # growth of the spiral: the dots of a small group just touch
_LEAST_ROOM, _MOST_ROOM = 9.0, 26.0  # radius that a group may fill, less beside a neighbour; then dots overlap
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
CLASSES_KM = (1.0, 25.0, 200.0, 750.0)
"""Upper bounds of the error classes; the fifth has none."""
MOST_DOTS = 5000
MOST_LINES = 150
_CLOSEST = 80.0  # narrowest view: the coarse outline of the land is useless on a smaller one
_ID_LIMIT = 80
_UNLOCATED = len(CLASSES_KM) + 1
View = tuple[float, float, float, float]
_WHOLE: View = (0.0, 0.0, WIDTH, HEIGHT)


def fan_out(x: FloatArray, y: FloatArray, rank: NDArray[np.int64], unit: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Return new positions: each group of close dots becomes a sunflower, lowest rank in the middle. Single dots stay.

    ``unit`` is the scale: smaller than 1 for a drawing that is shown enlarged.

    The photos of a city share one spot of a world map. Drawn there, the last one would hide all others, and the map
    would show whatever is drawn last rather than what is common.
    """
    group = _groups(x / unit, y / unit)
    order = np.lexsort((rank, group))
    groups = [members for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(members)]
    middles = np.array([(x[members].mean(), y[members].mean()) for members in groups]).reshape(-1, 2)
    new_x, new_y = x.copy(), y.copy()
    for number, members in enumerate(groups):
        if len(members) < 2:
            continue
        turn = np.arange(len(members))
        step = _STEP
        if _STEP * np.sqrt(len(members)) > _LEAST_ROOM:
            gaps = np.hypot(*(np.delete(middles, number, axis=0) - middles[number]).T) / unit
            room = np.clip(gaps.min(initial=np.inf) * 0.55, _LEAST_ROOM, _MOST_ROOM)
            step = min(_STEP, room / np.sqrt(len(members)))
        radius = unit * step * np.sqrt(turn)
        new_x[members] = middles[number, 0] + radius * np.cos(turn * _GOLDEN_ANGLE)
        new_y[members] = middles[number, 1] + radius * np.sin(turn * _GOLDEN_ANGLE)
    return new_x, new_y


def _groups(x: FloatArray, y: FloatArray) -> NDArray[np.int64]:
    """Return the group number of each dot: squares of a grid, each joined to the fullest square nearby."""
    squares = np.round(np.c_[x, y] / (_REACH / 2)).astype(np.int64)
    _, square_of, sizes = np.unique(squares, axis=0, return_inverse=True, return_counts=True)
    square_of = square_of.reshape(-1)
    middles = np.c_[np.bincount(square_of, x), np.bincount(square_of, y)] / sizes[:, None]
    leaders: list[int] = []
    places = np.empty_like(middles)
    leader_of = np.empty(len(sizes), dtype=np.int64)
    for square in np.argsort(-sizes, kind="stable"):
        gaps = np.hypot(*(places[: len(leaders)] - middles[square]).T)
        if len(gaps) and gaps.min() < _REACH:
            leader_of[square] = leaders[int(gaps.argmin())]
        else:
            places[len(leaders)] = middles[square]
            leaders.append(int(square))
            leader_of[square] = square
    return leader_of[square_of]


@dataclass(frozen=True, slots=True)
class Dots:
    """The records that are drawn, their positions, and the part of the drawing to show."""

    rows: NDArray[np.int64]
    x: FloatArray
    y: FloatArray
    view: View


def error_class(distance_km: FloatArray) -> NDArray[np.int64]:
    """Return the class 0 to 4 by error, 5 if unlocated."""
    classes = np.searchsorted(np.asarray(CLASSES_KM), distance_km, side="left")
    return np.where(np.isnan(distance_km), _UNLOCATED, classes)


def chosen_rows(scored: Scored) -> NDArray[np.int64]:
    """Return the records that get a dot: all, or a fixed random sample that includes the worst errors."""
    if len(scored) <= MOST_DOTS:
        return np.arange(len(scored))
    worst = worst_rows(scored)
    others = np.setdiff1d(np.arange(len(scored)), worst)
    sample = np.random.default_rng(0).choice(others, MOST_DOTS - len(worst), replace=False)
    return np.sort(np.r_[worst, sample])


def worst_rows(scored: Scored, most: int = MOST_LINES) -> NDArray[np.int64]:
    """Return the located records with the largest errors, largest first."""
    located = np.flatnonzero(~np.isnan(scored.distance_km))
    return located[np.argsort(-scored.distance_km[located], kind="stable")][:most]


def map_section(reports: Sequence[FileReport], dots: Sequence[Dots]) -> Html:
    """Return one map per file; the page's script combines several into one with buttons."""
    return el(
        "section",
        {"id": "map", "aria-labelledby": "map-h"},
        el("h2", {"id": "map-h"}, "Where the errors are"),
        el(
            "p",
            {"class": "lead"},
            "Every dot is where a photo was really taken. Its colour says how far off the answer was; a line leads to "
            "the answered place.",
        ),
        el(
            "div",
            {"class": "maps"},
            *(_map(report, drawn, index) for index, (report, drawn) in enumerate(zip(reports, dots, strict=True))),
        ),
    )


def _map(report: FileReport, dots: Dots, index: int) -> Html:
    scored, rows = report.scored, dots.rows
    classes = error_class(scored.distance_km)
    sampled = len(rows) < len(scored)
    far = [row for row in worst_rows(scored) if scored.distance_km[row] > CLASSES_KM[2]]
    dot_of = {int(row): (float(a), float(b)) for row, a, b in zip(rows, dots.x, dots.y, strict=True)}
    drawn = (
        f"A sample of {count(len(rows))} of the {count(len(scored))} records is drawn, with the worst {MOST_LINES}. "
        if sampled
        else ""
    )
    lines = f"Lines: {plural(len(far), 'answer', 'answers')} farthest off" if far else ""
    description = (
        f"World map with {plural(len(rows), 'dot', 'dots')} at the true places of photos, coloured by error. "
        "The table of the worst errors below holds the same facts as text."
    )
    toggle = f"lines-{index}"
    return el(
        "figure",
        {"class": "map", "data-map": index},
        el("h3", None, name(scored.label)),
        el("input", {"type": "checkbox", "id": toggle, "class": "toggle", "checked": True}) if far else "",
        el("label", {"for": toggle, "class": "toggle-label"}, lines) if far else "",
        el(
            "div",
            {"class": "stage"},
            el(
                "svg",
                {
                    "viewBox": " ".join(f"{number:g}" for number in dots.view),
                    "data-whole": " ".join(f"{number:g}" for number in _WHOLE),
                    "role": "img",
                    "aria-labelledby": f"map-{index}-title map-{index}-desc",
                },
                el("title", {"id": f"map-{index}-title"}, f"Errors of {scored.label} on the map"),
                el("desc", {"id": f"map-{index}-desc"}, description),
                el("use", {"href": "#world"}),
                el("path", {"class": "lines", "d": "".join(_line(scored, row, dot_of[int(row)]) for row in far)}),
                *_drawn_dots(dots.x, dots.y, classes[rows]),
                el("g", {"class": "marker"}),
            ),
        ),
        _legend(classes, report.summary.n),
        el(
            "figcaption",
            None,
            drawn,
            "" if dots.view == _WHOLE else "The map shows the part of the world where the photos are. ",
            "Photos on nearly one spot are fanned out around it, best in the middle. Equal Earth projection: areas are "
            "true to size.",
        ),
    )


def placed_dots(scored: Scored) -> Dots:
    """Choose the records that get a dot, and its position."""
    rows = chosen_rows(scored)
    x, y = to_page(scored.truth_lat[rows], scored.truth_lon[rows])
    view = _view(x, y)
    return Dots(rows, *fan_out(x, y, error_class(scored.distance_km[rows]), unit=view[2] / WIDTH), view)


def _line(scored: Scored, row: int, dot: tuple[float, float]) -> str:
    ends = (scored.truth_lat[row], scored.truth_lon[row], scored.lat[row], scored.lon[row])
    pieces: list[str] = []
    for lat, lon in great_circle(*(float(value) for value in ends)):
        x, y = to_page(lat, lon)
        if not pieces:
            x[0], y[0] = dot
        pieces.append(path(zip(x.tolist(), y.tolist(), strict=True)))
    return "".join(pieces)


def _drawn_dots(x: FloatArray, y: FloatArray, classes: NDArray[np.int64]) -> list[Html]:
    """Draw one path per class, worst on top: a dot is a line of no length with round ends, to keep the page small."""
    drawn: list[Html] = []
    for number in range(_UNLOCATED + 1):
        here = np.flatnonzero(classes == number)
        if not len(here):
            continue
        spots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[here].tolist(), y[here].tolist(), strict=True))
        drawn.append(el("path", {"class": f"dots ring c{number}", "d": spots}))
        drawn.append(el("path", {"class": f"dots core c{number}", "d": spots}))
    return drawn


def _legend(classes: NDArray[np.int64], n: int) -> Html:
    bounds = [f"within {threshold(CLASSES_KM[0])}"]
    bounds += [f"to {threshold(km)}" for km in CLASSES_KM[1:]]
    bounds += [f"over {threshold(CLASSES_KM[-1])}", "unlocated"]
    found = np.bincount(classes, minlength=len(bounds)) if n else np.zeros(len(bounds), dtype=np.int64)
    entries = [
        el(
            "li",
            None,
            el("span", {"class": f"swatch c{number}"}),
            f"{words} ",
            el("b", None, count(int(found[number]))),
        )
        for number, words in enumerate(bounds)
    ]
    return el("ul", {"class": "legend", "aria-label": "Error classes and their counts"}, *entries)


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


def map_data(reports: Sequence[FileReport], dots: Sequence[Dots]) -> dict[str, object]:
    """Return the script's data for pointer events: the projection's constants, and the dots in columns."""
    return {
        "projection": {"coefficients": COEFFICIENTS, "scale": SCALE, "x": WIDTH / 2, "y": HEIGHT / 2},
        "files": [_columns(report.scored, drawn) for report, drawn in zip(reports, dots, strict=True)],
    }


def _columns(scored: Scored, dots: Dots) -> dict[str, object]:
    rows = dots.rows

    def degrees(values: FloatArray) -> list[float | None]:
        return [None if np.isnan(value) else round(float(value), 4) for value in values[rows]]

    farthest_first = np.argsort(-np.nan_to_num(scored.distance_km[rows], nan=-1.0), kind="stable")
    return {
        "label": clean(scored.label, _ID_LIMIT),
        "ids": [clean(scored.ids[row], _ID_LIMIT) for row in rows],
        "x": [round(value, 1) for value in dots.x.tolist()],
        "y": [round(value, 1) for value in dots.y.tolist()],
        "lat": degrees(scored.truth_lat),
        "lon": degrees(scored.truth_lon),
        "answerLat": degrees(scored.lat),
        "answerLon": degrees(scored.lon),
        "error": [None if np.isnan(km) else distance(float(km)) for km in scored.distance_km[rows]],
        "classes": error_class(scored.distance_km[rows]).tolist(),
        "order": farthest_first.tolist(),
    }
