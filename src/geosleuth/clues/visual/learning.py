"""Learning a visual prior from photos whose places are known."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, LatLon
from geosleuth.photo.runtime import usable_threads

from .areas import FOLDS, Areas, Mask, apart, areas_of, blocks_of, folds_of, spots_of
from .experts import GAUSSIAN_STRENGTHS, Expert, Gaussian, Seen, learn_gaussians, means_of, photo_counts
from .learned import HeldOut, Knowledge, LearnedPrior
from .linear import Linear, learn_linear
from .measuring import calibration_error
from .network import Network, learn_network, soft_targets
from .pooling import learn_weights, nearness, pooled, tempered, without_unseen
from .reaching import learn_familiarity
from .scaling import Rows, scaling_of
from .spreading import Ints, Places, places_at, unit_vectors

FEWEST_PHOTOS = 30
FEWEST_BLOCKS = 3

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """Everything that is learned from, and where each photo belongs."""

    seen: Seen
    places: Places
    areas: Areas
    label: Ints
    spot: Ints
    seed: int

    @property
    def country(self) -> Ints:
        return self.areas.country[self.label]

    def gaussians(self, used: Mask, strengths: tuple[float, ...]) -> list[Gaussian]:
        """The first expert at several strengths, from the spots of some of the photos."""
        _, first, spot = np.unique(self.spot[used], return_index=True, return_inverse=True)
        rows = means_of(self.seen.turned[used], spot)
        return learn_gaussians(rows, self.label[used][first], self.areas, strengths)

    def network(self, used: Mask) -> Network:
        """The second expert, from some of the photos."""
        label = self.label[used]
        points = unit_vectors(self.places.lats[used], self.places.lons[used])
        targets = soft_targets(points, self.country[used], label, self.areas)
        return learn_network(self.seen.only(used), label, self.areas, targets, self.seed)

    def linear(self, used: Mask) -> Linear:
        """The third expert, from some of the photos."""
        return learn_linear(self.seen.only(used), self.label[used], self.areas)

    def opinions(self, used: Mask, out: Mask) -> list[Rows]:
        """What is said about photos held out by those who learned from others.

        First by someone who goes by the number of photos alone, then by network, linear model and Gaussians.
        """
        label, seen = self.label[used], self.seen.only(out)
        counts = photo_counts(label, self.areas)
        known = np.bincount(label, minlength=len(self.areas)) > 0
        blind = np.tile(np.log(counts / counts.sum()).astype(np.float32), (len(seen), 1))
        experts: list[Expert] = [self.network(used), self.linear(used), *self.gaussians(used, GAUSSIAN_STRENGTHS)]
        said = [blind, *(expert.log_shares(seen) for expert in experts)]
        return [without_unseen(one, known) for one in said]


def learn(
    features: npt.NDArray[np.floating],
    points: Sequence[LatLon],
    *,
    encoder: str,
    spec: str = "eyes",
    seed: int = 0,
    progress: Progress = lambda _what, _done, _total: None,
) -> LearnedPrior:
    """Learn where pictures are from by their look.

    The countries of the points come from the borders that ship with the package; photos in the open sea are left out.
    How much each expert counts, and how sure the prior may be, is found on blocks of land held out in turn.

    Args:
        features: one row a photo, as the encoder gives them.
        points: where each was taken.
        encoder: the encoder's name, which looks are only understood with.
        spec: how to find it again, see `load_encoder`.
        seed: decides what is left to chance; the same photos and seed give the same prior.
        progress: called with what is being done, steps done and steps in all.

    Raises:
        BadInput: too few photos, or all from one corner of the world.
    """
    if len(features) != len(points):
        raise ValueError("there must be as many rows of features as points")
    kept, places = _on_land(points)
    if len(kept) < FEWEST_PHOTOS:
        counted = f"only {len(kept)} of {len(points)} photos with coordinates were taken on land"
        raise BadInput(f"{counted}; a prior needs at least {FEWEST_PHOTOS}")
    block = blocks_of(places)
    folds = min(FOLDS, int(block.max()) + 1)
    if folds < FEWEST_BLOCKS:
        raise BadInput("all photos are from one corner of the world; a prior needs photos from several regions")
    steps = folds + 2
    progress("scaling", 0, steps)
    half = np.asarray(features)[kept].astype(np.float16)
    scaling = scaling_of(half)
    scaled = scaling.scaled(half)
    areas, label = areas_of(places)
    lesson = _Lesson(Seen(scaled, scaling.turned(scaled)), places, areas, label, spots_of(places, label), seed)
    fold = folds_of(block, seed, folds)
    held_out = [(apart(places, fold == number), fold == number) for number in range(folds)]
    held_out = [(used, out) for used, out in held_out if used.sum() >= FEWEST_PHOTOS // 2 and out.any()]
    if not held_out:
        raise BadInput("the photos lie too close together to hold any out; a prior needs photos from several regions")
    opinions: list[list[Rows]] = []
    progress("holding out places", 1, steps)
    # Nearly all of the work is done inside numpy, where other threads can go on.
    with ThreadPoolExecutor(usable_threads()) as at_once:
        for number, said in enumerate(at_once.map(lambda parts: lesson.opinions(*parts), held_out)):
            progress("holding out places", 1 + number, steps)
            opinions.append(said)
    progress("learning from all places", steps - 1, steps)
    order = np.concatenate([np.flatnonzero(out) for _, out in held_out])
    blind, by_network, by_linear, *by_gaussian = (np.concatenate(parts) for parts in zip(*opinions, strict=True))
    near = nearness(unit_vectors(places.lats[order], places.lons[order]), areas)
    country = lesson.country[order]
    pools = [learn_weights([blind, one, by_network, by_linear], country, near, areas) for one in by_gaussian]
    best = int(np.argmin([pool.loss for pool in pools]))
    missing = _missing(areas, lesson.country, block)
    chosen = [blind, by_gaussian[best], by_network, by_linear]
    weights = tempered(pools[best].weights, chosen, country, areas, missing)
    everything = np.ones(len(kept), dtype=np.bool_)
    knowledge = Knowledge(
        scaling,
        areas,
        label,
        lesson.gaussians(everything, (GAUSSIAN_STRENGTHS[best],))[0],
        lesson.network(everything),
        lesson.linear(everything),
        weights,
        learn_familiarity(scaled, held_out, missing),
        _held_out((1 - missing) * areas.by_country(pooled(weights, chosen)), country),
    )
    progress("done", steps, steps)
    return LearnedPrior(encoder, spec, knowledge, places, half)


def _on_land(points: Sequence[LatLon]) -> tuple[Ints, Places]:
    places = places_at(points) if len(points) else Places(np.empty(0), np.empty(0), np.empty(0, dtype=np.str_))
    kept = np.flatnonzero(places.countries != "")
    return kept, Places(places.lats[kept], places.lons[kept], places.countries[kept])


def _missing(areas: Areas, country: Ints, block: Ints) -> float:
    """The probability that the next block of land is in a country not seen yet, as Good and Turing estimate it.

    Half a block more than was seen once keeps small collections from claiming to know all countries.
    """
    pairs = np.unique(np.stack([country, block], axis=1), axis=0)
    once = int((np.bincount(pairs[:, 0], minlength=len(areas.codes)) == 1).sum())
    return min(0.5, (once + 0.5) / (len(pairs) + 1))


def _held_out(shares: FloatArray, country: Ints) -> HeldOut:
    ranked = np.argsort(-shares, axis=1)[:, :5]
    hits = ranked == country[:, None]
    error = calibration_error(shares.max(axis=1), hits[:, 0])
    return HeldOut(len(country), float(hits[:, 0].mean()), float(hits.any(axis=1).mean()), error)
