"""Postcodes of made-up streets: in the form of the country, and of the right region where the atlas can tell."""

import random
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Final

from geosleuth.atlas.facts import by_postcode
from geosleuth.names import same_region

from .lands.postcodes import BEGINNINGS, POSTCODES
from .towns import WorldTown

_LETTERS: Final = "ABCEGHJKLMNPRTVXY"  # none that any of the countries leaves out
_FIRST_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_FIGURES: Final = "0123456789"
_TELLING: Final = 3  # no region needs more than the first three figures


def postcode_of(town: WorldTown, street: int, seed: int) -> str | None:
    """The postcode of one of a town's streets; None where the land has none, or none that can be made up.

    The table of lands knows the codes of some towns' centres. Elsewhere figures are drawn, so that they are of the
    right region where the atlas knows regions by their codes; the rest is nobody's.
    """
    mask = POSTCODES.get(town.country)
    if mask is None or len(town.postcode) >= len(mask):
        return town.postcode or None
    of_town = random.Random(f"post {town.geonames}")  # noqa: S311 - no secret depends on it
    of_street = random.Random(f"post {seed} {town.geonames} {street}")  # noqa: S311 - no secret depends on it
    begins = (town.postcode,) if town.postcode else _beginnings_of(town)
    if not begins and _regions_by_beginning(town.country):
        return None  # whatever is drawn would speak of some other region
    code = of_town.choice(begins) if begins else ""
    fixed = max(len(code), (len(mask) + 1) // 2)
    for place in range(len(code), len(mask)):
        code += _drawn(mask[place], of_town if place < fixed else of_street, first=place == 0)
    return code


def _drawn(sign: str, chance: random.Random, *, first: bool) -> str:
    options = _options(sign)
    return chance.choice(options[1:] if first and sign == "#" else options)


def _options(sign: str) -> str:
    return _FIGURES if sign == "#" else _LETTERS if sign == "@" else sign


def _beginnings_of(town: WorldTown) -> tuple[str, ...]:
    if town.region_code in BEGINNINGS:
        return tuple(BEGINNINGS[town.region_code].split())
    return _beginnings(town.country, town.region or "") or _beginnings(town.country, town.name)


@cache
def _beginnings(country: str, region: str) -> tuple[str, ...]:
    """With what the codes of a region begin; empty where the atlas does not know. Italy's are called after towns."""
    named = _regions_by_beginning(country)
    meant = {name for name in set(named.values()) if same_region(name, region, country)}
    return tuple(begin for begin, name in named.items() if name in meant)


@cache
def _regions_by_beginning(country: str) -> dict[str, str]:
    """The region that each first few figures of a country's codes stand for."""
    mask = POSTCODES[country]
    telling = 1 if mask[0] == "@" else _TELLING
    rest = "".join(_options(sign)[1 if sign == "#" else 0] for sign in mask[telling:])
    options = [_FIRST_LETTERS] if telling == 1 else [_options(sign) for sign in mask[:telling]]
    begins = ["".join(figures) for figures in product(*options)]

    def regions_of(some: Sequence[str]) -> dict[str, str]:
        told = {begin: by_postcode(begin + rest).regions.get(country) for begin in some}
        return {begin: region for begin, region in told.items() if region is not None}

    # Where not one in twelve tells a region, none does, and a second of looking is saved.
    return regions_of(begins) if regions_of(begins[1::12]) else {}
