"""Postcodes: weak alone, good in an address, very good in a form of their own (SW1A 1AA); and their towns."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from geosleuth.atlas.facts import all_countries, by_postcode
from geosleuth.support.lazy import lazy_pattern

from .atlas_hits import Found, read_places, read_results
from .clue import Clue, CluePlace, TextSeen
from .clue_reliability import RELIABILITY
from .country_prior import as_seen, normalize
from .heartlands import find_country
from .text_clue import ClueDraft
from .town_names import town_people
from .vocabulary import words_seen

# Weight of a country with a town of the name beside the code, relative to one without.
TOWN_WEIGHT = 500.0

# Exponent by which a town's number of signs grows with its population.
SIZE_POWER = 0.75

# A format used by at most this many countries is recognised as a postcode by its form alone.
FEW_COUNTRIES = 2

# Current and former country codes that precede postcodes in international addresses.
_PREFIXES = {
    "F": "FR", "D": "DE", "A": "AT", "I": "IT", "B": "BE", "L": "LU", "E": "ES", "P": "PT", "N": "NO", "S": "SE",
    "H": "HU", "V": "VA", "FIN": "FI", "FI": "FI", "DK": "DK", "CH": "CH", "NL": "NL", "PL": "PL", "CZ": "CZ",
    "SK": "SK", "SI": "SI", "SLO": "SI", "HR": "HR", "RO": "RO", "BG": "BG", "GR": "GR", "EST": "EE", "EE": "EE",
    "MC": "MC", "FR": "FR", "DE": "DE", "AT": "AT", "IT": "IT", "BE": "BE", "LU": "LU", "ES": "ES", "PT": "PT",
    "NO": "NO", "SE": "SE", "FL": "LI", "LI": "LI", "RSM": "SM", "SM": "SM", "UA": "UA", "TR": "TR", "MK": "MK",
    "BA": "BA", "ME": "ME", "RS": "RS", "AL": "AL",
}  # fmt: skip

# First digits of ZIP codes by US state: "WA 12345" is not a ZIP code but more likely a number plate.
_ZIP_BEGINS = {
    "0": "CT MA ME NH NJ RI VT", "1": "DE NY PA", "2": "DC MD NC SC VA WV", "3": "AL FL GA MS TN", "4": "IN KY MI OH",
    "5": "IA MN MT ND SD WI", "6": "IL KS MO NE", "7": "AR LA OK TX", "8": "AZ CO ID NM NV UT WY",
    "9": "AK CA HI OR WA",
}  # fmt: skip

_AUSTRALIAN_STATES = "NSW|VIC|QLD|WA|SA|TAS|ACT|NT"
_PREFIXED = lazy_pattern(r"(?<![\w-])([A-Z]{1,3})\s?[-–]\s?(\d{4,5}|\d{3} \d{2})(?![\d-])\s*([^\d,;]*)")
_DIGITS_FIRST = lazy_pattern(
    r"(?<![\d.,+-])(\d{4,6}|\d{2,3}[ -]\d{2,3}|\d{4} ?[A-Z]{2}|\d{5}-\d{3}|\d{4}-\d{3})(?![\d.,:/%-])\s+"
    r"([^\W\d_][^\d,;()]*)"
)
_TOWN_FIRST = lazy_pattern(r"([^\W\d_][^\d,;()]*?)[\s,]+(\d{4,6}|\d{3} \d{2}|\d{5}-\d{3,4})(?![\d.,:/%])\s*$")
_OWN_FORM = lazy_pattern(
    r"(?<![\w-])([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{4} ?[A-Z]{2}|\d{2}-\d{3}|\d{5}-\d{3}|"
    r"\d{4}-\d{3}|\d{3}-\d{4}|AD\d{3}|(?:LV|LT|MD|AZ)-?\d{4,5}|[A-Z]\d{2} ?[A-Z\d]{4})(?![\w-])"
)
_STATE_ZIP = lazy_pattern(r"(?<!\w)([A-Z]{2})[\s,.]+(\d{5})(?:-\d{4})?(?!\d)")
_AUSTRALIAN = lazy_pattern(rf"(?<!\w)(?:{_AUSTRALIAN_STATES})[\s,.]+(\d{{4}})(?!\d)")
_LONDON = lazy_pattern(r"(?<!\w)(?:[NSEW]|NW|SW|SE|EC|WC)\d{1,2}[A-Z]?$")
_JAPANESE = lazy_pattern(r"〒\s?(\d{3})[-－ー‐]?(\d{4})")
_BARE = lazy_pattern(r"\s*(\d{5,6})\s*")
_NOT_A_TOWN = frozenset({"street", "business", "hours", "days"})

# Share of places with such a postcode that lie in towns listed with it in the atlas, in countries that it covers.
LISTED_SHARE = 0.9
_MIN_RADIUS_KM = 3.0
_MAX_SPOTS = 12


@dataclass(frozen=True, slots=True)
class PostcodeSeen:
    """A postcode as it stands in a line, the town beside it, and the countries it fits."""

    code: str
    town: str | None
    sort: str
    countries: Mapping[str, float]
    where: TextSeen


def postcodes_seen(lines: Sequence[TextSeen]) -> list[PostcodeSeen]:
    """The postcodes of all lines, at most one of each line."""
    found = (_parse_postcode(seen) for seen in lines)
    return [postcode for postcode in found if postcode is not None]


def postcode_findings(postcodes: Sequence[PostcodeSeen]) -> list[ClueDraft]:
    """Return the findings of the postcodes."""
    return [
        ClueDraft(
            "postcode", postcode.sort, postcode.code, "postcode" + (f" of {postcode.town}" if postcode.town else ""),
            postcode.countries,
            postcode.where, ("CLDR: postcodes", "GeoNames") if postcode.town else ("CLDR: postcodes",),
        )
        for postcode in postcodes
    ]  # fmt: skip


def _parse_postcode(seen: TextSeen) -> PostcodeSeen | None:
    text = " ".join(seen.text[:200].split())
    if not any(character.isdigit() for character in text):
        return None
    return (
        _by_country(text, seen)
        or _on_plate(text, seen)
        or _by_form(text, seen)
        or _with_town(text, seen)
        or _bare(text, seen)
    )


def _by_country(text: str, seen: TextSeen) -> PostcodeSeen | None:
    """Codes beside something that names their country: "F-75001", "CA 90210", "NSW 2000", "〒100-0001"."""
    for match in _PREFIXED.finditer(text):
        country = _PREFIXES.get(match[1])
        if country and country in by_postcode(match[2]).shares:
            return PostcodeSeen(match[0].strip(), match[3].strip() or None, "postcode", {country: 1.0}, seen)
    state = _STATE_ZIP.search(text)
    if state and state[1] in _ZIP_BEGINS[state[2][0]].split():
        return PostcodeSeen(state[0], None, "postcode", {"US": 1.0}, seen)
    australian = _AUSTRALIAN.search(text)
    if australian:
        return PostcodeSeen(australian[0], None, "postcode", {"AU": 1.0}, seen)
    japanese = _JAPANESE.search(text)
    if japanese:
        return PostcodeSeen(japanese[0], None, "postcode", {"JP": 1.0}, seen)
    return None


def _on_plate(text: str, seen: TextSeen) -> PostcodeSeen | None:
    """The district of London behind a street's name, as its plates have it: "Abbey Road NW8"."""
    match = _LONDON.search(text)
    before = text[: match.start()].strip(" ,") if match else ""
    if match and any("street" in word.categories and "en" in word.languages for word in words_seen(before)):
        return PostcodeSeen(match[0], None, "postcode.in_address", {"GB": 1.0}, seen)
    return None


