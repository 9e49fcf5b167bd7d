"""The world that scenes are designed in."""

from pathlib import Path

import pytest

from geosleuth.lab.scenes import World
from homes import home_with_base
from worlds import world_of


@pytest.fixture(scope="session")
def world_home(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with_base(tmp_path_factory.mktemp("world-home"), base_file)


@pytest.fixture(scope="session")
def world(world_home: Path) -> World:
    return world_of(world_home)
