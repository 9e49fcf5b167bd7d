"""Polygons for drawing."""

import pytest
import shapely

from geosleuth.atlas.borders import Borders
from geosleuth.geo import Box
from geosleuth.support.errors import BadInput


def test_countries_around_monaco() -> None:
    shapes = Borders.load().find_shapes(Box(43.6, 7.3, 43.9, 7.6), detail="full")
    assert {shape.code for shape in shapes} == {"FR", "IT", "MC"}
    france = next(shape for shape in shapes if shape.code == "FR")
    assert france.name == "France"
    assert shapely.contains_xy(france.geometry, 2.2945, 48.8584)
    assert all(Borders.load().regions[i].country == "FR" for i in france.ids)


def test_a_box_over_the_antimeridian_sees_both_sides() -> None:
    codes = {shape.code for shape in Borders.load().find_shapes(Box(-20, 177, -15, -178))}
    assert "FJ" in codes
    assert "FR" not in codes


def test_regions_tile_their_country() -> None:
    borders = Borders.load()
    box = Box(50.5, 3.3, 53.6, 7.2)
    country = next(shape for shape in borders.find_shapes(box, detail="full") if shape.code == "NL")
    regions = [s for s in borders.find_shapes(box, level="region", detail="full") if set(s.ids) <= set(country.ids)]
    assert sum(shape.geometry.area for shape in regions) == pytest.approx(country.geometry.area, rel=1e-9)
    assert {"Utrecht", "Zeeland"} <= {shape.name for shape in regions}


def test_light_outlines_are_lighter_valid_and_nearly_the_same() -> None:
    borders = Borders.load()
    light, full = borders.country_outline("no"), borders.country_outline("NO", detail="full")
    assert light.geometry.is_valid
    assert shapely.get_num_coordinates(light.geometry) < shapely.get_num_coordinates(full.geometry) / 2
    assert light.geometry.area == pytest.approx(full.geometry.area, rel=0.01)


@pytest.mark.slow
def test_land_is_one_shape() -> None:
    (land,) = Borders.load().find_shapes(Box(40, 0, 50, 10), level="land")
    assert shapely.contains_xy(land.geometry, [2.3, 134.0, -100.0], [48.8, -25.0, 40.0]).all()
    assert not shapely.contains_xy(land.geometry, -30.0, 45.0)


@pytest.mark.parametrize("code", ["", "ZZ", "France", "x" * 1_000_000])
def test_no_such_country(code: str) -> None:
    with pytest.raises(BadInput, match="no country has the code"):
        Borders.load().country_outline(code)
