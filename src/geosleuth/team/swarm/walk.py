"""Chance in a swarm, all of it from one seed: who is elected, and who reviews whom."""

import random
from collections.abc import Sequence

from geosleuth.team import Standing

from .settings import Walk

# A walk between members that it has met already gives up after so many steps for each member.
_STEPS_PER_MEMBER = 50


def election_order(standing: Standing, rng: random.Random) -> list[int]:
    """All members, the most trusted first; equals in drawn order."""
    lots = [rng.random() for _ in standing.election]
    return sorted(range(len(lots)), key=lambda member: (-standing.election[member], lots[member]))


def draw_reviewers(
    links: Sequence[Sequence[float]], start: int, count: int, rng: random.Random, *, walk: Walk = "onward"
) -> list[int]:
    """Up to ``count`` different members, never ``start`` itself, in the order they are met.

    The chance of a step is p(i -> j) = A_ij / sum_k A_ik. Fewer come back where the links lead to fewer.
    """
    drawn: list[int] = []
    at = start
    for _ in range(_STEPS_PER_MEMBER * len(links)):
        if len(drawn) >= count:
            break
        # From a fixed place only those not yet drawn matter; a walk may come through members that it knows.
        barred = {start, *drawn} if walk == "neighbours" else {at}
        weights = [0.0 if member in barred else weight for member, weight in enumerate(links[at])]
        if not any(weights):
            break
        met = rng.choices(range(len(weights)), weights)[0]
        if met != start and met not in drawn:
            drawn.append(met)
        if walk == "onward":
            at = met
    return drawn
