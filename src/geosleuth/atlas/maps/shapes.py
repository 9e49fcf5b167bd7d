"""What region files hold for one view: their shapes by layer, in the picture's pixels, and features to name."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.atlas.readonly import open_readonly
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon, is_valid

from . import style
from .canvas import Geometries
from .view import Strip, View

MARGIN_PX = 48
MAX_SHAPES = 60_000
MAX_POIS = 300
_POINT_DEG = 5e-5  # the R-tree keeps 32-bit numbers, rounded outwards, so a point has a size
_SMALL_PX = 1.5  # areas less than this across are not worth reading
_SMALL_FROM_AFAR_PX = 3.5  # where there are tens of thousands
_FAR_PX = 4 * 2048  # Pillow walks every pixel of a thin line, seen or not, so long shapes are cut

_IN_BOX = "box.west <= :east AND box.east >= :west AND box.south <= :north AND box.north >= :south"
_LAYERS_SQL = f"""
SELECT shape.layer, shape.rank, shape.name, shape.geom FROM shape_box AS box JOIN shape ON shape.id = box.id
WHERE {_IN_BOX}
  -- of the box alone, so that it spares looking up the shape: long enough to see, or a point
  AND (box.east - box.west > :line OR box.north - box.south > :line
       OR (box.east - box.west < {_POINT_DEG} AND box.north - box.south < {_POINT_DEG}))
  AND (shape.layer = 'coast'
       OR (shape.layer = 'road' AND shape.rank <= :road)
       OR (shape.layer = 'rail' AND shape.rank <= :rail)
       OR (shape.layer = 'water' AND shape.rank <= :water)
       OR (shape.layer = 'place' AND shape.rank <= :place)
       OR ((box.east - box.west > :area OR box.north - box.south > :area)
           AND ((shape.layer = 'building' AND :building) OR (shape.layer = 'landuse' AND :landuse)
                OR (shape.layer = 'green' AND :green))))
ORDER BY shape.id LIMIT {MAX_SHAPES}"""  # noqa: S608  # only our own numbers are put in
_COAST_SQL = f"""
SELECT shape.geom FROM shape_box AS box JOIN shape ON shape.id = box.id
WHERE {_IN_BOX} AND shape.layer = 'coast' ORDER BY shape.id LIMIT {MAX_SHAPES}"""  # noqa: S608
_POIS_SQL = f"""
SELECT feature.lat, feature.lon, feature.name, feature.kind
FROM feature_box AS box JOIN feature ON feature.id = box.id
WHERE {_IN_BOX} AND feature.name <> '' ORDER BY feature.rank DESC, feature.id LIMIT {4 * MAX_POIS}"""  # noqa: S608

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Layer:
    """Shapes of one kind: geometry in pixels, rank and name."""

    geometries: Geometries
    ranks: IntArray
    names: tuple[str, ...]

    def of_rank(self, rank: int) -> Geometries:
        """The shapes of one rank."""
        chosen: Geometries = self.geometries[self.ranks == rank]
        return chosen

    def of_name(self, name: str) -> Geometries:
        """The shapes of one name."""
        chosen: Geometries = self.geometries[np.array([own == name for own in self.names], dtype=bool)]
        return chosen


@dataclass(frozen=True, slots=True)
class Poi:
    """A named feature."""

    point: LatLon
    name: str
    kind: str


EMPTY = Layer(np.empty(0, dtype=object), np.empty(0, dtype=np.int64), ())


class RegionFile:
    """One region file, open for reading.

    Raises:
        BadInput: no such file, or not a region file.
    """

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        self._conn, self.path = conn, path
        meta: dict[str, object] = dict(self._rows("SELECT key, value FROM meta"))
        self.attribution = str(meta.get("attribution") or "")
        self.bounds = _bounds(str(meta.get("bbox", "")))

    def layers(self, view: View, strip: Strip) -> dict[str, Layer]:
        """Everything that a map of this view shows, by layer; an absent layer has nothing."""
        px = 360 / view.world_px
        rows = self._rows(
            _LAYERS_SQL,
            {
                **_box(strip),
                **_ranks(view.zoom),
                "line": px / 2,
                "area": px * (_SMALL_PX if view.zoom >= 13 else _SMALL_FROM_AFAR_PX),
            },
        )
        if not rows:
            return {}
        names, geometries = np.array([row[0] for row in rows], dtype=object), decode([row[3] for row in rows])
        geometries = to_pixels(geometries, view, strip.turns)
        ranks = np.array([row[1] if isinstance(row[1], int) else 99 for row in rows], dtype=np.int64)
        sound = ~shapely.is_empty(geometries) & ~shapely.is_missing(geometries)
        layers = {}
        for name in sorted({str(name) for name in names}):
            chosen = np.flatnonzero((names == name) & sound)
            labels = tuple(str(rows[i][2] or "") for i in chosen)
            layers[name] = Layer(geometries[chosen], ranks[chosen], labels)
        return layers

    def coast(self, view: View, strip: Strip, margin_px: float) -> Geometries:
        """Only the coastline, of a frame wider than the picture by a margin."""
        rows = self._rows(_COAST_SQL, _box(strip))
        return to_pixels(decode([row[0] for row in rows]), view, strip.turns, margin_px)

    def pois(self, strip: Strip) -> list[Poi]:
        """Named features in view, the best known first."""
        rows = self._rows(_POIS_SQL, _box(strip))
        found = [
            Poi(LatLon(lat, lon), str(name), str(kind))
            for lat, lon, name, kind in rows
            if is_valid(lat, lon) and style.poi_family(str(kind))
        ]
        return found[:MAX_POIS]

    def _rows(self, sql: str, values: Mapping[str, float] | None = None) -> list[tuple[Any, ...]]:
        try:
            return self._conn.execute(sql, values or {}).fetchall()
        except sqlite3.Error as error:
            raise BadInput(f"{self.path}: not a region file, or damaged ({error}); add the region again") from error


@dataclass(frozen=True, slots=True)
class Part:
    """One region file's share of one strip of the view."""

    region: RegionFile
    strip: Strip
    layers: dict[str, Layer]


