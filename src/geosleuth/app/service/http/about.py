"""What the server is and has, its settings, keys, and signing in."""

from dataclasses import asdict
from typing import Annotated, get_args

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from geosleuth import __version__
from geosleuth.answer.granularity import GRANULARITIES
from geosleuth.app.service import Settings
from geosleuth.errors import BadInput

from .asked import NewKey, NewSettings, SignIn
from .bodies import JSON_BYTES
from .door import COOKIE, SESSION_S, check_token, session_cookie
from .keys import keyring_there
from .page import tile_origin
from .reach import models_within_reach, region_names
from .refusals import Refused
from .routing import EMPTY, REFUSALS
from .runs import FileFormat
from .shown import AboutShown, Health, KeyList, KeyShown, LimitsShown, SettingsShown
from .state import State

router = APIRouter(prefix="/api", tags=["server"], responses=REFUSALS)
Service = Annotated[str, Path(pattern="^[a-z]{1,40}$", examples=["openai"])]


@router.get("/health")
async def health() -> Health:
    """Whether we live."""
    return Health(status="ok", version=__version__)


@router.get("/about")
async def about(request: Request) -> AboutShown:
    """What this server is, has and takes."""
    from geosleuth.agent.methods import METHODS
    from geosleuth.policies.services import SERVICES

    state = State.of(request)
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
    )


@router.get("/settings")
async def settings(request: Request) -> SettingsShown:
    """What holds for all runs."""
    return _shown(State.of(request).service.settings)


@router.put("/settings")
async def change_settings(asked: NewSettings, request: Request) -> SettingsShown:
    """Set what holds for all runs from now on."""
    if asked.online_tiles is not None:
        _check_tiles(asked)
    changes = asked.model_dump()
    changes["model"] = (asked.model or "").strip() or Settings().model
    changes["base_url"] = (asked.base_url or "").strip() or None
    return _shown(await State.of(request).service.change_settings(**changes))


@router.get("/keys")
async def keys(request: Request) -> KeyList:
    """Which services have a key, and where it is kept; keys themselves are never told."""
    states = await run_in_threadpool(State.of(request).keys.states)
    shown = [KeyShown(service=one.service, title=one.title, set=bool(one.where), keep=one.where) for one in states]
    return KeyList(keyring=await run_in_threadpool(keyring_there), keys=shown)


@router.put("/keys/{service}", status_code=204, responses=EMPTY)
async def put_key(service: Service, asked: NewKey, request: Request) -> None:
    """Give a service's key, to be kept in this process's memory or in the system's keyring."""
    await run_in_threadpool(State.of(request).keys.put, service, asked.key, asked.keep)


@router.delete("/keys/{service}", status_code=204, responses=EMPTY)
async def delete_key(service: Service, request: Request) -> None:
    """Forget a service's key."""
    await run_in_threadpool(State.of(request).keys.forget, service)


@router.post("/session", status_code=204, responses=EMPTY)
async def sign_in(asked: SignIn, request: Request, response: Response) -> None:
    """Show the token once; a cookie that scripts can't read stands for it from then on."""
    state = State.of(request)
    if state.sessions.token is None:
        raise Refused(409, "state", "this server has no token; there is nothing to sign in to")
    check_token(asked.token, request.scope, state.sessions, state.attempts)
    response.set_cookie(
        COOKIE,
        state.sessions.begin(),
        max_age=SESSION_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


@router.delete("/session", status_code=204, responses=EMPTY)
async def sign_out(request: Request, response: Response) -> None:
    """Close the session."""
    if cookie := session_cookie(request.headers):
        State.of(request).sessions.end(cookie)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def _shown(settings: Settings) -> SettingsShown:
    return SettingsShown(**asdict(settings))


def _check_tiles(asked: NewSettings) -> None:
    """Complain about what is no tile source; while the offline switch is on, one is kept and not used."""
    template = asked.online_tiles or ""
    if not all(mark in template for mark in ("{z}", "{x}", "{y}")) or not tile_origin(template):
        raise BadInput("online tiles have an address such as https://tiles.example.org/{z}/{x}/{y}.png")
