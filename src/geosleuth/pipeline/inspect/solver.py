"""The solver: our loop on one photo, with the model that Inspect was given."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from geosleuth.agent import Answered, Ended, Event, ToolObserved
from geosleuth.answer import answer_to_dict
from geosleuth.atlas import OfflineAtlas
from geosleuth.bench.sets import Picture
from geosleuth.pipeline.attempt import pixels_of
from geosleuth.pipeline.plan import Plan
from geosleuth.pipeline.run import run_plan

from .policy import InspectPolicy

ANSWER_KEY = "geosleuth_answer"
ENDED_KEY = "geosleuth_ended"
_SOURCE = "geosleuth"
_TEXT_SHOWN = 2000


@dataclass(frozen=True, slots=True, repr=False)
class Photos:
    """The pictures of a data set by the names that samples have, and how each is worked on.

    Inspect writes the arguments of a solver into its log: of this one it writes ``name``.
    """

    pictures: Mapping[str, Picture]
    plan: Plan
    atlas: OfflineAtlas
    name: str = "photos"


@solver
def locating(photos: Photos) -> Solver:
    """Let Inspect's model find out where the sample's photo was taken, by our method, tools and budget."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  (Inspect's own signature)
        picture = photos.pictures[str(state.sample_id)]
        photo = await asyncio.to_thread(lambda: pixels_of(picture.read()))
        policy = InspectPolicy(get_model())
        plan = replace(photos.plan, policy=policy)
        try:
            await run_plan(
                plan,
                [photo],
                photos.atlas,
                similar=plan.similar_for([photo]),
                sinks=[_Watch(state)],
            )
        finally:
            # Also where one of Inspect's limits ends the run: what was found until then is scored.
            if policy.output is not None:
                state.messages, state.output = list(policy.messages), policy.output
        return state

    return solve


class _Watch:
    """Keeps the answer for the scorer, and shows in the transcript what tools found and how the run ended."""

    def __init__(self, state: TaskState) -> None:
        self._state = state

    def __call__(self, event: Event) -> None:
        body = event.body
        told: dict[str, Any]
        if isinstance(body, ToolObserved):
            one = body.observation
            told = {"tool": one.name, "text": one.text[:_TEXT_SHOWN], "failure": one.failure, "seconds": one.seconds}
            transcript().info(told, source=_SOURCE)
        elif isinstance(body, Answered):
            self._state.store.set(ANSWER_KEY, {**answer_to_dict(body.answer), "by": body.by})
        elif isinstance(body, Ended):
            told = {"reason": body.reason, "turns": body.spent.turns, "calls": body.spent.calls}
            self._state.store.set(ENDED_KEY, told)
            transcript().info(told, source=_SOURCE)
