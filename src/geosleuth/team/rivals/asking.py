"""Asking members so that nothing they do ends the whole: a fault is a reply with a failure, and every turn is kept."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from geosleuth.team import Member, Placer, Reply, Request, Stage, Turn
from geosleuth.team.swarm import SwarmSettings
from geosleuth.team.swarm.floor import Floor, together

# Far enough apart that samples of one member never share a seed with another member, to whose seed its place is added.
_SEEDS_APART = 10_007


@dataclass(frozen=True, slots=True)
class Question:
    """What one member, by its place in the team, is asked next.

    ``sample`` tells requests apart that are otherwise the same; ``about`` is whose answer it is about.
    """

    member: int
    stage: Stage = "answer"
    words: str | None = None
    sample: int = 0
    about: int | None = None


class Talk:
    """All that is asked and said over one request, in order. Every reply comes through the swarm's own floor."""

    def __init__(
        self,
        members: Sequence[Member],
        request: Request,
        placer: Placer,
        seconds_per_reply: float | None = None,
    ) -> None:
        self.names = tuple(member.name for member in members)
        self._members, self._request, self._placer = members, request, placer
        self._settings = SwarmSettings(seconds_per_reply=seconds_per_reply, seconds=None)
        self._floors: dict[int, Floor] = {}
        self._began = time.monotonic()
        self._turns: list[Turn] = []

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names that no text may carry to another member."""
        return self._floor(0).hidden

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What was said so far."""
        return tuple(self._turns)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._began

    async def ask(self, question: Question, number: int = 0) -> Reply:
        """Ask one member, in the round of that number."""
        return (await self.ask_all([question], number))[0]

    async def ask_all(self, questions: Sequence[Question], number: int = 0) -> list[Reply]:
        """Ask several at once; replies come in the order of the questions."""
        replies = await together(
            self._floor(one.sample).ask(one.member, one.stage, one.words, round=number, about=one.about)
            for one in questions
        )
        self._turns += [
            Turn(self.names[one.member], one.stage, reply, number, None if one.about is None else self.names[one.about])
            for one, reply in zip(questions, replies, strict=True)
        ]
        return replies

    def _floor(self, sample: int) -> Floor:
        if sample not in self._floors:
            seed = self._request.seed
            if sample:
                seed = (seed or 0) + sample * _SEEDS_APART
            request = replace(self._request, seed=seed)
            self._floors[sample] = Floor(self._members, request, self._settings, self._placer)
        return self._floors[sample]
