"""Answers as JSON: the full form, which loses nothing, and the brief form of the strict parser.

The full form of one answer::

    {"format": "geosleuth-answer/1", "lat": 43.7384, "lon": 7.4246,
     "country": {"conclusion": "Monaco", "clues": ["plate"], "reasoning": "...", "uncertainty": "low"},
     "region": {}, "precise": {"conclusion": "Rue Grimaldi, Monaco"},
     "probability": 0.8, "radius_km": 1.0, "explanation": "...",
     "candidates": [{"name": "Menton", "lat": 43.77, "lon": 7.5, "probability": 0.1, "evidence": "..."}]}

Absent keys mean None or empty. ``lat`` and ``lon`` come together or not at all.
"""

import json
from collections.abc import Mapping
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon

from .model import Address, Answer, Candidate, Level

FORMAT = "geosleuth-answer/1"
_LEVEL_NAMES = ("country", "region", "precise")


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """The full form; ``answer_from_dict`` gives back an equal answer."""
    return _without_nothing(
        {
            "format": FORMAT,
            **_point_to_dict(answer.point),
            **{name: _level_to_dict(getattr(answer.address, name)) for name in _LEVEL_NAMES},
            "probability": answer.probability,
            "radius_km": answer.radius_km,
            "explanation": answer.explanation,
            "candidates": [_candidate_to_dict(candidate) for candidate in answer.candidates],
        }
    )


def answer_from_dict(data: Mapping[str, Any]) -> Answer:
    """Read the full form.

    Raises:
        BadInput: the object is of another format or version, or a value is not what it must be.
    """
    found = data.get("format")
    if found != FORMAT:
        raise BadInput(f"this answer says format {found!r}; this version of geosleuth reads {FORMAT!r}")
    try:
        levels = (_level_from_dict(data.get(name) or {}) for name in _LEVEL_NAMES)
        return Answer(
            point=_point_from_dict(data),
            address=Address(*levels),
            probability=_number(data.get("probability")),
            radius_km=_number(data.get("radius_km")),
            explanation=_text(data.get("explanation")),
            candidates=tuple(_candidate_from_dict(item) for item in data.get("candidates") or ()),
        )
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise BadInput(f"this answer can't be read: {error}") from error


def render(answer: Answer) -> str:
    """The full form as one line of JSON.

    ``<`` is escaped, so that no text inside can look like a tag of the reply it is put into.
    """
    return json.dumps(answer_to_dict(answer), allow_nan=False).replace("<", "\\u003c")


def render_brief(answer: Answer) -> str:
    """The four keys the strict parser asks for: lat, lon, city, country. An unlocated answer has no lat and lon."""
    brief = {
        **_point_to_dict(answer.point),
        "city": answer.address.precise.conclusion,
        "country": answer.address.country.conclusion,
    }
    return json.dumps(brief, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _without_nothing(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value not in ([], {})}


def _point_to_dict(point: LatLon | None) -> dict[str, float]:
    return {} if point is None else {"lat": point.lat, "lon": point.lon}


def _point_from_dict(data: Mapping[str, Any]) -> LatLon | None:
    lat, lon = _number(data.get("lat")), _number(data.get("lon"))
    if lat is None and lon is None:
        return None
    if lat is None or lon is None:
        raise ValueError("lat and lon come together")
    return LatLon(lat, lon)


def _level_to_dict(level: Level) -> dict[str, Any]:
    return _without_nothing(
        {
            "conclusion": level.conclusion,
            "clues": list(level.clues),
            "reasoning": level.reasoning,
            "uncertainty": level.uncertainty,
        }
    )


def _level_from_dict(data: Mapping[str, Any]) -> Level:
    clues = data.get("clues") or ()
    if isinstance(clues, str) or not all(isinstance(clue, str) for clue in clues):
        raise TypeError("clues must be a list of texts")
    texts = (_text(data.get(key)) for key in ("reasoning", "uncertainty"))
    return Level(_text(data.get("conclusion")), tuple(clues), *texts)


def _candidate_to_dict(candidate: Candidate) -> dict[str, Any]:
    return _without_nothing(
        {
            "name": candidate.name,
            **_point_to_dict(candidate.point),
            "probability": candidate.probability,
            "evidence": candidate.evidence,
        }
    )


def _candidate_from_dict(data: Mapping[str, Any]) -> Candidate:
    return Candidate(
        name=_text(data.get("name")),
        point=_point_from_dict(data),
        probability=_number(data.get("probability")),
        evidence=_text(data.get("evidence")),
    )


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is not a text")
