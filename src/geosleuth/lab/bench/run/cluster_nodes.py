"""Code that runs on a cluster's nodes: tries at photos, and one actor that holds the gates of all hosts."""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from geosleuth.models.endpoints import AskPermit, Came, GateSettings, HostGate, HostNews, hold_gates_with
from geosleuth.support.errors import ServiceFault, UserError

from .journal import Attempted, Job, Making, Ready, file_name

LEASE_S = 30.0
"""A client that is silent for so long loses its slots."""
RENEW_S = 3.0
_GONE_KEPT = 1000
_NEWS_KEPT = 100
# A gate keeper that is restarted elsewhere is back within this time.
_PATIENCE_S = 60.0

Ticket = tuple[str, int]
"""The client and its request number."""


@dataclass(frozen=True, slots=True)
class _Held:
    gate: HostGate
    entry: AskPermit


class GateHolder:
    """Holds the gates of all hosts. Its methods are called from many processes; it works in one event loop.

    A holder is a process that sends requests to hosts. Its slots are released when it is reported dead, or when its
    lease expires.
    """

    def __init__(self, limits_per_host: Mapping[str, int], lease_s: float = LEASE_S) -> None:
        """Take the limits that override those in clients' settings."""
        self._limits, self._lease_s = dict(limits_per_host), lease_s
        self._gates: dict[str, HostGate] = {}
        self._held: dict[Ticket, _Held] = {}
        self._waiting: dict[Ticket, asyncio.Task[AskPermit]] = {}
        self._gone: dict[Ticket, None] = {}
        self._heard: dict[str, float] = {}
        self._lost: set[str] = set()
        self._news: list[tuple[int, HostNews]] = []
        self._news_came = asyncio.Event()
        self._numbers = itertools.count(1)
        self._sweeping: asyncio.Task[None] | None = None

    async def enter(self, host: str, settings: GateSettings, ticket: Ticket, within_s: float) -> float | str:
        """Wait until the host may be asked; return the wait in seconds, or an error text if it can't be."""
        self._hear(ticket[0])
        if self._gone.pop(ticket, self) is None or ticket[0] in self._lost:
            return "the client of this request is gone"
        gate = self._gates.get(host)
        if gate is None:
            wanted = replace(settings, concurrency=self._limits.get(host, settings.concurrency))
            gate = self._gates[host] = HostGate(host, wanted, self._tell)
        task = self._waiting[ticket] = asyncio.create_task(gate.enter(within_s))
        try:
            entry = await task
        except ServiceFault as fault:
            return fault.trouble
        except asyncio.CancelledError:
            return "the client of this request is gone"
        finally:
            self._waiting.pop(ticket, None)
        self._held[ticket] = _Held(gate, entry)
        return entry.rested_s

    async def leave(self, ticket: Ticket, came: Came, rest_s: float = 0.0) -> None:
        """Release the slot of a request that ended or was never made."""
        self._hear(ticket[0])
        self._let_go(ticket, came, rest_s)

    async def renew(self, holder: str) -> None:
        """Renew a holder's lease."""
        self._hear(holder)

    async def release(self, holder: str) -> None:
        """Release everything that a dead holder held."""
        self._lost.add(holder)
        self._heard.pop(holder, None)
        self._free(holder)

    async def news(self, after: int, within_s: float) -> list[tuple[int, HostNews]]:
        """Return news of hosts after that number; wait for some, at most so many seconds."""
        if not any(number > after for number, _ in self._news):
            self._news_came.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news_came.wait(), within_s)
        return [one for one in self._news if one[0] > after]

    async def stop_news(self) -> None:
        """Stop the news: those who wait get none."""
        self._news_came.set()

    def _hear(self, holder: str) -> None:
        if holder not in self._lost:
            self._heard[holder] = time.monotonic()
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._sweep())

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / 4)
            too_long_ago = time.monotonic() - self._lease_s
            for holder in [one for one, heard in self._heard.items() if heard < too_long_ago]:
                self._heard.pop(holder)
                self._free(holder)

    def _free(self, holder: str) -> None:
        for ticket in [one for one in (*self._held, *self._waiting) if one[0] == holder]:
            self._let_go(ticket, "nothing", 0.0)

    def _let_go(self, ticket: Ticket, came: Came, rest_s: float) -> None:
        waiting, held = self._waiting.get(ticket), self._held.pop(ticket, None)
        if held is not None:
            held.gate.leave(held.entry, came, rest_s)
        elif waiting is not None and not waiting.cancel():
            # It was admitted at this very moment, and its client is gone.
            waiting.add_done_callback(lambda _: self._let_go(ticket, came, rest_s))
        elif waiting is None:
            self._gone[ticket] = None
            if len(self._gone) > _GONE_KEPT:
                self._gone.pop(next(iter(self._gone)))

    def _tell(self, news: HostNews) -> None:
        self._news.append((next(self._numbers), news))
        del self._news[:-_NEWS_KEPT]
        self._news_came.set()


