"""Road numbers on signs, and the countries that number roads so."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from .countries import all_countries
from .evidence import Evidence, weighted_shares
from .road_schemes import E_COUNTRIES, E_ROUTES, SCHEMES

MAX_ROAD_CHARS = 40

_LOOKALIKES = str.maketrans("АВЕКМНОРСТХЕ", "ABEKMHOPCTXE")
"""Cyrillic capitals to the Latin letters that look the same: М-4 on a Russian sign, M4 in a transcription."""

_WORDS = (
    (re.compile(r"^(?:INTERSTATE)(?=\d)"), "I"),
    (re.compile(r"^(?:HIGHWAY|HIGHWAYNO\.?)(?=\d)"), "HWY"),
    (re.compile(r"^(?:ROUTENATIONALE|RUTANACIONAL|NATIONALE)(?=\d)"), "RN"),
    (re.compile(r"^(?:STATEHIGHWAY)(?=\d)"), "SH"),
    (re.compile(r"^(?:NATIONALHIGHWAY)(?=\d)"), "NH"),
)


@dataclass(frozen=True, slots=True)
class RoadNumber:
    """A road number as read, the meaning and countries of each scheme that fits, and the evidence of all together."""

    number: str
    schemes: tuple[tuple[str, tuple[str, ...]], ...]
    evidence: Evidence


def by_road_number(text: str) -> RoadNumber:
    """Countries that number a road so (``A8``, ``E45``, ``BR-101``, ``I-95``, ``D 906``, ``国道1号``).

    The table is partial: a number that it does not know says nothing. Countries count with the length of their roads,
    a stand-in for how often such a sign is seen.
    """
    number = _normalised(text)
    found: list[tuple[str, tuple[str, ...]]] = []
    e_road = re.fullmatch(r"E-?0?(\d{1,3})", number)
    if e_road:
        route = E_ROUTES.get(int(e_road[1]))
        meaning = f"European route E{int(e_road[1])}" + ("" if route else ", countries not known here")
        found.append((meaning, tuple((route or E_COUNTRIES).split())))
    compact = number.replace(" ", "")
    found.extend(
        (meaning, countries)
        for pattern, countries, meaning in _compiled()
        if pattern.fullmatch(compact) or pattern.fullmatch(compact.replace("-", ""))
    )
    weights: dict[str, float] = {}
    for _, countries in found:
        for code in countries:
            weights[code] = _road_km(code)
    note = "; ".join(meaning for meaning, _ in found) or "no scheme of the table fits, which is partial"
    evidence = Evidence(
        "road number", number, weighted_shares(weights), note, "length of roads", "the table is partial"
    )
    return RoadNumber(number, tuple(found), evidence)


def _normalised(text: str) -> str:
    text = unicodedata.normalize("NFKC", text[:MAX_ROAD_CHARS]).upper().translate(_LOOKALIKES)
    text = re.sub(r"[\s.‐‑–—_]+", lambda match: "-" if match[0].strip(" .") else "", text)
    for words, short in _WORDS:
        text = words.sub(short, text)
    return text


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], tuple[str, ...], str], ...]:
    return tuple((re.compile(scheme.pattern), tuple(scheme.countries.split()), scheme.meaning) for scheme in SCHEMES)


def _road_km(code: str) -> float:
    """Length of roads, from the people where the Factbook has none."""
    country = all_countries()[code]
    return country.road_km or max(country.population / 100, 1.0)
