"""How much each expert's word counts: weights found on photos of places that the experts had not seen."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.fitting import log_shares, lowest
from geosleuth.geo import FloatArray

from .areas import Areas, Mask
from .model import NEAR_KM
from .scaling import Rows
from .spreading import Ints

_ROOM = 0.02  # the share kept for what the experts can't know; it keeps one odd photo from deciding anything
_EDGE_KM = 100.0
_NEGATIVE_COST = 3.0
_STEPS = 100
_UNKNOWN = np.float32(-30.0)
_LEAST_FACTOR, _MOST_FACTOR = 0.4, 2.5
_HALVINGS = 14


def pooled(weights: FloatArray, opinions: list[Rows]) -> Rows:
    """The shares of areas when the experts' logarithms are added up with these weights.

    The first of them goes by the number of photos alone, and always keeps a small share: nobody is ever certain.
    """
    total = sum(np.float32(weight) * opinion for weight, opinion in zip(weights, opinions, strict=True))
    shares: Rows = np.exp(log_shares(np.asarray(total, dtype=np.float32)))
    shares *= 1 - _ROOM
    shares += np.float32(_ROOM) * np.exp(opinions[0])
    return shares


def without_unseen(opinion: Rows, known: Mask) -> Rows:
    """An expert's logarithms where nothing goes to areas that held no photo to learn from."""
    return log_shares(np.where(known, opinion, _UNKNOWN))


def nearness(points: npt.NDArray[np.float64], areas: Areas) -> Rows:
    """Whether each area lies within `NEAR_KM` of points on the unit sphere, with a soft edge."""
    return (1 / (1 + np.exp((areas.distances_km(points) - NEAR_KM) / _EDGE_KM))).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Pool:
    """How much each opinion counts, and how unlikely the held-out photos are under the sum: the lower the better."""

    weights: FloatArray
    loss: float


def learn_weights(opinions: list[Rows], country: Ints, near: Rows, areas: Areas) -> Pool:
    """Weights under which the held-out photos are likeliest, by their country and by what lies near them.

    Args:
        opinions: the experts' logarithms, a row a held-out photo.
        country: the number of each photo's country.
        near: see `nearness`.
        areas: the areas.
    """
    stack = np.stack(opinions, axis=2)
    wanted = [(country[:, None] == areas.country).astype(np.float32), near]
    flat = [np.full(len(country), 1 / len(areas.codes), dtype=np.float32), near.mean(axis=1)]

    def objective(at: npt.NDArray[np.floating]) -> tuple[float, npt.NDArray[np.floating]]:
        shares = np.exp(log_shares((stack @ at.astype(np.float32)).astype(np.float32)))
        value, pull = 0.0, np.zeros_like(shares)
        for mask, even in zip(wanted, flat, strict=True):
            held = shares * mask
            mass = held.sum(axis=1)
            likely = (1 - _ROOM) * mass + _ROOM * even
            value -= 0.5 * float(np.log(likely).mean())
            pull -= 0.5 * ((1 - _ROOM) / likely)[:, None] * (held - mass[:, None] * shares)
        below = np.minimum(at, 0.0)
        value += _NEGATIVE_COST * float((below**2).sum()) + 1e-4 * float((at**2).sum())
        slope = np.einsum("na,nak->k", pull, stack, optimize=True) / len(country)
        return value, slope.astype(np.float64) + 2 * _NEGATIVE_COST * below + 2e-4 * at

    start = np.full(len(opinions), 1 / max(1, len(opinions) - 1))
    weights = np.asarray(lowest(objective, start, _STEPS), dtype=np.float64)
    return Pool(weights, objective(weights)[0])


def tempered(weights: FloatArray, opinions: list[Rows], country: Ints, areas: Areas, missing: float) -> FloatArray:
    """The weights, all times one factor, under which the likeliest country is right as often as is stated on average.

    The likeliest weights leave the prior too modest: photos that nobody could know count for more than the many that
    are right.

    Args:
        weights: see `learn_weights`.
        opinions: the experts' logarithms, a row a held-out photo.
        country: the number of each photo's country.
        areas: the areas.
        missing: the probability that a photo is from a country that is not among them.
    """
    low, high = _LEAST_FACTOR, _MOST_FACTOR
    for _ in range(_HALVINGS):
        factor = (low + high) / 2
        shares = areas.by_country(pooled(factor * weights, opinions))
        stated = (1 - missing) * float(shares.max(axis=1).mean())
        low, high = (factor, high) if stated < float((shares.argmax(axis=1) == country).mean()) else (low, factor)
    return (low + high) / 2 * weights
