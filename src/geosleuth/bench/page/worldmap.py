"""World map of errors: each photo's true place, coloured by how far off the answer was."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from geosleuth.bench.report import FileReport
from geosleuth.bench.scored import Scored
from geosleuth.errors import DataFault
from geosleuth.geo import FloatArray
from geosleuth.text.numbers import count, distance, plural, threshold

from .canvas import path
from .fanout import fan_out
from .markup import Html, clean, el, name
from .projection import COEFFICIENTS, HALF_HEIGHT, HALF_WIDTH, equal_earth, great_circle

CLASSES_KM = (1.0, 25.0, 200.0, 750.0)
"""Upper ends of the error classes; the fifth has none."""

MOST_DOTS = 5000
MOST_LINES = 150

_WIDTH = 960.0
_MARGIN = 2.0
_SCALE = (_WIDTH / 2 - _MARGIN) / HALF_WIDTH
_HEIGHT = round(2 * (HALF_HEIGHT * _SCALE + _MARGIN), 1)
_CLOSEST = 80.0  # narrowest view: the coarse outline of the land says nothing on a smaller one
_ID_LIMIT = 80
_UNLOCATED = len(CLASSES_KM) + 1

View = tuple[float, float, float, float]
_WHOLE: View = (0.0, 0.0, _WIDTH, _HEIGHT)


@dataclass(frozen=True, slots=True)
class Dots:
    """The records that are drawn, where on the drawing, and the part of the drawing to show."""

    rows: NDArray[np.int64]
    x: FloatArray
    y: FloatArray
    view: View


def to_page(lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Degrees to units of the map drawing, y down."""
    x, y = equal_earth(lat, lon)
    return _WIDTH / 2 + _SCALE * x, _HEIGHT / 2 - _SCALE * y


def shared_drawing() -> Html:
    """Sea, land and graticule, defined once and used by every map."""
    seam = np.linspace(-90.0, 90.0, 91)
    outline = _path(np.r_[seam, seam[::-1]], np.r_[np.full(91, -180.0), np.full(91, 180.0)]) + "Z"
    meridians = [_path(seam, np.full(91, float(lon))) for lon in range(-150, 180, 30)]
    parallels = [_path(np.full(2, float(lat)), np.array([-180.0, 180.0])) for lat in range(-60, 90, 30)]
    return el(
        "svg",
        {"width": 0, "height": 0, "class": "defs", "aria-hidden": "true"},
        el(
            "defs",
            None,
            el(
                "g",
                {"id": "world"},
                el("path", {"class": "sea", "d": outline}),
                el("path", {"class": "graticule", "d": "".join(meridians + parallels)}),
                el("path", {"class": "land", "d": _land()}),
            ),
        ),
    )


@cache
def _land() -> str:
    try:
        rings = json.loads(files(__package__).joinpath("land.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataFault(f"the land outline land.json can't be read: {error}") from error
    pieces = []
    for ring in rings:
        lon, lat = np.cumsum(np.asarray(ring, dtype=np.float64).reshape(-1, 2), axis=0).T / 10
        pieces.append(_path(lat, lon) + "Z")
    return "".join(pieces)


def _path(lat: FloatArray, lon: FloatArray) -> str:
    x, y = to_page(lat, lon)
    return path(zip(x.tolist(), y.tolist(), strict=True))


def error_class(distance_km: FloatArray) -> NDArray[np.int64]:
    """0 to 4 by error, 5 where unlocated."""
    classes = np.searchsorted(np.asarray(CLASSES_KM), distance_km, side="left")
    return np.where(np.isnan(distance_km), _UNLOCATED, classes)


def chosen_rows(scored: Scored) -> NDArray[np.int64]:
    """The records that get a dot: all, or a fixed random sample that always holds the worst errors."""
    if len(scored) <= MOST_DOTS:
        return np.arange(len(scored))
    worst = worst_rows(scored)
    others = np.setdiff1d(np.arange(len(scored)), worst)
    sample = np.random.default_rng(0).choice(others, MOST_DOTS - len(worst), replace=False)
    return np.sort(np.r_[worst, sample])


def worst_rows(scored: Scored, most: int = MOST_LINES) -> NDArray[np.int64]:
    """The located records that are farthest off, farthest first."""
    located = np.flatnonzero(~np.isnan(scored.distance_km))
    return located[np.argsort(-scored.distance_km[located], kind="stable")][:most]


def map_section(reports: Sequence[FileReport], dots: Sequence[Dots]) -> Html:
    """One map per file; the page's script turns several into one with buttons."""
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
    """Choose the records that get a dot, and its place."""
    rows = chosen_rows(scored)
    x, y = to_page(scored.truth_lat[rows], scored.truth_lon[rows])
    view = _view(x, y)
    return Dots(rows, *fan_out(x, y, error_class(scored.distance_km[rows]), unit=view[2] / _WIDTH), view)


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
    """One path per class, worst on top: a dot is a line of no length with round ends, which keeps the page small."""
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
    """The frame around nearly all photos where they fill a small part of the world, else the whole world."""
    if not len(x):
        return _WHOLE
    (left, right), (top, bottom) = np.quantile(x, [0.01, 0.99]).tolist(), np.quantile(y, [0.01, 0.99]).tolist()
    width = max(1.25 * (right - left), 1.25 * (bottom - top) * _WIDTH / _HEIGHT, _CLOSEST)
    if width > 0.5 * _WIDTH:
        return _WHOLE
    height = width * _HEIGHT / _WIDTH
    x0 = min(max(0.0, (left + right - width) / 2), _WIDTH - width)
    y0 = min(max(0.0, (top + bottom - height) / 2), _HEIGHT - height)
    return round(x0, 1), round(y0, 1), round(width, 1), round(height, 1)


def map_data(reports: Sequence[FileReport], dots: Sequence[Dots]) -> dict[str, object]:
    """What the script needs to answer a pointer: the projection's constants, and the dots in columns."""
    return {
        "projection": {"coefficients": COEFFICIENTS, "scale": _SCALE, "x": _WIDTH / 2, "y": _HEIGHT / 2},
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
