"""A placer that knows a few names, and how far the places reach."""

from collections.abc import Mapping
from typing import cast

from geosleuth.atlas import Atlas, Place
from geosleuth.atlas.placing import Placement, Placer
from geosleuth.atlas.protocol import Level
from geosleuth.geo import Box, Disc, Extent, distance_km


def placement(name: str, extent: Extent, level: Level = "town", missing: tuple[str, ...] = ()) -> Placement:
    """A place of this extent; ``missing`` is what of the words was not found."""
    middle = extent.centre
    radius_km = (
        extent.radius_km if isinstance(extent, Disc) else distance_km(middle, type(middle)(extent.north, extent.east))
    )
    return Placement(Place(name, name, level, middle, extent, "test"), level, extent, radius_km, missing)


class NamedPlaces(Placer):
    """Knows these names and no others."""

    def __init__(self, known: Mapping[str, Placement] | None = None) -> None:
        super().__init__(cast("Atlas", None))
        self.known = dict(known or {})

    async def place(self, words: str) -> Placement | None:
        return self.known.get(words)


MALTA = placement("Malta", Box(35.8, 14.2, 36.0, 14.6), "country")
FRANCE = placement("France", Box(42.3, -4.8, 51.1, 8.2), "country")
