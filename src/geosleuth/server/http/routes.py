"""The routes: cases and photos, runs, map tiles, the server's settings, keys, and signing in."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal, get_args
from urllib.parse import quote

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from geosleuth import __version__
from geosleuth.answer.granularity import GRANULARITIES
from geosleuth.pipeline.result import result_schema
from geosleuth.server import RunSettings, StreamEvent
from geosleuth.server.intake import THUMB_PX, VIEW_PX
from geosleuth.server.shapes import CompareView, ReadView, ResultView, ShadowsView, StandView
from geosleuth.support.errors import BadInput

from .auth import COOKIE, SESSION_S, check_token, session_cookie
from .keys import keyring_there, models_within_reach, region_names
from .limits import JSON_BYTES
from .responses import REPORT_POLICY, RequestRefused
from .schemas import (
    EMPTY,
    REFUSALS,
    AboutShown,
    CaseChange,
    CaseId,
    CaseList,
    CaseShown,
    CheckShown,
    Claim,
    DiskShown,
    Health,
    KeyList,
    KeyShown,
    LimitsShown,
    NewCase,
    NewFeedback,
    NewKey,
    NewOutlines,
    NewRunOnPhotos,
    NewSettings,
    NewShadows,
    NewStand,
    OutlinesShown,
    PartOfPhoto,
    PhotoNumber,
    PhotoShown,
    RunId,
    RunShown,
    SettingsShown,
    SignIn,
    Wipe,
    Wiped,
    binary,
    build_model,
    event_schema,
)
from .setup import is_local
from .state import EventStream, State
from .static_page import tile_origin

cases_router = APIRouter(prefix="/api/cases", tags=["cases"], responses=REFUSALS)

# Longer side of a photo, in pixels, by size.
SIDES_PX = {"thumb": THUMB_PX, "view": VIEW_PX}

UPLOAD = {
    "requestBody": {
        "required": True,
        "description": "The file, as it is.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "image/*": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

runs_router = APIRouter(prefix="/api", tags=["runs"], responses=REFUSALS)
FileFormat = Literal["html", "json", "geojson", "kml", "csv", "dwc.csv", "xmp", "jsonl", "zip"]
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
                "application/zip",
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
    204: {"description": "The run is over and all events were sent: do not reconnect."},
}
_RESULT: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    200: {"description": "The result.", "content": {"application/json": {"schema": result_schema()}}},
}
_After = Annotated[int, Query(ge=-1, le=2**53, description="Only what came after the event of this id.")]
_Handle = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,64}$", examples=["image-1"])]
_LastSeen = Annotated[int | None, Header(alias="Last-Event-ID", ge=-1, le=2**53, description="Goes before `after`.")]
about_router = APIRouter(prefix="/api", tags=["server"], responses=REFUSALS)
Service = Annotated[str, Path(pattern="^[a-z]{1,40}$", examples=["openai"])]
tiles_router = APIRouter(prefix="/tiles", tags=["map"], responses=REFUSALS)
MEDIA_TYPE = "application/vnd.mapbox-vector-tile"
_AT_ONCE = 2
_Zoom = Annotated[int, Path(ge=0, le=16)]
_Cell = Annotated[int, Path(ge=0, le=2**16)]
# A new version has a new address; without a version, a tile's lifetime is unknown.
FOR_A_WHILE, _NOT_AT_ALL = "private, max-age=86400", "no-store"


def check_is_file(request: Request) -> None:
    """Refuse a body that is not said to be a photo.

    Raises:
        Refused: it is something else.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/octet-stream" and not kind.startswith("image/"):
        raise RequestRefused(415, "media", "send the file itself, as application/octet-stream or image/…")


@cases_router.post("", status_code=201)
async def new_case(asked: NewCase, request: Request) -> CaseShown:
    """Begin a case: photos of one place, and the runs that work on them."""
    return CaseShown.model_validate(await State.from_request(request).service.new_case(asked.title, asked.notes))


@cases_router.get("")
async def list_cases(
    request: Request,
    query: Annotated[str, Query(max_length=200, description="Words of titles, notes and places.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$", description="Only cases before this one.")] = None,
) -> CaseList:
    """Cases on this machine, newest first."""
    rows = await State.from_request(request).service.cases(query=query, limit=limit, before=before)
    return CaseList(cases=[CaseShown.model_validate(row) for row in rows])


@cases_router.get("/{case}")
async def one_case(case: CaseId, request: Request) -> CaseShown:
    """A case with its photos and runs."""
    return CaseShown.model_validate(await State.from_request(request).service.case(case))


