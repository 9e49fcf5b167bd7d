"""Sightings on a street, in free words or as attribute = value, and the odds that follow.

Each sighting multiplies the odds of a country by how common the value is there, beside the world's average; a country
without a row keeps its odds, or loses a little where a table has most others. Sightings depend on each other
(yellow lines, yellow diamonds and square plates come together), so their product is tempered.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, log

from geosleuth.evidence.clue import Clue
from geosleuth.evidence.country_prior import country_prior, normalize
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput

from .matching import describe
from .tables import UNLISTED_PROBABILITY, FieldGuide, field_guide

# Probability that a sighting is correct if its confidence is not stated.
CONFIDENCE = 0.9

DOUBTED = 0.5
# Exponent of the product of all sightings: they are neither fully dependent nor independent.
SIGHTINGS_EXPONENT = 0.9

# Exponent of the number of sightings in a group: the tenth plant adds less than the first.
GROUP_EXPONENT = 0.8

# Exponent of the prior: the photos that people ask about are spread more evenly than the population.
PRIOR_EXPONENT = 0.5

RELIABILITY = 0.9
MAX_SIGHTINGS = 60
LONGEST_TEXT = 4000
_SHOWN_MOVES = 4
# How common a value is where the tables have no row, and how many countries that guess counts as.
USUAL, _USUAL_WEIGHT = 0.1, 20

# Share of the photos showing a script or language that come from countries where it is not written.
ABROAD_SHARE = 0.08

# Share assumed for scripts that are listed only for regions of countries.
_MIN_WRITTEN = 1e-4

_WRITING = frozenset({"script", "language"})

# Frequency of a value in a country missing from its table, relative to the average.
UNKNOWN_SHARE = 0.6

# Exponent of the ratio from a row that has not been checked: it shifts the log odds half as far.
UNCHECKED_WEIGHT = 0.5

# Frequency of a value that the country's table does not list, relative to the average, if the table is not complete.
UNLISTED_SHARE = 0.5

# Regions are named where one is so much likelier than all on average, and at least so likely.
_TELLING_REGION, _MIN_REGION = 2.0, 0.15

_DOUBT = re.compile(r"\b(?:maybe|perhaps|possibly|probably|might|seems?|looks? like|unsure)\b|\?")
_STATED = re.compile(r"[@(]\s*(?P<share>1(?:\.0+)?|0?\.\d+|\d{1,3}\s*%)\s*\)?\s*$")
_PARTS = re.compile(r"[,;\n]+|\.(?=\s|$)")

_PLATES = re.compile(
    r"\b(?:(?:motor(?:cycle|bike)|scooter|car)(?:'?s)? )?((?:number |licen[cs]e |registration )?plates?)\b"
)
_SIDES = re.compile(r"\b(?:(?:in|at|on) )?(?:the )?(?:(front)|rear|back|behind)\b")
_CLAUSES = re.compile(r"\b(?:and|but|while)\b")
_FRONT, _REAR = "plate_front", "plate_rear"


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that was seen, how surely, and the words that said so; words may fit several values of an attribute.

    ``front`` has the values of the front plate, where a rear one was seen apart from it: the two come in pairs.
    """

    attribute: str
    values: tuple[str, ...]
    confidence: float
    words: str
    front: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """By what factor a sighting moved the odds of a place, beside the average one."""

    place: str
    factor: float


