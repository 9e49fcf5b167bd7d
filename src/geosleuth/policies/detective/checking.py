"""Candidates held against the map, and noted in the run's pool."""

from collections.abc import Iterator

from geosleuth.clues import Clue
from geosleuth.clues.weighing import SEPARATOR
from geosleuth.names import fold

from .asking import Call
from .reasoning import Reasoning
from .rivals import Rival, rivals

NOTED = 3
NOTED_AT = 0.05
TOGETHER = 3
WITHIN_M = 400.0
CHANGED = 0.05

_ON_THE_GROUND = ("street", "business", "station", "landmark")
_ADDED = ("osm:", "overture:")


def checks(reasoning: Reasoning) -> Iterator[Call]:
    """Do the names meet in one place, and what lies at the answer's point?"""
    tools, decision = reasoning.notebook.tools, reasoning.decision
    if "find_colocated" in tools:
        names = _names_on_the_map(reasoning)
        asked = [set(one.arguments.get("features", ())) for one in reasoning.notebook.of("find_colocated")]
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
    before = {
        str(one.arguments.get("place")): float(one.arguments.get("confidence", 0.0))
        for one in reasoning.notebook.done
        if one.name == "note_hypothesis"
    }
    for one in rivals(reasoning)[:NOTED]:
        known = before.get(one.name)
        telling = bool(one.evidence_for) and one.probability >= NOTED_AT
        if telling and (known is None or abs(known - one.probability) >= CHANGED):
            yield _note(one)


def _note(one: Rival) -> Call:
    where = {} if one.point is None else {"latitude": one.point.lat, "longitude": one.point.lon}
    return Call(
        "note_hypothesis",
        {
            "place": one.name,
            "confidence": round(one.probability, 2),
            "evidence_for": list(one.evidence_for),
            "evidence_against": list(one.evidence_against),
            **where,
        },
    )


def _names_on_the_map(reasoning: Reasoning) -> list[str]:
    """Names of things on the ground that added regions know, those that speak for the answer first, each once."""
    order = [*reasoning.decision.supporting, *reasoning.found.clues]
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
