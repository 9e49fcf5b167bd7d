"""Rewards of the papers as settings with parameters, ranges and columns, and sums of them by weight."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar, get_args

import numpy as np

from geosleuth.answer import Answer
from geosleuth.errors import BadInput
from geosleuth.files import plain_yaml_values
from geosleuth.geo import FloatArray
from geosleuth.score.levels import Truth

from .columns import Against, Column, Columns, Helpers, PointFrom, Wanted, work_out
from .terms import (
    ALPHA,
    BETA,
    LINEAR_KNOTS,
    MIDPOINT,
    STEEPNESS,
    STEPS,
    TAU_KM,
    THRESHOLDS,
    Knots,
    Weights,
    check_knots,
    check_weights,
    city_only,
    consistency,
    hierarchical,
    length_factor,
    linear,
    semantic,
    spatial,
    stepped,
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


_KEYS = ("name", "point", "parts")
_NO_HELPERS = Helpers()


@dataclass(frozen=True, slots=True)
class Weighted:
    """A part and how much it counts."""

    name: str
    weight: float
    part: AnyPart


@dataclass(frozen=True, slots=True)
class Rewards:
    """What replies earned: in all, and by part before its weight. Arrays have one number per reply."""

    total: FloatArray
    parts: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class Reward:
    """A sum of weighted parts.

    ``point`` is where an answer's point comes from: its own coordinates ("answer"), its address through the geocoder
    ("text"), or the address only where it has no coordinates ("either").
    """

    parts: tuple[Weighted, ...]
    name: str = ""
    point: PointFrom = "either"

    def __post_init__(self) -> None:
        """Refuse no parts, a part twice, weights that are no numbers, and points from nowhere.

        Raises:
            BadInput: any of these.
        """
        named = [part.name for part in self.parts]
        if not named or len(set(named)) != len(named):
            raise BadInput(f"a reward needs parts, each of them once; these are {', '.join(named) or 'none'}")
        if not all(np.isfinite(part.weight) for part in self.parts):
            raise BadInput("the weight of a reward's part must be a finite number")
        if self.point not in get_args(PointFrom):
            raise BadInput(f"point must be one of {', '.join(get_args(PointFrom))}, not {self.point!r}")

    @property
    def least(self) -> float:
        """No reply earns less."""
        return sum(min(one.weight * one.part.least, one.weight * one.part.most) for one in self.parts)

    @property
    def most(self) -> float:
        """No reply earns more."""
        return sum(max(one.weight * one.part.least, one.weight * one.part.most) for one in self.parts)

    @property
    def wanted(self) -> Wanted:
        """The columns that its parts need, and how they are worked out."""
        kinds = [one.part for one in self.parts]
        judged = next((part for part in kinds if isinstance(part, Consistency)), Consistency())
        by_tables = next((part.aliases for part in kinds if isinstance(part, Semantic)), True)
        columns = frozenset().union(*(part.columns for part in kinds))
        return Wanted(columns, self.point, judged.against, by_tables, judged.keep_evidence)

    @property
    def needs_judge(self) -> bool:
        """Whether somebody must derive places from reasonings."""
        return "agrees" in self.wanted.columns

    @property
    def needs_geocoder(self) -> bool:
        """Whether somebody must look up addresses; otherwise a geocoder only helps."""
        return "distance_km" in self.wanted.columns and self.point == "text"

    def of(self, columns: Columns) -> Rewards:
        """What the rows earn.

        Raises:
            ValueError: a column that a part needs is None.
        """
        earned = {one.name: one.part.of(columns) for one in self.parts}
        total = sum(one.weight * earned[one.name] for one in self.parts)
        # Rounding may carry a sum of weights a hair past its bounds.
        return Rewards(np.clip(total, self.least, self.most), MappingProxyType(earned))

    def score(
        self,
        answers: Sequence[Answer],
        truths: Sequence[Truth],
        helpers: Helpers = _NO_HELPERS,
        groups: Sequence[Hashable] | None = None,
    ) -> Rewards:
        """What replies earn. ``groups`` says which of them answer one question: lengths are compared among these.

        Raises:
            BadInput: a part needs a helper that was not passed in.
            ValueError: there are not as many truths or groups as answers.
        """
        return self.of(work_out(answers, truths, self.wanted, helpers, groups))

    def to_dict(self) -> dict[str, Any]:
        """The reward as plain data, as `from_dict` reads it."""
        parts = {one.name: {"weight": one.weight} | _plain(asdict(one.part)) for one in self.parts}
        return {"name": self.name, "point": self.point, "parts": parts}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Reward":
        """A reward from plain data: ``{"parts": {"spatial": {"weight": 1.5, "tau_km": 200}, "semantic": 1.0}}``.

        A part is a weight, or a mapping of settings with ``weight`` (1 where it is left out).

        Raises:
            BadInput: something in it is unknown or out of range; the message names it.
        """
        if not isinstance(data, Mapping):
            raise BadInput(f"a reward is a mapping with {', '.join(_KEYS)}, not {type(data).__name__}")
        _refuse_unknown(data, _KEYS, "a reward")
        parts, name, point = data.get("parts"), data.get("name", ""), data.get("point", "either")
        if not isinstance(parts, Mapping) or not parts:
            raise BadInput(f"a reward needs parts: a mapping from any of {', '.join(PARTS)} to weights or settings")
        if not isinstance(name, str):
            raise BadInput(f"the name of a reward is text, not {name!r}")
        return cls(tuple(_weighted(key, value) for key, value in parts.items()), name, point)


def _weighted(name: object, settings: object) -> Weighted:
    kind = PARTS.get(name) if isinstance(name, str) else None
    if kind is None or not isinstance(name, str):
        raise BadInput(f"there is no reward {name!r}; those there are: {', '.join(PARTS)}")
    given = dict(settings) if isinstance(settings, Mapping) else {"weight": settings}
    weight = given.pop("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise BadInput(f"the weight of {name} must be a number, not {weight!r}")
    known = tuple(one.name for one in fields(kind))
    _refuse_unknown(given, (*known, "weight"), name)
    defaults = kind()
    checked = {key: _like(value, getattr(defaults, key), f"{key} of {name}") for key, value in given.items()}
    try:
        return Weighted(name, float(weight), kind(**checked))
    except ValueError as error:
        raise BadInput(f"{name}: {error}") from error


def _refuse_unknown(data: Mapping[Any, Any], known: Sequence[str], of_what: str) -> None:
    unknown = [key for key in data if key not in known]
    if unknown:
        raise BadInput(f"{of_what} has no setting {unknown[0]!r}; those there are: {', '.join(known)}")


def _like(value: object, default: object, what: str) -> Any:
    """A setting as its default has it: a number, a word, yes or no, or tuples of numbers."""
    if isinstance(default, bool | str):
        if isinstance(value, type(default)):
            return value
    elif isinstance(default, float):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif isinstance(default, tuple) and isinstance(value, Sequence) and not isinstance(value, str) and default:
        return tuple(_like(one, default[0], what) for one in value)
    raise BadInput(f"{what} can't be {value!r}; by default it is {_plain(default)!r}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


PRESETS: Mapping[str, Reward] = MappingProxyType(
    {
        "geoagent": Reward(
            (
                Weighted("spatial", 1.5, Spatial()),
                Weighted("semantic", 1.0, Semantic()),
                Weighted("consistency", 0.5, Consistency()),
            ),
            "geoagent",
            "text",
        ),
        "geoagent-judge": Reward((Weighted("text_equality", 1.0, TextEquality()),), "geoagent-judge"),
        "spotagent": Reward((Weighted("linear", 1.0, Linear()),), "spotagent", "answer"),
        "geovista": Reward((Weighted("hierarchical", 1.0, Hierarchical()),), "geovista"),
        "geovista-city": Reward((Weighted("city_only", 1.0, CityOnly()),), "geovista-city"),
        "twm": Reward((Weighted("stepped", 1.0, Stepped()),), "twm", "answer"),
        "ours": Reward(
            (
                Weighted("stepped", 0.5, Stepped()),
                Weighted("spatial", 0.25, Spatial(tau_km=750.0)),
                Weighted("semantic", 0.25, Semantic()),
            ),
            "ours",
        ),
    }
)
"""The papers' rewards and baselines by name, and our own: steps for what is near, a slope for what is far, names by
their tables. Ours needs nobody's help and lies between 0 and 1; its weights are a judgement, not a result."""


def read_reward(name_or_file: str) -> Reward:
    """A preset by its name, or a reward from a YAML file.

    Raises:
        BadInput: there is neither, or the file is no reward.
    """
    if name_or_file in PRESETS:
        return PRESETS[name_or_file]
    path = Path(name_or_file)
    if not path.is_file():
        raise BadInput(
            f"there is no reward {name_or_file!r} and no such file; take one of {', '.join(PRESETS)}, or a YAML file"
        )
    data = plain_yaml_values(path)
    try:
        return Reward.from_dict(data)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
