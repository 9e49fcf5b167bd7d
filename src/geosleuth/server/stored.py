"""Outputs of a stored run: its result, files and pictures, and a check against a claimed place."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from geosleuth.agent import Trajectory, read_trajectory, rebuild_album
from geosleuth.agent.locate import Finding, cap_finding, list_album_photos
from geosleuth.agent.replay import first_view_pixels
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo.extent import plain
from geosleuth.photo import encode
from geosleuth.photo.views import render
from geosleuth.pipeline.model_choice import DETECTIVE
from geosleuth.pipeline.outputs import build_entries
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.result import check_claim, rebuild_reasoning, result_document
from geosleuth.pipeline.team import try_file, verifier_file
from geosleuth.support.errors import BadInput

from .finding_view import for_the_wire, result_view
from .records import (
    BY_ENDING,
    FILES,
    JPEG_QUALITY,
    PACKAGE,
    PAGE,
    TRAJECTORY,
    NotThere,
    RunRequest,
    WrongState,
    request_from_dict,
)
from .requests import decode_rejected, locate_request
from .worker_tasks import open_run_photos


async def build_result(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run came to, or had come to when it was broken off: the document of ``locate --json``."""
    finding, _, _ = await _finding(details)
    return for_the_wire(result_document(finding))


async def build_view(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same as pages show it."""
    finding, plan, _ = await _finding(details)
    return dict(result_view(finding, None if plan is None else rebuild_reasoning(finding, plan)))


async def check_claimed_place(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run says about a claimed place."""
    finding, plan, atlas = await _finding(details, check=details["check"])
    # A model other than the detective left an answer to compare, and no reasoning.
    checked = await check_claim(finding, plan or _plan(details, RunRequest(), details["check"]), atlas)
    if checked is None:
        raise BadInput("no place was given to hold against the finding")
    return dict(plain(checked))


async def export_run(details: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return a run in one of the formats, with its media type."""
    wanted = str(details["format"])
    if wanted == TRAJECTORY:
        return {"media_type": "application/x-ndjson"}, _file(details).read_bytes()
    if wanted not in FILES:
        raise NotThere(f"there is no format {wanted[:40]!r}; there are {', '.join(FILES)}")
    finding, _, atlas = await _finding(details)
    if wanted in (PAGE, PACKAGE):
        from geosleuth.report import cut_pictures, report_html
        from geosleuth.report.evidence_package import evidence_package

        opened = await open_run_photos(details)
        shown = finding.best_attempt or finding.trajectory
        pictures = cut_pictures(
            shown, list_album_photos(opened, finding.trajectory.task), max_pixels=first_view_pixels(finding.trajectory)
        )
        page = await report_html(finding, atlas=atlas, pictures=pictures)
        if wanted == PACKAGE:
            return {"media_type": "application/zip"}, evidence_package(finding, page)
        return {"media_type": "text/html; charset=utf-8"}, _bytes(page)
    form = BY_ENDING[wanted]
    names = [Path(item["name"]).name or f"photo {item['number']}" for item in details["photos"]]
    photos = [(claims.sha256, Path(name)) for claims, name in zip(finding.claims, names, strict=True)]
    entries = build_entries(finding.trajectory, photos if form.many else photos[:1], finding.granularity)
    return {"media_type": form.media_type}, _bytes(form.render(entries))


async def render_picture(details: Mapping[str, Any]) -> bytes:
    """Return a picture that a run has shown so far, as JPEG."""
    trajectory = _trajectory(details)
    handle = str(details["handle"])
    image = next((item for item in trajectory.images if item.handle == handle), None)
    if image is None:
        raise NotThere(f"this run has no picture {handle[:40]!r}")
    own = list_album_photos(await open_run_photos(details), trajectory.task)
    if image.photo > len(own):
        rebuilt = await asyncio.to_thread(rebuild_album, trajectory, own, max_pixels=first_view_pixels(trajectory))
        if handle in rebuilt.missing:
            raise NotThere(f"{handle} is a map, which is not kept")
        return encode(rebuilt.album[handle], quality=JPEG_QUALITY)
    photo = own[image.photo - 1]
    left, top, right, bottom = image.box_in_original
    if not (0 <= left < right <= photo.size[0] and 0 <= top < bottom <= photo.size[1]):
        raise BadInput("the photos of this case are not those that the run began with")
    view = await asyncio.to_thread(render, photo, image.box_in_original, image.size)
    return encode(view, quality=JPEG_QUALITY)


async def _finding(details: Mapping[str, Any], check: str | None = None) -> tuple[Finding, Plan | None, OfflineAtlas]:
    """Return a stored run as a finding; the plan is the detective's, None for other policies."""
    trajectory, opened = _trajectory(details), await open_run_photos(details)
    request = request_from_dict(details["request"])
    by_detective = trajectory.started.policy == DETECTIVE and not _team(details)
    plan = _plan(details, request, check) if by_detective else None
    rebuilt = rebuild_album(
        trajectory, list_album_photos(opened, trajectory.task), max_pixels=first_view_pixels(trajectory)
    )
    atlas = OfflineAtlas()
    finding = Finding(
        trajectory,
        tuple(item.claims for item in opened),
        rebuilt.album if by_detective else None,
        team=_team(details),
        gave_way=_gave_way(details),
    )
    return await cap_finding(finding, request.granularity, OfflineGazetteer(atlas)), plan, atlas


def _plan(details: Mapping[str, Any], request: RunRequest, check: str | None) -> Plan:
    rejected = decode_rejected(details["rejected"])
    return make_plan(locate_request(replace(request, profile=None), offline=True, rejected=rejected, check=check), [])


def _file(details: Mapping[str, Any]) -> Path:
    path = Path(details["keep_in"])
    if not path.is_file():
        raise WrongState("this run has done nothing yet")
    return path


def _trajectory(details: Mapping[str, Any]) -> Trajectory:
    try:
        return read_trajectory(_file(details))
    except BadInput as error:
        if isinstance(error, WrongState):
            raise
        raise WrongState("this run has done nothing yet") from error


def _team(details: Mapping[str, Any]) -> tuple[Trajectory, ...]:
    path = Path(details["keep_in"])
    found: list[Trajectory] = []
    while (beside := try_file(path, len(found) + 1)).is_file():
        found.append(read_trajectory(beside))
    return tuple(found)


def _gave_way(details: Mapping[str, Any]) -> tuple[Trajectory, ...]:
    beside = verifier_file(Path(details["keep_in"]))
    return (read_trajectory(beside),) if beside.is_file() else ()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
