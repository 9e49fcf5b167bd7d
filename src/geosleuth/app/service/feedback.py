"""From the ids that a page rejects to what a run that goes on leaves out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from geosleuth.agent import Event, Hypothesis, Noted, Trajectory
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.names import fold
from geosleuth.policies.detective.ruled_out import BY_A_PERSON
from geosleuth.policies.feedback import Rejected, RejectedPlace, rejected_place, whole_country

from .shapes import ClueView, PlaceView


def rejected_of(
    clues: Iterable[ClueView],
    candidates: Iterable[PlaceView],
    *,
    reject_clues: Sequence[str] = (),
    reject_candidates: Sequence[str] = (),
) -> Rejected:
    """What a person has ruled out, by the ids that the page knows.

    Args:
        clues: those of the run, as they were told or stand in its result.
        candidates: those that were told, those of the result's pool and of its answer; the last of an id counts.
        reject_clues: ids of clues.
        reject_candidates: ids of candidates.

    Raises:
        BadInput: there is no such clue or candidate.
    """
    seen = {one["id"]: one["seen"] for one in clues}
    places = {one["id"]: one for one in candidates}
    for name, wanted, known in (("clue", reject_clues, seen), ("candidate", reject_candidates, places)):
        if missing := next((one for one in wanted if one not in known), None):
            raise BadInput(f"this run has no {name} {missing[:40]!r}; reload it and choose again")
    chosen = [places[one] for one in reject_candidates]
    return Rejected(
        clues=tuple(dict.fromkeys(reject_clues)),
        seen=tuple(dict.fromkeys(seen[one] for one in reject_clues)),
        places=tuple(dict.fromkeys(rejected_place(one["name"], _point(one), one["radius_km"]) for one in chosen)),
    )


def with_rejected(trajectory: Trajectory, rejected: Rejected) -> Trajectory:
    """The trajectory with the rejected candidates of its pool dropped, whoever goes on from it.

    So that a model that fails, or says nothing, can't fall back on a place that a person has ruled out.
    """
    events = list(trajectory.events)
    for one in trajectory.pool:
        if one.fate != "dropped" and any(_holds(place, one) for place in rejected.places):
            against = tuple(dict.fromkeys((*one.evidence_against, BY_A_PERSON)))
            dropped = replace(one, fate="dropped", confidence=0.0, evidence_against=against)
            events.append(Event(len(events), events[-1].at_s, Noted(dropped)))
    return replace(trajectory, events=tuple(events))


def _holds(place: RejectedPlace, one: Hypothesis) -> bool:
    """Whether a candidate is a place that was rejected, or lies in it; a country does not lie in its largest town."""
    if fold(one.place) == fold(place.name) or (one.country is not None and one.country == place.country):
        return True
    extent = place.extent
    inside = extent is not None and one.point is not None and extent.contains(one.point)
    return inside and whole_country(one.place) is None


def rejected_to_dict(rejected: Rejected) -> dict[str, Any]:
    """As JSON, to be kept with a run."""
    return {
        "clues": list(rejected.clues),
        "texts": list(rejected.texts),
        "seen": list(rejected.seen),
        "places": [
            {
                "name": one.name,
                "lat": None if one.point is None else one.point.lat,
                "lon": None if one.point is None else one.point.lon,
                "radius_km": one.radius_km,
                "country": one.country,
            }
            for one in rejected.places
        ],
    }


def rejected_from_dict(data: Mapping[str, Any]) -> Rejected:
    """Read what `rejected_to_dict` wrote; what is not there is nothing."""
    return Rejected(
        clues=tuple(data.get("clues", ())),
        texts=tuple(data.get("texts", ())),
        seen=tuple(data.get("seen", ())),
        places=tuple(
            RejectedPlace(one["name"], _point(one), one["radius_km"], one["country"]) for one in data.get("places", ())
        ),
    )


def _point(one: Mapping[str, Any]) -> LatLon | None:
    lat, lon = one["lat"], one["lon"]
    return None if lat is None or lon is None else LatLon(lat, lon)
