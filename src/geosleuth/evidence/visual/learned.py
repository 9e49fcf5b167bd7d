"""A visual prior learned from photos whose places are known, kept in one file, and how good it is elsewhere."""

import io
import json
import threading
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from geosleuth.geo import EARTH_RADIUS_KM, FloatArray, LatLon, great_circle_km, medoid
from geosleuth.photo.image_encoder import ImageEncoder, load_encoder
from geosleuth.photo.runtime import usable_threads
from geosleuth.support.calibration import bin_probabilities, compute_calibration_error
from geosleuth.support.errors import BadInput
from geosleuth.support.files import replacing
from geosleuth.support.fitting import log_shares

from .cells import (
    APART_KM,
    FOLDS,
    Areas,
    Guesses,
    Ints,
    LabelledPoints,
    Mask,
    apart,
    assign_folds,
    build_areas,
    label_places,
    number_blocks,
    number_spots,
    unit_vectors,
)
from .experts import (
    GAUSSIAN_STRENGTHS,
    Expert,
    FeatureScaling,
    Gaussian,
    Layers,
    LinearExpert,
    Network,
    Rows,
    SeenPhotos,
    compute_means,
    fit_scaling,
    learn_gaussians,
    learn_linear,
    learn_network,
    learn_weights,
    logistic,
    nearness,
    photo_counts,
    pool_opinions,
    soft_targets,
    temper,
    without_unseen,
)
from .familiarity import Collection, Familiarity, learn_familiarity
from .visual_prior import NEAR_KM, Distribution

if TYPE_CHECKING:
    from PIL.Image import Image

FORMAT = 1
_HEADER = "header"
_NAME = "own photos' look"

_ROWS_AT_ONCE = 512
_MEDOID_OF = 1000
FAR_KM = 2500.0
PRIOR, NEIGHBOUR, LINEAR = "prior", "nearest neighbour", "plain linear"
_MEASURING_ROWS_AT_ONCE = 2048
FEWEST_PHOTOS = 30
FEWEST_BLOCKS = 3
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Accuracy on places held out during learning: an estimate on the collection itself."""

    photos: int
    country_top1: float
    country_top5: float
    country_calibration: float


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that was learned; ``label`` is the area that each photo of the collection is in."""

    scaling: FeatureScaling
    areas: Areas
    label: Ints
    gaussian: Gaussian
    network: Network
    linear: LinearExpert
    weights: FloatArray
    familiarity: Familiarity
    held_out: HeldOut