@contextmanager
def open_region(path: Path) -> Iterator[RegionFile]:
    """Open a region file read-only for as long as it is needed."""
    if not path.is_file():
        raise BadInput(f"{path}: no such region file; add the region again")
    with closing(open_readonly(path)) as conn:
        yield RegionFile(conn, path)


def decode(blobs: list[object]) -> Geometries:
    """Geometries from WKB; whatever is damaged becomes None."""
    sound: npt.NDArray[np.object_] = np.empty(len(blobs), dtype=object)
    sound[:] = [blob if isinstance(blob, bytes) else None for blob in blobs]
    decoded: Geometries = shapely.from_wkb(sound, on_invalid="ignore")
    return decoded


def to_pixels(geometries: Geometries, view: View, turns: int, margin_px: float = MARGIN_PX) -> Geometries:
    """The same geometries in the picture's pixels; what reaches far beyond the picture is cut off at the margin.

    What is missing, not finite, or can't be cut becomes an empty geometry.
    """
    nothing = shapely.Point()
    out = np.where(shapely.is_missing(geometries), nothing, shapely.force_2d(geometries))
    coords = shapely.get_coordinates(out)
    if not len(coords):
        return np.full(len(out), nothing, dtype=object)
    out = shapely.set_coordinates(out, view.pixels(coords, turns))
    west, north, east, south = shapely.bounds(out).T
    with np.errstate(invalid="ignore"):
        reach = margin_px + _FAR_PX
        far = (west < -reach) | (north < -reach) | (east > view.width + reach) | (south > view.height + reach)
    for i in np.flatnonzero(far):
        out[i] = cut(out[i], -margin_px, -margin_px, view.width + margin_px, view.height + margin_px)
    odd = ~np.isfinite(shapely.bounds(out)).all(axis=1)
    out[odd] = nothing
    pixels: Geometries = out
    return pixels


def cut(geometry: shapely.Geometry, left: float, top: float, right: float, bottom: float) -> shapely.Geometry:
    """The part of a geometry inside a rectangle; nothing where the geometry is too broken to cut."""
    try:
        return shapely.clip_by_rect(geometry, left, top, right, bottom)
    except shapely.GEOSException:
        try:
            return shapely.clip_by_rect(shapely.make_valid(geometry), left, top, right, bottom)
        except shapely.GEOSException:
            return shapely.Point()


def _box(strip: Strip) -> dict[str, float]:
    return {"south": strip.south, "west": strip.west, "north": strip.north, "east": strip.east}


def _ranks(zoom: float) -> dict[str, float]:
    """The least important rank that each layer shows at a zoom; 0 for nothing."""

    def least(starts: Mapping[int, float]) -> int:
        return max((rank for rank, start in starts.items() if zoom >= start), default=0)

    return {
        "road": least(style.ROAD_FROM_ZOOM),
        "rail": least(style.RAIL_FROM_ZOOM),
        "water": max(1, least(style.RIVER_FROM_ZOOM)),
        "place": least(style.PLACE_FROM_ZOOM),
        "building": zoom >= style.BUILDING_FROM_ZOOM,
        "landuse": zoom >= style.LANDUSE_FROM_ZOOM,
        "green": zoom >= style.GREEN_FROM_ZOOM,
    }


def _bounds(text: str) -> tuple[float, float, float, float] | None:
    """South, west, north, east as the file's own table says; None where it does not."""
    try:
        south, west, north, east = (float(part) for part in text.split(","))
    except ValueError:
        return None
    return (south, west, north, east) if is_valid(south, west) and is_valid(north, east) else None
