"""Queries to the map tools that the read text suggests, and the text that a result belongs to."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geosleuth.evidence import Lookup, TextSeen, TownDistance
from geosleuth.evidence.distances import is_known
from geosleuth.evidence.distances import range_questions as sign_questions
from geosleuth.evidence.naming import kind_said
from geosleuth.evidence.vocabulary import words_seen
from geosleuth.geo import LatLon
from geosleuth.names import fold
from geosleuth.names.letters import LETTERS

from .notebook import FinishedCall, Names

MAX_QUESTIONS = 16
MAX_IN_COUNTRY = 4
MAX_LINES = 6
MAX_WORDS = 4
_MIN_LETTERS = 4
_MIN_WORD = 6
_WORD = re.compile(LETTERS)
_BY_PLACE = frozenset({"place", "airport"})


@dataclass(frozen=True, slots=True)
class Call:
    """A call to make: the tool by our name, and its arguments."""

    name: str
    arguments: Mapping[str, Any]


def name_questions(wanted: Sequence[Lookup], tools: Names) -> Iterator[Call]:
    """A look-up for each name, with the tool that suits its kind, or with the other where that one is off."""
    for item in wanted[:MAX_QUESTIONS]:
        tool = _choose_tool(item.kind, tools)
        if tool == "maps_geocode":
            # A town beside a postcode or behind a telephone number is a town of that country.
            country = {"country": item.country_hint} if item.kind in _BY_PLACE and item.country_hint else {}
            yield Call(tool, {"address": item.text, **country})
        elif tool is not None:
            yield Call(tool, {"keyword": item.text})


def questions_in_country(
    wanted: Sequence[Lookup], done: Iterable[FinishedCall], country: str, tools: Names
) -> Iterator[Call]:
    """Places that were found elsewhere only, asked for once more in the country that all else speaks for."""
    if "maps_geocode" not in tools:
        return
    found = _countries_found(done)
    missing = [item for item in wanted if item.kind in _BY_PLACE and country not in found.get(item.text, {country})]
    for item in missing[:MAX_IN_COUNTRY]:
        yield Call("maps_geocode", {"address": item.text, "country": country})


def _countries_found(done: Iterable[FinishedCall]) -> dict[str, set[str]]:
    """The countries in which each name that was asked for everywhere was found, as it is spelled."""
    return {
        str(made.arguments.get("address")): {
            str(row.get("country")) for row in made.data.get("results", ()) if row.get("match") != "fuzzy"
        }
        for made in done
        if made.name == "maps_geocode" and not made.arguments.get("country")
    }


def whole_lines(
    lines: Sequence[TextSeen], done: Iterable[FinishedCall], tools: Names, near: LatLon | None = None
) -> Iterator[Call]:
    """Lines of which nothing was asked yet, as names of things on the map, the largest first.

    Any town may have a "La Trattoria": where little else is known, or a place with a map is, that is worth a question.
    """
    if "poi_keyword_search" not in tools:
        return
    asked = {fold(str(item.arguments.get("keyword") or item.arguments.get("address") or "")) for item in done}
    around = {} if near is None else {"near": f"{near.lat:.4f},{near.lon:.4f}"}
    kept: dict[str, str] = {}
    for line in _largest_first(lines):
        key, letters = fold(line.text), sum(map(str.isalpha, line.text))
        if key and key not in asked and letters >= _MIN_LETTERS and 2 * letters > len(line.text):
            kept.setdefault(key, line.text)
    for text in list(kept.values())[:MAX_LINES]:
        yield Call("poi_keyword_search", {"keyword": text, **around})


def telling_words(
    lines: Sequence[TextSeen], done: Iterable[FinishedCall], country: str | None, tools: Names
) -> Iterator[Call]:
    """Single words of longer lines that may name a town, as "Wivenhoe Park" does.

    What is found in no place of the country that the text speaks for is asked for once more there, and only then: in
    one country alone a village has no rivals.
    """
    if "maps_geocode" not in tools:
        return
    kept: dict[str, str] = {}
    for line in _largest_first(lines):
        # Streets are called after towns far away.
        names = [part for part in line.text.split(",") if kind_said(part) != "street"]
        words = _WORD.findall(" ".join(names))
        for word in words if len(_WORD.findall(line.text)) > 1 else ():
            if len(word) >= _MIN_WORD and not word.islower() and not words_seen(word):
                kept.setdefault(fold(word), word)
    found = _countries_found(done)
    for word in list(kept.values())[:MAX_WORDS]:
        yield Call("maps_geocode", {"address": word})
        if country and country not in found.get(word, {country}):
            yield Call("maps_geocode", {"address": word, "country": country})


def _largest_first(lines: Sequence[TextSeen]) -> list[TextSeen]:
    return sorted(lines, key=lambda line: (line.box[1] - line.box[3], line.image, line.box))


def range_questions(
    towns: Sequence[TownDistance], countries: Mapping[str, float], done: Iterable[FinishedCall]
) -> Iterator[Call]:
    """The distances of a sign, without towns that the atlas does not know; see `geosleuth.evidence.distances`."""
    unknown = {fold(str(item.arguments.get("address"))) for item in done if _is_empty_search(item)}
    for question in sign_questions(towns, countries, unknown):
        yield Call(
            "range_fix", {"towns": list(question.towns), "distances": list(question.distances), "unit": question.unit}
        )


def find_line(query: str, wanted: Iterable[Lookup], lines: Iterable[TextSeen]) -> TextSeen | None:
    """The line that a question came from."""
    for item in wanted:
        if item.text == query:
            return item.where
    key = fold(query)
    return next((line for line in lines if key and key in fold(line.text)), None)


def _choose_tool(kind: str, tools: Names) -> str | None:
    order = ("maps_geocode", "poi_keyword_search") if kind in _BY_PLACE else ("poi_keyword_search", "maps_geocode")
    return next((name for name in order if name in tools), None)


def _is_empty_search(call: FinishedCall) -> bool:
    if call.name != "maps_geocode" or call.observation.failure is not None:
        return False
    return not any(is_known(row.get("match"), row.get("score", 0)) for row in call.data.get("results", ()))
