"""Districts that a few cities number: "14e Arr." on a street plate of Paris, "V. kerület" in Budapest, "7. Bezirk"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.geo import LatLon

from .finding import Finding
from .model import Spot, TextSeen

_ROMAN = {"I": 1, "V": 5, "X": 10}


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
_FORMS = (
    (
        re.compile(r"(?<!\w)(\d{1,2})\s?(?:er|e|è|ème|eme|ᵉ)\s?(?:arr|arrt|arrdt|arrond\w*)(?!\w)\.?", re.IGNORECASE),
        _FRENCH,
    ),
    (re.compile(r"(?<!\w)([IVX]{1,5}|\d{1,2})\.?\s?(?:ker(?!\w)\.?|kerület(?!\w))", re.IGNORECASE), _BUDAPEST),
    (re.compile(r"(?<!\w)(\d{1,2})\.\s?(?:bez(?!\w)\.?|bezirk(?!\w)|gemeindebezirk(?!\w))", re.IGNORECASE), _VIENNA),
)
"""From general knowledge; other cities of these languages name their districts."""


def district_findings(lines: Sequence[TextSeen]) -> list[Finding]:
    """One finding for each district that a line numbers."""
    found: dict[str, Finding] = {}
    for seen in lines:
        for form, cities in _FORMS:
            match = form.search(seen.text)
            able = [city for city in cities if match and 1 <= _number(match[1]) <= city.districts]
            if match and able:
                names = " or ".join(city.name for city in able)
                spots = tuple(Spot(city.name, city.point, city.radius_km, city.weight, city.country) for city in able)
                found.setdefault(
                    match[0].casefold(),
                    Finding(
                        "place", "place.district", match[0], f'"{match[0]}" is how {names} numbers its districts', {},
                        seen, ("districts of cities",), spots=spots,
                    ),
                )  # fmt: skip
    return list(found.values())


def _number(text: str) -> int:
    """A number in figures or in Roman numerals."""
    if text.isdigit():
        return int(text)
    values = [_ROMAN[letter] for letter in text.upper()]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
