"""Candidates held against the map, and noted in the run's pool."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from geosleuth.evidence import Clue
from geosleuth.evidence.posterior import SEPARATOR
from geosleuth.geo import LatLon, distance_km, is_valid
from geosleuth.names import country_name, fold, whole_country
from geosleuth.tools.viewer import format_point

from .candidates import RankedPlace, compute_odds, standing
from .map_questions import Call
from .reasoning import Reasoning
from .ruled_out import BY_A_PERSON, LESS_LIKELY, SAME_PLACE_KM

NOTED = 3
NOTED_AT = 0.05
TOGETHER = 3
WITHIN_M = 400.0
CHANGED = 0.05

Note = Mapping[str, Any]
"""The arguments of a note."""

_ON_THE_GROUND = ("street", "business", "station", "landmark")
_ADDED = ("osm:", "overture:")


def checks(reasoning: Reasoning) -> Iterator[Call]:
    """Do the names meet in one place, and what lies at the answer's point?"""
    tools, decision = reasoning.notebook.tools, reasoning.decision
    if "find_colocated" in tools:
        names = _names_on_the_map(reasoning)
        asked = [set(call.arguments.get("features", ())) for call in reasoning.notebook.find_calls("find_colocated")]
        for count in (2, TOGETHER):
            chosen = sorted(names[:count])
            if len(chosen) == count and not any(before.issuperset(chosen) for before in asked):
                yield Call("find_colocated", {"features": chosen, "within_m": WITHIN_M})
    if "reverse_geocode" in tools and decision.point is not None and decision.level != "country":
        yield Call("reverse_geocode", {"latitude": decision.point.lat, "longitude": decision.point.lon})
    taken = reasoning.known.taken
    if "sun_position" in tools and taken is not None and decision.point is not None:
        yield Call(
            "sun_position",
            {
                "time": taken.isoformat(timespec="minutes"),
                "latitude": decision.point.lat,
                "longitude": decision.point.lon,
            },
        )


def notes(reasoning: Reasoning) -> Iterator[Call]:
    """The best candidates for the pool, those that were noted and have hardly changed left out."""
    if "note_hypothesis" not in reasoning.notebook.tools:
        return
    before = _collect_notes(reasoning)
    upheld: set[str] = set()
    points: list[LatLon] = []
    found = reasoning.decision.level != "none"
    for item in [item for item in standing(reasoning) if found or not item.only_hinted][:NOTED]:
        if item.evidence_for and item.probability >= NOTED_AT:
            upheld.add(item.name)
            if item.point is not None:
                points.append(item.point)
            if item.name not in before or abs(_confidence(before[item.name]) - item.probability) >= CHANGED:
                yield _note(item)
    if reasoning.known.rules_out or reasoning.is_taken_up:
        # A place that goes by another name now has not fallen.
        ruled_out = list_rejected_places(reasoning)
        yield from _fallen(
            reasoning,
            {
                place: note
                for place, note in before.items()
                if place not in upheld and (place in ruled_out or not _is_near_any(note, points))
            },
        )


def _is_near_any(note: Note, points: Iterable[LatLon]) -> bool:
    where = _read_note_point(note)
    return where is not None and any(distance_km(where, point) <= SAME_PLACE_KM for point in points)


def _fallen(reasoning: Reasoning, before: Mapping[str, Note]) -> Iterator[Call]:
    """Yield candidates that a person's feedback has changed: their earlier notes are out of date."""
    ruled_out, odds = list_rejected_places(reasoning), compute_odds(reasoning)
    for place, note in before.items():
        was, now = _confidence(note), odds.get(place, 0.0)
        if was > 0 and (now == 0 or abs(was - now) >= CHANGED):
            against = BY_A_PERSON if place in ruled_out else LESS_LIKELY
            where = {key: note[key] for key in ("latitude", "longitude") if key in note}
            noted = {"place": place, "confidence": round(now, 3), "evidence_against": [against], **where}
            yield Call("note_hypothesis", noted)


def list_rejected_places(reasoning: Reasoning) -> list[str]:
    """The places that a person has ruled out: countries, and the candidates that were noted there, or the ground."""
    known = reasoning.known
    points = {
        place: point
        for place, note in _collect_notes(reasoning).items()
        if (point := _read_note_point(note)) is not None
    }
    found = [country_name(code) for code in known.not_in]
    for extent in known.not_at:
        inside = [place for place, point in points.items() if extent.contains(point) and not whole_country(place)]
        found += inside or [f"at {format_point(extent.centre)}"]
    return list(dict.fromkeys(found))


def _collect_notes(reasoning: Reasoning) -> dict[str, Note]:
    notes = (item.arguments for item in reasoning.notebook.done if item.name == "note_hypothesis")
    return {str(note.get("place")): note for note in notes}


def _read_note_point(note: Note) -> LatLon | None:
    lat: Any = note.get("latitude")
    lon: Any = note.get("longitude")
    return LatLon(float(lat), float(lon)) if is_valid(lat, lon) else None


def _confidence(note: Note) -> float:
    return float(note.get("confidence", 0.0))


def _note(place: RankedPlace) -> Call:
    where = {} if place.point is None else {"latitude": place.point.lat, "longitude": place.point.lon}
    return Call(
        "note_hypothesis",
        {
            "place": place.name,
            "confidence": round(place.probability, 3),
            "evidence_for": list(place.evidence_for),
            "evidence_against": list(place.evidence_against),
            **where,
        },
    )


def _names_on_the_map(reasoning: Reasoning) -> list[str]:
    """Names of things on the ground that added regions know, those that speak for the answer first, each once."""
    order = [*reasoning.decision.supporting, *reasoning.full_posterior.clues]
    names: dict[str, str] = {}
    for clue in order:
        key = fold(clue.seen)
        if clue.kind not in _ON_THE_GROUND or SEPARATOR in clue.seen or not _is_added(clue):
            continue
        # "Rue Grimaldi" and "Rue Grimaldi 12" are one thing, and so are a line and the sign it is part of.
        if not any(key in other or other in key for other in names):
            names[key] = clue.seen
    return list(names.values())


def _is_added(clue: Clue) -> bool:
    return any((spot.place_id or "").startswith(_ADDED) for spot in clue.spots)
