"""Lessons for all tests about them, made once."""

from pathlib import Path

import pytest

from geosleuth.world import World
from homes import home_with_base
from nano_lessons import Taught, teach_class
from worlds import world_of


@pytest.fixture(scope="session")
def nano_home(tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Path:
    return home_with_base(tmp_path_factory.mktemp("nano-home"), base_file)


@pytest.fixture(scope="session")
def world(nano_home: Path) -> World:
    return world_of(nano_home)


@pytest.fixture(scope="session")
def taught(world: World, nano_home: Path) -> list[Taught]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(nano_home))
        return teach_class(world)
