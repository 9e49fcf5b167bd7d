"""Tries made in several processes of this machine, so that all of its cores work."""

import asyncio
import multiprocessing
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path

from geosleuth.bench.run import Attempted, Job, Making, Ready, RunFolder
from geosleuth.errors import BadInput, GeosleuthError, UserError


@dataclass(slots=True)
class _Here:
    """What one of the processes holds."""

    loop: asyncio.AbstractEventLoop | None = None
    ready: Ready | None = None
    refused: str | None = None


_here = _Here()


class ProcessWorker:
    """A `Worker` that hands each try to a process that is free."""

    def __init__(self, pool: ProcessPoolExecutor, folder: RunFolder) -> None:
        """Made by `process_worker`."""
        self._pool, self._folder = pool, folder

    async def __call__(self, job: Job) -> Attempted:
        """Make one try.

        Raises:
            UserError: the run can't go on.
        """
        place = self._folder.place(job.name, job.number)
        try:
            came = await asyncio.get_running_loop().run_in_executor(self._pool, _work, job, place)
        except BrokenProcessPool as error:
            raise GeosleuthError(
                "a process that made trajectories died; is there enough memory? run it again"
            ) from error
        if isinstance(came, str):
            raise BadInput(came)
        return came


@asynccontextmanager
async def process_worker(making: Making, folder: RunFolder, processes: int) -> AsyncIterator[ProcessWorker]:
    """A worker with so many processes; they end with it, and with this process should that be killed."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(making,))
    try:
        yield ProcessWorker(pool, folder)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(making: Making) -> None:
    """In the new process: load everything once."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _here.loop = asyncio.new_event_loop()
    try:
        _here.ready = _here.loop.run_until_complete(making())
    except UserError as error:
        _here.refused = str(error)


def _end_with_parent() -> None:
    """A parent that was killed can't tell its children, and they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(job: Job, place: Path) -> Attempted | str:
    """In the new process: one try, or in one line what the user must mend."""
    if _here.loop is None or _here.ready is None:
        return _here.refused or "this process was not made ready"
    try:
        return _here.loop.run_until_complete(_here.ready.attempt(job, place))
    except UserError as error:
        return str(error)
