"""Train the network of trust, in numpy: its loss, slope and Adam; weights count only as far as they held up."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.fitting import Adam
from geosleuth.team.network import (
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


_FEWEST_HELD_OUT = 8
_CLEAR = 2.0
"""Standard errors that what the network sees must lie above nothing at all before it is believed."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Pictures and what was observed of them: features a row, labels, links and distances as in `Observation`."""

    features: Array
    targets: Targets

    @classmethod
    def of(cls, features: Array, observations: Sequence[Observation]) -> "Examples":
        """Examples of what was observed; links are brought to rows that add up to 1."""
        links = np.array([one.links for one in observations], dtype=np.float32)
        links /= np.maximum(links.sum(axis=2, keepdims=True), np.finfo(np.float32).tiny)
        labels = np.array([one.labels for one in observations], dtype=np.float32)
        distances = np.array([one.distances for one in observations], dtype=np.float32)
        return cls(np.asarray(features, dtype=np.float32), Targets(labels, distances, links))

    def rows(self, chosen: Array) -> "Examples":
        """Some of them."""
        return Examples(self.features[chosen], self.targets.rows(chosen))

    def __len__(self) -> int:
        return len(self.features)


def train(
    examples: Examples, settings: TrainSettings = QUICK, progress: Progress = lambda _done, _total: None
) -> Weights:
    """Teach a fresh network.

    Some pictures are held out, and the epoch that does best on them is taken. Further networks, each kept from a part
    of the pictures, show how far the differences that are seen between members are there on other pictures too; only
    so far is the network believed. With identical members nothing is, and all stand alike.

    Raises:
        BadInput: there is nothing to learn from.
    """
    if not len(examples):
        raise BadInput("there is nothing to learn from: nobody answered about any picture")
    trust, trust_links = _trust(examples, settings, progress) if settings.folds else (1.0, 1.0)
    taught = _fitted(examples, settings, progress)
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
    """One network, taught with some pictures held out to see when to stop."""
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


def _trust(examples: Examples, settings: TrainSettings, progress: Progress) -> tuple[float, float]:
    """How far election and links of such networks hold on pictures that these had nothing to do with."""
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


def believable(said: Array, seen: Array) -> float:
    """How much of the differences that were said to be there were seen: the slope of one over the other, 0 to 1.

    Differences are those within a picture, since only they decide who is elected. 0 where they could be chance.
    """
    if len(said) < _FEWEST_HELD_OUT:
        return 0.0
    said = np.asarray(said, dtype=np.float64)
    said, seen = said - said.mean(axis=1, keepdims=True), seen - seen.mean(axis=1, keepdims=True)
    size = float((said * said).sum())
    if size < 1e-12 * said.size:
        return 0.0
    found = float((said * seen).sum()) / size
    # Members of one picture are no independent witnesses: the error is reckoned by picture.
    rest = (said * (seen - found * said)).sum(axis=1)
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
    """The parameters after learning, and how many epochs that took."""
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
