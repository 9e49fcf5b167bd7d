"""A map for the judge by rule: where the shops and streets are that a reasoning names."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

from geosleuth.atlas import Atlas, Hit
from geosleuth.clues import Spot

from .consistency import Search

MOST_HITS = 10
REACH_KM = 1.0
_SURE_WEIGHT = 0.9
T = TypeVar("T")


def map_search(atlas: Atlas) -> Search:
    """Ask an atlas for features by name; only those that bear the very name count, and all of them share the weight.

    Works whether or not an event loop runs in the caller's thread.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="map-search")

    def wait_for(question: Coroutine[Any, Any, T]) -> T:
        return thread.submit(asyncio.run, question).result()

    @lru_cache(maxsize=4096)
    def search(name: str, country: str) -> tuple[Spot, ...]:
        hits = wait_for(_hits(atlas, name, country))
        towns = [wait_for(atlas.reverse(hit.place.point)) for hit in hits]
        return tuple(
            Spot(
                town.places[0].place.name if town.places else hit.place.name,
                hit.place.point,
                REACH_KM,
                _SURE_WEIGHT / len(hits),
                country,
                hit.place.id,
            )
            for hit, town in zip(hits, towns, strict=True)
        )

    return search


async def _hits(atlas: Atlas, name: str, country: str) -> list[Hit]:
    features = await atlas.search_pois(name, limit=MOST_HITS)
    streets = [] if features else await atlas.geocode(name, limit=MOST_HITS, country=country)
    return [hit for hit in (*features, *streets) if hit.match in ("exact", "alias") and hit.place.country == country]
