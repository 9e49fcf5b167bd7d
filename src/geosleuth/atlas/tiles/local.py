"""What added regions put on a tile, fetched as the drawn maps fetch it: ground, waters, streets, houses, names."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import shapely

from geosleuth.atlas.maps import style as look
from geosleuth.atlas.maps.canvas import Canvas, View
from geosleuth.atlas.maps.canvas import Geometries as Drawn
from geosleuth.atlas.maps.layers import EMPTY, MARGIN_PX, LandAndSea, Layer, Part, divide, open_region, paint_ground
from geosleuth.errors import BadInput

from .mvt import EXTENT, MAX_ZOOM, Feature, Frame, Geometries, Value, in_buffer
from .settlements import written
from .world_tiles import Detail, thinned

FROM_ZOOM = 7
SPOTS_FROM_ZOOM = 15
_ROUGH, _ROUGH_AT_MAX = 2.0, 0.7  # units
_NAMED_AREA_PX = 3_500.0
_MAX_SPOTS = 120
_EDGE_PX = 8.0  # how far beyond its edge a drawn map paints the ground
_TELLING = ("coast", "building", "green", "landuse")
_GROUND = ("landuse", "green", "water", "coast")
_STREETS = ("building", "rail", "road")
_log = logging.getLogger(__name__)

Layers = dict[str, list[Feature]]


class _Ground(Canvas):
    """Keeps what is painted instead of painting it: pairs of class and shapes, in order."""

    def __init__(self) -> None:
        super().__init__(1, 1, look.SEA)
        self.painted: list[tuple[str, Geometries]] = []

    def fill(self, geometries: Drawn, colour: str, edge: str | None = None) -> None:  # noqa: ARG002
        self.painted.append(("sea" if colour == look.SEA else "land", shapely.get_parts(geometries)))

    def rectangle(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        self.fill(np.array([shapely.box(left, top, right, bottom)], dtype=object), colour)


def local_layers(frame: Frame, regions: Sequence[Path], detail: Detail) -> Layers:
    """Layers of all regions together; one whose file is damaged shows nothing and is reported in the log."""
    out: Layers = defaultdict(list)
    if frame.z < FROM_ZOOM or not detail.ground:
        return out
    for path in regions:
        try:
            found = _of_region(frame, path, detail)
        except BadInput as error:
            _log.warning("%s", error)
            continue
        for name, features in found.items():
            out[name] += features
    return out


def _of_region(frame: Frame, path: Path, detail: Detail) -> Layers:
    view = frame.view
    out: Layers = defaultdict(list)
    with open_region(path) as region:
        for strip in view.strips(MARGIN_PX):
            whole = region.layers(view, strip)
            _add_ground(out, frame, Part(region, strip, whole))
            _add_area_names(out, frame, whole)
            _add_places(out, frame, whole, detail)
            wanted = _GROUND + (_STREETS if detail.streets else ())
            tidy = {name: _tidy(whole[name], frame) for name in wanted if name in whole}
            _add_areas(out, tidy)
            _add_lines(out, frame, tidy)
        if detail.spots and frame.z >= SPOTS_FROM_ZOOM:
            for strip in view.strips():
                spots = [(view.pixel(poi.point, strip.turns), poi.name, poi.kind) for poi in region.pois(strip)]
                _add_spots(out, frame, spots)
    return out


def _add_ground(out: Layers, frame: Frame, part: Part) -> None:
    # Without a coast in sight, what stands there tells land from sea: what stands in the margin beyond does not.
    seen = {name: _in_view(layer, frame) for name, layer in part.layers.items()}
    painted = None
    if not any(len(seen.get(name, EMPTY).geometries) for name in _TELLING):
        painted = _inherited(frame, part)
    if painted is None:
        painter = _Ground()
        paint_ground(painter, frame.view, [part.strip], None, [replace(part, layers=seen)])
        painted = painter.painted
    for name, shapes in painted:
        inside = in_buffer(frame.from_view(shapes))
        out["land"].append(Feature(thinned(inside, _rough(frame)), {"class": f"local-{name}"}))


def _inherited(frame: Frame, part: Part) -> list[tuple[str, Geometries]] | None:
    """The ground of a tile that no coast runs through, from that of a tile around it; None where that has none either.

    The drawn maps look for the nearest coast instead, at full detail, which takes long where it is a long one.
    """
    region, view = part.region, frame.view
    stamp = region.path.stat().st_mtime_ns
    for up in (3, 6):
        if frame.z - up < FROM_ZOOM - 1:
            break
        above = Frame(frame.z - up, frame.x >> up, frame.y >> up)
        ground = _divided(region.path, stamp, above)
        if ground is not None:
            spot = shapely.Point(above.view.pixel(view.centre, part.strip.turns))
            at_sea = bool(shapely.intersects(ground.sea, spot).any())
            return [("sea" if at_sea else "land", np.array([_framed(view, part)], dtype=object))]
    return None


@lru_cache(maxsize=64)
def _divided(path: Path, stamp: int, frame: Frame) -> LandAndSea | None:  # noqa: ARG001  # a stamp is there to be new
    view = frame.view
    with open_region(path) as region:
        coasts = [region.coast(view, strip, MARGIN_PX) for strip in view.strips(MARGIN_PX)]
    return divide(np.concatenate(coasts), (0, 0, view.width, view.height)) if coasts else None


def _framed(view: View, part: Part) -> shapely.Geometry:
    """The part of a view, and a little around it, that lies inside a region's frame."""
    around = shapely.box(-MARGIN_PX, -MARGIN_PX, view.width + MARGIN_PX, view.height + MARGIN_PX)
    if part.region.bounds is None:
        return around
    south, west, north, east = part.region.bounds
    corners = view.pixels(np.array([[west, north], [east, south]]), part.strip.turns)
    return around if west > east else shapely.intersection(around, shapely.box(*corners.ravel()))


