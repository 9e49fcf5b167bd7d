"""Build the tile layers of added regions: ground, waters, streets, buildings and names, as on drawn maps."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import shapely

from geosleuth.atlas.maps import style as look
from geosleuth.atlas.maps.canvas import Geometries as Drawn
from geosleuth.atlas.maps.canvas import MapCanvas, MapView
from geosleuth.atlas.maps.layers import (
    EMPTY,
    MARGIN_PX,
    LandAndSea,
    MapLayer,
    MapPart,
    divide,
    open_region,
    paint_ground,
)
from geosleuth.support.errors import BadInput

from .mvt import EXTENT, MAX_ZOOM, Feature, Geometries, TileFrame, Value, clip_to_buffer
from .settlements import name_properties
from .world_tiles import Detail, simplify

FROM_ZOOM = 7
POIS_FROM_ZOOM = 15
_TOLERANCE, _TOLERANCE_AT_MAX_ZOOM = 2.0, 0.7  # of simplification, in a tile's units
_NAMED_AREA_PX = 3_500.0
_MAX_POIS = 120
_EDGE_PX = 8.0  # how far beyond its edge a drawn map paints land and sea
_LAND_OR_SEA_EVIDENCE = ("coast", "building", "green", "landuse")
_GROUND_LAYERS = ("landuse", "green", "water", "coast")
_STREET_LAYERS = ("building", "rail", "road")
_log = logging.getLogger(__name__)

Layers = dict[str, list[Feature]]


class _GroundRecorder(MapCanvas):
    """Records what `paint_ground` fills instead of painting it: pairs of class and shapes, in order."""

    def __init__(self) -> None:
        super().__init__(1, 1, look.SEA)
        self.painted: list[tuple[str, Geometries]] = []

    def fill(self, geometries: Drawn, colour: str, edge: str | None = None) -> None:  # noqa: ARG002
        self.painted.append(("sea" if colour == look.SEA else "land", shapely.get_parts(geometries)))

    def rectangle(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        self.fill(np.array([shapely.box(left, top, right, bottom)], dtype=object), colour)


def local_layers(frame: TileFrame, regions: Sequence[Path], detail: Detail) -> Layers:
    """Return the layers of all regions together; a damaged region is skipped and logged."""
    out: Layers = defaultdict(list)
    if frame.z < FROM_ZOOM or not detail.ground:
        return out
    for path in regions:
        try:
            layers = _region_layers(frame, path, detail)
        except BadInput as error:
            _log.warning("%s", error)
            continue
        for name, features in layers.items():
            out[name] += features
    return out


def _region_layers(frame: TileFrame, path: Path, detail: Detail) -> Layers:
    view = frame.view
    out: Layers = defaultdict(list)
    with open_region(path) as region:
        for strip in view.strips(MARGIN_PX):
            layers = region.layers(view, strip)
            _add_ground(out, frame, MapPart(region, strip, layers))
            _add_area_names(out, frame, layers)
            _add_places(out, frame, layers, detail)
            wanted = _GROUND_LAYERS + (_STREET_LAYERS if detail.streets else ())
            clipped = {name: _clip_and_simplify(layers[name], frame) for name in wanted if name in layers}
            _add_areas(out, clipped)
            _add_lines(out, frame, clipped)
        if detail.pois and frame.z >= POIS_FROM_ZOOM:
            for strip in view.strips():
                pois = [(view.pixel(poi.point, strip.turns), poi.name, poi.kind) for poi in region.pois(strip)]
                _add_pois(out, frame, pois)
    return out


def _add_ground(out: Layers, frame: TileFrame, part: MapPart) -> None:
    # Without a coast in view, land is recognised by what stands on it, but not by what stands in the margin.
    visible = {name: _in_view(layer, frame) for name, layer in part.layers.items()}
    painted = None
    if not any(len(visible.get(name, EMPTY).geometries) for name in _LAND_OR_SEA_EVIDENCE):
        painted = _ground_of_ancestor(frame, part)
    if painted is None:
        recorder = _GroundRecorder()
        paint_ground(recorder, frame.view, [part.strip], None, [replace(part, layers=visible)])
        painted = recorder.painted
    for name, shapes in painted:
        inside = clip_to_buffer(frame.from_view(shapes))
        out["land"].append(Feature(simplify(inside, _tolerance(frame)), {"class": f"local-{name}"}))


def _ground_of_ancestor(frame: TileFrame, part: MapPart) -> list[tuple[str, Geometries]] | None:
    """Return land or sea for a tile without a coast, from an ancestor with one; None if no near ancestor has any.

    Drawn maps search wider frames for a coast instead, at full detail, which is slow where the coast is long.
    """
    region, view = part.region, frame.view
    modified_ns = region.path.stat().st_mtime_ns
    for up in (3, 6):
        if frame.z - up < FROM_ZOOM - 1:
            break
        ancestor = TileFrame(frame.z - up, frame.x >> up, frame.y >> up)
        ground = _divide_tile(region.path, modified_ns, ancestor)
        if ground is not None:
            spot = shapely.Point(ancestor.view.pixel(view.centre, part.strip.turns))
            at_sea = bool(shapely.intersects(ground.sea, spot).any())
            return [("sea" if at_sea else "land", np.array([_view_within_bounds(view, part)], dtype=object))]
    return None


@lru_cache(maxsize=64)
def _divide_tile(path: Path, modified_ns: int, frame: TileFrame) -> LandAndSea | None:  # noqa: ARG001  # part of the cache key
    """Divide a tile into land and sea; None if no coast crosses it."""
    view = frame.view
    with open_region(path) as region:
        coasts = [region.coast(view, strip, MARGIN_PX) for strip in view.strips(MARGIN_PX)]
    return divide(np.concatenate(coasts), (0, 0, view.width, view.height)) if coasts else None


def _view_within_bounds(view: MapView, part: MapPart) -> shapely.Geometry:
    """Return the part of a view with its margin that lies inside a region's bounds."""
    around = shapely.box(-MARGIN_PX, -MARGIN_PX, view.width + MARGIN_PX, view.height + MARGIN_PX)
    if part.region.bounds is None:
        return around
    south, west, north, east = part.region.bounds
    corners = view.pixels(np.array([[west, north], [east, south]]), part.strip.turns)
    return around if west > east else shapely.intersection(around, shapely.box(*corners.ravel()))


