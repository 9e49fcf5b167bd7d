"""What a run writes down at its end: records that the ruler reads, errors, a summary."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench_child import Options, data_of, make_photos, manifest_of, replayed, scripted_reply, true_place, work
from geosleuth.agent import Spent
from geosleuth.answer import parse_lenient
from geosleuth.geo import distance_km
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.run import Attempted, Job, LocalWorker, RunFolder, run_set, summary
from geosleuth.lab.bench.scored import score_file
from geosleuth.lab.bench.sets import DataSet, Item
from geosleuth.lab.score import Truth
from geosleuth.models import Usage


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("made") / "photos", 40)


def test_results_are_records_in_the_order_of_the_data_set(tmp_path: Path, photos: Path) -> None:
    async def later_first(job: Job, keep_in: Path) -> Attempted:
        await asyncio.sleep(0.001 * (39 - int(job.id[-2:])))
        return await replayed(job, keep_in)

    run = tmp_path / "run"
    work(photos, run, Options(at_once=40), attempt=later_first)
    records = list(read_records(run / "results.jsonl"))
    assert [record.id for record in records] == [item.id for item in data_of(photos)]
    with RunFolder.read(run) as folder:
        assert [one.id for one in folder.tries()] != [record.id for record in records]
    for number, record in enumerate(records):
        assert record.answer == parse_lenient(scripted_reply(record.id))
        assert record.truth == Truth(true_place(record.id))
        point, away_km = parse_lenient(scripted_reply(record.id)).point, record.fields.get("error_km")
        if point is None:
            assert away_km is None
        else:
            assert float(away_km or "nan") == pytest.approx(
                distance_km(point, true_place(record.id), "geodesic"), abs=1e-5
            )
        rest = {name: said for name, said in record.fields.items() if name != "error_km"}
        assert rest == {
            "tier": f"t{number % 3}",
            "by": "policy",
            "reason": "answered",
            "turns": "1",
            "calls": "0",
            "failed_calls": "0",
            "input_tokens": "100",
            "output_tokens": "20",
            "cost_usd": "0.01",
        }
    scored = score_file(run / "results.jsonl", parser="lenient", distance="great-circle")
    assert len(scored) == 40


def test_fields_and_names_of_the_data_set_come_through(tmp_path: Path, photos: Path) -> None:
    names = {"country": "France", "city": "Paris"}
    fields = {"id": "7", "answer": "Rome", "turns": "left", "weather": "rain\u2028and\ud83dsun"}

    def stream() -> Iterator[Item]:
        for item in data_of(photos, 2):
            yield replace(item, truth=Truth(item.truth.point, **names), fields=fields)

    data = DataSet(data_of(photos).card, photos, stream)

    async def unpriced(job: Job, keep_in: Path) -> Attempted:
        done = await replayed(job, keep_in)
        return replace(done, spent=Spent(3, 2, 1, usage=Usage(5, 6, 0, None)))

    async def through() -> None:
        with RunFolder.begin(tmp_path / "run", manifest_of(data)) as folder:
            await run_set(data, folder, LocalWorker(unpriced, folder), at_once=1)

    asyncio.run(through())
    first, _ = read_records(tmp_path / "run" / "results.jsonl")
    assert (first.id, first.truth.country, first.truth.region, first.truth.city) == (
        "paris-00000",
        "France",
        None,
        "Paris",
    )
    assert first.fields["data_id"] == "7"
    assert first.fields["data_answer"] == "Rome"
    assert (first.fields["data_turns"], first.fields["turns"]) == ("left", "3")
    assert first.fields["weather"].startswith("rain\u2028and")
    assert "cost_usd" not in first.fields


def test_the_summary_is_what_the_ruler_says(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    work(photos, run, Options(limits={"photos": 30}, at_once=1))
    data = data_of(photos)
    with RunFolder.read(run) as folder:
        found = summary(folder, data)
    scored = score_file(run / "results.jsonl", parser="lenient", distance="great-circle")
    assert (found.photos, found.answered, found.failed, found.missing) == (40, 30, 0, 10)
    assert (found.tries, found.spent.usage.output_tokens) == (30, 600)
    told = json.loads((run / "summary.json").read_text())
    assert told["accuracy"]["percent_within_km"]["25"] == pytest.approx(100 * (scored.distance_km <= 25).sum() / 30)
    assert told["spent"]["cost_usd"] == pytest.approx(0.3)
    assert (told["photos"], told["why"]) == (40, "photos")


def test_results_of_a_run_without_an_answer_are_empty_files(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    ending = work(photos, run, Options(limits={"photos": 0}))
    assert (ending.why, ending.progress.missing) == ("photos", 40)
    assert (run / "results.jsonl").read_bytes() == (run / "errors.jsonl").read_bytes() == b""
    told = json.loads((run / "summary.json").read_text())
    assert told["accuracy"]["median_km"] is None
