"""One run in a process of the service: as the command does it, with live events."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from geosleuth.agent import Event, TrajectoryReader, read_trajectory
from geosleuth.agent.locate import Finding
from geosleuth.agent.trajectory import new_id
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.models.detective import Detective
from geosleuth.models.feedback import feedback_words
from geosleuth.photo import OpenedPhoto
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.result import rebuild_reasoning, result_document
from geosleuth.pipeline.run import ResumeFrom, run_plan
from geosleuth.pipeline.team import files_beside
from geosleuth.support.console import quiet_libraries
from geosleuth.support.errors import BadInput

from .finding_view import for_the_wire, result_view
from .records import request_from_dict
from .requests import check_consent, decode_rejected, locate_request, with_rejected
from .stream_events import EventTranslator, StreamItem
from .worker_tasks import Publish, open_run_photos

_STEP = 0.05


async def run_job(job: Mapping[str, Any], publish: Publish) -> dict[str, Any]:
    """Execute a run and store its trajectory; the result is on disk when this returns.

    Raises:
        GeosleuthError: the request is invalid, or the run failed.
    """
    with quiet_libraries():
        request = request_from_dict(job["request"])
        paths = [Path(item["path"]) for item in job["photos"]]
        keep_in = Path(job["keep_in"])
        rejected = decode_rejected(job["rejected"])
        plan = make_plan(locate_request(request, offline=job["offline"], rejected=rejected), paths)
        check_consent(plan, request.send_to)
        photos = await open_run_photos(job)
        resume_from, known = _load_resume_point(job, plan)
        for path in (keep_in, *files_beside(keep_in, plan.several)):
            path.unlink(missing_ok=True)
        async with AsyncExitStack() as held:
            plan = await plan.load(held)
            if plan.needs_atlas:
                await _prepare(publish)
            atlas = OfflineAtlas()
            publisher = _Publisher(plan, photos, publish)
            if resume_from is not None:
                publisher.catch_up(resume_from.trajectory.events, known)
            finding = await run_plan(
                plan,
                photos,
                atlas,
                similar=plan.searches.find_similar(photos),
                keep_in=keep_in,
                sinks=(publisher.event,),
                say=publisher.line,
                resume_from=resume_from,
            )
        publisher.close(finding)
        for path in (keep_in, *files_beside(keep_in, plan.several)):
            _settle(path)
        return _done(finding, plan)


def _done(finding: Finding, plan: Plan) -> dict[str, Any]:
    ended = finding.trajectory.ended
    failed = ended is not None and ended.reason == "service"
    trouble = ended.trouble if ended is not None and finding.granularity == "exact" else None
    view = result_view(finding, rebuild_reasoning(finding, plan))
    return {
        "failed": failed,
        "trouble": (trouble or "the model failed") if failed else None,
        "answer": short(view),
        "result": {"view": view, "result": for_the_wire(result_document(finding))},
    }


def short(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as lists of cases and runs show it."""
    answer = result["answer"]
    return {key: answer.get(key) for key in ("place", "lat", "lon", "radius_km", "probability", "area")}


def _load_resume_point(job: Mapping[str, Any], plan: Plan) -> tuple[ResumeFrom | None, int]:
    """Return what to resume, and how many of its events readers know; None if the run starts over.

    It starts over below ``exact``, where no text was stored to continue from, and with several agents.
    """
    parent = job.get("parent")
    if parent is None or plan.granularity != "exact" or plan.several is not None or not Path(parent).is_file():
        return None, 0
    with TrajectoryReader(Path(parent)) as reader:
        begun = next(iter(reader), None) is not None
    if not begun:
        return None, 0
    trajectory = read_trajectory(Path(parent))
    if trajectory.started.method != plan.method.name:
        return None, 0
    said = job["feedback"]
    area = plan.within.words if plan.within is not None and said["area"] else None
    rejected = decode_rejected(job["rejected"])
    words = feedback_words(rejected, hint=said["hint"], area=area)
    known = len(trajectory.events) if said["copied"] else 0
    began = replace(with_rejected(trajectory, rejected), id=new_id())
    return ResumeFrom(began, words, rejected.said), known


async def _prepare(publish: Publish) -> None:
    """Build the base atlas, once in the life of an installation, and say so: it takes half a minute."""
    shown = -1.0

    def progress(what: str, share: float) -> None:
        nonlocal shown
        if share >= shown + _STEP:
            shown = share
            publish(("state", {"state": "preparing", "what": what, "share": round(share, 2)}, time.time()))

    await asyncio.to_thread(ensure_base, progress)
    if shown >= 0:
        publish(("state", {"state": "running"}, time.time()))


class _Publisher:
    def __init__(self, plan: Plan, photos: Sequence[OpenedPhoto], publish: Publish) -> None:
        self._publish, self._name = publish, plan.policy.name
        self._translate = EventTranslator(
            granularity=plan.granularity,
            detective=plan.policy if isinstance(plan.policy, Detective) and plan.several is None else None,
            claims=[photo.claims for photo in photos],
        )
        self._capped = plan.granularity != "exact"
        self._lines = 0
        self._held_back: list[StreamItem] = []

    def catch_up(self, events: Sequence[Event], known: int) -> None:
        """Replay earlier events; readers already have the first part, which the service has copied."""
        for event in events:
            items = self._translate(event)
            if event.index >= known:
                self._put(items)

    def event(self, event: Event) -> None:
        """Publish an event as it happens."""
        items = self._translate(event)
        if self._capped:
            # The capped answer is known only once the run is over, and the end comes after it.
            self._held_back += [item for item in items if item[0] == "ended"]
            items = [item for item in items if item[0] != "ended"]
        self._put(items)

    def line(self, words: str) -> None:
        """Publish a line about one of several agents."""
        self._lines += 1
        self._put([("member", {"number": self._lines, "name": self._name, "words": words})])

    def close(self, finding: Finding) -> None:
        """Publish what had to wait."""
        self._put([*self._translate.closing(finding), *self._held_back])

    def _put(self, items: Sequence[StreamItem]) -> None:
        now = time.time()
        self._publish(*((kind, data, now) for kind, data in items))


def _settle(path: Path) -> None:
    if not path.is_file():
        return
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise BadInput(f"the trajectory can't be written: {error.strerror or error}") from error
