"""A desk whose process is killed in the middle of its work: what was finished stays, and nothing comes twice."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from desks import all_told, at_a_desk, ended, recording
from geosleuth.agent import read_trajectory
from geosleuth.app.service import CaseService, Feedback
from python_path import python_path

pytestmark = pytest.mark.usefixtures("atlas_home")
RUNS = 20


def killed_after(folder: Path, model: str, done: int, linger_s: float = 0.0) -> tuple[list[str], dict[str, Any]]:
    """Let a process of its own start the runs, and kill it once so many are done: all runs, and the results it told."""
    support = Path(__file__).parents[2] / "support"
    child = subprocess.Popen(
        [sys.executable, str(support / "desk_child.py"), str(folder), model, str(RUNS)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path(support)},
    )
    assert child.stdout is not None
    started: list[str] = []
    workers: list[int] = []
    results: dict[str, Any] = {}
    try:
        with child.stdout:
            for line in child.stdout:
                told = json.loads(line)
                started, workers = told.get("started", started), told.get("workers", workers)
                if "ended" in told:
                    assert told["state"] == "done"
                    results[told["ended"]] = told["result"]
                if len(results) >= done:
                    break
            time.sleep(linger_s)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    deadline = time.monotonic() + 30
    while any(map(_lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_lives, workers)), "the desk's processes must die with it"
    return started, results


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


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


async def look_after(folder: Path, started: list[str], results: dict[str, Any]) -> list[str]:
    """Open the desk again, check all that must hold, let the rest of the runs end; the interrupted ones."""
    async with await CaseService.open(folder, workers=2) as desk:
        (case,) = await desk.cases()
        assert sorted(run.id for run in case.runs) == sorted(started)
        interrupted = [run.id for run in case.runs if run.state == "interrupted"]
        assert len(interrupted) <= 2
        for run_id, result in results.items():
            assert (await desk.run(run_id)).state == "done"
            assert await desk.view(run_id) == result
        rows = [await ended(desk, run_id) for run_id in started]
        assert {row.state for row in rows} <= {"done", "interrupted"}
        for row in rows:
            told = await all_told(desk, row.id)
            assert [one.id for one in told] == list(range(len(told)))
            states = [one.data["state"] for one in told if one.kind == "state"]
            assert states[-1] == row.state
            assert states.count("done") == (row.state == "done")
            assert [one.kind for one in told].count("answer") <= 1
            if row.state == "done":
                assert (await desk.view(row.id))["answer"]["address"]["country"] == "Monaco"
        for run_id in interrupted:
            again = await desk.continue_run(run_id, Feedback())
            assert (await ended(desk, again.id)).state == "done"
            assert (await desk.run(run_id)).state == "interrupted"
        files = sorted(file.name for file in (folder / "cases" / case.id / "runs").iterdir())
        known = {run.id for run in (await desk.case(case.id)).runs}
        assert {name.partition(".")[0] for name in files} <= known
        assert len(files) == len(set(files))
        for row in rows:
            if row.state == "done":
                path = folder / "cases" / case.id / "runs" / f"{row.id}.jsonl"
                assert read_trajectory(path).ended is not None
        return interrupted


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_no_finished_result_is_lost_or_comes_twice(tmp_path: Path) -> None:
    model = recording(tmp_path, looks=4)
    started, results = killed_after(tmp_path / "desk", model, done=6)
    assert len(started) == RUNS
    assert 6 <= len(results) < RUNS
    asyncio.run(look_after(tmp_path / "desk", started, results))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_processes_inherit_no_socket_and_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_TOKEN", "nobody-else-needs-this")

    async def work(desk: CaseService) -> None:
        while not desk._jobs.pids:  # noqa: ASYNC110  (a process comes to be; nobody tells)
            await asyncio.sleep(0.01)
        (pid,) = desk._jobs.pids
        held, environment = await asyncio.to_thread(_open_in, pid)
        assert f"socket:[{os.fstat(listener.fileno()).st_ino}]" not in held
        assert b"GEOSLEUTH_HOME" in environment
        assert b"nobody-else-needs-this" not in environment

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.set_inheritable(True)
        at_a_desk(tmp_path / "desk", work)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("turn", range(6))
def test_no_finished_result_is_lost_at_any_moment(tmp_path: Path, turn: int) -> None:
    model = recording(tmp_path, looks=4)
    started, results = killed_after(tmp_path / "desk", model, done=1 + 3 * turn, linger_s=0.037 * turn)
    asyncio.run(look_after(tmp_path / "desk", started, results))
