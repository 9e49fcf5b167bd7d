"""Signals of processes that start others, and the memory of the machine they run on."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, parent_process
from typing import NoReturn


def end_with_parent() -> None:
    """End this process when the one that started it ends: a killed parent can't end its children."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (connection.wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def machine_memory() -> int:
    """Return the machine's memory in bytes; 0 where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


@contextmanager
def children_without_ctrl_c() -> Iterator[None]:
    """Keep Ctrl-C from processes started in the block, even during their imports; the parent handles it."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    # The first start would start it, and lets Ctrl-C in again when it does.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def cleanup_on_sigterm() -> Iterator[None]:
    """Let SIGTERM leave the block as an exit does, so that it cleans up; unless another handler is set already."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(*_: object) -> NoReturn:
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
