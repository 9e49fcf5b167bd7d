"""Write Mapbox Vector Tiles 2.1 in numpy, and the frame of one tile of the Web Mercator plane.

Geometries are in the tile's own units, y downwards, and are rounded to whole ones here. What rounds to nothing (a ring
without area, a line that stays on its spot) is left out, and so is a feature of which nothing is left.
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

from geosleuth.atlas.maps.canvas import View
from geosleuth.atlas.maps.layers import cut
from geosleuth.errors import BadInput
from geosleuth.geo import FloatArray, LatLon

EXTENT: Final = 4096
"""Units across a tile."""

Value = str | int | float | bool
Geometries = npt.NDArray[np.object_]
Ints = npt.NDArray[np.int64]

_POINT, _LINE, _POLYGON = 1, 2, 3
_MOVE, _DRAW, _CLOSE = 1, 2, 7


@dataclass(frozen=True, slots=True)
class Feature:
    """Points, lines or polygons that share one set of properties; with polygons, stray lines are passed over."""

    geometries: Geometries
    properties: Mapping[str, Value] = field(default_factory=dict)


def encode_tile(layers: Mapping[str, Sequence[Feature]]) -> bytes:
    """A tile with these layers, in this order; empty ones are left out, and a tile of nothing is no bytes at all."""
    return b"".join(_field(3, layer) for name, features in layers.items() if (layer := _layer(name, features)))


def _layer(name: str, features: Sequence[Feature]) -> bytes:
    commands = _commands(features)
    keys: dict[str, int] = {}
    values: dict[bytes, int] = {}
    written = []
    for feature, (kind, geometry) in zip(features, commands, strict=True):
        if not geometry:
            continue
        tags = bytearray()
        for key, value in feature.properties.items():
            tags += _varint(keys.setdefault(key, len(keys)))
            tags += _varint(values.setdefault(_value(value), len(values)))
        body = (_field(2, bytes(tags)) if tags else b"") + bytes((3 << 3, kind)) + _field(4, geometry)
        written.append(_field(2, body))
    if not written:
        return b""
    parts = [_field(1, name.encode()), *written]
    parts += [_field(3, key.encode()) for key in keys]
    parts += [_field(4, value) for value in values]
    return b"".join(parts) + bytes((5 << 3,)) + _varint(EXTENT) + bytes((15 << 3, 2))


def _commands(features: Sequence[Feature]) -> list[tuple[int, bytes]]:
    """Kind and packed geometry of each feature, nothing where nothing is left of it."""
    out: list[tuple[int, bytes]] = [(0, b"")] * len(features)
    if not features:
        return out
    owner = np.repeat(np.arange(len(features)), [len(feature.geometries) for feature in features])
    parts, owner = _parts(np.concatenate([feature.geometries for feature in features]), owner)
    # The format counts 1, 2, 3 what shapely calls dimensions 0, 1, 2. A polygon that was cut may leave stray lines.
    kinds = shapely.get_dimensions(parts) + 1
    kind_of = np.zeros(len(features), dtype=np.int64)
    np.maximum.at(kind_of, owner, kinds)
    for kind, encode in ((_POINT, _points), (_LINE, _lines), (_POLYGON, _polygons)):
        mine = np.flatnonzero(kind_of == kind)
        chosen = (kinds == kind) & (kind_of[owner] == kind)
        if len(mine):
            packed = encode(parts[chosen], np.searchsorted(mine, owner[chosen]), len(mine))
            for number, geometry in zip(mine.tolist(), packed, strict=True):
                out[number] = (kind, geometry)
    return out


def _parts(shapes: Geometries, owner: Ints) -> tuple[Geometries, Ints]:
    """Single points, lines and polygons, and whose they are; taking apart copies, so only what needs it is."""
    there = ~shapely.is_empty(shapes)
    shapes, owner = shapes[there], owner[there]
    several = shapely.get_type_id(shapes) > shapely.GeometryType.POLYGON
    if not several.any():
        return shapes, owner
    parts, whole = shapely.get_parts(shapes[several], return_index=True)
    owner = np.concatenate([owner[~several], owner[several][whole]])
    order = np.argsort(owner, kind="stable")
    return np.concatenate([shapes[~several], parts])[order], owner[order]


def _points(points: Geometries, owner: Ints, count: int) -> list[bytes]:
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
        some = packed[ends[2 * low] : ends[2 * high]].tobytes()
        out.append(_varint(_MOVE | (high - low) << 3) + some if some else b"")
    return out


def _lines(lines: Geometries, owner: Ints, count: int) -> list[bytes]:
    corners, path = _rounded(lines)
    size = np.bincount(path, minlength=len(lines))
    keep = size >= 2
    return _paths(corners[keep[path]], size[keep], owner[keep], count, closed=False)


def _polygons(polygons: Geometries, owner: Ints, count: int) -> list[bytes]:
    rings, polygon = shapely.get_rings(polygons, return_index=True)
    corners, path = _rounded(rings)
    begin = np.searchsorted(path, np.arange(len(rings) + 1))
    # A ring comes back to its start, which the format leaves to the reader.
    size = np.diff(begin) - 1
    last = np.zeros(len(corners), dtype=bool)
    last[begin[1:][size >= 0] - 1] = True
    corners, path = corners[~last], path[~last]
    size = np.maximum(size, 0)
    begin = np.concatenate(([0], np.cumsum(size)))
    area = _areas(corners, begin, size)
    outer = np.ones(len(rings), dtype=bool)
    outer[1:] = polygon[1:] != polygon[:-1]
    flat = (size < 3) | (area == 0)
    gone = np.zeros(len(polygons), dtype=bool)
    gone[polygon[outer & flat]] = True
    keep = ~flat & ~gone[polygon]
    # The outer ring runs so that its area comes out positive, holes the other way.
    turned = (area > 0) != outer
    at = np.arange(len(corners)) - begin[path]
    at = np.where(turned[path], size[path] - 1 - at, at) + begin[path]
    return _paths(corners[at][keep[path]], size[keep], owner[polygon[keep]], count, closed=True)


def _rounded(paths: Geometries) -> tuple[Ints, Ints]:
    """Corners in whole units without those that fall on the one before, and whose they are."""
    coords, path = shapely.get_coordinates(paths, return_index=True)
    corners = np.rint(coords).astype(np.int64)
    keep = np.ones(len(corners), dtype=bool)
    keep[1:] = (corners[1:] != corners[:-1]).any(axis=1) | (path[1:] != path[:-1])
    return corners[keep], path[keep]


def _areas(corners: Ints, begin: Ints, size: Ints) -> Ints:
    """Twice the area of each ring."""
    following = np.arange(1, len(corners) + 1)
    some = size > 0
    following[begin[1:][some] - 1] = begin[:-1][some]
    x, y = corners.T
    sums = np.concatenate(([0], np.cumsum(x * y[following] - x[following] * y)))
    areas: Ints = sums[begin[1:]] - sums[begin[:-1]]
    return areas


def _paths(corners: Ints, size: Ints, owner: Ints, count: int, *, closed: bool) -> list[bytes]:
    """Commands of each owner: move to the first corner of a path, draw to the others, close where it is a ring."""
    if not len(size):
        return [b""] * count
    begin = np.cumsum(size) - size
    steps = corners.copy()
    steps[1:] -= corners[:-1]
    new = np.ones(len(size), dtype=bool)
    new[1:] = owner[1:] != owner[:-1]
    steps[begin[new]] = corners[begin[new]]
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
    """All numbers as variable-length bytes, and where each begins; the end of the last one comes last."""
    length = np.ones(len(numbers), dtype=np.int64)
    for bits in (7, 14, 21, 28):
        length += numbers >= (1 << bits)
    ends = np.concatenate(([0], np.cumsum(length)))
    out = np.empty(int(ends[-1]), dtype=np.uint8)
    for place in range(int(length.max(initial=1))):
        mine = length > place
        more = np.where(length[mine] > place + 1, 0x80, 0)
        out[ends[:-1][mine] + place] = ((numbers[mine] >> np.uint64(7 * place)) & np.uint64(0x7F)) | more.astype(
            np.uint64
        )
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


def _value(value: Value) -> bytes:
    if isinstance(value, bool):
        return bytes((7 << 3, value))
    if isinstance(value, str):
        return _field(1, value.encode("utf-8", "replace"))
    if isinstance(value, float):
        return bytes((3 << 3 | 1,)) + struct.pack("<d", value)
    return bytes((6 << 3,)) + _varint(value << 1 if value >= 0 else ~(value << 1))


MAX_ZOOM = 16
"""Closer views stretch these tiles: a unit is about 15 cm there."""

BUFFER = 64
"""Units beyond the edge that shapes are kept for, so that strokes don't end there."""

