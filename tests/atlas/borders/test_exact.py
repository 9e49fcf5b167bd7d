"""The grid against plain shapely, over the polygons that ship."""

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.borders.borders import Outlines
from geosleuth.atlas.borders.grid import Grid, LocalGrids, read_layer
from geosleuth.geo import Box

Floats = npt.NDArray[np.float64]
WORLD = Box(-90, -180, 90, 180)


@pytest.fixture(scope="module")
def polygons() -> npt.NDArray[np.object_]:
    """Each region's land, in the order of the table."""
    borders = Borders.load()
    outlines = Outlines(read_layer().arcs, borders.regions, "region")
    found = {shape.ids[0]: shape.geometry for shape in outlines.within(WORLD)}
    return np.array([found.get(i, shapely.MultiPolygon()) for i in range(len(borders.regions))], dtype=object)


def by_shapely(polygons: npt.NDArray[np.object_], lats: Floats, lons: Floats) -> npt.NDArray[np.int64]:
    points = shapely.points(lons, lats)
    which, polygon = shapely.STRtree(polygons).query(points, predicate="within")
    assert len(np.unique(which)) == len(which), "polygons overlap"
    answer = np.zeros(len(lats), dtype=np.int64)
    answer[which] = polygon
    return answer


def evenly(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    return np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)


def test_a_few_points_are_looked_up_without_the_grid_of_the_world_and_the_same() -> None:
    layer = read_layer()
    rng = np.random.default_rng(3)
    near = rng.choice(layer.arcs.edges(), 150, replace=False)
    evenly_lats, evenly_lons = evenly(rng, 150)
    odd = np.array([[90, 0], [-90, 0], [0, 180], [0, -180], [np.nan, 3], [91, 0], [-16.5, 179.9999999], [65, -180]])
    lats = np.concatenate([evenly_lats, layer.arcs.y[near] / 1e5 + rng.normal(0, 0.003, 150), odd[:, 0]])
    lons = np.concatenate([evenly_lons, layer.arcs.x[near] / 1e5 + rng.normal(0, 0.003, 150), odd[:, 1]])
    local = LocalGrids(layer)
    found = [local.label(lat, lon) for lat, lon in zip(lats.tolist(), lons.tolist(), strict=True)]
    assert len(local.made) > 100
    assert found == Grid(layer).labels(lats, lons).tolist()


@pytest.mark.slow
def test_random_land_points(polygons: npt.NDArray[np.object_]) -> None:
    borders = Borders.load()
    lats, lons = evenly(np.random.default_rng(7), 20_000)
    land = borders.is_land(lats, lons)
    assert land.sum() > 5_000
    expected = by_shapely(polygons, lats, lons)
    assert np.array_equal(borders.lookup(lats, lons, waters=False), expected)
    assert np.array_equal(land, expected > 0)


@pytest.mark.parametrize("off_deg", [1e-3, pytest.param(1e-5, marks=pytest.mark.slow)])
def test_points_a_hundred_metres_and_one_metre_off_a_border(polygons: npt.NDArray[np.object_], off_deg: float) -> None:
    rng = np.random.default_rng(11)
    arcs = read_layer().arcs
    edge = rng.choice(arcs.edges(), 6_000, replace=False)
    along, angle = rng.uniform(0, 1, len(edge)), rng.uniform(0, 2 * np.pi, len(edge))
    lons = (arcs.x[edge] + along * (arcs.x[edge + 1] - arcs.x[edge])) / 1e5 + off_deg * np.cos(angle)
    lats = (arcs.y[edge] + along * (arcs.y[edge + 1] - arcs.y[edge])) / 1e5 + off_deg * np.sin(angle)
    inside = (np.abs(lats) < 90) & (np.abs(lons) < 180)
    lats, lons = lats[inside], lons[inside]
    assert np.array_equal(Borders.load().lookup(lats, lons, waters=False), by_shapely(polygons, lats, lons))


def test_the_land_has_no_gaps_between_regions(polygons: npt.NDArray[np.object_]) -> None:
    borders = Borders.load()
    ids = [i for i, region in enumerate(borders.regions) if region.country == "CH"]
    whole = shapely.union_all(polygons[ids])
    assert whole.area == pytest.approx(sum(polygons[i].area for i in ids), rel=1e-9)
    assert shapely.get_num_geometries(whole) == 1


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=40))
def test_a_batch_is_its_points(points: list[tuple[float, float]]) -> None:
    borders = Borders.load()
    lats, lons = np.array(points).T
    one_by_one = [int(borders.lookup(lat, lon)) for lat, lon in points]
    assert borders.lookup(lats, lons).tolist() == one_by_one


@given(st.floats(-90, 90))
def test_the_antimeridian_has_two_names(lat: float) -> None:
    borders = Borders.load()
    assert borders.lookup(lat, 180.0) == borders.lookup(lat, -180.0)


@pytest.mark.parametrize("lon", [-180.0, -90.0, 0.0, 90.0, 180.0])
def test_poles(lon: float) -> None:
    borders = Borders.load()
    assert borders.lookup(90.0, lon) == 0
    assert borders.regions[borders.lookup(-90.0, lon)].country == "AQ"


def test_what_is_no_point_is_nowhere() -> None:
    borders = Borders.load()
    nan, inf = float("nan"), float("inf")
    lats = [nan, 48.8584, inf, 90.001, -91.0, 48.8584, 48.8584]
    lons = [2.0, nan, 2.0, 2.0, 2.0, 180.001, 2.2945]
    assert (borders.lookup(lats, lons) > 0).tolist() == [False] * 6 + [True]
    assert borders.reverse(nan, 0.0) is None
    assert borders.reverse(0.0, 181.0) is None


def test_shapes_of_the_input_are_kept() -> None:
    borders = Borders.load()
    assert borders.lookup(48.8584, 2.2945).shape == ()
    assert borders.lookup([], []).shape == (0,)
    assert borders.lookup(np.zeros((3, 4)), np.zeros((3, 4))).shape == (3, 4)
    assert borders.lookup(np.array([48.8584], dtype=np.float32), np.array([2.2945], dtype=np.float32))[0] > 0
