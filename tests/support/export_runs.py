"""Real runs to export: one with everything in it, one that was resumed."""

import asyncio
from functools import cache

from geosleuth.agent import Budget, Trajectory, resume, run
from geosleuth.agent.setup import AgentSetup, PhotoQuestion
from geosleuth.models import Prompt, Step
from geosleuth.tools import Case, ToolCall
from scripted import ScriptedPolicy, call, calls, says
from small_runs import ALL_TOOLS, small_case, small_method


@cache
def detective_run() -> Trajectory:
    """Thoughts, two calls at once, crops, a map, a failure, raw arguments, a nudge, an answer."""
    return _detective(small_case())


def _detective(case: Case) -> Trajectory:
    script = [
        calls(
            call("look_up", query="harbour"), call("image_zoom_in_tool", bbox_2d=[0, 0, 90, 60]),
            text="A sign reads Hafenstraße. Let me look closer.",
            thinking="Compare rivals first.\n\n<tool_call> later.",
        ),
        calls(call("note_hypothesis", place="Hamburg", confidence=0.6, evidence_for=["harbour"], lat=53.5, lon=10.0)),
        calls(ToolCall("", "look_up", "query: cranes"), call("draw_map", lat=53.5, lon=10.0)),
        says("Hmm."),
        says('{"lat": 53.55, "lon": 9.99}'),
    ]  # fmt: skip
    method = small_method(budget=Budget(turns=6))
    return asyncio.run(
        run(
            case,
            AgentSetup(method=method, policy=ScriptedPolicy(script), toolset=ALL_TOOLS),
            question=PhotoQuestion(hint="by the water"),
        )
    )


@cache
def resumed_run() -> Trajectory:
    """A run that spent its turns, was told to answer right after results, and went on with a person's words."""
    case, method = small_case(), small_method(budget=Budget(turns=2))
    script = [calls(call("look_up", query="a")), calls(call("look_up", query="b"))]
    begun = asyncio.run(run(case, AgentSetup(method=method, policy=ScriptedPolicy(script), toolset=ALL_TOOLS)))
    more = ScriptedPolicy([Step(), says('{"lat": 1, "lon": 2}')])
    feedback = Prompt("Mind the plates.", ("image-1",))
    return asyncio.run(
        resume(
            begun,
            feedback,
            case=case,
            setup=AgentSetup(method=method, policy=more, toolset=ALL_TOOLS, budget=Budget(turns=3)),
        )
    )
