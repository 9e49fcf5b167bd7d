"""A service process, ``python -m geosleuth.server.worker``: executes tasks, and ends with the service.

Arguments: its purpose, and the most bytes of memory that it may use, or 0. Its tasks are in `worker_tasks`; nothing
else can be asked.
"""

import asyncio
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from geosleuth.support.errors import GeosleuthError, ServiceFault, UserError

from .frames import is_full_disk, pack_frame, read_frame
from .records import NeedsConsent, NotThere, WrongState

_DIE_WITH_PARENT = 1
_READY_FOR = {
    "runs": ("geosleuth.server.runner",),
    "opens": ("geosleuth.server.worker_tasks", "geosleuth.photo"),
    "helps": ("geosleuth.server.stored",),
}
_SAID_ON_PURPOSE = (UserError, GeosleuthError)


def main() -> None:
    """Work until the service is gone."""
    parent = os.getppid()
    _exit_when_parent_dies(parent)
    # The service ends it, not Ctrl-C in the service's terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Libraries may print what they like: the pipes are ours.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    kind, memory_bytes = sys.argv[1:]
    _limit_memory(int(memory_bytes), address_space=kind == "opens")
    for module in _READY_FOR[kind]:
        import_module(module)
    asyncio.run(_Worker(inbox, outbox).work())


class _Worker:
    def __init__(self, inbox: BinaryIO, outbox: BinaryIO) -> None:
        self._inbox, self._outbox = inbox, outbox
        self._sending = threading.Lock()
        self._running: asyncio.Task[None] | None = None

    async def work(self) -> None:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        def listen() -> None:
            with suppress(OSError, ValueError):
                while (frame := read_frame(self._inbox)) is not None:
                    if "cancel" in frame[0]:
                        loop.call_soon_threadsafe(self._call_off)
                    else:
                        loop.call_soon_threadsafe(waiting.put_nowait, frame[0])
            # The service has gone: end at once.
            os._exit(0)

        threading.Thread(target=listen, daemon=True).start()
        while True:
            self._running = asyncio.create_task(self._execute(await waiting.get()))
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None

    def _call_off(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _send(self, message: Mapping[str, Any], blob: bytes = b"") -> None:
        with self._sending:
            self._outbox.write(pack_frame(message, blob))
            self._outbox.flush()

    async def _execute(self, message: dict[str, Any]) -> None:
        from .worker_tasks import execute

        def news(*items: tuple[str, Mapping[str, Any], float]) -> None:
            if items:
                self._send({"news": items})

        try:
            done, made = await execute(message["do"], message["with"], news)
            self._send({"done": done}, made)
        except asyncio.CancelledError:
            self._send({"error": {"kind": "cancelled", "message": "it was called off"}})
            raise
        except MemoryError:
            self._send({"error": {"kind": "memory", "message": "it needs more memory than it may have"}})
        except Exception as error:  # noqa: BLE001  (sent to the service, which logs its trace)
            self._send({"error": _describe_error(error)})


def _describe_error(error: Exception) -> dict[str, Any]:
    """Return an error in the words that the service may pass on."""
    if is_full_disk(error):
        return {"kind": "disk"}
    if isinstance(error, _SAID_ON_PURPOSE):
        return _refusal(error)
    # Not the error's own words: they may hold anything.
    trace = "".join(traceback.format_tb(error.__traceback__))
    kind = type(error).__name__
    return {"kind": "bug", "message": f"a bug: {kind}", "trace": f"{trace}{kind}"}


def _refusal(error: GeosleuthError) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": "fault", "message": " ".join(str(error).split())[:1000]}
    if isinstance(error, NeedsConsent):
        return {**plain, "kind": "consent", "hosts": list(error.hosts), "words": error.words}
    if isinstance(error, ServiceFault):
        return {**plain, "kind": "service", "host": error.host, "words": error.trouble}
    for kind, name in ((NotThere, "absent"), (WrongState, "state"), (UserError, "input")):
        if isinstance(error, kind):
            return {**plain, "kind": name}
    return plain


def _exit_when_parent_dies(parent: int) -> None:
    """Have the system end this process with the service's, where it can; elsewhere the closed pipe does, later."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def _limit_memory(most_bytes: int, *, address_space: bool) -> None:
    """Have the system refuse more memory than that.

    Decoders alone may be held to their whole address space. Runs load libraries and weights that reserve far more of it
    than they use, or map files that cost nothing, so only what they write to counts.
    """
    if not most_bytes:
        return
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.RLIMIT_AS if address_space else resource.RLIMIT_DATA
        _, hard = resource.getrlimit(limit)
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
