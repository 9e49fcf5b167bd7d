"""What runs on the nodes: it makes its attempt once and then tries at photos, several at once."""

import asyncio
import itertools
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.bench.run.model import Attempted, Job, Making, Ready
from geosleuth.bench.run.names import file_name
from geosleuth.errors import UserError
from geosleuth.policies.gates import GateSettings, hold_gates_with

from .keeper import RENEW_S, KeeperGate


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of a try on a node: None where it was called off. ``files`` are those that it kept, by name."""

    attempted: Attempted | None
    files: dict[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """What the user must mend before it makes sense to go on."""

    message: str


class NodeHand:
    """One process on a node. Errors that people must mend are told as values: not every exception survives the way."""

    def __init__(self, making: Making, keeper: Any, holder: str) -> None:
        """Take how attempts are made; `ready` makes this process's own."""
        self._making, self._keeper, self._holder = making, keeper, holder
        self._ready: Ready | None = None
        self._under_way: dict[tuple[str, int], asyncio.Task[Attempted]] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def ready(self) -> Refused | None:
        """Load everything; None when it is there."""
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

    async def work(self, job: Job) -> Worked | Refused:
        """One try at a photo."""
        if self._ready is None:
            raise RuntimeError("first it must be made ready")
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
            return Worked(attempted, await asyncio.to_thread(_files_in, folder))

    async def call_off(self, name: str, number: int) -> None:
        """End a try; its `work` returns with the files that it has kept until then."""
        task = self._under_way.get((name, number))
        if task is not None:
            task.cancel()

    async def aclose(self) -> None:
        """Let go of everything."""
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