class LearnedPrior:
    """A `VisualPrior` learned from a collection of photos; see `learn`.

    It holds the places and features of the collection, 2.6 kB a photo with the bundled encoder: a reader of its file
    knows where those photos were taken.
    """

    def __init__(
        self, encoder: str, spec: str, knowledge: Knowledge, places: LabelledPoints, features: npt.NDArray[np.float16]
    ) -> None:
        self.encoder, self.spec = encoder, spec
        self.knowledge, self.places, self.features = knowledge, places, features
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name that findings are credited to."""
        return _NAME

    def __len__(self) -> int:
        """Return the number of photos it was learned from."""
        return len(self.features)

    def look(self, image: "Image") -> Distribution:
        """Return where a picture may have been taken.

        Raises:
            BadInput: the encoder it was learned with is gone or was changed.
        """
        with self._lock:
            encoder = self._encoder
        return self.judge(encoder.features([image]))[0]

    def judge(self, features: npt.NDArray[np.floating]) -> list[Distribution]:
        """Return where pictures with these features may have been taken, a row per picture."""
        scaled = self.knowledge.scaling.scale(features)
        shares = self._compute_shares(scaled)
        reaches = self.knowledge.familiarity.reaches(self._collection.unlikeness(scaled))
        label = self.knowledge.label
        return [
            self.places.spread(row[label] / self._photos[label], reach, self.name)
            for row, reach in zip(shares, reaches, strict=True)
        ]

    def guess(self, features: npt.NDArray[np.floating]) -> Guesses:
        """The same for many pictures at once, in short."""
        known = self.knowledge
        scaled = known.scaling.scale(features)
        reaches = known.familiarity.reaches(self._collection.unlikeness(scaled))
        trust = np.array([reach.trust for reach in reaches])
        return self.places.guess(self._compute_shares(scaled), known.label, trust)

    def holds(self, features: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
        """Return whether pictures with these features are in the collection it was learned from."""
        return self._collection.unlikeness(self.knowledge.scaling.scale(features)).is_itself()

    def _compute_shares(self, scaled: Rows) -> Rows:
        known = self.knowledge
        seen = SeenPhotos(scaled, known.scaling.rotate(scaled))
        counts = photo_counts(known.label, known.areas)
        prior = np.tile(np.log(counts / counts.sum()).astype(np.float32), (len(seen), 1))
        experts = (known.gaussian, known.network, known.linear)
        return pool_opinions(known.weights, [prior, *(expert.log_shares(seen) for expert in experts)])

    @cached_property
    def _photos(self) -> FloatArray:
        return np.bincount(self.knowledge.label, minlength=len(self.knowledge.areas)).astype(np.float64)

    @cached_property
    def _collection(self) -> Collection:
        return Collection(self.knowledge.scaling.scale(self.features))

    @cached_property
    def _encoder(self) -> ImageEncoder:
        encoder = load_encoder(self.spec)
        if encoder.name != self.encoder:
            raise BadInput(
                f"the prior was learned with the encoder {self.encoder!r}, not {encoder.name!r}; "
                "learn it anew with: geosleuth prior learn FOLDER"
            )
        return encoder

    def save(self, path: Path) -> None:
        """Write it to a file, which is whole or not there.

        Raises:
            BadInput: it can't be written.
        """
        known = self.knowledge
        header = {
            "format": FORMAT,
            "encoder": self.encoder,
            "spec": self.spec,
            "codes": list(known.areas.codes),
            "missing": known.familiarity.missing,
            "networks": len(known.network.members),
            "held_out": asdict(known.held_out),
        }
        arrays: dict[str, npt.NDArray[Any]] = {
            _HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            "middle": known.scaling.middle,
            "spread": known.scaling.spread,
            "directions": known.scaling.directions,
            "area_country": known.areas.country,
            "area_centres": known.areas.centres,
            "label": known.label.astype(np.int32),
            "gaussian_weights": known.gaussian.weights,
            "gaussian_offsets": known.gaussian.offsets,
            "linear_weights": known.linear.weights,
            "linear_offsets": known.linear.offsets,
            "linear_within": known.linear.within,
            "expert_weights": known.weights,
            "turned": known.familiarity.turned,
            "away": known.familiarity.away,
            "lats": self.places.lats,
            "lons": self.places.lons,
            "countries": self.places.countries,
            "features": self.features,
        }
        for number, member in enumerate(known.network.members):
            for part in Layers.__slots__:
                arrays[f"network_{number}_{part}"] = getattr(member, part)
        with replacing(path) as neighbour, neighbour.open("wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]  # the stubs take every keyword for allow_pickle

    @classmethod
    def load(cls, path: Path) -> "LearnedPrior":
        """Read one from a file.

        Raises:
            BadInput: there is none, it is of another version, or it is damaged.
        """
        if not path.is_file():
            raise BadInput(f"{path}: there is no prior; learn one with: geosleuth prior learn FOLDER")
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                header = json.loads(bytes(arrays[_HEADER]))
                if header["format"] != FORMAT:
                    raise BadInput(f"{path}: the prior is of format {header['format']}, not {FORMAT}; learn it anew")
                return cls(header["encoder"], header["spec"], *_read_knowledge(header, arrays))
        except OSError as error:
            raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
        except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise BadInput(f"{path}: this is no prior, or a damaged one; learn it anew") from error


def _read_knowledge(
    header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> tuple[Knowledge, LabelledPoints, npt.NDArray[np.float16]]:
    members = tuple(
        Layers(*(arrays[f"network_{number}_{part}"] for part in Layers.__slots__))
        for number in range(int(header["networks"]))
    )
    label = arrays["label"].astype(np.int64)
    areas = Areas(tuple(header["codes"]), arrays["area_country"], arrays["area_centres"])
    places = LabelledPoints(arrays["lats"], arrays["lons"], arrays["countries"])
    features = arrays["features"]
    if not len(label) == len(places.lats) == len(places.countries) == len(features) or label.max() >= len(areas):
        raise ValueError("its parts do not fit together")
    knowledge = Knowledge(
        FeatureScaling(arrays["middle"], arrays["spread"], arrays["directions"]),
        areas,
        label,
        Gaussian(arrays["gaussian_weights"], arrays["gaussian_offsets"]),
        Network(members),
        LinearExpert(arrays["linear_weights"], arrays["linear_offsets"], arrays["linear_within"], areas.country),
        arrays["expert_weights"],
        Familiarity(arrays["turned"], arrays["away"], float(header["missing"])),
        HeldOut(**header["held_out"]),
    )
    return knowledge, places, features


def nearest_neighbour(
    known: npt.NDArray[np.floating], places: LabelledPoints, asked: npt.NDArray[np.floating]
) -> Guesses:
    """The place of the photo with the greatest cosine; its country has the whole share, the next best follow."""
    rows, wanted = np.asarray(known, dtype=np.float32), np.asarray(asked, dtype=np.float32)
    codes, country = places.codes
    shares, best = np.zeros((len(wanted), len(codes))), np.zeros(len(wanted), dtype=np.int64)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        cosines = wanted[part] @ rows.T
        best[part] = cosines.argmax(axis=1)
        for code in range(len(codes)):
            # Ranks countries by their most alike photo; the sharpness leaves the first with all of it.
            shares[part, code] = cosines[:, country == code].max(axis=1, initial=-1.0)
    sharp = np.exp(1e4 * (shares - shares.max(axis=1, keepdims=True)))
    ranked = sharp / sharp.sum(axis=1, keepdims=True) + 1e-9 * shares
    return Guesses(codes, ranked, places.lats[best], places.lons[best], np.full(len(wanted), np.nan))


def plain_linear(known: npt.NDArray[np.floating], places: LabelledPoints, asked: npt.NDArray[np.floating]) -> Guesses:
    """Multinomial logistic regression over the countries, on standardised features; the middle photo as the point."""
    given = np.asarray(known, dtype=np.float32)
    middle, spread = given.mean(axis=0), given.std(axis=0) + np.float32(1e-6)
    rows, wanted = (given - middle) / spread, (np.asarray(asked, dtype=np.float32) - middle) / spread
    codes, country = places.codes
    weights, offsets = logistic(rows, country, len(codes))
    shares = np.exp(log_shares(wanted @ weights + offsets)).astype(np.float64)
    middles = np.array([_middle(places, np.flatnonzero(country == code)) for code in range(len(codes))])
    best = middles[shares.argmax(axis=1)]
    return Guesses(codes, shares, places.lats[best], places.lons[best], np.full(len(wanted), np.nan))


def _middle(places: LabelledPoints, inside: npt.NDArray[np.int64]) -> int:
    some = inside[:: max(1, len(inside) // _MEDOID_OF)]
    return int(some[medoid(places.lats[some], places.lons[some])])


@dataclass(frozen=True, slots=True)
class PriorFigures:
    """Accuracy of guesses.

    Attributes:
        photos: how many were guessed at.
        country_top1: the share whose country was the likeliest.
        country_top5: the share whose country was among the five likeliest.
        acc_750: the share guessed within 750 km.
        acc_2500: the share guessed within 2,500 km.
        median_km: the median distance.
        country_calibration: expected calibration error of the likeliest country's probability, in ten bins.
        near_calibration: the same of the probability of lying within 750 km; None where none is stated.
    """

    photos: int
    country_top1: float
    country_top5: float
    acc_750: float
    acc_2500: float
    median_km: float
    country_calibration: float
    near_calibration: float | None


@dataclass(frozen=True, slots=True)
class PriorComparison:
    """Figures by who guessed, on all photos and on those farther than 25 km from any photo learned from.

    ``known`` counts photos left out because they are in the collection itself, ``at_sea`` those without a country.
    """

    everywhere: Mapping[str, PriorFigures]
    elsewhere: Mapping[str, PriorFigures] | None
    known: int
    at_sea: int


def compare(prior: LearnedPrior, features: npt.NDArray[np.floating], points: Sequence[LatLon]) -> PriorComparison:
    """Test a prior on photos whose places are known.

    Raises:
        BadInput: no photo is left to test on.
    """
    places = label_places(points) if points else LabelledPoints(np.empty(0), np.empty(0), np.empty(0, dtype=np.str_))
    at_sea = places.countries == ""
    known = prior.holds(features) if len(features) else np.zeros(0, dtype=np.bool_)
    kept = ~at_sea & ~known
    if not kept.any():
        raise BadInput("there is no photo to test on that is on land and not in the collection learned from")
    rows = np.asarray(features)[kept]
    truth = LabelledPoints(places.lats[kept], places.lons[kept], places.countries[kept])
    guesses = {
        PRIOR: prior.guess(rows),
        NEIGHBOUR: nearest_neighbour(prior.features, prior.places, rows),
        LINEAR: plain_linear(prior.features, prior.places, rows),
    }
    far = _find_distant(truth, prior.places)
    everywhere = {who: compute_figures(guess, truth) for who, guess in guesses.items()}
    elsewhere = {who: compute_figures(guess, truth, far) for who, guess in guesses.items()} if far.any() else None
    return PriorComparison(everywhere, elsewhere, int(known.sum()), int((at_sea & ~known).sum()))


def compute_figures(guess: Guesses, truth: LabelledPoints, chosen: Mask | None = None) -> PriorFigures:
    """Return the accuracy of guesses at places, or at some of them."""
    some = np.ones(len(truth.lats), dtype=np.bool_) if chosen is None else chosen
    shares, codes = guess.shares[some], np.array(guess.codes)
    ranked = codes[np.argsort(-shares, axis=1, kind="stable")[:, :5]]
    hits = ranked == truth.countries[some][:, None]
    distance = great_circle_km(guess.lats[some], guess.lons[some], truth.lats[some], truth.lons[some])
    near = guess.near[some]
    return PriorFigures(
        photos=int(some.sum()),
        country_top1=float(hits[:, 0].mean()),
        country_top5=float(hits.any(axis=1).mean()),
        acc_750=float((distance <= NEAR_KM).mean()),
        acc_2500=float((distance <= FAR_KM).mean()),
        median_km=float(np.median(distance)),
        country_calibration=calibration_error(shares.max(axis=1), hits[:, 0]),
        near_calibration=None if np.isnan(near).any() else calibration_error(near, distance <= NEAR_KM),
    )


def calibration_error(stated: npt.NDArray[np.float64], came_true: Mask) -> float:
    """Return the mean gap between stated probabilities and observed frequencies over ten bins."""
    return compute_calibration_error(bin_probabilities(np.clip(stated, 0.0, 1.0), came_true))


def _find_distant(places: LabelledPoints, others: LabelledPoints) -> Mask:
    these, those = (unit_vectors(item.lats, item.lons).astype(np.float32) for item in (places, others))
    far = np.ones(len(these), dtype=np.bool_)
    for start in range(0, len(these), _MEASURING_ROWS_AT_ONCE):
        part = slice(start, start + _MEASURING_ROWS_AT_ONCE)
        far[part] = (these[part] @ those.T).max(axis=1) < np.float32(np.cos(APART_KM / EARTH_RADIUS_KM))
    return far


@dataclass(frozen=True, slots=True)
class _Lesson:
    seen: SeenPhotos
    places: LabelledPoints
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
        rows = compute_means(self.seen.turned[used], spot)
        return learn_gaussians(rows, self.label[used][first], self.areas, strengths)

    def network(self, used: Mask) -> Network:
        """The second expert, from some of the photos."""
        label = self.label[used]
        points = unit_vectors(self.places.lats[used], self.places.lons[used])
        targets = soft_targets(points, self.country[used], label, self.areas)
        return learn_network(self.seen.only(used), label, self.areas, targets, self.seed)

    def linear(self, used: Mask) -> LinearExpert:
        """The third expert, from some of the photos."""
        return learn_linear(self.seen.only(used), self.label[used], self.areas)

    def opinions(self, used: Mask, out: Mask) -> list[Rows]:
        """Return the opinions on held-out photos of those who learned from others.

        First by someone who goes by the number of photos alone, then by network, linear model and Gaussians.
        """
        label, seen = self.label[used], self.seen.only(out)
        counts = photo_counts(label, self.areas)
        known = np.bincount(label, minlength=len(self.areas)) > 0
        blind = np.tile(np.log(counts / counts.sum()).astype(np.float32), (len(seen), 1))
        experts: list[Expert] = [self.network(used), self.linear(used), *self.gaussians(used, GAUSSIAN_STRENGTHS)]
        said = [blind, *(expert.log_shares(seen) for expert in experts)]
        return [without_unseen(item, known) for item in said]


def learn(
    features: npt.NDArray[np.floating],
    points: Sequence[LatLon],
    *,
    encoder: str,
    spec: str = "bundled",
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
    block = number_blocks(places)
    folds = min(FOLDS, int(block.max()) + 1)
    if folds < FEWEST_BLOCKS:
        raise BadInput("all photos are from one corner of the world; a prior needs photos from several regions")
    steps = folds + 2
    progress("scaling", 0, steps)
    half = np.asarray(features)[kept].astype(np.float16)
    scaling = fit_scaling(half)
    scaled = scaling.scale(half)
    areas, label = build_areas(places)
    lesson = _Lesson(
        SeenPhotos(scaled, scaling.rotate(scaled)), places, areas, label, number_spots(places, label), seed
    )
    fold = assign_folds(block, seed, folds)
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
    pools = [learn_weights([blind, item, by_network, by_linear], country, near, areas) for item in by_gaussian]
    best = int(np.argmin([pool.loss for pool in pools]))
    missing = _missing(areas, lesson.country, block)
    chosen = [blind, by_gaussian[best], by_network, by_linear]
    weights = temper(pools[best].weights, chosen, country, areas, missing)
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
        _evaluate_held_out((1 - missing) * areas.by_country(pool_opinions(weights, chosen)), country),
    )
    progress("done", steps, steps)
    return LearnedPrior(encoder, spec, knowledge, places, half)


def _on_land(points: Sequence[LatLon]) -> tuple[Ints, LabelledPoints]:
    places = (
        label_places(points) if len(points) else LabelledPoints(np.empty(0), np.empty(0), np.empty(0, dtype=np.str_))
    )
    kept = np.flatnonzero(places.countries != "")
    return kept, LabelledPoints(places.lats[kept], places.lons[kept], places.countries[kept])


def _missing(areas: Areas, country: Ints, block: Ints) -> float:
    """The probability that the next block of land is in a country not seen yet, as Good and Turing estimate it.

    Half a block more than was seen once keeps small collections from claiming to know all countries.
    """
    pairs = np.unique(np.stack([country, block], axis=1), axis=0)
    once = int((np.bincount(pairs[:, 0], minlength=len(areas.codes)) == 1).sum())
    return min(0.5, (once + 0.5) / (len(pairs) + 1))


def _evaluate_held_out(shares: FloatArray, country: Ints) -> HeldOut:
    ranked = np.argsort(-shares, axis=1)[:, :5]
    hits = ranked == country[:, None]
    error = calibration_error(shares.max(axis=1), hits[:, 0])
    return HeldOut(len(country), float(hits[:, 0].mean()), float(hits.any(axis=1).mean()), error)
