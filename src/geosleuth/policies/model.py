"""Who thinks: the one protocol that every policy follows, and what passes between it and the loop.

A policy sees a conversation and says the next step. It never sees a file name, metadata or a truth: they are in
nothing that it is given.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.photo import View
from geosleuth.tools import Observation, Tool, ToolCall

Wire = Literal["native", "tagged"]
"""How calls travel: the provider's own tool calling, or ``<tool_call>`` tags in plain text."""

Finish = Literal["stop", "calls", "length", "filtered", "error"]
"""Why a reply ended: it was done; it calls tools; it hit the length limit; the provider held it back; it broke off."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one reply cost. ``cost_usd`` is None where the price is not known; local weights cost 0."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    tries: int = 1

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.seconds + other.seconds,
            self.tries + other.tries,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy said: its thinking, its words, its calls. A step without calls is meant as the answer.

    ``text`` holds the words without the tags that carry calls and thinking; the ``<answer>`` tag stays in it.
    ``model`` is who replied, as the provider names it.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish: Finish = "stop"
    model: str = ""


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
    """How a reply is drawn; None leaves it to the model's own default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that a policy gets to see.

    What a context policy has left out is not here. ``picture`` gives the pixels of any handle named in the messages.
    ``may_call`` is false when the budget allows no more calls: the reply must be the answer.
    ``wants_guess`` is true when a best guess is wanted rather than no place; models are told so in words.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    picture: Callable[[str], View] = field(repr=False)
    wire: Wire = "native"
    sampling: Sampling = field(default_factory=Sampling)
    may_call: bool = True
    wants_guess: bool = False


class Policy(Protocol):
    """Decides the next step. The loop can't tell one policy from another."""

    @property
    def name(self) -> str:
        """What reports call it, such as "openai:gpt-5" or "replay"."""
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
