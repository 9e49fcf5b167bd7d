"""Granularity: how precise a published answer may be, and the cap that enforces it.

``cap`` is for everything that leaves: the card, the report, every file and every log. It removes and never adds:

    country   the country's centre and a circle around all of it; its name
    region    the same for the first-level region
    city      the centre of the settlement and a circle around it; its name
    street    the middle of a square of some 100 m; the street's name, if the atlas knows it, and no house number
    exact     as answered

Names come from a gazetteer and not from the answer, since a text may contain anything. Free text is left out for the
same reason. The result depends on the place and not on where in it the point lies: two equally confident answers in one
city give the same result.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, cos, floor, log10, radians
from typing import Literal, Protocol, get_args

from geosleuth.geo import MAX_DISTANCE_KM, LatLon, distance_km

from .answer import Address, Answer, Candidate, Level

Granularity = Literal["country", "region", "city", "street", "exact"]
# All granularities, from coarse to fine.
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)

# The literature's names of distances; a street of ours is a square of some 100 m.
_RADII_KM: dict[Granularity, float] = {"exact": 0.1, "street": 1.0, "city": 25.0, "region": 200.0}
# Sides of the squares used if no place is known, in degrees of latitude; for streets always.
_SQUARES_DEG: dict[Granularity, float] = {"country": 10.0, "region": 2.0, "city": 0.2, "street": 0.001}
_KM_PER_DEGREE = 111.2
_STEPS = (1.0, 2.0, 5.0, 10.0)
# Names of sources that do not reveal what was looked up.
_TELLS_NOTHING = frozenset(
    {"photo", "GeoNames", "borders, GeoNames", "landmarks", "sun formula", "geosleuth facts", "name-suggestion-index",
     "own photos", "map"}
)  # fmt: skip
_MAKERS = re.compile(r"OpenStreetMap|Overture Maps|Overture")


def coarsest(levels: Iterable[Granularity]) -> Granularity:
    """Return the coarsest of some levels; ``exact`` if there are none."""
    return min(levels, key=GRANULARITIES.index, default="exact")


def compute_granularity(answer: Answer, allowed: Granularity = "exact") -> Granularity:
    """Return how fine an answer really is: no finer than ``allowed``, nor than its radius. Without one, ``allowed``."""
    radius_km = answer.radius_km
    if answer.point is None or radius_km is None:
        return allowed
    by_radius = next((level for level, most_km in _RADII_KM.items() if radius_km <= most_km), GRANULARITIES[0])
    return coarsest((allowed, by_radius))


@dataclass(frozen=True, slots=True)
class Admitted:
    """A place of the permitted level: its centre, a circle that contains it, and its names.

    The three depend on the place and on what the answer names, never on where in the place the answer's point is.
    """

    centre: LatLon
    radius_km: float
    address: Address = field(default_factory=Address)


class Gazetteer(Protocol):
    """Finds places by point and by name; `geosleuth.atlas.granular` implements one."""

    async def find_place(
        self, level: Granularity, point: LatLon | None, address: Address, radius_km: float | None
    ) -> Admitted | None:
        """Return the place of that level that an answer refers to; None if none is known.

        Names are the gazetteer's own, and only those of levels that the answer names: an answer that says only "France"
        does not get a city because its point lies in one.
        """
        ...


async def cap(answer: Answer, granularity: Granularity, gazetteer: Gazetteer | None = None) -> Answer:
    """Return the answer with nothing in it finer than allowed.

    The probability stays: the new circle contains the old one, so it is a lower bound. Capping twice is the same as
    once. Without a gazetteer, or where it knows no place (at sea), points move to the centre of a square of about the
    level's size, and names are left out.
    """
    if granularity == "exact":
        return answer
    place = await _find_admitted(granularity, answer.point, answer.address, answer.radius_km, gazetteer)
    point, radius_km = _circle(granularity, answer.point, answer.radius_km, place)
    has_text = answer.explanation is not None or any(_says_more(level) for level in _levels(answer.address))
    return Answer(
        point=point,
        address=_cut_names(granularity, place),
        probability=answer.probability,
        radius_km=radius_km,
        explanation=build_withheld_note(granularity) if has_text else None,
        candidates=await _cap_candidates(answer.candidates, granularity, gazetteer),
    )


async def cap_candidate(
    candidate: Candidate,
    granularity: Granularity,
    gazetteer: Gazetteer | None = None,
    *,
    radius_km: float | None = None,
) -> Candidate | None:
    """Return a candidate at the permitted precision; None if nothing of it may be shown."""
    if granularity == "exact":
        return candidate
    address = Address.create(precise=candidate.name)
    place = await _find_admitted(granularity, candidate.point, address, radius_km, gazetteer)
    point, _ = _circle(granularity, candidate.point, radius_km, place)
    names = _cut_names(granularity, place)
    finest = names.precise.conclusion or names.region.conclusion
    name = ", ".join(dict.fromkeys(part for part in (finest, names.country.conclusion) if part)) or None
    return None if point is None and name is None else Candidate(name, point, candidate.probability)


def cap_text(text: str, granularity: Granularity) -> str:
    """Return a free text for logs and the like: whole at ``exact``, else a note in its place; empty stays empty."""
    return text if granularity == "exact" or not text else build_withheld_note(granularity)


def cap_sources(sources: Iterable[str], granularity: Granularity) -> tuple[str, ...]:
    """Return the sources that do not reveal the place: a host or the name of a region may."""
    if granularity == "exact":
        return tuple(sources)
    kept = (source if source in _TELLS_NOTHING else _maker(source) for source in sources)
    return tuple(dict.fromkeys(source for source in kept if source))


def build_withheld_note(granularity: Granularity) -> str:
    """Return the note that replaces a text."""
    return f"[left out: nothing finer than the {granularity} may be shown]"


def round_up(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50 … in any decade, so that a length reveals nothing."""
    decade = 10.0 ** floor(log10(value))
    return next((step * decade for step in _STEPS if value <= step * decade * (1 + 1e-9)), 10.0 * decade)


