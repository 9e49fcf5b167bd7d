"""What was seen on a street, in free words or as attribute = value, and the odds that follow.

Each sighting multiplies the odds of a country by how common the value is there, beside the world's average; a country
that nobody has checked keeps its odds, or loses a little where a table has most others. Sightings depend on each other
(yellow lines, yellow diamonds and square plates come together), so their product is tempered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log

from geosleuth.clues.model import Clue
from geosleuth.clues.prior import country_prior, normalised
from geosleuth.errors import BadInput
from geosleuth.names import country_name

from .tables import FieldGuide, field_guide

CONFIDENCE = 0.9
"""How often something that was seen is really so, where nobody says how sure they are."""

DOUBTED = 0.5
TEMPER = 0.75
"""Exponent of the product of all sightings. A judgement: they are neither one nor independent."""

FLATTER = 0.5
"""Exponent of the prior: photos that somebody asks about are spread more evenly than people are."""

RELIABILITY = 0.9
MOST_SIGHTINGS = 60
LONGEST_TEXT = 4000
_LONG_PHRASE = 4
_SHOWN_MOVES = 4
_UNCHECKED, _WIDE_TABLE = -0.2, 80
"""Where a table has so many places, one that it lacks is more often one without the thing."""

_TELLING_REGION = 2.0
"""Regions are named where one is so much likelier than all on average."""

_DOUBT = re.compile(r"\b(?:maybe|perhaps|possibly|probably|might|seems?|looks? like|unsure)\b|\?")
_STATED = re.compile(r"[@(]\s*(?P<share>1(?:\.0+)?|0?\.\d+|\d{1,3}\s*%)\s*\)?\s*$")
_PARTS = re.compile(r"[,;\n]+|\.(?=\s|$)")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_ALIKE = {
    "color": "colour", "colored": "colour", "coloured": "colour", "curb": "kerb", "gray": "grey", "center": "centre",
    "middle": "centre", "tire": "tyre", "sidewalk": "pavement", "gasoline": "petrol", "gas": "petrol",
    "license": "plate", "licence": "plate", "delineator": "bollard", "broken": "dashed",
    "dash": "dashed", "dotted": "dashed", "continuous": "solid", "unbroken": "solid", "two": "double", "trash": "bin",
    "garbage": "bin", "rubbish": "bin", "mailbox": "letterbox", "roofing": "roof", "rooftop": "roof", "tiled": "tile",
    "wooden": "wood", "timber": "wood", "cement": "concrete",
}  # fmt: skip
_IDLE = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "with", "by", "to", "from", "is", "are",
    "there", "and", "or", "its", "it", "one", "some", "very", "this", "that", "has", "have",
})  # fmt: skip
_LOOKS = frozenset({
    "red", "orange", "yellow", "green", "blue", "white", "black", "grey", "brown", "pink", "purple", "silver", "gold",
    "small", "large", "long", "short", "round", "square", "wide", "narrow", "tall", "low", "old", "new", "plain",
    "none",
    "metal", "wood", "concrete", "stone", "plastic", "steel", "double", "solid", "dashed", "single", "dark", "light",
    "straight", "flat", "steep", "line", "sign", "pole", "post", "plate", "house", "tree", "car", "road", "wall",
    "roof",
})  # fmt: skip
"""Words that are no thing by themselves, or one that every street has."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that was seen, how surely, and the words that said so; words may fit several values of an attribute."""

    attribute: str
    values: tuple[str, ...]
    confidence: float
    words: str


@dataclass(frozen=True, slots=True)
class Move:
    """By what factor a sighting moved the odds of a place, beside the average one."""

    place: str
    factor: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """What follows from sightings.

    Attributes:
        sightings: what was understood.
        moves: for each of them, the countries that it moved most, up or down.
        not_understood: words that are in no table.
        countries: odds by ISO code, the likeliest first; they add up to 1.
        regions: for the likeliest countries, the odds of their regions that tables name, the likeliest first.
    """

    sightings: tuple[Sighting, ...]
    moves: tuple[tuple[Move, ...], ...]
    not_understood: tuple[str, ...]
    countries: Mapping[str, float]
    regions: Mapping[str, Mapping[str, float]]


