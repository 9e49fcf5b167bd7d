"""Boxes, distances and places: what every question about regions shares."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from geosleuth.atlas.model import Place
from geosleuth.geo import EARTH_RADIUS_KM, Box, Disc, Extent, FloatArray, LatLon, great_circle_km

from .kinds import ADDRESS, is_street, matching_kinds
from .store import OpenRegion, details_of, text_of

Ids = NDArray[np.int64]
Edges = tuple[float, float, float, float]  # south, west, north, east
FEATURE_COLUMNS: Final = "id, osm, name, kind, lat, lon, south, west, north, east, rank, address, tags"
_SOURCES: Final = {"osm": "OpenStreetMap", "overture": "Overture Maps", "made-up": "geosleuth world (made up)"}
_PARAMETERS: Final = 30_000  # SQLite takes 32,766 at once


def boxes_of(extent: Extent) -> list[Edges]:
    """One box, or two where the extent crosses the antimeridian."""
    if isinstance(extent, Disc):
        return boxes_around(extent.centre, extent.radius_km * 1000)
    if extent.west <= extent.east:
        return [(extent.south, extent.west, extent.north, extent.east)]
    return [
        (extent.south, extent.west, extent.north, 180.0),
        (extent.south, -180.0, extent.north, extent.east),
    ]


def boxes_around(point: LatLon, radius_m: float) -> list[Edges]:
    """Boxes that hold the whole disc around a point."""
    reach = math.degrees(radius_m / 1000 / EARTH_RADIUS_KM) * 1.0000001 + 1e-9
    south, north = point.lat - reach, point.lat + reach
    if south <= -90 or north >= 90:
        return [(max(south, -90.0), -180.0, min(north, 90.0), 180.0)]
    widest = math.cos(math.radians(max(abs(south), abs(north))))
    half = reach / widest
    if half >= 180:
        return [(south, -180.0, north, 180.0)]
    west, east = point.lon - half, point.lon + half
    if west < -180:
        return [(south, west + 360, north, 180.0), (south, -180.0, north, east)]
    if east > 180:
        return [(south, west, north, 180.0), (south, -180.0, north, east - 360)]
    return [(south, west, north, east)]


def touches(region: OpenRegion, extent: Extent | None) -> bool:
    """Whether a region can hold anything of an extent; its own box is the extract's, with some room at the edges."""
    if extent is None:
        return True
    box = region.info.extent
    roomy = Box(
        max(box.south - 0.2, -90), max(box.west - 0.2, -180), min(box.north + 0.2, 90), min(box.east + 0.2, 180)
    )
    return roomy.distance_km(extent) == 0


def inside(extent: Extent, lats: FloatArray, lons: FloatArray) -> NDArray[np.bool_]:
    """Which points lie in an extent: its own ``contains``, for many points at once."""
    if isinstance(extent, Disc):
        within: NDArray[np.bool_] = distances_m(extent.centre, lats, lons) <= extent.radius_km * 1000
        return within
    if extent.west <= extent.east:
        spanned = (lons >= extent.west) & (lons <= extent.east)
    else:
        spanned = (lons >= extent.west) | (lons <= extent.east)
    edge = (np.abs(lons) == 180) & (extent.spans_lon(180.0) or extent.spans_lon(-180.0))
    between: NDArray[np.bool_] = (lats >= extent.south) & (lats <= extent.north)
    around: NDArray[np.bool_] = spanned | edge | (np.abs(lats) == 90)
    return between & around


def in_boxes(region: OpenRegion, boxes: Sequence[Edges], table: str = "feature_box") -> Ids:
    """Ids whose box meets one of these, ascending."""
    found: set[int] = set()
    for south, west, north, east in boxes:
        rows = region.conn.execute(
            f"SELECT id FROM {table} WHERE west <= ? AND east >= ? AND south <= ? AND north >= ?",  # noqa: S608
            (east, west, north, south),
        )
        found.update(number for (number,) in rows)
    return np.array(sorted(found), dtype=np.int64)


def among(region: OpenRegion, within: Extent | None, category: str | None) -> Ids | None:
    """Features inside an extent and of a category, ascending; None for all of them."""
    chosen = of_category(region, category) if category is not None else None
    if within is None:
        return chosen
    lats, lons = positions(region)
    if chosen is None:
        return np.flatnonzero(inside(within, lats, lons))
    return chosen[inside(within, lats[chosen], lons[chosen])]


def of_category(region: OpenRegion, category: str) -> Ids:
    """Features of a category, ascending."""
    key = f"category {category[:200]}"
    ids = region.memory.get(key)
    if not isinstance(ids, np.ndarray):
        ids = _of_kinds(region, matching_kinds(category, region.kinds))
        if len(region.memory) < 200:
            region.memory[key] = ids
    return ids


