"""Telephone numbers in text: whose they are, with and without country code, and the ground of their area codes.

The numbering plan names an area by one town or by several ("Guelmim/Tan Tan"). Towns are found among GeoNames' cities
of 15,000 people and more; an area whose name is no such town, or is that of several in its country, is nowhere.

A number with ``+`` names its country. One without is tried in every country; those whose habit it is to group the
digits so weigh more, and a word such as "Tel." makes it a telephone number at all. In each of its countries it also
says the area whose code it begins with, where it does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import pi, sqrt

from geosleuth.atlas.facts import PhoneInfo, phone
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import fold
from geosleuth.names.country_names import City, cities_by_country
from geosleuth.names.folding import fold_once

from .clue import CluePlace, TextSeen
from .country_prior import TOWN_PEOPLE_PER_KM2, by_how_common
from .text_clue import ClueDraft

# How many of the numbers seen somewhere are of that town, and of the rest of its area; others come from farther.
IN_TOWN, AROUND = 0.4, 0.35

MIN_AREA_KM = 25.0
# Maximum radius of a useful area: a larger one says no more than its country does.
MAX_AREA_KM = 150.0

_AREA_REACH = 3.1  # so much wider than its town, an area is a place of its own among candidates
_MIN_TOWN_KM = 1.5
_LARGE_TOWN_KM = 12.0
_EDGE = 1.15
_CLEARLY_LARGER = 5.0
_STATES_ALONE = frozenset({"US", "CA"})  # the plan writes "New York, NY", and "New York" for the state

# Maximum numbers without a country code that are looked up: trying every country's plan takes some hundredths of a
# second each.
MAX_NATIONAL_NUMBERS = 2
# Weight of a country that groups the digits of such a number in another way.
OTHER_GROUPING_WEIGHT = 0.12
_MIN_DIGITS = 7
_MIN_DIGITS_MARKED = 6
_MAX_DIGITS = 15
_CALL = re.compile(
    r"(?<![^\W\d_])(?:t[eéè]l[eéè]?(?:fon|fono|phone|éphone|efoon)?|phone|call|mob(?:ile|il)?|gsm|cell?|handy|puh(?:elin)?|"
    r"tlf|fax|whatsapp|hotline|fono|cel|hp|no\.? ?hp|đt|sđt|тел(?:ефон)?|моб|τηλ|κιν|电话|電話|tel|טל|هاتف|تلفن|جوال|"
    r"โทร|전화|मो|फोन)(?![^\W\d_])|[☎☏✆📞📱]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\+|＋|\(\+|(?<!\d)00(?=\s?[1-9]))?[\s(]*\d(?:[\s().\-–/·]{0,3}\d){5,16}")
_NOT_A_NUMBER = re.compile(
    r"\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|(?:19|20)\d{2}\s?[-–/]\s?(?:19|20)\d{2}|\d{1,2}[.:h]\d{2}\s?[-–]\s?\d{1,2}[.:h]\d{2}"
)


def area_spots(areas: Mapping[str, str], countries: Mapping[str, float]) -> tuple[CluePlace, ...]:
    """The ground of a number that is valid in several countries: each country's area, with the country's share."""
    return tuple(spot for code, share in countries.items() for spot in _spots(code, areas.get(code, ""), share))


def _spots(code: str, area: str, share: float) -> Iterator[CluePlace]:
    towns = _find_area_towns(code, area)
    if not towns:
        return
    if len(towns) == 1 and _radius_km(towns[0]) > _LARGE_TOWN_KM:
        # Of a large city's numbers nearly all are in it or at its edge.
        [city] = towns
        reach_km = max(MIN_AREA_KM, _EDGE * _radius_km(city))
        yield CluePlace(city.names[0], LatLon(city.lat, city.lon), reach_km, (IN_TOWN + AROUND) * share, code)
        return
    people = sum(town.population for town in towns)
    lat = sum(town.lat for town in towns) / len(towns)
    lon = sum(town.lon for town in towns) / len(towns)
    middle = LatLon(lat, lon)
    widest = max(map(_radius_km, towns))
    apart = max(distance_km(middle, LatLon(town.lat, town.lon)) for town in towns)
    reach_km = apart + max(MIN_AREA_KM, _AREA_REACH * widest)
    if reach_km > MAX_AREA_KM:
        return
    for town in towns:
        weight = IN_TOWN * share * town.population / people
        yield CluePlace(town.names[0], LatLon(town.lat, town.lon), _radius_km(town), weight, code)
    yield CluePlace(
        f"the area of {' and '.join(town.names[0] for town in towns)}", middle, reach_km, AROUND * share, code
    )


def _find_area_towns(code: str, area: str) -> list[City]:
    if code in _STATES_ALONE and "," not in area:
        return []
    # "Kyoto, Kyoto" and "São Paulo - SP" have a province behind the town.
    names = re.split(r"\s*/\s*", re.split(r",|\s-\s", area)[0])
    found = [town for name in names if name and (town := _town(code, fold(name))) is not None]
    return list({town.geoname_id: town for town in found}.values())


def _town(code: str, key: str) -> City | None:
    alike = _by_name(code).get(key, ())
    if not alike:
        return None
    largest = alike[0]
    second = alike[1].population if len(alike) > 1 else 0
    return largest if largest.population >= _CLEARLY_LARGER * second else None


@cache
def _by_name(code: str) -> Mapping[str, tuple[City, ...]]:
    """The cities of a country by each of their names, the largest first; main names go before others."""
    cities = sorted(cities_by_country().get(code, ()), key=lambda city: (-city.population, city.geoname_id))
    named: dict[str, list[City]] = {}
    for city in cities:
        named.setdefault(fold_once(city.names[0]), []).append(city)
    others: dict[str, list[City]] = {}
    for city in cities:
        for key in {fold_once(name) for name in city.names[1:]} - {""}:
            others.setdefault(key, []).append(city)
    return {key: tuple(found) for key, found in {**others, **named}.items()}


def _radius_km(town: City) -> float:
    return max(_MIN_TOWN_KM, 1.3 * sqrt(max(town.population, 1) / (TOWN_PEOPLE_PER_KM2 * pi)))


@dataclass(frozen=True, slots=True)
class PhoneSeen:
    """A telephone number as it stands in a line; ``marked`` where a word or sign says that it is one."""

    text: str
    info: PhoneInfo
    international: bool
    marked: bool
    where: TextSeen


def phones_seen(lines: Sequence[TextSeen]) -> list[PhoneSeen]:
    """The numbers that are valid somewhere, those with country code first."""
    candidates = {
        text: (bool(re.match(r"[(\s]*(?:\+|＋|00\s?[1-9])", text)), marked, seen)
        for seen in sorted(lines, key=lambda line: line.confidence)
        for text, marked in _find_number_candidates(seen.text)
    }
    ranked = sorted(candidates.items(), key=lambda item: (not item[1][0], not item[1][1], -item[1][2].confidence))
    found, national = [], 0
    for text, (international, marked, seen) in ranked:
        national += not international
        if national > MAX_NATIONAL_NUMBERS and not international:
            continue
        info = phone(text)
        if info.valid and info.countries:
            found.append(PhoneSeen(text, info, international, marked, seen))
    return found


def phone_findings(numbers: Sequence[PhoneSeen]) -> list[ClueDraft]:
    """Return the findings of the numbers."""
    found = []
    for number in numbers:
        info = number.info
        same = set(info.same_grouping)
        common = {code: 1.0 if code in same or not same else OTHER_GROUPING_WEIGHT for code in info.countries}
        sort = "phone" if number.international else "phone.national" if number.marked else "phone.unmarked"
        meaning = "telephone number" + (f" of {info.place}" if info.place else "")
        countries = by_how_common(common)
        areas = area_spots(info.places, countries)
        sources = ("phonenumbers", "GeoNames") if areas else ("phonenumbers",)
        found.append(ClueDraft("phone", sort, number.text, meaning, countries, number.where, sources, spots=areas))
    return found


def _find_number_candidates(text: str) -> list[tuple[str, bool]]:
    found = []
    call = _CALL.search(text)
    for match in _NUMBER.finditer(text[:200]):
        number = " ".join(match[0].split()).strip(" .-–/·")
        number = number.replace("＋", "+").replace("(+", "+").replace("(0)", "")
        digits = sum(character.isdigit() for character in number)
        international = number.startswith(("+", "00"))
        marked = call is not None and call.start() <= match.start()
        least = _MIN_DIGITS_MARKED if marked else _MIN_DIGITS
        if not least <= digits <= _MAX_DIGITS or _NOT_A_NUMBER.search(number):
            continue
        # Nine figures in one run are as well a serial number or a bar code.
        grouped = len(re.findall(r"\d+", number)) > 1
        alone = len(number) >= 0.7 * len(text.strip()) or grouped
        if international or marked or (alone and (grouped or number.startswith("0"))):
            found.append((number, marked or international))
    return found
