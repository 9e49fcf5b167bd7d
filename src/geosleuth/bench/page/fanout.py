"""Dots that would hide each other, fanned out around their common spot."""

import numpy as np
from numpy.typing import NDArray

from geosleuth.geo import FloatArray

_REACH = 6.0  # spots nearer than this to each other, in units of the drawing, become one
_STEP = 2.1  # growth of the spiral: the dots of a small group just touch
_LEAST_ROOM, _MOST_ROOM = 9.0, 26.0  # radius that a group may fill, less beside a near neighbour; then dots overlap
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def fan_out(x: FloatArray, y: FloatArray, rank: NDArray[np.int64], unit: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """New positions: each group of near dots becomes a sunflower, lowest rank in the middle. Lone dots stay.

    ``unit`` is the size of things: smaller than 1 for a drawing that is seen enlarged.

    The photos of a city lie on one spot of a world map. Drawn there, the last one would hide all others, and the map
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
    """Number of each dot's group: squares of a grid, each joined to the fullest square nearby."""
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
