"""Where a swarm speaks: every reply is asked for here, in bounded time, and written down in the order it comes."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from geosleuth.agent.conversation import cut
from geosleuth.answer import Address, Answer, Level
from geosleuth.errors import GeosleuthError
from geosleuth.geo import Extent, LatLon
from geosleuth.policies import Usage
from geosleuth.team import Member, Placer, Reply, Request, Stage, Turn

from .quoting import plain
from .settings import SwarmSettings

MOST_CHARACTERS = 20_000
"""How much of a reply is kept."""

_MOST_ADDRESS_CHARACTERS = 500
# A member that is called off has so long to let go, and is called off again and again before it is given up.
_GRACE_SECONDS = 1.0
_CALLS_OFF = 5
# Geocoding goes on for so long even when the time is up: what was answered last still counts.
_PLACING_SECONDS = 10.0

T = TypeVar("T")
Listener = Callable[[Turn], None]


class Floor:
    """Members who can be asked, by their number, and all that they said.

    ``hidden`` are the names as no text may carry them to another member. A reply never raises, whatever the member
    does, and is over when its time or that of the whole swarm is.
    """

    def __init__(
        self,
        members: Sequence[Member],
        request: Request,
        settings: SwarmSettings,
        placer: Placer,
        heard: Listener | None = None,
    ) -> None:
        self.members = members
        self.names = tuple(member.name for member in members)
        self.hidden = tuple(plain(name) for name in self.names)
        self.settings = settings
        self.turns: list[Turn] = []
        self._request = request
        self._placer = placer
        self._heard = heard
        self._usage = Usage(tries=0)
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return self._clock() - self._began

    @property
    def used_up(self) -> str | None:
        """What of the team's is used up, so that nobody can be asked any more; None while there is enough."""
        settings = self.settings
        if settings.seconds is not None and self.seconds >= settings.seconds:
            return "time"
        if settings.tokens is not None and self._usage.input_tokens + self._usage.output_tokens >= settings.tokens:
            return "tokens"
        if settings.usd is not None and (self._usage.cost_usd is None or self._usage.cost_usd >= settings.usd):
            return "money"
        return None

    async def ask(
        self,
        member: int,
        stage: Stage,
        words: str | None = None,
        *,
        round: int = 0,  # noqa: A002  (the turn's own word)
        about: int | None = None,
    ) -> Reply:
        """What the member says; the turn is written down when it comes."""
        if spent := self.used_up:
            return Reply(failure=f"the team's {spent} was used up before it was asked")
        seed = self._request.seed
        request = replace(
            self._request,
            stage=stage,
            words=words if words is not None else self._request.words,
            # Members over one model would all say the same with the same seed.
            seed=None if seed is None else seed + member,
        )
        reply = await self._bounded(self.members[member], request)
        turn = Turn(self.names[member], stage, reply, round, None if about is None else self.names[about])
        self.turns.append(turn)
        self._usage += reply.usage
        if self._heard is not None:
            self._heard(turn)
        return reply

    async def place(self, answer: Answer) -> Extent | None:
        """Where the answer says it is; None where nobody knows, or nobody can say in time."""
        try:
            async with asyncio.timeout(_PLACING_SECONDS):
                return await self._placer.extent(answer)
        except TimeoutError:
            return None

    async def _bounded(self, member: Member, request: Request) -> Reply:
        began = self._clock()
        task = asyncio.ensure_future(_said(member, request))
        try:
            done, _ = await asyncio.wait({task}, timeout=self._limit())
        except asyncio.CancelledError:
            await _call_off(task)
            raise
        took = self._clock() - began
        if not done:
            await _call_off(task)
            return Reply(failure=f"took longer than {took:.3g} s", seconds=took)
        if task.cancelled():
            return Reply(failure="broke off", seconds=took)
        if (error := task.exception()) is not None:
            return Reply(failure=_described(error), seconds=took)
        return _checked(task.result(), took)

    def _limit(self) -> float | None:
        limits = [self.settings.seconds_per_reply]
        if self.settings.seconds is not None:
            limits.append(self.settings.seconds - self.seconds)
        return min((limit for limit in limits if limit is not None), default=None)


async def _said(member: Member, request: Request) -> object:
    return await member.reply(request)


async def _call_off(task: "asyncio.Future[object]") -> None:
    for _ in range(_CALLS_OFF):
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=_GRACE_SECONDS)
        if done:
            break
    # Whatever it still raises is nobody's business any more.
    task.add_done_callback(lambda one: None if one.cancelled() else one.exception() and None)


def _described(error: BaseException) -> str:
    """One line. Of what nobody raised on purpose only the kind: its words may hold anything."""
    if isinstance(error, GeosleuthError):
        return " ".join(str(error).split())[:500]
    return f"a bug: {type(error).__name__}"


def _checked(reply: object, took: float) -> Reply:
    """The reply with nothing in it that others could choke on: of the right types, and not too long."""
    if not isinstance(reply, Reply) or not _well_typed(reply):
        return Reply(failure="said something that is no reply", seconds=took)
    answer = reply.answer
    if answer.explanation is not None:
        answer = replace(answer, explanation=cut(answer.explanation, MOST_CHARACTERS))
    if len(str(answer.address)) > _MOST_ADDRESS_CHARACTERS:
        answer = replace(answer, address=Address())
    failure = reply.failure
    if failure is None and not reply.text.strip() and not (answer.located or answer.address):
        failure = "said nothing"
    return replace(
        reply,
        text=cut(reply.text, MOST_CHARACTERS),
        answer=answer,
        failure=failure,
        seconds=reply.seconds or took,
    )


def _well_typed(reply: Any) -> bool:
    """Whether it is what it says it is, down to what is read of it here: no type checker stands before a member."""
    if not isinstance(reply.answer, Answer):
        return False
    answer: Any = reply.answer
    return (
        isinstance(reply.text, str)
        and isinstance(reply.failure, str | None)
        and isinstance(reply.tokens, int)
        and isinstance(reply.seconds, int | float)
        and isinstance(reply.usage, Usage)
        and isinstance(answer.point, LatLon | None)
        and isinstance(answer.address, Address)
        and all(isinstance(level.conclusion, str | None) for level in _levels(answer.address))
        and isinstance(answer.explanation, str | None)
    )


def _levels(address: Address) -> tuple[Level, ...]:
    return address.country, address.region, address.precise


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of all, in order. If one raises, or it is called off, none goes on."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
