"""How ``geosleuth world make`` ends when somebody stops it."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from foreground import started

pytestmark = [
    pytest.mark.usefixtures("atlas_home"),
    pytest.mark.skipif(sys.platform != "linux", reason="looks for the workers in /proc"),
]
_SOON_S = 30.0
"""Two seconds on an idle machine; the scenes that are left would take an hour."""


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    "when", [pytest.param("the first worker is starting", marks=pytest.mark.slow), "scenes are drawn"]
)
def test_ctrl_c_ends_it_at_once_with_all_its_workers(tmp_path: Path, when: str) -> None:
    out = tmp_path / "scenes"
    words = ["world", "make", "--count", "5000", "--workers", "2", "--out", str(out)]
    with started([str(Path(sys.executable).with_name("geosleuth")), *words]) as process:
        until, journal = time.monotonic() + 90, out / "unfinished.jsonl"
        while not (_children(process.pid) if when.endswith("starting") else journal.is_file() and journal.read_bytes()):
            assert process.poll() is None, "it ended by itself"
            assert time.monotonic() < until, "it drew nothing"
            time.sleep(0.02)
        workers = _children(process.pid)
        process.send_signal(signal.SIGINT)
        stopped_at = time.monotonic()
        _, said = process.communicate(timeout=60)
        took_s = time.monotonic() - stopped_at
    assert process.returncode == 130, said
    assert "stopped; run the same command to continue" in said
    assert "Traceback" not in said
    assert took_s < _SOON_S
    until = time.monotonic() + 10
    while any(map(_lives, workers)):
        assert time.monotonic() < until, "a worker goes on"
        time.sleep(0.05)
    assert not [path.name for path in (out / "images").iterdir() if path.suffix != ".jpg"]
