"""Processes that work for one import, side by side with it."""

import gc
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import Final, TypeVar

_T = TypeVar("_T")
_AHEAD: Final = 3
_COLLECT_AFTER: Final = (100_000, 50, 100)
"""Rows have no cycles. By Python's own thresholds a tenth of an import would be spent in looking for them."""


class Workers:
    """Runs jobs in other processes, a few ahead of the one whose result is wanted; without any, in this one."""

    def __init__(self, pool: ProcessPoolExecutor | None = None, workers: int = 0) -> None:
        """Use a pool of so many processes."""
        self._pool, self._ahead = pool, workers + _AHEAD

    def each(self, jobs: "Iterator[Callable[[], _T]] | Sequence[Callable[[], _T]]") -> Iterator[_T]:
        """The results, in order."""
        if self._pool is None:
            for job in jobs:
                yield job()
            return
        running: deque[Future[_T]] = deque()
        for job in jobs:
            running.append(self._pool.submit(job))
            if len(running) >= self._ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()

    def begin(self, job: Callable[[], _T]) -> Callable[[], _T]:
        """Start a job; what is returned waits for its result. Without other processes it is run then."""
        return job if self._pool is None else self._pool.submit(job).result


@contextmanager
def working(count: int) -> Iterator[Workers]:
    """So many processes inside the block; none where this one works for another."""
    if not count or parent_process() is not None:
        yield Workers()
        return
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_settle_in)
    try:
        yield Workers(pool, count)
    finally:
        pool.shutdown(cancel_futures=True)


def _settle_in() -> None:
    """Look for garbage rarely, and end with the process that started this one, even if that is killed."""
    gc.set_threshold(*_COLLECT_AFTER)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (connection.wait([parent.sentinel]), os._exit(1)), daemon=True).start()
