"""KML, held against the OGC schema and read back."""

import html
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.formats import AnswerContext, LocatedAnswer, to_kml
from geosleuth.geo import LatLon
from marked import HOME, marked_answer, marked_context

NS = {"k": "http://www.opengis.net/kml/2.2"}
TEXTS = st.none() | st.text(max_size=30) | st.sampled_from(["<script>alert(1)</script>", "]]>", "&amp;", "\x0b\ufffe"])
POINTS = st.none() | st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 180))
ODDS = st.none() | st.floats(0, 1)


@cache
def ogc_schema() -> Any:
    """The OGC's KML 2.2 schema, as the package pykml ships it; nothing is fetched."""
    spec = find_spec("pykml")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    path = Path(spec.submodule_search_locations[0]) / "schemas" / "ogckml22.xsd"
    return etree.XMLSchema(etree.parse(str(path), etree.XMLParser(no_network=True)))


def read(*entries: LocatedAnswer) -> Any:
    root = etree.fromstring(to_kml(entries).encode())
    ogc_schema().assertValid(root)
    return root


def texts(root: Any, path: str) -> list[str]:
    return [node.text or "" for node in root.iterfind(path, NS)]


def test_the_schema_refuses_what_is_not_kml() -> None:
    root = etree.fromstring(to_kml([LocatedAnswer(Answer(), AnswerContext())]).encode())
    etree.SubElement(root[0], "{http://www.opengis.net/kml/2.2}nonsense")
    assert not ogc_schema().validate(root)


def test_a_finding_is_a_folder_of_placemarks() -> None:
    root = read(LocatedAnswer(marked_answer(), marked_context()))
    finding, circle, first, _second = root.iterfind(".//k:Placemark", NS)
    assert texts(finding, "k:Point/k:coordinates") == ["7.4246,43.7384"]
    data = {node.get("name"): node.findtext("k:value", None, NS) for node in finding.iterfind(".//k:Data", NS)}
    assert (data["probability"], data["radius_km"], data["located"]) == ("0.8", "0.2", "yes")
    assert texts(circle, ".//k:outerBoundaryIs//k:coordinates")[0].startswith("7.4")
    assert texts(first, "k:Point/k:coordinates") == ["7.5013,43.7712"]
    urls = set(texts(root, ".//k:styleUrl"))
    assert urls == {f"#{style.get('id')}" for style in root.iterfind(".//k:Style", NS)}


def test_an_answer_without_a_place_has_no_geometry() -> None:
    root = read(LocatedAnswer(Answer(explanation="no clue"), AnswerContext()))
    assert texts(root, ".//k:Placemark/k:name") == ["no place could be told"]
    assert not texts(root, ".//k:coordinates")


def test_markup_in_a_text_stays_text_in_viewers_that_show_html() -> None:
    evil = '<img src=x onerror="alert(1)">&'
    answer = Answer(HOME, Address.create(evil), explanation=evil, candidates=(Candidate(evil, HOME, 0.1, evil),))
    root = read(LocatedAnswer(answer, AnswerContext()))
    for shown in texts(root, ".//k:Placemark/k:description"):
        assert "<img" not in shown
        assert evil in html.unescape(shown)
    assert texts(root, ".//k:Placemark/k:name")[0] == evil


@given(point=POINTS, other=POINTS, text=TEXTS, odds=ODDS, radius_km=st.none() | st.floats(0.01, 20015))
def test_any_answer_is_valid_kml(
    point: LatLon | None, other: LatLon | None, text: str | None, odds: float | None, radius_km: float | None
) -> None:
    answer = Answer(
        point, Address.create(text, text, text), odds, radius_km, text, (Candidate(text, other, odds, text),)
    )
    read(
        LocatedAnswer(answer, AnswerContext(file_name=text, model=text, sources=(text or "",))),
        LocatedAnswer(Answer(), AnswerContext()),
    )


def test_a_country_is_a_placemark_with_its_outline() -> None:
    answer = Answer(LatLon(35.689487, 139.691711), Address.create("Japan"), 0.84, 1131.0)
    outline = [[[(139.0, 35.0), (140.0, 35.0), (140.0, 36.0), (139.0, 36.0), (139.0, 35.0)]]]
    root = read(LocatedAnswer(answer, AnswerContext(outline=outline, extent="country")))
    (mark,) = root.iterfind(".//k:Placemark", NS)
    assert texts(mark, ".//k:outerBoundaryIs//k:coordinates")[0].startswith("139.000000,35.000000 140")
    assert texts(mark, "k:Point/k:coordinates") == []
    assert texts(mark, ".//k:Data[@name='lat']/k:value") == []
    assert texts(mark, ".//k:Data[@name='radius_km']/k:value") == []
    assert "84% sure to lie in Japan" in texts(mark, "k:description")[0]
