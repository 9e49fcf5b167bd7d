"""The examples in the documentation are what comes out."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.formats import AnswerContext, LocatedAnswer, render_as
from geosleuth.geo import LatLon

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
ANSWER = Answer(
    LatLon(43.73535, 7.42085),
    Address.create("Monaco", None, "Rue Grimaldi, Monaco"),
    0.82,
    0.25,
    'The sign "Rue Grimaldi" and a number beginning with +377 meet in one place.',
    (Candidate("Beausoleil, France", LatLon(43.7433, 7.4186), 0.09, "the same street name"),),
)
CONTEXT = AnswerContext(
    sha256="9f2c" + 56 * "0" + "71ab",
    file_name="IMG_2041.jpg",
    model="detective",
    method="default",
    when=datetime(2026, 11, 15, 9, 30, tzinfo=UTC),
    tools=("read_text", "maps_geocode"),
    sources=("photo", "OpenStreetMap, region monaco"),
    country_code="MC",
    city="Monaco",
    geosleuth="0.1.0",
)
TITLES = {"json": "JSON", "geojson": "GeoJSON", "kml": "KML", "csv": "CSV", "xmp": "XMP sidecar"}


@pytest.mark.parametrize("name", TITLES)
def test_every_documented_line_is_written(name: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {TITLES[name]}\n")[1]
    block = re.search(r"```\w+\n(.*?)```", section, re.DOTALL)
    assert block is not None
    rest = render_as(name, [LocatedAnswer(ANSWER, CONTEXT)]).replace("\r\n", "\n")
    for line in block[1].splitlines():
        known = line.partition("…")[0]
        assert known in rest, known
        rest = rest[rest.index(known) + len(known) :]


def test_the_darwin_core_values_are_the_documented_ones() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## Darwin Core\n")[1].split("\n## ")[0]
    row = render_as("darwin-core", [LocatedAnswer(ANSWER, CONTEXT)])
    for value in ("43.7353", "WGS84", "250", "requires verification", "method default", "2026-11-15T09:30:00+00:00"):
        assert value in section
        assert value in row
