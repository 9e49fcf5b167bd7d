"""Where a text says it is: one definition for metrics, rewards and whoever else has words in place of a point."""

from collections.abc import Iterable
from dataclasses import replace

from geosleuth.errors import BadInput
from geosleuth.names import country_code

from .parts import is_part_of, split_parts, written_parts
from .protocol import Atlas, Hit

_LOOKED_AT = 12
"""How many namesakes are looked at."""


async def place_text(atlas: Atlas, text: str) -> Hit | None:
    """The place that an address or a name means, as `places_meant`; None where nothing of it is known."""
    return next(iter(await places_meant(atlas, text)), None)


async def place_texts(atlas: Atlas, texts: Iterable[str]) -> dict[str, Hit]:
    """The places that texts mean, each asked for once; what is not known is left out.

    Raises:
        ServiceFault: a service failed.
    """
    found = {}
    for text in dict.fromkeys(texts):
        try:
            hit = await place_text(atlas, text)
        except BadInput:
            continue  # what a model wrote is no address at all
        if hit is not None:
            found[text] = hit
    return found


async def places_meant(atlas: Atlas, text: str) -> list[Hit]:
    """The places that an address or a name may mean, inside the country that it names, the likeliest first.

    The offline atlas falls back from the address to its town, region and country by itself. A service is asked again
    without the finest part until it knows the rest. ``Hit.level`` says how fine a place is, ``Hit.missing`` what of
    the text was not found.

    Raises:
        ServiceFault: a service failed.
    """
    parts = written_parts(text)
    codes = [code for part in split_parts(text)[-1:] if len(parts) > 1 and (code := country_code(part)) is not None]
    for start in range(len(parts)):
        meant = []
        for hit in await atlas.geocode(", ".join(parts[start:]), limit=_LOOKED_AT):
            country = hit.place.country or (await atlas.reverse(hit.place.point)).country if codes else None
            if country is None or any(is_part_of(country, code) for code in codes):
                meant.append(hit if not start else replace(hit, match="part", missing=(*parts[:start], *hit.missing)))
        if meant:
            return meant
    return []
