"""Clues from what the caller knows beside the photo: a hint in words, the driving side, the time."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

import numpy as np

from geosleuth.evidence import Clue
from geosleuth.geo import Extent, sun_positions
from geosleuth.models.feedback import CorrectedReading
from geosleuth.names import country_code, country_name, fold
from geosleuth.names.letters import LETTERS
from geosleuth.photo import View

LONGEST_HINT = 400
WORD = re.compile(rf"{LETTERS}(?:['’.-]{LETTERS})*")
CLAUSE_ENDS = re.compile(r"[,.;:!?()\n]|\s-\s")

_LONGEST_NAME = 4
_SENTENCE_ENDS = re.compile(r"[.!?\n]")
_SHORT_NAMES = frozenset({"USA", "UK", "UAE"})
_SMALL_WORDS = frozenset(
    {"and", "da", "de", "del", "der", "di", "do", "du", "et", "la", "las", "of", "the", "und", "y"}
)
# Alternative English country names; in lower case only English names are recognised.
_ALSO_ENGLISH = frozenset(
    {
        "america", "bosnia", "britain", "burma", "congo", "czech republic", "england", "great britain", "holland",
        "hong kong", "ivory coast", "korea", "macedonia", "northern ireland", "palestine", "scotland", "swaziland",
        "trinidad", "wales",
    }
)  # fmt: skip

# Ordinary words unless capitalised.
_ALSO_WORDS = frozenset({"china", "guinea", "jersey", "turkey"})

# First names, and English words that are a country's name in another language: even capitalised, they rarely mean a
# country.
_RARELY_COUNTRIES = frozenset({"chad", "island", "jordan", "lao", "malt", "man", "swiss"})

_LEADING_IN = frozenset(
    {
        "around", "aus", "auf", "dans", "en", "fra", "från", "from", "i", "in", "inside", "is", "it's", "like",
        "likely", "maybe", "nach", "near", "or", "perhaps", "possibly", "probably", "på", "think", "til", "till", "to",
        "visiting", "was", "northern", "southern", "eastern", "western", "north", "south", "east", "west", "central",
    }
)  # fmt: skip
_LEADING_ON = frozenset(
    {"and", "at", "but", "i", "in", "last", "maybe", "near", "on", "or", "perhaps", "possibly", "probably", "this"}
)
_NO_NAME_BEGINS_OR_ENDS_SO = frozenset({"a", "an", "i", "the"})
_PARTS_OF_AMERICA = frozenset({"central", "latin", "north", "south"})

DrivingSide = Literal["left", "right"]
HINT_RELIABILITY = 0.75
# Reliability of a hint that is itself worded as uncertain. Both values are assumed: no data show how often hints
# are right.
DOUBTED_HINT_RELIABILITY = 0.5
SIDE_RELIABILITY = 0.97
# Reliability of daylight as a clue: a bright photo may be lit by lamps, and camera clocks are wrong.
DAYLIGHT_RELIABILITY = 0.6
MAX_HINTED_NAMES = 4
_NOT_SURE = re.compile(r"\bnot\s+(?:\w+\s+)?(?:sure|certain)\b|\bno\s+idea\b", re.IGNORECASE)
_DOUBT = re.compile(r"\b(?:maybe|perhaps|possibly|might|may|could|guess|guessing|unsure)\b|\?", re.IGNORECASE)
_DENIAL = re.compile(r"\b(?:not|isn't|isnt|never|wrong|no)\b", re.IGNORECASE)
_NEARBY = re.compile(
    r"\b(?:near|nearby|around|close|outside|beside|between|not far|vicinity|region|coast|bei|nahe|près|autour|cerca)\b",
    re.IGNORECASE,
)
_BRIGHT = 110.0
_SUN_UP_DEG = 0.0
_DUSK_DEG = -6.0
_INSIDE_NAMES = frozenset({"de", "des", "du", "la", "le", "les", "of", "sur", "am", "der", "di", "del", "da", "do"})
_LOOSE_ENDS = re.compile(rf"^(?:(?:{'|'.join(sorted(_INSIDE_NAMES))}) )+|(?: (?:{'|'.join(sorted(_INSIDE_NAMES))}))+$")
# They begin sentences, and villages are called so.
_PLAIN_WORDS = frozenset(
    {
        "i", "it", "is", "was", "we", "my", "our", "the", "this", "that", "these", "there", "here", "a", "an", "and",
        "or", "in", "on", "at", "near", "from", "taken", "photo", "picture", "image", "seen", "somewhere", "maybe",
        "perhaps", "probably", "possibly", "think", "know", "sure", "street", "town", "city", "village", "country",
        "hint", "north", "south", "east", "west", "northern", "southern", "eastern", "western", "holiday", "summer",
        "winter", "spring", "autumn",
    }
)  # fmt: skip


def countries_named(hint: str) -> dict[str, str]:
    """Return the countries that the user's words name: the words for each, by ISO code.

    "perhaps on an island" names none, though Iceland is "Island" in German; nor do china cups, or a turkey.
    """
    found: dict[str, str] = {}
    words = list(_split_hint(hint[:LONGEST_HINT]))
    for count in range(_LONGEST_NAME, 0, -1):
        for start in range(len(words) - count + 1):
            run = words[start : start + count]
            if not _NO_NAME_BEGINS_OR_ENDS_SO.isdisjoint(word.casefold() for word, _, _ in (run[0], run[-1])):
                continue
            name = " ".join(word for word, _, _ in run)
            # "IN", "is" and "it" are codes of countries and words of sentences.
            code = country_code(name) if len(name) > 3 or not name.isascii() or name in _SHORT_NAMES else None
            if not code or any(name in longer for longer in found.values()):
                continue
            _, first, clause = run[0]
            before = words[start - 1][0].casefold() if start and words[start - 1][2] == clause else None
            end = start + count
            after = words[end][0].casefold() if end < len(words) and words[end][2] == clause else None
            if _is_named(name, code, before, after, first=first or hint.isupper()):
                found.setdefault(code, name)
    if "US" in found:
        # Georgia, USA, is a state.
        found.pop("GE", None)
    return found


def _split_hint(hint: str) -> Iterator[tuple[str, bool, int]]:
    """Each word, whether its sentence begins with it, and the number of its clause."""
    begins, clause, end = True, 0, 0
    for match in WORD.finditer(hint):
        between = hint[end : match.start()]
        begins = begins or bool(_SENTENCE_ENDS.search(between))
        clause += bool(CLAUSE_ENDS.search(between))
        yield match.group(), begins, clause
        begins, end = False, match.end()


def _is_named(name: str, code: str, before: str | None, after: str | None, *, first: bool) -> bool:
    """Return whether a name of a country is meant as such; ``first``: its capital may be a sentence's."""
    key = fold(name)
    if before == "new" or (key == "america" and before in _PARTS_OF_AMERICA):
        return False
    capital = all(not word[0].islower() for word in name.split() if word not in _SMALL_WORDS)
    english = key in _ALSO_ENGLISH or key in (fold(country_name(code)), fold(country_name(code).removeprefix("The ")))
    alone = (before is None or before in _LEADING_IN) and (after is None or after in _LEADING_ON)
    if key in _RARELY_COUNTRIES:
        return alone and (english or (capital and not first))
    if capital and not (first and key in _ALSO_WORDS):
        return True
    return english and (alone or key not in _ALSO_WORDS)


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """Facts that are known before the photo is read, and what a person has ruled out since.

    Attributes:
        within: the place lies in there: in the area that was given, and in nothing that was ruled out.
        countries: the place lies in one of these countries, by ISO code; None where nothing is known.
        hint: the user's words.
        taken: when the photo was taken; only a time with its zone tells anything of the place.
        drives_on: the side of the road that traffic keeps to.
        seen: what the user sees in the photo, in words that the field guide reads.
        force_answer: a best guess is wanted in any case.
        area: the extent that was given, including any part that was ruled out.
        area_countries: the countries that were given.
        area_name: the name of the area that was given, where the user says one.
        left_out: texts and ids of clues that carry no weight.
        not_at: ground where it was not taken.
        not_in: countries where it was not taken.
        readings: what a person reads in parts of the photos, in place of what was read there.
        has_feedback: what people said of an earlier run is in here, and need not be read from their words.
    """

    within: Extent | None = None
    countries: tuple[str, ...] | None = None
    hint: str | None = None
    taken: datetime | None = None
    drives_on: DrivingSide | None = None
    seen: str | None = None
    force_answer: bool = False
    area: Extent | None = None
    area_countries: tuple[str, ...] | None = None
    area_name: str | None = None
    left_out: tuple[str, ...] = ()
    not_at: tuple[Extent, ...] = ()
    not_in: tuple[str, ...] = ()
    readings: tuple[CorrectedReading, ...] = ()
    has_feedback: bool = False

    @property
    def rules_out(self) -> bool:
        """Return whether a person has ruled out anything."""
        return bool(self.left_out or self.not_at or self.not_in)

    @property
    def misread(self) -> frozenset[str]:
        """The texts that a person reads otherwise."""
        return frozenset(reading.was for reading in self.readings if reading.was)

    @property
    def has_area(self) -> bool:
        """Return whether an area was given."""
        return self.area is not None or self.area_countries is not None

    @property
    def area_words(self) -> str:
        """The area that was given, in words; empty where none was."""
        if not self.has_area:
            return ""
        if self.area_name:
            return self.area_name.removeprefix("within ")
        named = [country_name(code) for code in self.area_countries or ()] if self.area is None else []
        return named[0] if len(named) == 1 else "the area that was given"

    @property
    def not_said(self) -> tuple[str, ...]:
        """The options that say what the user sees or knows, and were not used."""
        said = {"--seen": self.seen, "--hint": self.hint, "--within": self.has_area}
        return tuple(option for option, value in said.items() if not value)


