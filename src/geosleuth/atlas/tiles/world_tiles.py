"""Clip the world's land and borders to tiles, cache tiles, and define how much detail each granularity may show.

Each tile is clip from an ancestor, which is cached for its other descendants, so that the outline of Eurasia is
traversed once rather than for every tile.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.answer import GRANULARITIES, Granularity
from geosleuth.atlas.borders import NOWHERE
from geosleuth.atlas.borders import Detail as BordersDetail
from geosleuth.atlas.borders.borders import Outlines
from geosleuth.atlas.borders.grid import OUTLINES, UNITS_PER_DEGREE, Arcs, BorderLayer, read_layer, unpack
from geosleuth.atlas.folders import KeptFiles
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput

from .mvt import BUFFER, EXTENT, MAX_ZOOM, TILE_PX, Feature, Geometries, TileFrame, clip, to_plane

_ENTRY_OVERHEAD_BYTES = 200  # of an entry besides its value

FULL_DETAIL_FROM = 7
REGION_BORDERS_FROM = 3
_MIN_REGION_PX = 44.0  # median width of a country's regions from which their borders are shown
_ZOOMS_PER_STEP = 2  # zooms from a tile to the cached ancestor that it is clip from
_MAX_CACHED_TILES = 400
_SOUTH_OVERLAP = 0.05  # share of the plane by which land at its lower edge is extended beyond it
_SNAP_DISTANCE = 6e-5  # share of the plane (0.02 degrees) by which light outlines may miss its sides
_TOLERANCE = 3.0  # a tile's units: less than a pixel while the tile is shown at its largest
_MIN_AREA = 6.0  # in squares of the tolerance
_SIMPLE_CORNERS = 6  # shapes with no more, such as plain houses, are not simplified
_LOCK = threading.RLock()
_LAND: "dict[BordersDetail, TileClipper]" = {}


class TileCache:
    """A least-recently-used cache of limited size; threads that ask for the same value make it only once."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._cached: OrderedDict[Hashable, bytes] = OrderedDict()
        self._held_bytes = 0
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    @property
    def size_bytes(self) -> int:
        """The current size."""
        return self._held_bytes

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the cached value of a key, or make and cache it."""
        value = self._find(key)
        if value is not None:
            return value
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                value = self._find(key)
                return self._store_tile(key, make()) if value is None else value
        finally:
            with self._lock:
                self._making.pop(key, None)

    def _find(self, key: Hashable) -> bytes | None:
        with self._lock:
            value = self._cached.get(key)
            if value is not None:
                self._cached.move_to_end(key)
            return value

    def _store_tile(self, key: Hashable, value: bytes) -> bytes:
        with self._lock:
            self._cached[key] = value
            self._held_bytes += len(value) + _ENTRY_OVERHEAD_BYTES
            while self._held_bytes > self._max_bytes and self._cached:
                _, old = self._cached.popitem(last=False)
                self._held_bytes -= len(old) + _ENTRY_OVERHEAD_BYTES
        return value


class TileClipper:
    """Clips shapes of the world to tiles, and caches the results for the tiles' descendants."""

    def __init__(self, shapes: Geometries) -> None:
        """Take shapes in shares of the plane."""
        self._all = shapes
        self._cached: OrderedDict[tuple[int, int, int], Geometries] = OrderedDict()
        self._lock = threading.Lock()

    def within(self, frame: TileFrame) -> Geometries:
        """Return the shapes clip to a tile's buffer, in shares of the plane."""
        with self._lock:
            return self._pieces(frame.z, frame.x, frame.y)

    def _pieces(self, z: int, x: int, y: int) -> Geometries:
        if z == 0:
            return self._all
        cached = self._cached.get((z, x, y))
        if cached is not None:
            self._cached.move_to_end((z, x, y))
            return cached
        up = z % _ZOOMS_PER_STEP or _ZOOMS_PER_STEP
        ancestor = self._pieces(z - up, x >> up, y >> up)
        pieces = _valid_parts(clip(ancestor, TileFrame(z, x, y).bounds))
        self._cached[z, x, y] = pieces
        while len(self._cached) > _MAX_CACHED_TILES:
            self._cached.popitem(last=False)
        return pieces


def _valid_parts(shapes: Geometries) -> Geometries:
    """Split shapes into single parts, repair those that clipping made invalid, and drop empty ones."""
    parts = shapely.get_parts(shapes)
    broken = ~shapely.is_valid(parts)
    if broken.any():
        parts[broken] = shapely.make_valid(parts[broken])
        parts = shapely.get_parts(shapely.get_parts(parts))
    sound: Geometries = parts[~shapely.is_empty(parts)]
    return sound


