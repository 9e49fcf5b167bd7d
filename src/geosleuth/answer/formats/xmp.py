"""An XMP sidecar: coordinates, their error in metres, and a processing method that says "estimated".

Photo programs take a sidecar's location for the photo's own, so it marks the estimate in every available way. An
unlocated answer gets a sidecar without a location, a country or region one with its names and no coordinates.
"""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from geosleuth.answer.answer import Answer
from geosleuth.geo import round_point

from .context import AnswerContext, LocatedAnswer, extent_words, get_writable_point, metres, xml_text

_NAMESPACES = {
    "exif": "http://ns.adobe.com/exif/1.0/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "Iptc4xmpCore": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
    "geosleuth": "urn:geosleuth:answer:1#",
}
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
_END = '\n<?xpacket end="w"?>\n'
_MINUTE = 1_000_000


def to_xmp(entries: Sequence[LocatedAnswer]) -> str:
    """Return the sidecar of one photo.

    Raises:
        ValueError: not exactly one finding.
    """
    if len(entries) != 1:
        raise ValueError(f"a sidecar needs exactly one finding, not {len(entries)}")
    answer, context = entries[0]
    packet = ET.Element("x:xmpmeta", {"xmlns:x": "adobe:ns:meta/", "x:xmptk": f"geosleuth {context.geosleuth}"})
    rdf = ET.SubElement(packet, "rdf:RDF", {"xmlns:rdf": _RDF})
    about = {"rdf:about": "", **{f"xmlns:{prefix}": uri for prefix, uri in _NAMESPACES.items()}}
    description = ET.SubElement(rdf, "rdf:Description", about)
    for name, value in (
        _build_position(answer, context) | _build_names(answer, context) | _provenance(answer, context)
    ).items():
        if value:
            ET.SubElement(description, name).text = xml_text(value)
    _location_created(description, answer, context)
    ET.indent(packet)
    return _BEGIN + ET.tostring(packet, encoding="unicode") + _END


def _build_position(answer: Answer, context: AnswerContext) -> dict[str, str | None]:
    written = get_writable_point(answer, context)
    if written is None:
        return {}
    point = round_point(written, answer.radius_km)
    return {
        "exif:GPSVersionID": "2.3.0.0",
        "exif:GPSLatitude": _angle(point.lat, "N", "S"),
        "exif:GPSLongitude": _angle(point.lon, "E", "W"),
        "exif:GPSMapDatum": "WGS-84",
        "exif:GPSProcessingMethod": context.place_method,
        "exif:GPSHPositioningError": None if answer.radius_km is None else f"{metres(answer.radius_km)}/1",
    }


def _build_names(answer: Answer, context: AnswerContext) -> dict[str, str | None]:
    city, sublocation = _city_and_below(answer, context)
    return {
        "photoshop:City": city,
        "photoshop:State": answer.address.region.conclusion,
        "photoshop:Country": answer.address.country.conclusion,
        "Iptc4xmpCore:CountryCode": context.country_code,
        "Iptc4xmpCore:Location": sublocation,
    }


def _city_and_below(answer: Answer, context: AnswerContext) -> tuple[str | None, str | None]:
    """Return the city and what is below it: known from elsewhere, or the last of several parts, or else unknown."""
    precise = answer.address.precise.conclusion
    if precise is None:
        return context.city, None
    if context.granularity == "city" or precise == context.city:
        return precise, None
    coarser = {answer.address.region.conclusion, answer.address.country.conclusion}
    parts = [part.strip() for part in precise.split(",")]
    while len(parts) > 2 and parts[-1] in coarser:
        parts.pop()
    *finer, last = parts
    if context.city is not None:
        return context.city, ", ".join(finer) if last == context.city else precise
    is_city = bool(finer) and not any(letter.isdigit() for letter in last)
    return (last, ", ".join(finer)) if is_city else (None, precise)


def _provenance(answer: Answer, context: AnswerContext) -> dict[str, str | None]:
    return {
        "xmp:MetadataDate": context.when_text,
        "geosleuth:Located": "True" if answer.located else "False",
        "geosleuth:Estimated": "False" if context.reviewed == "corrected" else "True",
        "geosleuth:Reviewed": context.reviewed,
        "geosleuth:Probability": None if answer.probability is None else f"{answer.probability:g}",
        "geosleuth:RadiusKm": None if answer.radius_km is None or context.wide else f"{answer.radius_km:g}",
        "geosleuth:Extent": extent_words(answer, context),
        "geosleuth:Granularity": context.cap,
        "geosleuth:Model": context.model,
        "geosleuth:Method": context.method,
        "geosleuth:PhotoSHA256": context.sha256,
    }


def _location_created(description: ET.Element, answer: Answer, context: AnswerContext) -> None:
    """Add the IPTC structure for the camera's location; the location of things in the picture is not claimed."""
    city, sublocation = _city_and_below(answer, context)
    parts = {
        "Iptc4xmpExt:Sublocation": sublocation,
        "Iptc4xmpExt:City": city,
        "Iptc4xmpExt:ProvinceState": answer.address.region.conclusion,
        "Iptc4xmpExt:CountryName": answer.address.country.conclusion,
        "Iptc4xmpExt:CountryCode": context.country_code,
    }
    known = {name: value for name, value in parts.items() if value}
    if not known:
        return
    bag = ET.SubElement(ET.SubElement(description, "Iptc4xmpExt:LocationCreated"), "rdf:Bag")
    item = ET.SubElement(bag, "rdf:li", {"rdf:parseType": "Resource"})
    for name, value in known.items():
        ET.SubElement(item, name).text = xml_text(value)


def _angle(degrees: float, plus: str, minus: str) -> str:
    """Return degrees and minutes as XMP writes them: ``43,44.304000N``."""
    whole, rest = divmod(round(abs(degrees) * 60 * _MINUTE), 60 * _MINUTE)
    return f"{whole},{rest // _MINUTE:02}.{rest % _MINUTE:06}{minus if degrees < 0 else plus}"
