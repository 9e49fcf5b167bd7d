"""The papers' rewards as settings, weighted sums of them, and the columns that they are computed from.

Expensive helpers (a geocoder, an encoder, a judge) are passed in, and called only for what a reward needs.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from geosleuth.answer import Answer
from geosleuth.answer.answer import format_words
from geosleuth.geo import FloatArray, LatLon, distances_km
from geosleuth.geo.extent import BoolArray
from geosleuth.lab.score.levels import RULES, AnswerNames, Truth, TruthNames, match_levels
from geosleuth.names import PlaceNames
from geosleuth.support.errors import BadInput
from geosleuth.support.files import plain_yaml_values

from .conclusions import Judge, Withhold, collect_conclusions, judge_consistency, reasoning_characters
from .encoders import Encoder, equal_texts, similarities, truth_levels
from .terms import (
    ALPHA,
    BETA,
    LINEAR_KNOTS,
    MIDPOINT,
    RELEASED_BOUNDS,
    RELEASED_MIDPOINT,
    RELEASED_STEEPNESS,
    STEEPNESS,
    STEPS,
    TAU_KM,
    THRESHOLDS,
    Knots,
    Weights,
    check_knots,
    check_weights,
    city_only,
    compute_stepped,
    consistency,
    fixed_length_factor,
    hierarchical,
    length_factor,
    linear,
    semantic,
    spatial,
    text_equality,
)

Column = Literal["distance_km", "right", "given", "similarity", "equal", "agrees", "lengths", "groups"]
PointFrom = Literal["answer", "text", "either"]
"""Where an answer's point comes from: its own coordinates, its address through a geocoder, or the address if it has no
coordinates."""
Against = Literal["own", "truth"]
"""What a judge's derivation is compared with: the reply's own conclusions, or the truth."""
Length = Literal["group", "fixed"]
"""How long a reasoning must be: beside the others of its group, or in characters between fixed bounds."""
Array = TypeVar("Array")
_KEYS = ("name", "point", "parts")


class Located(Protocol):
    """A place with a point, such as a `geosleuth.lab.bench.placed.Placed`."""

    @property
    def point(self) -> LatLon:
        """Return where distances are measured from."""
        ...


Geocoder = Callable[[str], Located | None]
"""Returns the place that words name, as `lab.bench.placed.placer_of` does; None if nothing of them is known."""


@dataclass(frozen=True, slots=True)
class Helpers:
    """The helpers of rewards.

    Without an encoder, names that the tables don't know have similarity 0; without a geocoder, an answer without
    coordinates has no point.
    """

    geocoder: Geocoder | None = None
    encoder: Encoder | None = None
    judge: Judge | None = None
    names: PlaceNames = RULES


@dataclass(frozen=True, slots=True)
class Columns:
    """One row per reply; a column is None if it was not computed.

    Attributes:
        distance_km: the error, shape (n,); NaN if there is no point.
        right: by rule, whether country, region and city are right, shape (n, 3).
        given: whether the truth names the level, shape (n, 3).
        similarity: the similarity of the names, shape (n, 3).
        equal: whether the texts are equal, shape (n, 3).
        agrees: whether a judge derived the conclusion from the reasoning, shape (n, 3).
        lengths: the length of the reasoning, shape (n, 3).
        groups: which replies answer the same question, shape (n,); None if all do.
    """

    distance_km: FloatArray | None = None
    right: BoolArray | None = None
    given: BoolArray | None = None
    similarity: FloatArray | None = None
    equal: BoolArray | None = None
    agrees: BoolArray | None = None
    lengths: FloatArray | None = None
    groups: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Columns to compute, and how."""

    columns: frozenset[Column] = field(default_factory=frozenset)
    point_from: PointFrom = "either"
    against: Against = "own"
    by_tables: bool = True
    keep_evidence: bool = False
    withhold: Withhold = "names"
    length: Length = "group"


