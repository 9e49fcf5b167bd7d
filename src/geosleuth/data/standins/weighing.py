"""Where letters and the look of a road point: countries by their odds, places by how well they agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from geosleuth.atlas.facts import all_countries
from geosleuth.clues import Clue, TextSeen, country_prior, text_clues
from geosleuth.geo import LatLon, distance_km
from geosleuth.photo.text import script_of

_AGREE_KM = 15.0
_AGREES = 1.6
_OTHER_SIDE = 0.03
_LEAST_ODDS = 0.004
_SURE = 0.9

SAYS_ITSELF = "what its number says"
"""How a candidate was found whose dialling code or postcode gives it away."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that something points at. ``of`` says what pointed there; what agrees must come from something else.

    ``borne_out`` are other things that were read and stand in its address too.
    """

    name: str
    point: LatLon
    country: str | None
    weight: float
    of: str
    how: str
    place_id: str = ""
    fuzzy: bool = False
    borne_out: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def clues_in(texts: tuple[tuple[str, str], ...]) -> tuple[Clue, ...]:
    """What the lines say by themselves: scripts, languages, numbers, addresses."""
    lines = [
        TextSeen(text, "image-1", (0.0, 20.0 * row, 100.0, 20.0 * row + 12.0), _SURE, script_of(text))
        for row, (_, text) in enumerate(texts)
    ]
    return tuple(text_clues(lines))


def country_odds(texts: tuple[tuple[str, str], ...], drives_on: str | None) -> dict[str, float]:
    """Probabilities of countries, the likeliest first."""
    odds = dict(country_prior())
    for clue in clues_in(texts):
        if clue.countries:
            for code, prior in country_prior().items():
                told = clue.countries.get(code, 0.0) / prior
                odds[code] *= clue.reliability * told + 1 - clue.reliability
    if drives_on is not None:
        known = all_countries()
        for code in odds:
            if known[code].driving_side not in (None, drives_on):
                odds[code] *= _OTHER_SIDE
    total = sum(odds.values()) or 1.0
    ranked = sorted(odds, key=lambda code: (-round(odds[code] / total, 9), code))
    return {code: odds[code] / total for code in ranked}


def ranked(candidates: Sequence[Candidate], odds: Mapping[str, float]) -> list[Candidate]:
    """The candidates, the best first: those that fit their name, the country, and what else was found."""
    scored = [(round(_score(one, candidates, odds), 9), one) for one in candidates]
    scored.sort(key=lambda pair: (-pair[0], pair[1].name, pair[1].point.lat, pair[1].point.lon))
    return [one for _, one in scored]


def agreeing(one: Candidate, candidates: Sequence[Candidate]) -> int:
    """How many other things point to the same place."""
    near = {other.of for other in candidates if other.of != one.of and distance_km(one.point, other.point) <= _AGREE_KM}
    return len(near) + len(one.borne_out)


def _score(one: Candidate, candidates: Sequence[Candidate], odds: Mapping[str, float]) -> float:
    fits = log(max(one.weight, 0.01)) + 0.5 * log(max(odds.get(one.country or "", 0.0), _LEAST_ODDS))
    return fits + _AGREES * agreeing(one, candidates)
