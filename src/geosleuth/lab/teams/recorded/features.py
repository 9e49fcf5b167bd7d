"""Features of a panel, one row per agent's answer, with each agent's record around the place.

A record is built from images with known truth and holds only counts. Around a point everything within a distance
counts, at three distances, so that a town without history borrows from its region and its country. Each rate shrinks
towards the agents' overall rates.

Shared columns mean the same for every agent and are learned from all of them. Own columns belong to one agent, or to
one pair of agents; they start at zero and move as far as their images support.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.geo import EARTH_RADIUS_KM, CellGrid, FloatArray

from .panel import WORD_SIGNS, IntArray, Panel

AROUND_KM = (25.0, 200.0, 750.0)
_NEARBY = ("all agents' record", "own record", "truths", "answers")
PLACE_SIGNS = (*(f"{name} within {km:g} km" for km in AROUND_KM for name in _NEARBY), "any truth", "habit")
_GRID = CellGrid(0.1, equal_area=True)
_AS_IF = 6.0  # the prior weight of the overall rate, in answers
_PER = 1000.0
_AT_ONCE = 4_000_000
_SAME_POINT = 4  # decimals: about ten metres

# Distances, in kilometres, within which other answers count as agreeing.
AGREE_KM = (0.1, 0.5, 2.0, 10.0, 25.0, 50.0, 200.0, 750.0)
TOGETHER_KM = 25.0
_NOWHERE_KM = 20_000.0
_MAX_OWN = 160  # columns; more agents get fewer distances between pairs
_FARTHEST = 4.0  # standard deviations
_OWN_WORDS = 0.5  # agents' own word columns are regularised twice as strongly
AGREEMENT_SIGNS = (
    *(f"others within {km:g} km" for km in AGREE_KM),
    "everybody agrees", "nearest other", "same town", "named by others", "others agree elsewhere", "silent others",
)  # fmt: skip
SHARED = (*AGREEMENT_SIGNS, *WORD_SIGNS, *PLACE_SIGNS)
REASONS = ("record", "agreement", "words", "place")


@dataclass(frozen=True, slots=True, eq=False)
class PlaceRecord:
    """Counts by small cell.

    Attributes:
        cells: ids of the cells with any answer or truth.
        answers, hits: cell, agent: how often the agent answered there, and how often that was right.
        truths: cell: how many images were taken there.
        images: the number of images.
        habits: agent: how often it gave exactly this point, for points given more than once.
    """

    cells: IntArray
    answers: FloatArray
    hits: FloatArray
    truths: FloatArray
    images: int
    habits: tuple[Mapping[str, int], ...]

    @property
    def rates(self) -> FloatArray:
        """Return how often each agent is right anywhere, shrunk a little towards one half."""
        rates: FloatArray = (self.hits.sum(axis=0) + 1.0) / (self.answers.sum(axis=0) + 2.0)
        return rates

    def signs(self, panel: Panel) -> FloatArray:
        """Return image, agent, and the figures of ``PLACE_SIGNS``; zeros where an agent gave no point."""
        signs = np.zeros((*panel.lat.shape, len(PLACE_SIGNS)))
        given = panel.has_point
        agent = np.nonzero(given)[1]
        if not len(agent):
            return signs
        cells, where = np.unique(_GRID.find_cells(panel.lat[given], panel.lon[given]), return_inverse=True)
        here, there = _vectors(cells), _vectors(self.cells)
        nearness = [self._count_nearby(here, there, km) for km in AROUND_KM]
        found = [
            column
            for item in nearness
            for column in (item[0][where], item[1][where, agent], item[2][where], item[3][where])
        ]
        near = nearness[0][2][where] > 0
        habits = [
            np.log1p(self.habits[who].get(_build_point_key(lat, lon), 0) * _PER / max(1, self.images))
            for who, lat, lon in zip(agent, panel.lat[given], panel.lon[given], strict=True)
        ]
        signs[given] = np.stack([*found, near.astype(np.float64), np.asarray(habits)], axis=1)
        return signs

    def _count_nearby(
        self, here: FloatArray, there: FloatArray, km: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return per cell: counts of all agents, of each agent (a column each), truths, answers."""
        answers, hits, truths = self._sums(here, there, km)
        rates = self.rates
        mean = float(rates.mean())
        total, right, expected = answers.sum(axis=1), hits.sum(axis=1), answers @ rates
        together = _log_odds(right, total, mean) - _log_odds(expected, total, mean)
        own = _log_odds(hits, answers, rates) - np.log(rates / (1 - rates))
        scale = _PER / max(1, self.images)
        return together, own, np.log1p(truths * scale), np.log1p(total * scale / len(rates))

    def truths_around(self, here: FloatArray, km: float) -> FloatArray:
        """Return the logarithm of how many of a thousand images were taken within a distance of unit vectors."""
        found: FloatArray = np.log1p(self._sums(here, _vectors(self.cells), km)[2] * _PER / max(1, self.images))
        return found

    def _sums(self, here: FloatArray, there: FloatArray, km: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        count = self.answers.shape[1]
        known = np.column_stack([self.answers, self.hits, self.truths])
        sums = np.zeros((len(here), known.shape[1]))
        least = np.cos(km / EARTH_RADIUS_KM)
        rows = max(1, _AT_ONCE // max(1, len(there)))
        for at in range(0, len(here), rows):
            near = here[at : at + rows] @ there.T >= least
            sums[at : at + rows] = near.astype(np.float64) @ known
        return sums[:, :count], sums[:, count:-1], sums[:, -1]


def count_places(panel: Panel, right: FloatArray, true_lat: FloatArray, true_lon: FloatArray) -> PlaceRecord:
    """Count the record of images with known truth; ``right`` is 1 where an agent was right, image by agent."""
    given = panel.has_point
    agent = np.nonzero(given)[1]
    pointed = _GRID.find_cells(panel.lat[given], panel.lon[given])
    real = _GRID.find_cells(true_lat, true_lon)
    cells, where = np.unique(np.concatenate([pointed, real]), return_inverse=True)
    answers, hits = (np.zeros((len(cells), len(panel.agents))) for _ in range(2))
    np.add.at(answers, (where[: len(pointed)], agent), 1.0)
    np.add.at(hits, (where[: len(pointed)], agent), right[given])
    truths = np.bincount(where[len(pointed) :], minlength=len(cells)).astype(np.float64)
    return PlaceRecord(cells, answers, hits, truths, len(panel), _habits(panel))


def record_to_json(record: PlaceRecord) -> dict[str, Any]:
    """Return the stored form."""
    return {
        "cells": record.cells.tolist(),
        "answers": record.answers.tolist(),
        "hits": record.hits.tolist(),
        "truths": record.truths.tolist(),
        "images": record.images,
        "habits": [dict(habit) for habit in record.habits],
    }


def record_from_json(table: Mapping[str, Any], agents: int) -> PlaceRecord:
    """Restore a record from its stored form.

    Raises:
        ValueError, TypeError, KeyError: it is damaged.
    """
    cells = np.asarray(table["cells"], dtype=np.int64)
    answers, hits = (np.asarray(table[name], dtype=np.float64).reshape(-1, agents) for name in ("answers", "hits"))
    truths = np.asarray(table["truths"], dtype=np.float64)
    if not len(cells) == len(answers) == len(hits) == len(truths) or len(table["habits"]) != agents:
        raise ValueError("the place record has columns of different lengths")
    if len(cells) and not (cells.min() >= 0 and cells.max() < len(_GRID)):
        raise ValueError("the place record has an invalid cell")
    habits = tuple({str(key): int(value) for key, value in habit.items()} for habit in table["habits"])
    return PlaceRecord(cells, answers, hits, truths, int(table["images"]), habits)


def _habits(panel: Panel) -> tuple[dict[str, int], ...]:
    counts: tuple[dict[str, int], ...] = tuple({} for _ in panel.agents)
    for row, place in zip(*np.nonzero(panel.has_point), strict=True):
        key = _build_point_key(panel.lat[row, place], panel.lon[row, place])
        counts[place][key] = counts[place].get(key, 0) + 1
    return tuple({key: n for key, n in count.items() if n > 1} for count in counts)


def _build_point_key(lat: float, lon: float) -> str:
    return f"{lat:.{_SAME_POINT}f},{lon:.{_SAME_POINT}f}"


def _log_odds(right: FloatArray, total: FloatArray, rate: FloatArray | float) -> FloatArray:
    odds: FloatArray = np.log((right + _AS_IF * rate) / (total - right + _AS_IF * (1 - rate)))
    return odds


def _vectors(cells: IntArray) -> FloatArray:
    centres = [_GRID.cell_centre(int(cell)) for cell in cells]
    lat = np.radians(np.array([centre.lat for centre in centres]))
    lon = np.radians(np.array([centre.lon for centre in centres]))
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """The scales of the features: words by agent, shared columns over all."""

    word_mean: FloatArray
    word_spread: FloatArray
    mean: FloatArray
    spread: FloatArray


def pair_scales(count: int) -> tuple[float, ...]:
    """Return the distances at which each pair of agents has its own columns."""
    most = max(1, _MAX_OWN // (count * count))
    order = (25.0, 1.0, 200.0, 5.0, 0.3)
    return tuple(sorted(order[:most]))


def signs(panel: Panel, record: PlaceRecord | FloatArray) -> FloatArray:
    """Return image, agent, and the shared columns before scaling; ``record`` may be evaluated already."""
    place = record.signs(panel) if isinstance(record, PlaceRecord) else record
    return np.concatenate([_agreement(panel), panel.words, place], axis=2)


def fit_scaling(panel: Panel, raw: FloatArray) -> Scaling:
    """Return the scales of the training images."""
    given = panel.has_point
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
    """Return image, agent, column: constant, shared, own."""
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
    """Return the subject of each column of ``design``: one of ``REASONS``, or empty for the constant."""
    shared = ("agreement",) * len(AGREEMENT_SIGNS) + ("words",) * len(WORD_SIGNS) + ("place",) * len(PLACE_SIGNS)
    pairs = ("agreement",) * (count + count * count) * len(pair_scales(count))
    return ("", *shared, *("record",) * count, *("words",) * (count * len(WORD_SIGNS)), *pairs)


def scaling_to_json(scaling: Scaling) -> dict[str, Any]:
    """Return the stored form."""
    names = ("word_mean", "word_spread", "mean", "spread")
    return {name: getattr(scaling, name).tolist() for name in names}


def scaling_from_json(table: Mapping[str, Any], agents: int) -> Scaling:
    """Restore the scales from their stored form.

    Raises:
        ValueError, TypeError, KeyError: they are damaged.
    """
    words = [np.asarray(table[name], dtype=np.float64) for name in ("word_mean", "word_spread")]
    whole = [np.asarray(table[name], dtype=np.float64) for name in ("mean", "spread")]
    if any(word.shape != (agents, len(WORD_SIGNS)) for word in words) or any(
        item.shape != (len(SHARED),) for item in whole
    ):
        raise ValueError("the scales have another number of columns")
    return Scaling(*words, *whole)


def _agreement(panel: Panel) -> FloatArray:
    apart, count = panel.apart_km, len(panel.agents)
    others = max(1, count - 1)
    near = apart <= TOGETHER_KM
    answered = panel.has_point
    talking = answered.sum(axis=1, keepdims=True) - answered
    # Two others agree with each other and not with this one.
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
    """Return each agent's figures in columns of its own, zero elsewhere."""
    size, count, width = figures.shape
    spread = np.zeros((size, count, count, width))
    agents = np.arange(count)
    spread[:, agents, agents] = figures
    return spread.reshape(size, count, count * width)


def _standard(figures: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    scaled: FloatArray = np.clip((figures - mean) / np.where(spread > 1e-9, spread, np.inf), -_FARTHEST, _FARTHEST)
    return scaled
