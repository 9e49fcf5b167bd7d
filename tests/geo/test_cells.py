import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.geo import CellGrid, LatLon

GRIDS = st.builds(CellGrid, st.sampled_from([0.01, 0.1, 0.25, 1, 7.5, 45, 90, 180]), st.booleans())
LAT = st.one_of(st.floats(-90, 90), st.integers(-900, 900).map(lambda tenths: tenths / 10))
LON = st.one_of(st.floats(-180, 180), st.integers(-1800, 1800).map(lambda tenths: tenths / 10))


@given(GRIDS, LAT, LON)
def test_a_cell_covers_its_points(grid: CellGrid, lat: float, lon: float) -> None:
    cell = int(grid.find_cells(lat, lon))
    bounds = grid.cell_bounds(cell)
    assert 0 <= cell < len(grid)
    assert bounds.contains(LatLon(lat, lon))
    assert lat < bounds.north or lat == 90
    assert lon < bounds.east or lon == 180 or abs(lat) == 90


@given(GRIDS, st.data())
def test_the_centre_of_a_cell_lies_in_it(grid: CellGrid, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, len(grid) - 1))
    centre = grid.cell_centre(cell)
    assert int(grid.find_cells(centre.lat, centre.lon)) == cell
    bounds = grid.cell_bounds(cell)
    assert int(grid.find_cells(bounds.south, bounds.west)) == cell or bounds.south == -90


@given(GRIDS, LAT, LON)
def test_one_place_has_one_cell_whatever_its_name(grid: CellGrid, lat: float, lon: float) -> None:
    assert grid.find_cells(lat, 180.0) == grid.find_cells(lat, -180.0)
    assert grid.find_cells(90.0, lon) == grid.find_cells(90.0, 0.0)
    assert grid.find_cells(-90.0, lon) == grid.find_cells(-90.0, 0.0)


@pytest.mark.parametrize(("size", "worst"), [(0.1, 0.05), (1, 0.05), (5, 0.07)])
def test_equal_area_cells_are_about_equal(size: float, worst: float) -> None:
    grid = CellGrid(size, equal_area=True)
    wanted = math.radians(size) ** 2
    for row in range(grid.rows):
        south = -90 + (row + 0.5) * size
        bounds = grid.cell_bounds(int(grid.find_cells(south, 0.0)))
        zone = math.sin(math.radians(bounds.north)) - math.sin(math.radians(bounds.south))
        assert zone * math.radians(bounds.width_deg) == pytest.approx(wanted, rel=worst)


@pytest.mark.parametrize("equal_area", [False, True])
def test_cells_tile_the_globe(equal_area: bool) -> None:
    grid = CellGrid(7.5, equal_area)
    total = 0.0
    for cell in range(len(grid)):
        bounds = grid.cell_bounds(cell)
        zone = math.sin(math.radians(bounds.north)) - math.sin(math.radians(bounds.south))
        total += zone * math.radians(bounds.width_deg)
    assert total == pytest.approx(4 * math.pi)


@pytest.mark.parametrize("size", [0, -1, 7, 181, math.nan, 0.0001])
def test_sizes_that_do_not_fit_are_refused(size: float) -> None:
    with pytest.raises(ValueError, match="cell size must"):
        CellGrid(size)


@pytest.mark.parametrize("cell", [-1, 64800])
def test_cells_that_are_not_there_are_refused(cell: int) -> None:
    with pytest.raises(IndexError, match="cells 0 to 64799"):
        CellGrid(1).cell_bounds(cell)