def _add_areas(out: Layers, layers: dict[str, MapLayer]) -> None:
    """Add areas, one feature per class from the bottom up; some land use, such as runways, is mapped as lines too."""
    if "landuse" in layers:
        layer = layers["landuse"]
        names = np.array(layer.names, dtype=object)
        is_area = shapely.get_dimensions(layer.geometries) == 2
        for kind in (*look.LANDUSE, *look.PAVED):
            of_kind = names == kind
            out["landuse"] += _unless_empty(layer.geometries[of_kind & is_area], {"class": kind})
            out["landuse"] += _unless_empty(layer.geometries[of_kind & ~is_area], {"class": kind})
    for name, target in (("green", "green"), ("water", "water"), ("building", "buildings")):
        if name in layers:
            shapes = layers[name].geometries
            out[target] += _unless_empty(shapes[shapely.get_dimensions(shapes) == 2], {"class": "area"})


def _add_area_names(out: Layers, frame: TileFrame, layers: dict[str, MapLayer]) -> None:
    """Add the names of large waters and parks, each at one point of the whole shape, so that only one tile has it."""
    for kind in ("green", "water"):
        layer = layers.get(kind, EMPTY)
        area = shapely.area(layer.geometries)
        named = np.array([bool(name) for name in layer.names], dtype=bool)
        for at in np.flatnonzero(named & (area > _NAMED_AREA_PX)).tolist():
            spot = frame.from_view(np.array([shapely.point_on_surface(layer.geometries[at])], dtype=object))
            name = name_properties(layer.names[at])
            if name and _is_inside(spot):
                order = -min(int(area[at]), 1_000_000)
                out["names"].append(Feature(spot, {**name, "class": kind, "order": order}))


