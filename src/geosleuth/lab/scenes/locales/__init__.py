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


@dataclass(frozen=True, slots=True)
class Cue:
    """Text on a sign, and the country that it points to."""

    sort: str
    country: str
    lines: tuple[str, ...]


LANGUAGES: Final = {language.code: language for language in read_languages()}
_ALL_LANDS: Final = tuple(read_lands())
LANDS: Final = tuple(land for land in _ALL_LANDS if land.listed)
"""Every second town is for calibration, the others are held out; so are the words."""

_CUES: Final = tuple(
    Cue(row["sort"], row["country"], parts(row["lines"]))
    for row in read_table("cues.tsv", ("sort", "country", "lines"))
)
CUES: Final = tuple(cue for cue in _CUES if cue.sort != _NAMED_AFTER_TOWN)
"""What stands in one country and speaks of another; tour buses are made up on the spot, from a town and a number."""
NAMED_AFTER_TOWNS: Final = tuple(cue for cue in _CUES if cue.sort == _NAMED_AFTER_TOWN)

COACHES: Final = {code: country.coaches for code, country in COUNTRIES.items() if country.coaches}
"""What firms that run buses call themselves behind the name of their town."""
SURNAMES: Final = {code: country.surnames for code, country in COUNTRIES.items() if country.surnames}
"""Names of people that are names of towns, too, or come from one."""


@cache
def land_of(country: str) -> Land | None:
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
    "land_of",
]
