"""Three classifiers of areas over scaled features (Gaussian, small networks, linear), and how they are pooled.

`Gaussian` describes what each area looks like and leans on its neighbours where photos are few. `Network`, in a module
of its own, finds combinations of features that a description can't. Both treat areas near to each other as nearly the
same: to take Ghent for Lille is not to take it for Lima. `LinearExpert` knows countries alone.

It knows nothing of distances. The other two do better on every set that was tried, but not on every set there may be:
where it is right and they are not, the pool listens to it, so that a prior is not worse than what is simple.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from geosleuth.geo import FloatArray
from geosleuth.support.fitting import Adam, log_shares, lowest, multinomial

from .cells import Areas, Ints, Mask
from .visual_prior import NEAR_KM

Rows = npt.NDArray[np.float32]

# Share of the mean spread added to each feature's spread, so that near-constant features are not over-amplified.
MIN_SPREAD = 0.1

MAIN_DIRECTIONS = 512

GAUSSIAN_STRENGTHS = (0.3, 1.0, 3.0, 10.0)
_UNSEEN = 0.3  # photos that an area without any is taken to have
_UNSURE = 0.02  # photos that its mean look is taken to rest on
MAX_HIDDEN, FEWEST_HIDDEN = 512, 64
_PHOTOS_PER_HIDDEN = 8
NETWORKS = 2
_EPOCHS = 20
_USUAL_PHOTOS = 5000
_FEWEST_EPOCHS, _MAX_EPOCHS = 6, 40
_BATCH = 128
_HIGHEST_RATE = 2e-3
_DECAY = 2.0
_DROP_INPUT, _DROP_HIDDEN = 0.2, 0.5
_WARM_UP = 0.3
_SOFT_KM = 300.0
_COMPATRIOT = 5.0
_STEPS = 100
_STRENGTH = 0.03  # the best of 0.003, 0.01, 0.03 and 0.1 on every set that was tried
_ROOM = 0.02  # the share kept for what the experts can't know; it keeps one odd photo from deciding anything
_EDGE_KM = 100.0
_NEGATIVE_COST = 3.0
_UNKNOWN = np.float32(-30.0)
_MIN_FACTOR, _MAX_FACTOR = 0.4, 2.5
_HALVINGS = 14


@dataclass(frozen=True, slots=True)
class FeatureScaling:
    """Conversion of features to the numbers that are learned from.

    The root takes the weight off the few features that are very large in a picture; what a network finds in it is
    counted more by whether than by how much. ``directions`` turns scaled rows to their main directions, unscaled.
    """

    middle: Rows
    spread: Rows
    directions: Rows

    def scale(self, features: npt.NDArray[np.floating]) -> Rows:
        """Rows with a spread of about 1 in each feature."""
        return (_take_signed_root(features) - self.middle) / self.spread

    def rotate(self, scaled: Rows) -> Rows:
        """Scaled rows by their main directions."""
        return scaled @ self.directions


def fit_scaling(features: npt.NDArray[np.floating]) -> FeatureScaling:
    """The scaling that fits these features."""
    rooted = _take_signed_root(features)
    middle = rooted.mean(axis=0)
    spread = rooted.std(axis=0)
    spread = np.maximum(spread + MIN_SPREAD * spread.mean(), np.finfo(np.float32).tiny)
    scaled = (rooted - middle) / spread
    spread *= np.sqrt(np.maximum((scaled**2).mean(), np.finfo(np.float32).tiny))
    scaled = (rooted - middle) / spread
    # The larger eigenvalues come last.
    _, vectors = np.linalg.eigh((scaled.T @ scaled).astype(np.float64))
    kept = min(MAIN_DIRECTIONS, scaled.shape[1])
    directions = np.ascontiguousarray(vectors[:, ::-1][:, :kept], dtype=np.float32)
    return FeatureScaling(middle.astype(np.float32), spread.astype(np.float32), directions)


def _take_signed_root(features: npt.NDArray[np.floating]) -> Rows:
    wide = np.asarray(features, dtype=np.float32)
    return np.sign(wide) * np.sqrt(np.abs(wide))


@dataclass(frozen=True, slots=True)
class SeenPhotos:
    """Photos as they are learned from: scaled features, and the same turned to their main directions."""

    scaled: Rows
    turned: Rows

    def __len__(self) -> int:
        return len(self.scaled)

    def only(self, chosen: npt.NDArray[np.bool_]) -> "SeenPhotos":
        """Some of the photos."""
        return SeenPhotos(self.scaled[chosen], self.turned[chosen])


class Expert(Protocol):
    """Says how likely each area is."""

    def log_shares(self, seen: SeenPhotos) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        ...


def photo_counts(label: Ints, areas: Areas) -> FloatArray:
    """Return the number of photos in each area, never quite zero."""
    return np.bincount(label, minlength=len(areas)).astype(np.float64) + _UNSEEN


def compute_means(rows: Rows, group: Ints) -> Rows:
    """The mean row of each group, of which there are no empty ones."""
    sums = np.zeros((int(group.max()) + 1, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, group, rows)
    means: Rows = sums / np.bincount(group).astype(np.float32)[:, None]
    return means


def kinship(areas: Areas, own: float, country: float, near: float, far: float, farther: float) -> FloatArray:
    """Return how much each pair of areas is assumed to have in common.

    For being the same, lying in one country, lying within some 500, 1,500 or 4,000 km of each other.
    """
    distance = areas.distances_km()
    same = areas.country[:, None] == areas.country
    kin: FloatArray = (
        own * np.eye(len(areas))
        + country * same
        + near * np.exp(-distance / 500)
        + far * np.exp(-distance / 1500)
        + farther * np.exp(-distance / 4000)
    )
    return kin


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Each area a bell curve of one common shape around its own mean, which leans on those of kindred areas."""

    weights: Rows
    offsets: Rows

    def log_shares(self, seen: SeenPhotos) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        return log_shares(seen.turned @ self.weights + self.offsets)


