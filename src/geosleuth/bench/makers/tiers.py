"""Difficulty as a column of the set: MAPBench's tiers, by answers that were recorded for its photos."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from geosleuth.bench.compare import Tiers
from geosleuth.bench.sets.model import Item

TIER = "tier"


@dataclass(slots=True)
class Tiered:
    """How many photos came to which tier, counted as it goes; ``unknown`` were not answered by all."""

    easy: int = 0
    hard: int = 0
    unknown: int = 0


def with_tiers(items: Iterable[Item], tiers: Tiers, counted: Tiered) -> Iterator[tuple[Item, dict[str, str]]]:
    """Each photo with its tier: "easy", "hard", or the empty text where not everybody answered. Ids tell them apart."""
    known = dict(zip(tiers.ids, tiers.easy.tolist(), strict=True))
    for item in items:
        is_easy = known.get(item.id)
        counted.easy += is_easy is True
        counted.hard += is_easy is False
        counted.unknown += is_easy is None
        yield item, {TIER: "" if is_easy is None else "easy" if is_easy else "hard"}
