"""XMP sidecars, read as RDF by rdflib, and by exiftool where it is installed."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import RDF, Graph, URIRef

from geosleuth.answer import Address, Answer
from geosleuth.answer.formats import AnswerContext, LocatedAnswer, to_xmp
from geosleuth.geo import LatLon
from marked import MARKER, marked_answer, marked_context
from metadata_readers import exiftool

EXIF = "http://ns.adobe.com/exif/1.0/"
PHOTOSHOP = "http://ns.adobe.com/photoshop/1.0/"
EXT = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"


def graph_of(sidecar: str) -> Graph:
    """The packet's RDF; XMP wraps it in an element of its own."""
    found = re.search(r"<rdf:RDF.*</rdf:RDF>", sidecar, re.DOTALL)
    assert found is not None
    graph = Graph()
    graph.parse(data=found[0], format="xml", publicID="photo:this")
    return graph


def value(graph: Graph, name: str) -> str | None:
    values = [str(found) for found in graph.objects(None, URIRef(name))]
    assert len(values) <= 1
    return values[0] if values else None


def degrees(text: str | None) -> float:
    assert text is not None
    match = re.fullmatch(r"(\d{1,3}),(\d{2}\.\d{6})([NSEW])", text)
    assert match is not None
    minutes = float(match[2])
    assert minutes < 60
    return (float(match[1]) + minutes / 60) * (-1 if match[3] in "SW" else 1)


def test_a_sidecar_says_where_how_far_off_and_that_it_is_an_estimate() -> None:
    graph = graph_of(to_xmp([LocatedAnswer(marked_answer(), AnswerContext(country_code="MC"))]))
    assert degrees(value(graph, EXIF + "GPSLatitude")) == pytest.approx(43.7384, abs=1e-7)
    assert degrees(value(graph, EXIF + "GPSLongitude")) == pytest.approx(7.4246, abs=1e-7)
    assert value(graph, EXIF + "GPSHPositioningError") == "200/1"
    assert (value(graph, EXIF + "GPSProcessingMethod") or "").startswith("estimated")
    assert value(graph, PHOTOSHOP + "City") == "Monaco"
    assert value(graph, PHOTOSHOP + "Country") == "Monaco"
    (bag,) = graph.objects(None, URIRef(EXT + "LocationCreated"))
    (item,) = graph.objects(bag, RDF._1)
    assert str(graph.value(item, URIRef(EXT + "CountryCode"))) == "MC"
    assert str(graph.value(item, URIRef(EXT + "Sublocation"))) == MARKER


def test_an_answer_without_a_place_writes_no_place() -> None:
    sidecar = to_xmp([LocatedAnswer(Answer(explanation="no clue"), AnswerContext())])
    assert "GPS" not in sidecar
    assert "LocationCreated" not in sidecar
    assert value(graph_of(sidecar), "urn:geosleuth:answer:1#Located") == "False"


@pytest.mark.parametrize(
    ("precise", "known", "city", "below"),
    [
        ("Helsinki", None, None, "Helsinki"),
        ("Helsinki", "Helsinki", "Helsinki", None),
        ("Mannerheimintie 12, Helsinki", None, "Helsinki", "Mannerheimintie 12"),
        ("Mannerheimintie 12, Helsinki, Finland", None, "Helsinki", "Mannerheimintie 12"),
        ("Mannerheimintie 12, 00100", None, None, "Mannerheimintie 12, 00100"),
        ("Kamppi", "Helsinki", "Helsinki", "Kamppi"),
    ],
)
def test_what_may_not_be_a_city_is_not_written_as_one(
    precise: str, known: str | None, city: str | None, below: str | None
) -> None:
    answer = Answer(LatLon(60.17, 24.94), Address.create("Finland", None, precise))
    graph = graph_of(to_xmp([LocatedAnswer(answer, AnswerContext(city=known))]))
    assert value(graph, PHOTOSHOP + "City") == city
    assert value(graph, "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/Location") == below


@given(lat=st.floats(-90, 90), lon=st.floats(-180, 180), text=st.text(max_size=20))
def test_any_place_and_any_text_reads_back(lat: float, lon: float, text: str) -> None:
    graph = graph_of(to_xmp([LocatedAnswer(Answer(LatLon(lat, lon), Address.create(text)), AnswerContext(model=text))]))
    assert degrees(value(graph, EXIF + "GPSLatitude")) == pytest.approx(round(lat, 5), abs=2e-8)
    assert degrees(value(graph, EXIF + "GPSLongitude")) == pytest.approx(round(lon, 5), abs=2e-8)


def test_exiftool_reads_the_same_where_it_is_installed(tmp_path: Path) -> None:
    path = tmp_path / "photo.xmp"
    path.write_text(to_xmp([LocatedAnswer(marked_answer(), marked_context())]), encoding="utf-8")
    # Read as RDF first, so that the test says something on machines without exiftool too.
    graph = graph_of(path.read_text(encoding="utf-8"))
    found = exiftool(path)
    if found is None:
        assert value(graph, EXIF + "GPSHPositioningError") == "200/1"
        return
    assert "ExifTool:Warning" not in found
    assert found["XMP-exif:GPSLatitude"] == pytest.approx(43.7384, abs=1e-6)
    assert found["XMP-exif:GPSLongitude"] == pytest.approx(7.4246, abs=1e-6)
    assert found["XMP-exif:GPSHPositioningError"] == 200
    assert found["XMP-exif:GPSProcessingMethod"].startswith("estimated")
    assert found["XMP-photoshop:Country"] == "Monaco"
    assert found["XMP-iptcExt:LocationCreatedCountryCode"] == "MC"


def test_a_sidecar_is_of_one_photo() -> None:
    with pytest.raises(ValueError, match="one finding"):
        to_xmp([])
