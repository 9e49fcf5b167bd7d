"""Regions with the real tables, tiles made from them, and an independent reader of what was made."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mapbox_vector_tile
import pytest

from geosleuth.atlas.base import base_path
from geosleuth.atlas.tiles import TileMaker
from homes import add_region

ROOT = Path(__file__).parents[3]

Read = Callable[[bytes], dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="session")
def monaco(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Monaco as its one region; not to be written to."""
    folder = tmp_path_factory.mktemp("regions")
    add_region(ROOT / "examples/regions/monaco.osm.pbf", folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _home_with_base(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(tmp_path_factory.mktemp("home")))
        base_path().parent.mkdir(parents=True)
        base_path().symlink_to(base_file)
        yield


@pytest.fixture(scope="module")
def tiles(monaco: Path, tmp_path_factory: pytest.TempPathFactory) -> TileMaker:
    return TileMaker(monaco, cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def bare(tmp_path: Path) -> TileMaker:
    """The world without any region."""
    return TileMaker(tmp_path / "none", cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def read() -> Read:
    """Features of a tile by layer, as Mapbox's own reader finds them; y downwards, as in the file."""

    def decode(tile: bytes) -> dict[str, list[dict[str, Any]]]:
        options = {"y_coord_down": True}
        found = mapbox_vector_tile.decode(tile, default_options=options)
        return {name: layer["features"] for name, layer in found.items()}

    return decode
