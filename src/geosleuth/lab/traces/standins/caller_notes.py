"""What a text-only caller knows, the candidates that follow from it, and the sentences in which it says so."""

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from math import log
from typing import Any

from geosleuth.answer.answer import whole_percent
from geosleuth.atlas.facts import all_countries
from geosleuth.evidence import Clue, TextSeen, country_prior, text_clues
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.traces.spotagent import Lettering, read_descriptions, read_lettering
from geosleuth.models import Conversation, Observed, Prompt, Step
from geosleuth.names import country_name, fold
from geosleuth.photo.text import script_of
from geosleuth.tools import Observation, ToolCall

_FIGURES = re.compile(r"\d")
_WEB = re.compile(r"^(?:https?://)?(?:www\.)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/\S*)?$", re.IGNORECASE)
_NUMBERED = re.compile(
    r"^(?P<name>.*\D)\s+(?P<number>\d+\s?[a-zA-Z]?)$|^(?P<first>\d+\s?[a-zA-Z]?),?\s+(?P<rest>\D.*)$"
)
_DISTANCE = re.compile(r"[\s.·…]*\d+([.,]\d+)?\s*(?:km|mi|miles?)?\s*$|[←→↑↗↖⬆➔]+", re.IGNORECASE)
_DISTANT = re.compile(r"^(?P<town>\D{2,}?)[\s.·…]+(?P<far>\d{1,4})\s*(?P<unit>km|mi|miles?|км|キロ)?$", re.IGNORECASE)
_LEFT = re.compile(r"traffic keeps (left|right)|drives? on the (left|right)", re.IGNORECASE)
_PRICE = re.compile(r"[€$£¥₹₩₽]|\d[.,]\d\d\b|\b(?:kr|zł|Kč|Ft|lei|TL|CHF|R)\b")
_CODE = re.compile(r"^(?=.*\d)[\dA-Z][\dA-Z -]{2,9}$")
_PHONE_FIGURES = 6
_YEAR = re.compile(r"^(?:1[89]|20)\d\d$")
_SENTENCES = re.compile(r"(?<=\.)\s+")
_TITLES = (
    re.compile(r"^(?P<name>.+), (?P<town>[^,]+) - "),
    re.compile(r"^(?P<name>.+) in (?P<town>[^:]+): "),
    re.compile(r"^(?P<town>[^:]+): \d+ years of (?P<name>.+)$"),
)
_CONFUSED = re.compile(r"confused with (?P<name>.+) in (?P<town>.+), which dates from")
_ALIKE = 0.85

SHOPS = ("shop front", "banner")
TOWNS = ("town sign",)
NEAR = ("direction sign",)
STREETS = ("street plate",)
_INFORMATIVE = (
    "town sign",
    "street plate",
    "shop front",
    "bus stop",
    "direction sign",
    "notice",
    "banner",
    "house number",
)
"""Boards worth a closer look, the best first."""

_AGREE_KM = 15.0
_AGREES = 1.6
_OTHER_SIDE = 0.03
_LEAST_ODDS = 0.004
_SURE = 0.9
FROM_NUMBER = "what its number says"
"""How a candidate was found if a dialling code or postcode points to it."""
_MOST_LINES = 4
_CLEAR = 0.85
_LIKELY = 0.5
_NO_COUNTRY = ("That fits many countries.", "The look of it alone does not tell the country.")
_NOTHING_READ = ("No lettering that I could read so far.", "Nothing is legible yet.")


def is_phone(text: str) -> bool:
    """Return whether a line is a telephone number."""
    letters = sum(letter.isalpha() for letter in text)
    return len(_FIGURES.findall(text)) >= _PHONE_FIGURES and letters <= 8


def is_web(text: str) -> bool:
    """Return whether a line is an internet address."""
    return bool(_WEB.match(text.strip()))


def is_address(text: str) -> bool:
    """Return whether a line looks like a street with a number."""
    return bool(_NUMBERED.match(text.strip())) and not is_phone(text) and not is_web(text) and not _PRICE.search(text)


def locality(text: str) -> str:
    """Return the town in a line with a postcode; empty if there is none."""
    words = [word for word in text.replace("〒", " ").split() if not _FIGURES.search(word)]
    if len(words) > 1:
        words = [word for word in words if not (word.isascii() and word.isupper() and len(word) <= 3)] or words
    return " ".join(words).strip(" ,-–")