@cases_router.patch("/{case}")
async def change_case(case: CaseId, asked: CaseChange, request: Request) -> CaseShown:
    """Change a case's title or notes."""
    return CaseShown.model_validate(
        await State.from_request(request).service.change_case(case, title=asked.title, notes=asked.notes)
    )


@cases_router.delete("/{case}", status_code=204, responses=EMPTY)
async def delete_case(case: CaseId, request: Request) -> None:
    """Delete a case with all that belongs to it; runs that work on it are called off."""
    state = State.from_request(request)
    runs = (await state.service.case(case)).runs
    await state.service.delete_case(case)
    for run in runs:
        state.writer.forget(run.id)


@cases_router.post("/{case}/photos", status_code=201, openapi_extra=UPLOAD)
async def add_photo(
    case: CaseId,
    request: Request,
    name: Annotated[str, Query(max_length=255, description="What the file is called.")] = "",
) -> PhotoShown:
    """Add a photo: JPEG, PNG, WebP, TIFF or HEIC, as the request's body."""
    check_is_file(request)
    return PhotoShown.model_validate(await State.from_request(request).service.add_photo(case, name, request.stream()))


@cases_router.get(
    "/{case}/photos/{number}", response_class=Response, responses=binary("image/jpeg", description="A JPEG.")
)
async def photo(
    case: CaseId,
    number: PhotoNumber,
    request: Request,
    size: Annotated[Literal["thumb", "view"], Query(description="How large.")] = "view",
) -> Response:
    """A photo's pixels, upright, without any of its metadata."""
    data = await State.from_request(request).service.photo_jpeg(case, number, most_px=SIDES_PX[size])
    return Response(data, media_type="image/jpeg")


@cases_router.post("/{case}/photos/{number}/read", response_model=build_model(ReadView))
async def read_part(case: CaseId, number: PhotoNumber, asked: PartOfPhoto, request: Request) -> dict[str, Any]:
    """Read the text in a part of a photo."""
    return await State.from_request(request).service.read(case, number, asked.box)


@cases_router.post("/{case}/photos/{number}/stand", response_model=build_model(StandView))
async def stand(case: CaseId, number: PhotoNumber, asked: NewStand, request: Request) -> dict[str, Any]:
    """Work out where the camera stood, and its heading, from features that photo and map both show."""
    marks = [mark.model_dump() for mark in asked.marks]
    return await State.from_request(request).service.stand(case, number, marks, asked.fov_deg)


@cases_router.delete("/{case}/photos/{number}", status_code=204, responses=EMPTY)
async def delete_photo(case: CaseId, number: PhotoNumber, request: Request) -> None:
    """Delete a photo."""
    await State.from_request(request).service.delete_photo(case, number)


@runs_router.post("/cases/{case}/runs", status_code=202)
async def start(case: CaseId, asked: NewRunOnPhotos, request: Request) -> RunShown:
    """Start a run. Where photos would leave this machine, every host must be named in `send_to`."""
    return RunShown.model_validate(
        await State.from_request(request).service.start(case, asked.request(asked.area), asked.photos)
    )


@runs_router.get("/runs/{run}")
async def one_run(run: RunId, request: Request) -> RunShown:
    """A run as it stands."""
    return RunShown.model_validate(await State.from_request(request).service.run(run))


@runs_router.delete("/runs/{run}", status_code=204, responses=EMPTY)
async def delete_run(run: RunId, request: Request) -> None:
    """Delete a run with its trajectory; one that is worked on is called off."""
    state = State.from_request(request)
    await state.service.delete_run(run)
    state.writer.forget(run)


@runs_router.get("/runs/{run}/events", response_class=Response, responses=_EVENTS)
async def events(run: RunId, request: Request, after: _After = -1, last_seen: _LastSeen = None) -> Response:
    """Watch a run, from its beginning or from where a reader left off. Leaving does not stop the run."""
    state = State.from_request(request)
    row = await state.service.run(run)
    stream = state.service.watch(run, after=after if last_seen is None else last_seen)
    if not row.active:
        first = await anext(stream, None)
        if first is None:
            return Response(status_code=204)
        stream = _prepend_event(first, stream)
    return EventStream(run, stream, state)


@runs_router.post("/runs/{run}/continue", status_code=202)
async def continue_run(run: RunId, asked: NewFeedback, request: Request) -> RunShown:
    """Go on from a run that is over, with what a person says about it; the run itself stays as it is."""
    return RunShown.model_validate(await State.from_request(request).service.continue_run(run, asked.feedback()))


@runs_router.post("/runs/{run}/cancel")
async def cancel(run: RunId, request: Request) -> RunShown:
    """Call a run off, within a second."""
    return RunShown.model_validate(await State.from_request(request).service.cancel(run))


