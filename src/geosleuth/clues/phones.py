"""Telephone numbers in text: whose they are, with and without country code.

A number with ``+`` names its country. One without is tried in every country; those whose habit it is to group the
digits so weigh more, and a word such as "Tel." makes it a telephone number at all. In each of its countries it also
says the area whose code it begins with, where it does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.atlas.facts import PhoneInfo, phone

from .finding import Finding
from .model import TextSeen
from .phone_areas import area_spots
from .prior import by_how_common

MAX_NATIONAL_NUMBERS = 2
"""Each is tried in every country's numbering plan, which takes some hundredths of a second."""

OTHER_GROUPING = 0.12
"""How much a country counts that writes such a number in other groups."""

_LEAST_DIGITS = 7
_LEAST_DIGITS_MARKED = 6
_MOST_DIGITS = 15
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
        for text, marked in _candidates(seen.text)
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


def phone_findings(numbers: Sequence[PhoneSeen]) -> list[Finding]:
    """What the numbers say."""
    found = []
    for number in numbers:
        info = number.info
        same = set(info.same_grouping)
        common = {code: 1.0 if code in same or not same else OTHER_GROUPING for code in info.countries}
        sort = "phone" if number.international else "phone.national" if number.marked else "phone.unmarked"
        meaning = "telephone number" + (f" of {info.place}" if info.place else "")
        countries = by_how_common(common)
        areas = area_spots(info.places, countries)
        sources = ("phonenumbers", "GeoNames") if areas else ("phonenumbers",)
        found.append(Finding("phone", sort, number.text, meaning, countries, number.where, sources, spots=areas))
    return found


def _candidates(text: str) -> list[tuple[str, bool]]:
    found = []
    call = _CALL.search(text)
    for match in _NUMBER.finditer(text[:200]):
        number = " ".join(match[0].split()).strip(" .-–/·")
        number = number.replace("＋", "+").replace("(+", "+").replace("(0)", "")
        digits = sum(character.isdigit() for character in number)
        international = number.startswith(("+", "00"))
        marked = call is not None and call.start() <= match.start()
        least = _LEAST_DIGITS_MARKED if marked else _LEAST_DIGITS
        if not least <= digits <= _MOST_DIGITS or _NOT_A_NUMBER.search(number):
            continue
        # Nine figures in one run are as well a serial number or a bar code.
        grouped = len(re.findall(r"\d+", number)) > 1
        alone = len(number) >= 0.7 * len(text.strip()) or grouped
        if international or marked or (alone and (grouped or number.startswith("0"))):
            found.append((number, marked or international))
    return found
