"""The script that compiles the borders, on a small world of its own; and the file it writes."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import shapely

from geosleuth.atlas.borders.borders import Borders
from geosleuth.atlas.borders.grid import Arcs, BorderLayer, read_layer, unpack
from geosleuth.support.errors import DataFault

SCRIPT = Path(__file__).parents[3] / "scripts/build_borders.py"
UNIT = 100_000


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_borders", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_borders"] = module  # dataclasses look their module up by name
    sys.path.insert(0, str(SCRIPT.parent))  # it imports the module beside it
    spec.loader.exec_module(module)
    return module


def box(west: float, south: float, east: float, north: float) -> shapely.Geometry:
    return shapely.box(round(west * UNIT), round(south * UNIT), round(east * UNIT), round(north * UNIT))


def overlaid(script: ModuleType) -> BorderLayer:
    """Country AA (an island of two regions, drawn a little off), its enclave BB, and CC without any region."""
    ground = script.Ground
    countries = [
        ground(shapely.difference(box(0, 0, 4, 2), box(1, 0.5, 1.5, 1)), "AA", "Alpha"),
        ground(box(1, 0.5, 1.5, 1), "BB", "Beta"),
        ground(box(10, 0, 11, 1), "CC", "Gamma", "CC"),
    ]
    regions = [
        ground(shapely.difference(box(0.1, 0.1, 2, 1.9), box(1.1, 0.6, 1.6, 1.1)), "AA", "West", "AA-W"),
        ground(box(2, 0.1, 3.9, 1.9), "AA", "East", "AA-E"),
        ground(box(1.1, 0.6, 1.6, 1.1), "BB", "Inner", "BB-I"),
    ]
    layer: BorderLayer = script.overlay(countries, regions, {"AA": "Alphaland"})
    return layer


@pytest.fixture(scope="module")
def small_world(script: ModuleType) -> BorderLayer:
    return overlaid(script)


@pytest.fixture(scope="module")
def borders(small_world: BorderLayer) -> Borders:
    return Borders(small_world, lambda: small_world.arcs)


@pytest.mark.parametrize(
    ("lat", "lon", "code", "land"),
    [
        (1.5, 0.5, "AA-W", True),
        (1.5, 3.0, "AA-E", True),
        (0.8, 1.2, "BB-I", True),
        (0.55, 1.05, "BB-I", True),  # the country's border decides, not the region's
        (1.05, 1.55, "AA-W", True),  # ground of the other country's region goes to the nearest of its own
        (1.0, 0.05, "AA-W", False),
        (0.05, 3.0, "AA-E", False),
        (1.95, 1.9, "AA-W", False),  # waters go to the nearest region
        (1.95, 2.1, "AA-E", False),
        (0.5, 10.5, "CC", False),
    ],
)
def test_a_country_is_divided_among_its_regions(
    borders: Borders, lat: float, lon: float, code: str, land: bool
) -> None:
    assert borders.regions[borders.lookup(lat, lon)].code == code
    assert bool(borders.is_land(lat, lon)) is land


def test_beyond_all_borders_is_nowhere(borders: Borders) -> None:
    assert borders.lookup([5.0, -1.0, 1.0], [1.0, 1.0, 7.0]).tolist() == [0, 0, 0]
    assert {region.country_name for region in borders.regions if region.country == "AA"} == {"Alphaland"}


def test_fine_polygons_get_the_name_of_their_first_level_region(script: ModuleType, small_world: BorderLayer) -> None:
    places = [(1.5, 0.5, "AA", "AA.1"), (1.2, 0.6, "AA", "AA.1"), (1.5, 3.0, "AA", "AA.1"), (0.8, 1.2, "BB", "BB.7")]
    layer = script.name_first_level(small_world, places, {"AA.1": "Whole", "BB.7": "Within"}, {"AA.1": "AA-1"})
    named = {(r.country, r.code, r.name, r.district, r.district_code, r.geonames) for r in layer.regions}
    assert ("AA", "AA-1", "Whole", "West", "AA-W", "AA.1") in named
    assert ("AA", "AA-1", "Whole", "East", "AA-E", "AA.1") in named
    assert ("BB", "BB-I", "Within", None, None, "BB.7") in named


@pytest.mark.slow
def test_same_input_same_bytes(script: ModuleType, small_world: BorderLayer, tmp_path: Path) -> None:
    for folder, layer in (("one", small_world), ("two", overlaid(script))):
        script.write(layer, tmp_path / folder)
    for name in ("borders.zip", "outlines.zip"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_what_is_written_is_read_back(script: ModuleType, small_world: BorderLayer, tmp_path: Path) -> None:
    script.write(small_world, tmp_path)
    layer = read_layer(tmp_path / "borders.zip")
    assert layer.regions == small_world.regions
    for name in ("x", "y", "starts", "left", "right"):
        assert np.array_equal(getattr(layer.arcs, name), getattr(small_world.arcs, name))
    assert np.array_equal(layer.coarse, small_world.coarse)
    assert np.array_equal(layer.blocks, small_world.blocks)
    assert len(Arcs.from_bytes(unpack(tmp_path / "outlines.zip"))) > 0


@pytest.mark.parametrize("damage", ["missing", "text", "cut"])
def test_a_damaged_file_is_a_fault_of_the_installation(
    script: ModuleType, small_world: BorderLayer, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "borders.zip"
    if damage != "missing":
        script.write(small_world, tmp_path)
        whole = path.read_bytes()
        path.write_bytes(b"not a zip" if damage == "text" else whole[: len(whole) // 2])
    with pytest.raises(DataFault, match="install geosleuth again"):
        read_layer(path)
