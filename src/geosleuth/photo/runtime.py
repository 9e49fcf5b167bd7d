"""The one way to onnxruntime: imported late, and kept from writing down how it is used; and memory, given back."""

import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from geosleuth.support.errors import BadInput

MAX_THREADS = 4


def import_onnxruntime() -> ModuleType:
    """The module, with its telemetry switched off.

    Raises:
        BadInput: it can't be loaded on this machine.
    """
    # Read when onnxruntime is imported: without it, it writes a database of usage into the user's cache folder.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise BadInput(f"Looking at photos needs onnxruntime, which can't be loaded here: {error}") from error
    onnxruntime.disable_telemetry_events()
    module: ModuleType = onnxruntime
    return module


def open_packaged_session(path: Path, *, threads: int) -> Any:
    """Return a session of a network that ships with the package, which leaves the cores alone while it waits.

    Raises:
        BadInput: onnxruntime can't be loaded, or the file is missing.
    """
    runtime = import_onnxruntime()
    if not path.is_file():
        raise BadInput(f"{path.name} is missing from the package: install geosleuth again.")
    return runtime.InferenceSession(str(path), session_options(threads), providers=["CPUExecutionProvider"])


def session_options(threads: int | None = None) -> Any:
    """Return options for a network that says nothing and leaves the cores alone while it waits."""
    options = import_onnxruntime().SessionOptions()
    options.intra_op_num_threads = threads or usable_threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # Threads that wait in a loop for the next picture take the processor from the code that opens it.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def usable_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_threads() -> int:
    """Return the number of threads for a network: the cores this process may use, up to a small limit."""
    return min(MAX_THREADS, usable_cores())


def give_back_memory() -> None:
    """Return to the system what one photo's work has freed, where the C library would keep it (glibc).

    Work in several threads leaves holes in several heaps: over two hundred photos that came to twice of what was used.
    """
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def stay_offline() -> None:
    """Keep the hub's library from asking its host, and TRL from telling it who trains what.

    The library reads its settings when it is first imported, which may have been before.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    if (settings := sys.modules.get("huggingface_hub.constants")) is not None:
        vars(settings)["HF_HUB_DISABLE_TELEMETRY"] = True


@contextmanager
def no_probing() -> Iterator[None]:
    """Keep urllib3, which transformers and peft bring in, from trying on import, by a socket, whether IPv6 works."""
    known, has_ipv6 = "urllib3.util.connection" in sys.modules, socket.has_ipv6
    socket.has_ipv6 = False
    try:
        yield
    finally:
        socket.has_ipv6 = has_ipv6
        if not known and (probing := sys.modules.get("urllib3.util.connection")):
            # What it would have found on nearly every machine; it then asks for addresses of both kinds.
            vars(probing)["HAS_IPV6"] = has_ipv6
