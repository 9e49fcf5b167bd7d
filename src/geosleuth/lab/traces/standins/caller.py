"""Stand-ins for SpotAgent's caller and GeoVista's proposer: rules that query the real map and answer."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from geosleuth.answer.answer import whole_percent
from geosleuth.geo import LatLon
from geosleuth.lab.scenes import Mark, Scene
from geosleuth.lab.traces.geovista import Judgement, Picture, Query, Region
from geosleuth.lab.traces.spotagent import Lettering, lettering_words
from geosleuth.models import Conversation, Prompt, Step, Usage
from geosleuth.names import country_code, country_name, fold
from geosleuth.tools import ToolCall

from .caller_notes import (
    FROM_NUMBER,
    CallerNotes,
    CallResult,
    Candidate,
    agreeing,
    clues_in,
    country_odds,
    quoted,
    ranked,
    read_conversation,
    reasons,
    seen_words,
    town_on_pages,
)
from .next_call import (
    CROSSING,
    FACTS,
    GEOCODE,
    RANGES,
    REVERSE,
    SEARCH,
    ZOOM,
    Question,
    as_offered,
    questions,
    town_name,
    with_margin,
)
from .observer import USUAL_SLIPS, Slipped, Slips, StandInObserver

_SIZE = re.compile(r"(image-\d+) \((\d+) x (\d+) pixels\)")
_LEAST_SCORE = 0.6
_LEAST_FUZZY = 0.7
_SETTLEMENTS = ("city", "town", "village", "place=city", "place=town", "place=village", "place=suburb")
_HINTED = 0.25
_SPOTS = 3
_STREET_WEIGHT = 0.3

_QUOTED_PAGE = re.compile(r'^\d+\. ("(?:[^"\\]|\\.)*"); ("(?:[^"\\]|\\.)*"); ', re.MULTILINE)
_FINE = ("town sign", "street plate", "shop front", "bus stop", "direction sign", "notice", "number plate", "poster")
_KNOWN = 0.75
_LEAST_ODDS = 0.3


class StandInCaller:
    """Calls tools and answers by rules, from text alone; each step depends only on the conversation and the seed.

    It answers in SpotAgent's form. ``key`` names the run, so that runs err in different places.
    """

    name = "stand-in caller"
    hosts: frozenset[str] = frozenset()

    def __init__(
        self,
        key: str,
        *,
        seed: int = 0,
        slips: Slips = USUAL_SLIPS,
        slipped: Slipped | None = None,
        searches: bool = False,
    ) -> None:
        """Take the error rates; ``slipped`` counts the errors. With ``searches`` the web is asked about shops."""
        self._key, self._seed, self._slips, self._searches = key, seed, slips, searches
        self._slipped = Slipped() if slipped is None else slipped

    async def step(self, conversation: Conversation) -> Step:
        """Return the next call, or the answer."""
        notes = read_conversation(conversation)
        turn = len(notes.made) + 1
        chance = random.Random(f"caller {self._seed} {self._key} {turn}")  # noqa: S311 - no secret depends on it
        odds = country_odds(notes.texts, notes.drives_on)
        found = ranked(candidates(notes), odds)
        names = {tool.name for tool in conversation.tools}
        if conversation.may_call and not self._is_hasty(notes, chance):
            for wanted in questions(notes, odds, found, _sizes(conversation), chance, searches=self._searches):
                question = as_offered(wanted, names)
                if question.tool in names and not _was_asked(question, notes):
                    seen = seen_words(notes, odds, found, chance)
                    return self._call_step(question, seen, turn, chance)
        return self._answer_step(notes, odds, found, chance)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _is_hasty(self, notes: CallerNotes, chance: random.Random) -> bool:
        hasty = bool(notes.texts) and chance.random() < self._slips.hasty
        self._slipped.hasty += hasty
        return hasty

    def _call_step(self, question: Question, seen: str, turn: int, chance: random.Random) -> Step:
        call = ToolCall(f"call-{turn}", question.tool, dict(question.arguments))
        if chance.random() < self._slips.bad_call:
            self._slipped.bad_call += 1
            call = _invalid_call(call, chance)
        thinking = reasons(seen, f"{question.missing}.", question.why)
        return Step(thinking=thinking, calls=(call,), finish="calls", model=self.name)

    def _answer_step(
        self, notes: CallerNotes, odds: Mapping[str, float], found: list[Candidate], chance: random.Random
    ) -> Step:
        chosen = found[0] if found else None
        if len(found) > 1 and chance.random() < self._slips.wrong_guess:
            chosen = chance.choice(found[1:4])
            self._slipped.wrong_guess += 1
        seen = seen_words(notes, odds, found, chance)
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
            text=_answer(country_name(code), _city(chosen, notes), chosen.point), thinking=thinking, model=self.name
        )


def candidates(notes: CallerNotes) -> list[Candidate]:
    """Return the places that results and numbers point to."""
    found: list[Candidate] = []
    for one in notes.of(GEOCODE, SEARCH, CROSSING):
        asked = _asked(one)
        is_town = asked in (*notes.towns, *notes.near, notes.page_town) or _is_capital(asked, notes)
        found += [
            _candidate(hit, asked, one.observation.name, notes) for hit in one.results if _fits(hit, is_town=is_town)
        ]
    for one in notes.of(RANGES):
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
        Candidate(spot.name, spot.point, spot.country, _HINTED * spot.weight, clue.seen, FROM_NUMBER)
        for clue in clues_in(notes.texts)
        for spot in sorted(clue.spots, key=lambda spot: -spot.weight)[:_SPOTS]
    ]
    return [*found, *spots]


def _fits(hit: Mapping[str, Any], *, is_town: bool) -> bool:
    """Return whether a hit can be what was asked for: a settlement for a town, else something on a street."""
    if is_town != (hit.get("kind") in _SETTLEMENTS) or hit.get("kind") == "country":
        return False
    return float(hit.get("score") or 0.0) >= (_LEAST_SCORE if hit.get("match") != "fuzzy" else _LEAST_FUZZY)


def _is_capital(asked: str, notes: CallerNotes) -> bool:
    data = [one.observation.data for one in notes.of(FACTS)]
    return any(isinstance(one, Mapping) and one.get("capital") == asked for one in data)


def _candidate(hit: Mapping[str, Any], asked: str, tool: str, notes: CallerNotes) -> Candidate:
    name, address = str(hit.get("name") or ""), str(hit.get("address") or "")
    is_street = str(hit.get("kind") or "").startswith("highway")
    words = f" {fold(address)} "
    return Candidate(
        name=address if address.startswith(name) else ", ".join(filter(None, (name, address))),
        point=LatLon(float(hit["lat"]), float(hit["lon"])),
        country=hit.get("country"),
        # Many streets share a name.
        weight=float(hit.get("score") or 0.0) * (_STREET_WEIGHT if is_street else 1.0),
        of=asked,
        how=f"{tool} for {quoted(asked)}",
        place_id=str(hit.get("id") or ""),
        fuzzy=hit.get("match") == "fuzzy",
        borne_out=tuple(text for text in notes.checkable if text != asked and f" {fold(text)} " in words),
    )


def _asked(one: CallResult) -> str:
    arguments = one.call.arguments
    if not isinstance(arguments, Mapping):
        return str(arguments)
    address = str(arguments.get("address") or "")
    return (address.partition(", ")[0] if address else "") or str(
        arguments.get("keyword") or arguments.get("first") or ""
    )


def _was_asked(question: Question, notes: CallerNotes) -> bool:
    """Return whether this was asked before; a point need not be looked up twice."""
    return any(
        one.observation.name == question.tool
        and (question.tool == REVERSE or one.call.arguments == dict(question.arguments))
        for one in notes.made
    )


def _invalid_call(call: ToolCall, chance: random.Random) -> ToolCall:
    """Return an invalid variant of the call, as by a model that ignores the tool's description."""
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


