"""Shaded relief under the offline map."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Path, Request, Response

from .routes import FOR_A_WHILE, limiter
from .schemas import REFUSALS, binary
from .state import State

router = APIRouter(prefix="/tiles/relief", tags=["map"], responses=REFUSALS)
_Cell = Annotated[int, Path(ge=0, le=2**5)]


@router.get("/{z}/{x}/{y}.png", response_class=Response, responses=binary("image/png", description="A PNG."))
async def relief(z: Annotated[int, Path(ge=0, le=5)], x: _Cell, y: _Cell, request: Request) -> Response:
    """A tile of shaded relief, made from the altitude grid of the atlas."""
    from geosleuth.atlas.tiles.relief import relief_tile

    made = await to_thread.run_sync(relief_tile, z, x, y, limiter=limiter(State.from_request(request)))
    return Response(made, 200, {"Cache-Control": FOR_A_WHILE}, "image/png")