@runs_router.get("/runs/{run}/result", response_class=JSONResponse, responses=_RESULT)
async def result(run: RunId, request: Request) -> JSONResponse:
    """Return the result of a run: the document of `geosleuth locate --json`."""
    return JSONResponse(await State.from_request(request).service.result(run))


@runs_router.get("/runs/{run}/view", response_model=build_model(ResultView))
async def view(run: RunId, request: Request) -> dict[str, Any]:
    """Return the result of a run as the page shows it."""
    return await State.from_request(request).service.view(run)


@runs_router.get("/runs/{run}/files/{form}", response_class=Response, responses=_FILES)
async def file(run: RunId, form: FileFormat, request: Request) -> Response:
    """The finding as a file: a report, a format of other programs, or the whole trajectory (jsonl)."""
    data, media_type, name = await State.from_request(request).service.file(run, form)
    shown = "inline" if form == "html" else "attachment"
    headers = {"Content-Disposition": f"{shown}; filename*=UTF-8''{quote(name, safe='')}"}
    if form == "html":
        headers["Content-Security-Policy"] = REPORT_POLICY
    return Response(data, 200, headers, media_type)


@runs_router.get(
    "/runs/{run}/pictures/{handle}", response_class=Response, responses=binary("image/jpeg", description="A JPEG.")
)
async def picture(run: RunId, handle: _Handle, request: Request) -> Response:
    """A view or a crop that the run looked at, by its handle."""
    return Response(await State.from_request(request).service.picture(run, handle), media_type="image/jpeg")


@runs_router.post("/runs/{run}/check")
async def check(run: RunId, asked: Claim, request: Request) -> CheckShown:
    """Compare a finished run with a claimed place."""
    return CheckShown.model_validate(await State.from_request(request).service.check(run, asked.lat, asked.lon))


@runs_router.post("/outlines")
async def outlines(asked: NewOutlines) -> OutlinesShown:
    """Return the land of the candidates that are whole countries, by their names."""
    return OutlinesShown(outlines=await run_in_threadpool(_outlines, asked.names))


def _outlines(names: list[str]) -> dict[str, dict[str, Any]]:
    from geosleuth.answer.formats import area_geometry
    from geosleuth.atlas.granular import country_outline
    from geosleuth.names import whole_country

    codes = {name: code for name in names if (code := whole_country(name)) is not None}
    lands = {name: outline.polygons for name, code in codes.items() if (outline := country_outline(code)) is not None}
    return {name: drawn for name, land in lands.items() if (drawn := area_geometry(land)) is not None}


@runs_router.post("/shadows", response_model=build_model(ShadowsView))
async def shadows(asked: NewShadows, request: Request) -> dict[str, Any]:
    """Say where on Earth shadows can be; with a place, whether and when they fit it."""
    return await State.from_request(request).service.shadows(asked.model_dump())


@runs_router.get("/compare", response_model=build_model(CompareView))
async def compare(
    request: Request,
    left: Annotated[str, Query(pattern="^[0-9a-f]{16}$")],
    right: Annotated[str, Query(pattern="^[0-9a-f]{16}$")],
) -> dict[str, Any]:
    """Two runs side by side."""
    return await State.from_request(request).service.compare(left, right)


async def _prepend_event(first: StreamEvent, rest: AsyncIterator[StreamEvent]) -> AsyncIterator[StreamEvent]:
    yield first
    async for event in rest:
        yield event


@about_router.get("/health")
async def health() -> Health:
    """Return the health status."""
    return Health(status="ok", version=__version__)


@about_router.get("/about")
async def about(request: Request) -> AboutShown:
    """Return the server's version, features and limits."""
    from geosleuth.agent.methods import METHODS
    from geosleuth.models.registry import SERVICES

    state = State.from_request(request)
    settings, limits = state.service.settings, state.settings.limits
    return AboutShown(
        version=__version__,
        offline=settings.offline,
        token=state.sessions.token is not None,
        keyring=await run_in_threadpool(keyring_there),
        limits=LimitsShown(
            photo_bytes=limits.photo.max_bytes,
            photo_pixels=limits.photo.max_pixels,
            photos=limits.photos_per_case,
            json_bytes=JSON_BYTES,
            title_characters=limits.title_characters,
            notes_characters=limits.notes_characters,
        ),
        models=await run_in_threadpool(models_within_reach, state.keys, offline=settings.offline),
        methods=sorted(METHODS),
        services=list(SERVICES),
        regions=await run_in_threadpool(region_names),
        granularities=list(GRANULARITIES),
        formats=list(get_args(FileFormat)),
        setup=is_local(request) and await state.service.setup_wanted(),
        review=is_local(request) and state.review is not None,
    )


