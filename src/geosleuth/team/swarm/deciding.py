"""How a swarm's answer is chosen from what its answer agents said last."""

from geosleuth.geo import Disc, Extent
from geosleuth.team import cluster

from .stages import AnswerAgent


def decide(agents: list[AnswerAgent], within_km: float) -> tuple[AnswerAgent, str]:
    """Whose answer it is, and why; the agents come in the election's order.

    The reply that most others agree with; of several that agree, the one that names the smallest place. Ties go to who
    was elected first, and so does everything where nobody agrees with anybody.
    """
    if len(agents) == 1:
        return agents[0], "one answer only"
    groups = cluster([agent.extent for agent in agents], within_km)
    most = max(len(group) for group in groups)
    if most <= 1:
        return agents[0], "no agreement: the answer of the first elected"
    leader = next(group for group in groups if len(group) == most)
    equals = [index for index in sorted(leader) if len(groups[index]) == most]
    chosen = min(equals, key=lambda index: (_size(agents[index].extent), index))
    if all(len(group) == len(agents) for group in groups):
        return agents[chosen], f"consensus of {most}"
    return agents[chosen], f"most agreement: {most} of {len(agents)}"


def _size(extent: Extent | None) -> float:
    """How large a place is, in square degrees: enough to tell a city from its country."""
    match extent:
        case None:
            return float("inf")
        case Disc(radius_km=radius_km):
            return (2 * radius_km / 111.2) ** 2
        case box:
            return (box.north - box.south) * box.width_deg
