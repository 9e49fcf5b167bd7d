"""Familiarity of a picture: whether the collection that was learned from has anything like it."""

from dataclasses import dataclass

import numpy as np

from geosleuth.geo import FloatArray

from .cells import Mask
from .experts import Rows
from .visual_prior import Reach

_NEIGHBOURS = 5
_ROWS_AT_ONCE = 512
_USUAL = 0.98
_FADES_OVER = 0.4
_ITSELF = 0.9995

QUANTILES = np.concatenate([np.linspace(0, 0.98, 50), [0.99, 0.995, 1.0]])


@dataclass(frozen=True, slots=True)
class Unlikeness:
    """Distance of pictures from a collection, an entry each.

    Attributes:
        turned: one less the mean cosine to the five nearest: things that are not in the collection.
        away: the mean distance to the five nearest: too much or too little of everything.
        alike: the greatest cosine to any of its photos.
    """

    turned: FloatArray
    away: FloatArray
    alike: FloatArray

    def is_itself(self) -> Mask:
        """Return whether each picture is in the collection."""
        return self.alike >= _ITSELF


class Collection:
    """Scaled features of photos, to hold others against."""

    def __init__(self, rows: Rows) -> None:
        """Remember the photos, a row each."""
        self._unit, self._lengths = _unit(rows)

    def unlikeness(self, rows: Rows) -> Unlikeness:
        """Return how unlike these photos each row is."""
        turned, away, alike = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows))
        neighbours = min(_NEIGHBOURS, len(self._unit))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            unit, lengths = _unit(rows[part])
            cosines = unit @ self._unit.T
            squared = lengths[:, None] ** 2 + self._lengths**2 - 2 * cosines * lengths[:, None] * self._lengths
            nearest = -np.partition(-cosines, neighbours - 1, axis=1)[:, :neighbours]
            closest = np.partition(squared, neighbours - 1, axis=1)[:, :neighbours]
            turned[part], alike[part] = 1 - nearest.mean(axis=1), nearest.max(axis=1)
            away[part] = np.sqrt(np.maximum(closest, 0)).mean(axis=1)
        return Unlikeness(turned, away, alike)


@dataclass(frozen=True, slots=True)
class Familiarity:
    """Unlikeness of a collection's own photos to the rest, each compared with other places than its own.

    ``turned`` and ``away`` hold the values at `QUANTILES`. Pictures no more unlike than 98 of 100 are answered in full;
    beyond that the answer fades out, over two fifths of the way from the middle to there. ``missing`` is the
    probability that a photo like these is from a country of which the collection holds none.
    """

    turned: FloatArray
    away: FloatArray
    missing: float

    def reaches(self, found: Unlikeness) -> list[Reach]:
        """Return how far each picture can be trusted."""
        more_unlike = np.minimum(
            1 - np.interp(found.turned, self.turned, QUANTILES), 1 - np.interp(found.away, self.away, QUANTILES)
        )
        trust = np.minimum(_fade(found.turned, self.turned), _fade(found.away, self.away)) * (1 - self.missing)
        return [
            Reach(1.0, 0.0, "This very picture is in the collection; it is no evidence for itself.")
            if itself
            else Reach(float(familiarity), float(share), _describe_familiarity(float(familiarity), float(share)))
            for itself, familiarity, share in zip(found.is_itself(), more_unlike, trust, strict=True)
        ]


def learn_familiarity(rows: Rows, held_out: list[tuple[Mask, Mask]], missing: float) -> Familiarity:
    """Hold each part of the collection against those learned from while it was held out."""
    found = [Collection(rows[used]).unlikeness(rows[out]) for used, out in held_out]
    turned, away = (
        np.maximum.accumulate(np.quantile(np.concatenate(values), QUANTILES))
        for values in ([item.turned for item in found], [item.away for item in found])
    )
    return Familiarity(turned, away, missing)


def _fade(values: FloatArray, known: FloatArray) -> FloatArray:
    usual, middle = float(np.interp(_USUAL, QUANTILES, known)), float(np.interp(0.5, QUANTILES, known))
    return np.clip(1 - (values - usual) / max(_FADES_OVER * (usual - middle), 1e-6), 0, 1)


def _unit(rows: Rows) -> tuple[Rows, Rows]:
    lengths: Rows = np.maximum(np.linalg.norm(rows, axis=1), np.finfo(np.float32).tiny)
    return rows / lengths[:, None], lengths


def _describe_familiarity(familiarity: float, trust: float) -> str:
    if trust <= 0:
        return "Nothing in the collection looks like this picture: it says nothing about where it was taken."
    if familiarity <= 0.01:
        return "Hardly anything in the collection looks like this picture: take it with great caution."
    if familiarity <= 0.1:
        return "Little in the collection looks like this picture: take it with caution."
    return "Such pictures are common in the collection."
