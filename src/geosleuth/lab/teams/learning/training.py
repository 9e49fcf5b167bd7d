"""Train the trust network in numpy: loss, gradient and Adam; weights count only as far as they generalise."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from geosleuth.support.errors import BadInput
from geosleuth.support.fitting import Adam
from geosleuth.teams.network import (
    LEAK,
    Array,
    Dimensions,
    Parameters,
    Prediction,
    Projection,
    Weights,
    forward,
    fresh_parameters,
    predicted,
)

from .rounds import QUICK, Observation, TrainSettings
from .torch_training import Interruption, taught_with_torch

_FEWEST_HELD_OUT = 8
_CLEAR = 2.0
"""By how many standard errors a network's differences must exceed zero before it is trusted."""
Progress = Callable[[int, int], None]
_NEVER = Interruption()


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """The network's targets, a row per picture; rows of links sum to 1 and their diagonal is 0."""

    labels: Array
    distances: Array
    links: Array

    def rows(self, chosen: Array) -> "Targets":
        """Return a subset of the pictures."""
        return Targets(self.labels[chosen], self.distances[chosen], self.links[chosen])


def loss(found: Prediction, targets: Targets, distance_weight: float) -> float:
    """Return mean(Lst D) + MSE(Lst) + MSE(A), all means over members and pictures; links without their diagonal.

    As printed, the distance term has no gradient: it does not depend on the network's output. Here each distance is
    weighted by the member's election probability, which penalises electing those who are far off.
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
    """Return the loss, and its gradient for every parameter in the order of `Parameters.names`."""
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
    """Map the gradient of the rows without diagonal to that of the whole attention."""
    off = 1 - np.eye(found.links.shape[1], dtype=found.links.dtype)
    by_links = by_links * off
    sums = np.maximum((found.attention * off).sum(axis=2, keepdims=True), np.finfo(found.links.dtype).tiny)
    through: Array = off * (by_links - (by_links * found.links).sum(axis=2, keepdims=True)) / sums
    return through


def moved(adam: Adam, parameters: Parameters, slopes: tuple[Array, ...], rate: float) -> Parameters:
    """Return the parameters after one step; biases have no weight decay."""
    arrays = [array.copy() for array in parameters.arrays()]
    adam.walk(arrays, slopes, rate, spared=lambda array: array.ndim == 1)
    return Parameters(*arrays)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Pictures and observations: rows of features, labels, links and distances as in `Observation`."""

    features: Array
    targets: Targets

    @classmethod
    def of(cls, features: Array, observations: Sequence[Observation]) -> "Examples":
        """Build examples from observations; the rows of links are normalised to a sum of 1."""
        links = np.array([one.links for one in observations], dtype=np.float32)
        links /= np.maximum(links.sum(axis=2, keepdims=True), np.finfo(np.float32).tiny)
        labels = np.array([one.labels for one in observations], dtype=np.float32)
        distances = np.array([one.distances for one in observations], dtype=np.float32)
        return cls(np.asarray(features, dtype=np.float32), Targets(labels, distances, links))

    def rows(self, chosen: Array) -> "Examples":
        """Return a subset."""
        return Examples(self.features[chosen], self.targets.rows(chosen))

    def __len__(self) -> int:
        return len(self.features)


