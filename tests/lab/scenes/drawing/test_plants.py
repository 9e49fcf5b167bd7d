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
SEASONS: tuple[Season, ...] = ("spring", "summer", "autumn", "winter", "wet", "dry")


def cover(plant: Plant, season: Season, *, snow: bool = False) -> float:
    return float(np.mean([sprite(plant, season, one, 320, snow=snow).sizes[0][..., 3].mean() for one in range(3)]))


def colour_of(plant: Plant, season: Season, *, snow: bool = False) -> NDArray[np.float64]:
    drawn = [sprite(plant, season, one, 320, snow=snow).sizes[0] for one in range(5)]
    solid = np.concatenate([pixels[pixels[..., 3] > 250][:, :3] for pixels in drawn])
    mean: NDArray[np.float64] = solid.mean(axis=0)
    return mean


def stood(plant: Plant, light: Light, *, y: float = 9.0, seed: str = "a") -> tuple[NDArray[np.uint8], tuple[int, ...]]:
    canvas = empty_street()
    box = draw_plant(canvas, (0.0, y), plant, 5.0, "summer", light, random.Random(seed))
    assert box is not None
    return canvas.pixels, box


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("season", SEASONS)
def test_every_plant_has_a_body_in_every_season_and_stands_on_the_ground(plant: Plant, season: Season) -> None:
    pixels = sprite(plant, season, 0, 320, snow=False).sizes[0]
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


def test_autumn_is_redder_than_summer_and_snow_whiter_than_none() -> None:
    summer, autumn = colour_of("broadleaf", "summer"), colour_of("broadleaf", "autumn")
    assert summer[1] > summer[0] + 15
    assert autumn[0] > autumn[1] + 15
    assert colour_of("conifer", "winter", snow=True).mean() > colour_of("conifer", "winter").mean() + 15


def test_trees_of_one_kind_differ() -> None:
    drawn = {sprite("broadleaf", "autumn", one, 320, snow=False).sizes[0].tobytes() for one in range(5)}
    assert len(drawn) == 5


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


def test_far_trees_fade_in_fog() -> None:
    def contrast(y: float) -> float:
        light = light_with(0, 40, "fog")
        pixels, (left, top, right, bottom) = stood("conifer", light, y=y)
        part = pixels[top:bottom, left:right].astype(int)
        tree = np.abs(part - 150).sum(axis=2) > 12
        return float(np.abs(part[tree] - np.array(light.horizon)).mean())

    assert contrast(60) < 0.75 * contrast(8)


def test_the_same_seed_gives_the_same_tree() -> None:
    assert stood("palm", light_with(), seed="x")[0].tobytes() == stood("palm", light_with(), seed="x")[0].tobytes()


def test_nothing_grows_where_there_are_no_plants_or_nobody_sees_it() -> None:
    canvas = empty_street()
    assert draw_plant(canvas, (0.0, 9.0), "none", 5.0, "summer", light_with(), random.Random(1)) is None
    assert draw_plant(canvas, (0.0, -9.0), "palm", 5.0, "summer", light_with(), random.Random(1)) is None
    assert (canvas.pixels == 150).all()
