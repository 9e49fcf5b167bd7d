"""Which of several answers most agree on: places that meet within a distance, never equal words."""

from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.team import AGREE_WITHIN_KM, Placer, Reply, agree, cluster


@dataclass(frozen=True, slots=True)
class Vote:
    """The reply that won, by its index, and how many of how many replies that name a place agree with it."""

    winner: int
    support: int
    cast: int


async def vote(replies: Sequence[Reply], placer: Placer, within_km: float = AGREE_WITHIN_KM) -> Vote | None:
    """The reply that most agree with; of equals the one whose supporters are surer, and then the earlier.

    A country agrees with each of its towns, so that a vague answer can win; its most supported town speaks for it then.
    None where no reply names a place.
    """
    extents = [await placer.extent(reply.answer) if reply.stands else None for reply in replies]
    circles = cluster(extents, within_km)
    sure = [reply.answer.probability or 0.0 for reply in replies]
    standing = [index for index, circle in enumerate(circles) if circle]
    if not standing:
        return None

    def strength(index: int) -> tuple[int, float, float, int]:
        circle = circles[index]
        return len(circle), sum(sure[other] for other in circle), sure[index], -index

    winner = max(standing, key=strength)
    if not replies[winner].answer.located:
        exact = [index for index in circles[winner] if replies[index].answer.located]
        winner = max(exact, key=strength, default=winner)
    return Vote(winner, len(circles[winner]), len(standing))


async def same_place(one: Reply, other: Reply, placer: Placer, within_km: float = AGREE_WITHIN_KM) -> bool:
    """Whether two replies mean the same place."""
    return agree(await placer.extent(one.answer), await placer.extent(other.answer), within_km)
