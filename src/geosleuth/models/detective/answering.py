"""The answer in our own form: place, odds, reasons, what contradicts it, and what would make it better."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from geosleuth.answer import Address, Answer, Candidate, Level
from geosleuth.atlas.suggestion import suggest_map
from geosleuth.evidence import Clue, ClueKind, TextSeen
from geosleuth.evidence.areas import outside_km
from geosleuth.evidence.bearing import telling_letters
from geosleuth.evidence.decision import STATED_KINDS
from geosleuth.evidence.heartlands import HELD_SHARE, heartland
from geosleuth.evidence.naming import kind_said
from geosleuth.evidence.posterior import Contribution
from geosleuth.evidence.selftest import LeftOut, Sign
from geosleuth.evidence.text_clue import specify_country
from geosleuth.geo import SAME_SPOT_KM, LatLon, distance_km
from geosleuth.names import country_name, fold
from geosleuth.support.text.numbers import distance
from geosleuth.support.text.safe import one_line
from geosleuth.tools.viewer import length, percent, quote

from .candidates import RankedPlace, full_name, standing
from .checking import list_rejected_places
from .evidence import disagreement, evidence_line, name_clue
from .reasoning import Reasoning
from .ruled_out import RuledOut as LeftOutBy
from .stated import is_denial, is_night_there, time_words

# Beginning of the advice given if no place could be named.
CONNECT_ADVICE = "Connect a vision model"

WITH_A_MODEL = "geosleuth locate photo.jpg --model ollama:qwen3-vl"
_ON_THE_GROUND = frozenset({"street", "business", "station", "landmark"})
_ADDED = ("osm:", "overture:")
_SHOWN_NAMES = 2
_SHOWN_SIGHTS = 3
# The most informative sights, each with the kinds of clues that show it has already been read.
_INFORMATIVE_SIGHTS: tuple[tuple[str, frozenset[ClueKind]], ...] = (
    ("a street name", frozenset({"street"})),
    ("a shop sign", frozenset({"business", "brand"})),
    ("a telephone number", frozenset({"phone"})),
    ("a road sign", frozenset({"distance_sign", "road_number", "speed"})),
    ("the name of a stop", frozenset({"station"})),
)

_NEAR_KM = 15.0

SURE, FAIR = 0.8, 0.5
SHOWN_REASONS = 3
SHOWN_LINES = 3
_LINE_CHARS = 60


def would_help(reasoning: Reasoning) -> str:
    """One or two sentences on what would narrow the answer down; empty where it is as fine as can be."""
    decision = reasoning.decision
    if not reasoning.full_posterior.clues or decision.level == "none":
        options = ", ".join(reasoning.known.not_said)
        return f"{CONNECT_ADVICE} ({WITH_A_MODEL}){f', or say what you see or know: {options}' if options else ''}."
    if decision.level == "spot":
        return ""
    names = find_unplaced_names(reasoning)
    if names and decision.country and not on_added_map(reasoning):
        whole = country_name(decision.country)
        missing = suggest_map(
            decision.country, decision.point, decision.radius_km if decision.level != "country" else None
        )
        title = f"{whole} or of the right part of it" if missing.place == whole else missing.place
        return (
            f"What would help: {_where_names_stand(reasoning, names[:_SHOWN_NAMES])}; a map of {title} may know more. "
            f"Fetch it with: {missing.command}"
        )
    read = {clue.kind for clue in reasoning.full_posterior.clues}
    wanted = [words for words, kinds in _INFORMATIVE_SIGHTS if not read & kinds][:_SHOWN_SIGHTS]
    if not wanted:
        return "What would help: another photo from there."
    listed = f"{', '.join(wanted[:-1])} or {wanted[-1]}" if len(wanted) > 1 else wanted[0]
    return f"What would help: another photo from there, with {listed} in it."


def on_added_map(reasoning: Reasoning) -> bool:
    """Return whether an added region covers the place, as far as the outcomes show."""
    point = reasoning.decision.point
    # A country is larger than the regions that people add.
    whole = reasoning.decision.level == "country"
    reach_km = _NEAR_KM if whole else max(reasoning.decision.radius_km or 0.0, _NEAR_KM)
    for item in reasoning.notebook.done:
        for row in (*(item.data.get("results") or ()), *(item.data.get("places") or ())):
            added = isinstance(row, Mapping) and str(row.get("id", "")).startswith(_ADDED)
            if added and point is not None and distance_km(point, LatLon(row["lat"], row["lon"])) <= reach_km:
                return True
    return False


def find_unplaced_names(reasoning: Reasoning) -> list[str]:
    """Names of shops, streets and stops that were looked up and found in no region that was added."""
    placed = {
        str(call.arguments.get(key))
        for tool, key in (("poi_keyword_search", "keyword"), ("maps_geocode", "address"))
        for call in reasoning.notebook.find_calls(tool)
        if any(
            str(row.get("id", "")).startswith(_ADDED) and row.get("match") != "fuzzy"
            for row in call.data.get("results", ())
        )
    }
    return [
        lookup.text
        for lookup in reasoning.lookups
        if lookup.kind in _ON_THE_GROUND and lookup.text not in placed and _is_a_name(lookup.text)
    ]


def _where_names_stand(reasoning: Reasoning, names: Sequence[str]) -> str:
    """Return the sentence that names are on no map, or were found only weakly."""
    found = {name: _describe_weak_match(reasoning, name) for name in names}
    nowhere = [quote(name, 40) for name, place in found.items() if not place]
    weakly = [f"{quote(name, 40)} was found only weakly ({place})" for name, place in found.items() if place]
    stand = "stand" if len(nowhere) > 1 else "stands"
    return "; ".join([*([f"{' and '.join(nowhere)} {stand} on no map of this machine"] if nowhere else []), *weakly])


def _describe_weak_match(reasoning: Reasoning, name: str) -> str:
    """The best place that a look-up has for a name, too weak to count by itself; empty where it found none."""
    rows = [
        row
        for tool, key in (("poi_keyword_search", "keyword"), ("maps_geocode", "address"))
        for call in reasoning.notebook.find_calls(tool)
        if str(call.arguments.get(key)) == name
        for row in call.data.get("results", ())
        if row.get("match") != "fuzzy"
    ]
    best = max(rows, key=lambda row: float(row.get("confidence") or 0.0), default=None)
    return "" if best is None else one_line(str(best.get("name", "")))[:_LINE_CHARS]


def _is_a_name(text: str) -> bool:
    """Return whether a text is surely a name: no single word, no digits, not only words common on signs."""
    several = len([word for word in text.split() if word.isalpha()]) > 1
    return telling_letters(text) > 0 and (several or kind_said(text) is not None)


def build_answer(reasoning: Reasoning, *, forced: bool = False) -> Answer:
    """Return the detective's answer; without a point where the clues allow none, unless forced."""
    candidates = standing(reasoning)
    listed = tuple(_candidate(candidate) for candidate in candidates)
    if not reasoning.full_posterior.clues or reasoning.decision.level == "none":
        if forced and (guess := _guess(reasoning)) is not None:
            return guess
        # How often hints are right is no probability that anything in the photo bears out.
        pairs = zip(listed, candidates, strict=True)
        unsaid = tuple(replace(one, probability=None) if of.only_hinted else one for one, of in pairs)
        return Answer(explanation=_cannot_tell(reasoning), candidates=unsaid)
    decision = reasoning.decision
    return Answer(
        point=decision.point,
        address=_address(reasoning),
        probability=round(reasoning.probability, 3),
        radius_km=_round_km(decision.radius_km or 1.0),
        explanation=_explain_answer(reasoning, candidates),
        candidates=listed,
    )


