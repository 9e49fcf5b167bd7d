"""Reliability of clues: how often a clue is about the place where it is seen, and what misleads if not.

The figures are judgements, written down before any measuring; a script that calibrates hands `text_clues` a table of
its own, and what it finds belongs here. A reliability says nothing of how sharp a clue is: that is in its shares.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SURELY_READ = 0.9
ReliabilityTable = Mapping[str, float]
"""Another value for some of the rows."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Share of such clues that are about the place, 0 to 1, and what misleads."""

    value: float
    misled_by: str | None = None


# Reliability by kind of clue, or by kind and variant. No published sources; see the module's docstring.
RELIABILITY: Mapping[str, Reliability] = {
    "script": Reliability(0.9, "restaurants, embassies and imported goods write in the script of another country"),
    "script.few": Reliability(0.78, "a few letters may be a brand, a restaurant or a channel's mark"),
    "script.minor": Reliability(0.45, "most text is in another script: a restaurant, a product or a tourist sign"),
    "language": Reliability(0.8, "restaurants, fashion and tourism like foreign languages"),
    "language.guessed": Reliability(0.5, "names and brands look like words of some language or other"),
    "language.national": Reliability(0.75, "chains and menus word things as they do at home"),
    "language.one_word": Reliability(0.6, "one word may stand on a sign for other reasons"),
    "language.kitchen": Reliability(0.35, "restaurants like to name themselves in the language of their kitchen"),
    "language.english": Reliability(0.3, "English stands on signs everywhere"),
    "language.prose": Reliability(0.6, "English stands on signs for visitors everywhere"),
    "phone": Reliability(0.9, "tour buses, lorries and chains carry their home number abroad"),
    "phone.national": Reliability(0.75, "the same digits are valid in several countries"),
    "phone.unmarked": Reliability(0.4, "a row of digits may be no telephone number at all"),
    "postcode": Reliability(0.85, "addresses of headquarters and dealers stand on vans and posters"),
    "postcode.in_address": Reliability(0.75, "addresses of headquarters and dealers stand on vans and posters"),
    "postcode.bare": Reliability(0.1, "a bare number is more often a price, a house or a bus than a postcode"),
    "tld": Reliability(0.85, "tour buses and chains carry their home address abroad"),
    "tld.sold": Reliability(0.15, "this domain is sold to anyone, so it is often used elsewhere"),
    "place.district": Reliability(0.85, "other cities number their districts, too"),
    "currency": Reliability(0.8, "prices for tourists and exchange offices use foreign money"),
    "currency.dollar": Reliability(0.5, "many countries call their money dollar or peso, and others take dollars"),
    "currency.exchange": Reliability(0.15, "several currencies side by side: an exchange office lists foreign money"),
    "road_number": Reliability(0.6, "bus lines, gates and floors are numbered like roads; the table is partial"),
    "road_number.letter": Reliability(0.35, "bus lines, gates and floors are numbered like roads"),
    "brand": Reliability(0.75, "a chain may have branches abroad, and its name other bearers"),
    "brand.part": Reliability(0.5, "the name is only part of the text and may be another's"),
    "brand.misspelled": Reliability(0.35, "the name was read with errors or is another's"),
    "plate": Reliability(0.3, "cars cross borders, and many texts look like plates"),
    "distance_sign": Reliability(0.85, "sights and companies give distances to faraway places in jest"),
    "date_format": Reliability(0.4, "companies and travellers write dates in their own way"),
    "opening_hours": Reliability(0.4, "chains and tourist places write hours for visitors"),
    "speed": Reliability(0.6, "product texts and toys give speeds, too"),
    "unit": Reliability(0.5, "sports, product texts and aviation use units of their own"),
}  # fmt: skip


def reliability(sort: str, confidence: float = 1.0, table: ReliabilityTable | None = None) -> float:
    """The reliability of a sort of clue, times how likely its text was read rightly (0 to 1)."""
    value = (table or {}).get(sort, RELIABILITY[sort].value)
    return value * read_rightly(confidence)


def read_rightly(confidence: float) -> float:
    """Return the share of a clue that remains at a reading confidence: all of it from `SURELY_READ` on."""
    return min(1.0, max(confidence, 0.0) / SURELY_READ)


def get_distractor(sort: str) -> str | None:
    """Return what misleads in a sort of clue."""
    return RELIABILITY[sort].misled_by
