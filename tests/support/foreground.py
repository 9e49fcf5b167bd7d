"""A command as a process in the foreground, which Ctrl-C reaches."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from locating import environment
from openai_server import ServerUrl


def wait_for(url: ServerUrl, requests: int) -> None:
    """Wait until a server was asked so often."""
    until = time.monotonic() + 60
    while len(url.requests) < requests:
        assert time.monotonic() < until, "the command asked nothing"
        time.sleep(0.02)


def hear_ctrl_c() -> None:
    """For a process that is about to begin: tests in the background may have inherited a Ctrl-C that is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """The command, in the foreground of whoever runs the tests; it never outlives the block."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509  (one call, before any other)
    ) as process:
        try:
            yield process
        finally:
            process.kill()
