"""Filtering: every boundary by hand, then what holds for all tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from geosleuth.lab.traces.filtering import (
    PHASES_KM,
    REGIMES_KM,
    StoredTries,
    build_tries,
    curriculum,
    find_teachable,
    passes,
)
from geosleuth.support.errors import BadInput

NAN = float("nan")


def test_a_try_exactly_at_the_distance_is_within_it() -> None:
    just_over = np.nextafter(1.0, 2.0)
    table = np.array([[1.0, just_over], [25.0, np.nextafter(25.0, 26.0)], [200.0, 200.1], [750.0, 750.1]])
    assert passes(table).tolist() == [[1, 2, 2, 2], [0, 1, 2, 2], [0, 0, 1, 2], [0, 0, 0, 1]]


def test_photos_with_fewer_tries_are_judged_by_their_own() -> None:
    table = build_tries({"two": [0.5, 30.0], "three": [0.5, 0.6, 0.7], "one": [0.5], "none": []})
    assert table.counts.tolist() == [2, 3, 1, 0]
    found = find_teachable(table)
    assert found.kept[:, 0].tolist() == [True, False, False, False]
    assert found.single_tries == 2
    exactly = build_tries({"two": [0.5, 30.0], "three": [0.5, 0.6, 40.0]}, tries=2)
    assert exactly.ids == ("two", "three")
    assert find_teachable(exactly).kept[:, 0].tolist() == [True, False]
    assert build_tries({"two": [0.5, 30.0], "three": [0.5, 0.6, 40.0]}, tries=3).ids == ("three",)


def test_figures_of_a_regime_add_up() -> None:
    found = find_teachable(build_tries({"a": [0.5, 30.0], "b": [0.5, 0.6], "c": [900.0, 900.0], "d": [10.0, 300.0]}))
    street, city, region, country = found.regimes
    assert (street.kept, street.never, street.always, street.by_passes) == (1, 2, 1, (2, 1, 1))
    assert (city.kept, city.never, city.always, city.by_passes) == (2, 1, 1, (1, 2, 1))
    assert (region.kept, region.never, region.always) == (1, 1, 2)
    assert (country.kept, country.never, country.always) == (0, 1, 3)
    assert all(one.photos == 4 for one in found.regimes)


def test_the_first_phase_learns_from_streets_and_cities_and_the_second_adds_the_rest() -> None:
    found = find_teachable(
        build_tries(
            {
                "street": [0.5, 2.0],  # kept at 1
                "city": [5.0, 30.0],  # kept at 25
                "both": [0.5, 30.0],  # kept at 1 and 25
                "region": [30.0, 300.0],  # kept at 200
                "country": [300.0, 900.0],  # kept at 750
                "never": [900.0, 900.0],
            }
        )
    )
    first, second = curriculum(found)
    ids = found.tries.ids
    assert [ids[row] for row in first.photos] == ["street", "city", "both"]
    assert [ids[row] for row in second.photos] == ["street", "city", "both", "region", "country"]
    assert (first.pairs, second.pairs) == (4, 6)
    assert (first.thresholds_km, second.thresholds_km) == ((1.0, 25.0), (1.0, 25.0, 200.0, 750.0))
    assert PHASES_KM[1] == REGIMES_KM


def test_a_phase_at_another_distance_is_refused() -> None:
    found = find_teachable(build_tries({"a": [0.5, 2.0]}), (1.0, 25.0))
    with pytest.raises(BadInput, match="phase 2 wants 200 km; the regimes are 1, 25 km"):
        curriculum(found)


@pytest.mark.parametrize("wrong", [(), (0.0,), (25.0, 1.0), (1.0, 1.0)])
def test_distances_that_go_down_are_refused(wrong: tuple[float, ...]) -> None:
    with pytest.raises(BadInput, match="must be positive and ascending"):
        find_teachable(build_tries({"a": [1.0, 2.0]}), wrong)


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(0, 2000) | st.just(NAN)))
def test_the_table_agrees_with_the_rule_told_photo_by_photo(table: np.ndarray) -> None:
    ids = tuple(str(row) for row in range(len(table)))
    found = find_teachable(StoredTries(ids, table, np.ones(table.shape, dtype=np.bool_)))
    for row, values in enumerate(table.tolist()):
        for column, km in enumerate(REGIMES_KM):
            within = sum(value <= km for value in values)
            assert found.within[row, column] == within
            assert bool(found.kept[row, column]) == (0 < within < len(values))
    # Whoever is within a small distance is within a larger one.
    assert (np.diff(found.within, axis=1) >= 0).all()
    first, second = curriculum(found)
    assert set(first.photos) <= set(second.photos)
