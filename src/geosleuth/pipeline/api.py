"""``geosleuth.locate`` for scripts and notebooks."""

import asyncio
import os
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from geosleuth.agent import Sink
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.errors import BadInput
from geosleuth.photo import open_photos
from geosleuth.policies import consent_line

from .defaults import with_default_model
from .plan import Plan, make_plan
from .request import LocateRequest
from .result import LocateResult, check_claim
from .run import run_plan

_FOR_COMMANDS = ("out", "overwrite", "write_exif", "sidecars", "yes")

Photos = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def locate(photo: Photos, **options: Any) -> LocateResult:
    """Find out where a photo was taken; takes what `alocate` takes, and works inside a running event loop too."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(alocate(photo, **options))
    # A notebook has a loop of its own, which can't be entered twice.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(alocate(photo, **options))).result()


async def alocate(photo: Photos, *, send: bool = False, sinks: Iterable[Sink] = (), **fields: Any) -> LocateResult:
    """Find out where a photo was taken, or several photos of one place.

    Args:
        photo: a path, or several paths of photos that were taken at one place.
        send: photos may be sent to a model or an image search that is not on this machine.
        sinks: who gets the events as they happen; uncapped, whatever the granularity.
        fields: those of `LocateRequest` by their names. The most used are ``model`` ("ollama:qwen3-vl"; the detective
            on this machine, if left out), ``within`` (a country, a region, "S,W,N,E", "LAT,LON,KM" or a GeoJSON file),
            ``hint``, ``taken`` (text or a datetime), ``granularity``, ``method``, ``tools``, ``check``,
            ``force_answer``, ``usd`` and ``trajectory`` (a file that keeps every step).

    Raises:
        UserError: something must be mended; nothing has been sent.
    """
    request = _request(fields)
    several = [photo] if isinstance(photo, str | os.PathLike) else list(photo)
    paths = [Path(one) for one in several]
    plan = make_plan(request, paths)
    photos = await asyncio.to_thread(open_photos, paths)
    similar = plan.similar_for(photos)
    _check_consent(plan, send=send)
    await asyncio.to_thread(ensure_base)
    atlas = OfflineAtlas()
    async with AsyncExitStack() as held:
        await plan.load(held)
        held.enter_context(plan.announcing(warnings.warn))
        finding = await run_plan(plan, photos, atlas, similar=similar, keep_in=request.trajectory, sinks=sinks)
        return LocateResult.of(finding, await check_claim(finding, plan, atlas))


def _request(fields: dict[str, Any]) -> LocateRequest:
    if for_commands := sorted(set(fields) & set(_FOR_COMMANDS)):
        raise BadInput(f"locate() has no option {', '.join(for_commands)}: it writes no files beside the trajectory")
    given = dict(fields)
    if isinstance(taken := given.get("taken"), datetime):
        given["taken"] = taken.isoformat()
    for name in ("trajectory", "team", "mcp"):
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
