"""The rewards of the papers as settings: each knows its parameters, its range and the columns that it needs."""

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from geosleuth.geo import FloatArray

from .columns import Against, Column, Columns
from .of_distance import LINEAR_KNOTS, STEPS, TAU_KM, Knots, check_knots, linear, spatial, stepped
from .of_levels import (
    ALPHA,
    BETA,
    MIDPOINT,
    STEEPNESS,
    THRESHOLDS,
    Weights,
    check_weights,
    city_only,
    consistency,
    hierarchical,
    length_factor,
    semantic,
    text_equality,
)

Array = TypeVar("Array")


class Part(Protocol):
    """One reward: from columns to a number per reply, between ``least`` and ``most``."""

    columns: ClassVar[frozenset[Column]]
    least: ClassVar[float]

    @property
    def most(self) -> float:
        """The largest reward there is."""
        ...

    def of(self, columns: Columns) -> FloatArray:
        """The rewards; 0 where a reply has nothing to reward.

        Raises:
            ValueError: a column that it needs is None.
        """
        ...


@dataclass(frozen=True, slots=True)
class Spatial:
    """GeoAgent's exp(-d / tau)."""

    tau_km: float = TAU_KM
    columns: ClassVar[frozenset[Column]] = frozenset({"distance_km"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse a tau that is no length."""
        spatial(0.0, self.tau_km)

    @property
    def most(self) -> float:
        """At the place itself."""
        return 1.0

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return spatial(_there(columns.distance_km, "distance_km"), self.tau_km)


@dataclass(frozen=True, slots=True)
class Linear:
    """SpotAgent's falling lines."""

    knots: Knots = LINEAR_KNOTS
    columns: ClassVar[frozenset[Column]] = frozenset({"distance_km"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse what does not fall."""
        check_knots(self.knots)

    @property
    def most(self) -> float:
        """Within the first distance."""
        return self.knots[0][1]

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return linear(_there(columns.distance_km, "distance_km"), self.knots)


@dataclass(frozen=True, slots=True)
class Stepped:
    """Thinking with Map's steps."""

    steps: Knots = STEPS
    columns: ClassVar[frozenset[Column]] = frozenset({"distance_km"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse what does not fall."""
        check_knots(self.steps)

    @property
    def most(self) -> float:
        """Within the first distance."""
        return self.steps[0][1]

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return stepped(_there(columns.distance_km, "distance_km"), self.steps)


@dataclass(frozen=True, slots=True)
class Semantic:
    """GeoAgent's similarity of names. ``aliases: false`` leaves everything to the encoder, as the paper does."""

    alpha: Weights = ALPHA
    thresholds: Weights = THRESHOLDS
    gated: bool = True
    aliases: bool = True
    columns: ClassVar[frozenset[Column]] = frozenset({"similarity", "given"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse weights and thresholds that don't fit."""
        semantic(np.zeros((0, 3)), self.alpha, self.thresholds)

    @property
    def most(self) -> float:
        """The truth's own names."""
        return 1.0

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        cosines = _there(columns.similarity, "similarity")
        return semantic(cosines, self.alpha, self.thresholds, gated=self.gated, given=columns.given)


@dataclass(frozen=True, slots=True)
class Consistency:
    """GeoAgent's reasoning that leads to its conclusion, by its own word or (``against: truth``) by the truth's.

    ``keep_evidence`` shows the judge the shop and the street of a precise place, see `without_conclusions`.
    """

    weights: Weights = ALPHA
    steepness: float = STEEPNESS
    midpoint: float = MIDPOINT
    against: Against = "own"
    keep_evidence: bool = False
    columns: ClassVar[frozenset[Column]] = frozenset({"agrees", "lengths"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse weights and curves that don't fit."""
        check_weights(self.weights)
        length_factor(np.zeros((0, 3)), steepness=self.steepness, midpoint=self.midpoint)
        if self.against not in ("own", "truth"):
            raise ValueError(f'against must be "own" or "truth", not {self.against!r}')

    @property
    def most(self) -> float:
        """Every level agrees and nobody in the group is longer."""
        return float(length_factor(np.ones((1, 3)), steepness=self.steepness, midpoint=self.midpoint)[0, 0])

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return consistency(
            _there(columns.agrees, "agrees"),
            _there(columns.lengths, "lengths"),
            columns.groups,
            self.weights,
            steepness=self.steepness,
            midpoint=self.midpoint,
        )


@dataclass(frozen=True, slots=True)
class Hierarchical:
    """GeoVista's levels."""

    beta: float = BETA
    columns: ClassVar[frozenset[Column]] = frozenset({"right"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse a beta that does not reward finer levels more."""
        if not (np.isfinite(self.beta) and self.beta > 1):
            raise ValueError(f"beta must be above 1, not {self.beta!r}")

    @property
    def most(self) -> float:
        """The city is right."""
        return self.beta**2

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return hierarchical(_there(columns.right, "right"), self.beta)


@dataclass(frozen=True, slots=True)
class TextEquality:
    """The baseline that GeoAgent beats: a level counts where its text is the same."""

    weights: Weights = ALPHA
    columns: ClassVar[frozenset[Column]] = frozenset({"equal", "given"})
    least: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Refuse weights that don't fit."""
        check_weights(self.weights)

    @property
    def most(self) -> float:
        """The truth's own names."""
        return 1.0

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return text_equality(_there(columns.equal, "equal"), self.weights, columns.given)


@dataclass(frozen=True, slots=True)
class CityOnly:
    """The baseline that GeoVista beats: the right city or nothing."""

    columns: ClassVar[frozenset[Column]] = frozenset({"right"})
    least: ClassVar[float] = 0.0

    @property
    def most(self) -> float:
        """The city is right."""
        return 1.0

    def of(self, columns: Columns) -> FloatArray:
        """The rewards."""
        return city_only(_there(columns.right, "right"))


AnyPart = Spatial | Semantic | Consistency | Hierarchical | Linear | Stepped | TextEquality | CityOnly

PARTS: dict[str, type[AnyPart]] = {
    "spatial": Spatial,
    "semantic": Semantic,
    "consistency": Consistency,
    "hierarchical": Hierarchical,
    "linear": Linear,
    "stepped": Stepped,
    "text_equality": TextEquality,
    "city_only": CityOnly,
}
"""By the names that configurations use."""


def _there(column: Array | None, name: str) -> Array:
    if column is None:
        raise ValueError(f"the column {name} was not worked out")
    return column
