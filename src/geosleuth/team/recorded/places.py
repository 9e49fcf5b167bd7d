"""Who has been right where: each agent's record around a place, as small cells with counts.

A record is made from images whose truth is known and holds counts only. Around a point everything within a distance
counts, at three distances, so that a town without history borrows from its region and its country. Each rate is drawn
towards what is known without it: the agents' overall rates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.geo import EARTH_RADIUS_KM, CellGrid, FloatArray

from .panel import IntArray, Panel

AROUND_KM = (25.0, 200.0, 750.0)
_NEARBY = ("all agents' record", "own record", "truths", "answers")
PLACE_SIGNS = (*(f"{name} within {km:g} km" for km in AROUND_KM for name in _NEARBY), "any truth", "habit")
_GRID = CellGrid(0.1, equal_area=True)
_AS_IF = 6.0  # answers that speak for the overall rate before any was seen nearby
_PER = 1000.0
_AT_ONCE = 4_000_000
_SAME_POINT = 4  # decimals: about ten metres


@dataclass(frozen=True, slots=True, eq=False)
class PlaceRecord:
    """Counts by small cell.

    Attributes:
        cells: ids of the cells that anything points at.
        answers, hits: cell, agent: how often the agent pointed there, and how often that was right.
        truths: cell: how many images were really there.
        images: how many images there are in all.
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
        """How often each agent is right, wherever it points; drawn a little towards one half."""
        rates: FloatArray = (self.hits.sum(axis=0) + 1.0) / (self.answers.sum(axis=0) + 2.0)
        return rates

    def signs(self, panel: Panel) -> FloatArray:
        """Image, agent, and the figures of ``PLACE_SIGNS``; zeros where an agent gave no point."""
        signs = np.zeros((*panel.lat.shape, len(PLACE_SIGNS)))
        given = panel.answered
        agent = np.nonzero(given)[1]
        if not len(agent):
            return signs
        cells, where = np.unique(_GRID.cell_of(panel.lat[given], panel.lon[given]), return_inverse=True)
        here, there = _vectors(cells), _vectors(self.cells)
        nearness = [self._around(here, there, km) for km in AROUND_KM]
        found = [
            column for one in nearness for column in (one[0][where], one[1][where, agent], one[2][where], one[3][where])
        ]
        near = nearness[0][2][where] > 0
        habits = [
            np.log1p(self.habits[who].get(_key(lat, lon), 0) * _PER / max(1, self.images))
            for who, lat, lon in zip(agent, panel.lat[given], panel.lon[given], strict=True)
        ]
        signs[given] = np.stack([*found, near.astype(np.float64), np.asarray(habits)], axis=1)
        return signs

    def _around(
        self, here: FloatArray, there: FloatArray, km: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """By cell: all agents' record, each agent's own (a column each), truths, answers."""
        answers, hits, truths = self._sums(here, there, km)
        rates = self.rates
        mean = float(rates.mean())
        total, right, expected = answers.sum(axis=1), hits.sum(axis=1), answers @ rates
        together = _log_odds(right, total, mean) - _log_odds(expected, total, mean)
        own = _log_odds(hits, answers, rates) - np.log(rates / (1 - rates))
        scale = _PER / max(1, self.images)
        return together, own, np.log1p(truths * scale), np.log1p(total * scale / len(rates))

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
    """The record of images whose truth is known; ``right`` is 1 where an agent was right, image by agent."""
    given = panel.answered
    agent = np.nonzero(given)[1]
    pointed = _GRID.cell_of(panel.lat[given], panel.lon[given])
    real = _GRID.cell_of(true_lat, true_lon)
    cells, where = np.unique(np.concatenate([pointed, real]), return_inverse=True)
    answers, hits = (np.zeros((len(cells), len(panel.agents))) for _ in range(2))
    np.add.at(answers, (where[: len(pointed)], agent), 1.0)
    np.add.at(hits, (where[: len(pointed)], agent), right[given])
    truths = np.bincount(where[len(pointed) :], minlength=len(cells)).astype(np.float64)
    return PlaceRecord(cells, answers, hits, truths, len(panel), _habits(panel))


def record_to_json(record: PlaceRecord) -> dict[str, Any]:
    """Its stored form."""
    return {
        "cells": record.cells.tolist(),
        "answers": record.answers.tolist(),
        "hits": record.hits.tolist(),
        "truths": record.truths.tolist(),
        "images": record.images,
        "habits": [dict(habit) for habit in record.habits],
    }


def record_from_json(table: Mapping[str, Any], agents: int) -> PlaceRecord:
    """The record from its stored form.

    Raises:
        ValueError, TypeError, KeyError: it is damaged.
    """
    cells = np.asarray(table["cells"], dtype=np.int64)
    answers, hits = (np.asarray(table[name], dtype=np.float64).reshape(-1, agents) for name in ("answers", "hits"))
    truths = np.asarray(table["truths"], dtype=np.float64)
    if not len(cells) == len(answers) == len(hits) == len(truths) or len(table["habits"]) != agents:
        raise ValueError("the record of places has columns of unequal length")
    if len(cells) and not (cells.min() >= 0 and cells.max() < len(_GRID)):
        raise ValueError("the record of places names a cell that is none")
    habits = tuple({str(key): int(value) for key, value in habit.items()} for habit in table["habits"])
    return PlaceRecord(cells, answers, hits, truths, int(table["images"]), habits)


def _habits(panel: Panel) -> tuple[dict[str, int], ...]:
    counts: tuple[dict[str, int], ...] = tuple({} for _ in panel.agents)
    for row, place in zip(*np.nonzero(panel.answered), strict=True):
        key = _key(panel.lat[row, place], panel.lon[row, place])
        counts[place][key] = counts[place].get(key, 0) + 1
    return tuple({key: n for key, n in one.items() if n > 1} for one in counts)


def _key(lat: float, lon: float) -> str:
    return f"{lat:.{_SAME_POINT}f},{lon:.{_SAME_POINT}f}"


def _log_odds(right: FloatArray, total: FloatArray, rate: FloatArray | float) -> FloatArray:
    odds: FloatArray = np.log((right + _AS_IF * rate) / (total - right + _AS_IF * (1 - rate)))
    return odds


def _vectors(cells: IntArray) -> FloatArray:
    centres = [_GRID.cell_centre(int(cell)) for cell in cells]
    lat = np.radians(np.array([centre.lat for centre in centres]))
    lon = np.radians(np.array([centre.lon for centre in centres]))
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
