"""How large a swarm's stages are, when its members agree, and how long it may take."""

from dataclasses import dataclass
from typing import Literal

from geosleuth.errors import BadInput
from geosleuth.team import AGREE_WITHIN_KM

Walk = Literal["onward", "neighbours"]
"""How reviewers are drawn: along one walk that goes on from reviewer to reviewer, or each from the answer agent's own
links."""


@dataclass(frozen=True, slots=True)
class SwarmSettings:
    """The numbers of a swarm.

    Attributes:
        answerers: how many members are elected to answer (K).
        reviewers: how many others look at each answer (R).
        rounds: turns that each answer agent has in the discussion, at most (Z).
        within_km: how far apart the places of answers that agree may lie (th).
        seconds_per_reply: how long one reply may take; None is as long as the member itself allows.
        seconds: how long all of it may take; what is known by then decides. None is no limit.
        tokens: once the providers have counted so many, nobody is asked any more; None is no limit.
        usd: once so much is spent, nobody is asked any more; a reply whose price is not known ends it.
        walk: how reviewers are drawn.
        waits_for_news: an answer agent takes its next turn only when another one has said something since its last;
            without, it speaks in every round, as the paper has it.
    """

    answerers: int = 2
    reviewers: int = 2
    rounds: int = 10
    within_km: float = AGREE_WITHIN_KM
    seconds_per_reply: float | None = 300.0
    seconds: float | None = 1800.0
    tokens: int | None = None
    usd: float | None = None
    walk: Walk = "onward"
    waits_for_news: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no swarm."""
        if self.answerers < 1:
            raise BadInput("a swarm needs an answer agent; set answerers to 1 or more")
        if self.reviewers < 0 or self.rounds < 0:
            raise BadInput("reviewers and rounds are counts; set them to 0 or more")
        if not 0.0 <= self.within_km <= 20_100.0:
            raise BadInput("within_km is a distance on Earth; set it to 0 or more")
        if any(limit is not None and not limit > 0.0 for limit in (self.seconds_per_reply, self.seconds)):
            raise BadInput("a time limit must be above 0 seconds; leave it out for none")
        if self.walk not in ("onward", "neighbours"):
            raise BadInput(f"walk is {str(self.walk)[:40]!r}; it must be onward or neighbours")