@dataclass(frozen=True, slots=True)
class CallResult:
    """A call and its result."""

    call: ToolCall
    observation: Observation

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """Return the places that a map tool found; none if it failed or finds something else."""
        data = self.observation.data
        found = data.get("results") if isinstance(data, Mapping) else None
        return [one for one in found or () if isinstance(one, Mapping)] if self.observation.failure is None else []

    @property
    def is_empty(self) -> bool:
        """Return whether the call succeeded and found nothing."""
        data = self.observation.data
        return self.observation.failure is None and isinstance(data, Mapping) and data.get("results") == []


@dataclass(frozen=True)
class CallerNotes:
    """What the conversation says: descriptions of pictures, and calls with their results."""

    described: tuple[tuple[str, str], ...]
    made: tuple[CallResult, ...]
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def letterings(self) -> tuple[Lettering, ...]:
        """Return every board, closer views first: a second look reads better."""
        first, *crops = self.described or (("", ""),)
        return tuple(one for handle, text in [*reversed(crops), first] for one in read_lettering(handle, text))

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Return the lines read, each once, with their boards."""
        boards = [one for handle, text in self.described for one in read_lettering(handle, text)]
        return tuple(dict.fromkeys((one.board, line) for one in boards for line in one.lines))

    @cached_property
    def drives_on(self) -> str | None:
        """Return the driving side, if described."""
        for _, text in self.described:
            if found := _LEFT.search(text):
                return (found[1] or found[2]).lower()
        return None

    @cached_property
    def unread(self) -> tuple[Lettering, ...]:
        """Return the boards of the first picture with text too small to read that were not zoomed into."""
        first = self.described[0][0] if self.described else ""
        looked = [made.call.arguments.get("bbox_2d") for made in self.zooms if isinstance(made.call.arguments, Mapping)]
        small = [
            one
            for one in self.letterings
            if one.handle == first and one.unread and not any(_contains(box, one) for box in looked)
        ]
        return tuple(sorted(small, key=lambda one: (_rank(one.board), one.box)))

    @cached_property
    def zooms(self) -> tuple[CallResult, ...]:
        """Return the successful zooms."""
        return self.of("image_zoom_in_tool")

    def of(self, *names: str) -> tuple[CallResult, ...]:
        """Return the successful calls of these tools."""
        return tuple(one for one in self.made if one.observation.name in names and one.observation.failure is None)

    def on(self, boards: tuple[str, ...]) -> list[str]:
        """Return the lines on such boards: names, without phone numbers and web addresses."""
        lines = [line for one in self.letterings if one.board in boards for line in one.lines]
        return [line for line in dict.fromkeys(lines) if not is_phone(line) and not is_web(line)]

    @cached_property
    def shops(self) -> list[str]:
        """Return names of shops: the first line of each front."""
        first = [one.lines[0] for one in self.letterings if one.board in SHOPS and one.lines]
        return [name for name in dict.fromkeys(first) if not is_phone(name) and not is_web(name) and len(name) > 2]

    @cached_property
    def towns(self) -> list[str]:
        """Return names of the town itself: from its sign, or from an address line with a postcode."""
        addressed = [
            town
            for one in self.letterings
            if one.board in ("notice", *SHOPS) and len(one.lines) > 1 and is_address(one.lines[-2])
            if (town := locality(one.lines[-1]))
        ]
        return list(dict.fromkeys([*self.on(TOWNS), *addressed]))

    @cached_property
    def near(self) -> list[str]:
        """Return towns named on a signpost."""
        names = [_DISTANCE.sub("", line).strip() for line in self.on(NEAR)]
        return [name for name in dict.fromkeys(names) if len(name) > 1]

    @cached_property
    def distances(self) -> list[tuple[str, int, str]]:
        """Return the towns of one signpost with distances: name, number and unit (empty if none is given)."""
        for one in self.letterings:
            if one.board in NEAR:
                rows = [match for line in one.lines if (match := _DISTANT.match(line.strip()))]
                if len(rows) > 1:
                    return [(row["town"].strip(), int(row["far"]), (row["unit"] or "").casefold()) for row in rows]
        return []

    @cached_property
    def streets(self) -> list[str]:
        """Return names of streets."""
        return [name for name in dict.fromkeys(self.on(STREETS)) if not name.isdigit()]

    @cached_property
    def addresses(self) -> list[str]:
        """Return lines of a shop or a notice that look like a street with a number."""
        rows = [
            (one.board, line)
            for one in self.letterings
            for line in (one.lines[1:] if one.board in SHOPS else one.lines)
            if one.board in (*SHOPS, "notice", "poster")
        ]
        return [line for _, line in dict.fromkeys(rows) if is_address(line)]

    @cached_property
    def checkable(self) -> tuple[str, ...]:
        """Return what a map address can confirm: streets, house numbers, postcodes, the town."""
        numbers = [line for board, line in self.texts if board == "house number" and line.isdigit()]
        codes = [line for board, line in self.texts if board == "notice" and _CODE.match(line.strip())]
        return tuple(dict.fromkeys([*self.streets, *numbers, *codes, *self.towns]))

    @cached_property
    def years(self) -> list[str]:
        """Return years that stand by themselves, such as those that shops were founded in."""
        return list(dict.fromkeys(line for _, line in self.texts if _YEAR.match(line)))

    @cached_property
    def page_town(self) -> str | None:
        """Return the town that web pages give a shop of a name and a year that were read."""
        pages = [
            (str(one.get("title")), str(one.get("snippet"))) for made in self.of("search_web") for one in made.results
        ]
        return town_on_pages(pages, self.shops, self.years)

    @cached_property
    def phones(self) -> list[str]:
        """Return telephone numbers."""
        return [line for _, line in self.texts if is_phone(line)]


def town_on_pages(pages: Sequence[tuple[str, str]], shops: Sequence[str], years: Sequence[str]) -> str | None:
    """Return the town that most pages, each a title and a text, give a shop of one of these names and years.

    A sentence that names another shop's town and year speaks of that one, whatever its page is about.
    """
    votes: Counter[str] = Counter()
    for title, text in pages:
        head = next((found for form in _TITLES if (found := form.match(title))), None)
        for sentence in _SENTENCES.split(text):
            if not any(re.search(rf"\b{year}\b", sentence) for year in years):
                continue
            said = _CONFUSED.search(sentence) or head
            if said is not None and any(_same_name(said["name"], shop) for shop in shops):
                votes[said["town"]] += 1
    return max(votes, key=lambda town: (votes[town], town), default=None)


def _same_name(one: str, other: str) -> bool:
    return SequenceMatcher(None, fold(one), fold(other)).ratio() >= _ALIKE


def read_conversation(conversation: Conversation) -> CallerNotes:
    """Extract a text-only caller's notes from a conversation."""
    described: list[tuple[str, str]] = []
    made: list[CallResult] = []
    waiting: dict[str, ToolCall] = {}
    for message in conversation.messages:
        match message:
            case Prompt(text=text):
                described += read_descriptions(text)
            case Step(calls=calls):
                waiting = {call.id: call for call in calls}
            case Observed(observations=observations):
                for one in observations:
                    described += read_descriptions(one.text)
                    if one.call_id in waiting:
                        made.append(CallResult(waiting[one.call_id], one))
    return CallerNotes(tuple(described), tuple(made))


