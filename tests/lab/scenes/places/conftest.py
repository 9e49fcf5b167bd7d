"""A world, and a small map of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.scenes import World
from geosleuth.lab.scenes.world import world_atlas
from homes import home_with_base
from worlds import world_of


@pytest.fixture(scope="session")
def world_home(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with_base(tmp_path_factory.mktemp("places-home"), base_file)


@pytest.fixture(autouse=True)
def _at_home(world_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(world_home))


@pytest.fixture(scope="session")
def world(world_home: Path) -> World:
    return world_of(world_home)


@pytest.fixture(scope="session")
def few_towns(world: World) -> World:
    """Every fortieth town, which is enough for a map that is made in a second."""
    return replace(world, towns=world.towns[::40])


@pytest.fixture(scope="session")
def few_on_the_map(few_towns: World, tmp_path_factory: pytest.TempPathFactory) -> OfflineAtlas:
    return world_atlas(few_towns, tmp_path_factory.mktemp("few"))
