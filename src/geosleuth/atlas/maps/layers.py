"""Read the layers of region files in the image's pixels, and divide land from sea by their coastlines."""

import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.atlas.folders import open_readonly
from geosleuth.atlas.regions.geometry import unpack
from geosleuth.atlas.regions.region_file import FEATURE_BLOCK, unpack_shapes
from geosleuth.geo import Box, LatLon, is_valid
from geosleuth.geo.extent import repair
from geosleuth.support.errors import BadInput

from . import style
from .canvas import Geometries, MapCanvas, MapView, Strip

_PROBE_OFFSET_PX = 0.35  # how far beside a coast the faces on its two sides are looked up
_COAST_TOLERANCE_PX = 0.4  # finer detail of a coast can't be seen

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom

MARGIN_PX = 48
MAX_SHAPES = 60_000
MAX_POIS = 300
_POINT_DEG = 5e-5  # the R-tree stores 32-bit numbers, rounded outwards, so the box of a point has a size
_MIN_AREA_PX = 1.5  # areas less than this across are not read
_MIN_AREA_FAR_OUT_PX = 3.5  # the same at zooms where there are tens of thousands
_MAX_REACH_PX = 4 * 2048  # Pillow visits every pixel of a thin line, seen or not, so longer shapes are clipped
_SLACK_DEG = 0.2  # extracts hold ways whole, so their shapes reach beyond their bounds
_IN_BOX = "box.west <= :east AND box.east >= :west AND box.south <= :north AND box.north >= :south"
_SHOWN_AT_ZOOM = """(shape.layer = 'coast'
       OR (shape.layer = 'road' AND shape.rank <= :road)
       OR (shape.layer = 'rail' AND shape.rank <= :rail)
       OR (shape.layer = 'water' AND shape.rank <= :water)
       OR (shape.layer = 'place' AND shape.rank <= :place)
       OR (shape.size > :area AND ((shape.layer = 'building' AND :building) OR (shape.layer = 'landuse' AND :landuse)
                               OR (shape.layer = 'green' AND :green))))"""
# A row of a region file holds many shapes of similar size; the largest come first.
_LAYERS_SQL = f"""
SELECT shape.layer, shape.rank, shape.shapes FROM shape_box AS box JOIN shape ON shape.id = box.id
WHERE {_IN_BOX} AND (shape.size > :line OR shape.size < {_POINT_DEG}) AND {_SHOWN_AT_ZOOM}
ORDER BY shape.size DESC, shape.id LIMIT {MAX_SHAPES}"""  # noqa: S608  # only our own numbers are put in
_COAST_SQL = f"""
SELECT shape.layer, shape.rank, shape.shapes FROM shape_box AS box JOIN shape ON shape.id = box.id
WHERE {_IN_BOX} AND shape.layer = 'coast' ORDER BY shape.size DESC, shape.id LIMIT {MAX_SHAPES}"""  # noqa: S608
_POIS_SQL = f"""
SELECT feature.lat / 1e7, feature.lon / 1e7, feature.name, kind.kind
FROM feature_box AS box JOIN feature
    ON feature.id BETWEEN CASE WHEN box.id < 0 THEN -box.id ELSE box.id * {FEATURE_BLOCK} + 1 END
                  AND CASE WHEN box.id < 0 THEN -box.id ELSE (box.id + 1) * {FEATURE_BLOCK} END
JOIN kind ON kind.id = feature.kind
WHERE {_IN_BOX} AND feature.name <> ''
  AND feature.lat BETWEEN :south * 1e7 AND :north * 1e7 AND feature.lon BETWEEN :west * 1e7 AND :east * 1e7
ORDER BY feature.rank DESC, feature.id LIMIT {4 * MAX_POIS}"""  # noqa: S608
IntArray = npt.NDArray[np.int64]
_COAST_FROM_ZOOM = 8.5  # wider views use the outlines, which are made for them
_BORDERS_TO_ZOOM = 11.5  # outlines are too coarse to show borders in closer views
_WIDER_FRAMES = (4, 16)  # times the size of the view, searched for a coast if none is in view
NamedShape = tuple[shapely.Geometry, str]


@dataclass(frozen=True, slots=True)
class LandAndSea:
    """The land and sea polygons of an area, in pixels."""

    land: Geometries
    sea: Geometries


