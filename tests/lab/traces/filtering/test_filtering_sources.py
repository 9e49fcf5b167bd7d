"""Where tries are read from: runs, recorded answers, tables."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.agent import write_trajectory
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run.journal import compute_photo_name, file_name
from geosleuth.lab.score import Truth
from geosleuth.lab.traces.filtering import build_tries, find_teachable, read_tries
from geosleuth.support.errors import BadInput
from run_folders import NAME_KEY, PhotoMade, TryMade, answer_at, trajectory_of, write_run

PARIS = Truth(LatLon(48.8566, 2.3522))
# One degree of latitude is about 111.2 km there.
NEAR, NEXT_TOWN, FAR = answer_at(48.8570, 2.3522), answer_at(49.0, 2.3522), answer_at(52.5, 13.4)


def photo(name: str, *answers: object) -> PhotoMade:
    made = tuple(one if isinstance(one, TryMade) else TryMade(one) for one in answers)  # type: ignore[arg-type]
    return PhotoMade(name, PARIS, made)


def test_several_runs_are_several_tries(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", [photo("a", NEAR), photo("b", NEAR), photo("c", TryMade())])
    second = write_run(tmp_path / "2", [photo("a", FAR), photo("b", NEAR), photo("c", NEXT_TOWN)])
    km = read_tries([first, second])
    assert list(km) == ["a", "b", "c"]
    assert km["a"] == pytest.approx([0.044, 878], abs=1)
    assert math.isnan(km["c"][0])
    found = find_teachable(build_tries(km))
    assert found.kept.tolist() == [[True] * 4, [False] * 4, [False, True, True, True]]


def test_every_answer_that_the_journal_has_is_a_try_and_failures_are_none(tmp_path: Path) -> None:
    broken = TryMade(outcome="failed", by="nobody", reason="service", trouble="busy")
    run = write_run(tmp_path / "r", [photo("a", FAR, NEAR), photo("b", broken, NEAR), photo("c", NEAR, broken)])
    km = read_tries([run])
    assert {one: len(values) for one, values in km.items()} == {"a": 2, "b": 1}
    assert km["a"] == pytest.approx([878, 0.044], abs=1)


def test_the_minds_of_one_try_are_tries_of_their_own(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [photo("a", NEAR), photo("b", FAR)])
    name = compute_photo_name(NAME_KEY, "a")
    own = run / "trajectories" / name[:2] / file_name(name, 1)
    for number, answer in ((1, FAR), (2, NEAR), (10, NEXT_TOWN)):
        write_trajectory(own.with_name(f"{own.stem}.try{number}.jsonl"), trajectory_of(TryMade(answer)))
    km = read_tries([run])
    assert km["a"] == pytest.approx([878, 0.044, 16], abs=1)
    assert len(km["b"]) == 1


def test_recorded_answers_may_say_the_same_photo_several_times(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    truth = {"lat": 48.8566, "lon": 2.3522}
    replies = [("a", '{"lat": 48.857, "lon": 2.3522}'), ("a", "I can't tell."), ("b", '{"lat": 52.5, "lon": 13.4}')]
    path.write_text("".join(json.dumps({"id": one, "truth": truth, "reply": said}) + "\n" for one, said in replies))
    km = read_tries([path])
    assert km["a"][0] < 1
    assert math.isnan(km["a"][1])
    assert km["b"] == pytest.approx([878], abs=1)


def test_reads_tables_of_distances(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"id": "a", "distances_km": [1, null, 2.5]}\n\n{"id": 7, "distances_km": []}\n')
    found = read_tries([lines])
    assert [len(values) for values in found.values()] == [3, 0]
    assert math.isnan(found["a"][1])
    assert len(read_tries([lines, lines])["a"]) == 6


@pytest.mark.parametrize(
    ("name", "text", "trouble"),
    [
        ("x.jsonl", '{"id": "a", "distances_km": [1]}\n{"id": "b", "distances_km": 3}\n', "x.jsonl:2: a row is"),
        ("x.jsonl", '{"id": "a", "distances_km": [true]}\n', "'True' is not a distance in km"),
        ("x.jsonl", '{"id": "a", "distances_km": [-3]}\n', "'-3' is not a distance in km"),
        ("x.jsonl", '{"id": "a", "distances_km": [1]}\n{"dista\n', "x.jsonl:2: not JSON"),
        ("x.txt", "words", "give a .jsonl or .csv file"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, name: str, text: str, trouble: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=trouble) as caught:
        read_tries([tmp_path / name])
    assert "\n" not in str(caught.value)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no results\.jsonl here"):
        read_tries([tmp_path])
    with pytest.raises(BadInput, match="can't be read"):
        read_tries([tmp_path / "nowhere.csv"])


def test_an_unlocated_answer_is_a_try_without_a_place(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [photo("a", NEAR, replace(TryMade(), by="nobody"))])
    km = read_tries([run])["a"]
    assert km[0] < 1
    assert math.isnan(km[1])
