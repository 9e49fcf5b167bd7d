"""Plants look like their kind and season, and stand in the light of the scene."""

import random

import numpy as np
import pytest

from geosleuth.lab.scenes.drawing.plants import HEIGHTS_M, draw_plant, sprite
from geosleuth.lab.scenes.scene import Plant
from nature import Season, empty_street, light_with

PLANTS: tuple[Plant, ...] = tuple(plant for plant in HEIGHTS_M if plant != "none")


def cover(plant: Plant, season: Season) -> float:
    return float(np.mean([sprite(plant, season, one, 320).sizes[0][..., 3].mean() for one in range(3)]))


@pytest.mark.parametrize("plant", PLANTS)
def test_every_plant_has_a_body_even_in_winter_and_stands_on_the_ground(plant: Plant) -> None:
    pixels = sprite(plant, "winter", 0, 320).sizes[0]
    assert 0.03 < (pixels[..., 3] > 127).mean() < 0.85
    assert pixels[-4:, :, 3].max() > 200 or plant == "shrub"
    assert pixels[:, :2, 3].mean() < 40
    assert pixels[:, -2:, 3].mean() < 40


@pytest.mark.parametrize("plant", ["broadleaf", "birch"])
def test_leaves_fall_before_winter(plant: Plant) -> None:
    assert cover(plant, "winter") < 0.6 * cover(plant, "summer")


def test_nothing_grows_where_there_are_no_plants_or_nobody_sees_it() -> None:
    canvas = empty_street()
    assert draw_plant(canvas, (0.0, 9.0), "none", 5.0, "summer", light_with(), random.Random(1)) is None
    assert draw_plant(canvas, (0.0, -9.0), "palm", 5.0, "summer", light_with(), random.Random(1)) is None
    assert (canvas.pixels == 150).all()
