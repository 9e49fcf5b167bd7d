"""Rounds of learning: who is right about one picture, whose reviews helped, and the settings of smileGeo."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from geosleuth.errors import BadInput
from geosleuth.geo import Disc, extent_distance_km
from geosleuth.photo import OpenedPhoto
from geosleuth.score import Truth
from geosleuth.team import AGREE_WITHIN_KM, Member, Placer, Reply, Request, TrustWeights
from geosleuth.team.model import LinkRule, Links, full_links, next_streak, updated_links
from geosleuth.team.swarm import SwarmSettings, run_swarm
from geosleuth.team.swarm.swarm import Listener

Labels = Literal["last", "mean", "answered"]
"""What a member's label is: its P after the last round; the mean of its P over all rounds; the share of right answers
among those it gave. In all three, one who never answered has one half."""

Judged = Literal["own", "reviewed"]
"""Which answer decides who is to be elected: the one that a member gave on its own, or the one after reviews. Reviews
by an expert make others right as well, and then nobody can tell who the expert is."""


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """How it is found out who is right about one picture.

    Attributes:
        rounds: how often members are drawn (L).
        within_km: how near an answer must lie to be right (th).
        reviewers: how many others look at each answer (R).
        discussion: turns of the discussion in each round; nothing that is learned depends on them.
        judged: which answer decides about P; links are always judged by the answer after reviews.
        labels: what becomes of the rounds.
        link_rule: how links change.
        ask_anew: ask every member anew in every round; otherwise the same question has the same reply.
        seed: what draws depend on, together with the picture.
    """

    rounds: int = 20
    within_km: float = AGREE_WITHIN_KM
    reviewers: int = 2
    discussion: int = 0
    judged: Judged = "own"
    labels: Labels = "answered"
    link_rule: LinkRule = "default"
    ask_anew: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what can't be learned with."""
        if self.rounds < 1:
            raise BadInput("learning needs at least one round; set rounds to 1 or more")
        if not self.within_km >= 0.0:
            raise BadInput("within_km is a distance; set it to 0 or more")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How the network is taught.

    Attributes:
        embedding: how wide the members' embeddings and the encoded pictures are.
        fea: how wide Fea is (d_k).
        hidden: how wide the hidden layer is.
        rate: Adam's learning rate.
        epochs: how often it goes through all pictures, at most.
        batch: pictures a step; 0 takes all at once.
        averaged: the parameters are the mean over so many last epochs; 0 takes the best epoch on held-out pictures.
        patience: stop after so many epochs without a gain on held-out pictures; 0 never stops early.
        held_out: the share of pictures that the network does not learn from.
        distance_weight: the weight of the distance term beside the two squared errors.
        decay: how fast weights that nothing speaks for go back to zero.
        folds: so many further networks, each kept from another part of the pictures, show how far the network's word
            holds on pictures it has not seen; it is drawn towards equal trust as far as it does not. 0 believes all.
        side_px: how large pictures are for a VAE; other encoders have a size of their own.
        seed: what the beginning and the order of pictures depend on.
    """

    embedding: int = 32
    fea: int = 32
    hidden: int = 32
    rate: float = 1e-3
    epochs: int = 300
    batch: int = 64
    averaged: int = 0
    patience: int = 40
    held_out: float = 0.2
    distance_weight: float = 0.1
    decay: float = 1e-2
    folds: int = 4
    side_px: int = 512
    seed: int = 0


PAPER_ROUNDS: Final = LearnSettings(discussion=10, judged="reviewed", labels="last", ask_anew=True)
"""smileGeo's rounds to the letter, but for the rule of links, which is a choice of its own."""

QUICK: Final = TrainSettings()
"""A small network that learns from a few hundred pictures in seconds and stops before it knows them by heart."""

PAPER: Final = TrainSettings(
    embedding=1024, fea=1024, hidden=1024, rate=1e-5, epochs=2500, batch=0, averaged=100, patience=0, held_out=0.0,
    distance_weight=1.0, decay=0.0, folds=0,
)  # fmt: skip
"""smileGeo, appendix C: dimensions 1024, Adam at 1e-5, 2,500 epochs, the last 100 averaged."""


_UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class Heard:
    """What one round brought, by the members' places in the team.

    Attributes:
        own_km: how far each member's own answer lies from the truth, as extents; infinite for one that names no place
            on the map. Who gave no answer is not in it.
        reviewed_km: the same after reviews, where there were any.
        reviewers: who looked at whose answer.
    """

    own_km: Mapping[int, float]
    reviewed_km: Mapping[int, float] = field(default_factory=dict)
    reviewers: Mapping[int, Sequence[int]] = field(default_factory=dict)


Stages = Callable[[Sequence[int], Links, random.Random], Awaitable[Heard]]
"""Lets the given members answer, be reviewed along the links, and sum up."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What was learned from one picture; nothing in it says where the picture was taken.

    Attributes:
        labels: the election probabilities that would have been good.
        links: the links that would have been good; only proportions within a row matter.
        distances: how far off each member was, 0 to 1 (one half at the threshold); 0 for one who never answered.
        answers: in how many rounds each answered.
    """

    labels: tuple[float, ...]
    links: Links
    distances: tuple[float, ...]
    answers: tuple[int, ...]

    @property
    def empty(self) -> bool:
        """Whether nobody ever answered."""
        return not any(self.answers)


async def learn_picture(count: int, stages: Stages, settings: LearnSettings, rng: random.Random) -> Observation:
    """Draw members with the probability that they are right, let them answer, and see who is; several times over.

    Args:
        count: how many members there are.
        stages: lets those drawn work on the picture.
        settings: the number of rounds, the threshold, the rule for links.
        rng: draws the members.
    """
    chances = [_UNKNOWN] * count
    links = full_links(count)
    streaks, answers, right_answers = [0] * count, [0] * count, [0] * count
    summed, distances = [0.0] * count, [0.0] * count
    for _ in range(settings.rounds):
        drawn = [i for i in range(count) if rng.random() < chances[i]] or [rng.randrange(count)]
        heard = await stages(drawn, links, rng)
        chances = [_UNKNOWN] * count
        for i, own_km in sorted(heard.own_km.items()):
            reviewed_km = heard.reviewed_km.get(i, own_km)
            helped = reviewed_km <= settings.within_km
            links = updated_links(
                links, i, heard.reviewers.get(i, ()), right=helped, streak=streaks[i], rule=settings.link_rule
            )
            streaks[i] = next_streak(streaks[i], right=helped)
            judged_km = own_km if settings.judged == "own" else reviewed_km
            right = judged_km <= settings.within_km
            chances[i] = 1.0 if right else 0.0
            answers[i] += 1
            right_answers[i] += right
            distances[i] += _share(judged_km, settings.within_km)
        summed = [total + chance for total, chance in zip(summed, chances, strict=True)]
    if settings.labels == "last":
        labels = tuple(chances)
    elif settings.labels == "mean":
        labels = tuple(total / settings.rounds for total in summed)
    else:
        labels = tuple(r / n if n else _UNKNOWN for r, n in zip(right_answers, answers, strict=True))
    return Observation(
        labels, links, tuple(d / n if n else 0.0 for d, n in zip(distances, answers, strict=True)), tuple(answers)
    )


def _share(distance_km: float, within_km: float) -> float:
    """A distance as a number from 0 to 1, one half at the threshold: a continent off is little worse than a country."""
    if distance_km == 0.0:
        return 0.0
    return 1.0 / (1.0 + within_km / distance_km)


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

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        del photos
        return TrustWeights(tuple(1.0 if i in self.drawn else 0.0 for i in range(len(self.links))), self.links)


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
