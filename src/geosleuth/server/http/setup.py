"""The page's set-up of a model. For the person at this machine only: it writes the default of all commands."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from geosleuth.models.local_models import fitting_models
from geosleuth.models.registry import SERVICES
from geosleuth.pipeline.defaults import NO_MODEL
from geosleuth.pipeline.model_choice import DETECTIVE
from geosleuth.server.model_discovery import PATIENT_TIMEOUT_S, Reachable, build_hosted, look_around
from geosleuth.server.model_trial import describe_cost
from geosleuth.server.ollama import ollama_root
from geosleuth.server.setup import PullShown
from geosleuth.server.shapes import StrictView
from geosleuth.support.net import is_loopback

from .keys import Keys
from .responses import RequestRefused
from .schemas import EMPTY, REFUSALS, Address, Host, Name, SettingsShown, StrictBody
from .state import State


class NewDefault(StrictBody):
    """A model for everything that names none; ``none`` is the detective."""

    model: Annotated[Name, Field(min_length=1, examples=["ollama:qwen3.5:4b"])]
    base_url: Address | None = None


class NewTrial(NewDefault):
    """A model to try, and the hosts that may get the example photo."""

    send_to: list[Host] = Field(default_factory=list, max_length=8)


class NewPull(StrictBody):
    """The host that a model may be fetched from."""

    host: Host = ""


class ReachableShown(StrictView):
    """A model within reach. ``sees`` is null if its server is silent; ``sent_to`` if photos stay on this machine."""

    model: str
    where: str
    base_url: str | None
    sees: bool | None
    sent_to: str | None
    cost: str

    @classmethod
    def from_reachable(cls, reachable: Reachable) -> "ReachableShown":
        """Return the model of what was found."""
        return cls(**asdict(reachable), cost=describe_cost(reachable))


class BrokenShown(StrictView):
    """A server on this machine that does not do what it should."""

    title: str
    where: str
    trouble: str


class OfferShown(StrictView):
    """The model for this machine's memory that Ollama could fetch; ``runs`` says whether Ollama does."""

    model: str
    size_gb: float
    memory_gb: float
    licence: str
    host: str
    runs: bool


class SetupShown(StrictView):
    """Models within reach. ``asked``: local servers were asked; ``offer`` is null until then."""

    default: str | None
    asked: bool
    models: list[ReachableShown]
    broken: list[BrokenShown]
    offer: OfferShown | None
    pull: PullShown | None


class TriedShown(StrictView):
    """Answer of a model on the example photo, and whether it is right."""

    answer: str
    right: bool
    seconds: float
    turns: int
    usd: float | None


async def local_user(request: Request) -> None:
    """Refuse other machines.

    Raises:
        Refused: the request comes from another machine.
    """
    check_local(request, "a model is set up on the machine itself; run there: geosleuth setup")


def is_local(request: Request) -> bool:
    """Return whether a request comes from this machine."""
    return request.client is not None and is_loopback(request.client.host)


def check_local(request: Request, words: str) -> None:
    """Refuse other machines with words that say what to do."""
    if not is_local(request):
        raise RequestRefused(403, "local", words)


router = APIRouter(prefix="/api/setup", tags=["setup"], responses=REFUSALS, dependencies=[Depends(local_user)])


@router.get("")
async def setup(request: Request) -> SetupShown:
    """Return weights on this disk and keys, by name. No server is asked."""
    return await _build_setup_shown(State.from_request(request), ask=False)


@router.post("/look")
async def setup_look(request: Request) -> SetupShown:
    """The same with the servers on this machine, which are asked for the names of their models."""
    return await _build_setup_shown(State.from_request(request), ask=True)


@router.post("/try")
async def setup_try(asked: NewTrial, request: Request) -> TriedShown:
    """Try a model on an example photo. Where that leaves this machine, the host must be named: 409 says which."""
    made = await State.from_request(request).service.setup.attempt(asked.model, asked.base_url, asked.send_to)
    return TriedShown(**made)


@router.put("/default")
async def setup_default(asked: NewDefault, request: Request) -> SettingsShown:
    """Make a model the default of the page, of commands and of everything else."""
    model = None if asked.model.strip() in (NO_MODEL, DETECTIVE) else asked.model.strip()
    return SettingsShown.model_validate(
        await State.from_request(request).service.set_default_model(model, asked.base_url)
    )


@router.post("/dismiss", status_code=204, responses=EMPTY)
async def setup_dismiss(request: Request) -> None:
    """Do not offer the set-up by itself again."""
    await State.from_request(request).service.dismiss_setup()


@router.post("/pull", status_code=202)
async def setup_pull(asked: NewPull, request: Request) -> PullShown:
    """Have Ollama on this machine fetch a small model. Its host must be named: without it, 409 says which it is."""
    return await State.from_request(request).service.setup.start_pull(asked.host)


@router.get("/pull")
async def setup_pulling(request: Request) -> PullShown | None:
    """Return the progress of the download."""
    return State.from_request(request).service.setup.job


@router.delete("/pull", status_code=204, responses=EMPTY)
async def setup_cancel(request: Request) -> None:
    """Stop it; the next one goes on from what is there."""
    await State.from_request(request).service.setup.cancel()


async def _build_setup_shown(state: State, *, ask: bool) -> SetupShown:
    found, broken = await run_in_threadpool(look_around, ask=ask)
    found += await run_in_threadpool(_in_memory, state.keys, found)
    offer = None
    if ask and all(item.sees is False for item in found):
        offer = OfferShown(**asdict(fitting_models()[0]), runs=await ollama_root(PATIENT_TIMEOUT_S) is not None)
    return SetupShown(
        default=state.service.settings.model,
        asked=ask,
        models=[ReachableShown.from_reachable(item) for item in found],
        broken=[BrokenShown.model_validate(item) for item in broken],
        offer=offer,
        pull=state.service.setup.job,
    )


def _in_memory(keys: Keys, found: list[Reachable]) -> list[Reachable]:
    known = {item.model.partition(":")[0] for item in found}
    held = [state.service for state in keys.states() if state.where == "memory" and state.service not in known]
    return [build_hosted(item, "its key is in this server's memory") for item in held if not SERVICES[item].own]
