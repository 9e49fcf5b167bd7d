"""Desks whose process is killed with SIGKILL in the middle of its work, and what must hold of them afterwards."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from geosleuth.agent import read_trajectory
from geosleuth.server import CaseService, Feedback
from python_path import python_path
from services import all_told, ended

RUNS = 20


def killed_after(
    folder: Path, model: str, done: int, linger_s: float = 0.0, runs: int = RUNS
) -> tuple[list[str], dict[str, Any]]:
    """Let a process of its own start the runs, and kill it once so many are done: all runs, and the results it told."""
    support = Path(__file__).parent
    child = subprocess.Popen(
        [sys.executable, str(support / "service_child.py"), str(folder), model, str(runs)],
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
    assert not any(map(_lives, workers)), "the service's processes must die with it"
    return started, results


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def look_after(folder: Path, started: list[str], results: dict[str, Any]) -> list[str]:
    """Open the service again, check all that must hold, let the rest of the runs end; the interrupted ones."""
    async with await CaseService.open(folder, workers=2) as service:
        (case,) = await service.cases()
        assert sorted(run.id for run in case.runs) == sorted(started)
        interrupted = [run.id for run in case.runs if run.state == "interrupted"]
        assert len(interrupted) <= 2
        for run_id, result in results.items():
            assert (await service.run(run_id)).state == "done"
            assert await service.view(run_id) == result
        rows = [await ended(service, run_id) for run_id in started]
        assert {row.state for row in rows} <= {"done", "interrupted"}
        for row in rows:
            told = await all_told(service, row.id)
            assert [one.id for one in told] == list(range(len(told)))
            states = [one.data["state"] for one in told if one.kind == "state"]
            assert states[-1] == row.state
            assert states.count("done") == (row.state == "done")
            assert [one.kind for one in told].count("answer") <= 1
            if row.state == "done":
                assert (await service.view(row.id))["answer"]["address"]["country"] == "Monaco"
        for run_id in interrupted:
            again = await service.continue_run(run_id, Feedback())
            assert (await ended(service, again.id)).state == "done"
            assert (await service.run(run_id)).state == "interrupted"
        files = sorted(file.name for file in (folder / "cases" / case.id / "runs").iterdir())
        known = {run.id for run in (await service.case(case.id)).runs}
        assert {name.partition(".")[0] for name in files} <= known
        assert len(files) == len(set(files))
        for row in rows:
            if row.state == "done":
                path = folder / "cases" / case.id / "runs" / f"{row.id}.jsonl"
                assert read_trajectory(path).ended is not None
        return interrupted
