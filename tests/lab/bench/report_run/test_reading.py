"""What the folder of a run tells: counts, costs, tools, failures, and what answers hung on."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.report_run import RunsReport, frame, report_run, report_runs
from geosleuth.lab.bench.report_run.documents import run_document
from geosleuth.lab.bench.report_run.figures import (
    COST,
    SECONDS,
    TOKENS,
    common_measure,
)
from geosleuth.lab.bench.report_run.run_report import PER_COUNTRY, choose
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.journal import compute_photo_name
from geosleuth.lab.bench.scored import Scored, score_file
from geosleuth.lab.score import Truth
from run_folders import NAME_KEY, Called, PhotoMade, TryMade, answer_at, world_photos, write_run

LYON = Truth(LatLon(45.76, 4.84), country="France", city="Lyon")
RIGHT, WRONG = answer_at(45.77, 4.85, "Lyon", "France"), answer_at(41.15, -8.61, "Porto", "Portugal")
BUSY = TryMade(outcome="failed", by="nobody", reason="service", host="models.example", trouble="busy for 3.5 s")


def scored(folder: Path) -> Scored:
    return score_file(folder / "results.jsonl", parser="lenient", distance="geodesic", label=folder.name)


def told(*folders: Path, gallery: int = 3) -> RunsReport:
    return report_runs([report_run(RunFolder.read(one), scored(one), gallery=gallery) for one in folders])


def run_of(folder: Path, *tries: Sequence[TryMade], count: int | None = None, mask: str | None = None) -> Path:
    photos = [PhotoMade(f"p{number}", LYON, tuple(made)) for number, made in enumerate(tries, 1)]
    return write_run(folder, photos, count=count, mask=mask)


def test_failed_and_missing_photos_are_no_wrong_answers(tmp_path: Path) -> None:
    (run,) = told(
        run_of(tmp_path / "run", [TryMade(RIGHT)], [TryMade(WRONG)], [TryMade(Answer())], [BUSY], count=6)
    ).runs
    counts = run.counts
    assert (counts.photos, counts.answered, counts.unlocated, counts.failed, counts.missing) == (6, 3, 1, 1, 2)
    assert run.report.summary.within[25.0].percent.value == pytest.approx(100 / 3)
    assert run.counts_as_misses[25.0].percent.value == pytest.approx(100 / 6)


def test_the_try_that_decides_counts_and_all_tries_cost(tmp_path: Path) -> None:
    cut_off = TryMade(outcome="interrupted", by="nobody", reason="cancelled", cost_usd=0.5)
    first = [BUSY, TryMade(RIGHT, calls=(Called("zoom"),), cost_usd=0.25)]
    second = [TryMade(WRONG, cost_usd=0.75), cut_off]
    (run,) = told(run_of(tmp_path / "run", first, second, [cut_off])).runs
    assert run.counts.answered == 2
    assert run.counts.missing == 1
    assert run.spent["cost_usd"].mean == pytest.approx(0.5)
    assert run.spent["turns"].total == 3
    assert {key: found.count for key, found in run.journal.tries.items()} == {
        "failed": 1,
        "answered": 2,
        "interrupted": 2,
    }
    assert run.journal.tries["interrupted"].spent.usage.cost_usd == pytest.approx(1.0)
    assert run.journal.tries_per_photo == {1: 1, 2: 2}
    assert run.journal.failures == ()


def test_failures_that_differ_in_numbers_alone_are_one_reason(tmp_path: Path) -> None:
    waits = [replace(BUSY, trouble=f"busy for {seconds} s") for seconds in (3, 12.5, 60)]
    (run,) = told(
        run_of(tmp_path / "run", *([one] for one in waits), [replace(BUSY, trouble="cut off")], [TryMade(RIGHT)])
    ).runs
    several, one = run.journal.failures
    assert (several.photos, several.trouble, several.some) == (3, "busy for 3 s", ("p1", "p2", "p3"))
    assert (one.photos, one.trouble, one.host) == (1, "cut off", "models.example")


def test_calls_are_counted_by_tool_and_by_what_came_of_them(tmp_path: Path) -> None:
    calls = (Called("zoom"), Called("zoom", "timeout"), Called("zoom", "repeated"), Called("search", "service"))
    folder = run_of(
        tmp_path / "run", [TryMade(RIGHT, calls=calls)], [TryMade(WRONG)], [TryMade(RIGHT, calls=calls[:1])]
    )
    # The work of several minds lies beside the trajectory of the try, and counts too.
    own = RunFolder.read(folder).trajectory(compute_photo_name(NAME_KEY, "p1"), 1)
    own.with_name(f"{own.stem}.try1.jsonl").write_bytes(own.read_bytes())
    found = told(folder).runs[0].behaviour
    zoom, search = found.tools
    assert (zoom.name, zoom.calls, zoom.carried_out, zoom.succeeded, zoom.photos) == ("zoom", 7, 5, 3, 2)
    assert (search.calls, search.succeeded, search.photos) == (2, 0, 1)
    assert found.failures == {"timeout": 2, "repeated": 2, "service": 2}
    assert (found.photos, found.with_calls, found.calls, found.succeeded) == (3, 2, 9, 3)
    assert found.combinations == (((), 1), (("search", "zoom"), 1), (("zoom",), 1))


def test_calls_that_had_to_be_mended_are_counted_strictly_beside(tmp_path: Path) -> None:
    calls = (
        Called("zoom"), Called("zoom", mended="box"), Called("zoom", mended="json"), Called("zoom", "timeout"),
        Called("search", mended="json"),
    )  # fmt: skip
    found = told(run_of(tmp_path / "run", [TryMade(RIGHT, calls=calls)]))
    behaviour = found.runs[0].behaviour
    zoom, search = behaviour.tools
    assert (zoom.carried_out, zoom.succeeded, zoom.succeeded_strictly) == (4, 3, 1)
    assert (search.succeeded, search.succeeded_strictly) == (1, 0)
    assert (behaviour.succeeded, behaviour.succeeded_strictly) == (4, 1)
    document = run_document(found)["runs"][0]["tools"]
    assert (document["succeeded"], document["succeeded_strictly"]) == (4, 1)
    assert document["by_tool"]["zoom"]["succeeded_strictly"] == 1


def test_trajectories_that_are_gone_or_damaged_are_said_and_left_out(tmp_path: Path) -> None:
    answered = TryMade(RIGHT, calls=(Called("zoom"),))
    folder = run_of(tmp_path / "run", [answered], [answered], [replace(answered, keep=False)])
    damaged = RunFolder.read(folder).trajectory(compute_photo_name(NAME_KEY, "p2"), 1)
    damaged.write_bytes(damaged.read_bytes().replace(b'"kind"', b'"sort"', 1))
    found = told(folder).runs[0].behaviour
    assert (found.photos, found.absent, found.damaged, found.calls) == (1, 1, 1, 1)


def test_runs_are_compared_by_money_only_where_every_price_is_known(tmp_path: Path) -> None:
    priced = run_of(tmp_path / "a", [TryMade(RIGHT)])
    unpriced = run_of(tmp_path / "b", [TryMade(RIGHT, cost_usd=None)])
    by_hand = run_of(tmp_path / "c", [TryMade(RIGHT, cost_usd=0.0, input_tokens=0, output_tokens=0)])
    assert told(priced).measure == COST
    assert told(priced, unpriced).measure == TOKENS
    assert told(by_hand).measure == SECONDS
    assert common_measure([]).key == "turns"


def test_a_gallery_is_the_nearest_and_the_farthest_and_no_countrys_alone(tmp_path: Path) -> None:
    results = scored(write_run(tmp_path / "run", world_photos(120, failing=0.0)))
    wins, failures = choose(results, 8, 25.0)
    assert results.distance_km[wins[0]] == np.nanmin(results.distance_km)
    assert results.distance_km[failures[0]] == np.nanmax(results.distance_km)
    assert all(results.distance_km[row] <= 25 for row in wins)
    assert len(wins) == len(failures) == 8
    country = results.fields["country"]
    for rows in (wins, failures):
        names = [country.values[country.codes[row]] for row in rows]
        assert max(names.count(one) for one in names) <= PER_COUNTRY


@given(
    st.tuples(st.floats(-80, 80), st.floats(-180, 180)),
    st.tuples(st.floats(-80, 80), st.floats(-180, 180)),
)
def test_a_map_holds_both_places_or_there_is_none(truth: tuple[float, float], answer: tuple[float, float]) -> None:
    from geosleuth.lab.bench.report_run.run_report import MAP_PX
    from geosleuth.report.mercator import mercator

    seen = frame(LatLon(*truth), LatLon(*answer))
    if seen is None:
        return
    middle, zoom = seen
    world_px = 256 * 2**zoom
    for lat, lon in (truth, answer):
        across = abs((lon - middle.lon + 540) % 360 - 180) / 360 * world_px
        along = abs(mercator(lat) - mercator(middle.lat)) / (2 * math.pi) * world_px
        assert across <= MAP_PX[0] / 2
        assert along <= MAP_PX[1] / 2


def test_what_answers_hung_on(tmp_path: Path) -> None:
    near = answer_at(45.761, 4.841, "Lyon", "France")
    whole = run_of(tmp_path / "whole", [TryMade(RIGHT)], [TryMade(RIGHT)], [TryMade(RIGHT)], [TryMade(WRONG)])
    masked = run_of(
        tmp_path / "masked", [TryMade(WRONG)], [TryMade(near)], [TryMade(Answer())], [TryMade(RIGHT)], mask="text"
    )
    (found,) = told(whole, masked).hung_on
    assert (found.first, found.second, found.hidden) == ("whole", "masked", "text")
    assert (found.n, found.located, found.lost, found.found) == (4, 3, 1, 0)
    at_25 = next(item for item in found.turned if item.threshold_km == 25)
    assert (at_25.both_right, at_25.right_to_wrong, at_25.wrong_to_right, at_25.both_wrong) == (1, 2, 1, 0)
    assert [shift.id for shift in found.shifts] == ["p1", "p4", "p2", "p3"]
    moved = found.shifts[0]
    assert (moved.first_place, moved.second_place) == ("Lyon, France", "Porto, Portugal")
    assert moved.moved_km == pytest.approx(1193, abs=20)
    assert math.isnan(found.shifts[3].moved_km)


def test_a_masked_run_is_set_against_the_one_with_its_settings(tmp_path: Path) -> None:
    photos = [PhotoMade("p1", LYON, (TryMade(RIGHT),))]
    large, small = {"model": "large"}, {"model": "small"}
    runs = (
        write_run(tmp_path / "large", photos, settings=large),
        write_run(tmp_path / "small", photos, settings=small),
        write_run(tmp_path / "small-masked", photos, settings=small, mask="text"),
        write_run(tmp_path / "other-masked", photos, settings={"model": "other"}, mask="text"),
    )
    assert [(one.first, one.second) for one in told(*runs).hung_on] == [
        ("small", "small-masked"),
        ("large", "other-masked"),
    ]


def test_results_that_lag_behind_the_journal_are_said(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "run", [TryMade(RIGHT)], [TryMade(WRONG)])
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "results.jsonl").write_text(lines[0], "utf-8")
    (note,) = told(folder).runs[0].notes
    assert "holds 1 answers and the journal 2" in note


def test_the_document_says_it_all_in_plain_json(tmp_path: Path) -> None:
    import json

    whole = write_run(tmp_path / "whole", world_photos(30))
    masked = write_run(tmp_path / "masked", world_photos(30, skill=0.3), mask="signs")
    document = json.loads(json.dumps(run_document(told(whole, masked)), allow_nan=False))
    first = document["runs"][0]
    assert first["photos"] == first["answered"] + first["failed"] + first["missing"] == 30
    assert first["figures"]["n"] == first["answered"]
    assert set(first["per_photo"]["cost_usd"]) == {"n", "mean", "median", "p95", "total"}
    assert first["tools"]["calls"] == sum(tool["calls"] for tool in first["tools"]["by_tool"].values())
    assert len(first["wins"]) == 3
    assert document["hung_on"][0]["hidden"] == "signs"
    assert document["runs"][1]["mask"] == "signs"
