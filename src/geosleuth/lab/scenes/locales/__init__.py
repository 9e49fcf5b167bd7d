"""What signs say in some seventy countries and languages, written down for made-up scenes alone.

Nothing here is taken from the tables of the detective, and nothing there may be taken from here: scenes measure it.
Towns stand as on their own signs, with degrees north and east, a postcode and an area code where scenes use them.
"""

import unicodedata
from functools import cache
from typing import Final

from .languages_asia_africa import ASIA, SOUTH, SOUTH_WEST
from .languages_europe import GERMANIC, NORTH_EAST, ROMANCE, SLAVIC
from .locale import KINDS, Land, Language, Town
from .signs import COACHES, CUES, EAST, NAMED_AFTER_TOWNS, SMALL_LANDS, SURNAMES, WEST, Cue

LANGUAGES: Final[dict[str, Language]] = {
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

LANDS: tuple[Land, ...] = (*WEST, *EAST)
"""Every second town is for calibration, the others are held out; so are the words."""


def _spoken(land: Land) -> str | None:
    if land.code == "IN":
        return _OF_INDIA[unicodedata.name(land.towns[0].name[0]).split()[0]]
    return _SPOKEN.get(land.code)


@cache
def land_of(country: str) -> Land | None:
    """Return the land of a country, the first where it has several; None if its signs are not known."""
    return next((land for land in (*WORLD_LANDS, *SMALL_LANDS) if land.code == country), None)


@cache
def language_of(land: Land) -> Language:
    """Return the language of a land's signs."""
    return LANGUAGES[_spoken(land) or ""]


WORLD_LANDS: Final[tuple[Land, ...]] = tuple(land for land in (*WEST, *EAST) if _spoken(land) in LANGUAGES)
"""The lands that have towns in a world."""


__all__ = [
    "COACHES",
    "CUES",
    "KINDS",
    "LANDS",
    "LANGUAGES",
    "NAMED_AFTER_TOWNS",
    "SURNAMES",
    "WORLD_LANDS",
    "Cue",
    "Land",
    "Language",
    "Town",
    "land_of",
    "language_of",
]
