"""Ctrl-C and SIGTERM reach the process that a user started, and not its workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

IMPORT = """
import signal, sys, time
from functools import partial
from geosleuth.atlas.regions.workers import worker_pool

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    with worker_pool(2) as pool:
        waits = [pool.start(partial(time.sleep, 1.0)) for _ in range(2)]
        print("started", flush=True)
        for wait in waits:
            wait()
"""


@pytest.mark.parametrize("delay_s", [0.1, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.0, 0.3, 0.6))])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_import_says_nothing_of_its_workers(
    tmp_path: Path, number: signal.Signals, delay_s: float
) -> None:
    script = tmp_path / "script.py"
    script.write_text(IMPORT)
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(delay_s)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, "")
