"""Benchmark runs that are killed with SIGKILL again and again, and what must hold of them in the end."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from bench_child import work
from bench_mounts import CHILD
from geosleuth.lab.bench.run import RunFolder


def start(photos: Path, run: Path, at_once: int) -> subprocess.Popen[str]:
    words = [sys.executable, str(CHILD), str(photos), str(run), json.dumps({"at_once": at_once})]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def kill_now_and_then(photos: Path, run: Path, moments: int, at_once: int, seed: int) -> tuple[int, int]:
    """Start the run over and over and kill it each time; how often it was killed, and how many photos it had then.

    Half of the moments are counted in finished photos, so that they lie all over the run; the others lie on the clock
    after the process got going, so that they hit how it opens the folder, repairs and begins, too.
    """
    chance = random.Random(seed)
    total = len(list(photos.glob("*.jpg")))
    each = max(1, total // moments)
    killed = done = 0
    for moment in range(moments):
        process = start(photos, run, at_once)
        assert process.stdout is not None
        seen = 0
        assert json.loads(process.stdout.readline()) == {"begun": True}
        if moment % 2:
            time.sleep(chance.uniform(0.0, 0.2))
        else:
            wanted = chance.randint(1, 2 * each)
            for line in process.stdout:
                seen += '"ended"' in line
                if seen >= wanted:
                    break
            time.sleep(chance.uniform(0.0, 0.02))
        process.kill()
        out, _ = process.communicate()
        killed += process.returncode == -9
        assert "error" not in out
        if (run / "journal.jsonl").exists():
            with RunFolder.read(run) as folder:
                now = folder.index.count("located", "unlocated")
                assert now >= done, "a finished photo was lost"
                done = now
    return killed, done


def check(photos: Path, tmp_path: Path, moments: int, at_once: int, seed: int) -> tuple[int, int, int]:
    """Kill a run again and again and let it end: how often, photos done by then, tries cut off. Nothing else shows."""
    total = len(list(photos.glob("*.jpg")))
    work(photos, tmp_path / "whole")
    run = tmp_path / "run"
    killed, done = kill_now_and_then(photos, run, moments, at_once, seed)
    assert killed >= moments * 0.8, "too many runs ended before they could be killed"
    process = start(photos, run, at_once)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    assert (run / "results.jsonl").read_bytes() == (tmp_path / "whole" / "results.jsonl").read_bytes()
    with RunFolder.read(run) as folder:
        tries = list(folder.tries())
        answered = Counter(one.id for one in tries if one.outcome == "answered")
        assert len(answered) == total
        assert set(answered.values()) == {1}
        assert folder.strays() == {}
        for one in tries:
            assert folder.trajectory(one.image, one.number).is_file()
        files = {file.name for file in (run / "trajectories").rglob("*.jsonl")}
        assert files == {folder.trajectory(one.image, one.number).name for one in tries}
        interrupted = sum(one.outcome == "interrupted" for one in tries)
    return killed, done, interrupted
