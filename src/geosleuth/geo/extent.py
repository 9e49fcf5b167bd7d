"""Areas of the Earth's surface (boxes, discs, polygons), the distance between them, and grids of numbered cells."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from operator import index
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .distance import distance_km, great_circle_km
from .point import FloatArray, LatLon

if TYPE_CHECKING:
    from shapely import Geometry

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_WORLD_DEG = 360.0
_MAX_CROSSINGS = 2_000
_PAIRS_AT_ONCE = 256
_PREPARED_SHAPES_LOCK = Lock()
IdArray = npt.NDArray[np.int64]
_FINEST_DEG = 0.001


@dataclass(frozen=True, slots=True)
class Box:
    """All places between two parallels and two meridians, edges included.

    If `west` is greater than `east`, the box crosses the antimeridian. From -180 to 180 it goes all the way round;
    with equal `west` and `east` it is a single meridian. A box that reaches a pole contains it, at any longitude.
    """

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        low, high = LatLon(self.south, self.west), LatLon(self.north, self.east)
        if type(self.south) is type(self.west) is type(self.north) is type(self.east) is float and low.lat <= high.lat:
            return
        if low.lat > high.lat:
            raise ValueError(f"a box's south ({self.south}) must not lie north of its north ({self.north})")
        for name, value in zip(self.__slots__, (low.lat, low.lon, high.lat, high.lon), strict=True):
            object.__setattr__(self, name, value)

    @property
    def width_deg(self) -> float:
        """Return the degrees of longitude from the western to the eastern edge, 0 to 360."""
        return self.east - self.west + (360 if self.west > self.east else 0)

    @property
    def centre(self) -> LatLon:
        """Return the point halfway in latitude and longitude; for a cap around one pole, the pole."""
        lon = self.west + self.width_deg / 2
        caps = (self.north == 90) - (self.south == -90)
        lat = 90.0 * caps if self.width_deg == 360 and caps else (self.south + self.north) / 2
        return LatLon(lat, lon - 360 if lon > 180 else lon)

    def contains(self, point: LatLon) -> bool:
        """Return whether the point lies inside or on the edge."""
        if not self.south <= point.lat <= self.north:
            return False
        return abs(point.lat) == 90 or self.spans_lon(point.lon)

    def holds(self, lats: FloatArray, lons: FloatArray) -> BoolArray:
        """Return `contains` for many points at once."""
        west, east = lons >= self.west, lons <= self.east
        spanned = west & east if self.west <= self.east else west | east
        if self.spans_lon(180.0):
            spanned = spanned | (np.abs(lons) == 180)
        inside: BoolArray = (lats >= self.south) & (lats <= self.north) & (spanned | (np.abs(lats) == 90))
        return inside

    def distance_km(self, other: "Extent") -> float:
        """Return the shortest great-circle distance to another extent, 0 if they touch or overlap."""
        return extent_distance_km(self, other)

    def spans_lon(self, lon: float) -> bool:
        """Return whether the meridian lies between the western and the eastern edge, or on one of them."""
        spellings = (-180.0, 180.0) if abs(lon) == 180 else (lon,)
        if self.west <= self.east:
            return any(self.west <= spelling <= self.east for spelling in spellings)
        return any(spelling >= self.west or spelling <= self.east for spelling in spellings)

    def lon_gap_deg(self, other: "Box") -> float:
        """Return the degrees of longitude between two boxes, the short way round; 0 if a meridian crosses both."""
        if self.spans_lon(other.west) or other.spans_lon(self.west):
            return 0.0
        return min((other.west - self.east) % 360, (self.west - other.east) % 360)


@dataclass(frozen=True, slots=True)
class Disc:
    """All places within a great-circle distance of a centre, edge included."""

    centre: LatLon
    radius_km: float

    def __post_init__(self) -> None:
        if not 0 <= self.radius_km < math.inf:
            raise ValueError(f"a disc's radius must be a finite number of km, zero or more, not {self.radius_km}")
        object.__setattr__(self, "radius_km", float(self.radius_km))

    def contains(self, point: LatLon) -> bool:
        """Return whether the point lies inside or on the edge."""
        return distance_km(self.centre, point) <= self.radius_km

    def holds(self, lats: FloatArray, lons: FloatArray) -> BoolArray:
        """Return `contains` for many points at once."""
        away_km: FloatArray = np.asarray(great_circle_km(self.centre.lat, self.centre.lon, lats, lons))
        return away_km <= self.radius_km

    def distance_km(self, other: "Extent") -> float:
        """Return the shortest great-circle distance to another extent, 0 if they touch or overlap."""
        return extent_distance_km(self, other)


Extent: TypeAlias = Box | Disc


def extent_distance_km(a: Extent, b: Extent) -> float:
    """Return the shortest great-circle distance between any place of one extent and any place of the other.

    Exact up to rounding, also for boxes that cross the antimeridian, reach a pole or go all the way round; 0 if the
    two touch or overlap.
    """
    reach_km = sum(extent.radius_km for extent in (a, b) if isinstance(extent, Disc))
    return max(0.0, _box_distance_km(_core(a), _core(b)) - reach_km)


def _core(extent: Extent) -> Box:
    """Return the box itself, or a disc's centre as a box of size zero."""
    if isinstance(extent, Box):
        return extent
    lat, lon = extent.centre.lat, extent.centre.lon
    return Box(lat, lon, lat, lon)


