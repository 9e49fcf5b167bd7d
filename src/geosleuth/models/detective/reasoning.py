"""From what a run has brought to what it means: all clues, weighed, decided and tested against themselves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import prod

from geosleuth.evidence import Clue, Lookup, TextSeen, TownDistance, distances, lookups, text_clues
from geosleuth.evidence.areas import brought_into
from geosleuth.evidence.calibration import apply
from geosleuth.evidence.decision import Decision, decide
from geosleuth.evidence.heartlands import shares_within
from geosleuth.evidence.naming import in_a_shops_name, kind_said
from geosleuth.evidence.place_clues import around, of_somebody, place_clues, range_clue, restrict_to_country
from geosleuth.evidence.posterior import Posterior, distinct, posterior
from geosleuth.evidence.selftest import SelfTest, self_test
from geosleuth.evidence.sign_layout import on_one_panel
from geosleuth.evidence.vocabulary import tokens, words_seen
from geosleuth.evidence.web import addresses_seen
from geosleuth.geo import distance_km
from geosleuth.models.feedback import CorrectedReading
from geosleuth.names import fold
from geosleuth.photo.text.script import detect_script
from geosleuth.tools.ranges import KM_A_MILE

from .map_questions import find_line
from .notebook import SAME_LINE_OVERLAP, FinishedCall, Notebook, overlap
from .ruled_out import RuledOut
from .searches import SEARCH_OF_TOOL
from .stated import StatedFacts, build_stated_clues, extract_hint_names, hint_reliability, is_denial, says_near
from .visual import visual_clues

# Minimum probability at which the clues point somewhere.
POINTING_PROBABILITY = 0.6

# Clues contradict the given area if they leave it less than this probability.
CONTRADICTION_PROBABILITY = 0.05

# Weight of a town's name inside the name of a shop, relative to other lines.
SHOP_NAME_WEIGHT = 0.35

_SHORT_WORD_CHARS = 3

_ASKED_FOR = {"maps_geocode": "address", "poi_keyword_search": "keyword", "poi_input_tips": "text"}


class Reasoning:
    """Conclusions of the detective from a notebook, each computed on first use."""

    def __init__(self, notebook: Notebook, known: StatedFacts) -> None:
        """Nothing is done yet."""
        self.notebook = notebook
        self.known = known

    @cached_property
    def lines(self) -> tuple[TextSeen, ...]:
        """The text of the scene that was read, without what a person has ruled out, as they read it."""
        told = [seen for reading in self.known.readings if (seen := self._build_corrected_line(reading)) is not None]
        scene = (line for line in self.notebook.lines if line.overlay is None)
        kept = (line for line in scene if all(overlap(line, item) < SAME_LINE_OVERLAP for item in told))
        return tuple(line for line in (*kept, *told) if not self._left_out.line(line))

    def _build_corrected_line(self, reading: CorrectedReading) -> TextSeen | None:
        """Return a person's reading as a line; None where the photo is missing."""
        handle = next(iter(self.notebook.photos[reading.photo - 1 : reading.photo]), None)
        view = None if handle is None else self.notebook.view(handle)
        if view is None or handle is None:
            return None
        (width, height), (left, top, right, bottom) = view.size, reading.box
        box = (left * width, top * height, right * width, bottom * height)
        return TextSeen(reading.text, handle, box, 1.0, detect_script(reading.text))

    @cached_property
    def doubtful(self) -> tuple[TextSeen, ...]:
        """Lines of the scene that are read too poorly to count, without what a person has read or ruled out."""
        mine = [line for line in self.lines if line.confidence == 1.0]
        doubted = (line for line in self.notebook.doubtful if line.overlay is None and not self._left_out.line(line))
        return tuple(line for line in doubted if all(overlap(line, item) < SAME_LINE_OVERLAP for item in mine))

    @cached_property
    def at_best(self) -> Posterior:
        """The posterior with the script of doubtful lines, for leads where no place is found."""
        if not self.doubtful_script_clues:
            return self.full_posterior
        everything, lines = (*self.everything, *self.doubtful_script_clues), (*self.lines, *self.doubtful)
        return posterior(everything, within=self.known.within, countries=self.known.countries, lines=lines)

    @cached_property
    def doubtful_script_clues(self) -> tuple[Clue, ...]:
        """The clues in the scripts of doubtful lines."""
        found = _text_clues((*self.lines, *self.doubtful)) if self.doubtful else ()
        return self._drop_rejected(clue for clue in found if clue.kind == "script" and clue.where in self.doubtful)

    @cached_property
    def askable(self) -> tuple[TextSeen, ...]:
        """The lines that are worth a question as names."""
        return tuple(line for line in self.lines if not self._left_out.name(line.text))

    @property
    def is_taken_up(self) -> bool:
        """Return whether a person resumed the run after its end."""
        return bool(self.notebook.said_by_people)

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """The hints about the place, from the task and from later messages."""
        # Feedback that is given as data is not read from its words, which quote the photo.
        later = () if self.known.has_feedback else self.notebook.said_by_people
        said = (*([self.known.hint] if self.known.hint else ()), *later)
        return tuple(words for words in said if not is_denial(words))

    @cached_property
    def hint_names(self) -> tuple[str, ...]:
        """Names in hints that are worth looking up."""
        return tuple(dict.fromkeys(name for hint in self.hints for name in extract_hint_names(hint)))

    @cached_property
    def towns(self) -> list[TownDistance]:
        """The towns and distances on distance signs."""
        return distances(self.lines)

    @cached_property
    def lookups(self) -> list[Lookup]:
        """The texts worth looking up in the atlas, the most telling first."""
        return [lookup for lookup in _lookups(self.lines) if not self._left_out.lookup(lookup)]

    @cached_property
    def initial_clues(self) -> tuple[Clue, ...]:
        """The clues in the text and in what people know, before anything is looked up."""
        views = (view for handle in self.notebook.photos if (view := self.notebook.view(handle)) is not None)
        return self._drop_rejected((*_text_clues(self.lines), *build_stated_clues(self.known, self.hints, views)))

    @cached_property
    def at_first(self) -> Posterior:
        """The posterior of the text alone."""
        return self._compute_posterior(self.initial_clues)

    @cached_property
    def full_posterior(self) -> Posterior:
        """The posterior of all clues."""
        return self._compute_posterior(self.everything)

    @cached_property
    def everything(self) -> tuple[Clue, ...]:
        """All clues that count, also such as say the same."""
        looked_up = (clue for item in self.notebook.done for clue in self._find_lookup_clues(item))
        return (*self.initial_clues, *self._drop_rejected((*looked_up, *self._distances_met())))

    def _drop_rejected(self, clues: Iterable[Clue]) -> tuple[Clue, ...]:
        return tuple(clue for clue in clues if not self._left_out.clue(clue))

    @cached_property
    def _left_out(self) -> RuledOut:
        return RuledOut(self.known.left_out)

    @cached_property
    def clues_ruled_out(self) -> tuple[Clue, ...]:
        """The clues that would count, had a person not ruled them out."""
        if not self._left_out:
            return ()
        everything = Reasoning(self.notebook, replace(self.known, left_out=())).everything
        return distinct(clue for clue in everything if self._left_out.clue(clue))

    @cached_property
    def anywhere(self) -> Posterior:
        """The posterior of all clues without the given area."""
        return posterior(self.everything, lines=self.lines)

    @cached_property
    def outside(self) -> Decision | None:
        """The decision of all clues where it lies outside the given area; else None."""
        within, countries = self.known.area, self.known.area_countries
        if within is None and countries is None:
            return None
        free = self.anywhere
        decision = decide(free)
        if decision.level == "none" or apply(decision) < POINTING_PROBABILITY:
            return None
        if within is not None and decision.level == "spot" and decision.point is not None:
            # The town around a spot may reach into the area, and is no place that was found there.
            return decision if not within.contains(decision.point) and self.decision.level == "none" else None
        wanted = None if countries is None else {code.upper() for code in countries}
        held = None if within is None else shares_within(within)
        if held is not None and decision.is_country and decision.country in held:
            # A word for a country is none against the area, no matter which part of the country the area is.
            held = {**held, decision.country or "": 1.0}
        inside = sum(
            candidate.probability
            for candidate in free.candidates
            if (within is None or brought_into(within, candidate.point, candidate.radius_km))
            and (wanted is None or candidate.country in wanted)
        )
        inside += sum(
            share * (1.0 if held is None else held.get(code, 0.0))
            for code, share in free.elsewhere.items()
            if wanted is None or code in wanted
        )
        return decision if inside < CONTRADICTION_PROBABILITY else None

    @cached_property
    def self_test_result(self) -> SelfTest:
        """The decision, and what becomes of it without each clue."""
        return self_test(self.full_posterior)

    @property
    def decision(self) -> Decision:
        """The decision on what to answer."""
        return self.self_test_result.decision

    @property
    def is_decided(self) -> bool:
        """Return whether the decision is computed already, so that reading it costs nothing."""
        return "self_test_result" in self.__dict__

    @cached_property
    def probability(self) -> float:
        """The measured rate of right answers of this kind; less where photos disagree or it rests on a hint."""
        return min(apply(self.decision), self.odds_among_photos, self.odds_with_hints)

    @cached_property
    def odds_with_hints(self) -> float:
        """The most that an answer with a hint may state: either the photo alone is right or the hint is; 1 without one.

        Who gives a hint has looked at the same photo, so the two are not independent: English in a photo does not make
        the hint of an English town any surer.
        """
        hints = [clue.reliability for clue in self.decision.supporting if clue.kind == "hint"]
        if not hints:
            return 1.0
        alone = decide(self._compute_posterior([clue for clue in self.everything if clue.kind != "hint"]))
        unhinted = apply(alone) if _is_same_place(alone, self.decision) else 0.0
        return 1.0 - (1.0 - unhinted) * (1.0 - max(hints))

    @cached_property
    def odds_among_photos(self) -> float:
        """The probability of the answer's country where photos of a place disagree; 1 where none do.

        With p and q as how surely photos speak for it and for the strongest other, one side misleads:
        p (1 - q) / (1 - p q).
        """
        country = self.decision.country
        surest: dict[tuple[str | None, str], float] = {}
        for sign in self.self_test_result.signs:
            key = (sign.alone.country, sign.panel.image)
            surest[key] = max(surest.get(key, 0.0), apply(sign.alone))
        apart = {
            item.alone.country
            for sign in self.self_test_result.signs
            for item in sign.disputed_by
            if sign.alone.country == country and sign.panel.image != item.panel.image
        } - {country}
        if country is None or not apart:
            return 1.0
        wrong = {code: prod(1.0 - p for (of, _), p in surest.items() if of == code) for code in (country, *apart)}
        ours, theirs = 1.0 - wrong[country], 1.0 - min(wrong[code] for code in apart)
        return ours * (1.0 - theirs) / (1.0 - ours * theirs)

    def _compute_posterior(self, clues: Sequence[Clue]) -> Posterior:
        return posterior(clues, within=self.known.within, countries=self.known.countries, lines=self.lines)

    def _find_lookup_clues(self, call: FinishedCall) -> Iterator[Clue]:
        if call.observation.failure is not None:
            return
        if call.name == "visual_prior":
            yield from visual_clues(call.data)
        elif call.name in _ASKED_FOR:
            yield from self._find_name_clues(call, str(call.arguments.get(_ASKED_FOR[call.name], "")))
        elif call.name == "find_colocated":
            yield from self._together(call, tuple(map(str, call.arguments.get("features", ()))))
        elif call.name in SEARCH_OF_TOOL and call.name != "range_fix":
            yield from self._together(call, tuple(str(call.arguments.get(key, "")) for key in ("first", "second")))

    def _together(self, call: FinishedCall, words: tuple[str, ...]) -> Iterator[Clue]:
        """A clue that rests on several names; on none that a person has ruled out."""
        if not any(map(self._left_out.name, words)):
            yield from place_clues(SEARCH_OF_TOOL[call.name], call.data, self._texts(words), asked=words)

    @cached_property
    def _distance_fixes(self) -> tuple[FinishedCall, ...]:
        asked = (call for call in self.notebook.find_calls("range_fix") if call.data.get("fixes"))
        gone: set[str] = set()
        if self._left_out:
            gone = {distance.town for distance in distances(self.notebook.lines)} - {town.town for town in self.towns}
        return tuple(item for item in asked if gone.isdisjoint(map(str, item.arguments.get("towns", ()))))

    def _distances_met(self) -> Iterator[Clue]:
        """One clue of all readings of a sign's distances."""
        towns = {str(town) for fix in self._distance_fixes for town in fix.arguments.get("towns", ())}
        seen = tuple(town.where for town in self.towns if town.town in towns)
        clue = range_clue([fix.data for fix in self._distance_fixes], [text.text for text in seen]) if seen else None
        if clue is not None:
            yield replace(clue, where=seen[0])

    def _find_name_clues(self, call: FinishedCall, query: str) -> Iterator[Clue]:
        seen = find_line(query, self.lookups, self.lines)
        away = next((town for town in self.towns if town.town == query), None)
        if away is not None and seen is not None and seen.text == away.where.text:
            # A sign with distances stands in none of the towns that it names; where they meet, that says all.
            if not any(query in fixed.arguments.get("towns", ()) for fixed in self._distance_fixes):
                for clue in place_clues(SEARCH_OF_TOOL[call.name], call.data, seen, asked=query):
                    yield around(clue, away.distance * (KM_A_MILE if away.unit == "mi" else 1.0))
        elif seen is not None:
            # A word of a line is its name less often than the line is.
            wanted = next((wanted for wanted in self.lookups if wanted.text == query), None)
            share = _compute_coverage(query, seen.text) if wanted is None else 1.0
            manner = "part" if wanted is None else wanted.manner
            country = call.arguments.get("country")
            is_told = wanted is not None and wanted.country_hint == country
            somebodys = _is_somebodys(query, seen, wanted) or self._under_a_trade(query, seen)
            for found in place_clues(SEARCH_OF_TOOL[call.name], call.data, seen, asked=query, manner=manner):
                clue = of_somebody(found) if somebodys and found.kind == "place" else found
                clue = restrict_to_country(clue, country) if country and (somebodys or not is_told) else clue
                yield replace(clue, reliability=clue.reliability * share)
        elif query in self.hint_names:
            rows = [row for row in call.data.get("results", ()) if row.get("match") != "fuzzy"]
            naming = [hint for hint in self.hints if query in extract_hint_names(hint)]
            surest = max(map(hint_reliability, naming))
            sharp = not any(map(says_near, naming))
            for clue in place_clues(SEARCH_OF_TOOL[call.name], {"results": rows}, asked=query):
                spots = tuple(replace(spot, sharp=sharp) for spot in clue.spots)
                yield replace(clue, kind="hint", reliability=surest, spots=spots, caution="nobody has checked the hint")

    def _under_a_trade(self, query: str, seen: TextSeen) -> bool:
        """Return whether a name is alone beside a trade: "HOTEL" over "NEW YORK" is a hotel's name."""
        if fold(query) != fold(seen.text):
            return False
        trades = (line for line in self.lines if line is not seen and on_one_panel(line, seen))
        return any(_is_trade(line.text) for line in trades)

    def _texts(self, words: Sequence[str]) -> tuple[TextSeen, ...]:
        seen = (find_line(word, self.lookups, self.lines) for word in words)
        return tuple(text for text in seen if text is not None)


