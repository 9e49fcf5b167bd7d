"""The sky tells where the sun is, what the weather is like."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from geosleuth.lab.scenes.drawing.sky import SkyWindow, compute_light, draw_sky
from geosleuth.lab.scenes.scene import Sky
from nature import CAMERA, Weather, sky_with

WINDOW = SkyWindow((512, 384), 220, CAMERA.heading_deg, CAMERA.field_deg)
ALL_ROUND = SkyWindow((1024, 512), 256, CAMERA.heading_deg, 360, round=True)


def sky_of(sky: Sky, window: SkyWindow = WINDOW, seed: str = "a") -> NDArray[np.uint8]:
    pixels = np.zeros((window.size[1], window.size[0], 3), dtype=np.uint8)
    draw_sky(pixels, window, sky, compute_light(sky, CAMERA), random.Random(seed))
    return pixels


def brightness(pixels: NDArray[np.uint8]) -> float:
    return float(pixels.mean())


@pytest.mark.parametrize("aside", [-90, 20, 150])
def test_the_suns_side_is_brighter(aside: int) -> None:
    shown = sky_of(sky_with(aside, 25))[:200]
    left, right = brightness(shown[:, :200]), brightness(shown[:, -200:])
    assert (right > left + 1) if aside > 0 else (left > right + 1)


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
