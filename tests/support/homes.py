"""A home as a user has it after the first run."""

from functools import cache
from pathlib import Path

import pytest

from geosleuth.atlas.base import base_path


def home_with_base(folder: Path, base_file: Path) -> Path:
    """A folder to be named by GEOSLEUTH_HOME, with the base atlas in it and no region."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(folder))
        target = base_path()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(base_file)
        drawn = target.parent / "tiles" / _world_folder(base_file)
    # The world's outlines take ten seconds to put together: whoever draws the first map does it for all homes.
    world = base_file.with_suffix(".world")
    world.mkdir(exist_ok=True)
    drawn.parent.mkdir(exist_ok=True)
    drawn.symlink_to(world)
    return folder


@cache
def _world_folder(base_file: Path) -> str:
    """What the folder of outlines made with this base atlas is called; asked in a home that has it."""
    from geosleuth.atlas.tiles import Tiles

    assert base_file.is_file()
    return f"world-{Tiles()._world_version}"