def learn_gaussians(turned: Rows, label: Ints, areas: Areas, strengths: tuple[float, ...]) -> list[Gaussian]:
    """Learn from turned rows, once for each strength: how far the common shape is drawn towards a ball."""
    rows = turned.astype(np.float64)
    photos = np.bincount(label, minlength=len(areas)).astype(np.float64)
    sums = np.zeros((len(areas), rows.shape[1]))
    np.add.at(sums, label, rows)
    means = sums / np.maximum(photos, 1.0)[:, None]
    around = (rows - means[label]).astype(np.float32)
    variances, axes = np.linalg.eigh((around.T @ around).astype(np.float64) / len(rows))
    kin = kinship(areas, 0.02, 0.05, 0.02, 0.02, 0.02)
    leaning = np.linalg.solve(kin + np.diag(1 / np.maximum(photos, _UNSURE)), kin).T
    believed = leaning @ means
    prior = np.log(photo_counts(label, areas) / len(rows))
    found = []
    for strength in strengths:
        shape = axes / np.sqrt(np.maximum(variances, 0.0) + strength * variances.mean())
        shaped = believed @ shape
        weights = shape @ shaped.T
        offsets = prior - 0.5 * (shaped**2).sum(axis=1)
        found.append(Gaussian(weights.astype(np.float32), offsets.astype(np.float32)))
    return found


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

    def log_shares(self, seen: SeenPhotos) -> Rows:
        """The logarithm of each area's mean share, a row a photo."""
        mean = np.mean([np.exp(member.log_shares(seen.scaled)) for member in self.members], axis=0)
        logs: Rows = np.log(np.maximum(mean, np.finfo(np.float32).tiny)).astype(np.float32)
        return logs


def learn_network(seen: SeenPhotos, label: Ints, areas: Areas, targets: Rows, seed: int) -> Network:
    """Learn from photos; for ``targets`` see `soft_targets`."""
    offsets = np.log(photo_counts(label, areas) / len(seen)).astype(np.float32)
    return Network(tuple(_train(seen.scaled, targets, offsets, seed + number) for number in range(NETWORKS)))


