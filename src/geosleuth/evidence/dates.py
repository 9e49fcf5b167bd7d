"""Dates in figures: in which order and with which signs between them countries write day, month and year."""

import re
from collections.abc import Sequence
from functools import cache

from geosleuth.atlas.facts import all_countries

from .clue import TextSeen
from .country_prior import by_how_common
from .text_clue import ClueDraft

# Share of dates that a country writes in a format other than its own.
OTHER_FORMAT_SHARE = 0.08

_DATE = re.compile(r"(?<![\d./-])(\d{1,4})(\s?[./-]\s?)(\d{1,2})\2(\d{2,4})(?![\d/-])")


def date_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each way in which dates are written."""
    found: dict[tuple[str, str], ClueDraft] = {}
    for seen in lines:
        for match in _DATE.finditer(seen.text[:200]):
            order, sign = _order(match[1], match[3], match[4]), match[2].strip()
            if order is None:
                continue
            common = {code: _commonness(written, order, sign) for code, written in _formats().items()}
            meaning = f"date written {order} with “{sign}”"
            finding = ClueDraft(
                "date_format", "date_format", match[0], meaning, by_how_common(common), seen, ("CLDR: dates",)
            )
            found.setdefault((order, sign), finding)
    return list(found.values())


def _order(first: str, second: str, third: str) -> str | None:
    """Return day-month-year, month-day-year or year-month-day; None if the figures are no date or ambiguous."""
    item, two, three = int(first), int(second), int(third)
    if len(first) == 4:
        return "year-month-day" if 1900 <= item <= 2100 and 1 <= two <= 12 and 1 <= three <= 31 else None
    if len(third) == 4 and not 1900 <= three <= 2100:
        return None
    if len(first) > 2 or len(third) not in {2, 4}:
        return None
    if 12 < item <= 31 and 1 <= two <= 12:
        return "day-month-year"
    if 1 <= item <= 12 and 12 < two <= 31:
        return "month-day-year"
    return None


def _commonness(written: tuple[str, str], order: str, sign: str) -> float:
    if written == (order, sign):
        return 1.0
    return 0.3 if written[0] == order else OTHER_FORMAT_SHARE


@cache
def _formats() -> dict[str, tuple[str, str]]:
    found = {}
    for code, country in all_countries().items():
        pattern = country.date_format or "dd/MM/y"
        letters = [character for character in dict.fromkeys(pattern) if character in "dMy"]
        order = {"d": "day-month-year", "M": "month-day-year", "y": "year-month-day"}[letters[0]]
        found[code] = (order, next((sign for sign in "./-" if sign in pattern), "/"))
    return found