def _box_distance_km(a: Box, b: Box) -> float:
    """Return the shortest distance between two boxes.

    For any two latitudes the distance grows with the difference in longitude, and the smallest such difference
    between two boxes is the same at all latitudes. So the nearest places lie on the two meridian edges that face
    each other, and only their latitudes are unknown. As a function of these two latitudes, the distance has no minimum
    inside the rectangle that the boxes allow (its only stationary point, on the equator, is a saddle). So at least one
    of the nearest places is a corner of its box; the other is a corner too, or the foot of the perpendicular on its
    edge.
    """
    gap_deg = a.lon_gap_deg(b)
    if gap_deg == 0:
        gap_lat_deg = max(0.0, b.south - a.north, a.south - b.north)
        return great_circle_km(0.0, 0.0, gap_lat_deg, 0.0)
    pairs = [(lat_a, lat_b) for lat_a in (a.south, a.north) for lat_b in (b.south, b.north)]
    for corner in (a.south, a.north):
        foot = _foot_of_perpendicular(corner, gap_deg)
        if b.south < foot < b.north:
            pairs.append((corner, foot))
    for corner in (b.south, b.north):
        foot = _foot_of_perpendicular(corner, gap_deg)
        if a.south < foot < a.north:
            pairs.append((foot, corner))
    lats_a, lats_b = np.array(pairs).T
    return float(great_circle_km(lats_a, 0.0, lats_b, gap_deg).min())


def _foot_of_perpendicular(lat: float, gap_deg: float) -> float:
    """Return the latitude, on a meridian `gap_deg` away, of the place nearest to a place at `lat`.

    Beyond 90 degrees the nearest place lies across the pole, on the opposite meridian, and the result is no latitude
    that a box's edge could have.
    """
    radians = math.radians(lat)
    return math.degrees(math.atan2(math.sin(radians), math.cos(radians) * math.cos(math.radians(gap_deg))))


@dataclass(frozen=True, slots=True)
class Outline(Box):
    """Polygons in (lon, lat) degrees, edges included; as a `Box`, their narrowest bounding box."""

    shape: "Geometry"

    def __post_init__(self) -> None:
        """Skip the validation of `Box`: `build_outline` has done it."""

    @property
    def centre(self) -> LatLon:
        """Return a point inside, away from the edges."""
        middle = self.shape.representative_point()
        return LatLon(middle.y, middle.x)

    def contains(self, point: LatLon) -> bool:
        """Return whether the point lies inside or on an edge."""
        return bool(self.holds(np.array([point.lat]), np.array([point.lon]))[0])

    def holds(self, lats: FloatArray, lons: FloatArray) -> BoolArray:
        """Return `contains` for many points at once."""
        import shapely

        # Prepared shapes are not thread-safe: GEOS builds their index on first use.
        with _PREPARED_SHAPES_LOCK:
            shapely.prepare(self.shape)
            inside: BoolArray = shapely.intersects_xy(self.shape, lons, lats)
            on_antimeridian = np.abs(lons) == _WORLD_DEG / 2
            if on_antimeridian.any():
                inside = inside | (on_antimeridian & shapely.intersects_xy(self.shape, -lons, lats))
            return inside


