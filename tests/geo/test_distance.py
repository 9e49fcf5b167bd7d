import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.geo import (
    EARTH_RADIUS_KM,
    LatLon,
    bearing_deg,
    bearings_deg,
    destination,
    distance_km,
    geodesic_km,
    great_circle_km,
)

LATS = st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, -89.9999999, 0.0, 89.9999999, 90.0]))
LONS = st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, -179.9999999, 0.0, 179.9999999, 180.0]))
PLACES = st.builds(LatLon, LATS, LONS)
POLES = np.array([90.0, -90.0])
OFFSETS = st.floats(-1e-3, 1e-3)
PI = Decimal("3.14159265358979323846264338327950288419716939937510")


def decimal_sine(x: Decimal) -> Decimal:
    term = total = x
    n = 1
    while abs(term) > Decimal("1e-48"):
        term *= -x * x / ((n + 1) * (n + 2))
        total += term
        n += 2
    return total


def decimal_great_circle_km(a: LatLon, b: LatLon) -> float:
    """The exact distance, to forty digits: half the chord in decimal arithmetic, then an inverse sine by Newton."""
    with localcontext() as context:
        context.prec = 50

        def vector(point: LatLon) -> tuple[Decimal, Decimal, Decimal]:
            lat, lon = (Decimal(degrees) * PI / 180 for degrees in (point.lat, point.lon))
            across = decimal_sine(PI / 2 - lat)
            return across * decimal_sine(PI / 2 - lon), across * decimal_sine(lon), decimal_sine(lat)

        ends = list(zip(vector(a), vector(b), strict=True))
        near = sum((u - v) ** 2 for u, v in ends)
        far = sum((u + v) ** 2 for u, v in ends)
        half_chord = Decimal(min(near, far)).sqrt() / 2
        angle = Decimal(math.asin(min(1.0, float(half_chord))))
        for _ in range(4):
            angle -= (decimal_sine(angle) - half_chord) / decimal_sine(PI / 2 - angle)
        full = 2 * angle if near <= far else PI - 2 * angle
        return float(full * Decimal(EARTH_RADIUS_KM))


def nanometres_off(a: LatLon, b: LatLon) -> float:
    return abs(distance_km(a, b) - decimal_great_circle_km(a, b)) * 1e12


def nearby(place: LatLon, dlat: float, dlon: float) -> LatLon:
    lon = place.lon + dlon
    return LatLon(max(-90.0, min(90.0, place.lat + dlat)), lon - math.copysign(360, lon) if abs(lon) > 180 else lon)


def opposite(place: LatLon) -> LatLon:
    return LatLon(-place.lat, place.lon - math.copysign(180, place.lon))


@settings(max_examples=examples(200))
@given(PLACES, PLACES)
def test_great_circle_is_exact_anywhere(a: LatLon, b: LatLon) -> None:
    assert nanometres_off(a, b) < 50


@settings(max_examples=examples(200))
@given(PLACES, OFFSETS, OFFSETS)
@example(LatLon(89.99999, 179.9999), 1e-6, 1e-3)
@example(LatLon(0.0, 180.0), 0.0, 1e-7)
def test_great_circle_is_exact_next_door(a: LatLon, dlat: float, dlon: float) -> None:
    b = nearby(a, dlat, dlon)
    # One unit in the last place of a longitude of 180 degrees is 3 nanometres on the ground.
    assert nanometres_off(a, b) < 4 + 1e-12 * (distance_km(a, b) * 1e12)


@settings(max_examples=examples(200))
@given(PLACES, OFFSETS, OFFSETS)
@example(LatLon(0.0, 0.0), 0.0, 0.0)
@example(LatLon(90.0, 12.0), 0.0, 0.0)
def test_great_circle_is_exact_on_the_far_side(a: LatLon, dlat: float, dlon: float) -> None:
    assert nanometres_off(a, nearby(opposite(a), dlat, dlon)) < 12


@given(PLACES, PLACES, PLACES)
def test_great_circle_is_a_metric(a: LatLon, b: LatLon, c: LatLon) -> None:
    assert distance_km(a, a) == 0
    assert distance_km(a, b) == distance_km(b, a)
    assert distance_km(a, c) <= distance_km(a, b) + distance_km(b, c) + 1e-9
    assert 0 <= distance_km(a, b) <= math.pi * EARTH_RADIUS_KM + 1e-9


@pytest.mark.parametrize(
    ("a", "b", "expected_km"),
    [
        (LatLon(0, 180), LatLon(0, -180), 0),
        (LatLon(90, 0), LatLon(90, 77), 0),
        (LatLon(-90, -180), LatLon(-90, 3), 0),
        (LatLon(0, 179), LatLon(0, -179), EARTH_RADIUS_KM * math.radians(2)),
        (LatLon(90, 0), LatLon(-90, 50), EARTH_RADIUS_KM * math.pi),
        (LatLon(89, 0), LatLon(89, 180), EARTH_RADIUS_KM * math.radians(2)),
    ],
)
def test_great_circle_at_the_seams(a: LatLon, b: LatLon, expected_km: float) -> None:
    assert distance_km(a, b) == pytest.approx(expected_km, rel=1e-14, abs=1e-12)


@settings(max_examples=examples(200))
@given(PLACES, PLACES)
@example(LatLon(0, 0), LatLon(0, 180))
@example(LatLon(0, 0), LatLon(0.5, 179.7))
@example(LatLon(-30, 0), LatLon(29.9, 179.8))
@example(LatLon(90, 0), LatLon(-90, 0))
@example(LatLon(10, 180), LatLon(10, -180))
def test_geodesic_agrees_with_geographiclib(a: LatLon, b: LatLon) -> None:
    oracle = Geodesic.WGS84.Inverse(a.lat, a.lon, b.lat, b.lon)
    assert distance_km(a, b, "geodesic") == pytest.approx(oracle["s12"] / 1000, abs=1e-10)


