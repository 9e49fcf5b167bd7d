"""What a try did, piece by piece, each under a mark that a verifier can name: T2.5 is the fifth piece of try 2."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from geosleuth.agent import Said, ToolObserved, Trajectory
from geosleuth.agent.quoting import spelled_out
from geosleuth.answer import Answer
from geosleuth.tools import Observation, ToolCall

_MARK = re.compile(
    r"(?<![A-Za-z0-9])(?:T|try\s*|trial\s*)(\d{1,3})\s*(?:\.|,?\s*observation\s*)(\d{1,4})(?![0-9])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Thought:
    """What the try thought and said before it called, or before it answered."""

    words: str


@dataclass(frozen=True, slots=True)
class Looked:
    """A call and what came of it."""

    call: ToolCall | None
    observation: Observation


@dataclass(frozen=True, slots=True)
class Concluded:
    """The answer, and the words that it was given in."""

    answer: Answer
    words: str


Content = Thought | Looked | Concluded


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a try."""

    mark: str
    content: Content


def answered(trajectory: Trajectory) -> bool:
    """Whether a try came to an answer of its own, an honest "can't tell" included.

    What stands in for an answer after a model failed or a run broke is none.
    """
    said, ended = trajectory.answered, trajectory.ended
    return said is not None and said.by != "nobody" and (ended is None or ended.reason not in ("service", "error"))


def items_of(number: int, trajectory: Trajectory) -> tuple[Item, ...]:
    """The pieces of a try in their order, counted from 1; the last is its answer, where it has one."""
    return tuple(Item(f"T{number}.{count}", one) for count, one in enumerate(_contents(spelled_out(trajectory)), 1))


def _contents(trajectory: Trajectory) -> Iterator[Content]:
    calls: dict[str, ToolCall] = {}
    last = ""
    for event in trajectory.events:
        match event.body:
            case Said(step=step):
                calls = {call.id: call for call in step.calls}
                last = "" if step.calls else step.text.strip()
                words = "\n".join(part.strip() for part in (step.thinking, step.text if step.calls else "") if part)
                if words.strip():
                    yield Thought(words.strip())
            case ToolObserved(observation=observation):
                yield Looked(calls.get(observation.call_id), observation)
            case _:
                pass
    if answered(trajectory):
        answer = trajectory.answer or Answer()
        yield Concluded(answer, last if trajectory.answered and trajectory.answered.by == "policy" else "")


def marks_of(tries: Sequence[Trajectory]) -> frozenset[str]:
    """Every mark that may be named."""
    return frozenset(item.mark for number, one in enumerate(tries, 1) for item in items_of(number, one))


def named_marks(text: str, known: frozenset[str]) -> tuple[str, ...]:
    """The pieces that a text names, each once, in its order; those that do not exist are left out.

    "T2.5", "[t2.5]" and "try 2, observation 5" are all read.
    """
    found = (f"T{int(match[1])}.{int(match[2])}" for match in _MARK.finditer(text))
    return tuple(dict.fromkeys(mark for mark in found if mark in known))
