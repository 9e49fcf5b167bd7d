"""The candidate pool: every hypothesis with its evidence, its checks and its fate, as a fold over the events.

A note of the policy makes a candidate or brings one up to date; what tools find out about a candidate's place later is
added to it as a check. The pool says what changes; the loop records each change as a ``noted`` event, and only these
events move the pool. So it is the same when it is read back.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.geo import LatLon, distance_km, is_valid
from geosleuth.models.detective.ruled_out import LESS_LIKELY, SAME_PLACE_KM
from geosleuth.names import country_code, country_name, fold
from geosleuth.tools import Observation, ToolCall

from .events import Body, Event, Fate, Hypothesis, Noted, Said, ToolObserved

NOTE_TOOL = "note_hypothesis"
# Candidates at or below this confidence are dropped.
DROP_CONFIDENCE = 0.02
# A candidate below this confidence is not given as the answer, unless an answer is required.
WEAK_CONFIDENCE = 0.1

# A model may note the same place for ever; each note is recorded with the whole candidate.
_MAX_LINES = 20
_LINE_CHARACTERS = 300
_SHORTEST_NAME = 3
_POINTS_LOOKED_AT = 200
_POINT_KEYS = ("point", "lat", "latitude")


class CandidatePool:
    """The candidates of a run, in the order they came up."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """The pool as it stands after these events."""
        self._candidates: dict[str, Hypothesis] = {}
        self._calls: dict[str, ToolCall] = {}
        for event in events:
            self.see(event.body)

    @property
    def candidates(self) -> tuple[Hypothesis, ...]:
        """All of them, dropped ones too."""
        return tuple(self._candidates.values())

    def see(self, body: Body) -> None:
        """Take in an event; only ``noted`` events change candidates."""
        match body:
            case Noted(hypothesis=hypothesis):
                self._candidates[hypothesis.id] = hypothesis
            case Said(step=step):
                self._calls = {call.id: call for call in step.calls}
            case _:
                pass

    def changes(self, body: Body) -> tuple[Hypothesis, ...]:
        """The candidates that an event makes or changes, as they should stand now."""
        if not isinstance(body, ToolObserved) or body.observation.failure is not None:
            return ()
        observation = body.observation
        if observation.name == NOTE_TOOL:
            noted = self._update_noted(observation)
            return () if noted is None or noted == self._candidates.get(noted.id) else (noted,)
        return tuple(self._update_checked(observation)) if self._candidates else ()

    def settle(self, answer: Answer) -> tuple[Hypothesis, ...]:
        """The candidates whose fate an answer changes: the one it lies at, and one that an earlier answer lay at."""
        chosen = self._at_answer(answer)
        changed = []
        for candidate in self._candidates.values():
            fate: Fate = candidate.fate
            if candidate is chosen:
                fate = "answered"
            elif fate == "answered":
                fate = "open"
            if fate != candidate.fate:
                changed.append(replace(candidate, fate=fate))
        return tuple(changed)

    def answer(self, *, force: bool = False) -> Answer | None:
        """The best open candidate as an answer, with its own confidence and radius.

        Args:
            force: take a weak one too, and prefer those with a point.

        Returns:
            None where no candidate is good enough, or none is left.
        """
        fit = [
            candidate
            for candidate in self._candidates.values()
            if candidate.fate != "dropped" and (force or _strong(candidate))
        ]
        if not fit:
            return None
        best = max(fit, key=lambda item: (force and item.point is not None, _rank(item)))
        return Answer(
            point=best.point,
            address=_address(best),
            probability=best.confidence,
            radius_km=best.radius_km,
            explanation=_explain_choice(best),
            candidates=self.as_candidates(),
        )

    def as_candidates(self) -> tuple[Candidate, ...]:
        """The pool as answers list it, best first."""
        ordered = sorted(
            self._candidates.values(), key=lambda candidate: (candidate.fate == "dropped", -_rank(candidate))
        )
        return tuple(
            Candidate(item.place, item.point, item.confidence, _evidence_line(item) or None) for item in ordered
        )

    def _update_noted(self, observation: Observation) -> Hypothesis | None:
        data = observation.data.get("hypothesis") if isinstance(observation.data, Mapping) else None
        if not isinstance(data, Mapping) or not (place := _clean_line(data.get("place"))):
            return None
        point, radius_km = _parse_point(data), _positive(data.get("radius_km"))
        known = self._same_place(place, point, radius_km)
        before = known or Hypothesis(f"h{len(self._candidates) + 1}", place)
        stated = _probability(data.get("confidence"))
        confidence = before.confidence if stated is None else stated
        dropped = data.get("fate") == "dropped" or (confidence is not None and confidence <= DROP_CONFIDENCE)
        return replace(
            before,
            place=place,
            point=point or before.point,
            radius_km=radius_km if point else radius_km or before.radius_km,
            country=_clean_line(data.get("country")) or (None if point else before.country),
            confidence=confidence,
            evidence_for=_clean_lines(data.get("evidence_for")) or before.evidence_for,
            evidence_against=_clean_lines(data.get("evidence_against")) or _still_against(before, confidence),
            fate="dropped" if dropped else "open",
        )

    def _same_place(self, place: str, point: LatLon | None, radius_km: float | None) -> Hypothesis | None:
        name = fold(place)
        for candidate in self._candidates.values():
            if name and fold(candidate.place) == name:
                return candidate
        for candidate in self._candidates.values():
            # The smaller radius decides: a street is not the country around it.
            near_km = min(SAME_PLACE_KM, candidate.radius_km or SAME_PLACE_KM, radius_km or SAME_PLACE_KM)
            both_known = point is not None and candidate.point is not None
            if both_known and distance_km(candidate.point, point) <= near_km:  # type: ignore[arg-type]  # both are known
                return candidate
        return None

    def _update_checked(self, observation: Observation) -> Iterator[Hypothesis]:
        call = self._calls.get(observation.call_id)
        arguments: Mapping[str, Any] = {}
        if call is not None and isinstance(call.arguments, Mapping):
            arguments = call.arguments
        asked = f" {' '.join(fold(text) for text in _texts(arguments))} "
        located = any(candidate.point is not None for candidate in self._candidates.values())
        points = [*_points(arguments), *_points(observation.data)] if located else []
        check = _check_line(observation, arguments)
        for candidate in self._candidates.values():
            if candidate.fate == "dropped":
                continue
            name = fold(candidate.place.partition(",")[0])
            named = len(name) >= _SHORTEST_NAME and f" {name} " in asked
            concerned = named or any(is_at_candidate(point, candidate) for point in points)
            if concerned and check not in candidate.checks:
                yield replace(candidate, checks=(*candidate.checks, check)[-_MAX_LINES:])

    def _at_answer(self, answer: Answer) -> Hypothesis | None:
        if answer.point is not None:
            point = answer.point
            here = [candidate for candidate in self._candidates.values() if is_at_candidate(point, candidate)]
            return min(here, key=lambda item: (item.radius_km or SAME_PLACE_KM, -_rank(item)), default=None)
        names = {fold(str(answer.address)), fold(answer.address.precise.conclusion or "")} - {""}
        return next((candidate for candidate in self._candidates.values() if fold(candidate.place) in names), None)


def _strong(candidate: Hypothesis) -> bool:
    return candidate.confidence is None or candidate.confidence >= WEAK_CONFIDENCE


def _rank(candidate: Hypothesis) -> float:
    return -1.0 if candidate.confidence is None else candidate.confidence


def is_at_candidate(point: LatLon, candidate: Hypothesis) -> bool:
    """Return whether a point is where a candidate is."""
    return candidate.point is not None and distance_km(point, candidate.point) <= (candidate.radius_km or SAME_PLACE_KM)


def _address(candidate: Hypothesis) -> Address:
    if country_code(candidate.place):
        return Address.create(country=candidate.place)
    return Address.create(country=candidate.country and country_name(candidate.country), precise=candidate.place)


def _explain_choice(best: Hypothesis) -> str:
    evidence = _evidence_line(best)
    return "The best candidate when the run ended without an answer of its own." + (f" {evidence}" if evidence else "")


def _evidence_line(candidate: Hypothesis) -> str:
    parts = (
        ("For", candidate.evidence_for),
        ("Against", candidate.evidence_against),
        ("Checked", candidate.checks),
    )
    return " ".join(f"{title}: {'; '.join(lines)}." for title, lines in parts if lines)


def _check_line(observation: Observation, arguments: Mapping[str, Any]) -> str:
    asked = ", ".join(f"{name}={value}" for name, value in arguments.items())
    found = observation.text.strip().partition("\n")[0]
    return f"{observation.name}({asked[:120]}): {found[:160]}"


def _clean_lines(given: object) -> tuple[str, ...]:
    several = given if isinstance(given, list | tuple) else (given,)
    # A dict keeps the order and drops what was said before.
    return tuple(dict.fromkeys(line for line in map(_clean_line, several) if line))[:_MAX_LINES]


def _clean_line(value: object) -> str:
    return " ".join(value[: 4 * _LINE_CHARACTERS].split())[:_LINE_CHARACTERS] if isinstance(value, str) else ""


def _probability(value: object) -> float | None:
    number = _get_number(value)
    return number if number is not None and 0.0 <= number <= 1.0 else None


def _positive(value: object) -> float | None:
    number = _get_number(value)
    return number if number is not None and 0.0 < number < float("inf") else None


def _get_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _parse_point(data: Mapping[str, Any]) -> LatLon | None:
    inside = data.get("point")
    if isinstance(inside, list | tuple) and len(inside) == 2:
        lat, lon = inside
    else:
        source = inside if isinstance(inside, Mapping) else data
        lat = source.get("lat", source.get("latitude"))
        lon = source.get("lon", source.get("longitude"))
    return LatLon(float(lat), float(lon)) if is_valid(lat, lon) else None


def _points(data: Any) -> Iterator[LatLon]:
    """Every point in JSON data, however deep; of much data the first so many values are looked at."""
    waiting, looked_at = [data], 0
    while waiting and looked_at < _POINTS_LOOKED_AT:
        looked_at += 1
        value = waiting.pop()
        if isinstance(value, dict):
            if not value.keys().isdisjoint(_POINT_KEYS) and (point := _parse_point(value)) is not None:
                yield point
            waiting.extend(inner for inner in value.values() if isinstance(inner, dict | list))
        elif isinstance(value, list):
            waiting.extend(inner for inner in value[:_POINTS_LOOKED_AT] if isinstance(inner, dict | list))


def _texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    for value in arguments.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (inner for inner in value if isinstance(inner, str))


def _still_against(before: Hypothesis, confidence: float | None) -> tuple[str, ...]:
    """Return what spoke against a candidate, except a drop in probability that has been reversed."""
    risen = (confidence or 0.0) > (before.confidence or 0.0)
    return tuple(line for line in before.evidence_against if not (risen and line == LESS_LIKELY))
