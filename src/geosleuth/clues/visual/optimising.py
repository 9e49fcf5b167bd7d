"""Finding the lowest point of a smooth function, in numpy alone."""

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .scaling import Rows

Objective = Callable[[npt.NDArray[np.floating]], tuple[float, npt.NDArray[np.floating]]]

_MEMORY = 10
_HALVINGS = 20
_ENOUGH = 3e-6


def lowest(objective: Objective, start: npt.NDArray[np.floating], steps: int) -> npt.NDArray[np.floating]:
    """L-BFGS with a backtracking search: the point reached after so many steps, or where a step gains next to nothing.

    Args:
        objective: value and gradient at a point.
        start: where to begin, one-dimensional; the result has its type.
        steps: how many at most.
    """
    here = start.copy()
    value, slope = objective(here)
    past: deque[tuple[npt.NDArray[np.floating], npt.NDArray[np.floating], float]] = deque(maxlen=_MEMORY)
    for _ in range(steps):
        towards = _direction(slope, past)
        descent = float(slope @ towards)
        if descent >= 0:
            past.clear()
            towards = -slope / max(float(np.linalg.norm(slope)), 1e-12)
            descent = float(slope @ towards)
        length = 1.0
        for _ in range(_HALVINGS):
            there = (here + length * towards).astype(start.dtype)
            next_value, next_slope = objective(there)
            if next_value <= value + 1e-4 * length * descent:
                break
            length /= 2
        else:
            return here
        moved, turned = there - here, next_slope - slope
        curvature = float(moved @ turned)
        if curvature > 1e-10 * float(np.linalg.norm(moved)) * float(np.linalg.norm(turned)):
            past.append((moved, turned, curvature))
        gain = value - next_value
        here, value, slope = there, next_value, next_slope
        if gain < _ENOUGH * max(1.0, abs(value)):
            break
    return here


def _direction(
    slope: npt.NDArray[np.floating],
    past: "deque[tuple[npt.NDArray[np.floating], npt.NDArray[np.floating], float]]",
) -> npt.NDArray[np.floating]:
    towards = -slope
    if not past:
        return towards / max(float(np.linalg.norm(slope)), 1e-12)
    factors = []
    for moved, turned, curvature in reversed(past):
        factor = float(moved @ towards) / curvature
        factors.append(factor)
        towards = towards - factor * turned
    _, turned, curvature = past[-1]
    towards = towards * (curvature / float(turned @ turned))
    for (moved, turned, curvature), factor in zip(past, reversed(factors), strict=True):
        towards = towards + (factor - float(turned @ towards) / curvature) * moved
    return towards


def log_shares(scores: Rows) -> Rows:
    """Scores, a row a picture, as logarithms of shares that add up to 1."""
    lowered: Rows = scores - scores.max(axis=1, keepdims=True)
    lowered -= np.log(np.exp(lowered).sum(axis=1, keepdims=True))
    return lowered