def build_stated_clues(known: StatedFacts, hints: Iterable[str], views: Iterable[View]) -> Iterator[Clue]:
    """The clues in what is known and said; names of places in hints are looked up, and not among them."""
    if known.drives_on is not None:
        yield _driving(known.drives_on)
    if known.seen:
        from geosleuth.evidence.guide import sighting_clue, weigh_sightings

        if (clue := sighting_clue(weigh_sightings(known.seen))) is not None:
            yield clue
    for hint in hints:
        yield from _countries_named(hint)
    if known.taken is not None and known.taken.tzinfo is not None:
        yield from _daylight(known.taken, views)


def extract_hint_names(hint: str) -> list[str]:
    """Words of a hint that may be names of places: runs of capitalised words, or of a script without capitals."""
    names: list[str] = []
    for clause in CLAUSE_ENDS.split(hint[:LONGEST_HINT]):
        runs = groupby(WORD.findall(clause), key=_may_be_named)
        names += [_LOOSE_ENDS.sub("", " ".join(run)) for named, run in runs if named]
    wanted = (name for name in names if not name.islower() and (len(name) > 2 or not name.isascii()))
    return [name for name in dict.fromkeys(wanted) if country_code(name) is None][:MAX_HINTED_NAMES]


def hint_reliability(hint: str) -> float:
    """Return how often what a hint names is the place: "maybe Iceland" says less than "Iceland"."""
    words = hint[:LONGEST_HINT]
    return DOUBTED_HINT_RELIABILITY if _DOUBT.search(words) or _NOT_SURE.search(words) else HINT_RELIABILITY


