"""Runs that wait, the processes that work on them, and what their readers are told as it happens.

A reader is a place in the sequence and nothing more: nobody waits for the slowest one, and none costs memory. The
newest things are at hand; whoever is further behind reads from the database.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from geosleuth.errors import GeosleuthError

from .database import Store
from .frames import DiskFull
from .model import NotThere, RunRow, RunState, StreamEvent
from .processes import CalledOff, Gone, News, OutOfMemory, WorkerProcess

RECENT = 256
"""How many of the newest things told of a run are kept at hand."""

_PAGE = 200


class _Live:
    """A run that is not over yet; ``changed`` is set once something more was told, and replaced by another."""

    def __init__(self) -> None:
        self._recent: deque[StreamEvent] = deque(maxlen=RECENT)
        self.changed = asyncio.Event()

    def add(self, told: Sequence[StreamEvent]) -> None:
        self._recent.extend(told)
        self.wake()

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def since(self, first: int) -> list[StreamEvent] | None:
        """What is at hand from an id on; None where older things are asked for."""
        if not self._recent or first < self._recent[0].id:
            return None
        return list(self._recent)[first - self._recent[0].id :]


class Feed:
    """Keeps what is told and hands it to whoever watches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._live: dict[str, _Live] = {}

    def begin(self, run_id: str) -> None:
        """A run waits from now on."""
        self._live.setdefault(run_id, _Live())

    def end(self, run_id: str) -> None:
        """Nothing more will be told of a run."""
        live = self._live.pop(run_id, None)
        if live is not None:
            live.wake()

    def end_all(self) -> None:
        """The service closes."""
        for run_id in list(self._live):
            self.end(run_id)

    async def tell(self, run_id: str, *news: tuple[str, Mapping[str, Any], float | None]) -> None:
        """Tell something; it is kept before anybody is told, so that nobody knows an id that a crash takes back."""
        stamped = [(kind, data, time.time() if at is None else at) for kind, data, at in news]
        self._hand_out(run_id, await self._store.tell(run_id, stamped))

    async def set_state(self, run_id: str, state: RunState, **more: Any) -> RunRow:
        """Change a run's state, and tell it; takes what `Store.set_state` takes.

        Raises:
            NotThere: there is no such run.
        """
        row, told = await self._store.set_state(run_id, state, **more)
        self._hand_out(run_id, told)
        return row

    async def is_active(self, run_id: str) -> bool:
        """Whether a run's row says that it waits or is worked on.

        Raises:
            NotThere: there is no such run.
        """
        return (await self._store.run(run_id)).active

    def _hand_out(self, run_id: str, told: Sequence[StreamEvent]) -> None:
        live = self._live.get(run_id)
        if live is not None:
            live.add(told)

    async def watch(self, run_id: str, after: int) -> AsyncIterator[list[StreamEvent]]:
        """Everything after an id, then what comes, as many at a time as there are, until the run's last."""
        at = after + 1
        while True:
            live = self._live.get(run_id)
            # Held before the newest things are looked at, so that nothing slips in between.
            changed = None if live is None else live.changed
            batch = None if live is None else live.since(at)
            if batch is None:
                batch = await self._store.told(run_id, at, _PAGE)
            if batch:
                at = batch[-1].id + 1
                yield batch
                continue
            if changed is None:
                return
            await changed.wait()


JobOf = Callable[[RunRow], Awaitable[Mapping[str, Any]]]
"""Makes the work order of a run, keys included, at the moment when it begins."""

SETTLE_S = 5.0
"""After how long an end that could not be kept is tried again."""

