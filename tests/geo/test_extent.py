import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.geo import (
    EARTH_RADIUS_KM,
    Box,
    Disc,
    Extent,
    FloatArray,
    LatLon,
    destinations,
    distance_km,
    extent_distance_km,
    great_circle_km,
)

KM_PER_DEG = EARTH_RADIUS_KM * math.radians(1)
HALF_ROUND_KM = EARTH_RADIUS_KM * math.pi

# Nine decimals are a tenth of a millimetre: finer than any map, coarse enough for a square not to vanish.
LAT = st.one_of(st.floats(-90, 90).map(lambda x: round(x, 9)), st.sampled_from([-90.0, 0.0, 90.0]))
LON = st.one_of(st.floats(-180, 180).map(lambda x: round(x, 9)), st.sampled_from([-180.0, 0.0, 180.0]))


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    south, north = sorted((draw(LAT), draw(LAT)))
    return Box(south, draw(LON), north, draw(LON))


DISCS = st.builds(Disc, st.builds(LatLon, LAT, LON), st.floats(0, 5000))
EXTENTS = st.one_of(boxes(), DISCS)
WORLD = Box(-90, -180, 90, 180)


def samples(extent: Extent, n: int = 150) -> tuple[FloatArray, FloatArray]:
    """Places all along the edge, and a few inside so that one extent within another is seen to meet it."""
    steps = np.linspace(0, 1, n)
    if isinstance(extent, Disc):
        courses, reach = np.meshgrid(360 * steps, [1.0, 0.5, 0.0])
        return destinations(extent.centre.lat, extent.centre.lon, courses.ravel(), extent.radius_km * reach.ravel())
    lat = extent.south + (extent.north - extent.south) * steps
    lon = extent.west + extent.width_deg * steps
    zeros = np.zeros(n)
    lats = np.concatenate([lat, lat, zeros + extent.south, zeros + extent.north, [extent.centre.lat]])
    lons = np.concatenate([zeros + lon[0], zeros + lon[-1], lon, lon, [extent.centre.lon]])
    return lats, lons


def spacing_km(extent: Extent, n: int = 150) -> float:
    if isinstance(extent, Disc):
        return 2 * math.pi * extent.radius_km / n
    return max(extent.width_deg, extent.north - extent.south) * KM_PER_DEG / (n - 1)


def brute_force_km(a: Extent, b: Extent) -> float:
    lats_a, lons_a = samples(a)
    lats_b, lons_b = samples(b)
    return float(great_circle_km(lats_a[:, None], lons_a[:, None], lats_b, lons_b).min())


@settings(max_examples=examples(150), deadline=None)
@given(EXTENTS, EXTENTS)
@example(Box(40, 0, 60, 10), Box(40, 60, 60, 70))
@example(Box(-60, 0, -40, 10), Box(40, 100, 60, 110))
@example(Box(10, 170, 20, -170), Box(-20, 100, 5, 120))
@example(Box(70, 0, 90, 10), Box(60, 120, 80, 190 - 360))
@example(Box(50, 0, 70, 1), Box(50, 150, 70, 160))
@example(Box(20, 0, 20, 0), Box(-10, 80, 85, 81))
@example(Box(-5, 0, 5, 0), Box(-5, 180, 5, 180))
@example(Disc(LatLon(80, 0), 300), Box(60, 100, 85, 140))
def test_nothing_sampled_is_nearer_and_something_is_as_near(a: Extent, b: Extent) -> None:
    exact, sampled = extent_distance_km(a, b), brute_force_km(a, b)
    assert exact <= sampled + 1e-6
    if exact > 0:
        assert sampled <= exact + spacing_km(a) + spacing_km(b) + 1e-6


@given(EXTENTS, EXTENTS)
def test_distance_is_symmetric_and_within_the_globe(a: Extent, b: Extent) -> None:
    there, back = extent_distance_km(a, b), extent_distance_km(b, a)
    assert there == pytest.approx(back, abs=1e-9)
    assert 0 <= there <= HALF_ROUND_KM
    assert a.distance_km(b) == there
    assert a.distance_km(a) == 0


@given(EXTENTS, LAT, LON)
def test_a_point_is_inside_exactly_when_it_is_no_distance_away(extent: Extent, lat: float, lon: float) -> None:
    point = LatLon(lat, lon)
    away = extent_distance_km(extent, Disc(point, 0))
    if extent.contains(point):
        assert away < 1e-9
    else:
        assert away > 0 or isinstance(extent, Disc)
    assert WORLD.contains(point)
    assert extent_distance_km(WORLD, extent) == 0


@pytest.mark.parametrize(
    ("a", "b", "expected_km"),
    [
        (Box(0, 0, 10, 10), Box(20, 5, 30, 15), 10 * KM_PER_DEG),
        (Box(0, 0, 10, 10), Box(10, 10, 20, 20), 0),
        (Box(0, 170, 10, 180), Box(0, -180, 10, -170), 0),
        (Box(0, 170, 10, -170), Box(5, 175, 6, 176), 0),
        (Box(-10, 0, 10, 10), Box(-10, 20, 10, 30), distance_km(LatLon(10, 10), LatLon(10, 20))),
        (Box(80, 0, 90, 10), Box(80, 100, 90, 110), 0),
        (Box(80, 0, 90, 10), Box(-90, 100, 70, 110), 20 * KM_PER_DEG),
        (Box(60, -180, 90, 180), Box(-90, -180, -60, 180), 120 * KM_PER_DEG),
        (Disc(LatLon(0, 179.5), 20), Disc(LatLon(0, -179.5), 30), KM_PER_DEG - 50),
        (Disc(LatLon(0, 0), 100), Disc(LatLon(0, 1), 100), 0),
    ],
)
def test_distances_one_can_work_out_by_hand(a: Extent, b: Extent, expected_km: float) -> None:
    assert extent_distance_km(a, b) == pytest.approx(expected_km, abs=1e-9)


def test_the_way_between_boxes_may_end_inside_an_edge() -> None:
    corner_to_corner = min(distance_km(LatLon(20, 0), LatLon(lat, 80)) for lat in (-10, 85))
    assert extent_distance_km(Box(20, 0, 20, 0), Box(-10, 80, 85, 81)) < corner_to_corner - 100


@pytest.mark.parametrize(
    ("box", "centre"),
    [
        (Box(0, 170, 10, -170), LatLon(5, 180)),
        (Box(0, 170, 10, -160), LatLon(5, -175)),
        (Box(60, -180, 90, 180), LatLon(90, 0)),
        (Box(-90, -180, -60, 180), LatLon(-90, 0)),
        (WORLD, LatLon(0, 0)),
        (Box(0, 180, 10, -180), LatLon(5, 180)),
    ],
)
def test_centres_of_boxes(box: Box, centre: LatLon) -> None:
    assert box.centre == centre


def test_both_names_of_the_antimeridian_and_the_pole_are_inside() -> None:
    assert Box(0, 170, 10, 180).contains(LatLon(5, -180))
    assert Box(0, -180, 10, -170).contains(LatLon(5, 180))
    assert Box(80, 0, 90, 10).contains(LatLon(90, -77))
    assert not Box(80, 0, 89, 10).contains(LatLon(89, -77))


@pytest.mark.parametrize("corners", [(10, 0, 5, 10), (0, 0, 91, 10), (0, -181, 5, 0), (math.nan, 0, 5, 0)])
def test_impossible_boxes_are_refused(corners: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        Box(*corners)
