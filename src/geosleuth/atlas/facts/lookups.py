"""Find the countries that match a clue: domains, phone numbers, currencies, postcodes, languages, rules of the road."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from geosleuth.names import fold

from .countries import Evidence, SpeedUnit, all_countries, compute_shares, country_tables, equal_shares

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

# Longer clues are truncated: no domain, price or postcode is that long.
MAX_CLUE_CHARS = 200

BY_PEOPLE = "people of each country"

_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?([^/:?#\s]*)", re.IGNORECASE)
_NUMBERS = re.compile(r"[\d\s.,'’]+")
_POSTCODE_SEPARATORS = re.compile(r"[\s-]+")

# Longer texts are truncated: no number is that long, even with an extension and words around it.
MAX_PHONE_CHARS = 60
# Descriptions of the values of `phonenumbers.PhoneNumberType`.
_KINDS = {
    0: "fixed line", 1: "mobile", 2: "fixed line or mobile", 3: "toll free", 4: "premium rate", 5: "shared cost",
    6: "internet telephone", 7: "personal", 8: "pager", 9: "universal access", 10: "voicemail",
}  # fmt: skip


def by_tld(address: str) -> Evidence:
    """Return the countries of a top-level domain, given alone (``.mc``) or in a web or mail address."""
    address = address[:MAX_CLUE_CHARS].strip().lower()
    match = _HOST.match(address)
    tld = (match[1] if match else "").rstrip(".").rsplit(".", 1)[-1]
    if tld.startswith("xn--"):
        try:
            tld = tld.encode("ascii").decode("idna")
        except UnicodeError:
            tld = ""
    codes = country_tables()["tlds"].get(tld, ())
    generic = tld in country_tables()["generic_tlds"]
    return Evidence(
        "tld",
        f".{tld}",
        _by_people(codes),
        f"addresses in .{tld}" if codes else "no country has this domain",
        BY_PEOPLE,
        "sold to anyone, so often used elsewhere" if generic else None,
    )


def by_calling_code(number: str) -> Evidence:
    """Return the countries of an international number, or its beginning (``+377 93``), by the longest known prefix."""
    text = number[:MAX_CLUE_CHARS].strip()
    digits = re.sub(r"\D", "", text)
    if text.startswith("00"):
        digits = digits.removeprefix("00")
    prefixes = _countries_by_prefix()
    for length in range(min(len(digits), 7), 0, -1):
        codes = prefixes.get(digits[:length])
        if codes:
            prefix = f"+{digits[:length]}"
            return Evidence("calling code", prefix, _by_people(codes), f"numbers that begin with {prefix}", BY_PEOPLE)
    return Evidence("calling code", f"+{digits[:7]}", {}, "no country has this calling code")


@cache
def _countries_by_prefix() -> dict[str, tuple[str, ...]]:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    found: dict[str, set[str]] = defaultdict(set)
    known = all_countries()
    for code, regions in COUNTRY_CODE_TO_REGION_CODE.items():
        found[str(code)] |= {region for region in regions if region in known}
    for country in known.values():
        for prefix in country.calling_codes:
            found[prefix.removeprefix("+")].add(country.code)
    return {prefix: tuple(sorted(codes)) for prefix, codes in found.items()}


def by_currency(text: str) -> Evidence:
    """Return the countries of a currency by its sign, code or name (``€``, ``Kč``, ``CHF``), alone or with a price."""
    text = text[:MAX_CLUE_CHARS].strip()
    symbols = _currencies_by_symbol()
    words = [text, *(word for word in _NUMBERS.split(text) if word)]
    found = [codes for word in words for codes in (symbols.get(word) or symbols.get(_plain_symbol(word)),) if codes]
    if not found:
        return Evidence("currency", text, {}, "no currency is written so")
    currencies = min(found, key=len)
    names = country_tables()["currencies"]
    codes = [
        country.code
        for country in all_countries().values()
        if any(currency.code in currencies for currency in country.currencies)
    ]
    note = ", ".join(f"{names[code]['name']} ({code})" for code in currencies[:6])
    return Evidence(
        "currency", text, _by_people(codes), note + (" and others" if len(currencies) > 6 else ""), BY_PEOPLE
    )


@cache
def _currencies_by_symbol() -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = defaultdict(set)
    for code, row in country_tables()["currencies"].items():
        for written in (*row["symbols"], *row["names"], row["name"]):
            found[written].add(code)
            found[_plain_symbol(written)].add(code)
    found.pop("", None)
    return {symbol: tuple(sorted(codes)) for symbol, codes in found.items()}


def _plain_symbol(text: str) -> str:
    return text.replace(".", "").strip().casefold()


def by_postcode(postcode: str) -> Evidence:
    """Return the countries whose format a postcode has, weighted by people per possible code.

    So a format with few possible codes counts for more than one that any five digits match: 98000 is one of Monaco's
    hundred codes and one of France's hundred thousand.
    """
    text = " ".join(postcode[:MAX_CLUE_CHARS].upper().split())
    length = len(_POSTCODE_SEPARATORS.sub("", text))
    weights = {
        code: max(population, 1) / sizes.get(length, max(sizes.values()))
        for code, pattern, sizes, population in _postcode_patterns()
        if pattern.fullmatch(text)
    }
    regions = {code: region for code in weights if (region := _region_of_postcode(code, text)) is not None}
    note = f"fits the postcodes of {len(weights)} countries" if weights else "no country's postcodes look so"
    return Evidence("postcode", text, compute_shares(weights), note, "people per possible code", regions=regions)


@cache
def _postcode_patterns() -> tuple[tuple[str, re.Pattern[str], dict[int, int], int], ...]:
    rows = []
    for code, row in country_tables()["countries"].items():
        if row["postcode"]:
            sizes = {int(length): count for length, count in row["postcode"]["sizes"].items()}
            pattern = re.compile(row["postcode"]["pattern"], re.IGNORECASE | re.ASCII)
            rows.append((code, pattern, sizes, row["population"]))
    return tuple(rows)


def _region_of_postcode(code: str, postcode: str) -> str | None:
    compact = _POSTCODE_SEPARATORS.sub("", postcode)
    for name, start in _postcode_regions().get(code, ()):
        if start.match(postcode) or start.match(compact):
            return name
    return None


@cache
def _postcode_regions() -> dict[str, tuple[tuple[str, re.Pattern[str]], ...]]:
    return {
        code: tuple((name, re.compile(f"(?:{start})")) for name, start in rows)
        for code, rows in country_tables()["postcode_regions"].items()
    }


def by_language(language: str) -> Evidence:
    """Return the countries where a language is used, by ISO 639 code or name, weighted by the number of speakers."""
    text = language[:MAX_CLUE_CHARS].strip()
    code = _language_codes().get(text.casefold().replace("_", "-").split("-")[0]) or _language_codes().get(fold(text))
    speakers = speakers_by_country().get(code or "", {})
    names = country_tables()["languages"].get(code, ("",))
    note = f"speakers of {names[0]}" if speakers else "no country's table has this language"
    return Evidence("language", code or text, compute_shares(speakers), note, "speakers")


@cache
def _language_codes() -> dict[str, str]:
    codes: dict[str, str] = {}
    for code, names in country_tables()["languages"].items():
        for name in names:
            codes.setdefault(fold(name), code)
        codes[code] = code
    codes.pop("", None)
    return codes


@cache
def speakers_by_country() -> dict[str, dict[str, float]]:
    """Return the number of speakers of each language by country; 1 if their share is unknown."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for country in all_countries().values():
        for language in country.languages:
            people = country.population * (language.percent or 0) / 100
            found[language.code][country.code] = max(found[language.code].get(country.code, 0.0), people, 1.0)
    return dict(found)