@dataclass(frozen=True, slots=True)
class WeighedSightings:
    """Result of sightings.

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
    for part in _split_sightings(given):
        words, confidence = _with_confidence(part)
        seen = (
            [_parse_named(words, confidence)]
            if "=" in words
            else [Sighting(name, values, confidence, words) for name, values in describe(words)]
        )
        if not seen:
            unknown.append(part)
        for item in seen:
            kept = found.get((item.attribute, item.values))
            if kept is None or kept.confidence < item.confidence:
                found[item.attribute, item.values] = item
    return list(_in_pairs(found.values()))[:MAX_SIGHTINGS], unknown


def _in_pairs(sightings: Collection[Sighting]) -> Iterator[Sighting]:
    """Yield sightings; a rear plate is told which front plate was seen, unless the same words said both."""
    fronts = [sighting for sighting in sightings if sighting.attribute == _FRONT]
    for sighting in sightings:
        beside = [front for front in fronts if sighting.attribute == _REAR and front.words != sighting.words]
        yield replace(sighting, front=beside[0].values) if beside else sighting


def weigh_sightings(
    texts: str | Iterable[str], *, prior: Mapping[str, float] | None = None, within: Collection[str] = ()
) -> WeighedSightings:
    """Turn what was seen into odds over countries and their regions.

    Args:
        texts: what was seen, see `read_sightings`.
        prior: odds of countries by ISO code before anything was seen; by wealth and roads, flattened, unless given.
        within: ISO codes of the only countries that it can be; all without any. The regions of a country that is the
            only one are always weighed.

    Raises:
        BadInput: an attribute or value is named that does not exist, or ``within`` names no country.
    """
    sightings, unknown = read_sightings(texts)
    before = prior or {code: share**PRIOR_EXPONENT for code, share in country_prior().items()}
    if strange := sorted(set(within) - set(before)):
        raise BadInput(f"No country has the code {', '.join(strange)}; name countries as in JP KR TW")
    start = normalize({code: share for code, share in before.items() if not within or code in within})
    places = _get_listed_regions()
    weights = _weights(sightings)
    averages = [_average(sighting, start) for sighting in sightings]
    support: dict[str, float] = {}
    regions: dict[str, dict[str, float]] = {}
    for code in start:
        inside = places.get(code, ())
        each = {
            place: exp(sum(
                weight * _log_ratio(one, place, average)
                for one, weight, average in zip(sightings, weights, averages, strict=True)
            ))
            for place in (code, *inside)
        }  # fmt: skip
        # What is seen together was seen in one region: a country is as likely as its regions are on average.
        support[code] = sum(each.values()) / len(each)
        regions[code] = normalize({place: each[place] for place in inside})
    odds = normalize({code: share * support[code] for code, share in start.items()})
    moves = tuple(_moves(one, average, odds) for one, average in zip(sightings, averages, strict=True))
    telling = {
        code: found
        for code in list(odds)[:5]
        if (found := regions[code])
        and (len(within) == 1 or max(found.values()) >= max(_MIN_REGION, _TELLING_REGION / len(found)))
    }
    return WeighedSightings(tuple(sightings), moves, tuple(unknown), odds, telling)


def sighting_clue(weighed: WeighedSightings) -> Clue | None:
    """Return sightings as one clue, to be weighed with what signs say; None where nothing was understood."""
    if not weighed.sightings:
        return None
    guide = field_guide()
    seen = "; ".join(format_sighting(guide, sighting) for sighting in weighed.sightings)
    first = [country_name(code) for code in list(weighed.countries)[:3]]
    return Clue(
        "sighting", seen, f"such streets are found in {' or '.join(first)} and others", RELIABILITY, weighed.countries,
        sources=("geosleuth field guide",), caution="regions differ, and things are imported",
    )  # fmt: skip


def format_sighting(guide: FieldGuide, sighting: Sighting) -> str:
    """Return a sighting in words for people."""
    labels = " or ".join(guide.values[sighting.attribute][value].label for value in sighting.values)
    return f"{guide.attributes[sighting.attribute].label}: {labels}"


@cache
def _get_listed_regions() -> Mapping[str, tuple[str, ...]]:
    """Return the regions of each country that has some in the tables."""
    found: dict[str, tuple[str, ...]] = {}
    for place in sorted(field_guide().places):
        country, _, region = place.partition("-")
        if region:
            found[country] = (*found.get(country, ()), place)
    return found


def _weights(sightings: Sequence[Sighting]) -> list[float]:
    """Return the weight of each sighting: less if others say something about the same."""
    guide = field_guide()
    groups = Counter(guide.attributes[sighting.attribute].group for sighting in sightings)
    same = Counter(sighting.attribute for sighting in sightings)
    # "Yellow number plate" says nothing of front or rear, and is one thing.
    alike = Counter((sighting.words, sighting.values) for sighting in sightings)
    temper = SIGHTINGS_EXPONENT if len(sightings) > 1 else 1.0
    return [
        temper
        * (groups[guide.attributes[sighting.attribute].group] * same[sighting.attribute]) ** (GROUP_EXPONENT - 1)
        / alike[sighting.words, sighting.values]
        for sighting in sightings
    ]


def _log_ratio(sighting: Sighting, place: str, average: float) -> float:
    """Return the log ratio of a sighting's probability in a place to the average."""
    guide = field_guide()
    known = _chance(sighting, place)
    weight = 1.0
    if known is None:
        chance = UNKNOWN_SHARE * average
    else:
        chance = known
        best = max(sighting.values, key=lambda value: guide.chance(sighting.attribute, place, value) or 0.0)
        if not guide.is_checked(sighting.attribute, place, best):
            weight = UNCHECKED_WEIGHT
        if chance == UNLISTED_PROBABILITY and not guide.attributes[sighting.attribute].complete:
            chance = max(chance, UNLISTED_SHARE * average)
    return weight * log((sighting.confidence * chance + (1 - sighting.confidence) * average) / average)


