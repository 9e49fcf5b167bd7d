"""Runs: starting, watching, continuing, calling off, and what came of them."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from geosleuth.app.service import StreamEvent
from geosleuth.app.service.shapes import CompareView, ResultView
from geosleuth.pipeline.result import result_schema

from .asked import Claim, NewFeedback, NewRun
from .headers import REPORT_POLICY
from .routing import EMPTY, REFUSALS, CaseId, RunId, binary
from .shown import CheckShown, RunShown
from .state import State
from .stream import EventStream
from .views import event_schema, model_of

router = APIRouter(prefix="/api", tags=["runs"], responses=REFUSALS)

FileFormat = Literal["html", "json", "geojson", "kml", "csv", "dwc.csv", "xmp", "jsonl"]
_FILES: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    200: {
        "description": "The file.",
        "content": {
            name: {}
            for name in (
                "text/html",
                "application/json",
                "application/geo+json",
                "application/vnd.google-earth.kml+xml",
                "text/csv",
                "application/rdf+xml",
                "application/x-ndjson",
            )
        },
    },
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    200: {
        "description": "Events with `id`, `event` and JSON `data`, until the run is over; a comment now and then.",
        "content": {"text/event-stream": {"itemSchema": event_schema()}},
    },
    204: {"description": "The run is over and all of it was told: don't come back."},
}
_RESULT: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    200: {"description": "The result.", "content": {"application/json": {"schema": result_schema()}}},
}
_After = Annotated[int, Query(ge=-1, le=2**53, description="Only what came after the event of this id.")]
_Handle = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,64}$", examples=["image-1"])]
_LastSeen = Annotated[int | None, Header(alias="Last-Event-ID", ge=-1, le=2**53, description="Goes before `after`.")]


@router.post("/cases/{case}/runs", status_code=202)
async def start(case: CaseId, asked: NewRun, request: Request) -> RunShown:
    """Start a run. Where photos would leave this machine, every host must be named in `send_to`."""
    return RunShown.of(await State.of(request).service.start(case, asked.request()))


@router.get("/runs/{run}")
async def one_run(run: RunId, request: Request) -> RunShown:
    """A run as it stands."""
    return RunShown.of(await State.of(request).service.run(run))


@router.delete("/runs/{run}", status_code=204, responses=EMPTY)
async def delete_run(run: RunId, request: Request) -> None:
    """Delete a run with its trajectory; one that is worked on is called off."""
    state = State.of(request)
    await state.service.delete_run(run)
    state.writer.forget(run)


@router.get("/runs/{run}/events", response_class=Response, responses=_EVENTS)
async def events(run: RunId, request: Request, after: _After = -1, last_seen: _LastSeen = None) -> Response:
    """Watch a run, from its beginning or from where a reader left off. Leaving does not stop the run."""
    state = State.of(request)
    row = await state.service.run(run)
    told = state.service.watch(run, after=after if last_seen is None else last_seen)
    if not row.active:
        first = await anext(told, None)
        if first is None:
            return Response(status_code=204)
        told = _from(first, told)
    return EventStream(
        run,
        told,
        writer=state.writer,
        streams=state.streams,
        stopping=state.stopping,
        heartbeat_s=state.settings.heartbeat_s,
        write_s=state.settings.write_s,
    )


@router.post("/runs/{run}/continue", status_code=202)
async def go_on(run: RunId, asked: NewFeedback, request: Request) -> RunShown:
    """Go on from a run that is over, with what a person says about it; the run itself stays as it is."""
    return RunShown.of(await State.of(request).service.go_on(run, asked.feedback()))


@router.post("/runs/{run}/cancel")
async def cancel(run: RunId, request: Request) -> RunShown:
    """Call a run off, within a second."""
    return RunShown.of(await State.of(request).service.cancel(run))


@router.get("/runs/{run}/result", response_class=JSONResponse, responses=_RESULT)
async def result(run: RunId, request: Request) -> JSONResponse:
    """What a run came to: the document of `geosleuth locate --json`."""
    return JSONResponse(await State.of(request).service.result(run))


@router.get("/runs/{run}/view", response_model=model_of(ResultView))
async def view(run: RunId, request: Request) -> dict[str, Any]:
    """What a run came to, as the page shows it."""
    return await State.of(request).service.view(run)


@router.get("/runs/{run}/files/{form}", response_class=Response, responses=_FILES)
async def file(run: RunId, form: FileFormat, request: Request) -> Response:
    """The finding as a file: a report, a format of other programs, or the whole trajectory (jsonl)."""
    data, media_type, name = await State.of(request).service.file(run, form)
    shown = "inline" if form == "html" else "attachment"
    headers = {"Content-Disposition": f"{shown}; filename*=UTF-8''{quote(name, safe='')}"}
    if form == "html":
        headers["Content-Security-Policy"] = REPORT_POLICY
    return Response(data, 200, headers, media_type)


@router.get(
    "/runs/{run}/pictures/{handle}", response_class=Response, responses=binary("image/jpeg", description="A JPEG.")
)
async def picture(run: RunId, handle: _Handle, request: Request) -> Response:
    """A view or a crop that the run looked at, by its handle."""
    return Response(await State.of(request).service.picture(run, handle), media_type="image/jpeg")


@router.post("/runs/{run}/check")
async def check(run: RunId, asked: Claim, request: Request) -> CheckShown:
    """Hold a finished run against a place that somebody claims."""
    return CheckShown.model_validate(await State.of(request).service.check(run, asked.lat, asked.lon))


@router.get("/compare", response_model=model_of(CompareView))
async def compare(
    request: Request,
    left: Annotated[str, Query(pattern="^[0-9a-f]{16}$")],
    right: Annotated[str, Query(pattern="^[0-9a-f]{16}$")],
) -> dict[str, Any]:
    """Two runs side by side."""
    return await State.of(request).service.compare(left, right)


async def _from(first: StreamEvent, rest: AsyncIterator[StreamEvent]) -> AsyncIterator[StreamEvent]:
    yield first
    async for told in rest:
        yield told
