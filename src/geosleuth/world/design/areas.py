"""What telephone numbers say of a town, by the numbering plans that the atlas knows."""

import random
from functools import cache

from geosleuth.atlas.facts import country_facts, phone
from geosleuth.names import fold
from geosleuth.world.businesses_contact import phones_of
from geosleuth.world.towns import WorldTown

_FROM_ABROAD_SHARE = 0.6
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
    """A number that begins as the town's do, as dialled at home or from abroad; None where no area is known."""
    import phonenumbers
    from phonenumbers import PhoneNumberFormat

    number = next(phones_of(town, chance.randrange(1 << 30)))
    abroad = chance.random() < _FROM_ABROAD_SHARE
    if not area_of(number, town):
        return None
    parsed = phonenumbers.parse(number, None)
    return number if abroad else phonenumbers.format_number(parsed, PhoneNumberFormat.NATIONAL)


@cache
def _calling_code(country: str) -> int:
    import phonenumbers

    return phonenumbers.country_code_for_region(country)
