"""From a picture's features to a row as wide as the members' embeddings."""

from dataclasses import dataclass

import numpy as np

from .forward import Array


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Features less their mean, seen along the directions in which the pictures learned from differ most.

    It is fitted once and then fixed, like the encoder before it. Columns beyond what the pictures can tell are zero.
    """

    mean: Array
    basis: Array

    @classmethod
    def fitted(cls, features: Array, width: int) -> "Projection":
        """The directions in which these pictures differ most.

        All are scaled alike: those in which pictures hardly differ are noise, and are not blown up.
        """
        wide = np.asarray(features, dtype=np.float64)
        mean = wide.mean(axis=0)
        _, sizes, directions = np.linalg.svd(wide - mean, full_matrices=False)
        deviations = sizes / np.sqrt(max(1, len(wide) - 1))
        if not deviations.size or deviations[0] == 0:
            return cls(mean.astype(np.float32), np.zeros((wide.shape[1], width), dtype=np.float32))
        kept = min(width, len(deviations))
        basis = np.zeros((wide.shape[1], width))
        basis[:, :kept] = directions[:kept].T / deviations[0]
        return cls(mean.astype(np.float32), basis.astype(np.float32))

    @property
    def width(self) -> int:
        """How wide an encoded picture is."""
        return int(self.basis.shape[1])

    def encoded(self, features: Array) -> Array:
        """A row a picture."""
        seen: Array = (np.asarray(features, dtype=np.float32) - self.mean) @ self.basis
        return seen
