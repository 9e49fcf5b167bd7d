"""Resolve words to a place: one rule for single runs, teams, scorers, judges, rewards, evaluation and final checks.

The finest part of the words that the atlas knows, inside everything else that they name, is the place. A part that is
not known is listed in ``missing`` and never replaced by a town that was not named: "Nowhere Park, Utah" is placed at
the level of the region, with the extent of Utah. Words of which nothing is known have no placement.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace

from geosleuth.answer import Address, Answer
from geosleuth.answer.answer import PIN_KM, envelope
from geosleuth.errors import BadInput
from geosleuth.geo import Extent, LatLon
from geosleuth.names import country_code

from .parts import is_part_of, split_parts, written_parts
from .place_extent import extent_of, radius_km_of
from .protocol import Atlas, Hit, Level, Place

_MAX_NAMESAKES = 12


@dataclass(frozen=True, slots=True)
class Placement:
    """The place that words name: the level that matched, how far that place reaches, and what was not found."""

    place: Place
    level: Level
    extent: Extent
    radius_km: float
    """Distance from ``point`` to the farthest part of the extent; 0 where only the point is known."""
    missing: tuple[str, ...] = ()
    others: tuple["Placement", ...] = ()
    """Places of the same name that the words may mean as well, the likeliest first."""

    @property
    def point(self) -> LatLon:
        """Return a point in the middle of the extent and inside it; scorers measure from here."""
        return self.place.point

    @property
    def is_area(self) -> bool:
        """Return whether this is a whole country too wide for its middle to be an answer."""
        return self.level == "country" and self.radius_km > PIN_KM


class Placer:
    """Places words and answers with one atlas; each text is looked up once, and again only if a service failed."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._known: dict[str, Placement | None] = {}

    async def place(self, words: str) -> Placement | None:
        """Return the likeliest place that the words name; None if nothing of them is known.

        Raises:
            ServiceFault: a service failed.
        """
        if words not in self._known:
            self._known[words] = await _place(self._atlas, words)
        return self._known[words]

    async def place_answer(self, answer: Answer) -> Placement | None:
        """Return the place that the address of an answer names, whether or not the answer has a point."""
        return await self.place_address(answer.address)

    async def place_address(self, address: Address) -> Placement | None:
        """Return the place that an address names."""
        return await self.place(envelope(address))


async def place_words(atlas: Atlas, words: Iterable[str]) -> dict[str, Placement]:
    """Return the placement of each distinct text; texts of which nothing is known are left out.

    Raises:
        ServiceFault: a service failed.
    """
    placer = Placer(atlas)
    found = {text: await placer.place(text) for text in dict.fromkeys(words)}
    return {text: placement for text, placement in found.items() if placement is not None}


def with_point(answer: Answer, placement: Placement | None) -> Answer:
    """Return the answer with the point and radius of its placement, unless it has a point or names only a country."""
    if answer.point is not None or placement is None or placement.is_area:
        return answer
    return replace(answer, point=placement.point, radius_km=answer.radius_km or placement.radius_km or None)


async def _place(atlas: Atlas, words: str) -> Placement | None:
    try:
        hits = [hit for hit in await _places_named(atlas, words) if hit.match != "fuzzy"]
    except BadInput:
        return None  # models also write texts that can't be an address
    found = [await asyncio.to_thread(_placement, hit) for hit in hits]
    return replace(found[0], others=tuple(found[1:])) if found else None


def _placement(hit: Hit) -> Placement:
    place = hit.place
    extent = extent_of(place) or place.extent
    return Placement(place, hit.level, extent, radius_km_of(place) or 0.0, hit.missing)


async def _places_named(atlas: Atlas, text: str) -> list[Hit]:
    """Return the places that a text may name, the likeliest first, inside the country that it names.

    The offline atlas itself falls back from an address to its town, region and country. For online services, the query
    is repeated without its finest part until something is found.
    """
    parts = written_parts(text)
    codes = [code for part in split_parts(text)[-1:] if len(parts) > 1 and (code := country_code(part)) is not None]
    for start in range(len(parts)):
        found = []
        for hit in await atlas.geocode(", ".join(parts[start:]), limit=_MAX_NAMESAKES):
            country = hit.place.country or (await atlas.reverse(hit.place.point)).country if codes else None
            if country is None or any(is_part_of(country, code) for code in codes):
                found.append(hit if not start else replace(hit, match="part", missing=(*parts[:start], *hit.missing)))
        if found:
            return found
    return []
