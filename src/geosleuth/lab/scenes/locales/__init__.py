"""Sign texts of some seventy countries and languages, written down for made-up scenes alone.

Nothing here is taken from the tables of the detective, and nothing there may be taken from here: scenes measure it.
Towns stand as on their own signs, with degrees north and east, a postcode and an area code where scenes use them.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from .locale import KINDS, Land, Language, Town, read_lands, read_languages
from .names import COUNTRIES
from .tables import parts, read_table

_NAMED_AFTER_TOWN: Final = "shop called after a town"

LANGUAGES: Final = {language.code: language for language in read_languages()}
_ALL_LANDS: Final = tuple(read_lands())
# Countries in use. In each, every second town is for calibration and the others are held out; so are the words.
LANDS: Final = tuple(land for land in _ALL_LANDS if land.listed)
# Words that bus companies add to the name of their town, by country.
COACHES: Final = {code: country.coaches for code, country in COUNTRIES.items() if country.coaches}
# Surnames that are also names of towns, or derive from one, by country.
SURNAMES: Final = {code: country.surnames for code, country in COUNTRIES.items() if country.surnames}


@dataclass(frozen=True, slots=True)
class Cue:
    """Text on a sign, and the country that it points to."""

    sort: str
    country: str
    lines: tuple[str, ...]


_CUES: Final = tuple(
    Cue(row["sort"], row["country"], parts(row["lines"]))
    for row in read_table("cues.tsv", ("sort", "country", "lines"))
)
# Misleading cues: they stand in one country and point to another. Tour buses are generated from a town and a number.
CUES: Final = tuple(cue for cue in _CUES if cue.sort != _NAMED_AFTER_TOWN)
NAMED_AFTER_TOWNS: Final = tuple(cue for cue in _CUES if cue.sort == _NAMED_AFTER_TOWN)


@cache
def find_land(country: str) -> Land | None:
    """Return the land of a country, the first where it has several; None if its signs are not known."""
    return next((land for land in _ALL_LANDS if land.code == country), None)


__all__ = [
    "COACHES",
    "CUES",
    "KINDS",
    "LANDS",
    "LANGUAGES",
    "NAMED_AFTER_TOWNS",
    "SURNAMES",
    "Cue",
    "Land",
    "Language",
    "Town",
    "find_land",
]
