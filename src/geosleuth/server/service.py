"""The case service behind the page, the API and scripts."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from geosleuth.geo import is_valid
from geosleuth.support.errors import BadInput

from .database import CaseStore, new_id
from .frames import DiskFull
from .intake import Folders, Intake
from .jobs import EventFeed, Jobs
from .maps import Maps
from .processes import TaskPool
from .records import (
    CaseRow,
    Feedback,
    NotThere,
    PhotoRow,
    RunRequest,
    RunRow,
    RunSettings,
    ServiceLimits,
    StreamEvent,
    TooMany,
    WrongState,
    export_name,
    line,
    request_to_dict,
    share_of_memory,
    text,
)
from .requests import add_feedback, coarsen_granularity, fill_from_settings
from .setup import Setup
from .video import Videos

Keys = Callable[[], Mapping[str, str]]
"""Returns the services' keys by environment variable, whenever a run begins; may be slow."""

HELPERS = 2

_NOT_COPIED = ("state", "ended")
_SEEN = "setup_seen"
_NO_WORDS: dict[str, Any] = {"hint": None, "area": False, "copied": False}


def _set_up() -> dict[str, Any]:
    """Return the settings that follow from ``geosleuth setup``: a configured model is used by default."""
    from geosleuth.pipeline.defaults import read_defaults

    found = read_defaults()
    told = {} if found.model is None else {"model": found.model, "base_url": found.base_url}
    return told if found.on_disk else {**told, "offline": False}


