"""Logistic regression with a ridge: many yes-or-no questions about the same rows."""

import numpy as np

from geosleuth.fitting import logistic
from geosleuth.geo import FloatArray

_ENOUGH = 1e-4  # of the loss, per row: far below what a probability shows
_MOST_CURVED_ROWS = 2500


def fit(rows: FloatArray, right: FloatArray, ridge: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """The weights of least ridged loss.

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
    enough = _ENOUGH * max(1.0, len(right) / 1000)
    return logistic(rows, right, ridge, start=start, curved_rows=_MOST_CURVED_ROWS, enough=enough)
