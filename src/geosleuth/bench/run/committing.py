"""Adding lines to a file so that they are safe when they count: one wait for the disk for all that are waiting."""

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from geosleuth.errors import BadInput

T = TypeVar("T")

_AT_ONCE = 8
AGAIN = "mend that, then give the same command again: nothing that was finished is lost"


@dataclass(slots=True)
class _Waiting(Generic[T]):
    what: T | None
    line: bytes
    done: "asyncio.Future[None]" = field(repr=False)
    offset: int = 0


class LineWriter(Generic[T]):
    """Appends lines in a thread of its own.

    All lines that wait when the disk is ready are written with one write and one sync. ``before`` makes safe what must
    be on the disk before the lines, in the thread; ``after`` hears of every line that counts now with its offset, in
    the loop, before whoever waits for it goes on. After a failure the file is as it was before, and every other line
    is refused with the same words.
    """

    def __init__(
        self,
        path: Path,
        end: int,
        *,
        before: Callable[[Sequence[T]], None],
        after: Callable[[T, int], None],
    ) -> None:
        """Open the file to go on at ``end``; what comes after it is cut off.

        Raises:
            BadInput: it can't be written.
        """
        self.path = path
        self._before, self._after = before, after
        self._queue: queue.SimpleQueue[_Waiting[T] | None] = queue.SimpleQueue()
        self._end = end
        self._broken: Exception | None = None
        try:
            self._file = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
            os.ftruncate(self._file, end)
            os.lseek(self._file, end, os.SEEK_SET)
        except OSError as error:
            raise self._trouble(error) from error
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    async def add(self, what: T, line: bytes) -> None:
        """Add a line; it is safe on the disk when this returns, also where the caller is cancelled while waiting.

        Raises:
            BadInput: it can't be written, for one because the disk is full.
        """
        await self._put(what, line)

    async def flush(self) -> None:
        """Wait for all lines that were added before."""
        # Whoever waits for one of them hears what went wrong.
        with suppress(Exception):
            await self._put(None, b"")

    def _put(self, what: T | None, line: bytes) -> "asyncio.Future[None]":
        waiting = _Waiting(what, line, asyncio.get_running_loop().create_future())
        self._queue.put(waiting)
        return asyncio.shield(waiting.done)

    def close(self) -> None:
        """Write what is waiting and close the file; closing twice does no harm."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
            os.close(self._file)

    def _work(self) -> None:
        going = True
        while going:
            batch: list[_Waiting[T]] = []
            one = self._queue.get()
            with suppress(queue.Empty):
                while one is not None:
                    batch.append(one)
                    one = self._queue.get_nowait()
                going = False
            if batch:
                self._commit(batch)
                for loop in {waiting.done.get_loop() for waiting in batch}:
                    own = [waiting for waiting in batch if waiting.done.get_loop() is loop]
                    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                        loop.call_soon_threadsafe(self._tell, own, self._broken)

    def _commit(self, batch: Sequence[_Waiting[T]]) -> None:
        lines = [waiting for waiting in batch if waiting.what is not None]
        if self._broken is not None or not lines:
            return
        end = self._end
        try:
            self._before([waiting.what for waiting in lines if waiting.what is not None])
            for waiting in lines:
                waiting.offset = end
                end += len(waiting.line)
            _write_all(self._file, b"".join(waiting.line for waiting in lines))
            os.fsync(self._file)
            self._end = end
        except Exception as error:  # noqa: BLE001  (raised where somebody waits for the line)
            self._broken = self._trouble(error) if isinstance(error, OSError) else error
            with suppress(OSError):
                os.ftruncate(self._file, self._end)

    def _tell(self, batch: Sequence[_Waiting[T]], broken: Exception | None) -> None:
        for waiting in batch:
            if broken is not None:
                waiting.done.set_exception(broken)
                continue
            try:
                if waiting.what is not None:
                    self._after(waiting.what, waiting.offset)
            except Exception as error:  # noqa: BLE001  (raised where somebody waits for the line)
                waiting.done.set_exception(error)
            else:
                waiting.done.set_result(None)

    def _trouble(self, error: OSError) -> BadInput:
        return BadInput(f"{self.path}: can't be written: {error.strerror or error}; {AGAIN}")


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


class Syncing:
    """Waits for the disk in a few threads at once: whoever waits at the same time shares one turn of the disk."""

    def __init__(self) -> None:
        """Begin without threads; they come when they are needed."""
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sync")

    def __call__(self, paths: Sequence[Path]) -> None:
        """Wait until all these files' contents, and folders' entries, are safe.

        Raises:
            OSError: they are not.
        """
        shares = [paths[start::_AT_ONCE] for start in range(min(_AT_ONCE, len(paths)))]
        waiting = [self._threads.submit(_sync_each, share) for share in shares[1:]]
        if shares:
            _sync_each(shares[0])
        for one in waiting:
            one.result()

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()


def _sync_each(paths: Sequence[Path]) -> None:
    for path in paths:
        sync_file(path)


def sync_file(path: Path) -> None:
    """Wait until a file's content, or a folder's entries, are safe on the disk.

    Raises:
        OSError: they are not.
    """
    if os.name == "nt" and path.is_dir():
        return  # such folders can't be opened, and look after themselves
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
