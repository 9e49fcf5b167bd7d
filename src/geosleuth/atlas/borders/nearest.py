"""The nearest zone to a point that is in none: for quays and beaches that the borders leave in the sea."""

import numpy as np

from geosleuth.geo import EARTH_RADIUS_KM

from .arcs import UNITS_PER_DEGREE
from .cells import CELL, COLUMNS, EAST, NORTH, ROWS
from .grid import Grid

KM_PER_UNIT = np.pi * EARTH_RADIUS_KM / 180 / UNITS_PER_DEGREE


def nearest_label(grid: Grid, lat: float, lon: float, within_km: float) -> tuple[int, float] | None:
    """The label of the nearest zone by its border, and the distance in km; None where there is none within reach.

    Measured on a plane laid at the point's latitude: good to a percent at the distances this is for (under 100 km,
    below 85 degrees of latitude).
    """
    x, y = lon * UNITS_PER_DEGREE + EAST, lat * UNITS_PER_DEGREE + NORTH
    squeeze = max(float(np.cos(np.radians(lat))), 0.02)
    up = within_km / KM_PER_UNIT
    rows = np.arange(max(0, int((y - up) // CELL)), min(ROWS - 1, int((y + up) // CELL)) + 1)
    first, last = int((x - up / squeeze) // CELL), int((x + up / squeeze) // CELL)
    columns = np.unique(np.arange(first, min(last, first + COLUMNS - 1) + 1) % COLUMNS)
    ends, sides = grid.edges_in((rows[:, None] * COLUMNS + columns).reshape(-1).astype(np.int32))
    if not len(ends):
        return None
    x0, y0, x1, y1 = ends.T
    turn = 2.0 * EAST
    start = np.stack([((x0 - x + EAST) % turn - EAST) * squeeze, y0 - y], 1)
    along = np.stack([(x1 - x0) * squeeze, y1 - y0], 1)
    part = np.clip(-(start * along).sum(1) / (along * along).sum(1), 0, 1)
    away = np.hypot(*(start + part[:, None] * along).T)
    best = int(np.argmin(away))
    distance_km = float(away[best]) * KM_PER_UNIT
    if distance_km > within_km:
        return None
    left, right = sides[best].tolist()
    return left or right, distance_km
