"""Features made comparable: rooted, centred, each of about the same spread; and turned to their main directions."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.float32]

LEAST_SPREAD = 0.1
"""Features that hardly vary are not blown up beyond this share of the usual spread."""

MAIN_DIRECTIONS = 512


@dataclass(frozen=True, slots=True)
class Scaling:
    """How features become the numbers that are learned from.

    The root takes the weight off the few features that are very large in a picture; what a network finds in it is
    counted more by whether than by how much. ``directions`` turns scaled rows to their main directions, unscaled.
    """

    middle: Rows
    spread: Rows
    directions: Rows

    def scaled(self, features: npt.NDArray[np.floating]) -> Rows:
        """Rows with a spread of about 1 in each feature."""
        return (_rooted(features) - self.middle) / self.spread

    def turned(self, scaled: Rows) -> Rows:
        """Scaled rows by their main directions."""
        return scaled @ self.directions


def scaling_of(features: npt.NDArray[np.floating]) -> Scaling:
    """The scaling that fits these features."""
    rooted = _rooted(features)
    middle = rooted.mean(axis=0)
    spread = rooted.std(axis=0)
    spread = np.maximum(spread + LEAST_SPREAD * spread.mean(), np.finfo(np.float32).tiny)
    scaled = (rooted - middle) / spread
    spread *= np.sqrt(np.maximum((scaled**2).mean(), np.finfo(np.float32).tiny))
    scaled = (rooted - middle) / spread
    # The larger eigenvalues come last.
    _, vectors = np.linalg.eigh((scaled.T @ scaled).astype(np.float64))
    kept = min(MAIN_DIRECTIONS, scaled.shape[1])
    directions = np.ascontiguousarray(vectors[:, ::-1][:, :kept], dtype=np.float32)
    return Scaling(middle.astype(np.float32), spread.astype(np.float32), directions)


def _rooted(features: npt.NDArray[np.floating]) -> Rows:
    wide = np.asarray(features, dtype=np.float32)
    return np.sign(wide) * np.sqrt(np.abs(wide))
