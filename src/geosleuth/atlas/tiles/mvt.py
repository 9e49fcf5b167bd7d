"""Encode Mapbox Vector Tiles 2.1 with numpy (`encode_tile`), and convert geometries to a tile's units (`TileFrame`).

A tile's units count from its upper left corner, y downwards, and are rounded to whole numbers on encoding. Geometries
that vanish by rounding (a ring without area, a line without length) are left out, and so are features without any.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.atlas.maps.canvas import MapView
from geosleuth.atlas.maps.layers import cut
from geosleuth.geo import FloatArray, LatLon
from geosleuth.geo.extent import repair
from geosleuth.support.errors import BadInput

# Units across a tile.
EXTENT: Final = 4096

Value = str | int | float | bool
Geometries = npt.NDArray[np.object_]
Ints = npt.NDArray[np.int64]

_POINT, _LINE, _POLYGON = 1, 2, 3
_MOVE, _DRAW, _CLOSE = 1, 2, 7

# Maximum zoom with tiles of its own (a unit is about 15 cm); closer views enlarge these tiles.
MAX_ZOOM = 16
# Units beyond the tile's edge up to which shapes are kept, so that strokes don't end at the edge.
BUFFER = 64
# A page shows a tile, 512 pixels wide, until the next zoom begins, at up to twice its size. Drawn maps count zooms by
# tiles of 256 pixels, so a tile corresponds to drawn maps of one to two zooms more. Its content is chosen as for the
# first of these, which keeps wide views uncluttered, and from the zoom of buildings on as for one halfway between.
_CLOSE_FROM_ZOOM = 14
_ZOOM_OFFSET, _ZOOM_OFFSET_CLOSE = 0.99, 1.49
_VIEW_PX, _VIEW_PX_CLOSE = 512, 724
# Width at which a page shows a tile at the start of its zoom level.
TILE_PX = 512
_WHOLE_WORLD = MapView(LatLon(0, 0), 0, 256, 256)


@dataclass(frozen=True, slots=True)
class Feature:
    """Points, lines or polygons that share one set of properties; lines among polygons are skipped."""

    geometries: Geometries
    properties: Mapping[str, Value] = field(default_factory=dict)


def encode_tile(layers: Mapping[str, Sequence[Feature]]) -> bytes:
    """Encode layers as a tile, in their order; empty layers are left out, and an empty tile has no bytes."""
    return b"".join(_field(3, layer) for name, features in layers.items() if (layer := _encode_layer(name, features)))


def _encode_layer(name: str, features: Sequence[Feature]) -> bytes:
    commands = _feature_commands(features)
    keys: dict[str, int] = {}
    values: dict[bytes, int] = {}
    written = []
    for feature, (kind, geometry) in zip(features, commands, strict=True):
        if not geometry:
            continue
        tags = bytearray()
        for key, value in feature.properties.items():
            tags += _varint(keys.setdefault(key, len(keys)))
            tags += _varint(values.setdefault(_encode_value(value), len(values)))
        body = (_field(2, bytes(tags)) if tags else b"") + bytes((3 << 3, kind)) + _field(4, geometry)
        written.append(_field(2, body))
    if not written:
        return b""
    parts = [_field(1, name.encode()), *written]
    parts += [_field(3, key.encode()) for key in keys]
    parts += [_field(4, value) for value in values]
    return b"".join(parts) + bytes((5 << 3,)) + _varint(EXTENT) + bytes((15 << 3, 2))


def _feature_commands(features: Sequence[Feature]) -> list[tuple[int, bytes]]:
    """Return geometry type and encoded commands of each feature; no bytes for features that vanish."""
    out: list[tuple[int, bytes]] = [(0, b"")] * len(features)
    if not features:
        return out
    owner = np.repeat(np.arange(len(features)), [len(feature.geometries) for feature in features])
    parts, owner = _single_parts(np.concatenate([feature.geometries for feature in features]), owner)
    # The format's types 1, 2, 3 are shapely's dimensions 0, 1, 2. A clip polygon may leave stray lines.
    kinds = shapely.get_dimensions(parts) + 1
    kind_of = np.zeros(len(features), dtype=np.int64)
    np.maximum.at(kind_of, owner, kinds)
    for kind, encode in ((_POINT, _point_commands), (_LINE, _line_commands), (_POLYGON, _polygon_commands)):
        of_kind = np.flatnonzero(kind_of == kind)
        chosen = (kinds == kind) & (kind_of[owner] == kind)
        if len(of_kind):
            packed = encode(parts[chosen], np.searchsorted(of_kind, owner[chosen]), len(of_kind))
            for number, geometry in zip(of_kind.tolist(), packed, strict=True):
                out[number] = (kind, geometry)
    return out


def _single_parts(shapes: Geometries, owner: Ints) -> tuple[Geometries, Ints]:
    """Split multi-part shapes; return single parts and the feature of each. Splitting copies, so others are kept."""
    not_empty = ~shapely.is_empty(shapes)
    shapes, owner = shapes[not_empty], owner[not_empty]
    is_multi = shapely.get_type_id(shapes) > shapely.GeometryType.POLYGON
    if not is_multi.any():
        return shapes, owner
    parts, multi = shapely.get_parts(shapes[is_multi], return_index=True)
    owner = np.concatenate([owner[~is_multi], owner[is_multi][multi]])
    order = np.argsort(owner, kind="stable")
    return np.concatenate([shapes[~is_multi], parts])[order], owner[order]


def _point_commands(points: Geometries, owner: Ints, count: int) -> list[bytes]:
    spots = np.rint(shapely.get_coordinates(points)).astype(np.int64)
    size = np.bincount(owner, minlength=count)
    begin = np.concatenate(([0], np.cumsum(size)))
    steps = spots.copy()
    steps[1:] -= spots[:-1]
    first = begin[:-1][size > 0]
    steps[first] = spots[first]
    packed, ends = _varints(_zigzag(steps).reshape(-1))
    out = []
    for low, high in pairwise(begin.tolist()):
        steps_of_feature = packed[ends[2 * low] : ends[2 * high]].tobytes()
        out.append(_varint(_MOVE | (high - low) << 3) + steps_of_feature if steps_of_feature else b"")
    return out


def _line_commands(lines: Geometries, owner: Ints, count: int) -> list[bytes]:
    corners, path = _round_corners(lines)
    size = np.bincount(path, minlength=len(lines))
    keep = size >= 2
    return _path_commands(corners[keep[path]], size[keep], owner[keep], count, closed=False)


def _polygon_commands(polygons: Geometries, owner: Ints, count: int) -> list[bytes]:
    rings, polygon = shapely.get_rings(polygons, return_index=True)
    corners, path = _round_corners(rings)
    begin = np.searchsorted(path, np.arange(len(rings) + 1))
    # The format closes rings by a command, so the last corner, which repeats the first, is dropped.
    size = np.diff(begin) - 1
    last = np.zeros(len(corners), dtype=bool)
    last[begin[1:][size >= 0] - 1] = True
    corners, path = corners[~last], path[~last]
    size = np.maximum(size, 0)
    begin = np.concatenate(([0], np.cumsum(size)))
    area = _compute_doubled_areas(corners, begin, size)
    outer = np.ones(len(rings), dtype=bool)
    outer[1:] = polygon[1:] != polygon[:-1]
    degenerate = (size < 3) | (area == 0)
    vanished = np.zeros(len(polygons), dtype=bool)
    vanished[polygon[outer & degenerate]] = True
    keep = ~degenerate & ~vanished[polygon]
    # The format requires a positive area of outer rings and a negative one of holes.
    reversed_ring = (area > 0) != outer
    at = np.arange(len(corners)) - begin[path]
    at = np.where(reversed_ring[path], size[path] - 1 - at, at) + begin[path]
    return _path_commands(corners[at][keep[path]], size[keep], owner[polygon[keep]], count, closed=True)


def _round_corners(paths: Geometries) -> tuple[Ints, Ints]:
    """Return corners in whole units, without repeats, and the path of each."""
    coords, path = shapely.get_coordinates(paths, return_index=True)
    corners = np.rint(coords).astype(np.int64)
    keep = np.ones(len(corners), dtype=bool)
    keep[1:] = (corners[1:] != corners[:-1]).any(axis=1) | (path[1:] != path[:-1])
    return corners[keep], path[keep]


def _compute_doubled_areas(corners: Ints, begin: Ints, size: Ints) -> Ints:
    """Return twice the signed area of each ring."""
    following = np.arange(1, len(corners) + 1)
    not_empty = size > 0
    following[begin[1:][not_empty] - 1] = begin[:-1][not_empty]
    x, y = corners.T
    sums = np.concatenate(([0], np.cumsum(x * y[following] - x[following] * y)))
    areas: Ints = sums[begin[1:]] - sums[begin[:-1]]
    return areas


def _path_commands(corners: Ints, size: Ints, owner: Ints, count: int, *, closed: bool) -> list[bytes]:
    """Encode the paths of each owner: move to the first corner, draw to the others, close if it is a ring."""
    if not len(size):
        return [b""] * count
    begin = np.cumsum(size) - size
    steps = corners.copy()
    steps[1:] -= corners[:-1]
    starts_owner = np.ones(len(size), dtype=bool)
    starts_owner[1:] = owner[1:] != owner[:-1]
    steps[begin[starts_owner]] = corners[begin[starts_owner]]
    length = 2 * size + 2 + closed
    to = np.cumsum(length) - length
    stream = np.empty(int(length.sum()), dtype=np.uint64)
    stream[to] = _MOVE | 1 << 3
    stream[to + 3] = (_DRAW | (size - 1) << 3).astype(np.uint64)
    if closed:
        stream[to + length - 1] = _CLOSE | 1 << 3
    within = np.arange(len(corners)) - np.repeat(begin, size)
    spot = np.repeat(to, size) + 1 + 2 * within + (within > 0)
    coded = _zigzag(steps)
    stream[spot], stream[spot + 1] = coded[:, 0], coded[:, 1]
    packed, ends = _varints(stream)
    cuts = np.searchsorted(owner, np.arange(count + 1))
    bounds = ends[np.concatenate((to, [len(stream)]))[cuts]].tolist()
    return [packed[low:high].tobytes() for low, high in pairwise(bounds)]


def _zigzag(steps: Ints) -> npt.NDArray[np.uint64]:
    return ((steps << 1) ^ (steps >> 63)).astype(np.uint64)


def _varints(numbers: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint8], Ints]:
    """Encode numbers as varints; return the bytes and the offset of each number, followed by the total length."""
    length = np.ones(len(numbers), dtype=np.int64)
    for bits in (7, 14, 21, 28):
        length += numbers >= (1 << bits)
    ends = np.concatenate(([0], np.cumsum(length)))
    out = np.empty(int(ends[-1]), dtype=np.uint8)
    for place in range(int(length.max(initial=1))):
        reaching = length > place
        continues = np.where(length[reaching] > place + 1, 0x80, 0).astype(np.uint64)
        group = (numbers[reaching] >> np.uint64(7 * place)) & np.uint64(0x7F)
        out[ends[:-1][reaching] + place] = group | continues
    return out, ends


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, body: bytes) -> bytes:
    return bytes((number << 3 | 2,)) + _varint(len(body)) + body


def _encode_value(value: Value) -> bytes:
    if isinstance(value, bool):
        return bytes((7 << 3, value))
    if isinstance(value, str):
        return _field(1, value.encode("utf-8", "replace"))
    if isinstance(value, float):
        return bytes((3 << 3 | 1,)) + struct.pack("<d", value)
    return bytes((6 << 3,)) + _varint(value << 1 if value >= 0 else ~(value << 1))


@dataclass(frozen=True)
class TileFrame:
    """A tile by zoom, column and row, and conversions to its units.

    Raises:
        BadInput: there is no such tile.
    """

    z: int
    x: int
    y: int

    def __post_init__(self) -> None:
        if not 0 <= self.z <= MAX_ZOOM:
            raise BadInput(f"there is no tile at zoom {self.z}; zooms run from 0 to {MAX_ZOOM}")
        if not (0 <= self.x < 1 << self.z and 0 <= self.y < 1 << self.z):
            raise BadInput(
                f"at zoom {self.z} columns and rows run from 0 to {(1 << self.z) - 1}, not {self.x}, {self.y}"
            )

    @cached_property
    def view(self) -> MapView:
        """The drawn map that the tile's content is chosen for; it may be a few pixels wider than the tile."""
        count = 1 << self.z
        down = math.pi * (1 - 2 * (self.y + 0.5) / count)
        centre = LatLon(math.degrees(math.atan(math.sinh(down))), (self.x + 0.5) / count * 360 - 180)
        close = self.z >= _CLOSE_FROM_ZOOM
        px = _VIEW_PX_CLOSE if close else _VIEW_PX
        return MapView(centre, self.z + (_ZOOM_OFFSET_CLOSE if close else _ZOOM_OFFSET), px, px)

    @property
    def units_per_px(self) -> float:
        """Tile units per pixel of the view."""
        return EXTENT * (1 << self.z) / self.view.world_px

    def from_view(self, geometries: Geometries) -> Geometries:
        """Convert geometries from the view's pixels to the tile's units."""
        return _scale_and_shift(geometries, self.units_per_px, EXTENT / 2 - self.view.width / 2 * self.units_per_px)

    def from_plane(self, geometries: Geometries, turns: int = 0) -> Geometries:
        """Convert geometries from shares of the plane to the tile's units, ``turns`` times around the world."""
        scale = float(EXTENT * (1 << self.z))
        return _scale_and_shift(geometries, scale, np.array([turns * scale - self.x * EXTENT, -self.y * EXTENT]))

    def points_from_plane(self, plane: FloatArray) -> tuple[FloatArray, np.ndarray]:
        """Convert points to the tile's units; return them and which lie inside: each point is in one tile only."""
        points = plane * (EXTENT * (1 << self.z)) - np.array([self.x * EXTENT, self.y * EXTENT])
        return points, ((points >= 0) & (points < EXTENT)).all(axis=1)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom including the buffer, as shares of the plane."""
        count, margin = 1 << self.z, BUFFER / EXTENT
        return (
            (self.x - margin) / count,
            (self.y - margin) / count,
            (self.x + 1 + margin) / count,
            (self.y + 1 + margin) / count,
        )


def to_plane(lonlat: FloatArray) -> FloatArray:
    """Project rows of (longitude, latitude) to shares of the Web Mercator plane, 0 to 1 eastwards and southwards."""
    shares: FloatArray = _WHOLE_WORLD.pixels(lonlat) / 256
    return shares


def clip(geometries: Geometries, rectangle: tuple[float, float, float, float]) -> Geometries:
    """Clip each shape to a rectangle; those outside become empty, those wholly inside are kept as they are."""
    left, top, right, bottom = rectangle
    west, north, east, south = shapely.bounds(geometries).T
    with np.errstate(invalid="ignore"):
        near = (west <= right) & (east >= left) & (north <= bottom) & (south >= top)
        across = near & ~((west >= left) & (east <= right) & (north >= top) & (south <= bottom))
    out: Geometries = np.where(near, geometries, shapely.Point())
    try:
        out[across] = shapely.clip_by_rect(out[across], *rectangle)
    except shapely.GEOSException:
        # At least one of them is invalid; clip one by one, so that the others are not lost.
        out[across] = [cut(geometry, *rectangle) for geometry in geometries[across]]
    # For a ring that crosses itself, or touches the edge unfavourably, clip_by_rect may return the whole rectangle.
    full = np.flatnonzero(across)[shapely.area(out[across]) > 0.999 * (right - left) * (bottom - top)]
    flooded = full[~shapely.contains_xy(geometries[full], (left + right) / 2, (top + bottom) / 2)]
    out[flooded] = shapely.intersection(
        [_repair_shape(shape) for shape in geometries[flooded]], shapely.box(*rectangle)
    )
    return out


def _repair_shape(shape: shapely.Geometry) -> shapely.Geometry:
    """Return a valid shape, or an empty one where a single shape would hold its tile up for hours."""
    try:
        return repair(shape)
    except ValueError:
        return shapely.Point()


def clip_to_buffer(geometries: Geometries) -> Geometries:
    """Clip shapes in a tile's units at its buffer."""
    return clip(geometries, (-BUFFER, -BUFFER, EXTENT + BUFFER, EXTENT + BUFFER))


def _scale_and_shift(geometries: Geometries, scale: float, shift: float | FloatArray) -> Geometries:
    out = geometries.copy()
    moved: Geometries = shapely.set_coordinates(out, shapely.get_coordinates(out) * scale + shift)
    return moved