def _rank(board: str) -> int:
    return _INFORMATIVE.index(board) if board in _INFORMATIVE else len(_INFORMATIVE)


def _contains(box: object, one: Lettering) -> bool:
    if not isinstance(box, list | tuple) or len(box) != 4:
        return False
    x, y = (one.box[0] + one.box[2]) / 2, (one.box[1] + one.box[3]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate place. ``of`` is the evidence for it; agreement must come from other evidence.

    ``borne_out`` lists other lines read that also appear in its address.
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
    """Return the clues that the lines give by themselves: scripts, languages, numbers, addresses."""
    lines = [
        TextSeen(text, "image-1", (0.0, 20.0 * row, 100.0, 20.0 * row + 12.0), _SURE, script_of(text))
        for row, (_, text) in enumerate(texts)
    ]
    return tuple(text_clues(lines))


def country_odds(texts: tuple[tuple[str, str], ...], drives_on: str | None) -> dict[str, float]:
    """Return the probabilities of countries, the likeliest first."""
    odds = dict(country_prior())
    for clue in clues_in(texts):
        if clue.countries:
            for code, prior in country_prior().items():
                ratio = clue.countries.get(code, 0.0) / prior
                odds[code] *= clue.reliability * ratio + 1 - clue.reliability
    if drives_on is not None:
        known = all_countries()
        for code in odds:
            if known[code].driving_side not in (None, drives_on):
                odds[code] *= _OTHER_SIDE
    total = sum(odds.values()) or 1.0
    ranked = sorted(odds, key=lambda code: (-round(odds[code] / total, 9), code))
    return {code: odds[code] / total for code in ranked}


def ranked(candidates: Sequence[Candidate], odds: Mapping[str, float]) -> list[Candidate]:
    """Return the candidates, the best first, by match, country and agreement with other evidence."""
    scored = [(round(_score(one, candidates, odds), 9), one) for one in candidates]
    scored.sort(key=lambda pair: (-pair[0], pair[1].name, pair[1].point.lat, pair[1].point.lon))
    return [one for _, one in scored]


def agreeing(one: Candidate, candidates: Sequence[Candidate]) -> int:
    """Return how many other pieces of evidence point to the same place."""
    near = {other.of for other in candidates if other.of != one.of and distance_km(one.point, other.point) <= _AGREE_KM}
    return len(near) + len(one.borne_out)


def _score(one: Candidate, candidates: Sequence[Candidate], odds: Mapping[str, float]) -> float:
    fits = log(max(one.weight, 0.01)) + 0.5 * log(max(odds.get(one.country or "", 0.0), _LEAST_ODDS))
    return fits + _AGREES * agreeing(one, candidates)


def quoted(text: str) -> str:
    """Return a text in quotation marks, on one line."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def reasons(seen: str, missing: str, tool: str) -> str:
    """Return the three statements that precede a call."""
    return f"1. Seen: {seen}\n2. Missing: {missing}\n3. Tool: {tool}"


def seen_words(notes: CallerNotes, odds: Mapping[str, float], found: Sequence[Candidate], chance: random.Random) -> str:
    """Return what is known so far, in a few sentences."""
    boards: dict[str, list[str]] = {}
    for board, line in notes.texts[-_MOST_LINES:]:
        boards.setdefault(board, []).append(quoted(line))
    lines = [f"the {board} {chance.choice(('says', 'reads'))} {', '.join(texts)}" for board, texts in boards.items()]
    parts = [f"{_capital(_joined(lines))}."] if lines else [chance.choice(_NOTHING_READ)]
    parts += [country_words(notes, odds, chance), aside_words(notes, odds, chance)]
    if found and found[0].how == FROM_NUMBER:
        parts.append(
            chance.choice(
                (
                    f"{quoted(found[0].of)} is a number of {found[0].name}.",
                    f"By {quoted(found[0].of)}, {found[0].name} is likely.",
                )
            )
        )
    elif found:
        parts.append(
            chance.choice(
                (
                    f"On the map, {quoted(found[0].of)} leads to {found[0].name}.",
                    f"The best match by now is {found[0].name}, found by {quoted(found[0].of)}.",
                )
            )
        )
        if found[0].borne_out:
            other = " and ".join(map(quoted, found[0].borne_out[:2]))
            parts.append(
                chance.choice((f"Its address has {other}, which I read as well.", f"{other} fit its address."))
            )
        elif found[0].fuzzy:
            parts.append(
                chance.choice(
                    (
                        "I may have misread the name: the map has a slightly other one.",
                        "The spelling differs a little, so that I must have misread a letter.",
                    )
                )
            )
    if notes.made and notes.made[-1].is_empty:
        parts.append(chance.choice(("The last question brought nothing.", "Nothing came of the last question.")))
    return " ".join(part for part in parts if part)


def aside_words(notes: CallerNotes, odds: Mapping[str, float], chance: random.Random) -> str:
    """Return what points to another country than the rest, and why it is set aside."""
    first, share = next(iter(odds.items()))
    if share < _LIKELY:
        return ""
    for clue in clues_in(notes.texts):
        other = max(clue.countries, key=lambda code: (clue.countries[code], code), default=first)
        if clue.countries.get(first, 0.0) < 0.01 and clue.countries.get(other, 0.0) > _LIKELY:
            return chance.choice(
                (
                    f"{quoted(clue.seen)} speaks for {country_name(other)}, but such things travel.",
                    f"Only {quoted(clue.seen)} would be from {country_name(other)}; I leave it aside.",
                )
            )
    return ""


def country_words(notes: CallerNotes, odds: Mapping[str, float], chance: random.Random) -> str:
    """Return which countries the evidence favours, and how strongly."""
    (first, share), (second, _) = list(odds.items())[:2]
    if not notes.texts:
        return chance.choice(_NO_COUNTRY)
    why = next(
        (clue.says.partition(":")[0] for clue in clues_in(notes.texts) if clue.countries.get(first, 0) > 0.2), None
    )
    because = f", going by {why}" if why else ""
    if share >= _CLEAR:
        words = (
            f"Nearly all of it speaks for {country_name(first)}{because}.",
            f"This is {country_name(first)}, as good as certain{because}.",
        )
    elif share >= _LIKELY:
        words = (
            f"{country_name(first)} is likeliest{because}, {country_name(second)} possible.",
            f"It looks like {country_name(first)}{because}; I can't rule out {country_name(second)}.",
        )
    else:
        words = (
            f"The country is open: {country_name(first)} ({whole_percent(share)} %), {country_name(second)}{because}.",
            f"I can't tell the country yet; {country_name(first)} leads with {whole_percent(share)} %{because}.",
        )
    return chance.choice(words)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