def train(
    examples: Examples,
    settings: TrainSettings = QUICK,
    progress: Progress = lambda _done, _total: None,
    interruption: Interruption = _NEVER,
) -> Weights:
    """Train a new network.

    Some pictures are held out, and the epoch that does best on them is taken. Further networks, each trained without
    a part of the pictures, measure how far the predicted differences between members hold on unseen pictures; the
    network is trusted only that far. With identical members the trust is zero.

    With the engine "torch" a run that is stopped goes on from where ``interruption`` kept it.

    Raises:
        BadInput: there is nothing to learn from.
        TrainingStopped: it was stopped.
    """
    if not len(examples):
        raise BadInput("nothing to learn from: no member answered about any picture")
    trust, trust_links = _trust(examples, settings, progress) if settings.folds else (1.0, 1.0)
    fitted = partial(_fitted_with_torch, interruption=interruption) if settings.engine == "torch" else _fitted
    taught = fitted(examples, settings, progress)
    figures = {
        "trust": trust,
        "trust_links": trust_links,
        "epochs": taught.epochs,
        "held_out": len(taught.held),
        "loss_held_out": taught.loss,
    }
    alone = Weights(
        taught.parameters, taught.projection, trust, trust_links, np.zeros(0), np.zeros((0, 0)), len(examples),
        asdict(settings), figures,
    )  # fmt: skip
    election, links = predicted(alone, examples.features)
    return replace(alone, usual_election=election.mean(axis=0), usual_links=links.mean(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class _Taught:
    parameters: Parameters
    projection: Projection
    epochs: int
    held: Array
    loss: float | None


def _fitted(examples: Examples, settings: TrainSettings, progress: Progress) -> _Taught:
    """Return one network, trained with some pictures held out for early stopping."""
    rng = np.random.default_rng(settings.seed)
    held = _held_out(len(examples), settings.held_out, rng)
    kept = np.setdiff1d(np.arange(len(examples)), held)
    projection = Projection.fitted(examples.features[kept], settings.embedding)
    encoded = projection.encoded(examples.features)
    size = Dimensions(examples.targets.labels.shape[1], settings.embedding, settings.fea, settings.hidden)
    parameters, epochs = _taught(fresh_parameters(size, rng), encoded, examples.targets, kept, held, settings, rng,
                                 progress)  # fmt: skip
    end = None
    if len(held):
        end = loss(forward(parameters, encoded[held]), examples.targets.rows(held), settings.distance_weight)
    return _Taught(parameters, projection, epochs, held, end)


def _fitted_with_torch(
    examples: Examples, settings: TrainSettings, progress: Progress, *, interruption: Interruption
) -> _Taught:
    """Return one network from all pictures."""
    rng = np.random.default_rng(settings.seed)
    _held_out(len(examples), settings.held_out, rng)  # nothing; the draws after it are those of `_fitted`
    projection = Projection.fitted(examples.features, settings.embedding)
    wanted = examples.targets
    size = Dimensions(wanted.labels.shape[1], settings.embedding, settings.fea, settings.hidden)
    parameters = taught_with_torch(
        fresh_parameters(size, rng), projection.encoded(examples.features),
        (wanted.labels, wanted.distances, wanted.links), settings, rng, progress, interruption,
    )  # fmt: skip
    return _Taught(parameters, projection, settings.epochs, np.zeros(0, dtype=np.int64), None)


def _trust(examples: Examples, settings: TrainSettings, progress: Progress) -> tuple[float, float]:
    """Return how far election and links of such networks hold on unseen pictures."""
    if len(examples) < _FEWEST_HELD_OUT:
        return 0.0, 0.0
    order = np.random.default_rng(settings.seed + 1).permutation(len(examples))
    count = examples.targets.labels.shape[1]
    others = ~np.eye(count, dtype=bool)
    elections, links = np.zeros(examples.targets.labels.shape), np.zeros(examples.targets.links.shape)
    for fold in range(settings.folds):
        out = order[fold :: settings.folds]
        rest = examples.rows(np.setdiff1d(order, out))
        taught = _fitted(rest, settings, progress)
        found = forward(taught.parameters, taught.projection.encoded(examples.features[out]))
        elections[out], links[out] = found.election, found.links
    return (
        believable(elections, examples.targets.labels),
        believable(links[:, others], examples.targets.links[:, others]),
    )


def believable(predicted: Array, observed: Array) -> float:
    """Return how much of the predicted differences was observed: the regression slope, 0 to 1.

    Only differences within a picture count, since they decide who is elected. 0 if they could be chance.
    """
    if len(predicted) < _FEWEST_HELD_OUT:
        return 0.0
    predicted = np.asarray(predicted, dtype=np.float64)
    predicted, observed = (
        predicted - predicted.mean(axis=1, keepdims=True),
        observed - observed.mean(axis=1, keepdims=True),
    )
    size = float((predicted * predicted).sum())
    if size < 1e-12 * predicted.size:
        return 0.0
    found = float((predicted * observed).sum()) / size
    # Members of one picture are not independent: the error is computed by picture.
    rest = (predicted * (observed - found * predicted)).sum(axis=1)
    error = math.sqrt(float((rest * rest).sum())) / size
    return min(1.0, found) if found > _CLEAR * error else 0.0


def _held_out(count: int, share: float, rng: np.random.Generator) -> Array:
    wanted = round(share * count)
    if wanted < _FEWEST_HELD_OUT and share:
        wanted = min(_FEWEST_HELD_OUT, count // 3)
    return np.sort(rng.permutation(count)[:wanted])


def _taught(
    parameters: Parameters, encoded: Array, targets: Targets, kept: Array, held: Array, settings: TrainSettings,
    rng: np.random.Generator, progress: Progress,
) -> tuple[Parameters, int]:  # fmt: skip
    """Return the trained parameters and the number of epochs."""
    adam = Adam(settings.decay)
    judged = encoded[held], targets.rows(held)
    best, best_loss, best_epoch = parameters, math.inf, 0
    sums = [np.zeros(array.shape, dtype=np.float64) for array in parameters.arrays()]
    epoch = 0
    for epoch in range(1, settings.epochs + 1):
        progress(epoch, settings.epochs)
        order = rng.permutation(kept)
        step = settings.batch or len(order)
        for start in range(0, len(order), step):
            chosen = order[start : start + step]
            _, slopes = slope(parameters, encoded[chosen], targets.rows(chosen), settings.distance_weight)
            parameters = moved(adam, parameters, slopes, settings.rate)
        if settings.averaged and epoch > settings.epochs - settings.averaged:
            sums = [total + array for total, array in zip(sums, parameters.arrays(), strict=True)]
        if len(held) and not settings.averaged:
            now = loss(forward(parameters, judged[0]), judged[1], settings.distance_weight)
            if now < best_loss - 1e-6:
                best, best_loss, best_epoch = parameters, now, epoch
            if settings.patience and epoch - best_epoch >= settings.patience:
                break
    progress(settings.epochs, settings.epochs)
    if settings.averaged:
        share = min(settings.averaged, settings.epochs)
        return Parameters(*((total / share).astype(np.float32) for total in sums)), epoch
    return (best, best_epoch) if len(held) else (parameters, epoch)