def _add_areas(out: Layers, layers: dict[str, Layer]) -> None:
    """Surfaces of one class as one feature each, from the bottom up; runways and rivers are lines as well."""
    if "landuse" in layers:
        layer = layers["landuse"]
        names = np.array(layer.names, dtype=object)
        flat = shapely.get_dimensions(layer.geometries) == 2
        for kind in (*look.LANDUSE, *look.PAVED):
            mine = names == kind
            out["landuse"] += _unless_empty(layer.geometries[mine & flat], {"class": kind})
            out["landuse"] += _unless_empty(layer.geometries[mine & ~flat], {"class": kind})
    for name, target in (("green", "green"), ("water", "water"), ("building", "buildings")):
        if name in layers:
            shapes = layers[name].geometries
            out[target] += _unless_empty(shapes[shapely.get_dimensions(shapes) == 2], {"class": "area"})


def _add_area_names(out: Layers, frame: Frame, layers: dict[str, Layer]) -> None:
    """Names of waters and parks with room for one, each at one spot of the whole shape: so no two tiles have it."""
    for kind in ("green", "water"):
        layer = layers.get(kind, EMPTY)
        area = shapely.area(layer.geometries)
        named = np.array([bool(name) for name in layer.names], dtype=bool)
        for at in np.flatnonzero(named & (area > _NAMED_AREA_PX)).tolist():
            spot = frame.from_view(np.array([shapely.point_on_surface(layer.geometries[at])], dtype=object))
            name = written(layer.names[at])
            if name and _inside(spot):
                order = -min(int(area[at]), 1_000_000)
                out["names"].append(Feature(spot, {**name, "class": kind, "order": order}))


