"""The trajectory of a team: who said what, as one run that is stored, told and capped like any other."""

import time
from collections.abc import Iterable

from geosleuth.agent import (
    Answered,
    Answerer,
    Body,
    Budget,
    Ended,
    EndReason,
    Event,
    Prompted,
    Said,
    Sink,
    Spending,
    Started,
    Task,
    Trajectory,
    TrajectoryWriter,
)
from geosleuth.agent.trajectory import new_id, now
from geosleuth.answer import Answer
from geosleuth.policies import Prompt, Sampling, Step
from geosleuth.team import Turn

METHOD = "swarm"
"""What the trajectory of a team says it was made by; it is told, and can't be gone through again by the loop."""

_STAGES = {"answer": "An answer of its own", "summary": "Its answer after the reviews", "judge": "A choice"}


class Scribe:
    """Writes down a team's work as it happens, and closes it however it ends.

    A sink that fails gets no more events; its trouble comes out after the others have the event.
    """

    def __init__(self, store: TrajectoryWriter | None, sinks: Iterable[Sink]) -> None:
        self._sinks: list[Sink] = [*([store.write] if store else []), *sinks]
        self._id, self._created = (store.id, store.created) if store else (new_id(), now())
        self._events: list[Event] = []
        self._spending = Spending(Budget())
        self._began = time.perf_counter()
        self._turns = 0
        self._closed = False

    def begin(self, task: Task, question: str, team: str, budget: Budget, sampling: Sampling) -> None:
        """The start: what was asked, of whom, and what chance depends on."""
        self._spending = Spending(budget)
        self._emit(Started(task, METHOD, f"team:{team}", (), budget, "", sampling=sampling))
        self._emit(Prompted(Prompt(question, tuple(image.handle for image in task.images))))

    def hear(self, turn: Turn) -> None:
        """One turn of a member."""
        self._turns += 1
        reply = turn.reply
        said = f"[failed: {reply.failure}]" if reply.failure is not None else reply.text
        step = Step(
            f"[{_label(turn)}]\n{said}",
            usage=reply.usage,
            finish="stop" if reply.failure is None else "error",
            model=turn.member,
        )
        self._emit(Said(self._turns, step))

    def decided(self, why: str, voice: str | None) -> None:
        """How the answer was come by."""
        whose = "" if voice is None else f" The answer is that of {voice}."
        self._emit(Prompted(Prompt(f"The team is done: {why}.{whose}"), "loop"))

    def close(self, answer: Answer, by: Answerer, reason: EndReason, trouble: str | None = None) -> Trajectory:
        """The end; closing twice keeps the first."""
        if not self._closed:
            self._closed = True
            self._emit(Answered(answer, by))
            self._emit(Ended(reason, self._spending.spent(round(self._seconds, 6)), trouble))
        return Trajectory(tuple(self._events), self._id, self._created)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _emit(self, body: Body) -> None:
        event = Event(len(self._events), round(self._seconds, 6), body)
        self._events.append(event)
        self._spending.see(body)
        trouble: Exception | None = None
        for sink in tuple(self._sinks):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001  (raised below, once the other sinks have the event)
                self._sinks.remove(sink)
                trouble = trouble or error
        if trouble is not None:
            raise trouble


def _label(turn: Turn) -> str:
    match turn.stage:
        case "review":
            return f"A review of the answer of {turn.about}"
        case "discussion":
            return f"The discussion, round {turn.round}"
        case stage:
            return _STAGES[stage]
