"""The world that reasonings are about, and a small map of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.scenes import World
from geosleuth.lab.scenes.world import world_atlas
from homes import home_with_base
from worlds import world_of


@pytest.fixture(scope="session")
def world(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    return world_of(home_with_base(tmp_path_factory.mktemp("consistency-home"), base_file))


@pytest.fixture(scope="session")
def few_towns(world: World) -> World:
    return replace(world, towns=world.towns[::60])


@pytest.fixture(scope="session")
def few_on_the_map(
    few_towns: World, base_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OfflineAtlas]:
    home = home_with_base(tmp_path_factory.mktemp("map-home"), base_file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(home))
        yield world_atlas(few_towns, tmp_path_factory.mktemp("map"))
