"""Worker processes for an import."""

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Final, TypeVar

from geosleuth.support.processes import children_without_ctrl_c, cleanup_on_sigterm, end_with_parent

_T = TypeVar("_T")
_EXTRA_JOBS: Final = 3
# Thresholds for the garbage collector: rows have no reference cycles, and the defaults cost a tenth of an import.
_GC_THRESHOLDS: Final = (100_000, 50, 100)


class JobPool:
    """Runs jobs in worker processes, or in this process if there are none.

    A few more jobs are submitted than there are workers, so that none waits while a result is consumed.
    """

    def __init__(self, pool: ProcessPoolExecutor | None = None, workers: int = 0) -> None:
        """Use a pool with this number of workers; without a pool, run jobs in this process."""
        self._pool, self._max_pending = pool, workers + _EXTRA_JOBS

    def run_all(self, jobs: "Iterator[Callable[[], _T]] | Sequence[Callable[[], _T]]") -> Iterator[_T]:
        """Yield the results of the jobs, in their order."""
        if self._pool is None:
            for job in jobs:
                yield job()
            return
        pending: deque[Future[_T]] = deque()
        for job in jobs:
            pending.append(self._submit(self._pool, job))
            if len(pending) >= self._max_pending:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

    def start(self, job: Callable[[], _T]) -> Callable[[], _T]:
        """Start a job and return a function that waits for its result; without workers, that function runs the job."""
        return job if self._pool is None else self._submit(self._pool, job).result

    @staticmethod
    def _submit(pool: ProcessPoolExecutor, job: Callable[[], _T]) -> "Future[_T]":
        with children_without_ctrl_c():  # to submit may start a worker
            return pool.submit(job)


@contextmanager
def worker_pool(count: int) -> Iterator[JobPool]:
    """Provide a pool of worker processes inside the block; a process that is itself a worker starts none."""
    if not count or parent_process() is not None:
        yield JobPool()
        return
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_set_up_worker)
    with cleanup_on_sigterm():
        try:
            yield JobPool(pool, count)
        finally:
            pool.shutdown(cancel_futures=True)


def _set_up_worker() -> None:
    """Collect garbage rarely, and exit when the parent process ends, even if it was killed."""
    gc.set_threshold(*_GC_THRESHOLDS)
    end_with_parent()
