"""``--within``: names in other languages, and polygons as they are drawn."""

import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.evidence.heartlands import heartland, shares_within
from geosleuth.geo import Box, Disc, LatLon
from geosleuth.geo.extent import Outline, build_outline
from geosleuth.pipeline.area import Area, build_drawn_area, parse_area
from geosleuth.support.errors import BadInput

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
HOLE = [[4, 4], [6, 4], [6, 6], [4, 6], [4, 4]]


def written(folder: Path, *geometries: dict[str, Any]) -> Area:
    path = folder / "area.geojson"
    features = [{"type": "Feature", "properties": {}, "geometry": one} for one in geometries]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    area = parse_area(str(path))
    assert area is not None
    return area


def box_of(area: Area) -> tuple[float, float, float, float]:
    assert isinstance(area.extent, Outline)
    return area.extent.south, area.extent.west, area.extent.north, area.extent.east


@pytest.mark.parametrize(
    ("name", "english", "inside", "outside"),
    [
        ("Bayern", "Bavaria, Germany", LatLon(48.137, 11.575), LatLon(48.775, 9.182)),
        ("ile de france", "Île-de-France, France", LatLon(48.857, 2.351), LatLon(49.443, 1.099)),
        ("Katalonien", "Catalonia, Spain", LatLon(41.385, 2.173), LatLon(41.656, -0.877)),
        ("Toskana, Italien", "Tuscany, Italy", LatLon(43.77, 11.25), LatLon(44.49, 11.34)),
        ("北海道", "Hokkaido, Japan", LatLon(43.06, 141.35), LatLon(40.82, 140.74)),
        ("DE-BY", "Bavaria, Germany", LatLon(48.137, 11.575), LatLon(48.775, 9.182)),
    ],
)
def test_regions_go_by_their_names_in_other_languages(name: str, english: str, inside: LatLon, outside: LatLon) -> None:
    area = parse_area(name)
    assert area is not None
    assert area.words == english
    assert area.contains(inside)
    assert not area.contains(outside)


def test_a_region_is_its_outline_and_not_the_box_around_it() -> None:
    area = parse_area("Bayern")
    assert area is not None
    salzburg = LatLon(47.8, 13.05)
    assert isinstance(area.extent, Outline)
    assert Box.contains(area.extent, salzburg)
    assert not area.contains(salzburg)


def test_a_region_on_both_sides_of_the_antimeridian_has_a_narrow_box() -> None:
    area = parse_area("Chukotka")
    assert area is not None
    _, west, _, east = box_of(area)
    assert 150 < west < 180
    assert -180 < east < -160
    assert area.contains(LatLon(64.73, 177.51))
    assert area.contains(LatLon(66.0, -171.0))
    assert not area.contains(LatLon(64.5, -165.4)), "Nome is in Alaska"


def test_holes_are_outside(tmp_path: Path) -> None:
    area = written(tmp_path, {"type": "Polygon", "coordinates": [SQUARE, HOLE]})
    assert area.contains(LatLon(2, 2))
    assert not area.contains(LatLon(5, 5))
    assert not area.contains(LatLon(11, 5))


def test_parts_and_features_are_put_together(tmp_path: Path) -> None:
    far = [[[20, 20], [21, 20], [21, 21], [20, 21], [20, 20]]]
    area = written(
        tmp_path,
        {"type": "MultiPolygon", "coordinates": [[SQUARE, HOLE], far]},
        {"type": "Polygon", "coordinates": [[[40, 0], [41, 0], [41, 1], [40, 1], [40, 0]]]},
    )
    assert [area.contains(LatLon(*at)) for at in ((2, 2), (5, 5), (20.5, 20.5), (0.5, 40.5), (15, 15))] == [
        True, False, True, True, False,
    ]  # fmt: skip
    assert box_of(area) == (0, 0, 21, 41)


@pytest.mark.parametrize(
    "parts",
    [
        [[[170, -20], [190, -20], [190, -10], [170, -10], [170, -20]]],
        [[[-190, -20], [-170, -20], [-170, -10], [-190, -10], [-190, -20]]],
        [
            [[170, -20], [180, -20], [180, -10], [170, -10], [170, -20]],
            [[-180, -20], [-170, -20], [-170, -10], [-180, -10], [-180, -20]],
        ],
    ],
)
def test_polygons_cross_the_antimeridian(tmp_path: Path, parts: list[Any]) -> None:
    area = written(tmp_path, {"type": "MultiPolygon", "coordinates": [[ring] for ring in parts]})
    assert box_of(area) == (-20, 170, -10, -170)
    for lon, there in ((175, True), (-175, True), (180, True), (-180, True), (0, False), (165, False), (-165, False)):
        assert area.contains(LatLon(-15, lon)) is there, lon
    assert area.extent is not None
    assert set(shares_within(area.extent)) == {"AS", "FJ", "WF", "WS"}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("", "is no GeoJSON"),
        ("[]", "is no GeoJSON"),
        ("{}", "is no GeoJSON"),
        ('{"type": "FeatureCollection", "features": []}', "holds no polygon"),
        ('{"type": "Polygon", "coordinates": []}', "holds no polygon"),
        ('{"type": "Point", "coordinates": [1, 2]}', "holds no polygon"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]}', "is no"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [2, 2], [0, 0]]]}', "with an area"),
        ('{"type": "Polygon", "coordinates": [[[0, 95], [1, 95], [1, 96], [0, 95]]]}', "longitude and latitude"),
        ('{"type": "Polygon", "coordinates": [[[NaN, 0], [1, 0], [1, 1], [NaN, 0]]]}', "is no"),
        ('{"type": "Polygon", "coordinates": [[[179, 0], [-179, 0], [-179, 1], [179, 1], [179, 0]]]}', "180 degrees"),
    ],
)
def test_files_that_are_no_area(tmp_path: Path, document: str, reason: str) -> None:
    path = tmp_path / "area.geojson"
    path.write_text(document, encoding="utf-8")
    with pytest.raises(BadInput, match=reason) as told:
        parse_area(str(path))
    assert "\n" not in str(told.value)


