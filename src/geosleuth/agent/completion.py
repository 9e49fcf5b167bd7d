"""What a method's form leaves out, filled in after the answer, and what about the answer does not fit together.

A place that is named without a point gets the point of that place on the map, marked as derived. A point without odds
gets them by one more question. Benchmark runs do neither: there a paper's own form counts.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import envelope, radius_words
from geosleuth.atlas.placing import places_meant
from geosleuth.geo import LatLon, coordinates, distance_km
from geosleuth.lazy import lazy_pattern
from geosleuth.text.numbers import distance
from geosleuth.tools import Case
from geosleuth.tools.places import radius_km_of
from geosleuth.tools.viewer import one_line, place_words

from .events import Doubt, Hypothesis
from .pool import lies_at

FAR_KM = 100.0
"""A name that lies further than this from its point, or an answer from the candidates, is told."""

ODDS_RADIUS_KM = 25.0
"""What odds are asked for where an answer gives no radius: the papers' city level."""

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


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    point: LatLon
    radius_km: float | None
    whole_country: bool
    others: tuple[tuple[LatLon, float], ...] = ()

    def away_km(self, point: LatLon) -> float:
        """How far a point lies from the place, or from another of the same name."""
        places = [(self.point, self.radius_km or 0.0), *self.others]
        return max(0.0, min(distance_km(centre, point) - radius_km for centre, radius_km in places))


async def complete(case: Case, answer: Answer, pool: Sequence[Hypothesis]) -> Completed:
    """Return the answer with a point for a place that it only names, and what does not fit together in it.

    A country alone gets no point: its middle would say nothing.

    Raises:
        ServiceFault: the map can't be asked.
    """
    named = await _named(case, answer.address)
    derived = None
    if answer.point is None and named is not None and not named.whole_country:
        answer = replace(answer, point=named.point, radius_km=answer.radius_km or named.radius_km)
        derived = named.name
    doubts = []
    if answer.point is not None and named is not None and derived is None:
        away_km = named.away_km(answer.point)
        if away_km > max(FAR_KM, answer.radius_km or 0.0):
            doubts.append(Doubt("name", f"{named.name} lies {distance(away_km)} from {coordinates(answer.point)}"))
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


async def _named(case: Case, address: Address) -> _Named | None:
    """The finest place that an address names and the map knows, in the country that it names."""
    hits = [hit for hit in await places_meant(case.atlas, envelope(address)) if hit.match != "fuzzy"]
    if not hits:
        return None
    place = hits[0].place
    radius_km, *radii_km = [await asyncio.to_thread(radius_km_of, hit.place) for hit in hits]
    name = place_words(place).removesuffix(f" ({one_line(place.kind)})")
    others = tuple((hit.place.point, radius or 0.0) for hit, radius in zip(hits[1:], radii_km, strict=True))
    return _Named(name, place.point, radius_km, place.kind == "country", others)


def _against_pool(answer: Answer, pool: Sequence[Hypothesis]) -> Iterator[Doubt]:
    """Where the run's own notes speak for another place than the answer."""
    point = answer.point
    if point is None:
        return
    here = [one for one in pool if lies_at(point, one)]
    held = [one for one in here if one.fate != "dropped"]
    if here and not held:
        yield Doubt("pool", f"{here[-1].place} was ruled out before")
        return
    best = max((one for one in pool if one.fate != "dropped"), key=lambda one: one.confidence or 0.0, default=None)
    if best is None or best in held or best.point is None or best.confidence is None:
        return
    own = max((one.confidence or 0.0 for one in held), default=0.0)
    away_km = distance_km(point, best.point) - (best.radius_km or 0.0)
    if best.confidence >= _LIKELY and best.confidence - own >= _AHEAD and away_km > FAR_KM:
        yield Doubt("pool", f"{best.place} was held likelier")
