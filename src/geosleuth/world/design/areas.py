"""Area codes of towns, as the numbering plans in the package `phonenumbers` know them."""

import random
from functools import cache
from typing import TYPE_CHECKING

from geosleuth.atlas.facts import country_facts, phone
from geosleuth.names import fold
from geosleuth.world.towns import WorldTown

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

_TRIES = 30
_STATE_NAMES = (
    "AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|FL Florida|"
    "GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|"
    "MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|"
    "NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|"
    "OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|"
    "TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming|"
    "AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|"
    "ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan"
)
_STATES = {part[:2]: part[3:] for part in _STATE_NAMES.split("|")}
"""North America's numbering plan names towns with the letters of their state or province."""


def area_of(number: str, town: WorldTown) -> str | None:
    """What the numbering plan says a number belongs to, the empty text where it names no area.

    None where it names one that is not the town's: such a number would be a false clue. The area that the table of
    lands gives a town is taken to be right.
    """
    info = phone(number, town.country)
    place = info.place if info.place and info.place != country_facts(town.country).name else ""
    if not place or not info.valid:
        return ""
    if town.area and f"{info.e164 or ''}".startswith(f"+{_calling_code(town.country)}{town.area.lstrip('0')}"):
        return place
    _, _, state = place.rpartition(", ")
    if state in _STATES:
        return place if fold(_STATES[state]) == fold(town.region or "") else None
    named = fold(place)
    wanted = [fold(name) for name in (town.name, town.name_on_signs, town.region or "") if name]
    return place if any(name in named or named in name for name in wanted) else None


def number_of_area(town: WorldTown, chance: random.Random) -> str | None:
    """A valid number with the area code of a town, or of its region; None where no area code is known."""
    import phonenumbers

    code = _calling_code(town.country)
    known = _areas(town.country)
    own: tuple[str, ...] = (f"{code}{town.area.lstrip('0')}",) if town.area else ()
    prefixes = own or known.get(fold(town.name)) or known.get(fold(town.region or "")) or ()
    example = _fixed_line(town.country)
    if not prefixes or example is None:
        return None
    length = len(str(code)) + len(phonenumbers.national_significant_number(example))
    for _ in range(_TRIES):
        prefix = chance.choice(prefixes)
        more = "".join(str(chance.randrange(10)) for _ in range(max(length - len(prefix), 4)))
        number = phonenumbers.parse(f"+{prefix}{more}", None)
        if phonenumbers.is_valid_number_for_region(number, town.country) and area_of(f"+{prefix}{more}", town):
            abroad = chance.random() < 0.6
            style = phonenumbers.PhoneNumberFormat.INTERNATIONAL if abroad else phonenumbers.PhoneNumberFormat.NATIONAL
            return phonenumbers.format_number(number, style)
    return None


@cache
def _calling_code(country: str) -> int:
    import phonenumbers

    return phonenumbers.country_code_for_region(country)


@cache
def _fixed_line(country: str) -> "PhoneNumber | None":
    import phonenumbers

    return phonenumbers.example_number_for_type(country, phonenumbers.PhoneNumberType.FIXED_LINE)


@cache
def _areas(country: str) -> dict[str, tuple[str, ...]]:
    """Prefixes of a country by the folded name of town or region that its numbering plan gives them."""
    from phonenumbers.geodata import GEOCODE_DATA

    code = str(_calling_code(country))
    found: dict[str, list[str]] = {}
    for prefix in sorted(GEOCODE_DATA):
        names = GEOCODE_DATA[prefix] if prefix.startswith(code) else {}
        for name in {text.split(",")[0] for text in names.values()}:
            found.setdefault(fold(name), []).append(prefix)
    return {name: tuple(dict.fromkeys(prefixes)) for name, prefixes in found.items()}
