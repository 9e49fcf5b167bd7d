import math

import numpy as np
import pytest

from geosleuth.geo import THRESHOLD_SETS, THRESHOLDS, THRESHOLDS_KM, geoscore


def test_geoscore_of_known_distances() -> None:
    assert geoscore(0.0) == 5000
    assert geoscore(1805.0) == pytest.approx(5000 / math.e)
    assert geoscore(20015.0) == pytest.approx(0.0764, abs=5e-4)


@pytest.mark.parametrize("distance", [-1e-9, -5.0, np.array([1.0, np.nan, -2.0])])
def test_geoscore_refuses_what_is_no_distance(distance: float) -> None:
    with pytest.raises(ValueError, match="negative"):
        geoscore(distance)


def test_the_thresholds_are_those_of_the_literature() -> None:
    assert list(THRESHOLDS_KM) == [0.5, 1, 2, 3, 10, 25, 50, 200, 750, 2500]
    names = {threshold.name: threshold.km for threshold in THRESHOLDS if threshold.name}
    assert names == {"street": 1, "city": 25, "region": 200, "country": 750, "continent": 2500}


def test_every_paper_reports_thresholds_that_we_report() -> None:
    assert THRESHOLD_SETS["thinking-with-map"].km == (0.5, 2.0, 10.0, 25.0, 200.0, 750.0)
    assert THRESHOLD_SETS["spotagent"].km == (1.0, 25.0, 200.0, 750.0, 2500.0)
    for entry in THRESHOLD_SETS.values():
        assert set(entry.km) <= set(THRESHOLDS_KM)
        assert list(entry.km) == sorted(entry.km)
