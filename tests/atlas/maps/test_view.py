"""Degrees to pixels and back to the ground that a picture shows."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.maps.canvas import MAX_LAT_DEG, MapView
from geosleuth.geo import Box, LatLon

centres = st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 180))
zooms = st.floats(0, 20)


@given(centres, zooms)
def test_the_centre_is_in_the_middle(centre: LatLon, zoom: float) -> None:
    x, y = MapView(centre, zoom, 640, 480).pixel(centre)
    assert (x, y) == pytest.approx((320, 240), abs=1e-3)


@given(centres, zooms)
def test_corners_of_the_extent_are_corners_of_the_picture(centre: LatLon, zoom: float) -> None:
    view = MapView(centre, zoom, 200, 200)
    box = view.box
    assert box.south <= box.north
    if abs(box.north) < MAX_LAT_DEG - 1e-9 and box.width_deg < 360:
        turns = {0, -1, 1}
        corners = [view.pixel(LatLon(box.north, box.west), turn) for turn in turns]
        assert any(math.dist(corner, (0, 0)) < 1e-2 for corner in corners)


@given(centres, zooms)
def test_strips_cover_the_view_and_do_not_cross_the_antimeridian(centre: LatLon, zoom: float) -> None:
    view = MapView(centre, zoom, 300, 300)
    strips = list(view.strips())
    width = sum(strip.east - strip.west for strip in strips)
    assert width == pytest.approx(300 * 360 / view.world_px, rel=1e-6)
    for strip in strips:
        assert isinstance(strip.box, Box)
        assert strip.west < strip.east