def check_edges_cross_little(shapes: Sequence["Geometry"]) -> None:
    """Check that polygons can be repaired and united in about a second; both take hours where all edges cross.

    Edges are paired by their bounding boxes, and the count of pairs stops far below the square of the corners.

    Raises:
        ValueError: the edges cross, or lie across each other's boxes, too often.
    """
    import shapely

    rings = shapely.get_rings(shapely.get_parts(list(shapes)))
    corners, ring_of = shapely.get_coordinates(rings, return_index=True)
    joined = ring_of[1:] == ring_of[:-1]
    edges = shapely.linestrings(np.stack([corners[:-1][joined], corners[1:][joined]], axis=1))
    tree, pairs, crossings = shapely.STRtree(edges), 0, 0
    for begin in range(0, len(edges), _PAIRS_AT_ONCE):
        item, other = tree.query(edges[begin : begin + _PAIRS_AT_ONCE])
        pairs += len(item)
        if pairs <= 20 * len(edges) + 10_000:
            once = item + begin < other
            crossings += int(shapely.crosses(edges[item[once] + begin], edges[other[once]]).sum())
            if crossings <= _MAX_CROSSINGS:
                continue
        raise ValueError("its edges cross each other or fold back too often; draw it simpler, without crossings")


def repair(shape: "Geometry") -> "Geometry":
    """Return a polygon as it is if it is valid, else repaired.

    Raises:
        ValueError: it would take too long, see `check_edges_cross_little`.
    """
    import shapely

    if shape.is_valid:
        return shape
    check_edges_cross_little([shape])
    return shapely.make_valid(shape)


def build_outline(shapes: Sequence["Geometry"]) -> Outline:
    """Unite polygons to an outline; longitudes beyond 180 degrees continue across the antimeridian.

    Raises:
        ValueError: there is no polygon with an area, or coordinates are out of range.
    """
    import shapely
    from shapely.affinity import translate

    polygons = [part for shape in shapes for part in list_polygons(shapely.make_valid(shape))]
    if not polygons:
        raise ValueError("it holds no polygon with an area")
    for polygon in polygons:
        west, south, east, north = polygon.bounds
        lons_fit = -_WORLD_DEG <= west <= east <= _WORLD_DEG and east - west <= _WORLD_DEG
        if not (lons_fit and -90 <= south <= north <= 90):
            raise ValueError("coordinates are longitude and latitude in degrees, in this order")
    window = shapely.box(-_WORLD_DEG / 2, -90, _WORLD_DEG / 2, 90)
    inside = [translate(part, turn) & window for part in polygons for turn in (-_WORLD_DEG, 0.0, _WORLD_DEG)]
    shape = shapely.union_all([part for clipped in inside for part in list_polygons(clipped)])
    spans = [(part.bounds[0], part.bounds[2]) for part in list_polygons(shape)]
    if not spans:
        raise ValueError("it holds no polygon with an area")
    _, south, _, north = shape.bounds
    west, east = narrowest_span(spans)
    box = Box(south, west, north, east)
    return Outline(box.south, box.west, box.north, box.east, shape)


def list_polygons(shape: Any) -> Iterable[Any]:
    """Return the polygons in a geometry, however deeply nested, that have an area."""
    if shape.geom_type == "Polygon":
        return [] if shape.is_empty or not shape.area else [shape]
    return [part for item in getattr(shape, "geoms", ()) for part in list_polygons(item)]


