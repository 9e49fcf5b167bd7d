"""``geosleuth.locate`` for scripts and notebooks."""

import asyncio
import inspect
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import fields as dataclass_fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack, get_type_hints

from geosleuth.agent import Method, Sink
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.errors import BadInput
from geosleuth.photo import open_photos
from geosleuth.policies import consent_line
from geosleuth.policies.feedback import Rejected

from .defaults import with_default_model
from .notebook import run_apart
from .plan import Plan, make_plan
from .profiles import read_profile
from .request import LocateRequest, ToolChoice
from .result import LocateResult, check_claim
from .run import run_plan

_FOR_COMMANDS = ("out", "overwrite", "write_exif", "sidecars", "yes")

Photos = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Options(TypedDict, total=False):
    """The options of `locate`: the fields of `LocateRequest` that are not about files of the command, and a profile."""

    profile: str | None
    model: str | None
    base_url: str | None
    parallel: int
    verifier: str | None
    chains: str | None
    team: str | Path | None
    turns: int | None
    calls: int | None
    tokens: int | None
    reply_tokens: int | None
    thinking_tokens: int | None
    seconds: float | None
    usd: float | None
    requests: int | None
    temperature: float | None
    seed: int | None
    method: str | Method | None
    prompts: Path | None
    tools: str | Sequence[ToolChoice] | None
    wire: str | None
    policy_card: str | None
    boxes: str
    panorama: str | None
    within: str | None
    drawn: Mapping[str, Any] | None
    rejected: Rejected | None
    hint: str | None
    area: str | None
    taken: str | datetime | None
    drives_on: str | None
    seen: str | None
    check: str | None
    force_answer: bool
    granularity: str
    offline: bool
    maps: str | None
    maps_url: Sequence[str]
    web_search: str | None
    image_search: str | None
    image_url: str | None
    prior: str | None
    allow: Sequence[str]
    mcp: str | Path | None
    mcp_allow: Sequence[str]
    trajectory: str | Path | None


class LocateOptions(Options, total=False):
    """Those, whether photos may be sent, and who gets the events as they happen; see `alocate`."""

    send: bool
    sinks: Iterable[Sink]


def locate(photo: Photos, **options: Unpack[LocateOptions]) -> LocateResult:
    """Find out where a photo was taken; takes what `alocate` takes, and works inside a running event loop too."""
    return run_apart(alocate(photo, **options))


async def alocate(
    photo: Photos, *, send: bool = False, sinks: Iterable[Sink] = (), **fields: Unpack[Options]
) -> LocateResult:
    """Find out where a photo was taken, or several photos of one place.

    Args:
        photo: a path, or several paths of photos that were taken at one place.
        send: photos may be sent to a model or an image search that is not on this machine.
        sinks: who gets the events as they happen; uncapped, whatever the granularity.
        fields: those of `LocateRequest` by their names. The most used are ``model`` ("ollama:qwen3-vl"; the detective
            on this machine, if left out), ``within`` (a country, a region, "S,W,N,E", "LAT,LON,KM" or a GeoJSON file),
            ``hint``, ``taken`` (text or a datetime), ``granularity``, ``method``, ``tools``, ``check``,
            ``force_answer``, ``usd`` and ``trajectory`` (a file that keeps every step). ``profile`` names a set-up,
            such as "twm", see `geosleuth.pipeline.profiles`; fields given beside it win.

    Raises:
        UserError: something must be mended; nothing has been sent.
    """
    request = _request(dict(fields))
    several = [photo] if isinstance(photo, str | os.PathLike) else list(photo)
    paths = [Path(one) for one in several]
    plan = make_plan(request, paths)
    photos = await asyncio.to_thread(open_photos, paths)
    similar = plan.similar_for(photos)
    _check_consent(plan, send=send)
    for remark in filter(None, (*plan.notes, plan.missing_tools)):
        warnings.warn(remark, stacklevel=2)
    await asyncio.to_thread(ensure_base)
    atlas = OfflineAtlas()
    async with AsyncExitStack() as held:
        plan = await plan.load(held, warnings.warn)
        held.enter_context(plan.announcing(warnings.warn))
        finding = await run_plan(plan, photos, atlas, similar=similar, keep_in=request.trajectory, sinks=sinks)
        return LocateResult.of(finding, await check_claim(finding, plan, atlas))


def _signature() -> inspect.Signature:
    """Return what `locate` takes, one parameter for each option, as help and editors show it."""
    usual = {one.name: one.default for one in dataclass_fields(LocateRequest)}
    usual |= {"profile": None, "send": False, "sinks": ()}
    hints = get_type_hints(LocateOptions)
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual[name], annotation=hints[name])
        for name in hints
    ]
    first = inspect.Parameter("photo", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Photos)
    return inspect.Signature([first, *named], return_annotation=LocateResult)


locate.__signature__ = _signature()  # type: ignore[attr-defined]
alocate.__signature__ = _signature()  # type: ignore[attr-defined]


def _request(fields: dict[str, Any]) -> LocateRequest:
    if for_commands := sorted(set(fields) & set(_FOR_COMMANDS)):
        raise BadInput(f"locate() has no option {', '.join(for_commands)}: it writes no files beside the trajectory")
    given = dict(fields)
    if (profile := given.pop("profile", None)) is not None:
        given = read_profile(profile).beside(given) | given
    if isinstance(taken := given.get("taken"), datetime):
        given["taken"] = taken.isoformat()
    for name in ("trajectory", "team", "mcp", "prompts"):
        if given.get(name) is not None:
            given[name] = Path(given[name])
    return with_default_model(LocateRequest.of(**given))


def _check_consent(plan: Plan, *, send: bool) -> None:
    sending, hosts = plan.sent_to
    if send or not (hosts or plan.borrowed):
        return
    lines = [consent_line(one) for one in sending]
    lines += [f"the image search sends the photo to {min(hosts)}"] if hosts and not sending else []
    lines += [plan.borrowed.consent] if plan.borrowed else []
    told = "; ".join(lines)
    raise BadInput(f"{told}; add send=True to allow it")
