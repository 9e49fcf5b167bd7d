"""Parse the place that a map is requested for: a point, or a country, region or settlement of the base atlas.

Added regions and gazetteers are not searched: otherwise any shop or street in them could pass for a place.
"""

import re
from contextlib import closing
from typing import Final

from geosleuth.answer.coordinates import parse_point
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput
from geosleuth.support.text.safe import one_line

from .base import BasePlaces, ensure_base, open_base
from .protocol import Place

_KINDS: Final = ("country", "region", "city")
_NAME_CHARS: Final = 80
_MAX_HITS: Final = 12
_WORD: Final = re.compile(r"[^\W\d_]{2}")


def map_point(text: str) -> LatLon | None:
    """Return the point that a text gives as coordinates, such as "42.5,1.5"; None if it is a name or an area.

    Raises:
        BadInput: the text has two numbers that are not a valid point.
    """
    return None if _WORD.search(text) or text.count(",") > 1 else parse_point(text)


def map_place(text: str) -> Place:
    """Return the country, region or settlement of that name.

    Raises:
        BadInput: there is none; the message suggests a similar one.
    """
    wanted = " ".join(one_line(text).split())[:_NAME_CHARS]
    # Without letters it can only be a postcode or a house number.
    is_name = any(character.isalpha() for character in wanted)
    with closing(open_base(ensure_base())) as base:
        hits = BasePlaces(base).geocode(wanted, limit=_MAX_HITS) if is_name else []
    hit = next((hit for hit in hits if hit.place.kind in _KINDS), None)
    if hit is not None and hit.match in ("exact", "alias") and not hit.missing:
        return hit.place
    is_guess = hit is not None and (hit.match == "fuzzy" or "," in wanted)
    suggestion = f"did you mean {hit.place.address or hit.place.name}?" if hit is not None and is_guess else ""
    raise BadInput(
        f"no country, region or city is called {wanted!r}; {suggestion or 'try its English name or its code'}"
    )
