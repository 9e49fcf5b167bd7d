"""Lessons for all tests about them, made once."""

from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.lab.scenes import World
from homes import home_with_base
from nano_lessons import Taught, teach_class
from worlds import world_of

pytest_plugins = ["tests.conftest"]
"""What the project's own tests stand on: `python -m pytest examples/nano` from the repository's folder finds it."""


@pytest.fixture(scope="session")
def nano_home(tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Path:
    """Return a home with the base atlas."""
    return home_with_base(tmp_path_factory.mktemp("nano-home"), base_file)


@pytest.fixture(scope="session")
def world(nano_home: Path) -> World:
    """Return world 1."""
    return world_of(nano_home)


@pytest.fixture(scope="session")
def few_towns(world: World) -> World:
    """A world whose map is made in a second."""
    return replace(world, towns=world.towns[::40])


@pytest.fixture(scope="session")
def taught(few_towns: World, nano_home: Path) -> list[Taught]:
    """What the scenes in it teach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(nano_home))
        return teach_class(few_towns)
