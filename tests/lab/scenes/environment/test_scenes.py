"""Episodes about drawn scenes: the same for the same number, in the pixels of the files, with no truth on show."""

import json
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest

from geosleuth.agent import same_events
from geosleuth.geo import FloatArray
from geosleuth.lab.bench.placed import create_placer
from geosleuth.lab.scenes import World
from geosleuth.lab.scenes.consistency import RuleReader
from geosleuth.lab.scenes.design import design_scene
from geosleuth.lab.scenes.environment import build_environment_class, offline_setting, scene_poser, scene_rows
from geosleuth.lab.score.rewards import PRESETS, Helpers
from geosleuth.support.errors import BadInput
from homes import home_with_base
from worlds import world_of


@pytest.fixture(scope="module")
def world(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    return world_of(home_with_base(tmp_path_factory.mktemp("scenes-home"), base_file))


@pytest.fixture
def made(atlas_home: object, world: World) -> Any:
    assert atlas_home
    return build_environment_class(offline_setting(), scene_poser(world, seed=3, reading="clue boxes"))


def test_a_scene_is_played_the_same_every_time(made: Any, world: World) -> None:
    (row,) = scene_rows(1, start=4)
    assert row == {"scene": 4}
    scene = design_scene(world, 3, 4, split="train")
    answer = json.dumps({"lat": scene.spot.point.lat, "lon": scene.spot.point.lon, "country": scene.spot.country_name,
                         "region": scene.spot.region, "city": scene.spot.town})  # fmt: skip
    first, second = made(), made()
    shown = []
    for one in (first, second):
        parts = one.reset(**row)
        shown.append((parts[1]["image"].tobytes(), one.read_text(), one.answer(reply=answer), one.get_reward()))
    assert shown[0] == shown[1]
    assert same_events(first.trajectory, second.trajectory)
    assert shown[0][3] > 0.9


def test_what_is_shown_first_does_not_tell_where(made: Any, world: World) -> None:
    one = made()
    parts = one.reset(scene=0)
    spot = design_scene(world, 3, 0, split="train").spot
    words = json.dumps([part.get("text", "") for part in parts]) + one.trajectory.started.system
    assert not any(word in words for word in (f"{spot.point.lat:.3f}", f"{spot.point.lon:.3f}", spot.town))


def test_clue_boxes_are_not_read_off_a_map_nor_off_the_views_of_a_panorama(made: Any, world: World) -> None:
    one = made()
    one.reset(scene=4)
    one.read_text()
    assert one.observations[-1].data["lines"]
    one.static_map_query(centre="43.73,7.42")
    (drawn,) = one.observations[-1].images
    one.read_text(image=drawn.handle)
    assert one.observations[-1].data["lines"] == []
    with pytest.raises(BadInput, match="views, which have no clue boxes"):
        scene_poser(world, seed=3, kind="panorama", reading="clue boxes")({"scene": 4})


@pytest.mark.parametrize("row", [{}, {"scene": -1}, {"scene": "1"}, {"scene": True}])
def test_a_row_without_a_scene_is_named(made: Any, row: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="number from 0 on"):
        made().reset(**row)


class ByLetters:
    """An encoder to which texts of the same letters are the same."""

    name = "letters"

    def encode(self, texts: Sequence[str]) -> FloatArray:
        counts = np.array([[text.casefold().count(letter) for letter in ascii_lowercase] for text in texts], float)
        return np.asarray(counts / np.maximum(1e-9, np.linalg.norm(counts, axis=1, keepdims=True)))


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.usefixtures("atlas_home")
def test_every_reward_of_the_papers_can_be_earned(name: str, world: World) -> None:
    setting = offline_setting(reward=name, helpers=Helpers(create_placer(), ByLetters(), RuleReader()))
    one: Any = build_environment_class(setting, scene_poser(world, seed=3, reading="clue boxes"))()
    one.reset(scene=4)
    spot = design_scene(world, 3, 4, split="train").spot
    because = "The words on the signs, the plates of the cars and the roofs behind them all lead to one conclusion."
    names = {"country": spot.country_name, "region": spot.region, "precise": spot.town}
    levels = {level: {"conclusion": name, "reasoning": f"{because} So it is {name}."} for level, name in names.items()}
    one.answer(reply=json.dumps({"lat": spot.point.lat, "lon": spot.point.lon, **levels, "city": spot.town}))
    assert setting.reward.least < one.get_reward() <= setting.reward.most
