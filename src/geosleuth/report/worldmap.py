"""World map of errors: each photo's true place, coloured by how far off the answer was."""

import json
from functools import cache
from importlib.resources import files

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.support.errors import DataFault

from .charts import path
from .markup import Html, el

# A1 to A4 in Šavrič, Patterson and Jenny, "The Equal Earth map projection" (2018).
COEFFICIENTS = (1.340264, -0.081106, 0.000893, 0.003796)

# x of the equator's end at 180 degrees east, and y of the north pole, on a sphere of radius 1.
HALF_WIDTH, HALF_HEIGHT = 2.7066299836960748, 1.3173627591574133

_LONGEST_STEP = np.radians(3.0)
_ROOT_3 = np.sqrt(3.0)

WIDTH = 960.0
_MARGIN = 2.0
SCALE = (WIDTH / 2 - _MARGIN) / HALF_WIDTH
HEIGHT = round(2 * (HALF_HEIGHT * SCALE + _MARGIN), 1)


def equal_earth(lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Project degrees to x (east) and y (north) on a sphere of radius 1. Equal areas stay equal."""
    a1, a2, a3, a4 = COEFFICIENTS
    theta = np.arcsin(_ROOT_3 / 2 * np.sin(np.radians(lat)))
    square = theta**2
    sixth = square**3
    y = theta * (a1 + a2 * square + sixth * (a3 + a4 * square))
    slope = a1 + 3 * a2 * square + sixth * (7 * a3 + 9 * a4 * square)
    x = 2 * _ROOT_3 * np.radians(lon) * np.cos(theta) / (3 * slope)
    return x, y


def great_circle(lat1: float, lon1: float, lat2: float, lon2: float) -> list[tuple[FloatArray, FloatArray]]:
    """Return the shortest path between two places as (lat, lon) pieces; cut in two at the antimeridian."""
    start, end = _on_sphere(lat1, lon1), _on_sphere(lat2, lon2)
    angle = float(np.arctan2(np.linalg.norm(np.cross(start, end)), start @ end))
    across = end - (start @ end) * start
    length = float(np.linalg.norm(across))
    if length < 1e-9:
        # The same place, or its antipode: every direction is a shortest one, so any will do.
        across = np.cross(start, np.eye(3)[int(np.argmin(np.abs(start)))])
        length = float(np.linalg.norm(across))
    steps = np.linspace(0.0, angle, max(2, int(np.ceil(angle / _LONGEST_STEP)) + 1))
    x, y, z = np.outer(start, np.cos(steps)) + np.outer(across / length, np.sin(steps))
    lat, lon = np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))
    lat[[0, -1]], lon[[0, -1]] = (lat1, lat2), (lon1, lon2)
    return split_at_antimeridian(lat, lon)


def split_at_antimeridian(lat: FloatArray, lon: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Cut a line wherever it jumps from one edge of the map to the other, and extend both ends to the edge."""
    pieces = []
    begin_lat, begin_lon = np.empty(0), np.empty(0)
    first = 0
    for after in np.flatnonzero(np.abs(np.diff(lon)) > 180) + 1:
        edge = float(np.copysign(180.0, lon[after - 1]))
        crossing = _latitude_at_seam(lat[after - 1], lon[after - 1], lat[after], lon[after])
        pieces.append((np.r_[begin_lat, lat[first:after], crossing], np.r_[begin_lon, lon[first:after], edge]))
        begin_lat, begin_lon, first = np.array([crossing]), np.array([-edge]), int(after)
    pieces.append((np.r_[begin_lat, lat[first:]], np.r_[begin_lon, lon[first:]]))
    return pieces


def _latitude_at_seam(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Return where the straight line between two near places meets the antimeridian; exact even beside a pole."""
    item, two = _on_sphere(lat1, lon1), _on_sphere(lat2, lon2)
    depth = item[1] - two[1]
    x, y, z = item + (two - item) * (np.clip(item[1] / depth, 0.0, 1.0) if depth else 0.0)
    return float(np.degrees(np.arctan2(z, np.hypot(x, y))))


def _on_sphere(lat: float, lon: float) -> FloatArray:
    phi, lam = np.radians(lat), np.radians(lon)
    return np.array([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])


def to_page(lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Convert degrees to units of the map drawing, y down."""
    x, y = equal_earth(lat, lon)
    return WIDTH / 2 + SCALE * x, HEIGHT / 2 - SCALE * y


def render_shared_symbols() -> Html:
    """Return sea, land and graticule, defined once and used by every map."""
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
