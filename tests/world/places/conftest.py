"""A world, and a small map of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.world import World
from geosleuth.world.layer import world_atlas
from worlds import world_of


@pytest.fixture(scope="session")
def world(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    return world_of(base_file, tmp_path_factory.mktemp("places-home"))


@pytest.fixture(scope="session")
def few_towns(world: World) -> World:
    """Every fortieth town, which is enough for a map that is made in a second."""
    return replace(world, towns=world.towns[::40])


@pytest.fixture(scope="session")
def few_on_the_map(few_towns: World, tmp_path_factory: pytest.TempPathFactory) -> OfflineAtlas:
    return world_atlas(few_towns, tmp_path_factory.mktemp("few"))
