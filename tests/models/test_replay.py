"""A recording is played as it was, and says so when it ends."""

import asyncio

import pytest

from geosleuth.models import Conversation, Message, Prompt, Step, Usage
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.photo import View
from geosleuth.support.errors import ServiceFault
from geosleuth.tools import ToolCall
from virtual_time import run_virtually

CALL = ToolCall("call-1", "search_web", {"query": "x"})
STEPS = (Step("one", calls=(CALL,), usage=Usage(seconds=0.2)), Step("two"))


def no_picture(handle: str) -> View:
    raise AssertionError(f"a replay looked at {handle}")


def shown(*messages: Message) -> Conversation:
    return Conversation("", (Prompt("Where?", ("image-1",)), *messages), (), no_picture)


def test_steps_come_in_order_and_then_the_end_is_said() -> None:
    policy = ReplayPolicy(STEPS)
    assert asyncio.run(policy.step(shown())) is STEPS[0]
    assert policy.remaining == 1
    assert asyncio.run(policy.step(shown())) is STEPS[1]
    with pytest.raises(ServiceFault, match="replay: the recording ends after 2 steps") as caught:
        asyncio.run(policy.step(shown()))
    assert not caught.value.retryable
    assert policy.hosts == frozenset()


def test_latency_is_that_of_the_recording_only_where_asked() -> None:
    async def took(policy: ReplayPolicy) -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await policy.step(shown())
        return loop.time() - began

    assert run_virtually(took(ReplayPolicy(STEPS))) == 0
    assert run_virtually(took(ReplayPolicy(STEPS, latency="recorded"))) >= 0.2


def test_a_checked_replay_notices_another_run() -> None:
    policy = ReplayPolicy(STEPS, check=True)
    asyncio.run(policy.step(shown()))
    assert asyncio.run(policy.step(shown(STEPS[0]))) is STEPS[1]
    strayed = ReplayPolicy(STEPS, check=True)
    asyncio.run(strayed.step(shown()))
    with pytest.raises(ServiceFault, match="other calls"):
        asyncio.run(strayed.step(shown(Step(calls=(ToolCall("call-1", "search_web", {"query": "y"}),)))))
