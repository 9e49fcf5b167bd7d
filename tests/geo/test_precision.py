import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import LatLon, coordinates, distance_km, round_point

TOKYO = LatLon(35.689487, 139.691711)


@pytest.mark.parametrize(
    ("radius_km", "shown"),
    [
        (1130.0, "35.7, 139.7"),
        (100.0, "35.7, 139.7"),
        (99.9, "35.69, 139.69"),
        (10.0, "35.69, 139.69"),
        (1.0, "35.689, 139.692"),
        (0.1, "35.6895, 139.6917"),
        (0.02, "35.68949, 139.69171"),
        (None, "35.68949, 139.69171"),
    ],
)
def test_a_point_has_the_decimals_that_its_radius_deserves(radius_km: float | None, shown: str) -> None:
    assert coordinates(TOKYO, radius_km) == shown
    assert coordinates(round_point(TOKYO, radius_km), radius_km) == shown


@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(0.01, 20_000))
def test_rounding_moves_a_point_by_little_of_its_radius(lat: float, lon: float, radius_km: float) -> None:
    point = LatLon(lat, lon)
    assert distance_km(point, round_point(point, radius_km)) < 0.08 * radius_km
