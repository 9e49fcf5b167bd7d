"""Thresholds belong to an encoder and come from labelled pairs."""

from collections.abc import Sequence

import numpy as np
import pytest

from geosleuth.lab.score.rewards import fit_thresholds, name_pairs
from geosleuth.lab.score.rewards.encoders import LEVELS, NEVER, NamePair, PairLevel, measure, table_scores
from geosleuth.support.errors import BadInput


class Angles:
    """A stand-in for an encoder: a text is an angle in degrees, so that similarities are known."""

    name = "angles"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        angles = np.radians([float(text) for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)])


def pairs_of(*rows: tuple[int, bool]) -> list[NamePair]:
    return [NamePair(level, "0", str(angle), same) for level in LEVELS for angle, same in rows]


def test_the_lowest_threshold_that_is_precise_enough() -> None:
    pairs = pairs_of((10, True), (20, True), (30, False), (40, True), (50, False), (60, False))
    strict = fit_thresholds(pairs, Angles()).country
    assert strict.threshold == pytest.approx(np.cos(np.radians(20)))
    assert (strict.precision, strict.pairs) == (1.0, 6)
    assert strict.recall == pytest.approx(2 / 3)
    assert strict.area == pytest.approx(8 / 9)  # of nine pairs of pairs one is the wrong way round
    mild = fit_thresholds(pairs, Angles(), least_precision=0.75).region
    assert mild.threshold == pytest.approx(np.cos(np.radians(40)))
    assert (mild.precision, mild.recall) == (0.75, 1.0)


def test_where_nothing_is_precise_enough_nothing_passes() -> None:
    fit = fit_thresholds(pairs_of((10, False), (20, True)), Angles())
    assert fit.thresholds == (NEVER, NEVER, NEVER)
    assert (fit.precise.precision, fit.precise.recall) == (0.0, 0.0)


def test_equal_similarities_pass_together() -> None:
    fit = fit_thresholds(pairs_of((10, True), (10, False), (20, True)), Angles(), least_precision=0.6)
    assert fit.country.threshold == pytest.approx(np.cos(np.radians(20)))


def test_a_level_needs_both_kinds() -> None:
    with pytest.raises(BadInput, match="country need some"):
        fit_thresholds(pairs_of((10, True)), Angles())


@pytest.mark.parametrize("level", LEVELS)
def test_the_pairs_that_come_with_the_package(level: PairLevel) -> None:
    pairs = [pair for pair in name_pairs() if pair.level == level]
    assert len(pairs) == 160
    assert sum(pair.same for pair in pairs) == 80
    assert len({(pair.a, pair.b) for pair in pairs}) >= 155
    assert all(pair.a != pair.b for pair in pairs)


def test_tables_know_nearly_all_of_the_pairs() -> None:
    pairs = name_pairs()
    found = measure(pairs, table_scores(pairs), (0.5, 0.5, 0.5), "tables")
    for level in (found.country, found.region, found.precise):
        assert level.precision >= 0.97
        assert level.recall >= 0.97
