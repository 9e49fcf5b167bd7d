"""What a photo costs: turns, calls, tokens, seconds and money, and how accuracy goes with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geosleuth.bench.scored import Scored
from geosleuth.score import Accuracy, within

from .reading import FloatColumn, Journal

BUCKETS = 5
_LEAST_PHOTOS = 10  # fewer in a group say nothing


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that is spent on a photo: how the document names it, what people call it, and its unit."""

    key: str
    words: str
    unit: str


TURNS = Measure("turns", "turns", "")
CALLS = Measure("calls", "tool calls", "")
FAILED = Measure("failed_calls", "failed calls", "")
INPUT = Measure("input_tokens", "input tokens", "")
OUTPUT = Measure("output_tokens", "output tokens", "")
TOKENS = Measure("tokens", "tokens", "")
SECONDS = Measure("seconds", "seconds", "s")
COST = Measure("cost_usd", "cost", "USD")
MEASURES = (TURNS, CALLS, FAILED, INPUT, OUTPUT, SECONDS, COST)
"""What the table per photo lists."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One measure over photos; ``n`` of them are known, and nothing is said where none is."""

    n: int
    mean: float
    median: float
    p95: float
    total: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """The photos on which about so much was spent, and how many of their answers are right."""

    low: float
    high: float
    mean: float
    accuracy: Accuracy


def values_of(journal: Journal, measure: Measure) -> FloatColumn:
    """The measure for every photo of the journal, of the try that counts."""
    if measure.key == "tokens":
        return journal.spent["input_tokens"] + journal.spent["output_tokens"]
    return journal.spent[measure.key]


def per_photo(journal: Journal) -> dict[str, Spread]:
    """Every measure over the answered photos, each with the try that gave its answer."""
    answered = journal.answered
    return {measure.key: spread(values_of(journal, measure)[answered]) for measure in (*MEASURES, TOKENS)}


def spread(values: FloatColumn) -> Spread:
    """Mean, median and 95th percentile of what is known."""
    known = values[~np.isnan(values)]
    if not len(known):
        nothing = float("nan")
        return Spread(0, nothing, nothing, nothing, nothing)
    median, p95 = np.quantile(known, (0.5, 0.95)).tolist()
    return Spread(len(known), float(known.mean()), median, p95, float(known.sum()))


def common_measure(spreads: Sequence[Mapping[str, Spread]]) -> Measure:
    """By what runs can be compared: money where every price is known and any is not nought, else tokens, else time."""
    counted = [one for one in spreads if one[TURNS.key].n]
    for measure in (COST, TOKENS, SECONDS):
        whole = all(one[measure.key].n == one[TURNS.key].n for one in counted)
        if whole and any(one[measure.key].total > 0 for one in counted):
            return measure
    return TURNS


def by_spending(
    journal: Journal, scored: Scored, measure: Measure, threshold_km: float, most: int = BUCKETS
) -> tuple[Bucket, ...]:
    """Accuracy in groups of photos of about equal number, by what was spent on each.

    Photos with the same spending stay together, so there may be fewer groups. It says what goes together, not why:
    hard photos take more turns.
    """
    rows = journal.rows_of(scored.ids)
    known = rows >= 0
    values = np.full(len(rows), np.nan)
    values[known] = values_of(journal, measure)[rows[known]]
    usable = np.flatnonzero(~np.isnan(values))
    if not len(usable):
        return ()
    order = usable[np.argsort(values[usable], kind="stable")]
    sorted_values = values[order]
    groups = max(1, min(most, len(order) // _LEAST_PHOTOS))
    edges = np.quantile(sorted_values, np.linspace(0, 1, groups + 1)[1:-1], method="inverted_cdf")
    group = np.searchsorted(np.unique(edges), sorted_values, side="left")
    return tuple(
        _bucket(sorted_values[group == number], scored.distance_km[order[group == number]], threshold_km)
        for number in np.unique(group)
    )


def _bucket(values: FloatColumn, distance_km: NDArray[np.float64], threshold_km: float) -> Bucket:
    hits = int(np.count_nonzero(within(distance_km, threshold_km)))
    return Bucket(float(values.min()), float(values.max()), float(values.mean()), Accuracy.of(hits, len(values)))
