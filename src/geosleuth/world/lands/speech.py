"""Which language the signs of each land are in."""

import unicodedata
from functools import cache
from typing import Final

from .east import EAST
from .land import Land
from .tongue import Tongue
from .tongues_germanic import GERMANIC
from .west import WEST

TONGUES: Final[dict[str, Tongue]] = {one.code: one for one in (*GERMANIC,)}

_SPOKEN: Final = {
    "DE": "de", "AT": "de", "CH": "de", "BE": "nl", "NL": "nl", "GB": "en", "IE": "en", "US": "en", "CA": "en",
    "AU": "en", "NZ": "en", "NG": "en", "ZA": "af", "SE": "sv", "NO": "no", "DK": "da", "IS": "is",
}  # fmt: skip
_OF_INDIA: Final = {
    "DEVANAGARI": "hi", "TAMIL": "ta", "TELUGU": "te", "KANNADA": "kn", "MALAYALAM": "ml", "GUJARATI": "gu",
    "GURMUKHI": "pa",
}  # fmt: skip


def _spoken(land: Land) -> str | None:
    if land.code == "IN":
        return _OF_INDIA[unicodedata.name(land.towns[0].name[0]).split()[0]]
    return _SPOKEN.get(land.code)


@cache
def tongue_of(land: Land) -> Tongue:
    """The language of a land's signs."""
    return TONGUES[_spoken(land) or ""]


WORLD_LANDS: Final[tuple[Land, ...]] = tuple(land for land in (*WEST, *EAST) if _spoken(land) in TONGUES)
"""The lands that have towns in a world."""
