"""Shadows point away from the sun, are long when it is low, and don't fall without it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.scenes.drawing.picture import Shadows
from nature import Weather, empty_street, light_with


@given(aside=st.floats(-180, 180), elevation=st.floats(2, 85))
def test_shadows_point_away_from_the_sun(aside: float, elevation: float) -> None:
    x, y = Shadows(light_with(aside, elevation)).away
    length = math.hypot(x, y)
    assert (x / length, y / length) == pytest.approx(
        (-math.sin(math.radians(aside)), -math.cos(math.radians(aside))), abs=1e-6
    )
    assert length == pytest.approx(min(9.0, 1 / math.tan(math.radians(elevation))), rel=1e-6)


@pytest.mark.parametrize("aside", [-90, 90])
def test_the_ground_is_darker_on_the_side_away_from_the_sun(aside: int) -> None:
    canvas = empty_street()
    shadows = Shadows(light_with(aside, 35))
    shadows.post((0.0, 8.0), 3.0, 0.5)
    shadows.fall(canvas)
    left, right = canvas.pixels[:, :500].min(), canvas.pixels[:, 524:].min()
    assert (left < 120 < right) if aside > 0 else (right < 120 < left)


def test_shadows_of_a_low_sun_are_longer() -> None:
    def darkened(elevation: float) -> int:
        canvas = empty_street()
        shadows = Shadows(light_with(90, elevation))
        shadows.plant((9.0, 24.0), "broadleaf", 3.0)
        shadows.fall(canvas)
        return int((canvas.pixels[..., 0] < 140).sum())

    assert darkened(60) < darkened(30) < darkened(15)


@pytest.mark.parametrize(("weather", "elevation"), [("overcast", 40), ("fog", 40), ("rain", 40), ("clear", -5)])
def test_nothing_casts_a_shadow_without_sun(weather: Weather, elevation: float) -> None:
    canvas = empty_street()
    before = canvas.pixels.copy()
    shadows = Shadows(light_with(90, elevation, weather))
    shadows.block(-3, 3, 6, 12, 5)
    shadows.fall(canvas)
    assert np.array_equal(canvas.pixels, before)


def test_two_shadows_on_the_same_ground_are_no_darker_than_one() -> None:
    def darkest(times: int) -> int:
        canvas = empty_street()
        shadows = Shadows(light_with(90, 35))
        for _ in range(times):
            shadows.block(2, 6, 8, 14, 4)
        shadows.fall(canvas)
        return int(canvas.pixels.min())

    assert darkest(1) == darkest(3) < 120


def test_a_house_next_to_the_camera_is_no_trouble() -> None:
    canvas = empty_street()
    shadows = Shadows(light_with(-170, 3))
    shadows.block(-30, 30, -40, 200, 12)
    shadows.fall(canvas)
    assert canvas.pixels[-40:].max() < 130
