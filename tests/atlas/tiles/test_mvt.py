"""What the encoder writes is what an independent reader finds."""

from itertools import pairwise
from typing import Any

import mapbox_vector_tile
import numpy as np
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.tiles.mvt import EXTENT, Feature, Value, encode_tile

UNITS = st.integers(-EXTENT, 2 * EXTENT)
POINTS = st.tuples(UNITS, UNITS)


def shapes(*found: shapely.Geometry) -> Any:
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return out


def read(tile: bytes) -> Any:
    return mapbox_vector_tile.decode(tile, default_options={"y_coord_down": True})


@given(st.lists(st.lists(POINTS, min_size=1, max_size=6, unique=True), min_size=1, max_size=5))
def test_points_come_back(groups: list[list[tuple[int, int]]]) -> None:
    features = [Feature(shapely.points(group), {"number": at}) for at, group in enumerate(groups)]
    found = read(encode_tile({"spots": features}))["spots"]["features"]
    assert [one["properties"]["number"] for one in found] == list(range(len(groups)))
    for one, group in zip(found, groups, strict=True):
        assert shapely.equals(shapely.MultiPoint(group), shapely.geometry.shape(one["geometry"]))


@given(st.lists(st.lists(POINTS, min_size=2, max_size=9), min_size=1, max_size=6))
def test_lines_come_back_without_repeated_corners(lines: list[list[tuple[int, int]]]) -> None:
    features = [Feature(shapes(shapely.LineString(line)), {"at": at}) for at, line in enumerate(lines)]
    wanted = {}
    for at, line in enumerate(lines):
        kept = [line[0], *(second for first, second in pairwise(line) if first != second)]
        if len(kept) > 1:
            wanted[at] = [list(corner) for corner in kept]
    tile = encode_tile({"ways": features})
    found = read(tile)["ways"]["features"] if tile else []
    assert {one["properties"]["at"]: [list(c) for c in one["geometry"]["coordinates"]] for one in found} == wanted


@given(
    st.lists(st.tuples(UNITS, UNITS, st.integers(4, 400), st.integers(4, 400)), min_size=1, max_size=6), st.booleans()
)
def test_polygons_keep_holes_and_run_the_right_way(boxes: list[tuple[int, int, int, int]], turned: bool) -> None:
    polygons = []
    for x, y, wide, high in boxes:
        hole = [(x + 1, y + 1), (x + wide - 1, y + 1), (x + wide - 1, y + high - 1), (x + 1, y + high - 1)]
        polygon = shapely.Polygon([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)], [hole])
        polygons.append(shapely.reverse(polygon) if turned else polygon)
    # One feature for each, and one more with all of them.
    features = [Feature(shapes(polygon), {"n": at}) for at, polygon in enumerate(polygons)]
    features.append(Feature(shapes(*polygons), {"n": len(polygons)}))
    found = read(encode_tile({"areas": features}))["areas"]["features"]
    assert len(found) == len(boxes) + 1
    for one, polygon in zip(found, polygons, strict=False):
        back = shapely.geometry.shape(one["geometry"])
        assert shapely.equals(back, polygon)
        assert len(back.interiors) == 1
    whole = shapely.geometry.shape(found[-1]["geometry"])
    assert whole.area == sum(polygon.area for polygon in polygons)


def test_what_rounds_to_nothing_is_left_out() -> None:
    speck = shapely.Polygon([(5, 5), (5.2, 5), (5.2, 5.2)])
    holed = shapely.Polygon([(0, 0), (9, 0), (9, 9), (0, 9)], [[(3, 3), (3.2, 3), (3.2, 3.2)]])
    still = shapely.LineString([(1, 1), (1.3, 1.3)])
    tile = read(encode_tile({"a": [Feature(shapes(speck)), Feature(shapes(holed)), Feature(shapes(still))]}))
    (one,) = tile["a"]["features"]
    assert shapely.geometry.shape(one["geometry"]).area == 81
    assert encode_tile({"a": [Feature(shapes(speck, still))], "b": []}) == b""


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.one_of(st.text(max_size=20), st.booleans(), st.integers(-(2**31), 2**31), st.floats(allow_nan=False)),
        max_size=6,
    )
)
def test_properties_of_every_kind_come_back(properties: dict[str, Value]) -> None:
    tile = encode_tile({"spots": [Feature(shapely.points([[1, 2]]), properties)]})
    assert read(tile)["spots"]["features"][0]["properties"] == properties


def test_half_a_surrogate_pair_does_not_stop_a_tile() -> None:
    tile = encode_tile({"spots": [Feature(shapely.points([[1, 2]]), {"name": "a\ud83d"})]})
    assert read(tile)["spots"]["features"][0]["properties"]["name"].startswith("a")
