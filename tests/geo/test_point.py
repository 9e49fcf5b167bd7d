import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import LatLon, is_valid, normalize_lon


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_every_place_on_earth_is_accepted_unchanged(lat: float, lon: float) -> None:
    assert is_valid(lat, lon)
    assert (LatLon(lat, lon).lat, LatLon(lat, lon).lon) == (lat, lon)


@pytest.mark.parametrize(
    ("lat", "lon", "named"),
    [
        (90.0000001, 0, "latitude"),
        (-91, 0, "latitude"),
        (0, 180.0001, "longitude"),
        (0, -181, "longitude"),
        (math.nan, 0, "latitude"),
        (0, math.nan, "longitude"),
        (math.inf, 0, "latitude"),
        (0, -math.inf, "longitude"),
        (10**400, 0, "latitude"),
    ],
)
def test_what_is_not_on_earth_is_refused_by_name(lat: float, lon: float, named: str) -> None:
    assert not is_valid(lat, lon)
    with pytest.raises(ValueError, match=f"{named} must lie between"):
        LatLon(lat, lon)


@pytest.mark.parametrize("value", ["48.5", None, True, np.True_, 1j, [1.0]])
def test_what_is_not_a_number_is_refused(value: object) -> None:
    assert not is_valid(value, 0)
    assert not is_valid(0, value)
    with pytest.raises(TypeError, match="latitude must be a number"):
        LatLon(value, 0)  # type: ignore[arg-type]  # the point of the test


@given(st.floats(-180, 180), st.integers(-5, 5))
def test_longitudes_come_home_from_any_number_of_turns(lon: float, turns: int) -> None:
    home = normalize_lon(lon + 360 * turns)
    assert -180 <= home <= 180
    off = abs(home - lon)
    assert min(off, 360 - off) < 1e-9