def soft_targets(points: npt.NDArray[np.float64], country: Ints, label: Ints, areas: Areas) -> Rows:
    """Return the credit of each area for photos at points on the unit sphere; rows add up to 1.

    Areas near by do, those of the same country more so.
    """
    near = np.exp(-areas.distances_km(points) / _SOFT_KM) * photo_counts(label, areas)
    near *= 1 + _COMPATRIOT * (country[:, None] == areas.country)
    targets: Rows = (near / near.sum(axis=1, keepdims=True)).astype(np.float32)
    return targets


def _train(rows: Rows, targets: Rows, begin: Rows, seed: int) -> Layers:
    chance = np.random.default_rng(seed)
    count, width = rows.shape
    hidden = min(MAX_HIDDEN, max(FEWEST_HIDDEN, count // _PHOTOS_PER_HIDDEN))
    layers = [
        _start(chance, width, (width, hidden)),
        _start(chance, width, (hidden,)),
        _start(chance, hidden, (hidden, targets.shape[1])),
        begin.copy(),
    ]
    adam = Adam(_DECAY)
    epochs = round(np.clip(_EPOCHS * np.sqrt(_USUAL_PHOTOS / count), _FEWEST_EPOCHS, _MAX_EPOCHS))
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


@dataclass(frozen=True, slots=True)
class LinearExpert:
    """Multinomial logistic regression of the countries; ``within`` is the logarithm of each area's share of its own."""

    weights: Rows
    offsets: Rows
    within: Rows
    country: Ints

    def log_shares(self, seen: SeenPhotos) -> Rows:
        """The logarithm of each area's share, a row a photo."""
        return log_shares(seen.scaled @ self.weights + self.offsets)[:, self.country] + self.within


def learn_linear(seen: SeenPhotos, label: Ints, areas: Areas) -> LinearExpert:
    """Learn from photos."""
    weights, offsets = logistic(seen.scaled, areas.country[label], len(areas.codes))
    counts = photo_counts(label, areas)
    within = np.log(counts / np.bincount(areas.country, counts)[areas.country])
    return LinearExpert(weights, offsets, within.astype(np.float32), areas.country)


def logistic(rows: Rows, label: Ints, classes: int) -> tuple[Rows, Rows]:
    """Weights and offsets of a multinomial logistic regression, with the strength that did best."""
    return multinomial(rows, label, classes, strength=_STRENGTH, steps=_STEPS)


def pool_opinions(weights: FloatArray, opinions: list[Rows]) -> Rows:
    """The shares of areas when the experts' logarithms are added up with these weights.

    The first of them goes by the number of photos alone, and always keeps a small share: no answer is ever certain.
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
    """Return a soft mask of areas within `NEAR_KM` of points on the unit sphere."""
    return (1 / (1 + np.exp((areas.distances_km(points) - NEAR_KM) / _EDGE_KM))).astype(np.float32)


@dataclass(frozen=True, slots=True)
class ExpertPool:
    """Weight of each opinion, and the loss on held-out photos under their sum (lower is better)."""

    weights: FloatArray
    loss: float


def learn_weights(opinions: list[Rows], country: Ints, near: Rows, areas: Areas) -> ExpertPool:
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
    return ExpertPool(weights, objective(weights)[0])


def temper(weights: FloatArray, opinions: list[Rows], country: Ints, areas: Areas, missing: float) -> FloatArray:
    """The weights, all times one factor, under which the likeliest country is right as often as is stated on average.

    The likeliest weights leave the prior too modest: photos no expert could place count for more than the many that
    are right.

    Args:
        weights: see `learn_weights`.
        opinions: the experts' logarithms, a row a held-out photo.
        country: the number of each photo's country.
        areas: the areas.
        missing: the probability that a photo is from a country that is not among them.
    """
    low, high = _MIN_FACTOR, _MAX_FACTOR
    for _ in range(_HALVINGS):
        factor = (low + high) / 2
        shares = areas.by_country(pool_opinions(factor * weights, opinions))
        stated = (1 - missing) * float(shares.max(axis=1).mean())
        low, high = (factor, high) if stated < float((shares.argmax(axis=1) == country).mean()) else (low, factor)
    return (low + high) / 2 * weights
