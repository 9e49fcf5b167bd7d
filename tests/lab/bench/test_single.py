"""Answers scored one at a time give the same figures as a file of them."""

import pytest

from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import report_file
from geosleuth.lab.bench.scored import score_answer, score_records, summarise_answers, truth_to_dict
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

TRUTHS = [
    Truth(LatLon(48.85, 2.35), "France", "Île-de-France", "Paris"),
    Truth(LatLon(35.68, 139.69), "Japan"),
    Truth(LatLon(-33.87, 151.21)),
]
ANSWERS = [
    Answer(LatLon(48.86, 2.34), Address.create("France", "Île-de-France", "Paris")),
    Answer(address=Address.create("China")),
    Answer(LatLon(-37.8, 144.9)),
]


def test_one_at_a_time_is_the_same_as_all_at_once() -> None:
    # Several times over: of fewer than six there is no interval of the median, and NaN is no equal of itself.
    pairs = 4 * list(zip(TRUTHS, ANSWERS, strict=True))
    records = [Record(str(number), truth, answer=answer) for number, (truth, answer) in enumerate(pairs)]
    at_once = report_file(score_records(records, label="f", parser="lenient", distance="geodesic")).summary
    assert summarise_answers([score_answer(truth_to_dict(truth), answer) for truth, answer in pairs]) == at_once


@pytest.mark.parametrize("truth", [{}, {"lat": 95, "lon": 0}, {"lat": "x", "lon": 0}])
def test_what_is_no_truth_is_refused(truth: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="lat and lon"):
        score_answer(truth, Answer())
