"""What the lines of a sign say together: the atlas is asked for postcodes and distances, and all clues are weighed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geosleuth.errors import BadInput
from geosleuth.names import country_name, fold

from .maps import maps_geocode
from .model import Case
from .ranges import range_fix
from .wording import at, length, one_line, percent, point_data

if TYPE_CHECKING:
    from geosleuth.clues import Clue, TextSeen
    from geosleuth.clues.posterior import Posterior

_PLACES = 3
_COUNTRIES = 3
_POSTCODES = 3
_LEAST_SHARE = 0.02
_SPELLED = 0.7  # from this score on a name is taken for another spelling


async def weighed(case: Case, lines: Sequence["TextSeen"]) -> "Posterior":
    """Everything that lines say, looked up and weighed."""
    from geosleuth.clues import text_clues
    from geosleuth.clues.posterior import posterior

    told = await asyncio.to_thread(text_clues, lines)
    told = await _with_postcodes(case, told, lines)
    first = await asyncio.to_thread(posterior, told, lines=lines)
    met = await _distances_met(case, lines, first)
    return first if met is None else await asyncio.to_thread(posterior, [*told, met], lines=lines)


async def _with_postcodes(case: Case, clues: Sequence["Clue"], lines: Sequence["TextSeen"]) -> list["Clue"]:
    from geosleuth.clues.postcode_places import with_towns
    from geosleuth.clues.postcodes import postcodes_seen

    codes = {one.code: one for one in postcodes_seen(lines)[:_POSTCODES]}
    found = {code: (await maps_geocode(case, address=code)).data for code in codes}
    return [
        with_towns(clue, codes[clue.seen], found[clue.seen]) if clue.kind == "postcode" and clue.seen in codes else clue
        for clue in clues
    ]


async def _distances_met(case: Case, lines: Sequence["TextSeen"], first: "Posterior") -> "Clue | None":
    """Where the distances of a sign meet, None where there are too few or they meet nowhere."""
    from geosleuth.clues import distances
    from geosleuth.clues.place_clues import range_clue
    from geosleuth.clues.ranging import range_questions

    towns = distances(lines)
    unknown = {fold(one.town) for one in towns if not await _is_known(case, one.town)}
    answers: list[Any] = []
    asked: tuple[str, ...] = ()
    for one in range_questions(towns, first.countries, unknown):
        try:
            found = await range_fix(case, towns=list(one.towns), distances=list(one.distances), unit=one.unit)
        except BadInput:  # such distances are nowhere, at least in this unit
            continue
        answers.append(found.data)
        asked = one.towns
    seen = [town.where for town in towns if town.town in asked]
    clue = range_clue(answers, [text.text for text in seen]) if seen else None
    return None if clue is None else replace(clue, where=seen[0])


async def _is_known(case: Case, town: str) -> bool:
    hits = await case.atlas.geocode(town, limit=1)
    return any(hit.match != "fuzzy" or hit.score >= _SPELLED for hit in hits)


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


def _places(found: "Posterior") -> list[Any]:
    """The likeliest candidates, each point once."""
    kept: dict[Any, Any] = {}
    for one in found.candidates:
        if one.probability >= _LEAST_SHARE:
            kept.setdefault(one.point, one)
    return list(kept.values())[:_PLACES]


def _countries(found: "Posterior") -> list[tuple[str, float]]:
    if not found.clues:
        return []
    return [(code, share) for code, share in found.countries.items() if share >= _LEAST_SHARE][:_COUNTRIES]
