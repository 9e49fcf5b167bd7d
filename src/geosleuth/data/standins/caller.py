"""A stand-in for the Tool-call agent: rules that read descriptions, ask the map for real, and answer."""

import random
import re
from collections.abc import Mapping
from typing import Any

from geosleuth.answer.model import whole_percent
from geosleuth.geo import LatLon
from geosleuth.names import country_name, fold
from geosleuth.policies import Conversation, Prompt, Step
from geosleuth.tools import ToolCall

from .asking import CROSSING, FACTS, GEOCODE, RANGES, REVERSE, SEARCH, ZOOM, Question, questions, spelt
from .caller_notes import (
    SAYS_ITSELF,
    CallMade,
    Candidate,
    Noted,
    agreeing,
    clues_in,
    country_odds,
    noted,
    quoted,
    ranked,
    reasons,
    seen_words,
)
from .observer import USUAL_SLIPS, Slipped, Slips

_SIZE = re.compile(r"(image-\d+) \((\d+) x (\d+) pixels\)")
_LEAST_SCORE = 0.6
_LEAST_FUZZY = 0.7
_SETTLEMENTS = ("city", "town", "village", "place=city", "place=town", "place=village", "place=suburb")
_HINTED = 0.25
_SPOTS = 3
_STREET_WEIGHT = 0.3


class StandInCaller:
    """Calls tools and answers by rules, from words alone; every step is a function of the conversation and the seed.

    It answers in SpotAgent's form. ``key`` names the run, so that no two are unlucky in the same way.
    """

    name = "stand-in caller"
    hosts: frozenset[str] = frozenset()

    def __init__(self, key: str, *, seed: int = 0, slips: Slips = USUAL_SLIPS, slipped: Slipped | None = None) -> None:
        """Take how often it slips; ``slipped`` counts the mistakes."""
        self._key, self._seed, self._slips = key, seed, slips
        self._slipped = Slipped() if slipped is None else slipped

    async def step(self, conversation: Conversation) -> Step:
        """The next call, or the answer."""
        told = noted(conversation)
        turn = len(told.made) + 1
        chance = random.Random(f"caller {self._seed} {self._key} {turn}")  # noqa: S311 - no secret depends on it
        odds = country_odds(told.texts, told.drives_on)
        found = ranked(candidates(told), odds)
        names = {tool.name for tool in conversation.tools}
        if conversation.may_call and not self._is_hasty(told, chance):
            for question in questions(told, odds, found, _sizes(conversation), chance):
                if question.tool in names and not _was_asked(question, told):
                    seen = seen_words(told, odds, found, chance)
                    return self._asking(question, seen, turn, chance)
        return self._answering(told, odds, found, chance)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _is_hasty(self, told: Noted, chance: random.Random) -> bool:
        hasty = bool(told.texts) and chance.random() < self._slips.hasty
        self._slipped.hasty += hasty
        return hasty

    def _asking(self, question: Question, seen: str, turn: int, chance: random.Random) -> Step:
        call = ToolCall(f"call-{turn}", question.tool, dict(question.arguments))
        if chance.random() < self._slips.bad_call:
            self._slipped.bad_call += 1
            call = _spoilt(call, chance)
        thinking = reasons(seen, f"{question.missing}.", question.why)
        return Step(thinking=thinking, calls=(call,), finish="calls", model=self.name)

    def _answering(self, told: Noted, odds: Mapping[str, float], found: list[Candidate], chance: random.Random) -> Step:
        chosen = found[0] if found else None
        if len(found) > 1 and chance.random() < self._slips.wrong_guess:
            chosen = chance.choice(found[1:4])
            self._slipped.wrong_guess += 1
        seen = seen_words(told, odds, found, chance)
        if chosen is None:
            code, share = next(iter(odds.items()))
            words = f"{seen} No place can be named; {country_name(code)} is my guess, with {whole_percent(share)} %."
            return Step(text=_answer(country_name(code), "unknown", None), thinking=words, model=self.name)
        code = chosen.country or next(iter(odds))
        others = agreeing(chosen, found)
        sure = (
            "Several things agree on it"
            if others > 1
            else "Another clue agrees"
            if others
            else "Nothing else confirms it"
        )
        thinking = f"{seen} {sure}: I settle on {chosen.name}, by {chosen.how}."
        return Step(
            text=_answer(country_name(code), _city(chosen, told), chosen.point), thinking=thinking, model=self.name
        )


