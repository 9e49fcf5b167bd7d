"""Attributes to look for next: those that tell some candidates apart best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from geosleuth.support.errors import BadInput

from .tables import GRADE_PROBABILITIES, UNLISTED_PROBABILITY, FieldGuide, Grade, Visible, field_guide

# Weight of an attribute by how often photos show it.
VISIBILITY_WEIGHTS: Mapping[Visible, float] = {"often": 1.0, "sometimes": 0.6, "seldom": 0.25}

_LEAST, _ALIKE = 0.02, 0.4
# Attributes that distinguish countries at once but are hardly ever legible in street photos: they are listed last.
_RARELY_LEGIBLE = frozenset({"web_domain", "phone_prefix", "phone_grouping", "postcode_form", "currency_sign"})

_MAX_VALUES = 4
# Frequency assumed for values that a table does not list, where tables list only usual or distinctive values.
_UNNAMED_FREQUENCY = 0.15


@dataclass(frozen=True, slots=True)
class AttributeDifference:
    """An attribute, and the values that speak for each candidate against the others, by ISO code.

    ``bits`` is how much it tells. A candidate that no value speaks for has none.
    """

    attribute: str
    bits: float
    values: Mapping[str, tuple[str, ...]]


def tell_apart(candidates: Sequence[str], *, limit: int = 12) -> list[AttributeDifference]:
    """Return what to look for to tell candidates apart; empty where the tables say the same.

    What photos show comes first, the most telling of it before the rest. A region that no table has is taken as its
    country, see `FieldGuide.known_place`.

    Args:
        candidates: two or more ISO codes of countries or regions.
        limit: how many attributes at most.

    Raises:
        BadInput: fewer than two candidates, or one that is in no table.
    """
    guide = field_guide()
    asked = list(dict.fromkeys(code.strip().upper() for code in candidates))
    if len(asked) < 2:
        raise BadInput("Name two or more places to tell apart, by ISO code: JP KR TW")
    codes = list(dict.fromkeys(map(guide.resolve_code, asked)))
    known = {*guide.places, *(place.partition("-")[0] for place in guide.places)}
    missing = [code for code in codes if code not in known]
    if missing:
        raise BadInput(f"The field guide has nothing on {', '.join(missing)}. {guide.describe_regions(missing)}")
    if len(codes) < 2:
        raise BadInput(f"The field guide can't tell {' and '.join(asked)} apart: it has {codes[0]} as a whole.")
    found = (_difference(guide, name, codes) for name in guide.attributes)
    telling = [item for item in found if item is not None and item.bits >= _LEAST]
    return sorted(telling, key=lambda item: (item.attribute in _RARELY_LEGIBLE, -item.bits))[:limit]


def most_telling(place: str) -> list[str]:
    """Return the attributes of a place: the driving side, then those by which photos tell it best from the world."""
    guide = field_guide()
    return sorted(
        (name for name, table in guide.grades.items() if place in table),
        key=lambda name: (name != "driving_side", name in _RARELY_LEGIBLE, -_telling(guide, name, place)),
    )


def _telling(guide: FieldGuide, attribute: str, place: str) -> float:
    """Return the weight for a place of its value that is rarest elsewhere."""
    rows = [row for code, row in guide.grades[attribute].items() if "-" not in code]
    found = 0.0
    for value, grade in guide.grades[attribute][place].items():
        elsewhere = sum(
            GRADE_PROBABILITIES[row[value]] if value in row else UNLISTED_PROBABILITY for row in rows
        ) / max(1, len(rows))
        found = max(
            found, GRADE_PROBABILITIES[grade] * log2(GRADE_PROBABILITIES[grade] / max(elsewhere, UNLISTED_PROBABILITY))
        )
    return found * VISIBILITY_WEIGHTS[guide.attributes[attribute].visible]


def look_alike(found: Sequence[AttributeDifference]) -> bool:
    """Return whether places differ in little but writing."""
    attributes = field_guide().attributes
    return all(item.bits < _ALIKE for item in found if attributes[item.attribute].group != "writing")


def _difference(guide: FieldGuide, attribute: str, codes: Sequence[str]) -> AttributeDifference | None:
    rows = {code: row for code in codes if (row := _merge_grades(guide, attribute, code))}
    if len(rows) < 2:
        return None
    values = list(dict.fromkeys(value for row in rows.values() for value in row))
    unnamed = UNLISTED_PROBABILITY if guide.attributes[attribute].complete else _UNNAMED_FREQUENCY
    spread = [
        _normalize_chances([_chance(guide, attribute, code, value, unnamed) for value in values]) for code in rows
    ]
    mean = [sum(column) / len(spread) for column in zip(*spread, strict=True)]
    bits = sum(share * log2(share / mean[at]) for row in spread for at, share in enumerate(row) if share) / len(spread)
    usual = {}
    for (code, row), shares in zip(rows.items(), spread, strict=True):
        ahead = {value: share - usually for value, share, usually in zip(values, shares, mean, strict=True)}
        speaking = [value for value, by in ahead.items() if by > 0 and row.get(value, "never") != "never"]
        usual[code] = tuple(sorted(speaking, key=ahead.__getitem__, reverse=True)[:_MAX_VALUES])
    return AttributeDifference(
        attribute, bits * VISIBILITY_WEIGHTS[guide.attributes[attribute].visible] * len(rows) / len(codes), usual
    )


def _chance(guide: FieldGuide, attribute: str, code: str, value: str, unnamed: float) -> float:
    """Return the frequency of a value; if the row is unchecked, halfway to a value that no table names."""
    grade = _merge_grades(guide, attribute, code).get(value)
    if grade is None:
        return unnamed
    chance = GRADE_PROBABILITIES[grade]
    return chance if guide.is_checked(attribute, code, value) else (chance * unnamed) ** 0.5


def _merge_grades(guide: FieldGuide, attribute: str, code: str) -> dict[str, Grade]:
    table = guide.grades[attribute]
    return {**table.get(code.partition("-")[0], {}), **table.get(code, {})}


def _normalize_chances(chances: Sequence[float]) -> list[float]:
    total = sum(chances)
    return [chance / total for chance in chances]
