"""The loss of smileGeo's network, its slope, and Adam, in numpy."""

import math
from dataclasses import dataclass

import numpy as np

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


class Adam:
    """Adam as published, with weights drawn towards zero apart from the slope where ``decay`` is not 0."""

    def __init__(self, rate: float, decay: float = 0.0) -> None:
        self._rate, self._decay = rate, decay
        self._first: list[Array] = []
        self._second: list[Array] = []
        self._step = 0

    def moved(self, parameters: Parameters, slopes: tuple[Array, ...]) -> Parameters:
        """The parameters one step further down; biases are not drawn towards zero."""
        if not self._first:
            self._first = [np.zeros_like(array) for array in slopes]
            self._second = [np.zeros_like(array) for array in slopes]
        self._step += 1
        rate, grown = self._rate / (1 - 0.9**self._step), math.sqrt(1 - 0.999**self._step)
        moved = []
        for place, (array, by) in enumerate(zip(parameters.arrays(), slopes, strict=True)):
            self._first[place] = 0.9 * self._first[place] + 0.1 * by
            self._second[place] = 0.999 * self._second[place] + 0.001 * by * by
            kept = array * (1 - self._rate * self._decay) if array.ndim > 1 else array
            step = rate * self._first[place] / (np.sqrt(self._second[place]) / grown + 1e-8)
            moved.append((kept - step).astype(array.dtype))
        return Parameters(*moved)
