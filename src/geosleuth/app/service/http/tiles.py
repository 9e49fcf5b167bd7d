"""The map: tiles and styles from the atlas on this machine, no closer than the settings allow."""

from typing import Annotated, Any, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Path, Query, Request, Response

from .routing import REFUSALS, binary
from .state import State

router = APIRouter(prefix="/tiles", tags=["map"], responses=REFUSALS)

MEDIA_TYPE = "application/vnd.mapbox-vector-tile"
_AT_ONCE = 2
_Zoom = Annotated[int, Path(ge=0, le=16)]
_Cell = Annotated[int, Path(ge=0, le=2**16)]
# A new version has a new address; without one in the address nobody knows how long a tile holds.
_FOR_A_WHILE, _NOT_AT_ALL = "private, max-age=86400", "no-store"


@router.get(
    "/{z}/{x}/{y}.mvt",
    response_class=Response,
    responses={**binary(MEDIA_TYPE, description="A vector tile."), 204: {"description": "There is nothing to show."}},
)
async def tile(
    z: _Zoom,
    x: _Cell,
    y: _Cell,
    request: Request,
    v: Annotated[str, Query(max_length=64, description="The version that a style names.")] = "",
) -> Response:
    """A vector tile, made from the base atlas and the added regions."""
    state = State.of(request)
    finest = state.service.settings.granularity
    made = await to_thread.run_sync(state.tiles.tile, z, x, y, finest, limiter=_limiter(state))
    headers = {"Cache-Control": _FOR_A_WHILE if v else _NOT_AT_ALL}
    return Response(made, 200, headers, MEDIA_TYPE) if made else Response(None, 204, headers)


@router.get("/style/{theme}.json")
async def style(theme: Literal["light", "dark"], request: Request) -> dict[str, Any]:
    """A MapLibre style that draws these tiles."""
    state = State.of(request)
    # Workers of the page know no relative addresses.
    prefix = f"{str(request.base_url).rstrip('/')}/tiles"
    finest = state.service.settings.granularity
    return await to_thread.run_sync(state.tiles.style, theme, finest, prefix, limiter=_limiter(state))


def _limiter(state: State) -> CapacityLimiter:
    """Few at once, so that a map which opens leaves the processor to others."""
    if state.tile_limiter is None:
        state.tile_limiter = CapacityLimiter(_AT_ONCE)
    return state.tile_limiter
