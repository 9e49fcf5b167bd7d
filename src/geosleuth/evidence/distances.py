"""Distance signs: towns with the kilometres or miles to them, and the questions that they raise.

Two such distances fix a place, as far as roads are straight.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from geosleuth.atlas.facts import get_script
from geosleuth.names import fold

from .clue import TextSeen
from .roads import is_road_number
from .sign_layout import gap_beside, height, in_one_row, join_seen_lines, usable
from .text_clue import ClueDraft
from .town_names import town_people
from .vocabulary import words_seen

MAX_DISTANCE = 3000.0
# Minimum number of rows with a name and a bare number for them to be read as distances.
MIN_ROWS_WITHOUT_UNIT = 2

DistanceUnit = Literal["km", "mi"]

_FRACTIONS = {"¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_NUMBER = r"\d{1,4}(?:[.,]\d)?(?:\s?[¼½¾⅓⅔]|\s\d/\d)?|[¼½¾⅓⅔]|\d/\d"
_UNIT = (
    r"(?:km|км|كم|کیلومتر|公里|กม\.?|ק\"מ|किमी|किलोमीटर|χλμ?|キロ|킬로미터|kms|kilometers?|kilometres?|mi|miles?|mls)"
)
_ONLY = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})?\.?\s*", re.IGNORECASE)
_NAME_FIRST = re.compile(rf"(.*?[^\W\d_].*?)[\s.…:·_-]*?(?<![\d.,/-])({_NUMBER})\s*({_UNIT})?\.?\s*", re.IGNORECASE)
_NUMBER_FIRST = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})?[\s.:]+([^\W\d].*)", re.IGNORECASE)
_MILES = re.compile(r"mi|miles?|mls", re.IGNORECASE)
_ARROWS = re.compile(r"[←↑→↓↖↗↘↙⬅➡⬆⇦⇨⇧<>|]+")
_NOT_A_TOWN = frozenset({"street", "hours", "days", "business"})
_NOT_A_TOWN_WORDS = frozenset({
    "bus", "tram", "line", "ligne", "linea", "linie", "exit", "sortie", "salida", "uscita", "ausfahrt", "gate",
    "platform", "route", "no", "nr", "tel", "max", "min", "km", "open", "room", "since", "est", "from", "ab", "bis",
    "zone", "parking", "price", "level", "floor", "page", "season", "step", "vol", "top", "only", "speed", "limit",
    "seite", "voie", "quai", "menu", "art", "lot", "unit", "suite", "apt",
})  # fmt: skip
_MAX_NAME_WORDS = 5

MIN_TOWNS = 2
# Added to a two-digit number whose arrow is read as a 1: "← 56" becomes 156.
ARROW_OFFSET = 100
MAX_TOWNS = 5
# A unit is not tried if the countries that measure in it are less likely than this.
MIN_UNIT_PROBABILITY = 0.03
_SPELLED = 0.7


@dataclass(frozen=True, slots=True)
class TownDistance:
    """A town and how far it is by a sign; ``unit`` is None where the sign gives none."""

    town: str
    distance: float
    unit: DistanceUnit | None
    where: TextSeen


def distances(lines: Sequence[TextSeen]) -> list[TownDistance]:
    """Return the distances on signs, from the top of each image.

    A bare number needs others or a known town behind it.
    """
    rows: dict[tuple[str, float], TownDistance] = {}
    chosen = usable(lines)
    for item in (*_on_one_line(chosen), *_in_columns(chosen)):
        rows.setdefault((item.town.casefold(), item.distance), item)
    found = list(rows.values())
    sure = [item for item in found if item.unit is not None]
    bare = [item for item in found if item.unit is None]
    by_image: dict[str, list[TownDistance]] = {}
    for item in bare:
        by_image.setdefault(item.where.image, []).append(item)
    for image, group in by_image.items():
        known = sum(bool(town_people(item.town)) for item in group)
        company = any(item.where.image == image for item in sure)
        figure_first = any(item.where.text[:1].isdigit() and town_people(item.town) for item in group)
        if (len(group) >= MIN_ROWS_WITHOUT_UNIT and known) or company or figure_first:
            unit = next((item.unit for item in sure if item.where.image == image), None)
            sure += [TownDistance(item.town, item.distance, unit, item.where) for item in group]
    return sorted(sure, key=lambda item: (item.where.image, item.where.upright[1], item.where.upright[0]))


def distance_findings(found: Sequence[TownDistance]) -> list[ClueDraft]:
    """The distances as findings. They name no country: that takes looking the towns up."""
    return [
        ClueDraft(
            "distance_sign", "distance_sign", item.where.text,
            f"{item.distance:g} {item.unit or 'km or miles'} to {item.town}", {}, item.where, ("photo",),
        )
        for item in found
    ]  # fmt: skip


def _on_one_line(lines: Sequence[TextSeen]) -> Iterator[TownDistance]:
    for seen in lines:
        text = _ARROWS.sub(" ", unicodedata.normalize("NFC", seen.text[:80]))
        after = _NAME_FIRST.fullmatch(text)
        before = _NUMBER_FIRST.fullmatch(text)
        if after:
            yield from _reading(after[1], after[2], after[3], seen)
        elif before:
            yield from _reading(before[3], before[1], before[2], seen)


def _in_columns(lines: Sequence[TextSeen]) -> Iterator[TownDistance]:
    """Yield distances of a column of names and a column of figures.

    Each figure goes with the nearest name in its row.
    """
    figures = [(seen, match) for seen in lines if (match := _ONLY.fullmatch(_ARROWS.sub(" ", seen.text)))]
    names = [seen for seen in lines if _is_name(_ARROWS.sub(" ", seen.text))]
    for figure, match in figures:
        beside = [name for name in names if name is not figure and in_one_row(figure, name)]
        beside = [name for name in beside if gap_beside(figure, name) < 20 * height(name)]
        if beside:
            name = min(beside, key=lambda other: gap_beside(figure, other))
            whole = join_seen_lines((name, figure), f"{name.text} {figure.text}")
            yield from _reading(name.text, match[1], match[2], whole)


def _reading(name: str, number: str, unit: str | None, where: TextSeen) -> Iterator[TownDistance]:
    town = _town(name)
    distance = _value(number)
    if town is None or distance is None or not 0 < distance <= MAX_DISTANCE:
        return
    if unit is None and len(re.sub(r"\D", "", number)) > 3:
        return
    measured: DistanceUnit | None = None if unit is None else "mi" if _MILES.fullmatch(unit) else "km"
    yield TownDistance(town, distance, measured, where)


def _town(name: str) -> str | None:
    """Return a town's name from the text beside a figure, without leading road numbers."""
    words = _ARROWS.sub(" ", name).split()
    while words and len(words) > 1 and is_road_number(words[0]):
        words = words[1:]
    text = " ".join(words).strip(" .,:;·…-–_()")
    return _in_one_script(text) if _is_name(text) else None


