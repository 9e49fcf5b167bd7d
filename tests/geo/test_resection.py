"""Resection: cameras put somewhere, what they see worked out with true bearings, and the place found again."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.geo import (
    ColumnSighting,
    Disc,
    FieldOfView,
    LatLon,
    Unsolvable,
    bearing_deg,
    check_position,
    compute_column,
    destination,
    distance_km,
    fov_of_focal_length,
    resect,
)

FOV = 70.0
HARBOUR = LatLon(43.7370, 7.4300)
# Offset from the middle of the picture in degrees, and distance in km: near and far, left and right.
SCENE = ((-30.0, 0.15), (-8.0, 0.6), (12.0, 0.25), (30.0, 0.9), (-20.0, 0.4), (22.0, 0.2))


def seen(
    camera: LatLon,
    heading_deg: float,
    scene: Sequence[tuple[float, float]],
    fov_deg: float = FOV,
    off_deg: Sequence[float] = (),
    noise_deg: float = 0.2,
) -> list[ColumnSighting]:
    """What a camera sees of features at these offsets and distances, marked so many degrees off."""
    marked = off_deg or (0.0,) * len(scene)
    return [
        ColumnSighting(
            destination(camera, (heading_deg + offset) % 360, away_km, "geodesic"),
            compute_column(offset + off, fov_deg),
            noise_deg,
        )
        for (offset, away_km), off in zip(scene, marked, strict=True)
    ]


def metres(a: LatLon, b: LatLon) -> float:
    return 1000 * distance_km(a, b, "geodesic")


@settings(max_examples=examples(60, usually=10), deadline=None)
@given(st.floats(-80, 80), st.floats(-180, 180), st.floats(0, 360), st.floats(0.2, 40))
def test_three_exact_columns_lead_back_to_the_camera_anywhere(
    lat: float, lon: float, heading: float, scale: float
) -> None:
    camera = LatLon(lat, lon)
    scene = [(offset, scale * away) for offset, away in SCENE[:3]]
    found = resect(seen(camera, heading, scene), FieldOfView(FOV))
    best = found.poses[0]
    # The plane turns bearings by less than 0.01 degrees; that moves a place by a few parts in ten thousand.
    assert metres(best.point, camera) < 2 * scale
    assert abs((best.heading_deg - heading + 180) % 360 - 180) < 0.05
    assert found.kind == "fix"
    assert found.fits
    assert found.area.contains(camera)
    assert max(map(abs, best.residuals_deg)) < 0.02


@pytest.mark.parametrize("fov_deg", [35.0, 60.0, 100.0])
def test_four_columns_give_the_field_of_view_too(fov_deg: float) -> None:
    scene = [(offset * fov_deg / FOV, away) for offset, away in SCENE[:4]]
    found = resect(seen(HARBOUR, 229, scene, fov_deg, noise_deg=0.1))
    assert metres(found.poses[0].point, HARBOUR) < 1
    assert found.poses[0].fov_deg == pytest.approx(fov_deg, abs=0.1)
    assert found.poses[0].fov_sd_deg is not None
    assert 0 < found.poses[0].fov_sd_deg < 10


def test_two_features_leave_the_arc_from_which_they_stand_so_far_apart() -> None:
    sightings = seen(HARBOUR, 229, SCENE[:2])
    found = resect(sightings, FieldOfView(FOV))
    assert found.kind == "curve"
    assert found.area.contains(HARBOUR)
    assert found.radius_km > 0.2
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        spot = destination(HARBOUR, rng.uniform(0, 360), rng.uniform(0, 0.6), "geodesic")
        left, right = (bearing_deg(spot, one.point, "geodesic") for one in sightings)
        apart = (right - left + 180) % 360 - 180
        if found.area.contains(spot):
            inside += 1
            assert apart == pytest.approx(22, abs=1.0)
        else:
            # 22 degrees within 1.645 standard deviations of a difference, each column having 0.2
            assert abs(apart - 22) > 0.3
    assert inside > 3


def test_the_side_from_which_the_features_appear_in_that_order() -> None:
    sightings = seen(HARBOUR, 229, SCENE[:2])
    mirrored = [ColumnSighting(one.point, 1 - one.column, one.noise_deg) for one in sightings]
    assert not resect(mirrored, FieldOfView(FOV)).area.contains(HARBOUR)


def test_an_area_keeps_the_camera_inside() -> None:
    within = Disc(destination(HARBOUR, 45, 0.1), 0.15)
    whole = resect(seen(HARBOUR, 229, SCENE[:2]), FieldOfView(FOV))
    found = resect(seen(HARBOUR, 229, SCENE[:2]), FieldOfView(FOV), within)
    assert found.area.contains(HARBOUR)
    assert found.area_km2 < 0.5 * whole.area_km2
    assert within.contains(found.poses[0].point)
    with pytest.raises(Unsolvable, match="km from the features"):
        resect(seen(HARBOUR, 229, SCENE[:2]), FieldOfView(FOV), Disc(LatLon(10, 10), 5))


def test_the_danger_circle_is_told_and_the_area_is_long() -> None:
    # All on one circle of 300 m radius with the camera: an offset from its diameter fixes the distance.
    circle = [(offset, 0.6 * math.cos(math.radians(offset))) for offset in (-30, 2, 30)]
    on_it = resect(seen(HARBOUR, 229, circle, noise_deg=1), FieldOfView(FOV))
    off_it = resect(seen(HARBOUR, 229, [circle[0], (2, 0.2), circle[2]], noise_deg=1), FieldOfView(FOV))
    assert on_it.danger_circle
    assert not off_it.danger_circle
    assert on_it.radius_km > 5 * off_it.radius_km
    assert on_it.area.contains(HARBOUR)


@pytest.mark.parametrize("wrong", [0, 3, 5])
def test_one_wrong_feature_of_six_is_named_and_left_out(wrong: int) -> None:
    inwards = -14.0 if SCENE[wrong][0] > 0 else 14.0
    off = [inwards if number == wrong else 0.2 * (-1) ** number for number in range(6)]
    found = resect(seen(HARBOUR, 229, SCENE, off_deg=off, noise_deg=0.3), FieldOfView(FOV))
    assert found.misfits == (wrong,)
    assert found.fits
    assert metres(found.poses[0].point, HARBOUR) < 30
    assert found.poses[0].residuals_deg[wrong] == pytest.approx(-inwards, abs=2)
    assert found.area.contains(HARBOUR)


def test_a_wrong_feature_is_named_in_a_small_area_too() -> None:
    off = [0.2, 14, -0.2, 0.2, -0.2, 0.2]
    sightings = seen(HARBOUR, 229, SCENE, off_deg=off, noise_deg=0.3)
    found = resect(sightings, FieldOfView(FOV), Disc(destination(HARBOUR, 120, 0.03), 0.06))
    assert found.misfits == (1,)
    assert found.area.contains(HARBOUR)


def test_of_five_it_is_among_those_that_may_be_wrong_and_the_area_covers_them_all() -> None:
    found = resect(seen(HARBOUR, 229, SCENE[:5], off_deg=[9, 0.3, -0.3, 0.3, -0.3], noise_deg=0.5), FieldOfView(FOV))
    assert 0 in found.misfits
    assert len(found.misfits) < 5
    assert found.area.contains(HARBOUR)


def test_four_that_do_not_fit_are_told_without_a_culprit() -> None:
    found = resect(seen(HARBOUR, 229, SCENE[:4], off_deg=[0, 15, 0, 0], noise_deg=0.5), FieldOfView(FOV))
    assert found.misfits == ()
    assert not found.fits


def test_three_that_fit_nowhere_are_told() -> None:
    """Two features at one spot can't stand in columns 60 degrees apart."""
    first, second, third = seen(HARBOUR, 229, SCENE[:3])
    beside = replace(first, point=second.point)
    assert not resect([beside, second, third], FieldOfView(FOV)).fits
    assert resect([first, second, third], FieldOfView(FOV)).fits