@about_router.get("/settings")
async def settings(request: Request) -> SettingsShown:
    """Return the settings that hold for all runs."""
    return _show_settings(State.from_request(request).service.settings)


@about_router.put("/settings")
async def change_settings(asked: NewSettings, request: Request) -> SettingsShown:
    """Set what holds for all runs from now on."""
    if asked.online_tiles is not None:
        _check_tiles(asked)
    changes = asked.model_dump()
    changes["model"] = (asked.model or "").strip() or RunSettings().model
    changes["base_url"] = (asked.base_url or "").strip() or None
    return _show_settings(await State.from_request(request).service.change_settings(**changes))


@about_router.get("/disk")
async def disk(request: Request) -> DiskShown:
    """Return the disk space that all cases use."""
    service = State.from_request(request).service
    return DiskShown(bytes=await service.disk_bytes(), quota_mb=service.settings.quota_mb)


@about_router.post("/wipe")
async def wipe(asked: Wipe, request: Request) -> Wiped:  # noqa: ARG001 -- its words were checked
    """Delete all cases with their photos and runs; runs are called off. Settings and keys stay."""
    return Wiped(cases=await State.from_request(request).service.wipe())


@about_router.get("/keys")
async def keys(request: Request) -> KeyList:
    """Return which services have a key, and where it is kept; keys themselves are never returned."""
    states = await run_in_threadpool(State.from_request(request).keys.states)
    shown = [
        KeyShown(service=state.service, title=state.title, set=bool(state.where), keep=state.where) for state in states
    ]
    return KeyList(keyring=await run_in_threadpool(keyring_there), keys=shown)


@about_router.put("/keys/{service}", status_code=204, responses=EMPTY)
async def put_key(service: Service, asked: NewKey, request: Request) -> None:
    """Give a service's key, to be kept in this process's memory or in the system's keyring."""
    await run_in_threadpool(State.from_request(request).keys.put, service, asked.key, asked.keep)


@about_router.delete("/keys/{service}", status_code=204, responses=EMPTY)
async def delete_key(service: Service, request: Request) -> None:
    """Forget a service's key."""
    await run_in_threadpool(State.from_request(request).keys.forget, service)


@about_router.post("/session", status_code=204, responses=EMPTY)
async def create_session(asked: SignIn, request: Request, response: Response) -> None:
    """Show the token once; a cookie that scripts can't read stands for it from then on."""
    state = State.from_request(request)
    if state.sessions.token is None:
        raise RequestRefused(409, "state", "this server has no token; there is nothing to sign in to")
    check_token(asked.token, request.scope, state.sessions, state.attempts)
    response.set_cookie(
        COOKIE,
        state.sessions.begin(),
        max_age=SESSION_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


@about_router.delete("/session", status_code=204, responses=EMPTY)
async def sign_out(request: Request, response: Response) -> None:
    """Close the session."""
    if cookie := session_cookie(request.headers):
        State.from_request(request).sessions.end(cookie)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def _show_settings(settings: RunSettings) -> SettingsShown:
    return SettingsShown.model_validate(settings)


def _check_tiles(asked: NewSettings) -> None:
    """Check the tile source; while the offline switch is on, it is stored and not used."""
    template = asked.online_tiles or ""
    if not all(mark in template for mark in ("{z}", "{x}", "{y}")) or not tile_origin(template):
        raise BadInput("online tiles have an address such as https://tiles.example.org/{z}/{x}/{y}.png")


@tiles_router.get(
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
    state = State.from_request(request)
    finest = state.service.settings.granularity
    made = await to_thread.run_sync(state.tiles.tile, z, x, y, finest, limiter=limiter(state))
    headers = {"Cache-Control": FOR_A_WHILE if v else _NOT_AT_ALL}
    return Response(made, 200, headers, MEDIA_TYPE) if made else Response(None, 204, headers)


@tiles_router.get("/style/{theme}.json")
async def style(theme: Literal["light", "dark"], request: Request) -> dict[str, Any]:
    """A MapLibre style that draws these tiles."""
    state = State.from_request(request)
    # Workers of the page know no relative addresses.
    prefix = f"{str(request.base_url).rstrip('/')}/tiles"
    finest = state.service.settings.granularity
    return await to_thread.run_sync(state.tiles.style, theme, finest, prefix, limiter=limiter(state))


def limiter(state: State) -> CapacityLimiter:
    """Few at once, so that a map which opens leaves the processor to others."""
    if state.tile_limiter is None:
        state.tile_limiter = CapacityLimiter(_AT_ONCE)
    return state.tile_limiter
