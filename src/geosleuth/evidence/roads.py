"""Road numbers on signs: A8, E45, BR-101, 国道1号."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from geosleuth.atlas.facts import all_countries, by_road_number, get_script

from .clue import TextSeen
from .country_prior import by_how_common
from .text_clue import ClueDraft
from .town_names import town_people
from .vocabulary import words_seen

MAX_ROAD_TOKENS = 4

_TOKEN = re.compile(
    r"(?<!\w)(?:[A-ZĐА-Я]{1,3}\s?[-–./]?\s?|[A-Z]{4})\d{1,4}[A-Za-z]?(?:\(M\))?(?!\w)|(?:Route|Highway|Hwy|Interstate|Ruta)\s\d{1,4}"
)

_WHOLE_LINE = re.compile(r"[\w/\-–. ()]{2,14}")
_SINGLE_LETTER = re.compile(r"[A-ZА-Я]-?\d+")
_ON_ROAD_SIGNS = frozenset({"notice", "airport", "station"})
_WORDS_OF_OTHER_NUMBERS = re.compile(
    r"\b(?:bus|gate|platform|level|floor|room|no|nr|line|ligne|linea|linie|stop|zone|exit|quai|tel|apt|suite|unit|iso|"
    r"din|usb|mp|hd|co|ph|vitamin)\b",
    re.IGNORECASE,
)


def is_road_number(text: str) -> bool:
    """Return whether a text is just a road number that some country has."""
    return bool(_WHOLE_LINE.fullmatch(text.strip())) and bool(by_road_number(text).schemes)


def road_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each road number that stands alone or among town names."""
    found: dict[str, ClueDraft] = {}
    for seen in lines:
        for number in _find_road_numbers(unicodedata.normalize("NFKC", seen.text[:60]).strip()):
            road = by_road_number(number)
            if not road.evidence:
                continue
            countries = by_how_common(dict.fromkeys(_who_writes_so(number, road.evidence.countries), 1.0))
            sort = "road_number.letter" if _SINGLE_LETTER.fullmatch(road.number.replace(" ", "")) else "road_number"
            meaning = f"road number, {road.schemes[0][0]}"
            found.setdefault(
                road.number,
                ClueDraft("road_number", sort, number, meaning, countries, seen, ("road numbering schemes",)),
            )
    return list(found.values())


def _find_road_numbers(text: str) -> Iterator[str]:
    if not any(character.isdigit() for character in text) and text != "QEW":
        return
    if _WHOLE_LINE.fullmatch(text) and by_road_number(text).schemes:
        yield text
        return
    matches = list(_TOKEN.finditer(text))
    rest = _TOKEN.sub(" ", text)
    if matches and not _WORDS_OF_OTHER_NUMBERS.search(text) and _is_road_sign(rest):
        yield from (match[0] for match in matches[:MAX_ROAD_TOKENS])


def _is_road_sign(rest: str) -> bool:
    """Return whether the text beside a number suits a road sign: towns, directions, distances, nothing."""
    words = re.sub(r"[\d.,/()\-–→←↑↗↖]+|\bkm\b|\bmi\b", " ", rest).split()
    if not words:
        return True
    if len(words) > MAX_ROAD_TOKENS:
        return False
    return bool(town_people(" ".join(words))) or all(
        town_people(word) or any(seen.categories & _ON_ROAD_SIGNS for seen in words_seen(word)) for word in words
    )


def _who_writes_so(number: str, countries: Sequence[str]) -> Sequence[str]:
    """Return only the countries that write Cyrillic, if a number has a Cyrillic letter."""
    if not any(get_script(character) == "Cyrl" for character in number):
        return countries
    known = all_countries()
    return [code for code in countries if "Cyrl" in known[code].scripts[:1]] or countries
