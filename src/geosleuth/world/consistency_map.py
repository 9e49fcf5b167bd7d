"""A map for the judge by rule: where the shops and streets are that a reasoning names."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from geosleuth.atlas import Atlas
from geosleuth.clues import Spot

from .consistency import Search

MOST_HITS = 10
REACH_KM = 1.0
_SURE_WEIGHT = 0.9


def map_search(atlas: Atlas) -> Search:
    """Ask an atlas for features by name; only those that bear the very name count, and all of them share the weight.

    Works whether or not an event loop runs in the caller's thread.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="map-search")

    @lru_cache(maxsize=4096)
    def search(name: str, country: str) -> tuple[Spot, ...]:
        return thread.submit(asyncio.run, _spots(atlas, name, country)).result()

    return search


async def _spots(atlas: Atlas, name: str, country: str) -> tuple[Spot, ...]:
    hits = await atlas.search_pois(name, limit=MOST_HITS) or await atlas.geocode(name, limit=MOST_HITS, country=country)
    named = [hit.place for hit in hits if hit.match in ("exact", "alias")]
    around = [(place, await atlas.reverse(place.point)) for place in named]
    there = [
        (place, found.places[0].place.name) for place, found in around if found.country == country and found.places
    ]
    return tuple(
        Spot(town, place.point, REACH_KM, _SURE_WEIGHT / len(there), country, place.id) for place, town in there
    )