def _candidate(place: RankedPlace) -> Candidate:
    speaks_for = f"For: {'; '.join(place.evidence_for)}." if place.evidence_for else ""
    against = f"Against: {'; '.join(place.evidence_against)}." if place.evidence_against else ""
    return Candidate(place.name, place.point, round(place.probability, 3), f"{speaks_for} {against}".strip() or None)


def _address(reasoning: Reasoning) -> Address:
    decision = reasoning.decision
    clues = tuple(_best_reasons(reasoning))
    country = None
    if decision.country:
        shares = reasoning.full_posterior.country_contributions(decision.country)
        strongest = (part.clue for part in shares[:SHOWN_REASONS] if part.log_ratio > 0.1)
        telling = tuple(evidence_line(specify_country(clue, decision.country)) for clue in strongest)
        # Of a country that is the answer these are its own odds, and no finer place is likelier than its country.
        whole = decision.level == "country"
        odds = reasoning.probability if whole else max(decision.country_probability, reasoning.probability)
        country = Level(country_name(decision.country), telling, None, _uncertainty(odds))
    if decision.level == "country":
        return Address(country or Level())
    here = _here(reasoning)
    region = here.get("region") if here.get("region") != here.get("country_name") else None
    precise = _precise(reasoning, here) if decision.level in ("spot", "city") else None
    return Address(
        country or Level(),
        Level(str(region)) if region else Level(),
        Level(precise, clues, None, _uncertainty(reasoning.probability)) if precise else Level(),
    )


