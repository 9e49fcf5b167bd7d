"""A service whose process is killed in the middle of its work: what was finished stays, and nothing comes twice."""

import asyncio
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from geosleuth.server import CaseService
from killed_services import RUNS, killed_after, look_after
from services import open_service, recording

pytestmark = pytest.mark.usefixtures("atlas_home")


def _open_in(pid: int) -> tuple[set[str], bytes]:
    """What a process has open, and its environment."""
    process = Path(f"/proc/{pid}")
    # A process that is just becoming another program has no environment for a moment.
    until = time.monotonic() + 20
    while not (environment := (process / "environ").read_bytes()) and time.monotonic() < until:
        time.sleep(0.01)
    held = set()
    for file in (process / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed: it is not held
            held.add(str(file.readlink()))
    return held, environment


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_no_finished_result_is_lost_or_comes_twice(tmp_path: Path) -> None:
    model = recording(tmp_path, looks=4)
    started, results = killed_after(tmp_path / "service", model, done=6)
    assert len(started) == RUNS
    assert 6 <= len(results) < RUNS
    asyncio.run(look_after(tmp_path / "service", started, results))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_processes_inherit_no_socket_and_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_TOKEN", "nobody-else-needs-this")

    async def work(service: CaseService) -> None:
        while not service._jobs.pids:  # noqa: ASYNC110  (a process comes to be; nobody tells)
            await asyncio.sleep(0.01)
        (pid,) = service._jobs.pids
        held, environment = await asyncio.to_thread(_open_in, pid)
        assert f"socket:[{os.fstat(listener.fileno()).st_ino}]" not in held
        assert b"GEOSLEUTH_HOME" in environment
        assert b"nobody-else-needs-this" not in environment

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.set_inheritable(True)
        open_service(tmp_path / "service", work)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("turn", range(6))
def test_no_finished_result_is_lost_at_any_moment(tmp_path: Path, turn: int) -> None:
    model = recording(tmp_path, looks=4)
    started, results = killed_after(tmp_path / "service", model, done=1 + 3 * turn, linger_s=0.037 * turn)
    asyncio.run(look_after(tmp_path / "service", started, results))
