"""Policies: the protocol that each follows, the types between it and the loop, and a recording.

A policy sees a conversation and says the next step. It never sees a file name, metadata or a truth: they are in
nothing that it is given.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.photo import View
from geosleuth.support.errors import ServiceFault
from geosleuth.tools import Observation, Tool, ToolCall

Wire = Literal["native", "tagged"]
"""How calls travel: the provider's own tool calling, or ``<tool_call>`` tags in plain text."""

Finish = Literal["stop", "calls", "length", "filtered", "error"]
"""Why a reply ended: it was done; it calls tools; it hit the length limit; the provider held it back; it broke off."""

# Default limit on the thinking tokens in one reply.
THINKING_TOKENS = 8192
Latency = Literal["none", "recorded"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of a reply. ``cost_usd`` is None where the price is not known; local weights cost 0.

    ``thinking_tokens`` are those of the output that were thought with; None where the service does not count them.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    tries: int = 1
    thinking_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost_usd is not None and other.cost_usd is not None
        thought = [item for item in (self.thinking_tokens, other.thinking_tokens) if item is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.seconds + other.seconds,
            self.tries + other.tries,
            sum(thought) if thought else None,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """Reply of a policy: its thinking, text and calls. A step without calls is meant as the answer.

    ``text`` holds the words without the tags that carry calls and thinking; the ``<answer>`` tag stays in it.
    ``model`` is who replied, as the provider names it.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish: Finish = "stop"
    model: str = ""


def thinking_tokens(step: Step) -> int:
    """Return a reply's thinking tokens: as its service counts them, or by the share of its words.

    Where a service counts more of them than output it counts them apart, and none are among the output.
    """
    output, counted = step.usage.output_tokens, step.usage.thinking_tokens
    if counted:
        return counted if counted <= output else 0
    thought = len(step.thinking)
    said = len(step.text) + sum(len(call.name) + len(str(call.arguments)) for call in step.calls)
    return output * thought // (thought + said) if thought else 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """Words to a policy, with the handles of the images that go with them."""

    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Observed:
    """The outcomes of the calls of the step before, in their order."""

    observations: tuple[Observation, ...]


Message = Prompt | Step | Observed


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling settings of a reply; None means the model's own default.

    ``max_tokens`` binds what is said. A model that thinks may think ``thinking_tokens`` on top; None is
    `THINKING_TOKENS`, once it is known to think.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None
    thinking_tokens: int | None = None

    def longest(self, *, thinks: bool) -> int | None:
        """Return the maximum tokens of a reply, its thinking included; None is the service's limit."""
        usual = THINKING_TOKENS if thinks else 0
        room = usual if self.thinking_tokens is None else self.thinking_tokens
        return None if self.max_tokens is None else self.max_tokens + room


def is_truncated_thinking(step: Step, sampling: Sampling, *, thinks: bool) -> bool:
    """Return whether a reply was cut before any words by a limit without room for its thinking.

    Args:
        step: the reply.
        sampling: what it was asked with.
        thinks: whether the model was known to think by then.
    """
    silent = step.finish == "length" and not step.calls and not step.text.strip()
    thought = bool(step.thinking or step.usage.thinking_tokens)
    return silent and thought and sampling.longest(thinks=thinks) != sampling.longest(thinks=True)


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that a policy gets to see.

    What a context policy has left out is not here. ``picture`` gives the pixels of any handle named in the messages.
    ``may_call`` is false when the budget allows no more calls: the reply must be the answer.
    ``wants_guess`` is true when a best guess is wanted rather than no place; models are told so in words.
    ``said_by_people`` is what people said after the task, which is among the messages too.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    picture: Callable[[str], View] = field(repr=False)
    wire: Wire = "native"
    sampling: Sampling = field(default_factory=Sampling)
    may_call: bool = True
    wants_guess: bool = False
    said_by_people: tuple[str, ...] = ()


class Policy(Protocol):
    """Decides the next step. The loop can't tell one policy from another."""

    @property
    def name(self) -> str:
        """The name in reports, such as "openai:gpt-5" or "replay"."""
        ...

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that photos are sent to; empty where they stay on this machine's own processes."""
        ...

    async def step(self, conversation: Conversation) -> Step:
        """The next step.

        Raises:
            ServiceFault: the model can't be reached, refuses or answers nonsense, after the tries that are allowed.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...


class ReplayPolicy:
    """Plays recorded steps in their order, each once. One replay belongs to one run.

    When the steps are used up, the next one is a ``ServiceFault`` of the host "replay" that is not worth a retry: the
    run then ends as it does when a model fails, and nothing is made up. With ``check``, the same fault is raised where
    the run shows other calls than those just played, which means that it no longer follows the recording.
    """

    def __init__(self, steps: Sequence[Step], *, latency: Latency = "none", check: bool = False) -> None:
        """Take the steps.

        Args:
            steps: what to say, turn by turn.
            latency: whether to answer at once or after as long as the recorded reply took.
            check: whether to make sure that the run follows the recording.
        """
        self._steps = tuple(steps)
        self._played = 0
        self._latency = latency
        self._check = check

    @property
    def name(self) -> str:
        """Always "replay"."""
        return "replay"

    @property
    def hosts(self) -> frozenset[str]:
        """None: a recording is on this machine."""
        return frozenset()

    @property
    def remaining(self) -> int:
        """The number of steps still to come."""
        return len(self._steps) - self._played

    async def step(self, conversation: Conversation) -> Step:
        """The next recorded step.

        Raises:
            ServiceFault: there is none left, or the run no longer follows the recording.
        """
        if self._check:
            self._follow(conversation)
        if not self.remaining:
            raise ServiceFault("replay", f"the recording ends after {len(self._steps)} steps")
        step = self._steps[self._played]
        self._played += 1
        if self._latency == "recorded":
            await asyncio.sleep(step.usage.seconds)
        return step

    async def aclose(self) -> None:
        """Nothing is held."""

    def _follow(self, conversation: Conversation) -> None:
        said = [message for message in conversation.messages if isinstance(message, Step)]
        expected = self._steps[self._played - 1].calls if self._played else ()
        shown = said[-1].calls if said else ()
        if shown != expected:
            raise ServiceFault("replay", f"after step {self._played} the run shows other calls than the recording")
