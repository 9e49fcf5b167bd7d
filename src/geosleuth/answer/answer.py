"""The Answer type: an optional point, an address in three levels, a confidence and an explanation; as text and as JSON.

Its texts come from models and maps; control and direction characters are removed here, so that cards, pages, tables and
exports need not.

The full form of one answer::

    {"format": "geosleuth-answer/1", "lat": 43.7384, "lon": 7.4246,
     "country": {"conclusion": "Monaco", "clues": ["plate"], "reasoning": "...", "uncertainty": "low"},
     "region": {}, "precise": {"conclusion": "Rue Grimaldi, Monaco"},
     "probability": 0.8, "radius_km": 1.0, "explanation": "...",
     "candidates": [{"name": "Menton", "lat": 43.77, "lon": 7.5, "probability": 0.1, "evidence": "..."}]}

Absent keys mean None or empty. ``lat`` and ``lon`` come together or not at all.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from geosleuth.geo import SAME_SPOT_KM, LatLon, distance_km
from geosleuth.support.errors import BadInput
from geosleuth.support.text.safe import clean_fields

_AS_LIKELY_AS_NOT = 0.45
_WORDS = (
    (0.97, "almost certain"),
    (0.85, "very likely"),
    (0.65, "likely"),
    (_AS_LIKELY_AS_NOT, "as likely as not"),
    (0.2, "doubtful"),
    (0.0, "a long shot"),
)
AreaKind = Literal["country", "circle"]
"""What a finding is where it is no point: all of a country, or a circle in a country or region."""
Extent = Literal["country", "circle", "point"]
"""What the point of a finding means, see `build_extent`."""
# Maximum radius at which a country or region is still shown and written as a point: a city's. Same value on the page.
PIN_KM = 25.0
_NEAR_KM = 1.0
FORMAT = "geosleuth-answer/1"
LevelName = Literal["country", "region", "precise"]
_LEVEL_NAMES: tuple[LevelName, ...] = ("country", "region", "precise")


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the address: the conclusion and, if a method gives them, its clues and reasoning."""

    conclusion: str | None = None
    clues: tuple[str, ...] = ()
    reasoning: str | None = None
    uncertainty: str | None = None

    def __post_init__(self) -> None:
        """Clean the words."""
        clean_fields(self, "conclusion", "clues", "reasoning", "uncertainty")

    def __bool__(self) -> bool:
        """Return whether the level says anything."""
        return bool(self.clues) or any(text is not None for text in (self.conclusion, self.reasoning, self.uncertainty))


