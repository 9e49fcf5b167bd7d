"""``POST /api/locate``: a photo in one request, its place in the answer, or what happens as it happens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from geosleuth.pipeline.result import result_schema
from geosleuth.server import NotThere, StreamEvent

from .responses import RequestRefused
from .routes import UPLOAD, check_is_file
from .schemas import REFUSALS, OneCall, event_schema
from .state import EventStream, State, gone

# Last event of the stream, with the whole document.
RESULT = "result"

_STREAM = "text/event-stream"

router = APIRouter(prefix="/api", tags=["runs"], responses=REFUSALS)


@router.post(
    "/locate",
    response_class=JSONResponse,
    openapi_extra=UPLOAD,
    responses={
        **REFUSALS,
        200: {
            "description": "The document of `geosleuth locate --json`; with `Accept: text/event-stream` events, "
            "the last of which holds it.",
            "headers": {"Location": {"description": "The run, where it is kept.", "schema": {"type": "string"}}},
            "content": {
                "application/json": {"schema": result_schema()},
                _STREAM: {"itemSchema": event_schema(RESULT)},
            },
        },
    },
)
async def locate(request: Request, asked: Annotated[OneCall, Query()]) -> Response:
    """Locate the photo that is the request's body. A client that leaves calls the run off, unless it is kept."""
    check_is_file(request)
    wanted, state = asked.request(), State.from_request(request)
    service = state.service
    case = (await service.new_case()).id
    forget = partial(_forget, state, case)
    try:
        await service.add_photo(case, asked.name, request.stream())
        run = (await service.start(case, wanted)).id
    except BaseException:
        await forget()
        raise
    headers = {"Location": f"/api/runs/{run}"} if asked.keep else {}
    done = _nothing if asked.keep else forget
    if _STREAM in request.headers.get("accept", ""):
        return EventStream(run, _events(state, run), state, headers=headers, done=done)
    try:
        return JSONResponse(await _unless_gone(_result(state, run), request, state), headers=headers)
    finally:
        await done()


async def _result(state: State, run: str) -> dict[str, Any]:
    async for _ in state.service.watch(run):
        pass
    row = await state.service.run(run)
    if row.state == "done":
        return await state.service.result(run)
    status = 503 if row.state == "failed" else 409
    raise RequestRefused(status, row.state, row.trouble or f"the run was {row.state}")


async def _events(state: State, run: str) -> AsyncIterator[StreamEvent]:
    """Yield a run's events, and its document as the last one if it came to one."""
    last = -1
    async for event in state.service.watch(run):
        last = event.id
        yield event
    if (await state.service.run(run)).state == "done":
        yield StreamEvent(last + 1, RESULT, await state.service.result(run))


async def _unless_gone(work: Awaitable[dict[str, Any]], request: Request, state: State) -> dict[str, Any]:
    """Return what comes of some work, as long as the client waits and the server runs."""
    working = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(gone(request.receive)), asyncio.ensure_future(state.stopping.wait())
    try:
        await asyncio.wait((working, *waiting), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise RequestRefused(503, "stopped", "the server stops, or the client has left")
    finally:
        for item in (working, *waiting):
            item.cancel()
        await asyncio.gather(working, *waiting, return_exceptions=True)


async def _forget(state: State, case: str) -> None:
    """Delete a case with its run, even while the request is being called off."""

    async def work() -> None:
        try:
            runs = (await state.service.case(case)).runs
            await state.service.delete_case(case)
        except NotThere:
            return
        for run in runs:
            state.writer.forget(run.id)

    await asyncio.shield(work())


async def _nothing() -> None:
    """Leave everything as it is."""
