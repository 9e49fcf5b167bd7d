"""One episode: the agent's own loop, turned inside out, so that whoever trains a policy can play its part.

`Episode.step` takes what the policy says next and comes back with what it is told. Everything in between is the loop
of `geosleuth.agent`: budgets, repeated calls, reminders, the candidate pool, and the trajectory that remembers it all.
So training sees what later runs do. The truth stays here: neither the case that tools work on nor the loop holds it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from geosleuth.agent import Event, Prompted, Task, ToolObserved, Trajectory, run
from geosleuth.agent.conversation import CHARACTERS_PER_TOKEN, REPLY_CHARACTERS, cut
from geosleuth.agent.locating import open_case
from geosleuth.agent.setup import AgentSetup, Question, Resources
from geosleuth.answer import Answer
from geosleuth.policies import Conversation, Step
from geosleuth.tools import Observation, ToolCall, image_info

from .posing import Posed
from .setting import Setting, worded

OVER = "The task is over; this call was not carried out."
BROKE = "The tool broke, and the task ends here."


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a step: an observation for each call, what the loop says besides, and whether that was it."""

    observations: tuple[Observation, ...] = ()
    words: tuple[str, ...] = ()
    over: bool = False


class Episode:
    """One photo and one policy. `begin` comes first, in the event loop that all of the episode then belongs to.

    Attributes:
        case: what tools work on.
        system: the words that a policy is given first.
        prompt: the question.
        trouble: what broke the episode, where something did; a bug of ours.
    """

    def __init__(self, posed: Posed, setting: Setting) -> None:
        """Open the case; nothing runs yet."""
        self._truth, self._setting, self._method = posed.truth, setting, worded(setting)
        self.case, self._views = open_case(posed.photos, setting.method, Resources(setting.atlas, reader=posed.reader))
        images = tuple(image_info(self.case, self.case.album[handle]) for handle in self.case.album.handles)
        task = Task(images, force_answer=setting.force_answer, views=self._views)
        self.images = images
        self.system = self._method.system(task, setting.toolset.names)
        self.prompt = self._method.prompt(task, setting.toolset.names)
        self.trouble: Exception | None = None
        self._events: list[Event] = []
        self._outside = _Outside()
        self._task: asyncio.Task[Trajectory] | None = None
        self._turn = asyncio.Lock()
        self._over = False
        self._reward: float | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._over

    @property
    def trajectory(self) -> Trajectory:
        """All that happened so far."""
        return Trajectory(tuple(self._events))

    @property
    def answer(self) -> Answer:
        """The answer; without point and place where there is none."""
        return (self.trajectory.answer if self._events else None) or Answer()

    async def begin(self) -> None:
        """Let the loop come to the point where it asks for the first step; steps said meanwhile wait for that."""
        async with self._turn:
            await self._begin()

    async def _begin(self) -> None:
        setting = self._setting
        self._task = asyncio.create_task(
            run(
                self.case,
                AgentSetup(method=self._method, policy=self._outside, toolset=setting.toolset, budget=setting.budget),
                sinks=[self._events.append],
                question=Question(views=self._views, force_answer=setting.force_answer),
            )
        )
        self._task.add_done_callback(lambda _: self._outside.leave())
        await self._wait()

    async def step(self, step: Step) -> Told:
        """Say the next step; what the policy is told then. A step after the end is told that it is too late.

        Steps that come at once are taken one after the other, as turns of their own.
        """
        short = replace(
            step,
            text=step.text[:REPLY_CHARACTERS],
            thinking=step.thinking[:REPLY_CHARACTERS],
            calls=tuple(map(_readable, step.calls)),
        )
        async with self._turn:
            if self._over:
                return Told(tuple(refused(call, OVER) for call in step.calls), over=True)
            before = len(self._events)
            self._outside.say(short)
            await self._wait()
            return self._told(step.calls, self._events[before:])

    async def close(self) -> None:
        """End it here; the best candidate of the pool is the answer where none was given."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._over = True

    def drop(self) -> None:
        """End it without waiting, from any thread; for whoever lets go of it in the middle."""
        task = self._task
        if task is not None and not task.done():
            # A loop that is closed has called off all that ran in it.
            with suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)

    def reward(self) -> float:
        """What the answer earns; an episode that goes on has none yet and earns the least.

        Raises:
            ValueError: nobody told it the truth.
        """
        if self._truth is None:
            raise ValueError("this episode was made without a truth; score its answer elsewhere")
        if not self._over:
            return self._setting.reward.least
        if self._reward is None:
            self._reward = self._setting.earned(self.answer, self._truth)
        return self._reward

    async def _wait(self) -> None:
        conversation = await self._outside.shown()
        if conversation is not None or self._task is None:
            return
        self._over = True
        if not self._task.cancelled() and isinstance(error := self._task.exception(), Exception):
            self.trouble = error

    def _told(self, calls: Sequence[ToolCall], news: Sequence[Event]) -> Told:
        seen = [event.body.observation for event in news if isinstance(event.body, ToolObserved)]
        words = [event.body.prompt.text for event in news if isinstance(event.body, Prompted)]
        if self.trouble is not None:
            seen = [replace(one, text=BROKE) if one.failure == "timeout" else one for one in seen]
        # The loop takes in the first hundred calls of a reply.
        seen += [refused(call, OVER) for call in calls[len(seen) :]]
        return Told(tuple(self._short(one) for one in seen), tuple(words), self._over)

    def _short(self, seen: Observation) -> Observation:
        context = self._method.context
        if context.kind == "whole" or context.result_tokens is None:
            return seen
        return replace(seen, text=cut(seen.text, context.result_tokens * CHARACTERS_PER_TOKEN))


def refused(call: ToolCall, text: str) -> Observation:
    """The outcome of a call that is not carried out."""
    return Observation(call.id, str(call.name)[:60], text, failure="over_budget")


def _readable(call: ToolCall) -> ToolCall:
    """A call whose arguments are an object or a text; trainers pass on whatever JSON a model wrote."""
    given: object = call.arguments
    return call if isinstance(given, Mapping | str) else replace(call, arguments=str(given))


class _Outside:
    """The policy's place in the loop: hands out what the policy is shown, and waits for what it says."""

    name = "outside"
    hosts: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._shown: asyncio.Queue[Conversation | None] = asyncio.Queue()
        self._said: asyncio.Queue[Step] = asyncio.Queue()

    async def shown(self) -> Conversation | None:
        """What the policy is shown next; None when the run is over."""
        return await self._shown.get()

    def say(self, step: Step) -> None:
        """Let the run go on."""
        self._said.put_nowait(step)

    def leave(self) -> None:
        """There is no more to show."""
        self._shown.put_nowait(None)

    async def step(self, conversation: Conversation) -> Step:
        """Ask whoever is outside."""
        self._shown.put_nowait(conversation)
        return await self._said.get()

    async def aclose(self) -> None:
        """Nothing is held."""
