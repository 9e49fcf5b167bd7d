"""The queue of runs, the processes that work on them, and the live feed of their events.

A reader is a position in the sequence: a slow one delays no other and costs no memory. The newest events are kept in
memory; readers further behind read from the database.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from geosleuth.support.errors import GeosleuthError

from .database import CaseStore
from .frames import DiskFull
from .processes import CalledOff, Gone, News, OutOfMemory, WorkerProcess
from .records import NotThere, RunRow, RunState, StreamEvent

# Number of a run's newest events kept in memory.
MAX_RECENT_EVENTS = 256

_PAGE = 200

JobOf = Callable[[RunRow], Awaitable[Mapping[str, Any]]]
"""Makes the job of a run, keys included, when it begins."""
# Seconds before another attempt to store the end of a run.
STORE_RETRY_S = 5.0
_ANNOUNCED = 3
_LEFT = "this run was abandoned; continue it, or start again"
_log = logging.getLogger(__name__)


class _Live:
    """An active run; ``changed`` is set at each new event, and replaced by a new one."""

    def __init__(self) -> None:
        self._recent: deque[StreamEvent] = deque(maxlen=MAX_RECENT_EVENTS)
        self.changed = asyncio.Event()

    def add(self, events: Sequence[StreamEvent]) -> None:
        self._recent.extend(events)
        self.wake()

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def since(self, first: int) -> list[StreamEvent] | None:
        """Return the events from an id on; None if older ones are needed."""
        if not self._recent or first < self._recent[0].id:
            return None
        return list(self._recent)[first - self._recent[0].id :]


class EventFeed:
    """Stores events and delivers them to readers."""

    def __init__(self, store: CaseStore) -> None:
        self._store = store
        self._live: dict[str, _Live] = {}

    def begin(self, run_id: str) -> None:
        """Start the feed of a run."""
        self._live.setdefault(run_id, _Live())

    def end(self, run_id: str) -> None:
        """End the feed of a run."""
        live = self._live.pop(run_id, None)
        if live is not None:
            live.wake()

    def end_all(self) -> None:
        """End all feeds."""
        for run_id in list(self._live):
            self.end(run_id)

    async def publish(self, run_id: str, *items: tuple[str, Mapping[str, Any], float | None]) -> None:
        """Store events, then deliver them: no reader sees an id that a crash could take back."""
        stamped = [(kind, data, time.time() if at is None else at) for kind, data, at in items]
        self._deliver(run_id, await self._store.append_events(run_id, stamped))

    async def set_state(self, run_id: str, state: RunState, **more: Any) -> RunRow:
        """Change a run's state and publish it; takes the arguments of `CaseStore.set_state`.

        Raises:
            NotThere: there is no such run.
        """
        row, events = await self._store.set_state(run_id, state, **more)
        self._deliver(run_id, events)
        return row

    async def is_active(self, run_id: str) -> bool:
        """Return whether a run's row says that it is queued or running.

        Raises:
            NotThere: there is no such run.
        """
        return (await self._store.run(run_id)).active

    def _deliver(self, run_id: str, events: Sequence[StreamEvent]) -> None:
        live = self._live.get(run_id)
        if live is not None:
            live.add(events)

    async def watch(self, run_id: str, after: int) -> AsyncIterator[list[StreamEvent]]:
        """Yield batches of events after an id, then new ones, until the run's last."""
        at = after + 1
        while True:
            live = self._live.get(run_id)
            # Taken before the newest events are read, so that none is missed in between.
            changed = None if live is None else live.changed
            batch = None if live is None else live.since(at)
            if batch is None:
                batch = await self._store.events(run_id, at, _PAGE)
            if batch:
                at = batch[-1].id + 1
                yield batch
                continue
            if changed is None:
                return
            await changed.wait()


