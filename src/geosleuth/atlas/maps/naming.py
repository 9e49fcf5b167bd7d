"""Which names a map shows, in which order they claim their room, and how they are written."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import shapely

from geosleuth.geo import Box, LatLon

from . import style
from .labels import Labels, Lettered
from .shapes import EMPTY, Part, cut
from .view import Strip, View

_COUNTRIES_TO_ZOOM = 7
_MAX_COUNTRIES = 60
_MAX_PLACES = 120
_NAMED_COUNTRY_PX = 1_200
_MAX_STREETS = 250
_NAMED_AREA_PX = 3_500
_PLACE_STYLE = {
    1: Lettered(17, style.INK, bold=True),
    2: Lettered(15, style.INK, bold=True),
    3: Lettered(14, style.INK, bold=True),
    4: Lettered(13, style.INK),
    5: Lettered(12, style.INK),
}
_TOWN_SHIFTS_PX = (16, -16, -38)  # a pin often stands right where a town's name would be
_COUNTRY_STYLE = Lettered(12, style.COUNTRY_INK, bold=True)
_MINOR_PLACE = Lettered(11, style.INK)


def name_countries(labels: Labels, view: View, countries: Sequence[tuple[shapely.Geometry, str]]) -> None:
    """Countries that fill a fair part of a wide view, the largest first."""
    if view.zoom > _COUNTRIES_TO_ZOOM:
        return
    found = []
    for geometry, name in countries:
        pieces = shapely.get_parts(geometry)
        largest = pieces[int(np.argmax(shapely.area(pieces)))] if len(pieces) else geometry
        seen = cut(largest, 0, 0, view.width, view.height)
        if seen.area > _NAMED_COUNTRY_PX:
            spot = shapely.point_on_surface(seen)
            found.append((seen.area, spot.x, spot.y, name))
    for _, x, y, name in sorted(found, key=lambda country: -country[0])[:_MAX_COUNTRIES]:
        labels.at(x, y, [name], _COUNTRY_STYLE, once=True)


def name_places(
    labels: Labels,
    view: View,
    strips: Sequence[Strip],
    place_labels: Callable[[Box, float], Iterable[tuple[LatLon, str, int]]] | None,
    parts: Sequence[Part],
) -> None:
    """Settlements, the greatest first; a region's own names go before the world's."""
    wanted: list[tuple[int, float, float, str]] = []
    for part in parts:
        layer = part.layers.get("place", EMPTY)
        points = shapely.get_coordinates(shapely.centroid(layer.geometries))
        for (x, y), rank, name in zip(points.tolist(), layer.ranks.tolist(), layer.names, strict=True):
            if name:
                wanted.append((rank, x, y, name))
    if place_labels is not None:
        for strip in strips:
            for point, name, rank in place_labels(strip.box, view.zoom):
                wanted.append((rank, *view.pixel(point, strip.turns), name))
    wanted.sort(key=lambda place: place[0])
    for rank, x, y, name in wanted[: 4 * _MAX_PLACES]:
        shifts = _TOWN_SHIFTS_PX if rank <= 3 else ()
        labels.at(x, y, [name], _PLACE_STYLE.get(max(rank, 1), _MINOR_PLACE), shifts_px=shifts, once=True)


def name_shapes(labels: Labels, view: View, parts: Sequence[Part]) -> None:
    """Streets by importance, then waters and parks, then what stands along the streets."""
    streets: dict[str, tuple[int, list[shapely.Geometry]]] = {}
    for part in parts:
        layer = part.layers.get("road", EMPTY)
        for geometry, rank, name in zip(layer.geometries, layer.ranks.tolist(), layer.names, strict=True):
            if name and view.zoom >= style.STREET_NAMES_FROM_ZOOM.get(rank, 99):
                best, lines = streets.setdefault(name, (rank, []))
                lines.append(geometry)
                streets[name] = (min(best, rank), lines)
    areas = _named_areas(view, parts)
    for x, y, name, ink in areas[:12]:
        labels.at(x, y, [name], Lettered(12, ink))
    order = sorted(streets.items(), key=lambda street: street[1][0])
    for name, (rank, lines) in order[:_MAX_STREETS]:
        size_px = 12 if rank <= 4 and view.zoom >= 15 else 11
        labels.along(np.array(lines, dtype=object), [name], Lettered(size_px, style.STREET_INK))
    for x, y, name, ink in areas[12:40]:
        labels.at(x, y, [name], Lettered(11, ink))
    if view.zoom >= style.POI_FROM_ZOOM:
        _name_pois(labels, view, parts)


def _named_areas(view: View, parts: Sequence[Part]) -> list[tuple[float, float, str, str]]:
    """Waters and green areas large enough for a name, the largest first: a point inside the visible part, name, ink."""
    found = []
    for part in parts:
        for layer_name, ink in (("water", style.WATER_INK), ("green", style.GREEN_INK)):
            layer = part.layers.get(layer_name, EMPTY)
            large = (shapely.area(layer.geometries) > _NAMED_AREA_PX) & np.array(
                [bool(n) for n in layer.names], dtype=bool
            )
            for i in np.flatnonzero(large):
                seen = cut(layer.geometries[i], 0, 0, view.width, view.height)
                if seen.area > _NAMED_AREA_PX:
                    spot = shapely.point_on_surface(seen)
                    found.append((seen.area, spot.x, spot.y, layer.names[i], ink))
    found.sort(key=lambda area: -area[0])
    return [(x, y, name, ink) for _, x, y, name, ink in found]


def _name_pois(labels: Labels, view: View, parts: Sequence[Part]) -> None:
    """A dot and a name for features, as many as the zoom has room for."""
    room = 24 if view.zoom < 17 else 60
    for part in parts:
        shown = 0
        for poi in part.region.pois(part.strip):
            x, y = view.pixel(poi.point, part.strip.turns)
            ink = style.POI_INK[style.poi_family(poi.kind) or "other"]
            if 0 < x < view.width and 0 < y < view.height:
                shown += labels.dotted(x, y, [poi.name], Lettered(11, ink))
            if shown >= room:
                break