@dataclass(frozen=True, slots=True)
class Address:
    """Three levels, coarse to fine.

    ``region`` is the first-level division (state, province, prefecture). ``precise`` is the finest named place, a
    city, a street or a building, written finest first: "12 Rue Grimaldi, Monaco".
    """

    country: Level = field(default_factory=Level)
    region: Level = field(default_factory=Level)
    precise: Level = field(default_factory=Level)

    @classmethod
    def create(cls, country: str | None = None, region: str | None = None, precise: str | None = None) -> "Address":
        """Build an address of bare names."""
        return cls(Level(country), Level(region), Level(precise))

    def __bool__(self) -> bool:
        """Return whether any level says anything."""
        return bool(self.country or self.region or self.precise)

    def __str__(self) -> str:
        """Return the names, finest first, as on an envelope."""
        levels = (self.precise, self.region, self.country)
        return ", ".join(level.conclusion for level in levels if level.conclusion)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that was considered; answers list them best first."""

    name: str | None = None
    point: LatLon | None = None
    probability: float | None = None
    evidence: str | None = None

    def __post_init__(self) -> None:
        """Check the probability; clean the words."""
        _check_probability(self.probability)
        clean_fields(self, "name", "evidence")


@dataclass(frozen=True, slots=True)
class Answer:
    """Location of a photo, as far as known.

    ``point`` is None if no place was given: the answer is *unlocated*, which is an honest outcome and counted as such.
    ``probability`` is the estimate that the truth lies within ``radius_km`` of the point; if a method states a
    confidence without a radius, ``radius_km`` is None.
    """

    point: LatLon | None = None
    address: Address = field(default_factory=Address)
    probability: float | None = None
    radius_km: float | None = None
    explanation: str | None = None
    candidates: tuple[Candidate, ...] = ()

    def __post_init__(self) -> None:
        """Check probability and radius; clean the words."""
        _check_probability(self.probability)
        clean_fields(self, "explanation")
        if self.radius_km is not None and not (isfinite(self.radius_km) and self.radius_km > 0):
            raise ValueError(f"radius_km must be a positive, finite length, not {self.radius_km!r}")

    @property
    def located(self) -> bool:
        """Return whether there is a point to score."""
        return self.point is not None


def _check_probability(value: float | None) -> None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise ValueError(f"a probability must be between 0 and 1, not {value!r}")


def how_sure(probability: float | None) -> str:
    """Return a probability in everyday words: cards, reports and the page have no others.

    It goes by the percentage that stands beside the words, so that 97 % is the same word everywhere.
    """
    if probability is None:
        return "how sure was not said"
    return next(words for least, words in _WORDS if whole_percent(probability) >= round(100 * least))


def is_doubtful(probability: float | None) -> bool:
    """Return whether a finding is rather wrong than right by its own odds: a lead, and not to be counted as found."""
    return probability is not None and whole_percent(probability) < round(100 * _AS_LIKELY_AS_NOT)


def whole_percent(share: float) -> int:
    """Return a share as a whole percentage.

    Answers keep three decimals, and explanations use the number before: rounded directly, 0.1348 would be 13 % in one
    line and 14 % in another.
    """
    return round(100 * round(share, 3))


def percent_words(probability: float) -> str:
    """Return a probability in percent, never 0 % and never 100 %."""
    rounded = whole_percent(probability)
    if rounded == 100:
        return "over 99 %"
    return "under 1 %" if rounded == 0 else f"{rounded} %"


def radius_words(radius_km: float) -> str:
    """Format a radius: 220 m, 2.5 km, 1,200 km."""
    if radius_km < 0.9995:
        return f"{max(1, round(1000 * radius_km)):,} m"
    return f"{radius_km:.1f} km".replace(".0 km", " km") if radius_km < 9.95 else f"{round(radius_km):,} km"


def envelope(address: Address) -> str:
    """Return the names, finest first, without duplicates."""
    parts: list[str] = []
    for level in (address.precise, address.region, address.country):
        name = level.conclusion or ""
        known = {part.strip().casefold() for written in parts for part in written.split(",")}
        if name and name.casefold() not in known:
            parts.append(name)
    return ", ".join(parts)


def format_words(address: Address) -> str:
    """Return the words by which an address is placed: its names; a city named like its country is said with it."""
    words, country = envelope(address), address.country.conclusion
    return f"{words}, {country}" if country and words == address.precise.conclusion == country else words


def is_wide(radius_km: float | None, area: AreaKind | None) -> bool:
    """Return whether a finding is a country or region, whose middle is no place to point at."""
    return area is not None and (radius_km or 0.0) > PIN_KM


def build_extent(answer: Answer, area: AreaKind | None) -> Extent | None:
    """Return what an answer's point means; None where it has none.

    ``country``: it stands for all of the country, and says nothing of where in it. ``circle``: it is the middle of a
    circle of which no more than the country or region is named. ``point``: it is the place, as near as the radius says.
    """
    if answer.point is None:
        return None
    return area if area is not None and is_wide(answer.radius_km, area) else "point"


def is_the_answer(candidate: Candidate, answer: Answer) -> bool:
    """Return whether a candidate is the answer itself: at the same spot, or near with the same name."""
    if answer.point is not None and candidate.point is not None:
        away_km = distance_km(candidate.point, answer.point)
        if away_km <= SAME_SPOT_KM:
            return True
        if away_km > max(answer.radius_km or 0.0, _NEAR_KM):
            return False
    name, levels = _fold_name(candidate.name), answer.address
    finest = levels.precise or levels.region or levels.country
    return bool(name) and name in (_fold_name(envelope(levels)), _fold_name(finest.conclusion))


def _fold_name(name: str | None) -> str:
    plain = unicodedata.normalize("NFKD", (name or "").casefold())
    return " ".join("".join(item for item in plain if item.isalnum() or item.isspace()).split())


def iterate_named_levels(address: Address) -> Iterator[tuple[LevelName, Level]]:
    """Yield the levels that say anything, the finest first."""
    for name in reversed(_LEVEL_NAMES):
        if level := getattr(address, name):
            yield name, level


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Return the full form; ``answer_from_dict`` restores an equal answer."""
    return _without_nothing(
        {
            "format": FORMAT,
            **_point_to_dict(answer.point),
            **{name: _level_to_dict(getattr(answer.address, name)) for name in _LEVEL_NAMES},
            "probability": answer.probability,
            "radius_km": answer.radius_km,
            "explanation": answer.explanation,
            "candidates": [_candidate_to_dict(candidate) for candidate in answer.candidates],
        }
    )


