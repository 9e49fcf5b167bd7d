"""Plants look like their kind and season, and stand in the light of the scene."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from geosleuth.lab.scenes.drawing.plants import HEIGHTS_M, draw_plant, sprite
from geosleuth.lab.scenes.drawing.sky import Light
from geosleuth.lab.scenes.scene import Plant
from nature import Season, empty_street, light_with

PLANTS: tuple[Plant, ...] = tuple(plant for plant in HEIGHTS_M if plant != "none")


def cover(plant: Plant, season: Season) -> float:
    return float(np.mean([sprite(plant, season, one, 320).sizes[0][..., 3].mean() for one in range(3)]))


def colour_of(plant: Plant, season: Season) -> NDArray[np.float64]:
    drawn = [sprite(plant, season, one, 320).sizes[0] for one in range(5)]
    solid = np.concatenate([pixels[pixels[..., 3] > 250][:, :3] for pixels in drawn])
    mean: NDArray[np.float64] = solid.mean(axis=0)
    return mean


def stood(plant: Plant, light: Light, *, y: float = 9.0, seed: str = "a") -> tuple[NDArray[np.uint8], tuple[int, ...]]:
    canvas = empty_street()
    box = draw_plant(canvas, (0.0, y), plant, 5.0, "summer", light, random.Random(seed))
    assert box is not None
    return canvas.pixels, box


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


@pytest.mark.parametrize("plant", ["conifer", "cypress", "palm", "cactus"])
def test_evergreens_keep_theirs(plant: Plant) -> None:
    assert cover(plant, "winter") == pytest.approx(cover(plant, "summer"), rel=0.15)


def test_autumn_is_redder_than_summer() -> None:
    summer, autumn = colour_of("broadleaf", "summer"), colour_of("broadleaf", "autumn")
    assert summer[1] > summer[0] + 15
    assert autumn[0] > autumn[1] + 15


@pytest.mark.parametrize("aside", [-90, 90])
def test_the_suns_side_of_a_tree_is_brighter(aside: int) -> None:
    pixels, (left, top, right, bottom) = stood("broadleaf", light_with(aside, 40))
    crown = pixels[top : top + (bottom - top) // 2, left:right].astype(int)
    leafy = np.abs(crown - 150).sum(axis=2) > 30
    middle = (right - left) // 2
    levels = crown.sum(axis=2)
    on_left, on_right = levels[:, :middle][leafy[:, :middle]].mean(), levels[:, middle:][leafy[:, middle:]].mean()
    assert (on_right > on_left + 10) if aside > 0 else (on_left > on_right + 10)


def test_a_tree_changes_nothing_outside_its_box_and_grows_when_nearer() -> None:
    pixels, (left, top, right, bottom) = stood("conifer", light_with())
    outside = pixels.copy()
    outside[top:bottom, left:right] = 150
    assert (outside == 150).all()
    _, far = stood("conifer", light_with(), y=18.0)
    assert bottom - top == pytest.approx(2 * (far[3] - far[1]), rel=0.03)


def test_nothing_grows_where_there_are_no_plants_or_nobody_sees_it() -> None:
    canvas = empty_street()
    assert draw_plant(canvas, (0.0, 9.0), "none", 5.0, "summer", light_with(), random.Random(1)) is None
    assert draw_plant(canvas, (0.0, -9.0), "palm", 5.0, "summer", light_with(), random.Random(1)) is None
    assert (canvas.pixels == 150).all()
