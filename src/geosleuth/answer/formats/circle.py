"""A circle on the Earth as polygons that maps can draw: cut at the antimeridian, closed over poles."""

from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.geo import EARTH_RADIUS_KM, LatLon, destinations

if TYPE_CHECKING:
    from shapely import Polygon

Ring = list[tuple[float, float]]
Polygons = list[list[Ring]]
_HALF_ROUND_KM = float(np.pi) * EARTH_RADIUS_KM
_CORNERS = 96
_DECIMALS = 7


def circle_polygons(centre: LatLon, radius_km: float, *, corners: int = _CORNERS) -> Polygons:
    """The circle as one or more polygons, each an outer ring and its holes.

    Points are (longitude, latitude), as GeoJSON and KML have them; rings are closed, outer ones run counter-clockwise,
    holes clockwise, and no polygon crosses the antimeridian. Distances are great-circle ones, as everywhere.
    """
    import shapely

    # Rounded by geometry and not number by number: pieces that meet stay one, and none crosses itself.
    shape = shapely.set_precision(_shape(centre, min(radius_km, _HALF_ROUND_KM), corners), 10.0**-_DECIMALS)
    polygons = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon" and part.area > 0]
    return [rings_of(polygon) for polygon in polygons]


def _shape(centre: LatLon, radius_km: float, corners: int) -> Any:
    import shapely
    from shapely.affinity import translate

    world = shapely.box(-180, -90, 180, 90)
    if radius_km >= _HALF_ROUND_KM * (1 - 1e-9):
        return world
    poles_km = [_HALF_ROUND_KM * (90 - sign * centre.lat) / 180 for sign in (1, -1)]
    # A circle through a pole has no longitude there: it is drawn two metres wider.
    radius_km = next((km + 0.002 for km in poles_km if abs(km - radius_km) < 0.001), radius_km)
    north, south = (km < radius_km for km in poles_km)
    if north and south:
        # All but a smaller circle around the opposite place.
        opposite = LatLon(-centre.lat, centre.lon - 180 if centre.lon > 0 else centre.lon + 180)
        return world.difference(_shape(opposite, _HALF_ROUND_KM - radius_km, corners))
    unrolled = _unrolled(centre, radius_km, corners, pole=90 if north else -90 if south else None)
    copies = (translate(unrolled, xoff=by) for by in (-360.0, 0.0, 360.0))
    parts = [world.intersection(copy) for copy in copies if copy.intersects(world)]
    return shapely.union_all(parts, grid_size=10.0**-_DECIMALS)


def _unrolled(centre: LatLon, radius_km: float, corners: int, pole: float | None) -> "Polygon":
    """One polygon whose longitudes run on past 180 where they must; over a pole it goes all the way round."""
    import shapely

    bearings = np.linspace(0.0, 360.0, corners + 1)
    lats, lons = destinations(centre.lat, centre.lon, bearings, radius_km)
    lons = np.unwrap(lons, period=360.0)
    # Unwrapping may end a full turn away from where it began only where the circle goes round a pole.
    line = np.stack([lons, lats], axis=1)
    if pole is None:
        line[-1] = line[0]
    else:
        line = np.concatenate([line, [[lons[-1], pole], [lons[0], pole]]])
    polygon = shapely.Polygon(line)
    return polygon if polygon.is_valid else shapely.make_valid(polygon)


def rings_of(polygon: "Polygon") -> list[Ring]:
    """Return a polygon's outer ring, counter-clockwise, and its holes, clockwise."""
    from shapely.geometry.polygon import orient

    turned = orient(polygon, sign=1.0)
    return [
        [(round(float(lon), _DECIMALS), round(float(lat), _DECIMALS)) for lon, lat in ring.coords]
        for ring in (turned.exterior, *turned.interiors)
    ]