def _add_lines(out: Layers, frame: Frame, layers: dict[str, Layer]) -> None:
    for name, target, kind in (("coast", "water", "coast"), ("water", "water", "line"), ("rail", "rails", "line")):
        layer = layers.get(name, EMPTY)
        lines = shapely.get_dimensions(layer.geometries) == 1
        for rank in np.unique(layer.ranks[lines]).tolist():
            mine = layer.geometries[lines & (layer.ranks == rank)]
            out[target].append(Feature(mine, {"class": kind, "rank": rank}))
    _add_roads(out, frame, layers.get("road", EMPTY))


def _add_roads(out: Layers, frame: Frame, roads: Layer) -> None:
    """One feature for each street, its ways joined; a name is only carried where it is shown."""
    streets: dict[tuple[int, str], list[int]] = defaultdict(list)
    for at, (rank, name) in enumerate(zip(roads.ranks.tolist(), roads.names, strict=True)):
        shown = frame.view.zoom >= look.STREET_NAMES_FROM_ZOOM.get(rank, 99)
        streets[rank, name if shown else ""].append(at)
    for (rank, name), members in sorted(streets.items(), key=lambda street: -street[0][0]):
        lines = roads.geometries[members]
        label = written(name, in_lines=False)
        if label and len(lines) > 1:
            parts = shapely.get_parts(lines)
            parts = parts[shapely.get_type_id(parts) == shapely.GeometryType.LINESTRING]
            lines = np.array([shapely.line_merge(shapely.multilinestrings(parts))], dtype=object)
        out["roads"].append(Feature(lines, {"rank": rank, **label}))


def _add_places(out: Layers, frame: Frame, layers: dict[str, Layer], detail: Detail) -> None:
    layer = layers.get("place", EMPTY)
    spots = frame.from_view(shapely.centroid(layer.geometries))
    for at, (rank, name) in enumerate(zip(layer.ranks.tolist(), layer.names, strict=True)):
        label = written(name)
        if label and _inside(spots[at : at + 1]) and (detail.streets or rank <= 3):
            kind = "city" if rank <= 2 else "village" if rank <= 3 else "quarter"
            properties: dict[str, Value] = {**label, "class": kind, "rank": rank + 2, "order": 500 + 100 * rank}
            out["places"].append(Feature(spots[at : at + 1], properties))


def _add_spots(out: Layers, frame: Frame, spots: Sequence[tuple[tuple[float, float], str, str]]) -> None:
    most = _MAX_SPOTS if frame.z == MAX_ZOOM else _MAX_SPOTS // 2
    for order, (pixel, name, kind) in enumerate(spots):
        point = frame.from_view(np.array([shapely.Point(pixel)], dtype=object))
        family, label = look.poi_family(kind), written(name)
        if family and label and _inside(point):
            properties: dict[str, Value] = {**label, "class": family, "kind": kind[:60], "order": order}
            out["pois"].append(Feature(point, properties))
            if len(out["pois"]) >= most:
                return


def _unless_empty(shapes: Geometries, properties: dict[str, Value]) -> list[Feature]:
    return [Feature(shapes, properties)] if len(shapes) else []


def _in_view(layer: Layer, frame: Frame) -> Layer:
    west, north, east, south = shapely.bounds(layer.geometries).reshape(-1, 4).T
    edge = _EDGE_PX
    seen = (east > -edge) & (west < frame.view.width + edge) & (south > -edge) & (north < frame.view.height + edge)
    names = tuple(name for name, one in zip(layer.names, seen.tolist(), strict=True) if one)
    return Layer(layer.geometries[seen], layer.ranks[seen], names)


def _tidy(layer: Layer, frame: Frame) -> Layer:
    """A layer of a view in the tile's units, thinned and cut at the buffer."""
    return Layer(thinned(in_buffer(frame.from_view(layer.geometries)), _rough(frame)), layer.ranks, layer.names)


def _rough(frame: Frame) -> float:
    return _ROUGH_AT_MAX if frame.z == MAX_ZOOM else _ROUGH


def _inside(spot: Geometries) -> bool:
    at = shapely.get_coordinates(spot)
    return bool(((at >= 0) & (at < EXTENT)).all())
