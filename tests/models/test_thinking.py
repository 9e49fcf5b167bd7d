"""Models that think before they speak: their thinking is counted apart, so that reply limits bind what is said."""

import asyncio
from collections.abc import Callable

import pytest

from asked import QUICK
from geosleuth.agent import Budget, Trajectory, run
from geosleuth.agent.setup import AgentSetup
from geosleuth.models import Sampling, Step, Usage, make_policy
from geosleuth.models.protocol import THINKING_TOKENS, thinking_tokens
from geosleuth.tools import ToolCall
from openai_server import Reply, Request, ServerUrl, chat_reply, openai_server
from small_runs import ALL_TOOLS, small_case, small_method

LIMIT = 4096
THOUGHTS = (5000, 1200, 0, 7000, 300)
"""Tokens that it thinks with before it says something, by turn."""


def reasoner(*, counts: bool, tells: bool) -> Callable[[Request], Reply]:
    """A model that thinks before each of four calls and its answer.

    Args:
        counts: its server counts the tokens that it thought with.
        tells: its server shows its thinking.
    """

    def reply(request: Request) -> Reply:
        turn = sum(message["role"] == "assistant" for message in request.json["messages"])
        thought, most = THOUGHTS[turn], request.json["max_tokens"]
        if thought >= most:
            return chat_reply(
                finish="length",
                thinking="a" * 4 * most if tells else None,
                thought=most if counts else None,
                tokens=(900, most),
            )
        said = '{"lat": 43.7, "lon": 7.4}'
        words = {
            "thinking": "a" * 4 * thought if tells and thought else None,
            "thought": thought if counts else None,
            "tokens": (900, thought + 30),
        }
        if turn == len(THOUGHTS) - 1 or request.json.get("tool_choice") == "none":
            return chat_reply(said, **words)  # type: ignore[arg-type]
        return chat_reply("", [("look_up", {"query": f"question {turn}, " + "x" * 80})], **words)  # type: ignore[arg-type]

    return reply


def played(url: ServerUrl, **sampling: int) -> Trajectory:
    """A run as Thinking with Map has it: 4,096 tokens for all replies and what lies between."""
    method = small_method(
        budget=Budget(turns=8, reply_tokens=LIMIT), sampling=Sampling(max_tokens=LIMIT, **sampling), wants_guess=True
    )
    policy = make_policy("server:thinker", base_url=url, settings=QUICK)

    async def go() -> Trajectory:
        try:
            return await run(small_case(), AgentSetup(method=method, policy=policy, toolset=ALL_TOOLS))
        finally:
            await policy.aclose()

    return asyncio.run(go())


@pytest.mark.parametrize(("counts", "tells"), [(True, True), (True, False), (False, True)])
def test_a_model_that_thinks_gets_all_its_calls(*, counts: bool, tells: bool) -> None:
    with openai_server([reasoner(counts=counts, tells=tells)]) as url:
        found = played(url)
    assert found.ended is not None
    assert found.ended.reason == "answered"
    assert [len(step.calls) for step in found.steps] == [1, 1, 1, 1, 0]
    limits = [request.json["max_tokens"] for request in url.requests]
    # The first is cut in its thought, and asked again with room; from then on there is room at once.
    assert len(limits) == len(THOUGHTS) + 1
    assert limits[0] == LIMIT
    assert all(limit <= LIMIT + THINKING_TOKENS for limit in limits)
    assert limits[1] == LIMIT + THINKING_TOKENS
    assert found.steps[0].usage.output_tokens == LIMIT + THOUGHTS[0] + 30, "what was cut is paid for, too"
    assert sorted(limits[1:], reverse=True) == limits[1:], "what is said leaves less for what is still to be said"
    assert limits[-1] > LIMIT + THINKING_TOKENS - 1000


def test_the_room_for_thinking_can_be_set() -> None:
    with openai_server([reasoner(counts=True, tells=False)]) as url:
        found = played(url, thinking_tokens=20_000)
    assert found.ended is not None
    assert found.ended.reason == "answered"
    assert len(url.requests) == len(THOUGHTS)
    assert url.requests[0].json["max_tokens"] == LIMIT + 20_000


def test_a_model_that_does_not_think_has_the_method_s_limit() -> None:
    with openai_server([chat_reply("", [("look_up", {"query": "a"})]), chat_reply('{"lat": 1, "lon": 2}')]) as url:
        found = played(url)
    assert found.answer is not None
    assert found.answer.located
    assert all(request.json["max_tokens"] <= LIMIT for request in url.requests)


def test_a_reply_that_is_cut_while_it_speaks_is_not_asked_for_again() -> None:
    cut = chat_reply("It may be in", finish="length", thinking="Hm.", tokens=(900, LIMIT))
    with openai_server([cut, chat_reply('{"lat": 1, "lon": 2}')]) as url:
        found = played(url)
    assert found.steps[0].text == "It may be in"
    assert found.steps[0].finish == "length"


@pytest.mark.parametrize(
    ("step", "thought"),
    [
        (Step("a" * 30, "b" * 90, usage=Usage(0, 400)), 300),
        (Step("a" * 30, "b" * 90, usage=Usage(0, 400, thinking_tokens=250)), 250),
        (Step("a" * 30, "", usage=Usage(0, 400, thinking_tokens=250)), 250),
        (Step("a" * 30, "b" * 90, usage=Usage(0, 400, thinking_tokens=0)), 300),
        (Step("a" * 30, "b" * 90, usage=Usage(0, 40, thinking_tokens=250)), 0),
        (Step("", "b" * 60, (ToolCall("1", "look", "c" * 56),), Usage(0, 200)), 100),
        (Step("a" * 30, usage=Usage(0, 400)), 0),
        (Step("", "b" * 60, usage=Usage(0, 0)), 0),
    ],
)
def test_thinking_is_counted_by_the_service_or_by_its_share(step: Step, thought: int) -> None:
    assert thinking_tokens(step) == thought
