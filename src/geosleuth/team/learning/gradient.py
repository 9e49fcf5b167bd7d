"""The loss of smileGeo's network, its slope, and a step down."""

import math
from dataclasses import dataclass

import numpy as np

from geosleuth.fitting import Adam
from geosleuth.team.network import Parameters, Prediction, forward
from geosleuth.team.network.forward import LEAK, Array


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the network is to say, a row a picture; links' rows add up to 1 and their diagonal is 0."""

    labels: Array
    distances: Array
    links: Array

    def rows(self, chosen: Array) -> "Targets":
        """Some of the pictures."""
        return Targets(self.labels[chosen], self.distances[chosen], self.links[chosen])


def loss(found: Prediction, targets: Targets, distance_weight: float) -> float:
    """mean(Lst D) + MSE(Lst) + MSE(A), all means over members and pictures; links without their diagonal.

    As printed, the distance term has no slope: it does not depend on what the network says. Weighing each distance by
    the member's election probability makes electing those who are far off dear.
    """
    count = found.election.shape[1]
    far: float = (found.election * targets.distances).mean().item()
    elected: float = ((found.election - targets.labels) ** 2).mean().item()
    off: float = ((found.links - targets.links) ** 2).sum().item()
    total: float = distance_weight * far + elected + off / (len(found.links) * count * max(1, count - 1))
    return total


def slope(
    parameters: Parameters, encoded: Array, targets: Targets, distance_weight: float
) -> tuple[float, tuple[Array, ...]]:
    """The loss, and its slope for every parameter in the order of `Parameters.names`."""
    found = forward(parameters, encoded)
    pictures, count = found.election.shape
    each = 1.0 / (pictures * count)
    by_election = each * (distance_weight * targets.distances + 2.0 * (found.election - targets.labels))
    by_logit = by_election * found.election * (1.0 - found.election)
    bent = np.where(found.hidden > 0, 1.0, LEAK).astype(found.hidden.dtype)
    flat = (found.hidden * bent).reshape(pictures, -1)
    by_hidden = (by_logit @ parameters.out_weight.T).reshape(found.hidden.shape) * bent
    by_mixed = by_hidden @ parameters.hidden_weight.T
    by_attention = by_mixed @ found.fea.transpose(0, 2, 1)
    by_fea = found.attention.transpose(0, 2, 1) @ by_mixed
    by_attention += _through_links(found, 2.0 * each / max(1, count - 1) * (found.links - targets.links))
    by_scores = found.attention * (by_attention - (by_attention * found.attention).sum(axis=2, keepdims=True))
    by_fea += (by_scores + by_scores.transpose(0, 2, 1)) @ found.fea / math.sqrt(found.fea.shape[2])
    by_summed = by_fea @ parameters.fea_weight.T
    slopes: tuple[Array, ...] = (
        by_summed.sum(axis=0),
        np.einsum("bnd,bnk->dk", found.summed, by_fea, optimize=True),
        by_fea.sum(axis=(0, 1)),
        np.einsum("bnk,bnh->kh", found.mixed, by_hidden, optimize=True),
        flat.T @ by_logit,
        by_logit.sum(axis=0),
    )
    return loss(found, targets, distance_weight), slopes


def _through_links(found: Prediction, by_links: Array) -> Array:
    """From the slope for the rows without diagonal to that for the whole attention."""
    off = 1 - np.eye(found.links.shape[1], dtype=found.links.dtype)
    by_links = by_links * off
    sums = np.maximum((found.attention * off).sum(axis=2, keepdims=True), np.finfo(found.links.dtype).tiny)
    through: Array = off * (by_links - (by_links * found.links).sum(axis=2, keepdims=True)) / sums
    return through


def moved(adam: Adam, parameters: Parameters, slopes: tuple[Array, ...], rate: float) -> Parameters:
    """The parameters one step further down; biases are not drawn towards zero."""
    arrays = [array.copy() for array in parameters.arrays()]
    adam.walk(arrays, slopes, rate, spared=lambda array: array.ndim == 1)
    return Parameters(*arrays)
