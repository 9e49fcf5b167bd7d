"""What a scene is to be like: drawn by stated shares, or as the caller wants it."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from geosleuth.errors import BadInput
from geosleuth.world.model import ClueLevel, SceneKind

LEVEL_SHARES: Mapping[ClueLevel | None, float] = {"precise": 0.40, "region": 0.30, "country": 0.20, None: 0.10}
"""The finest level that a legible clue reaches, None where nothing tells."""
SATELLITE_LEVEL_SHARES: Mapping[ClueLevel | None, float] = {"country": 0.70, None: 0.30}
"""Nothing is written that could be read from above."""

SMALL_SHARE = 0.20
MISLEADING_SHARE = 0.20
HIDDEN_SHARE = 0.15
LOOKS_ONLY_SHARE = 0.15
"""Of scenes that tell the country at best: those that have not a word in them."""
REAL_SHARE = 0.25
"""Of scenes in a world with added regions: those that stand in their real towns."""
MIXED_KINDS: Mapping[SceneKind, float] = {"street": 0.80, "panorama": 0.12, "satellite": 0.08}


@dataclass(frozen=True, slots=True)
class Wants:
    """What a caller insists on; None leaves it to chance.

    ``level`` is the finest that legible clues shall reach, ``nothing`` that none tells anything. ``small`` puts what
    tells most too small for a first view. ``chain`` asks for a business whose name stands in several towns, or for one
    that stands once. ``country`` is an ISO code, ``town`` a name of the world's. ``kind`` goes before the argument of
    the same name.
    """

    level: ClueLevel | None = None
    nothing: bool | None = None
    small: bool | None = None
    misleading: bool | None = None
    hidden: bool | None = None
    chain: bool | None = None
    kind: SceneKind | None = None
    country: str | None = None
    town: str | None = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.nothing and (self.level or self.small):
            raise BadInput("a scene in which nothing tells has no level and nothing small to read; want one of them")
        if self.kind == "satellite" and (self.small or self.misleading or self.hidden or self.level in _WRITTEN):
            raise BadInput("nothing is written in a satellite tile: it tells the country at best, and misleads nobody")


_WRITTEN = ("region", "precise")


@dataclass(frozen=True, slots=True)
class Plan:
    """What one scene is to be like, everything decided."""

    kind: SceneKind
    level: ClueLevel | None
    small: bool
    misleading: bool
    hidden: bool
    looks_only: bool
    chain: bool | None


def plan_of(kind: SceneKind, wants: Wants, chance: random.Random) -> Plan:
    """Decide what is left open. Every share is drawn every time, so that one wish changes nothing else."""
    kind = wants.kind or kind
    shares = SATELLITE_LEVEL_SHARES if kind == "satellite" else LEVEL_SHARES
    (level,) = chance.choices(list(shares), list(shares.values()))
    # One scene in ten has nothing that could be small: the others make up for it.
    small = chance.random() < SMALL_SHARE / (1 - LEVEL_SHARES[None])
    misleading, hidden = chance.random() < MISLEADING_SHARE, chance.random() < HIDDEN_SHARE
    looks_only = chance.random() < LOOKS_ONLY_SHARE
    if wants.level is not None:
        level = wants.level
    elif wants.nothing:
        level = None
    elif level is None and (wants.nothing is False or wants.small or wants.chain is not None):
        level = "country" if kind == "satellite" else "precise"
    if wants.chain is not None and kind != "satellite" and wants.level is None:
        level = "precise"
    written = kind != "satellite"
    small = (small if wants.small is None else wants.small) and level is not None and written
    misleading = (misleading if wants.misleading is None else wants.misleading) and written
    hidden = (hidden if wants.hidden is None else wants.hidden) and written
    looks_only = not written or (looks_only and level == "country" and not small)
    return Plan(kind, level, small, misleading, hidden, looks_only, wants.chain)
