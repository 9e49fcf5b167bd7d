"""What an encoder's similarities are worth for names of places: thresholds from labelled pairs, and what they catch.

Thresholds belong to an encoder. GeoAgent's 0.7 and 0.5 are those of its own; another needs others, and how well they
separate says whether it may be asked at all.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

import numpy as np

from geosleuth.errors import BadInput, DataFault
from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.names import PlaceNames
from geosleuth.score.levels import RULES, AnswerNames, TruthNames

from .encoding import Encoder, cosines
from .of_levels import Weights
from .similarity import similarities

PairLevel = Literal["country", "region", "precise"]
LEAST_PRECISION = 0.9
"""How many of the pairs that an encoder takes for one place must be one."""

NEVER = 1.01
"""A threshold that no similarity reaches."""

LEVELS: tuple[PairLevel, ...] = ("country", "region", "precise")


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names of one level and whether they mean one place. ``country`` (ISO) is where both are looked for."""

    level: PairLevel
    a: str
    b: str
    same: bool
    country: str | None = None


@dataclass(frozen=True, slots=True)
class LevelFit:
    """What similarities of one level are worth.

    Attributes:
        threshold: the similarity from which on two names are taken for one place.
        precision: of the pairs at or above it, how many are one place.
        recall: of the pairs that are one place, how many are at or above it.
        area: the chance that a pair of one place is more alike than one of two (ties count half): 0.5 is worthless.
        pairs: how many pairs.
    """

    threshold: float
    precision: float
    recall: float
    area: float
    pairs: int


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """Thresholds for the three levels and how well they do."""

    encoder: str
    country: LevelFit
    region: LevelFit
    precise: LevelFit

    @property
    def thresholds(self) -> Weights:
        """As a semantic reward takes them."""
        return self.country.threshold, self.region.threshold, self.precise.threshold


def fit_thresholds(
    pairs: Sequence[NamePair], encoder: Encoder, least_precision: float = LEAST_PRECISION
) -> ThresholdFit:
    """For each level, the lowest threshold from which on enough of the pairs are one place.

    A reward that praises wrong names teaches them, so precision is asked for, and recall is what is left. A level at
    which no threshold is precise enough gets `NEVER`. The figures are those of the pairs it was fitted on: fit on some
    and `measure` on others for honest ones.

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
    """What given thresholds do with given similarities, one per pair.

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
    """How alike the names of each pair are as a semantic reward sees it: tables first, the encoder second."""
    listed = list(pairs)
    columns = [LEVELS.index(pair.level) for pair in listed]
    truths = [TruthNames(*_placed(pair, pair.a)) for pair in listed]
    answers = [AnswerNames(*_placed(pair, pair.b)) for pair in listed]
    found = similarities(truths, answers, encoder, names=names)
    return np.asarray(found[np.arange(len(columns)), columns])


def _placed(pair: NamePair, name: str) -> tuple[str | None, str | None, str | None]:
    """A name at its own level, below the country that both names of the pair are looked for in."""
    if pair.level == "country":
        return name, None, None
    return (pair.country, name, None) if pair.level == "region" else (pair.country, None, name)


@cache
def name_pairs() -> tuple[NamePair, ...]:
    """The labelled pairs that come with the package: one place in two languages or spellings, and two places.

    ``scripts/build_name_pairs.py`` makes them from CLDR's and GeoNames' names, so that they say how good an encoder is
    and not how good these tables are.
    """
    source = files("geosleuth.score.rewards") / "data" / "name_pairs.csv"
    try:
        rows = list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
        return tuple(
            NamePair(cast("PairLevel", row["level"]), row["a"], row["b"], row["same"] == "yes", row["country"] or None)
            for row in rows
        )
    except (OSError, ValueError, KeyError) as error:
        raise DataFault(f"the table of name pairs can't be read: {source}") from error


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
    # A threshold takes all pairs of one similarity or none.
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