def read_sightings(texts: str | Iterable[str]) -> tuple[list[Sighting], list[str]]:
    """Return what texts say was seen, and the parts that no table has words for.

    A part is ``attribute = value``, or free words such as "double yellow centre line". ``@0.6`` or ``(60%)`` at its end
    says how sure it is.

    Raises:
        BadInput: an attribute is named that does not exist, or a value that it does not have.
    """
    given = [texts] if isinstance(texts, str) else list(texts)
    found: dict[tuple[str, tuple[str, ...]], Sighting] = {}
    unknown = []
    for part in _parts(given):
        words, confidence = _with_confidence(part)
        seen = [_named(words, confidence)] if "=" in words else list(_described(words, confidence))
        if not seen:
            unknown.append(part)
        for one in seen:
            kept = found.get((one.attribute, one.values))
            if kept is None or kept.confidence < one.confidence:
                found[one.attribute, one.values] = one
    return list(found.values())[:MOST_SIGHTINGS], unknown


def weigh_sightings(texts: str | Iterable[str], *, prior: Mapping[str, float] | None = None) -> Weighed:
    """Turn what was seen into odds over countries and their regions.

    Args:
        texts: what was seen, see `read_sightings`.
        prior: odds of countries by ISO code before anything was seen; by people and roads, flattened, unless given.

    Raises:
        BadInput: an attribute or value is named that does not exist.
    """
    sightings, unknown = read_sightings(texts)
    start = normalised(prior or {code: share**FLATTER for code, share in country_prior().items()})
    logs = [_log_ratios(one, start, start) for one in sightings]
    odds = normalised({code: share * exp(TEMPER * sum(row[code] for row in logs)) for code, share in start.items()})
    moves = tuple(
        tuple(
            Move(code, exp(row[code]))
            for code in sorted(row, key=lambda code: -abs(row[code]) * odds.get(code, 0.0) ** 0.5)[:_SHOWN_MOVES]
            if abs(row[code]) > log(1.1)
        )
        for row in logs
    )
    regions = {code: found for code in list(odds)[:5] if (found := _regions(code, sightings, start))}
    return Weighed(tuple(sightings), moves, tuple(unknown), odds, regions)


def sighting_clue(weighed: Weighed) -> Clue | None:
    """Return sightings as one clue, to be weighed with what signs say; None where nothing was understood."""
    if not weighed.sightings:
        return None
    guide = field_guide()
    seen = "; ".join(shown(guide, one) for one in weighed.sightings)
    first = [country_name(code) for code in list(weighed.countries)[:3]]
    return Clue(
        "sighting", seen, f"such streets are found in {' or '.join(first)} and others", RELIABILITY, weighed.countries,
        sources=("geosleuth field guide",), caution="regions differ, and things are imported",
    )  # fmt: skip


def shown(guide: FieldGuide, one: Sighting) -> str:
    """Return a sighting in words for people."""
    labels = " or ".join(guide.values[one.attribute][value].label for value in one.values)
    return f"{guide.attributes[one.attribute].label}: {labels}"


def _log_ratios(one: Sighting, places: Iterable[str], prior: Mapping[str, float]) -> dict[str, float]:
    """How much likelier a sighting is in each place than on average."""
    average = _average(one, prior)
    unchecked = _UNCHECKED if len(field_guide().grades[one.attribute]) >= _WIDE_TABLE else 0.0
    return {
        place: unchecked
        if (chance := _chance(one, place)) is None
        else log((one.confidence * chance + (1 - one.confidence) * average) / average)
        for place in places
    }


def _chance(one: Sighting, place: str) -> float | None:
    chances = [field_guide().chance(one.attribute, place, value) for value in one.values]
    return max((chance for chance in chances if chance is not None), default=None)


def _average(one: Sighting, prior: Mapping[str, float]) -> float:
    known = [(share, chance) for code, share in prior.items() if (chance := _chance(one, code)) is not None]
    total = sum(share for share, _ in known)
    # Small countries count, too: by people alone, what only a few islands have would seem never to be seen.
    plain = sum(chance for _, chance in known) / max(1, len(known))
    return 0.5 * plain + 0.5 * sum(share * chance for share, chance in known) / total if total else 1.0


