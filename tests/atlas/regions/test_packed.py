"""The bytes of extracts and of region files: read as osmium reads them, and refused where they are damaged."""

import random
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.regions.extract import assemble
from geosleuth.atlas.regions.geometry import (
    E7,
    extract_segments,
    nearest_points,
    pack,
    pack_lines,
    unpack,
)
from geosleuth.atlas.regions.pbf import Block, DamagedData, Nodes, Relations, Ways, blobs, build_tags

_DEGREES = st.tuples(st.integers(-1_800_000_000, 1_800_000_000), st.integers(-900_000_000, 900_000_000))


def test_an_extract_reads_as_osmium_reads_it(monaco_pbf: Path) -> None:
    import osmium

    data = monaco_pbf.read_bytes()
    found: dict[str, object] = {}
    for blob in blobs(monaco_pbf):
        block = Block(data[blob.offset : blob.offset + blob.size])
        for group in block.groups:
            found |= _objects(block.texts, group)
    expected: dict[str, object] = {}
    for one in osmium.FileProcessor(str(monaco_pbf)):
        tags = dict(one.tags)
        if isinstance(one, osmium.osm.Node):
            expected[f"n{one.id}"] = (tags, one.location.y, one.location.x)
        elif isinstance(one, osmium.osm.Way):
            expected[f"w{one.id}"] = (tags, [node.ref for node in one.nodes])
        elif isinstance(one, osmium.osm.Relation):
            expected[f"r{one.id}"] = (tags, [("nwr".index(member.type), member.ref) for member in one.members])
    assert found == expected


def _objects(texts: list[str], group: Nodes | Ways | Relations) -> dict[str, object]:
    found: dict[str, object] = {}
    for at, number in enumerate(group.ids.tolist()):
        some = slice(int(group.keys.starts[at]), int(group.keys.starts[at + 1]))
        tags = build_tags(texts, group.keys.values[some].tolist(), group.values.values[some].tolist())
        if isinstance(group, Nodes):
            found[f"n{number}"] = (tags, int(group.lats[at]), int(group.lons[at]))
        elif isinstance(group, Ways):
            refs = group.refs.values[group.refs.starts[at] : group.refs.starts[at + 1]]
            found[f"w{number}"] = (tags, refs.tolist())
        else:
            of = slice(int(group.members.starts[at]), int(group.members.starts[at + 1]))
            members = zip(group.types.values[of].tolist(), group.members.values[of].tolist(), strict=True)
            found[f"r{number}"] = (tags, list(members))
    return found


def test_a_block_with_spoilt_bytes_is_read_or_called_damaged(monaco_pbf: Path) -> None:
    import zlib

    data = monaco_pbf.read_bytes()
    chance = random.Random(5)
    wholes = []
    for blob in blobs(monaco_pbf):
        packed = data[blob.offset : blob.offset + blob.size]
        wholes.append(zlib.decompress(packed[packed.index(b"\x78") :]))
    refused = 0
    for _ in range(150):
        spoilt = bytearray(chance.choice(wholes))
        for _ in range(chance.choice([1, 5, 50])):
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
        packed = b"\x0a" + _varint(len(spoilt)) + bytes(spoilt)
        try:
            block = Block(packed)
            list(block.groups)
            assert block.texts
        except (DamagedData, UnicodeDecodeError, IndexError, ValueError):
            refused += 1
    assert refused > 20


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


@given(st.lists(st.lists(_DEGREES, min_size=2, max_size=9), min_size=1, max_size=6))
def test_lines_come_back_to_the_last_digit(lines: list[list[tuple[int, int]]]) -> None:
    at = np.array([point for line in lines for point in line])
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    for packed in (
        pack_lines(at, starts, rings=False),
        pack([shapely.LineString(np.array(one) / E7) for one in lines]),
    ):
        for line, back in zip(lines, unpack(packed), strict=True):
            assert np.rint(shapely.get_coordinates(back) * E7).astype(int).tolist() == [list(point) for point in line]


