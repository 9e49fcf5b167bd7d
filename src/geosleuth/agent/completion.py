"""Completion of answers: fields that a method's form leaves out, and doubts about the answer.

A place that is named without a point gets the point of that place on the map, marked as derived. A point without odds
gets them by one more question. Benchmark runs do neither: there a paper's own form counts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from geosleuth.answer import Answer
from geosleuth.answer.answer import radius_words
from geosleuth.atlas.placing import Placement, Placer, with_point
from geosleuth.geo import coordinates, distance_km
from geosleuth.support.lazy import lazy_pattern
from geosleuth.support.text.numbers import distance
from geosleuth.tools import Case
from geosleuth.tools.viewer import one_line, place_words

from .events import Doubt, Hypothesis
from .pool import is_at_candidate

# Report a name farther than this from its point, or an answer farther than this from the candidates.
FAR_KM = 100.0

# Radius for which odds are asked when an answer gives none: the papers' city level.
ODDS_RADIUS_KM = 25.0

_LIKELY = 0.5
_AHEAD = 0.2
_ODDS = lazy_pattern(r"(\d{1,3}(?:\.\d+)?)\s*%|(?<![\d.])(0?\.\d+|[01](?:\.0+)?)(?![\d.])")
_THOUGHT = lazy_pattern(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Completed:
    """An answer with what was filled in: the name of the place that its point is derived from, and what to doubt."""

    answer: Answer
    derived: str | None = None
    doubts: tuple[Doubt, ...] = ()


async def complete(case: Case, answer: Answer, pool: Sequence[Hypothesis]) -> Completed:
    """Return the answer with a point for a place that it only names, and what does not fit together in it.

    A country alone gets no point: its middle would say nothing.

    Raises:
        ServiceFault: the map can't be asked.
    """
    placer = Placer(case.atlas)
    named = await placer.place_answer(answer)
    derived = None
    placed = with_point(answer, named)
    if placed is not answer and named is not None:
        answer, derived = placed, _format_placement(named)
    doubts = []
    if answer.point is not None and named is not None and derived is None:
        away_km = max(0.0, distance_km(named.point, answer.point) - named.radius_km)
        if not await placer.fits(answer.address, answer.point, max(FAR_KM, answer.radius_km or 0.0)):
            doubts.append(
                Doubt("name", f"{_format_placement(named)} lies {distance(away_km)} from {coordinates(answer.point)}")
            )
    return Completed(answer, derived, (*doubts, *_against_pool(answer, pool)))


def odds_question(answer: Answer) -> str:
    """Ask how likely an answer with a point is."""
    if answer.point is None:
        raise ValueError("odds are asked for a point")
    return (
        f"One last question: how likely is it that the photo was taken within "
        f"{radius_words(answer.radius_km or ODDS_RADIUS_KM)} of {coordinates(answer.point)}? Of your answers with 0.7, "
        "seven in ten should be right. Reply with one number from 0 to 1 and nothing else."
    )


def with_odds(answer: Answer, reply: str) -> Answer:
    """Return the answer with the odds that a reply gives; as it is where the reply gives none."""
    found = _ODDS.search(_THOUGHT.sub("", reply))
    if found is None:
        return answer
    stated = float(found[2]) if found[2] else float(found[1]) / 100
    return replace(answer, probability=min(1.0, stated), radius_km=answer.radius_km or ODDS_RADIUS_KM)


def _format_placement(placement: Placement) -> str:
    return place_words(placement.place).removesuffix(f" ({one_line(placement.place.kind)})")


def _against_pool(answer: Answer, pool: Sequence[Hypothesis]) -> Iterator[Doubt]:
    """Yield doubts where the run's own notes support another place than the answer."""
    point = answer.point
    if point is None:
        return
    here = [item for item in pool if is_at_candidate(point, item)]
    held = [item for item in here if item.fate != "dropped"]
    if here and not held:
        yield Doubt("pool", f"{here[-1].place} was ruled out before")
        return
    best = max((item for item in pool if item.fate != "dropped"), key=lambda item: item.confidence or 0.0, default=None)
    if best is None or best in held or best.point is None or best.confidence is None:
        return
    own = max((item.confidence or 0.0 for item in held), default=0.0)
    away_km = distance_km(point, best.point) - (best.radius_km or 0.0)
    if best.confidence >= _LIKELY and best.confidence - own >= _AHEAD and away_km > FAR_KM:
        yield Doubt("pool", f"{best.place} was held likelier")