@dataclass(slots=True)
class _ActiveRun:
    worker: WorkerProcess
    called_off: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class _Outbox:
    """Events of a run on their way to readers. Those that arrive during a write are batched into the next one."""

    def __init__(self, feed: EventFeed, run_id: str) -> None:
        self._feed, self._run_id = feed, run_id
        self._waiting: News = []
        self._sending: asyncio.Task[None] | None = None

    def put(self, items: News) -> None:
        self._waiting += items
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        with suppress(DiskFull):
            await self._store_events()

    async def _store_events(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._feed.publish(self._run_id, *batch)
            except DiskFull:
                self._waiting = batch + self._waiting
                raise

    async def flush(self) -> None:
        if self._sending is not None:
            await self._sending
        await self._store_events()


@dataclass(slots=True)
class _Ending:
    """The end of a run that is not stored yet."""

    state: RunState
    more: dict[str, Any] = field(default_factory=dict)
    outbox: _Outbox | None = None


class Jobs:
    """Runs jobs in order, as many at once as there are processes."""

    def __init__(self, feed: EventFeed, job_of: JobOf, *, workers: int, cancel_s: float, memory_bytes: int = 0) -> None:
        self._feed, self._job_of = feed, job_of
        self._cancel_s = cancel_s
        self._memory_bytes = memory_bytes
        self._workers = [WorkerProcess("runs", memory_bytes=memory_bytes) for _ in range(workers)]
        self._waiting: deque[str] = deque()
        self._active: dict[str, _ActiveRun] = {}
        self._unsettled: dict[str, _Ending] = {}
        self._settling = asyncio.Lock()
        self._some = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Start the processes, and begin on the queue."""
        self._tasks = [asyncio.create_task(self._serve(worker)) for worker in self._workers]
        self._tasks.append(asyncio.create_task(self._settle_periodically()))

    async def close(self) -> None:
        """End all processes; their runs are interrupted."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))
        await self._settle_all()

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def position(self, run_id: str) -> int | None:
        """Return a run's position in the queue, from 1; None if it is not queued."""
        return self._waiting.index(run_id) + 1 if run_id in self._waiting else None

    @property
    def waiting(self) -> int:
        """Return how many runs are queued."""
        return len(self._waiting)

    async def put(self, run_id: str) -> None:
        """Queue a run."""
        self._feed.begin(run_id)
        self._waiting.append(run_id)
        with suppress(DiskFull):
            await self._feed.publish(run_id, ("state", {"state": "queued", "position": self.position(run_id)}, None))
        async with self._some:
            self._some.notify()

    async def cancel(self, run_id: str) -> None:
        """Cancel a run; when this returns, no process works on it and its row says so."""
        if run_id in self._waiting:
            self._waiting.remove(run_id)
            await self._end(run_id, _Ending("cancelled"))
            await self._announce()
            return
        active = self._active.get(run_id)
        if active is None:
            return
        if not active.called_off:
            active.called_off = True
            active.worker.call_off()
        try:
            async with asyncio.timeout(self._cancel_s):
                await active.over.wait()
        except TimeoutError:
            active.worker.kill()
            await active.over.wait()

    async def settle(self, run_id: str) -> None:
        """Store the end of a run that no process works on any more, if its row lacks it.

        Raises:
            DiskFull: it can't be stored.
            NotThere: there is no such run.
        """
        async with self._settling:
            if run_id in self._waiting or run_id in self._active or not await self._feed.is_active(run_id):
                return
            await self._store_end(run_id, self._unsettled.get(run_id) or _Ending("interrupted", {"trouble": _LEFT}))

    async def _settle_periodically(self) -> None:
        while True:
            await asyncio.sleep(STORE_RETRY_S)
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

    async def _serve(self, worker: WorkerProcess) -> None:
        await _ready(worker)
        while True:
            async with self._some:
                await self._some.wait_for(lambda: bool(self._waiting))
                run_id = self._waiting.popleft()
                active = self._active[run_id] = _ActiveRun(worker)
            try:
                await self._execute(run_id, active)
            except asyncio.CancelledError:
                raise
            except Exception:  # noqa: BLE001  (logged, and the run says so)
                _log.exception("a run failed unexpectedly")
                with suppress(Exception):
                    await self._end(run_id, _Ending("failed", {"trouble": "a bug in the service"}))
            finally:
                del self._active[run_id]
                active.over.set()
            if active.called_off:
                # Its threads may still be busy.
                await worker.end()
                await _ready(worker)

    async def _execute(self, run_id: str, active: _ActiveRun) -> None:
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
            state, more = await self._execute_run(row, active, outbox)
        except BaseException:
            with suppress(DiskFull):
                await outbox.flush()
            raise
        await self._end(run_id, _Ending(state, more, outbox))

    async def _execute_run(self, row: RunRow, active: _ActiveRun, outbox: _Outbox) -> tuple[RunState, dict[str, Any]]:
        try:
            job = await self._job_of(row)
            # Checked only now: until the keys were fetched there was nothing in the process to cancel.
            if active.called_off:
                raise CalledOff
            done, _ = await active.worker.work("locate", job, on_news=outbox.put)
            found = {key: done.get(key) for key in ("answer", "trouble", "result")}
            return ("failed" if done.get("failed") else "done"), found
        except CalledOff:
            return "cancelled", {}
        except Gone:
            if active.called_off:
                return "cancelled", {}
            return "failed", {"trouble": "its process ended: killed, or out of memory; start it again"}
        except OutOfMemory:
            # Its memory may stay exhausted.
            await active.worker.end()
            allowed = f"the {self._memory_bytes / 1024**3:.3g} GiB of memory" if self._memory_bytes else "the memory"
            way_out = "use smaller photos, or start the server with a larger --run-memory"
            return "failed", {"trouble": f"this run needs more than {allowed} allowed; {way_out}"}
        except GeosleuthError as error:
            return "failed", {"trouble": str(error)}

    async def _end(self, run_id: str, ending: _Ending) -> None:
        try:
            await self._store_end(run_id, ending)
        except DiskFull:
            self._unsettled[run_id] = ending

    async def _store_end(self, run_id: str, ending: _Ending) -> None:
        with suppress(NotThere):
            if ending.outbox is not None:
                await ending.outbox.flush()
            await self._feed.set_state(run_id, ending.state, **ending.more)
        self._unsettled.pop(run_id, None)
        self._feed.end(run_id)

    async def _announce(self) -> None:
        """Publish the positions of the next few runs."""
        for run_id in list(self._waiting)[:_ANNOUNCED]:
            # Read again for each: a worker may have taken it meanwhile.
            if (position := self.position(run_id)) is not None:
                with suppress(DiskFull):
                    await self._feed.publish(run_id, ("state", {"state": "queued", "position": position}, None))


async def _ready(worker: WorkerProcess) -> None:
    """Start a process ahead of time; if that fails, it is tried again when there is work."""
    with suppress(OSError):
        await worker.ready()
