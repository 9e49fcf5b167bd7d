"""Going through a data set beside the loop: which photos are still to do, and their files, a few ahead."""

import asyncio
import hashlib
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from geosleuth.bench.sets.model import DataSet, Item
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.score import Truth

from .cut_off import cut_off_record
from .folder import RunFolder
from .journal import Known, TryRecord
from .model import Job

Retry = Literal["errors"]
JobOf = Callable[[Item, str, int, bytes], Job]

_AHEAD_BYTES = 64 * 1024 * 1024
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class Todo:
    """A photo that is next.

    ``job`` is None where its file can't be read, and ``trouble`` says why, or where nothing is to be done but to enter
    ``cut_off``: tries that the journal does not know yet. ``again`` says that it was finished before, with an error.
    """

    id: str
    name: str
    number: int
    truth: Truth = field(repr=False)
    job: Job | None = None
    sha256: str | None = None
    trouble: str | None = None
    cut_off: tuple[TryRecord, ...] = ()
    again: bool = False

    @property
    def size_bytes(self) -> int:
        """What it holds in memory."""
        return len(self.job.content) if self.job else 0


def plain_job(_item: Item, name: str, number: int, content: bytes) -> Job:
    """A try at a photo as it is."""
    return Job(name, _item.id, number, content)


class Feed:
    """Goes through a data set in a thread of its own; photos come out in the data set's order.

    No more than ``ahead`` photos wait, and no more bytes of them than a fixed number. ``measured`` gets
    every answer that was there already with its truth, as it is passed.
    """

    def __init__(self, data: DataSet, folder: RunFolder, *, ahead: int, retry: Retry | None, job_of: JobOf) -> None:
        """Get ready; `start` begins."""
        self._data, self._folder, self._ahead, self._retry, self._job_of = data, folder, ahead, retry, job_of
        self._strays = folder.strays()
        self.measured: deque[tuple[LatLon | None, LatLon]] = deque()
        self.passed_all = False
        self._room = threading.Condition()
        self._waiting = self._waiting_bytes = 0
        self._stopped = False
        self._out: asyncio.Queue[Todo | Exception | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="photos", daemon=True)
        self._thread.start()

    async def next(self) -> Todo | None:
        """The next photo; None when there is none left, or it was stopped.

        Raises:
            UserError: the data set can't be read on.
        """
        found = await self._out.get()
        if not isinstance(found, Todo):
            self._out.put_nowait(None)
        if isinstance(found, Exception):
            raise found
        if found is not None:
            with self._room:
                self._waiting -= 1
                self._waiting_bytes -= found.size_bytes
                self._room.notify()
        return found

    def stop(self) -> None:
        """Hand out no more photos."""
        with self._room:
            self._stopped = True
            self._room.notify()
        self._out.put_nowait(None)

    async def close(self) -> None:
        """Stop, and wait until the thread has noticed; one that hangs on a disk is left behind."""
        self.stop()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, _PATIENCE_S)

    def _work(self) -> None:
        try:
            for item in self._data:
                if self._stopped:
                    return
                todo = self._todo(item)
                if todo is not None and not self._hand(todo):
                    return
            self.passed_all = True
            self._put(None)
        except Exception as error:  # noqa: BLE001  (raised again in the loop)
            self._put(error)

    def _hand(self, todo: Todo) -> bool:
        size = todo.size_bytes
        with self._room:
            while (
                not self._stopped
                and self._waiting
                and (self._waiting >= self._ahead or self._waiting_bytes + size > _AHEAD_BYTES)
            ):
                self._room.wait()
            if self._stopped:
                return False
            self._waiting += 1
            self._waiting_bytes += size
        self._put(todo)
        return True

    def _put(self, what: Todo | Exception | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._out.put_nowait, what)

    def _todo(self, item: Item) -> Todo | None:
        name = self._folder.name_of(item.id)
        known = self._folder.index.of(name)
        strays = self._strays.pop(name, [])
        cut_off = tuple(
            record for number in strays if (record := cut_off_record(self._folder, item.id, number)) is not None
        )
        number = max([known.tries if known else 0, *strays]) + 1
        if not self._is_due(known):
            self._measure(item, known)
            return Todo(item.id, name, number, item.truth, cut_off=cut_off) if cut_off else None
        again = known is not None and known.state == "failed"
        try:
            content = item.picture.read()
        except BadInput as error:
            trouble = str(error).removeprefix(f"{item.picture.where}: ")
            return Todo(item.id, name, number, item.truth, trouble=trouble, cut_off=cut_off, again=again)
        sha256 = hashlib.sha256(content).hexdigest()
        job = self._job_of(item, name, number, content)
        return Todo(item.id, name, number, item.truth, job, sha256, cut_off=cut_off, again=again)

    def _is_due(self, known: Known | None) -> bool:
        if self._retry == "errors":
            return known is not None and known.state == "failed"
        return known is None or known.state == "interrupted"

    def _measure(self, item: Item, known: Known | None) -> None:
        if known is not None and known.state == "located":
            answer = self._folder.plain_at(known)["answer"]
            self.measured.append((LatLon(answer["lat"], answer["lon"]), item.truth.point))
        elif known is not None and known.state == "unlocated":
            self.measured.append((None, item.truth.point))
