"""The service's side of its processes: started ahead of time, asked one thing at a time, ended if they hang."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from geosleuth.errors import BadInput, GeosleuthError

from .frames import DiskFull, Frame, packed, receive
from .model import NeedsConsent, NotThere, WrongState

Kind = Literal["runs", "opens", "helps"]
"""What a process is for; it makes itself ready for that before it is asked."""

News = list[tuple[str, dict[str, Any], float]]
OnNews = Callable[[News], None]

_NOT_THEIRS = frozenset({"GEOSLEUTH_TOKEN"})
"""Of the environment, what the door alone needs."""

_log = logging.getLogger(__name__)


class Gone(Exception):
    """The process ended before it was done."""


class CalledOff(Exception):
    """The work was called off, and closed what it had open."""


class OutOfMemory(Exception):
    """The work needs more memory than it may have."""


class WorkerProcess:
    """One process. Whoever waits for its work and is cancelled, ends it; the next piece of work starts another."""

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
        # Whoever waits may be cancelled; the process is still taken in, so that it can be ended.
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        try:
            # Without -P the folder that the service was started in could slip in modules of its own.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "geosleuth.app.service.worker",
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
        ours = {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS}
        return {**ours, **(slim if self._kind == "opens" else {})}

    async def work(
        self, chore: str, details: Mapping[str, Any], blob: bytes = b"", on_news: OnNews | None = None
    ) -> Frame:
        """Have something done.

        Raises:
            Gone: the process ended meanwhile.
            CalledOff: somebody called it off.
            OutOfMemory: it was given too little memory.
            GeosleuthError: it was refused, or failed.
        """
        await self.ready()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise Gone
        try:
            with suppress(ConnectionError):
                process.stdin.write(packed({"do": chore, "with": details}, blob))
                await process.stdin.drain()
            while True:
                message, made = await receive(process.stdout)
                if "news" in message:
                    if on_news is not None:
                        on_news([(kind, data, at) for kind, data, at in message["news"]])
                elif "done" in message:
                    return message["done"], made
                else:
                    raise _raised(message.get("error") or {})
        except EOFError as error:
            await self.end()
            raise Gone from error
        except asyncio.CancelledError:
            await self.end()
            raise

    def call_off(self) -> None:
        """Ask the process to give up what it does; `end` makes sure."""
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(packed({"cancel": True}))

    def kill(self) -> None:
        """End the process at once; whoever waits for its work gets `Gone`."""
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
            # What is left in the pipe is read, so that it closes.
            with suppress(EOFError, ConnectionError):
                await process.stdout.read()
        # The transport has no public way to be closed.
        getattr(process, "_transport").close()  # noqa: B009
        # Only now: whoever was cancelled meanwhile leaves the rest to the next who ends it.
        if self._process is process:
            self._process = None


class WorkerPool:
    """Several processes for short chores, each of which has its time."""

    def __init__(self, kind: Kind, count: int, *, seconds: float, memory_bytes: int = 0) -> None:
        self._all = [WorkerProcess(kind, memory_bytes=memory_bytes) for _ in range(count)]
        # Whoever worked last is warm, and works next.
        self._free: asyncio.LifoQueue[WorkerProcess] = asyncio.LifoQueue()
        for hand in reversed(self._all):
            self._free.put_nowait(hand)
        self._seconds = seconds

    async def ready(self) -> None:
        """Start the first process ahead of time; where it can't be started now, it is tried again when it is needed."""
        with suppress(OSError):
            await self._all[0].ready()

    async def work(self, chore: str, details: Mapping[str, Any], blob: bytes = b"") -> Frame:
        """Have something done by whoever is free.

        Raises:
            BadInput: it took too long or too much memory, or broke the process.
            GeosleuthError: it was refused, or failed.
        """
        hand = await self._free.get()
        try:
            async with asyncio.timeout(self._seconds):
                return await hand.work(chore, details, blob)
        except TimeoutError as error:
            raise BadInput(f"this took longer than the {self._seconds:g} s allowed") from error
        except Gone as error:
            raise BadInput("this broke the process that worked on it") from error
        except OutOfMemory as error:
            await hand.end()
            raise BadInput("this needs more memory than is allowed") from error
        finally:
            self._free.put_nowait(hand)

    async def end(self) -> None:
        """End all processes."""
        await asyncio.gather(*(hand.end() for hand in self._all))


def _raised(error: Mapping[str, Any]) -> Exception:  # noqa: PLR0911  (one return a kind)
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