def work_out(
    answers: Sequence[Answer],
    truths: Sequence[Truth],
    wanted: Wanted,
    helpers: Helpers,
    groups: Sequence[Hashable] | None = None,
) -> Columns:
    """Compute the wanted columns.

    Raises:
        BadInput: a column needs a helper that was not passed in.
        ValueError: the numbers of truths, groups and answers differ.
    """
    if len(truths) != len(answers) or (groups is not None and len(groups) != len(answers)):
        counts = f"{len(answers)} answers, {len(truths)} truths" + ("" if groups is None else f", {len(groups)} groups")
        raise ValueError(f"there must be one truth and one group for each answer: {counts}")
    _check_helpers(wanted, helpers)
    columns = wanted.columns
    right_names = [TruthNames(truth.country, truth.region, truth.city) for truth in truths]
    said_names = [collect_conclusions(answer.address) for answer in answers]
    agrees = lengths = None
    if helpers.judge is not None and columns & {"agrees", "lengths"}:
        against = None if wanted.against == "own" else [AnswerNames(*truth_levels(names)) for names in right_names]
        addresses, kept = [answer.address for answer in answers], wanted.keep_evidence
        agrees, lengths = judge_consistency(
            addresses, helpers.judge, against, helpers.names, keep_evidence=kept, withhold=wanted.withhold
        )
        if wanted.length == "fixed":
            lengths = reasoning_characters(addresses)
    tables = helpers.names if wanted.by_tables else None
    return Columns(
        distance_km=_distances(answers, truths, wanted, helpers) if "distance_km" in columns else None,
        right=_right(right_names, said_names, helpers.names) if "right" in columns else None,
        given=_build_given_mask(right_names) if "given" in columns else None,
        similarity=similarities(right_names, said_names, helpers.encoder, names=tables)
        if "similarity" in columns
        else None,
        equal=equal_texts(right_names, said_names) if "equal" in columns else None,
        agrees=agrees,
        lengths=lengths,
        groups=None if groups is None else _number_groups(groups),
    )


def _check_helpers(wanted: Wanted, helpers: Helpers) -> None:
    if "agrees" in wanted.columns and helpers.judge is None:
        raise BadInput(
            "a consistency reward needs a judge that derives places from reasonings: pass one in (in a recipe "
            "rollout.judge: server:MODEL, or rules for the rule reader)"
        )
    if "distance_km" in wanted.columns and wanted.point_from == "text" and helpers.geocoder is None:
        raise BadInput('points from text ("point: text") need a geocoder; pass one in, or take "point: either"')
    if "similarity" in wanted.columns and not wanted.by_tables and helpers.encoder is None:
        raise BadInput(
            "GeoAgent's semantic reward needs a sentence encoder: pass one in (in a recipe rollout.encoder: FOLDER), "
            'or compare names by tables ("aliases: true")'
        )


def _distances(answers: Sequence[Answer], truths: Sequence[Truth], wanted: Wanted, helpers: Helpers) -> FloatArray:
    known: dict[str, Located | None] = {}
    said = np.full((len(answers), 2), np.nan)
    for row, answer in enumerate(answers):
        point = answer.point if wanted.point_from != "text" else None
        if point is None and wanted.point_from != "answer" and helpers.geocoder is not None:
            words = format_words(answer.address)
            if words and words not in known:
                known[words] = helpers.geocoder(words)
            point = found.point if (found := known.get(words)) is not None else None
        if point is not None:
            said[row] = point.lat, point.lon
    true = np.array([(truth.point.lat, truth.point.lon) for truth in truths], dtype=np.float64).reshape(-1, 2)
    return distances_km(true[:, 0], true[:, 1], said[:, 0], said[:, 1])


def _right(truths: Sequence[TruthNames], answers: Sequence[AnswerNames], names: PlaceNames) -> BoolArray:
    results = (match_levels(truth, answer, names) for truth, answer in zip(truths, answers, strict=True))
    rows = [(bool(result.country), bool(result.region), bool(result.city)) for result in results]
    return np.array(rows, dtype=np.bool_).reshape(-1, 3)