@settings(max_examples=examples(100))
@given(PLACES, OFFSETS, OFFSETS)
def test_geodesic_agrees_with_geographiclib_on_the_far_side(a: LatLon, dlat: float, dlon: float) -> None:
    b = nearby(opposite(a), dlat, dlon)
    oracle = Geodesic.WGS84.Inverse(a.lat, a.lon, b.lat, b.lon)
    assert distance_km(a, b, "geodesic") == pytest.approx(oracle["s12"] / 1000, abs=1e-10)


def test_numbers_give_a_float_and_arrays_an_array() -> None:
    for function in (great_circle_km, geodesic_km):
        assert type(function(1.0, 2.0, 3.0, 4.0)) is float
        assert function(np.array([1.0]), 2.0, 3.0, 4.0).shape == (1,)


def test_large_and_broadcast_jobs_match_pair_by_pair() -> None:
    rng = np.random.default_rng(7)
    lats, lons = rng.uniform(-90, 90, 300), rng.uniform(-180, 180, 300)
    table = great_circle_km(lats[:, None], lons[:, None], lats, lons)
    assert table.shape == (300, 300)
    for i, j in rng.integers(0, 300, (50, 2)):
        pair = great_circle_km(float(lats[i]), float(lons[i]), float(lats[j]), float(lons[j]))
        assert table[i, j] == pytest.approx(pair, rel=1e-14)
    flat = great_circle_km(np.repeat(lats, 300), np.repeat(lons, 300), np.tile(lats, 300), np.tile(lons, 300))
    np.testing.assert_allclose(flat.reshape(300, 300), table, rtol=1e-14)
    cube = great_circle_km(lats[:, None, None], lons[:, None, None], lats[:40, None], lons[None, :40])
    assert cube.shape == (300, 40, 40)
    assert cube[7, 3, 5] == pytest.approx(great_circle_km(lats[7], lons[7], lats[3], lons[5]), rel=1e-14)


@pytest.mark.parametrize("function", [great_circle_km, geodesic_km, bearings_deg])
@pytest.mark.parametrize(("bad", "position"), [(math.nan, 0), (math.inf, 1), (-math.inf, 2), (math.nan, 3)])
def test_missing_coordinates_give_nan(function: object, bad: float, position: int) -> None:
    coordinates = [10.0, 20.0, 30.0, 40.0]
    coordinates[position] = bad
    assert callable(function)
    assert np.isnan(function(*coordinates))
    spoilt = [np.array([coordinate, 1.0]) for coordinate in coordinates]
    np.testing.assert_array_equal(np.isnan(function(*spoilt)), [True, False])


COURSES = st.floats(0, 360, exclude_max=True)


@given(PLACES, COURSES, st.floats(0, math.pi * EARTH_RADIUS_KM))
def test_a_course_leads_as_far_as_it_says(start: LatLon, course: float, length_km: float) -> None:
    assert distance_km(start, destination(start, course, length_km)) == pytest.approx(length_km, abs=1e-8)


@given(st.builds(LatLon, st.floats(-89.9, 89.9), LONS), COURSES, st.floats(1e-3, 19_900))
def test_the_bearing_of_a_destination_is_its_course(start: LatLon, course: float, length_km: float) -> None:
    off = abs(bearing_deg(start, destination(start, course, length_km)) - course)
    # A nanometre across the line of sight, seen from the nearer end.
    assert min(off, 360 - off) < 1e-7 + math.degrees(1e-11 / min(length_km, 20_015 - length_km))


@settings(max_examples=examples(200))
@given(PLACES, PLACES)
def test_geodesic_bearings_agree_with_geographiclib(a: LatLon, b: LatLon) -> None:
    oracle = Geodesic.WGS84.Inverse(a.lat, a.lon, b.lat, b.lon)
    if not 1 < oracle["s12"] < 19_900_000:
        return  # next to a place, and near its opposite, the course is not well defined
    off = abs(bearing_deg(a, b, "geodesic") - oracle["azi1"]) % 360
    assert min(off, 360 - off) < 1e-6


@settings(max_examples=examples(200))
@given(PLACES, COURSES, st.floats(0, 20_000))
def test_geodesic_destinations_agree_with_geographiclib(start: LatLon, course: float, length_km: float) -> None:
    oracle = Geodesic.WGS84.Direct(start.lat, start.lon, course, length_km * 1000)
    reached = destination(start, course, length_km, "geodesic")
    assert distance_km(reached, LatLon(oracle["lat2"], oracle["lon2"])) < 1e-8


def test_compass_points_and_seams() -> None:
    assert bearing_deg(LatLon(0, 0), LatLon(1, 0)) == 0
    assert bearing_deg(LatLon(0, 179), LatLon(0, -179)) == pytest.approx(90)
    assert bearing_deg(LatLon(0, -179), LatLon(0, 179)) == pytest.approx(270)
    assert bearing_deg(LatLon(10, 20), LatLon(-10, 20)) == pytest.approx(180)
    assert bearing_deg(LatLon(90, 0), LatLon(0, 30)) == pytest.approx(150)
    for method in ("great-circle", "geodesic"):
        assert bearings_deg(5.0, 5.0, 5.0, 5.0, method) == 0
        assert bearings_deg(5.0, 180.0, 5.0, -180.0, method) == 0
        assert bearings_deg(POLES, 10.0, POLES, 130.0, method).tolist() == [0, 0]
    over_the_pole = destination(LatLon(89, 10), 0, EARTH_RADIUS_KM * math.radians(2))
    assert distance_km(over_the_pole, LatLon(89, -170)) < 1e-9
