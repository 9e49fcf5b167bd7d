"""A world: real towns with made-up streets and businesses, all of it hanging on one number."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from .businesses import BusStop, bus_stops_of, businesses_of
from .model import Business, Split
from .streets import Plan, Street, plan_of
from .towns import WorldTown, towns_of
from .world_regions import real_region, region_file

Noise = Literal["none", "chains", "homonyms", "both"]
"""Which names stand in several towns: those of chains, those that unrelated businesses happen to share."""
NOISES: Final[tuple[Noise, ...]] = ("none", "chains", "homonyms", "both")
_KEPT_TOWNS: Final = 4096


@dataclass(frozen=True)
class World:
    """Towns, and what stands in them once somebody looks.

    Nothing depends on which towns were looked at before. Two worlds of one seed that differ in ``noise`` have the same
    towns, streets, doors and telephone numbers; only the names over some doors differ.
    """

    seed: int = 1
    noise: Noise = "both"
    regions: tuple[Path, ...] = ()
    towns: Sequence[WorldTown] = field(default=(), repr=False, hash=False)

    def split_of(self, town: WorldTown) -> Split:
        """Whether a town may be trained on; the same in every world."""
        return town.split

    def towns_in(self, split: Split) -> tuple[WorldTown, ...]:
        """The towns of one split."""
        return tuple(town for town in self.towns if town.split == split)

    def streets(self, town: WorldTown) -> tuple[Street, ...]:
        """The streets of a town; those of its whole region where they are real."""
        if town.region_file is not None:
            return real_region(town.region_file).streets
        return _plan(town, self.seed).streets

    def bus_stops(self, town: WorldTown) -> tuple[BusStop, ...]:
        """The bus stops of a town; those of its whole region where they are real."""
        if town.region_file is not None:
            return real_region(town.region_file).stops
        return bus_stops_of(town, _plan(town, self.seed))

    def businesses(self, town: WorldTown) -> tuple[Business, ...]:
        """The businesses of a town."""
        if town.region_file is not None:
            return real_region(town.region_file).businesses[town.geonames]
        return _businesses(town, self.seed, self.noise)


def open_world(seed: int = 1, regions: Sequence[Path] = (), *, noise: Noise = "both") -> World:
    """The world of a seed; cheap, since towns are filled one by one as they are looked at.

    Args:
        seed: another one gives other towns, streets and businesses.
        regions: files of added regions, or extracts (taken in once, which takes seconds), whose real businesses join
            the world. Towns inside them have no made-up streets.
        noise: which names repeat in several towns.

    Raises:
        BadInput: a region can't be read.
    """
    files = tuple(region_file(path) for path in regions)
    towns = towns_of(seed)
    for region in map(real_region, files):
        towns = (*(town for town in towns if not region.extent.contains(town.point)), *region.towns)
    return World(seed, noise, files, towns)


@lru_cache(maxsize=_KEPT_TOWNS)
def _plan(town: WorldTown, seed: int) -> Plan:
    return plan_of(town, seed)


@lru_cache(maxsize=_KEPT_TOWNS)
def _businesses(town: WorldTown, seed: int, noise: Noise) -> tuple[Business, ...]:
    return businesses_of(
        town, _plan(town, seed), seed, chains=noise in ("chains", "both"), homonyms=noise in ("homonyms", "both")
    )