def land(frame: TileFrame, folder: KeptFiles) -> Geometries:
    """Return the world's land in a tile, in its units, without islands too small to see."""
    pieces = simplify(_in_tile_units(_land("full" if frame.z >= FULL_DETAIL_FROM else "light", folder), frame))
    pieces = _valid_parts(pieces)
    if 0 < frame.x < (1 << frame.z) - 1:
        return pieces
    # Land on the two sides of the antimeridian is joined, so that no coastline is drawn along it.
    left, _, right, _ = shapely.bounds(pieces).T
    at_edge = (np.abs(left) < 1) | (np.abs(right) < 1) | (np.abs(left - EXTENT) < 1) | (np.abs(right - EXTENT) < 1)
    joined = shapely.union_all(pieces[at_edge], grid_size=0.5)
    out: Geometries = np.concatenate([pieces[~at_edge], shapely.get_parts([joined])])
    return out


def borders(frame: TileFrame, *, of_regions: bool) -> list[Feature]:
    """Return the borders of countries in a tile and, if asked for, those of regions that are wide enough to see."""
    of_countries, by_zoom = _borders("full" if frame.z >= FULL_DETAIL_FROM else "light")
    lines = [("region", clipper) for from_zoom, clipper in by_zoom.items() if of_regions and frame.z >= from_zoom]
    lines.append(("country", of_countries))
    return [Feature(simplify(_in_tile_units(clipper, frame)), {"class": name}) for name, clipper in lines]


def simplify(shapes: Geometries, tolerance: float = _TOLERANCE) -> Geometries:
    """Simplify shapes in a tile's units to the corners that can be seen; areas too small to see become empty."""
    visible = (shapely.get_dimensions(shapes) < 2) | (shapely.area(shapes) >= _MIN_AREA * tolerance * tolerance)
    out: Geometries = np.where(visible, shapes, shapely.Point())
    complex_ = visible & (shapely.get_num_coordinates(shapes) > _SIMPLE_CORNERS)
    out[complex_] = shapely.simplify(shapes[complex_], tolerance, preserve_topology=False)
    return out


def _in_tile_units(clipper: TileClipper, frame: TileFrame) -> Geometries:
    """Return the shapes in a tile and its buffer, in its units, including those across the antimeridian."""
    found = [frame.from_plane(clipper.within(frame))]
    last = (1 << frame.z) - 1
    for edge, other, turns in ((0, last, -1), (last, 0, 1)):
        if frame.x == edge:
            beyond = frame.from_plane(clipper.within(TileFrame(frame.z, other, frame.y)), turns)
            # Only at the sides: top and bottom are clip already, and clipping twice at one line is not reliable.
            found.append(clip(beyond, (-BUFFER, -EXTENT, EXTENT + BUFFER, 2 * EXTENT)))
    return np.concatenate(found)


def _land(detail: BordersDetail, folder: KeptFiles) -> TileClipper:
    with _LOCK:
        if detail not in _LAND:
            _LAND[detail] = folder.load(f"land-{detail}.wkb", lambda: _build_land(detail), _load_land)
        return _LAND[detail]


def _load_land(wkb: bytes) -> TileClipper:
    return TileClipper(shapely.get_parts(shapely.from_wkb(wkb)))


def _borders(detail: BordersDetail) -> tuple[TileClipper, dict[int, TileClipper]]:
    """Return the borders of countries, and those of regions by the zoom from which they are shown."""
    with _LOCK:
        return _build_borders(detail)


def country_shapes() -> Iterator[tuple[str, Geometries]]:
    """Yield the name of each country and its polygons, in shares of the plane."""
    regions = (NOWHERE, *_layer().regions)
    outlines = Outlines(_arcs("light"), regions, "country", may_cross=True)
    for code in dict.fromkeys(region.country for region in regions[1:]):
        for shape in outlines.get_shapes(code):
            name = country_name(code)
            yield shape.name if name == code else name, _project(shapely.get_parts(shape.geometry))


def _build_land(detail: BordersDetail) -> bytes:
    """Assemble the world's land, which takes seconds, as bytes that can be cached."""
    outlines = Outlines(_arcs(detail), (NOWHERE, *_layer().regions), "land", may_cross=detail == "light")
    snap = _SNAP_DISTANCE if detail == "light" else 0.0
    parts = [_project(shapely.get_parts(shape.geometry), snap) for shape in outlines.get_shapes("")]
    polygons = [part for part in _valid_parts(np.concatenate(parts)) if part.geom_type == "Polygon"]
    wkb: bytes = shapely.to_wkb(shapely.MultiPolygon(polygons))
    return wkb


