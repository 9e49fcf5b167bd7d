"""A country or region in a file: its names, and no coordinates."""

import re
from dataclasses import replace

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.answer import PIN_KM, is_wide
from geosleuth.answer.formats import (
    CSV_HEADER,
    DARWIN_CORE_TERMS,
    AnswerContext,
    LocatedAnswer,
    csv_row,
    darwin_core_row,
    geojson,
    render_as,
    to_xmp,
)
from geosleuth.geo import LatLon

CHINA = Answer(LatLon(31.22222, 121.45806), Address.create("China"), 0.83, 1908.0)
WHOLE = AnswerContext(country_code="CN", extent="country")


def test_tables_hold_its_names_and_no_coordinates() -> None:
    row = dict(zip(CSV_HEADER, csv_row(CHINA, WHOLE), strict=True))
    assert (row["located"], row["country"], row["country_code"]) == ("yes", "China", "CN")
    assert row["lat"] == row["lon"] == row["radius_km"] == ""


def test_darwin_core_says_why_there_are_no_coordinates() -> None:
    row = dict(zip(DARWIN_CORE_TERMS, darwin_core_row(CHINA, WHOLE), strict=True))
    assert row["decimalLatitude"] == row["geodeticDatum"] == row["coordinateUncertaintyInMeters"] == ""
    assert (row["country"], row["countryCode"], row["verbatimLocality"]) == ("China", "CN", "China")
    assert "No coordinates: the finding is a country or region" in row["georeferenceRemarks"]


def test_every_format_says_that_it_is_a_country() -> None:
    row = dict(zip(CSV_HEADER, csv_row(CHINA, WHOLE), strict=True))
    assert (row["extent"], row["granularity"]) == ("country", "")
    for name in ("json", "geojson", "kml", "xmp"):
        text = render_as(name, [LocatedAnswer(CHINA, WHOLE)])
        assert "country" in re.findall(r"xtent\W+(?:value\W+)?(\w+)", text), name
        assert "exact" not in text, name
        capped = render_as(name, [LocatedAnswer(CHINA, replace(WHOLE, granularity="country"))])
        assert "country" in re.findall(r"ranularity\W+(?:value\W+)?(\w+)", capped), name
    assert 'tent": null' not in render_as("json", [LocatedAnswer(Answer(), AnswerContext())])


def test_the_finding_is_none_of_the_others() -> None:
    others = (Candidate("China", CHINA.point, 0.83), Candidate("Taiwan", LatLon(25.04, 121.53), 0.1))
    entry = LocatedAnswer(replace(CHINA, candidates=others), replace(WHOLE, candidate_areas=([], None)))
    features = geojson([entry])["features"]
    assert [one["properties"]["name"] for one in features if one["properties"]["role"] == "candidate"] == ["Taiwan"]
    assert features[-1]["geometry"] == {"type": "Point", "coordinates": [121.53, 25.04]}
    assert csv_row(*entry)[CSV_HEADER.index("candidates")] == "Taiwan (10%)"
    remarks = darwin_core_row(*entry)[DARWIN_CORE_TERMS.index("georeferenceRemarks")]
    assert "Also considered: Taiwan (10%)." in remarks
    assert "83% sure to lie in China" in remarks
    assert "1. Taiwan" in render_as("kml", [entry])


def test_a_sidecar_has_no_gps() -> None:
    text = to_xmp([LocatedAnswer(CHINA, WHOLE)])
    assert "GPS" not in text
    assert "<photoshop:Country>China</photoshop:Country>" in text
    assert "<exif:GPSLatitude>" in to_xmp([LocatedAnswer(CHINA, AnswerContext())])


def test_a_country_as_small_as_a_city_is_a_point() -> None:
    assert is_wide(PIN_KM + 1, "country")
    assert is_wide(PIN_KM + 1, "circle")
    assert not is_wide(PIN_KM, "country")
    assert not is_wide(500.0, None)
