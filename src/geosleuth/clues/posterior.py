"""From clues to places: how likely is each, and which of them speaks for it and against it.

`geosleuth.clues.weighing` holds the mathematics. What is seen in a photo may mislead: a clue that is about the place
only with its reliability lets several others outvote it, and two fine clues that meet win over a famous name far away.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from geosleuth.geo import Extent, FloatArray, LatLon, distance_km

from .model import Clue, ClueKind, TextSeen
from .weighing import Workings, work_out

_MOST = 0.5
TELLING = 0.1
"""From this log ratio on a clue speaks for a place or against it: 10 % more or less."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a clue adds to the log of a hypothesis, beside a random place: above 0 speaks for it, below 0 against it.

    ``elsewhere`` is whether the clue speaks for other parts of the country: a number of another area is no word for a
    town, however much it says for the country.
    """

    clue: Clue
    log_ratio: float
    elsewhere: bool = False

    @property
    def speaks_for(self) -> bool:
        """Whether it is worth naming as a word for the place."""
        return self.log_ratio >= TELLING and not self.elsewhere

    @property
    def speaks_against(self) -> bool:
        """Whether it is worth naming as a word against the place."""
        return self.log_ratio <= -TELLING or self.elsewhere


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that some clue points at; ``country`` is an ISO code."""

    name: str
    point: LatLon
    radius_km: float
    probability: float
    country: str | None
    place_id: str | None
    _workings: Workings = field(repr=False, compare=False)
    _column: int = field(repr=False, compare=False)

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each clue adds, the strongest word for it first."""
        return contributions_at(self._workings, self._column)

    @property
    def supporting(self) -> tuple[Clue, ...]:
        """The clues that speak for it, the strongest first."""
        return tuple(part.clue for part in self.contributions if part.speaks_for)

    @property
    def contradicting(self) -> tuple[Clue, ...]:
        """The clues that speak against it, the strongest first."""
        return tuple(part.clue for part in reversed(self.contributions) if part.speaks_against)


@dataclass(frozen=True, slots=True)
class Posterior:
    """How likely everything is; candidates, ``elsewhere`` and ``unknown`` add up to 1.

    Attributes:
        candidates: places, the likeliest first.
        countries: probability by ISO code, the likeliest first, candidates included; ``unknown`` is not in them.
        elsewhere: by ISO code, that it is in this country and at none of the candidates.
        unknown: that none of the clues is about the place.
        clues: what was weighed: each piece of evidence once, and only such as say anything.
        within: the extent that everything must lie in, if any.
    """

    candidates: tuple[Candidate, ...]
    countries: Mapping[str, float]
    elsewhere: Mapping[str, float]
    unknown: float
    clues: tuple[Clue, ...]
    within: Extent | None
    workings: Workings = field(repr=False, compare=False)

    def country_contributions(self, code: str) -> tuple[Contribution, ...]:
        """What each clue adds to a country as a whole, the strongest word for it first; empty for an unknown code."""
        if code not in self.workings.codes:
            return ()
        return contributions(self.workings, self.workings.country_ratios[:, self.workings.codes.index(code)])


def posterior(
    clues: Iterable[Clue],
    *,
    within: Extent | None = None,
    countries: Iterable[str] | None = None,
    lines: Iterable[TextSeen] = (),
) -> Posterior:
    """Weigh clues against each other.

    Args:
        clues: in any order; without any, what comes out is the prior.
        within: nothing outside is possible.
        countries: ISO codes; nothing in other countries is possible.
        lines: all text of the pictures, for what the signs that the clues stand on are; see `geosleuth.clues.panels`.
    """
    workings = work_out(clues, within, countries, lines)
    probabilities = workings.probabilities()
    count, size = len(workings.places), len(workings.codes)
    ranked = sorted(range(count), key=lambda at: (-probabilities[at], workings.places[at].name))
    return Posterior(
        candidates=tuple(_candidate(workings, probabilities, at) for at in ranked),
        countries=_by_code(workings, workings.by_country(probabilities)),
        elsewhere=_by_code(workings, probabilities[count : count + size]),
        unknown=float(probabilities[-1]),
        clues=workings.clues,
        within=within,
        workings=workings,
    )


def contributions(workings: Workings, log_ratios: FloatArray, left_out: int | None = None) -> tuple[Contribution, ...]:
    """What each clue adds to one hypothesis, the strongest word for it first; without the clue that is left out."""
    parts = workings.contributions(log_ratios, left_out)
    return tuple(
        Contribution(workings.clues[at], float(parts[at]))
        for at in np.argsort(-parts, kind="stable").tolist()
        if at != left_out
    )


def contributions_at(workings: Workings, column: int, left_out: int | None = None) -> tuple[Contribution, ...]:
    """What each clue adds to a candidate, with those marked that speak for other parts of its country."""
    parts = contributions(workings, workings.log_ratios[:, column], left_out)
    country = int(workings.country_of[column])
    if country < 0:
        return parts
    place, radius_km = workings.places[column], float(workings.radii_km[column])
    code = workings.codes[country]
    return tuple(
        replace(part, elsewhere=True) if _is_elsewhere(part.clue, place.point, radius_km, code) else part
        for part in parts
    )


def _is_elsewhere(clue: Clue, point: LatLon, radius_km: float, country: str) -> bool:
    """Whether most of what a clue says of a country is about places that lie apart from one."""
    spots = [spot for spot in clue.spots if spot.country == country]
    if sum(spot.weight for spot in spots) < _MOST:
        return False
    return all(distance_km(spot.point, point) > spot.radius_km + radius_km for spot in spots)


def kinds_of(parts: Iterable[Contribution]) -> tuple[ClueKind, ...]:
    """The kinds among some contributions, each once, in order."""
    return tuple(dict.fromkeys(part.clue.kind for part in parts))


def _candidate(workings: Workings, probabilities: FloatArray, at: int) -> Candidate:
    spot, country = workings.places[at], int(workings.country_of[at])
    return Candidate(
        name=spot.name,
        point=spot.point,
        radius_km=float(workings.radii_km[at]),
        probability=float(probabilities[at]),
        country=workings.codes[country] if country >= 0 else None,
        place_id=spot.place_id,
        _workings=workings,
        _column=at,
    )


def _by_code(workings: Workings, values: FloatArray) -> dict[str, float]:
    order = np.argsort(-values, kind="stable")
    return {workings.codes[at]: float(values[at]) for at in order.tolist() if values[at] > 0}
