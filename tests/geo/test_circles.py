import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.geo import (
    MAX_DISTANCE_KM,
    ROAD_FACTOR,
    LatLon,
    Range,
    bearing_deg,
    destination,
    distance_km,
    pair_conflict,
    range_fixes,
)

SEOUL, PYONGYANG = LatLon(37.566, 126.9784), LatLon(39.03385, 125.75432)
PLACES = st.builds(LatLon, st.floats(-85, 85), st.floats(-180, 180))
COURSES = st.floats(0, 360)


def ranges_to(truth: LatLon, *centres: LatLon, factors: tuple[float, ...] = ()) -> list[Range]:
    """What a sign at the truth would say, each straight line stretched by a factor."""
    stretched = factors or (1.0,) * len(centres)
    return [
        Range(centre, factor * distance_km(truth, centre, "geodesic"))
        for centre, factor in zip(centres, stretched, strict=True)
    ]


@pytest.mark.slow
@settings(max_examples=examples(40, usually=8))
@given(PLACES, COURSES, COURSES, st.floats(20, 3000), st.floats(20, 3000))
def test_two_straight_distances_lead_back_to_the_place(
    truth: LatLon, first: float, second: float, near_km: float, far_km: float
) -> None:
    assume(15 < abs((first - second + 180) % 360 - 180) < 165)
    centres = destination(truth, first, near_km), destination(truth, second, far_km)
    found = range_fixes(
        [Range(one.centre, one.distance_km, tolerance_km=0.5) for one in ranges_to(truth, *centres)], along="straight"
    )
    assert found.conflict == 0
    assert 1 <= len(found.fixes) <= 2
    assert min(distance_km(truth, fix.point) for fix in found.fixes) < 0.01
    assert all(fix.residuals_km == (0.0, 0.0) for fix in found.fixes)
    assert sum(fix.share for fix in found.fixes) == pytest.approx(1)


def test_a_far_town_says_nothing_about_the_side_of_a_near_one() -> None:
    near, far = destination(SEOUL, 80, 20), destination(SEOUL, 0, 900)
    found = range_fixes(ranges_to(SEOUL, near, far), along="straight")
    # Three percent of 900 km is more than the 20 km to the near town.
    assert [fix.is_ring for fix in found.fixes] == [True]
    assert found.fixes[0].point == near


