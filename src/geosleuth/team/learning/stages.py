"""One round of learning with live members: the swarm's stages with chosen answer agents, held against a truth."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from geosleuth.geo import Disc, extent_distance_km
from geosleuth.photo import OpenedPhoto
from geosleuth.score import Truth
from geosleuth.team import Member, Placer, Reply, Request, Standing
from geosleuth.team.links import Links
from geosleuth.team.swarm import SwarmSettings, run_swarm
from geosleuth.team.swarm.floor import Listener

from .rounds import Heard, Stages
from .settings import LearnSettings


class RememberingMember:
    """A member that is asked the same thing about the same pictures once; a failure is kept like any other reply.

    ``tokens`` and ``replies`` count what was really asked. With ``ask_anew`` nothing is remembered.
    """

    def __init__(self, member: Member, *, ask_anew: bool = False) -> None:
        self._member = member
        self._ask_anew = ask_anew
        self._known: dict[tuple[object, ...], asyncio.Task[Reply]] = {}
        self.tokens = 0
        self.replies = 0

    @property
    def name(self) -> str:
        """As the member is called."""
        return self._member.name

    @property
    def hosts(self) -> frozenset[str]:
        """As the member's."""
        return self._member.hosts

    async def reply(self, request: Request) -> Reply:
        """What the member said to this before, or says now."""
        pictures = tuple(one.photo.handle for one in request.photos)
        key = (pictures, request.stage, request.words, request.hint, request.area)
        if self._ask_anew:
            return await self._asked(request)
        if key not in self._known:
            self._known[key] = asyncio.create_task(self._asked(request))
        # Whoever waits may lose patience; the reply is still of use to the next round.
        return await asyncio.shield(self._known[key])

    async def _asked(self, request: Request) -> Reply:
        reply = await self._member.reply(request)
        self.tokens += reply.tokens
        self.replies += 1
        return reply

    async def aclose(self) -> None:
        """Forget everything; the member itself stays open, since it is asked about other pictures too."""
        for task in self._known.values():
            task.cancel()
        await asyncio.gather(*self._known.values(), return_exceptions=True)
        self._known.clear()


@dataclass(frozen=True, slots=True)
class _Appointed:
    """A society in which those drawn are elected, and nobody else."""

    drawn: frozenset[int]
    links: Links

    def standing(self, photos: Sequence[OpenedPhoto]) -> Standing:
        del photos
        return Standing(tuple(1.0 if i in self.drawn else 0.0 for i in range(len(self.links))), self.links)


def swarm_stages(
    members: Sequence[Member],
    request: Request,
    truth: Truth,
    *,
    placer: Placer,
    settings: LearnSettings,
    swarm: SwarmSettings | None = None,
    heard: Listener | None = None,
) -> Stages:
    """Rounds in which the swarm itself works on a picture whose place is known; the members are never told it.

    Args:
        members: the team.
        request: the picture.
        truth: where it was taken.
        placer: finds the places that answers name.
        settings: how many answer and review, and what is near.
        swarm: the team's own settings for all else: how reviewers are drawn, and the limits, of each round.
        heard: gets every turn as soon as it is over.
    """
    own = swarm or SwarmSettings()
    names = [member.name for member in members]
    place = Disc(truth.point, 0.0)

    async def stages(drawn: Sequence[int], links: Links, rng: random.Random) -> Heard:
        outcome = await run_swarm(
            members,
            request,
            society=_Appointed(frozenset(drawn), links),
            placer=placer,
            settings=replace(
                own,
                answerers=len(drawn),
                reviewers=min(settings.reviewers, len(members) - 1),
                rounds=settings.discussion,
                within_km=settings.within_km,
            ),
            rng=rng,
            heard=heard,
        )
        own_km: dict[int, float] = {}
        reviewed_km: dict[int, float] = {}
        for turn in outcome.turns:
            if turn.stage in ("answer", "summary") and turn.reply.stands:
                extent = await placer.extent(turn.reply.answer)
                distance_km = float("inf") if extent is None else extent_distance_km(extent, place)
                (own_km if turn.stage == "answer" else reviewed_km)[names.index(turn.member)] = distance_km
        reviewers = {
            names.index(about): tuple(names.index(turn.member) for turn in outcome.turns if turn.about == about
                                      and turn.stage == "review" and turn.reply.failure is None)
            for about in {turn.about for turn in outcome.turns if turn.stage == "review"}
            if about is not None
        }  # fmt: skip
        return Heard(own_km, reviewed_km, reviewers)

    return stages
