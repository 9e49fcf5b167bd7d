"""Scenes are whole, true of their place, mixed as stated, and the same every time."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.atlas.facts import country_facts, find_climate
from geosleuth.geo import distance_km, sun_positions
from geosleuth.lab.scenes import Scene, Split, Wants, World, design_scene, scene_from_dict, scene_to_dict
from geosleuth.lab.scenes.design import HIDDEN_SHARE, LEVEL_SHARES, MISLEADING_SHARE, SMALL_SHARE
from geosleuth.lab.scenes.drawing.lettering import drawable, list_designs
from geosleuth.lab.scenes.towns import compute_cell_name, split_of_cell
from geosleuth.support.errors import BadInput
from worlds import scenes

MANY = 300


@pytest.fixture(scope="module")
def train(world: World) -> list[Scene]:
    return scenes(world, MANY)


@pytest.fixture(scope="module")
def held_out(world: World) -> list[Scene]:
    return scenes(world, MANY, split="held-out")


@pytest.mark.slow
def test_shares_are_as_stated(train: list[Scene], held_out: list[Scene]) -> None:
    both = [*train, *held_out]
    levels = Counter(scene.finest for scene in both)
    for level, share in LEVEL_SHARES.items():
        assert levels[level] / len(both) == pytest.approx(share, abs=0.05)
    small = sum(scene.needs_zoom for scene in both)
    misleading = sum(any(clue.misleading for clue in scene.clues) for scene in both)
    hidden = sum(any(clue.visibility == "hidden" for clue in scene.clues) for scene in both)
    assert small / len(both) == pytest.approx(SMALL_SHARE, abs=0.04)
    assert misleading / len(both) == pytest.approx(MISLEADING_SHARE, abs=0.04)
    assert hidden / len(both) == pytest.approx(HIDDEN_SHARE, abs=0.04)


@pytest.mark.slow
def test_splits_share_no_place_no_design_and_no_word(train: list[Scene], held_out: list[Scene]) -> None:
    assert not {scene.spot.cell for scene in train} & {scene.spot.cell for scene in held_out}
    for scene in (*train, *held_out):
        assert split_of_cell(scene.spot.cell) == scene.split == scene.spot.split
        for clue in scene.clues:
            assert (clue.design in list_designs(clue.board, scene.split)) if clue.board else clue.design == ""

    def words(found: list[Scene]) -> set[tuple[str, str]]:
        told = ((scene.spot.country, clue) for scene in found for clue in scene.clues if clue.sort == "language")
        return {(country, clue.lines[0]) for country, clue in told}

    def cues(found: list[Scene]) -> set[tuple[str, ...]]:
        return {clue.lines for scene in found for clue in scene.clues if clue.misleading and clue.board != "bus"}

    assert not words(train) & words(held_out)
    assert not cues(train) & cues(held_out)


def test_the_spot_is_where_it_says(train: list[Scene], world: World) -> None:
    towns = {(town.country, town.name): town for town in world.towns}
    for scene in train:
        spot = scene.spot
        town = towns[spot.country, spot.town]
        assert distance_km(spot.point, town.point) < 5
        assert spot.cell == compute_cell_name(town.point)
        assert spot.country_name == country_facts(spot.country).name
        climate = find_climate(spot.point)
        assert climate is None or climate.code == spot.climate


def test_the_sun_stands_where_it_would(train: list[Scene]) -> None:
    for scene in train[:60]:
        seen = sun_positions(scene.sky.at, scene.spot.point.lat, scene.spot.point.lon)
        assert scene.sky.sun_elevation_deg == pytest.approx(float(seen.apparent_elevation_deg), abs=0.01)
        turn = abs(scene.sky.sun_azimuth_deg - float(seen.azimuth_deg)) % 360
        assert min(turn, 360 - turn) < 0.02
    assert sum(scene.sky.sun_elevation_deg > 5 for scene in train) > 0.97 * len(train)


def test_traffic_keeps_to_the_side_of_the_country(train: list[Scene]) -> None:
    assert all(scene.look.drives_on == country_facts(scene.spot.country).driving_side for scene in train)
    assert {scene.look.drives_on for scene in train} == {"left", "right"}


def test_a_precise_scene_shows_the_business_that_stands_there(train: list[Scene], world: World) -> None:
    towns = {(town.country, town.name): town for town in world.towns}
    seen = 0
    for scene in train:
        if scene.finest == "precise" and scene.business is not None:
            seen += 1
            assert scene.business in world.businesses(towns[scene.spot.country, scene.spot.town])
            assert distance_km(scene.spot.point, scene.business.point) < 0.02
            assert any(clue.lines[:1] == (scene.business.name,) for clue in scene.clues)
    assert seen > 0.3 * len(train)


def test_all_that_is_written_can_be_drawn(train: list[Scene], held_out: list[Scene]) -> None:
    lines = {line for scene in (*train, *held_out) for clue in scene.clues for line in clue.lines}
    assert [line for line in sorted(lines) if not drawable(line)] == []


def test_honest_clues_point_home_and_misleading_ones_do_not(train: list[Scene]) -> None:
    for scene in train:
        for clue in scene.clues:
            if clue.misleading:
                assert clue.country not in (None, scene.spot.country)
            else:
                assert clue.country in (None, scene.spot.country)
                assert clue.region in (None, scene.spot.region)
            assert clue.says.endswith(".")
        assert len({clue.id for clue in scene.clues}) == len(scene.clues)


def test_what_needs_zoom_is_large_and_small_letters_tell_most(train: list[Scene]) -> None:
    for scene in train:
        assert (scene.size[0] * scene.size[1] >= 7_900_000) == scene.needs_zoom
        if scene.needs_zoom:
            finest = [clue for clue in scene.clues if clue.level == scene.finest and clue.lines and not clue.misleading]
            assert all(clue.visibility == "small" for clue in finest if clue.visibility != "hidden")


def test_a_scene_survives_being_written_down(train: list[Scene]) -> None:
    for scene in train[:80]:
        assert scene_from_dict(json.loads(json.dumps(scene_to_dict(scene)))) == scene


def test_the_same_words_give_the_same_scene_in_another_process(world: World, world_home: Path) -> None:
    code = (
        "from geosleuth.lab.scenes import *\nimport json\nworld = open_world(1)\n"
        "print(json.dumps([scene_to_dict(design_scene(world, 5, n, split='train')) for n in (3, 1, 2)]))"
    )
    environment = os.environ | {"GEOSLEUTH_HOME": str(world_home), "PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    here = [scene_to_dict(design_scene(world, 5, number, split="train")) for number in (3, 1, 2)]
    assert json.loads(done.stdout) == here


@pytest.mark.parametrize("level", ["country", "region", "precise"])
@pytest.mark.parametrize("small", [True, False])
def test_wants_are_met(world: World, level: str, *, small: bool) -> None:
    wants = Wants(level=level, small=small, misleading=True, hidden=True)  # type: ignore[arg-type]
    for scene in scenes(world, 25, wants=wants):
        assert scene.finest == level
        assert scene.needs_zoom == small
        assert any(clue.misleading for clue in scene.clues)
        assert any(clue.visibility == "hidden" for clue in scene.clues)
    for scene in scenes(world, 10, wants=replace(wants, misleading=False, hidden=False)):
        assert not any(clue.misleading or clue.visibility == "hidden" for clue in scene.clues)


def test_nothing_tells_where_nothing_is_wanted(world: World) -> None:
    for scene in scenes(world, 40, wants=Wants(nothing=True)):
        assert scene.finest is None
        assert scene.look.centre_line == "none"
        assert scene.locatability <= 5.5
    with pytest.raises(BadInput, match="without clues"):
        Wants(nothing=True, level="country")


@pytest.mark.parametrize("split", ["train", "held-out"])
def test_panoramas_go_all_around(world: World, split: Split) -> None:
    for number in range(20):
        around = design_scene(world, 2, number, split=split, kind="panorama")
        assert around.size == (4096, 2048)
        assert around.kind == "panorama"


def test_worlds_that_differ_in_names_alone_have_the_same_scenes(world: World) -> None:
    plain = replace(world, noise="none")
    for one, other in zip(scenes(world, 30), scenes(plain, 30), strict=True):
        assert (one.spot, one.sky, one.look.layout, one.kind) == (other.spot, other.sky, other.look.layout, other.kind)


def test_a_world_of_one_country_has_scenes_and_says_what_it_can_not_have(world: World) -> None:
    few = replace(world, towns=tuple(town for town in world.towns if town.country == "NO" and town.split == "train"))
    made = [design_scene(few, 5, number, split="train") for number in range(40)]
    assert {scene.spot.country for scene in made} == {"NO"}
    assert not any(clue.misleading for scene in made for clue in scene.clues)
    with pytest.raises(BadInput, match="nothing there can mislead"):
        design_scene(few, 5, 0, split="train", wants=Wants(misleading=True))
    for number in range(20):
        with pytest.raises(BadInput, match="no town of any country in the held-out split"):
            design_scene(few, 5, number, split="held-out")
    assert len({scene.spot.country for scene in scenes(world, 40)}) > 5
