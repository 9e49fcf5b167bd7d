"""Which language the signs of each land are in."""

import unicodedata
from functools import cache
from typing import Final

from .east import EAST
from .land import Land
from .small import SMALL_LANDS
from .tongue import Tongue
from .tongues_asia import ASIA
from .tongues_germanic import GERMANIC
from .tongues_north_east import NORTH_EAST
from .tongues_romance import ROMANCE
from .tongues_slavic import SLAVIC
from .tongues_south import SOUTH
from .tongues_south_west import SOUTH_WEST
from .west import WEST

TONGUES: Final[dict[str, Tongue]] = {
    one.code: one for one in (*GERMANIC, *ROMANCE, *SLAVIC, *NORTH_EAST, *ASIA, *SOUTH, *SOUTH_WEST)
}

_SPOKEN: Final = {
    "DE": "de", "AT": "de", "CH": "de", "BE": "nl", "NL": "nl", "GB": "en", "IE": "en", "US": "en", "CA": "en",
    "AU": "en", "NZ": "en", "NG": "en-ng", "ZA": "af", "SE": "sv", "NO": "no", "DK": "da", "IS": "is", "FR": "fr",
    "IT": "it", "ES": "es", "PT": "pt", "BR": "pt-br", "AR": "es-am", "MX": "es-am", "CL": "es-am", "PE": "es-am",
    "CO": "es-am", "PL": "pl", "CZ": "cs", "SK": "sk", "HU": "hu", "RO": "ro", "BG": "bg", "GR": "el", "RU": "ru",
    "UA": "uk", "RS": "sr", "HR": "hr", "SI": "sl", "TR": "tr", "FI": "fi", "EE": "et", "LV": "lv", "LT": "lt",
    "JP": "ja", "KR": "ko", "CN": "zh", "TW": "zh-hant", "HK": "zh-hant", "TH": "th", "VN": "vi", "ID": "id",
    "MY": "ms", "PH": "tl", "LK": "si", "BD": "bn", "NP": "ne", "PK": "ur", "IR": "fa", "IL": "he", "EG": "ar",
    "SA": "ar", "AE": "ar", "MA": "ar", "GE": "ka", "AM": "hy", "ET": "am", "KE": "sw", "TZ": "sw", "MM": "my",
    "KZ": "kk", "MC": "fr", "AD": "es",
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
def land_of(country: str) -> Land | None:
    """The land of a country, the first where it has several; None where its signs are not known."""
    return next((land for land in (*WORLD_LANDS, *SMALL_LANDS) if land.code == country), None)


@cache
def tongue_of(land: Land) -> Tongue:
    """The language of a land's signs."""
    return TONGUES[_spoken(land) or ""]


WORLD_LANDS: Final[tuple[Land, ...]] = tuple(land for land in (*WEST, *EAST) if _spoken(land) in TONGUES)
"""The lands that have towns in a world."""
