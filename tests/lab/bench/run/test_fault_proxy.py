"""A run through a server that fails three calls of ten and is down for a while: complete, nothing lost, in bounds."""

import asyncio
from pathlib import Path

import pytest

from fault_proxy import FAULTS, FaultProxy
from geosleuth.lab.bench.run.engine import Ending, LocalWorker, RunRules, run_set
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.models import EndpointSettings
from geosleuth.models.endpoints import HostNews, listening
from openai_server import Reply, Request, failure, openai_server
from served_runs import TURNS, ServedMaking, begin, coloured_set, says

HASTY = EndpointSettings(
    concurrency=12,
    tries=4,
    backoff_s=0.02,
    backoff_max_s=0.1,
    connect_s=2,
    try_s=0.8,
    total_s=25,
    breaker_failures=7,
    breaker_rest_s=0.6,
)
AT_ONCE = 16


def run_through(url: str, folder: Path, photos: int, *, retry: bool = False) -> Ending:
    """One command's work."""

    async def go() -> Ending:
        ready = await ServedMaking(url, HASTY)()
        try:
            with begin(folder, photos) as run:
                return await run_set(
                    coloured_set(photos),
                    run,
                    LocalWorker(ready.attempt, run),
                    at_once=AT_ONCE,
                    rules=RunRules(retry="errors" if retry else None, give_up=photos),
                )
        finally:
            await ready.aclose()

    return asyncio.run(go())


def check_faulty_run(tmp_path: Path, photos: int) -> None:
    with openai_server([says]) as url:
        plain = run_through(url, tmp_path / "plain", photos)
    assert (plain.why, plain.progress.answered) == ("done", photos)

    news: list[HostNews] = []
    unlucky: set[bytes] = set()

    def says_but_not_to_one(request: Request) -> Reply:
        """The photo of the first request gets no answer until it is tried again on its own."""
        unlucky.update(request.images[:1] if proxy.asked == 1 else ())
        return failure(500, "not this one") if request.images[0] in unlucky else says(request)

    proxy = FaultProxy(says_but_not_to_one, seed=11, outage_at=photos, outage_s=2.0)
    with openai_server([proxy]) as url, listening(news.append):
        ending = run_through(url, tmp_path / "faulty", photos)
        assert ending.why == "done"
        assert ending.progress.missing == 0
        assert ending.progress.answered + ending.progress.failed == photos
        # Every kind of trouble came, and enough of it.
        assert all(proxy.faults[kind] > 0 for kind in FAULTS)
        assert proxy.faults["outage"] > 0
        drawn = sum(proxy.faults[kind] for kind in FAULTS)
        assert 0.2 < drawn / (drawn + proxy.answered) < 0.4
        # Nobody is asked more often than the settings allow.
        assert photos * TURNS < proxy.asked <= photos * TURNS * HASTY.tries
        # The host was given a rest during the outage and was back after it; requests waited.
        states = [one.state for one in news]
        assert states[0] == "resting"
        assert states[-1] == "back"
        assert 1 <= ending.progress.failed <= photos // 4

        unlucky = {b"nobody"}
        rounds = 0
        while ending.progress.failed and rounds < 5:
            answered = ending.progress.answered
            ending = run_through(url, tmp_path / "faulty", photos, retry=True)
            assert ending.progress.answered >= answered
            rounds += 1
    assert (ending.progress.answered, ending.progress.failed) == (photos, 0)
    faulty = tmp_path / "faulty"
    assert (faulty / "results.jsonl").read_bytes() == (tmp_path / "plain" / "results.jsonl").read_bytes()
    assert (faulty / "errors.jsonl").read_bytes() == b""
    with RunFolder.read(faulty) as run:
        tries = list(run.tries())
    assert len({one.id for one in tries if one.outcome == "answered"}) == photos
    assert len(tries) == photos + sum(one.outcome == "failed" for one in tries), "an answered photo is not tried again"
    assert all(run.trajectory(one.image, one.number).is_file() for one in tries), "every try is kept"


@pytest.mark.slow
def test_a_run_completes_though_three_calls_of_ten_fail(tmp_path: Path) -> None:
    check_faulty_run(tmp_path, 60)
