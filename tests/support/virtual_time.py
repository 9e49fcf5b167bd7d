"""An event loop whose clock jumps: whoever sleeps an hour wakes at once, in the right order.

    outcome = run_virtually(run_swarm(...))

Nothing may be left behind: tasks that are still there at the end are an error. So is a loop that would wait for ever.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping(selectors.SelectSelector):
    """Instead of waiting for a while, lets that while be over."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise RuntimeError("everybody waits, and nothing will ever happen")
        self.now += max(timeout, 0.0)
        return []


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_virtually(work: Coroutine[Any, Any, T], *, most_seconds: float = 1e6) -> T:
    """The result of the work; the clock of its loop starts at 0 and may come to ``most_seconds``."""
    loop = _VirtualLoop()
    try:
        result = loop.run_until_complete(asyncio.wait_for(work, most_seconds))
        left = asyncio.all_tasks(loop)
        assert not left, f"left behind: {left}"
        return result
    finally:
        loop.close()
