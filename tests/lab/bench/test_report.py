"""The figures of one file and of its slices."""

from random import Random

import pytest

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import FileReport, report_file
from geosleuth.lab.bench.scored import Scored, score_records
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput


def some(n: int = 200) -> Scored:
    """Made-up answers: errors of all sizes, some unlocated, some without a kind or a country."""
    random = Random(4)
    records = []
    for number in range(n):
        truth = LatLon(random.uniform(-60, 60), random.uniform(-170, 170))
        off = 10 ** random.uniform(-3, 1)
        point = None if random.random() < 0.1 else LatLon(truth.lat + off, truth.lon)
        country = random.choice(["France", "Japan", "Brazil", None])
        fields = {"kind": random.choice(["street", "shop"])} if random.random() < 0.8 else {}
        answer = Answer(point, probability=random.random(), radius_km=50.0)
        records.append(Record(str(number), Truth(truth, country=country), answer=answer, fields=fields))
    return score_records(records, label="made up", parser="lenient", distance="great-circle")


@pytest.fixture(scope="module")
def report() -> FileReport:
    return report_file(some(), by=["kind", "continent", "country"])


@pytest.mark.parametrize("field", ["kind", "continent", "country"])
def test_slices_sum_to_the_whole(report: FileReport, field: str) -> None:
    parts = [item.summary for item in report.slices if item.field == field]
    whole = report.summary
    assert len(parts) >= 3
    assert sum(part.n for part in parts) == whole.n
    assert sum(part.unlocated for part in parts) == whole.unlocated > 0
    for km, share in whole.within.items():
        assert sum(part.within[km].hits for part in parts) == share.hits
    assert sum(part.geoscore.value * part.n for part in parts) == pytest.approx(whole.geoscore.value * whole.n)
    assert sum(part.levels["country"].n for part in parts if part.levels) == whole.levels["country"].n


def test_a_slice_is_what_its_records_alone_would_give(report: FileReport) -> None:
    scored = some()
    column = scored.fields["kind"]
    rows = column.codes == column.values.index("shop")
    shop = next(item.summary for item in report.slices if item.value == "shop")
    assert shop.n == rows.sum()
    assert shop.within[25.0].hits == (scored.distance_km[rows] <= 25).sum()


def test_an_unknown_field_lists_those_there_are() -> None:
    with pytest.raises(BadInput, match=r"made up: no record has a field 'colour'; there are: continent, country, kind"):
        report_file(some(), by=["colour"])


def test_confidence_is_reported_at_the_wanted_distance() -> None:
    report = report_file(some(), selective_km=200.0)
    assert report.selective is not None
    assert report.selective.threshold_km == 200
    assert report.selective.with_confidence == report.summary.located
    assert report.calibration is not None
    assert report.calibration.n == report.summary.located


def test_own_thresholds() -> None:
    report = report_file(some(), by=["kind"], thresholds_km=(7.0, 70.0))
    assert all(list(item.summary.within) == [7.0, 70.0] for item in report.slices)
    assert report.summary.within[7.0].hits <= report.summary.within[70.0].hits
