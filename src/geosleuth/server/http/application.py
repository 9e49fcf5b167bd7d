"""The app: routes, guards around them, and one shape for all errors."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from difflib import get_close_matches
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from geosleuth import __version__
from geosleuth.models.registry import SERVICES
from geosleuth.server import CaseService, DiskFull, NeedsConsent, NotThere, TooLarge, TooMany, WrongState
from geosleuth.support.errors import GeosleuthError, MissingExtra, ServiceFault, UserError

from . import guide, locate, maps, relief, review, routes, setup, static_page, videos
from .auth import AccessMiddleware
from .keys import Keys
from .limits import JSON_BYTES, Bodies, Paced
from .responses import GuardHeaders, Heads, RequestRefused, guard_headers, refusal
from .state import ServeSettings, State

_UPLOADS = re.compile(r"/api/(?:cases/[^/]*/photos|locate)/?")
_VIDEOS = re.compile(r"/api/cases/[^/]*/videos/?")
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_KEY = re.compile(r"needs a key: set the environment variable ([A-Z_]+)")
_KINDS = {404: ("missing", "there is nothing at this address"), 405: ("method", "that can't be done at this address")}
_STATUSES: tuple[tuple[type[GeosleuthError], int, str], ...] = (
    (NotThere, 404, "missing"),
    (WrongState, 409, "state"),
    (TooLarge, 413, "size"),
    (TooMany, 429, "full"),
    (DiskFull, 507, "disk"),
    (MissingExtra, 400, "extra"),
    (UserError, 400, "input"),
    (ServiceFault, 503, "service"),
    (GeosleuthError, 500, "failed"),
)


def make_app(service: CaseService, settings: ServeSettings | None = None, *, keys: Keys | None = None) -> FastAPI:
    """Return the HTTP application of an open service; ``app.state.geosleuth.stopping`` ends its streams.

    Args:
        service: the cases.
        settings: who may use it; for this machine alone, without a token, where they are left out.
        keys: the keys of model services that the service passes to its runs.
    """
    settings = settings or ServeSettings()
    app = FastAPI(
        title="geosleuth",
        version=__version__,
        summary="Where was this photo taken? Cases, runs and what came of them.",
        openapi_url="/api/openapi.json",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation,
        lifespan=_lifespan,
    )
    state = State(service, keys or Keys(), settings)
    app.state.geosleuth = state
    for router in (
        routes.about_router,
        routes.cases_router,
        routes.runs_router,
        videos.router,
        locate.router,
        guide.router,
        maps.router,
        setup.router,
        review.router,
        relief.router,
        routes.tiles_router,
        static_page.router,
    ):
        app.include_router(router)
    _add_handlers(app)
    photo_bytes, video_bytes = settings.limits.photo.max_bytes, settings.limits.video.max_bytes

    def most_bytes(path: str) -> int:
        return photo_bytes if _UPLOADS.fullmatch(path) else video_bytes if _VIDEOS.fullmatch(path) else JSON_BYTES

    # The last one added stands outermost.
    app.add_middleware(Heads)
    app.add_middleware(Bodies, most_bytes=most_bytes)
    app.add_middleware(AccessMiddleware, hosts=settings.hosts, sessions=state.sessions, attempts=state.attempts)
    app.add_middleware(Paced, pace=state.pace)
    app.add_middleware(GuardHeaders)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: State = app.state.geosleuth
    sweeping = asyncio.create_task(_sweep(state))
    try:
        yield
    finally:
        state.stopping.set()
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping


async def _sweep(state: State) -> None:
    while True:
        with suppress(GeosleuthError):
            await state.service.sweep()
        await asyncio.sleep(state.settings.sweep_s)


def _add_handlers(app: FastAPI) -> None:
    async def handle_refusal(_: Request, error: Exception) -> Response:
        return error.response() if isinstance(error, RequestRefused) else bug()

    async def http(_: Request, error: Exception) -> Response:
        if isinstance(error, RequestRefused):
            return error.response()
        status = error.status_code if isinstance(error, HTTPException) else 500
        kind, message = _KINDS.get(status, ("request", "the request can't be read"))
        return refusal(status, kind, message, headers=getattr(error, "headers", None))

    async def ours(_: Request, error: Exception) -> Response:
        if isinstance(error, NeedsConsent):
            return refusal(409, "consent", error.words, error.hosts)
        status, kind = next((status, kind) for cls, status, kind in _STATUSES if isinstance(error, cls))
        return refusal(status, kind, in_words_of_the_api(str(error)))

    async def invalid(request: Request, error: Exception) -> Response:
        errors = error.errors() if isinstance(error, RequestValidationError) else []
        return refusal(422, "invalid", _invalid(errors, request.scope.get("route")))

    async def left(_: Request, _error: Exception) -> Response:
        return refusal(400, "left", "the request broke off")

    async def broken(_: Request, _error: Exception) -> Response:
        # Outside of all middleware: it has to guard itself.
        made = bug()
        guard_headers(made.headers)
        return made

    app.add_exception_handler(RequestRefused, handle_refusal)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(GeosleuthError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(ClientDisconnect, left)
    app.add_exception_handler(Exception, broken)


def bug() -> Response:
    """Return the answer where something of ours broke; what it was is in the server's log and nowhere else."""
    return refusal(500, "bug", "something went wrong in the server; its log says what")


def in_words_of_the_api(message: str) -> str:
    """Return a message with request fields in place of the command's flags, and advice that fits the API."""
    from geosleuth.pipeline.area import FILE_ALTERNATIVE

    text = _KEY.sub(_where_keys_go, message.replace(FILE_ALTERNATIVE, "; send an outline as the area"))
    return _FLAG.sub(lambda flag: flag[1].replace("-", "_"), text)


def _where_keys_go(wanted: re.Match[str]) -> str:
    variable = wanted[1]
    service = next((name for name, one in SERVICES.items() if variable in one.key_variables), None)
    if service is None:
        return wanted[0]
    return (
        f"needs a key: give it in the app under Settings, Keys (PUT /api/keys/{service}), "
        f"or set the environment variable {variable} where the server is started"
    )


def _invalid(errors: Any, route: object) -> str:
    """Return the first error of a request, without what was sent: that may be a key."""
    if not errors:
        return "the request does not have the form that is asked for"
    first = errors[0]
    if first.get("type") == "json_invalid":
        return "the request's body is no JSON; look at its quotes, commas and brackets"
    if tuple(first.get("loc", ())) == ("body",):
        return "the request's body is to be a JSON object, such as {}, sent as application/json"
    where = ".".join(str(part) for part in first.get("loc", ()) if part != "body")
    if first.get("type") == "extra_forbidden":
        option = where.removeprefix("query.")
        meant = get_close_matches(option, _options(route), n=1)
        return f"no such option: {option[:60]}" + (f"; did you mean {meant[0]}?" if meant else "")
    what = str(first.get("msg", "can't be read"))
    return f"{where}: {what}" if where else what


def _options(route: object) -> list[str]:
    if not isinstance(route, APIRoute):
        return []
    params = (*route.dependant.query_params, *route.dependant.body_params)
    models = [getattr(param.field_info.annotation, "model_fields", {param.name: None}) for param in params]
    return [name for fields in models for name in fields]


def _operation(route: APIRoute) -> str:
    return route.name
