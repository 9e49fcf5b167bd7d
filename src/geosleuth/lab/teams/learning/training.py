"""Train the trust network with torch, on a GPU or a CPU; weights count only as far as they generalise.

It is the network of `geosleuth.teams.network` in another order. A row of Fea is the sum of a member's and a picture's,
u_n + v_b. So its products need pictures + members rows in place of pictures x members, and of the scores

    Fea_bn . Fea_bm = u_n . u_m + v_b . u_m + (terms without m)

the rest falls out of the softmax over m. What is learned are the same parameters.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from geosleuth.support.errors import BadInput, require
from geosleuth.teams.network import (
    LEAK,
    Array,
    Dimensions,
    Parameters,
    Projection,
    Weights,
    forward,
    fresh_parameters,
    predict_trust,
)

from .rounds import QUICK_TRAINING, Observation, TrainSettings

_FEWEST_HELD_OUT = 8
# Number of standard errors by which a network's differences must exceed zero before it is trusted.
_CLEAR_STANDARD_ERRORS = 2.0
_MIN_GAIN = 1e-6
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """The network's targets, a row per picture; rows of links sum to 1 and their diagonal is 0."""

    labels: Array
    distances: Array
    links: Array

    def rows(self, chosen: Array) -> "Targets":
        """Return a subset of the pictures."""
        return Targets(self.labels[chosen], self.distances[chosen], self.links[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Pictures and observations: rows of features, labels, links and distances as in `Observation`."""

    features: Array
    targets: Targets

    @classmethod
    def from_observations(cls, features: Array, observations: Sequence[Observation]) -> "Examples":
        """Build examples from observations; the rows of links are normalised to a sum of 1."""
        links = np.array([observation.links for observation in observations], dtype=np.float32)
        links /= np.maximum(links.sum(axis=2, keepdims=True), np.finfo(np.float32).tiny)
        labels = np.array([observation.labels for observation in observations], dtype=np.float32)
        distances = np.array([observation.distances for observation in observations], dtype=np.float32)
        return cls(np.asarray(features, dtype=np.float32), Targets(labels, distances, links))

    def rows(self, chosen: Array) -> "Examples":
        """Return a subset."""
        return Examples(self.features[chosen], self.targets.rows(chosen))

    def __len__(self) -> int:
        return len(self.features)


def network_loss(
    torch: Any, parameters: Sequence[Any], encoded: Any, targets: tuple[Any, Any, Any], distance_weight: float
) -> Any:
    """Return mean(Lst D) + MSE(Lst) + MSE(A), all means over members and pictures; links without their diagonal.

    As printed, the distance term has no gradient: it does not depend on the network's output. Here each distance is
    weighted by the member's election probability, which penalises electing those who are far off.
    """
    emb, fea_weight, fea_bias, hidden_weight, out_weight, out_bias = parameters
    labels, distances, links = targets
    count = emb.shape[0]
    of_members, of_pictures = emb @ fea_weight + fea_bias, encoded @ fea_weight[: encoded.shape[1]]
    scores = (of_members @ of_members.T)[None] + (of_pictures @ of_members.T)[:, None, :]
    attention = torch.softmax(scores / math.sqrt(of_members.shape[1]), dim=2)
    hidden = attention @ (of_members @ hidden_weight) + (of_pictures @ hidden_weight)[:, None, :]
    bent = torch.nn.functional.leaky_relu(hidden, LEAK)
    election = torch.sigmoid((bent.flatten(1) @ out_weight + out_bias).clamp(-60.0, 60.0))
    others = attention * (1 - torch.eye(count, device=emb.device, dtype=emb.dtype))
    found = others / others.sum(dim=2, keepdim=True).clamp_min(torch.finfo(emb.dtype).tiny)
    off = ((found - links) ** 2).sum() / (len(links) * count * max(1, count - 1))
    return distance_weight * (election * distances).mean() + ((election - labels) ** 2).mean() + off


def train(
    examples: Examples,
    settings: TrainSettings = QUICK_TRAINING,
    progress: Progress = lambda _done, _total: None,
) -> Weights:
    """Train a new network.

    Some pictures are held out, and the epoch that does best on them is taken. Further networks, each trained without
    a part of the pictures, measure how far the predicted differences between members hold on unseen pictures; the
    network is trusted only that far. With identical members the trust is zero.

    Args:
        examples: the pictures.
        settings: how the network is trained.
        progress: called before each epoch; what it raises ends the training.

    Raises:
        BadInput: there is nothing to learn from.
        MissingExtra: torch is not installed.
    """
    if not len(examples):
        raise BadInput("nothing to learn from: no member answered about any picture")
    torch = require("torch", extra="weights")
    with _one_thread(torch):
        trust, trust_links = 1.0, 1.0
        if settings.folds:
            trust, trust_links = _trust(torch, examples, settings, progress)
        taught = _taught(torch, examples, settings, progress)
    figures = {
        "trust": trust,
        "trust_links": trust_links,
        "epochs": taught.epochs,
        "held_out": taught.held_out,
        "loss_held_out": taught.loss,
    }
    alone = Weights(
        taught.parameters, taught.projection, trust, trust_links, np.zeros(0), np.zeros((0, 0)), len(examples),
        asdict(settings), figures,
    )  # fmt: skip
    election, links = predict_trust(alone, examples.features)
    return replace(alone, usual_election=election.mean(axis=0), usual_links=links.mean(axis=0))


def _trust(torch: Any, examples: Examples, settings: TrainSettings, progress: Progress) -> tuple[float, float]:
    """Return how reliable election and links of such networks are on unseen pictures."""
    if len(examples) < _FEWEST_HELD_OUT:
        return 0.0, 0.0
    order = np.random.default_rng(settings.seed + 1).permutation(len(examples))
    others = ~np.eye(examples.targets.labels.shape[1], dtype=bool)
    elections, links = np.zeros(examples.targets.labels.shape), np.zeros(examples.targets.links.shape)
    for fold in range(settings.folds):
        out = order[fold :: settings.folds]
        taught = _taught(torch, examples.rows(np.setdiff1d(order, out)), settings, progress)
        found = forward(taught.parameters, taught.projection.encode(examples.features[out]))
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
    return min(1.0, found) if found > _CLEAR_STANDARD_ERRORS * error else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Taught:
    parameters: Parameters
    projection: Projection
    epochs: int
    held_out: int
    loss: float | None


@dataclass(slots=True)
class _Course:
    """Progress of training: the parameters, their sums over the last epochs, and the best on held-out pictures."""

    parameters: list[Any]
    sums: list[Any] = field(default_factory=list)
    best: list[Any] = field(default_factory=list)
    best_loss: float = math.inf
    best_epoch: int = 0
    epoch: int = 0
    adam: Any = field(default=None, repr=False)

    def is_over(self, settings: TrainSettings, held: Array) -> bool:
        """Return whether all epochs are done, or so many without improvement on held-out pictures."""
        waited = self.epoch - self.best_epoch
        is_stale = len(held) and settings.patience and not settings.averaged and waited >= settings.patience
        return bool(is_stale) or self.epoch >= settings.epochs


def _taught(torch: Any, examples: Examples, settings: TrainSettings, progress: Progress) -> _Taught:
    """Train and return one network; some pictures are held out for early stopping if the settings say so."""
    rng = np.random.default_rng(settings.seed)
    held = _hold_out(len(examples), settings.held_out, rng)
    kept = np.setdiff1d(np.arange(len(examples)), held)
    projection = Projection.fit(examples.features[kept], settings.embedding)
    encoded = projection.encode(examples.features)
    size = Dimensions(examples.targets.labels.shape[1], settings.embedding, settings.fea, settings.hidden)
    start = fresh_parameters(size, rng)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def tensor(array: Array) -> Any:
        return torch.tensor(np.asarray(array, np.float32), device=device)

    # Columns beyond the rank of the pictures are zero.
    rank = int(np.flatnonzero(np.any(encoded != 0, axis=0)).max(initial=0)) + 1
    pictures = tensor(encoded[:, :rank])
    wanted = tuple(map(tensor, (examples.targets.labels, examples.targets.distances, examples.targets.links)))

    def compute_loss(rows: Array) -> Any:
        chosen = torch.tensor(rows, device=device)
        targets = (wanted[0][chosen], wanted[1][chosen], wanted[2][chosen])
        return network_loss(torch, course.parameters, pictures[chosen], targets, settings.distance_weight)

    course = _Course([tensor(item).requires_grad_() for item in start.arrays()])
    course.sums, course.best = ([torch.zeros_like(parameter) for parameter in course.parameters] for _ in range(2))
    decaying = [
        {"params": [parameter], "weight_decay": settings.decay * (parameter.ndim > 1)}
        for parameter in course.parameters
    ]
    course.adam = torch.optim.AdamW(decaying, lr=settings.rate, fused=True)
    while not course.is_over(settings, held):
        progress(course.epoch, settings.epochs)
        _walk(torch, course, compute_loss, settings, rng.permutation(kept), held)
    progress(settings.epochs, settings.epochs)
    share = min(settings.averaged, settings.epochs)
    chosen = [total / share for total in course.sums] if share else course.best if len(held) else course.parameters
    found = Parameters(*(item.detach().cpu().numpy() for item in chosen))
    if share or not len(held):
        return _Taught(found, projection, course.epoch, len(held), None)
    return _Taught(found, projection, course.best_epoch, len(held), course.best_loss)


def _walk(
    torch: Any, course: _Course, loss_on: Callable[[Array], Any], settings: TrainSettings, order: Array, held: Array
) -> None:
    """Train one epoch over all pictures, and record its result."""
    course.epoch += 1
    step = settings.batch or len(order)
    for begin in range(0, len(order), step):
        course.adam.zero_grad()
        loss_on(order[begin : begin + step]).backward()
        course.adam.step()
    with torch.no_grad():
        if settings.averaged:
            for total, item in zip(course.sums, course.parameters, strict=True):
                total.add_(item * (course.epoch > settings.epochs - settings.averaged))
        elif len(held) and (now := float(loss_on(held))) < course.best_loss - _MIN_GAIN:
            course.best_loss, course.best_epoch = now, course.epoch
            course.best = [parameter.detach().clone() for parameter in course.parameters]


def _hold_out(count: int, share: float, rng: np.random.Generator) -> Array:
    wanted = round(share * count)
    if wanted < _FEWEST_HELD_OUT and share:
        wanted = min(_FEWEST_HELD_OUT, count // 3)
    return np.sort(rng.permutation(count)[:wanted])


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Compute in one thread: for products of this size two take three times the CPU time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
