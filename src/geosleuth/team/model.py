"""Members of a team: what they are asked and reply, whom to trust, how trust changes, and when two answers agree.

Providers count differently, and some do not count images at all. Here texts and pictures are judged as the agent's
loop judges them, see `geosleuth.agent.conversation`.

Only the links from whoever answered to those who reviewed that answer change. How much depends on ``tt``, the number of
right answers in a row: of a right answer the row that it ends, of a wrong one the row that it breaks, and at least 1.

rule        right answer         wrong answer
default     (2 tt + 1) / (2 tt)  (2 tt - 1) / (2 tt)
printed     (tt + 1) / (2 tt)    (2 tt - 1) / (2 tt)

The printed rule of smileGeo leaves a link as it is after a first right answer and weakens it after every further one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.agent import Trajectory
from geosleuth.agent.conversation import CHARACTERS_PER_TOKEN, PIXELS_PER_TOKEN
from geosleuth.answer import Answer
from geosleuth.atlas import Atlas
from geosleuth.errors import GeosleuthError
from geosleuth.geo import Disc, Extent, extent_distance_km
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


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def image_tokens(width: int, height: int) -> int:
    """Tokens of a picture of so many pixels."""
    return math.ceil(width * height / PIXELS_PER_TOKEN)


def reply_tokens(asked: str, said: str, sizes: tuple[tuple[int, int], ...] = ()) -> int:
    """Tokens of one reply: all the words it was asked with, the pictures shown with them, and what it said."""
    return text_tokens(asked) + text_tokens(said) + sum(image_tokens(*size) for size in sizes)


@dataclass(frozen=True, slots=True)
class TrustWeights:
    """Election probabilities (Lst) and links (A), in the order of the members; a link to oneself is 0."""

    election: tuple[float, ...]
    links: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Refuse shapes that do not fit and weights that are none."""
        count = len(self.election)
        if len(self.links) != count or any(len(row) != count for row in self.links):
            raise ValueError(f"{count} members need {count} x {count} links")
        if not all(0.0 <= value <= 1.0 for value in self.election):
            raise ValueError("an election probability lies between 0 and 1")
        if not all(value >= 0.0 for row in self.links for value in row):
            raise ValueError("a link's weight is not negative")

    @classmethod
    def equal(cls, count: int) -> "TrustWeights":
        """Nobody knows anybody: every election probability is a half, every link is 1."""
        return cls((0.5,) * count, tuple(tuple(0.0 if i == j else 1.0 for j in range(count)) for i in range(count)))


class Society(Protocol):
    """Says how the members of a team stand, given the photos. It sees pixels, never a file name or a truth."""

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Whom to trust with these photos."""
        ...


@dataclass(frozen=True, slots=True)
class StrangersSociety:
    """A team that has learned nothing yet."""

    count: int

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:  # noqa: ARG002
        """The same for every photo."""
        return TrustWeights.equal(self.count)


AGREE_WITHIN_KM = 50.0
"""How far apart the places of two answers that agree may lie; smileGeo's threshold."""


class Placer:
    """From answers to extents: the point where there is one, otherwise the place that the address names.

    Every address is looked up once; only where the looking up failed, it is tried again the next time. One that nobody
    can find has no extent, and agrees with nothing.
    """

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._known: dict[str, Extent | None] = {}

    async def extent(self, answer: Answer) -> Extent | None:
        """Where the answer says it is."""
        if answer.point is not None:
            return Disc(answer.point, 0.0)
        words = str(answer.address)
        if not words:
            return None
        if words not in self._known:
            try:
                self._known[words] = await self._look_up(words)
            except GeosleuthError:
                return None
        return self._known[words]

    async def _look_up(self, words: str) -> Extent | None:
        hits = await self._atlas.geocode(words, limit=1)
        return hits[0].place.extent if hits else None


def agree(one: Extent | None, other: Extent | None, within_km: float = AGREE_WITHIN_KM) -> bool:
    """Whether two places meet within so many km; what has no place agrees with nothing."""
    return one is not None and other is not None and extent_distance_km(one, other) <= within_km


def cluster(extents: Sequence[Extent | None], within_km: float = AGREE_WITHIN_KM) -> list[frozenset[int]]:
    """For each answer, who agrees with it, itself included; nobody where it has no place."""
    count = range(len(extents))
    return [frozenset(j for j in count if agree(extents[i], extents[j], within_km)) for i in count]


LinkRule = Literal["default", "printed"]
Links = tuple[tuple[float, ...], ...]
"""Weights in the order of the members, from the row's member to the column's; a link to oneself is 0."""


def full_links(count: int) -> Links:
    """Everybody is linked to everybody else with weight 1."""
    return tuple(tuple(0.0 if i == j else 1.0 for j in range(count)) for i in range(count))


def next_streak(streak: int, *, right: bool) -> int:
    """How many right answers in a row there are after one more answer."""
    return streak + 1 if right else 0


def link_factor(streak: int, *, right: bool, rule: LinkRule = "default") -> float:
    """What a link is multiplied by; ``streak`` is how many right answers in a row came before this one."""
    tt = max(1, next_streak(streak, right=True) if right else streak)
    if not right:
        return (2 * tt - 1) / (2 * tt)
    return (tt + 1) / (2 * tt) if rule == "printed" else (2 * tt + 1) / (2 * tt)


def updated_links(
    links: Links, answerer: int, reviewers: Iterable[int], *, right: bool, streak: int, rule: LinkRule = "default"
) -> Links:
    """The links after an answer; those to members that did not review it stay as they are.

    Args:
        links: as they were.
        answerer: whose answer it was.
        reviewers: who was drawn to review it in this round.
        right: whether the answer was right.
        streak: how many right answers in a row the answerer had given before.
        rule: which rule, see the top of this module.
    """
    drawn = frozenset(reviewers) - {answerer}
    factor = link_factor(streak, right=right, rule=rule)
    row = tuple(weight * factor if j in drawn else weight for j, weight in enumerate(links[answerer]))
    return tuple(row if i == answerer else kept for i, kept in enumerate(links))
