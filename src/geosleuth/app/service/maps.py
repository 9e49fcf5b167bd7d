"""Maps for the atlas, fetched by the name of a place: asked about, downloaded and imported in a process of its own.

The page names the host first. What is asked of it needs that name back as consent, and a download the size that was
shown.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from geosleuth.errors import BadInput, GeosleuthError

from .frames import DiskFull
from .processes import Gone, News, OutOfMemory, WorkerProcess
from .records import NeedsConsent, WrongState

MapState = Literal["downloading", "importing", "done", "failed", "cancelled"]
NAME_CHARACTERS = 120
_TELL_S = 0.2


@dataclass(frozen=True, slots=True)
class MapOffer:
    """A map that a server has: what it is called, and what it takes. ``there`` is the day of the data that is here."""

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


@dataclass(frozen=True, slots=True)
class MapJob:
    """The map that is being fetched, or was last; ``share`` is how much of this step is done, from 0 to 1."""

    place: str
    host: str
    size_bytes: int
    state: MapState
    share: float = 0.0
    what: str = ""
    trouble: str | None = None

    @property
    def active(self) -> bool:
        """Whether it is still worked on."""
        return self.state in ("downloading", "importing")


class Maps:
    """Fetches one map at a time. Nothing is asked of anybody but the source's host, and that only with its name."""

    def __init__(self) -> None:
        self._worker = WorkerProcess("helps")
        self._task: asyncio.Task[None] | None = None
        self._asking = asyncio.Lock()
        self.job: MapJob | None = None

    @property
    def host(self) -> str:
        """Who is asked.

        Raises:
            BadInput: the environment names a mirror that is no address.
        """
        from geosleuth.app.downloads import Source

        return Source().host

    async def offer(self, place: str, host: str, *, offline: bool) -> MapOffer:
        """Return what the map of a place takes.

        Raises:
            NeedsConsent: the host was not named.
            BadInput: the service is offline, or there is no such place or map.
            ServiceFault: the host failed.
            WrongState: a map is being fetched.
        """
        self._check(host, offline=offline)
        async with self._asking:
            self._check_free()
            made, _ = await self._work("offer_map", {"place": place[:NAME_CHARACTERS]})
        return MapOffer(**made)

    def start(self, place: str, host: str, size_bytes: int, *, offline: bool) -> MapJob:
        """Begin to fetch a map whose size was shown; what comes of it is in `job`.

        Raises:
            NeedsConsent, BadInput, WrongState: as for `offer`.
        """
        self._check(host, offline=offline)
        if self._asking.locked():
            raise WrongState("the host is being asked about another map; try again in a moment")
        self._check_free()
        self.job = MapJob(place, host, size_bytes, "downloading")
        self._task = asyncio.create_task(self._fetch(self.job))
        return self.job

    async def cancel(self) -> None:
        """Stop; what was downloaded so far is taken up by the next try."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self.job is not None and self.job.active:
            self.job = replace(self.job, state="cancelled")

    async def end(self) -> None:
        """Stop, and end the process."""
        await self.cancel()
        await self._worker.end()

    def _check(self, host: str, *, offline: bool) -> None:
        ours = self.host
        if host != ours:
            raise NeedsConsent([ours], f"this asks {ours} for its list of maps; no photo is sent")
        if offline:
            raise BadInput("the service stays offline; allow the network in the settings first")

    def _check_free(self) -> None:
        if self.job is not None and self.job.active:
            raise WrongState(f"the map of {self.job.place} is being fetched; wait for its end, or cancel it")

    async def _work(self, task: str, details: dict[str, Any], on_news: Callable[[News], None] | None = None) -> Any:
        try:
            return await self._worker.work(task, details, on_news=on_news)
        except (Gone, OutOfMemory) as error:
            await self._worker.end()
            raise GeosleuthError("the process that fetches maps has ended; try again") from error

    async def _fetch(self, job: MapJob) -> None:
        def hear(news: News) -> None:
            for _, told, _ in news:
                self.job = replace(job, **told)

        wanted = {"place": job.place[:NAME_CHARACTERS], "size_bytes": job.size_bytes}
        try:
            await self._work("get_map", wanted, hear)
            self.job = replace(job, state="done", share=1.0)
        except GeosleuthError as error:
            full = "the disk is full; make room and try again"
            said = full if isinstance(error, DiskFull) else " ".join(str(error).split())
            self.job = replace(job, state="failed", trouble=said)
        finally:
            # Its atlas and libraries need memory that nobody uses until the next map.
            await self._worker.end()


async def offered(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the map of a place takes, as `MapOffer` has it; runs in the process."""
    from geosleuth.app.downloads import Needs, Source, ask_size, day_of, find_map, is_same

    source = Source()
    async with source.client:
        wanted = await find_map(source, str(details["place"]))
        offer = await ask_size(source, wanted)
    there, needs = wanted.existing(), Needs.of(offer)
    if there is not None and there.origin is None:
        raise BadInput(f"a region called {there.name} was added from {there.source} before; it stays as it is")
    return asdict(
        MapOffer(
            place=str(details["place"]), name=wanted.name, title=wanted.description, host=offer.host,
            size_bytes=offer.size_bytes, disk_bytes=needs.disk_bytes, seconds=needs.seconds, day=offer.day,
            there=None if there is None else day_of(there), up_to_date=there is not None and is_same(there, offer),
        )
    )  # fmt: skip


async def brought(details: Mapping[str, Any], publish: Callable[..., None]) -> dict[str, Any]:
    """Download and import the map of a place, and tell how far it is; runs in the process."""
    from geosleuth.app.downloads import Source, add, ask_size, check_disk, fetch, find_map

    told_at = 0.0

    def tell(state: MapState, what: str, done: int, total: int) -> None:
        nonlocal told_at
        if (now := time.time()) - told_at >= _TELL_S or done == total:
            told_at = now
            publish(("map", {"state": state, "what": what, "share": round(done / max(1, total), 4)}, now))

    source = Source()
    async with source.client:
        wanted = await find_map(source, str(details["place"]))
        offer = await ask_size(source, wanted)
        if offer.size_bytes != details["size_bytes"]:
            raise BadInput(f"{offer.host} has another file of {wanted.title} by now; look at its size again")
        check_disk(wanted, offer)
        await fetch(source, wanted, offer, lambda done, total: tell("downloading", "", done, total))
    made = await asyncio.to_thread(add, wanted, offer, lambda *step: tell("importing", *step))
    return {"name": made.name}
