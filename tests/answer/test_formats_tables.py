"""CSV, Darwin Core and JSON, read back by what reads them in the world."""

import csv
import io
import json
from pathlib import Path

import pytest
from dwca.darwincore.terms import TERMS
from dwca.read import DwCAReader
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import Address, Answer, Candidate, answer_from_dict
from geosleuth.answer.formats import (
    CSV_HEADER,
    DARWIN_CORE_TERMS,
    FORMATS,
    AnswerContext,
    LocatedAnswer,
    find_format,
    render_as,
    to_csv,
    to_darwin_core,
    to_json,
)
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput
from marked import HOME, marked_answer, marked_context

DWC = "http://rs.tdwg.org/dwc/terms/"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1"]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_header_of_the_table_is_a_promise() -> None:
    assert CSV_HEADER == (
        "file", "sha256", "located", "lat", "lon", "radius_km", "probability", "country", "country_code", "region",
        "precise", "explanation", "candidates", "granularity", "model", "method", "when", "sources", "geosleuth",
        "extent",
    )  # fmt: skip


def test_a_row_holds_the_finding() -> None:
    first, second = rows(
        to_csv([LocatedAnswer(marked_answer(), marked_context()), LocatedAnswer(Answer(), AnswerContext())])
    )
    assert (first["lat"], first["lon"], first["located"]) == ("43.7384", "7.4246", "yes")
    assert (first["radius_km"], first["probability"], first["country_code"]) == ("0.2", "0.8", "MC")
    assert "Menton (12%)" in first["candidates"]
    assert first["when"] == "2026-03-04T05:06:07+00:00"
    assert (second["located"], second["lat"], second["lon"]) == ("no", "", "")


@pytest.mark.parametrize("evil", FORMULAS)
@pytest.mark.parametrize("write", [to_csv, to_darwin_core])
def test_no_text_cell_is_a_formula(evil: str, write: object) -> None:
    answer = Answer(LatLon(-1, -2), Address.create(evil, evil, evil), 0.5, 1, evil, (Candidate(evil),))
    assert callable(write)
    (row,) = rows(write([LocatedAnswer(answer, AnswerContext(file_name=evil, model=evil, sources=(evil,)))]))
    numbers = {"lat", "lon", "decimalLatitude", "decimalLongitude"}
    for name, value in row.items():
        assert name in numbers or not value.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝"))
    assert "-1.000" in row.values()


@given(text=st.text(max_size=40))
def test_every_row_is_one_line_that_reads_back(text: str) -> None:
    answer = Answer(explanation=text, address=Address.create(text))
    (row,) = rows(to_csv([LocatedAnswer(answer, AnswerContext(file_name=text))]))
    assert set(row) == set(CSV_HEADER)
    assert "\n" not in row["explanation"]


def test_every_column_is_a_darwin_core_term() -> None:
    assert [name for name in DARWIN_CORE_TERMS if DWC + name not in TERMS] == []


def test_darwin_core_is_read_by_an_archive_reader(tmp_path: Path) -> None:
    fields = "".join(f'<field index="{i}" term="{DWC}{name}"/>' for i, name in enumerate(DARWIN_CORE_TERMS))
    (tmp_path / "meta.xml").write_text(
        '<archive xmlns="http://rs.tdwg.org/dwc/text/"><core encoding="utf-8" linesTerminatedBy="\\r\\n" '
        'fieldsTerminatedBy="," fieldsEnclosedBy=\'"\' ignoreHeaderLines="1" '
        f'rowType="{DWC}Occurrence"><files><location>rows.csv</location></files><id index="0"/>{fields}'
        "</core></archive>"
    )
    entries = [LocatedAnswer(marked_answer(), marked_context()), LocatedAnswer(Answer(), AnswerContext())]
    (tmp_path / "rows.csv").write_text(to_darwin_core(entries), encoding="utf-8", newline="")
    with DwCAReader(str(tmp_path)) as archive:
        first, second = ({key.removeprefix(DWC): value for key, value in row.data.items()} for row in archive)
    assert (first["decimalLatitude"], first["decimalLongitude"]) == ("43.7384", "7.4246")
    assert (first["geodeticDatum"], first["coordinateUncertaintyInMeters"]) == ("WGS84", "200")
    assert (first["country"], first["countryCode"]) == ("Monaco", "MC")
    assert first["georeferencedBy"].startswith("geosleuth")
    assert first["georeferencedDate"] == "2026-03-04T05:06:07+00:00"
    assert "estimated" in first["georeferenceProtocol"]
    assert first["georeferenceVerificationStatus"] == "requires verification"
    assert first["associatedMedia"].startswith("sha256:abab")
    assert (second["decimalLatitude"], second["geodeticDatum"]) == ("", "")
    assert second["georeferenceVerificationStatus"] == "unable to georeference"


def test_an_uncertainty_is_never_nought_and_never_rounded_down() -> None:
    cells = [
        rows(to_darwin_core([LocatedAnswer(Answer(HOME, radius_km=km), AnswerContext())]))[0]
        for km in (0.0001, 0.0121, 2.0)
    ]
    assert [row["coordinateUncertaintyInMeters"] for row in cells] == ["1", "13", "2000"]


def test_a_capped_row_says_that_it_is() -> None:
    (row,) = rows(to_darwin_core([LocatedAnswer(Answer(HOME, radius_km=2), AnswerContext(granularity="city"))]))
    assert "city" in row["dataGeneralizations"]
    assert "city" in row["informationWithheld"]


def test_json_holds_the_whole_answer_and_where_it_comes_from() -> None:
    found = json.loads(to_json([LocatedAnswer(marked_answer(), marked_context())]))
    assert answer_from_dict(found["answer"]) == marked_answer()
    assert found["photo"] == {"sha256": "ab" * 32, "file": marked_context().file_name}
    assert found["versions"]["geosleuth"]
    several = json.loads(to_json([LocatedAnswer(Answer(), AnswerContext()), LocatedAnswer(Answer(), AnswerContext())]))
    assert [one["located"] for one in several] == [False, False]


def test_formats_go_by_name_and_by_ending() -> None:
    for name, one in FORMATS.items():
        assert find_format(Path(f"out/photo{one.ending}")).name == name
        assert render_as(name, [LocatedAnswer(marked_answer(), AnswerContext())])
    assert find_format(Path("x.DWC.CSV")).name == "darwin-core"
    with pytest.raises(BadInput, match=r"\.geojson"):
        find_format(Path("photo.shp"))
    with pytest.raises(BadInput, match="geojson"):
        render_as("shapefile", [])
    with pytest.raises(BadInput, match="one finding"):
        render_as("xmp", [])