class KeeperGate:
    """The gate of a host that a keeper on another machine holds."""

    def __init__(
        self, keeper: Any, holder: str, numbers: "itertools.count[int]", host: str, settings: GateSettings
    ) -> None:
        """Take the keeper's handle, the client's name, and its request counter."""
        self._keeper, self._holder, self._numbers = keeper, holder, numbers
        self._host, self._settings = host, settings

    async def enter(self, within_s: float) -> AskPermit:
        """Wait until the keeper admits this request.

        Raises:
            ServiceFault: the host rests for longer.
        """
        number = next(self._numbers)
        try:
            said = await self._asked(number, within_s)
        except BaseException:
            self._keeper.leave.remote((self._holder, number), "nothing")
            raise
        if isinstance(said, str):
            raise ServiceFault(self._host, said, retryable=True)
        return AskPermit(number, said)

    def leave(self, entry: AskPermit, came: Came, rest_s: float = 0.0) -> None:
        """Tell the keeper, without waiting."""
        self._keeper.leave.remote((self._holder, entry.number), came, rest_s)

    async def _asked(self, number: int, within_s: float) -> float | str:
        from ray.exceptions import RayActorError

        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                ticket = (self._holder, number)
                said: float | str = await self._keeper.enter.remote(self._host, self._settings, ticket, within_s)
            except RayActorError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.5)
            else:
                return said


@dataclass(frozen=True, slots=True)
class NodeResult:
    """The result of a try on a node: None if it was cancelled. ``files`` are those that it kept, by name."""

    attempted: Attempted | None
    files: dict[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """An error that the user must fix before the run can continue."""

    message: str


class NodeWorker:
    """One process on a node. User errors are returned as values: not every exception can be pickled."""

    def __init__(self, making: Making, keeper: Any, holder: str) -> None:
        """Take the maker of attempts; `ready` builds this process's own."""
        self._making, self._keeper, self._holder = making, keeper, holder
        self._ready: Ready | None = None
        self._under_way: dict[tuple[str, int], asyncio.Task[Attempted]] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def ready(self) -> Refused | None:
        """Load everything; return None on success."""
        numbers = itertools.count(1)

        def gate(host: str, settings: GateSettings) -> KeeperGate:
            return KeeperGate(self._keeper, self._holder, numbers, host, settings)

        hold_gates_with(gate)
        try:
            self._ready = await self._making()
        except UserError as error:
            return Refused(str(error))
        self._renewing = asyncio.create_task(self._renew())
        return None

    async def work(self, job: Job) -> NodeResult | Refused:
        """Run one try at a photo."""
        if self._ready is None:
            raise RuntimeError("call ready() first")
        with tempfile.TemporaryDirectory(prefix="geosleuth-") as name:
            folder = Path(name)
            key = (job.name, job.number)
            task = asyncio.ensure_future(self._ready.attempt(job, folder / file_name(job.name, job.number)))
            self._under_way[key] = task
            attempted: Attempted | None = None
            try:
                with suppress(asyncio.CancelledError):
                    attempted = await task
            except UserError as error:
                return Refused(str(error))
            finally:
                self._under_way.pop(key, None)
            return NodeResult(attempted, await asyncio.to_thread(_files_in, folder))

    async def call_off(self, name: str, number: int) -> None:
        """Cancel a try; its `work` returns with the files kept until then."""
        task = self._under_way.get((name, number))
        if task is not None:
            task.cancel()

    async def aclose(self) -> None:
        """Close everything."""
        if self._renewing is not None:
            self._renewing.cancel()
        if self._ready is not None:
            await self._ready.aclose()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            self._keeper.renew.remote(self._holder)


def _files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
