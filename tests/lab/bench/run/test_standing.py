"""Running figures of a run: counted as answers come in, and close to what the ruler says in the end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import LatLon, distances_km
from geosleuth.lab.bench.run.results import SHOWN_KM, Errors
from geosleuth.lab.score import summarise

points = st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 179.9))
nearby = st.tuples(points, st.floats(-0.01, 0.01)).map(
    lambda both: (LatLon(max(-90.0, min(90.0, both[0].lat + both[1])), both[0].lon), both[0])
)


@given(st.lists(nearby | st.tuples(st.none() | points, points), min_size=1, max_size=40))
def test_running_figures_are_those_of_the_ruler(answers: list[tuple[LatLon | None, LatLon]]) -> None:
    errors = Errors()
    for answer, truth in answers:
        errors.add(answer, truth)
    plain = [
        (answer.lat, answer.lon, truth.lat, truth.lon) if answer else (np.nan, np.nan, truth.lat, truth.lon)
        for answer, truth in answers
    ]
    exact = distances_km(*np.asarray(plain).T)
    ruler = summarise(exact, thresholds_km=SHOWN_KM)
    assert errors.measured == len(answers)
    for km in SHOWN_KM:
        assert errors.within(km) == pytest.approx(ruler.within[km].hits / len(answers))
    ordered = np.sort(np.where(np.isnan(exact), np.inf, exact))
    lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    median = errors.median_km
    assert median is not None
    # Between the two in the middle, and right to the hundredth part or some metres.
    assert lower * 0.99 - 0.01 <= median <= upper * 1.01 + 0.01


def test_nothing_measured_is_no_figure() -> None:
    errors = Errors()
    assert (errors.median_km, errors.within(25.0)) == (None, None)
    errors.add(None, LatLon(0, 0))
    assert (errors.median_km, errors.within(25.0)) == (float("inf"), 0.0)


def test_more_answers_than_are_worked_out_at_once() -> None:
    errors = Errors()
    for number in range(2500):
        errors.add(LatLon(0.0, number / 2500), LatLon(0.0, 0.0))
    assert errors.within(2500.0) == 1.0
    assert errors.median_km == pytest.approx(111.19 / 2, rel=0.02)
