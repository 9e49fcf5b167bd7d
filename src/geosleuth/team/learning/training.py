"""Teaching the network: from lessons to weights that are believed only as far as they held on other pictures."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.fitting import Adam
from geosleuth.team.network import Dimensions, Parameters, Projection, Weights, forward
from geosleuth.team.network.forward import Array, fresh_parameters
from geosleuth.team.network.society import predicted

from .gradient import Targets, loss, moved, slope
from .rounds import Observation
from .settings import QUICK, TrainSettings

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
