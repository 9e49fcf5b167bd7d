"""Elect a place among all that an image's answers point at, name, or that images are often taken at.

Candidates of an image are the agents' points, towns that their replies name, and known places: where at least
`MIN_TRUTHS` training images were taken. Those within 25 km of an earlier one are the same. A conditional logistic
regression, with "none of them" as one more choice, says how likely each is right. Its columns are who points there or
near there, who names it, who agrees, how far the agents that point there are to be trusted, how many training images
were taken around it, and which known place it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from geosleuth.geo import EARTH_RADIUS_KM, FloatArray
from geosleuth.support.fitting import lowest, probabilities

from .features import PlaceRecord
from .panel import MAX_NAMED, BoolArray, IntArray, Panel

SAME_KM = 25.0
# Distance from a town's centre within which a candidate counts as named, or as a known place: towns are large.
NAMED_KM = 40.0
REACHES_KM = (40.0, 200.0, 500.0, 1000.0, 1500.0)
RECORD_KM = (25.0, 200.0)
MIN_TRUTHS = 8
MAX_KNOWN = 64
RIDGE = 5.0
_KNOWN_SCALE = 1.6  # known places are penalised as with a ridge of 2
_NOBODY = -6.0  # log-odds where no agent points
_FAR_KM = 20_000.0
_FALLS_KM = 500.0
_STEPS = 150
_PER_AGENT = 3 + len(REACHES_KM)
_SHARED = 10 + len(RECORD_KM)
AGENT, NAMED, KNOWN = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """All candidates, image by slot: the agents' own, the towns that each names, the known places.

    Attributes:
        vectors: points as unit vectors.
        kind: AGENT, NAMED or KNOWN; -1 where a slot is empty or the same as an earlier one.
        near: image, slot, agent: who points within 25 km.
        columns: image, slot, column.
    """

    vectors: FloatArray
    kind: IntArray
    near: BoolArray
    columns: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Learned weights, scales and places for electing a place.

    Attributes:
        known: known places as unit vectors, the commonest first.
        weights: one a column, and the last of "none of them".
        nearer: by distance: of images taken within 25 km of a known place, the share within the distance.
        farther: by distance: of answers beyond 25 km, the share within the distance.
    """

    known: FloatArray
    weights: FloatArray
    nearer: FloatArray
    farther: FloatArray

    def elect(self, panel: Panel, record: PlaceRecord, odds: FloatArray) -> "Elected":
        """Return the likeliest place of each image; ``odds`` are log-odds that each agent is right within 25 km."""
        options = build_options(panel, self.known, record, odds)
        slot, chance = elect(options, self.weights)
        rows = np.arange(len(panel))
        lat, lon = convert_vectors(options.vectors[rows, slot])
        near = options.near[rows, slot] & (slot >= 0)[:, None]
        chance = chance[:, None]
        within = np.where(self.nearer >= 1.0, chance + (1 - chance) * self.farther, chance * self.nearer)
        # Where no agent gave a point, nothing is put in its place.
        new = panel.has_point.any(axis=1) & ~near.any(axis=1)
        return Elected(np.where(new, lat, np.nan), np.where(new, lon, np.nan), near, within)

    def to_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return {name: getattr(self, name).tolist() for name in ("known", "weights", "nearer", "farther")}

    @classmethod
    def from_json(cls, table: Mapping[str, Any], agents: int, distances: int) -> "Places":
        """Restore it.

        Raises:
            ValueError, TypeError, KeyError: it is damaged.
        """
        known = np.asarray(table["known"], dtype=np.float64).reshape(-1, 3)
        weights, nearer, farther = (np.asarray(table[name], np.float64) for name in ("weights", "nearer", "farther"))
        if weights.shape != (column_count(agents, len(known)) + 1,) or not nearer.shape == farther.shape == (
            distances,
        ):
            raise ValueError("the places have another number of columns")
        if not all(np.isfinite(item).all() for item in (known, weights, nearer, farther)):
            raise ValueError("the places hold what is no number")
        return cls(known, weights, nearer, farther)


