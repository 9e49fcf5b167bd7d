"""The tool `range_fix`: where one stands that reads the distances to named towns off a sign."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from typing import Any, Literal, TypedDict

from geosleuth.atlas import Hit, Place
from geosleuth.geo import Along, LatLon, Range, RangeFix, RangeFixes, distance_km, pair_conflict, range_fixes
from geosleuth.names import country_code, country_name
from geosleuth.support.errors import BadInput

from .calls import Case, Output, in_order
from .declare import PointData, tool
from .places import find_area
from .viewer import Viewer, format_question, one_line, point_data, several, unique

KM_A_MILE = 1.609344
_MAX_TOWNS = 8
_CANDIDATES = 12
_SAME_KM = 10.0
_KEPT = 64
_READINGS = 4

# Signs lead to towns that people go to: one with a tenth of the people is named a sixth as often. Distances that miss
# each other by a fortieth of their length are as unlikely as a sign that is wrong by so much, one in three or so.
_CROWD_POWER = 0.75
_MIN_PEOPLE = 500.0
_COST_OF_CONFLICT = 40.0
_MAX_COST = 4.0


@dataclass(frozen=True, slots=True)
class _Reading:
    """Place for each name, how badly their rings miss each other, and how much better known their namesakes are."""

    hits: tuple[Hit, ...]
    conflict: float
    obscurity: float

    @property
    def cost(self) -> float:
        """Return the log probability that the sign means these; 0 for the best known towns that fit."""
        return self.obscurity + _COST_OF_CONFLICT * self.conflict

    @property
    def plausibility(self) -> float:
        """The same from 0 to 1."""
        return exp(-self.cost)


class _Candidate(PointData):
    place: str
    id: str


class _Town(_Candidate):
    name: str
    distance_km: float
    straight_km: list[float]
    country: str | None
    candidates: list[_Candidate]


class _Fix(PointData):
    radius_km: float
    place: str
    share: float
    is_ring: bool
    distances_km: list[float]
    residuals_km: list[float]


class _OtherReading(PointData):
    towns: list[_Candidate]
    radius_km: float
    plausibility: float


class _Ranges(TypedDict):
    unit: str
    along: str
    conflict: float
    plausibility: float
    towns: list[_Town]
    fixes: list[_Fix]
    other_readings: list[_OtherReading]


@tool(
    "range_fix",
    use="find the places at given distances from towns that a sign names",
    result=_Ranges,
    viewer=Viewer(lambda given: f"works out where the distances to {several(given, 'towns') or 'the towns'} meet"),
    needs=("atlas",),
    renames={"names": "towns", "places": "towns", "distances_km": "distances"},
    untold=("along",),
)
async def range_fix(
    case: Case,
    towns: list[str],
    distances: list[float],
    unit: Literal["km", "mi"] = "km",
    along: Literal["road", "straight"] = "road",
    area: str = "",
) -> Output:
    """Find the places at given distances from towns, as a signpost gives them. A lead to check.

    Args:
        towns: as on the sign.
        distances: to each town, in the same order.
        unit: km or mi.
        along: road for distances on road signs, straight for those as the crow flies.
        area: the country or region, if known.
    """
    ranges_km = _check_ranges(towns, distances, unit)
    found = await in_order(*(_find_candidate_towns(case, name, area) for name in towns))
    readings, results = await asyncio.to_thread(_solve, found, ranges_km, along)
    reading, result = readings[0], results[0]
    if result.absurd:
        raise BadInput(_refusal([hits[0] for hits in found], ranges_km, along))
    places = await asyncio.gather(*(_name(case, fix) for fix in result.fixes))
    others = list(zip(readings[1:], results[1:], strict=True))
    return Output(
        text=_format_ranges(towns, reading, result, places, others, found, ranges_km, along),
        data={"unit": unit, **_data(towns, reading, result, places, others, found, ranges_km, along)},
        sources=unique(hit.place.source for hit in reading.hits),
    )


def _check_ranges(towns: Sequence[str], distances: Sequence[float], unit: str) -> list[float]:
    if not towns or len(towns) != len(distances):
        raise BadInput(f"there are {len(towns)} towns and {len(distances)} distances; give one distance for each town")
    if len(towns) > _MAX_TOWNS:
        raise BadInput(f"{len(towns)} towns are too many; give at most {_MAX_TOWNS}, the nearest ones")
    ranges_km = [distance * (KM_A_MILE if unit == "mi" else 1) for distance in distances]
    for distance in ranges_km:
        if not 0 <= distance <= 30_000:
            raise BadInput(f"a distance of {distance:g} km can't be; it must lie between 0 and 30000 km")
    return ranges_km


async def _find_candidate_towns(case: Case, name: str, area: str) -> list[Hit]:
    """Return the places that a name may mean, without duplicates, the best known first."""
    country = country_code(area) if area else None
    within = None if country else await find_area(case, area)
    hits = await case.atlas.geocode(name, limit=_CANDIDATES, within=within, country=country)
    sure = [hit for hit in hits if hit.match != "fuzzy"]
    kept: list[Hit] = []
    for hit in sure or hits[:3]:
        if all(distance_km(hit.place.point, other.place.point) > _SAME_KM for other in kept):
            kept.append(hit)
    if not kept:
        where = f" in {format_question(area)}" if area else ""
        raise BadInput(
            f"no place called {format_question(name)} is known{where}; check the spelling, or leave that town out"
        )
    return kept


def _solve(
    found: Sequence[list[Hit]], ranges_km: Sequence[float], along: Along
) -> tuple[list[_Reading], list[RangeFixes]]:
    """Return the likeliest readings of the names and the fix of each, the best first; at least one reading."""
    readings = _readings(found, ranges_km, along)
    solved = []
    for reading in readings[:_READINGS]:
        ranges = [Range(hit.place.point, km) for hit, km in zip(reading.hits, ranges_km, strict=True)]
        result = range_fixes(ranges, along=along)
        solved.append((_Reading(reading.hits, result.conflict, reading.obscurity), result))
    solved.sort(key=lambda pair: (pair[1].absurd, pair[0].cost))
    best = solved[0][0].cost
    kept = [pair for pair in solved if pair[0].cost <= best + _MAX_COST and not pair[1].absurd] or solved[:1]
    return [reading for reading, _ in kept], [result for _, result in kept]


def _readings(found: Sequence[list[Hit]], ranges_km: Sequence[float], along: Along) -> list[_Reading]:
    """Return combinations of candidates, the likeliest first; built name by name, dropping the worst."""
    crowds = [[_crowd(hit) for hit in hits] for hits in found]
    conflicts: dict[tuple[int, int, int, int], float] = {}
    for (i, here), (j, there) in combinations(enumerate(found), 2):
        for a, first in enumerate(here):
            for b, second in enumerate(there):
                ends = Range(first.place.point, ranges_km[i]), Range(second.place.point, ranges_km[j])
                conflicts[i, a, j, b] = pair_conflict(*ends, along=along)
    partial: list[tuple[tuple[int, ...], _Reading]] = [((), _Reading((), 0.0, 0.0))]
    for j, hits in enumerate(found):
        longer = [
            (
                (*chosen, b),
                _Reading(
                    (*reading.hits, hit),
                    max([reading.conflict, *(conflicts[i, a, j, b] for i, a in enumerate(chosen))]),
                    reading.obscurity + max(crowds[j]) - crowds[j][b],
                ),
            )
            for chosen, reading in partial
            for b, hit in enumerate(hits)
        ]
        partial = sorted(longer, key=lambda pair: pair[1].cost)[:_KEPT]
    return [reading for _, reading in partial]


def _crowd(hit: Hit) -> float:
    """Return how often a sign leads to a place, as a logarithm."""
    return _CROWD_POWER * log(max(float(hit.place.details.get("population", 0)), _MIN_PEOPLE))


async def _name(case: Case, fix: RangeFix) -> str:
    """Return a description of the place at a fix; "open sea" if there is none."""
    if fix.is_ring:
        return "anywhere on the ring around it"
    return one_line((await case.atlas.reverse(fix.point)).address) or "open sea"


def _full(place: Place) -> str:
    country = country_name(place.country) if place.country else None
    return one_line(", ".join(unique(part for part in (place.name, place.region, country) if part)))


def _refusal(hits: Sequence[Hit], ranges_km: Sequence[float], along: Along) -> str:
    taken = "; ".join(f"{_full(hit.place)} {km:.4g} km" for hit, km in zip(hits, ranges_km, strict=True))
    apart = max((distance_km(a.place.point, b.place.point) for a, b in combinations(hits, 2)), default=0.0)
    how = "by road" if along == "road" else "in a straight line"
    return (
        f"no place can be at these distances {how} ({taken}): the towns lie up to {apart:.0f} km apart. "
        "Check the names, the unit and which distance belongs to which town"
    )


def _format_ranges(
    towns: Sequence[str],
    reading: _Reading,
    result: RangeFixes,
    places: Sequence[str],
    others: Sequence[tuple[_Reading, RangeFixes]],
    found: Sequence[list[Hit]],
    ranges_km: Sequence[float],
    along: Along,
) -> str:
    how = "by road, so in a straight line up to 1.4 times shorter" if along == "road" else "in a straight line"
    taken = [f"{_full(hit.place)} {km:.4g} km" for hit, km in zip(reading.hits, ranges_km, strict=True)]
    lines = [f"Towns taken as: {'; '.join(taken)} ({how})."]
    for number, (fix, place) in enumerate(zip(result.fixes, places, strict=True), 1):
        lines.append(f"{number}. {_fix_text(fix, place, [hit.place.name for hit in reading.hits])}")
    if result.conflict > 0.005:
        off = ", ".join(
            f"{one_line(name, 60)} {residual:+.0f} km"
            for name, residual in zip(towns, result.fixes[0].residuals_km, strict=True)
            if abs(residual) >= 0.5
        )
        lines.append(f"The distances don't fit together: this is the nearest compromise (off by {off or 'little'}).")
    for other, elsewhere in others:
        at = elsewhere.fixes[0].point
        lines.append(
            f"Other reading: {'; '.join(_full(hit.place) for hit in other.hits)}: around {at.lat:.2f}, {at.lon:.2f}."
        )
    several = [f"{one_line(name, 60)} ({len(hits)})" for name, hits in zip(towns, found, strict=True) if len(hits) > 1]
    if several:
        lines.append(f"Names that several known places bear: {', '.join(several)}.")
    lines.append("A lead, not a fix: signs round, measure to some centre, and roads wind.")
    return "\n".join(lines)


def _fix_text(fix: RangeFix, place: str, names: Sequence[str]) -> str:
    if fix.is_ring:
        return (
            f"A whole ring, up to {fix.radius_km:.0f} km around {fix.point.lat:.3f}, {fix.point.lon:.3f}: "
            "these distances don't say in which direction. Another town would."
        )
    lines = ", ".join(f"{name} {away:.0f} km" for name, away in zip(names, fix.distances_km, strict=True))
    return (
        f"{fix.point.lat:.3f}, {fix.point.lon:.3f} ({place}), within {fix.radius_km:.0f} km; straight lines: {lines}."
    )


def _data(
    towns: Sequence[str],
    reading: _Reading,
    result: RangeFixes,
    places: Sequence[str],
    others: Sequence[tuple[_Reading, RangeFixes]],
    found: Sequence[list[Hit]],
    ranges_km: Sequence[float],
    along: Along,
) -> dict[str, Any]:
    return {
        "along": along,
        "conflict": round(result.conflict, 4),
        "plausibility": round(reading.plausibility, 6),
        "towns": [
            {
                "name": name,
                "distance_km": round(km, 3),
                "straight_km": [round(end, 1) for end in Range(hit.place.point, km).compute_limits_km(along)],
                **_place_data(hit.place),
                "country": hit.place.country,
                "candidates": [_place_data(item.place) for item in hits],
            }
            for name, hit, hits, km in zip(towns, reading.hits, found, ranges_km, strict=True)
        ],
        "fixes": [
            {
                **_round_point(fix.point),
                "radius_km": round(fix.radius_km, 1),
                "place": place,
                "share": round(fix.share, 3),
                "is_ring": fix.is_ring,
                "distances_km": [round(away, 1) for away in fix.distances_km],
                "residuals_km": [round(off, 1) for off in fix.residuals_km],
            }
            for fix, place in zip(result.fixes, places, strict=True)
        ],
        "other_readings": [
            {
                "towns": [_place_data(hit.place) for hit in other.hits],
                **_round_point(elsewhere.fixes[0].point),
                "radius_km": round(elsewhere.fixes[0].radius_km, 1),
                "plausibility": round(other.plausibility, 6),
            }
            for other, elsewhere in others
        ],
    }


def _place_data(place: Place) -> dict[str, Any]:
    return {"place": _full(place), "id": place.id, **point_data(place.point)}


def _round_point(point: LatLon) -> dict[str, float]:
    return point_data(LatLon(round(point.lat, 4), round(point.lon, 4)))