def _build_given_mask(truths: Sequence[TruthNames]) -> BoolArray:
    return np.array([[bool(name) for name in truth_levels(truth)] for truth in truths], dtype=np.bool_).reshape(-1, 3)


def _number_groups(groups: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Part:
    """One reward: from columns to a number per reply, between 0 and ``most``."""

    columns: ClassVar[frozenset[Column]]

    @property
    def most(self) -> float:
        """Return the largest possible reward."""
        return 1.0

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards; 0 where a reply has nothing to reward.

        Raises:
            ValueError: a column that it needs is None.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Spatial(Part):
    """GeoAgent's exp(-d / tau)."""

    tau_km: float = TAU_KM
    columns: ClassVar[frozenset[Column]] = frozenset({"distance_km"})

    def __post_init__(self) -> None:
        """Check tau."""
        spatial(0.0, self.tau_km)

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return spatial(_there(columns.distance_km, "distance_km"), self.tau_km)


@dataclass(frozen=True, slots=True)
class Linear(Part):
    """SpotAgent's falling lines."""

    knots: Knots = LINEAR_KNOTS
    columns: ClassVar[frozenset[Column]] = frozenset({"distance_km"})

    def __post_init__(self) -> None:
        """Check that the rewards fall."""
        check_knots(self.knots)

    @property
    def most(self) -> float:
        """Return the reward within the first distance."""
        return self.knots[0][1]

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return linear(_there(columns.distance_km, "distance_km"), self.knots)


@dataclass(frozen=True, slots=True)
class Stepped(Part):
    """Thinking with Map's steps."""

    steps: Knots = STEPS
    columns: ClassVar[frozenset[Column]] = frozenset({"distance_km"})

    def __post_init__(self) -> None:
        """Check that the rewards fall."""
        check_knots(self.steps)

    @property
    def most(self) -> float:
        """Return the reward within the first distance."""
        return self.steps[0][1]

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return compute_stepped(_there(columns.distance_km, "distance_km"), self.steps)


@dataclass(frozen=True, slots=True)
class Semantic(Part):
    """GeoAgent's similarity of names. ``aliases: false`` leaves everything to the encoder, as the paper does."""

    alpha: Weights = ALPHA
    thresholds: Weights = THRESHOLDS
    gated: bool = True
    aliases: bool = True
    columns: ClassVar[frozenset[Column]] = frozenset({"similarity", "given"})

    def __post_init__(self) -> None:
        """Check weights and thresholds."""
        semantic(np.zeros((0, 3)), self.alpha, self.thresholds)

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        cosines = _there(columns.similarity, "similarity")
        return semantic(cosines, self.alpha, self.thresholds, gated=self.gated, given=columns.given)


@dataclass(frozen=True, slots=True)
class Consistency(Part):
    """GeoAgent's reasoning that leads to its conclusion, or (``against: truth``) to the truth.

    ``withhold`` is what the judge is not shown, see `Withhold`; ``keep_evidence`` shows it the shop and the street of a
    precise place, see `without_conclusions`. ``length`` "group" compares lengths within a group, "fixed" with
    ``bounds`` in characters, as GeoAgent's released code does.
    """

    weights: Weights = ALPHA
    steepness: float = STEEPNESS
    midpoint: float = MIDPOINT
    against: Against = "own"
    keep_evidence: bool = False
    withhold: Withhold = "names"
    length: Length = "group"
    bounds: tuple[float, float] = RELEASED_BOUNDS
    columns: ClassVar[frozenset[Column]] = frozenset({"agrees", "lengths"})

    def __post_init__(self) -> None:
        """Check weights, curve and choices."""
        check_weights(self.weights)
        if len(self.bounds) != 2:
            raise ValueError(f"bounds must be two lengths in characters, not {self.bounds!r}")
        length_factor(np.zeros((0, 3)), steepness=self.steepness, midpoint=self.midpoint)
        fixed_length_factor(np.zeros((0, 3)), bounds=self.bounds, steepness=self.steepness, midpoint=self.midpoint)
        for name, value, known in (
            ("against", self.against, Against), ("withhold", self.withhold, Withhold), ("length", self.length, Length),
        ):  # fmt: skip
            if value not in get_args(known):
                raise ValueError(f"{name} must be one of {', '.join(get_args(known))}, not {value!r}")

    @property
    def most(self) -> float:
        """Return the reward if every level agrees and no reply in the group is longer."""
        if self.length == "fixed":
            return 1.0
        return float(length_factor(np.ones((1, 3)), steepness=self.steepness, midpoint=self.midpoint)[0, 0])

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return consistency(
            _there(columns.agrees, "agrees"),
            _there(columns.lengths, "lengths"),
            columns.groups,
            self.weights,
            steepness=self.steepness,
            midpoint=self.midpoint,
            bounds=self.bounds if self.length == "fixed" else None,
        )


@dataclass(frozen=True, slots=True)
class Hierarchical(Part):
    """GeoVista's levels."""

    beta: float = BETA
    columns: ClassVar[frozenset[Column]] = frozenset({"right"})

    def __post_init__(self) -> None:
        """Check that beta rewards finer levels more."""
        if not (np.isfinite(self.beta) and self.beta > 1):
            raise ValueError(f"beta must be above 1, not {self.beta!r}")

    @property
    def most(self) -> float:
        """Return the reward of a right city."""
        return self.beta**2

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return hierarchical(_there(columns.right, "right"), self.beta)


@dataclass(frozen=True, slots=True)
class TextEquality(Part):
    """GeoAgent's baseline: a level counts if its text is equal."""

    weights: Weights = ALPHA
    columns: ClassVar[frozenset[Column]] = frozenset({"equal", "given"})

    def __post_init__(self) -> None:
        """Check the weights."""
        check_weights(self.weights)

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return text_equality(_there(columns.equal, "equal"), self.weights, columns.given)


@dataclass(frozen=True, slots=True)
class CityOnly(Part):
    """GeoVista's baseline: the right city or nothing."""

    columns: ClassVar[frozenset[Column]] = frozenset({"right"})

    def compute(self, columns: Columns) -> FloatArray:
        """Return the rewards."""
        return city_only(_there(columns.right, "right"))


# Reward parts by their names in configurations.
PARTS: dict[str, type[Part]] = {
    "spatial": Spatial,
    "semantic": Semantic,
    "consistency": Consistency,
    "hierarchical": Hierarchical,
    "linear": Linear,
    "stepped": Stepped,
    "text_equality": TextEquality,
    "city_only": CityOnly,
}


def _there(column: Array | None, name: str) -> Array:
    if column is None:
        raise ValueError(f"the column {name} was not computed")
    return column


_NO_HELPERS = Helpers()


@dataclass(frozen=True, slots=True)
class Weighted:
    """A part and its weight."""

    name: str
    weight: float
    part: Part


@dataclass(frozen=True, slots=True)
class Rewards:
    """The rewards of replies: in total, and by part before its weight. Arrays have one number per reply."""

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
        """Check parts, weights and ``point``.

        Raises:
            BadInput: there are no parts, one appears twice, or a weight or ``point`` is invalid.
        """
        named = [part.name for part in self.parts]
        if not named or len(set(named)) != len(named):
            raise BadInput(f"a reward needs parts, each once; these are {', '.join(named) or 'none'}")
        if not all(np.isfinite(part.weight) for part in self.parts):
            raise BadInput("the weight of a reward's part must be a finite number")
        if self.point not in get_args(PointFrom):
            raise BadInput(f"point must be one of {', '.join(get_args(PointFrom))}, not {self.point!r}")

    @property
    def least(self) -> float:
        """Return the smallest possible reward."""
        return sum(min(0.0, part.weight * part.part.most) for part in self.parts)

    @property
    def most(self) -> float:
        """Return the largest possible reward."""
        return sum(max(0.0, part.weight * part.part.most) for part in self.parts)

    @property
    def required_columns(self) -> Wanted:
        """Return the columns that its parts need, and how to compute them."""
        kinds = [item.part for item in self.parts]
        judged = next((part for part in kinds if isinstance(part, Consistency)), Consistency())
        by_tables = next((part.aliases for part in kinds if isinstance(part, Semantic)), True)
        columns = frozenset().union(*(part.columns for part in kinds))
        return Wanted(
            columns, self.point, judged.against, by_tables, judged.keep_evidence, judged.withhold, judged.length
        )

    @property
    def needs_judge(self) -> bool:
        """Return whether a judge must derive places from reasonings."""
        return "agrees" in self.required_columns.columns

    @property
    def needs_encoder(self) -> bool:
        """Return whether names are compared by an encoder alone."""
        return "similarity" in self.required_columns.columns and not self.required_columns.by_tables

    @property
    def needs_geocoder(self) -> bool:
        """Return whether a geocoder is required; otherwise one only helps."""
        return "distance_km" in self.required_columns.columns and self.point == "text"

    def compute(self, columns: Columns) -> Rewards:
        """Return the rewards of the rows.

        Raises:
            ValueError: a column that a part needs is None.
        """
        earned = {part.name: part.part.compute(columns) for part in self.parts}
        total = sum(part.weight * earned[part.name] for part in self.parts)
        # Rounding may carry a weighted sum slightly past its bounds.
        return Rewards(np.clip(total, self.least, self.most), MappingProxyType(earned))

    def score(
        self,
        answers: Sequence[Answer],
        truths: Sequence[Truth],
        helpers: Helpers = _NO_HELPERS,
        groups: Sequence[Hashable] | None = None,
    ) -> Rewards:
        """Return the rewards of replies. ``groups`` says which answer one question: lengths are compared within.

        Raises:
            BadInput: a part needs a helper that was not passed in.
            ValueError: the numbers of truths, groups and answers differ.
        """
        return self.compute(work_out(answers, truths, self.required_columns, helpers, groups))

    def to_dict(self) -> dict[str, Any]:
        """Return the reward as plain data, as `from_dict` reads it."""
        parts = {part.name: {"weight": part.weight} | _convert_setting(asdict(part.part)) for part in self.parts}
        return {"name": self.name, "point": self.point, "parts": parts}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Reward":
        """Build a reward from plain data: ``{"parts": {"spatial": {"weight": 1.5, "tau_km": 200}, "semantic": 1.0}}``.

        A part is a weight, or a mapping of settings with ``weight`` (1 by default).

        Raises:
            BadInput: a name is unknown or a value out of range; the message names it.
        """
        if not isinstance(data, Mapping):
            raise BadInput(f"a reward is a mapping with {', '.join(_KEYS)}, not {type(data).__name__}")
        _refuse_unknown(data, _KEYS, "a reward")
        parts, name, point = data.get("parts"), data.get("name", ""), data.get("point", "either")
        if not isinstance(parts, Mapping) or not parts:
            raise BadInput(f"a reward needs parts: a mapping from any of {', '.join(PARTS)} to weights or settings")
        if not isinstance(name, str):
            raise BadInput(f"the name of a reward must be text, not {name!r}")
        return cls(tuple(_parse_weighted(key, value) for key, value in parts.items()), name, point)


def _parse_weighted(name: object, settings: object) -> Weighted:
    kind = PARTS.get(name) if isinstance(name, str) else None
    if kind is None or not isinstance(name, str):
        raise BadInput(f"unknown reward {name!r}; choose from {', '.join(PARTS)}")
    given = dict(settings) if isinstance(settings, Mapping) else {"weight": settings}
    weight = given.pop("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise BadInput(f"the weight of {name} must be a number, not {weight!r}")
    known = tuple(item.name for item in fields(kind))
    _refuse_unknown(given, (*known, "weight"), name)
    defaults = kind()
    checked = {key: _like(value, getattr(defaults, key), f"{key} of {name}") for key, value in given.items()}
    try:
        return Weighted(name, float(weight), kind(**checked))
    except (ValueError, OverflowError) as error:
        raise BadInput(f"{name}: {error}") from error


def _refuse_unknown(data: Mapping[Any, Any], known: Sequence[str], of_what: str) -> None:
    unknown = [key for key in data if key not in known]
    if unknown:
        raise BadInput(f"{of_what} has no setting {unknown[0]!r}; it has {', '.join(known)}")


def _like(value: object, default: object, what: str) -> Any:
    """Convert a setting to its default's type: a number, a word, a boolean, or tuples of numbers."""
    if isinstance(default, bool | str):
        if isinstance(value, type(default)):
            return value
    elif isinstance(default, float):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif isinstance(default, tuple) and isinstance(value, Sequence) and not isinstance(value, str) and default:
        return tuple(_like(item, default[0], what) for item in value)
    raise BadInput(f"{what} can't be {value!r}; by default it is {_convert_setting(default)!r}")


def _convert_setting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _convert_setting(one) for key, one in value.items()}
    return [_convert_setting(item) for item in value] if isinstance(value, tuple | list) else value


def _preset(name: str, point: PointFrom, **parts: tuple[float, Part]) -> Reward:
    return Reward(tuple(Weighted(part, weight, one) for part, (weight, one) in parts.items()), name, point)


_SPATIAL, _SEMANTIC = (1.5, Spatial()), (1.0, Semantic(aliases=False))
_CONSISTENT = (
    0.5,
    Consistency(steepness=RELEASED_STEEPNESS, midpoint=RELEASED_MIDPOINT, withhold="conclusion", length="fixed"),
)
# Rewards and baselines of the papers by name, and our own: steps for near answers, a slope for far ones, names by their
# tables. Ours needs no helper and lies between 0 and 1; its weights are a judgement, not a result.
PRESETS: Mapping[str, Reward] = MappingProxyType(
    {
        item.name: item
        for item in (
            _preset("geoagent", "text", spatial=_SPATIAL, semantic=_SEMANTIC, consistency=_CONSISTENT),
            # GeoAgent, table 3: without one or two of the three.
            _preset("geoagent-spatial", "text", spatial=_SPATIAL),
            _preset("geoagent-semantic", "text", semantic=_SEMANTIC),
            _preset("geoagent-consistency", "text", consistency=_CONSISTENT),
            _preset("geoagent-similarity", "text", spatial=_SPATIAL, semantic=_SEMANTIC),
            # GeoAgent, table 4: text equality in place of similarity.
            _preset("geoagent-judge", "either", text_equality=(1.0, TextEquality())),
            _preset("geoagent-judge-consistency", "either", text_equality=(1.0, TextEquality()),
                    consistency=_CONSISTENT),
            _preset("spotagent", "answer", linear=(1.0, Linear())),
            _preset("geovista", "either", hierarchical=(1.0, Hierarchical())),
            _preset("geovista-city", "either", city_only=(1.0, CityOnly())),
            _preset("twm", "answer", stepped=(1.0, Stepped())),
            _preset("ours", "either", stepped=(0.5, Stepped()), spatial=(0.25, Spatial(tau_km=750.0)),
                    semantic=(0.25, Semantic())),
        )
    }
)  # fmt: skip


def read_reward(name_or_file: str) -> Reward:
    """Return a preset by its name, or a reward from a YAML file.

    Raises:
        BadInput: there is neither, or the file is not a reward.
    """
    if name_or_file in PRESETS:
        return PRESETS[name_or_file]
    path = Path(name_or_file)
    if not path.is_file():
        raise BadInput(
            f"unknown reward {name_or_file!r} and no such file; use one of {', '.join(PRESETS)}, or a YAML file"
        )
    data = plain_yaml_values(path)
    try:
        return Reward.from_dict(data)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
