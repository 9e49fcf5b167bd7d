"""Tiles show the streets they were given, roofs, trees and water, with shadows away from the sun."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from drawn_streets import street_scene
from geosleuth.geo import LatLon
from geosleuth.lab.scenes.drawing.satellite import draw_satellite, plan_tile
from geosleuth.lab.scenes.scene import Clue, Layout, Look, Scene, Sky, Terrain
from nature import Weather

LAYOUTS: tuple[Layout, ...] = ("high_street", "suburb", "market", "square", "country_road", "industrial")


def tile_scene(
    *, seed: int = 5, azimuth_deg: float = 180.0, elevation_deg: float = 40.0, weather: Weather = "clear",
    look: Look | None = None, size: int = 512,
) -> Scene:  # fmt: skip
    scene = street_scene(kind="satellite", boards=(), seed=seed, size=(size, size))
    chosen = look or replace(scene.look, layout="suburb", storeys=(2, 3), terrain="flat")
    sky = Sky(scene.sky.at, azimuth_deg, elevation_deg, weather, "summer")
    clues = tuple(
        Clue(sort, sort, "country", "It shows from above.") for sort in ("architecture", "vegetation", "terrain", "sun")
    )
    return replace(scene, look=chosen, sky=sky, clues=clues)


def pixels_of(scene: Scene) -> NDArray[np.uint8]:
    return np.asarray(draw_satellite(scene)[0])


def beside_houses(scene: Scene, north_m: float) -> float:
    """How bright the ground is so far north of the walls of houses (south for less than 0)."""
    tile = plan_tile(scene, None, random.Random(f"tile {scene.seed}"))
    pixels = pixels_of(scene)
    scale = scene.size[0] / 2 / tile.half_m
    levels = []
    for house in tile.houses:
        edges = [y for _, y in house.corners()]
        y = (max(edges) if north_m > 0 else min(edges)) + north_m
        column, row = round((house.middle[0] + tile.half_m) * scale), round((tile.half_m - y) * scale)
        if 0 <= row < scene.size[1] and 0 <= column < scene.size[0]:
            levels.append(float(pixels[row, column].mean()))
    assert len(levels) > 20
    return float(np.median(levels))


def test_shadows_lie_to_the_north_of_houses_when_the_sun_is_in_the_south_and_the_other_way_round() -> None:
    south, north = tile_scene(azimuth_deg=180.0), tile_scene(azimuth_deg=0.0)
    assert beside_houses(south, 2.5) < beside_houses(south, -2.5) - 8
    assert beside_houses(north, -2.5) < beside_houses(north, 2.5) - 8


def test_no_shadows_under_clouds() -> None:
    scene = tile_scene(weather="overcast")
    assert beside_houses(scene, 2.5) == pytest.approx(beside_houses(scene, -2.5), abs=8)
    assert "sun" not in {mark.clue for mark in draw_satellite(scene)[1]}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_has_streets_houses_and_trees_that_keep_off_the_road(layout: Layout) -> None:
    scene = tile_scene(look=replace(tile_scene().look, layout=layout))
    tile = plan_tile(scene, None, random.Random("x"))
    assert len(tile.houses) > 5
    assert len(tile.trees) > 20
    for house in tile.houses:
        for line in tile.streets:
            for (x0, y0), (x1, y1) in pairwise(line):
                dx, dy = x1 - x0, y1 - y0
                along = ((house.middle[0] - x0) * dx + (house.middle[1] - y0) * dy) / (dx * dx + dy * dy)
                nearest = (x0 + dx * min(max(along, 0), 1), y0 + dy * min(max(along, 0), 1))
                away = np.hypot(house.middle[0] - nearest[0], house.middle[1] - nearest[1])
                assert away > tile.road_half_m or max(map(abs, house.middle)) > tile.half_m


def test_streets_that_are_given_are_drawn_where_they_are() -> None:
    scene = tile_scene(look=replace(tile_scene().look, road="asphalt", centre_line="none", layout="country_road"))
    lat, lon = scene.spot.point.lat, scene.spot.point.lon
    # Across the middle from west to east, and nothing else.
    picture, _ = draw_satellite(scene, [[LatLon(lat, lon - 0.01), LatLon(lat, lon + 0.01)]])
    pixels = np.asarray(picture).astype(int)
    road = pixels[255:258, 20:490].reshape(-1, 3)
    grey = (road.max(axis=1) - road.min(axis=1)) < 16
    assert grey.mean() > 0.8
    land = pixels[[60, 450], 20:490].reshape(-1, 3)
    assert ((land.max(axis=1) - land.min(axis=1)) < 16).mean() < 0.5


def test_a_coast_has_water_and_inland_has_none() -> None:
    def water(terrain: Terrain) -> float:
        look = replace(tile_scene().look, terrain=terrain, roof_colour="#a5533a")
        pixels = pixels_of(tile_scene(look=look)).astype(int)
        return float((pixels[..., 2] > pixels[..., 0] + 30).mean())

    assert water("coast") > 0.1
    assert water("flat") < 0.01


def test_roofs_have_the_colour_of_the_place() -> None:
    def red_over_blue(roof: str) -> float:
        scene = tile_scene(look=replace(tile_scene().look, roof_colour=roof, layout="high_street"))
        tile = plan_tile(scene, None, random.Random(f"tile {scene.seed}"))
        pixels = pixels_of(scene).astype(int)
        scale = scene.size[0] / 2 / tile.half_m
        spots = [((h.middle[0] + tile.half_m) * scale, (tile.half_m - h.middle[1]) * scale) for h in tile.houses]
        shown = [pixels[int(y), int(x)] for x, y in spots if 0 <= x < 512 and 0 <= y < 512]
        return float(np.median([pixel[0] - pixel[2] for pixel in shown]))

    assert red_over_blue("#b5502f") > 40
    assert red_over_blue("#3f5f9f") < 0


def test_marks_lie_in_the_tile_and_on_what_they_mark() -> None:
    scene = tile_scene(look=replace(tile_scene().look, terrain="coast"))
    picture, marks = draw_satellite(scene)
    assert {mark.clue for mark in marks} == {"architecture", "vegetation", "terrain", "sun"}
    for mark in marks:
        left, top, right, bottom = mark.box
        assert 0 <= left < right <= picture.width
        assert 0 <= top < bottom <= picture.height
    left, top, right, bottom = next(mark.box for mark in marks if mark.clue == "terrain")
    red, _, blue = np.asarray(picture)[top:bottom, left:right].reshape(-1, 3).mean(axis=0)
    assert blue > red + 20


def test_the_same_scene_gives_the_same_tile_and_another_seed_another() -> None:
    assert pixels_of(tile_scene()).tobytes() == pixels_of(tile_scene()).tobytes()
    assert pixels_of(tile_scene()).tobytes() != pixels_of(tile_scene(seed=6)).tobytes()
