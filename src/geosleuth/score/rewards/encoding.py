"""Texts as vectors: the one thing that is asked of an encoder, and how like two texts are by it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from geosleuth.geo import FloatArray


class Encoder(Protocol):
    """Whoever turns texts into vectors. ``name`` says which one it is: thresholds belong to it."""

    @property
    def name(self) -> str:
        """What figures and thresholds are filed under."""
        ...

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """One row per text; rows need not have length 1."""
        ...


def cosines(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """How like the texts of each pair are, -1 to 1; each text is encoded once, all of them in one go.

    A vector of length 0, or one that is not finite, is like nothing: 0.

    Raises:
        ValueError: the encoder gave back another number of rows than it got texts.
    """
    if not pairs:
        return np.zeros(0)
    rows = {text: row for row, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    vectors = np.asarray(encoder.encode(list(rows)), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(rows):
        raise ValueError(f"{encoder.name} gave {vectors.shape} for {len(rows)} texts; one row each is expected")
    vectors = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    first, second = (units[[rows[pair[side]] for pair in pairs]] for side in (0, 1))
    return np.asarray(np.clip((first * second).sum(axis=1), -1.0, 1.0))