def street_ids(region: OpenRegion) -> Ids:
    """All streets of a region, ascending."""
    ids = region.memory.get("streets")
    if not isinstance(ids, np.ndarray):
        ids = region.memory["streets"] = _of_kinds(region, [kind for kind in region.kinds if is_street(kind)])
    return ids


def _of_kinds(region: OpenRegion, kinds: Sequence[str]) -> Ids:
    marks = ",".join("?" * len(kinds))
    rows = region.conn.execute(f"SELECT id FROM feature WHERE kind IN ({marks}) ORDER BY id", kinds)  # noqa: S608
    return np.array([number for (number,) in rows], dtype=np.int64)


def positions(region: OpenRegion) -> tuple[FloatArray, FloatArray]:
    """Latitude and longitude of every feature, at its id; NaN where there is none."""
    known = region.memory.get("positions")
    if isinstance(known, tuple):
        return known
    columns = dict(region.conn.execute("SELECT axis, degrees FROM feature_position"))
    lats, lons = (np.frombuffer(columns[axis], dtype="<f8") for axis in ("lat", "lon"))
    if len(lats) != len(lons):
        raise ValueError("latitudes without longitudes")
    check_positions(lats, lons)
    region.memory["positions"] = (lats, lons)
    return lats, lons


def check_positions(lats: FloatArray, lons: FloatArray) -> None:
    """Refuse what is nowhere on Earth; NaN, for no position, is let through.

    Raises:
        ValueError: a latitude beyond 90 or a longitude beyond 180 degrees.
    """
    if np.any(np.abs(lats) > 90) or np.any(np.abs(lons) > 180):
        raise ValueError("a position that is nowhere on Earth")


def rows_of(region: OpenRegion, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Feature rows by id."""
    found: dict[int, tuple[Any, ...]] = {}
    for begin in range(0, len(ids), _PARAMETERS):
        some = [int(number) for number in ids[begin : begin + _PARAMETERS]]
        marks = ",".join("?" * len(some))
        rows = region.conn.execute(f"SELECT {FEATURE_COLUMNS} FROM feature WHERE id IN ({marks})", some)  # noqa: S608
        found.update((row[0], row) for row in rows)
    return found


def place_of(region: OpenRegion, row: Sequence[Any]) -> Place:
    """A feature row as a place."""
    _, osm, name, kind, lat, lon, south, west, north, east, _, address, tags = row
    return Place(
        id=f"{region.info.kind}:{region.info.name}:{text_of(osm)}",
        name=text_of(name or "") or kind.partition("=")[2].replace("_", " "),
        kind=text_of(kind),
        point=LatLon(lat, lon),
        extent=Box(south, west, north, east),
        source=source_of(region),
        address=text_of(address or "") or (name if kind == ADDRESS else None),
        details=details_of(tags),
    )


def source_of(region: OpenRegion) -> str:
    """Whose word it is."""
    return f"{_SOURCES.get(region.info.kind, region.info.kind)}, region {region.info.name}"


def distances_m(point: LatLon, lats: FloatArray, lons: FloatArray) -> FloatArray:
    """Metres from a point to each of these."""
    return great_circle_km(np.array([point.lat]), np.array([point.lon]), lats, lons) * 1000


def nearest_points(region: OpenRegion, ids: Ids, point: LatLon) -> dict[int, LatLon]:
    """For those of the features that are streets or cover ground: the point of each that is nearest."""
    owners: list[int] = []
    geoms: list[bytes] = []
    for table, column in (("street_way", "street"), ("area", "feature")):
        for begin in range(0, len(ids), _PARAMETERS):
            some = ids[begin : begin + _PARAMETERS].tolist()
            marks = ",".join("?" * len(some))
            query = f"SELECT {column}, geom FROM {table} WHERE {column} IN ({marks})"  # noqa: S608
            for owner, geom in region.conn.execute(query, some):
                owners.append(owner)
                geoms.append(geom)
    if not owners:
        return {}
    # A degree of longitude is shorter than one of latitude; without the stretch "nearest" would lean east and west.
    squeeze = max(math.cos(math.radians(point.lat)), 1e-6)
    shapes = shapely.transform(shapely.from_wkb(geoms), lambda xy: xy * [squeeze, 1.0])
    ways = shapely.shortest_line(shapes, shapely.Point(point.lon * squeeze, point.lat))
    found: dict[int, LatLon] = {}
    for at in np.argsort(shapely.length(ways), kind="stable").tolist():
        if owners[at] not in found:
            x, y = shapely.get_coordinates(ways[at])[0].tolist()
            found[owners[at]] = LatLon(y, min(180.0, max(-180.0, x / squeeze)))
    return found