def candidates(told: Noted) -> list[Candidate]:
    """The places that results and numbers point at."""
    found: list[Candidate] = []
    for one in told.of(GEOCODE, SEARCH, CROSSING):
        asked = _asked(one)
        is_town = asked in (*told.towns, *told.near) or _is_capital(asked, told)
        found += [
            _candidate(hit, asked, one.observation.name, told) for hit in one.results if _fits(hit, is_town=is_town)
        ]
    for one in told.of(RANGES):
        fixes = one.observation.data.get("fixes") if isinstance(one.observation.data, Mapping) else ()
        towns = one.observation.data.get("towns") if isinstance(one.observation.data, Mapping) else ()
        country = next((town.get("country") for town in towns or ()), None)
        found += [
            Candidate(
                f"near {fix.get('place')}", LatLon(fix["lat"], fix["lon"]), country, 0.5 * float(fix["share"]),
                "the distances on the sign", "range_fix",
            )
            for fix in fixes or ()
        ]  # fmt: skip
    spots = [
        Candidate(spot.name, spot.point, spot.country, _HINTED * spot.weight, clue.seen, SAYS_ITSELF)
        for clue in clues_in(told.texts)
        for spot in sorted(clue.spots, key=lambda spot: -spot.weight)[:_SPOTS]
    ]
    return [*found, *spots]


def _fits(hit: Mapping[str, Any], *, is_town: bool) -> bool:
    """Whether a hit may be what was asked for: a settlement for a town, something on a street for all else."""
    if is_town != (hit.get("kind") in _SETTLEMENTS):
        return False
    return float(hit.get("score") or 0.0) >= (_LEAST_SCORE if hit.get("match") != "fuzzy" else _LEAST_FUZZY)


def _is_capital(asked: str, told: Noted) -> bool:
    data = [one.observation.data for one in told.of(FACTS)]
    return any(isinstance(one, Mapping) and one.get("capital") == asked for one in data)


def _candidate(hit: Mapping[str, Any], asked: str, tool: str, told: Noted) -> Candidate:
    name, address = str(hit.get("name") or ""), str(hit.get("address") or "")
    is_street = str(hit.get("kind") or "").startswith("highway")
    words = f" {fold(address)} "
    return Candidate(
        name=address if address.startswith(name) else ", ".join(filter(None, (name, address))),
        point=LatLon(float(hit["lat"]), float(hit["lon"])),
        country=hit.get("country"),
        # Streets of one name are everywhere.
        weight=float(hit.get("score") or 0.0) * (_STREET_WEIGHT if is_street else 1.0),
        of=asked,
        how=f"{tool} for {quoted(asked)}",
        place_id=str(hit.get("id") or ""),
        fuzzy=hit.get("match") == "fuzzy",
        borne_out=tuple(text for text in told.checkable if text != asked and f" {fold(text)} " in words),
    )


def _asked(one: CallMade) -> str:
    arguments = one.call.arguments
    if not isinstance(arguments, Mapping):
        return str(arguments)
    address = str(arguments.get("address") or "")
    return (address.partition(", ")[0] if address else "") or str(
        arguments.get("keyword") or arguments.get("first") or ""
    )


def _was_asked(question: Question, told: Noted) -> bool:
    """Whether it was asked before; a point that was looked at need not be looked at again."""
    return any(
        one.observation.name == question.tool
        and (question.tool == REVERSE or one.call.arguments == dict(question.arguments))
        for one in told.made
    )


def _spoilt(call: ToolCall, chance: random.Random) -> ToolCall:
    """The call as somebody makes it who does not look at the tool's description."""
    arguments = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
    kinds = ["unknown tool", "nothing given"] + (["outside"] if call.name == ZOOM else [])
    match chance.choice(kinds):
        case "unknown tool":
            return ToolCall(call.id, f"{call.name.partition('_')[0]}_lookup", arguments)
        case "outside":
            return ToolCall(call.id, call.name, {**arguments, "bbox_2d": [90_000, 90_000, 90_100, 90_100]})
        case _:
            return ToolCall(call.id, call.name, {})


def _answer(country: str, city: str, point: LatLon | None) -> str:
    lines = [f"Country: {country}", f"City: {city}"]
    if point is not None:
        lines += [f"Latitude: {point.lat:.5f}", f"Longitude: {point.lon:.5f}"]
    return "\n".join(["<answer>", *lines, "</answer>"])


def _city(chosen: Candidate, told: Noted) -> str:
    """The settlement at the chosen point: as the map says, or as a sign does, or what the place itself is called."""
    for one in told.of(REVERSE):
        places = one.observation.data.get("places") if isinstance(one.observation.data, Mapping) else None
        for place in places or ():
            if place.get("kind") in _SETTLEMENTS:
                return str(place.get("name"))
    parts = [part.strip() for part in chosen.name.split(",")]
    return spelt(told) or (parts[-3] if len(parts) >= 3 else parts[0])


def _sizes(conversation: Conversation) -> dict[str, tuple[int, int]]:
    """The sizes of the pictures, as the task tells them."""
    told = " ".join(message.text for message in conversation.messages if isinstance(message, Prompt))
    return {match[1]: (int(match[2]), int(match[3])) for match in _SIZE.finditer(told)}