def _add_lines(out: Layers, frame: TileFrame, layers: dict[str, MapLayer]) -> None:
    for name, target, kind in (("coast", "water", "coast"), ("water", "water", "line"), ("rail", "rails", "line")):
        layer = layers.get(name, EMPTY)
        lines = shapely.get_dimensions(layer.geometries) == 1
        for rank in np.unique(layer.ranks[lines]).tolist():
            of_rank = layer.geometries[lines & (layer.ranks == rank)]
            out[target].append(Feature(of_rank, {"class": kind, "rank": rank}))
    _add_roads(out, frame, layers.get("road", EMPTY))


def _add_roads(out: Layers, frame: TileFrame, roads: MapLayer) -> None:
    """Add one feature per street, its ways joined; names are left out at zooms that don't show them."""
    streets: dict[tuple[int, str], list[int]] = defaultdict(list)
    for at, (rank, name) in enumerate(zip(roads.ranks.tolist(), roads.names, strict=True)):
        shown = frame.view.zoom >= look.STREET_NAMES_FROM_ZOOM.get(rank, 99)
        streets[rank, name if shown else ""].append(at)
    for (rank, name), members in sorted(streets.items(), key=lambda street: -street[0][0]):
        lines = roads.geometries[members]
        label = name_properties(name, in_lines=False)
        if label and len(lines) > 1:
            parts = shapely.get_parts(lines)
            parts = parts[shapely.get_type_id(parts) == shapely.GeometryType.LINESTRING]
            lines = np.array([shapely.line_merge(shapely.multilinestrings(parts))], dtype=object)
        out["roads"].append(Feature(lines, {"rank": rank, **label}))


def _add_places(out: Layers, frame: TileFrame, layers: dict[str, MapLayer], detail: Detail) -> None:
    layer = layers.get("place", EMPTY)
    spots = frame.from_view(shapely.centroid(layer.geometries))
    for at, (rank, name) in enumerate(zip(layer.ranks.tolist(), layer.names, strict=True)):
        label = name_properties(name)
        if label and _is_inside(spots[at : at + 1]) and (detail.streets or rank <= 3):
            kind = "city" if rank <= 2 else "village" if rank <= 3 else "quarter"
            properties: dict[str, Value] = {**label, "class": kind, "rank": rank + 2, "order": 500 + 100 * rank}
            out["places"].append(Feature(spots[at : at + 1], properties))


def _add_pois(out: Layers, frame: TileFrame, pois: Sequence[tuple[tuple[float, float], str, str]]) -> None:
    max_pois = _MAX_POIS if frame.z == MAX_ZOOM else _MAX_POIS // 2
    for order, (pixel, name, kind) in enumerate(pois):
        point = frame.from_view(np.array([shapely.Point(pixel)], dtype=object))
        family, label = look.poi_family(kind), name_properties(name)
        if family and label and _is_inside(point):
            properties: dict[str, Value] = {**label, "class": family, "kind": kind[:60], "order": order}
            out["pois"].append(Feature(point, properties))
            if len(out["pois"]) >= max_pois:
                return


def _unless_empty(shapes: Geometries, properties: dict[str, Value]) -> list[Feature]:
    return [Feature(shapes, properties)] if len(shapes) else []


def _in_view(layer: MapLayer, frame: TileFrame) -> MapLayer:
    west, north, east, south = shapely.bounds(layer.geometries).reshape(-1, 4).T
    edge = _EDGE_PX
    inside = (east > -edge) & (west < frame.view.width + edge) & (south > -edge) & (north < frame.view.height + edge)
    names = tuple(name for name, kept in zip(layer.names, inside.tolist(), strict=True) if kept)
    return MapLayer(layer.geometries[inside], layer.ranks[inside], names)


def _clip_and_simplify(layer: MapLayer, frame: TileFrame) -> MapLayer:
    """Convert a layer from a view's pixels to the tile's units, clipped at the buffer and simplified."""
    return MapLayer(
        simplify(clip_to_buffer(frame.from_view(layer.geometries)), _tolerance(frame)), layer.ranks, layer.names
    )


def _tolerance(frame: TileFrame) -> float:
    return _TOLERANCE_AT_MAX_ZOOM if frame.z == MAX_ZOOM else _TOLERANCE


def _is_inside(spot: Geometries) -> bool:
    at = shapely.get_coordinates(spot)
    return bool(((at >= 0) & (at < EXTENT)).all())
