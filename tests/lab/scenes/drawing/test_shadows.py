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


@pytest.mark.parametrize(("weather", "elevation"), [("overcast", 40), ("fog", 40), ("rain", 40), ("clear", -5)])
def test_nothing_casts_a_shadow_without_sun(weather: Weather, elevation: float) -> None:
    canvas = empty_street()
    before = canvas.pixels.copy()
    shadows = Shadows(light_with(90, elevation, weather))
    shadows.block(-3, 3, 6, 12, 5)
    shadows.fall(canvas)
    assert np.array_equal(canvas.pixels, before)