def _chance(sighting: Sighting, place: str) -> float | None:
    """Return how often a photo from there shows the sighting; None if nothing was checked."""
    rear = _likeliest(sighting.attribute, sighting.values, place)
    if rear is None or not sighting.front:
        return rear
    front = _likeliest(_FRONT, sighting.front, place)
    if front is None:
        return rear
    if set(sighting.front) & set(sighting.values):
        return min(1.0, rear / front)
    # A car has the same colour on both sides where it can: what is left are plates that differ by law.
    apart = min(
        rear - (_likeliest(_FRONT, sighting.values, place) or 0.0),
        front - (_likeliest(_REAR, sighting.front, place) or 0.0),
    )
    return min(1.0, max(UNLISTED_PROBABILITY, apart / front))


def _likeliest(attribute: str, values: Iterable[str], place: str) -> float | None:
    guide = field_guide()
    known = ((value, guide.chance(attribute, place, value)) for value in values)
    return max((_of_writing(attribute, value, chance) for value, chance in known if chance is not None), default=None)


def _of_writing(attribute: str, value: str, chance: float) -> float:
    """Return a chance; for a script or language foreign to a place, the rate at which it travels there."""
    return (
        min(chance, ABROAD_SHARE * _estimate_writing_rate(attribute, value))
        if chance == UNLISTED_PROBABILITY and attribute in _WRITING
        else chance
    )


@cache
def _estimate_writing_rate(attribute: str, value: str) -> float:
    """Return how often a photo shows a script or language in a country that the tables list for it."""
    prior, guide = country_prior(), field_guide()
    known = ((share, guide.chance(attribute, code, value)) for code, share in prior.items())
    written = sum(share * chance for share, chance in known if chance is not None and chance != UNLISTED_PROBABILITY)
    return max(written, _MIN_WRITTEN)


def _average(sighting: Sighting, prior: Mapping[str, float]) -> float:
    """Return the worldwide frequency of a sighting, by countries and people; near the usual if few were checked."""
    known = [(share, chance) for code, share in prior.items() if (chance := _chance(sighting, code)) is not None]
    total = sum(share for share, _ in known)
    # Small countries count, too: by people alone, what only a few islands have would seem never to be seen.
    mean = (
        0.5 * sum(chance for _, chance in known) / len(known) + 0.5 * sum(s * chance for s, chance in known) / total
        if known
        else USUAL
    )
    if sighting.attribute in _WRITING:
        return mean
    return (len(known) * mean + _USUAL_WEIGHT * USUAL) / (len(known) + _USUAL_WEIGHT)


def _moves(sighting: Sighting, average: float, odds: Mapping[str, float]) -> tuple[Move, ...]:
    row = {code: _log_ratio(sighting, code, average) for code in odds}
    ranked = sorted(row, key=lambda code: -abs(row[code]) * odds[code] ** 0.5)[:_SHOWN_MOVES]
    return tuple(Move(code, exp(row[code])) for code in ranked if abs(row[code]) > log(1.1))


def _split_sightings(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for part in _PARTS.split(text[:LONGEST_TEXT].lower()):
            if words := part.strip(" -•*\t"):
                yield from _plates(words)


def _plates(said: str) -> Iterator[str]:
    """Yield what was seen with front and rear plates apart: "white front and yellow rear plates" are two things."""
    if not _PLATES.search(said) or "=" in said:
        yield said
        return
    words = _SIDES.sub(lambda side: " front " if side[1] else " rear ", _PLATES.sub(r"\1", said))
    words = " ".join(words.split())
    clauses = [item.strip() for item in _CLAUSES.split(words)]
    if len({*re.findall(r"\bfront\b|\brear\b", words)}) < 2:
        yield words
    elif all(re.search(r"\bfront\b|\brear\b", clause) and len(clause.split()) > 1 for clause in clauses):
        yield from (clause if _PLATES.search(clause) else f"{clause} number plate" for clause in clauses)
    else:
        # "White plates front and rear" are white plates; "plates front and rear" say that there are two.
        alike = re.sub(r"\bfront\b|\brear\b|\band\b", "", words).strip()
        yield said if _PLATES.fullmatch(alike) else alike


def _with_confidence(part: str) -> tuple[str, float]:
    stated = _STATED.search(part)
    if stated is not None:
        share = stated["share"].replace(" ", "")
        value = float(share[:-1]) / 100 if share.endswith("%") else float(share)
        return part[: stated.start()].strip(), min(0.99, max(0.01, value))
    return part, DOUBTED if _DOUBT.search(part) else CONFIDENCE


def _parse_named(words: str, confidence: float) -> Sighting:
    guide = field_guide()
    name, _, wanted = (side.strip().replace(" ", "_").replace("-", "_") for side in words.partition("="))
    if name not in guide.attributes:
        raise BadInput(f"The field guide has no attribute {name!r}. It has: {', '.join(guide.attributes)}")
    if wanted not in guide.values[name]:
        raise BadInput(f"{name} has no value {wanted!r}. It has: {', '.join(guide.values[name])}")
    return Sighting(name, (wanted,), confidence, words)
