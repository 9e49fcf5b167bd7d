"""How like an answer's names are to the truth's, level by level: tables of names first, an encoder second.

Where `geosleuth.names` knows two names to mean one place they are alike: 1. Where it knows them to mean two, they are
not: 0, however alike they look (Niger and Nigeria). Only what the tables can't tell is left to the encoder.
"""

from collections.abc import Sequence

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.names import PlaceNames, country_code
from geosleuth.names.cities import is_far_city
from geosleuth.names.regions import is_listed_region
from geosleuth.score.levels import RULES, AnswerNames, TruthNames, match_levels

from .encoding import Encoder, cosines

Levels = tuple[str | None, str | None, str | None]


def similarities(
    truths: Sequence[TruthNames],
    answers: Sequence[AnswerNames],
    encoder: Encoder | None = None,
    *,
    names: PlaceNames | None = RULES,
) -> FloatArray:
    """Similarity of country, region and precise place per answer, shape (n, 3); 0 where either says nothing.

    Args:
        truths: what is true.
        answers: what was said.
        encoder: who is asked where the tables don't know; None leaves it at 0.
        names: the tables; None leaves everything to the encoder, as GeoAgent does.

    Raises:
        ValueError: the two have different lengths.
    """
    found = np.zeros((len(truths), 3))
    unsettled: list[tuple[int, int]] = []
    pairs: list[tuple[str, str]] = []
    for row, (truth, answer) in enumerate(zip(truths, answers, strict=True)):
        told = table_verdicts(truth, answer, names) if names is not None else (None, None, None)
        for level, (right, said) in enumerate(zip(truth_levels(truth), answer_levels(answer), strict=True)):
            if told[level] is not None:
                found[row, level] = float(told[level] is True)
            elif encoder is not None and right and said and right.strip() and said.strip():
                unsettled.append((row, level))
                pairs.append((right, said))
    if encoder is not None and pairs:
        rows, levels = zip(*unsettled, strict=True)
        found[list(rows), list(levels)] = cosines(encoder, pairs)
    return found


def table_verdicts(
    truth: TruthNames, answer: AnswerNames, names: PlaceNames = RULES
) -> tuple[bool | None, bool | None, bool | None]:
    """Per level, whether the tables know the names to mean one place (True) or two (False); None where they can't tell.

    Each level is looked at by itself: a right city in a wrong country is a right city here.
    """
    context = truth.country or answer.country
    said = AnswerNames(context, answer.region, answer.precise)
    country = match_levels(TruthNames(country=truth.country), answer, names).country
    region = match_levels(TruthNames(region=truth.region), said, names).region
    city = match_levels(TruthNames(city=truth.city), said, names).city
    return (
        country or (False if _are_countries(truth.country, answer.country) else None),
        region or (False if _are_regions(truth.region, answer.region, context) else None),
        city or (False if _is_another_city(truth.city, answer.precise, context) else None),
    )


def equal_texts(truths: Sequence[TruthNames], answers: Sequence[AnswerNames]) -> BoolArray:
    """Per level, whether the two texts are letter for letter the same but for the space around them, shape (n, 3)."""
    return np.array(
        [
            [
                bool(right and said) and (right or "").strip() == (said or "").strip()
                for right, said in zip(truth_levels(truth), answer_levels(answer), strict=True)
            ]
            for truth, answer in zip(truths, answers, strict=True)
        ],
        dtype=np.bool_,
    ).reshape(-1, 3)


def truth_levels(truth: TruthNames) -> Levels:
    """The truth's names, coarse to fine."""
    return truth.country, truth.region, truth.city


def answer_levels(answer: AnswerNames) -> Levels:
    """The answer's names, coarse to fine."""
    return answer.country, answer.region, answer.precise


def _are_countries(a: str | None, b: str | None) -> bool:
    return bool(a and b) and country_code(a or "") is not None and country_code(b or "") is not None


def _are_regions(a: str | None, b: str | None, country: str | None) -> bool:
    return bool(a and b) and is_listed_region(a or "", country) and is_listed_region(b or "", country)


def _is_another_city(a: str | None, b: str | None, country: str | None) -> bool:
    return bool(a and b) and is_far_city(b or "", a or "", country)