def answer_from_dict(data: Mapping[str, Any]) -> Answer:
    """Read the full form.

    Raises:
        BadInput: the object has another format or version, or a value is invalid.
    """
    try:
        found = data.get("format")
        if found != FORMAT:
            raise BadInput(f"this answer says format {found!r}; this version of geosleuth reads {FORMAT!r}")
        levels = (_level_from_dict(data.get(name) or {}) for name in _LEVEL_NAMES)
        return Answer(
            point=_point_from_dict(data),
            address=Address(*levels),
            probability=_check_number(data.get("probability")),
            radius_km=_check_number(data.get("radius_km")),
            explanation=_check_text(data.get("explanation")),
            candidates=tuple(_candidate_from_dict(item) for item in data.get("candidates") or ()),
        )
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise BadInput(f"this answer can't be read: {error}") from error


def render(answer: Answer) -> str:
    """Return the full form as one line of JSON.

    ``<`` is escaped, so that no text inside can look like a tag of the reply that contains it.
    """
    return json.dumps(answer_to_dict(answer), allow_nan=False).replace("<", "\\u003c")


def render_brief(answer: Answer) -> str:
    """Return the four keys of the strict parser: lat, lon, city, country. An unlocated answer has no lat and lon."""
    brief = {
        **_point_to_dict(answer.point),
        "city": answer.address.precise.conclusion,
        "country": answer.address.country.conclusion,
    }
    return json.dumps(brief, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _without_nothing(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value not in ([], {})}


def _point_to_dict(point: LatLon | None) -> dict[str, float]:
    return {} if point is None else {"lat": point.lat, "lon": point.lon}


def _point_from_dict(data: Mapping[str, Any]) -> LatLon | None:
    lat, lon = _check_number(data.get("lat")), _check_number(data.get("lon"))
    if lat is None and lon is None:
        return None
    if lat is None or lon is None:
        raise ValueError("lat and lon must be given together")
    return LatLon(lat, lon)


def _level_to_dict(level: Level) -> dict[str, Any]:
    return _without_nothing(
        {
            "conclusion": level.conclusion,
            "clues": list(level.clues),
            "reasoning": level.reasoning,
            "uncertainty": level.uncertainty,
        }
    )


def _level_from_dict(data: Mapping[str, Any]) -> Level:
    clues = data.get("clues") or ()
    if isinstance(clues, str) or not all(isinstance(clue, str) for clue in clues):
        raise TypeError("clues must be a list of texts")
    texts = (_check_text(data.get(key)) for key in ("reasoning", "uncertainty"))
    return Level(_check_text(data.get("conclusion")), tuple(clues), *texts)


def _candidate_to_dict(candidate: Candidate) -> dict[str, Any]:
    return _without_nothing(
        {
            "name": candidate.name,
            **_point_to_dict(candidate.point),
            "probability": candidate.probability,
            "evidence": candidate.evidence,
        }
    )


def _candidate_from_dict(data: Mapping[str, Any]) -> Candidate:
    return Candidate(
        name=_check_text(data.get("name")),
        point=_point_from_dict(data),
        probability=_check_number(data.get("probability")),
        evidence=_check_text(data.get("evidence")),
    )


def _check_number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _check_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is not a text")
