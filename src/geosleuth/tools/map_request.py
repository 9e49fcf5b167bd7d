"""The tool `request_map`: a model asks for a map; whether it is fetched is the person's choice."""

import asyncio
from typing import TypedDict

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.map_place import map_place, map_point
from geosleuth.atlas.suggestion import format_get_command, get_command
from geosleuth.support.errors import BadInput

from .calls import Case, Output
from .declare import tool
from .viewer import Viewer, format_point, get_text, one_line


class _Request(TypedDict):
    place: str
    command: str | None


@tool(
    "request_map",
    use="ask the person for a detailed map that is not installed",
    result=_Request,
    viewer=Viewer(
        lambda given: f"asks for a map of {get_text(given, 'place')}".rstrip(),
        lambda data: f"to fetch it: {data['command']}" if data.get("command") else "it is installed",
        icon="map",
    ),
    needs=("atlas",),
    renames={"region": "place", "name": "place", "country": "place", "city": "place", "location": "place"},
)
async def request_map(case: Case, place: str) -> Output:
    """Suggest to the person which map to fetch. Nothing is fetched in this run.

    Args:
        place: a country, region or city, or lat,lon.
    """
    if not one_line(place):
        raise BadInput("place is empty; write a country, a region, a city or a point as 'lat,lon'")
    point = map_point(place)
    if point is None:
        named = await asyncio.to_thread(map_place, place)
        point, words = named.point, named.address or named.name
        command = get_command(words)
    else:
        from geosleuth.atlas.borders import Borders

        words, command = format_point(point), format_get_command(point)
        if await asyncio.to_thread(Borders.load().find_region, point) is None:
            raise BadInput(f"{words} lies at sea, where there is no map; give a place on land")
    if isinstance(case.atlas, OfflineAtlas) and await case.atlas.list_detailed_maps(point):
        return Output(f"A detailed map of {words} is installed: search it.", _Request(place=words, command=None))
    return Output(
        f'The person is told that "{command}" fetches a map of {words}. Go on without it.',
        _Request(place=words, command=command),
    )