def narrowest_span(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the western and the eastern edge of the narrowest span around all spans: it leaves out the widest gap."""
    merged: list[tuple[float, float]] = []
    for west, east in sorted(spans):
        if merged and west <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(east, merged[-1][1]))
        else:
            merged.append((west, east))
    gaps = [
        ((merged[(at + 1) % len(merged)][0] - east) % _WORLD_DEG if len(merged) > 1 else 0.0, at)
        for at, (_, east) in enumerate(merged)
    ]
    antimeridian_gap = _WORLD_DEG - (merged[-1][1] - merged[0][0])
    widest, at = max(gaps)
    if len(merged) == 1 or widest <= antimeridian_gap:
        return merged[0][0], merged[-1][1]
    return merged[(at + 1) % len(merged)][0], merged[at][1]


def plain(value: Any) -> Any:
    """Convert a value to plain JSON values: dataclasses become objects, extents their numbers, paths their text."""
    if isinstance(value, Box | Disc):
        return extent_dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def extent_dict(extent: Extent) -> dict[str, Any]:
    """Return the numbers of a box or a disc by name."""
    if isinstance(extent, Disc):
        return {"lat": extent.centre.lat, "lon": extent.centre.lon, "radius_km": extent.radius_km}
    return {"south": extent.south, "west": extent.west, "north": extent.north, "east": extent.east}


@dataclass(frozen=True, slots=True)
class CellGrid:
    """A grid of cells `size_deg` high, numbered from 0 row by row: from the south pole, eastwards from -180 degrees.

    With `equal_area` false, every cell is `size_deg` wide. With it true, rows near a pole have fewer and wider cells,
    so that all cells have about the same area as at the equator. For cells of one degree, the areas differ by up to
    4.7 % in the outermost rows, and by less than 1 % more than ten rows from the poles.

    A cell owns its southern and western edge; the northernmost row owns the pole as well. Each pole belongs to the
    first cell of its row, and longitude 180 to the same cell as -180.

    Raises:
        ValueError: `size_deg` does not divide 180, or is finer than 0.001.
    """

    size_deg: float = 1.0
    equal_area: bool = False

    def __post_init__(self) -> None:
        if not _FINEST_DEG <= self.size_deg <= 180:
            raise ValueError(f"cell size must lie between {_FINEST_DEG} and 180 degrees, not {self.size_deg}")
        if not math.isclose(self.rows * self.size_deg, 180, rel_tol=1e-9):
            raise ValueError(f"cell size must divide 180 degrees without remainder; {self.size_deg} does not")
        object.__setattr__(self, "size_deg", float(self.size_deg))

    def __len__(self) -> int:
        """Return the number of cells."""
        return int(self._row_starts()[-1])

    @property
    def rows(self) -> int:
        """Return the number of rows from pole to pole."""
        return round(180 / self.size_deg)

    def find_cells(self, lat: float | FloatArray, lon: float | FloatArray) -> IdArray:
        """Return the ids of the cells that own the places (numbers or arrays, broadcast); -1 for invalid places."""
        lats, lons = np.broadcast_arrays(np.asarray(lat, dtype=np.float64), np.asarray(lon, dtype=np.float64))
        valid = (np.abs(lats) <= 90) & (np.abs(lons) <= 180)
        lats = np.where(valid, lats, 0.0)
        lons = np.where(valid & (lons < 180) & (np.abs(lats) < 90), lons, -180.0)
        starts = self._row_starts()
        row = _slot(lats, np.int64(self.rows), -90.0, 180.0)
        column = _slot(lons, np.diff(starts)[row], -180.0, 360.0)
        return np.where(valid, starts[row] + column, np.int64(-1))

    def cell_bounds(self, cell_id: int) -> Box:
        """Return the bounds of a cell.

        Raises:
            IndexError: the grid has no cell with this id.
            TypeError: the id is not an integer.
        """
        cell_id = index(cell_id)
        starts = self._row_starts()
        if not 0 <= cell_id < starts[-1]:
            raise IndexError(f"this grid has cells 0 to {starts[-1] - 1}, not {cell_id}")
        row = int(np.searchsorted(starts, cell_id, side="right")) - 1
        column, columns = int(cell_id - starts[row]), int(starts[row + 1] - starts[row])
        south, north = (float(_edge(row + step, self.rows, -90.0, 180.0)) for step in (0, 1))
        west, east = (float(_edge(column + step, columns, -180.0, 360.0)) for step in (0, 1))
        return Box(south, west, north, east)

    def cell_centre(self, cell_id: int) -> LatLon:
        """Return the middle of a cell in degrees; raises as `cell_bounds` does."""
        bounds = self.cell_bounds(cell_id)
        return LatLon((bounds.south + bounds.north) / 2, (bounds.west + bounds.east) / 2)

    def _row_starts(self) -> IdArray:
        return _row_starts(self.rows, equal_area=self.equal_area)


@lru_cache(maxsize=16)
def _row_starts(rows: int, *, equal_area: bool) -> IdArray:
    """Return the id of each row's first cell, followed by the number of cells."""
    columns = np.full(rows, 2 * rows)
    if equal_area:
        edges = np.sin(np.radians(_edge(np.arange(rows + 1), rows, -90.0, 180.0)))
        zone = 2 * np.pi * np.diff(edges)
        columns = np.maximum(1, np.rint(zone / (np.pi / rows) ** 2).astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(columns)]).astype(np.int64)
    starts.setflags(write=False)
    return starts


def _edge(number: int | IdArray, count: int | np.int64 | IdArray, origin: float, length: float) -> float | FloatArray:
    return origin + number * length / count


def _slot(value: FloatArray, count: np.int64 | IdArray, origin: float, length: float) -> IdArray:
    """Return which of `count` equal parts of [origin, origin + length] holds the value.

    The guess from a division is corrected by comparing with `_edge`, so that both agree to the last bit.
    """
    guess = np.clip(np.floor((value - origin) * count / length).astype(np.int64), 0, count - 1)
    guess -= value < _edge(guess, count, origin, length)
    guess += value >= _edge(guess + 1, count, origin, length)
    return np.clip(guess, 0, count - 1)