@cache
def _build_borders(detail: BordersDetail) -> tuple[TileClipper, dict[int, TileClipper]]:
    arcs, regions = _arcs(detail), _layer().regions
    waters = [""] * len(regions)
    country = np.array(["", *(region.country for region in regions), *waters])
    region = np.array(["", *(region.code for region in regions), *waters])
    between = (country[arcs.left] != "") & (country[arcs.right] != "")
    national = country[arcs.left] != country[arcs.right]
    regional = between & ~national & (region[arcs.left] != region[arcs.right])
    from_zoom = _region_zooms(arcs, country)[arcs.left]
    by_zoom = {
        zoom: _line_clipper(arcs, regional & (from_zoom == zoom)) for zoom in np.unique(from_zoom[regional]).tolist()
    }
    return _line_clipper(arcs, between & national), by_zoom


def _region_zooms(arcs: Arcs, country: npt.NDArray[np.str_]) -> npt.NDArray[np.int64]:
    """Return for each zone the zoom from which its country's regions are wide enough to draw their borders."""
    plane = to_plane(np.column_stack([arcs.x, arcs.y]) / UNITS_PER_DEGREE)
    low = np.full((len(country), 2), np.inf)
    high = np.full((len(country), 2), -np.inf)
    for side in (arcs.left, arcs.right):
        np.minimum.at(low, side, np.minimum.reduceat(plane, arcs.starts[:-1]))
        np.maximum.at(high, side, np.maximum.reduceat(plane, arcs.starts[:-1]))
    with np.errstate(invalid="ignore"):
        wide_px = np.sqrt(np.maximum(high - low, 0).prod(axis=1)) * TILE_PX
    zooms = np.full(len(country), FULL_DETAIL_FROM, dtype=np.int64)
    for code in np.unique(country[country != ""]):
        of_country = (country == code) & np.isfinite(wide_px) & (wide_px > 0)
        if of_country.any():
            zoom = np.ceil(np.log2(_MIN_REGION_PX / np.median(wide_px[of_country])))
            zooms[country == code] = int(np.clip(zoom, REGION_BORDERS_FROM, FULL_DETAIL_FROM + 2))
    return zooms


@cache
def _layer() -> BorderLayer:
    return read_layer()


def _arcs(detail: BordersDetail) -> Arcs:
    return _layer().arcs if detail == "full" else Arcs.from_bytes(unpack(OUTLINES))


def _project(parts: Geometries, snap: float = 0.0) -> Geometries:
    """Project polygons to the plane; corners within ``snap`` of its sides move onto them."""
    plane = to_plane(shapely.get_coordinates(parts))
    plane[plane[:, 0] < snap, 0] = 0.0
    plane[plane[:, 0] > 1 - snap, 0] = 1.0
    plane[plane[:, 1] > 1 - 1e-9, 1] += _SOUTH_OVERLAP
    projected: Geometries = shapely.set_coordinates(parts, plane)
    return projected


def _line_clipper(arcs: Arcs, chosen: npt.NDArray[np.bool_]) -> TileClipper:
    arc_of_corner = np.repeat(np.arange(len(arcs)), np.diff(arcs.starts))
    kept = chosen[arc_of_corner]
    plane = to_plane(np.column_stack([arcs.x[kept], arcs.y[kept]]) / UNITS_PER_DEGREE)
    number = np.cumsum(chosen) - 1
    return TileClipper(np.asarray(shapely.linestrings(plane, indices=number[arc_of_corner[kept]]), dtype=object))


@dataclass(frozen=True, slots=True)
class Detail:
    """Contents of tiles at a granularity.

    Attributes:
        max_zoom: the closest zoom.
        min_population: the smallest settlements of the base atlas to label.
        region_borders: whether to show borders of first-level regions.
        ground: whether to show water, parks and land use of added regions.
        streets: whether to show streets, railways and buildings.
        pois: whether to label points of interest.
    """

    max_zoom: int
    min_population: int = 0
    region_borders: bool = True
    ground: bool = True
    streets: bool = True
    pois: bool = True


_DETAILS: Final[dict[Granularity, Detail]] = {
    "country": Detail(4, 1_000_000, region_borders=False, ground=False, streets=False, pois=False),
    "region": Detail(6, 100_000, ground=False, streets=False, pois=False),
    "city": Detail(10, streets=False, pois=False),
    "street": Detail(MAX_ZOOM, pois=False),
    "exact": Detail(MAX_ZOOM),
}


def get_detail(finest: str) -> Detail:
    """Return the contents of tiles at a granularity.

    Raises:
        BadInput: there is no such granularity.
    """
    for name, detail in _DETAILS.items():
        if name == finest:
            return detail
    raise BadInput(f"there is no granularity {finest[:40]!r}; use one of {', '.join(GRANULARITIES)}")