@settings(max_examples=examples(25))
@given(PLACES, COURSES, st.integers(0, 1000))
def test_three_noisy_distances_meet_near_the_place(truth: LatLon, course: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = [destination(truth, course + 120 * n, float(rng.uniform(50, 400))) for n in range(3)]
    ranges = [
        Range(centre, distance_km(truth, centre, "geodesic") + float(rng.normal(0, 1)), tolerance_km=4)
        for centre in centres
    ]
    best = range_fixes(ranges, along="straight").fixes[0]
    assert distance_km(truth, best.point) < 6
    away = [distance_km(best.point, centre, "geodesic") for centre in centres]
    assert best.distances_km == pytest.approx(away, abs=1e-6)


@settings(max_examples=examples(25))
@given(PLACES, COURSES, st.integers(0, 1000), st.integers(2, 4))
def test_road_distances_cover_the_place_whatever_the_roads_do(
    truth: LatLon, course: float, seed: int, towns: int
) -> None:
    rng = np.random.default_rng(seed)
    centres = [destination(truth, course + 80 * n, float(rng.uniform(10, 500))) for n in range(towns)]
    factors = tuple(rng.uniform(1, ROAD_FACTOR, towns).tolist())
    found = range_fixes(ranges_to(truth, *centres, factors=factors))
    assert found.conflict == 0
    assert any(distance_km(truth, fix.point) <= fix.radius_km for fix in found.fixes)
    assert all(fix.residuals_km == (0.0,) * towns for fix in found.fixes)


def test_a_third_town_narrows_it_down() -> None:
    truth, towns = LatLon(47.32, 5.04), (LatLon(48.85, 2.35), LatLon(45.75, 4.85), LatLon(48.58, 7.75))
    ranges = ranges_to(truth, *towns, factors=(1.2, 1.1, 1.25))
    two, three = range_fixes(ranges[:2]).fixes, range_fixes(ranges).fixes
    assert sum(fix.radius_km for fix in three) < sum(fix.radius_km for fix in two)


def test_a_sign_between_seoul_and_pyongyang_stands_at_the_border() -> None:
    found = range_fixes([Range(SEOUL, 56), Range(PYONGYANG, 205)])
    dorasan = LatLon(37.899, 126.710)
    assert len(found.fixes) == 1
    assert distance_km(found.fixes[0].point, dorasan) < 25
    assert distance_km(found.fixes[0].point, dorasan) <= found.fixes[0].radius_km


def test_rings_that_miss_each_other_give_the_nearest_compromise() -> None:
    between = distance_km(SEOUL, PYONGYANG, "geodesic")
    ranges = [Range(SEOUL, 60, tolerance_km=0), Range(PYONGYANG, 100, tolerance_km=0)]
    found = range_fixes(ranges, along="straight")
    assert found.conflict == pytest.approx((between - 160) / 160, rel=1e-3)
    assert not found.absurd
    fix = found.fixes[0]
    # On the line between the two, and too far from both.
    assert sum(fix.distances_km) == pytest.approx(between, abs=0.1)
    assert all(residual > 0 for residual in fix.residuals_km)
    assert sum(fix.residuals_km) == pytest.approx(between - 160, abs=0.1)


def test_three_rings_that_meet_pair_by_pair_but_not_all_are_settled_too() -> None:
    centre = LatLon(50, 10)
    towns = [destination(centre, course, 100) for course in (0, 120, 240)]
    found = range_fixes([Range(town, 90, tolerance_km=0) for town in towns], along="straight")
    assert found.conflict == pytest.approx(10 / 90, rel=0.02)
    assert distance_km(found.fixes[0].point, centre) < 1
    assert found.fixes[0].residuals_km == pytest.approx([10, 10, 10], abs=0.3)


def test_distances_that_can_not_belong_together_give_no_fix() -> None:
    found = range_fixes([Range(SEOUL, 40), Range(LatLon(48.85, 2.35), 100)])
    assert found.absurd
    assert found.fixes == ()
    assert found.conflict > 10


@pytest.mark.parametrize("along", ["road", "straight"])
def test_one_distance_is_a_ring_around_its_centre(along: str) -> None:
    found = range_fixes([Range(SEOUL, 100)], along="road" if along == "road" else "straight")
    assert [fix.is_ring for fix in found.fixes] == [True]
    assert found.fixes[0].point == SEOUL
    assert found.fixes[0].radius_km == pytest.approx(103, abs=6)
    assert found.fixes[0].residuals_km == (0.0,)


def test_the_same_town_twice_says_no_more_than_once() -> None:
    agree = range_fixes([Range(SEOUL, 100), Range(SEOUL, 101)], along="straight")
    assert agree.conflict == 0
    assert agree.fixes[0].is_ring
    disagree = range_fixes([Range(SEOUL, 10), Range(SEOUL, 100)], along="straight")
    assert disagree.absurd


def test_no_distance_at_all_is_the_town_itself() -> None:
    found = range_fixes([Range(SEOUL, 0), Range(PYONGYANG, distance_km(SEOUL, PYONGYANG))])
    assert distance_km(found.fixes[0].point, SEOUL) <= 1.01
    assert found.fixes[0].radius_km < 3
    alone = range_fixes([Range(SEOUL, 0)])
    assert distance_km(alone.fixes[0].point, SEOUL) <= 1.01


def test_the_far_side_of_the_earth_can_be_reached_and_no_farther() -> None:
    found = range_fixes([Range(LatLon(10, 20), 19_990)], along="straight")
    assert not found.absurd
    assert range_fixes([Range(LatLon(10, 20), 22_000)], along="straight").absurd
    assert range_fixes([Range(LatLon(10, 20), MAX_DISTANCE_KM * ROAD_FACTOR * 1.1)]).absurd


@pytest.mark.parametrize("centre", [LatLon(89.9, 0), LatLon(-89.9, 0), LatLon(0, 180), LatLon(52, -180)])
def test_poles_and_the_antimeridian_are_places_like_any_other(centre: LatLon) -> None:
    truth, other = destination(centre, 30, 80), destination(centre, 100, 150)
    found = range_fixes(ranges_to(truth, centre, other), along="straight")
    assert min(distance_km(truth, fix.point) for fix in found.fixes) < 0.01


def test_distances_without_any_tolerance_still_cross() -> None:
    truth = destination(SEOUL, 200, 300)
    exact = [Range(one.centre, one.distance_km, tolerance_km=0) for one in ranges_to(truth, SEOUL, PYONGYANG)]
    found = range_fixes(exact, along="straight")
    assert found.conflict == 0
    assert min(distance_km(truth, fix.point) for fix in found.fixes) < 0.01


def test_a_point_on_the_line_between_two_towns_is_no_conflict() -> None:
    middle = destination(SEOUL, bearing_deg(SEOUL, PYONGYANG), 80)
    first, second = ranges_to(middle, SEOUL, PYONGYANG)
    assert pair_conflict(first, second, along="straight") == 0


@pytest.mark.parametrize("distance", [-1.0, math.nan, math.inf])
def test_impossible_distances_are_refused(distance: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Range(SEOUL, distance)
    with pytest.raises(ValueError, match="finite"):
        Range(SEOUL, 10, tolerance_km=distance)
