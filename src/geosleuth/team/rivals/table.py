"""All rivals by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Protocol

from geosleuth.errors import BadInput
from geosleuth.team import AGREE_WITHIN_KM, Member, Outcome, Placer, Request

from .alone import progressive_hints, reflexion, self_consistency, single_best
from .dylan import dylan
from .together import blender, debate, majority


class Way(Protocol):
    """One way for members to come to an answer.

    ``lead`` is the index of the member that works alone, or ranks and fuses: the best by its record, where one is
    known.
    """

    async def __call__(
        self,
        members: Sequence[Member],
        request: Request,
        *,
        placer: Placer,
        lead: int = 0,
        within_km: float = AGREE_WITHIN_KM,
        seconds_per_reply: float | None = None,
    ) -> Outcome:
        """Find an answer."""
        ...


@dataclass(frozen=True, slots=True)
class Rival:
    """A way of working that others published, and where."""

    name: str
    title: str
    paper: str
    run: Way


_ALL = (
    Rival("single", "single best", "the member with the best record, alone", single_best),
    Rival("majority", "majority", "a plain vote", majority),
    Rival("self-consistency", "self-consistency", "Wang et al., arXiv 2203.11171", self_consistency),
    Rival("blender", "LLM-Blender", "Jiang et al., arXiv 2306.02561", blender),
    Rival(
        "blender-bubble",
        "LLM-Blender, bubble",
        "Jiang et al., arXiv 2306.02561, the short cut",
        partial(blender, comparisons="bubble"),
    ),
    Rival("php", "PHP", "Zheng et al., arXiv 2304.09797", progressive_hints),
    Rival("reflexion", "Reflexion", "Shinn et al., arXiv 2303.11366", reflexion),
    Rival("debate", "LLM Debate", "Du et al., arXiv 2305.14325", debate),
    Rival("dylan", "DyLAN", "Liu et al., arXiv 2310.02170", dylan),
)

RIVALS: Mapping[str, Rival] = MappingProxyType({rival.name: rival for rival in _ALL})


def rival(name: str) -> Rival:
    """The rival of that name.

    Raises:
        BadInput: there is none; the message lists those there are.
    """
    found = RIVALS.get(name.strip().casefold())
    if found is None:
        raise BadInput(f"there is no way of working {name.strip()[:40]!r}; there are: swarm, {', '.join(RIVALS)}")
    return found
