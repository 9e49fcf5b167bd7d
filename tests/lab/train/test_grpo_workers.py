"""Processes that serve environments leave when they are not needed any more, however that comes about."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geosleuth.lab.train.rollouts import MAX_WORKERS, usual_workers

CHILD = """
import os, signal
from functools import partial
from pathlib import Path
from geosleuth.lab.train.recipe import DataPart, ModelPart, Recipe, RolloutPart
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.lab.train.rollouts import WorkerPool

if __name__ == "__main__":
    model, rollout = ModelPart(path="nowhere"), RolloutPart(tools=(), reward="spotagent")
    recipe = Recipe(name="small", stage="grpo", model=model, data=DataPart(photos=("photos",)), rollout=rollout)
    pool = WorkerPool(partial(rollout_setup, recipe), 1)
    print(pool.worker(0, 1).submit(os.getpid).result(), flush=True)
    signal.pause()
"""


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A process that nobody has waited for is gone too.
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_nobody_stays_behind_when_training_is_killed(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD, encoding="utf-8")
    with subprocess.Popen([sys.executable, "child.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        worker = int(child.stdout.readline())
        assert is_there(worker)
        child.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while is_there(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_there(worker)


def test_cores_are_shared_among_those_who_train_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    assert usual_workers() == MAX_WORKERS
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert usual_workers() == 7
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    assert usual_workers() == 0