def divide(coast: Geometries, area: Rectangle) -> LandAndSea | None:
    """Divide a rectangle into land and sea by the coastlines that cross it; None if none does.

    OpenStreetMap's coastlines have land on their left. Coast and rectangle together enclose faces, and each face is
    land or sea by the majority of the coast along its edge, measured in pixels. A coastline that ends inside the
    rectangle is extended to the nearest start of another or to the nearest edge; extensions don't count in the vote.
    """
    frame = shapely.box(*area)
    lines = _pieces(coast, area)
    if not len(lines):
        return None
    edges = shapely.union_all([*lines, *_gap_closing_lines(lines, area), frame.exterior])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(edges)))
    if not len(faces):
        return None
    votes = _votes(lines, faces)
    if not votes.any():
        return None
    # Joined, because neighbours that are filled one by one leave a seam between them.
    land, sea = (shapely.get_parts(shapely.union_all(faces[side])) for side in (votes > 0, votes < 0))
    return LandAndSea(land=land, sea=sea)


def _pieces(coast: Geometries, area: Rectangle) -> Geometries:
    """Return coastlines joined end to end, simplified and clipped to the rectangle, with their direction kept."""
    kinds = shapely.get_type_id(coast)
    lines: Geometries = coast[(kinds == shapely.GeometryType.LINESTRING) & ~shapely.is_empty(coast)]
    if not len(lines):
        return lines
    joined = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(lines), directed=True))
    thinned = shapely.simplify(joined, _COAST_TOLERANCE_PX, preserve_topology=False)
    pieces = shapely.get_parts(shapely.clip_by_rect(thinned, *area))
    are_lines = shapely.get_type_id(pieces) == shapely.GeometryType.LINESTRING
    sound: Geometries = pieces[are_lines & ~shapely.is_empty(pieces)]
    return sound


def _gap_closing_lines(lines: Geometries, area: Rectangle) -> Geometries:
    """Return straight lines from each end inside the rectangle to the nearest start, or to the nearest edge."""
    left, top, right, bottom = area
    open_ended = lines[~shapely.is_closed(lines)]
    starts, ends = (shapely.get_coordinates(shapely.get_point(open_ended, at)) for at in (0, -1))
    starts, ends = (points[_mask_inside(points, area)] for points in (starts, ends))
    free = np.ones(len(starts), dtype=bool)
    unmatched = []
    added = []
    for x, y in ends.tolist():
        gaps = np.where(free, np.hypot(starts[:, 0] - x, starts[:, 1] - y), np.inf)
        nearest = int(np.argmin(gaps)) if len(gaps) else -1
        if nearest >= 0 and gaps[nearest] <= min(x - left, right - x, y - top, bottom - y):
            free[nearest] = False
            added.append(shapely.LineString([(x, y), starts[nearest]]))
        else:
            unmatched.append((x, y))
    for x, y in [*unmatched, *starts[free].tolist()]:
        to_edges = ((x - left, (left, y)), (right - x, (right, y)), (y - top, (x, top)), (bottom - y, (x, bottom)))
        added.append(shapely.LineString([(x, y), min(to_edges)[1]]))
    return np.array(added, dtype=object)


def _mask_inside(points: npt.NDArray[np.float64], area: Rectangle) -> npt.NDArray[np.bool_]:
    left, top, right, bottom = area
    x, y = points.T
    inside: npt.NDArray[np.bool_] = (x > left + 0.01) & (x < right - 0.01) & (y > top + 0.01) & (y < bottom - 0.01)
    return inside


def _votes(lines: Geometries, faces: Geometries) -> npt.NDArray[np.float64]:
    """Return for each face the length of coast, in pixels, that has it on its land side, less that on its sea side."""
    coords, index = shapely.get_coordinates(lines, return_index=True)
    start, end = coords[:-1], coords[1:]
    same_line = index[:-1] == index[1:]
    start, end = start[same_line], end[same_line]
    step = end - start
    length = np.hypot(step[:, 0], step[:, 1])
    keep = length > 1e-6
    start, step, length = start[keep], step[keep], length[keep]
    middle = start + step / 2
    # y grows downwards, so the left-hand side of (dx, dy) is (dy, -dx)
    to_left = np.column_stack([step[:, 1], -step[:, 0]]) / length[:, None] * _PROBE_OFFSET_PX
    tree = shapely.STRtree(faces)
    votes = np.zeros(len(faces))
    for sign, probes in ((1, middle + to_left), (-1, middle - to_left)):
        which, face = tree.query(shapely.points(probes), predicate="intersects")
        np.add.at(votes, face, sign * length[which])
    return votes


