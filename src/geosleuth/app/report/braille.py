"""Maps of a few lines for terminals: land and borders in braille dots, places as letters."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import cos, radians

import numpy as np
import numpy.typing as npt

from geosleuth.geo import Box, FloatArray, LatLon

Mask = npt.NDArray[np.bool_]
Frame = tuple[float, float, float]

# What each dot of a cell adds to U+2800, row by row.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_NORTH, _SOUTH = 78.0, -56.0
_LEAST_HALF_DEG = 0.25
_USUAL_HALF_DEG = 4.0
_FEWEST_DOTS = 40
_MOST_HALF_DEG = 35.0
_KM_PER_DEGREE = 111.2
_HALVES_A_RADIUS = 1.5
_MARGIN = 1.1

Marks = Sequence[tuple[str, LatLon]]
"""Letters and where they stand; the first lies on top."""


def braille(dots: Mask) -> list[str]:
    """Dots as text: two across and four down to a character; blank ones are spaces."""
    rows, columns = dots.shape[0] // 4, dots.shape[1] // 2
    cells = dots[: 4 * rows, : 2 * columns].reshape(rows, 4, columns, 2)
    codes = (cells * _BITS[None, :, None, :]).sum(axis=(1, 3))
    return ["".join(chr(0x2800 + code) if code else " " for code in line) for line in codes.tolist()]


def world_lines(marks: Marks, columns: int = 40, rows: int = 10) -> list[str]:
    """The land of the world without the poles, and letters on it."""
    from geosleuth.atlas.borders import Borders

    lats = _middles(_NORTH, _SOUTH, 4 * rows)
    lons = _middles(-180.0, 180.0, 2 * columns)
    grid = np.meshgrid(lats, lons, indexing="ij")
    lines = braille(Borders.load().is_land(*grid))
    spots = ((mark, (_NORTH - at.lat) / (_NORTH - _SOUTH), (at.lon + 180) / 360) for mark, at in marks)
    return _lettered(lines, spots)


def region_lines(
    centre: LatLon,
    marks: Marks,
    *,
    radius_km: float = 0.0,
    columns: int = 36,
    rows: int = 10,
    country: str | None = None,
) -> list[str]:
    """Coasts and borders of countries around a place, and letters on them; wider where the radius is large.

    Where nothing of them would be seen it is wider too: a blank map says nothing. A ``country`` is filled in.
    """
    (half, lat, half_lon), edges = _drawn(centre, radius_km, columns, rows, country)
    turned = ((mark, (at.lon - centre.lon + 540) % 360 - 180, at.lat) for mark, at in marks)
    spots = (
        (mark, (lat + half - north) / (2 * half), (east + half_lon) / (2 * half_lon)) for mark, east, north in turned
    )
    return _lettered(braille(edges), spots)


def region_width_km(
    centre: LatLon, radius_km: float, *, columns: int = 36, rows: int = 10, country: str | None = None
) -> float:
    """How much `region_lines` shows from its left to its right edge, to two figures."""
    (_, lat, half_lon), _ = _drawn(centre, radius_km, columns, rows, country)
    return float(f"{2 * half_lon * cos(radians(lat)) * _KM_PER_DEGREE:.2g}")


def frame_of(box: Box, columns: int = 36, rows: int = 10) -> tuple[LatLon, float]:
    """The centre and the radius with which `region_lines` shows all of a box."""
    centre = box.centre
    high = (box.north - box.south) / 2
    wide = box.width_deg / 2 * cos(radians(centre.lat)) * (rows * 4) / (columns * 2)
    return centre, _MARGIN * max(high, wide) * _KM_PER_DEGREE / _HALVES_A_RADIUS


@lru_cache(maxsize=4)
def _drawn(centre: LatLon, radius_km: float, columns: int, rows: int, country: str | None) -> tuple[Frame, Mask]:
    """The smallest frame that suits the radius and has something to show, and what it shows."""
    half = min(max(_LEAST_HALF_DEG, _HALVES_A_RADIUS * radius_km / _KM_PER_DEGREE), _MOST_HALF_DEG)
    while True:
        frame = _frame(centre, half, columns, rows)
        edges = _edges(centre, frame, columns, rows, country)
        if half >= _USUAL_HALF_DEG or np.count_nonzero(edges) >= _FEWEST_DOTS:
            return frame, edges
        half = min(2 * half, _USUAL_HALF_DEG)


def _edges(centre: LatLon, frame: Frame, columns: int, rows: int, country: str | None) -> Mask:
    from geosleuth.atlas.borders import Borders

    half, lat, half_lon = frame
    # One more row and column, so that dots can be compared with their neighbours.
    step, step_lon = 2 * half / (4 * rows), 2 * half_lon / (2 * columns)
    lats = lat + half - step * (np.arange(4 * rows + 1) + 0.5)
    lons = (centre.lon - half_lon + step_lon * (np.arange(2 * columns + 1) + 0.5) + 540) % 360 - 180
    codes = Borders.load().countries(*np.meshgrid(np.clip(lats, -90, 90), lons, indexing="ij"), waters=False)
    here = codes[:-1, :-1]
    return np.asarray((here != codes[1:, :-1]) | (here != codes[:-1, 1:]) | ((here == country) & (here != "")))


def _frame(centre: LatLon, half: float, columns: int, rows: int) -> Frame:
    """Half the height in degrees, the latitude of the middle, half the width in degrees."""
    lat = min(max(centre.lat, half - 85), 85 - half)
    return half, lat, min(179.0, half * columns * 2 / (rows * 4) / max(0.2, cos(radians(lat))))


def _middles(first: float, last: float, count: int) -> FloatArray:
    step = (last - first) / count
    return np.asarray(first + step * (np.arange(count) + 0.5), dtype=np.float64)


def _lettered(lines: list[str], spots: Iterable[tuple[str, float, float]]) -> list[str]:
    """Put letters where they belong, with a blank on both sides; what lies outside is left out."""
    drawn = [list(line) for line in lines]
    placed: list[tuple[int, int]] = []
    for mark, down, across in spots:
        row, column = int(down * len(drawn)), int(across * len(drawn[0]))
        if not (0 <= down < 1 and 0 <= across < 1) or any(
            row == other and abs(column - taken) < 2 for other, taken in placed
        ):
            continue
        for beside in (column - 1, column + 1):
            if 0 <= beside < len(drawn[row]):
                drawn[row][beside] = " "
        drawn[row][column] = mark
        placed.append((row, column))
    return ["".join(line) for line in drawn]
