"""Speeds, distances and hours as signs write them: miles or kilometres, AM and PM or twenty-four hours."""

import re
from collections.abc import Callable, Sequence

from geosleuth.atlas.facts import CountryFacts, all_countries, by_speed_unit

from .clue import ClueKind, TextSeen
from .country_prior import as_seen, by_how_common
from .text_clue import ClueDraft

_MPH = re.compile(r"(?<!\w)\d{1,3}\s?m\.?p\.?h\.?(?!\w)|\bMPH\b", re.IGNORECASE)
_KMH = re.compile(r"(?<!\w)\d{1,3}\s?km\s?/\s?h(?!\w)|\bkm/h\b|\bkmph\b", re.IGNORECASE)
_AMERICAN_LIMIT = re.compile(r"\bspeed\s+limit\b", re.IGNORECASE)
_MILES = re.compile(r"(?<![\w.,])\d{1,4}(?:[.,]\d+)?\s?(?:[¼½¾]\s?)?(?:miles?|mi)(?!\w)|[¼½¾]\s?miles?", re.IGNORECASE)
# "490 Ft" is a price in forint.
_FEET = re.compile(r"(?<!\w)\d{1,3}\s?(?:ft|FT|[Ff]eet|FEET)(?!\w)|\d{1,2}'\s?-?\d{1,2}\"")
_TWELVE_HOURS = re.compile(r"(?<!\d)(?:1[0-2]|0?[1-9])(?:[:.]\d{2})?\s?[ap]\.?\s?m\.?(?![^\W\d_])", re.IGNORECASE)
_FRENCH_HOURS = re.compile(
    r"(?<!\d)(?:[01]?\d|2[0-4])\s?[hH]\s?(?:[0-5]\d)?(?!\w)(?:\s?[-–àa/]\s?|\s+)(?:[01]?\d|2[0-4])\s?[hH]"
)
_DOTTED_HOURS = re.compile(r"(?<!\d)(?:[01]?\d|2[0-4])\.[0-5]\d\s?[-–]\s?(?:[01]?\d|2[0-4])\.[0-5]\d(?!\d)")
_COLON_HOURS = re.compile(r"(?<!\d)(?:1[3-9]|2[0-4]):[0-5]\d|(?<!\d)\d{1,2}:[0-5]\d\s?[-–]\s?(?:1[3-9]|2[0-4]):[0-5]\d")

_TWELVE = (
    "US CA AU NZ IN PK PH MY EG SA AE BD LK KE NG ZA GH SG IE GB MX CO PE JO KW QA OM BH HK PR JM TT UG TZ ZW ZM NP"
)
_WITH_H = "FR BE CH LU MC CA AD PT ES BR MA DZ TN SN CI CM MG PF NC RE GP MQ GF HT CD GA CG BF ML NE TG BJ"
_WITH_DOT = "FI IT DE AT CH DK NO SE PL ID ES AD GB SI HR RS NL BE EE GR SM VA AX"

_Rule = tuple[ClueKind, str, re.Pattern[str], str, Callable[[], dict[str, float]]]


def unit_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """Speeds, miles, feet and the manner of writing hours; one finding for each."""
    found: dict[str, ClueDraft] = {}
    for seen in lines:
        text = " ".join(seen.text[:200].split())
        for name, (kind, sort, pattern, meaning, countries) in _RULES.items():
            match = pattern.search(text)
            if match and name not in found:
                found[name] = ClueDraft(kind, sort, match[0].strip(), meaning, countries(), seen, ("country facts",))
    return list(found.values())


def _where(test: Callable[[CountryFacts], bool], otherwise: float = 0.03) -> dict[str, float]:
    return by_how_common({code: 1.0 if test(country) else otherwise for code, country in all_countries().items()})


def _among(codes: str, otherwise: float) -> dict[str, float]:
    listed = frozenset(codes.split())
    return _where(lambda country: country.code in listed, otherwise)


# Rules by unit or notation. Country lists are written by hand from habits on shop doors; none is exclusive.
_RULES: dict[str, _Rule] = {
    "mph": ("speed", "speed", _MPH, "speed in miles an hour", lambda: as_seen(by_speed_unit("mph").shares)),
    "km/h": ("speed", "speed", _KMH, "speed in kilometres an hour", lambda: as_seen(by_speed_unit("km/h").shares)),
    "limit": ("speed", "speed", _AMERICAN_LIMIT, "American wording of speed limits", lambda: _among("US PR CA", 0.05)),
    "miles": ("unit", "unit", _MILES, "miles", lambda: _where(lambda country: country.distance_unit == "mi")),
    "feet": ("unit", "unit", _FEET, "feet", lambda: _where(lambda country: country.height_unit == "ft", 0.15)),
    "am/pm": ("opening_hours", "opening_hours", _TWELVE_HOURS, "hours with AM and PM", lambda: _among(_TWELVE, 0.06)),
    "h": ("opening_hours", "opening_hours", _FRENCH_HOURS, "hours with h", lambda: _among(_WITH_H, 0.04)),
    "dot": ("opening_hours", "opening_hours", _DOTTED_HOURS, "hours with a dot", lambda: _among(_WITH_DOT, 0.1)),
    "24": (
        "opening_hours", "opening_hours", _COLON_HOURS, "hours counted to twenty-four",
        lambda: _where(lambda country: country.code not in {"US", "AU", "CA", "IN", "PH", "NZ"}, 0.25),
    ),
}  # fmt: skip
