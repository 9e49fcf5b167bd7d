"""A world for tests: the real one of seed 1, on the base atlas that all tests share."""

from functools import cache
from pathlib import Path

import pytest

from geosleuth.lab.scenes import Scene, Split, Wants, World, design_scene, open_world


@cache
def world_of(home: Path) -> World:
    """The world of seed 1; its towns are read once, from the base atlas in a home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(home))
        return open_world(1)


def scenes(
    world: World, count: int, *, split: Split = "train", seed: int = 5, wants: Wants | None = None
) -> list[Scene]:
    """The first scenes of a seed."""
    return [design_scene(world, seed, number, split=split, wants=wants) for number in range(count)]
