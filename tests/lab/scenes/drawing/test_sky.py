"""The sky tells where the sun is, what the weather is like."""

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing.sky import SkyWindow, draw_sky, light_of
from geosleuth.lab.scenes.drawing.street import draw_ground, draw_terrain
from geosleuth.lab.scenes.scene import Ground, Sky, Terrain
from nature import CAMERA, Season, Weather, sky_with

WINDOW = SkyWindow((512, 384), 220, CAMERA.heading_deg, CAMERA.field_deg)
ALL_ROUND = SkyWindow((1024, 512), 256, CAMERA.heading_deg, 360, round=True)


def sky_of(sky: Sky, window: SkyWindow = WINDOW, seed: str = "a") -> NDArray[np.uint8]:
    pixels = np.zeros((window.size[1], window.size[0], 3), dtype=np.uint8)
    draw_sky(pixels, window, sky, light_of(sky, CAMERA), random.Random(seed))
    return pixels


def brightness(pixels: NDArray[np.uint8]) -> float:
    return float(pixels.mean())


@pytest.mark.parametrize("aside", [-90, 20, 150])
def test_the_suns_side_is_brighter(aside: int) -> None:
    shown = sky_of(sky_with(aside, 25))[:200]
    left, right = brightness(shown[:, :200]), brightness(shown[:, -200:])
    assert (right > left + 1) if aside > 0 else (left > right + 1)


@pytest.mark.parametrize("aside", [-25, 18])
def test_a_low_sun_is_seen_where_it_stands(aside: int) -> None:
    sky = sky_with(aside, 12)
    levels = sky_of(sky)[:200].sum(axis=2)
    row, column = np.unravel_index(int(levels.argmax()), levels.shape)
    x = WINDOW.x_of(sky.sun_azimuth_deg)
    assert x is not None
    assert abs(int(column) - x) < 12
    assert abs(int(row) - WINDOW.y_of(12)) < 12


def test_a_clear_sky_is_blue_and_an_overcast_one_grey() -> None:
    def blueness(weather: Weather) -> float:
        top = sky_of(sky_with(90, 45, weather))[:80].astype(int)
        return float((top[..., 2] - top[..., 0]).mean())

    assert blueness("clear") > 60
    assert blueness("overcast") < 25
    assert blueness("clear") > blueness("cloudy") > blueness("overcast")


def test_a_panorama_meets_itself() -> None:
    shown = sky_of(sky_with(100, 20, "cloudy"), ALL_ROUND)[:250].astype(int)
    seam = np.abs(shown[:, 0] - shown[:, -1]).mean()
    beside = np.abs(shown[:, 1:] - shown[:, :-1]).mean(axis=(0, 2))
    assert seam < 2 * beside.max() + 1


def test_the_same_seed_gives_the_same_sky_and_another_other_clouds() -> None:
    sky = sky_with(40, 30, "cloudy")
    assert sky_of(sky, seed="a").tobytes() == sky_of(sky, seed="a").tobytes()
    assert sky_of(sky, seed="a").tobytes() != sky_of(sky, seed="b").tobytes()


def landscape(terrain: Terrain, ground: Ground, season: Season = "summer") -> NDArray[np.uint8]:
    sky = sky_with(90, 40, season=season)
    light = light_of(sky, CAMERA)
    look = replace(street_scene().look, terrain=terrain, ground=ground)
    pixels = sky_of(sky)
    draw_ground(pixels, WINDOW, CAMERA.height_m, look, sky, light, random.Random("ground"))
    draw_terrain(pixels, WINDOW, look, sky, light, random.Random("terrain"))
    return pixels


def test_mountains_stand_higher_above_the_horizon_than_hills_and_hills_than_flat_land() -> None:
    plain = sky_of(sky_with(90, 40)).astype(int)

    def covered(terrain: Terrain) -> float:
        return float((np.abs(landscape(terrain, "grass").astype(int) - plain)[:218] > 12).any(axis=2).mean())

    assert covered("flat") < covered("hills") < covered("mountains")


def test_the_ground_shows_what_it_is() -> None:
    def near(ground: Ground, season: Season = "summer") -> tuple[float, float, float]:
        red, green, blue = landscape("flat", ground, season)[300:].reshape(-1, 3).mean(axis=0)
        return float(red), float(green), float(blue)

    grass, sand, earth, snow = near("grass"), near("sand"), near("red_earth"), near("snow")
    assert grass[1] > grass[0] + 10
    assert grass[1] > grass[2] + 30
    assert earth[0] > earth[1] + 40
    assert sand[0] > sand[2] + 30
    assert min(snow) > 190
    dry = near("grass", "dry")
    assert dry[0] - dry[1] > grass[0] - grass[1]


def test_the_sea_lies_below_the_horizon_on_a_coast() -> None:
    band = landscape("coast", "sand")[222:225].reshape(-1, 3).mean(axis=0)
    inland = landscape("flat", "sand")[222:225].reshape(-1, 3).mean(axis=0)
    assert band[2] - band[0] > 20 > inland[2] - inland[0]
