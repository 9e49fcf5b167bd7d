"""Reports for machines: JSON without NaN, CSV that parses back, figures that equal the summary's."""

import csv
import io
import json
from math import isfinite
from typing import Any, NoReturn

import pytest

from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.export import (
    pair_document,
    records_csv,
    score_csv,
    score_document,
    tier_document,
)
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import FileReport, compare_files, report_file, tier_files
from geosleuth.lab.bench.scored import Scored, score_records
from geosleuth.lab.score import Truth

HOME = LatLon(10.0, 20.0)
ODD = 'a, "quoted"\nand broken \u2028 line'


def scored(label: str = "x", *, points: int = 8, without: int = 4) -> Scored:
    """Some located answers with confidences, some without a point; ids and fields that need quoting."""
    located = [
        Record(
            f"{ODD} {number}",
            Truth(HOME, country="Chad"),
            answer=Answer(
                LatLon(10.0, 20.0 + number), Address.create("Chad"), probability=number / 10, radius_km=200.0
            ),
            fields={"kind": ODD},
        )
        for number in range(points)
    ]
    lost = [Record(f"lost {number}", Truth(HOME), answer=Answer()) for number in range(without)]
    return score_records([*located, *lost], label=label, parser="lenient", distance="geodesic")


def through_json(document: object) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} in a JSON document")

    return json.loads(json.dumps(document, allow_nan=False), parse_constant=refuse)


def rows_of(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table, newline=""), strict=True))


@pytest.fixture
def report() -> FileReport:
    return report_file(scored(), by=["kind", "country"])


def test_json_figures_equal_the_summary(report: FileReport) -> None:
    (file,) = through_json(score_document([report]))["files"]
    summary = report.summary
    assert (file["n"], file["located"], file["unlocated"]) == (12, 8, 4)
    assert (file["file"], file["parser"], file["distance"]) == ("x", "lenient", "geodesic")
    assert list(file["accuracy"]) == ["0.5", "1", "2", "3", "10", "25", "50", "200", "750", "2500"]
    for km, share in summary.within.items():
        found = file["accuracy"][f"{km:g}"]
        assert (found["hits"], found["n"]) == (share.hits, share.n)
        assert (found["percent"], found["low"], found["high"]) == (
            share.percent.value,
            share.percent.low,
            share.percent.high,
        )
    assert file["median_km"]["value"] == summary.median_km.value
    assert file["geoscore"]["value"] == summary.geoscore.value
    assert file["levels"]["country"]["hits"] == summary.levels["country"].hits == 8


def test_json_confidence(report: FileReport) -> None:
    (file,) = through_json(score_document([report]))["files"]
    assert file["selective"]["with_confidence"] == 8
    assert file["selective"]["points"][-1][0] == pytest.approx(8 / 12)
    assert "1" not in file["selective"]["risk_at_coverage"]
    assert set(file["selective"]["risk_at_coverage"]) == {"0.1", "0.2", "0.3", "0.4", "0.5", "0.6"}
    assert file["calibration"]["n"] == 8


@pytest.mark.parametrize(("points", "without"), [(2, 2), (0, 3), (1, 0), (0, 1), (2, 9)])
def test_what_is_infinite_or_undefined_is_null(points: int, without: int) -> None:
    report = report_file(scored(points=points, without=without), by=["kind"] if points else [])
    (file,) = through_json(score_document([report]))["files"]
    value = report.summary.median_km.value
    assert file["median_km"]["value"] == (value if isfinite(value) else None)
    assert without == 0 or file["median_km"]["value"] is None
    assert (file["selective"] is None) == (points == 0)
    for row in rows_of(score_csv([report])):
        assert row["figure"] not in ("nan", "inf")


def test_csv_parses_back_to_the_summary(report: FileReport) -> None:
    rows = rows_of(score_csv([report]))
    whole = {row["metric"]: row for row in rows if not row["field"]}
    for km, share in report.summary.within.items():
        row = whole[f"acc@{km:g}km"]
        assert (float(row["figure"]), float(row["low"])) == (share.percent.value, share.percent.low)
        assert (row["n"], row["unlocated"], row["file"]) == ("12", "4", "x")
    assert float(whole["geoscore"]["figure"]) == report.summary.geoscore.value
    assert float(whole["level_country"]["figure"]) == 100
    assert {(row["field"], row["value"]) for row in rows} == {
        ("", ""), ("kind", ODD), ("kind", "(unknown)"), ("country", "Chad"), ("country", "(unknown)"),
    }  # fmt: skip


def test_records_csv_has_a_row_per_record_and_empty_cells_for_nothing() -> None:
    files = [scored("x"), scored("y", without=0)]
    rows = rows_of(records_csv(files))
    assert len(rows) == sum(len(file) for file in files)
    assert [row["id"] for row in rows] == [name for file in files for name in file.ids]
    for row, km in zip(rows, [*files[0].distance_km, *files[1].distance_km], strict=True):
        assert (float(row["distance_km"]) == km) if isfinite(km) else (row["distance_km"] == row["lat"] == "")


def test_comparison_document() -> None:
    first, second = scored("one"), scored("two", points=6, without=0)
    pair = compare_files(first, second)
    document = through_json(pair_document(pair, moved=2))
    assert (document["n"], document["only_in_first"], document["only_in_second"]) == (6, 6, 0)
    assert document["accuracy"]["25"]["p"] == 1
    assert document["moved_count"] == 0
    lost = score_records(
        [Record(name, Truth(HOME), answer=Answer()) for name in first.ids],
        label="none",
        parser="strict",
        distance="geodesic",
    )
    document = through_json(pair_document(compare_files(first, lost), moved=3))
    assert (len(document["moved"]), document["moved_count"]) == (3, 8)
    assert all(item["second_km"] is None and item["gain"] < 0 for item in document["moved"])


def test_comparison_and_tiers_say_how_the_files_were_read() -> None:
    files = [scored("one"), scored("two", points=6, without=6)]
    pair = through_json(pair_document(compare_files(files[0], files[1]), moved=0))
    tiers = through_json(tier_document(tier_files(files)))
    assert pair["files"] == tiers["files"]
    for side, unlocated in zip(pair["files"], (4, 4), strict=True):
        assert (side["parser"], side["distance"], side["unlocated"]) == ("lenient", "geodesic", unlocated)
    assert [side["label"] for side in pair["files"]] == ["one", "two"]
    assert [side["n"] for side in pair["files"]] == [10, 10]


def test_tier_document_names_every_image() -> None:
    files = [scored(name) for name in ("one", "two", "three")]
    document = through_json(tier_document(tier_files(files)))
    assert document["n"] == document["easy"] + document["hard"] == 12 == len(document["tiers"])
    assert document["tiers"][files[0].ids[0]] == "easy"
    assert document["tiers"]["lost 0"] == "hard"
