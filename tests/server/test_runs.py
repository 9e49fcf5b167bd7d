"""Runs at a service: what readers are told, cancelling, going on with a person's words, and what is kept from whom."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path

import pytest

from geosleuth.server import CaseService, Feedback, NeedsConsent, NotThere, RunRequest, StreamEvent
from geosleuth.support.errors import BadInput
from locating import FINAL
from openai_server import openai_server
from services import all_told, case_with_photo, ended, everything_in, open_service, pieces, recording
from signs import sign_photo

KEY = "a-very-secret-key-0123456789"
BUSY_S = 30.0
"""Far more than the second that is promised, far less than a run that nobody calls off: machines are busy."""

pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.mark.slow
def test_a_reader_comes_back_and_misses_nothing(tmp_path: Path) -> None:
    model = recording(tmp_path, looks=6)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        runs = [await service.start(case_id, RunRequest(model=model)) for _ in range(3)]

        async def in_parts(run_id: str) -> list[StreamEvent]:
            """Reads three things at a time, and asks again from there."""
            got: list[StreamEvent] = []
            while True:
                reader = service.watch(run_id, after=got[-1].id if got else -1)
                before = len(got)
                async for told in reader:
                    got.append(told)
                    if len(got) == before + 3:
                        break
                if len(got) < before + 3:
                    return got

        whole, parts, late = (
            [asyncio.create_task(all_told(service, run.id)) for run in runs],
            [asyncio.create_task(in_parts(run.id)) for run in runs],
            [asyncio.create_task(all_told(service, run.id, after=4)) for run in runs],
        )
        for one, other, rest in zip(whole, parts, late, strict=True):
            told = await one
            assert [item.id for item in told] == list(range(len(told)))
            assert await other == told
            assert await rest == told[5:]
        again = await all_told(service, runs[0].id)
        assert again == await whole[0]
        assert await all_told(service, runs[0].id, after=again[-1].id) == []
        with pytest.raises(NotThere):
            await all_told(service, "0" * 16)

    open_service(tmp_path / "service", work)


@pytest.mark.slow
def test_a_slow_reader_holds_up_nobody_and_misses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.server.jobs.MAX_RECENT_EVENTS", 4)
    model = recording(tmp_path, looks=8)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        run = await service.start(case_id, RunRequest(model=model))
        slow = service.watch(run.id)
        first = await anext(aiter(slow))
        told = await all_told(service, run.id)
        assert (await service.run(run.id)).state == "done"
        assert [first, *[one async for one in slow]] == told

    open_service(tmp_path / "service", work)


def test_a_run_is_called_off_within_a_second_whatever_it_does(tmp_path: Path) -> None:
    model = recording(tmp_path, looks=150)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        stuck, waiting = [await service.start(case_id, RunRequest(model=model)) for _ in range(2)]
        await first_of(service, stuck.id, "said")
        # A process that does not even hear: nothing but its end helps.
        (pid,) = service._jobs.pids
        os.kill(pid, signal.SIGSTOP)
        assert (await service.run(waiting.id)).position == 1
        before = time.monotonic()
        assert (await service.cancel(waiting.id)).state == "cancelled"
        row = await service.cancel(stuck.id)
        assert time.monotonic() - before < BUSY_S
        assert row.state == "cancelled"
        assert (await all_told(service, stuck.id))[-1].data == {"state": "cancelled"}
        with pytest.raises(ProcessLookupError):
            await _gone(pid)
        # What it had done is there, and the service works on.
        result = await service.view(stuck.id)
        assert result["ended"] is None
        again = await service.continue_run(stuck.id, Feedback())
        assert (await ended(service, again.id)).state == "done"
        assert (await service.cancel(again.id)).state == "done"

    open_service(tmp_path / "service", work)


@pytest.mark.slow
def test_a_run_that_can_hear_closes_its_trajectory_when_called_off(tmp_path: Path) -> None:
    model = recording(tmp_path, looks=150)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        # Of three, since one that hears too late, on a busy machine, is killed.
        for _ in range(3):
            run = await service.start(case_id, RunRequest(model=model))
            await first_of(service, run.id, "said")
            before = time.monotonic()
            assert (await service.cancel(run.id)).state == "cancelled"
            took_s = time.monotonic() - before
            closed = (await service.view(run.id))["ended"]
            if closed is not None and took_s < BUSY_S:
                break
        assert took_s < BUSY_S
        assert closed["reason"] == "cancelled"

    open_service(tmp_path / "service", work)


@pytest.mark.slow
def test_a_run_is_called_off_while_its_keys_are_fetched(tmp_path: Path) -> None:
    slow = False

    def keys() -> dict[str, str]:
        if slow:
            time.sleep(1.0)
        return {}

    async def work() -> None:
        nonlocal slow
        async with await CaseService.open(tmp_path / "service", keys=keys) as service:
            case_id = await case_with_photo(service)
            model = recording(tmp_path, 60)
            other = await service.start(case_id, RunRequest(model=model))
            run = await service.start(case_id, RunRequest(model=model))
            slow = True
            await service.cancel(other.id)
            async for told in service.watch(run.id):
                if told.data.get("state") == "running":
                    break
            assert (await service.cancel(run.id)).state == "cancelled"
            assert not [one for one in await all_told(service, run.id) if one.kind != "state"]

    asyncio.run(work())


async def first_of(service: CaseService, run_id: str, kind: str) -> None:
    async for told in service.watch(run_id):
        if told.kind == kind:
            return


async def _gone(pid: int) -> None:
    """Raises ProcessLookupError once there is no such process."""
    for _ in range(50):
        os.kill(pid, 0)
        await asyncio.sleep(0.05)


@pytest.mark.slow
def test_a_person_rejects_what_is_wrong_and_the_run_goes_on(tmp_path: Path) -> None:
    sign = sign_photo(tmp_path / "sign.jpg", "Kööpenhaminan leipomo", "Helsinki", "+358 9 612 3456").read_bytes()

    async def work(service: CaseService) -> None:
        case = await service.new_case()
        await service.add_photo(case.id, "sign.jpg", pieces(sign))
        first = await service.start(case.id, RunRequest())
        assert (await ended(service, first.id)).answer is not None
        before = await service.view(first.id)
        assert before["answer"]["address"]["country"] == "Finland"
        assert await service.cases(query="helsinki")
        clue = next(one for one in before["clues"] if one["seen"] == "Helsinki")
        helsinki = next(one for one in before["answer"]["candidates"] if "Helsinki" in one["name"])
        with pytest.raises(BadInput, match="no clue"):
            await service.continue_run(first.id, Feedback(reject_clues=("clue-none",)))
        second = await service.continue_run(
            first.id, Feedback(reject_clues=(clue["id"],), reject_candidates=(helsinki["id"],), hint="by the sea")
        )
        assert (second.parent, second.request.hint) == (first.id, "by the sea")
        told = await all_told(service, second.id)
        assert [one.id for one in told] == list(range(len(told)))
        kinds = [one.kind for one in told]
        assert kinds.count("started") == 1
        (resumed,) = [one for one in told if one.kind == "resumed"]
        assert "by the sea" in resumed.data["words"]
        assert "Helsinki" in resumed.data["words"]
        after = await service.view(second.id)
        assert "Helsinki" not in after["answer"]["place"]
        assert [one["rejected"] for one in after["clues"] if one["id"] == clue["id"]] == [True]
        # The run that it went on from is as it was; the next one knows both rejections.
        assert await service.view(first.id) == before
        compared = await service.compare(first.id, second.id)
        assert clue["id"] in [one["id"] for one in compared["only_left"]]
        drawn = {"type": "Polygon", "coordinates": [[[10, 55], [20, 55], [20, 66], [10, 66], [10, 55]]]}
        third = await service.continue_run(second.id, Feedback(area=drawn))
        assert third.rejected["clues"] == [clue["id"]]
        assert (await ended(service, third.id)).state == "done"
        answer = (await service.view(third.id))["answer"]
        assert "Helsinki" not in answer["place"]
        assert answer["lat"] is None or (55 <= answer["lat"] <= 66 and 10 <= answer["lon"] <= 20)
        await service.delete_run(first.id)
        assert (await service.run(second.id)).parent is None
        assert (await service.view(second.id))["answer"] == after["answer"]

    open_service(tmp_path / "service", work)


def test_a_capped_run_keeps_and_tells_nothing_finer(tmp_path: Path) -> None:
    model = recording(tmp_path)

    async def work(service: CaseService) -> None:
        await service.change_settings(granularity="country")
        case_id = await case_with_photo(service)
        run = await service.start(case_id, RunRequest(model=model, granularity="street"))
        assert run.granularity == "country"
        told = await all_told(service, run.id)
        (answer,) = [one.data for one in told if one.kind == "answer"]
        assert answer["address"] == {"country": "Monaco", "region": None, "precise": None}
        assert [one.kind for one in told][-2:] == ["ended", "state"]
        kept = json.dumps([one.data for one in told]) + json.dumps(
            [await service.view(run.id), await service.result(run.id)]
        )
        files = [(await service.file(run.id, name))[0].decode() for name in ("html", "geojson", "json", "jsonl")]
        for text in (kept, *files):
            assert "Grimaldi" not in text
            assert "43.7354" not in text
        assert (await service.file(run.id, "geojson"))[2] == "photo-1.geojson"
        # A capped finding is a country, so its border decides, and no distance.
        checked = await service.check(run.id, 43.7034, 7.2663)
        assert "it lies in France, and the finding is Monaco" in checked["reason"]
        assert "rounded" in checked["reason"]
        assert "43.70" not in json.dumps(checked)
        # It can be gone on with: from the start, since no words were kept.
        again = await service.continue_run(run.id, Feedback(hint="a hint"))
        assert (await ended(service, again.id)).state == "done"

    open_service(tmp_path / "service", work)
    assert b"Grimaldi" not in everything_in(tmp_path / "service")


@pytest.mark.slow
def test_a_run_that_waited_while_the_cap_was_made_coarser_is_not_begun(tmp_path: Path) -> None:
    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        first = await service.start(case_id, RunRequest(model=recording(tmp_path, 400)))
        await first_of(service, first.id, "said")
        waits = await service.start(case_id, RunRequest(model=recording(tmp_path)))
        await service.change_settings(granularity="country")
        await service.cancel(first.id)
        row = await ended(service, waits.id)
        assert row.state == "failed"
        assert "granularity" in (row.trouble or "")
        assert {one.kind for one in await all_told(service, waits.id)} == {"state"}

    open_service(tmp_path / "service", work)


def test_nothing_is_sent_before_somebody_agrees(tmp_path: Path) -> None:
    async def work() -> None:
        async with await CaseService.open(tmp_path / "service", keys=lambda: {"OPENAI_API_KEY": KEY}) as service:
            case_id = await case_with_photo(service)
            with pytest.raises(BadInput, match="offline"):
                await service.start(case_id, RunRequest(model="openai:gpt-5"))
            await service.change_settings(offline=False)
            with pytest.raises(NeedsConsent) as asked:
                await service.start(case_id, RunRequest(model="openai:gpt-5"))
            assert asked.value.hosts == ("api.openai.com",)
            assert "api.openai.com" in asked.value.words
            with pytest.raises(BadInput, match="within"):
                await service.start(case_id, RunRequest(within="/etc/some.json"))
            with pytest.raises(BadInput, match="no area"):
                await service.start(case_id, RunRequest(within="Nowhereland"))
            assert (await service.case(case_id)).runs == ()

    asyncio.run(work())
    assert KEY.encode() not in everything_in(tmp_path / "service")


@pytest.mark.slow
def test_several_tries_by_a_server_of_ones_own_and_its_key_is_nowhere(tmp_path: Path) -> None:
    async def work(server: str) -> None:
        async with await CaseService.open(tmp_path / "service", keys=lambda: {"GEOSLEUTH_SERVER_KEY": KEY}) as service:
            case_id = await case_with_photo(service)
            await service.change_settings(offline=False, model="server:any", base_url=server)
            run = await service.start(case_id, RunRequest(parallel=2))
            told = await all_told(service, run.id)
            row = await service.run(run.id)
            assert (row.state, row.request.model) == ("done", "server:any")
            assert [one.data["number"] for one in told if one.kind == "member"] == [1, 2, 3]
            result = await service.view(run.id)
            assert [one["answered"] for one in result["team"]["voices"]] == [True, True]
            assert b"Grimaldi" in (await service.file(run.id, "html"))[0]
            # Several minds begin anew; what a person says goes to all of them.
            again = await service.continue_run(run.id, Feedback(hint="look at the kerb"))
            assert (await ended(service, again.id)).state == "done"
            await service.delete_run(run.id)

    with openai_server([FINAL]) as server:
        asyncio.run(work(server))
        sent = [request.body for request in server.requests]
        assert any(b"look at the kerb" in body for body in sent)
        assert all(KEY in request.headers.get("authorization", "") for request in server.requests)
    kept = everything_in(tmp_path / "service")
    assert KEY.encode() not in kept
    assert len(list((tmp_path / "service").rglob("*.jsonl"))) == 3


@pytest.mark.slow
def test_what_a_model_writes_can_be_kept_whatever_it_is(tmp_path: Path) -> None:
    model = recording(tmp_path, explanation="half a pair \ud83d and <script>", radius_km=1e308)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        run = await service.start(case_id, RunRequest(model=model, hint="\ud83d \0 street"))
        assert (await ended(service, run.id)).state == "done"
        text = json.dumps([one.data for one in await all_told(service, run.id)], allow_nan=False)
        assert "<script>" in text

    open_service(tmp_path / "service", work)


def test_the_first_run_says_that_the_atlas_is_being_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path / "empty"))
    model = recording(tmp_path)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        run = await service.start(case_id, RunRequest(model=model))
        async for told in service.watch(run.id):
            if told.data.get("state") == "preparing":
                break
        assert "share" in told.data
        assert (await service.run(run.id)).state == "running"
        before = time.monotonic()
        await service.cancel(run.id)
        assert time.monotonic() - before < BUSY_S

    open_service(tmp_path / "service", work)
