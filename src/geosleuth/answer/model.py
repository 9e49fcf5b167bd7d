"""The Answer type: a point or none, an address in three levels, how sure, why; and the same in a few words.

Its words come from models and maps; control and direction characters are taken out here, so that cards, pages, tables
and exports need not.
"""

from dataclasses import dataclass, field, replace
from math import isfinite

from geosleuth.geo import LatLon, rounded
from geosleuth.texts import clean_fields


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the address: the conclusion and, where a method gives them, the way to it."""

    conclusion: str | None = None
    clues: tuple[str, ...] = ()
    reasoning: str | None = None
    uncertainty: str | None = None

    def __post_init__(self) -> None:
        """Clean the words."""
        clean_fields(self, "conclusion", "clues", "reasoning", "uncertainty")

    def __bool__(self) -> bool:
        """Whether the level says anything at all."""
        return bool(self.clues) or any(text is not None for text in (self.conclusion, self.reasoning, self.uncertainty))


@dataclass(frozen=True, slots=True)
class Address:
    """Three levels, coarse to fine.

    ``region`` is the first-level division (state, province, prefecture). ``precise`` is the finest named place that
    was given, a city, a street or a building, written finest first: "12 Rue Grimaldi, Monaco".
    """

    country: Level = field(default_factory=Level)
    region: Level = field(default_factory=Level)
    precise: Level = field(default_factory=Level)

    @classmethod
    def of(cls, country: str | None = None, region: str | None = None, precise: str | None = None) -> "Address":
        """An address of bare names."""
        return cls(Level(country), Level(region), Level(precise))

    def __bool__(self) -> bool:
        """Whether any level says anything."""
        return bool(self.country or self.region or self.precise)

    def __str__(self) -> str:
        """The names, finest first, as on an envelope."""
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
        """Refuse a probability that is none; clean the words."""
        _check_probability(self.probability)
        clean_fields(self, "name", "evidence")


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a photo was taken, as far as somebody could tell.

    ``point`` is None when no place was given: the answer is *unlocated*, which is an honest outcome and is counted
    as such. ``probability`` is the answerer's own estimate that the truth lies within ``radius_km`` of the point;
    where a method states a confidence without a radius, ``radius_km`` is None.
    """

    point: LatLon | None = None
    address: Address = field(default_factory=Address)
    probability: float | None = None
    radius_km: float | None = None
    explanation: str | None = None
    candidates: tuple[Candidate, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a probability outside [0, 1] and a radius that is not a positive length; clean the words."""
        _check_probability(self.probability)
        clean_fields(self, "explanation")
        if self.radius_km is not None and not (isfinite(self.radius_km) and self.radius_km > 0):
            raise ValueError(f"radius_km must be a positive, finite length, not {self.radius_km!r}")

    @property
    def located(self) -> bool:
        """Whether there is a point to score."""
        return self.point is not None


def _check_probability(value: float | None) -> None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise ValueError(f"a probability lies between 0 and 1, not {value!r}")


_WORDS = (
    (0.97, "almost certain"),
    (0.85, "very likely"),
    (0.65, "likely"),
    (0.45, "as likely as not"),
    (0.2, "doubtful"),
    (0.0, "a long shot"),
)


def how_sure(probability: float | None) -> str:
    """What a probability means in everyday words."""
    if probability is None:
        return "how sure was not said"
    return next(words for least, words in _WORDS if probability >= least)


def whole_percent(share: float) -> int:
    """A share of one in whole percent.

    Answers keep three decimals, and an explanation speaks of the number before: rounded at once, 0.1348 would be 13 %
    in one line and 14 % in another.
    """
    return round(100 * round(share, 3))


def percent_words(probability: float) -> str:
    """A probability in percent, never quite nothing and never quite all."""
    rounded = whole_percent(probability)
    if rounded == 100:
        return "over 99 %"
    return "under 1 %" if rounded == 0 else f"{rounded} %"


def radius_words(radius_km: float) -> str:
    """A radius as people say it: 220 m, 2.5 km, 1,200 km."""
    if radius_km < 0.9995:
        return f"{max(1, round(1000 * radius_km)):,} m"
    return f"{radius_km:.1f} km".replace(".0 km", " km") if radius_km < 9.95 else f"{round(radius_km):,} km"


def envelope(address: Address) -> str:
    """The names, finest first, none of them twice."""
    parts: list[str] = []
    for level in (address.precise, address.region, address.country):
        name = level.conclusion or ""
        known = {part.strip().casefold() for written in parts for part in written.split(",")}
        if name and name.casefold() not in known:
            parts.append(name)
    return ", ".join(parts)


def to_precision(answer: Answer) -> Answer:
    """Return the answer with its points rounded to what its radius deserves; candidates have no radius of their own."""
    point, radius_km = answer.point, answer.radius_km
    return replace(
        answer,
        point=None if point is None else rounded(point, radius_km),
        candidates=tuple(
            one if one.point is None else replace(one, point=rounded(one.point, radius_km)) for one in answer.candidates
        ),
    )
