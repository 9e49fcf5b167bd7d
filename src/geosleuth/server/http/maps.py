"""Routes that list maps, find the map of a place, and download it. Only for the user of this machine."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from geosleuth.server.maps import NAME_CHARACTERS, MapJobShown, MapOfferShown
from geosleuth.server.shapes import StrictView

from .schemas import EMPTY, REFUSALS, Host, StrictBody
from .setup import check_local
from .state import State

PlaceName = Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS, examples=["Andorra"])]


class MapQuestion(StrictBody):
    """A country, region or city in any language, and the host that may be asked for its map."""

    place: PlaceName
    host: Host = ""


class NewMap(MapQuestion):
    """A map to download, and the size that was shown for it."""

    size_bytes: Annotated[int, Field(ge=1, le=2**53)]


class RegionShown(StrictView):
    """A map that this machine has; its bounds are in degrees."""

    name: str
    kind: str
    source: str
    day: str | None
    size_bytes: int
    south: float
    west: float
    north: float
    east: float


class MapsShown(StrictView):
    """The map server, the maps that this machine has, and the current download."""

    host: str
    regions: list[RegionShown]
    job: MapJobShown | None


async def local_user(request: Request) -> None:
    """Refuse requests from other machines, as downloads fill this machine's disk.

    Raises:
        Refused: the request comes from another machine.
    """
    check_local(request, "maps can be added only on the server itself; run there: geosleuth atlas get PLACE")


router = APIRouter(prefix="/api/maps", tags=["maps"], responses=REFUSALS, dependencies=[Depends(local_user)])


@router.get("")
async def maps(request: Request) -> MapsShown:
    """List the maps on this machine and the current download."""
    fetcher = State.from_request(request).service.maps
    return MapsShown(host=fetcher.host, regions=await run_in_threadpool(_list_regions), job=fetcher.job)


@router.post("/offers")
async def offer_map(asked: MapQuestion, request: Request) -> MapOfferShown:
    """Ask how large the map of a place is. Without the name of the host as consent, 409 returns that name."""
    service = State.from_request(request).service
    return await service.maps.offer(asked.place, asked.host, offline=service.settings.offline)


@router.post("", status_code=202)
async def get_map(asked: NewMap, request: Request) -> MapJobShown:
    """Start to download a map and add it to the atlas; `GET /api/maps` reports the progress."""
    service = State.from_request(request).service
    return service.maps.start(asked.place, asked.host, asked.size_bytes, offline=service.settings.offline)


@router.delete("/job", status_code=204, responses=EMPTY)
async def cancel_map(request: Request) -> None:
    """Stop the download; the next one resumes it."""
    await State.from_request(request).service.maps.cancel()


def _list_regions() -> list[RegionShown]:
    from geosleuth.atlas import regions_dir
    from geosleuth.atlas.regions import RegionStore
    from geosleuth.support.net import parse_host

    return [
        RegionShown(
            name=info.name, kind=info.kind, source=parse_host(info.origin) if info.origin else info.source,
            day=(info.data_date or "")[:10] or None, size_bytes=info.size_bytes,
            south=info.extent.south, west=info.extent.west, north=info.extent.north, east=info.extent.east,
        )
        for info in RegionStore(regions_dir()).list()
    ]  # fmt: skip