def _city(chosen: Candidate, notes: CallerNotes) -> str:
    """Return the settlement at the chosen point: from the map, else from a sign, else from the place's own name."""
    for one in notes.of(REVERSE):
        places = one.observation.data.get("places") if isinstance(one.observation.data, Mapping) else None
        for place in places or ():
            if place.get("kind") in _SETTLEMENTS:
                return str(place.get("name"))
    parts = [part.strip() for part in chosen.name.split(",")]
    return town_name(notes) or (parts[-3] if len(parts) >= 3 else parts[0])


def _sizes(conversation: Conversation) -> dict[str, tuple[int, int]]:
    """Return the sizes of the pictures, as stated in the task."""
    task = " ".join(message.text for message in conversation.messages if isinstance(message, Prompt))
    return {match[1]: (int(match[2]), int(match[3])) for match in _SIZE.finditer(task)}


class StandInProposer:
    """Proposes by rules from what the stand-in Observer sees; it answers only as far as that supports."""

    name = "stand-in proposer"
    hosts: frozenset[str] = frozenset()
    used = Usage(tries=0)

    def __init__(
        self,
        scene: Scene,
        marks: Sequence[Mark],
        *,
        photo: str | None = None,
        seed: int = 0,
        slips: Slips = USUAL_SLIPS,
        slipped: Slipped | None = None,
        searches: bool = False,
    ) -> None:
        """Take what `StandInObserver` takes; with ``searches`` the web is asked about shops and their years.

        Raises:
            BadInput: the scene is a panorama.
        """
        self._searches = searches
        self._observer = StandInObserver(scene, marks, photo=photo, seed=seed, slips=slips, slipped=slipped)
        self._drives_on = scene.look.drives_on if self._observer.sees("driving_side") else None
        self._key = f"{seed} {scene.id}"

    async def regions(self, picture: Picture, handle: str, most: int) -> tuple[Region, ...]:
        """Return boards that are small or informative, the best first."""
        view, chance = picture(handle), self._chance("regions")
        ranked = sorted(self._observer.lettering(view), key=lambda one: (not one.unread, _rank(one.board), one.box))
        chosen = ranked[: chance.randint(1, most)] if ranked else []
        if not chosen:
            width, height = view.size
            middle = (width // 4, height // 4, 3 * width // 4, 3 * height // 4)
            return (Region(middle, "No sign stands out at first sight. I look closer at the middle of the street."),)
        return tuple(Region(with_margin(one.box, view.size), _why_look(one, chance)) for one in chosen)

    async def queries(self, picture: Picture, handles: Sequence[str], most: int) -> tuple[Query, ...]:
        """Return searches about the text that was read, and about the likeliest country."""
        chance = self._chance("queries")
        notes = self._notes(picture, handles)
        odds = country_odds(notes.texts, self._drives_on)
        code, share = next(iter(odds.items()))
        where = country_name(code)
        found: list[Query] = []
        for name in [*notes.towns[:1], *notes.near[:1], *notes.shops[:1]]:
            text = f"{name} {where}" if share >= _LEAST_ODDS else name
            if self._searches and name in notes.shops and notes.years:
                text = f"{name} {notes.years[0]}"
            found.append(Query(text, _why_ask(name, seen_words(notes, odds, (), chance), chance)))
        what = chance.choice(("licence plates and calling code", "languages", "road signs and driving side"))
        sure = f"I think of {where}, with {whole_percent(share)} %. Whether its {what} fit can be looked up."
        found.append(Query(f"{where} {what}", sure))
        count = chance.randint(1, max(1, min(most, len(found))))
        return tuple(found[:count])

    async def judge(self, picture: Picture, handles: Sequence[str], found: Sequence[str]) -> Judgement:
        """Answer as far as the text that was read supports it."""
        chance = self._chance("judge")
        notes = self._notes(picture, handles)
        odds = country_odds(notes.texts, self._drives_on)
        code, share = next(iter(odds.items()))
        spot = next((one for clue in clues_in(notes.texts) for one in clue.spots[:1] if one.country == code), None)
        told, where = self._page_town(notes, found), country_name(code)
        if told is not None:
            where = _country_on(found, told) or where
        fields = {
            "country": where,
            "city": next(iter(notes.towns), told or (spot.name if spot and share >= _KNOWN else None)),
            "address": next(iter(notes.addresses or notes.streets or notes.shops), None),
        }
        fits = sum(where.casefold() in text.casefold() for text in found)
        helped = "Nothing that I looked up speaks against it." if fits else "What I looked up says nothing about it."
        reasoning = f"{seen_words(notes, odds, (), chance)} {helped if found else ''}".strip()
        return Judgement(reasoning, _proposer_answer(fields, share, chance))

    def _page_town(self, notes: CallerNotes, found: Sequence[str]) -> str | None:
        pages = [(json.loads(one[1]), json.loads(one[2])) for text in found for one in _QUOTED_PAGE.finditer(text)]
        return town_on_pages(pages, notes.shops, notes.years) if self._searches else None

    def _notes(self, picture: Picture, handles: Sequence[str]) -> CallerNotes:
        """Return the notes that a description of these views would give."""
        words = [
            (handle, "\n".join(map(lettering_words, self._observer.lettering(picture(handle))))) for handle in handles
        ]
        return CallerNotes(tuple(words), ())

    def _chance(self, what: str) -> random.Random:
        return random.Random(f"proposer {self._key} {what}")  # noqa: S311 - no secret depends on it


def _country_on(found: Sequence[str], town: str) -> str | None:
    """Return the country that pages name after a town: "in Porto Alegre, Rio Grande do Sul, Brazil."."""
    for text in found:
        for after in text.split(f"in {town}, ")[1:]:
            parts = re.split(r"[,.(]| was ", after)[:2]
            named = next((part.strip() for part in parts if country_code(part.strip())), None)
            if named is not None:
                return named
    return None


def _rank(board: str) -> int:
    return _FINE.index(board) if board in _FINE else len(_FINE)


def _why_look(one: Lettering, chance: random.Random) -> str:
    if one.lines:
        read = quoted(one.lines[0])
        return chance.choice(
            (
                f"The {one.board} seems to say {read}. I look closer to be sure of every letter.",
                f"{read} on the {one.board} may give the place away; I magnify it.",
            )
        )
    return chance.choice(
        (
            f"There is a {one.board} that I can't read at this size. A closer look may bring a name.",
            f"The {one.board} is too small here; what it says may settle the place, so I zoom in.",
        )
    )


def _why_ask(name: str, seen: str, chance: random.Random) -> str:
    return chance.choice(
        (
            f"{seen} I search for {quoted(name)} to learn where it is.",
            f"{seen} {quoted(name)} is the rarest thing I have read, so that is what I look up.",
        )
    )


def _proposer_answer(fields: Mapping[str, str | None], share: float, chance: random.Random) -> str:
    known = {name: value for name, value in fields.items() if value}
    where = ", ".join(value for name in ("address", "city", "country") if (value := known.get(name)))
    open_ = [name for name in ("city", "address") if name not in known]
    sure = (
        chance.choice(("I am fairly sure of the country", "The country is well supported"))
        if share >= _KNOWN
        else (chance.choice(("Even the country is a guess", "I am not sure of the country")))
    )
    rest = f"; {' and '.join(open_)} can't be told from what I see" if open_ else ""
    sentence = f"This looks like {where}. {sure}{rest}."
    return f"<answer>\n{sentence}\n{json.dumps(known, ensure_ascii=False)}\n</answer>"