def _tangle(corners: int, seed: int = 1, *, at: float = 0.0, side: float = 1.0) -> list[list[float]]:
    """Return a ring whose edges nearly all cross."""
    ring = (np.random.default_rng(seed).random((corners, 2)) * side + at).tolist()
    return [*ring, ring[0]]


def _folded(corners: int) -> list[list[float]]:
    """Return a ring without any crossing whose edges all lie across each other's bounding boxes."""
    there = [(at / corners, float(at % 2)) for at in range(corners // 2)]
    ring = there + [(x, y - 0.1 / corners) for x, y in reversed(there)]
    turned = [[x + y, y - x] for x, y in ring]
    return [*turned, turned[0]]


def _circle(corners: int) -> list[list[float]]:
    around = np.linspace(0, 2 * np.pi, corners)
    ring: list[list[float]] = np.column_stack([np.cos(around), np.sin(around)]).round(9).tolist()
    return ring


@pytest.mark.parametrize(
    ("rings", "refusal"),
    [
        ([_tangle(20_000)], "edges cross each other"),
        ([_folded(20_000)], "edges cross each other"),
        ([_tangle(20, at, at=at / 1000, side=0.001) for at in range(4_000)], "edges cross each other"),
        ([_circle(100_001)], "100,001 corners; simplify it to 100,000 at most"),
        ([_tangle(60)], None),
        ([_circle(100_000)], None),
        ([[[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]]], None),
    ],
    ids=["20000", "folded", "many", "corners", "60", "circle", "bow-tie"],
)
def test_polygons_that_cross_themselves_are_answered_soon(
    tmp_path: Path, rings: list[Any], refusal: str | None
) -> None:
    drawn = {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}
    began = process_time()
    if refusal is None:
        assert isinstance(build_drawn_area(drawn).extent, Outline)
    else:
        with pytest.raises(BadInput, match=refusal):
            build_drawn_area(drawn)
        assert process_time() - began < 2
        with pytest.raises(BadInput, match=refusal):
            written(tmp_path, drawn)
    assert process_time() - began < 5


def test_a_sliver_that_vanishes_when_it_is_put_together_is_no_area() -> None:
    ring = [[0.0, 90], [5e-324, 90], [175.1698915185247, 5.887999446254099], [0.0, 90]]
    with pytest.raises(BadInput, match="with an area"):
        build_drawn_area({"type": "MultiPolygon", "coordinates": [[ring], [ring]]})


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-170, 160), st.floats(-80, 70), st.floats(0.1, 20), st.floats(0.1, 20)),
        min_size=1,
        max_size=4,
    ),
    st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=30),
)
def test_an_outline_holds_what_shapely_says(
    boxes: list[tuple[float, float, float, float]], points: list[tuple[float, float]]
) -> None:
    shapes = [shapely.box(west, south, min(west + wide, 179), south + high) for west, south, wide, high in boxes]
    outline, union = build_outline(shapes), shapely.union_all(shapes)
    lats, lons = np.array(points).T
    held = outline.holds(lats, lons)
    for (lat, lon), inside in zip(points, held.tolist(), strict=True):
        assert inside == outline.contains(LatLon(lat, lon))
        # GEOS divides by the tiniest of coordinates, and notes it.
        with np.errstate(divide="ignore", invalid="ignore"):
            away_deg = shapely.distance(union.boundary, shapely.Point(lon, lat))
        if away_deg > 1e-9:
            assert inside == shapely.intersects_xy(union, lon, lat)
        if inside:
            assert Box(outline.south, outline.west, outline.north, outline.east).contains(LatLon(lat, lon))
    assert outline.contains(outline.centre)


@given(
    st.one_of(
        st.builds(
            lambda a, b, west, east: Box(min(a, b), west, max(a, b), east),
            st.floats(-90, 90), st.floats(-90, 90), st.floats(-180, 180), st.floats(-180, 180),
        ),
        st.builds(lambda lat, lon, km: Disc(LatLon(lat, lon), km), st.floats(-90, 90), st.floats(-180, 180),
                  st.floats(0, 9000)),
    ),
    st.tuples(st.sampled_from([-90.0, 0.0, 45.5, 90.0]), st.sampled_from([-180.0, -1.0, 0.0, 77.7, 180.0])),
)  # fmt: skip
def test_extents_hold_many_points_as_they_hold_one(extent: Box | Disc, point: tuple[float, float]) -> None:
    held = extent.holds(np.array([point[0]]), np.array([point[1]]))
    assert bool(held[0]) == extent.contains(LatLon(*point))


def test_the_country_is_told_by_the_polygon_and_not_by_its_box(tmp_path: Path) -> None:
    lean = [[-5.5, 43.4], [2.0, 43.4], [9.0, 51.0], [-5.5, 43.4]]
    area = written(tmp_path, {"type": "Polygon", "coordinates": [lean]})
    assert area.extent is not None
    assert "CH" not in shares_within(area.extent)
    land = heartland("FR", area.extent)
    assert land is not None
    assert area.contains(land.point)


def test_a_country_is_looked_up_by_its_borders() -> None:
    area = parse_area("Frankreich")
    assert area is not None
    assert area.contains(LatLon(48.857, 2.351))
    assert not area.contains(LatLon(50.85, 4.35))