def _by_form(text: str, seen: TextSeen) -> PostcodeSeen | None:
    for match in _OWN_FORM.finditer(text):
        evidence = by_postcode(match[1])
        if evidence and len(evidence.shares) <= FEW_COUNTRIES + 2:
            alone = len(match[0]) < 0.9 * len(text) or " " in match[1] or len(match[1]) >= 6
            town = text[match.end() :].strip(" ,") or None
            if match[1].replace("-", "").isdigit() and _is_longer_number(text, match):
                continue
            sort = "postcode" if alone and not match[1].replace("-", "").isdigit() else "postcode.in_address"
            return PostcodeSeen(match[1], town, sort, as_seen(evidence.shares), seen)
    return None


def _is_longer_number(text: str, match: re.Match[str]) -> bool:
    """Return whether figures stand before or behind numeric postcodes: "08-652 31 90" is a telephone number."""
    return bool(re.match(r"[\s./()-]*\d", text[match.end() :]) or re.search(r"\d[\s./()-]*$", text[: match.start()]))


def _with_town(text: str, seen: TextSeen) -> PostcodeSeen | None:
    readings = [(match[1], match[2]) for match in _DIGITS_FIRST.finditer(text)]
    readings += [(match[2], match[1].rsplit(",", 1)[-1]) for match in _TOWN_FIRST.finditer(text)]
    for code, beside in readings:
        evidence = by_postcode(code)
        if not evidence or any(word.categories & _NOT_A_TOWN for word in words_seen(beside)):
            continue
        town, people = _find_town(beside)
        here = {country: share for country, share in evidence.shares.items() if country in people}
        if here:
            # Paris, Texas, has codes like those of Paris; the larger town has more signs.
            largest = max(people[country] for country in here)
            weighted = {
                country: share * max(1.0, TOWN_WEIGHT * (people.get(country, 0) / largest) ** SIZE_POWER)
                for country, share in as_seen(evidence.shares).items()
            }
            return PostcodeSeen(code, town, "postcode.in_address", normalize(weighted), seen)
    return None


