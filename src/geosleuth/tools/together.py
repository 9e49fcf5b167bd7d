"""What the lines of a sign say together: the atlas is asked for postcodes and distances, and all clues are weighed."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from geosleuth.errors import BadInput, ServiceFault
from geosleuth.geo import LatLon
from geosleuth.names import country_name, fold

from .maps import maps_geocode
from .model import Case
from .ranges import range_fix
from .wording import at, length, one_line, percent, point_data, unique

if TYPE_CHECKING:
    from geosleuth.clues import Clue, TextSeen, TownDistance
    from geosleuth.clues.posterior import Candidate, Posterior


class _Placed(Protocol):
    @property
    def point(self) -> LatLon: ...


_P = TypeVar("_P", bound=_Placed)

_PLACES = 3
_COUNTRIES = 3
_POSTCODES = 3
LEAST_SHARE = 0.02
"""What is less likely is not worth telling."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What lines say together, and what could not be asked, if anything."""

    found: "Posterior"
    trouble: str | None = None


async def weighed(case: Case, lines: Sequence["TextSeen"]) -> Weighed:
    """Everything that lines say, looked up and weighed; where a service fails, without what it was asked for."""
    from geosleuth.clues import text_clues
    from geosleuth.clues.posterior import posterior

    told = await asyncio.to_thread(text_clues, lines)
    trouble: str | None = None
    met: Clue | None = None
    try:
        told = await _with_postcodes(case, told, lines)
        first = await asyncio.to_thread(posterior, told, lines=lines)
        met = await _distances_met(case, lines, first)
    except ServiceFault as error:
        trouble = str(error)
    if met is not None or trouble is not None:
        first = await asyncio.to_thread(posterior, told if met is None else [*told, met], lines=lines)
    return Weighed(first, trouble)


async def _with_postcodes(case: Case, clues: Sequence["Clue"], lines: Sequence["TextSeen"]) -> list["Clue"]:
    from geosleuth.clues.postcode_places import with_towns
    from geosleuth.clues.postcodes import postcodes_seen

    seen = {one.where: one for one in postcodes_seen(lines)}
    asked = list(dict.fromkeys(one.code for one in seen.values()))[:_POSTCODES]
    found = {code: (await maps_geocode(case, address=code)).data for code in asked}

    def led(clue: "Clue") -> "Clue":
        code = seen.get(clue.where) if clue.kind == "postcode" and clue.where else None
        return with_towns(clue, code, found[code.code]) if code is not None and code.code in found else clue

    return [led(clue) for clue in clues]


async def _distances_met(case: Case, lines: Sequence["TextSeen"], first: "Posterior") -> "Clue | None":
    """Where the distances of a sign meet, None where there are too few or they meet nowhere."""
    from geosleuth.clues import distances
    from geosleuth.clues.place_clues import range_clue
    from geosleuth.clues.ranging import range_questions

    towns = await _known_towns(case, distances(lines))
    answers: list[Any] = []
    asked: tuple[str, ...] = ()
    sources: list[str] = []
    for one in range_questions(towns, first.countries):
        try:
            found = await range_fix(case, towns=list(one.towns), distances=list(one.distances), unit=one.unit)
        except BadInput:  # such distances are nowhere, at least in this unit
            continue
        answers.append(found.data)
        asked = one.towns
        sources += found.sources
    seen = [town.where for town in towns if town.town in asked]
    clue = range_clue(answers, [text.text for text in seen]) if seen else None
    return None if clue is None else replace(clue, where=seen[0], sources=unique(sources))


async def _known_towns(case: Case, towns: Sequence["TownDistance"]) -> list["TownDistance"]:
    """Those that the atlas knows, each once, and no more than are asked about: a question may go to a service."""
    from geosleuth.clues.ranging import MOST_TOWNS, is_known

    distinct: dict[str, TownDistance] = {}
    for one in towns:
        distinct.setdefault(fold(one.town), one)
    known: list[TownDistance] = []
    for one in distinct.values():
        hits = await case.atlas.geocode(one.town, limit=1) if len(known) < MOST_TOWNS else []
        known += [one for hit in hits if is_known(hit.match, hit.score)]
    return known


def together_words(found: "Posterior") -> str:
    """The likeliest places and countries on one line; empty where nothing points anywhere."""
    places = [
        f"{one_line(one.name, 60)}: {at(one.point)}, within {length(one.radius_km)} ({percent(one.probability)})"
        for one in _places(found)
    ]
    countries = [f"{country_name(code)} {percent(share)}" for code, share in _countries(found)]
    return "; ".join([*places, *([", ".join(countries)] if countries else [])])


def together_data(found: "Posterior") -> dict[str, Any]:
    """The same in JSON types."""
    return {
        "places": [
            {
                "name": one.name, **point_data(one.point), "radius_km": one.radius_km, "share": one.probability,
                "country": one.country,
            }
            for one in _places(found)
        ],
        "countries": dict(_countries(found)),
    }  # fmt: skip


def _places(found: "Posterior") -> list["Candidate"]:
    likely = [one for one in found.candidates if one.probability >= LEAST_SHARE]
    return each_point_once(likely)[:_PLACES]


def each_point_once(places: Iterable[_P]) -> list[_P]:
    """Of places at the same point the first: circles of several sizes are drawn around one town."""
    kept: dict[LatLon, _P] = {}
    for one in places:
        kept.setdefault(one.point, one)
    return list(kept.values())


def _countries(found: "Posterior") -> list[tuple[str, float]]:
    """The likeliest countries, where any clue speaks of one: how many people live where is no finding."""
    if not any(clue.countries or clue.spots for clue in found.clues):
        return []
    return [(code, share) for code, share in found.countries.items() if share >= LEAST_SHARE][:_COUNTRIES]
