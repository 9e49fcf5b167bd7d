"""An area of any shape as an extent: polygons with holes, in several parts, on both sides of the antimeridian."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.geo import Box, FloatArray, LatLon
from geosleuth.geo.extent import BoolArray

if TYPE_CHECKING:
    from shapely import Geometry

_WORLD = 360.0
_ASKING = Lock()


@dataclass(frozen=True, slots=True)
class Outline(Box):
    """Polygons in (lon, lat) degrees, edges included; as a `Box` it is the narrowest one around them."""

    shape: "Geometry"

    def __post_init__(self) -> None:
        """The box was checked where it was made."""

    @property
    def centre(self) -> LatLon:
        """A place inside, as far from the edges as is easily found."""
        middle = self.shape.representative_point()
        return LatLon(middle.y, middle.x)

    def contains(self, point: LatLon) -> bool:
        """Whether the point lies inside or on an edge."""
        return bool(self.holds(np.array([point.lat]), np.array([point.lon]))[0])

    def holds(self, lats: FloatArray, lons: FloatArray) -> BoolArray:
        """`contains` for many points at once."""
        import shapely

        # A prepared shape must not be asked by two threads at once: GEOS builds its index when it is first needed.
        with _ASKING:
            shapely.prepare(self.shape)
            inside: BoolArray = shapely.intersects_xy(self.shape, lons, lats)
            rim = np.abs(lons) == _WORLD / 2
            return inside | (rim & shapely.intersects_xy(self.shape, -lons, lats)) if rim.any() else inside


def outline_of(shapes: Sequence["Geometry"]) -> Outline:
    """Put polygons together; longitudes beyond 180 degrees go on behind the antimeridian.

    Raises:
        ValueError: they hold nothing, or lie outside of the Earth.
    """
    import shapely
    from shapely.affinity import translate

    polygons = [part for shape in shapes for part in _polygons(shapely.make_valid(shape))]
    if not polygons:
        raise ValueError("it holds no polygon with an area")
    for polygon in polygons:
        west, south, east, north = polygon.bounds
        if not (-90 <= south <= north <= 90 and -_WORLD <= west <= east <= _WORLD and east - west <= _WORLD):
            raise ValueError("coordinates are longitude and latitude in degrees, in this order")
    window = shapely.box(-_WORLD / 2, -90, _WORLD / 2, 90)
    inside = [translate(part, turn) & window for part in polygons for turn in (-_WORLD, 0.0, _WORLD)]
    shape = shapely.union_all([part for one in inside for part in _polygons(one)])
    spans = [(part.bounds[0], part.bounds[2]) for part in _polygons(shape)]
    if not spans:
        raise ValueError("it holds no polygon with an area")
    _, south, _, north = shape.bounds
    west, east = _narrowest(spans)
    box = Box(south, west, north, east)
    return Outline(box.south, box.west, box.north, box.east, shape)


def _polygons(shape: Any) -> Iterable[Any]:
    if shape.geom_type == "Polygon":
        return [] if shape.is_empty or not shape.area else [shape]
    return [part for one in getattr(shape, "geoms", ()) for part in _polygons(one)]


def _narrowest(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The western and the eastern edge of all spans together, with the widest gap between them left out."""
    merged: list[tuple[float, float]] = []
    for west, east in sorted(spans):
        if merged and west <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(east, merged[-1][1]))
        else:
            merged.append((west, east))
    gaps = [
        ((merged[(at + 1) % len(merged)][0] - east) % _WORLD if len(merged) > 1 else 0.0, at)
        for at, (_, east) in enumerate(merged)
    ]
    around = _WORLD - (merged[-1][1] - merged[0][0])
    widest, at = max(gaps)
    if len(merged) == 1 or widest <= around:
        return merged[0][0], merged[-1][1]
    return merged[(at + 1) % len(merged)][0], merged[at][1]
