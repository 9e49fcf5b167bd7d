"""Rain and snow are seen and leave what is written legible; fog hides what is far."""

import random

import numpy as np
import pytest

from geosleuth.lab.scenes.drawing.furniture import draw_person, pole_line
from geosleuth.lab.scenes.drawing.sky import draw_air, draw_weather
from nature import Weather, empty_street, light_with, sky_with


@pytest.mark.parametrize("weather", ["rain", "snow"])
def test_what_falls_is_seen_but_thin(weather: Weather) -> None:
    canvas = empty_street()
    draw_weather(canvas.pixels, sky_with(weather=weather), light_with(weather=weather), random.Random("w"))
    changed = np.abs(canvas.pixels.astype(int) - 150).max(axis=2) > 3
    assert 0.002 < changed.mean() < 0.06


@pytest.mark.parametrize("weather", ["clear", "cloudy", "overcast", "fog"])
def test_nothing_falls_otherwise(weather: Weather) -> None:
    canvas = empty_street()
    draw_weather(canvas.pixels, sky_with(weather=weather), light_with(weather=weather), random.Random("w"))
    assert (canvas.pixels == 150).all()


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


@pytest.mark.parametrize("x_m", [-6.0, 6.0])
def test_wires_run_over_the_side_where_the_poles_stand(x_m: float) -> None:
    canvas = empty_street()
    line = pole_line(x_m, random.Random("poles"))
    light = light_with()
    things = line.things(canvas, "wood", light, wires=True)
    for _, draw in sorted(things, key=lambda thing: -thing[0]):
        draw()
    columns = np.nonzero((canvas.pixels[:380] != 150).any(axis=2))[1]
    assert (np.median(columns) > 512) == (x_m > 0)
    bare = empty_street()
    for _, draw in line.things(bare, "wood", light, wires=False):
        draw()
    assert (bare.pixels != 150).any(axis=2).sum() < len(columns) * 3
    assert len(line.things(bare, "wood", light, wires=False)) < len(things)


def test_people_are_as_tall_as_they_should_be() -> None:
    canvas = empty_street()
    box = draw_person(canvas, (1.0, 8.0), light_with(), random.Random("p"))
    assert box is not None
    assert 1.45 < (box[3] - box[1]) / canvas.view.pixels_per_metre((1.0, 8.0, 0.0)) < 1.85
