"""Code that runs on a cluster's nodes: tries at photos, and one actor that holds the gates of all hosts."""

import asyncio
import itertools
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from geosleuth.models.endpoints import AskPermit, Came, GateSettings, HostGate, Rests, set_gate_factory
from geosleuth.support.errors import ServiceFault, UserError

from .journal import Attempted, Job, Making, Ready, file_name

Ticket = tuple[str, int]
"""The client and its request number."""


@dataclass(frozen=True, slots=True)
class _Held:
    gate: HostGate
    entry: AskPermit


class GateHolder:
    """Holds the gates of all hosts. Its methods are called from many processes; it works in one event loop.

    A holder is a process that sends requests to hosts. What it holds is released when it is reported dead.
    """

    def __init__(self, limits_per_host: Mapping[str, int]) -> None:
        """Take the limits that override those in clients' settings."""
        self._limits = dict(limits_per_host)
        self._gates: dict[str, HostGate] = {}
        self._held: dict[Ticket, _Held] = {}
        self._waiting: dict[Ticket, asyncio.Task[AskPermit]] = {}
        self._lost: set[str] = set()
        self._rests = Rests()

    async def enter(self, host: str, settings: GateSettings, ticket: Ticket, within_s: float) -> float | str:
        """Wait until the host may be asked; return the wait in seconds, or an error text if it can't be."""
        if ticket[0] in self._lost:
            return "the client of this request is gone"
        gate = self._gates.get(host)
        if gate is None:
            wanted = replace(settings, concurrency=self._limits.get(host, settings.concurrency))
            gate = self._gates[host] = HostGate(host, wanted, self._rests)
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
        waiting, held = self._waiting.get(ticket), self._held.pop(ticket, None)
        if held is not None:
            held.gate.leave(held.entry, came, rest_s)
        elif waiting is not None and not waiting.cancel():
            # It was admitted at this very moment, and its client is gone.
            waiting.add_done_callback(lambda _: asyncio.ensure_future(self.leave(ticket, came, rest_s)))

    async def release(self, holder: str) -> None:
        """Release everything that a dead holder held."""
        self._lost.add(holder)
        for ticket in [item for item in (*self._held, *self._waiting) if item[0] == holder]:
            await self.leave(ticket, "nothing")

    async def resting(self) -> Sequence[str]:
        """Return the hosts that rest now."""
        return self._rests.hosts


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
            said = await self._keeper.enter.remote(self._host, self._settings, (self._holder, number), within_s)
        except BaseException:
            self._keeper.leave.remote((self._holder, number), "nothing")
            raise
        if isinstance(said, str):
            raise ServiceFault(self._host, said, retryable=True)
        return AskPermit(number, said)

    def leave(self, entry: AskPermit, came: Came, rest_s: float = 0.0) -> None:
        """Tell the keeper, without waiting."""
        self._keeper.leave.remote((self._holder, entry.number), came, rest_s)


@dataclass(frozen=True, slots=True)
class NodeResult:
    """The result of a try on a node: None if it was cancelled. ``files`` are those that it kept, by name."""

    attempted: Attempted | None
    files: dict[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class NodeRefused:
    """An error that the user must fix before the run can continue."""

    message: str


class NodeWorker:
    """One process on a node. User errors are returned as values: not every exception can be pickled."""

    def __init__(self, making: Making, keeper: Any) -> None:
        """Take the maker of attempts; `ready` builds this process's own."""
        self._making, self._keeper, self._holder = making, keeper, uuid.uuid4().hex
        self._ready: Ready | None = None
        self._under_way: dict[tuple[str, int], asyncio.Task[Attempted]] = {}

    async def ready(self) -> tuple[str, str] | NodeRefused:
        """Load everything; return the node's address, and by what name this process holds slots of hosts."""
        from ray.util import get_node_ip_address

        numbers = itertools.count(1)

        def gate(host: str, settings: GateSettings) -> KeeperGate:
            return KeeperGate(self._keeper, self._holder, numbers, host, settings)

        set_gate_factory(gate)
        node = str(get_node_ip_address())
        try:
            self._ready = self._ready or await self._making()
        except UserError as error:
            return NodeRefused(f"node {node}: {error}")
        return node, self._holder

    async def work(self, job: Job) -> NodeResult | NodeRefused:
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
                return NodeRefused(str(error))
            finally:
                self._under_way.pop(key, None)
            return NodeResult(attempted, await asyncio.to_thread(_read_folder, folder))

    async def call_off(self, name: str, number: int) -> None:
        """Cancel a try; its `work` returns with the files kept until then."""
        task = self._under_way.get((name, number))
        if task is not None:
            task.cancel()

    async def aclose(self) -> None:
        """Close everything."""
        if self._ready is not None:
            await self._ready.aclose()


def _read_folder(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