def _regions(code: str, sightings: Sequence[Sighting], prior: Mapping[str, float]) -> dict[str, float]:
    guide = field_guide()
    places = sorted(place for place in guide.places if place.startswith(f"{code}-"))
    told = [one for one in sightings if any(place in guide.grades[one.attribute] for place in places)]
    if not told:
        return {}
    logs = [_log_ratios(one, places, prior) for one in told]
    odds = normalised({place: exp(TEMPER * sum(row[place] for row in logs)) for place in places})
    return odds if max(odds.values()) >= _TELLING_REGION / len(odds) else {}


def _parts(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for part in _PARTS.split(text[:LONGEST_TEXT].lower()):
            if words := part.strip(" -•*\t"):
                yield words


def _with_confidence(part: str) -> tuple[str, float]:
    stated = _STATED.search(part)
    if stated is not None:
        share = stated["share"].replace(" ", "")
        value = float(share[:-1]) / 100 if share.endswith("%") else float(share)
        return part[: stated.start()].strip(), min(0.99, max(0.01, value))
    return part, DOUBTED if _DOUBT.search(part) else CONFIDENCE


def _named(words: str, confidence: float) -> Sighting:
    guide = field_guide()
    name, _, wanted = (side.strip().replace(" ", "_").replace("-", "_") for side in words.partition("="))
    if name not in guide.attributes:
        raise BadInput(f"The field guide has no attribute {name!r}. It has: {', '.join(guide.attributes)}")
    if wanted not in guide.values[name]:
        raise BadInput(f"{name} has no value {wanted!r}. It has: {', '.join(guide.values[name])}")
    return Sighting(name, (wanted,), confidence, words)


def _described(words: str, confidence: float) -> Iterator[Sighting]:
    """The values that words describe: for each attribute the best, without those that a longer phrase explains."""
    said = _tokens(words)
    fitting: dict[str, dict[str, frozenset[str]]] = {}
    for attribute, value, phrase in _phrases():
        shared = phrase & said
        if _fits(phrase, shared):
            values = fitting.setdefault(attribute, {})
            values[value] = max(values.get(value, frozenset()), shared, key=_worth)
    best = {
        attribute: {
            value: shared for value, shared in values.items() if not any(shared < other for other in values.values())
        }
        for attribute, values in fitting.items()
    }
    told = {attribute: frozenset().union(*values.values()) for attribute, values in best.items()}
    for attribute, values in best.items():
        # "Grey round concrete pole" is a utility pole, and not the grey post of a sign as well.
        if not any(told[attribute] < other for other in told.values()):
            yield Sighting(attribute, tuple(values), confidence, words)


def _worth(words: frozenset[str]) -> float:
    return sum(map(_rarity, words))


def _fits(phrase: frozenset[str], shared: frozenset[str]) -> bool:
    """Whether words hold a phrase: all of it, or of a long one all but one word that is no colour or form."""
    missing = phrase - shared
    return not missing or (len(phrase) >= _LONG_PHRASE and len(missing) == 1 and not missing & _LOOKS)


@cache
def _phrases() -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Every phrase of every value as words; one word alone counts where it names a thing, as no colour does."""
    guide = field_guide()
    found = [
        (attribute, value.name, tokens)
        for attribute, values in guide.values.items()
        for value in values.values()
        for phrase in (f"{value.label} {guide.attributes[attribute].label}", *value.phrases)
        if (tokens := _tokens(phrase))
    ]
    return tuple(one for one in found if len(one[2]) > 1 or not one[2] & _LOOKS)


@cache
def _rarity(token: str) -> float:
    """How telling a word is among all phrases."""
    having = sum(token in phrase for *_, phrase in _phrases())
    return log(1 + len(_phrases()) / (1 + having))


def _tokens(text: str) -> frozenset[str]:
    words = (_stem(word) for word in _WORD.findall(text.lower()))
    return frozenset(word for word in words if word not in _IDLE)


def _stem(word: str) -> str:
    word = _ALIKE.get(word, word)
    if len(word) > 4 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return _ALIKE.get(word, word)
