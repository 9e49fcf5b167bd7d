"""Whether two answers mean the same place: their extents meet within a distance. Equal words are not agreement."""

from collections.abc import Sequence

from geosleuth.answer import Answer
from geosleuth.atlas import Atlas
from geosleuth.errors import GeosleuthError
from geosleuth.geo import Disc, Extent, extent_distance_km

AGREE_WITHIN_KM = 50.0
"""How far apart the places of two answers that agree may lie; smileGeo's threshold."""


class Placer:
    """From answers to extents: the point where there is one, otherwise the place that the address names.

    Every address is looked up once; only where the looking up failed, it is tried again the next time. One that nobody
    can find has no extent, and agrees with nothing.
    """

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._known: dict[str, Extent | None] = {}

    async def extent(self, answer: Answer) -> Extent | None:
        """Where the answer says it is."""
        if answer.point is not None:
            return Disc(answer.point, 0.0)
        words = str(answer.address)
        if not words:
            return None
        if words not in self._known:
            try:
                self._known[words] = await self._look_up(words)
            except GeosleuthError:
                return None
        return self._known[words]

    async def _look_up(self, words: str) -> Extent | None:
        hits = await self._atlas.geocode(words, limit=1)
        return hits[0].place.extent if hits else None


def agree(one: Extent | None, other: Extent | None, within_km: float = AGREE_WITHIN_KM) -> bool:
    """Whether two places meet within so many km; what has no place agrees with nothing."""
    return one is not None and other is not None and extent_distance_km(one, other) <= within_km


def cluster(extents: Sequence[Extent | None], within_km: float = AGREE_WITHIN_KM) -> list[frozenset[int]]:
    """For each answer, who agrees with it, itself included; nobody where it has no place."""
    count = range(len(extents))
    return [frozenset(j for j in count if agree(extents[i], extents[j], within_km)) for i in count]