# A tile is shown until the next zoom begins, at up to twice its size; maps count zooms by tiles of 256 pixels, pages
# by tiles of 512. So a tile is the drawn map of one to two zooms further on. It is filled as for the first of these,
# which keeps wide views calm, and from the zoom of houses on as for one halfway between.
_CLOSE_FROM = 14
_AHEAD, _AHEAD_CLOSE = 0.99, 1.49
_VIEW_PX, _VIEW_PX_CLOSE = 512, 724
TILE_PX = 512
"""How wide a page shows a tile when its zoom begins."""

_WHOLE_WORLD = View(LatLon(0, 0), 0, 256, 256)


@dataclass(frozen=True)
class Frame:
    """A tile by zoom, column and row.

    Raises:
        BadInput: there is no such tile.
    """

    z: int
    x: int
    y: int

    def __post_init__(self) -> None:
        if not 0 <= self.z <= MAX_ZOOM:
            raise BadInput(f"tiles have zooms from 0 to {MAX_ZOOM}, not {self.z}")
        if not (0 <= self.x < 1 << self.z and 0 <= self.y < 1 << self.z):
            raise BadInput(
                f"at zoom {self.z} columns and rows run from 0 to {(1 << self.z) - 1}, not {self.x}, {self.y}"
            )

    @cached_property
    def view(self) -> View:
        """The tile as a picture of the drawn maps, a few pixels wider, at the closest zoom that it is shown at."""
        count = 1 << self.z
        down = math.pi * (1 - 2 * (self.y + 0.5) / count)
        centre = LatLon(math.degrees(math.atan(math.sinh(down))), (self.x + 0.5) / count * 360 - 180)
        close = self.z >= _CLOSE_FROM
        px = _VIEW_PX_CLOSE if close else _VIEW_PX
        return View(centre, self.z + (_AHEAD_CLOSE if close else _AHEAD), px, px)

    @property
    def units_per_px(self) -> float:
        """Of the view's pixels."""
        return EXTENT * (1 << self.z) / self.view.world_px

    def from_view(self, geometries: Geometries) -> Geometries:
        """The same shapes in the tile's units, out of the view's pixels."""
        return _moved(geometries, self.units_per_px, EXTENT / 2 - self.view.width / 2 * self.units_per_px)

    def from_plane(self, geometries: Geometries, turns: int = 0) -> Geometries:
        """The same shapes in the tile's units, out of shares of the whole plane."""
        scale = float(EXTENT * (1 << self.z))
        return _moved(geometries, scale, np.array([turns * scale - self.x * EXTENT, -self.y * EXTENT]))

    def spots(self, plane: FloatArray) -> tuple[FloatArray, np.ndarray]:
        """Points of the plane in the tile's units, and which of them lie in it: each point is in one tile only."""
        spots = plane * (EXTENT * (1 << self.z)) - np.array([self.x * EXTENT, self.y * EXTENT])
        return spots, ((spots >= 0) & (spots < EXTENT)).all(axis=1)

    @property
    def reach(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom with the buffer, as shares of the plane."""
        count, margin = 1 << self.z, BUFFER / EXTENT
        return (
            (self.x - margin) / count,
            (self.y - margin) / count,
            (self.x + 1 + margin) / count,
            (self.y + 1 + margin) / count,
        )


def on_plane(lonlat: FloatArray) -> FloatArray:
    """Rows of (longitude, latitude) as shares of the plane: 0 to 1 eastwards and southwards."""
    shares: FloatArray = _WHOLE_WORLD.pixels(lonlat) / 256
    return shares


def clipped(geometries: Geometries, rectangle: tuple[float, float, float, float]) -> Geometries:
    """The part of each shape that lies in a rectangle, perhaps nothing; what lies wholly inside stays as it is."""
    left, top, right, bottom = rectangle
    west, north, east, south = shapely.bounds(geometries).T
    with np.errstate(invalid="ignore"):
        near = (west <= right) & (east >= left) & (north <= bottom) & (south >= top)
        across = near & ~((west >= left) & (east <= right) & (north >= top) & (south <= bottom))
    out: Geometries = np.where(near, geometries, shapely.Point())
    try:
        out[across] = shapely.clip_by_rect(out[across], *rectangle)
    except shapely.GEOSException:
        # One of them is too broken; the others need not suffer for it.
        out[across] = [cut(geometry, *rectangle) for geometry in geometries[across]]
    # Of a ring that crosses itself, or meets the edge in an odd way, the quick way may leave the whole rectangle.
    full = np.flatnonzero(across)[shapely.area(out[across]) > 0.999 * (right - left) * (bottom - top)]
    flooded = full[~shapely.contains_xy(geometries[full], (left + right) / 2, (top + bottom) / 2)]
    out[flooded] = shapely.intersection(shapely.make_valid(geometries[flooded]), shapely.box(*rectangle))
    return out


def in_buffer(geometries: Geometries) -> Geometries:
    """Shapes in a tile's units, cut off at its buffer."""
    return clipped(geometries, (-BUFFER, -BUFFER, EXTENT + BUFFER, EXTENT + BUFFER))


def _moved(geometries: Geometries, scale: float, shift: float | FloatArray) -> Geometries:
    out = geometries.copy()
    moved: Geometries = shapely.set_coordinates(out, shapely.get_coordinates(out) * scale + shift)
    return moved
