"""What a prior must beat: the nearest neighbour, and a plain linear model over the same features."""

import numpy as np
import numpy.typing as npt

from geosleuth.fitting import log_shares
from geosleuth.geo import medoid

from .linear import logistic
from .spreading import Guesses, Places

_ROWS_AT_ONCE = 512
_MEDOID_OF = 1000


def nearest_neighbour(known: npt.NDArray[np.floating], places: Places, asked: npt.NDArray[np.floating]) -> Guesses:
    """The place of the photo with the greatest cosine; its country has the whole share, the next best follow."""
    rows, wanted = np.asarray(known, dtype=np.float32), np.asarray(asked, dtype=np.float32)
    codes, country = places.codes
    shares, best = np.zeros((len(wanted), len(codes))), np.zeros(len(wanted), dtype=np.int64)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        cosines = wanted[part] @ rows.T
        best[part] = cosines.argmax(axis=1)
        for code in range(len(codes)):
            # Ranks countries by their most alike photo; the sharpness leaves the first with all of it.
            shares[part, code] = cosines[:, country == code].max(axis=1, initial=-1.0)
    sharp = np.exp(1e4 * (shares - shares.max(axis=1, keepdims=True)))
    ranked = sharp / sharp.sum(axis=1, keepdims=True) + 1e-9 * shares
    return Guesses(codes, ranked, places.lats[best], places.lons[best], np.full(len(wanted), np.nan))


def plain_linear(known: npt.NDArray[np.floating], places: Places, asked: npt.NDArray[np.floating]) -> Guesses:
    """Multinomial logistic regression over the countries, on standardised features; the middle photo as the point."""
    given = np.asarray(known, dtype=np.float32)
    middle, spread = given.mean(axis=0), given.std(axis=0) + np.float32(1e-6)
    rows, wanted = (given - middle) / spread, (np.asarray(asked, dtype=np.float32) - middle) / spread
    codes, country = places.codes
    weights, offsets = logistic(rows, country, len(codes))
    shares = np.exp(log_shares(wanted @ weights + offsets)).astype(np.float64)
    middles = np.array([_middle(places, np.flatnonzero(country == code)) for code in range(len(codes))])
    best = middles[shares.argmax(axis=1)]
    return Guesses(codes, shares, places.lats[best], places.lons[best], np.full(len(wanted), np.nan))


def _middle(places: Places, inside: npt.NDArray[np.int64]) -> int:
    some = inside[:: max(1, len(inside) // _MEDOID_OF)]
    return int(some[medoid(places.lats[some], places.lons[some])])
