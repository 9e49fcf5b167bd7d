"""Rounds of learning: who is right about one picture, whose reviews helped, and smileGeo's settings."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from geosleuth.atlas.placing import Placer
from geosleuth.geo import Disc, extent_distance_km
from geosleuth.lab.score import Truth
from geosleuth.lab.teams.learning.links import LinkRule, Links, full_links, next_streak, update_links
from geosleuth.lab.teams.replies import ReplyStore
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import BadInput
from geosleuth.teams import AGREE_WITHIN_KM, Member, Reply, Request, TrustWeights, find_location
from geosleuth.teams.swarm import SwarmSettings, run_swarm
from geosleuth.teams.swarm.swarm import Listener

Labels = Literal["last", "mean", "answered"]
"""A member's label: its P after the last round; the mean of its P over all rounds; the share of right answers among
those it gave. In all three, a member who never answered gets one half."""

Judged = Literal["own", "reviewed"]
"""Which answer decides who should be elected: the member's own, or the one after reviews. Reviews by an expert make
others right as well, and then the expert can't be identified."""

_UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """Settings for finding out who is right about one picture.

    Attributes:
        rounds: how often members are drawn (L).
        within_km: the largest error of a right answer (th).
        reviewers: how many others review each answer (R).
        discussion: turns of the discussion in each round; learning does not depend on them.
        judged: which answer decides about P; links are always judged by the answer after reviews.
        labels: how labels are derived from the rounds.
        link_rule: how links change.
        ask_anew: ask every member again in every round; otherwise the same question has the same reply.
        seed: the draws depend on it and on the picture.
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
        """Check the settings."""
        if self.rounds < 1:
            raise BadInput("learning needs at least one round; set rounds to 1 or more")
        if not self.within_km >= 0.0:
            raise BadInput("within_km must not be negative; set it to 0 or more")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Settings for training the network.

    Attributes:
        embedding: the width of the members' embeddings and the encoded pictures.
        fea: the width of Fea (d_k).
        hidden: the width of the hidden layer.
        rate: Adam's learning rate.
        epochs: the most passes over all pictures.
        batch: pictures per step; 0 for all at once.
        averaged: average the parameters over so many last epochs; 0 takes the best epoch on held-out pictures.
        patience: stop after so many epochs without improvement on held-out pictures; 0 never stops early.
        held_out: the share of pictures held out from training.
        distance_weight: the weight of the distance term beside the two squared errors.
        decay: the weight decay.
        folds: so many further networks, each trained without a part of the pictures, measure how far the predictions
            hold on unseen pictures; trust shrinks accordingly. 0 trusts the network fully.
        side_px: the picture size for a VAE; other encoders have their own.
        seed: of the initial weights and the order of pictures.
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


# smileGeo's rounds exactly, except for the link rule, which is chosen separately.
PAPER_ROUNDS: Final = LearnSettings(discussion=10, judged="reviewed", labels="last", ask_anew=True)

# Default training: a small network that learns from a few hundred pictures in seconds and stops before it overfits.
QUICK_TRAINING: Final = TrainSettings()

# smileGeo, appendix C: dimensions 1024, Adam at 1e-5, 2,500 epochs, the last 100 averaged. It states no batch size.
PAPER_TRAINING: Final = TrainSettings(
    embedding=1024, fea=1024, hidden=1024, rate=1e-5, epochs=2500, batch=256, averaged=100, patience=0, held_out=0.0,
    distance_weight=1.0, decay=0.0, folds=0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heard:
    """The result of one round, by the members' indices.

    Attributes:
        own_km: the error of each member's own answer, measured between extents; infinite if its place is not on
            the map. Members without an answer are missing.
        reviewed_km: the same after reviews, if there were any.
        reviewers: who reviewed whose answer.
    """

    own_km: Mapping[int, float]
    reviewed_km: Mapping[int, float] = field(default_factory=dict)
    reviewers: Mapping[int, Sequence[int]] = field(default_factory=dict)


Stages = Callable[[Sequence[int], Links, random.Random], Awaitable[Heard]]
"""Lets the given members answer, be reviewed along the links, and sum up."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Observation from one picture; it does not contain where the picture was taken.

    Attributes:
        labels: the target election probabilities.
        links: the target links; only proportions within a row matter.
        distances: each member's error, 0 to 1 (one half at the threshold); 0 for one who never answered.
        answers: in how many rounds each answered.
    """

    labels: tuple[float, ...]
    links: Links
    distances: tuple[float, ...]
    answers: tuple[int, ...]

    @property
    def empty(self) -> bool:
        """Return whether no member ever answered."""
        return not any(self.answers)


async def learn_picture(count: int, stages: Stages, settings: LearnSettings, rng: random.Random) -> Observation:
    """Draw members by the probability that they are right, let them answer, check the answers; repeat.

    Args:
        count: the number of members.
        stages: lets those drawn work on the picture.
        settings: the number of rounds, the threshold, the link rule.
        rng: draws the members.
    """
    chances = [_UNKNOWN] * count
    links = full_links(count, settings.link_rule)
    streaks, answers, right_answers = [0] * count, [0] * count, [0] * count
    summed, distances = [0.0] * count, [0.0] * count
    for _ in range(settings.rounds):
        drawn = [i for i in range(count) if rng.random() < chances[i]] or [rng.randrange(count)]
        result = await stages(drawn, links, rng)
        chances = [_UNKNOWN] * count
        for i, own_km in sorted(result.own_km.items()):
            reviewed_km = result.reviewed_km.get(i, own_km)
            helped = reviewed_km <= settings.within_km
            links = update_links(
                links, i, result.reviewers.get(i, ()), right=helped, streak=streaks[i], rule=settings.link_rule
            )
            streaks[i] = next_streak(streaks[i], right=helped)
            judged_km = own_km if settings.judged == "own" else reviewed_km
            right = judged_km <= settings.within_km
            chances[i] = 1.0 if right else 0.0
            answers[i] += 1
            right_answers[i] += right
            distances[i] += _convert_to_share(judged_km, settings.within_km)
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


def _convert_to_share(distance_km: float, within_km: float) -> float:
    """Map a distance to 0..1, one half at the threshold: a continent off is little worse than a country."""
    if distance_km == 0.0:
        return 0.0
    return 1.0 / (1.0 + within_km / distance_km)


class RememberingMember:
    """A member that is asked the same thing about the same pictures once; failures are remembered too.

    ``tokens`` and ``replies`` count real requests. With ``ask_anew`` nothing is remembered within a run. A ``store``
    also answers what earlier runs asked, with ``ask_anew`` the first time as then, the second time as then, and so on;
    failures are not stored, so that a later run asks again. ``identity`` is what replies depend on beside the request.
    """

    def __init__(
        self, member: Member, *, ask_anew: bool = False, store: ReplyStore | None = None, identity: str = ""
    ) -> None:
        self._member = member
        self._ask_anew = ask_anew
        self._store, self._identity = store, identity or member.name
        self._known: dict[tuple[object, ...], asyncio.Task[Reply]] = {}
        self._times: Counter[tuple[object, ...]] = Counter()
        self.tokens = 0
        self.replies = 0

    @property
    def name(self) -> str:
        """Return the member's name."""
        return self._member.name

    @property
    def hosts(self) -> frozenset[str]:
        """Return the member's hosts."""
        return self._member.hosts

    async def reply(self, request: Request) -> Reply:
        """Return the remembered reply, or ask."""
        pictures = tuple(photo.photo.handle for photo in request.photos)
        key = (pictures, request.stage, request.words, request.hint, request.area)
        if self._ask_anew:
            self._times[key] += 1
            return await self._ask_member(request, self._times[key])
        if key not in self._known:
            self._known[key] = asyncio.create_task(self._ask_member(request, 1))
        # The caller may give up; the reply is still useful to the next round.
        return await asyncio.shield(self._known[key])

    async def _ask_member(self, request: Request, time: int) -> Reply:
        identity = self._identity if time == 1 else f"{self._identity} #{time}"
        key = "" if self._store is None else self._store.key(identity, request)
        if self._store is not None and (stored := self._store.get(key)) is not None:
            return stored
        reply = await self._member.reply(request)
        self.tokens += reply.tokens
        self.replies += 1
        if self._store is not None and reply.failure is None:
            self._store.put(key, reply)
        return reply

    async def aclose(self) -> None:
        """Forget everything; the member itself stays open for other pictures."""
        for task in self._known.values():
            task.cancel()
        await asyncio.gather(*self._known.values(), return_exceptions=True)
        self._known.clear()


@dataclass(frozen=True, slots=True)
class _Appointed:
    """Society that elects exactly the agents drawn."""

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
    """Return rounds in which the swarm works on a picture with a known place; the members never see it.

    Args:
        members: the team.
        request: the picture.
        truth: where it was taken.
        placer: resolves the places that answers name.
        settings: how many answer and review, and the threshold.
        swarm: the team's own settings for the rest: how reviewers are drawn, and the limits of each round.
        heard: receives every turn as soon as it is over.
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
            if turn.stage in ("answer", "summary") and turn.reply.names_place:
                location = await find_location(turn.reply.answer, placer)
                distance_km = float("inf")
                if location is not None and not location.is_half_known:
                    distance_km = extent_distance_km(location.extent, place)
                (own_km if turn.stage == "answer" else reviewed_km)[names.index(turn.member)] = distance_km
        reviewers = {
            names.index(about): tuple(names.index(turn.member) for turn in outcome.turns if turn.about == about
                                      and turn.stage == "review" and turn.reply.failure is None)
            for about in {turn.about for turn in outcome.turns if turn.stage == "review"}
            if about is not None
        }  # fmt: skip
        return Heard(own_km, reviewed_km, reviewers)

    return stages