_ANNOUNCED = 3
_LEFT = "nobody works on this run any more; continue it, or start again"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _UnderWay:
    hand: WorkerProcess
    called_off: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class _Outbox:
    """What a process tells of a run, on its way to the readers: what comes while some of it is kept, goes together."""

    def __init__(self, feed: Feed, run_id: str) -> None:
        self._feed, self._run_id = feed, run_id
        self._waiting: News = []
        self._sending: asyncio.Task[None] | None = None

    def put(self, news: News) -> None:
        self._waiting += news
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        with suppress(DiskFull):
            await self._keep()

    async def _keep(self) -> None:
        while self._waiting:
            news, self._waiting = self._waiting, []
            try:
                await self._feed.tell(self._run_id, *news)
            except DiskFull:
                self._waiting = news + self._waiting
                raise

    async def emptied(self) -> None:
        if self._sending is not None:
            await self._sending
        await self._keep()


@dataclass(slots=True)
class _Ending:
    """What became of a run, until its row says so."""

    state: RunState
    more: dict[str, Any] = field(default_factory=dict)
    outbox: _Outbox | None = None


class Jobs:
    """Takes runs in turn, as many at once as there are processes."""

    def __init__(self, feed: Feed, job_of: JobOf, *, workers: int, cancel_s: float, memory_bytes: int = 0) -> None:
        self._feed, self._job_of = feed, job_of
        self._cancel_s = cancel_s
        self._memory_bytes = memory_bytes
        self._hands = [WorkerProcess("runs", memory_bytes=memory_bytes) for _ in range(workers)]
        self._waiting: deque[str] = deque()
        self._under_way: dict[str, _UnderWay] = {}
        self._unsettled: dict[str, _Ending] = {}
        self._settling = asyncio.Lock()
        self._some = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Start the processes, and take up what waits."""
        self._tasks = [asyncio.create_task(self._serve(hand)) for hand in self._hands]
        self._tasks.append(asyncio.create_task(self._settle_now_and_then()))

    async def close(self) -> None:
        """End all processes; what they were at is interrupted."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(hand.end() for hand in self._hands))
        await self._settle_all()

    @property
    def pids(self) -> list[int]:
        """The processes that there are."""
        return [hand.pid for hand in self._hands if hand.pid is not None]

    def position(self, run_id: str) -> int | None:
        """Where a run stands in the queue, from 1; None where it does not wait."""
        return self._waiting.index(run_id) + 1 if run_id in self._waiting else None

    @property
    def waiting(self) -> int:
        """How many runs wait."""
        return len(self._waiting)

    async def put(self, run_id: str) -> None:
        """Let a run wait its turn."""
        self._feed.begin(run_id)
        self._waiting.append(run_id)
        with suppress(DiskFull):
            await self._feed.tell(run_id, ("state", {"state": "queued", "position": self.position(run_id)}, None))
        async with self._some:
            self._some.notify()

    async def cancel(self, run_id: str) -> None:
        """Call a run off; when this returns, nobody works on it any more and its row says so."""
        if run_id in self._waiting:
            self._waiting.remove(run_id)
            await self._end(run_id, _Ending("cancelled"))
            await self._announce()
            return
        under_way = self._under_way.get(run_id)
        if under_way is None:
            return
        if not under_way.called_off:
            under_way.called_off = True
            under_way.hand.call_off()
        try:
            async with asyncio.timeout(self._cancel_s):
                await under_way.over.wait()
        except TimeoutError:
            under_way.hand.kill()
            await under_way.over.wait()

    async def settle(self, run_id: str) -> None:
        """Say what became of a run in its row, if nobody works on it any more; for rows that don't say so yet.

        Raises:
            DiskFull: it can't be kept.
            NotThere: there is no such run.
        """
        async with self._settling:
            if run_id in self._waiting or run_id in self._under_way or not await self._feed.is_active(run_id):
                return
            await self._keep(run_id, self._unsettled.get(run_id) or _Ending("interrupted", {"trouble": _LEFT}))

    async def _settle_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SETTLE_S)
            await self._settle_all()

    async def _settle_all(self) -> None:
        for run_id in list(self._unsettled):
            try:
                await self.settle(run_id)
            except DiskFull:
                continue
            except NotThere:
                self._unsettled.pop(run_id, None)
                self._feed.end(run_id)

    async def _serve(self, hand: WorkerProcess) -> None:
        await _ready(hand)
        while True:
            async with self._some:
                await self._some.wait_for(lambda: bool(self._waiting))
                run_id = self._waiting.popleft()
                under_way = self._under_way[run_id] = _UnderWay(hand)
            try:
                await self._carry_out(run_id, under_way)
            except asyncio.CancelledError:
                raise
            except Exception:  # noqa: BLE001  (logged, and the run says so)
                _log.exception("a run could not be carried out")
                with suppress(Exception):
                    await self._end(run_id, _Ending("failed", {"trouble": "a bug in the service"}))
            finally:
                del self._under_way[run_id]
                under_way.over.set()
            if under_way.called_off:
                # Threads that were in the middle of something go on in there.
                await hand.end()
                await _ready(hand)

    async def _carry_out(self, run_id: str, under_way: _UnderWay) -> None:
        try:
            row = await self._feed.set_state(run_id, "running")
        except NotThere:
            self._feed.end(run_id)
            return
        except DiskFull as full:
            await self._end(run_id, _Ending("failed", {"trouble": str(full)}))
            return
        await self._announce()
        outbox = _Outbox(self._feed, run_id)
        try:
            state, more = await self._worked(row, under_way, outbox)
        except BaseException:
            with suppress(DiskFull):
                await outbox.emptied()
            raise
        await self._end(run_id, _Ending(state, more, outbox))

    async def _worked(self, row: RunRow, under_way: _UnderWay, outbox: _Outbox) -> tuple[RunState, dict[str, Any]]:
        """What became of a run, and what its row says of it."""
        try:
            job = await self._job_of(row)
            # Looked at only now: until keys were fetched there was nothing in the process to call off.
            if under_way.called_off:
                raise CalledOff
            done, _ = await under_way.hand.work("locate", job, on_news=outbox.put)
            found = {key: done.get(key) for key in ("answer", "trouble", "result")}
            return ("failed" if done.get("failed") else "done"), found
        except CalledOff:
            return "cancelled", {}
        except Gone:
            if under_way.called_off:
                return "cancelled", {}
            return "failed", {"trouble": "the process that worked on it ended: killed, or out of memory"}
        except OutOfMemory:
            # What is left in there may have as little.
            await under_way.hand.end()
            allowed = f"the {self._memory_bytes / 1024**3:.3g} GiB of memory" if self._memory_bytes else "the memory"
            way_out = "give smaller photos, or start the server with a larger --run-memory"
            return "failed", {"trouble": f"this run needs more than {allowed} it may have; {way_out}"}
        except GeosleuthError as error:
            return "failed", {"trouble": str(error)}

    async def _end(self, run_id: str, ending: _Ending) -> None:
        """Keep the end of a run, or try it again later where the disk is full."""
        try:
            await self._keep(run_id, ending)
        except DiskFull:
            self._unsettled[run_id] = ending

    async def _keep(self, run_id: str, ending: _Ending) -> None:
        with suppress(NotThere):
            if ending.outbox is not None:
                await ending.outbox.emptied()
            await self._feed.set_state(run_id, ending.state, **ending.more)
        self._unsettled.pop(run_id, None)
        self._feed.end(run_id)

    async def _announce(self) -> None:
        """Tell the next few where they stand now."""
        for run_id in list(self._waiting)[:_ANNOUNCED]:
            # Asked anew for each: somebody may have taken it up meanwhile.
            if (position := self.position(run_id)) is not None:
                with suppress(DiskFull):
                    await self._feed.tell(run_id, ("state", {"state": "queued", "position": position}, None))


async def _ready(hand: WorkerProcess) -> None:
    """Start a process ahead of time; one that can't be started now is tried again when there is work."""
    with suppress(OSError):
        await hand.ready()
