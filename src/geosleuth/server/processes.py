"""The service's worker processes: started ahead of time, one task at a time, killed if they hang."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from geosleuth.support.errors import BadInput, GeosleuthError, ServiceFault

from .frames import DiskFull, Frame, pack_frame, receive
from .records import NeedsConsent, NotThere, WrongState

Kind = Literal["runs", "opens", "helps"]
"""The purpose of a process, for which it imports modules ahead of time."""

News = list[tuple[str, dict[str, Any], float]]
OnNews = Callable[[News], None]

# Environment variables not passed to other processes: only the HTTP server needs them.
_SERVER_ONLY_VARIABLES = frozenset({"GEOSLEUTH_TOKEN"})

_log = logging.getLogger(__name__)


class Gone(Exception):
    """The process ended before it was done."""


class CalledOff(Exception):
    """The work was cancelled, and closed what it had open."""


class OutOfMemory(Exception):
    """The work needs more memory than it may have."""


class WorkerProcess:
    """One process. Cancelling the wait for its work ends it; the next task starts another."""

    def __init__(self, kind: Kind, *, memory_bytes: int = 0) -> None:
        self._kind = kind
        self._memory_bytes = memory_bytes
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None else None

    async def ready(self) -> None:
        """Start the process, if there is none."""
        if self._process is not None and self._process.returncode is None:
            return
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        # The wait may be cancelled; the process is still registered, so that it can be ended.
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        try:
            # Without -P, modules in the current folder would be imported.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "geosleuth.server.worker",
                self._kind,
                str(self._memory_bytes),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                env=self._environment(),
            )
        finally:
            self._starting = None

    def _environment(self) -> dict[str, str]:
        # Threads reserve memory that they never use, which counts where memory is limited.
        slim = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        ours = {name: value for name, value in os.environ.items() if name not in _SERVER_ONLY_VARIABLES}
        return {**ours, **(slim if self._kind == "opens" else {})}

    async def work(self, task: str, details: Mapping[str, Any], on_news: OnNews | None = None) -> Frame:
        """Execute a task.

        Raises:
            Gone: the process ended meanwhile.
            CalledOff: it was cancelled.
            OutOfMemory: it needs more memory than allowed.
            GeosleuthError: it was refused, or failed.
        """
        await self.ready()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise Gone
        try:
            with suppress(ConnectionError):
                process.stdin.write(pack_frame({"do": task, "with": details}))
                await process.stdin.drain()
            while True:
                message, made = await receive(process.stdout)
                if "news" in message:
                    if on_news is not None:
                        on_news([(kind, data, at) for kind, data, at in message["news"]])
                elif "done" in message:
                    return message["done"], made
                else:
                    raise _build_error(message.get("error") or {})
        except EOFError as error:
            await self.end()
            raise Gone from error
        except asyncio.CancelledError:
            await self.end()
            raise

    def call_off(self) -> None:
        """Ask the process to cancel its work; `end` makes sure."""
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(pack_frame({"cancel": True}))

    def kill(self) -> None:
        """Kill the process; a wait for its work raises `Gone`."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """End the process and wait until it has."""
        if self._starting is not None:
            with suppress(OSError):
                await asyncio.shield(self._starting)
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
        if process.stdout is not None:
            # Drain the pipe, so that it closes.
            with suppress(EOFError, ConnectionError):
                await process.stdout.read()
        # The transport has no public way to be closed.
        getattr(process, "_transport").close()  # noqa: B009
        # Only now: if cancelled before, the next call of `end` does the rest.
        if self._process is process:
            self._process = None


class TaskPool:
    """Several processes for short tasks with a time limit."""

    def __init__(self, kind: Kind, count: int, *, seconds: float, memory_bytes: int = 0) -> None:
        self._all = [WorkerProcess(kind, memory_bytes=memory_bytes) for _ in range(count)]
        # The last used process is warm, and is used next.
        self._free: asyncio.LifoQueue[WorkerProcess] = asyncio.LifoQueue()
        for worker in reversed(self._all):
            self._free.put_nowait(worker)
        self._seconds = seconds

    async def ready(self) -> None:
        """Start the first process ahead of time; if that fails, it is tried again when needed."""
        with suppress(OSError):
            await self._all[0].ready()

    async def work(self, task: str, details: Mapping[str, Any]) -> Frame:
        """Execute a task in a free process.

        Raises:
            BadInput: it took too long or too much memory, or broke the process.
            GeosleuthError: it was refused, or failed.
        """
        worker = await self._free.get()
        try:
            async with asyncio.timeout(self._seconds):
                return await worker.work(task, details)
        except TimeoutError as error:
            raise BadInput(f"this took longer than the {self._seconds:g} s allowed") from error
        except Gone as error:
            raise BadInput("this crashed its process") from error
        except OutOfMemory as error:
            await worker.end()
            raise BadInput("this needs more memory than is allowed") from error
        finally:
            self._free.put_nowait(worker)

    async def end(self) -> None:
        """End all processes."""
        await asyncio.gather(*(worker.end() for worker in self._all))


def _build_error(error: Mapping[str, Any]) -> Exception:  # noqa: PLR0911  (one return a kind)
    kind, message = str(error.get("kind")), str(error.get("message"))
    match kind:
        case "cancelled":
            return CalledOff(message)
        case "memory":
            return OutOfMemory(message)
        case "disk":
            return DiskFull()
        case "consent":
            return NeedsConsent([str(host) for host in error.get("hosts") or ()], str(error.get("words")))
        case "service":
            return ServiceFault(str(error.get("host")), " ".join(str(error.get("words")).split()))
        case "absent":
            return NotThere(message)
        case "state":
            return WrongState(message)
        case "input":
            return BadInput(message)
        case "bug":
            _log.error("a bug in a process of the service:\n%s", error.get("trace"))
            return GeosleuthError(message)
        case _:
            return GeosleuthError(message)
