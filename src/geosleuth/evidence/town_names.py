"""Towns and numbered districts that a sign names, and which countries have a town of a name.

The tables are written by hand from general knowledge and not complete.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal

from geosleuth.geo import LatLon
from geosleuth.names import fold
from geosleuth.names.country_names import us_states
from geosleuth.names.folding import fold_once

from .clue import CluePlace, TextSeen
from .text_clue import ClueDraft
from .town_tables import town_tables

Manner = Literal["part", "line", "said", "towards", "road"]
"""How a town's name stands on a sign: among other words, as a line of its own, with words that say it is here, with
words that say it lies ahead, or in the name of a road that leads there."""
MAX_NAME_WORDS = 5
_SAID_BEFORE = (
    # English, Irish, Welsh, Gaelic
    "welcome to", "welcome to the city of", "welcome to the town of", "city of", "town of", "village of", "borough of",
    "royal borough of", "london borough of", "city and county of", "municipality of", "fáilte go", "fáilte go dtí",
    "croeso i", "fàilte gu",
    # French, Spanish, Catalan, Galician, Portuguese, Italian, Romanian
    "bienvenue à", "bienvenue a", "ville de", "commune de", "mairie de", "bienvenidos a", "bienvenido a", "ciudad de",
    "municipio de", "ayuntamiento de", "municipalidad de", "alcaldía de", "benvinguts a", "ajuntament de",
    "benvidos a", "concello de", "bem-vindo a", "bem-vindos a", "bem vindo a", "bem vindos a", "cidade de",
    "município de", "câmara municipal de", "prefeitura de", "prefeitura municipal de", "benvenuti a", "benvenuti ad",
    "comune di", "città di", "bun venit în", "bun venit la", "bine ați venit în", "municipiul", "orașul",
    # German, Dutch, Nordic, Baltic
    "willkommen in", "herzlich willkommen in", "stadt", "gemeinde", "große kreisstadt", "grosse kreisstadt",
    "kreisstadt", "landeshauptstadt", "hansestadt", "universitätsstadt", "marktgemeinde", "stadtgemeinde",
    "welkom in", "welkom te", "gemeente", "stad", "välkommen till", "velkommen til", "tervetuloa", "tere tulemast",
    "laipni lūdzam", "sveiki atvykę į",
    # Slavic, Hungarian, Turkish, Greek
    "witamy w", "witamy we", "miasto", "gmina", "vítejte v", "vítejte ve", "město", "obec", "vitajte v", "mesto",
    "dobrodošli u", "dobrodošli v", "grad", "općina", "opština", "občina", "добро пожаловать в", "город",
    "ласкаво просимо до", "місто", "добре дошли в", "град", "община", "добродошли у", "üdvözli önt", "isten hozta",
    "καλώς ήρθατε στην", "καλώς ήρθατε στο", "καλώς ήλθατε στην", "δήμος",
    # South-east Asia
    "selamat datang di", "selamat datang ke", "selamat datang", "kota", "chào mừng đến", "thành phố",
)  # fmt: skip
_SAID_AFTER = (
    "welcomes you", "city limits", "city limit", "town limits", "city hall", "town hall", "town council",
    "city council", "belediyesi", "hoş geldiniz", "kommune", "kommun", "kaupunki", "город", "вас вітає", "город-герой",
    "üdvözli önt", "wita", "vás vítá", "vás víta", "te da la bienvenida", "le da la bienvenida", "vous accueille",
)  # fmt: skip
_PART_AFTER = (
    "hbf", "hauptbahnhof", "bahnhof", "bhf", "bf", "railway station", "train station", "rail station", "bus station",
    "station", "central station", "centralstation", "central", "centrale", "centraal", "centralen", "główny", "główna",
    "hl.n", "hl n", "hlavní nádraží", "hl. nádr", "hlavná stanica", "zob", "tog", "asema", "pályaudvar", "вокзал",
    "centrum", "centre", "center", "centro", "centrs", "keskusta", "city", "town", "innenstadt", "zentrum", "mitte",
    "nord", "süd", "ost", "west", "sud", "est", "ouest", "nord-est", "north", "south", "east", "nordre", "airport",
    "flughafen", "aéroport", "aeropuerto", "aeroporto", "lufthavn", "port", "ville", "centre-ville", "centre ville",
    "town centre", "city centre", "city center", "downtown", "market", "road", "parkway", "junction",
)  # fmt: skip
_TOWARDS = (
    "towards", "toward", "direction", "direction of", "richtung", "vers", "dir", "hacia", "dirección", "direcció",
    "sentido", "direção", "direcção", "direzione", "richting", "mot", "retning", "suunta", "kierunek", "směr", "smer",
    "smjer", "irány", "direcția", "spre", "в сторону", "направление", "посока", "напрямок", "kryptis", "suund",
)  # fmt: skip
_ROAD_BEFORE = (
    "route de", "route d", "carretera de", "carretera a", "carretera", "estrada de", "estrada do", "estrada da",
    "chaussée de", "rodovia", "carretera de la",
)  # fmt: skip
_ROAD_AFTER = ("road", "rd", "highway", "hwy", "turnpike")
_UNSPACED_AFTER = ("市役所", "市", "駅", "站", "县", "縣", "역", "시", "区役所")
# "Praha 1", "Paris 18e", "København V", "Budapest V. kerület", "London NW8", "Wien 7."
_DISTRICT = re.compile(
    r"\s+(?:\d{1,2}(?:er|e|ème|ᵉ|\.)?|[IVX]{1,5}\.?|[A-ZÅÄÖØ]|[NSEW][EWC]?\d{1,2}|EC\d|WC\d)"
    r"(?:\s?(?:arrt?\.?|arrondissement|kerület|bezirk))?$",
    re.IGNORECASE,
)
_STATE = re.compile(r"([^\W\d_][^\d,;/–]*?)\s*([,\s/–-])\s*([A-Z]{2,3})\.?(?:\s+([\d A-Z-]{4,10}))?")
_CANADIAN = {
    "AB": "Alberta", "BC": "British Columbia", "MB": "Manitoba", "NB": "New Brunswick",
    "NL": "Newfoundland and Labrador", "NS": "Nova Scotia", "ON": "Ontario", "PE": "Prince Edward Island",
    "PEI": "Prince Edward Island", "QC": "Quebec", "SK": "Saskatchewan", "YT": "Yukon", "NU": "Nunavut",
}  # fmt: skip
_AUSTRALIAN = {
    "NSW": "New South Wales", "VIC": "Victoria", "QLD": "Queensland", "TAS": "Tasmania", "ACT": "ACT",
    "SA": "South Australia", "WA": "Western Australia", "NT": "Northern Territory",
}  # fmt: skip
_BRAZILIAN = {
    "AC": "Acre", "AL": "Alagoas", "AM": "Amazonas", "AP": "Amapá", "BA": "Bahia", "CE": "Ceará",
    "ES": "Espírito Santo", "GO": "Goiás", "MA": "Maranhão", "MG": "Minas Gerais", "MS": "Mato Grosso do Sul",
    "MT": "Mato Grosso",
    "PA": "Pará", "PB": "Paraíba", "PE": "Pernambuco", "PI": "Piauí", "PR": "Paraná", "RJ": "Rio de Janeiro",
    "RN": "Rio Grande do Norte", "RO": "Rondônia", "RR": "Roraima", "RS": "Rio Grande do Sul", "SC": "Santa Catarina",
    "SE": "Sergipe", "SP": "São Paulo", "TO": "Tocantins",
}  # fmt: skip
_ZIP, _FOUR_DIGITS = re.compile(r"\d{5}(?:-\d{4})?"), re.compile(r"\d{4}")
_Phrases = Literal["said before", "said after", "part after", "towards", "road before", "road after"]
_AROUND_NAMES: tuple[tuple[Manner, _Phrases, bool], ...] = (
    ("said", "said before", True),
    ("said", "said after", False),
    ("towards", "towards", True),
    ("road", "road before", True),
    ("road", "road after", False),
)
_ROMAN = {"I": 1, "V": 5, "X": 10}


def town_people(name: str) -> Mapping[str, int]:
    """People of the largest town of this name in each country, by ISO code; empty where no town is called so.

    Knows towns from 15,000 people by their main name, and large ones by every name that GeoNames has.
    """
    towns = town_tables()
    return _people(towns.main.get(fold(name)) or towns.others.get(" ".join(name.split()).casefold()) or "")


@lru_cache(maxsize=1 << 12)
def _people(written: str) -> Mapping[str, int]:
    words = written.split()
    return MappingProxyType(dict(zip(words[::2], map(int, words[1::2]), strict=True)))


@dataclass(frozen=True, slots=True)
class Settlement:
    """A town that a text names, how, and the country where the text says it."""

    name: str
    manner: Manner
    country: str | None = None


def find_settlements(text: str) -> Iterator[Settlement]:
    """The towns that a line names with something before or behind the name, the surest reading first."""
    line = " ".join(text.split())
    yield from _in_state(line)
    words, keys = line.split(), fold(line).split()
    if not words:
        return
    for manner, table, front in _AROUND_NAMES:
        name = _cut(words, _fold_phrases(table), front=front)
        if name is not None and (manner == "said" or town_people(name)):
            yield Settlement(name, manner)
            return
    whole = _DISTRICT.sub("", line)
    if whole != line and town_people(whole):
        yield Settlement(whole, "line")
    elif len(keys) > 1 and (rest := _cut(words, _fold_phrases("part after"), front=False)) is not None:
        if town_people(rest):
            yield Settlement(rest, "line")
    elif "-" in line and town_people(before := line.rpartition("-")[0]):
        yield Settlement(before.strip(), "line")
    for ending in _UNSPACED_AFTER:
        stem = line.removesuffix(ending)
        if stem != line and len(stem) > 1 and town_people(stem):
            yield Settlement(stem, "line")
            return


def region_country(text: str) -> str | None:
    """The country of a state or province that signs write below a town: "Sydney / Nova Scotia"."""
    return _get_states().get(fold(text))


def _in_state(line: str) -> Iterator[Settlement]:
    """A town with the code of its state: "Springfield, IL 62701", "Byron Bay NSW 2481", "Belo Horizonte - MG"."""
    match = _STATE.fullmatch(line)
    if match is None or (match[1].isupper() and match[2] == " " and match[4] is None):
        return
    town, mark, code, postcode = match[1].strip(), match[2], match[3], match[4] or ""
    if _FOUR_DIGITS.fullmatch(postcode) and code in _AUSTRALIAN:
        yield Settlement(f"{town}, {_AUSTRALIAN[code]}", "line", "AU")
    elif code in us_states() and (_ZIP.fullmatch(postcode) or (mark == "," and not postcode)):
        yield Settlement(f"{town}, {us_states()[code]}", "line", "US")
    elif code in _CANADIAN and (mark == "," or postcode):
        yield Settlement(f"{town}, {_CANADIAN[code]}", "line", "CA")
    elif code in _BRAZILIAN and mark in "/–-":
        yield Settlement(f"{town}, {_BRAZILIAN[code]}", "line", "BR")
    elif code in _AUSTRALIAN and len(code) == 3 and not postcode:
        yield Settlement(f"{town}, {_AUSTRALIAN[code]}", "line", "AU")


def _cut(words: list[str], phrases: frozenset[str], *, front: bool) -> str | None:
    """Return a text without the longest of the phrases at its front or end; None if there is none."""
    for count in range(min(4, len(words) - 1), 0, -1):
        part, rest = (words[:count], words[count:]) if front else (words[-count:], words[:-count])
        if fold(" ".join(part)) in phrases and len(rest) <= MAX_NAME_WORDS:
            name = " ".join(rest).strip(" .,!:;-–")
            return name if sum(map(str.isalpha, name)) > 1 and not any(map(str.isdigit, name)) else None
    return None


@cache
def _get_states() -> dict[str, str]:
    states = {"US": us_states(), "CA": _CANADIAN, "AU": _AUSTRALIAN, "BR": _BRAZILIAN}
    return {fold_once(name): country for country, names in states.items() for name in names.values()}


@cache
def _fold_phrases(table: _Phrases) -> frozenset[str]:
    tables: dict[_Phrases, tuple[str, ...]] = {
        "said before": _SAID_BEFORE,
        "said after": _SAID_AFTER,
        "part after": _PART_AFTER,
        "towards": _TOWARDS,
        "road before": _ROAD_BEFORE,
        "road after": _ROAD_AFTER,
    }
    phrases = tables[table]
    return frozenset(fold_once(phrase) for phrase in phrases)


@dataclass(frozen=True, slots=True)
class _City:
    """A city with numbered districts, how many there are, how far they reach, and how common it is on such plates."""

    name: str
    country: str
    point: LatLon
    radius_km: float
    districts: int
    weight: float


_FRENCH = (
    _City("Paris", "FR", LatLon(48.8566, 2.3522), 8.0, 20, 0.8),
    _City("Marseille", "FR", LatLon(43.2965, 5.3698), 12.0, 16, 0.08),
    _City("Lyon", "FR", LatLon(45.764, 4.8357), 7.0, 9, 0.08),
)
_BUDAPEST = (_City("Budapest", "HU", LatLon(47.4979, 19.0402), 14.0, 23, 0.9),)
_VIENNA = (
    _City("Vienna", "AT", LatLon(48.2082, 16.3738), 12.0, 23, 0.7),
    _City("Graz", "AT", LatLon(47.0707, 15.4395), 8.0, 17, 0.1),
)
# Patterns of district names, from general knowledge; other cities of these languages name their districts.
_FORMS = (
    (
        re.compile(r"(?<!\w)(\d{1,2})\s?(?:er|e|è|ème|eme|ᵉ)\s?(?:arr|arrt|arrdt|arrond\w*)(?!\w)\.?", re.IGNORECASE),
        _FRENCH,
    ),
    (re.compile(r"(?<!\w)([IVX]{1,5}|\d{1,2})\.?\s?(?:ker(?!\w)\.?|kerület(?!\w))", re.IGNORECASE), _BUDAPEST),
    (re.compile(r"(?<!\w)(\d{1,2})\.\s?(?:bez(?!\w)\.?|bezirk(?!\w)|gemeindebezirk(?!\w))", re.IGNORECASE), _VIENNA),
)


def district_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each district that a line numbers."""
    found: dict[str, ClueDraft] = {}
    for seen in lines:
        for form, cities in _FORMS:
            match = form.search(seen.text)
            able = [city for city in cities if match and 1 <= _parse_number(match[1]) <= city.districts]
            if match and able:
                names = " or ".join(city.name for city in able)
                spots = tuple(
                    CluePlace(city.name, city.point, city.radius_km, city.weight, city.country) for city in able
                )
                found.setdefault(
                    match[0].casefold(),
                    ClueDraft(
                        "place", "place.district", match[0], f'"{match[0]}" is how {names} numbers its districts', {},
                        seen, ("districts of cities",), spots=spots,
                    ),
                )  # fmt: skip
    return list(found.values())


def _parse_number(text: str) -> int:
    if text.isdigit():
        return int(text)
    values = [_ROMAN[letter] for letter in text.upper()]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
