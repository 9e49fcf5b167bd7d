"""A member of a team, what it is asked, what it replies, and what comes of it all."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.agent import Trajectory
from geosleuth.answer import Answer
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Usage

Stage = Literal["answer", "review", "summary", "discussion", "judge"]
"""What a reply is for: an answer of one's own; a comment on somebody's answer; an answer after comments; a turn of a
discussion; a choice between answers of others."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a member is asked.

    ``words`` stand in place of the task's own; None asks for an answer as the member's method asks. Whatever others
    said stands in the words as quoted data. ``seed`` is passed on to models that can repeat themselves.
    ``force_answer`` wants a best guess in any case. There is no room for a truth here, nor for a file's name.
    """

    photos: tuple[OpenedPhoto, ...]
    stage: Stage = "answer"
    words: str | None = None
    hint: str | None = None
    area: str | None = None
    seed: int | None = None
    force_answer: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a member said.

    ``text`` is its final words as it wrote them, ``answer`` what was read from them; a comment has no point.
    ``failure`` says in one line why there is nothing, where there is nothing: a member that fails costs only its own
    reply. ``tokens`` counts by the team's one tariff, images included; ``usage`` is what the provider counted.
    """

    text: str = ""
    answer: Answer = field(default_factory=Answer)
    tokens: int = 0
    usage: Usage = field(default_factory=lambda: Usage(tries=0))
    seconds: float = 0.0
    failure: str | None = None
    trajectory: Trajectory | None = field(default=None, repr=False)

    @property
    def stands(self) -> bool:
        """Whether it names a place: a point or an address."""
        return self.failure is None and (self.answer.located or bool(self.answer.address))


class Member(Protocol):
    """One agent of a team: a plain model, a whole agent with tools, or a persona over a shared model."""

    @property
    def name(self) -> str:
        """What the team's file calls it; other members never see it."""
        ...

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that photos are sent to; empty where they stay on this machine."""
        ...

    async def reply(self, request: Request) -> Reply:
        """Say something. A model that fails, or takes too long, is a reply with a failure, never an exception."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """Who said what, when in the course of things, and about whose answer."""

    member: str
    stage: Stage
    reply: Reply
    round: int = 0
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a team came to: the answer, how it was come by in a few words, and every turn in its order.

    ``voice`` is the member whose words the answer is, where it is one member's.
    """

    answer: Answer
    decided: str
    turns: tuple[Turn, ...] = ()
    voice: str | None = None
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """By the team's tariff, all turns together."""
        return sum(turn.reply.tokens for turn in self.turns)
