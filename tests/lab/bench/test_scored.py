"""Records in columns: distances, fields, repeated ids, and what is odd about a file."""

import hashlib
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from geosleuth.answer import Address, Answer
from geosleuth.geo import DistanceMethod, LatLon
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import report_file
from geosleuth.lab.bench.scored import UNKNOWN, Scored, score_file, score_records
from geosleuth.lab.score import NOT_GIVEN, NOT_NAMED, Truth

PARIS = LatLon(48.8566, 2.3522)
LYON = LatLon(45.764, 4.8357)


def record(name: str, point: LatLon | None = PARIS, truth: LatLon = PARIS, **more: Any) -> Record:
    return Record(name, Truth(truth, more.pop("country", None)), answer=Answer(point), **more)


def score(*records: Record, distance: DistanceMethod = "geodesic") -> Scored:
    return score_records(records, label="x", parser="lenient", distance=distance)


def slices(scored: Scored, field: str) -> dict[str, int]:
    return {item.value: item.summary.n for item in report_file(scored, by=[field]).slices}


def test_distances_by_either_method() -> None:
    geodesic = score(record("a", LYON), record("b", None), record("c"))
    assert geodesic.distance_km[0] == pytest.approx(392.2, abs=0.5)
    assert np.isnan(geodesic.distance_km[1])
    assert geodesic.distance_km[2] == 0
    spherical = score(record("a", LYON), distance="great-circle").distance_km[0]
    assert spherical == pytest.approx(391.5, abs=0.5)
    assert set(get_args(DistanceMethod)) == {"geodesic", "great-circle"}


def test_unlocated_columns_are_empty_and_nothing_is_put_in_their_place() -> None:
    scored = score(record("a", None), Record("b", Truth(PARIS), reply="Paris, France"))
    for column in (scored.lat, scored.lon, scored.distance_km, scored.probability, scored.radius_km):
        assert np.isnan(column).all()
    assert scored.truth_lat.tolist() == [PARIS.lat] * 2


def test_names_are_judged_level_by_level() -> None:
    truth = Truth(PARIS, country="France", city="Paris")
    reply = '{"lat": 48.85, "lon": 2.35, "city": "Lyon", "country": "Frankreich"}'
    scored = score(Record("a", truth, reply=reply), Record("b", Truth(PARIS), reply=reply))
    assert scored.levels["country"].tolist() == [1, NOT_GIVEN]
    assert scored.levels["region"].tolist() == [NOT_GIVEN, NOT_GIVEN]
    assert scored.levels["city"].tolist() == [0, NOT_GIVEN]


def test_a_level_that_the_answer_leaves_out_is_told_apart_from_a_wrong_one() -> None:
    truth = Truth(PARIS, "France", "Normandie", "Rouen")
    said = [Address.create("France", None, "Rouen"), Address.create("France", "Bretagne"), Address.create()]
    records = [Record(str(number), truth, answer=Answer(PARIS, address)) for number, address in enumerate(said)]
    scored = score(*records)
    assert scored.levels["region"].tolist() == [NOT_NAMED, 0, NOT_NAMED]
    assert scored.levels["country"].tolist() == [1, 1, NOT_NAMED]
    assert scored.levels["city"].tolist()[0] == 1
    summary = report_file(scored).summary
    assert (summary.levels["region"].n, summary.levels["region"].hits, summary.named["region"]) == (3, 0, 1)


def test_country_and_continent_are_always_there() -> None:
    scored = score(
        record("a", country="France"), record("b", country="中国"), record("c", country="Atlantis"), record("d")
    )
    assert slices(scored, "country") == {"France": 1, "China": 1, UNKNOWN: 2}
    assert slices(scored, "continent").keys() == {"Europe", "Asia", UNKNOWN}


def test_a_field_that_some_records_lack() -> None:
    scored = score(
        record("a"),
        record("b", fields={"kind": "shop"}),
        record("c"),
        record("d", fields={"kind": "shop", "late": "yes"}),
        record("e", fields={"kind": UNKNOWN}),
    )
    assert slices(scored, "kind") == {"shop": 2, UNKNOWN: 3}
    assert slices(scored, "late") == {"yes": 1, UNKNOWN: 4}
    assert all(len(column.codes) == len(scored) for column in scored.fields.values())


def test_repeated_ids_are_told_apart_counted_and_noted() -> None:
    scored = score(record("a"), record("b"), record("a", LYON), record("a"))
    assert scored.ids == ("a#1", "b", "a#2", "a#3")
    assert len(scored) == 4
    assert scored.notes == ("1 image(s) occur more than once and are counted each time: a",)


@pytest.mark.parametrize(
    "records",
    [
        [record("a", repeat="7"), record("a", repeat="7"), record("a", repeat="7")],
        [record("a#1"), record("a"), record("a")],
        [record("a"), record("a"), record("a#1"), record("a#1"), record("a#1#1")],
        [record("a", repeat="2"), record("a"), record("a", repeat="1")],
    ],
)
def test_ids_are_unique_whatever_the_file_holds(records: list[Record]) -> None:
    scored = score(*records)
    assert len(set(scored.ids)) == len(scored) == len(records)


def test_placeholder_answers_are_noted_and_count_as_located() -> None:
    scored = score(record("a", LatLon(0, 0)), record("b", LatLon(-0.0, 0)), record("c", LatLon(0, 1)))
    (note,) = scored.notes
    assert note.startswith("2 answer(s) say exactly 0, 0")
    assert not np.isnan(scored.distance_km).any()


def test_a_file_is_labelled_and_fingerprinted(tmp_path: Path) -> None:
    path = tmp_path / "model.v2.jsonl"
    path.write_text(json.dumps({"id": 1, "truth": {"lat": 1, "lon": 2}, "reply": ""}))
    scored = score_file(path, parser="strict", distance="geodesic")
    assert (scored.label, scored.ids, scored.parser) == ("model.v2", ("1",), "strict")
    assert scored.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert score_file(path, parser="strict", distance="geodesic", label="mine").label == "mine"


def test_escape_sequences_in_ids_and_fields_do_not_reach_a_terminal() -> None:
    truth = Truth(LatLon(1, 2))
    record = Record("\x1b[2Jphoto", truth, answer=Answer(LatLon(1, 2)), fields={"kind": "a\x07b"})
    scored = score_records([record], label="x", parser="lenient", distance="geodesic")
    assert scored.ids == ("\N{REPLACEMENT CHARACTER}[2Jphoto",)
    assert score_records([record], label="x\x1b[2J\ny", parser="strict", distance="geodesic").label == "x\ufffd[2J y"
    assert scored.fields["kind"].values == ("a\N{REPLACEMENT CHARACTER}b",)
