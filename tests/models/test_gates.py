"""The gate before a model's server: slots, a host that keeps failing and gets a rest, and one that goes ahead."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from asked import QUICK, album_of, conversation_about, step_of
from geosleuth.models import EndpointSettings, Policy, make_policy
from geosleuth.models.endpoints import AskPermit, Gate, GateSettings, HostGate, HostNews, listening, set_gate_factory
from geosleuth.photo import Album
from geosleuth.support.errors import ServiceFault
from openai_server import Reply, Request, ServerUrl, chat_reply, failure, openai_server

RESTING = replace(QUICK, concurrency=8, tries=6, breaker_failures=5, breaker_rest_s=0.5, total_s=20.0)


@pytest.fixture
def album(tmp_path: Path) -> Album:
    return album_of(tmp_path)


class Outage:
    """A host that answers, but not within the outage; it notes when it was asked during it."""

    def __init__(self, *, healthy: int, lasts_s: float, how: Reply | None = None) -> None:
        self.at: list[float] = []
        self._healthy, self._lasts_s, self._how = healthy, lasts_s, how or failure(500)
        self._began: float | None = None

    def __call__(self, _: Request) -> Reply:
        if self._healthy > 0:
            self._healthy -= 1
            return chat_reply("Paris")
        self._began = self._began or time.monotonic()
        if time.monotonic() - self._began > self._lasts_s:
            return chat_reply("Rome")
        self.at.append(time.monotonic())
        return self._how


async def ask_after_one(
    url: ServerUrl, album: Album, settings: EndpointSettings, many: int
) -> list[str | ServiceFault]:
    """One request that is answered, then many at once."""
    policy = make_policy("server:any", base_url=url, settings=settings)

    async def ask() -> str | ServiceFault:
        try:
            return (await policy.step(conversation_about(album))).text
        except ServiceFault as fault:
            return fault

    try:
        assert await ask() == "Paris"
        return await asyncio.gather(*(ask() for _ in range(many)))
    finally:
        await policy.aclose()


def test_a_host_that_keeps_failing_rests_and_requests_wait_instead_of_failing(album: Album) -> None:
    outage, news, heard_at = Outage(healthy=1, lasts_s=1.8), list[HostNews](), list[float]()

    def listen(one: HostNews) -> None:
        news.append(one)
        heard_at.append(time.monotonic())

    with openai_server([outage]) as url, listening(listen):
        texts = asyncio.run(ask_after_one(url, album, RESTING, 12))
    assert texts == ["Rome"] * 12
    assert [one.state for one in news] == ["resting"] * (len(news) - 1) + ["back"]
    assert news[0] == HostNews(url.root.removeprefix("http://"), "resting", 0.5)
    # Those under way when the first rest begins still arrive; then one at a time asks, and no sooner than agreed.
    probes = [at for at in outage.at if at > heard_at[0] + 0.3]
    assert len(probes) == len(news) - 2 >= 2
    assert all(probe - begun > 0.45 for begun, probe in zip(heard_at, probes, strict=False))


def test_a_rest_that_is_longer_than_one_may_wait_is_told(album: Album) -> None:
    settings = replace(RESTING, breaker_rest_s=60.0, total_s=3.0)
    with openai_server([Outage(healthy=1, lasts_s=99)]) as url:
        started = time.monotonic()
        faults = asyncio.run(ask_after_one(url, album, settings, 10))
    assert time.monotonic() - started < 30
    assert all(isinstance(one, ServiceFault) and one.retryable for one in faults)
    assert sum("left alone for 60 s" in str(one) for one in faults) == 10
    assert len(url.requests) <= 14, "without a rest these would be 61"


def test_nobody_waits_for_a_host_that_never_answered(album: Album) -> None:
    settings, news = replace(RESTING, breaker_failures=1, breaker_rest_s=60.0), list[HostNews]()
    with (
        openai_server([failure(500)]) as url,
        listening(news.append),
        pytest.raises(ServiceFault, match="tried 6 times"),
    ):
        step_of(make_policy("server:any", base_url=url, settings=settings), conversation_about(album))
    assert news == []


@pytest.mark.parametrize("refusal", [failure(400), failure(429, retry_after="1"), chat_reply("")])
def test_a_host_that_answers_does_not_rest(album: Album, refusal: Reply) -> None:
    """A refusal, the wish to be left alone for a moment, and saying nothing are answers, if no good ones."""
    settings, news = replace(RESTING, tries=2, breaker_failures=1, breaker_rest_s=60.0), list[HostNews]()
    with openai_server([Outage(healthy=1, lasts_s=99, how=refusal)]) as url, listening(news.append):
        faults = asyncio.run(ask_after_one(url, album, settings, 3))
    assert all(isinstance(one, ServiceFault) and "left alone" not in str(one) for one in faults)
    assert news == []


def in_a_loop(work: Callable[[HostGate], "asyncio.Future[None] | object"], settings: GateSettings) -> None:
    async def go() -> None:
        done = work(HostGate("host.example", settings))
        if asyncio.iscoroutine(done):
            await done

    asyncio.run(go())


def test_a_probe_that_is_called_off_leaves_the_way_to_the_next() -> None:
    async def go(gate: HostGate) -> None:
        gate.leave(await gate.enter(1), "answered")
        gate.leave(await gate.enter(1), "failed")
        probe = await gate.enter(1)
        assert probe.rested_s >= 0.1
        waiting = asyncio.create_task(gate.enter(5))
        await asyncio.sleep(0.05)
        assert not waiting.done(), "one goes ahead"
        gate.leave(probe, "nothing")
        gate.leave(await waiting, "answered")
        assert (await gate.enter(1)).rested_s < 0.05

    in_a_loop(go, GateSettings(concurrency=3, failures=1, rest_s=0.1))


def test_a_late_failure_does_not_count_twice() -> None:
    async def go(gate: HostGate) -> None:
        gate.leave(await gate.enter(1), "answered")
        late, first = await gate.enter(1), await gate.enter(1)
        gate.leave(first, "failed")
        probe = await gate.enter(1)
        gate.leave(late, "failed")
        waiting = asyncio.create_task(gate.enter(5))
        await asyncio.sleep(0.15)
        assert not waiting.done(), "the probe is still under way"
        gate.leave(probe, "answered")
        gate.leave(await waiting, "answered")

    in_a_loop(go, GateSettings(concurrency=3, failures=1, rest_s=0.1))


def test_who_is_called_off_while_waiting_takes_no_slot_away() -> None:
    async def go(gate: HostGate) -> None:
        held = await gate.enter(1)
        waiting = asyncio.create_task(gate.enter(1))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        gate.leave(held, "nothing", rest_s=5)
        with pytest.raises(ServiceFault, match="asks to be left alone for 5 s more"):
            await gate.enter(1)
        waiting = asyncio.create_task(gate.enter(9))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        with pytest.raises(ServiceFault):
            await asyncio.wait_for(gate.enter(1), 1)

    in_a_loop(go, GateSettings(concurrency=1, failures=1, rest_s=0.1))


def test_gates_can_be_held_elsewhere(album: Album) -> None:
    passed: list[str] = []

    class Elsewhere:
        async def enter(self, within_s: float) -> AskPermit:
            passed.append(f"enter {within_s:g}")
            return AskPermit(7, 0.25)

        def leave(self, entry: AskPermit, came: str, rest_s: float = 0.0) -> None:
            passed.append(f"leave {entry.number} {came} {rest_s:g}")

    def maker(host: str, settings: GateSettings) -> Gate:
        passed.append(f"{host} {settings.concurrency}")
        return Elsewhere()

    def ask(policy: Policy) -> float:
        return step_of(policy, conversation_about(album)).usage.seconds

    set_gate_factory(maker)
    try:
        with openai_server([failure(500), chat_reply("Paris")]) as url:
            seconds = ask(make_policy("server:any", base_url=url, settings=QUICK))
    finally:
        set_gate_factory(HostGate)
    assert passed[:3] == [f"{url.root.removeprefix('http://')} 4", "enter 5", "leave 7 failed 0"]
    assert passed[4] == "leave 7 answered 0"
    assert seconds >= 0.5, "waiting for the host counts"
