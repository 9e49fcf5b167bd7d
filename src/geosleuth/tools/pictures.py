"""Pictures of the ground: drawn maps, and views from above."""

import asyncio

from geosleuth.atlas import Picture
from geosleuth.errors import BadInput
from geosleuth.photo import Limits, open_photo

from .declare import tool
from .model import Case, Output
from .results import PointData
from .viewer import Viewer, text_of
from .whereabouts import Whereabouts, find
from .wording import at, extent_data, one_line, point_data

_RENAMES = {
    "center": "centre",
    "location": "centre",
    "place": "centre",
    "point": "centre",
    "query": "centre",
    "address": "centre",
    "zoom_level": "zoom",
}
_MAX_ZOOM = 20
# A map service's picture is small; what is larger is none.
_LIMITS = Limits(max_bytes=32 * 1024 * 1024, max_pixels=16_000_000)


class _MapPicture(PointData):
    place: str
    zoom: float
    extent: dict[str, float]
    attribution: str


@tool(
    "static_map_query",
    use="see the drawn map around a point: streets, junctions, water, railways",
    result=_MapPicture,
    viewer=Viewer(lambda given: f"looks at a map of {text_of(given, 'centre') or 'a place'}", icon="map"),
    needs=("atlas",),
    aliases=("static_map_tool", "static_map", "map_tool"),
    renames=_RENAMES,
)
async def static_map_query(case: Case, centre: str, zoom: float = 15.0) -> Output:
    """Draw a map around a place, to compare streets, waters and names with what the photo shows.

    Args:
        centre: the middle of the map: a place's name, or its coordinates as "lat,lon".
        zoom: 5 shows a country, 10 a county, 13 a town, 15 a quarter, 17 a street; at most 20.
    """
    where = await _where(case, centre, zoom)
    return await _shown(await case.atlas.map(where.point, zoom=zoom), where, zoom, "Map")


@tool(
    "satellite_map_query",
    use="see a point from above: roofs, fields, shapes of roads",
    result=_MapPicture,
    viewer=Viewer(lambda given: f"looks at {text_of(given, 'centre') or 'a place'} from above", icon="map"),
    needs=(
        "atlas",
        "tiles",
    ),
    aliases=("satellite_map_tool", "satellite_map", "satellite_tool", "satellite"),
    renames=_RENAMES,
)
async def satellite_map_query(case: Case, centre: str, zoom: float = 16.0) -> Output:
    """Show a place from above, to compare roofs, roads, trees and coasts with what the photo shows.

    Args:
        centre: the middle of the picture: a place's name, or its coordinates as "lat,lon".
        zoom: 13 shows a town, 15 a quarter, 17 a street; at most 20.
    """
    where = await _where(case, centre, zoom)
    return await _shown(await case.atlas.satellite(where.point, zoom=zoom), where, zoom, "Picture from above")


async def _where(case: Case, centre: str, zoom: float) -> Whereabouts:
    if not 0 <= zoom <= _MAX_ZOOM:
        raise BadInput(f"zoom must lie between 0 (the world) and {_MAX_ZOOM} (a house), not {zoom:g}")
    return await find(case, centre, "centre")


async def _shown(picture: Picture, where: Whereabouts, zoom: float, what: str) -> Output:
    photo = (await asyncio.to_thread(open_photo, picture.png, _LIMITS, kind="photo")).photo
    extent = extent_data(picture.extent)
    name = f"{where.name} at {at(where.point)}" if where.place else at(where.point)
    ground = ", ".join(f"{side} {degrees:.5f}" for side, degrees in extent.items())
    credit = one_line(picture.attribution) or "none needed"
    text = f"{what} around {name}, zoom {zoom:g}, north is up. It shows {ground}. Credit: {credit}."
    data = {
        **point_data(where.point),
        "place": where.name,
        "zoom": zoom,
        "extent": extent,
        "attribution": picture.attribution,
    }
    return Output(text, data, (photo,), (picture.source,))
