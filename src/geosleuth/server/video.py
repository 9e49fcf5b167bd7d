"""Videos that come in: looked through by processes that may break; their telling frames become photos of a case.

The clip itself is not kept. Each place that it shows is worked on by a run of its own, on the photos of that place.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from geosleuth.answer import Answer
from geosleuth.geo import LatLon

from .database import CaseStore
from .frames import disk_full_errors
from .intake import Folders, Intake
from .processes import TaskPool
from .records import CaseRow, RunRow, ServiceLimits, TooMany, WrongState, file_name

_AT_ONCE = 2
_READING_S = 600.0


class Videos:
    """Takes videos in, and says what they show."""

    def __init__(self, store: CaseStore, folders: Folders, intake: Intake, limits: ServiceLimits) -> None:
        self._store, self._folders, self._intake, self._limits = store, folders, intake, limits
        self._coming = 0
        self._reader = TaskPool("helps", 1, seconds=limits.video.wall_s + _READING_S)

    async def end(self) -> None:
        """End the process that reads videos."""
        await self._reader.end()

    async def add(self, case_id: str, name: str, data: AsyncIterator[bytes]) -> None:
        """See `CaseService.add_video`."""
        if (await self._store.case(case_id)).photos:
            raise WrongState("a video has a case of its own; make another case")
        if self._coming >= _AT_ONCE:
            raise TooMany(f"{_AT_ONCE} videos are coming in already; send this one again in a moment")
        self._coming += 1
        part = self._folders.part(case_id)
        try:
            with disk_full_errors():
                await asyncio.to_thread(self._folders.make_case, case_id)
                await self._intake.receive(data, part, self._limits.video.max_bytes, "video")
                order = {"path": str(part), "limits": asdict(self._limits.video)}
                found, blob = await self._reader.work("read_video", order)
                await self._store_video(case_id, file_name(name), found, blob)
        finally:
            self._coming -= 1
            part.unlink(missing_ok=True)

    async def _store_video(self, case_id: str, name: str, found: Mapping[str, Any], blob: bytes) -> None:
        from geosleuth.photo.video import clock

        added: list[int] = []
        at = 0
        try:
            for place in found["places"]:
                for frame in place["frames"]:
                    end = at + frame.pop("bytes")
                    called = f"{name or 'video'} {clock(frame['seconds'])}"
                    frame["photo"] = (await self._intake.add(case_id, called, _stream_bytes(blob[at:end]))).number
                    added.append(frame["photo"])
                    at = end
            await self._store.add_video(case_id, {**found, "name": name})
        except BaseException:
            for number in added:
                with suppress(Exception):
                    await self._intake.delete(case_id, number)
            raise

    async def of_case(self, case: CaseRow, *, exact: bool) -> list[dict[str, Any]]:
        """Return the videos of a case with their places; those that runs located as one are one place.

        What signs say is left out unless everything may be told.
        """
        videos = await self._store.videos(case.id)
        return [{**video, "places": merge_places(video["places"], case.runs, exact=exact)} for video in videos]


async def _stream_bytes(data: bytes) -> AsyncIterator[bytes]:
    yield data


def merge_places(
    places: Sequence[Mapping[str, Any]], runs: Sequence[RunRow], *, exact: bool = True
) -> list[dict[str, Any]]:
    """Return places, each with the newest run on its photos; where two were located as one, the finer run stands."""
    from geosleuth.pipeline.video import compute_rank, is_same

    kept: list[tuple[dict[str, Any], Answer]] = []
    for place in places:
        photos = {frame["photo"] for frame in place["frames"]}
        run = next((item for item in reversed(runs) if set(item.photos) == photos), None)
        frames = [{**frame, "reads": frame["reads"] if exact else []} for frame in place["frames"]]
        now = {"spans": place["spans"], "frames": frames, "run": None if run is None else run.id}
        answer = _build_answer(run)
        at = next((at for at, (_, known) in enumerate(kept) if is_same(known, answer)), None)
        if at is None:
            kept.append((now, answer))
            continue
        (item, first), better = kept[at], min(kept[at][1], answer, key=compute_rank)
        kept[at] = (
            {
                "spans": sorted([*item["spans"], *now["spans"]]),
                "frames": sorted([*item["frames"], *frames], key=lambda frame: float(frame["seconds"])),
                "run": item["run"] if better is first else now["run"],
            },
            better,
        )
    return [place for place, _ in kept]


def _build_answer(run: RunRow | None) -> Answer:
    told = (run.answer if run is not None else None) or {}
    lat, lon = told.get("lat"), told.get("lon")
    point = None if lat is None or lon is None else LatLon(lat, lon)
    return Answer(point, radius_km=told.get("radius_km"), probability=told.get("probability"))


def analyze_clip(details: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return what a clip shows, and its telling frames one after the other.

    Raises:
        BadInput: it can't be read.
    """
    from geosleuth.photo.video import places_shown, read_clip
    from geosleuth.photo.video_limits import VideoLimits

    clip = read_clip(Path(details["path"]), VideoLimits(**details["limits"]), name="the video")
    shown = places_shown(clip)
    return {
        "seconds": clip.seconds,
        "width": clip.size_px[0],
        "height": clip.size_px[1],
        "scenes": len(clip.scenes),
        "sha256": clip.sha256,
        "notes": list(clip.notes),
        "places": [
            {
                "spans": [list(span) for span in place.spans],
                "frames": [
                    {"seconds": frame.seconds, "bytes": len(frame.jpeg), "reads": list(frame.reads)}
                    for frame in place.frames
                ],
            }
            for place in shown
        ],
    }, b"".join(frame.jpeg for place in shown for frame in place.frames)
