"""Whoever drives or parks along a street keeps to the country's side of it."""

from dataclasses import replace
from typing import Literal

import pytest

from drawn_streets import street_scene
from geosleuth.lab.scenes.drawing.scenery import build_view, plan_street
from geosleuth.lab.scenes.scene import Board, Scene

BOARDS: tuple[tuple[Board, ...], ...] = (("number_plate", "shop_front"), ("bus", "number_plate"), ("number_plate",))


def scenes(drives_on: Literal["left", "right"]) -> list[Scene]:
    drawn = [street_scene(land, boards, seed=seed) for land in ("pt", "ja") for boards in BOARDS for seed in range(5)]
    return [replace(scene, look=replace(scene.look, drives_on=drives_on)) for scene in drawn]


@pytest.mark.parametrize(("drives_on", "own"), [("right", 1), ("left", -1)])
def test_traffic_keeps_to_its_side(drives_on: Literal["left", "right"], own: int) -> None:
    seen = 0
    for scene in scenes(drives_on):
        view, main_at = build_view(scene)
        street = plan_street(scene, view, main_at, (-4.0, 130.0))
        vehicles = [(car.at, car.facing) for car in street.cars] + [(bus.at, bus.facing) for bus in street.buses]
        for at, facing in vehicles:
            if facing in ("away", "towards"):
                assert at[0] * (own if facing == "away" else -own) > 0, (scene.id, at, facing)
                seen += 1
    assert seen > 20