def _is_same_place(decision: Decision, other: Decision) -> bool:
    """Return whether two decisions mean the same place, and the first is no coarser."""
    if decision.level == "none" or decision.point is None or other.point is None or decision.country != other.country:
        return False
    if other.is_country:
        return True
    reach_km = other.radius_km or 0.0
    return (decision.radius_km or 0.0) <= 2 * reach_km and distance_km(decision.point, other.point) <= reach_km


def _is_somebodys(query: str, seen: TextSeen, wanted: Lookup | None) -> bool:
    """Return whether a name is in a shop's name or in a web address, where owners' names occur."""
    if wanted is None:
        return in_a_shops_name(query, seen.text)
    return wanted.kind == "business" and bool(addresses_seen([seen]))


def _is_trade(text: str) -> bool:
    """Return whether a line names a trade and nothing else, also if its end is hidden ("Panadería & Pas")."""
    if kind_said(text) != "business":
        return False
    trade = {word for seen in words_seen(text) if "business" in seen.categories for word in tokens(seen.text)}
    return all(word in trade or len(word) <= _SHORT_WORD_CHARS for word in tokens(text))


def _compute_coverage(query: str, line: str) -> float:
    """Return how far a word of a line speaks for the line; shops are often named after distant towns."""
    share = min(1.0, len(fold(query)) / max(1, len(fold(line))))
    return share * (SHOP_NAME_WEIGHT if kind_said(line) == "business" else 1.0)


# Every step of a run reads the same lines.
@lru_cache(maxsize=64)
def _text_clues(lines: tuple[TextSeen, ...]) -> tuple[Clue, ...]:
    return tuple(text_clues(lines))


@lru_cache(maxsize=64)
def _lookups(lines: tuple[TextSeen, ...]) -> tuple[Lookup, ...]:
    return tuple(lookups(lines))
