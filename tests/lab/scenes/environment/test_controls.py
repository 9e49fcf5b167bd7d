"""Control conditions: what is shown and what is read belong to different scenes, and the truth stays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geosleuth.lab.scenes import build_truth, design_scene, open_world
from geosleuth.lab.scenes.environment import Control, Posed, pose_control, pose_scene
from geosleuth.lab.scenes.scene import Scene
from geosleuth.photo import first_view


@pytest.fixture(scope="module")
def scenes() -> tuple[Scene, Scene]:
    world = open_world(1)
    one, two = (design_scene(world, 3003, number, split="held-out") for number in (0, 1))
    return one, two


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


def pixels(posed: Posed) -> Any:
    return np.asarray(posed.photos[0].photo.image.convert("RGB"), dtype=np.int16)


def lines(posed: Posed) -> set[str]:
    """What is read in the whole photo."""
    assert posed.reader is not None
    return {line.text for line in posed.reader(first_view(posed.photos[0].photo))}


@pytest.mark.parametrize("control", ["blank image", "other image", "other tools"])
def test_what_is_taken_and_what_stays(scenes: tuple[Scene, Scene], pictures: Path, control: Control) -> None:
    scene, other = scenes
    own, foreign = (pose_scene(one, reading="clue boxes", kept=pictures) for one in scenes)
    posed = pose_control(scene, other, control, pictures)
    assert posed.truth == build_truth(scene)
    same = float(np.abs(pixels(posed) - pixels(own)).mean()) < 1
    assert same == (control == "other tools")
    if control == "blank image":
        assert float(pixels(posed).std()) < 2
    assert lines(own) != lines(foreign)
    assert lines(posed) == (lines(foreign) if control == "other tools" else lines(own))