@dataclass(frozen=True, slots=True)
class MapLayer:
    """Shapes of one kind with their ranks and names; geometries are in pixels."""

    geometries: Geometries
    ranks: IntArray
    names: tuple[str, ...]

    def of_rank(self, rank: int) -> Geometries:
        """Return the shapes of one rank."""
        chosen: Geometries = self.geometries[self.ranks == rank]
        return chosen

    def of_name(self, name: str) -> Geometries:
        """Return the shapes of one name."""
        chosen: Geometries = self.geometries[np.array([other == name for other in self.names], dtype=bool)]
        return chosen


@dataclass(frozen=True, slots=True)
class MapPoi:
    """A point of interest with its OpenStreetMap kind, such as "amenity=cafe"."""

    point: LatLon
    name: str
    kind: str


EMPTY = MapLayer(np.empty(0, dtype=object), np.empty(0, dtype=np.int64), ())


class RegionFile:
    """A region file or gazetteer, open for reading.

    Raises:
        BadInput: the file is not a region file, or damaged.
    """

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        self._conn, self.path = conn, path
        meta: dict[str, object] = dict(self._query_rows("SELECT key, value FROM meta"))
        self.attribution = str(meta.get("attribution") or "")
        self.bounds = _bounds(str(meta.get("bbox", "")))

    def layers(self, view: MapView, strip: Strip) -> dict[str, MapLayer]:
        """Return all shapes that a map of this view shows, by layer; layers without any are left out."""
        degrees_per_px = 360 / view.world_px
        min_area = degrees_per_px * (_MIN_AREA_PX if view.zoom >= 13 else _MIN_AREA_FAR_OUT_PX)
        values = {**_box_values(strip), **_rank_limits(view.zoom), "line": degrees_per_px / 2, "area": min_area}
        rows, geometries = self._shapes(_LAYERS_SQL, values)
        if not rows:
            return {}
        names = np.array([row[0] for row in rows], dtype=object)
        geometries = to_pixels(geometries, view, strip.turns)
        ranks = np.array([row[1] if isinstance(row[1], int) else 99 for row in rows], dtype=np.int64)
        usable = ~shapely.is_empty(geometries) & ~shapely.is_missing(geometries)
        layers = {}
        for name in sorted({str(name) for name in names}):
            chosen = np.flatnonzero((names == name) & usable)
            labels = tuple(str(rows[i][2] or "") for i in chosen)
            layers[name] = MapLayer(geometries[chosen], ranks[chosen], labels)
        return layers

    def coast(self, view: MapView, strip: Strip, margin_px: float) -> Geometries:
        """Return the coastline of a view with a margin."""
        _, geometries = self._shapes(_COAST_SQL, _box_values(strip))
        return to_pixels(geometries, view, strip.turns, margin_px)

    def _shapes(self, sql: str, values: Mapping[str, float]) -> tuple[list[tuple[Any, ...]], Geometries]:
        """Return layer, rank and name of the shapes inside a box, and their geometries in degrees."""
        rows: list[tuple[Any, ...]] = []
        packed: list[bytes] = []
        for layer, rank, shapes in self._query_rows(sql, values):
            try:
                names, geoms = unpack_shapes(shapes)
            except (zlib.error, struct.error, ValueError, TypeError):
                continue  # show the rest of a damaged map
            rows.extend((layer, rank, name) for name in names)
            packed.extend(geoms)
            if len(rows) >= 2 * MAX_SHAPES:
                break
        geometries = unpack(packed)
        west, south, east, north = shapely.bounds(geometries).T
        with np.errstate(invalid="ignore"):
            seen = (west <= values["east"]) & (east >= values["west"])
            seen &= (south <= values["north"]) & (north >= values["south"])
            wide = np.maximum(east - west, north - south)
            seen &= (wide > values.get("line", 0.0)) | (wide < _POINT_DEG)
        chosen = np.flatnonzero(seen)[:MAX_SHAPES]
        return [rows[at] for at in chosen.tolist()], geometries[chosen]

    def pois(self, strip: Strip) -> list[MapPoi]:
        """Return the points of interest in view, the best known first."""
        rows = self._query_rows(_POIS_SQL, _box_values(strip))
        found = [
            MapPoi(LatLon(lat, lon), str(name), str(kind))
            for lat, lon, name, kind in rows
            if is_valid(lat, lon) and style.poi_family(str(kind))
        ]
        return found[:MAX_POIS]

    def _query_rows(self, sql: str, values: Mapping[str, float] | None = None) -> list[tuple[Any, ...]]:
        try:
            return self._conn.execute(sql, values or {}).fetchall()
        except sqlite3.Error as error:
            raise BadInput(f"{self.path}: not a region file, or damaged ({error}); add the region again") from error


