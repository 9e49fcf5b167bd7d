"""Resolve an address or place name to a place: one definition for metrics, rewards and agents."""

from collections.abc import Iterable
from dataclasses import replace

from geosleuth.errors import BadInput
from geosleuth.names import country_code

from .parts import is_part_of, split_parts, written_parts
from .protocol import Atlas, Hit

_MAX_NAMESAKES = 12


async def place_text(atlas: Atlas, text: str) -> Hit | None:
    """Return the likeliest place that an address or a name means; None if nothing of it is known."""
    return next(iter(await places_meant(atlas, text)), None)


async def place_texts(atlas: Atlas, texts: Iterable[str]) -> dict[str, Hit]:
    """Return the likeliest place for each distinct text; unknown ones are left out.

    Raises:
        ServiceFault: a service failed.
    """
    found = {}
    for text in dict.fromkeys(texts):
        try:
            hit = await place_text(atlas, text)
        except BadInput:
            continue  # models also write texts that can't be an address
        if hit is not None:
            found[text] = hit
    return found


async def places_meant(atlas: Atlas, text: str) -> list[Hit]:
    """Return the places that an address or a name may mean, the likeliest first.

    Places outside the country that the text names are left out. The offline atlas itself falls back from an address to
    its town, region and country. For online services, the query is repeated without its finest part until something is
    found. ``Hit.level`` says how precise a place is, ``Hit.missing`` which parts of the text were not found.

    Raises:
        ServiceFault: a service failed.
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