def _here(reasoning: Reasoning) -> Mapping[str, Any]:
    """Return what the map says lies at the answer's point, where it was queried."""
    point = reasoning.decision.point
    for call in reasoning.notebook.find_calls("reverse_geocode"):
        lat, lon = call.data.get("lat"), call.data.get("lon")
        if point is None or not isinstance(lat, float) or not isinstance(lon, float):
            continue
        if distance_km(point, LatLon(lat, lon)) <= SAME_SPOT_KM:
            return call.data
    return {}


def _precise(reasoning: Reasoning, here: Mapping[str, Any]) -> str | None:
    """The place's own name and the settlement around it, finest first."""
    name = reasoning.decision.name
    places = here.get("places") or ()
    settlement = next((str(row["name"]) for row in places if row.get("kind") == "city"), None)
    if not name or not settlement or fold(settlement) in fold(name):
        return name
    return f"{name}, {settlement}"


def _uncertainty(probability: float) -> str:
    """Return how uncertain a level is, by its own probability alone, regardless of the radius."""
    return "low" if probability >= SURE else "moderate" if probability >= FAIR else "high"


def _explain_answer(reasoning: Reasoning, candidates: Sequence[RankedPlace]) -> str:
    decision = reasoning.decision
    place = full_name(decision.name or "an unnamed place", decision.country)
    radius, odds = length(_round_km(decision.radius_km or 1.0)), percent(reasoning.probability)
    land = heartland(decision.country, reasoning.known.within) if decision.country else None
    if decision.level == "country" and land is not None and land.is_area:
        first = f"{place}: {odds}. The point is the middle of the area that was given, which reaches {radius} from it."
    elif decision.level == "country":
        first = f"{place}: {odds}. {'The text names no finer place.' if reasoning.lines else 'Nothing finer is known.'}"
    else:
        first = f"{place}: {odds} that it lies within {radius} of the point."
    return " ".join(
        sentence
        for sentence in (
            _outside(reasoning),
            first,
            conditional(reasoning.known.area_words, reasoning.probability),
            _reasons(reasoning),
            _explain_contradictions(reasoning, candidates),
            _list_rejections(reasoning),
            disagreement(reasoning.self_test_result.conflicting_signs),
            _hangs(reasoning),
            _explain_denial(reasoning),
            would_help(reasoning),
        )
        if sentence
    )


def conditional(area: str, probability: float | None) -> str:
    """Return the sentence that an answer holds only within the given area; empty where none was given."""
    if not area:
        return ""
    odds = "it holds only" if probability is None else f"the {percent(probability)} hold only"
    return f"Looked for only within {area}, as you asked: {odds} if it was taken there."


def _explain_area_miss(reasoning: Reasoning) -> str:
    """Return the sentence that no place was found in the given area; empty where no area was given."""
    area = reasoning.known.area_words
    if not area:
        return ""
    night = _night(reasoning)
    doubt = f" Against that speaks {night}. Check the time, or the area." if night else ""
    if reasoning.outside is not None and not night:
        return ""
    country = next(iter(reasoning.full_posterior.countries), "")
    # Where all clues point elsewhere, what speaks for the area is seen only beside the rest of the world.
    weighed = reasoning.full_posterior if reasoning.outside is None else reasoning.anywhere
    parts = weighed.country_contributions(country)
    fits = [evidence_line(specify_country(part.clue, country)) for part in parts if _is_visible_support(part)]
    said = f"; what was read fits it and names no place in it: {fits[0]}" if fits else ""
    return f"Looked for only within {area}, as you asked{said}.{doubt}"


def _is_visible_support(part: Contribution) -> bool:
    return part.speaks_for and part.clue.kind not in STATED_KINDS


def _reasons(reasoning: Reasoning) -> str:
    best = _best_reasons(reasoning)
    if not best:
        return "No single clue speaks for it strongly; it is what is left."
    if len(best) == 1:
        return f"The evidence is {best[0]}."
    return "The best evidence: " + "; ".join(f"({number}) {line}" for number, line in enumerate(best, 1)) + "."