def says_near(hint: str) -> bool:
    """Return whether a hint means the surroundings of a place: "near Nice" may be Monaco, "Nice" is not."""
    return _NEARBY.search(hint[:LONGEST_HINT]) is not None


def is_denial(hint: str) -> bool:
    """Return whether a hint excludes a place: "not Peru" does, "Peru, not sure" does not."""
    return _DENIAL.search(_NOT_SURE.sub(" ", hint)) is not None


def _may_be_named(word: str) -> bool:
    return word in _INSIDE_NAMES or not (word.islower() or word.casefold() in _PLAIN_WORDS)


def _countries_named(hint: str) -> Iterator[Clue]:
    found = countries_named(hint)
    if found:
        named = " or ".join(country_name(code) for code in found)
        shares = dict.fromkeys(found, 1 / len(found))
        yield Clue("hint", hint[:LONGEST_HINT], f"the user names {named}", hint_reliability(hint), shares)


def _driving(side: DrivingSide) -> Clue:
    from geosleuth.atlas.facts import all_countries
    from geosleuth.evidence.country_prior import by_how_common

    sides = {code: float(facts.driving_side == side) for code, facts in all_countries().items()}
    says = f"countries where traffic keeps to the {side}"
    return Clue("driving_side", f"traffic on the {side}", says, SIDE_RELIABILITY, by_how_common(sides))


def _daylight(taken: datetime, views: Iterable[View]) -> Iterator[Clue]:
    """Yield the clue of where the sun is up at the time of a bright photo."""
    from geosleuth.evidence.country_prior import by_how_common, country_prior
    from geosleuth.evidence.heartlands import heartland

    if not any(_brightness(view) >= _BRIGHT for view in views):
        return
    lands = {code: land for code in country_prior() if (land := heartland(code)) is not None}
    lats = np.array([land.point.lat for land in lands.values()])
    lons = np.array([land.point.lon for land in lands.values()])
    heights = sun_positions(taken, lats, lons).elevation_deg
    light = np.clip((heights - _DUSK_DEG) / (_SUN_UP_DEG - _DUSK_DEG), 0.0, 1.0)
    shares = by_how_common(dict(zip(lands, light.tolist(), strict=True)))
    when = taken.isoformat(timespec="minutes")
    says = f"the photo is bright, so it was taken where the sun was up at {time_words(taken)}"
    yield Clue("sun", f"a bright photo at {when}", says, DAYLIGHT_RELIABILITY, shares)


def time_words(taken: datetime) -> str:
    """A time with its zone: 2026-07-14 15:30 UTC+02:00."""
    return f"{taken:%Y-%m-%d %H:%M %Z}"


def is_night_there(known: StatedFacts) -> bool:
    """Return whether the sun was down in all of the given area at the given time."""
    from geosleuth.evidence.heartlands import list_town_positions

    if known.taken is None or known.taken.tzinfo is None or not known.has_area:
        return False
    lats, lons = list_town_positions(known.area_countries, known.area)
    return bool(lats.size) and bool((sun_positions(known.taken, lats, lons).elevation_deg < _DUSK_DEG).all())


def _brightness(view: View) -> float:
    return float(np.asarray(view.image.convert("L").resize((32, 32)), dtype=np.float32).mean())
