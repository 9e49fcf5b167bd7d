"""Logistic regression with a ridge, in numpy: many yes-or-no questions about the same rows."""

import numpy as np

from geosleuth.geo import FloatArray

_STEPS = 40
_HALVINGS = 20
_ENOUGH = 1e-4  # of the loss, per row: far below what a probability shows
_MOST_CURVED_ROWS = 2500


def probabilities(scores: FloatArray) -> FloatArray:
    """From log-odds."""
    odds: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0)))
    return odds


def fit(rows: FloatArray, right: FloatArray, ridge: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """The weights of least ridged loss, by damped Newton steps.

    The curvature is taken from at most 2,500 rows, evenly spaced: steps need not be exact, the gradient is.

    Args:
        rows: one a row, the first column constant.
        right: 1 or 0 for each row.
        ridge: the penalty of each column.
        start: weights to begin with.
    """
    if start is None:
        start = np.zeros(rows.shape[1])
        share = (right.sum() + 0.5) / (len(right) + 1.0)
        start[0] = np.log(share / (1 - share))
    weights, loss = start, _loss(rows, right, ridge, start)
    for _ in range(_STEPS):
        expected = probabilities(rows @ weights)
        slope = rows.T @ (right - expected) - ridge * weights
        step: FloatArray = np.linalg.solve(_curvature(rows, expected, ridge), slope).astype(np.float64)
        weights, gain, loss = _walk(rows, right, ridge, weights, step, loss)
        if gain < _ENOUGH * max(1.0, len(right) / 1000):
            break
    return weights


def _curvature(rows: FloatArray, expected: FloatArray, ridge: FloatArray) -> FloatArray:
    every = -(-len(rows) // _MOST_CURVED_ROWS)
    some, spread = rows[::every], np.maximum((expected * (1 - expected))[::every], 1e-6)
    curved: FloatArray = (some.T * (spread * (len(rows) / len(some)))) @ some
    curved[np.diag_indices(len(curved))] += ridge
    return curved


def _walk(
    rows: FloatArray, right: FloatArray, ridge: FloatArray, weights: FloatArray, step: FloatArray, loss: float
) -> tuple[FloatArray, float, float]:
    for halving in range(_HALVINGS):
        moved = weights + step * 0.5**halving
        reached = _loss(rows, right, ridge, moved)
        if reached <= loss:
            return moved, loss - reached, reached
    return weights, 0.0, loss


def _loss(rows: FloatArray, right: FloatArray, ridge: FloatArray, weights: FloatArray) -> float:
    scores = rows @ weights
    return float((np.logaddexp(0.0, scores) - right * scores).sum() + 0.5 * (ridge * weights**2).sum())
