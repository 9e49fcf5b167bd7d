"""What a map is asked for by: a country, region or settlement of the base atlas, or a point.

Added regions and gazetteers are not asked. Any shop or street of theirs would pass for a place otherwise.
"""

import re
from contextlib import closing
from typing import Final

from geosleuth.answer.coordinates import written_point
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.text.safe import one_line

from .base import BasePlaces, ensure_base, open_base
from .protocol import Place

_KINDS: Final = ("country", "region", "city")
_NAME_CHARS: Final = 80
_LOOKED_AT: Final = 12
_WORD: Final = re.compile(r"[^\W\d_]{2}")


def map_point(text: str) -> LatLon | None:
    """Return the point that a text writes out, such as "42.5,1.5"; None where it is a name or an area.

    Raises:
        BadInput: two numbers that are no point.
    """
    return None if _WORD.search(text) or text.count(",") > 1 else written_point(text)


def map_place(text: str) -> Place:
    """Return the country, region or settlement of that name.

    Raises:
        BadInput: there is none; the message names the one that may be meant.
    """
    wanted = " ".join(one_line(text).split())[:_NAME_CHARS]
    # Postcodes and house numbers are no names.
    is_name = any(one.isalpha() for one in wanted)
    with closing(open_base(ensure_base())) as base:
        hits = BasePlaces(base).geocode(wanted, limit=_LOOKED_AT) if is_name else []
    hit = next((hit for hit in hits if hit.place.kind in _KINDS), None)
    if hit is not None and hit.match in ("exact", "alias") and not hit.missing:
        return hit.place
    is_guess = hit is not None and (hit.match == "fuzzy" or "," in wanted)
    meant = f"did you mean {hit.place.address or hit.place.name}?" if hit is not None and is_guess else ""
    raise BadInput(f"no country, region or city is called {wanted!r}; {meant or 'try its English name or its code'}")
