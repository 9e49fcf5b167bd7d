"""Fitting in numpy alone: L-BFGS, Adam, and logistic regression with two or more answers.

`logistic`     yes or no, by damped Newton steps: calibrations, trust, the odds of a vote
`multinomial`  one of several, by L-BFGS: countries of photos
`lowest`       L-BFGS for any smooth function
`Adam`         steps for networks
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer]
Objective = Callable[[npt.NDArray[np.floating]], tuple[float, npt.NDArray[np.floating]]]

_MEMORY = 10
_HALVINGS = 20
_ENOUGH = 3e-6
_NEWTON_STEPS = 500
_MIN_GAIN = 1e-12
_MIN_SPREAD = 1e-6
_FARTHEST_ODDS = 30.0


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


def multinomial(rows: Rows, label: Ints, classes: int, *, strength: float, steps: int) -> tuple[Rows, Rows]:
    """Return weights and offsets of a multinomial logistic regression, by L-BFGS.

    Args:
        rows: one a row.
        label: the class of each row.
        classes: how many there are.
        strength: the penalty of the weights; offsets are free.
        steps: how many at most.
    """
    count, shape = len(rows), (rows.shape[1], classes)
    ones = np.zeros((count, classes), dtype=np.float32)
    ones[np.arange(count), label] = 1.0

    def objective(at: npt.NDArray[np.floating]) -> tuple[float, npt.NDArray[np.floating]]:
        weights, offsets = at[:-classes].reshape(shape), at[-classes:]
        logs = log_shares(rows @ weights + offsets)
        value = -float(logs[np.arange(count), label].mean()) + 0.5 * strength * float((weights * weights).sum())
        miss = (np.exp(logs) - ones) / np.float32(count)
        slope = rows.T @ miss + np.float32(strength) * weights
        return value, np.concatenate([slope.ravel(), miss.sum(axis=0)])

    found = lowest(objective, np.zeros(shape[0] * classes + classes, dtype=np.float32), steps)
    return found[:-classes].reshape(shape).astype(np.float32), found[-classes:].astype(np.float32)


def probabilities(scores: FloatArray) -> FloatArray:
    """Return probabilities from log-odds."""
    odds: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(scores, -_FARTHEST_ODDS, _FARTHEST_ODDS)))
    return odds


def logistic(
    rows: FloatArray,
    right: FloatArray,
    ridge: FloatArray | float,
    *,
    centre: FloatArray | None = None,
    least: FloatArray | None = None,
    start: FloatArray | None = None,
    curved_rows: int | None = None,
    enough: float = _MIN_GAIN,
) -> FloatArray:
    """Return the weights of a logistic regression with a ridge, by damped Newton steps.

    Args:
        rows: one a row; a constant is a column like any other.
        right: 1 or 0 for each row.
        ridge: how strongly each weight is held to its centre, or all of them.
        centre: what weights are held to; zeros if left out.
        least: no weight goes below this; minus infinity leaves it free.
        start: where to begin; the centre if left out.
        curved_rows: take the curvature from at most so many rows, evenly spaced: steps need not be exact, the gradient
            is.
        enough: a step that lowers the loss by less is the last.
    """
    middle: FloatArray = np.zeros(rows.shape[1]) if centre is None else centre
    lowest_allowed = np.full(rows.shape[1], -np.inf) if least is None else least
    penalty: FloatArray = np.broadcast_to(np.asarray(ridge, dtype=np.float64), middle.shape)

    def loss(at: FloatArray) -> float:
        scores = rows @ at
        return float((np.logaddexp(0.0, scores) - right * scores).sum() + 0.5 * (penalty * (at - middle) ** 2).sum())

    weights: FloatArray = np.array(middle if start is None else start, dtype=np.float64)
    value = loss(weights)
    every = 1 if curved_rows is None else -(-len(rows) // curved_rows)
    some = rows[::every]
    for _ in range(_NEWTON_STEPS):
        expected = probabilities(rows @ weights)
        slope = rows.T @ (right - expected) - penalty * (weights - middle)
        spread = np.maximum((expected * (1 - expected))[::every], _MIN_SPREAD)
        curvature = (some.T * (spread * (len(rows) / max(1, len(some))))) @ some
        curvature[np.diag_indices(len(curvature))] += penalty
        free = (weights > lowest_allowed) | (slope > 0)
        step = np.zeros_like(weights)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        for halving in range(_HALVINGS):
            moved: FloatArray = np.maximum(weights + step * 0.5**halving, lowest_allowed)
            reached = loss(moved)
            if reached <= value:
                break
        else:
            return weights
        gain, weights, value = value - reached, moved, reached
        if gain < enough:
            break
    return weights


class Adam:
    """Adam as published, with weights drawn towards zero apart from the slope where ``decay`` is not 0 (AdamW)."""

    def __init__(self, decay: float = 0.0, *, memory: float = 0.9, square_memory: float = 0.999) -> None:
        """Begin at step 0."""
        self._decay, self._memory, self._square_memory = decay, memory, square_memory
        self._first: list[npt.NDArray[np.floating]] = []
        self._square: list[npt.NDArray[np.floating]] = []
        self._step = 0

    def walk(
        self,
        arrays: Sequence[npt.NDArray[np.floating]],
        slopes: Sequence[npt.NDArray[np.floating]],
        rate: float,
    ) -> None:
        """Move the arrays one step further down, in place."""
        if not self._first:
            self._first = [np.zeros_like(slope) for slope in slopes]
            self._square = [np.zeros_like(slope) for slope in slopes]
        self._step += 1
        shrunk = np.sqrt(1 - self._square_memory**self._step)
        length = rate / (1 - self._memory**self._step)
        for place, (item, slope) in enumerate(zip(arrays, slopes, strict=True)):
            np.multiply(item, 1 - rate * self._decay, out=item)
            np.subtract(item, self._size(place, slope, shrunk) * length, out=item, casting="same_kind")

    def _size(self, place: int, slope: npt.NDArray[np.floating], shrunk: float) -> npt.NDArray[np.floating]:
        first, square = self._first[place], self._square[place]
        first *= self._memory
        first += (1 - self._memory) * slope
        square *= self._square_memory
        square += (1 - self._square_memory) * (slope * slope)
        size: npt.NDArray[np.floating] = np.sqrt(square)
        size /= shrunk
        size += 1e-8
        np.divide(first, size, out=size)
        return size
