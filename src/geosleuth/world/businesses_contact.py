"""How a made-up business is reached: telephone numbers and web addresses in the form of its country."""

import random
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from .lands.areas import areas
from .towns import WorldTown

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

_TRIES: Final = 60
_EXCHANGES: Final = 3
_FREE_FIGURES: Final = 4
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_LATIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ə": "e"}
)


def phones_of(town: WorldTown, seed: int) -> Iterator[str]:
    """Numbers that begin as the town's or its region's do, or else as mobile ones; as dialled from abroad.

    The last figures are drawn: whether somebody has that number is not known.
    """
    chance = random.Random(f"phones {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    patterns = [_valid_number(town, chance) for _ in range(_EXCHANGES)]
    given: set[str] = set()
    while True:
        pattern, free = chance.choice(patterns)
        figures = iter(f"{chance.randrange(10**free):0{free}}")
        keep = sum(letter.isdigit() for letter in pattern) - free
        number = ""
        for letter in pattern:
            keep -= letter.isdigit()
            number += next(figures) if letter.isdigit() and keep < 0 else letter
        if number not in given:
            given.add(number)
            yield number


def _valid_number(town: WorldTown, chance: random.Random) -> tuple[str, int]:
    """A number of the town as it is written, and how many of its last figures may be any."""
    import phonenumbers
    from phonenumbers import PhoneNumberFormat

    country = phonenumbers.country_code_for_region(town.country)
    begins, length = _beginning(town)
    free = min(_FREE_FIGURES, length - len(begins))
    for _ in range(_TRIES):
        more = "".join(str(chance.randrange(10)) for _ in range(length - len(begins)))
        number = phonenumbers.parse(f"+{country}{begins}{more}", None)
        if phonenumbers.is_valid_number_for_region(number, town.country):
            return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL), free
    return phonenumbers.format_number(_example(town.country), PhoneNumberFormat.INTERNATIONAL), _FREE_FIGURES


def _beginning(town: WorldTown) -> tuple[str, int]:
    """With which figures numbers of a town begin, and how many there are in all."""
    import phonenumbers
    from phonenumbers import PhoneNumberType

    if town.area and town.land.digits:
        return town.area, town.land.digits
    begins = areas().get(str(town.geonames)) or areas().get(town.region_code, "")
    kept = phonenumbers.example_number_for_type(town.country, PhoneNumberType.FIXED_LINE)
    if not begins or kept is None:
        mobile = phonenumbers.national_significant_number(_example(town.country))
        return mobile[:-_FREE_FIGURES], len(mobile)
    return begins, len(phonenumbers.national_significant_number(kept))


@cache
def _example(country: str) -> "PhoneNumber":
    import phonenumbers
    from phonenumbers import PhoneNumberType

    mobile = phonenumbers.example_number_for_type(country, PhoneNumberType.MOBILE)
    example = mobile or phonenumbers.example_number(country)
    if example is None:
        raise LookupError(f"phonenumbers has no example for {country}")
    return example


def domain_of(town: WorldTown, name: str, number: int, *, shared: bool) -> str:
    """A web address: the name where it is written in Latin letters, and the town where the name alone would not do."""
    slug = slug_of(name)
    place = slug_of(town.name)
    if len(slug) < 4:
        slug = f"{place}{number + 1}"
    elif shared:
        slug = f"{slug}-{place}"
    return f"{slug}.{town.land.domain}"


def slug_of(text: str) -> str:
    """Small Latin letters and figures, words joined by hyphens; empty for other scripts."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LATIN))
    kept = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return _NO_LETTERS.sub("-", kept).strip("-")
