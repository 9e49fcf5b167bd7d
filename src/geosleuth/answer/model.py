"""The Answer type: a point or none, an address in three levels, how sure, why, and what else it could be.

Its words come from models and maps; control and direction characters are taken out here, so that cards, pages, tables
and exports need not.
"""

from dataclasses import dataclass, field
from math import isfinite

from geosleuth.geo import LatLon
from geosleuth.text import clean_fields


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
