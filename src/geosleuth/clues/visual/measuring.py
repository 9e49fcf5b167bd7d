"""How good a prior is on photos of other places, beside the nearest neighbour and a plain linear model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geosleuth.errors import BadInput
from geosleuth.geo import EARTH_RADIUS_KM, LatLon, great_circle_km
from geosleuth.score import calibration

from .areas import APART_KM, Mask
from .baselines import nearest_neighbour, plain_linear
from .learned import LearnedPrior
from .model import NEAR_KM
from .spreading import Guesses, Places, places_at, unit_vectors

FAR_KM = 2500.0
PRIOR, NEIGHBOUR, LINEAR = "prior", "nearest neighbour", "plain linear"
_ROWS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class Figures:
    """How good guesses are.

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
class Comparison:
    """Figures by who guessed, on all photos and on those farther than 25 km from any photo learned from.

    ``known`` counts photos left out because they are in the collection itself, ``at_sea`` those without a country.
    """

    everywhere: Mapping[str, Figures]
    elsewhere: Mapping[str, Figures] | None
    known: int
    at_sea: int


def compare(prior: LearnedPrior, features: npt.NDArray[np.floating], points: Sequence[LatLon]) -> Comparison:
    """Test a prior on photos whose places are known.

    Raises:
        BadInput: no photo is left to test on.
    """
    places = places_at(points) if points else Places(np.empty(0), np.empty(0), np.empty(0, dtype=np.str_))
    at_sea = places.countries == ""
    known = prior.holds(features) if len(features) else np.zeros(0, dtype=np.bool_)
    kept = ~at_sea & ~known
    if not kept.any():
        raise BadInput("there is no photo to test on that is on land and not in the collection learned from")
    rows = np.asarray(features)[kept]
    truth = Places(places.lats[kept], places.lons[kept], places.countries[kept])
    guesses = {
        PRIOR: prior.guess(rows),
        NEIGHBOUR: nearest_neighbour(prior.features, prior.places, rows),
        LINEAR: plain_linear(prior.features, prior.places, rows),
    }
    far = _far_from(truth, prior.places)
    everywhere = {who: figures_of(guess, truth) for who, guess in guesses.items()}
    elsewhere = {who: figures_of(guess, truth, far) for who, guess in guesses.items()} if far.any() else None
    return Comparison(everywhere, elsewhere, int(known.sum()), int((at_sea & ~known).sum()))


def figures_of(guess: Guesses, truth: Places, chosen: Mask | None = None) -> Figures:
    """How good guesses are at places, or at some of them."""
    some = np.ones(len(truth.lats), dtype=np.bool_) if chosen is None else chosen
    shares, codes = guess.shares[some], np.array(guess.codes)
    ranked = codes[np.argsort(-shares, axis=1, kind="stable")[:, :5]]
    hits = ranked == truth.countries[some][:, None]
    distance = great_circle_km(guess.lats[some], guess.lons[some], truth.lats[some], truth.lons[some])
    near = guess.near[some]
    return Figures(
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
    """How far stated probabilities lie from how often they came true, on average over ten bins."""
    half = np.full(len(stated), 0.5)
    found = calibration(np.where(came_true, 0.0, 1.0), np.clip(stated, 0.0, 1.0), half)
    return found.expected_error if found else 0.0


def _far_from(places: Places, others: Places) -> Mask:
    these, those = (unit_vectors(one.lats, one.lons).astype(np.float32) for one in (places, others))
    far = np.ones(len(these), dtype=np.bool_)
    for start in range(0, len(these), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        far[part] = (these[part] @ those.T).max(axis=1) < np.float32(np.cos(APART_KM / EARTH_RADIUS_KM))
    return far
