"""Rain and snow are seen and leave what is written legible; fog hides what is far."""

import random

import numpy as np
import pytest

from geosleuth.lab.scenes.drawing.sky import draw_air, draw_weather
from nature import Weather, empty_street, light_with, sky_with


@pytest.mark.parametrize("weather", ["rain", "snow"])
def test_what_falls_is_seen_but_thin(weather: Weather) -> None:
    canvas = empty_street()
    draw_weather(canvas.pixels, sky_with(weather=weather), light_with(weather=weather), random.Random("w"))
    changed = np.abs(canvas.pixels.astype(int) - 150).max(axis=2) > 3
    assert 0.002 < changed.mean() < 0.06


def test_fog_hides_the_far_road_more_than_the_near_one() -> None:
    canvas = empty_street()
    canvas.pixels[:] = 60
    light = light_with(0, 40, "fog")
    draw_air(canvas, sky_with(0, 40, "fog"), light)
    far, near = int(canvas.pixels[392].mean()), int(canvas.pixels[-1].mean())
    assert near < 80
    assert far > 150
    clear = empty_street()
    draw_air(clear, sky_with(), light_with())
    assert (clear.pixels == 150).all()
