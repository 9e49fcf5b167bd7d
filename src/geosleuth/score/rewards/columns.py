"""What rewards are made of, in columns: from answers and truths to distances, levels, similarities and agreements.

Everything that costs (a geocoder, an encoder, a judge) is passed in, and asked only for what a reward needs.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, LatLon, distances_km
from geosleuth.geo.extent import BoolArray
from geosleuth.names import PlaceNames
from geosleuth.score.levels import RULES, AnswerNames, Truth, TruthNames, match_levels

from .conclusions import Judge, conclusions_of, judged
from .encoders import Encoder, equal_texts, similarities, truth_levels

Geocoder = Callable[[str], LatLon | None]
"""From the name of a place to where it is; None where nobody knows."""

Column = Literal["distance_km", "right", "given", "similarity", "equal", "agrees", "lengths", "groups"]

PointFrom = Literal["answer", "text", "either"]
"""Where an answer's point comes from: its own coordinates, its address through a geocoder, or the address where it has
no coordinates."""

Against = Literal["own", "truth"]
"""What a judge's derivation is compared with: the reply's own conclusions, or the truth."""


@dataclass(frozen=True, slots=True)
class Helpers:
    """Who is asked.

    Without an encoder, names that the tables don't know are not alike; without a geocoder, an answer without
    coordinates has no point.
    """

    geocoder: Geocoder | None = None
    encoder: Encoder | None = None
    judge: Judge | None = None
    names: PlaceNames = RULES


@dataclass(frozen=True, slots=True)
class Columns:
    """One row per reply; a column is None where nobody worked it out.

    Attributes:
        distance_km: how far off, shape (n,); NaN where there is no point.
        right: by rule, whether country, region and city are right, shape (n, 3).
        given: whether the truth names the level, shape (n, 3).
        similarity: how like the names are, shape (n, 3).
        equal: whether the texts are the same, shape (n, 3).
        agrees: whether a judge came from the reasoning to the conclusion, shape (n, 3).
        lengths: how long the reasoning is, shape (n, 3).
        groups: which replies answer the same question, shape (n,); None where all of them do.
    """

    distance_km: FloatArray | None = None
    right: BoolArray | None = None
    given: BoolArray | None = None
    similarity: FloatArray | None = None
    equal: BoolArray | None = None
    agrees: BoolArray | None = None
    lengths: FloatArray | None = None
    groups: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns to work out, and how."""

    columns: frozenset[Column] = field(default_factory=frozenset)
    point_from: PointFrom = "either"
    against: Against = "own"
    by_tables: bool = True
    keep_evidence: bool = False


def work_out(
    answers: Sequence[Answer],
    truths: Sequence[Truth],
    wanted: Wanted,
    helpers: Helpers,
    groups: Sequence[Hashable] | None = None,
) -> Columns:
    """The columns that are wanted.

    Raises:
        BadInput: one of them needs a helper that was not passed in.
        ValueError: there are not as many truths or groups as answers.
    """
    if len(truths) != len(answers) or (groups is not None and len(groups) != len(answers)):
        counts = f"{len(answers)} answers, {len(truths)} truths" + ("" if groups is None else f", {len(groups)} groups")
        raise ValueError(f"there must be one truth and one group for each answer: {counts}")
    _check_helpers(wanted, helpers)
    columns = wanted.columns
    right_names = [TruthNames(truth.country, truth.region, truth.city) for truth in truths]
    said_names = [conclusions_of(answer.address) for answer in answers]
    agrees = lengths = None
    if helpers.judge is not None and columns & {"agrees", "lengths"}:
        against = None if wanted.against == "own" else [AnswerNames(*truth_levels(names)) for names in right_names]
        addresses, kept = [answer.address for answer in answers], wanted.keep_evidence
        agrees, lengths = judged(addresses, helpers.judge, against, helpers.names, keep_evidence=kept)
    tables = helpers.names if wanted.by_tables else None
    return Columns(
        distance_km=_distances(answers, truths, wanted, helpers) if "distance_km" in columns else None,
        right=_right(right_names, said_names, helpers.names) if "right" in columns else None,
        given=_given(right_names) if "given" in columns else None,
        similarity=similarities(right_names, said_names, helpers.encoder, names=tables)
        if "similarity" in columns
        else None,
        equal=equal_texts(right_names, said_names) if "equal" in columns else None,
        agrees=agrees,
        lengths=lengths,
        groups=None if groups is None else _numbered(groups),
    )


def _check_helpers(wanted: Wanted, helpers: Helpers) -> None:
    if "agrees" in wanted.columns and helpers.judge is None:
        raise BadInput("a consistency reward needs a judge that derives places from reasonings; pass one in")
    if "distance_km" in wanted.columns and wanted.point_from == "text" and helpers.geocoder is None:
        raise BadInput('points from text ("point: text") need a geocoder; pass one in, or take "point: either"')
    if "similarity" in wanted.columns and not wanted.by_tables and helpers.encoder is None:
        raise BadInput('similarity without tables ("aliases: false") needs an encoder; pass one in')


def _distances(answers: Sequence[Answer], truths: Sequence[Truth], wanted: Wanted, helpers: Helpers) -> FloatArray:
    known: dict[str, LatLon | None] = {}
    said = np.full((len(answers), 2), np.nan)
    for row, answer in enumerate(answers):
        point = answer.point if wanted.point_from != "text" else None
        if point is None and wanted.point_from != "answer" and helpers.geocoder is not None:
            words = str(answer.address)
            if words and words not in known:
                known[words] = helpers.geocoder(words)
            point = known.get(words)
        if point is not None:
            said[row] = point.lat, point.lon
    true = np.array([(truth.point.lat, truth.point.lon) for truth in truths], dtype=np.float64).reshape(-1, 2)
    return distances_km(true[:, 0], true[:, 1], said[:, 0], said[:, 1])


def _right(truths: Sequence[TruthNames], answers: Sequence[AnswerNames], names: PlaceNames) -> BoolArray:
    results = (match_levels(truth, answer, names) for truth, answer in zip(truths, answers, strict=True))
    rows = [(bool(result.country), bool(result.region), bool(result.city)) for result in results]
    return np.array(rows, dtype=np.bool_).reshape(-1, 3)


def _given(truths: Sequence[TruthNames]) -> BoolArray:
    return np.array([[bool(name) for name in truth_levels(truth)] for truth in truths], dtype=np.bool_).reshape(-1, 3)


def _numbered(groups: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
