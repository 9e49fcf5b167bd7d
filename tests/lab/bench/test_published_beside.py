"""Published rows beside ours: which are shown, and what is said about their images."""

import pytest

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import (
    FileReport,
    beside,
    filter_by_distance,
    find_dataset_rows,
    get_reported_percent,
    report_file,
)
from geosleuth.lab.bench.scored import score_records
from geosleuth.lab.score import PublishedRow, Truth
from geosleuth.support.errors import BadInput


def report(data_source: str | None, n: int) -> FileReport:
    fields = {} if data_source is None else {"data_source": data_source}
    records = [Record(str(number), Truth(LatLon(1, 2)), answer=Answer(), fields=fields) for number in range(n)]
    return report_file(score_records(records, label="x", parser="strict", distance="great-circle"))


def row(dataset: str, n: int | None) -> PublishedRow:
    return next(found for found in find_dataset_rows(dataset) if found.n == n)


def test_rows_are_those_with_accuracies_in_any_spelling() -> None:
    rows = find_dataset_rows("geobench")
    assert rows == find_dataset_rows("GeoBench")
    assert {found.dataset for found in rows} == {"GeoBench"}
    assert all(any(metric.startswith("acc@") for metric in found.values) for found in rows)


@pytest.mark.parametrize("dataset", ["Atlantis", "", "MP16-Pro"])
def test_a_set_without_accuracies_lists_those_there_are(dataset: str) -> None:
    with pytest.raises(BadInput, match=r"GeoBench.*IMAGEO-2.*MAPBench") as caught:
        find_dataset_rows(dataset)
    assert "MP16-Pro," not in str(caught.value)


def test_the_same_set_with_as_many_images() -> None:
    words = beside(row("GeoBench", 934), [report("GeoBench", 934)])
    assert "GeoBench" in words
    assert "same" in words
    assert "other" not in words


def test_another_subset_of_the_same_set_says_so() -> None:
    words = beside(row("GeoBench", 428), [report("GeoBench", 934)])
    assert "another subset" in words
    assert "428" in words


@pytest.mark.parametrize("data_source", ["MAPBench_V1", "my own photos"])
def test_other_images_are_called_so_however_many_there_are(data_source: str) -> None:
    words = beside(row("GeoBench", 428), [report(data_source, 428)])
    assert "other images" in words
    assert "GeoBench" in words


def test_without_a_data_source_nobody_can_know() -> None:
    silent, other = report(None, 428), report("my own photos", 428)
    for reports in ([silent], [other, silent]):
        assert beside(row("GeoBench", 428), reports) == "not known whether the same images: GeoBench"


def test_rows_without_any_of_the_distances_are_left_out() -> None:
    rows = find_dataset_rows("GeoBench")
    at_three = filter_by_distance(rows, [3.0, 7.0])
    assert 0 < len(at_three) < len(rows)
    assert all(get_reported_percent(found, 3.0) is not None for found in at_three)
    assert filter_by_distance(rows, [7.0]) == []


def test_a_tier_of_a_set_is_part_of_it() -> None:
    found = find_dataset_rows("MAPBench-hard")[0]
    assert "other images" not in beside(found, [report("MAPBench_V1", 3)])
    assert "another subset" in beside(found, [report("MAPBench_V1", 3)])