class CaseService:
    """Cases, photos and runs in one folder; use it as ``async with await CaseService.open(folder) as service``.

    One process at a time works on a folder. Everything here is called from the event loop that opened it.
    """

    def __init__(
        self, folder: Path, *, workers: int, limits: ServiceLimits, keys: Keys, profile: str | None = None
    ) -> None:
        """Use `open`."""
        self.limits = limits
        self._keys = keys
        self._profile = profile
        self._folders = Folders(folder)
        self._store = CaseStore(self._folders.database)
        self._feed = EventFeed(self._store)
        memory_bytes = share_of_memory(workers) if limits.run_bytes is None else limits.run_bytes
        self._jobs = Jobs(
            self._feed, self._build_job, workers=workers, cancel_s=limits.cancel_s, memory_bytes=memory_bytes
        )
        self._intake = Intake(self._store, self._folders, limits)
        self._videos = Videos(self._store, self._folders, self._intake, limits)
        self._helpers = TaskPool("helps", HELPERS, seconds=limits.asking_s, memory_bytes=memory_bytes)
        self._settings = RunSettings()
        self.maps = Maps()
        self.setup = Setup(keys)
        self._starting: list[asyncio.Task[None]] = []

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        workers: int = 1,
        limits: ServiceLimits | None = None,
        keys: Keys = dict,
        profile: str | None = None,
    ) -> "CaseService":
        """Open a service, creating it if needed; queued runs stay queued, running ones become interrupted.

        Args:
            folder: everything that the service stores.
            workers: how many runs are processed at once.
            limits: the largest inputs.
            keys: called for the keys of services at the start of each run.
            profile: the set-up of every run that names none, see `geosleuth.pipeline.profiles`.

        Raises:
            BadInput: another process uses this folder, or it can't be used.
        """
        service = cls(folder, workers=max(1, workers), limits=limits or ServiceLimits(), keys=keys, profile=profile)
        await asyncio.to_thread(service._folders.make)
        await service._store.open()
        try:
            await service._recover()
        except BaseException:
            await service.close()
            raise
        return service

    async def _recover(self) -> None:
        kept = await self._store.settings()
        if "model" not in kept:
            kept = {**kept, **await asyncio.to_thread(_set_up)}
        self._settings = replace(self._settings, **{k: v for k, v in kept.items() if k in RunSettings.__slots__})
        await asyncio.to_thread(self._folders.sweep, await self._store.photos(), await self._store.run_ids())
        for row in await self._store.in_state("running"):
            trouble = "geosleuth stopped during this run; continue it, or start again"
            # If the disk is full, the next request for the run settles it.
            with suppress(DiskFull):
                await self._feed.set_state(row.id, "interrupted", trouble=trouble)
        self._jobs.begin()
        for row in await self._store.in_state("queued"):
            await self._jobs.put(row.id)
        await self.sweep()
        self._starting = [asyncio.create_task(pool.ready()) for pool in (self._intake, self._helpers)]

    async def __aenter__(self) -> "CaseService":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End all processes and release the folder; interrupted runs can be continued later."""
        await asyncio.gather(*self._starting, return_exceptions=True)
        await self._jobs.close()
        await asyncio.gather(
            self._intake.end(), self._videos.end(), self._helpers.end(), self.maps.end(), self.setup.end()
        )
        self._feed.end_all()
        await self._store.close()

    # Settings.

    @property
    def settings(self) -> RunSettings:
        """The settings for all new runs."""
        return self._settings

    async def change_settings(self, **changes: Any) -> RunSettings:
        """Change some settings, by the names of `RunSettings`.

        Raises:
            BadInput: unknown setting.
        """
        known = {field.name for field in fields(RunSettings)}
        if unknown := changes.keys() - known:
            raise BadInput(f"there is no setting {min(unknown)[:40]!r}; there are {', '.join(sorted(known))}")
        changed = replace(self._settings, **changes)
        await self._store.store_settings(changes)
        self._settings = changed
        await self.sweep()
        return changed

    async def setup_wanted(self) -> bool:
        """Return whether the user has neither chosen a model yet nor said that none is wanted."""
        from geosleuth.pipeline.defaults import config_file

        kept = await self._store.settings()
        return "model" not in kept and _SEEN not in kept and not await asyncio.to_thread(config_file().exists)

    async def dismiss_setup(self) -> None:
        """Do not offer the set-up by itself again."""
        await self._store.store_settings({_SEEN: True})

    async def set_default_model(self, model: str | None, base_url: str | None) -> RunSettings:
        """Make a model the default of the page, the command and all else; None is the detective.

        Raises:
            BadInput: there is no such model, or the default can't be kept.
        """
        from geosleuth.pipeline.defaults import Defaults, write_defaults

        if model is not None:
            await self.setup.check(model, base_url)
        await asyncio.to_thread(write_defaults, Defaults(model, base_url if model is not None else None))
        chosen = await asyncio.to_thread(_set_up)
        # What the settings said before gives way, now and whenever the default changes.
        await self._store.forget_settings(("model", "base_url"))
        await self._store.store_settings({_SEEN: True, **{k: v for k, v in chosen.items() if k == "offline"}})
        self._settings = replace(self._settings, **{"model": None, "base_url": None, **chosen})
        return self._settings

    async def sweep(self) -> int:
        """Delete cases older than the settings allow; return how many."""
        days = self._settings.retention_days
        if days is None:
            return 0
        old = await self._store.find_unchanged_cases(time.time() - days * 86_400)
        for case_id in old:
            await self.delete_case(case_id)
        return len(old)

    async def disk_bytes(self) -> int:
        """Return what all cases take on the disk."""
        return await asyncio.to_thread(self._folders.size_bytes)

    async def _check_quota(self) -> None:
        """Refuse to take in more than the settings allow; what is there is never deleted for that."""
        quota_mb = self._settings.quota_mb
        if quota_mb is None:
            return
        used_mb = await self.disk_bytes() / 1e6
        if used_mb >= quota_mb:
            raise TooMany(
                f"the cases take {used_mb:,.0f} MB of the {quota_mb:,} MB that they may; delete some, or set a higher "
                "quota in the settings"
            )

    async def wipe(self) -> int:
        """Delete all cases, their photos and runs; return how many. Settings stay."""
        count = 0
        while rows := await self._store.cases("", 1000, None):
            for row in rows:
                with suppress(NotThere):
                    await self.delete_case(row.id)
                    count += 1
        return count

    # Cases.

    async def new_case(self, title: str = "", notes: str = "") -> CaseRow:
        """Return a new case.

        Raises:
            BadInput: the words are too long.
            TooMany: the service is full.
        """
        words = line(title, self.limits.title_characters, "title"), text(notes, self.limits.notes_characters, "notes")
        made = await self._store.add_case(*words, most=self.limits.cases)
        if made is None:
            raise TooMany(f"the service holds {self.limits.cases:,} cases; delete some first")
        return made

    async def cases(self, *, query: str = "", limit: int = 50, before: str | None = None) -> list[CaseRow]:
        """Return cases, newest first: those whose title, notes or found places hold every word of the query.

        Args:
            query: words, or parts of words.
            limit: so many at most.
            before: the id of the last case of the page before.
        """
        rows = await self._store.cases(text(query, 1000, "query"), max(1, min(limit, 1000)), before)
        return [self._add_queue_places(row) for row in rows]

    async def case(self, case_id: str) -> CaseRow:
        """Return a case.

        Raises:
            NotThere: there is no such case or run.
        """
        return self._add_queue_places(await self._store.case(case_id))

    def _add_queue_places(self, row: CaseRow) -> CaseRow:
        return replace(row, runs=tuple(self._with_position(run) for run in row.runs))

    def _with_position(self, row: RunRow) -> RunRow:
        return replace(row, position=self._jobs.position(row.id)) if row.state == "queued" else row

    async def change_case(self, case_id: str, *, title: str | None = None, notes: str | None = None) -> CaseRow:
        """Change the title or the notes.

        Raises:
            BadInput: the words are too long.
            NotThere: there is no such case.
        """
        title = None if title is None else line(title, self.limits.title_characters, "title")
        notes = None if notes is None else text(notes, self.limits.notes_characters, "notes")
        await self._store.case(case_id)
        return self._add_queue_places(await self._store.change_case(case_id, title, notes))

    async def delete_case(self, case_id: str) -> None:
        """Delete a case, its photos and its runs; nothing of them stays in the folder.

        Raises:
            NotThere: there is no such case.
        """
        for run in (await self._store.case(case_id)).runs:
            await self._jobs.cancel(run.id)
        # Runs started meanwhile too: none may work on a deleted case, or write its files again.
        for run_id in await self._store.delete_case(case_id):
            await self._jobs.cancel(run_id)
        await asyncio.to_thread(self._folders.remove_case, case_id)

    # Photos.

    async def add_photo(self, case_id: str, name: str, data: AsyncIterator[bytes]) -> PhotoRow:
        """Add a photo: its bytes go straight to disk, and another process opens it.

        Raises:
            NotThere: there is no such case.
            TooLarge: the file is larger than allowed.
            TooMany: the case has the most photos allowed, or all cases take the disk that they may.
            BadInput: not a photo, or it can't be opened within the limits.
        """
        await self._check_quota()
        return await self._intake.add(case_id, name, data)

    async def add_video(self, case_id: str, name: str, data: AsyncIterator[bytes]) -> list[dict[str, Any]]:
        """Look through a video, and make its telling frames the photos of an empty case; return what `videos` does.

        Raises:
            NotThere: there is no such case.
            WrongState: the case has photos.
            TooLarge: the file is larger than allowed.
            TooMany: others come in already, or all cases take the disk that they may.
            BadInput: not a video, or it can't be read within the limits.
        """
        await self._check_quota()
        await self._videos.add(case_id, name, data)
        return await self.videos(case_id)

    async def videos(self, case_id: str) -> list[dict[str, Any]]:
        """Return the videos of a case: their places, when each is shown, its frames, and the run that locates it.

        Raises:
            NotThere: there is no such case.
        """
        exact = self._settings.granularity == "exact"
        return await self._videos.of_case(await self._store.case(case_id), exact=exact)

    async def delete_photo(self, case_id: str, number: int) -> None:
        """Delete a photo that no run has looked at.

        Raises:
            NotThere: there is no such photo.
            WrongState: a run has looked at it.
        """
        await self._intake.delete(case_id, number)

    async def photo_jpeg(self, case_id: str, number: int, *, most_px: int) -> bytes:
        """Return a photo's pixels as JPEG, its longest side at most so many pixels; no metadata is in it.

        Raises:
            NotThere: there is no such photo.
        """
        return await self._intake.jpeg(case_id, number, most_px=most_px)

    async def stand(
        self, case_id: str, number: int, marks: Sequence[Mapping[str, float]], fov_deg: float | None
    ) -> dict[str, Any]:
        """Return where the camera of a photo stood, from marks with a column of the photo (0 to 1), lat and lon.

        Raises:
            NotThere: there is no such photo.
            BadInput: no place fits the marks, or places may not be told so finely.
        """
        finest = self._settings.granularity
        if finest != "exact":
            raise BadInput(f"places are told no finer than {finest}; where a camera stood is finer")
        photo = await self._photo(case_id, number)
        made, _ = await self._helpers.work("stand", {"photos": [photo], "marks": list(marks), "fov": fov_deg})
        return made

    async def read(self, case_id: str, number: int, box: Sequence[float]) -> dict[str, Any]:
        """Return the lines of text in a part of a photo: left, top, right, bottom in shares of it.

        Raises:
            NotThere: there is no such photo.
            BadInput: the part is too small, or what photos say may not be told.
        """
        if self._settings.granularity != "exact":
            raise BadInput(f"places are told no finer than {self._settings.granularity}; what signs say may be finer")
        made, _ = await self._helpers.work("read", {"photos": [await self._photo(case_id, number)], "box": list(box)})
        return made

    async def shadows(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what shadows tell, see `geosleuth.tools.shadows`; ``asked`` has the fields of its question.

        Raises:
            BadInput: values that can't be.
        """
        made, _ = await self._helpers.work("shadows", asked)
        return made

    async def picture_of_file(self, path: Path, *, most_px: int) -> bytes:
        """Return a photo of this machine's user as JPEG, opened in another process; no metadata is in it.

        Raises:
            BadInput: it can't be opened.
        """
        _, made = await self._helpers.work("show_photo", {"path": str(path), "most_px": most_px})
        return made

    async def places(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return places of the offline atlas that a query may mean, or what a point is called."""
        made, _ = await self._helpers.work("places", asked)
        return made

    async def _photo(self, case_id: str, number: int) -> dict[str, Any]:
        names = {photo.number: photo.name for photo in (await self._store.case(case_id)).photos}
        if number not in names:
            raise NotThere(f"this case has no photo {number}")
        return {"number": number, "path": str(self._folders.photo(case_id, number)), "name": names[number]}

    # Runs.

    async def start(self, case_id: str, request: RunRequest, photos: Sequence[int] | None = None) -> RunRow:
        """Queue a run on some photos of a case, or on all.

        The request is checked first, and nothing has been sent when this returns.

        Raises:
            NotThere: there is no such case.
            BadInput: the request is invalid, or the case has no photo.
            NeedsConsent: photos would go to a host without consent.
            TooMany: the queue is full.
        """
        case = await self._store.case(case_id)
        if not case.photos:
            raise BadInput("the case has no photo yet; add one first")
        there = [photo.number for photo in case.photos]
        if missing := sorted(set(photos or ()) - set(there)):
            raise BadInput(f"this case has no photo {missing[0]}")
        await self._check_quota()
        wanted = fill_from_settings(replace(request, profile=request.profile or self._profile), self._settings)
        row = RunRow(
            new_id(), case_id, None, "queued", wanted, wanted.granularity,
            tuple(number for number in there if photos is None or number in photos), datetime.now(UTC),
        )  # fmt: skip
        return await self._enqueue(row)

    async def continue_run(self, run_id: str, feedback: Feedback) -> RunRow:
        """Queue a new run that continues a finished one with a person's feedback; the old run stays unchanged.

        Raises:
            NotThere: there is no such run, or it has no such clue or candidate.
            WrongState: it is still active.
            BadInput, NeedsConsent, TooMany: as for `start`.
        """
        parent = await self._over(run_id)
        events = await self._all_events(run_id)
        wanted = fill_from_settings(add_feedback(parent.request, feedback), self._settings)
        row = RunRow(
            new_id(), parent.case, run_id, "queued", wanted, wanted.granularity, parent.photos, datetime.now(UTC),
            rejected=await self._build_rejected(parent, feedback, events),
        )  # fmt: skip
        # Capped runs, and those of several agents, start over: see `runner`.
        continues = wanted.granularity == parent.granularity == "exact" and wanted.parallel == 1 and not wanted.verifier
        copied = [event for event in events if event.kind not in _NOT_COPIED] if continues else []
        area = feedback.area is not None or feedback.within is not None
        said = {"hint": feedback.hint, "area": area, "copied": bool(copied)}
        return await self._enqueue(row, said, [replace(one, id=at) for at, one in enumerate(copied)])

    async def _build_rejected(self, parent: RunRow, feedback: Feedback, events: list[StreamEvent]) -> dict[str, Any]:
        candidates = [event.data for event in events if event.kind == "candidate"]
        answers = [event.data for event in events if event.kind == "answer"]
        # A model's clues come with its answer, and are in the result alone.
        view = (await self._store.result(parent.id) or {}).get("view", {})
        order = {
            "before": parent.rejected,
            "clues": [clue for event in events if event.kind == "clues" for clue in event.data["clues"]]
            + view.get("clues", []),
            "candidates": candidates + [rival for answer in answers for rival in answer["candidates"]],
            "reject_clues": list(feedback.reject_clues),
            "reject_candidates": list(feedback.reject_candidates),
            "reject_texts": list(feedback.reject_texts),
            "readings": [dict(reading) for reading in feedback.readings],
        }
        made, _ = await self._helpers.work("reject", order)
        return made

    async def _all_events(self, run_id: str) -> list[StreamEvent]:
        return [event async for batch in self._feed.watch(run_id, -1) for event in batch]

    async def _enqueue(
        self, row: RunRow, said: Mapping[str, Any] = _NO_WORDS, copied: Sequence[StreamEvent] = ()
    ) -> RunRow:
        if self._jobs.waiting >= self.limits.waiting_runs:
            raise TooMany(f"{self.limits.waiting_runs} runs wait already; let some end first")
        await self._helpers.work("check_words", await self._order(row))
        made = await self._store.add_run(row, said, copied)
        await self._jobs.put(made.id)
        return self._with_position(made)

    async def _order(self, row: RunRow) -> dict[str, Any]:
        """Return what a process needs to work on a run; keys stay in memory."""
        return {**await self._reference(row), "keys": dict(await asyncio.to_thread(self._keys))}

    async def _reference(self, row: RunRow) -> dict[str, Any]:
        names = {photo.number: photo.name for photo in (await self._store.case(row.case)).photos}
        return {
            "photos": [
                {"number": number, "path": str(self._folders.photo(row.case, number)), "name": names.get(number, "")}
                for number in row.photos
            ],
            "request": request_to_dict(row.request),
            "rejected": row.rejected,
            "offline": self._settings.offline,
            "keep_in": str(self._folders.trajectory(row.case, row.id)),
        }

    async def _build_job(self, row: RunRow) -> Mapping[str, Any]:
        if coarsen_granularity(row.granularity, self._settings.granularity) != row.granularity:
            raise BadInput("the granularity cap was made coarser while this run waited; start it again")
        parent = None if row.parent is None else str(self._folders.trajectory(row.case, row.parent))
        return {**await self._order(row), "parent": parent, "feedback": await self._store.said(row.id)}

    async def cancel(self, run_id: str) -> RunRow:
        """Cancel a run; when this returns, no process works on it. A finished run stays as it is.

        Raises:
            NotThere: there is no such run.
        """
        await self._store.run(run_id)
        await self._jobs.cancel(run_id)
        if (await self._store.run(run_id)).active:
            await self._jobs.settle(run_id)
        return await self.run(run_id)

    async def run(self, run_id: str) -> RunRow:
        """Return a run.

        Raises:
            NotThere: there is no such case or run.
        """
        return self._with_position(await self._store.run(run_id))

    async def delete_run(self, run_id: str) -> None:
        """Delete a run, cancelling it first if it is active; runs that continued it stay.

        Raises:
            NotThere: there is no such run.
        """
        row = await self._store.run(run_id)
        await self._jobs.cancel(run_id)
        await self._store.delete_run(run_id)
        await asyncio.to_thread(self._folders.remove_run, row.case, run_id)

    async def watch(self, run_id: str, *, after: int = -1) -> AsyncIterator[StreamEvent]:
        """Yield a run's events after an id, then new ones as they happen; ends after the run's last.

        A slow reader delays no other, and finds what it missed when it asks.

        Raises:
            NotThere: there is no such run.
        """
        await self._store.run(run_id)
        async for batch in self._feed.watch(run_id, after):
            for event in batch:
                yield event

    async def result(self, run_id: str) -> dict[str, Any]:
        """Return the result of a run, finished or stopped early: the document of ``locate --json``.

        Raises:
            NotThere: there is no such run.
            WrongState: it is still active, or did nothing.
        """
        return await self._get_document("result", run_id)

    async def view(self, run_id: str) -> dict[str, Any]:
        """Return the same as pages show it; see `finding_view.result_view`.

        Raises:
            NotThere: there is no such run.
            WrongState: it is still active, or did nothing.
        """
        return await self._get_document("view", run_id)

    async def _get_document(self, form: Literal["result", "view"], run_id: str) -> dict[str, Any]:
        row = await self._over(run_id)
        kept = await self._store.result(run_id) or {}
        if form in kept:
            return dict(kept[form])
        made, _ = await self._helpers.work(form, await self._reading(row))
        return made

    async def file(self, run_id: str, format: str) -> tuple[bytes, str, str]:  # noqa: A002  (the word for it)
        """Return a run as a file: its content, its media type and a name for it; `FILES` lists the formats.

        Raises:
            NotThere: there is no such run, or no such format.
            WrongState: the run is still active, or did nothing.
        """
        row = await self._over(run_id)
        found, data = await self._helpers.work("file", {**await self._reading(row), "format": format})
        return data, str(found["media_type"]), f"{await self._file_name(row)}.{format}"

    async def _file_name(self, row: RunRow) -> str:
        """Return the file name for a run; below ``exact`` it reveals no name of a photo or case."""
        if row.granularity != "exact":
            return export_name("photo-1")
        case = await self._store.case(row.case)
        photos = [photo.name for photo in case.photos if photo.number in row.photos]
        stems = [Path(name).stem for name in photos]
        return export_name(*stems, case.title) if len(stems) == 1 else export_name(case.title, *stems)

    async def picture(self, run_id: str, handle: str) -> bytes:
        """Return a picture that a run has shown so far, by its handle, as JPEG.

        Raises:
            NotThere: there is no such run, or no such picture.
        """
        row = await self._store.run(run_id)
        _, data = await self._helpers.work("picture", {**await self._reading(row), "handle": handle})
        return data

    async def check(self, run_id: str, lat: float, lon: float) -> dict[str, Any]:
        """Return what a run says about a claimed place; see `locate_check.Checked`.

        Raises:
            NotThere: there is no such run.
            WrongState: it is still active, or did nothing.
            BadInput: the coordinates are out of range.
        """
        if not is_valid(lat, lon):
            raise BadInput("not a point: latitudes go from -90 to 90, longitudes from -180 to 180")
        row = await self._over(run_id)
        made, _ = await self._helpers.work("check", {**await self._reading(row), "check": f"{lat:.7f},{lon:.7f}"})
        return made

    async def compare(self, left: str, right: str) -> dict[str, Any]:
        """Return what differs between two runs; see `finding_view.compare_view`.

        Raises:
            NotThere: there is no such run.
            WrongState: one of them is still active, or did nothing.
        """
        order = {"left": await self.view(left), "right": await self.view(right)}
        made, _ = await self._helpers.work("compare", order)
        return made

    async def _over(self, run_id: str) -> RunRow:
        row = await self._store.run(run_id)
        if row.active:
            await self._jobs.settle(run_id)
            row = await self._store.run(run_id)
        if row.active:
            raise WrongState("this run is not over yet; wait for its end, or cancel it")
        return row

    async def _reading(self, row: RunRow) -> dict[str, Any]:
        """Return what a process needs to read a stored run; it calls no service, so it needs no key."""
        return {**await self._reference(row), "keys": {}}
