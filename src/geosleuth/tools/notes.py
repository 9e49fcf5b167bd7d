"""Hypotheses: what a run's candidate pool is made of."""

import asyncio
from collections.abc import Mapping
from typing import Any, TypedDict

from geosleuth.answer.coordinates import make_point
from geosleuth.atlas import Hit, NotOffered
from geosleuth.atlas.granular import wide_country
from geosleuth.atlas.place_extent import get_radius_km
from geosleuth.geo import LatLon
from geosleuth.names import country_name, with_article
from geosleuth.support.errors import BadInput, ServiceFault

from .calls import Case, Output
from .declare import PointData, tool
from .places import Whereabouts, look_up
from .viewer import Viewer, format_point, get_text, length, one_line, percent, place_words, point_data, require_text

_PLACE_CHARS = 200
_EVIDENCE_CHARS = 400
_MAX_EVIDENCE = 20


class _Hypothesis(TypedDict):
    place: str
    point: PointData | None
    radius_km: float | None
    country: str | None
    confidence: float
    evidence_for: list[str]
    evidence_against: list[str]


class _Note(TypedDict):
    hypothesis: _Hypothesis


def _notes(arguments: Mapping[str, Any]) -> str:
    confidence = arguments.get("confidence")
    odds = f", {percent(confidence)}" if isinstance(confidence, int | float) and 0 <= confidence <= 1 else ""
    return f"notes the candidate {get_text(arguments, 'place')}".rstrip() + odds


def _summarize_note(data: Mapping[str, Any]) -> str:
    given = data.get("hypothesis")
    return f"noted {get_text(given, 'place')}" if isinstance(given, Mapping) else ""


@tool(
    "note_hypothesis",
    use="put a candidate into the pool, or change what you think of it",
    result=_Note,
    viewer=Viewer(_notes, _summarize_note, icon="note"),
    needs=("atlas",),
    outside_runs="This server keeps no notes between calls: the place is looked up, and the note comes back.",
    aliases=("hypothesis", "add_hypothesis", "note"),
    renames={
        "location": "place", "name": "place", "hypothesis": "place", "candidate": "place", "probability": "confidence",
        "evidence": "evidence_for", "support": "evidence_for", "pro": "evidence_for", "for": "evidence_for",
        "contra": "evidence_against", "con": "evidence_against", "against": "evidence_against",
        "lat": "latitude", "lon": "longitude", "lng": "longitude", "long": "longitude",
    },
)  # fmt: skip
async def note_hypothesis(
    case: Case,
    place: str,
    confidence: float,
    evidence_for: list[str] | None = None,
    evidence_against: list[str] | None = None,
    latitude: float | None = None,
    longitude: float | None = None,
) -> Output:
    """Put a candidate into the pool, or bring it up to date; a confidence of 0 drops it.

    Args:
        place: such as "La Condamine, Monaco" or "northern Laos".
        confidence: 0 to 1.
        evidence_for: each in a few words.
        evidence_against: each in a few words.
        latitude: degrees north.
        longitude: degrees east.
    """
    name = require_text(place, "place", "La Condamine, Monaco")[:_PLACE_CHARS]
    sure = _parse_share(confidence)
    point = _build_point(latitude, longitude)
    found = Whereabouts(name, point) if point else await _look_up(case, name)
    hypothesis = {
        "place": name,
        "point": None if found is None else point_data(found.point),
        "radius_km": await _radius_km(found),
        "country": None if found is None else await _find_country(case, found),
        "confidence": sure,
        "evidence_for": _evidence(evidence_for),
        "evidence_against": _evidence(evidence_against),
    }
    sources = (found.place.source,) if found and found.place else ()
    return Output(_describe_hypothesis(hypothesis, found), {"hypothesis": hypothesis}, sources=sources)


def _parse_share(confidence: float) -> float:
    """Return a probability; values above 1 are taken as percent."""
    share = confidence / 100 if 1 < confidence <= 100 else confidence
    if not 0 <= share <= 1:
        raise BadInput(f"confidence must be a probability between 0 and 1, not {confidence:g}")
    return share


def _build_point(latitude: float | None, longitude: float | None) -> LatLon | None:
    if latitude is None and longitude is None:
        return None
    if latitude is None or longitude is None:
        raise BadInput("give both latitude and longitude, or neither")
    return make_point(latitude, longitude)


async def _look_up(case: Case, name: str) -> Whereabouts | None:
    try:
        return await look_up(case, name)
    except (NotOffered, ServiceFault):
        return None  # a note must not get lost because a service is down


async def _find_country(case: Case, found: Whereabouts) -> str | None:
    if found.place and found.place.country:
        return found.place.country
    try:
        return (await case.atlas.reverse(found.point)).country
    except (NotOffered, ServiceFault):
        return None


async def _radius_km(found: Whereabouts | None) -> float | None:
    if found is None or found.place is None:
        return None
    radius = await asyncio.to_thread(get_radius_km, found.place)
    return None if radius is None else round(radius, 3)


def _evidence(texts: list[str] | None) -> list[str]:
    lines = (one_line(text, _EVIDENCE_CHARS) for text in texts or ())
    return [line for line in lines if line][:_MAX_EVIDENCE]


def _describe_hypothesis(hypothesis: dict[str, Any], found: Whereabouts | None) -> str:
    sides = f"{len(hypothesis['evidence_for'])} for, {len(hypothesis['evidence_against'])} against"
    noted = f"Noted: {hypothesis['place']}, confidence {percent(hypothesis['confidence'])}, evidence {sides}."
    if found is None:
        return f"{noted} The atlas does not know where that is; note it again with latitude and longitude if you do."
    country = wide_country(hypothesis["place"])
    if country and hypothesis["country"] == country:
        return f"{noted} It lies somewhere in {with_article(country_name(country))}.{_others(found.others)}"
    if found.place is None:
        return f"{noted} It lies at {format_point(found.point)}."
    reach = hypothesis["radius_km"]
    around = f", reaching {length(reach)} around" if reach else ""
    return f"{noted} Taken as {found.name} at {format_point(found.point)}{around}.{_others(found.others)}"


def _others(others: tuple[Hit, ...]) -> str:
    if not others:
        return ""
    named = "; ".join(f"{place_words(hit.place)} at {format_point(hit.place.point)}" for hit in others[:3])
    return f" If another is meant, give its coordinates: {named}."
