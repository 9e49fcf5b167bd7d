"""Telephone numbers: whose they are, as finely as numbering plans tell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from .countries import all_countries

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

MAX_PHONE_CHARS = 60
"""Longer texts are cut: with extension and words around it no number is like that."""

_KINDS = {
    0: "fixed line", 1: "mobile", 2: "fixed line or mobile", 3: "toll free", 4: "premium rate", 5: "shared cost",
    6: "internet telephone", 7: "personal", 8: "pager", 9: "universal access", 10: "voicemail",
}  # fmt: skip
"""`phonenumbers.PhoneNumberType` in words."""


@dataclass(frozen=True, slots=True)
class PhoneInfo:
    """What a telephone number says.

    ``countries`` has every country in which the number is valid, the likeliest first; ``country`` is set where only one
    is left. ``place`` is what the numbering plan knows of the region or town, ``places`` the same for each country. A
    number without country code and hint is tried in all countries, and those that group its digits just so come first;
    ``same_grouping`` has them.
    """

    text: str
    valid: bool
    country: str | None
    countries: tuple[str, ...]
    place: str | None = None
    places: Mapping[str, str] = field(default_factory=dict, hash=False)
    same_grouping: tuple[str, ...] = ()
    kind: str | None = None
    carrier: str | None = None
    time_zones: tuple[str, ...] = ()
    e164: str | None = None
    international: str | None = None
    national: str | None = None


def phone(number: str, region: str | None = None) -> PhoneInfo:
    """Look a telephone number up, as it is written; ``region`` (an ISO code) says where numbers without ``+`` are from.

    Any text is accepted; what is no number gives ``valid=False`` and no countries. With ``+`` or a hint this takes
    well under a millisecond, without either some 20 ms, since every country's numbering plan is tried.
    """
    text = " ".join(number[:MAX_PHONE_CHARS].split())
    hint = region.strip().upper() if region else None
    return _look_up(text, hint if hint in all_countries() else None)


@lru_cache(maxsize=4096)
def _look_up(text: str, hint: str | None) -> PhoneInfo:
    import phonenumbers

    if text.startswith("00"):
        text = "+" + text[2:].lstrip()
    if hint is None and "+" not in text and "＋" not in text:
        return _in_all_countries(text)
    try:
        number = phonenumbers.parse(text, hint)
    except phonenumbers.NumberParseException:
        return PhoneInfo(text, valid=False, country=None, countries=())
    return _describe(text, number)


def _describe(text: str, number: "PhoneNumber") -> PhoneInfo:
    import phonenumbers
    from phonenumbers import carrier, timezone

    known = all_countries()
    candidates = phonenumbers.region_codes_for_country_code(number.country_code or 0)
    countries = tuple(
        code for code in candidates if code in known and phonenumbers.is_valid_number_for_region(number, code)
    )
    valid = bool(countries) or phonenumbers.is_valid_number(number)
    place = _place(number) if valid else ""
    zones = tuple(zone for zone in timezone.time_zones_for_number(number) if "/" in zone and zone != "Etc/Unknown")
    write = phonenumbers.format_number
    return PhoneInfo(
        text=text,
        valid=valid,
        country=countries[0] if len(countries) == 1 else None,
        countries=countries or (tuple(code for code in candidates if code in known) if valid else ()),
        place=place or None,
        places=dict.fromkeys(countries, place) if place else {},
        kind=_KINDS.get(phonenumbers.number_type(number)),
        carrier=carrier.name_for_number(number, "en") or None,
        time_zones=zones if valid else (),
        e164=write(number, phonenumbers.PhoneNumberFormat.E164),
        international=write(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL),
        national=write(number, phonenumbers.PhoneNumberFormat.NATIONAL),
    )


def _place(number: "PhoneNumber") -> str:
    """What the numbering plan knows below the country, empty where nothing."""
    from phonenumbers import geocoder

    described = geocoder.description_for_number(number, "en")
    return "" if described == geocoder.country_name_for_number(number, "en") else described


def _in_all_countries(text: str) -> PhoneInfo:
    import phonenumbers

    groups = re.findall(r"\d+", text)
    if not 4 <= sum(map(len, groups)) <= 17:
        return PhoneInfo(text, valid=False, country=None, countries=())
    found: dict[str, tuple[bool, str]] = {}
    for country in all_countries().values():
        try:
            number = phonenumbers.parse(text, country.code)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number_for_region(number, country.code):
            national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
            found[country.code] = (re.findall(r"\d+", national) == groups, _place(number))
    people = {code: all_countries()[code].population for code in found}
    ranked = sorted(found, key=lambda code: (not found[code][0], -people[code], code))
    if len(ranked) == 1:
        return _describe(text, phonenumbers.parse(text, ranked[0]))
    return PhoneInfo(
        text=text,
        valid=bool(ranked),
        country=None,
        countries=tuple(ranked),
        places={code: found[code][1] for code in ranked if found[code][1]},
        same_grouping=tuple(code for code in ranked if found[code][0]),
    )
