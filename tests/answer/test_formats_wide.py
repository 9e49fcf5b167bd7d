"""A country or region in a file: its names, and no coordinates."""

from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import PIN_KM, is_wide
from geosleuth.answer.formats import (
    CSV_HEADER,
    DARWIN_CORE_TERMS,
    Context,
    Entry,
    csv_row,
    darwin_core_row,
    to_xmp,
)
from geosleuth.geo import LatLon

CHINA = Answer(LatLon(31.22222, 121.45806), Address.of("China"), 0.83, 1908.0)
WHOLE = Context(country_code="CN", wide=True)


def test_tables_hold_its_names_and_no_coordinates() -> None:
    row = dict(zip(CSV_HEADER, csv_row(CHINA, WHOLE), strict=True))
    assert (row["located"], row["country"], row["country_code"]) == ("yes", "China", "CN")
    assert row["lat"] == row["lon"] == row["radius_km"] == ""


def test_darwin_core_says_why_there_are_no_coordinates() -> None:
    row = dict(zip(DARWIN_CORE_TERMS, darwin_core_row(CHINA, WHOLE), strict=True))
    assert row["decimalLatitude"] == row["geodeticDatum"] == row["coordinateUncertaintyInMeters"] == ""
    assert (row["country"], row["countryCode"], row["verbatimLocality"]) == ("China", "CN", "China")
    assert "No coordinates: the finding is a country or region" in row["georeferenceRemarks"]


def test_a_sidecar_has_no_gps() -> None:
    text = to_xmp([Entry(CHINA, WHOLE)])
    assert "GPS" not in text
    assert "<photoshop:Country>China</photoshop:Country>" in text
    assert "<exif:GPSLatitude>" in to_xmp([Entry(CHINA, Context())])


def test_a_country_as_small_as_a_city_is_a_point() -> None:
    assert is_wide(PIN_KM + 1, "country")
    assert is_wide(PIN_KM + 1, "circle")
    assert not is_wide(PIN_KM, "country")
    assert not is_wide(500.0, None)
