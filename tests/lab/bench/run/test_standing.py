"""Running figures of a run: those that the ruler gives in the end, however many answers there are."""

import numpy as np
import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.bench.run.results import Errors


def test_errors_are_counted_in_any_number_and_an_answer_without_a_point_is_a_miss() -> None:
    errors = Errors()
    assert errors.within(25.0) is None
    errors.add(None, LatLon(0, 0))
    assert errors.within(25.0) == 0.0
    for number in range(2500):
        errors.add(LatLon(0.0, number / 2500), LatLon(0.0, 0.0))
    assert errors.measured == 2501
    assert errors.within(2500.0) == pytest.approx(2500 / 2501)
    assert float(np.nanmedian(errors.km())) == pytest.approx(111.3 / 2, rel=0.01)
