"""What readers of runs are told, as it happens and from where they left off.

A reader is a place in the sequence and nothing more: nobody waits for the slowest one, and none costs memory. The
newest things are at hand; whoever is further behind reads from the database.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from .model import RunRow, RunState, StreamEvent
from .store import Store

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
