"""Probability that a reading is right: measured on real photos, with text and without, and on drawn signs.

    logit P(right) = base + sum of weight * feature

with one row of weights for each engine. Features: the engine's own confidence, how many letters there are, how sure
the classifier is of this script and of texture, and how much the detector takes the box for text. The table lies in
``data/reliability.json`` with where it comes from; ``scripts/fit_reading.py`` makes it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log, log1p
from typing import Any

from geosleuth.support.errors import DataFault

from .lines import Engine

FEATURES = ("confidence", "letters", "texture", "script_share", "box_score", "lone", "figures", "crowded")
_LEAST, _MOST = 0.002, 0.998
_USUAL_LETTERS = 6


@dataclass(frozen=True, slots=True)
class Reading:
    """Features of a reading that decide its reliability; shares are the classifier's, 0 to 1."""

    engine: Engine
    script: str
    text: str
    confidence: float
    texture: float
    script_share: float
    box_score: float
    box_heights: float


def reading_probability(reading: Reading) -> float:
    """Return the probability that nine letters in ten of a reading are right."""
    row = load_reliability().get(reading.engine)
    if row is None:
        return reading.confidence
    features = compute_features(reading)
    score = row["base"] + sum(row[name] * features[name] for name in FEATURES)
    return min(_MOST, max(_LEAST, 1 / (1 + exp(-max(-30.0, min(30.0, score))))))


def compute_features(reading: Reading) -> dict[str, float]:
    """Return what a reading is weighed by."""
    letters = sum(character.isalnum() for character in reading.text)
    expected = max(1.0, reading.box_heights)
    return {
        "confidence": _logit(reading.confidence),
        "letters": log1p(min(letters, _USUAL_LETTERS * 2)),
        "texture": _logit(reading.texture),
        "script_share": _logit(reading.script_share),
        "box_score": reading.box_score,
        "lone": float(letters <= 2),
        "figures": float(letters > 0 and not any(character.isalpha() for character in reading.text)),
        "crowded": abs(log((letters + 0.5) / (2.0 * expected))),
    }


def _logit(share: float) -> float:
    clipped = min(max(share, 0.001), 0.999)
    return log(clipped / (1 - clipped))


@cache
def load_reliability() -> Mapping[str, Mapping[str, Any]]:
    """Return the coefficients that ship with the package, by engine.

    Raises:
        DataFault: they are missing or damaged.
    """
    source = files("geosleuth.photo.text") / "data" / "reliability.json"
    try:
        table: Mapping[str, Mapping[str, Any]] = json.loads(source.read_text(encoding="utf-8"))["engines"]
    except (OSError, ValueError, KeyError) as error:
        raise DataFault(f"the reliability of readings can't be loaded: {source}") from error
    return table