def _best_reasons(reasoning: Reasoning) -> list[str]:
    """The strongest evidence, in words about the country of the answer."""
    decision = reasoning.decision
    clues = decision.supporting[:SHOWN_REASONS]
    point = None if decision.level == "country" else decision.point
    return [
        evidence_line(specify_country(clue, decision.country, point) if decision.country else clue) for clue in clues
    ]


def _explain_contradictions(reasoning: Reasoning, candidates: Sequence[RankedPlace]) -> str:
    night = _night(reasoning)
    clues = (clue for clue in reasoning.decision.contradicting if not (night and clue.kind == "sun"))
    against = [*([night] if night else []), *(evidence_line(clue) for clue in clues)][:2]
    said = f"Against it speaks {'; '.join(against)}." if against else "Nothing that was found speaks against it."
    others = [
        f"{candidate.name} ({percent(candidate.probability)})"
        for candidate in candidates[1:]
        if candidate.probability >= 0.05
    ]
    return f"{said} It could also be {' or '.join(others[:2])}." if others else said


def _night(reasoning: Reasoning) -> str:
    """Return the sentence that it was night in all of the given area, for a bright photo; else empty."""
    known = reasoning.known
    bright = any(clue.kind == "sun" for clue in reasoning.full_posterior.clues)
    if not bright or known.taken is None or not is_night_there(known):
        return ""
    return f"the time: at {time_words(known.taken)} it was night in all of {known.area_words}, and the photo is bright"


def _hangs(reasoning: Reasoning) -> str:
    tested = reasoning.self_test_result
    decisive = [item for item in tested.without if item.hangs_on_it]
    if not decisive:
        many = len(tested.without) > 1
        return "Left out one by one, no clue changes the answer." if many else ""
    if len(decisive) == 1:
        what = "one sign" if isinstance(decisive[0].clue, Sign) else "one clue"
        return f"It hangs on {what}, {name_clue(decisive[0].clue)}: {_without(decisive[0])}."
    names = " and ".join(name_clue(item.clue) for item in decisive[:2])
    return f"It hangs on {names}: without either it would be another."


def _without(out: LeftOut) -> str:
    other = out.decision
    if other.level == "none" or other.name is None:
        return "without it no place could be told"
    if other.level == "country" or not out.country_changes:
        return f"without it the answer would be {full_name(other.name, other.country)}"
    return f"without it the answer would be {full_name(other.name, other.country)} instead"


