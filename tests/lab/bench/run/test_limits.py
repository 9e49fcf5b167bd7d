"""Limits of a whole run: when one more photo fits, and a stop that says what is missing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bench_child import Options, make_photos, replayed, work
from geosleuth.agent import Spent
from geosleuth.lab.bench.run import Attempted, Job, RunFolder, RunLimits
from geosleuth.lab.bench.run.engine import SoFar, in_the_way
from geosleuth.models import Usage


def so_far(**changes: Any) -> SoFar:
    plain: dict[str, Any] = {
        "spent": Spent(seconds=20.0, usage=Usage(900, 100, 0, 1.0)),
        "tries": 10,
        "under_way": 0,
        "seconds": 20.0,
        "finished": 10,
        "first_tries_under_way": 0,
    }
    return SoFar(**(plain | changes))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("made") / "photos", 30)


@pytest.mark.parametrize(
    ("limits", "where", "expected"),
    [
        ({}, {"under_way": 10_000}, None),
        ({"tokens": 1100}, {}, None),
        ({"tokens": 1099}, {}, "tokens"),
        ({"tokens": 1200}, {"under_way": 1}, None),
        ({"tokens": 1200}, {"under_way": 2}, "tokens"),
        ({"tokens": 1000}, {}, "tokens"),
        ({"usd": 1.2}, {"under_way": 1}, None),
        ({"usd": 1.2}, {"under_way": 2}, "usd"),
        ({"usd": 9.0}, {"spent": Spent(usage=Usage(1, 1, 0, None))}, "usd"),
        ({"seconds": 22.0}, {}, None),
        ({"seconds": 21.9}, {}, "seconds"),
        ({"photos": 11}, {}, None),
        ({"photos": 11}, {"first_tries_under_way": 1}, "photos"),
        # Nothing is known of what a photo uses: the first goes alone, unless its own budget says something.
        ({"tokens": 1000}, {"spent": Spent(), "tries": 0}, None),
        ({"tokens": 1000}, {"spent": Spent(), "tries": 0, "under_way": 1}, "tokens"),
        ({"tokens": 1000, "tokens_per_photo": 400}, {"spent": Spent(), "tries": 0, "under_way": 1}, None),
        ({"tokens": 1000, "tokens_per_photo": 400}, {"spent": Spent(), "tries": 0, "under_way": 2}, "tokens"),
        ({"usd": 1.0, "usd_per_photo": 0.6}, {"spent": Spent(), "tries": 0, "under_way": 1}, "usd"),
    ],
)
def test_whether_one_more_photo_fits(limits: dict[str, Any], where: dict[str, Any], expected: str | None) -> None:
    assert in_the_way(RunLimits(**limits), so_far(**where)) == expected


@pytest.mark.parametrize(
    ("limits", "done", "why", "words"),
    [
        ({"tokens": 1200}, 10, "tokens", "limit of 1,200 tokens (1,200 used); 20 photos are missing"),
        ({"usd": 0.105}, 10, "usd", "limit of 0.105 USD (0.1000 used); 20 photos are missing"),
        ({"photos": 7}, 7, "photos", "limit of 7 photos; 23 photos are missing"),
    ],
)
def test_a_run_stops_cleanly_at_its_limit_and_goes_on_when_it_is_raised(
    tmp_path: Path, photos: Path, limits: dict[str, Any], done: int, why: str, words: str
) -> None:
    run = tmp_path / "run"
    for _ in range(2):
        ending = work(photos, run, Options(at_once=4, limits=limits))
        assert ending.why == why
        assert words in ending.words
        assert "raise the limit to go on" in ending.words
        assert (ending.progress.done, ending.progress.missing) == (done, 30 - done)
        summary = json.loads((run / "summary.json").read_text())
        assert (summary["answered"], summary["missing"], summary["why"]) == (done, 30 - done, why)
        assert summary["words"] == ending.words
        assert (run / "results.jsonl").read_bytes().count(b"\n") == done
    ending = work(photos, run, Options(at_once=4))
    assert (ending.why, ending.progress.missing) == ("done", 0)
    assert ending.words == "all 30 photos are done"
    with RunFolder.read(run) as folder:
        assert folder.index.tries == 30


def test_a_run_out_of_time_stops_and_counts_earlier_time(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    options = Options(at_once=1, limits={"seconds": 0.15})

    async def slow(job: Job, keep_in: Path) -> Attempted:
        await asyncio.sleep(0.05)
        return await replayed(job, keep_in)

    first = work(photos, run, options, attempt=slow)
    assert first.why == "seconds"
    assert 0 < first.progress.done < 30
    assert "limit of 0.15 seconds; " in first.words
    second = work(photos, run, options, attempt=slow)
    assert second.why == "seconds"
    # A command that finds the time used up does nothing; what is left of it may do for one photo more.
    assert second.progress.done <= first.progress.done + 1


def test_money_can_t_be_kept_where_the_price_is_not_known(tmp_path: Path, photos: Path) -> None:
    async def unpriced(job: Job, keep_in: Path) -> Attempted:
        done = await replayed(job, keep_in)
        spent = Spent(1, usage=Usage(100, 20, 0, None))
        return Attempted(done.outcome, done.answer, done.by, done.reason, spent)

    ending = work(photos, tmp_path / "run", Options(limits={"usd": 5.0}), attempt=unpriced)
    assert (ending.why, ending.progress.done, ending.progress.usd) == ("usd", 1, None)
    assert "the price of this model is unknown" in ending.words
