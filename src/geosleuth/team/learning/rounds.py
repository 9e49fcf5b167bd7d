"""Who is right about one picture, and whose reviews went with right answers: smileGeo's dynamic learning."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from geosleuth.team.links import Links, full_links, next_streak, updated_links

from .settings import LearnSettings

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