def _cannot_tell(reasoning: Reasoning) -> str:
    sentences = (
        _outside(reasoning) or _silence(reasoning),
        _explain_area_miss(reasoning),
        _explain_hint(reasoning),
        _explain_denial(reasoning),
        _list_rejections(reasoning),
        would_help(reasoning),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _silence(reasoning: Reasoning) -> str:
    """Why no place is named, in one sentence; never a country that nothing in the photo speaks for."""
    clues = [clue for clue in reasoning.full_posterior.clues if clue.kind != "hint"]
    if not clues and "read_text" not in reasoning.notebook.tools and not reasoning.lines:
        return "The tool that reads text is switched off."
    if not clues and reasoning.clues_ruled_out:
        return "Of the text found, nothing is left that names a place."
    if not clues and not reasoning.lines:
        overlays = [line for line in reasoning.notebook.lines if line.overlay is not None]
        if overlays:
            shown = ", ".join(quote(line.text, _LINE_CHARS) for line in overlays[:SHOWN_LINES])
            return f"Only text that is not part of the scene was found, such as captions, stamps and labels: {shown}."
        return "No readable text found."
    read = dict.fromkeys(line.text.strip() for line in _telling_first(reasoning))
    if read:
        doubted = [line.text.strip() for line in reasoning.doubtful][:SHOWN_LINES]
        kept = [text for text in read if text not in doubted][: SHOWN_LINES - min(1, len(doubted))]
        lines = ", ".join(quote(text, _LINE_CHARS) for text in [*kept, *doubted][:SHOWN_LINES])
        return f"The text found is too weak to name a place: {lines}."
    best = "; ".join(evidence_line(clue) for clue in clues[:SHOWN_REASONS])
    read_nothing = "read_text" in reasoning.notebook.tools and not reasoning.notebook.lines
    first = "No readable text found. What else is known" if read_nothing else "What is known"
    return f"{first} is too weak to name a place: {best}."


def _explain_hint(reasoning: Reasoning) -> str:
    """Return the sentence that a hint names no place, or a place that the photo does not support."""
    clues = reasoning.full_posterior.clues
    hints = [clue for clue in clues if clue.kind == "hint"]
    if not hints and (said := reasoning.known.hint) and said in reasoning.hints:
        known = any(_is_known(reasoning, name) for name in reasoning.hint_names)
        return "" if known else f"Your hint {quote(said, 40)} names no place that is known here."
    places = dict.fromkeys(place for clue in hints for place in _places_hinted(clue))
    if not places:
        return ""
    listed = " or ".join(list(places)[:SHOWN_REASONS])
    if len(hints) == len(clues):
        return f"Only your hint names a place: {listed}."
    return f"Only your hint{' and text that is read poorly speak' if reasoning.doubtful else ' speaks'} for {listed}."


def _is_known(reasoning: Reasoning, name: str) -> bool:
    """Return whether a name in a hint was found, also where it counts as text of the photo."""
    rows = (
        row
        for call in reasoning.notebook.find_calls("maps_geocode")
        if call.arguments.get("address") == name
        for row in call.data.get("results", ())
    )
    return any(row.get("match") != "fuzzy" for row in rows)


def _explain_denial(reasoning: Reasoning) -> str:
    """Return the sentence that a hint excludes a place and was left out; empty where it does not."""
    said = reasoning.known.hint
    if not said or not is_denial(said):
        return ""
    return f"Your hint {quote(said, 40)} was left out: it says where it is not, and only a place that it names counts."


def _places_hinted(clue: Clue) -> list[str]:
    """The places that a hint names; of a name that several bear, the likeliest."""
    if clue.spots:
        best = max(clue.spots, key=lambda spot: spot.weight)
        return [full_name(best.name, best.country)]
    return [country_name(code) for code in clue.countries]


def _telling_first(reasoning: Reasoning) -> list[TextSeen]:
    """The lines that were read, those that a clue was seen in first, and doubtful ones last."""
    seen = "\n".join(clue.seen for clue in reasoning.full_posterior.clues)
    return [*sorted(reasoning.lines, key=lambda line: line.text not in seen), *reasoning.doubtful]


def _list_rejections(reasoning: Reasoning) -> str:
    """Return what a person has ruled out; empty where nothing was."""
    known = reasoning.known
    if not known.rules_out:
        return ""
    # What a person reads otherwise is corrected, and rules nothing out.
    dismissed = LeftOutBy(text for text in known.left_out if text not in known.misread)
    clues = list(dict.fromkeys(name_clue(clue) for clue in reasoning.clues_ruled_out if dismissed.clue(clue)))
    places = list_rejected_places(reasoning)
    corrected = [
        f"{quote(reading.text, 40)}, not {quote(reading.was, 40)}" for reading in known.readings if reading.was
    ]
    reads = f"A person reads {'; and '.join(corrected[:SHOWN_REASONS])}." if corrected else ""
    told = []
    if clues:
        more = f" and {len(clues) - SHOWN_REASONS} more" if len(clues) > SHOWN_REASONS else ""
        told.append(f"{', '.join(clues[:SHOWN_REASONS])}{more} as misleading")
    if places:
        told.append(f"that it is {' or '.join(places)}")
    if not told and dismissed:
        told.append("some of what was read")
    said = f"A person has ruled out {'; and '.join(told)}." if told else ""
    return " ".join(part for part in (reads, said) if part)


def _outside(reasoning: Reasoning) -> str:
    """Return the sentence that all clues contradict the given area; empty where they don't."""
    decision = reasoning.outside
    if decision is None:
        return ""
    place, known = full_name(decision.name or "another place", decision.country), reasoning.known
    away = ""
    if known.area is not None and decision.point is not None and not decision.is_country:
        away = f"{distance(outside_km(known.area, decision.point))} "
    return (
        f"All clues point to {place}, {away}outside {known.area_words}. If that area may be wrong, search without it."
    )


def _guess(reasoning: Reasoning) -> Answer | None:
    """The likeliest country's largest city, with the honest odds that it deserves."""
    for code, share in reasoning.full_posterior.countries.items():
        land = heartland(code, reasoning.known.within)
        if land is not None:
            words = _cannot_tell(reasoning)
            return Answer(
                point=land.point,
                address=Address(Level(country_name(code), uncertainty="high")),
                probability=round(HELD_SHARE * share, 3),
                radius_km=_round_km(land.radius_km),
                explanation=f"A guess, since one was asked for. {words}",
                candidates=tuple(_candidate(item) for item in standing(reasoning)),
            )
    return None


def _round_km(radius_km: float) -> float:
    return round(radius_km, 2 if radius_km < 10 else 0)
