"""Look up countries and first-level regions by polygon, for one point or for millions, and build outlines to draw."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Literal

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.geo import Box, LatLon
from geosleuth.support.errors import BadInput

from .grid import (
    OUTLINES,
    UNITS_PER_DEGREE,
    Arcs,
    BorderLayer,
    BorderRegion,
    Floats,
    Grid,
    Labels,
    LocalGrids,
    load_cached_layer,
    unpack,
)

Level = Literal["land", "country", "region"]
Detail = Literal["light", "full"]
Numbers = npt.NDArray[np.int64]
_PREPARE_FROM_CORNERS = 100_000
_FEW_POINTS = 8  # up to so many points are looked up one by one, unless the grid of the world is already built

# ``Borders.regions[0]``: the region of points that lie in no region.
NOWHERE = BorderRegion(code="", name="", country="", country_name="")
LONGEST_SNAP_KM = 100.0
Ground = Literal["land", "waters", "near"]
_loading = Lock()


@dataclass(frozen=True, slots=True)
class Shape:
    """Land as a multipolygon in (lon, lat) degrees, cut at the antimeridian.

    ``ids`` are the regions it consists of, as indices into `Borders.regions`; ``code`` is a country's or a region's.
    """

    code: str
    name: str
    ids: tuple[int, ...]
    geometry: shapely.MultiPolygon


class Outlines:
    """Polygons of one level, built from border lines when they are first requested."""

    def __init__(self, arcs: Arcs, regions: tuple[BorderRegion, ...], level: Level, *, may_cross: bool = False) -> None:
        """Prepare the shapes of a level.

        Args:
            arcs: border lines.
            regions: the table of `Borders.regions`, `NOWHERE` first.
            level: "land", "country" or "region".
            may_cross: whether lines may cross each other slightly, because they were simplified one by one.
        """
        self._may_cross = may_cross
        self._members = _shape_members(regions, level)
        group = np.zeros(2 * len(regions), dtype=np.int64)  # waters belong to no shape
        for number, (_, _, ids) in enumerate(self._members, start=1):
            group[list(ids)] = number
        left, right = group[arcs.left], group[arcs.right]
        border = np.flatnonzero(left != right)
        self._lines = _convert_arcs(arcs, border)
        sides = np.concatenate([left[border], right[border]])
        order = np.argsort(sides, kind="stable")
        self._line_of = (np.arange(len(sides)) % max(len(border), 1))[order]
        self._begin = np.searchsorted(sides[order], np.arange(1, len(self._members) + 2))
        self._bounding_boxes = self._boxes()
        self._geometries: dict[int, shapely.MultiPolygon] = {}
        # GEOS builds the index of a prepared shape at its first use, and shapely releases the GIL: two threads that do
        # so at once corrupt the heap. So prepared shapes are not handed out, and are used by one thread at a time.
        self._prepared: dict[int, shapely.MultiPolygon] = {}
        self._asking = Lock()

    def within(self, box: Box) -> Iterator[Shape]:
        """Yield the shapes that intersect a box, whole."""
        halves = [(box.west, box.east)] if box.west <= box.east else [(box.west, 180.0), (-180.0, box.east)]
        frame = shapely.union_all([shapely.box(west, box.south, east, box.north) for west, east in halves])
        for number in np.flatnonzero(shapely.intersects(self._bounding_boxes, frame)).tolist():
            with self._asking:
                geometry = self._geometry(number)
                reaches_in = shapely.intersects(self._prepared.get(number, geometry), frame)
            if reaches_in:
                yield Shape(*self._members[number], geometry)

    def get_shapes(self, code: str) -> Iterator[Shape]:
        """Yield the shapes of a code."""
        for number, member in enumerate(self._members):
            if member[0] == code:
                with self._asking:
                    geometry = self._geometry(number)
                yield Shape(*member, geometry)

    def _boxes(self) -> npt.NDArray[np.object_]:
        bounds = shapely.bounds(self._lines)[self._line_of]
        boxes = []
        for begin, end in zip(self._begin[:-1], self._begin[1:], strict=True):
            lines = bounds[begin:end]
            boxes.append(shapely.box(*lines[:, :2].min(0), *lines[:, 2:].max(0)) if end > begin else shapely.Polygon())
        return np.array(boxes, dtype=object)

    def _geometry(self, number: int) -> shapely.MultiPolygon:
        if number not in self._geometries:
            lines = self._lines[self._line_of[self._begin[number] : self._begin[number + 1]]]
            # build_area needs lines that meet only at their ends.
            noded = shapely.unary_union(lines) if self._may_cross else shapely.multilinestrings(lines)
            enclosed = shapely.build_area(noded) if len(lines) else shapely.MultiPolygon()
            parts = list(shapely.get_parts(enclosed))
            self._geometries[number] = shapely.MultiPolygon(parts)
            if shapely.get_num_coordinates(self._geometries[number]) > _PREPARE_FROM_CORNERS:
                self._prepared[number] = shapely.MultiPolygon(parts)
                shapely.prepare(self._prepared[number])
        return self._geometries[number]


def _shape_members(regions: tuple[BorderRegion, ...], level: Level) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return code, name and region ids of each shape of a level."""
    everywhere = range(1, len(regions))
    if level == "land":
        return [("", "land", tuple(everywhere))]
    if level == "region":
        return [
            (regions[i].district_code or regions[i].code, regions[i].district or regions[i].name, (i,))
            for i in everywhere
        ]
    ids: dict[str, list[int]] = {}
    for i in everywhere:
        ids.setdefault(regions[i].country, []).append(i)
    return [(code, regions[members[0]].country_name, tuple(members)) for code, members in ids.items()]


