"""``geosleuth.locate`` for scripts and notebooks: the command's own way, with a `Finding` in place of words."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from geosleuth.agent import Sink
from geosleuth.agent.locating import Finding
from geosleuth.answer.granularity import Granularity
from geosleuth.app.locate_run import run_plan
from geosleuth.app.locate_setup import Plan, Wishes, plan_of, sent_to, similar_for
from geosleuth.app.locate_team import make_ready
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.errors import BadInput
from geosleuth.photo import open_photos
from geosleuth.policies import consent_line

Photos = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def locate(photo: Photos, **options: Any) -> Finding:
    """Find out where a photo was taken; takes what `alocate` takes, and works inside a running event loop too."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(alocate(photo, **options))
    # A notebook has a loop of its own, which can't be entered twice.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(alocate(photo, **options))).result()


async def alocate(
    photo: Photos,
    *,
    model: str | None = None,
    within: str | None = None,
    hint: str | None = None,
    taken: str | datetime | None = None,
    granularity: Granularity = "exact",
    trajectory: str | os.PathLike[str] | None = None,
    send: bool = False,
    sinks: Iterable[Sink] = (),
    **options: Any,
) -> Finding:
    """Find out where a photo was taken, or several photos of one place.

    Args:
        photo: a path, or several paths of photos that were taken at one place.
        model: who thinks, such as "ollama:qwen3-vl"; the detective on this machine, if left out.
        within: where the place must lie: a country, a region, "S,W,N,E", "LAT,LON,KM" or a GeoJSON file.
        hint: what is known about the photo.
        taken: when it was taken.
        granularity: the finding tells nothing finer than this.
        trajectory: keep every step in this file.
        send: photos may be sent to a model or an image search that is not on this machine.
        sinks: who gets the events as they happen; uncapped, whatever the granularity.
        options: the command's other options by their names, such as ``method``, ``tools``, ``force_answer``, ``usd``.

    Raises:
        UserError: something must be mended; nothing has been sent.
    """
    several = [photo] if isinstance(photo, str | os.PathLike) else list(photo)
    paths = [Path(one) for one in several]
    unknown = set(options) - set(Wishes.__slots__) | {
        "out",
        "overwrite",
        "write_exif",
        "sidecars",
        "check",
        "yes",
    } & set(options)
    if unknown:
        raise BadInput(f"locate() has no option {', '.join(sorted(unknown))}")
    when = taken.isoformat() if isinstance(taken, datetime) else taken
    wishes = Wishes(model=model, within=within, hint=hint, taken=when, granularity=granularity, **options)
    plan = plan_of(wishes, paths)
    photos = await asyncio.to_thread(open_photos, paths)
    similar = similar_for(plan, photos)
    _check_leave(plan, send=send)
    await asyncio.to_thread(ensure_base)
    atlas = OfflineAtlas()
    async with AsyncExitStack() as held:
        await make_ready(plan, held)
        keep_in = None if trajectory is None else Path(trajectory)
        return await run_plan(plan, photos, plan.maps or atlas, atlas, similar=similar, keep_in=keep_in, sinks=sinks)


def _check_leave(plan: Plan, *, send: bool) -> None:
    sending, hosts = sent_to(plan)
    if send or not (hosts or plan.borrowed):
        return
    lines = [consent_line(one) for one in sending]
    lines += [f"the image search sends the photo to {min(hosts)}"] if hosts and not sending else []
    lines += [plan.borrowed.consent] if plan.borrowed else []
    told = "; ".join(lines)
    raise BadInput(f"{told}; add send=True to allow it")
