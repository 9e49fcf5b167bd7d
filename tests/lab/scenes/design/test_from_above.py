"""A tile from above shows the streets that the map has."""

from dataclasses import replace

from geosleuth.lab.scenes import World, design_scene, draw_scene


def test_a_tile_shows_the_streets_of_the_map(world: World) -> None:
    scene = design_scene(world, 5, 1, split="train", kind="satellite")
    town = next(town for town in world.towns if town.name == scene.spot.town and town.cell == scene.spot.cell)
    assert scene.streets == tuple(street.line for street in world.streets(town))
    shown = draw_scene(scene).image
    assert shown.tobytes() != draw_scene(replace(scene, streets=())).image.tobytes()


def test_a_street_scene_carries_no_plan_of_its_town(world: World) -> None:
    assert design_scene(world, 5, 1, split="train").streets == ()
