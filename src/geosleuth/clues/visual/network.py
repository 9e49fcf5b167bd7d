"""The second expert: small networks of one hidden layer, trained with dropout, their shares averaged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.fitting import Adam, log_shares

from .areas import Areas
from .experts import Seen, photo_counts
from .scaling import Rows
from .spreading import Ints

MOST_HIDDEN, FEWEST_HIDDEN = 512, 64
_PHOTOS_PER_HIDDEN = 8
NETWORKS = 2
_EPOCHS = 20
_USUAL_PHOTOS = 5000
_FEWEST_EPOCHS, _MOST_EPOCHS = 6, 40
_BATCH = 128
_HIGHEST_RATE = 2e-3
_DECAY = 2.0
_DROP_INPUT, _DROP_HIDDEN = 0.2, 0.5
_WARM_UP = 0.3
_SOFT_KM = 300.0
_COMPATRIOT = 5.0


@dataclass(frozen=True, slots=True)
class Layers:
    """One network."""

    inward: Rows
    inward_offsets: Rows
    outward: Rows
    outward_offsets: Rows

    def log_shares(self, scaled: Rows) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        hidden = np.maximum(scaled @ self.inward + self.inward_offsets, 0)
        return log_shares(hidden @ self.outward + self.outward_offsets)


@dataclass(frozen=True, slots=True)
class Network:
    """Several networks that differ by chance alone."""

    members: tuple[Layers, ...]

    def log_shares(self, seen: Seen) -> Rows:
        """The logarithm of each area's mean share, a row a photo."""
        mean = np.mean([np.exp(member.log_shares(seen.scaled)) for member in self.members], axis=0)
        logs: Rows = np.log(np.maximum(mean, np.finfo(np.float32).tiny)).astype(np.float32)
        return logs


def learn_network(seen: Seen, label: Ints, areas: Areas, targets: Rows, seed: int) -> Network:
    """Learn from photos; for ``targets`` see `soft_targets`."""
    offsets = np.log(photo_counts(label, areas) / len(seen)).astype(np.float32)
    return Network(tuple(_train(seen.scaled, targets, offsets, seed + number) for number in range(NETWORKS)))


def soft_targets(points: npt.NDArray[np.float64], country: Ints, label: Ints, areas: Areas) -> Rows:
    """How much each area would do as an answer for photos at points on the unit sphere; rows add up to 1.

    Areas near by do, those of the same country more so.
    """
    near = np.exp(-areas.distances_km(points) / _SOFT_KM) * photo_counts(label, areas)
    near *= 1 + _COMPATRIOT * (country[:, None] == areas.country)
    targets: Rows = (near / near.sum(axis=1, keepdims=True)).astype(np.float32)
    return targets


def _train(rows: Rows, targets: Rows, begin: Rows, seed: int) -> Layers:
    """AdamW with a rate that rises and falls once."""
    chance = np.random.default_rng(seed)
    count, width = rows.shape
    hidden = min(MOST_HIDDEN, max(FEWEST_HIDDEN, count // _PHOTOS_PER_HIDDEN))
    layers = [
        _start(chance, width, (width, hidden)),
        _start(chance, width, (hidden,)),
        _start(chance, hidden, (hidden, targets.shape[1])),
        begin.copy(),
    ]
    adam = Adam(_DECAY)
    epochs = round(np.clip(_EPOCHS * np.sqrt(_USUAL_PHOTOS / count), _FEWEST_EPOCHS, _MOST_EPOCHS))
    batches = -(-count // _BATCH)
    step, last = 0, epochs * batches
    for _ in range(epochs):
        order = chance.permutation(count)
        for start in range(0, count, _BATCH):
            chosen = order[start : start + _BATCH]
            slopes = _slopes(layers, rows[chosen], targets[chosen], chance)
            adam.walk(layers, slopes, _rate(step / last))
            step += 1
    return Layers(*layers)


def _start(chance: np.random.Generator, fan_in: int, shape: tuple[int, ...]) -> Rows:
    return (chance.random(shape, dtype=np.float32) * 2 - 1) / np.float32(np.sqrt(fan_in))


def _slopes(layers: list[Rows], rows: Rows, targets: Rows, chance: np.random.Generator) -> list[Rows]:
    """Gradients of the mean cross-entropy of a batch."""
    inward, inward_offsets, outward, outward_offsets = layers
    given = rows * _dropout(chance, rows.shape, _DROP_INPUT)
    before = given @ inward + inward_offsets
    keep: Rows = _dropout(chance, before.shape, _DROP_HIDDEN) * (before > 0)
    hidden = (before * keep).astype(np.float32, copy=False)
    miss = (np.exp(log_shares(hidden @ outward + outward_offsets)) - targets) / np.float32(len(rows))
    back = (miss @ outward.T) * keep
    return [given.T @ back, back.sum(axis=0), hidden.T @ miss, miss.sum(axis=0)]


def _dropout(chance: np.random.Generator, shape: tuple[int, ...], share: float) -> Rows:
    kept = chance.random(shape, dtype=np.float32) >= share
    return kept.astype(np.float32) / np.float32(1 - share)


def _rate(done: float) -> float:
    if done < _WARM_UP:
        return _HIGHEST_RATE * (0.52 - 0.48 * float(np.cos(np.pi * done / _WARM_UP)))
    return _HIGHEST_RATE * 0.5 * (1 + float(np.cos(np.pi * (done - _WARM_UP) / (1 - _WARM_UP))))