def _convert_arcs(arcs: Arcs, chosen: Numbers) -> npt.NDArray[np.object_]:
    """Return some of the arcs as lines in degrees."""
    lengths = np.diff(arcs.starts)[chosen]
    begin = np.cumsum(lengths) - lengths
    source = np.arange(lengths.sum()) - np.repeat(begin, lengths) + np.repeat(arcs.starts[:-1][chosen], lengths)
    points = np.stack([arcs.x[source], arcs.y[source]], 1) / UNITS_PER_DEGREE
    return np.asarray(shapely.linestrings(points, indices=np.repeat(np.arange(len(chosen)), lengths)), dtype=object)


@dataclass(frozen=True, slots=True)
class BorderSpot:
    """The region of a point that is on its ``land``, in its ``waters``, or ``near`` it, ``distance_km`` away at sea."""

    region: BorderRegion
    ground: Ground
    distance_km: float = 0.0


class Borders:
    """Looks up regions by polygon. Create it with `Borders.load()`; safe to share between threads.

    Look-ups return indices into ``regions``; ``regions[0]`` is `NOWHERE`. Countries are ISO 3166-1 alpha-2 codes (and
    XK for Kosovo); overseas parts with a code of their own have that: GF, RE, PR, SJ, HK. Borders are those of the
    sources and take no position on territorial claims.
    """

    def __init__(self, layer: BorderLayer, outlines: Callable[[], Arcs]) -> None:
        """Use a layer; most callers want `load`. ``outlines`` reads the simplified lines when they are first needed."""
        self._layer = layer
        self._read_light_arcs = outlines
        self._local = LocalGrids(layer)
        self._building = Lock()
        self._world_grid: Grid | None = None
        self._count = len(layer.regions)
        self.regions: tuple[BorderRegion, ...] = (NOWHERE, *layer.regions)
        # Region by zone label: with waters counting as nowhere, and as part of their region.
        ids = np.arange(self._count + 1, dtype=np.uint16)
        self._land_region: Labels = np.concatenate([ids, np.zeros(self._count, dtype=np.uint16)])
        self._any_region: Labels = np.concatenate([ids, ids[1:]])
        self._country = np.array([region.country for region in self.regions])
        self._shapes: dict[tuple[Level, Detail], Outlines] = {}

    @classmethod
    def load(cls) -> "Borders":
        """Return the borders that come with the package; they are read once and kept in memory."""
        with _loading:  # or else concurrent threads would each read them
            return _load_borders()

    def lookup(self, lats: npt.ArrayLike, lons: npt.ArrayLike, *, waters: bool = True) -> Labels:
        """Return the region of each point as an index into ``regions``, 0 for none.

        Exact at borders, to the metre that the polygons are stored with. NaN, infinite and out-of-range values give 0;
        longitudes 180 and -180 are the same. Large batches use two threads.

        Args:
            lats: latitudes in degrees, of any shape.
            lons: longitudes, of the same shape.
            waters: whether the waters off a coast count as part of the region, so that a quay or beach outside the
                coastline is in its country. With False only land counts; see `is_land`.
        """
        return (self._any_region if waters else self._land_region)[self._labels(lats, lons)]

    def countries(self, lats: npt.ArrayLike, lons: npt.ArrayLike, *, waters: bool = True) -> npt.NDArray[np.str_]:
        """Return the country code of each point, "" for none."""
        return self._country[self.lookup(lats, lons, waters=waters)]

    def is_land(self, lats: npt.ArrayLike, lons: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return whether each point is on land, at a scale of 1:10m. Lakes count as land, the Caspian Sea does not."""
        labels = self._labels(lats, lons)
        return (labels > 0) & (labels <= self._count)

    def reverse(self, lat: float, lon: float, *, snap_km: float = 5.0) -> BorderSpot | None:
        """Return the region at a point, or else the nearest within ``snap_km``; None in the open sea.

        Raises:
            BadInput: ``snap_km`` is below 0 or above 100.
        """
        if not 0 <= snap_km <= LONGEST_SNAP_KM:
            raise BadInput(f"the distance to the nearest region must be 0 to {LONGEST_SNAP_KM:g} km, not {snap_km}")
        label = int(self._labels(lat, lon)) if self._world_grid else self._local.label(lat, lon)
        if label:
            return BorderSpot(self.regions[self._any_region[label]], "land" if label <= self._count else "waters")
        if snap_km == 0 or not (math.isfinite(lat) and abs(lat) <= 90 and math.isfinite(lon) and abs(lon) <= 180):
            return None
        near = self._local.nearest(lat, lon, snap_km)
        return BorderSpot(self.regions[self._any_region[near[0]]], "near", near[1]) if near else None

    def find_region(self, point: LatLon, *, snap_km: float = 5.0) -> BorderRegion | None:
        """Return the region at a point, or else the nearest within ``snap_km``."""
        spot = self.reverse(point.lat, point.lon, snap_km=snap_km)
        return spot.region if spot else None

    def find_shapes(self, box: Box, *, level: Level = "country", detail: Detail = "light") -> list[Shape]:
        """Return the land, countries or regions that intersect a box, as polygons for drawing.

        Args:
            box: the area to draw; shapes are not clipped to it.
            level: "land", "country" or "region".
            detail: "light" is accurate to 0.02 degrees and fast, "full" has all detail.
        """
        return list(self._outlines(level, detail).within(box))

    def country_outline(self, code: str, *, detail: Detail = "light") -> Shape:
        """Return a country's land.

        Raises:
            BadInput: there is no such country.
        """
        for shape in self._outlines("country", detail).get_shapes(code.upper()):
            return shape
        raise BadInput(f"no country has the code {code[:20]!r}; codes are ISO 3166-1 alpha-2, such as FR")

    def _outlines(self, level: Level, detail: Detail) -> Outlines:
        key = (level, detail)
        if key not in self._shapes:
            arcs = self._layer.arcs if detail == "full" else self._read_light_arcs()
            self._shapes[key] = Outlines(arcs, self.regions, level, may_cross=detail == "light")
        return self._shapes[key]

    def _labels(self, lats: npt.ArrayLike, lons: npt.ArrayLike) -> Labels:
        lat, lon = _floats(lats), _floats(lons)
        if lat.shape != lon.shape:
            raise BadInput(f"as many latitudes as longitudes are needed, not {lat.shape} and {lon.shape}")
        if lat.size <= _FEW_POINTS and self._world_grid is None:
            one_by_one = zip(lat.reshape(-1).tolist(), lon.reshape(-1).tolist(), strict=True)
            return np.array([self._local.label(*point) for point in one_by_one], dtype=np.uint16).reshape(lat.shape)
        return self._grid().labels(lat.reshape(-1), lon.reshape(-1)).reshape(lat.shape)

    def _grid(self) -> Grid:
        """Return the grid of the world, for many points; it is built once."""
        with self._building:
            self._world_grid = self._world_grid or Grid(self._layer)
            return self._world_grid


def _floats(values: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadInput("latitudes and longitudes must be numbers") from error


@lru_cache(maxsize=1)
def _load_borders() -> Borders:
    return Borders(load_cached_layer(), lambda: Arcs.from_bytes(unpack(OUTLINES)))