def _in_one_script(name: str) -> str:
    """Return a town's name once if a sign writes it in two scripts: "평양 Pyeongyang"."""
    scripts: dict[str, list[str]] = {}
    for word in name.split():
        scripts.setdefault(next(filter(None, map(get_script, word)), "Latn"), []).append(word)
    spelled = [" ".join(words) for words in scripts.values()]
    return name if len(spelled) < 2 or town_people(name) else next(filter(town_people, spelled), spelled[0])


def _is_name(text: str) -> bool:
    words = text.split()
    letters = sum(character.isalpha() for character in text)
    if not words or len(words) > _MAX_NAME_WORDS or letters < 2 or letters < 0.6 * len(text.replace(" ", "")):
        return False
    if any(character.isdigit() or character in "@€$£%+=" for character in text):
        return False
    if any(word.casefold().strip(".") in _NOT_A_TOWN_WORDS for word in words):
        return False
    return bool(town_people(text)) or not any(seen.categories & _NOT_A_TOWN for seen in words_seen(text))


def _value(number: str) -> float | None:
    total = 0.0
    for fraction, value in _FRACTIONS.items():
        if fraction in number:
            total += value
            number = number.replace(fraction, "")
    parts = number.replace(",", ".").split()
    try:
        for part in parts:
            over, slash, under = part.partition("/")
            total += float(over) / float(under) if slash else float(part)
    except (ValueError, ZeroDivisionError):
        return None
    return total


def is_known(match: str, score: float) -> bool:
    """Return whether the atlas knows a town by a name, possibly spelled differently; lower scores mean another name."""
    return match != "fuzzy" or score >= _SPELLED


@dataclass(frozen=True, slots=True)
class RangeQuestion:
    """Towns of one sign and how far they are."""

    towns: tuple[str, ...]
    distances: tuple[float, ...]
    unit: DistanceUnit


def range_questions(
    towns: Sequence[TownDistance], countries: Mapping[str, float], unknown: Collection[str] = ()
) -> Iterator[RangeQuestion]:
    """The distances of a sign, where at least two towns have one.

    A sign without a unit is asked about in kilometres and in miles, unless the text speaks for countries of one.

    Args:
        towns: what the signs of a scene say.
        countries: how likely each country is.
        unknown: folded names that the atlas does not know; they are left out.
    """
    images = Counter(town.where.image for town in towns)
    if not images:
        return
    image = images.most_common(1)[0][0]
    rows = {fold(town.town): town for town in towns if town.where.image == image and fold(town.town) not in unknown}
    chosen = list(rows.values())[:MAX_TOWNS]
    if len(chosen) < MIN_TOWNS:
        return
    stated = Counter(item.unit for item in chosen if item.unit)
    names = tuple(item.town for item in chosen)
    for unit in (stated.most_common(1)[0][0],) if stated else _usual_units(countries):
        for kilometres in _readings([item.distance for item in chosen]):
            yield RangeQuestion(names, kilometres, unit)


def _readings(distances: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """Yield the distances as read, and without the first figure where it may be an arrow read as a 1."""
    yield tuple(distances)
    for at, distance in enumerate(distances):
        if ARROW_OFFSET < distance < 2 * ARROW_OFFSET:
            yield (*distances[:at], distance - ARROW_OFFSET, *distances[at + 1 :])


def _usual_units(countries: Mapping[str, float]) -> tuple[DistanceUnit, ...]:
    """Return the units of distances where the photo may be, the likelier first; only one if the other is rare."""
    from geosleuth.atlas.facts import all_countries

    known = all_countries()
    in_miles = sum(share for code, share in countries.items() if code in known and known[code].distance_unit == "mi")
    if in_miles < MIN_UNIT_PROBABILITY:
        return ("km",)
    if in_miles > 1 - MIN_UNIT_PROBABILITY:
        return ("mi",)
    return ("mi", "km") if in_miles > 0.5 else ("km", "mi")
