"""Where a text says it is: one definition for metrics, rewards and whoever else has words in place of a point."""

from dataclasses import replace

from geosleuth.names import country_code

from .parts import is_part_of, split_parts, written_parts
from .protocol import Atlas, Hit


async def place_text(atlas: Atlas, text: str) -> Hit | None:
    """The place that an address or a name means, inside the country that it names; None where nothing of it is known.

    The offline atlas falls back from the address to its town, region and country by itself. A service is asked again
    without the finest part until it knows the rest. ``Hit.level`` says how fine the place is, ``Hit.missing`` what of
    the text was not found.

    Raises:
        ServiceFault: a service failed.
    """
    parts = written_parts(text)
    codes = [code for part in split_parts(text)[-1:] if len(parts) > 1 and (code := country_code(part)) is not None]
    for start in range(len(parts)):
        for hit in await atlas.geocode(", ".join(parts[start:]), limit=5):
            country = hit.place.country or (await atlas.reverse(hit.place.point)).country if codes else None
            if country is not None and not any(is_part_of(country, code) for code in codes):
                continue
            return hit if not start else replace(hit, match="part", missing=(*parts[:start], *hit.missing))
    return None