async def _cap_candidates(
    candidates: Iterable[Candidate], granularity: Granularity, gazetteer: Gazetteer | None
) -> tuple[Candidate, ...]:
    """Merge candidates that coincide; add their probabilities."""
    found: list[Candidate] = []
    for candidate in candidates:
        capped = await cap_candidate(candidate, granularity, gazetteer)
        if capped is None:
            continue
        for index, before in enumerate(found):
            if before.name == capped.name and (before.point == capped.point or None in (before.point, capped.point)):
                shares = [item.probability for item in (before, capped) if item.probability is not None]
                share = min(1.0, round(sum(shares), 9)) if shares else None
                found[index] = Candidate(before.name, before.point or capped.point, share)
                break
        else:
            found.append(capped)
    return tuple(found)


async def _find_admitted(
    granularity: Granularity,
    point: LatLon | None,
    address: Address,
    radius_km: float | None,
    gazetteer: Gazetteer | None,
) -> Admitted | None:
    if gazetteer is None or (point is None and not address):
        return None
    return await gazetteer.find_place(granularity, point, address, radius_km)


def _circle(
    granularity: Granularity, point: LatLon | None, radius_km: float | None, place: Admitted | None
) -> tuple[LatLon | None, float | None]:
    if point is None:
        return None, None
    if place is None or granularity == "street":
        place = _square(granularity, point)
    if place.centre == point:
        return point, max(place.radius_km, radius_km or 0.0)
    away_km = distance_km(place.centre, point)
    # If the place does not contain the point, a rounded length reveals no more than the neighbourhood.
    reach_km = place.radius_km if away_km <= place.radius_km else max(place.radius_km, round_up(away_km))
    return place.centre, min(MAX_DISTANCE_KM, ceil(1000 * (reach_km + (radius_km or 0.0)) - 1e-6) / 1000)


def _square(granularity: Granularity, point: LatLon) -> Admitted:
    """Return the square of a fixed grid around a point: rows of equal height, each with as many squares as fit."""
    side = _SQUARES_DEG[granularity]
    rows = round(180 / side)
    row = min(floor((point.lat + 90) / side), rows - 1)
    lat = (row + 0.5) * side - 90
    columns = max(1, floor(360 * cos(radians(lat)) / side))
    column = min(floor((point.lon + 180) % 360 * columns / 360), columns - 1)
    half_diagonal_km = _KM_PER_DEGREE * side * 0.5**0.5
    return Admitted(LatLon(round(lat, 7), round((column + 0.5) * 360 / columns - 180, 7)), round_up(half_diagonal_km))


def _cut_names(granularity: Granularity, place: Admitted | None) -> Address:
    if place is None:
        return Address()
    kept = GRANULARITIES.index(granularity) + 1
    return Address.create(*[level.conclusion for level in _levels(place.address)][:kept])


def _levels(address: Address) -> tuple[Level, Level, Level]:
    return address.country, address.region, address.precise


def _says_more(level: Level) -> bool:
    return bool(level.clues or level.reasoning or level.uncertainty)


def _maker(source: str) -> str | None:
    found = _MAKERS.match(source)
    return found[0] if found else None