@pytest.mark.slow
def test_the_area_holds_the_true_place_nine_times_in_ten() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(40):
        scene = list(zip(rng.uniform(-33, 33, 3), rng.uniform(0.05, 0.4, 3), strict=True))
        off = rng.normal(0, 1, 3).tolist()
        sightings = seen(HARBOUR, rng.uniform(0, 360), scene, off_deg=off, noise_deg=1)
        held += resect(sightings, FieldOfView(FOV)).area.contains(HARBOUR)
    # Of forty, 36 are expected.
    assert 32 <= held <= 39


def test_a_field_of_view_that_may_be_off_widens_the_area() -> None:
    sightings = seen(HARBOUR, 229, SCENE[:3])
    sure, unsure = (resect(sightings, FieldOfView(FOV, sd)) for sd in (0.0, 3.0))
    assert unsure.area_km2 > 1.5 * sure.area_km2
    assert unsure.area.contains(HARBOUR)


def test_a_claimed_place_is_checked() -> None:
    sightings = seen(HARBOUR, 229, SCENE[:4], noise_deg=1)
    right = check_position(sightings, HARBOUR, FieldOfView(FOV))
    assert right.fits
    assert right.probability == pytest.approx(1, abs=0.01)
    assert right.heading_deg == pytest.approx(229, abs=0.1)
    wrong = check_position(sightings, destination(HARBOUR, 100, 0.3), FieldOfView(FOV))
    assert not wrong.fits
    assert wrong.probability is not None
    assert wrong.probability < 0.001
    # One column turns with the heading: it contradicts nothing.
    assert check_position(sightings[:1], LatLon(43.8, 7.5), FieldOfView(FOV)).probability is None


def test_what_gives_no_place_is_refused() -> None:
    two = seen(HARBOUR, 229, SCENE[:2])
    with pytest.raises(Unsolvable, match="three where the field of view is not known"):
        resect(two)
    with pytest.raises(Unsolvable, match="two features"):
        resect(two[:1], FieldOfView(FOV))
    with pytest.raises(Unsolvable, match="Check which places"):
        resect([two[0], ColumnSighting(LatLon(48, 2), 0.5), two[1]], FieldOfView(FOV))
    for column in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="column"):
            ColumnSighting(HARBOUR, column)
    with pytest.raises(ValueError, match="field of view"):
        FieldOfView(170)


def test_focal_lengths_and_columns() -> None:
    landscape, portrait = fov_of_focal_length(26, 6000, 4000), fov_of_focal_length(26, 4000, 6000)
    assert landscape is not None
    assert portrait is not None
    assert landscape.deg == pytest.approx(2 * math.degrees(math.atan(18 / 26)))
    assert portrait.deg == pytest.approx(2 * math.degrees(math.atan(12 / 26)))
    assert fov_of_focal_length(4000, 6000, 4000) is None
    assert [compute_column(offset, 90) for offset in (-45, 0, 45)] == pytest.approx([0, 0.5, 1])
