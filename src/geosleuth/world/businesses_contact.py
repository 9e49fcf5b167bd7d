"""How a made-up business is reached: telephone numbers, postcodes and web addresses in the form of its country."""

import random
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

from .lands.postcodes import POSTCODES
from .towns import WorldTown

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

_TRIES: Final = 40
_NO_LETTERS: Final = re.compile(r"[^a-z0-9]+")
_LATIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ə": "e"}
)
_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"


def phone_of(town: WorldTown, chance: random.Random) -> str:
    """A number with the town's area code where that is known, a mobile one where not, as dialled from abroad.

    The figures are drawn: whether somebody has that number is not known.
    """
    import phonenumbers
    from phonenumbers import PhoneNumberFormat

    land = town.land
    country = phonenumbers.country_code_for_region(land.code)
    for _ in range(_TRIES if land.digits and town.area else 0):
        more = "".join(str(chance.randrange(10)) for _ in range(land.digits - len(town.area)))
        number = phonenumbers.parse(f"+{country}{town.area}{more}", None)
        if phonenumbers.is_valid_number_for_region(number, land.code):
            return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
    example = _example(land.code)
    national = phonenumbers.national_significant_number(example)
    number = example
    for _ in range(_TRIES):
        varied = national[:-5] + f"{chance.randrange(100_000):05}"
        number = phonenumbers.parse(f"+{country}{varied}", None)
        if phonenumbers.is_valid_number_for_region(number, land.code):
            break
    return phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)


@cache
def _example(country: str) -> "PhoneNumber":
    import phonenumbers
    from phonenumbers import PhoneNumberType

    mobile = phonenumbers.example_number_for_type(country, PhoneNumberType.MOBILE)
    example = mobile or phonenumbers.example_number(country)
    if example is None:
        raise LookupError(f"phonenumbers has no example for {country}")
    return example


def postcode_of(town: WorldTown, street: int, seed: int) -> str | None:
    """The postcode of one of a town's streets; None where the land has none, or none that can be made up.

    The table of lands knows the codes of some towns' centres. Elsewhere the figures are drawn: the form is the
    country's, the place is not.
    """
    if town.postcode:
        return town.postcode
    mask = POSTCODES.get(town.country)
    if mask is None:
        return None
    of_town = random.Random(f"post {town.geonames}")  # noqa: S311 - no secret depends on it
    of_street = random.Random(f"post {seed} {town.geonames} {street}")  # noqa: S311 - no secret depends on it
    fixed = (len(mask) + 1) // 2
    return "".join(
        _figure(sign, of_town if place < fixed else of_street, first=place == 0) for place, sign in enumerate(mask)
    )


def _figure(sign: str, chance: random.Random, *, first: bool) -> str:
    if sign == "#":
        return str(chance.randrange(1 if first else 0, 10))
    return chance.choice(_LETTERS) if sign == "@" else sign


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
