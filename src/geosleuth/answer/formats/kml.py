"""KML 2.2 for Google Earth and others: the finding, the circle of its uncertainty or its country, and the candidates.

Viewers show descriptions as HTML, so every text in them is escaped twice: for HTML, then for XML.
"""

import html
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from geosleuth.answer.answer import PIN_KM, Answer, Candidate
from geosleuth.geo import LatLon, round_point

from .context import (
    ESTIMATED,
    AnswerContext,
    LocatedAnswer,
    Polygons,
    candidate_line,
    circle_polygons,
    degrees,
    extent_words,
    odds,
    xml_text,
)

_NAMESPACE = "http://www.opengis.net/kml/2.2"
# KML colours are aabbggrr.
_FINDING, _CANDIDATE, _LINE, _FILL = "ff2f00c4", "ff9c6b2f", "ff2f00c4", "332f00c4"


def to_kml(entries: Sequence[LocatedAnswer]) -> str:
    """Return one document with a folder for each finding."""
    root = ET.Element("kml", xmlns=_NAMESPACE)
    top = ET.SubElement(root, "Document")
    _put(top, "name", "geosleuth")
    _put(top, "description", f"Places {ESTIMATED}. Leads, not verdicts.")
    _styles(top)
    for number, entry in enumerate(entries, start=1):
        _add_folder(top, number, *entry)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_folder(top: ET.Element, number: int, answer: Answer, context: AnswerContext) -> None:
    folder = ET.SubElement(top, "Folder")
    _put(folder, "name", context.file_name or f"photo {number}")
    _finding(folder, answer, context)
    if answer.point is not None and answer.radius_km is not None and not context.outline and not context.wide:
        _uncertainty(folder, answer.point, answer.radius_km)
    for rank, (candidate, area) in enumerate(context.others(answer), start=1):
        _candidate(folder, rank, candidate, answer.radius_km, area)


def _finding(folder: ET.Element, answer: Answer, context: AnswerContext) -> None:
    place = str(answer.address)
    mark = ET.SubElement(folder, "Placemark")
    _put(mark, "name", place or ("the finding" if answer.located else "no place could be told"))
    if place:
        _put(mark, "address", place)
    lines = [odds(answer, whole=context.extent == "country"), answer.explanation, f"{ESTIMATED} ({context.producer})"]
    _put(mark, "description", "<br/>".join(html.escape(line) for line in lines if line))
    _put(mark, "styleUrl", "#uncertainty" if context.outline or context.wide else "#finding")
    facts = {
        "located": "yes" if answer.located else "no",
        "probability": None if answer.probability is None else f"{answer.probability:g}",
        "radius_km": None if answer.radius_km is None or context.wide else f"{answer.radius_km:g}",
        "extent": extent_words(answer, context),
        "granularity": context.cap,
        "model": context.model,
        "method": context.method,
        "when": context.when_text,
        "sha256": context.sha256,
        "sources": "; ".join(context.sources) or None,
    }
    data = ET.SubElement(mark, "ExtendedData")
    for name, value in facts.items():
        if value is not None:
            _put(ET.SubElement(data, "Data", name=name), "value", value)
    if context.outline:
        _add_area(mark, context.outline)
    elif context.wide and answer.point is not None:
        _add_area(mark, circle_polygons(round_point(answer.point, answer.radius_km), answer.radius_km or PIN_KM))
    elif answer.point is not None:
        _add_point(mark, answer.point, answer.radius_km)


def _uncertainty(folder: ET.Element, centre: LatLon, radius_km: float) -> None:
    mark = ET.SubElement(folder, "Placemark")
    _put(mark, "name", f"within {radius_km:g} km")
    _put(mark, "styleUrl", "#uncertainty")
    _add_area(mark, circle_polygons(round_point(centre, radius_km), radius_km))


def _add_area(mark: ET.Element, polygons: Polygons) -> None:
    parts = ET.SubElement(mark, "MultiGeometry")
    for outer, *holes in polygons:
        polygon = ET.SubElement(parts, "Polygon")
        _put(polygon, "tessellate", "1")
        for side, ring in (("outerBoundaryIs", outer), *(("innerBoundaryIs", hole) for hole in holes)):
            line = ET.SubElement(ET.SubElement(polygon, side), "LinearRing")
            _put(line, "coordinates", " ".join(f"{lon:.6f},{lat:.6f}" for lon, lat in ring))


def _candidate(
    folder: ET.Element, rank: int, candidate: Candidate, radius_km: float | None, area: Polygons | None
) -> None:
    mark = ET.SubElement(folder, "Placemark")
    _put(mark, "name", f"{rank}. {candidate_line(candidate)}")
    if candidate.evidence:
        _put(mark, "description", html.escape(candidate.evidence))
    _put(mark, "styleUrl", "#candidate")
    if area:
        _add_area(mark, area)
    elif area is None and candidate.point is not None:
        _add_point(mark, candidate.point, radius_km)


def _add_point(mark: ET.Element, point: LatLon, radius_km: float | None) -> None:
    _put(
        ET.SubElement(mark, "Point"), "coordinates", f"{degrees(point.lon, radius_km)},{degrees(point.lat, radius_km)}"
    )


def _styles(top: ET.Element) -> None:
    for name, colour in (("finding", _FINDING), ("candidate", _CANDIDATE)):
        style = ET.SubElement(top, "Style", id=name)
        _put(ET.SubElement(style, "IconStyle"), "color", colour)
    area = ET.SubElement(top, "Style", id="uncertainty")
    line = ET.SubElement(area, "LineStyle")
    _put(line, "color", _LINE)
    _put(line, "width", "2")
    _put(ET.SubElement(area, "PolyStyle"), "color", _FILL)


def _put(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = xml_text(text)