@dataclass(frozen=True, slots=True)
class MapPart:
    """The layers that one region file has for one strip of the view."""

    region: RegionFile
    strip: Strip
    layers: dict[str, MapLayer]


@contextmanager
def open_region(path: Path) -> Iterator[RegionFile]:
    """Open a region file for reading.

    Raises:
        BadInput: there is no such file, or it is not a region file.
    """
    if not path.is_file():
        raise BadInput(f"{path}: no such region file; add the region again")
    with closing(open_readonly(path)) as conn:
        yield RegionFile(conn, path)


def may_reach(bounds: tuple[float, float, float, float] | None, strip: Strip) -> bool:
    """Return whether a region may have shapes in a strip, by its south, west, north and east; None if unknown."""
    if bounds is None:
        return True
    south, west, north, east = bounds
    if west > east:
        return True
    return (
        south - _SLACK_DEG < strip.north
        and north + _SLACK_DEG > strip.south
        and west - _SLACK_DEG < strip.east
        and east + _SLACK_DEG > strip.west
    )


def to_pixels(geometries: Geometries, view: MapView, turns: int, margin_px: float = MARGIN_PX) -> Geometries:
    """Convert geometries from degrees to the image's pixels; those that reach far outside are clipped at the margin.

    Geometries that are missing, not finite or impossible to clip become empty.
    """
    empty = shapely.Point()
    out = np.where(shapely.is_missing(geometries), empty, shapely.force_2d(geometries))
    coords = shapely.get_coordinates(out)
    if not len(coords):
        return np.full(len(out), empty, dtype=object)
    out = shapely.set_coordinates(out, view.pixels(coords, turns))
    west, north, east, south = shapely.bounds(out).T
    with np.errstate(invalid="ignore"):
        reach = margin_px + _MAX_REACH_PX
        far = (west < -reach) | (north < -reach) | (east > view.width + reach) | (south > view.height + reach)
    for i in np.flatnonzero(far):
        out[i] = cut(out[i], -margin_px, -margin_px, view.width + margin_px, view.height + margin_px)
    not_finite = ~np.isfinite(shapely.bounds(out)).all(axis=1)
    out[not_finite] = empty
    pixels: Geometries = out
    return pixels


def cut(geometry: shapely.Geometry, left: float, top: float, right: float, bottom: float) -> shapely.Geometry:
    """Clip a geometry to a rectangle; return an empty one if it is too invalid to clip, or too tangled to repair."""
    try:
        return shapely.clip_by_rect(geometry, left, top, right, bottom)
    except shapely.GEOSException:
        try:
            return shapely.clip_by_rect(repair(geometry), left, top, right, bottom)
        except (shapely.GEOSException, ValueError):
            return shapely.Point()


def _box_values(strip: Strip) -> dict[str, float]:
    return {"south": strip.south, "west": strip.west, "north": strip.north, "east": strip.east}


def _rank_limits(zoom: float) -> dict[str, float]:
    """Return the least important rank (the highest number) that each layer shows at a zoom; 0 hides the layer."""

    def last_rank(starts: Mapping[int, float]) -> int:
        return max((rank for rank, start in starts.items() if zoom >= start), default=0)

    return {
        "road": last_rank(style.ROAD_FROM_ZOOM),
        "rail": last_rank(style.RAIL_FROM_ZOOM),
        "water": max(1, last_rank(style.RIVER_FROM_ZOOM)),
        "place": last_rank(style.PLACE_FROM_ZOOM),
        "building": zoom >= style.BUILDING_FROM_ZOOM,
        "landuse": zoom >= style.LANDUSE_FROM_ZOOM,
        "green": zoom >= style.GREEN_FROM_ZOOM,
    }


def _bounds(text: str) -> tuple[float, float, float, float] | None:
    """Parse "south,west,north,east" of a file's metadata; None if it is missing or invalid."""
    try:
        south, west, north, east = (float(part) for part in text.split(","))
    except ValueError:
        return None
    return (south, west, north, east) if is_valid(south, west) and is_valid(north, east) else None