def test_areas_with_holes_and_parts_come_back() -> None:
    outer, hole = shapely.box(0, 0, 1, 1), shapely.box(0.2, 0.2, 0.4, 0.4)
    shapes = [
        outer,
        outer - hole,
        shapely.MultiPolygon([outer - hole, shapely.box(2, 2, 3, 3)]),
        shapely.MultiLineString([[(0, 0), (1, 1)], [(2, 2), (3, 3), (4, 3)]]),
        shapely.Point(7.4246162, 43.7384176),
    ]
    for shape, back in zip(shapes, unpack([*pack(shapes)]), strict=True):
        assert back.geom_type == shape.geom_type
        assert shapely.equals(back, shape)
    (from_wkb,) = unpack([shapely.to_wkb(outer)])
    assert from_wkb.equals(outer)


@given(st.binary(max_size=40), st.integers(0x10, 0x16))
def test_what_is_no_geometry_is_none_or_some(data: bytes, first: int) -> None:
    packed = [bytes([first]) + data, data, *pack([shapely.box(0, 0, 1, 1)]), None]
    found = unpack(packed)
    assert found[2].equals(shapely.box(0, 0, 1, 1))
    assert found[3] is None
    assert all(one is None or isinstance(one, shapely.Geometry) for one in found)


def test_edges_that_close_are_an_area_and_others_are_none() -> None:
    def assembled(*lines: list[tuple[float, float]]) -> shapely.Geometry | None:
        drawn = np.array([shapely.LineString(line) for line in lines], dtype=object)
        ends = np.array([[hash(line[0]), hash(line[-1])] for line in lines])
        return assemble(drawn, ends)

    half, other = [(0.0, 0.0), (0.0, 2.0), (2.0, 2.0)], [(2.0, 2.0), (2.0, 0.0), (0.0, 0.0)]
    hole = [(0.5, 0.5), (1, 0.5), (1, 1), (0.5, 0.5)]
    area = assembled(half, other, hole)
    assert area is not None
    assert area.area == pytest.approx(4 - 0.125)
    assert assembled(half) is None
    assert assembled(half, other, [(0.0, 0.0), (9.0, 9.0)]) is None


def test_nearest_points_are_those_of_shapely() -> None:
    chance = np.random.default_rng(27)
    ring = [(0, 0), (0.01, 0), (0.01, 0.01), (0, 0.01)]
    hole = [(0.004, 0.004), (0.006, 0.004), (0.006, 0.006), (0.004, 0.006)]
    for _ in range(50):
        line = shapely.LineString(chance.uniform(-0.02, 0.02, (6, 2)))
        other = shapely.LineString(chance.uniform(-0.02, 0.02, (2, 2)))
        shapes = [
            line, shapely.MultiLineString([line, other]), shapely.Point(*chance.uniform(-0.02, 0.02, 2)),
            shapely.Polygon(ring), shapely.Polygon(ring, [hole]),
            shapely.MultiPolygon([shapely.Polygon(ring, [hole]), shapely.Polygon([(1, 1), (1, 2), (2, 2)])]),
        ]  # fmt: skip
        lon, lat = chance.uniform(-0.012, 0.012, 2)
        found = nearest_points(extract_segments(pack(shapes)), float(lat), float(lon))
        metres = np.hypot(found[:, 0] - lat, found[:, 1] - lon)
        assert metres == pytest.approx(shapely.distance(shapes, shapely.Point(lon, lat)), abs=2e-7)


@given(st.binary(min_size=1, max_size=40))
def test_nearest_points_of_spoilt_bytes_are_refused_or_on_earth(blob: bytes) -> None:
    try:
        ((lat, _),) = nearest_points(extract_segments([blob]), 1.0, 2.0)
    except (ValueError, LookupError, ArithmeticError, TypeError):
        return
    assert abs(lat) <= 90.0001
