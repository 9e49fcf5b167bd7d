"""A finding as JSON: one document in its full form, or GeoJSON (RFC 7946).

One feature is the finding, one the circle of its uncertainty, and one each candidate; ``role`` distinguishes them. A
finding that is a whole country is the country's outline, a region is the circle around it; neither has a point. So are
candidates. An unlocated answer is a feature whose geometry is null, as the RFC prescribes.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from geosleuth.answer.answer import PIN_KM, Answer, answer_to_dict
from geosleuth.geo import LatLon
from geosleuth.support.text.safe import legible

from .context import AnswerContext, LocatedAnswer, Polygons, circle_polygons, extent_words, get_writable_point

DOCUMENT_FORMAT = "geosleuth-finding/1"


def document(entry: LocatedAnswer) -> dict[str, Any]:
    """Return one finding; unknown values are left out."""
    answer, context = entry
    values = {
        "format": DOCUMENT_FORMAT,
        "located": answer.located,
        "extent": extent_words(answer, context),
        "answer": answer_to_dict(answer),
    }
    return {**_drop_empty(values), **context_fields(context)}


def context_fields(context: AnswerContext) -> dict[str, Any]:
    """Return the context as plain values; unknown ones are left out."""
    values = {
        "photo": _drop_empty({"sha256": context.sha256, "file": context.file_name}),
        "country_code": context.country_code,
        "city": context.city,
        "model": context.model,
        "method": context.method,
        "when": context.when_text,
        "tools": list(context.tools),
        "sources": list(context.sources),
        "versions": {"geosleuth": context.geosleuth, **context.versions},
        "granularity": context.cap,
    }
    return _drop_empty(values)


def to_json(entries: Sequence[LocatedAnswer]) -> str:
    """Return one finding as a document, several as a list."""
    documents = [document(entry) for entry in entries]
    return dump(documents[0] if len(documents) == 1 else documents)


def dump(plain: Any, *, indent: int | None = 2) -> str:
    """Return JSON without direction characters; unpaired surrogates are escaped."""
    text = legible(json.dumps(plain, ensure_ascii=False, indent=indent, allow_nan=False)) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=indent, allow_nan=False) + "\n"
    return text


def _drop_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value not in ([], {})}


def geojson(entries: Sequence[LocatedAnswer]) -> dict[str, Any]:
    """Return a feature collection of all findings."""
    features = [
        feature for number, entry in enumerate(entries, start=1) for feature in _features(f"finding-{number}", *entry)
    ]
    return {"type": "FeatureCollection", "features": features}


def to_geojson(entries: Sequence[LocatedAnswer]) -> str:
    """Return the feature collection as text, one feature per line."""
    features = ",\n".join(dump(feature, indent=None).rstrip() for feature in geojson(entries)["features"])
    return f'{{"type": "FeatureCollection", "features": [\n{features}\n]}}\n'


def _features(name: str, answer: Answer, context: AnswerContext) -> Iterator[dict[str, Any]]:
    outline = area_geometry(context.outline)
    if outline is None and context.wide and answer.point is not None:
        outline = area_geometry(circle_polygons(answer.point, answer.radius_km or PIN_KM))
    yield _feature(
        name, outline or _build_geometry(get_writable_point(answer, context)), _build_properties(answer, context)
    )
    if outline is None and answer.point is not None and answer.radius_km is not None:
        circle = circle_polygons(answer.point, answer.radius_km)
        properties = {"role": "uncertainty", "radius_km": answer.radius_km, "probability": answer.probability}
        yield _feature(f"{name}-uncertainty", area_geometry(circle), properties)
    for rank, (candidate, area) in enumerate(context.others(answer), start=1):
        properties = {
            "role": "candidate",
            "rank": rank,
            "name": candidate.name,
            "probability": candidate.probability,
            "evidence": candidate.evidence,
        }
        geometry = _build_geometry(candidate.point) if area is None else area_geometry(area)
        yield _feature(f"{name}-candidate-{rank}", geometry, properties)


def _feature(name: str, geometry: dict[str, Any] | None, properties: dict[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in properties.items() if value is not None}
    return {"type": "Feature", "id": name, "geometry": geometry, "properties": known}


def _build_properties(answer: Answer, context: AnswerContext) -> dict[str, Any]:
    address = answer.address
    return {
        "role": "finding",
        "located": answer.located,
        "extent": extent_words(answer, context),
        "name": str(address) or None,
        "country": address.country.conclusion,
        "region": address.region.conclusion,
        "precise": address.precise.conclusion,
        "probability": answer.probability,
        "radius_km": None if context.wide else answer.radius_km,
        "explanation": answer.explanation,
        **context_fields(context),
    }


def _build_geometry(point: LatLon | None) -> dict[str, Any] | None:
    if point is None:
        return None
    return {"type": "Point", "coordinates": [point.lon, point.lat]}


def area_geometry(polygons: Polygons) -> dict[str, Any] | None:
    """Return polygons as one geometry; None if there are none."""
    if not polygons:
        return None
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}