@dataclass(frozen=True, slots=True, eq=False)
class Elected:
    """The elected place of each image.

    Attributes:
        lat, lon: its point where no agent points within 25 km of it; else NaN.
        near: image by agent: who points within 25 km of it.
        within: image by distance: how likely the place itself is right.
    """

    lat: FloatArray
    lon: FloatArray
    near: BoolArray
    within: FloatArray


def unit_vectors(lat: FloatArray, lon: FloatArray) -> FloatArray:
    """Return points as unit vectors."""
    up, around = np.radians(lat), np.radians(lon)
    vectors: FloatArray = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1)
    return vectors


def convert_vectors(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return latitudes and longitudes of unit vectors."""
    return np.degrees(np.arcsin(np.clip(vectors[..., 2], -1, 1))), np.degrees(
        np.arctan2(vectors[..., 1], vectors[..., 0])
    )


def column_count(agents: int, known: int) -> int:
    """Return how many columns a candidate has."""
    return agents * _PER_AGENT + _SHARED + known


def find_common_places(truths: FloatArray) -> FloatArray:
    """Return places of many images, the commonest first: the middle of all within 25 km, which then count no more."""
    near = is_within(truths @ truths.T, SAME_KM)
    left = np.ones(len(truths), dtype=np.bool_)
    found: list[FloatArray] = []
    while left.any() and len(found) < MAX_KNOWN:
        counts = (near & left).sum(axis=1) * left
        best = int(counts.argmax())
        if counts[best] < MIN_TRUTHS:
            break
        middle = truths[near[best] & left].mean(axis=0)
        found.append(middle / np.linalg.norm(middle))
        left &= ~near[best]
    return np.array(found).reshape(-1, 3)


def build_options(panel: Panel, known: FloatArray, record: PlaceRecord, odds: FloatArray) -> Options:
    """Return the candidates of every image with their columns."""
    size, count = panel.lat.shape
    own = unit_vectors(panel.lat, panel.lon)
    named = unit_vectors(panel.named[..., 0], panel.named[..., 1]).reshape(size, -1, 3)
    vectors = np.concatenate([own, named, np.broadcast_to(known, (size, *known.shape))], axis=1)
    kind = np.concatenate([np.full(count, AGENT), np.full(named.shape[1], NAMED), np.full(len(known), KNOWN)])
    there = ~np.isnan(vectors[:, :, 0])
    vectors = np.nan_to_num(vectors, nan=0.0)
    cosines = np.einsum("nik,njk->nij", vectors, vectors)
    same = is_within(cosines, SAME_KM) & there[:, :, None] & there[:, None, :]
    kept = there.copy()
    for slot in range(1, vectors.shape[1]):
        kept[:, slot] &= ~(same[:, slot, :slot] & kept[:, :slot]).any(axis=1)
    kinds = np.where(kept, kind, -1)
    near = is_within(cosines[:, :, :count], SAME_KM) & panel.has_point[:, None, :]
    mentioned = np.zeros((*kinds.shape, count), dtype=np.bool_)
    for agent in range(count):
        first = count + agent * MAX_NAMED
        given = ~np.isnan(panel.named[:, agent, :, 0])[:, None, :]
        mentioned[:, :, agent] = (is_within(cosines[:, :, first : first + MAX_NAMED], NAMED_KM) & given).any(axis=2)
    km = np.where(
        panel.has_point[:, None, :], np.arccos(np.clip(cosines[:, :, :count], -1, 1)) * EARTH_RADIUS_KM, _FAR_KM
    )
    agents, names = near.sum(axis=2), mentioned.sum(axis=2)
    parts = [near, *(km <= reach for reach in REACHES_KM), mentioned, mentioned & ~near]
    shared = [agents >= 2, agents == count, names >= 2, names == count, np.exp(-km.mean(axis=2) / _FALLS_KM),
              *(kinds == item for item in (AGENT, NAMED, KNOWN)),
              np.where(near, odds[:, None, :], _NOBODY).max(axis=2),
              np.where(near, probabilities(odds)[:, None, :], 0.0).sum(axis=2)]  # fmt: skip
    columns = [np.asarray(part, dtype=np.float64) for part in parts]
    columns.append(np.stack([np.asarray(item, dtype=np.float64) for item in shared], axis=2))
    columns += [_truths_around(vectors, kinds, record), _which_known(vectors, known)]
    return Options(vectors, kinds, near, np.concatenate(columns, axis=2))


def _truths_around(vectors: FloatArray, kinds: IntArray, record: PlaceRecord) -> FloatArray:
    found = np.zeros((*kinds.shape, len(RECORD_KM)))
    there = kinds >= 0
    for at, km in enumerate(RECORD_KM):
        found[..., at][there] = record.truths_around(vectors[there], km)
    return found


def _which_known(vectors: FloatArray, known: FloatArray) -> FloatArray:
    """Return one column per known place, set where it is a candidate's nearest within reach."""
    if not len(known):
        return np.zeros((*vectors.shape[:2], 0))
    cosines = vectors @ known.T
    nearest = is_within(cosines, NAMED_KM) & (cosines == cosines.max(axis=2, keepdims=True))
    columns: FloatArray = nearest * _KNOWN_SCALE
    return columns


def fit_places(options: Options, right: BoolArray, ridge: float = RIDGE) -> FloatArray:
    """Return the weights: one a column, and the last of "none of them".

    Where images were taken never speaks against a place: such a column is left out, since a point where nothing was
    learned would gain by it.

    Args:
        options: the candidates.
        right: image by slot: which lie within 25 km of the truth.
        ridge: the penalty of every weight but the last.
    """
    weights = _fit_place_weights(options, options.columns, right, ridge)
    first = options.near.shape[2] * _PER_AGENT + _SHARED - len(RECORD_KM)
    counted = np.arange(first, first + len(RECORD_KM))
    against = counted[weights[counted] < 0]
    if len(against):
        columns = options.columns.copy()
        columns[:, :, against] = 0.0
        weights = _fit_place_weights(options, columns, right, ridge)
    return weights


def _fit_place_weights(options: Options, columns: FloatArray, right: BoolArray, ridge: float) -> FloatArray:
    there = options.kind >= 0
    hits = right & there
    missed = ~hits.any(axis=1)

    def objective(weights: npt.NDArray[np.floating]) -> tuple[float, npt.NDArray[np.floating]]:
        scores = np.where(there, columns @ weights[:-1], -np.inf)
        top = np.maximum(scores.max(axis=1), weights[-1])
        odds, none = np.exp(scores - top[:, None]), np.exp(weights[-1] - top)
        total = odds.sum(axis=1) + none
        good = np.where(hits, odds, 0.0)
        wanted = np.maximum(np.where(missed, none, good.sum(axis=1)), np.finfo(np.float64).tiny)
        value = float((np.log(total) - np.log(wanted)).sum()) + 0.5 * ridge * float(weights[:-1] @ weights[:-1])
        slope = np.einsum("ns,nsk->k", odds / total[:, None] - good / wanted[:, None], columns)
        return value, np.append(slope + ridge * weights[:-1], float((none / total - missed).sum()))

    return lowest(objective, np.zeros(columns.shape[2] + 1), _STEPS).astype(np.float64)


def elect(options: Options, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the likeliest slot of each image, and how likely it is right; -1 and 0 where there is no candidate."""
    some = (options.kind >= 0).any(axis=1)
    scores = np.where(options.kind >= 0, options.columns @ weights[:-1], -np.inf)
    best = scores.argmax(axis=1)
    top = np.maximum(scores.max(axis=1), weights[-1])
    odds = np.exp(scores - top[:, None])
    chance = odds[np.arange(len(best)), best] / (odds.sum(axis=1) + np.exp(weights[-1] - top))
    return np.where(some, best, -1).astype(np.int64), np.where(some, chance, 0.0)


def is_within(cosines: FloatArray, km: float) -> BoolArray:
    """Return which pairs of unit vectors with these products lie within a distance of each other."""
    return np.asarray(cosines >= np.cos(km / EARTH_RADIUS_KM), dtype=np.bool_)