def by_speed_unit(unit: SpeedUnit) -> Evidence:
    """Return the countries whose signs give speeds in ``km/h`` or in ``mph``."""
    codes = [country.code for country in all_countries().values() if country.speed_unit == unit]
    return Evidence("speed unit", unit, _by_people(codes), f"speed limits in {unit}", BY_PEOPLE)


def _by_people(codes: Iterable[str]) -> dict[str, float]:
    """Return the shares of countries by population, or equal shares if none has a known one."""
    known = all_countries()
    codes = [code for code in codes if code in known]
    if not any(known[code].population for code in codes):
        return equal_shares(codes)
    return compute_shares({code: max(known[code].population, 1) for code in codes})


@dataclass(frozen=True, slots=True)
class PhoneInfo:
    """Information that a telephone number reveals.

    ``countries`` are those in which the number is valid, the likeliest first; ``country`` is set if there is only one.
    ``place`` is the region or town by the numbering plan, ``places`` the same by country. A number without country code
    and hint is tried in all countries; those that group digits in the same way, ``same_grouping``, come first.
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
    """Look up a telephone number as written; ``region`` (an ISO code) is the country of numbers without ``+``.

    Any text is accepted; if it is not a number, ``valid`` is False and there are no countries. With ``+`` or a region
    this takes well under a millisecond, otherwise some 20 ms, as every country's numbering plan is tried.
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
    place = _find_number_region(number) if valid else ""
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


def _find_number_region(number: "PhoneNumber") -> str:
    """Return the region or town of a number by the numbering plan, "" if it has none."""
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
            found[country.code] = (re.findall(r"\d+", national) == groups, _find_number_region(number))
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
