"""Find, download and import maps by place name, in a worker process.

Every request must repeat the name of the map server as consent to contact it; a download must also repeat the size that
the page showed.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from geosleuth.support.errors import BadInput, GeosleuthError

from .frames import DiskFull
from .processes import Gone, News, OutOfMemory, WorkerProcess
from .records import NeedsConsent, WrongState
from .shapes import StrictView

MapState = Literal["downloading", "importing", "done", "failed", "cancelled"]
NAME_CHARACTERS = 120
_PROGRESS_INTERVAL_S = 0.2


class MapOfferShown(StrictView):
    """A map that can be downloaded: bytes to download, bytes on disk afterwards, seconds to import."""

    # ``name`` is the region's in the atlas, ``title`` says what the file covers. ``day`` is the date of its data, if
    # known, ``there`` that of the data on this machine, if there are any; ``up_to_date``: they are the same.
    place: str
    name: str
    title: str
    host: str
    size_bytes: int
    disk_bytes: int
    seconds: float
    day: str | None
    there: str | None
    up_to_date: bool


class MapJobShown(StrictView):
    """The current or most recent download."""

    place: str
    host: str
    size_bytes: int
    state: MapState
    # Of the current step, from 0 to 1, and what the importer calls it.
    share: float
    what: str
    trouble: str | None

    @property
    def active(self) -> bool:
        """Return whether the job is still running."""
        return self.state in ("downloading", "importing")


class Maps:
    """Fetch one map at a time, from one host, and only after the caller has named that host."""

    def __init__(self) -> None:
        self._worker = WorkerProcess("helps")
        self._task: asyncio.Task[None] | None = None
        self._asking = asyncio.Lock()
        self.job: MapJobShown | None = None

    @property
    def host(self) -> str:
        """The host name of the map server.

        Raises:
            BadInput: the mirror set in the environment is not a valid address.
        """
        from geosleuth.server.downloads import DownloadServer

        return DownloadServer().host

    async def offer(self, place: str, host: str, *, offline: bool) -> MapOfferShown:
        """Find the map of a place and ask the host for its size.

        Raises:
            NeedsConsent: ``host`` is not the map server.
            BadInput: the service is offline, or there is no such place or map.
            ServiceFault: the host failed.
            WrongState: another map is being fetched.
        """
        self._check_consent(host, offline=offline)
        async with self._asking:
            self._check_idle()
            offer, _ = await self._run_task("offer_map", {"place": place[:NAME_CHARACTERS]})
        return MapOfferShown(**offer)

    def start(self, place: str, host: str, size_bytes: int, *, offline: bool) -> MapJobShown:
        """Start to download a map of the size that was shown; `job` reports progress and outcome.

        Raises:
            NeedsConsent, BadInput, WrongState: as for `offer`.
        """
        self._check_consent(host, offline=offline)
        if self._asking.locked():
            raise WrongState("the host is being asked about another map; try again in a moment")
        self._check_idle()
        self.job = MapJobShown(
            place=place, host=host, size_bytes=size_bytes, state="downloading", share=0.0, what="", trouble=None
        )
        self._task = asyncio.create_task(self._fetch(self.job))
        return self.job

    async def cancel(self) -> None:
        """Cancel the job; the next download of the same file resumes where this one stopped."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self.job is not None and self.job.active:
            self.job = self.job.model_copy(update={"state": "cancelled"})

    async def end(self) -> None:
        """Cancel the job and end the worker process."""
        await self.cancel()
        await self._worker.end()

    def _check_consent(self, host: str, *, offline: bool) -> None:
        map_host = self.host
        if host != map_host:
            raise NeedsConsent([map_host], f"this asks {map_host} for its list of maps; no photo is sent")
        if offline:
            raise BadInput("the service is set to stay offline; allow network access in the settings first")

    def _check_idle(self) -> None:
        if self.job is not None and self.job.active:
            raise WrongState(f"the map of {self.job.place} is being fetched; wait until it is done, or cancel it")

    async def _run_task(self, task: str, details: dict[str, Any], on_news: Callable[[News], None] | None = None) -> Any:
        try:
            return await self._worker.work(task, details, on_news=on_news)
        except (Gone, OutOfMemory) as error:
            await self._worker.end()
            raise GeosleuthError("the process that fetches maps has ended; try again") from error

    async def _fetch(self, job: MapJobShown) -> None:
        def update_job(news: News) -> None:
            for _, progress, _ in news:
                self.job = job.model_copy(update=progress)

        details = {"place": job.place[:NAME_CHARACTERS], "size_bytes": job.size_bytes}
        try:
            await self._run_task("get_map", details, update_job)
            self.job = job.model_copy(update={"state": "done", "share": 1.0})
        except GeosleuthError as error:
            if isinstance(error, DiskFull):
                trouble = "the disk is full; free some space and try again"
            else:
                trouble = " ".join(str(error).split())
            self.job = job.model_copy(update={"state": "failed", "trouble": trouble})
        finally:
            # The worker's atlas and libraries would occupy memory until the next map.
            await self._worker.end()


async def describe_offer(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `MapOfferShown` for the map of a place; runs in the worker process."""
    from geosleuth.server.downloads import DownloadServer, Needs, ask_size, find_map, format_data_date, is_same

    source = DownloadServer()
    async with source.client:
        target = await find_map(source, str(details["place"]))
        offer = await ask_size(source, target)
    existing, needs = target.existing(), Needs.from_offer(offer)
    if existing is not None and existing.origin is None:
        raise BadInput(
            f"the region {existing.name} was imported from the file {existing.source} and is not replaced by a "
            "download; remove it first"
        )
    return {
        "place": str(details["place"]), "name": target.name, "title": target.description, "host": offer.host,
        "size_bytes": offer.size_bytes, "disk_bytes": needs.disk_bytes, "seconds": needs.seconds, "day": offer.day,
        "there": None if existing is None else format_data_date(existing),
        "up_to_date": existing is not None and is_same(existing, offer),
    }  # fmt: skip


async def fetch_map(details: Mapping[str, Any], publish: Callable[..., None]) -> dict[str, Any]:
    """Download and import the map of a place and publish the progress; runs in the worker process."""
    from geosleuth.server.downloads import DownloadServer, add, ask_size, check_disk, fetch, find_map

    published_at = 0.0

    def report(state: MapState, what: str, done: int, total: int) -> None:
        nonlocal published_at
        if (now := time.time()) - published_at >= _PROGRESS_INTERVAL_S or done == total:
            published_at = now
            publish(("map", {"state": state, "what": what, "share": round(done / max(1, total), 4)}, now))

    source = DownloadServer()
    async with source.client:
        target = await find_map(source, str(details["place"]))
        offer = await ask_size(source, target)
        if offer.size_bytes != details["size_bytes"]:
            raise BadInput(f"{offer.host} has published another file of {target.title} since; check its size again")
        check_disk(target, offer)
        await fetch(source, target, offer, lambda done, total: report("downloading", "", done, total))
    region = await asyncio.to_thread(add, target, offer, lambda *step: report("importing", *step))
    return {"name": region.name}
