"""The loop: turns, budgets, answers, endings."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from geosleuth.agent import (
    Answered,
    Budget,
    Ended,
    Event,
    Prompted,
    Said,
    Started,
    ToolObserved,
    Trajectory,
    run,
    stream,
)
from geosleuth.agent.setup import AgentSetup
from geosleuth.geo import LatLon
from geosleuth.models import Conversation, Observed, Prompt, Step, Usage
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.tools import Case, Output, Toolset, tool
from run_parts import parted
from scripted import Line, ScriptedPolicy, answers, call, calls, says
from small_runs import ALL_TOOLS, small_case, small_method


def go(script: list[Line], *, toolset: Toolset = ALL_TOOLS, **options: Any) -> tuple[Trajectory, ScriptedPolicy]:
    policy = ScriptedPolicy(script, then=options.pop("then", None), seconds=options.pop("step_seconds", 0.0))
    method = options.pop("method", small_method())
    own, rest = parted(options)
    setup = AgentSetup(method=method, policy=policy, toolset=toolset, **own)
    found = asyncio.run(run(small_case(), setup, **rest))
    return found, policy


def kinds(trajectory: Trajectory) -> list[str]:
    return [type(event.body).__name__ for event in trajectory.events]


def failures(trajectory: Trajectory) -> list[str | None]:
    return [observation.failure for observation in trajectory.observations]


def test_a_run_looks_calls_and_answers() -> None:
    found, policy = go(
        [
            calls(call("image_zoom_in_tool", bbox_2d=[0, 0, 100, 80]), thinking="A sign."),
            calls(call("look_up", query="Rue Grimaldi")),
            answers(43.7384, 7.4246, city="Monaco", probability=0.8),
        ],
        hint="by the sea",
        area="Europe",
    )
    assert kinds(found) == [
        "Started", "Prompted", "Said", "ToolObserved", "Said", "ToolObserved", "Said", "Answered", "Ended",
    ]  # fmt: skip
    assert found.answer is not None
    assert found.answer.point == LatLon(43.7384, 7.4246)
    assert found.answered == Answered(found.answer, "policy")
    assert found.ended is not None
    assert found.ended.reason == "answered"
    assert (found.spent.turns, found.spent.calls, found.spent.failed_calls) == (3, 2, 0)
    assert (found.spent.usage.input_tokens, found.spent.usage.output_tokens) == (300, 60)
    assert found.task.hint == "by the sea"
    assert found.task.area == "Europe"
    assert [image.handle for image in found.images] == ["image-1", "image-2"]
    assert found.images[1].box_in_original == (0, 0, 100, 80)
    last = policy.seen[-1]
    assert last.messages[0] == Prompt("Where is this? by the sea", ("image-1",))
    assert isinstance(last.messages[2], Observed)
    assert last.picture("image-2").size == found.images[1].size
    assert [event.index for event in found.events] == list(range(len(found.events)))


def test_a_method_without_tools_answers_in_one_turn() -> None:
    found, policy = go(
        [says("Country: Laos\nRegion: Luang Prabang")], toolset=Toolset([]), method=small_method(budget=Budget(turns=1))
    )
    assert found.ended is not None
    assert found.ended.reason == "answered"
    assert found.answer is not None
    assert found.answer.address.country.conclusion == "Laos"
    assert not any(isinstance(event.body, Prompted) and event.body.by == "loop" for event in found.events)
    assert not policy.seen[0].may_call


def test_independent_calls_of_a_step_run_at_once() -> None:
    all_here = asyncio.Barrier(5)

    @tool("meet")
    async def meet(case: Case, number: int) -> Output:  # noqa: ARG001
        """Wait for the others.

        Args:
            number: whose turn it is.
        """
        await all_here.wait()
        return Output(f"Number {number}.")

    steps: list[Line] = [calls(*(call("meet", number=number) for number in range(5))), answers(1, 2)]
    found, _ = go(steps, toolset=Toolset([meet]))
    assert [one.text for one in found.observations] == [f"Number {number}." for number in range(5)]


def test_before_the_last_turn_the_policy_is_told_to_answer() -> None:
    found, policy = go([calls(call("look_up", query="a")), answers(1, 2)], budget=Budget(turns=2))
    assert [conversation.may_call for conversation in policy.seen] == [True, False]
    last = policy.seen[1].messages[-1]
    assert isinstance(last, Prompt)
    assert "Answer now" in last.text
    assert policy.seen[1].tools
    assert found.ended is not None
    assert found.ended.reason == "answered"


def test_calls_beyond_the_budget_are_told_so_and_never_run() -> None:
    found, policy = go(
        [calls(call("look_up", query="a"), call("look_up", query="b"), call("look_up", query="c")), answers(1, 2)],
        budget=Budget(turns=6, calls=2),
    )
    assert failures(found) == [None, None, "over_budget"]
    assert (found.spent.calls, found.spent.failed_calls, found.spent.withheld_calls) == (2, 0, 1)
    assert [conversation.may_call for conversation in policy.seen] == [True, False]


def test_a_policy_that_goes_on_calling_when_calls_are_spent_is_ended() -> None:
    script: list[Line] = [calls(call("look_up", query=str(number))) for number in range(9)]
    found, _ = go(script, budget=Budget(turns=20, calls=1))
    assert found.ended is not None
    assert found.ended.reason == "calls"
    assert found.spent.calls == 1
    assert found.spent.turns == 4


def test_words_beside_calls_are_no_answer_until_calls_are_over() -> None:
    both = replace(answers(10, 20), calls=(call("look_up", query="x"),))
    found, _ = go([both, answers(30, 40)])
    assert found.answer is not None
    assert found.answer.point == LatLon(30, 40)
    late, _ = go([both], budget=Budget(turns=1))
    assert late.answer is not None
    assert late.answer.point == LatLon(10, 20)
    assert failures(late) == ["over_budget"]


def test_a_reply_that_is_no_answer_is_reminded_twice() -> None:
    found, _ = go([says("A lovely street."), says("Hm."), answers(1, 2)])
    prompts = [event.body.prompt.text for event in found.events if isinstance(event.body, Prompted)][1:]
    assert prompts == ["That was no answer."] * 2
    assert found.spent.turns == 3
    stuck, _ = go([], then=says("A lovely street."))
    assert stuck.ended is not None
    assert stuck.ended.reason == "stuck"
    assert stuck.spent.turns == 3
    assert stuck.answered is not None
    assert stuck.answered.by == "nobody"


def test_tokens_end_a_run() -> None:
    step = calls(call("look_up", query="a"), usage=Usage(400, 100))
    other = calls(call("look_up", query="b"), usage=Usage(600, 100))
    found, policy = go([step, other, says("?")], budget=Budget(turns=9, tokens=1000))
    assert found.ended is not None
    assert found.ended.reason == "tokens"
    assert [one.may_call for one in policy.seen] == [True, False]
    told, policy = go([step, other, answers(1, 2)], budget=Budget(turns=9, tokens=2000))
    assert [one.may_call for one in policy.seen] == [True, True, False]
    assert told.ended is not None
    assert told.ended.reason == "answered"


def test_money_ends_a_run_and_so_does_an_unknown_price() -> None:
    step = calls(call("look_up", query="a"), usage=Usage(1, 1, cost_usd=0.6))
    found, _ = go([step, replace(step, calls=(call("look_up", query="b"),))], budget=Budget(turns=9, usd=1.0))
    assert found.ended is not None
    assert found.ended.reason == "money"
    unknown, _ = go([calls(call("look_up", query="a"), usage=Usage(1, 1, cost_usd=None))], budget=Budget(usd=1.0))
    assert unknown.ended is not None
    assert unknown.ended.reason == "money"
    assert "price" in (unknown.ended.trouble or "")
    assert unknown.spent.usage.cost_usd is None


@pytest.mark.parametrize("where", ["policy", "tool"])
def test_the_deadline_cuts_off_what_is_under_way(where: str) -> None:
    began = time.perf_counter()
    if where == "policy":
        found, _ = go([answers(1, 2)], step_seconds=30, budget=Budget(seconds=0.2))
    else:
        found, _ = go([calls(call("wait", seconds=30), call("look_up", query="a"))], budget=Budget(seconds=0.2))
    assert time.perf_counter() - began < 20
    assert found.ended is not None
    assert found.ended.reason == "seconds"
    assert failures(found) == ([] if where == "policy" else ["timeout", None])


def test_slow_turns_lead_to_an_answer_before_the_deadline() -> None:
    slow = Usage(1, 1, seconds=4.0)
    found, policy = go(
        [calls(call("look_up", query="a"), usage=slow), answers(1, 2, usage=slow)], budget=Budget(turns=9, seconds=10)
    )
    assert [one.may_call for one in policy.seen] == [True, False]
    assert found.ended is not None
    assert found.ended.reason == "answered"


def test_a_failing_model_ends_the_run_with_what_is_known() -> None:
    noted = calls(call("note_hypothesis", place="Monaco", confidence=0.6, lat=43.73, lon=7.42, radius_km=3))
    found, _ = go([noted, ServiceFault("api.example", "is overloaded")])
    assert found.ended is not None
    assert (found.ended.reason, found.ended.trouble) == ("service", "api.example: is overloaded")
    assert found.answered is not None
    assert found.answered.by == "pool"
    assert found.answered.answer.point == LatLon(43.73, 7.42)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [(BadInput("the key is wrong"), "the key is wrong"), (KeyError("sk-secret"), "a bug: KeyError")],
)
def test_what_breaks_is_raised_and_the_trajectory_is_closed(error: Exception, trouble: str) -> None:
    events: list[Event] = []
    with pytest.raises(type(error)):
        go([error], sinks=[events.append])
    assert isinstance(events[-1].body, Ended)
    assert (events[-1].body.reason, events[-1].body.trouble) == ("error", trouble)
    assert isinstance(events[-2].body, Answered)


def test_a_bug_in_a_tool_closes_the_calls_that_were_under_way() -> None:
    events: list[Event] = []
    with pytest.raises(KeyError):
        go([calls(call("fail", how="bug"), call("look_up", query="a"))], sinks=[events.append])
    assert sum(isinstance(event.body, ToolObserved) for event in events) == 2
    assert "secret" not in str(events)


def test_a_run_that_is_called_off_closes_its_trajectory() -> None:
    events: list[Event] = []

    async def cancelled() -> None:
        policy = ScriptedPolicy([calls(call("wait", seconds=30))])
        task = asyncio.create_task(
            run(
                small_case(), AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS), sinks=[events.append]
            )
        )
        await asyncio.sleep(0.1)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert isinstance(events[-1].body, Ended)
    assert events[-1].body.reason == "cancelled"
    assert [e.body.observation.failure for e in events if isinstance(e.body, ToolObserved)] == ["timeout"]


def test_force_answer_takes_the_pools_best_even_when_weak() -> None:
    weak = calls(
        call("note_hypothesis", place="Kansas", confidence=0.05, lat=38.5, lon=-98.0),
        call("note_hypothesis", place="somewhere flat", confidence=0.07),
    )
    plain, _ = go([weak], then=says("I do not know."))
    assert plain.answered is not None
    assert plain.answered.by == "nobody"
    assert plain.answered.answer.point is None
    assert [one.name for one in plain.answered.answer.candidates] == ["somewhere flat", "Kansas"]
    forced, policy = go([weak], then=says("I do not know."), force_answer=True)
    assert forced.answered is not None
    assert forced.answered.by == "pool"
    assert forced.answered.answer.point == LatLon(38.5, -98.0)
    assert forced.answered.answer.probability == 0.05
    asked = policy.seen[-1].messages[-1]
    assert isinstance(asked, Prompt)
    assert "best guess" in asked.text
    empty, _ = go([], then=says("I do not know."), force_answer=True)
    assert empty.answered is not None
    assert (empty.answered.by, empty.answered.answer.point) == ("nobody", None)


def test_force_answer_asks_for_a_point_where_only_a_place_was_named() -> None:
    found, _ = go([says("Country: Laos"), answers(18, 103)], force_answer=True)
    assert found.answer is not None
    assert found.answer.point == LatLon(18, 103)
    place, _ = go([], then=says("Country: Laos"), force_answer=True)
    assert place.answered is not None
    assert place.answered.by == "policy"
    assert place.answered.answer.address.country.conclusion == "Laos"
    assert place.answered.answer.point is None


def test_saying_why_no_place_can_be_told_is_an_answer() -> None:
    refusal = says('{"lat": null, "lon": null, "explanation": "Only sky is to be seen."}')
    found, _ = go([refusal])
    assert found.answered is not None
    assert found.answered.by == "policy"
    assert not found.answered.answer.located
    assert found.spent.turns == 1


def test_a_case_without_a_photo_is_refused() -> None:
    case = small_case()
    case.album = type(case.album)()
    with pytest.raises(BadInput, match="no photo"):
        asyncio.run(run(case, AgentSetup(method=small_method(), policy=ScriptedPolicy([]), toolset=ALL_TOOLS)))


def test_a_sink_that_fails_stops_the_run_and_the_others_get_all_events() -> None:
    events: list[Event] = []

    def full(event: Event) -> None:
        if isinstance(event.body, Said):
            raise BadInput("the disk is full")

    with pytest.raises(BadInput, match="disk is full"):
        go([answers(1, 2)], sinks=[full, events.append])
    assert isinstance(events[0].body, Started)
    assert isinstance(events[-1].body, Ended)
    assert [event.index for event in events] == list(range(len(events)))


def test_events_are_streamed_while_the_run_goes_on() -> None:
    prompted = asyncio.Event()

    class Patient(ScriptedPolicy):
        """Says nothing before the one who watches has seen that it was asked."""

        async def step(self, conversation: Conversation) -> Step:
            await asyncio.wait_for(prompted.wait(), 60)
            return await super().step(conversation)

    async def watch() -> list[str]:
        policy = Patient([calls(call("look_up", query="a")), answers(1, 2)])
        kinds = []
        async for event in stream(
            lambda sink: run(
                small_case(), AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS), sinks=[sink]
            )
        ):
            kinds.append(type(event.body).__name__)
            if kinds[-1] == "Prompted":
                prompted.set()
        return kinds

    seen = asyncio.run(watch())
    assert seen[:3] == ["Started", "Prompted", "Said"]
    assert seen[-1] == "Ended"


def test_who_stops_looking_calls_the_run_off() -> None:
    events: list[Event] = []

    async def leave() -> None:
        policy = ScriptedPolicy([Step()], seconds=30)
        watching = stream(
            lambda sink: run(
                small_case(),
                AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS),
                sinks=[sink, events.append],
            )
        )
        async for _ in watching:
            break
        await watching.aclose()

    asyncio.run(leave())
    assert isinstance(events[-1].body, Ended)
    assert events[-1].body.reason == "cancelled"


def test_what_a_streamed_run_raises_comes_out_after_its_last_event() -> None:
    seen: list[Event] = []

    async def watch() -> None:
        policy = ScriptedPolicy([BadInput("no such model")])
        async for event in stream(
            lambda sink: run(
                small_case(), AgentSetup(method=small_method(), policy=policy, toolset=ALL_TOOLS), sinks=[sink]
            )
        ):
            seen.append(event)  # noqa: PERF401  (what was seen before it raised is what counts)

    with pytest.raises(BadInput, match="no such model"):
        asyncio.run(watch())
    assert isinstance(seen[-1].body, Ended)


def test_replies_and_results_share_one_length() -> None:
    """As trainers count: 100 tokens of replies, and 4,096 characters of results of which 1,024 are shown."""

    @tool("long_text")
    async def long_text(case: Case, *, page: int) -> Output:  # noqa: ARG001
        """Return a page of a long text.

        Args:
            page: which one.
        """
        return Output("x" * 4096)

    method = small_method()
    method = replace(
        method,
        context=replace(method.context, kind="trimmed", result_characters=1024),
        budget=replace(method.budget, turns=9, reply_tokens=1100),
    )
    spent = Usage(input_tokens=500, output_tokens=100)
    looks: list[Line] = [replace(calls(call("long_text", page=page)), usage=spent) for page in (1, 2)]
    found, policy = go([*looks, answers(1.0, 2.0)], toolset=Toolset([long_text]), method=method)
    limits = [one.sampling.max_tokens for one in policy.seen]
    # After each turn 100 tokens of the reply and 256 of the result are gone.
    assert limits == [1100, 744, 388]
    assert [one.may_call for one in policy.seen] == [True, True, False]
    assert found.ended is not None
    shown = [seen for one in policy.seen[-1].messages if isinstance(one, Observed) for seen in one.observations]
    assert [len(one.text) <= 1024 for one in shown] == [True, True]