def _find_town(text: str) -> tuple[str | None, Mapping[str, int]]:
    words = text.split()
    for count in range(min(4, len(words)), 0, -1):
        for part in (words[:count], words[-count:]):
            name = " ".join(part).strip(" .,-–")
            people = town_people(name)
            if people:
                return name, people
    return None, {}


def _bare(text: str, seen: TextSeen) -> PostcodeSeen | None:
    match = _BARE.fullmatch(text)
    if not match:
        return None
    evidence = by_postcode(match[1])
    countries = as_seen({code: share for code, share in evidence.shares.items() if code in all_countries()})
    return PostcodeSeen(match[1], None, "postcode.bare", countries, seen) if countries else None


def with_towns(clue: Clue, code: PostcodeSeen, data: Any) -> Clue:
    """The clue of a postcode with the towns that a search by address found for it; as it was where there are none.

    A bare number that an address has is a postcode far more often than one that none has.
    """
    found = [
        (place, _get_place_country(place)) for place in read_places(read_results(data)) if place.clue_kind == "postcode"
    ]
    shared = Counter(country for _, country in found)
    spots = tuple(
        CluePlace(
            place.name,
            place.point,
            max(place.radius_km, _MIN_RADIUS_KM),
            LISTED_SHARE * min(1.0, place.score) * code.countries[country] / shared[country],
            country,
            place.place_id,
        )
        for place, country in found[:_MAX_SPOTS]
        if country and code.countries.get(country, 0.0) > 0
    )
    if not spots:
        return clue
    sure = found[0][0].match == "exact"
    row = RELIABILITY["postcode.in_address"]
    return replace(
        clue,
        spots=spots,
        says=f"{_describe_spots(spots, sure=sure)}; {clue.says}",
        reliability=max(clue.reliability, row.value) if sure else clue.reliability,
        caution=row.misled_by if sure else clue.caution,
        sources=tuple(dict.fromkeys((*clue.sources, *(place.source for place, _ in found if place.source)))),
    )


def _describe_spots(spots: tuple[CluePlace, ...], *, sure: bool) -> str:
    there = f"{spots[0].name}{' and elsewhere' if len(spots) > 1 else ''}"
    return f"as in addresses of {there}" if sure else f"no address has it, and those of {there} begin alike"


def _get_place_country(place: Found) -> str | None:
    return place.country or find_country(place.point)