def paint_ground(
    canvas: MapCanvas,
    view: MapView,
    strips: Sequence[Strip],
    outlines: Callable[[Box, float], Iterable[tuple[shapely.Geometry, str, str]]] | None,
    parts: Sequence[MapPart],
) -> list[NamedShape]:
    """Paint land and sea; return geometry (in pixels) and name of the countries in view."""
    countries: list[NamedShape] = []
    if outlines is not None:
        for strip in strips:
            countries += _paint_outlines(canvas, view, strip, list(outlines(strip.box, view.zoom)))
    if outlines is None or view.zoom >= _COAST_FROM_ZOOM:
        for part in parts:
            _paint_region(canvas, view, part)
    return countries


def _paint_outlines(
    canvas: MapCanvas, view: MapView, strip: Strip, found: Sequence[tuple[shapely.Geometry, str, str]]
) -> list[NamedShape]:
    geometries = np.empty(len(found), dtype=object)
    geometries[:] = [geometry for geometry, _, _ in found]
    geometries = to_pixels(geometries, view, strip.turns)
    kinds = np.array([kind for _, kind, _ in found], dtype=object)
    canvas.fill(geometries[(kinds == "land") | (kinds == "country")], style.LAND)
    canvas.fill(geometries[kinds == "lake"], style.SEA)
    if view.zoom < _BORDERS_TO_ZOOM:
        if view.zoom >= 4:
            canvas.stroke(geometries[kinds == "region"], style.REGION_BORDER, 0.7)
        canvas.stroke(
            geometries[kinds == "country"], style.BORDER, 0.4 if view.zoom < 3.5 else 0.8 if view.zoom < 6 else 1.2
        )
    named = zip(geometries, found, strict=True)
    return [(geometry, name) for geometry, (_, kind, name) in named if kind == "country" and name]


def _paint_region(canvas: MapCanvas, view: MapView, part: MapPart) -> None:
    """Paint land and sea inside one region's bounds.

    If no coast is in view, the view is land if it shows something that stands on land, else what the nearest coast
    around it implies.
    """
    area = _crop_to_bounds(view, part)
    if area is None:
        return
    coast = part.layers.get("coast", EMPTY).geometries
    divided = divide(coast, area)
    if divided is not None:
        canvas.fill(divided.sea, style.SEA)
        canvas.fill(divided.land, style.LAND)
        return
    if _stands_on_land(part):
        canvas.rectangle(*area, style.LAND)
        return
    for times in _WIDER_FRAMES:
        divided = divide(*_coast_around(view, part, times))
        if divided is not None:
            middle = shapely.Point((area[0] + area[2]) / 2, (area[1] + area[3]) / 2)
            at_sea = bool(shapely.intersects(divided.sea, middle).any())
            canvas.rectangle(*area, style.SEA if at_sea else style.LAND)
            return


def is_inside(view: MapView, part: MapPart) -> bool:
    """Return whether the view overlaps the region's bounds."""
    return _crop_to_bounds(view, part) is not None


def _stands_on_land(part: MapPart) -> bool:
    if any(len(part.layers.get(name, EMPTY).geometries) for name in ("building", "green")):
        return True
    return not style.OVER_WATER.issuperset(part.layers.get("landuse", EMPTY).names)


def _coast_around(view: MapView, part: MapPart, times: int) -> tuple[Geometries, Rectangle]:
    """Return the coast in a frame some times as large as the view, and that frame."""
    margin_px = view.width * (times - 1) / 2
    strip = next((s for s in view.strips(margin_px) if s.turns == part.strip.turns), part.strip)
    frame = (-margin_px, -margin_px, view.width + margin_px, view.height + margin_px)
    return part.region.coast(view, strip, margin_px), frame


def _crop_to_bounds(view: MapView, part: MapPart) -> Rectangle | None:
    """Return the part of the view, with a small margin, that lies inside the region's bounds; None if there is none."""
    margin_px = 8.0
    left, top, right, bottom = -margin_px, -margin_px, view.width + margin_px, view.height + margin_px
    if part.region.bounds is not None:
        south, west, north, east = part.region.bounds
        if west <= east:
            corners = view.pixels(np.array([[west, north], [east, south]]), part.strip.turns)
            left, top = max(left, corners[0, 0]), max(top, corners[0, 1])
            right, bottom = min(right, corners[1, 0]), min(bottom, corners[1, 1])
    return (left, top, right, bottom) if right - left > 1 and bottom - top > 1 else None
