"""How sure to be: a map that never turns surer answers into less likely ones, and that learns from scenes."""

import math
import random
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.evidence import Clue
from geosleuth.evidence.calibration import (
    ACTIONABLE_PROBABILITY,
    LEAST,
    MOST,
    CalibrationSample,
    ConfidenceMap,
    apply,
    fit,
    from_json,
)
from geosleuth.evidence.decision import Decision, Level
from geosleuth.evidence.posterior import Contribution
from geosleuth.geo import LatLon

LEVELS: tuple[Level, ...] = tuple(level for level in get_args(Level) if level != "none")
SHARES = st.floats(0, 1)


def decision(level: Level = "spot", probability: float = 0.7, kinds: int = 2, margin: float = 0.5) -> Decision:
    return Decision(level, LatLon(60, 25), 1.0, probability, kinds=kinds, margin=margin)


@given(st.sampled_from(LEVELS), SHARES, SHARES, st.integers(0, 8), SHARES)
def test_surer_answers_are_never_called_less_likely(
    level: Level, one: float, other: float, kinds: int, margin: float
) -> None:
    low, high = sorted((one, other))
    assert LEAST <= apply(decision(level, low, kinds, margin)) <= apply(decision(level, high, kinds, margin)) <= MOST
    assert apply(decision(level, low, kinds, margin)) <= apply(decision(level, low, kinds + 1, margin)) + 1e-12


def drawn(count: int, seed: int, right_of: float = 1.0) -> list[CalibrationSample]:
    """Answers that are right as often as they say, or so many times as often."""
    draws = random.Random(seed)
    samples = []
    for _ in range(count):
        p, level = draws.uniform(0.2, 0.98), draws.choice(LEVELS)
        samples.append(
            CalibrationSample(level, p, draws.randint(1, 5), draws.uniform(0, p), draws.random() < right_of * p)
        )
    return samples


def error(calibration: ConfidenceMap, samples: list[CalibrationSample], bins: int = 8) -> float:
    """Expected calibration error."""
    ranked = sorted((apply(sample, calibration), sample.right) for sample in samples)
    size = max(1, len(ranked) // bins)
    total = 0.0
    for begin in range(0, len(ranked), size):
        part = ranked[begin : begin + size]
        total += abs(sum(p for p, _ in part) - sum(right for _, right in part))
    return total / len(ranked)


def test_a_fit_on_honest_answers_leaves_them_as_they_are() -> None:
    fitted = from_json(fit(drawn(4000, 1), provenance="a test"))
    assert error(fitted, drawn(2000, 2)) < 0.04
    assert apply(decision(probability=0.7, kinds=3, margin=0.35), fitted) == pytest.approx(0.7, abs=0.05)


def test_a_fit_tames_answers_that_are_too_sure() -> None:
    fitted = from_json(fit(drawn(4000, 3, right_of=0.6), provenance="a test"))
    held_out = drawn(2000, 4, right_of=0.6)
    assert error(fitted, held_out) < 0.05
    identity = ConfidenceMap(dict.fromkeys(LEVELS, 0.0), 1.0, 0.0, 0.0, "")
    assert error(identity, held_out) > 0.15


def test_a_level_that_is_often_wrong_is_called_so() -> None:
    samples = [CalibrationSample("spot", 0.8, 2, 0.5, n % 10 == 0) for n in range(200)]
    samples += [CalibrationSample("country", 0.8, 2, 0.5, n % 10 != 0) for n in range(200)]
    fitted = from_json(fit(samples))
    assert apply(decision("spot", 0.8), fitted) < 0.2
    assert apply(decision("country", 0.8), fitted) > 0.8


def test_slopes_never_turn_round_even_where_the_samples_do() -> None:
    perverse = [CalibrationSample("spot", p / 100, 2, 0.3, p < 50) for p in range(1, 100) for _ in range(5)]
    table = fit(perverse)
    assert table["slope"] == 0.0
    fitted = from_json(table)
    assert all(
        apply(decision(probability=a / 10), fitted) <= apply(decision(probability=b / 10), fitted) + 1e-9
        for a, b in pairwise(range(11))
    )


def test_a_fit_does_not_depend_on_the_order_and_survives_having_nothing() -> None:
    samples = drawn(300, 7)
    turned = list(reversed(samples))
    first, second = fit(samples), fit(turned)
    assert first["levels"] == pytest.approx(second["levels"], abs=1e-4)
    assert from_json(fit([])).slope > 0
    assert from_json(fit([CalibrationSample("none", 0.1, 0, 0.0, right=False)])).slope > 0


@pytest.mark.parametrize(
    "damage",
    [
        {"levels": {}},
        {"levels": None},
        {"slope": -1.0},
        {"slope": "much"},
        {"margin": math.nan},
        {"kinds": None},
        {"kinds": True},
        {"claim": 0.4},
        {"claim": 1.0},
    ],
)
def test_a_damaged_map_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="calibration"):
        from_json({**fit([]), **damage})


def test_somebodys_word_is_as_likely_as_it_says() -> None:
    hint = Contribution(Clue("hint", "Monaco", "the user names Monaco", 0.9, {"MC": 1.0}), 5.0)
    spoken = Decision("country", LatLon(43.73, 7.42), 2.0, 0.88, "Monaco", "MC", 0.88, contributions=(hint,))
    assert apply(spoken) == 0.88


@given(SHARES, SHARES)
def test_what_was_right_less_often_than_a_claim_is_stated_below_a_half(one: float, other: float) -> None:
    plain = from_json(fit(drawn(200, 9)))
    careful = replace(plain, claim=0.7)
    low, high = (CalibrationSample("city", share, 2, 0.2, right=True) for share in sorted((one, other)))
    assert careful.probability(low) <= careful.probability(high)
    assert (careful.probability(high) >= ACTIONABLE_PROBABILITY) == (plain.probability(high) >= careful.claim)
