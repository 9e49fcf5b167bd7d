"""From a panel to rows of figures: one row for each agent's answer to each image.

Shared columns mean the same for every agent and are learned from all of them. Own columns stand for one agent, or for
one agent beside another; they start from zero and move as far as their images carry them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.geo import FloatArray

from .panel import Panel
from .places import PLACE_SIGNS, PlaceRecord
from .wording import WORD_SIGNS

AGREE_KM = (0.1, 0.5, 2.0, 10.0, 25.0, 50.0, 200.0, 750.0)
"""How near others must point to count as agreeing, on every scale."""
PAIR_KM = (0.3, 1.0, 5.0, 25.0, 200.0)
TOGETHER_KM = 25.0
_NOWHERE_KM = 20_000.0
_MOST_OWN = 160  # columns; more agents get fewer scales between pairs
_FARTHEST = 4.0  # standard deviations
_OWN_WORDS = 0.5  # own leanings of words are held twice as tight

AGREEMENT_SIGNS = (
    *(f"others within {km:g} km" for km in AGREE_KM),
    "everybody agrees", "nearest other", "same town", "named by others", "others agree elsewhere", "silent others",
)  # fmt: skip
SHARED = (*AGREEMENT_SIGNS, *WORD_SIGNS, *PLACE_SIGNS)
REASONS = ("record", "agreement", "words", "place")


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How figures are brought to one scale: words by agent, shared columns over all."""

    word_mean: FloatArray
    word_spread: FloatArray
    mean: FloatArray
    spread: FloatArray


def pair_scales(count: int) -> tuple[float, ...]:
    """The distances at which each pair of agents has columns of its own."""
    most = max(1, _MOST_OWN // (count * count))
    order = (25.0, 1.0, 200.0, 5.0, 0.3)
    return tuple(sorted(order[:most]))


def signs(panel: Panel, record: PlaceRecord | FloatArray) -> FloatArray:
    """Image, agent, and the shared columns before scaling; the record may have been asked already."""
    place = record.signs(panel) if isinstance(record, PlaceRecord) else record
    return np.concatenate([_agreement(panel), panel.words, place], axis=2)


def scaling_of(panel: Panel, raw: FloatArray) -> Scaling:
    """The scales of the images to learn from."""
    given = panel.answered
    words = np.where(given[:, :, None], panel.words, np.nan)
    empty = ~given.any(axis=0)
    words[:, empty] = 0.0
    word_mean, word_spread = np.nanmean(words, axis=0), np.nanstd(words, axis=0)
    first = len(AGREEMENT_SIGNS)
    scaled = raw.copy()
    scaled[:, :, first : first + len(WORD_SIGNS)] = _standard(panel.words, word_mean, word_spread)
    rows = scaled[given]
    return Scaling(word_mean, word_spread, rows.mean(axis=0), rows.std(axis=0))


def design(panel: Panel, raw: FloatArray, scaling: Scaling) -> FloatArray:
    """Image, agent, column: constant, shared, own."""
    size, count = panel.lat.shape
    first = len(AGREEMENT_SIGNS)
    words = _standard(panel.words, scaling.word_mean, scaling.word_spread)
    scaled = raw.copy()
    scaled[:, :, first : first + len(WORD_SIGNS)] = words
    parts = [np.ones((size, count, 1)), _standard(scaled, scaling.mean, scaling.spread)]
    itself = np.broadcast_to(np.eye(count), (size, count, count))
    parts += [itself, _by_agent(words * _OWN_WORDS)]
    for km in pair_scales(count):
        close = (panel.apart_km <= km).astype(np.float64)
        parts += [close, _by_agent(close)]
    return np.concatenate(parts, axis=2)


def column_reasons(count: int) -> tuple[str, ...]:
    """What each column of ``design`` is about: one of ``REASONS``, or empty for the constant."""
    shared = ("agreement",) * len(AGREEMENT_SIGNS) + ("words",) * len(WORD_SIGNS) + ("place",) * len(PLACE_SIGNS)
    pairs = ("agreement",) * (count + count * count) * len(pair_scales(count))
    return ("", *shared, *("record",) * count, *("words",) * (count * len(WORD_SIGNS)), *pairs)


def scaling_to_json(scaling: Scaling) -> dict[str, Any]:
    """Its stored form."""
    names = ("word_mean", "word_spread", "mean", "spread")
    return {name: getattr(scaling, name).tolist() for name in names}


def scaling_from_json(table: Mapping[str, Any], agents: int) -> Scaling:
    """The scales from their stored form.

    Raises:
        ValueError, TypeError, KeyError: they are damaged.
    """
    words = [np.asarray(table[name], dtype=np.float64) for name in ("word_mean", "word_spread")]
    whole = [np.asarray(table[name], dtype=np.float64) for name in ("mean", "spread")]
    if any(one.shape != (agents, len(WORD_SIGNS)) for one in words) or any(
        one.shape != (len(SHARED),) for one in whole
    ):
        raise ValueError("the scales have another number of columns")
    return Scaling(*words, *whole)


def _agreement(panel: Panel) -> FloatArray:
    apart, count = panel.apart_km, len(panel.agents)
    others = max(1, count - 1)
    near = apart <= TOGETHER_KM
    answered = panel.answered
    talking = answered.sum(axis=1, keepdims=True) - answered
    # Two others that agree with each other and not with this one.
    rivals = np.einsum("nij,njk,nik->ni", ~near, near, ~near, dtype=np.float64, casting="unsafe") > 0
    columns = [
        *((apart <= km).sum(axis=2) / others for km in AGREE_KM),
        (near.sum(axis=2) == talking) & (talking > 0),
        np.log1p(np.minimum(apart, _NOWHERE_KM)).min(axis=2),
        panel.same_name.sum(axis=2) / others,
        panel.mentioned.sum(axis=2) / others,
        rivals & answered,
        1.0 - talking / others,
    ]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=2)


def _by_agent(figures: FloatArray) -> FloatArray:
    """Each agent's figures in columns of its own, zero in everybody else's."""
    size, count, width = figures.shape
    spread = np.zeros((size, count, count, width))
    agents = np.arange(count)
    spread[:, agents, agents] = figures
    return spread.reshape(size, count, count * width)


def _standard(figures: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    scaled: FloatArray = np.clip((figures - mean) / np.where(spread > 1e-9, spread, np.inf), -_FARTHEST, _FARTHEST)
    return scaled
