"""Thresholds for an encoder from labelled pairs of place names; `rewards.py` measures them.

How well an encoder's similarities separate the pairs shows whether it is usable at all.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.lab.score import AnswerNames, TruthNames
from geosleuth.lab.score.levels import RULES
from geosleuth.lab.score.rewards import Encoder, cosines, similarities
from geosleuth.lab.score.rewards.terms import Weights
from geosleuth.names import PlaceNames
from geosleuth.support.errors import BadInput

PAIRS = Path(__file__).parent / "data" / "name_pairs.csv"
PairLevel = Literal["country", "region", "precise"]
LEAST_PRECISION = 0.9
"""The required precision of an encoder's matches."""
NEVER = 1.01
"""A threshold that no similarity reaches."""
LEVELS: tuple[PairLevel, ...] = ("country", "region", "precise")


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names of one level and whether they mean one place. ``country`` (ISO) is where both are looked up."""

    level: PairLevel
    a: str
    b: str
    same: bool
    country: str | None = None


@dataclass(frozen=True, slots=True)
class LevelFit:
    """The quality of similarities at one level.

    Attributes:
        threshold: from this similarity on, two names count as one place.
        precision: of the pairs at or above it, the share that is one place.
        recall: of the pairs that are one place, the share at or above it.
        area: the probability that a pair of one place is more similar than one of two (ties count half): 0.5 is chance.
        pairs: the number of pairs.
    """

    threshold: float
    precision: float
    recall: float
    area: float
    pairs: int


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """Thresholds for the three levels and their quality."""

    encoder: str
    country: LevelFit
    region: LevelFit
    precise: LevelFit

    @property
    def thresholds(self) -> Weights:
        """Return the thresholds as a semantic reward takes them."""
        return self.country.threshold, self.region.threshold, self.precise.threshold


def fit_thresholds(
    pairs: Sequence[NamePair], encoder: Encoder, least_precision: float = LEAST_PRECISION
) -> ThresholdFit:
    """Return for each level the lowest threshold with enough precision.

    A reward for wrong names would teach them, so precision is required, and recall is what remains. A level without
    a precise threshold gets `NEVER`. The figures are those of the pairs it was fitted on: use other pairs with
    `measure` for unbiased ones.

    Raises:
        BadInput: a level has no pair of one place, or none of two.
    """
    scores = cosines(encoder, [(pair.a, pair.b) for pair in pairs])
    fits = []
    for level in LEVELS:
        alike, same = _of_level(pairs, scores, level)
        _check_both(same, level)
        fits.append(_figures(alike, same, _threshold(alike, same, least_precision)))
    return ThresholdFit(encoder.name, *fits)


def measure(pairs: Sequence[NamePair], scores: FloatArray, thresholds: Sequence[float], name: str) -> ThresholdFit:
    """Return the quality of given thresholds on given similarities, one per pair.

    Raises:
        BadInput: a level has no pair of one place, or none of two.
    """
    fits = []
    for level, threshold in zip(LEVELS, thresholds, strict=True):
        alike, same = _of_level(pairs, scores, level)
        _check_both(same, level)
        fits.append(_figures(alike, same, threshold))
    return ThresholdFit(name, *fits)


def table_scores(
    pairs: Iterable[NamePair], encoder: Encoder | None = None, names: PlaceNames | None = RULES
) -> FloatArray:
    """Return the similarity of each pair as a semantic reward computes it: tables first, then the encoder."""
    listed = list(pairs)
    columns = [LEVELS.index(pair.level) for pair in listed]
    truths = [TruthNames(*_placed(pair, pair.a)) for pair in listed]
    answers = [AnswerNames(*_placed(pair, pair.b)) for pair in listed]
    found = similarities(truths, answers, encoder, names=names)
    return np.asarray(found[np.arange(len(columns)), columns])


def _placed(pair: NamePair, name: str) -> tuple[str | None, str | None, str | None]:
    """Return a name at its own level, below the country in which both names are looked up."""
    if pair.level == "country":
        return name, None, None
    return (pair.country, name, None) if pair.level == "region" else (pair.country, None, name)


def name_pairs() -> tuple[NamePair, ...]:
    """Return the labelled pairs: one place in two languages or spellings, and two places.

    ``scripts/build_name_pairs.py`` makes them from CLDR's and GeoNames' names, so that they measure an encoder and not
    these tables.
    """
    rows = csv.DictReader(PAIRS.read_text(encoding="utf-8").splitlines())
    return tuple(
        NamePair(cast("PairLevel", row["level"]), row["a"], row["b"], row["same"] == "yes", row["country"] or None)
        for row in rows
    )


def _of_level(pairs: Sequence[NamePair], scores: FloatArray, level: PairLevel) -> tuple[FloatArray, BoolArray]:
    chosen = [row for row, pair in enumerate(pairs) if pair.level == level]
    return scores[chosen], np.array([pairs[row].same for row in chosen], dtype=np.bool_)


def _check_both(same: BoolArray, level: PairLevel) -> None:
    if not same.any() or same.all():
        raise BadInput(f"the pairs for {level} need some that are one place and some that are two")


def _threshold(alike: FloatArray, same: BoolArray, least_precision: float) -> float:
    order = np.argsort(-alike, kind="stable")
    ranked = alike[order]
    precision = np.cumsum(same[order]) / np.arange(1, len(order) + 1)
    # A threshold accepts all pairs of one similarity or none.
    last_of_its_kind = np.append(ranked[1:] != ranked[:-1], True)
    good = np.flatnonzero((precision >= least_precision) & last_of_its_kind)
    return float(ranked[good[-1]]) if len(good) else NEVER


def _figures(alike: FloatArray, same: BoolArray, threshold: float) -> LevelFit:
    taken = alike >= threshold
    hits = int((taken & same).sum())
    more = (alike[same][:, None] > alike[~same][None, :]).mean()
    ties = (alike[same][:, None] == alike[~same][None, :]).mean()
    return LevelFit(
        threshold=threshold,
        precision=hits / int(taken.sum()) if taken.any() else 0.0,
        recall=hits / int(same.sum()),
        area=float(more + ties / 2),
        pairs=len(same),
    )
