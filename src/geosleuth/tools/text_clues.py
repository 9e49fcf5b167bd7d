"""The tool `text_clues`: what the lines of a sign tell about where it stands, each and together."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from geosleuth.geo import LatLon
from geosleuth.names import country_name, fold
from geosleuth.support.errors import BadInput, ServiceFault

from .calls import Case, Output
from .declare import SpotData, tool
from .maps import maps_geocode
from .ranges import range_fix
from .viewer import (
    Viewer,
    format_point,
    format_question,
    get_text,
    length,
    number_lines,
    one_line,
    percent,
    point_data,
    quote,
    unique,
)

if TYPE_CHECKING:
    from geosleuth.evidence import Clue, TextSeen, TownDistance
    from geosleuth.evidence.posterior import PlaceCandidate, Posterior

_PLACES = 3
_COUNTRIES = 3
_POSTCODES = 3
# Minimum probability worth reporting.
MIN_SHARE = 0.02
_LINES = 40
_SHOWN = 8
_SIGN_COUNTRIES = 4
_SPOTS = 3
_TOLD = 3
# Lines lie under each other, as on a sign: clues may be split over neighbours.
_LINE_HEIGHT, _LINE_WIDTH = 30.0, 400.0


class _Placed(Protocol):
    @property
    def point(self) -> LatLon: ...


_P = TypeVar("_P", bound=_Placed)


@dataclass(frozen=True, slots=True)
class WeighedLines:
    """Joint result of lines, and what could not be asked, if anything."""

    found: "Posterior"
    trouble: str | None = None


async def weigh(case: Case, lines: Sequence["TextSeen"]) -> WeighedLines:
    """Look up and weigh everything that lines say; if a service fails, leave out what it was asked for."""
    from geosleuth.evidence import text_clues
    from geosleuth.evidence.posterior import posterior

    clues = await asyncio.to_thread(text_clues, lines)
    trouble: str | None = None
    met: Clue | None = None
    try:
        clues = await _with_postcodes(case, clues, lines)
        first = await asyncio.to_thread(posterior, clues, lines=lines)
        met = await _distances_met(case, lines, first)
    except ServiceFault as error:
        trouble = str(error)
    if met is not None or trouble is not None:
        first = await asyncio.to_thread(posterior, clues if met is None else [*clues, met], lines=lines)
    return WeighedLines(first, trouble)


async def _with_postcodes(case: Case, clues: Sequence["Clue"], lines: Sequence["TextSeen"]) -> list["Clue"]:
    from geosleuth.evidence.postcodes import postcodes_seen, with_towns

    seen = {item.where: item for item in postcodes_seen(lines)}
    asked = list(dict.fromkeys(item.code for item in seen.values()))[:_POSTCODES]
    found = {code: (await maps_geocode(case, address=code)).data for code in asked}

    def add_towns(clue: "Clue") -> "Clue":
        code = seen.get(clue.where) if clue.kind == "postcode" and clue.where else None
        return with_towns(clue, code, found[code.code]) if code is not None and code.code in found else clue

    return [add_towns(clue) for clue in clues]


async def _distances_met(case: Case, lines: Sequence["TextSeen"], first: "Posterior") -> "Clue | None":
    """Return where the distances of a sign meet; None if there are too few or they meet nowhere."""
    from geosleuth.evidence import distances
    from geosleuth.evidence.distances import range_questions
    from geosleuth.evidence.place_clues import range_clue

    towns = await _find_known_towns(case, distances(lines))
    answers: list[Any] = []
    asked: tuple[str, ...] = ()
    sources: list[str] = []
    for question in range_questions(towns, first.countries):
        try:
            found = await range_fix(
                case, towns=list(question.towns), distances=list(question.distances), unit=question.unit
            )
        except BadInput:  # such distances are nowhere, at least in this unit
            continue
        answers.append(found.data)
        asked = question.towns
        sources += found.sources
    seen = [town.where for town in towns if town.town in asked]
    clue = range_clue(answers, [text.text for text in seen]) if seen else None
    return None if clue is None else replace(clue, where=seen[0], sources=unique(sources))


async def _find_known_towns(case: Case, towns: Sequence["TownDistance"]) -> list["TownDistance"]:
    """Return the towns that the atlas knows, without duplicates, up to a limit: a question may go to a service."""
    from geosleuth.evidence.distances import MAX_TOWNS, is_known

    distinct: dict[str, TownDistance] = {}
    for town in towns:
        distinct.setdefault(fold(town.town), town)
    known: list[TownDistance] = []
    for item in distinct.values():
        hits = await case.atlas.geocode(item.town, limit=1) if len(known) < MAX_TOWNS else []
        known += [item for hit in hits if is_known(hit.match, hit.score)]
    return known


def together_words(found: "Posterior") -> str:
    """The likeliest places and countries on one line; empty where nothing points anywhere."""
    places = [
        f"{one_line(place.name, 60)}: {format_point(place.point)}, "
        f"within {length(place.radius_km)} ({percent(place.probability)})"
        for place in _select_places(found)
    ]
    countries = [f"{country_name(code)} {percent(share)}" for code, share in _list_countries(found)]
    return "; ".join([*places, *([", ".join(countries)] if countries else [])])


def together_data(found: "Posterior") -> dict[str, Any]:
    """The same in JSON types."""
    return {
        "places": [
            {
                "name": place.name, **point_data(place.point), "radius_km": place.radius_km, "share": place.probability,
                "country": place.country,
            }
            for place in _select_places(found)
        ],
        "countries": dict(_list_countries(found)),
    }  # fmt: skip


def _select_places(found: "Posterior") -> list["PlaceCandidate"]:
    likely = [candidate for candidate in found.candidates if candidate.probability >= MIN_SHARE]
    return each_point_once(likely)[:_PLACES]


def each_point_once(places: Iterable[_P]) -> list[_P]:
    """Of places at the same point the first: circles of several sizes are drawn around one town."""
    kept: dict[LatLon, _P] = {}
    for place in places:
        kept.setdefault(place.point, place)
    return list(kept.values())


def _list_countries(found: "Posterior") -> list[tuple[str, float]]:
    """Return the likeliest countries if any clue is about a country: population alone is no finding."""
    if not any(clue.countries or clue.spots for clue in found.clues):
        return []
    return [(code, share) for code, share in found.countries.items() if share >= MIN_SHARE][:_COUNTRIES]


class _Clue(TypedDict):
    kind: str
    seen: str
    says: str
    reliability: float
    countries: dict[str, float]
    spots: list[SpotData]
    caution: str | None


class _Together(TypedDict):
    places: list[SpotData]
    countries: dict[str, float]


class _Clues(TypedDict):
    together: _Together
    results: list[_Clue]


def _what_it_tells(data: Mapping[str, Any]) -> str:
    rows = data.get("results")
    said = [str(row.get("says")) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return f"that tells: {'; '.join(said[:_TOLD])}" if said else ""


@tool(
    "text_clues",
    use="learn what a phone number, postcode, plate, price or web address on a sign says about where it is",
    result=_Clues,
    viewer=Viewer(lambda given: f"asks what {get_text(given, 'text') or 'a sign'} tells", _what_it_tells, icon="text"),
    needs=("atlas",),
    aliases=("clues", "phone_lookup", "postcode_lookup", "plate_lookup"),
    renames={"lines": "text", "query": "text", "number": "text", "phone": "text"},
)
async def text_clues(case: Case, text: str) -> Output:
    """Say what words on a sign tell of the place: phone numbers, postcodes, plates, prices, web addresses, distances.

    Args:
        text: a line of the sign, or several.
    """
    lines = [line for part in text.splitlines() if (line := one_line(part))]
    if not lines:
        raise BadInput("text is empty; write a line of a sign, such as 'Tel. +44 1463 608026'")
    seen = [_build_text_seen(number, line) for number, line in enumerate(lines[:_LINES])]
    scene = await weigh(case, seen)
    clues = sorted(scene.found.clues, key=lambda clue: not clue.spots)  # what leads to a place comes first
    data = {"together": together_data(scene.found), "results": [_clue_data(clue) for clue in clues]}
    sources = unique(source for clue in clues for source in clue.sources)
    unasked = f"\nNot everything could be looked up: {one_line(scene.trouble)}" if scene.trouble else ""
    if not clues:
        nothing = (
            f"{format_question(text)} tells nothing of countries or areas. Names of places and shops are for the map."
        )
        return Output(nothing + unasked, data, sources=sources)
    together = together_words(scene.found)
    title = (
        f"What {format_question(text)} tells, together: {together}. One by one:"
        if together
        else f"What {format_question(text)} tells:"
    )
    body = number_lines(title, [_format_clue(clue) for clue in clues[:_SHOWN]], sources)
    return Output(body + unasked, data, sources=sources)


def _build_text_seen(number: int, line: str) -> "TextSeen":
    from geosleuth.evidence import TextSeen
    from geosleuth.photo.text import detect_script

    top = number * _LINE_HEIGHT
    return TextSeen(line, "text", (0.0, top, _LINE_WIDTH, top + _LINE_HEIGHT), 1.0, detect_script(line))


def _format_clue(clue: "Clue") -> str:
    parts = [f"{clue.kind.replace('_', ' ')} {quote(clue.seen, 60)}: {one_line(clue.says)}"]
    parts += [
        f"{one_line(spot.name)}: {format_point(spot.point)}, within {length(spot.radius_km)}"
        for spot in each_point_once(clue.spots)[:_SPOTS]
    ]
    likely = [(code, share) for code, share in _likeliest(clue) if share >= MIN_SHARE]
    if len(likely) > 1:
        parts.append(", ".join(f"{country_name(code)} {percent(share)}" for code, share in likely))
    parts.append(f"about the place in {percent(clue.reliability)} of cases")
    return "; ".join([*parts, *([clue.caution] if clue.caution else [])])


def _likeliest(clue: "Clue") -> list[tuple[str, float]]:
    return sorted(clue.countries.items(), key=lambda item: (-item[1], item[0]))[:_SIGN_COUNTRIES]


def _clue_data(clue: "Clue") -> dict[str, Any]:
    return {
        "kind": clue.kind,
        "seen": clue.seen,
        "says": clue.says,
        "reliability": clue.reliability,
        "countries": dict(clue.countries),
        "spots": [
            {
                "name": spot.name,
                **point_data(spot.point),
                "radius_km": spot.radius_km,
                "share": spot.weight,
                "country": spot.country,
            }
            for spot in clue.spots
        ],
        "caution": clue.caution,
    }
