"""The world that scenes are designed in."""

from pathlib import Path

import pytest

from geosleuth.world import World
from worlds import world_of


@pytest.fixture(scope="session")
def world(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    return world_of(base_file, tmp_path_factory.mktemp("world-home"))
