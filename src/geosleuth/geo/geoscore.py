"""GeoScore: one number from 0 to 5000 for how near an answer came, as in the game GeoGuessr."""

from typing import overload

import numpy as np

from .point import FloatArray

GEOSCORE_MAX = 5000.0
"""Score of a perfect answer."""

GEOSCORE_DECAY = 10.0
"""Steepness; with the scale below, every 1805 km costs a factor of e."""

GEOSCORE_SCALE_KM = 18050.0
"""The scale d_max for the whole world (GeoAgent, section 5.1, equation 10)."""


@overload
def geoscore(distance_km: float) -> float: ...
@overload
def geoscore(distance_km: FloatArray) -> FloatArray: ...
def geoscore(distance_km: float | FloatArray) -> float | FloatArray:
    """5000 exp(-10 d / 18050) for one distance or an array of them; NaN stays NaN.

    An answer without a point has no distance. Whether it scores 0 or is left out is for the caller to decide and say.

    Raises:
        ValueError: a distance is negative; its score would pass 5000.
    """
    distances = np.asarray(distance_km, dtype=np.float64)
    if np.any(distances < 0):
        raise ValueError(f"a distance can't be negative: {np.nanmin(distances):g} km")
    scores: FloatArray = GEOSCORE_MAX * np.exp(-GEOSCORE_DECAY / GEOSCORE_SCALE_KM * distances)
    return scores if distances.ndim else float(scores)
